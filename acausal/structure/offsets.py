"""How often every equation must be differentiated: the offsets of the Sigma method."""

from __future__ import annotations

import numpy as np

from ..values import frozen
from .decomposition import Decomposition, decompose
from .incidence import INT, Incidence
from .matching import Matching, alternating_reach, maximum_matching


@frozen
class Offsets:
    """Result of `sigma_offsets`.

    Attributes
    ----------
    c : ndarray of int64, shape (n,)
        Times every equation is differentiated.
    d : ndarray of int64, shape (n,)
        Highest derivative of every unknown in the differentiated system; ``d[j] - c[i] >= sigma[i, j]``.
    matching : Matching
        Transversal on which equality holds; maximum, not perfect, when the system is singular.
    rounds : int
        Sweeps of differentiation.
    singular : Decomposition or None
        Over- and under-determined parts when there is no transversal at all; ``c`` and ``d`` are then meaningless.
    """

    c: np.ndarray
    d: np.ndarray
    matching: Matching
    rounds: int
    singular: Decomposition | None

    @property
    def degrees_of_freedom(self) -> int:
        """Number of initial values that can be chosen."""
        return int(self.d.sum() - self.c.sum())


def sigma_offsets(row: np.ndarray, col: np.ndarray, sigma: np.ndarray, shape: tuple[int, int]) -> Offsets:
    """Smallest offsets of a system whose equation ``row[k]`` holds unknown ``col[k]`` up to derivative ``sigma[k]``.

    Parameters
    ----------
    row, col, sigma : ndarray of int, shape (nnz,)
        Signature entries; where one pair occurs twice the higher derivative counts.
    shape : (int, int)
        Numbers of equations and unknowns. A system that is not square is singular.

    Returns
    -------
    Offsets
        The canonical (smallest) offsets, or the parts that make the system singular.

    Notes
    -----
    Primal-dual steps of the linear program of the Sigma method [1]_, which are Pantelides' algorithm [2]_ in bulk: all
    equations that alternating paths over the tight entries reach from an unmatched equation are differentiated at once.
    Every optimum has larger offsets on all of that set, so no step overshoots. The number of rounds is
    near the index; every round is linear in the number of entries apart from the matching.

    References
    ----------
    .. [1] J. D. Pryce, "A simple structural analysis method for DAEs", BIT 41 (2001) 364-394.
    .. [2] C. C. Pantelides, "The consistent initialization of differential-algebraic systems", SIAM Journal on
       Scientific and Statistical Computing 9 (1988) 213-231.
    """
    m, n = shape
    row, col, sigma = (np.asarray(part, INT) for part in (row, col, sigma))
    c, d = np.zeros(m, INT), np.zeros(n, INT)
    np.maximum.at(d, col, sigma)
    rounds = 0
    while True:
        tight = d[col] - c[row] == sigma
        incidence = Incidence.from_pairs(row[tight], col[tight], shape)
        matching = maximum_matching(incidence)
        if matching.perfect:
            return Offsets(c, d, matching, rounds, None)
        if rounds == 0:
            everything = Incidence.from_pairs(row, col, shape)
            possible = maximum_matching(everything)
            if not possible.perfect:
                return Offsets(c, d, possible, rounds, decompose(everything, possible))
        reached = alternating_reach(incidence, matching)
        d[np.unique(col[tight & reached[row]])] += 1
        c[reached] += 1
        rounds += 1
