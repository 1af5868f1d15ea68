"""`Result.check` finds what does not satisfy the model as written, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from acausal import (
    Circuit,
    Component,
    ConsistencyError,
    Eq,
    If,
    ParameterError,
    Result,
    Statement,
    Structural,
    Variable,
    compile_model,
    der,
    if_else,
    mod,
    require,
    simulate,
    sin,
    time,
)
from acausal.components.blocks import PWM, BooleanStep, Ramp, Sine
from acausal.components.electrical import (
    VCC,
    Capacitor,
    ConstantVoltage,
    Ground,
    IdealClosingSwitch,
    IdealOpeningSwitch,
    PulseVoltage,
    Resistor,
    SineVoltage,
)
from acausal.components.rotational import Clutch, IdealPlanetary, Inertia
from acausal.components.translational import Mass, Position
from acausal.results.equations import EquationsAt
from acausal.results.power import Powers
from acausal.results.sources import VariableSource
from acausal.simulation.nonlinear.integration import SampledMotion
from tests.components.signals import assembled
from tests.results.models import Buck, sharing
from tests.results.test_saved_results import CASES, loaded
from tests.systems.circuits import circuit


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("case", CASES)
def test_right_results_pass(case: str) -> None:
    result = CASES[case]()
    found = result.check(50)
    assert found.ok, found
    assert {"equation", "motion"} <= {d.kind for d in found}
    assert loaded(result).check(50).ok


class Bend(Component):
    """A relation in an equation, a choice, and a requirement."""

    x: Variable = Variable(start=-1.0, fixed=True)
    y: Variable = Variable()
    w: Variable = Variable()

    def equations(self):
        yield Eq(der(self.x), 1.0)
        yield Eq(self.y, if_else(self.x > 0.0, 2.0 * self.x, self.x))
        yield If(self.x < 0.5, [Eq(self.w, 1.0)], [Eq(self.w, self.x)], name="side")
        yield require(self.x < 3.0, "x stays small")


def spoiled(result: Result, change: Callable[[Any], None], which: int = -2) -> Result:
    """The same result with one segment changed."""
    change(result.segments.all[which])
    return loaded(result)


def test_a_wrong_state_is_found() -> None:
    def shift(segment: Any) -> None:
        segment.trajectory = segment.trajectory.flow.start(segment.trajectory.y0 * 1.001)

    result = simulate(Buck(), 1e-4)
    assert result.check(20).ok
    wrong = spoiled(result, shift)
    # Every segment by itself satisfies the equations: what tells is that states do not jump between instants.
    assert not wrong.check(20).ok


def test_a_wrong_flow_is_found() -> None:
    def slow(segment: Any) -> None:
        segment.data = replace(segment.data, Ay=segment.data.Ay * 1.0001)

    found = spoiled(simulate(Buck(), 1e-4), slow).check(400)
    assert not found.ok
    assert found[0].kind in ("equation", "motion")
    with pytest.raises(ConsistencyError, match=r"does not satisfy the model") as error:
        found.require()
    assert 0.0 <= error.value.t <= 1e-4
    assert error.value.relative > error.value.allowed


def test_a_wrong_branch_is_found() -> None:
    result = simulate(Bend(), 3.5 - 1.0)
    assert result.check(20).ok
    kinds = {d.kind for d in result.check(20)}
    assert kinds == {"equation", "branch", "relation", "requirement", "motion"}
    at = compile_model(Bend()).names.flat.find("d", "side")[0]

    def other(segment: Any) -> None:
        D = segment.moment.D.copy()
        D[at] = 1.0 - D[at]
        segment.moment = replace(segment.moment, D=D)

    wrong = [d for d in spoiled(result, other).check(20) if not d.ok]
    assert any(d.kind == "branch" and "side" in d.name for d in wrong)
    assert all(d.where.file.endswith("test_check.py") and d.where.line for d in wrong)


def test_a_diode_that_blocks_forwards_is_found() -> None:
    """A lossy diode whose guard is not seen: the equations of its branch hold, the branch does not."""
    model = Buck()
    result = simulate(model, 1e-4)
    flat = result.names.flat
    on = flat.find("d", "diode.on")[0]
    conducting = [k for k, s in enumerate(result.segments.all) if s.moment.D[on]]
    assert conducting

    def block(segment: Any) -> None:
        D = segment.moment.D.copy()
        D[on] = 0.0
        segment.moment = replace(segment.moment, D=D)

    found = spoiled(result, block, conducting[3]).check(200)
    assert any(d.kind in ("branch", "equation") and "diode" in d.name and not d.ok for d in found)


def test_a_charge_that_an_instant_loses_is_found() -> None:
    result = simulate(sharing(), 2e-3)
    assert any(d.kind == "energy" and "instant" in d.name for d in result.check(5))
    for step in result.steps:
        step.parts = tuple(replace(part, J1=2.0 * part.J1) for part in step.parts)
    wrong = [d for d in result.check(5) if not d.ok]
    assert {d.kind for d in wrong} == {"conservation"}
    assert {d.name for d in wrong} >= {"a: Eq(i, C*der(v))", "b: Eq(i, C*der(v))"}


def planetary() -> Circuit:
    """Three inertias at a planetary gear; the speed of one is given, two others may share what follows from it."""
    c = Circuit()
    sun, carrier, ring = (
        c.add("sun", Inertia(J=0.2, w=100.0)),
        c.add("carrier", Inertia(J=5.0)),
        c.add("ring", Inertia(J=0.05)),
    )
    gear = c.add("gear", IdealPlanetary(ratio=2.0))
    c.connect(sun.flange_b, gear.sun)
    c.connect(carrier.flange_a, gear.carrier)
    c.connect(ring.flange_a, gear.ring)
    return c


@pytest.mark.parametrize("method", ["auto", "implicit"])
@pytest.mark.parametrize("initial", [{}, {"sun.w": 50.0}])
def test_what_a_given_start_takes_is_no_defect(initial: dict[str, float], method: str) -> None:
    """The given speed is held from outside; the momenta of the others are what one impulse of the gear gives them."""
    result = simulate(planetary(), 0.1, initial=initial, method=method)
    impulse = initial.get("sun.w", 100.0) / (3.0**2 / 5.0 + 2.0**2 / 0.05)
    assert result["carrier.w"].at(0.0) == pytest.approx(3.0 * impulse / 5.0, rel=1e-12)
    assert result["ring.w"].at(0.0) == pytest.approx(-2.0 * impulse / 0.05, rel=1e-12)
    assert result.check(20).ok, result.check(20)
    assert loaded(result).check(20).ok


def test_a_momentum_that_a_start_loses_is_found() -> None:
    result = simulate(planetary(), 0.1)
    for step in result.steps:
        step.parts = tuple(replace(part, J1=2.0 * part.J1) for part in step.parts)
    wrong = {d.where.path for d in result.check(5) if not d.ok and d.kind == "conservation"}
    assert wrong == {"carrier", "ring"}


def test_an_impulse_of_rounding_beside_others_is_no_defect() -> None:
    """Capacitors share charge beside an amplifier without input: what it carries in the instant is rounding."""
    c = Circuit()
    wave, switch = c.add("wave", PWM(frequency=1.0, duty=0.3)), c.add("switch", IdealClosingSwitch())
    c.connect(wave.y, switch.control)
    sense = c.add("sense", Resistor(R=1.3))
    first, second = c.add("first", Capacitor(C=0.13, v=-2.5)), c.add("second", Capacitor(C=0.5, v=0.0))
    third, amplifier = c.add("third", Capacitor(C=0.1, v=-2.5)), c.add("amplifier", VCC(transConductance=0.5))
    load, ground = c.add("load", Resistor(R=2.0)), c.add("ground", Ground())
    c.connect(switch.p, second.n, third.p)
    c.connect(switch.n, first.n)
    c.connect(sense.p, amplifier.n1)
    c.connect(sense.n, third.n, amplifier.p1, amplifier.p2, load.p, ground.p)
    c.connect(first.p, second.p, amplifier.n2, load.n)
    with pytest.warns(UserWarning, match="contradict"):
        result = simulate(c, 2.3, impulses="allow")
    result.check(60).require()


def test_a_clutch_that_closes_from_zero_is_no_defect() -> None:
    """At the instant itself its normal force is zero, and so is its capacity, which begins to be one then."""
    clutch = Clutch(fn_max=100.0, mu=0.4)
    model = assembled(
        ("ramp.y", "clutch.f_normalized"), ("a.flange_b", "clutch.flange_a"), ("clutch.flange_b", "b.flange_a"),
        ramp=Ramp(height=0.8, duration=0.5, startTime=0.25), clutch=clutch, a=Inertia(J=0.3, w=10.0), b=Inertia(J=1.0),
    )  # fmt: skip
    result = simulate(model, 1.0)
    # 0.3 * (10 - w) = w, which both reach after 2.31 N.m.s of a torque that grows by 64 N.m/s.
    w = 3.0 / 1.3
    assert result["b.w"].at([0.25 + np.sqrt(w / 32.0), 1.0]) == pytest.approx([w, w], rel=1e-12)
    assert result.check([0.3, 0.9]).ok, result.check()
    assert result.check().ok


def test_points_are_chosen() -> None:
    result = simulate(Bend(), 1.0)
    assert result.check(np.linspace(0.0, 1.0, 7)).ok
    assert result.check(1).ok
    for bad in (0, -3, True, [2.0], []):
        with pytest.raises(ParameterError, match="point"):
            result.check(bad)


def test_the_report_reads_well() -> None:
    text = repr(simulate(Bend(), 1.0).check(10))
    assert text.splitlines()[0].endswith(" statements, all are satisfied")
    assert "test_check.py:" in text


def test_a_power_that_is_lost_along_an_integrated_run_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    result = simulate(Buck(), 1e-4, method="implicit")
    powers = [d for d in result.check(20) if d.name == "powers into all parts"]
    assert [d.ok for d in powers] == [True]
    along = Powers.along

    def lossy(self: Powers, *arguments: Any) -> np.ndarray:
        found = along(self, *arguments).copy()
        found[:, 0] *= 0.99
        return found

    monkeypatch.setattr(Powers, "along", lossy)
    powers = [d for d in result.check(20) if d.name == "powers into all parts"]
    assert [(d.kind, d.ok) for d in powers] == [("energy", False)]


def test_the_check_of_an_integrated_run_looks_at_its_points_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    result = simulate(Buck(), 1e-4, method="implicit")

    def integral(*_: Any, **__: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(type(result.segments), "integral", integral)
    monkeypatch.setattr(type(result.segments), "integral_of_products", integral)
    assert result.check(20).ok


def test_signals_are_read_for_all_instants_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    c = Circuit()
    a, b = c.add("a", Capacitor(C=1e-6, v=1.0)), c.add("b", Capacitor(C=1e-6, v=1.0))
    supply, feed, load = (
        c.add("V", ConstantVoltage(V=1.0)),
        c.add("R1", Resistor(R=1e3)),
        c.add("R2", Resistor(R=1e3)),
    )
    switch, clock, ground = (
        c.add("s", IdealClosingSwitch()),
        c.add("pwm", PWM(frequency=1e3, duty=0.5)),
        c.add("g", Ground()),
    )
    c.connect(clock.y, switch.control)
    c.connect(supply.p, feed.p)
    c.connect(feed.n, a.p, switch.p)
    c.connect(switch.n, b.p, load.p)
    c.connect(supply.n, a.n, b.n, load.n, ground.p)
    read = VariableSource.at
    counts = []
    for t_end in (3e-3, 30e-3):
        result = simulate(c, t_end)
        assert sum(bool(step.parts) for step in result.steps) >= t_end * 1e3 - 1
        calls: list[str] = []

        def counted(self: VariableSource, t: np.ndarray, side: str, calls: list[str] = calls) -> np.ndarray:
            calls.append(self.name)
            return read(self, t, side)

        with monkeypatch.context() as patch:
            patch.setattr(VariableSource, "at", counted)
            assert result.check(20).ok
        counts.append(len(calls))
    assert counts[0] == counts[1]


class Swinging(Component):
    """Angle and speed of a pendulum."""

    phi: Variable = Variable(start=1.0, fixed=True)
    w: Variable = Variable(start=0.0, fixed=True)

    def equations(self):
        yield Eq(der(self.phi), self.w)
        yield Eq(der(self.w), -sin(self.phi))


def test_an_integrated_motion_is_solved_once_for_all_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    solve, counts = SampledMotion._sampled, []
    for n in (1, 8):
        row = Circuit()
        for k in range(n):
            row.add(f"p{k}", Swinging())
        result, solved = simulate(row, 3.0), []

        def counted(self: SampledMotion, hs: np.ndarray, solved: list[int] = solved) -> np.ndarray:
            solved.append(len(hs))
            return solve(self, hs)

        with monkeypatch.context() as patch:
            patch.setattr(SampledMotion, "_sampled", counted)
            assert result.check(20).ok
        counts.append(sum(solved))
    assert 0 < counts[1] < 2 * counts[0]


def test_branches_left_in_many_instants_are_looked_at_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading all variables costs most: it is done once for the points that are looked at, and once for what was left."""
    c = Circuit()
    source, ground = c.add("source", ConstantVoltage(V=1.0)), c.add("ground", Ground())
    c.connect(source.n, ground.p)
    for k in range(6):
        switch = c.add(f"switch{k}", IdealClosingSwitch(control=time >= 0.1 * (k + 1)))
        load = c.add(f"load{k}", Resistor(R=1.0 + k))
        c.connect(source.p, switch.p)
        c.connect(switch.n, load.p)
        c.connect(load.n, ground.p)
    result = simulate(c, 1.0)
    calls, rows = [], EquationsAt.rows

    def counted(self: EquationsAt, points: Any) -> Any:
        calls.append(points)
        return rows(self, points)

    monkeypatch.setattr(EquationsAt, "rows", counted)
    assert result.check().ok
    assert len(calls) <= 2


def test_energies_that_are_back_after_whole_periods_are_measured_by_what_they_were() -> None:
    circuit = Circuit()
    sine = circuit.add("sine", Sine(amplitude=5e-3, f=5.0))
    table, mass = circuit.add("table", Position(s_ref=sine.y)), circuit.add("mass", Mass(m=1.0))
    circuit.connect(table.flange, mass.flange_a)
    # The kinetic energy rises to 0.012 J and is zero again at the end, but for rounding.
    simulate(circuit, 5.0).check().require()


@pytest.mark.parametrize("end", [0.75, 1.0, 5.0, 100.0])
@pytest.mark.parametrize("switches", [1, 2])
def test_energies_that_are_back_where_a_part_is_switched_off_are_measured_by_what_they_were(
    end: float, switches: int
) -> None:
    step = BooleanStep(startTime=0.5)
    opening = [
        (f"s{k}", IdealOpeningSwitch(control=step.y), *nodes)
        for k, nodes in enumerate((("n", "a"), ("b", "c")))
    ]
    joined = circuit(
        ("source", SineVoltage(V=1.0, f=1.0), "n", "0"),
        *opening[:switches],
        ("c1", Capacitor(C=1.0), "a", "b"),
        ("c2", Capacitor(C=2.0), "c" if switches == 2 else "b", "0"),
        step=step,
    )
    result = simulate(joined, end)
    # Both carry the charge of 2/3 F at the sine; at the next zero of it they are empty, and stay so.
    charge = 2.0 / 3.0 * np.sin(2.0 * np.pi * 0.2)
    half = result.audit(0.0, 0.2)
    assert half.into("c1") == pytest.approx(0.5 * charge**2, rel=1e-13)
    assert half.into("c2") == pytest.approx(0.25 * charge**2, rel=1e-13)
    assert half.into("source") == pytest.approx(-0.75 * charge**2, rel=1e-13)
    whole = result.audit()
    assert max(abs(part.energy) for part in whole) <= 1e-15
    assert whole.lost == {}
    result.check().require()


def test_energies_that_impulses_bring_and_take_are_measured_by_what_they_were() -> None:
    rng = np.random.default_rng(0)
    for V, *C in rng.uniform(0.1, 3.0, (24, 6)).tolist():
        source = PulseVoltage(V=V, period=10.0, width=3.0, startTime=0.1)
        parts = [(f"c{k}", Capacitor(C=c), f"n{k}", f"n{k + 1}") for k, c in enumerate(C[:4])]
        result = simulate(
            circuit(("source", source, "n0", "n4"), *parts, ("d", Capacitor(C=C[4]), "n0", "n4"), ground="n4"),
            1.0, impulses="allow",
        )  # fmt: skip
        series = 1.0 / sum(1.0 / c for c in C[:4])
        taken = -0.5 * (series + C[4]) * V**2
        assert result.audit(0.0, 0.2).into("source") == pytest.approx(taken, rel=1e-13)
        assert abs(result.audit().into("source")) <= 1e-14 * abs(taken)
        result.check().require()


class Pulsed(Component):
    """A state behind a pulse that `mod` makes of the time."""

    period: Structural[float] = Structural(float, default=0.3)
    width: Structural[float] = Structural(float, default=0.06)
    x: Variable = Variable(start=0.5)
    s: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.s, if_else(mod(time, self.period) < self.width, 1.0, 0.0))
        yield Eq(der(self.x), self.s - self.x)


@pytest.mark.parametrize(("period", "width"), [(0.3, 0.06), (0.7, 0.21), (0.25, 0.07)])
def test_a_stop_at_an_edge_that_rounding_moves_is_no_defect(period: float, width: float) -> None:
    """Between the edge and the stop there is one float of time, of which nothing is known."""
    program = compile_model(Pulsed(period=period, width=width))
    for k in range(1, 12):
        edge, run = round(k * period + width, 6), program.start(span=5.0)
        for t in (edge - 0.02, edge, edge + 0.1):
            run.advance(t)
        assert run.result.check().ok, edge
