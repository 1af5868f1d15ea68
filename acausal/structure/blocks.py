"""Block lower triangular form: which equations are solved together, and in which order."""

from __future__ import annotations

import heapq

import numpy as np

from ..values import frozen
from .incidence import INT, Incidence
from .matching import Matching


@frozen
class Blocks:
    """Blocks in evaluation order: block b uses unknowns of blocks before it only, besides its own.

    Attributes
    ----------
    ptr : ndarray of int64, shape (nb + 1,)
        Start of every block in ``equations``.
    equations, unknowns : ndarray of int64, shape (m,)
        Equations by block, ascending within a block, and the unknown matched with each.
    level : ndarray of int64, shape (nb,)
        Length of the longest chain of blocks before it, ascending; blocks of one level do not depend on each other.
    block : ndarray of int64, shape (m,)
        Block of every equation.
    """

    ptr: np.ndarray
    equations: np.ndarray
    unknowns: np.ndarray
    level: np.ndarray
    block: np.ndarray

    def __len__(self) -> int:
        return len(self.level)


def sort_blocks(incidence: Incidence, matching: Matching) -> Blocks:
    """Sort a matched system into blocks.

    Parameters
    ----------
    incidence : Incidence, shape (m, n)
        Unknowns of every equation. Unknowns without an equation count as known.
    matching : Matching
        Gives every equation an unknown.

    Returns
    -------
    Blocks
        Strongly connected components of the equations, by level, then by smallest equation id.

    Raises
    ------
    ValueError
        An equation is not matched.

    Notes
    -----
    Linear in the number of incidences.

    References
    ----------
    .. [1] R. Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1 (1972) 146-160.
    """
    from scipy.sparse.csgraph import connected_components

    if (matching.unknown < 0).any():
        msg = "every equation needs an unknown before blocks can be sorted"
        raise ValueError(msg)
    m = incidence.m
    user, source = incidence.row, matching.equation[incidence.col]
    edge = (source >= 0) & (source != user)
    source, user = source[edge], user[edge]
    users = Incidence.from_pairs(source, user, (m, m))
    count, label = connected_components(users.csr(), directed=True, connection="strong")
    level = _levels(label[source].astype(INT), label[user].astype(INT), count)
    smallest = np.full(count, m, INT)
    np.minimum.at(smallest, label, np.arange(m))
    order = np.lexsort((smallest, level))
    rank = np.empty(count, INT)
    rank[order] = np.arange(count)
    block = rank[label]
    equations = np.argsort(block, kind="stable")
    ptr = np.concatenate(([0], np.cumsum(np.bincount(block, minlength=count))))
    return Blocks(ptr, equations, matching.unknown[equations], level[order], block)


def written_order(blocks: Blocks, incidence: Incidence, matching: Matching, rank: np.ndarray) -> Blocks:
    """The same blocks in the order that follows ranks of the equations as closely as dependences allow.

    Parameters
    ----------
    blocks : Blocks
        Of ``incidence`` with ``matching``.
    rank : (m,) array of int
        Of all blocks whose predecessors are done the one with the smallest rank comes next; without ties.

    Returns
    -------
    Blocks
        Valid evaluation order; ``level`` does not ascend in general.
    """
    count = len(blocks)
    source = matching.equation[incidence.col]
    known = source >= 0
    before, after = blocks.block[source[known]], blocks.block[incidence.row[known]]
    edge = before != after
    users = Incidence.from_pairs(before[edge], after[edge], (count, count))
    waiting = np.bincount(users.col, minlength=count).tolist()
    first = np.full(count, np.iinfo(INT).max)
    np.minimum.at(first, blocks.block, rank)
    ptr, target, smallest = users.ptr.tolist(), users.col.tolist(), first.tolist()
    ready = [(smallest[b], b) for b in range(count) if not waiting[b]]
    heapq.heapify(ready)
    order = []
    while ready:
        b = heapq.heappop(ready)[1]
        order.append(b)
        for other in target[ptr[b] : ptr[b + 1]]:
            waiting[other] -= 1
            if not waiting[other]:
                heapq.heappush(ready, (smallest[other], other))
    return _permuted(blocks, np.array(order, INT), rank)


def _permuted(blocks: Blocks, order: np.ndarray, rank: np.ndarray) -> Blocks:
    """Blocks in another order, equations within a block by rank."""
    position = np.empty(len(order), INT)
    position[order] = np.arange(len(order))
    block = position[blocks.block]
    at = np.lexsort((rank[blocks.equations], block[blocks.equations]))
    equations = blocks.equations[at]
    ptr = np.concatenate(([0], np.cumsum(np.diff(blocks.ptr)[order])))
    return Blocks(ptr, equations, blocks.unknowns[at], blocks.level[order], block)


def _levels(source: np.ndarray, target: np.ndarray, count: int) -> np.ndarray:
    """Longest chain before every node of an acyclic graph; loops on one node are ignored."""
    edge = source != target
    users = Incidence.from_pairs(source[edge], target[edge], (count, count))
    waiting = np.bincount(users.col, minlength=count)
    level = np.zeros(count, INT)
    front, depth = np.flatnonzero(waiting == 0), 0
    while len(front) >= 32 or (len(front) and depth < 32):
        level[front] = depth
        reached = users.unknowns(front)
        np.subtract.at(waiting, reached, 1)
        reached = np.unique(reached)
        front, depth = reached[waiting[reached] == 0], depth + 1
    if len(front):
        _levels_one_by_one(users, waiting, level, front, depth)
    return level


def _levels_one_by_one(
    users: Incidence, waiting: np.ndarray, level: np.ndarray, front: np.ndarray, depth: int
) -> None:
    """Go on node by node: array steps do not pay on long narrow chains."""
    ptr, target = users.ptr.tolist(), users.col.tolist()
    left, nodes = waiting.tolist(), front.tolist()
    while nodes:
        level[nodes] = depth
        reached = []
        for node in nodes:
            for other in target[ptr[node] : ptr[node + 1]]:
                left[other] -= 1
                if left[other] == 0:
                    reached.append(other)
        nodes, depth = reached, depth + 1
