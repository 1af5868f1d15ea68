from __future__ import annotations

import numpy as np
import pytest

from acausal.structure.incidence import IntegerRows
from acausal.structure.peeling import Peeled, peel
from tests.oracles.rref import rref


def dense(rows: IntegerRows) -> np.ndarray:
    return rows.csr().toarray()


def check(rows: IntegerRows, peeled: Peeled) -> None:
    """The definitions follow from their rows, hold no pivot, and the rest holds none either."""
    assert not np.isin(peeled.definitions.col, peeled.pivot).any()
    assert not np.isin(rows.take(peeled.rest).col, peeled.pivot).any()
    assert sorted([*peeled.row.tolist(), *peeled.rest.tolist()]) == list(range(rows.m))
    statements = -dense(peeled.definitions)
    statements[np.arange(len(peeled.pivot)), peeled.pivot] += 1
    if len(peeled.pivot):
        assert rref(statements)[0] == rref(dense(rows)[peeled.row])[0]


def test_the_least_used_column_is_defined() -> None:
    rows = IntegerRows.from_dicts([{0: 1, 1: -1, 2: 1}], 3)
    peeled = peel(rows, np.ones(3, bool), np.array([2, 1, 1]))
    assert peeled.pivot.tolist() == [1]
    assert dense(peeled.definitions).tolist() == [[1, 0, 1]]


def test_only_eligible_columns_with_unit_coefficient_are_defined() -> None:
    rows = IntegerRows.from_dicts([{0: 2, 1: 1}, {2: 1, 3: 3}], 4)
    peeled = peel(rows, np.array([True, False, True, True]), np.zeros(4, int))
    assert peeled.pivot.tolist() == [2]
    assert peeled.rest.tolist() == [0]


def chain(length: int) -> IntegerRows:
    """Partial sums: column k is column k + 1 plus a term of its own, ``length + 1 + k``."""
    return IntegerRows.from_dicts(
        [{k: 1, k + 1: -1, length + 1 + k: -1} for k in range(length)], 2 * length + 1
    )


def test_the_bound_counts_terms_after_substitution() -> None:
    length = 40
    rows = chain(length)
    eligible = np.arange(rows.n) <= length
    uses = np.ones(rows.n, int)
    peeled = peel(rows, eligible, uses, max_terms=3, max_rounds=length)
    check(rows, peeled)
    assert peeled.definitions.lengths.max() == 3
    assert len(peeled.rest) > 0


def test_rounds_are_bounded() -> None:
    rows = chain(40)
    peeled = peel(rows, np.arange(rows.n) <= 40, np.ones(rows.n, int), max_terms=100)
    assert peeled.rounds == 8
    check(rows, peeled)


def test_a_column_used_nowhere_may_have_a_long_definition() -> None:
    rows = IntegerRows.from_dicts([{k: 1 for k in range(50)}, {k: 1 for k in range(50, 100)}], 100)
    uses = np.ones(100, int)
    uses[17] = 0
    peeled = peel(rows, np.ones(100, bool), uses)
    assert peeled.pivot.tolist() == [17]
    assert peeled.rest.tolist() == [1]


def test_coefficients_stay_small() -> None:
    length = 30
    rows = IntegerRows.from_dicts(
        [{k: 1, k + 1: -60, length + 1 + k: 1} for k in range(length)], 2 * length + 1
    )
    peeled = peel(rows, np.arange(rows.n) < length, np.ones(rows.n, int), max_terms=100, max_rounds=length)
    assert np.abs(peeled.definitions.val).max() <= 60 << 20
    check(rows, peeled)


@pytest.mark.parametrize("seed", range(60))
def test_random_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    m = int(rng.integers(1, n + 1))
    entries = [rng.choice(n, min(n, int(rng.integers(1, 5))), replace=False).tolist() for _ in range(m)]
    rows = IntegerRows.from_dicts([{c: int(rng.choice([-2, -1, 1, 1])) for c in row} for row in entries], n)
    uses = (rng.random(n) < 0.7).astype(int)
    peeled = peel(rows, rng.random(n) < 0.8, uses, max_terms=3)
    check(rows, peeled)
    assert (peeled.definitions.lengths[uses[peeled.pivot] > 0] <= 3).all()
