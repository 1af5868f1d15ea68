"""Tearing of loops: what is guessed, and what follows."""

import numpy as np
import pytest

from acausal.structure.blocks import sort_blocks, written_order
from acausal.structure.incidence import Incidence
from acausal.structure.matching import maximum_matching
from acausal.structure.tearing import Torn, tear


def torn(rows: list[list[int]], n: int, not_solvable: set[tuple[int, int]] = frozenset()) -> Torn:  # type: ignore[assignment]
    row = np.repeat(np.arange(len(rows)), [len(r) for r in rows])
    incidence = Incidence.from_pairs(row, np.concatenate(rows), (len(rows), n))
    pairs = zip(incidence.row.tolist(), incidence.col.tolist(), strict=True)
    return tear(incidence, np.array([p not in not_solvable for p in pairs]))


def check(rows: list[list[int]], found: Torn) -> None:
    """Each assignment uses what is known; nothing is left out."""
    known = set(found.tears.tolist())
    for i, j in zip(found.equations.tolist(), found.unknowns.tolist(), strict=True):
        assert set(rows[i]) - known == {j}
        known.add(j)
    assert known == {j for r in rows for j in r}
    assert sorted([*found.equations.tolist(), *found.residuals.tolist()]) == list(range(len(rows)))
    assert len(found.tears) == len(found.residuals)


def test_a_ring_needs_one_guess() -> None:
    rows = [[k, (k + 1) % 6] for k in range(6)]
    found = torn(rows, 6)
    check(rows, found)
    assert len(found.tears) == 1


def test_an_unknown_with_a_factor_that_may_vanish_is_not_solved_for() -> None:
    rows = [[0, 1], [0, 1]]
    found = torn(rows, 2, {(0, 1), (1, 1)})
    check(rows, found)
    assert found.tears.tolist() == [1]
    assert found.unknowns.tolist() == [0]


def test_without_any_solvable_entry_everything_is_guessed() -> None:
    rows = [[0, 1], [0, 1]]
    found = torn(rows, 2, {(i, j) for i in range(2) for j in range(2)})
    assert found.tears.tolist() == [0, 1]
    assert found.residuals.tolist() == [0, 1]


def test_the_unknown_from_which_most_follows_is_guessed() -> None:
    """One unknown in two equations with one other each, beside a sum that none may be solved from."""
    rows = [[0, 1], [0, 2], [1, 2]]
    found = torn(rows, 3, {(2, 1), (2, 2), (0, 0), (1, 0)})
    check(rows, found)
    assert found.tears.tolist() == [0]
    assert found.residuals.tolist() == [2]


@pytest.mark.parametrize("seed", range(20))
def test_random_loops_are_torn_completely(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    rows = [sorted({k, *rng.integers(0, n, 3).tolist()}) for k in range(n)]
    pairs = {(i, j) for i, r in enumerate(rows) for j in r}
    blocked = {p for p in sorted(pairs) if rng.random() < 0.3}
    check(rows, torn(rows, n, blocked))


@pytest.mark.parametrize("seed", range(20))
def test_the_written_order_is_valid_and_close_to_the_ranks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    rows = [sorted({k, *rng.integers(0, n, 1).tolist()}) for k in range(n)]
    row = np.repeat(np.arange(n), [len(r) for r in rows])
    incidence = Incidence.from_pairs(row, np.concatenate(rows), (n, n))
    matching, rank = maximum_matching(incidence), rng.permutation(n)
    blocks = written_order(sort_blocks(incidence, matching), incidence, matching, rank)
    known: set[int] = set()
    needs = []
    for b in range(len(blocks)):
        part = slice(int(blocks.ptr[b]), int(blocks.ptr[b + 1]))
        own = set(blocks.unknowns[part].tolist())
        used = {j for i in blocks.equations[part].tolist() for j in rows[i]}
        assert used <= known | own
        known |= own
        needs.append((min(rank[blocks.equations[part]]), used - own, own))
    # A block that could have come before its predecessor has the larger rank.
    for (before, _, given), (after, wanted, _) in zip(needs, needs[1:], strict=False):
        assert after > before or wanted & given
