"""S8: the first instant: starts, initial equations, discrete equations, initial() and samples, micro-steps."""

import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    Start,
    Variable,
    assign,
    der,
    edge,
    initial,
    initially,
    pre,
    sample,
    simulate,
    time,
    when,
)
from acausal.components.blocks import Step

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
