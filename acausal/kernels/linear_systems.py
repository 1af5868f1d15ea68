"""Small dense systems of linear equations, factorised in place with partial pivoting.

Reference: G. H. Golub, C. F. Van Loan, Matrix Computations, 4th ed., Johns Hopkins 2013, sections 3.4 and 3.5.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .dialect import kernel


class SmallSystem(NamedTuple):
    """A matrix, later its factors."""

    layout = "f2 i1 f1 f1"
    matrix: np.ndarray
    """(n, n): coefficients, then the factors."""
    pivots: np.ndarray
    """Row (n,) that each step of the elimination takes."""
    sizes: np.ndarray
    """Room for the magnitudes (n,) of the rows."""
    scale: np.ndarray
    """Magnitudes (n,) of the unknowns."""


class RightSide(NamedTuple):
    """A right side, later the solution."""

    layout = "f1"
    x: np.ndarray


@kernel
def exchange(matrix: np.ndarray, i: int, k: int) -> None:
    """Exchange two rows."""
    for j in range(matrix.shape[1]):
        value = matrix[i, j]
        matrix[i, j] = matrix[k, j]
        matrix[k, j] = value


@kernel
def factorise(s: SmallSystem) -> int:
    """Replace the matrix by its factors; 0 where it is singular or not finite, else 1.

    Rows compete as pivots in units of their largest terms.
    """
    A, n = s.matrix, s.pivots.shape[0]
    for i in range(n):
        largest, total = 0.0, 0.0
        for j in range(n):
            size = abs(A[i, j]) * s.scale[j]
            total += size
            largest = max(largest, size)
        if not (largest > 0.0 and total < np.inf):
            return 0
        s.sizes[i] = largest
    for k in range(n):
        best, row = -1.0, k
        for i in range(k, n):
            size = abs(A[i, k]) / s.sizes[i]
            if size > best:
                best, row = size, i
        s.pivots[k] = row
        if row != k:
            exchange(A, row, k)
            s.sizes[row] = s.sizes[k]
        pivot = A[k, k]
        if pivot == 0.0:
            return 0
        for i in range(k + 1, n):
            if A[i, k] != 0.0:
                factor = A[i, k] / pivot
                A[i, k] = factor
                for j in range(k + 1, n):
                    A[i, j] -= factor * A[k, j]
    return 1


@kernel
def substitute(s: SmallSystem, x: np.ndarray) -> bool:
    """Replace a right side by the solution; whether that is finite."""
    A, n, total = s.matrix, s.pivots.shape[0], 0.0
    for k in range(n):
        value = x[s.pivots[k]]
        x[s.pivots[k]] = x[k]
        x[k] = value
    for i in range(n):
        value = x[i]
        for j in range(i):
            value -= A[i, j] * x[j]
        x[i] = value
    for k in range(n):
        i = n - 1 - k
        value = x[i]
        for j in range(i + 1, n):
            value -= A[i, j] * x[j]
        x[i] = value / A[i, i]
        total += float(abs(x[i]))
    return total < np.inf


@kernel
def solve(s: SmallSystem, right: RightSide) -> int:
    """As `substitute`."""
    return 1 if substitute(s, right.x) else 0
