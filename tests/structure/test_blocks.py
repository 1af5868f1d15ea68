from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from acausal.structure.blocks import Blocks, sort_blocks
from acausal.structure.incidence import Incidence
from acausal.structure.matching import Matching, maximum_matching


def sorted_blocks(rows: list[list[int]], n: int) -> Blocks:
    row = np.repeat(np.arange(len(rows)), [len(r) for r in rows])
    pairs = Incidence.from_pairs(row, np.concatenate(rows), (len(rows), n))
    return sort_blocks(pairs, maximum_matching(pairs))


def test_loop_between_two_assignments() -> None:
    """x3 from the loop {x1, x2}, which needs x0."""
    blocks = sorted_blocks([[1, 3], [0, 1, 2], [1, 2], [0]], 4)
    assert blocks.ptr.tolist() == [0, 1, 3, 4]
    assert blocks.equations.tolist() == [3, 1, 2, 0]
    assert blocks.unknowns[0] == 0
    assert blocks.unknowns[3] == 3
    assert blocks.level.tolist() == [0, 1, 2]
    assert blocks.block.tolist() == [2, 1, 1, 0]


def test_unmatched_unknowns_are_known() -> None:
    pairs = Incidence.from_pairs(np.array([0, 0]), np.array([0, 1]), (1, 2))
    assert len(sort_blocks(pairs, Matching(np.array([1]), np.array([-1, 0])))) == 1


def test_unmatched_equation_is_refused() -> None:
    pairs = Incidence.from_pairs(np.array([0, 1]), np.array([0, 0]), (2, 1))
    with pytest.raises(ValueError, match="every equation needs an unknown"):
        sort_blocks(pairs, maximum_matching(pairs))


def test_long_chain_has_one_level_per_equation() -> None:
    n = 3000
    blocks = sorted_blocks([[0], *([k - 1, k] for k in range(1, n))], n)
    assert blocks.equations.tolist() == list(range(n))
    assert blocks.level.tolist() == list(range(n))


@pytest.mark.parametrize("seed", range(60))
def test_blocks_are_the_strong_components_in_a_valid_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 200))
    dense = (rng.random((n, n)) < rng.choice([0.3, 1, 1.5]) / n) | np.eye(n, dtype=bool)
    dense = dense[:, rng.permutation(n)]
    pairs = Incidence.from_pairs(*np.nonzero(dense), (n, n))
    matching = maximum_matching(pairs)
    blocks = sort_blocks(pairs, matching)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(zip(matching.equation[pairs.col].tolist(), pairs.row.tolist(), strict=True))
    expected = sorted(sorted(part) for part in nx.strongly_connected_components(graph))
    found = [blocks.equations[a:b].tolist() for a, b in zip(blocks.ptr[:-1], blocks.ptr[1:], strict=True)]
    assert sorted(found) == expected
    source, user = blocks.block[matching.equation[pairs.col]], blocks.block[pairs.row]
    assert (source <= user).all()
    assert (blocks.level[source] < blocks.level[user])[source != user].all()
    assert (np.diff(blocks.level) >= 0).all()
    assert np.array_equal(blocks.unknowns, matching.unknown[blocks.equations])
