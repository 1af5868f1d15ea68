"""Comparisons for equality: of what takes members of an enum, and of what has a value for no time."""

import re
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    ExpressionError,
    Statement,
    Variable,
    assign,
    change,
    if_else,
    pre,
    simulate,
    time,
    to,
    transitions,
    when,
)


class Gear(Enum):
    PARK = "park"
    DRIVE = "drive"


class Other(Enum):
    PARK = "park"


class Model(Component):
    x: Variable = Variable()
    gear: Discrete = Discrete(Gear)
    n: Discrete = Discrete(int)


class Follower(Component):
    """Reads a state machine a micro-step later, directly and through a choice."""

    a: Discrete = Discrete(Gear)
    on: Discrete = Discrete(bool)
    late: Discrete = Discrete(bool)
    n: Discrete = Discrete(int)

    def equations(self) -> Iterator[Statement]:
        yield transitions(self.a, {Gear.PARK: [to(Gear.DRIVE, time >= 1.0)]})
        yield when(pre(self.a).equals(Gear.DRIVE), assign(self.n, pre(self.n) + 1))
        yield Eq(self.late, time >= 1.5)
        yield Eq(self.on, if_else(self.late, Gear.PARK, self.a).equals(Gear.DRIVE))


def test_what_gives_members_of_an_enum_is_compared_with_them() -> None:
    result = simulate(Follower(), 2.0)
    assert result["n"].final == 1
    assert result["on"].mean() == pytest.approx(0.25, rel=1e-14)


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (lambda m: pre(m.gear).equals(Other.PARK), "`pre(gear)` never equals `Other.PARK`"),
        (lambda m: pre(m.gear).equals(0), "`pre(gear)` never equals `0`"),
        (lambda m: m.n.equals(pre(m.gear)), "`n` never equals `pre(gear)`"),
        (lambda m: pre(m.gear) > Gear.PARK, "which have no order"),
        (lambda m: m.x.equals(1), "`x` never equals `1`, as it is continuous"),
        (lambda m: (2 * m.x + time).equals(1), "as it is continuous"),
        (lambda m: time.equals(0.5), "`time` never equals `0.5`, as it is continuous"),
    ],
)
def test_comparisons_that_never_hold(condition: Callable[[Model], Any], text: str) -> None:
    with pytest.raises(ExpressionError, match=re.escape(text)):
        condition(Model())


def test_changes_are_of_discrete_variables() -> None:
    with pytest.raises(ExpressionError, match=re.escape("change(x) needs a discrete variable")):
        change(Model().x)
