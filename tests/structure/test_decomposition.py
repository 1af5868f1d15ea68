from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from acausal.structure.decomposition import decompose
from acausal.structure.incidence import Incidence


def test_the_three_parts() -> None:
    """Two equations for x0, one for x1, one for x2 and x3."""
    pairs = Incidence.from_pairs(np.array([0, 1, 2, 2, 3, 3, 3]), np.array([0, 0, 0, 1, 1, 2, 3]), (4, 4))
    parts = decompose(pairs)
    assert parts.over.equations.tolist() == [0, 1]
    assert parts.over.unknowns.tolist() == [0]
    assert parts.well.equations.tolist() == [2]
    assert parts.well.unknowns.tolist() == [1]
    assert parts.under.equations.tolist() == [3]
    assert parts.under.unknowns.tolist() == [2, 3]


def matching_size(edges: list[tuple[int, int]], m: int, skip: int = -1) -> int:
    """Maximum matching without one node; equations are 0..m-1, unknowns m.. ."""
    graph = nx.Graph()
    graph.add_nodes_from(k for k in range(m) if k != skip)
    graph.add_edges_from((a, b) for a, b in edges if skip not in (a, b))
    top = [k for k in range(m) if k != skip]
    return len(nx.bipartite.hopcroft_karp_matching(graph, top)) // 2


@pytest.mark.parametrize("seed", range(60))
def test_surplus_equations_are_those_whose_removal_costs_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n = (int(k) for k in rng.integers(1, 10, 2))
    dense = rng.random((m, n)) < rng.choice([1, 2]) / n
    row, col = np.nonzero(dense)
    parts = decompose(Incidence.from_pairs(row, col, (m, n)))
    edges = list(zip(row.tolist(), (m + col).tolist(), strict=True))
    full = matching_size(edges, m)
    assert parts.over.equations.tolist() == [k for k in range(m) if matching_size(edges, m, k) == full]
    assert parts.under.unknowns.tolist() == [k for k in range(n) if matching_size(edges, m, m + k) == full]
    assert len(parts.well.equations) == len(parts.well.unknowns)
    assert parts.over.unknowns.tolist() == np.flatnonzero(dense[parts.over.equations].any(axis=0)).tolist()
    assert (
        parts.under.equations.tolist() == np.flatnonzero(dense[:, parts.under.unknowns].any(axis=1)).tolist()
    )
