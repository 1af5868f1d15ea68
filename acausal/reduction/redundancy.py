"""Constraints that follow from others, and the flows that nothing determines for it.

Three equal cranks on one coupler hold it once more than needed. Then the equations ``E z' + A z`` depend on each other at
every rate ``s`` in the place of the time derivative: a combination of rows of ``A + s E`` vanishes, and so does one of columns,
which is a set of forces that are in equilibrium with each other. A row of the first is left out, and the second ones are chosen
as small as possible, which one row for each of them says (Garcia de Jalon and Gutierrez-Lopez, Multibody System Dynamics 30,
2013).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .affine import AffineModel, Mode, Rows, stack_rows

DEPENDENT = 1e-10
"""Singular value of balanced rows, relative to the largest, below which they depend on each other: that at a point that was
solved for by Newton's method."""
NOTHING = DEPENDENT**0.5
"""Share in a combination that is none: the root of what counts as dependent."""
BALANCING = 4
"""Rounds in which rows and columns are given magnitudes of about one."""


def redundant_rows(model: AffineModel, mode: Mode, among: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the base, out of ``among``, that follow from others in a mode, and all of these that take part.

    As many follow as combinations vanish, those with the largest shares; none where other rows than these are needed for it.
    """
    from scipy.linalg import qr

    none = np.zeros(0, np.int64)
    left, _ = _dependence(model, model.rows(mode))
    count = left.shape[1]
    if not 0 < count <= len(among):
        return none, none
    found: Any = qr(left[among].T, mode="r", pivoting=True)
    diagonal = np.abs(np.diagonal(found[0]))
    if diagonal[count - 1] <= NOTHING:
        return none, none
    return np.sort(among[found[1][:count]]), among[(np.abs(left[among]) > NOTHING).any(axis=1)]


def open_directions(model: AffineModel, left_out: np.ndarray) -> np.ndarray | None:
    """Directions (n, k) in which unknowns are open without ``left_out`` rows of the base; None where elements decide about them.

    Notes
    -----
    Away from a consistent point the rows left out do not follow from others, and what they would decide may move. Only
    what does not is taken.
    """
    base = np.delete(np.arange(len(model.base)), left_out)
    kept = model.base.take(base)
    forms = [rows for e in model.elements for b in e.branches for rows in (b.equations, b.guards)]
    found = _dependence(model, stack_rows([kept, *forms], model))[1]
    found[model.differentiated] = 0.0
    largest = np.abs(found).max(axis=0, initial=0.0)
    if found.shape[1] != len(left_out) or not largest.all():
        return None
    return np.where(np.abs(found) > NOTHING * largest, found, 0.0)


def least_rows(model: AffineModel, left_out: np.ndarray, squares: np.ndarray) -> np.ndarray | None:
    """Rows (k, n) that choose what is open without ``left_out`` rows so that a sum of squares (n, n) is as small as possible."""
    found = open_directions(model, left_out)
    if found is None:
        return None
    rows = found.T @ squares
    return rows / np.abs(rows).max(axis=1, keepdims=True)


def _dependence(model: AffineModel, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Left and right null vectors of ``A + s E`` at a general ``s``, in columns."""
    table = rows.A + rows.E * (math.e / model.T0)
    m, n = table.shape
    row, column = np.ones(m), np.ones(n)
    for _ in range(BALANCING):
        size = np.abs(table * row[:, None] * column)
        row /= _root(size.max(axis=1, initial=0.0))
        column /= _root(size.max(axis=0, initial=0.0))
    left, values, right = np.linalg.svd(table * row[:, None] * column)
    rank = int(np.count_nonzero(values > DEPENDENT * values.max(initial=0.0)))
    return left[:, rank:], right[rank:].T * column[:, None]


def _root(size: np.ndarray) -> np.ndarray:
    return np.sqrt(np.where(size > 0.0, size, 1.0))
