"""Start values of discrete variables, given at construction and for a run."""

from collections.abc import Iterator
from enum import Enum
from typing import Any

import pytest

from acausal import (
    Component,
    DeclarationError,
    Discrete,
    ParameterError,
    Start,
    Statement,
    assign,
    pre,
    sample,
    simulate,
    when,
)


class Gear(Enum):
    PARK = 0
    DRIVE = 1


member: Any = Gear.DRIVE
DRIVING = Start(member)


class Held(Component):
    n: Discrete = Discrete(int)
    b: Discrete = Discrete(bool)
    z: Discrete = Discrete(float)
    q: Discrete = Discrete(Gear)

    def equations(self) -> Iterator[Statement]:
        yield when(sample(period=1.0, start=5.0), assign(self.n, pre(self.n) + 1), assign(self.b, True))
        yield when(sample(period=1.0, start=5.0), assign(self.z, 1.0), assign(self.q, Gear.PARK))


class Holder(Component):
    def build(self) -> None:
        self.held = Held(n=Start(4), q=DRIVING)


@pytest.mark.parametrize(
    ("name", "value", "code"), [("n", 4, 4), ("b", True, 1), ("z", 1.5, 1.5), ("q", Gear.DRIVE, 1)]
)
def test_a_start_value_may_be_a_start(name: str, value: Any, code: float) -> None:
    for given in (value, Start(value)):
        assert simulate(Held(**{name: given}), 1.0)[name].final == code
    held = simulate(Holder(), 1.0)
    assert (held["held.n"].final, held["held.q"].final) == (4, 1)


def test_a_start_of_a_discrete_is_not_fixed() -> None:
    wrong: Any = "a"
    with pytest.raises(DeclarationError, match="`n` of Held cannot be fixed") as caught:
        Held(n=Start(4, fixed=True))
    assert caught.value.where
    with pytest.raises(DeclarationError, match="must be a whole number, got 'a'"):
        Held(**{"n": Start(wrong)})


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [("q", "DRIVE", "one of Gear.PARK, Gear.DRIVE, got"), ("q", 7, "one of"), ("n", [1], "a whole number"), ("b", "x", "True")],
)  # fmt: skip
def test_what_is_no_initial_value(name: str, value: Any, text: str) -> None:
    with pytest.raises(ParameterError, match=f"the initial value of `{name}` must be {text}"):
        simulate(Held(), 1.0, initial={name: value})
