"""Reduced row echelon form over the rationals, as plainly as possible: reference for every exact elimination."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np


def rref(matrix: np.ndarray | Sequence[Sequence[Any]]) -> tuple[list[list[Fraction]], list[int]]:
    """Non-zero rows of the reduced form of an integer or Fraction matrix, and the pivot columns."""
    rows = [[Fraction(value) for value in row] for row in np.asarray(matrix, object).tolist()]
    columns = np.asarray(matrix, object).shape[1]
    pivots: list[int] = []
    for col in range(columns):
        rank = len(pivots)
        found = next((k for k in range(rank, len(rows)) if rows[k][col]), None)
        if found is None:
            continue
        rows[rank], rows[found] = rows[found], rows[rank]
        lead = rows[rank][col]
        rows[rank] = [value / lead for value in rows[rank]]
        for k, row in enumerate(rows):
            if k != rank and row[col]:
                factor = row[col]
                rows[k] = [a - factor * b for a, b in zip(row, rows[rank], strict=True)]
        pivots.append(col)
    return rows[: len(pivots)], pivots


def rank(matrix: np.ndarray) -> int:
    """Exact rank."""
    return len(rref(matrix)[1])


def null_basis(matrix: np.ndarray) -> np.ndarray:
    """Basis of the null space, one vector per row, entries Fractions; shape (n - rank, n)."""
    rows, pivots = rref(matrix)
    n = np.asarray(matrix).shape[1]
    free = [col for col in range(n) if col not in pivots]
    basis = np.zeros((len(free), n), object)
    for k, col in enumerate(free):
        basis[k, col] = Fraction(1)
        for row, pivot in zip(rows, pivots, strict=True):
            basis[k, pivot] = -row[col]
    return basis


def same_span(first: np.ndarray, second: np.ndarray) -> bool:
    """The rows of both matrices span the same space."""
    return rref(first)[0] == rref(second)[0]
