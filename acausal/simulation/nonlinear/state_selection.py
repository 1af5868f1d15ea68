"""Which coordinates of a mode are integrated: those that the constraints leave free, chosen by pivoting.

Constraints are differentiated by coordinates in units of their magnitudes, so that no choice depends on units.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from ...kernels.constraints import RESELECT, SINGULAR
from ...reduction.rounding import TINY
from ...values import frozen
from .places import Place
from .system import NonlinearSystem

BESIDE = 1e-6
"""Distance, in units of magnitudes, to a point whose slopes tell how constraints bend."""
OVERTURNED = 0.5
"""Cosine between the planes of the constraints at both ends of a step, below the negative of which they were singular."""


class DependentConstraints(Exception):
    """The constraints do not determine as many coordinates as there are."""


@frozen
class Selection:
    """Coordinates integrated, and those solved from the constraints."""

    states: np.ndarray
    dependent: np.ndarray


class StateSelection:
    """Selections of one mode, made from derivatives of its constraints by the scaled coordinates.

    Parameters
    ----------
    system : NonlinearSystem
    """

    def __init__(self, system: NonlinearSystem) -> None:
        self._system = system
        self._made: dict[bytes, Selection] = {}
        levels = system.constraint_levels
        self._first = np.flatnonzero(levels == 0)
        """Constraints that are not differentiated."""
        self._levels = [np.flatnonzero(levels == k) for k in range(int(levels.max(initial=-1)) + 1)]

    def best(self, J: np.ndarray) -> Selection:
        """Choose states where the derivatives are ``J``.

        Raises
        ------
        DependentConstraints
        """
        everything = np.arange(J.shape[1])
        solved, _ = self._pivoted(self._competing(J), np.ones(len(everything), bool))
        states = np.setdiff1d(everything, solved)
        return self._made.setdefault(states.tobytes(), Selection(states, np.sort(solved)))

    def worn(self, J: np.ndarray, selection: Selection) -> bool:
        """Whether other coordinates would make better states by now."""
        J, own = self._competing(J), np.zeros(J.shape[1], bool)
        own[selection.dependent] = True
        try:
            present = self._pivoted(J, own)[1]
            # No pivot exceeds one.
            if (present >= RESELECT).all():
                return False
            return bool((present < RESELECT * self._pivoted(J, np.ones_like(own))[1]).any())
        except DependentConstraints:
            return True

    def overturned(self, begin: np.ndarray, end: np.ndarray) -> bool:
        """Whether the constraints were singular between two neighbouring points with these derivatives.

        There all maximal minors of their derivatives vanish and change sign. The sum of the products of the minors at
        both points is a determinant (Cauchy and Binet), and the cosine of the angle between oriented planes.
        """
        first = self._first
        A, B = begin[first], end[first]
        mixed = _determinant(A @ B.T)
        if mixed >= 0.0:
            return False
        return mixed**2 > OVERTURNED**2 * _determinant(A @ A.T) * _determinant(B @ B.T)

    def nearer(self, place: np.ndarray, begin: np.ndarray, end: np.ndarray) -> bool:
        """Whether the plane of the constraints at a point is turned less from that at the second of two others."""
        first = self._first
        J, A, B = place[first], begin[first], end[first]
        to_begin, to_end = (_determinant(J @ C.T) / math.sqrt(_determinant(C @ C.T)) for C in (A, B))
        return to_end > to_begin

    def shrunk(self, begin: np.ndarray, end: np.ndarray) -> float:
        """Volume that the derivatives of the constraints span at the second of two points, in units of that at the first."""
        first = self._first
        A, B = begin[first], end[first]
        if len(first) == 1:
            before = float(A[0] @ A[0])
            return math.sqrt(float(B[0] @ B[0]) / before) if before else math.inf
        return math.exp(0.5 * (np.linalg.slogdet(B @ B.T)[1] - np.linalg.slogdet(A @ A.T)[1]))

    def bends(self, place: Place, slopes: np.ndarray, size: np.ndarray, constants: np.ndarray) -> np.ndarray:
        """Lengths over which the constraints bend, (nX,), where these are shorter than magnitudes.

        How far an angle has turned, or a mechanism lies from the origin, says nothing of its shape.
        """
        system, C_y = self._system, slopes[self._first, : self._system.nx]
        beside = system.beside(place.y, place.xi, constants, place.X + BESIDE * size)
        bend = np.abs(beside - C_y) / (BESIDE * size)
        return radii(np.abs(C_y), np.where(np.isfinite(bend), bend, 0.0), size)

    def least(self, slopes: np.ndarray) -> float:
        """Least slope of a combination of the constraints."""
        return float(np.linalg.svd(slopes[self._first], compute_uv=False)[-1])

    def _competing(self, J: np.ndarray) -> np.ndarray:
        """The largest entry of each row one; preferred states count less."""
        size = np.abs(J).max(axis=1, keepdims=True)
        return J / np.where(size > 0.0, size, 1.0) * self._system.pivot_weight

    def _pivoted(self, J: np.ndarray, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates solved from the constraints, and the pivots relative to the largest of their level.

        Constraints are solved level by level, those differentiated more often for other coordinates than
        those before, which are their derivatives (as dummy derivatives are chosen: Mattsson and Soderlind,
        SIAM J. Sci. Comput. 14, 1993); a level that has too few of these takes any.
        """
        pivots, solved, lower = np.zeros(0), np.zeros(0, np.int64), np.zeros(J.shape[1], bool)
        for which in self._levels:
            rows = J[which]
            free = allowed.copy()
            free[solved] = False
            found = _pivots(rows, np.flatnonzero(free & ~lower))
            if found is None:
                found = _pivots(rows, np.flatnonzero(free))
            if found is None:
                raise DependentConstraints
            solved, pivots = np.concatenate([solved, found[0]]), np.concatenate([pivots, found[1]])
            lower |= rows.any(axis=0)
        return solved, pivots


def radii(slopes: np.ndarray, bends: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Lengths (n,) over which coordinates change the slopes of constraints by as much as these are.

    Parameters
    ----------
    slopes, bends : (m, n) array
        Magnitudes of the derivatives of constraints by coordinates, and of the second ones.
    sizes : (n,) array
        Lengths of coordinates that bend less than these.

    Notes
    -----
    A constraint ``C`` with slopes ``C_j`` and bends ``C_jj`` has a natural size, the largest of ``C_j s_j``, and with it the
    lengths ``s_j`` at which ``C_jj s_j**2`` is as large. The map from lengths to lengths takes the root of ratios: it contracts.
    """
    found = sizes
    while True:
        reach = (slopes * found).max(axis=1, keepdims=True)
        bent = (bends > 0.0) & (reach > 0.0)
        far = np.sqrt(np.divide(reach, bends, out=np.full(bends.shape, np.inf), where=bent))
        before, found = found, np.minimum(sizes, far.min(axis=0))
        if (found >= 0.5 * before).all():
            return far.min(axis=0)


def _determinant(matrix: np.ndarray) -> float:
    return float(matrix[0, 0]) if len(matrix) == 1 else float(np.linalg.det(matrix))


@cache
def _decomposition() -> Any:
    """QR with column pivoting, called without the checks of `scipy.linalg.qr`, which cost more than small systems."""
    from scipy.linalg import get_lapack_funcs

    return get_lapack_funcs(("geqp3",), dtype=float)[0]


def _pivots(J: np.ndarray, among: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Columns that solve all rows best, and the pivots relative to the largest; None if there are none."""
    n = len(J)
    if len(among) < n:
        return None
    found = _decomposition()(J[:, among])
    diagonal = np.abs(np.diagonal(found[0]))
    if diagonal[-1] <= SINGULAR * max(diagonal[0], TINY):
        return None
    return among[found[1][:n] - 1], diagonal / diagonal[0] if n > 1 else diagonal
