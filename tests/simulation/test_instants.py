"""What an instant of a nonlinear model looks at: as few touching models and analysed modes as its search needs."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import acausal.simulation.analysed_modes as analysed_modes
from acausal import (
    Component,
    Discrete,
    Eq,
    If,
    Parameter,
    Result,
    Statement,
    Structural,
    Variable,
    assign,
    compile_model,
    connect,
    der,
    if_else,
    no_event,
    pre,
    sample,
    simulate,
    sin,
    time,
    when,
)
from acausal.components.blocks import BooleanPulse
from acausal.components.electrical import (
    ConstantVoltage,
    Diode,
    Ground,
    IdealClosingSwitch,
    IdealDiode,
    Inductor,
    Resistor,
    SaturatingInductor,
)
from acausal.reduction.elimination import Elimination
from acausal.simulation.instants import choice
from acausal.simulation.loop import Loop
from acausal.simulation.quiet_instants import QuietInstants
from tests.systems.mechanism_models import Bob, G

EDGES = 20


class Chopper(Component):
    """A switch and a junction diode feed a coil."""

    def build(self) -> None:
        self.source, self.pulse = ConstantVoltage(V=10.0), BooleanPulse(width=0.5, period=1e-4)
        self.switch, self.diode, self.ground = IdealClosingSwitch(), Diode(R=1e6), Ground()
        self.coil, self.load = Inductor(L=1e-3), Resistor(R=2.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.pulse.y, self.switch.control)
        yield connect(self.source.p, self.switch.p)
        yield connect(self.switch.n, self.diode.n, self.coil.p)
        yield connect(self.coil.n, self.load.p)
        yield connect(self.source.n, self.diode.p, self.load.n, self.ground.p)


class Saturating(Chopper):
    """The same with an ideal diode and a coil that saturates."""

    def build(self) -> None:
        super().build()
        self.diode, self.coil = IdealDiode(), SaturatingInductor(Inom=2.0, Lnom=1e-3, Lzer=2e-3, Linf=2e-4)


class Bent(Component):
    """A rate that bends below one."""

    x: Variable = Variable(start=3.0, fixed=True)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), no_event(if_else(self.x > 1.0, 1.0, self.x**2)) - 2.0)


class BrakedBob(Bob):
    """A pendulum whose hinge is braked by turns: a constraint of index 3, and a switched force beside it."""

    d: Parameter = Parameter(default=2.0)

    def build(self) -> None:
        self.pulse = BooleanPulse(width=0.5, period=0.1)

    def equations(self) -> Iterator[Statement]:
        yield from self.newton()
        yield Eq(self.x**2 + self.y**2, 1)
        yield If(self.pulse.y, [Eq(self.push, -self.d * self.vx)], [Eq(self.push, 0)], name="brake")


def _finals(result: Result) -> np.ndarray:
    return np.array([float(result[name].final) for name in result.names.variables])


MODELS = {
    "chopper": (Chopper(), EDGES * 5e-5),
    "saturating": (Saturating(), EDGES * 5e-5),
    "bob": (BrakedBob(x=0.6, y=-0.8), EDGES * 0.05),
}


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("passes", [True, False])
@pytest.mark.parametrize(("name", "most"), [("chopper", 1), ("saturating", EDGES), ("bob", EDGES)])
def test_an_edge_after_which_nothing_jumps_costs_one_analysis_or_none(
    name: str, most: int, passes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None where all is clear of zero; else a diode that blocks, or conducts all there is, has the slopes it had before."""
    if not passes:
        monkeypatch.setattr(QuietInstants, "passes", lambda *_: False)
    count, reduce = [0], analysed_modes.reduce_mode

    def counted(*args: object) -> object:
        count[0] += 1
        return reduce(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(analysed_modes, "reduce_mode", counted)
    model, length = MODELS[name]
    program, costs = compile_model(model), []
    for edges in (1, 2):
        count[0] = 0
        program.simulate(edges * length)
        costs.append(count[0])
    more = costs[1] - costs[0]
    # A mode that goes on, and the one that ends then, are analysed anew at its first, second, fourth, eighth ... visit: two
    # such pairs once here.
    assert more <= 4 if passes else more == most


def test_an_analysis_solves_again_only_what_nonlinear_rows_give(monkeypatch: pytest.MonkeyPatch) -> None:
    count, reduce = [0], Elimination.reduce

    def counted(*args: Any, **options: Any) -> np.ndarray:
        solved = reduce(*args, **options)
        count[0] += len(solved)
        return solved

    monkeypatch.setattr(QuietInstants, "passes", lambda *_: False)
    monkeypatch.setattr(Elimination, "reduce", counted)
    model, length = MODELS["saturating"]
    program, costs = compile_model(model), []
    for edges in (1, 2):
        count[0] = 0
        program.simulate(edges * length)
        costs.append(count[0])
    # Its coil is the only one.
    assert costs[1] - costs[0] == EDGES


def test_a_model_with_the_same_slopes_at_another_point_has_the_same_analysis() -> None:
    """Beyond its bend a rate is constant, whatever ``x`` is."""
    run = compile_model(Bent()).start(span=1.0)
    run.advance(0.1)
    loop = run._run
    z, slopes, xi, values = loop.state.z, loop.state.slopes, loop.xi, loop.present
    first, again = (loop.tangents.at(at, slopes, xi, values) for at in (z, z + 0.5))
    assert first is not again
    assert first.mode(()) is again.mode(())
    assert first.mode(()) is not loop.tangents.at(z - 5.0, slopes, xi, values).mode(())


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("name", MODELS)
def test_a_passed_instant_changes_no_result(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, length = MODELS[name]
    program = compile_model(model)
    passed = program.simulate(length)
    monkeypatch.setattr(QuietInstants, "passes", lambda *_: False)
    tested = program.simulate(length)
    assert passed.stats.mode_analyses < tested.stats.mode_analyses
    assert str(passed.events) == str(tested.events)
    np.testing.assert_allclose(_finals(passed), _finals(tested), rtol=1e-10, atol=1e-12 * G)


class Relayed(Component):
    """A step that a second micro-step passes on to a nonlinear equation, as a factor or as a source."""

    factor: Structural[bool] = Structural(bool, default=False)
    x: Variable = Variable(start=0.5)
    n: Discrete = Discrete(float, start=1.0)
    level: Discrete = Discrete(float, start=1.0)

    def equations(self) -> Iterator[Statement]:
        yield when(sample(period=0.25, start=0.25), assign(self.n, 3.0 - pre(self.n)))
        yield Eq(self.level, pre(self.n))
        gain, added = (self.level, 0.0) if self.factor else (1.0, self.level)
        yield Eq(der(self.x), added - gain * self.x**3)


@pytest.mark.parametrize("factor", [False, True])
def test_each_micro_step_of_a_passed_instant_has_its_own_numbers(factor: bool) -> None:
    result = simulate(Relayed(factor=factor), 2.0, rtol=1e-9)
    assert result.stats.mode_analyses < 12
    x, levels = 0.5, [1.0, 2.0] * 4
    for k, level in enumerate(levels):
        gain, added = (level, 0.0) if factor else (1.0, level)
        x = solve_ivp(lambda _, y, a=added, g=gain: a - g * y**3, (0.0, 0.25), [x], rtol=1e-11, atol=1e-13).y[
            0, -1
        ]
        assert result["x"].at(0.25 * (k + 1)) == pytest.approx(x, rel=1e-8)
    assert result.check()


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("name", MODELS)
def test_a_foreseen_mode_changes_no_result(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, length = MODELS[name]
    program = compile_model(model)
    monkeypatch.setattr(QuietInstants, "passes", lambda *_: False)
    foreseen = program.simulate(length)
    monkeypatch.setattr(choice, "_foreseen", lambda *_: None)
    sought = program.simulate(length)
    assert foreseen.stats.searches < sought.stats.searches
    np.testing.assert_allclose(_finals(foreseen), _finals(sought), rtol=1e-10, atol=1e-12 * G)


class Level(Component):
    """A level that is moved below ``x`` each quarter of a second; ``gain`` is what that adds to the rate of ``x``."""

    gain: Structural[float] = Structural(float, default=0.0)
    x: Variable = Variable(start=0.0, fixed=True)
    level: Discrete = Discrete(float, start=10.0)
    above: Discrete = Discrete(bool)

    def equations(self) -> Iterator[Statement]:
        above = self.x > self.level
        yield when(sample(period=0.25, start=0.25), assign(self.level, self.x - 0.1))
        yield Eq(self.above, above)
        yield Eq(der(self.x), 1.0 + (if_else(above, self.gain, 0.0) if self.gain else 0.0))


@pytest.mark.parametrize(("gain", "searches"), [(0.0, 1), (1.0, 2)])
def test_a_relation_that_no_equation_reads_needs_no_search(
    gain: float, searches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It turns true in the second micro-step, and with it ``above``: both are there after the instant."""
    found: list[float] = []
    search = Loop.next_mode

    def counted(run: Loop, *args: Any, **options: Any) -> Any:
        found.append(run.state.t)
        return search(run, *args, **options)

    monkeypatch.setattr(Loop, "next_mode", counted)
    result = simulate(Level(gain=gain), 0.4)
    assert found.count(0.25) == searches
    assert [bool(b) for b in result["above"].at([0.2, 0.3])] == [False, True]
    assert result["x"].final == pytest.approx(0.25 + 0.15 * (1.0 + gain), rel=1e-14)
    assert "above" in str(result.events)


class Compared(Component):
    """Every period one action compares a speed with a level, and another one two discretes."""

    x: Variable = Variable(start=1.0, fixed=True)
    below: Discrete = Discrete(bool)
    count: Discrete = Discrete(float)
    first: Discrete = Discrete(bool)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), -self.x)
        yield when(sample(period=0.1, start=0.1), assign(self.below, self.x < 0.5))
        yield when(
            sample(period=0.1, start=0.05),
            assign(self.count, pre(self.count) + 1),
            assign(self.first, pre(self.count) < 1.0),
        )


def test_only_what_fired_actions_compare_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """How ``x`` moves is asked where the action that compares it fires, not at the samples of the other one."""
    asked: list[float] = []
    levels = Loop._motions

    def counted(run: Loop, needed: Any) -> Any:
        asked.append(run.state.t)
        return levels(run, needed)

    monkeypatch.setattr(Loop, "_motions", counted)
    result = simulate(Compared(), 1.01)
    assert len(asked) == 10
    assert asked == pytest.approx([0.1 * k for k in range(1, 11)])
    assert [bool(b) for b in result["below"].at([0.65, 0.75])] == [False, True]
    assert result["count"].final == 10.0


class Staircase(Component):
    """A source that a clock moves by tiny steps across a capacitance; a slow nonlinear state takes all of its charge."""

    x: Variable = Variable(start=0.5, fixed=True)
    u: Variable = Variable(start=10.0)
    i: Variable = Variable()
    n: Discrete = Discrete(float, start=0.0)
    step: Parameter = Parameter(default=1e-8)

    def equations(self) -> Iterator[Statement]:
        yield when(sample(period=0.01, start=0.01), assign(self.n, pre(self.n) + 1.0))
        yield Eq(self.u, 10.0 + self.step * self.n)
        yield Eq(self.i, der(self.u))
        yield Eq(der(self.x), self.i - 1e-9 * self.x**3)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("step", [1e-12, 1e-10, 2.5e-8, 1.5e-8, 1e-3])
def test_small_jumps_of_a_source_carry_their_charges(step: float) -> None:
    """Each is far below any tolerance, and their sum is not: ``x`` takes up what ``u`` rises by."""
    result = simulate(Staircase(step=step), 10.0, rtol=1e-9)
    expected = 0.5 + 1000 * step - 1e-9 * np.mean((0.5 + step * np.arange(1000)) ** 3) * 10.0
    assert result["u"].final == pytest.approx(10.0 + 1000 * step, rel=1e-14)
    assert result["x"].final == pytest.approx(expected, abs=2e-12 + 1e-3 * step)


class Vanishing(Component):
    """Sources that vanish where a clock ends a segment drive a nonlinear state."""

    x: Variable = Variable(start=0.5, fixed=True)
    n: Discrete = Discrete(float, start=0.0)
    w: Parameter = Parameter(default=math.pi, unit="rad/s")
    course: Structural[str] = Structural(str)

    def equations(self) -> Iterator[Statement]:
        courses = {
            "sine": sin(self.w * time),
            "polynomial": time * (1.0 - time) * (2.0 - time),
            "square": (1.0 - time) * (1.0 - time),
        }
        yield when(sample(period=1.0, start=1.0), assign(self.n, pre(self.n) + 1.0))
        yield Eq(der(self.x), courses[self.course] - self.x**3)


@pytest.mark.parametrize(
    ("course", "source"),
    [
        ("sine", lambda t: math.sin(math.pi * t)),
        ("polynomial", lambda t: t * (1.0 - t) * (2.0 - t)),
        ("square", lambda t: (1.0 - t) ** 2),
    ],
)
def test_sources_may_vanish_at_instants(course: str, source: Any) -> None:
    """What rounding leaves of them is small beside what they have been, not beside nothing."""
    result = simulate(Vanishing(course=course), 3.0, rtol=1e-9)
    exact = solve_ivp(
        lambda t, x: source(t) - x**3, (0.0, 3.0), [0.5], method="DOP853", rtol=1e-12, atol=1e-14
    )
    assert result["x"].final == pytest.approx(exact.y[0, -1], rel=1e-7)
