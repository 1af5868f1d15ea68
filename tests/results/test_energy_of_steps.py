"""Energies of instants in which sources step: what flows then flows from their new values."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from acausal import (
    Circuit,
    Component,
    Eq,
    Expr,
    Input,
    Result,
    Statement,
    Structural,
    compile_model,
    connect,
    if_else,
    simulate,
    time,
)
from acausal.components.electrical import (
    VCV,
    Capacitor,
    ConstantVoltage,
    Diode,
    Ground,
    IdealClosingSwitch,
    IdealDiode,
    PulseVoltage,
    Resistor,
    SignalVoltage,
    StepCurrent,
    StepVoltage,
)
from acausal.components.translational import (
    CubicSpring,
    Fixed,
    ImpactStop,
    Mass,
    QuadraticSpeedDependentForce,
    Speed,
)
from tests.systems.circuits import Branch, circuit

BESIDE: dict[str, list[tuple[str, Callable[[], Any], str, str]]] = {
    "nothing": [],
    "a junction apart": [
        ("v0", lambda: ConstantVoltage(V=1.0), "a", "0"),
        ("r0", lambda: Resistor(R=100.0), "a", "b"),
        ("d0", Diode, "b", "0"),
    ],
    "a junction that discharges": [
        ("c0", lambda: Capacitor(C=1.0, v=0.7), "a", "0"),
        ("d0", Diode, "a", "0"),
    ],
}


def beside(name: str) -> list[Branch]:
    """Parts that share nothing with the sources that step."""
    return [(part, make(), p, n) for part, make, p, n in BESIDE[name]]


STEPS = {
    # Source steps to 10 V, and 5 C flow from it: it gives 50 J, the capacitor takes 37.5 J.
    "diode": (lambda: IdealDiode(), [(1.0, 12.5)], {"s": -50.0, "c": 37.5, "d": 12.5}),
    "switch": (lambda: IdealClosingSwitch(control=time >= 1.0), [(1.0, 12.5)], {"s": -50.0, "c": 37.5, "d": 12.5}),
}  # fmt: skip


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["auto", "explicit", "implicit"])
@pytest.mark.parametrize("other", BESIDE)
@pytest.mark.parametrize("name", STEPS)
def test_sources_step_before_what_flows_from_them(name: str, other: str, method: str) -> None:
    """Along a straight line from the source before its step the diode gave 12.5 J."""
    make, losses, energies = STEPS[name]
    model = circuit(
        ("s", StepVoltage(V=10.0, startTime=1.0), "n", "0"),
        ("d", make(), "n", "k"),
        ("c", Capacitor(C=1.0, v=5.0), "k", "0"),
        *beside(other),
    )
    result = simulate(model, 2.0, method=method)
    lost = [(event.t, sum(event.lost.values())) for event in result.events if event.lost]
    assert lost == [pytest.approx(x) for x in losses]
    assert {part: result.energy(part) for part in energies} == pytest.approx(energies)
    assert result.audit().balance == pytest.approx(0.0, abs=1e-12)


def test_a_source_that_steps_may_feed_a_junction() -> None:
    """What nonlinear rows give at the new value is no part of the jump: the diode takes 12.5 J at the step, and nothing later."""
    model = circuit(
        ("s", StepVoltage(V=10.0, startTime=1.0), "n", "0"),
        ("d", IdealDiode(), "n", "k"),
        ("c", Capacitor(C=1.0, v=5.0), "k", "0"),
        ("r", Resistor(R=100.0), "n", "b"),
        ("j", Diode(), "b", "0"),
    )
    result = simulate(model, 2.0)
    assert [event.lost for event in result.events if event.lost] == [{"d.on": pytest.approx(12.5)}]
    fed = result.energy("r") + result.energy("j")
    assert 0.9 < fed < 1.0
    assert [result.energy(part) for part in "sdc"] == pytest.approx([-50.0 - fed, 12.5, 37.5])


@pytest.mark.parametrize("carried", [0.0, 1.0])
@pytest.mark.parametrize(("V", "R"), [(10.0, 100.0), (300.0, 1e-3)])
def test_what_nonlinear_rows_make_of_a_step_comes_before_what_flows_from_it(
    V: float, R: float, carried: float
) -> None:
    """The voltage of a junction steps and is copied: a capacitor of 1 F is charged from its new value, not from a tangent."""
    model = circuit(
        ("s", StepVoltage(V=V, startTime=1.0), "a", "0"),
        ("r", Resistor(R=R), "a", "b"),
        ("j", Diode(), "b", "0"),
        ("d", IdealDiode(), "n", "k"),
        ("c", Capacitor(C=1.0, v=0.2), "k", "0"),
        ("c2", Capacitor(C=carried, v=0.0), "n", "0"),
    )
    gain = model.add("g", VCV(gain=1.0))
    for pin, part in ((gain.p1, model.j.p), (gain.n1, model.j.n), (gain.p2, model.d.p), (gain.n2, model.j.n)):
        model.connect(pin, part)
    result = simulate(model, 1.0)
    v = result["j.v"].final
    energies = {
        "d": 0.5 * (v - 0.2) ** 2,
        "c": 0.5 * (v**2 - 0.04),
        "c2": 0.5 * carried * v**2,
        "g": -v * (v - 0.2) - 0.5 * carried * v**2,
    }
    assert {part: result.energy(part) for part in energies} == pytest.approx(energies, rel=1e-9)


RECTIFIED: list[Branch] = [
    ("s", StepVoltage(V=10.0, startTime=1.0), "n", "0"),
    ("d", IdealDiode(), "n", "k"),
    ("c", Capacitor(C=1.0, v=5.0), "k", "0"),
]
CARRIED: dict[str, tuple[list[Branch], dict[str, float]]] = {
    "elsewhere": (
        [
            *RECTIFIED,
            ("s2", StepVoltage(V=10.0, startTime=1.0), "x", "0"),
            ("c2", Capacitor(C=1.0, v=0.0), "x", "0"),
        ],
        {"s": -50.0, "d": 12.5, "c": 37.5, "s2": -50.0, "c2": 50.0},
    ),
    "at the source": (
        [*RECTIFIED, ("c2", Capacitor(C=1.0, v=0.0), "n", "0")],
        {"s": -100.0, "d": 12.5, "c": 37.5, "c2": 50.0},
    ),
    # The divider rises to 5 V and has 2 F: with 1 F at 1 V there flow 8/3 C between 4 V and nothing.
    "divider": (
        [
            ("s", StepVoltage(V=10.0, startTime=1.0), "n", "0"),
            ("c", Capacitor(C=1.0, v=0.0), "n", "m"),
            ("c2", Capacitor(C=1.0, v=0.0), "m", "0"),
            ("d", IdealDiode(), "m", "k"),
            ("c3", Capacitor(C=1.0, v=1.0), "k", "0"),
        ],
        {"d": 16.0 / 3.0, "c3": 0.5 * (11.0 / 3.0) ** 2 - 0.5},
    ),
    "behind a switch that opens": (
        [
            *RECTIFIED,
            ("c2", Capacitor(C=1.0, v=0.0), "n", "0"),
            ("w", IdealClosingSwitch(control=time < 1.0), "n", "x"),
            ("c3", Capacitor(C=1.0, v=0.0), "x", "0"),
        ],
        {"s": -100.0, "d": 12.5, "c": 37.5, "c2": 50.0, "w": 0.0, "c3": 0.0},
    ),
    # With the switch open the current would have no way.
    "beside a mode that cannot be": (
        [
            *RECTIFIED,
            ("i", StepCurrent(I=1.0, startTime=1.0), "0", "x"),
            ("w", IdealClosingSwitch(control=time >= 1.0), "x", "y"),
            ("r", Resistor(R=1.0), "y", "0"),
        ],
        {"s": -50.0, "d": 12.5, "c": 37.5, "w": 0.0},
    ),
}


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("other", BESIDE)
@pytest.mark.parametrize("name", CARRIED)
def test_sources_carry_storages_along_before_anything_else_flows(name: str, other: str) -> None:
    """What moves with a source, there or elsewhere, is no reason to let all else flow from its value before."""
    parts, energies = CARRIED[name]
    result = simulate(circuit(*parts, *beside(other)), 2.0)
    assert result.events[-1].lost == {"d.on": pytest.approx(energies["d"])}
    assert {part: result.energy(part) for part in energies} == pytest.approx(energies)
    assert result.audit().balance == pytest.approx(0.0, abs=1e-12)


class Fed(Component):
    """A capacitor behind a diode, and perhaps one before it, at a signal; a junction or a resistor apart."""

    u: Input = Input(float)
    carried: Structural[bool] = Structural(bool, default=False)
    bent: Structural[bool] = Structural(bool, default=False)

    def build(self) -> None:
        self.s, self.d, self.c, self.g = SignalVoltage(), IdealDiode(), Capacitor(C=1.0, v=5.0), Ground()
        self.v0, self.r0 = ConstantVoltage(V=1.0), Resistor(R=1.0)
        self.d0 = Diode() if self.bent else Resistor(R=1.0)
        self.c2 = Capacitor(C=1.0 if self.carried else 0.0, v=0.0)

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.s.v, self.signal())
        yield connect(self.s.p, self.d.p, self.c2.p)
        yield connect(self.d.n, self.c.p)
        yield connect(self.v0.p, self.r0.p)
        yield connect(self.r0.n, self.d0.p)
        yield connect(self.g.p, self.s.n, self.c.n, self.c2.n, self.v0.n, self.d0.n)

    def signal(self) -> Expr:
        """The input."""
        return self.u


class Amplified(Fed):
    """The same at a voltage that is measured, by a factor that steps."""

    def build(self) -> None:
        super().build()
        self.v1, self.r1, self.r2 = ConstantVoltage(V=1.0), Resistor(R=1.0), Resistor(R=1.0)

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield connect(self.v1.p, self.r1.p)
        yield connect(self.r1.n, self.r2.p)
        yield connect(self.g.p, self.v1.n, self.r2.n)

    def signal(self) -> Expr:
        """Half of 1 V, amplified."""
        return if_else(time >= 1.0, 20.0, 0.0) * self.r2.v


def of_steps(model: Fed, method: str) -> Result:
    run = compile_model(model).start(inputs={"u": 0.0}, method=method)
    run.advance(1.0)
    run.advance(2.0, inputs={"u": 10.0})
    return run.result


def of_continued_runs(model: Fed, method: str) -> Result:
    program = compile_model(model)
    before = program.simulate(1.0, inputs={"u": 0.0}, method=method)
    return program.simulate(2.0, start=before, inputs={"u": 10.0}, method=method)


def of_factors(model: Fed, method: str) -> Result:
    return simulate(Amplified(carried=model.carried, bent=model.bent), 2.0, inputs={"u": 0.0}, method=method)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["auto", "implicit"])
@pytest.mark.parametrize("bent", [False, True])
@pytest.mark.parametrize("carried", [False, True])
@pytest.mark.parametrize("run", [of_steps, of_continued_runs, of_factors])
def test_inputs_and_factors_step_as_sources_do(
    run: Callable[[Fed, str], Result], carried: bool, bent: bool, method: str
) -> None:
    result = run(Fed(carried=carried, bent=bent), method)
    assert result.events[-1].lost == {"d.on": pytest.approx(12.5)}
    energies = {"s": -100.0 if carried else -50.0, "d": 12.5, "c": 37.5, "c2": 50.0 if carried else 0.0}
    assert {part: result.energy(part) for part in energies} == pytest.approx(energies)


@pytest.mark.parametrize("other", BESIDE)
def test_a_charge_pump_loses_half_of_what_it_moves(other: str) -> None:
    """In every stroke 5, 5, 2.5, 2.5, ... C flow, and a diode takes half of each square: the source gives all of it."""
    model = circuit(
        ("s", PulseVoltage(V=10.0, period=1.0, startTime=0.5), "n", "0"),
        ("c1", Capacitor(C=1.0, v=0.0), "n", "m"),
        ("d1", IdealDiode(), "0", "m"),
        ("d2", IdealDiode(), "m", "k"),
        ("c2", Capacitor(C=1.0, v=0.0), "k", "0"),
        *beside(other),
    )
    result = simulate(model, 3.2)
    lost = [sum(event.lost.values()) for event in result.events if event.lost]
    assert lost == pytest.approx([25.0, 12.5, 6.25, 3.125, 1.5625, 0.78125])
    # After n strokes the second capacitor holds 10 (2 - 2^(1 - n)) / 2 V of the 20 V that it tends to.
    assert result.energy("c2") == pytest.approx(0.5 * 8.75**2)
    assert result.energy("s") == pytest.approx(-(sum(lost) + 0.5 * 8.75**2))


@pytest.mark.parametrize(
    "beside",
    ["", "mass", "spring", "drag", "spring at the pusher", "drag at the pusher", "mass, drag at the pusher"],
)
@pytest.mark.parametrize(("e", "energies"), [(0.0, [-100.0, 50.0, 50.0]), (0.5, [-150.0, 37.5, 112.5])])
def test_a_pusher_that_starts_at_once_works_on_what_it_hits(
    beside: str, e: float, energies: list[float]
) -> None:
    """A mass of 1 kg is hit with 10 m/s: it takes (1 + e) 10 N.s, and (1 - e**2) 50 J stay in the stop."""
    model = Circuit()
    pusher = model.add("s", Speed(v_ref=if_else(time >= 1.0, 10.0, 0.0)))
    stop, mass = model.add("k", ImpactStop(restitution=e)), model.add("m", Mass(m=1.0, s=0.0, v=0.0))
    model.connect(pusher.flange, stop.flange_a)
    model.connect(stop.flange_b, mass.flange_a)
    at = pusher.flange if "pusher" in beside else mass.flange_b
    if "spring" in beside:
        spring = model.add("c", CubicSpring(c=1.0, c3=1.0))
        model.connect(model.add("f", Fixed()).flange, spring.flange_a)
        model.connect(spring.flange_b, at)
    if "mass" in beside:  # Carried along: it takes 50 J of its own.
        model.connect(pusher.flange, model.add("m2", Mass(m=1.0)).flange_a)
        energies = [energies[0] - 50.0, *energies[1:]]
    if "drag" in beside:
        drag = model.add(
            "c", QuadraticSpeedDependentForce(f_nominal=-0.1, v_nominal=1.0, ForceDirection=False)
        )
        model.connect(drag.flange, at)
    result = simulate(model, 1.0)
    assert result.events[-1].lost == {"k.contact": pytest.approx(energies[1])}
    assert [result.energy(part) for part in "skm"] == pytest.approx(energies)
