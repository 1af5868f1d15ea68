from __future__ import annotations

import numpy as np
import pytest

from acausal.structure.aliases import AliasEdges, alias_classes, alias_edges, independent_edges
from acausal.structure.incidence import IntegerRows
from tests.oracles.rref import null_basis, rank


def edges_of(rows: list[dict[int, int]], n: int) -> AliasEdges:
    return alias_edges(IntegerRows.from_dicts(rows, n))


def test_chain_with_signs() -> None:
    classes = alias_classes(edges_of([{3: 1, 2: -1}, {2: 2, 1: 2}], 4))
    assert classes.representative.tolist() == [0, 1, 1, 1]
    assert classes.sign.tolist() == [1, 1, -1, -1]


def test_opposite_of_itself_is_zero() -> None:
    classes = alias_classes(edges_of([{0: 1, 1: 1}, {0: 1, 1: -1}, {2: 1, 3: 1}], 4))
    assert classes.sign.tolist() == [0, 0, 1, -1]


def test_zero_spreads_over_aliases() -> None:
    classes = alias_classes(edges_of([{0: 1, 1: -1}, {1: 7}], 3))
    assert classes.sign.tolist() == [0, 0, 1]


def test_priority_decides_the_representative() -> None:
    classes = alias_classes(edges_of([{0: 1, 1: 1}, {1: 1, 2: -1}], 3), np.array([2, 2, 0]))
    assert classes.representative.tolist() == [2, 2, 2]
    assert classes.sign.tolist() == [-1, 1, 1]


def test_unequal_coefficients_are_no_alias() -> None:
    assert edges_of([{0: 2, 1: 1}, {0: 1, 1: 1, 2: 1}, {}], 3).row.tolist() == []


@pytest.mark.parametrize("seed", range(60))
def test_classes_span_the_null_space_of_the_relations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    rows = []
    for _ in range(int(rng.integers(0, n + 3))):
        a, b = rng.choice(n, 2, replace=False).tolist()
        rows.append({a: 1} if rng.random() < 0.1 else {a: 1, b: int(rng.choice([-1, 1]))})
    edges = edges_of(rows, n)
    classes = alias_classes(edges)
    matrix = np.zeros((len(rows), n), int)
    for k, row in enumerate(rows):
        matrix[k, list(row)] = list(row.values())
    free = np.flatnonzero((classes.representative == np.arange(n)) & (classes.sign != 0))
    basis = np.zeros((len(free), n), int)
    for k, root in enumerate(free):
        members = classes.representative == root
        basis[k, members] = classes.sign[members]
    assert not (matrix @ basis.T).any()
    assert len(free) == len(null_basis(matrix))
    independent = independent_edges(edges)
    before = 0
    for edge in np.argsort(edges.row):
        now = rank(matrix[: edges.row[edge] + 1])
        assert independent[edge] == (now > before)
        before = now
