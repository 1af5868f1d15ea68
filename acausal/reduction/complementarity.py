"""Linear complementarity problems of a few variables: Lemke's method with lexicographic pivoting.

Cottle, Pang, Stone, *The Linear Complementarity Problem*, 1992, algorithm 4.4.1 and section 4.9.
"""

from __future__ import annotations

import numpy as np

_NEGLIGIBLE = 2.0**-40
"""Part of the largest term below which a pivot is rounding."""


_WRONG = 2.0**-30
"""Part of the largest term by which a solution may miss a condition."""


class NoComplementarySolution(Exception):
    """The method ended in a ray: with a copositive-plus matrix no solution exists; or rounding spoiled the solution.

    Attributes
    ----------
    ray : (m,) array or None
        The direction ``p >= 0`` of the ray, ``p M p <= 0``: however far along it, no ``w`` grows that ``p`` acts on. With a
        symmetric positive semidefinite matrix ``M p = 0`` and ``p q < 0``. None where rounding spoiled the solution.
    """

    def __init__(self, ray: np.ndarray | None = None) -> None:
        super().__init__("no complementary solution")
        self.ray = ray


def solve_complementarity(M: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The ``p >= 0`` with ``w = M p + q >= 0`` and ``p w = 0``.

    Parameters
    ----------
    M : (m, m) array
        Finds a solution, if there is any, of positive semidefinite matrices (copositive-plus ones in general).
    q : (m,) array

    Returns
    -------
    (m,) array
        Of several solutions that differ within the null space of a part of `M`, the one of least norm, if that is
        not negative: bodies that meet in two points share the impulse equally.

    Raises
    ------
    NoComplementarySolution
    """
    m = len(q)
    if not (q < 0.0).any():
        return np.zeros(m)
    diagonal = np.abs(np.diag(M))
    # A variable of its own size each: pivots are then compared with one.
    unit = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, max(diagonal.max(), 1.0)))
    length = np.abs(unit * q).max()
    try:
        found = _lemke(unit[:, None] * M * unit, unit * q / length)
    except NoComplementarySolution as error:
        raise NoComplementarySolution(None if error.ray is None else error.ray * length * unit) from None
    p = _least_norm(M, q, found * length * unit)
    w, size = unit * (M @ p + q), unit * (np.abs(M) @ p + np.abs(q))
    if (w < -_WRONG * size.max()).any() or (w[p > 0.0] > _WRONG * size.max()).any():
        raise NoComplementarySolution
    return p


def _lemke(M: np.ndarray, q: np.ndarray) -> np.ndarray:
    m = len(q)
    # Columns: w (0 .. m-1), p (m .. 2m-1), the covering variable, q. The columns of w are those of the inverse of the
    # basis, with which ties are broken.
    table = np.hstack([np.eye(m), -M, -np.ones((m, 1)), q[:, None]])
    basis = np.arange(m)
    cover = 2 * m
    # Of equal rows the last one is the smallest in lexicographic order.
    entering, leaving = cover, int(np.flatnonzero(q <= q.min() + _NEGLIGIBLE)[-1])
    for _ in range(2**m + 50 * m):
        left = int(basis[leaving])
        table[leaving] /= table[leaving, entering]
        others = np.arange(m) != leaving
        table[others] -= np.outer(table[others, entering], table[leaving])
        basis[leaving] = entering
        # With dependent rows rounding may leave a problem without solution, but no further from one than that.
        if left == cover or table[np.flatnonzero(basis == cover)[0], -1] <= _NEGLIGIBLE:
            p = np.zeros(2 * m + 1)
            p[basis] = np.maximum(table[:, -1], 0.0)
            return p[m : 2 * m]
        entering = left + m if left < m else left - m
        column = table[:, entering]
        negligible = _NEGLIGIBLE * max(1.0, np.abs(column).max())
        rows = np.flatnonzero(column > negligible)
        if not len(rows):
            ray = np.zeros(2 * m + 1)
            ray[basis] = np.where(column < -negligible, -column, 0.0)
            ray[entering] = 1.0
            raise NoComplementarySolution(ray[m : 2 * m] if ray[m : 2 * m].any() else None)
        leaving = _leaving(table, basis, rows, column, cover, m)
    raise NoComplementarySolution


def _leaving(
    table: np.ndarray, basis: np.ndarray, rows: np.ndarray, column: np.ndarray, cover: int, m: int
) -> int:
    """Row of the smallest ratio, ties broken lexicographically, the covering variable first of all."""
    for j in (2 * m + 1, *range(m)):
        ratio = table[rows, j] / column[rows]
        size = np.abs(table[rows, j]).max(initial=0.0)
        rows = rows[ratio <= ratio.min() + _NEGLIGIBLE * max(size, abs(ratio.min()))]
        if j == 2 * m + 1 and (basis[rows] == cover).any():
            return int(rows[np.flatnonzero(basis[rows] == cover)[0]])
        if len(rows) == 1:
            break
    return int(rows[0])


def _least_norm(M: np.ndarray, q: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The shortest of the solutions with the same ``M p``, if it is not negative."""
    size = np.abs(M) @ p + np.abs(q)
    shared = np.flatnonzero(np.abs(M @ p + q) <= _NEGLIGIBLE * size)
    used = np.flatnonzero(p)
    if len(shared) < 2 or not len(used):
        return p
    _, s, V = np.linalg.svd(M[:, shared])
    rank = int(np.count_nonzero(s > _NEGLIGIBLE * s.max(initial=0.0)))
    if rank == len(shared):
        return p
    shortest = V[:rank].T @ (V[:rank] @ p[shared])
    if (shortest < 0.0).any():
        return p
    found = np.zeros(len(p))
    found[shared] = shortest
    return found
