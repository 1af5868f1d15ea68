"""S8: the first instant: starts, initial equations, discrete equations, initial() and samples, micro-steps."""

from collections.abc import Iterator

import numpy as np
import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    If,
    InitializationError,
    Mode,
    Modes,
    Parameter,
    ParameterError,
    Start,
    Statement,
    Variable,
    assign,
    connect,
    der,
    edge,
    initial,
    initially,
    leave,
    pre,
    sample,
    simulate,
    time,
    when,
)
from acausal.components.blocks import Step
from acausal.components.electrical import Capacitor, Ground, IdealClosingSwitch, IdealTransformer, Resistor

from .observing import Statements


class Decay(Component):
    x: Variable = Variable(start=3.0)

    def equations(self) -> Statements:
        yield Eq(der(self.x), -self.x)


def test_priority_of_starts_is_fixed_given_default() -> None:
    assert simulate(Decay(), 1.0)["x"].at(0.0) == pytest.approx(3.0)
    assert simulate(Decay(x=2.0), 1.0)["x"].at(0.0) == pytest.approx(2.0)
    assert simulate(Decay(x=Start(1.0, fixed=True)), 1.0)["x"].at(0.0) == pytest.approx(1.0)
    assert simulate(Decay(x=2.0), 1.0, initial={"x": 0.5})["x"].at(0.0) == pytest.approx(0.5)


def test_starts_are_completed_through_the_equations() -> None:
    class Pair(Component):
        x: Variable = Variable()
        y: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(self.y, 2 * self.x)
            yield Eq(der(self.x) + der(self.y), -self.x)

    result = simulate(Pair(y=4.0), 1.0)
    assert result["x"].at(0.0) == pytest.approx(2.0)
    assert result["y"].at(0.0) == pytest.approx(4.0)


def test_initial_equations_are_solved() -> None:
    class Steady(Component):
        x: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x), 6 - 2 * self.x)
            yield initially(Eq(der(self.x), 0))

    result = simulate(Steady(), 1.0)
    assert result["x"].at([0.0, 1.0]) == pytest.approx([3.0, 3.0], rel=1e-12)


def test_pre_of_a_discrete_is_its_start() -> None:
    class Counter(Component):
        n: Discrete = Discrete(int, start=7)
        first: Discrete = Discrete(int)

        def equations(self) -> Statements:
            yield when(initial(), assign(self.first, pre(self.n)), assign(self.n, pre(self.n) + 1))

    result = simulate(Counter(), 1.0)
    assert result["first"].at(0.0) == 7
    assert result["n"].at(0.0) == 8


def test_initial_and_samples_fire_but_a_condition_that_already_holds_does_not() -> None:
    class Model(Component):
        x: Variable = Variable(start=1.0)
        by_initial: Discrete = Discrete(int)
        by_sample: Discrete = Discrete(int)
        by_time: Discrete = Discrete(int)
        by_value: Discrete = Discrete(int)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 0)
            yield when(initial(), assign(self.by_initial, pre(self.by_initial) + 1))
            yield when(sample(period=10.0), assign(self.by_sample, pre(self.by_sample) + 1))
            yield when(time >= 0, assign(self.by_time, 1))
            yield when(self.x > 0, assign(self.by_value, 1))

    result = simulate(Model(), 1.0)
    names = ("by_initial", "by_sample", "by_time", "by_value")
    assert [result[n].final for n in names] == [1, 1, 0, 0]


def test_discrete_equations_hold_after_the_first_instant() -> None:
    class Model(Component):
        x: Variable = Variable(start=1.0)
        high: Discrete = Discrete(bool)
        later: Discrete = Discrete(bool)

        def equations(self) -> Statements:
            yield Eq(der(self.x), -self.x)
            yield Eq(self.high, self.x > 0.5)
            yield Eq(self.later, pre(self.high))

    result = simulate(Model(), 0.1)
    assert result["high"].at(0.0) and result["later"].at(0.0)


def test_a_step_at_the_start_has_happened() -> None:
    class Model(Component):
        def build(self) -> None:
            self.step = Step(height=2.0, startTime=0.0)

    assert simulate(Model(), 1.0)["step.y"].at(0.0) == pytest.approx(2.0)


def test_a_run_may_start_at_another_time() -> None:
    class Model(Component):
        n: Discrete = Discrete(int)
        late: Discrete = Discrete(bool)
        rose: Discrete = Discrete(bool)

        def equations(self) -> Statements:
            yield when(sample(period=1.0), assign(self.n, pre(self.n) + 1))
            yield Eq(self.late, time >= 2.0)
            yield when(edge(self.late), assign(self.rose, True))

    result = simulate(Model(), 4.5, t_start=2.5)
    assert result["n"].at([2.5, 2.9, 3.0, 4.0]).tolist() == [0, 0, 1, 2]
    assert result["late"].at(2.5)


class Trigger(Component):
    """Positive feedback of 1/2: y = u at rest in the middle, 12 or -12 at the limits."""

    u: Parameter = Parameter(default=0.0)
    y: Variable = Variable()
    e: Variable = Variable()
    x: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(self.e, self.y / 2 - self.u)
        yield Eq(der(self.x), self.y - self.x)
        yield Modes(
            "state",
            Mode("linear", Eq(self.e, 0), leave("high", self.y - 12), leave("low", -12 - self.y)),
            Mode("high", Eq(self.y, 12), leave("linear", -self.e)),
            Mode("low", Eq(self.y, -12), leave("linear", self.e)),
            curve=(self.e, self.y),
            start="linear",
        )


@pytest.mark.parametrize(
    ("branch", "y"), [("linear", 0.0), ("high", 12.0), ("low", -12.0), (0, 0.0), (1, 12.0), (2, -12.0)]
)
def test_of_several_consistent_modes_the_given_one_is_taken(branch: str | int, y: float) -> None:
    result = simulate(Trigger(), 1.0, initial={"state": branch, "x": 3.0})
    assert result["y"].at([0.0, 1.0]) == pytest.approx([y, y])
    assert result["x"].final == pytest.approx(y + (3.0 - y) * np.exp(-1.0), rel=1e-12)


@pytest.mark.parametrize("y", [0.0, 12.0, -12.0])
def test_a_fixed_value_finds_the_mode_in_which_it_holds(y: float) -> None:
    result = simulate(Trigger(), 1.0, initial={"y": y})
    assert result["y"].at(0.0) == pytest.approx(y)
    assert [e.kind for e in result.events] == ["start"]


def test_a_branch_that_cannot_hold_is_an_error() -> None:
    with pytest.raises(InitializationError, match="`state` cannot begin as high: the model gives low"):
        simulate(Trigger(u=10.0), 1.0, initial={"state": "high"})
    with pytest.raises(InitializationError, match="`y` is fixed at 5 but the model gives 0"):
        simulate(Trigger(), 1.0, initial={"y": 5.0})


@pytest.mark.parametrize("wrong", ["hihg", 3, -1, 0.5, None])
def test_a_branch_that_does_not_exist_is_refused_with_those_that_do(wrong: object) -> None:
    with pytest.raises(ParameterError, match="`state` has no branch") as info:
        simulate(Trigger(), 1.0, initial={"state": wrong})
    assert "linear, high, low" in info.value.hint


class Latch(Component):
    """A switch that its own state keeps: both states are consistent."""

    y: Variable = Variable()

    def equations(self) -> Statements:
        yield If(self.y > 0.5, [Eq(self.y, 1)], [Eq(self.y, 0)], name="up")


@pytest.mark.parametrize(("up", "y"), [(True, 1.0), (False, 0.0), ("true", 1.0), ("false", 0.0)])
def test_the_branch_of_a_choice_is_given_as_boolean_or_by_name(up: bool | str, y: float) -> None:
    assert simulate(Latch(), 1.0, initial={"up": up})["y"].final == y
    with pytest.raises(ParameterError, match="`up` has no branch 2") as info:
        simulate(Latch(), 1.0, initial={"up": 2})
    assert "True or False" in info.value.hint


def test_a_controlled_element_begins_as_its_control_says() -> None:
    class Switched(Component):
        y: Variable = Variable()
        closed: Discrete = Discrete(bool)

        def equations(self) -> Statements:
            yield If(self.closed, [Eq(self.y, 1)], [Eq(self.y, 0)], name="branch")

    assert simulate(Switched(), 1.0).events[0].modes == {}
    with pytest.raises(InitializationError, match="cannot begin as true.*false") as info:
        simulate(Switched(), 1.0, initial={"branch": True})
    assert "its control decides" in info.value.why


class Charged(Component):
    """Two capacitors on both sides of a transformer, joined by a switch."""

    n: Parameter = Parameter(default=49.0)

    def build(self) -> None:
        self.high, self.low = Capacitor(C=1e-6), Capacitor(C=1e-3)
        self.load, self.ground = Resistor(R=1e3), Ground()
        self.ratio, self.switch = IdealTransformer(n=self.n), IdealClosingSwitch(control=time < 1)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.high.p, self.ratio.p1, self.load.p)
        yield connect(self.ratio.p2, self.switch.p)
        yield connect(self.switch.n, self.low.p)
        yield connect(self.high.n, self.low.n, self.ratio.n1, self.ratio.n2, self.load.n, self.ground.p)
        yield initially(Eq(self.high.v, self.n * self.low.v))


@pytest.mark.parametrize("n", [3.0, 49.0, 98.0, 103.0])
def test_an_initial_equation_that_the_mode_says_too_contradicts_nothing(n: float) -> None:
    """With floats 49 * (1 / 49) is not one: what is left of the equation is rounding, and no condition for the voltage."""
    result = simulate(Charged(n=n), 1e-3, initial={"high.v": 5.0})
    assert result["high.v"].at(0.0) == 5.0
    assert result["low.v"].at(0.0) == pytest.approx(5.0 / n, rel=1e-15)


def test_an_initial_equation_without_unknowns_holds_or_is_named() -> None:
    class Counted(Component):
        n: Discrete = Discrete(int, start=3)
        x: Variable = Variable()
        wanted: Parameter = Parameter(default=3.0)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1.0)
            yield initially(Eq(self.n, self.wanted))

    assert simulate(Counted(), 1.0)["n"].final == 3.0
    with pytest.raises(
        InitializationError, match=r"Eq\(n, wanted\) does not hold at the start: its sides differ by -1"
    ):
        simulate(Counted(wanted=4.0), 1.0)
