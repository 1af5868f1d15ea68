"""Models too large for dense matrices: against exact solutions, and against the dense analysis of the same model."""

import random
from collections.abc import Iterator
from contextlib import nullcontext

import numpy as np
import pytest

from acausal import (
    Circuit,
    Component,
    ContradictionError,
    Discrete,
    Eq,
    Input,
    Parameter,
    Program,
    Result,
    Start,
    Statement,
    StiffnessWarning,
    Structural,
    Variable,
    assign,
    compile_model,
    connect,
    der,
    if_else,
    pre,
    reinit,
    sample,
    sin,
    time,
    when,
)
from acausal.api import program
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Diode,
    Ground,
    Inductor,
    Resistor,
    SineVoltage,
)
from acausal.components.rotational import IdealGear, Inertia, Spring, Torque
from acausal.simulation.large import sizes
from tests.systems.ladder import Ladder, exact_voltages
from tests.systems.large_models import Chain, CubicChain, Grid, chain_positions, grid_voltages


def values(result: Result, names: list[str], t: np.ndarray) -> np.ndarray:
    """Variables at times, one row per name."""
    return np.array([result[name].at(t) for name in names])


def sparse_run(model: Component, end: float, monkeypatch: pytest.MonkeyPatch, **options: object) -> Result:
    """A run with sparse rows, whatever the size of the model."""
    with monkeypatch.context() as patched:
        patched.setattr(sizes, "LARGE", 0)
        patched.setattr(program, "EXACT_STATES", 0)
        made = compile_model(model)
        kind = made.prepare(end, inputs=options.get("inputs"))  # type: ignore[arg-type]
        assert kind.core.system is not None
        return made.simulate(end, **options)  # type: ignore[arg-type]


def both(model: Component, end: float, monkeypatch: pytest.MonkeyPatch, **options: object) -> list[Result]:
    """A run with sparse rows, and one by the analysis of dense modes."""
    return [sparse_run(model, end, monkeypatch, **options), compile_model(model).simulate(end, **options)]  # type: ignore[arg-type]


def test_ladder() -> None:
    n = 400
    result = compile_model(Ladder(n=n)).simulate(1.0, rtol=1e-8)
    for t in (0.01, 0.3, 1.0):
        found = np.array([result[f"section[{k}].c.v"].at(t) for k in range(0, n, 41)])
        assert np.abs(found - exact_voltages(n, t)[::41]).max() < 1e-8
    # What presolve and elimination removed is there too: the current into the ladder, and a derivative.
    v = exact_voltages(n, 0.3)
    assert result["source.i"].at(0.3) == pytest.approx(-(1.0 - v[0]) * n, abs=1e-5)
    assert result["der(section[7].c.v)"].at(0.3) == pytest.approx((v[6] - 2 * v[7] + v[8]) * n**2, abs=1e-4)


def test_grid() -> None:
    m = 20
    result = compile_model(Grid(m=m)).simulate(0.5, rtol=1e-8)
    exact = grid_voltages(m, 0.5)
    found = [[result[f"c[{i}][{j}].v"].final for j in range(0, m, 6)] for i in range(0, m, 6)]
    assert np.abs(np.array(found) - exact[::6, ::6]).max() < 1e-8


def test_chain_with_constraints_between_its_states() -> None:
    n = 200
    model = Chain(n=n)
    result = compile_model(model).simulate(10.0, rtol=1e-8)
    exact = chain_positions(n, 10.0)
    found = np.array([result[f"mass[{k}].s"].final for k in range(n)])
    assert np.abs(found - exact).max() < 1e-7 * np.abs(exact).max()
    t = np.linspace(0.0, 10.0, 57)
    between = result["mass[150].s"].at(t) - result["mass[149].s"].at(t)
    assert np.abs(result["spring[150].s_rel"].at(t) - between).max() < 1e-15


def test_methods() -> None:
    exact = exact_voltages(110, 1.0)[-1]
    for method in ("explicit", "implicit", "auto"):
        # The ends of the ladder are slow: steps of 70 us follow its sections.
        stiff = method == "explicit"
        with pytest.warns(StiffnessWarning, match="stability") if stiff else nullcontext():
            result = compile_model(Ladder(n=110)).simulate(1.0, method=method)
        assert result["section[109].c.v"].final == pytest.approx(exact, abs=1e-6)


class Pairs(Component):
    """Inertias in pairs on gears, pairs joined by springs: a constraint with a factor in every pair."""

    n: Structural[int] = Structural(int)
    omega: Parameter = Parameter(default=3.0, unit="rad/s")
    amplitude: Parameter = Parameter(default=1.0, unit="N.m")

    def build(self) -> None:
        self.first = [Inertia(J=1.0 + 0.1 * (k % 3)) for k in range(self.n)]
        self.second = [Inertia(J=2.0, w=0.25 * (k == 2)) for k in range(self.n)]
        self.gear = [IdealGear(ratio=1.7) for _ in range(self.n)]
        self.spring = [Spring(c=50.0) for _ in range(self.n - 1)]
        self.torque = Torque()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.torque.tau, self.amplitude * sin(self.omega * time))
        yield connect(self.torque.flange, self.first[0].flange_a)
        for a, gear, b in zip(self.first, self.gear, self.second, strict=True):
            yield connect(a.flange_b, gear.flange_a)
            yield connect(gear.flange_b, b.flange_a)
        for b, spring, a in zip(self.second, self.spring, self.first[1:], strict=False):
            yield connect(b.flange_b, spring.flange_a)
            yield connect(spring.flange_b, a.flange_a)


def test_index_reduction_agrees_with_the_dense_analysis(monkeypatch: pytest.MonkeyPatch) -> None:
    sparse, dense = both(Pairs(n=6), 3.0, monkeypatch, rtol=1e-9)
    t = np.linspace(0.0, 3.0, 31)
    names = [f"{part}[{k}].w" for part in ("first", "second") for k in range(6)]
    names += ["gear[3].flange_a.tau", "first[4].a", "second[0].flange_b.tau"]
    assert np.abs(values(sparse, names, t) - values(dense, names, t)).max() < 1e-7
    gap = sparse["first[3].phi"].at(t) - 1.7 * sparse["second[3].phi"].at(t)
    assert np.abs(gap).max() < 1e-14


class Node(Component):
    """A temperature that a parent feeds."""

    x: Variable = Variable()
    u: Input = Input(float)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), self.u)


class Thermostat(Component):
    """Heated nodes in a row; a heater at the begin that a sensor at the end switches, a pulse of heat now and then."""

    n: Structural[int] = Structural(int)
    gain: Parameter = Parameter(default=2.0)
    u: Input = Input(float)
    on: Discrete = Discrete(bool, start=True)
    count: Discrete = Discrete(float, start=0.0)

    def build(self) -> None:
        self.node = [Node() for _ in range(self.n)]

    def equations(self) -> Iterator[Statement]:
        x, n = [node.x for node in self.node], self.n
        heat = if_else(self.on, self.gain * (1.0 + 0.2 * self.count), 0.0) + self.u
        yield Eq(self.node[0].u, heat + x[1] - 1.5 * x[0])
        for k in range(1, n - 1):
            yield Eq(self.node[k].u, x[k - 1] - 2.0 * x[k] + x[k + 1])
        yield Eq(self.node[n - 1].u, x[n - 2] - 1.2 * x[n - 1])
        yield when(x[n - 1] > 0.5, assign(self.on, False)).elsewhen(x[n - 1] < 0.3, assign(self.on, True))
        yield when(sample(period=2.0, start=1.0), assign(self.count, pre(self.count) + 1.0))
        yield when(x[1] > 2.5, reinit(x[1], 1.0))


def test_events_agree_with_the_dense_analysis(monkeypatch: pytest.MonkeyPatch) -> None:
    sparse, dense = both(
        Thermostat(n=8), 20.0, monkeypatch, rtol=1e-9, inputs={"u": ([0.0, 10.0, 20.0], [0.0, 0.4, 0.1])}
    )
    times = [np.array([e.t for e in r.events]) for r in (sparse, dense)]
    assert len(times[0]) == len(times[1]) > 12
    assert np.abs(times[0] - times[1]).max() < 1e-7
    t = np.linspace(0.0, 20.0, 201)
    names = [f"node[{k}].x" for k in range(8)]
    assert np.abs(values(sparse, names, t) - values(dense, names, t)).max() < 1e-6


class DiodeLadder(Component):
    """Capacitors charged through diodes and resistors: nonlinear unknowns in every section."""

    n: Structural[int] = Structural(int)

    def build(self) -> None:
        self.source, self.ground = ConstantVoltage(V=5.0), Ground()
        self.diode = [Diode(R=1e6) for _ in range(self.n)]
        self.r = [Resistor(R=100.0) for _ in range(self.n)]
        self.c = [Capacitor(C=1e-5) for _ in range(self.n)]

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.diode[0].p)
        for diode, r, c in zip(self.diode, self.r, self.c, strict=True):
            yield connect(diode.n, r.p)
            yield connect(r.n, c.p)
        for c, diode in zip(self.c, self.diode[1:], strict=False):
            yield connect(c.p, diode.p)
        yield connect(self.source.n, self.ground.p, *(c.n for c in self.c))


def test_nonlinear_unknowns_agree_with_the_dense_analysis(monkeypatch: pytest.MonkeyPatch) -> None:
    sparse, dense = both(DiodeLadder(n=6), 0.02, monkeypatch, rtol=1e-8)
    t = np.linspace(0.0, 0.02, 41)
    names = [f"c[{k}].v" for k in range(6)]
    assert np.abs(values(sparse, names, t) - values(dense, names, t)).max() < 1e-5


def test_nonlinear_chain_keeps_its_energy() -> None:
    n = 150
    result = compile_model(CubicChain(n=n)).simulate(5.0, rtol=1e-9)
    t = np.linspace(0.0, 5.0, 6)
    s = np.array([result[f"mass[{k}].s"].at(t) for k in range(n)])
    v = np.array([result[f"mass[{k}].v"].at(t) for k in range(n)])
    x = np.diff(np.vstack([np.zeros(6), s]), axis=0)
    energy = (v**2).sum(0) / 2 + (100.0 * x**2 + 12.5 * x**4).sum(0)
    assert np.abs(energy / energy[0] - 1.0).max() < 1e-7


def test_starts_inputs_and_continuation() -> None:
    n = 400
    p: Program = compile_model(Ladder(n=n))
    whole = p.simulate(0.4, rtol=1e-9, initial={"section[100].c.v": 0.5})
    assert whole["section[100].c.v"].at(0.0) == 0.5
    half = p.simulate(0.1, rtol=1e-9, initial={"section[100].c.v": 0.5})
    rest = p.simulate(0.4, rtol=1e-9, start=half)
    assert rest["section[399].c.v"].final == pytest.approx(whole["section[399].c.v"].final, abs=1e-9)
    again = p.simulate(0.4, rtol=1e-9, parameters={"source.V": 2.0})
    assert again["section[399].c.v"].final == pytest.approx(2.0 * exact_voltages(n, 0.4)[-1], abs=1e-8)


def test_a_fixed_start_of_a_dependent_state(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fixed(Pairs):
        def build(self) -> None:
            super().build()
            self.second[1] = Inertia(J=2.0, w=Start(0.5, fixed=True))

    sparse, _ = both(Fixed(n=6), 0.1, monkeypatch)
    assert sparse["second[1].w"].at(0.0) == 0.5
    assert sparse["first[1].w"].at(0.0) == pytest.approx(0.85, abs=1e-15)


def test_steady_state() -> None:
    n = 400
    result = compile_model(Ladder(n=n)).simulate(0.1, initial="steady state")
    assert result["section[399].c.v"].at(0.0) == pytest.approx(1.0, abs=1e-13)
    assert result["source.i"].at(0.05) == pytest.approx(0.0, abs=1e-10)
    assert result.initial.reason("section[7].c.v") == "steady state"


def test_what_the_start_follows_from(monkeypatch: pytest.MonkeyPatch) -> None:
    sparse, _ = both(Pairs(n=6), 0.1, monkeypatch, initial={"second[1].w": 0.3})
    assert sparse.initial.reason("second[1].w") == "initial="
    assert sparse.initial.reason("first[1].w") == "follows from the equations"
    assert sparse.initial.reason("second[2].w") == "given start"
    assert sparse.initial["first[2].w"] == pytest.approx(0.425, abs=1e-15)


def random_circuit(seed: int) -> tuple[Circuit, list[str]]:
    """Parts between random nodes, sources in loops with capacitors included, and their names."""
    rng = random.Random(seed)
    circuit, nodes = Circuit(), [[] for _ in range(rng.randint(3, 6))]
    nodes[0].append(circuit.add("ground", Ground()).p)
    edges = [(i, rng.randrange(i)) for i in range(1, len(nodes))]
    edges += [tuple(rng.sample(range(len(nodes)), 2)) for _ in range(rng.randint(2, 5))]
    names = []
    for k, (a, b) in enumerate(edges):
        kind = rng.choice("RRCCLVCL") if k else "V"
        part = {
            "R": lambda: Resistor(R=rng.choice([0.5, 1.0, 3.0])),
            "C": lambda: Capacitor(C=rng.choice([0.2, 1.0, 2.0])),
            "L": lambda: Inductor(L=rng.choice([0.3, 1.0])),
            "V": lambda: SineVoltage(V=1.0, f=rng.choice([0.1, 0.3])),
        }[kind]()
        names.append(f"{kind}{k}")
        circuit.add(names[-1], part)
        nodes[a].append(part.p)
        nodes[b].append(part.n)
    for node in nodes:
        if len(node) > 1:
            circuit.connect(*node)
    return circuit, names


@pytest.mark.filterwarnings("ignore:undetermined circulating flow")
def test_random_networks_with_constraints(monkeypatch: pytest.MonkeyPatch) -> None:
    compared, t = 0, np.linspace(0.0, 2.0, 9)
    for seed in range(20):
        circuit, names = random_circuit(seed)
        try:
            dense = compile_model(circuit).simulate(2.0, rtol=1e-9)
        except ContradictionError:
            with pytest.raises(ContradictionError):
                sparse_run(circuit, 2.0, monkeypatch, rtol=1e-9)
            continue
        sparse = sparse_run(circuit, 2.0, monkeypatch, rtol=1e-9)
        wanted = [f"{name}.{quantity}" for name in names for quantity in "vi"]
        found, expected = values(sparse, wanted, t), values(dense, wanted, t)
        assert np.abs(found - expected).max() < 1e-7 * (1.0 + np.abs(expected).max())
        compared += 1
    assert compared > 15


class Bent(Component):
    """``u`` leaves zero as ``k x**2`` does: at the start its second time derivative alone says on which side."""

    k: Parameter = Parameter(default=1.0)
    x: Variable = Variable(start=0.0)
    u: Variable = Variable(start=0.0)
    above: Discrete = Discrete(bool)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), 1.0)
        yield Eq(self.u + 0.1 * sin(self.u), self.k * self.x**2)
        yield Eq(self.above, self.u > 0.0)


def test_relations_that_curvature_decides() -> None:
    class Cells(Component):
        def build(self) -> None:
            self.cell = [Bent(k=-1.0 if k % 3 else 1.0) for k in range(sizes.LARGE)]

    made = compile_model(Cells())
    assert made.prepare(0.1).core.system is not None
    result = made.simulate(0.1)
    assert [result[f"cell[{k}].above"].at(0.0) for k in range(6)] == [True, False, False] * 2
    assert all(event.t == 0.0 for event in result.events)


class Levels(Component):
    """A ramp that passes two levels within one step of integration."""

    x: Variable = Variable(start=0.0)
    first: Discrete = Discrete(start=0.0)
    second: Discrete = Discrete(start=0.0)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), 1.0)
        yield when(self.x > 0.5, assign(self.first, pre(self.first) + 1.0))
        yield when(self.x > 0.51, assign(self.second, pre(self.second) + 1.0))


@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_levels_within_one_step_are_passed_one_after_the_other(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What decides an event is the point at which it happens, not the end of the step beyond it."""
    result = sparse_run(Levels(), 1.0, monkeypatch, method=method)
    assert [event.t for event in result.events] == pytest.approx([0.0, 0.5, 0.51], abs=1e-12)
    for name, passed in (("first", [0.0, 1.0, 1.0]), ("second", [0.0, 0.0, 1.0])):
        assert [result[name].at(t) for t in (0.4, 0.505, 1.0)] == passed


class Equal(Component):
    """A nonlinear relation that is zero at the start but for rounding, and leaves zero into the positive."""

    a: Parameter = Parameter(default=1.3)
    x: Variable = Variable(start=0.0)
    u: Variable = Variable(start=0.0)
    w: Variable = Variable(start=0.0)
    below: Discrete = Discrete(bool)

    def equations(self) -> Iterator[Statement]:
        u, w = self.u, self.w
        yield Eq(der(self.x), 1.0)
        yield Eq(u + 0.1 * sin(u), self.a + self.x)
        yield Eq(w + 0.1 * sin(w), self.a)
        yield Eq(self.below, 3.0 * u * u - 2.0 * w * w - w * w < 0.0)


@pytest.mark.parametrize("method", ["explicit", "implicit"])
@pytest.mark.parametrize("a", [0.3, 1.3, 1.7])
def test_rounding_decides_no_nonlinear_relation(
    a: float, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = sparse_run(Equal(a=a), 0.1, monkeypatch, method=method)
    assert not result["below"].at(0.0) and not result["below"].final
    assert [event.t for event in result.events] == [0.0]
