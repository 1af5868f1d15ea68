"""Gauss-Jordan elimination that tells exact zeros from small numbers.

Next to every value stand the sum of its absolute contributions and the variance of its rounding
error, in units of the squared rounding unit, with the errors of all contributions taken as
independent (the probabilistic running error analysis of Higham and Mary, SIAM J. Sci. Comput. 41,
2019). A value that is small against both is the result of cancellation and no incidence; every
other value counts however small it is. Rank decisions are therefore free of scale: a factor
of 1e-12 is not zero.
"""

from __future__ import annotations

import numpy as np

_CANCELLED = 2.0**-46
"""Values below this fraction of their propagated error unit are zero; errors measured reach 2**-50."""

_SMALL = 2.0**-30
"""No value above this fraction of its own contributions is zero: in long dense eliminations the
error estimate grows exponentially, the errors do not."""

_ROUNDED = 2.0**-36
"""Part of the largest certain term of a row below which a doubtful one is rounding."""
_EXACT = 2.0**-50
_DOMINANT = 0.5
_WEAK = 0.1
"""Relative term, in units of that of the best row of the same length, below which a row is not solved yet."""
_UNRELIABLE = 2.0**-10
_SWEEPS = 3
"""Sweeps of the equilibration: weights enter comparisons only, so that orders of magnitude suffice."""


def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Matrix product whose cancelled entries are exact zeros."""
    value = left @ right
    value[np.abs(value) <= _CANCELLED * (np.abs(left) @ np.abs(right))] = 0.0
    return value


def _significant(value: np.ndarray, variance: np.ndarray, magnitude: np.ndarray) -> np.ndarray:
    return (value * value > _CANCELLED**2 * variance) | (np.abs(value) > _SMALL * magnitude)


def _size(value: np.ndarray, variance: np.ndarray, magnitude: np.ndarray) -> np.ndarray:
    """What a value contributes to a magnitude: itself, or its error where it is nothing else."""
    return np.where(_significant(value, variance, magnitude), np.abs(value), np.sqrt(variance))


def column_weights(matrix: np.ndarray) -> np.ndarray:
    """Column scales of a geometric equilibration; they enter comparisons only, never the values."""
    present = matrix != 0.0
    size = np.log2(np.abs(matrix), out=np.zeros(matrix.shape), where=present)
    high, low = np.where(present, size, -np.inf), np.where(present, size, np.inf)
    columns = np.zeros(matrix.shape[1])
    for _ in range(_SWEEPS):
        rows = _middle((high + columns).max(1, initial=-np.inf), (low + columns).min(1, initial=np.inf))
        columns = _middle(
            (high + rows[:, None]).max(0, initial=-np.inf), (low + rows[:, None]).min(0, initial=np.inf)
        )
    return np.exp2(columns)


def _middle(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    empty = high < low
    high[empty] = low[empty] = 0.0
    return -0.5 * (high + low)


def _strong(row: int, count: np.ndarray, lever: np.ndarray) -> int:
    """The first of the shortest rows in which no small term would be the lever of large ones, if ``row`` is not it."""
    equal = (count == count[row]).nonzero()[0]
    best = lever[equal].max()
    return row if lever[row] >= _WEAK * best else int(equal[(lever[equal] >= _WEAK * best).argmax()])


class Elimination:
    """Rows ``sum_j value[i, j] v_j = 0`` in reduced echelon form with respect to chosen columns.

    Parameters
    ----------
    rows : (m, N) array
    weight : (N,) array
        Typical magnitude of every column variable. A variable is solved from a row only if its
        term there is within a factor 2 of the largest one, which bounds the growth.
    size : (N,) array, optional
        Magnitude of every column variable in the model. Of rows of equal length one is solved whose term there is not
        small beside its others, whose lever it would be; and terms are told from rounding by the certain ones beside them.

    Notes
    -----
    Shortest row first (Markowitz), pivots of exactly +-1 preferred. All other rows are reduced
    at once, so the pivot columns are unit columns at any time and rows can be added later.
    Cancelled values are passed over in the search for pivots but not altered: their errors stay
    correlated with those of other entries and may cancel later.
    """

    def __init__(self, rows: np.ndarray, weight: np.ndarray, size: np.ndarray | None = None) -> None:
        self.value = np.array(rows, dtype=float)
        self.magnitude = np.abs(self.value)
        self.variance = self.value**2
        self.weight = weight
        self.size = np.zeros(rows.shape[1]) if size is None else size
        self.pivot = np.full(len(rows), -1)
        """Column solved from a row, -1 if none."""
        self.row = np.full(rows.shape[1], -1)
        """Row a column is solved from, -1 if none."""

    def reduce(self, columns: np.ndarray, ordered: bool = False) -> np.ndarray:
        """Solve for as many of ``columns`` as possible from rows without pivot; return the new pivot rows.

        Of equally good columns the one in fewest rows is taken; if ``ordered``, the first one, so
        that the choice does not depend on how the rows were combined before.
        """
        never = self.value.shape[1] + 1
        count = np.full(len(self.value), never)
        lever = np.zeros(len(self.value))
        new = []
        changed = (self.pivot < 0).nonzero()[0]
        while len(count):
            if len(changed):
                present = self._present(changed, columns)
                left = present.sum(axis=1)
                left[left == 0] = never
                count[changed] = left
                lever[changed] = self._levers(changed, columns, present)
            row = int(count.argmin())
            if count[row] == never:
                break
            if not ordered:
                row = _strong(row, count, lever)
            count[row] = never
            touched = self._solve(row, self._dominant_column(row, columns, ordered))
            changed = touched[self.pivot[touched] < 0]
            new.append(row)
        return np.array(new, dtype=int)

    def _present(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Mask over a block: terms that are no rounding.

        What stands beside certain terms and is no rounding of them is a term, whatever the estimate of its error says.
        """
        at = (rows[:, None], columns)
        value = self.value[at]
        found = _significant(value, self.variance[at], self.magnitude[at])
        size = np.abs(value) * self.size[columns]
        largest = np.where(found, size, 0.0).max(axis=1, initial=0.0)
        return found | ((size > _ROUNDED * largest[:, None]) & (largest > 0.0)[:, None])

    def _levers(self, rows: np.ndarray, columns: np.ndarray, present: np.ndarray) -> np.ndarray:
        """Largest term of rows in ``columns``, relative to the largest one of all."""
        all_terms = np.abs(self.value[rows]) * self.size
        largest = all_terms.max(axis=1)
        own = np.where(present, all_terms[:, columns], 0.0).max(axis=1, initial=0.0)
        return np.divide(own, largest, out=np.zeros(len(rows)), where=largest > 0.0)

    def append(self, rows: np.ndarray, variance: np.ndarray) -> None:
        """Add rows, reduced by all pivots found so far."""
        used = ((self.row >= 0) & rows.any(axis=0)).nonzero()[0]
        pivots, factor = self.row[used], rows[:, used]
        square = factor * factor
        doubt = np.maximum(variance[:, used] - square, 0.0)
        size = _size(self.value[pivots], self.variance[pivots], self.magnitude[pivots])
        magnitude = np.sqrt(variance) + np.sqrt(variance[:, used]) @ size
        value = rows - factor @ self.value[pivots]
        variance = variance + square @ self.variance[pivots] + doubt @ self.value[pivots] ** 2
        value[:, used] = variance[:, used] = 0.0
        self.value = np.vstack([self.value, value])
        self.magnitude = np.vstack([self.magnitude, magnitude])
        self.variance = np.vstack([self.variance, variance])
        self.pivot = np.append(self.pivot, np.full(len(rows), -1))

    def entries(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Block of the values, with exact zeros where they cancelled."""
        at = (rows[:, None], columns)
        value = self.value[at]
        return np.where(_significant(value, self.variance[at], self.magnitude[at]), value, 0.0)

    def solution(self, solved: np.ndarray, given: np.ndarray) -> np.ndarray:
        """Coefficients of ``given`` in the columns ``solved``; zero rows where a column has no pivot."""
        rows = self.row[solved]
        if not len(self.value):
            return np.zeros((len(solved), len(given)))
        found = np.where(self._present(rows, given), 0.0 - self.value[rows[:, None], given], 0.0)
        found[rows < 0] = 0.0
        return found

    def null_directions(self, free: np.ndarray) -> np.ndarray:
        """Directions (N, len(free)) that change no row, one per column without pivot."""
        directions = np.zeros((len(self.row), len(free)))
        solved = (self.row >= 0).nonzero()[0]
        directions[solved] = self.solution(solved, free)
        directions[free, np.arange(len(free))] = 1.0
        return directions

    def _dominant_column(self, row: int, columns: np.ndarray, ordered: bool) -> int:
        values, variance = self.value[row, columns], self.variance[row, columns]
        present = self._present(np.array([row]), columns)[0].nonzero()[0]
        if len(present) == 1:
            return int(columns[present[0]])
        candidates, values, variance = columns[present], np.abs(values[present]), variance[present]
        merit = values * self.weight[candidates]
        keep = merit >= _DOMINANT * merit.max()
        candidates, values = candidates[keep], values[keep]
        unreliable = values * values < _UNRELIABLE**2 * variance[keep]
        inexact = np.abs(values - 1.0) > _CANCELLED
        if ordered:
            return int(candidates[np.lexsort((inexact, unreliable))[0]])
        at = (slice(None), candidates)
        length = _significant(self.value[at], self.variance[at], self.magnitude[at]).sum(axis=0)
        return int(candidates[np.lexsort((length, inexact, unreliable))[0]])

    def _solve(self, row: int, column: int) -> np.ndarray:
        """Solve ``column`` from ``row``; return the other rows that changed."""
        cells = self.value[row].nonzero()[0]
        pivot = self.value[row, column]
        square = pivot * pivot
        doubt = max(self.variance[row, column] / square - 1.0, 0.0)
        value, variance = self.value[row, cells] / pivot, self.variance[row, cells] / square
        magnitude = self.magnitude[row, cells] / abs(pivot)
        if doubt > 0.0:
            variance += doubt * value * value
        self.value[row, cells], self.variance[row, cells], self.magnitude[row, cells] = (
            value,
            variance,
            magnitude,
        )
        self.value[row, column] = self.variance[row, column] = 1.0
        touched = self.value[:, column].nonzero()[0]
        touched = touched[touched != row]
        if len(touched):
            self._substitute(touched, column, cells, value, variance, _size(value, variance, magnitude))
        self.pivot[row], self.row[column] = column, row
        return touched

    def _substitute(
        self,
        rows: np.ndarray,
        column: int,
        cells: np.ndarray,
        value: np.ndarray,
        variance: np.ndarray,
        size: np.ndarray,
    ) -> None:
        at, left = (rows[:, None], cells), (rows[:, None], [column])
        factor, spread = self.value[left], self.variance[left]
        square = factor * factor
        doubt = np.maximum(spread - square, 0.0)
        old, change = self.value[at], factor * value
        new = old - change
        bound = self.variance[at] + square * variance + doubt * (value * value)
        exact = np.abs(new) <= _EXACT * np.abs(change)
        magnitude = self.magnitude[at] + _size(factor, spread, self.magnitude[left]) * size
        new[exact] = bound[exact] = magnitude[exact] = 0.0
        self.value[at], self.variance[at], self.magnitude[at] = new, bound, magnitude
        self.value[left] = self.variance[left] = self.magnitude[left] = 0.0
