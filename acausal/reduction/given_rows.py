"""Combinations of the rows that an elimination was given, from the block of its pivots."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class OutOfRange(ArithmeticError):
    """Entries that doubles cannot decide: their squares are beyond the range, or all digits of a pivot block cancel."""


class GivenRows(NamedTuple):
    """Rows as they were given, and the typical magnitudes of their columns."""

    rows: Any
    weight: np.ndarray

    def cancel(self, w: np.ndarray, goal: np.ndarray, solved: np.ndarray, pivots: np.ndarray) -> None:
        """Complete combinations ``w`` of the rows by the ``solved`` ones, so that their ``pivots`` get the ``goal``."""
        block, (factors, size, scale) = self.rows[:, pivots], self.factors(solved, pivots)
        # The second round makes errors small entry by entry (Higham, Accuracy and Stability, 2002, section 12.2).
        for _ in range(2):
            missing = (goal - w @ block) * scale
            w[:, solved] += factors.solve(missing.T).T * size

    def factors(self, solved: np.ndarray, pivots: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
        """LU factors of the transposed pivot block, with its columns times a size and its rows times a scale.

        Raises
        ------
        OutOfRange
        """
        from scipy.sparse import csc_array
        from scipy.sparse.linalg import splu

        scale = self.weight[pivots]
        A = csc_array((self.rows[solved][:, pivots] * scale).T)
        size = np.exp2(-np.floor(np.log2(abs(A).max(axis=0).toarray().ravel())))
        try:
            return splu((A * size).tocsc()), size, scale
        except RuntimeError as error:
            raise OutOfRange from error


def combined(given: GivenRows, pivots: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Magnitudes (k, N) of what makes the rows that are solved for ``wanted`` columns of those solved for ``pivots``."""
    w = np.zeros((len(wanted), len(pivots)))
    if len(wanted):
        goal = (wanted[:, None] == pivots).astype(float)
        given.cancel(w, goal, np.arange(len(pivots)), pivots)
    return np.abs(w) @ abs(given.rows)
