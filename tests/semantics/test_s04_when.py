"""S4: a when fires at the micro-step in which its condition becomes true; all that fire act together."""

from collections.abc import Callable
from typing import Any

import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    EventIterationError,
    Variable,
    absolute,
    assign,
    der,
    maximum,
    minimum,
    pre,
    reinit,
    sample,
    sign,
    simulate,
    table,
    time,
    when,
)

from .observing import Statements


def test_fires_once_while_the_condition_stays_true() -> None:
    class Model(Component):
        n: Discrete = Discrete(int)

        def equations(self) -> Statements:
            yield when(time >= 1.0, assign(self.n, pre(self.n) + 1))

    result = simulate(Model(), 3.0)
    assert result["n"].at([0.5, 1.0, 2.5]).tolist() == [0, 1, 1]


def test_a_sample_is_true_in_the_first_micro_step_only() -> None:
    class Model(Component):
        n: Discrete = Discrete(int)
        late: Discrete = Discrete(bool)

        def equations(self) -> Statements:
            yield when(sample(period=1.0), assign(self.n, pre(self.n) + 1))
            yield Eq(self.late, (pre(self.n) >= 2) & (self.n >= 2))

    result = simulate(Model(), 2.5)
    assert result["n"].at([0.0, 1.0, 2.0]).tolist() == [1, 2, 3]
    assert len([s for s in result.steps if s.t == 1.0]) == 2


def test_a_list_fires_when_any_of_its_conditions_becomes_true() -> None:
    class Model(Component):
        n: Discrete = Discrete(int)

        def equations(self) -> Statements:
            yield when([time >= 1.0, time >= 2.0], assign(self.n, pre(self.n) + 1))

    assert simulate(Model(), 3.0)["n"].at([0.5, 1.5, 2.5]).tolist() == [0, 1, 2]


def test_elsewhen_waits_until_no_earlier_branch_fires() -> None:
    class Model(Component):
        which: Discrete = Discrete(int)

        def equations(self) -> Statements:
            chain = when(sample(period=2.0), assign(self.which, 1))
            yield chain.elsewhen(sample(period=1.0), assign(self.which, 2))

    assert simulate(Model(), 3.5)["which"].at([0.0, 1.0, 2.0, 3.0]).tolist() == [1, 2, 1, 2]


class Together(Component):
    """Written against the order in which values are needed."""

    doubled: Discrete = Discrete(float)
    n: Discrete = Discrete(float)
    before: Discrete = Discrete(float)

    def equations(self) -> Statements:
        yield when(sample(period=1.0), assign(self.doubled, 2 * self.n))
        yield when(sample(period=1.0), assign(self.before, pre(self.n)))
        yield when(sample(period=1.0), assign(self.n, pre(self.n) + 1))


def test_discretes_read_without_pre_are_the_new_ones() -> None:
    result = simulate(Together(), 2.5)
    assert result["n"].at([0.0, 1.0, 2.0]).tolist() == [1.0, 2.0, 3.0]
    assert result["doubled"].at([0.0, 1.0, 2.0]).tolist() == [2.0, 4.0, 6.0]
    assert result["before"].at([0.0, 1.0, 2.0]).tolist() == [0.0, 1.0, 2.0]


def test_continuous_variables_are_read_as_they_were_before_the_micro_step() -> None:
    class Model(Component):
        x: Variable = Variable(start=1.0)
        seen: Discrete = Discrete(float)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1)
            yield when(time >= 1.0, reinit(self.x, 0.0), assign(self.seen, self.x))

    result = simulate(Model(), 1.5)
    assert result["seen"].final == pytest.approx(2.0, rel=1e-14)
    assert result["x"].at(1.0) == 0.0


def test_a_cycle_of_assignments_is_an_error_that_names_it() -> None:
    class Model(Component):
        a: Discrete = Discrete(float)
        b: Discrete = Discrete(float)

        def equations(self) -> Statements:
            yield when(sample(period=1.0), assign(self.a, self.b + 1))
            yield when(sample(period=1.0), assign(self.b, self.a + 1))

    with pytest.raises(EventIterationError, match="`a`, `b` determine each other"):
        simulate(Model(), 1.0)


POINTS, VALUES = (0.0, 1.0, 3.0), (0.0, 2.0, -2.0)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (lambda m: table(m.x, POINTS, VALUES), -1.0),
        (lambda m: table(pre(m.d) + 0.25, POINTS, VALUES), 0.5),
        (lambda m: table(time, POINTS, VALUES), -1.0),
        (lambda m: minimum(m.x, 1.5), 1.5),
        (lambda m: maximum(m.x, 3.0), 3.0),
        (lambda m: absolute(-m.x), 2.5),
        (lambda m: sign(1.0 - m.x), -1.0),
    ],
)
def test_actions_take_values_with_kinks(value: Callable[..., Any], expected: float) -> None:
    class Model(Component):
        x: Variable = Variable()
        y: Variable = Variable()
        d: Discrete = Discrete(float)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1)
            yield Eq(der(self.y), 0)
            yield when(time >= 2.5, assign(self.d, value(self)), reinit(self.y, value(self)))

    result = simulate(Model(), 3.0)
    assert (result["d"].final, result["y"].final) == pytest.approx((expected, expected), rel=1e-14)
