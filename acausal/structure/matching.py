"""Maximum matching of equations and unknowns."""

from __future__ import annotations

import numpy as np

from ..values import frozen
from .incidence import INT, Incidence

BULK_ROUNDS = 30
"""Sweeps that take forced pairs in bulk before augmenting paths are searched, which find them as well."""


@frozen
class Matching:
    """Which unknown is computed from which equation; -1 where there is none.

    Attributes
    ----------
    unknown : ndarray of int64, shape (m,)
        Unknown of every equation.
    equation : ndarray of int64, shape (n,)
        Equation of every unknown.
    """

    unknown: np.ndarray
    equation: np.ndarray

    @property
    def size(self) -> int:
        """Number of pairs."""
        return int(np.count_nonzero(self.unknown >= 0))

    @property
    def perfect(self) -> bool:
        """Every equation and every unknown has a partner."""
        return self.size == len(self.unknown) == len(self.equation)


def maximum_matching(incidence: Incidence) -> Matching:
    """Match as many equations with unknowns as possible; deterministic.

    Parameters
    ----------
    incidence : Incidence, shape (m, n)
        Unknowns of every equation.

    Notes
    -----
    An equation with one unknown left, or an unknown with one equation left, is matched with it: some maximum matching
    contains that pair, and the result follows the causality of the equations. Ties go to the smallest id. What remains
    is left to Hopcroft and Karp [1]_.

    References
    ----------
    .. [1] J. E. Hopcroft, R. M. Karp, "An n^5/2 algorithm for maximum matchings in bipartite graphs", SIAM Journal on
       Computing 2 (1973) 225-231.
    """
    row, col = incidence.row, incidence.col
    unknown, equation = np.full(incidence.m, -1, INT), np.full(incidence.n, -1, INT)
    for _ in range(BULK_ROUNDS):
        paired = _pair_forced(row, col, unknown, equation)
        live = (unknown[row] < 0) & (equation[col] < 0)
        row, col = row[live], col[live]
        if not paired or not len(row):
            break
    if len(row):
        _augment(row, col, unknown, equation)
    return Matching(unknown, equation)


def _pair_forced(row: np.ndarray, col: np.ndarray, unknown: np.ndarray, equation: np.ndarray) -> bool:
    """Match rows with one entry, then columns with one entry; entries of matched rows and columns are absent."""
    entry = np.flatnonzero(np.bincount(row, minlength=len(unknown))[row] == 1)
    entry = entry[np.unique(col[entry], return_index=True)[1]]
    unknown[row[entry]], equation[col[entry]] = col[entry], row[entry]
    paired = len(entry) > 0
    live = (unknown[row] < 0) & (equation[col] < 0)
    row, col = row[live], col[live]
    entry = np.flatnonzero(np.bincount(col, minlength=len(equation))[col] == 1)
    entry = entry[np.unique(row[entry], return_index=True)[1]]
    unknown[row[entry]], equation[col[entry]] = col[entry], row[entry]
    return paired or len(entry) > 0


def _augment(row: np.ndarray, col: np.ndarray, unknown: np.ndarray, equation: np.ndarray) -> None:
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rows, local_row = np.unique(row, return_inverse=True)
    cols, local_col = np.unique(col, return_inverse=True)
    graph = Incidence.from_pairs(local_row, local_col, (len(rows), len(cols))).csr()
    found = maximum_bipartite_matching(graph, perm_type="column")
    hit = found >= 0
    unknown[rows[hit]], equation[cols[found[hit]]] = cols[found[hit]], rows[hit]


def alternating_reach(incidence: Incidence, matching: Matching) -> np.ndarray:
    """Mask of the equations on alternating paths that start at an unmatched equation, shape (m,).

    Notes
    -----
    With a maximum matching these equations have fewer unknowns than there are equations: the over-determined part.
    One breadth-first search from a node joined to all unmatched equations.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    m = incidence.m
    unmatched = np.flatnonzero(matching.unknown < 0)
    reached = np.zeros(m + 1, bool)
    if len(unmatched):
        row, owner = incidence.row, matching.equation[incidence.col]
        known = owner >= 0
        source = np.concatenate((row[known], np.full(len(unmatched), m)))
        target = np.concatenate((owner[known], unmatched))
        graph = csr_array((np.ones(len(source), np.int32), (source, target)), shape=(m + 1, m + 1))
        reached[breadth_first_order(graph, m, return_predecessors=False)] = True
    return reached[:m]
