from __future__ import annotations

import numpy as np

from acausal.structure.incidence import IntegerRows
from acausal.structure.merging import Merged, merge


def merged(
    rows: list[dict[int, int]],
    n: int,
    fixed: tuple[int, ...] = (),
    given: tuple[int, ...] = (),
    max_terms: int = 8,
) -> Merged:
    stays, known = np.zeros(n, bool), np.zeros(n, bool)
    stays[list(fixed)], known[list(given)] = True, True
    return merge(IntegerRows.from_dicts(rows, n), stays, 1 - stays.astype(int), known, max_terms)


def test_a_sum_becomes_an_alias_when_a_term_vanishes() -> None:
    result = merged([{0: 1, 1: 1, 2: 1}, {2: 3}], 3)
    assert result.root.tolist() == [0, 0, 2]
    assert result.sign.tolist() == [1, -1, 0]
    assert result.live.m == 0


def test_terms_cancel_after_merging() -> None:
    result = merged([{0: 1, 1: -1}, {0: 1, 1: -1, 2: 1, 3: 1}], 4)
    assert result.root.tolist() == [0, 0, 2, 2]
    assert result.sign.tolist() == [1, 1, 1, -1]


def test_fixed_member_represents_its_class() -> None:
    result = merged([{0: 1, 1: 1}, {1: 1, 2: -1}], 3, fixed=(2,))
    assert result.root.tolist() == [2, 2, 2]
    assert result.sign.tolist() == [-1, 1, 1]
    assert result.links.m == 0


def test_every_further_fixed_member_keeps_a_link_with_a_row_of_its_own() -> None:
    result = merged([{1: 1, 2: 1}, {0: 1, 1: -1}, {2: 1, 3: -1}], 4, fixed=(0, 2, 3))
    assert result.root.tolist() == [0, 0, 2, 3]
    assert result.links.csr().toarray().tolist() == [[1, 0, 1, 0], [1, 0, 0, 1]]
    assert len(set(result.link_origin.tolist())) == 2


def test_zero_fixed_column_keeps_its_row() -> None:
    result = merged([{0: 1, 1: 1}, {0: 1, 1: -1}], 2, fixed=(1,))
    assert result.sign.tolist() == [0, 1]
    assert result.links.csr().toarray().tolist() == [[0, 1]]


def test_cycle_of_aliases_leaves_a_dependent_row() -> None:
    result = merged([{0: 1, 1: -1}, {1: 1, 2: -1}, {2: 1, 0: -1}], 3)
    assert result.dependent.tolist() == [2]
    assert not result.leftover


def test_known_values_are_carried_on() -> None:
    """x0 = -x3, x1 = x0 - x4, and x1 = 0 contradicts unless the known columns 3 and 4 cancel."""
    result = merged([{0: 1, 3: 1}, {1: 1, 0: -1, 4: 1}, {1: 1}], 5, given=(3, 4))
    assert result.dependent.tolist() == [1]
    assert result.leftover


def test_known_values_are_bounded() -> None:
    """x_k = x_{k-1} + known k: the sums stop at three terms."""
    n = 6
    rows = [{0: 1, n: -1}, *({k: 1, k - 1: -1, n + k: -1} for k in range(1, n))]
    result = merged(rows, 2 * n, given=tuple(range(n, 2 * n)), max_terms=3)
    assert sorted(result.known.tolist()) == [0, 1, 2]
    assert sorted(result.values.lengths.tolist()) == [1, 2, 3]
    assert result.live.m == 3
