"""S6: relations are frozen between instants and take the lexicographic sign after a crossing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    Parameter,
    Variable,
    absolute,
    assign,
    der,
    if_else,
    minimum,
    pre,
    reinit,
    sign,
    simulate,
    table,
    time,
    when,
)

from .observing import Statements


class Crossing(Component):
    """x = t - 1 crosses zero upwards, y = 1 - t downwards."""

    x: Variable = Variable(start=-1.0)
    y: Variable = Variable(start=1.0)
    above: Discrete = Discrete(bool)
    below: Discrete = Discrete(bool)

    def equations(self) -> Statements:
        yield Eq(der(self.x), 1)
        yield Eq(der(self.y), -1)
        yield Eq(self.above, self.x > 0)
        yield Eq(self.below, self.y < 0)


def test_a_located_crossing_has_its_value_after_the_crossing() -> None:
    result = simulate(Crossing(), 2.0)
    (event,) = [e for e in result.events if e.t > 0.0 and e.kind == "state"]
    assert event.t == pytest.approx(1.0, abs=1e-15)
    assert result["above"].at(event.t) and not result["above"].at(event.t, side="left")
    assert result["below"].at(event.t)


def test_where_the_value_is_zero_derivatives_decide() -> None:
    class Touching(Component):
        """x = t**2 starts at zero with slope zero and rises."""

        x: Variable = Variable()
        v: Variable = Variable()
        above: Discrete = Discrete(bool)
        not_below: Discrete = Discrete(bool)

        def equations(self) -> Statements:
            yield Eq(der(self.x), self.v)
            yield Eq(der(self.v), 2)
            yield Eq(self.above, self.x > 0)
            yield Eq(self.not_below, self.x >= 0)

    result = simulate(Touching(), 1.0)
    assert result["above"].at(0.0) and result["not_below"].at(0.0)


def test_identically_zero_is_neither_above_nor_below() -> None:
    class Resting(Component):
        x: Variable = Variable()
        strict: Discrete = Discrete(bool)
        weak: Discrete = Discrete(bool)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 0)
            yield Eq(self.strict, (self.x > 0) | (self.x < 0))
            yield Eq(self.weak, (self.x >= 0) & (self.x <= 0))

    result = simulate(Resting(), 1.0)
    assert not result["strict"].final
    assert result["weak"].final


def test_values_by_relations_switch_at_the_crossing_itself() -> None:
    class Limited(Component):
        x: Variable = Variable()
        y: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1)
            yield Eq(self.y, if_else(self.x < 0.7, self.x, 0.7))

    result = simulate(Limited(), 1.0)
    t = np.linspace(0.0, 1.0, 23)
    assert result["y"].at(t) == pytest.approx(np.minimum(t, 0.7), rel=1e-14)


def test_relations_on_parameters_are_folded() -> None:
    class Folded(Component):
        k: Parameter = Parameter(default=1.0)
        x: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x), if_else(self.k > 0, 1, -1))

    assert simulate(Folded(), 1.0)["x"].final == pytest.approx(1.0)
    assert simulate(Folded(), 1.0, parameters={"k": -1.0})["x"].final == pytest.approx(-1.0)
    assert all(event.t == 0.0 for event in simulate(Folded(), 1.0).events)


class Carrier(Component):
    """A modulator in the public language: the falling edge is solved for, not searched."""

    duty: Parameter = Parameter(default=0.3)
    begin: Discrete = Discrete(float)
    on: Discrete = Discrete(bool)
    next: Discrete = Discrete(float, start=0.1)

    def equations(self) -> Statements:
        yield when(
            time >= pre(self.next),
            assign(self.begin, pre(self.next)),
            assign(self.next, pre(self.next) + 0.1),
        )
        yield Eq(self.on, time < self.begin + self.duty * 0.1)


def test_relations_affine_in_time_are_time_events() -> None:
    result = simulate(Carrier(), 1.0)
    falls = [e.t for e in result.events if e.discretes.get("on") == (True, False)]
    assert falls == pytest.approx([0.03 + 0.1 * k for k in range(10)], rel=1e-14)
    assert {e.kind for e in result.events if e.t in falls} == {"time"}


def test_after_a_reinit_relations_follow_the_new_value() -> None:
    class Reset(Component):
        x: Variable = Variable()
        high: Discrete = Discrete(bool)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1)
            yield Eq(self.high, self.x > 0.5)
            yield when(time >= 0.8, reinit(self.x, 0.0))

    assert simulate(Reset(), 1.0)["high"].at([0.4, 0.6, 0.9]) == pytest.approx([0.0, 1.0, 0.0])


@pytest.mark.parametrize("moving", [lambda m: m.x, lambda _: time])
@pytest.mark.parametrize(
    ("condition", "at"),
    [
        (lambda x: table(x, (0.0, 1.0, 3.0), (0.0, 2.0, -2.0)) < 1.0, 1.5),
        (lambda x: table(x, (0.0, 1.0, 3.0), (0.0, 2.0, -2.0)) < -1.0, 2.5),
        (lambda x: minimum(x, 2.0 - x) < -0.25, 2.25),
        (lambda x: absolute(x - 2.0) < 0.5, 1.5),
        (lambda x: sign(x - 2.0) > 0.0, 2.0),
        (lambda x: if_else(x < 1.0, 0.0, x) > 1.25, 1.25),
    ],
)
def test_relations_of_values_with_kinks_change_where_they_cross(
    condition: Callable[..., Any], at: float, moving: Callable[..., Any]
) -> None:
    class Model(Component):
        x: Variable = Variable()
        n: Discrete = Discrete(int)
        at: Discrete = Discrete(float)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1)
            yield when(condition(moving(self)), assign(self.at, time), assign(self.n, pre(self.n) + 1))

    result = simulate(Model(), 3.0)
    assert result["n"].final == 1
    assert result["at"].final == pytest.approx(at, rel=1e-14)
