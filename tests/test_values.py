"""Records that do not change."""

import pickle
from dataclasses import FrozenInstanceError, field, replace
from functools import cached_property

import pytest

from acausal.values import frozen


@frozen
class Pair:
    one: int
    two: int = 2
    kept: dict[str, int] = field(default_factory=dict, repr=False)

    @cached_property
    def total(self) -> int:
        return self.one + self.two


def test_fields_are_set_once() -> None:
    pair = Pair(1)
    with pytest.raises(FrozenInstanceError, match="'one'"):
        pair.one = 3  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="'two'"):
        del pair.two  # type: ignore[misc]
    assert (pair.one, pair.two, pair.total) == (1, 2, 3)


def test_records_are_compared_by_identity_and_shown_by_their_fields() -> None:
    pair = Pair(1)
    assert pair == pair and pair != Pair(1) and len({pair, Pair(1)}) == 2
    assert repr(pair) == "Pair(one=1, two=2)"


def test_records_are_replaced_and_carried_over() -> None:
    pair = replace(Pair(1), two=5)
    assert (pair.one, pair.total) == (1, 6)
    assert pickle.loads(pickle.dumps(pair)).total == 6
