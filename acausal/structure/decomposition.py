"""Dulmage-Mendelsohn decomposition: which part of a system is over-, under- or well-determined."""

from __future__ import annotations

import numpy as np

from ..values import frozen
from .incidence import Incidence
from .matching import Matching, alternating_reach, maximum_matching


@frozen
class StructuralPart:
    """Ids of equations and unknowns that belong together, ascending."""

    equations: np.ndarray
    unknowns: np.ndarray


@frozen
class Decomposition:
    """Coarse decomposition.

    Attributes
    ----------
    over : Part
        More equations than unknowns: every equation could be the surplus one.
    under : Part
        More unknowns than equations: every unknown could be the free one.
    well : Part
        As many equations as unknowns, with a perfect matching.
    """

    over: StructuralPart
    under: StructuralPart
    well: StructuralPart


def decompose(incidence: Incidence, matching: Matching | None = None) -> Decomposition:
    """Split equations and unknowns into the three parts; they do not depend on the matching.

    Parameters
    ----------
    incidence : Incidence, shape (m, n)
        Unknowns of every equation.
    matching : Matching, optional
        A maximum matching, if known.

    References
    ----------
    .. [1] A. L. Dulmage, N. S. Mendelsohn, "Coverings of bipartite graphs", Canadian Journal of Mathematics 10 (1958)
       517-534.
    """
    if matching is None:
        matching = maximum_matching(incidence)
    m, n = incidence.m, incidence.n
    over_rows = alternating_reach(incidence, matching)
    over_cols = np.zeros(n, bool)
    over_cols[matching.unknown[over_rows & (matching.unknown >= 0)]] = True
    under_cols = alternating_reach(incidence.transpose(), Matching(matching.equation, matching.unknown))
    under_rows = np.zeros(m, bool)
    under_rows[matching.equation[under_cols & (matching.equation >= 0)]] = True
    return Decomposition(
        StructuralPart(np.flatnonzero(over_rows), np.flatnonzero(over_cols)),
        StructuralPart(np.flatnonzero(under_rows), np.flatnonzero(under_cols)),
        StructuralPart(np.flatnonzero(~over_rows & ~under_rows), np.flatnonzero(~over_cols & ~under_cols)),
    )
