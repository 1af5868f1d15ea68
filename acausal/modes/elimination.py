"""Gauss-Jordan elimination that tells exact zeros from small numbers.

Next to every value stands a magnitude: the sum of the absolute contributions it was computed
from, in other words a first-order running error bound in units of the rounding unit (Wilkinson,
"Error analysis revisited", 1986). A value below ``2**-44`` of its magnitude is the result of
cancellation and becomes an exact zero; every other value counts as incidence however small it
is. Rank decisions are therefore free of scale: a conductance of 1e-12 is not an open circuit.
"""

from __future__ import annotations

import numpy as np

CANCELLED = 2.0**-44
"""Values below this fraction of their magnitude are zero."""

_DOMINANT = 0.1
_UNRELIABLE = 2.0**-10


def drop_cancelled(value: np.ndarray, magnitude: np.ndarray) -> np.ndarray:
    """``value`` with the entries that are results of cancellation replaced by exact zeros."""
    return np.where(np.abs(value) <= CANCELLED * magnitude, 0.0, value)


def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Matrix product whose cancelled entries are exact zeros."""
    return drop_cancelled(left @ right, np.abs(left) @ np.abs(right))


def column_weights(matrix: np.ndarray, sweeps: int = 3) -> np.ndarray:
    """Column scales of a geometric equilibration; they enter comparisons only, never the values."""
    present = matrix != 0.0
    size = np.log2(np.abs(matrix), out=np.zeros(matrix.shape), where=present)
    high, low = np.where(present, size, -np.inf), np.where(present, size, np.inf)
    columns = np.zeros(matrix.shape[1])
    for _ in range(sweeps):
        rows = _middle((high + columns).max(1, initial=-np.inf), (low + columns).min(1, initial=np.inf))
        columns = _middle((high + rows[:, None]).max(0, initial=-np.inf), (low + rows[:, None]).min(0, initial=np.inf))
    return np.exp2(columns)


def _middle(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    empty = high < low
    high[empty] = low[empty] = 0.0
    return -0.5 * (high + low)


class Elimination:
    """Rows ``sum_j value[i, j] v_j = 0`` in reduced echelon form with respect to chosen columns.

    Parameters
    ----------
    rows : (m, N) array
    weight : (N,) array
        Typical magnitude of every column variable. A variable is solved from a row only if its
        term there is within a factor 10 of the largest one, which bounds the growth.

    Notes
    -----
    Shortest row first (Markowitz), pivots of exactly +-1 preferred. All other rows are reduced
    at once, so the pivot columns are unit columns at any time and rows can be added later.
    """

    def __init__(self, rows: np.ndarray, weight: np.ndarray) -> None:
        self.value = np.array(rows, dtype=float)
        self.magnitude = np.abs(self.value)
        self.weight = weight
        self.pivot = np.full(len(rows), -1)
        """Column solved from a row, -1 if none."""
        self.row = np.full(rows.shape[1], -1)
        """Row a column is solved from, -1 if none."""

    def reduce(self, columns: np.ndarray) -> np.ndarray:
        """Solve for as many of ``columns`` as possible from rows without pivot; return the new pivot rows."""
        count = np.count_nonzero(self.value[:, columns], axis=1)
        never = self.value.shape[1] + 1
        count[(self.pivot >= 0) | (count == 0)] = never
        new = []
        while len(count):
            row = int(count.argmin())
            if count[row] == never:
                break
            touched = self._solve(row, self._dominant_column(row, columns))
            count[row] = never
            active = touched[count[touched] != never]
            if len(active):
                left = (self.value[active[:, None], columns] != 0.0).sum(axis=1)
                left[left == 0] = never
                count[active] = left
            new.append(row)
        return np.array(new, dtype=int)

    def append(self, rows: np.ndarray, magnitude: np.ndarray | None = None) -> None:
        """Add rows, reduced by all pivots found so far."""
        size = np.abs(rows) if magnitude is None else magnitude
        used = np.flatnonzero((self.row >= 0) & rows.any(axis=0))
        pivots, factor = self.row[used], rows[:, used]
        excess = size[:, used] - np.abs(factor)
        value = rows - factor @ self.value[pivots]
        size = size + np.abs(factor) @ self.magnitude[pivots] + excess @ np.abs(self.value[pivots])
        value[:, used] = 0.0
        dust = np.abs(value) <= CANCELLED * size
        value[dust] = size[dust] = 0.0
        self.value = np.vstack([self.value, value])
        self.magnitude = np.vstack([self.magnitude, size])
        self.pivot = np.append(self.pivot, np.full(len(rows), -1))

    def solution(self, solved: np.ndarray, given: np.ndarray) -> np.ndarray:
        """Coefficients of ``given`` in the columns ``solved``; zero rows where a column has no pivot."""
        rows = self.row[solved]
        found = 0.0 - self.value[rows[:, None], given]
        found[rows < 0] = 0.0
        return found

    def null_directions(self, free: np.ndarray) -> np.ndarray:
        """Directions (N, len(free)) that change no row, one per column without pivot."""
        directions = np.zeros((len(self.row), len(free)))
        solved = np.flatnonzero(self.row >= 0)
        directions[solved] = self.solution(solved, free)
        directions[free, np.arange(len(free))] = 1.0
        return directions

    def _dominant_column(self, row: int, columns: np.ndarray) -> int:
        values = np.abs(self.value[row, columns])
        present = values.nonzero()[0]
        if len(present) == 1:
            return int(columns[present[0]])
        candidates, values = columns[present], values[present]
        merit = values * self.weight[candidates]
        keep = merit >= _DOMINANT * merit.max()
        candidates, values = candidates[keep], values[keep]
        unreliable = values < _UNRELIABLE * self.magnitude[row, candidates]
        length = (self.value[:, candidates] != 0.0).sum(axis=0)
        return int(candidates[np.lexsort((length, values != 1.0, unreliable))[0]])

    def _solve(self, row: int, column: int) -> np.ndarray:
        """Solve ``column`` from ``row``; return the other rows that changed."""
        cells = self.value[row].nonzero()[0]
        value, size = self.value[row, cells], self.magnitude[row, cells]
        pivot = self.value[row, column]
        doubt = self.magnitude[row, column] / abs(pivot) - 1.0
        value, size = value / pivot, size / abs(pivot)
        if doubt > 0.0:
            size += doubt * np.abs(value)
        self.value[row, cells], self.magnitude[row, cells] = value, size
        self.value[row, column] = self.magnitude[row, column] = 1.0
        touched = self.value[:, column].nonzero()[0]
        touched = touched[touched != row]
        if len(touched):
            self._substitute(touched, column, cells, value, size)
        self.pivot[row], self.row[column] = column, row
        return touched

    def _substitute(self, rows: np.ndarray, column: int, cells: np.ndarray, value: np.ndarray, size: np.ndarray) -> None:
        at = (rows[:, None], cells)
        factor = self.value[rows, column][:, None]
        absolute = np.abs(factor)
        excess = self.magnitude[rows, column][:, None] - absolute
        new = self.value[at] - factor * value
        bound = self.magnitude[at] + absolute * size + excess * np.abs(value)
        dust = np.abs(new) <= CANCELLED * bound
        new[dust] = bound[dust] = 0.0
        self.value[at], self.magnitude[at] = new, bound
        self.value[rows, column] = self.magnitude[rows, column] = 0.0
