from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from acausal.structure.incidence import Incidence
from acausal.structure.matching import alternating_reach, maximum_matching


def incidence(rows: list[list[int]], n: int) -> Incidence:
    row = np.repeat(np.arange(len(rows)), [len(r) for r in rows])
    return Incidence.from_pairs(row, np.array([c for r in rows for c in r], int), (len(rows), n))


def random_incidence(rng: np.random.Generator, m: int, n: int) -> Incidence:
    dense = rng.random((m, n)) < rng.choice([1, 2, 3]) / n
    return Incidence.from_pairs(*np.nonzero(dense), (m, n))


def test_forced_pairs_follow_the_causality() -> None:
    """x0 = 1; x1 = f(x0); x2 = g(x0, x1): every equation computes its own unknown."""
    matching = maximum_matching(incidence([[0], [0, 1], [0, 1, 2]], 3))
    assert matching.unknown.tolist() == [0, 1, 2]
    assert matching.equation.tolist() == [0, 1, 2]
    assert matching.perfect


def test_two_equations_for_one_unknown() -> None:
    matching = maximum_matching(incidence([[0], [0], [1, 2]], 3))
    assert matching.unknown.tolist()[:2] == [0, -1]
    assert matching.size == 2
    assert not matching.perfect


def test_nothing_to_match() -> None:
    assert maximum_matching(incidence([[], []], 0)).unknown.tolist() == [-1, -1]
    assert maximum_matching(incidence([], 3)).equation.tolist() == [-1, -1, -1]


@pytest.mark.parametrize("seed", range(100))
def test_size_is_maximum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 20, 2)
    pairs = random_incidence(rng, m, n)
    matching = maximum_matching(pairs)
    graph = nx.Graph()
    graph.add_nodes_from(range(m))
    graph.add_edges_from(zip(pairs.row.tolist(), (m + pairs.col).tolist(), strict=True))
    assert matching.size == len(nx.bipartite.hopcroft_karp_matching(graph, range(m))) // 2
    present = set(zip(pairs.row.tolist(), pairs.col.tolist(), strict=True))
    for equation, unknown in enumerate(matching.unknown.tolist()):
        assert unknown < 0 or ((equation, unknown) in present and matching.equation[unknown] == equation)


def test_reach_is_the_set_with_too_few_unknowns() -> None:
    pairs = incidence([[0], [0, 1], [1], [1, 2, 3], [3]], 4)
    reached = alternating_reach(pairs, maximum_matching(pairs))
    assert reached.tolist() == [True, True, True, False, False]
