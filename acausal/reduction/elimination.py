"""Gauss-Jordan elimination that tells exact zeros from small numbers.

Next to every value stand two estimates of its rounding error, in units of the rounding unit. The lower one is the sum
of its absolute contributions. The upper one is propagated from step to step, with the errors of all contributions taken
as independent (the probabilistic running error analysis of Higham and Mary, SIAM J. Sci. Comput. 41, 2019). A value that
is small against the lower one is the result of cancellation and no incidence; one that is large against the upper one
counts however small it is. Rank decisions are therefore free of scale: a factor of 1e-12 is not zero.

In long eliminations the upper estimate grows exponentially and the errors do not, as each step forgets how its errors are
correlated with those of others. Values between the two estimates are therefore evaluated anew from the rows as they were
given: with the pivot block ``A``, an entry is ``w R v``, where ``w`` and ``v`` combine rows and columns so that the pivots
cancel. Errors of ``w`` and ``v`` enter in second order only, and ``(w * w) @ variance(R) @ (v * v)`` is what the errors of
the given numbers make of it, without any growth.

No estimate brings back what a number that has grown has pushed out of a sum: 9.8 beside 1e17. A pivot that is weak in its
row, while others of its column are not in theirs, waits for them (threshold pivoting; Duff, Erisman and Reid, Direct Methods
for Sparse Matrices, 2017). Before they are read, values are refined: what they miss in the rows as they were given is reckoned in
twice the digits. Every entry of a solved row then has all its digits, also one that is a difference of large ones: two ways to
the same quantity agree. What is lost all the same is found by the check of a mode, in `identities`. Entries are judged one by
one, and one that is rounding by its own estimate may be what another row needs: it counts where others would miss a given row
without it, so that rows agree about what is zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from ..kernels.elimination import (
    CANCELLED,
    DOMINANT,
    DOUBT,
    SOLVED,
    UNRELIABLE,
    EchelonRows,
    PivotSearch,
)
from ..kernels.loading import Bound, Packed
from .double_double import Accumulator, places
from .rounding import TINY
from .scales import column_weights

_DENSE = 40000
"""Entries up to which looking for zeros takes longer than computing with them."""


class OutOfRange(ArithmeticError):
    """Entries that doubles cannot decide: their squares are beyond the range, or all digits of a pivot block cancel."""


def product(left: Any, right: Any) -> Any:
    """Product of matrices, dense or sparse by rows, whose cancelled entries are exact zeros or none."""
    value, least = left @ right, abs(left) @ abs(right)
    if isinstance(value, np.ndarray):
        value[abs(value) <= CANCELLED * least] = 0.0
        return value
    kept = value.multiply(abs(value) > CANCELLED * least).tocsr()
    kept.eliminate_zeros()
    return kept


def _weighed(value: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Factors from values to what they contribute to lower estimates: large where a value is nothing but rounding.

    Such a value is a sample of its own error. Its estimate would grow from step to step.
    """
    return np.where(np.abs(value) <= CANCELLED * least, 2.0 / CANCELLED, 1.0)


def compact(matrix: np.ndarray) -> Any:
    """The matrix, a large one without what is zero."""
    if matrix.size <= _DENSE:
        return matrix
    from scipy.sparse import csr_array

    return csr_array(_by_rows(matrix), shape=matrix.shape)


def _by_rows(matrix: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Entries of a matrix that are not zero, row by row, with their columns, and where each row begins: all ends last."""
    if not isinstance(matrix, np.ndarray):
        return matrix.data, matrix.indices, matrix.indptr
    row, column = places(matrix)
    begins = np.zeros(len(matrix) + 1, np.int32)
    np.cumsum(np.bincount(row, minlength=len(matrix)), out=begins[1:])
    return matrix[row, column], column.astype(np.int32), begins


def _block(matrix: np.ndarray, kept: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    """A block of a matrix that is ``kept`` as `compact` gives it, as that would give the block."""
    if isinstance(kept, np.ndarray) or len(rows) * len(columns) <= _DENSE:
        return compact(matrix[rows[:, None], columns])
    found = kept[rows][:, columns]
    found.sort_indices()
    return found


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
        values, at, begins = _by_rows(self.rows[solved][:, pivots])
        scaled = values * scale[at]
        size = np.exp2(-np.floor(np.log2(np.maximum.reduceat(np.abs(scaled), begins[:-1]))))
        scaled *= np.repeat(size, np.diff(begins))
        try:
            return splu(csc_array((scaled, at, begins), (len(pivots), len(solved)))), size, scale
        except RuntimeError as error:
            raise OutOfRange from error


class Elimination:
    """Rows ``sum_j value[i, j] v_j = 0`` in reduced echelon form with respect to chosen columns.

    Parameters
    ----------
    rows : (m, N) array
    weight : (N,) array
        Typical magnitude of every column variable. A variable is solved from a row only if its
        term there is within a factor 2 of the largest one, which bounds the growth.

    Notes
    -----
    `kernels.elimination` chooses the pivots. All other rows are reduced
    at once, so the pivot columns are unit columns at any time and rows can be added later.
    Cancelled values are passed over in the search for pivots but not altered: their errors stay
    correlated with those of other entries and may cancel later.
    """

    @np.errstate(over="ignore")
    def __init__(self, rows: np.ndarray, weight: np.ndarray) -> None:
        self.value = np.array(rows, dtype=float, order="C")
        self.least = np.abs(self.value)
        """Lower estimate of the errors."""
        self.variance = self.value**2
        """Square of the upper estimate."""
        self.weight = np.ascontiguousarray(weight, float)
        self.size = column_weights(self.value)
        """Column scales in which a pivot is compared with what else stands in its row."""
        self.pivot = np.full(len(rows), -1)
        """Column solved from a row, -1 if none."""
        self.row = np.full(rows.shape[1], -1)
        """Row a column is solved from, -1 if none."""
        self._refined = True
        self._given = self.value.copy()
        self._given_variance = self.variance.copy()

    @np.errstate(over="ignore", invalid="ignore")
    def reduce(self, columns: np.ndarray, ordered: bool = False, waits: bool = False) -> np.ndarray:
        """Solve for as many of ``columns`` as possible from rows without pivot; return the new pivot rows.

        Of equally good columns the one in fewest rows is taken; if ``ordered``, the first one, so
        that the choice does not depend on how the rows were combined before. Where more rows are to come pivots that are weak
        in their row, or in doubt, are left: the reduction ``waits``.
        """
        # In others columns that are solved have no entry.
        columns, m = columns[self.row[columns] < 0], len(self.value)
        state = [np.zeros(m, np.int64) for _ in range(4)]
        state[0] += self.value.shape[1] + 1
        state[2][:] = self.pivot < 0
        flags, cells, found = (
            np.array([ordered, waits, 0]),
            np.zeros(len(self.row), np.int64),
            np.zeros(2, np.int64),
        )
        work = PivotSearch._make([columns, flags, *state, cells, found, np.zeros(m, np.int64)])
        rows = EchelonRows(
            self.value, self.variance, self.least, self.weight, self.size, self.pivot, self.row
        )
        kernel = Bound("reduce_rows", Packed(rows), Packed(work))
        self.__dict__.pop("_needed", None)
        while kernel.run() == DOUBT:
            doubtful = work.doubtful.nonzero()[0]
            # Beside pivots no number may be left that is neither rounding nor none.
            if (self._decide(doubtful, columns) != self._judged((doubtful[:, None], columns))[0]).any():
                raise OutOfRange
            work.stale[doubtful] = 1
        new = work.solved[: flags[SOLVED]]
        if len(new):
            self._refined = False
            self._restore()
        return new

    def _judged(self, at: Any) -> tuple[np.ndarray, np.ndarray]:
        """Masks over what an index selects: values that may be no rounding, and those that certainly are none."""
        value = self.value[at]
        certain = value * value > CANCELLED**2 * self.variance[at]
        return certain | (np.abs(value) > CANCELLED * self.least[at]), certain

    def _present(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Mask over a block: values that are no rounding."""
        present, certain = self._judged((rows[:, None], columns))
        doubtful = np.flatnonzero((present & ~certain).any(axis=1))
        if len(doubtful):
            with self._kept(rows[doubtful]):
                certain[doubtful] = self._decide(rows[doubtful], columns)
        return certain

    @contextmanager
    def _kept(self, rows: np.ndarray) -> Iterator[None]:
        """Keep what is present in rows that are evaluated anew: it is known better from the rows that it meets."""
        held = self.value[rows]
        yield
        self.value[rows] = np.where(held == 0.0, self.value[rows], held)

    def _decide(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Evaluate rows anew; mask over a block of their values that are no rounding."""
        self._evaluate(rows)
        if not np.isfinite(self.variance[rows[:, None], columns]).all():
            raise OutOfRange
        return self._judged((rows[:, None], columns))[1]

    def _restore(self) -> None:
        """Evaluate anew the values that do not meet the given rows: growth has pushed something out of a sum."""
        solved, left, free = map(np.flatnonzero, (self.pivot >= 0, self.pivot < 0, self.row < 0))
        directions = np.zeros((len(self.row), len(free)))
        directions[free, np.arange(len(free))] = 1.0
        directions[self.pivot[solved]] = -self.value[solved[:, None], free]
        defect = self._given_rows @ directions
        defect[left] -= self.value[left[:, None], free]
        # Entry by entry: what is small beside others of its row may be all that a column has.
        wrong = (np.abs(defect) > CANCELLED * (abs(self._given_rows) @ np.abs(directions))).any(axis=1)
        if wrong.any():
            self._refine()
        if wrong[left].any():
            self._improve(left[wrong[left]])

    def _improve(self, rows: np.ndarray) -> None:
        """Evaluate rows anew, and keep of every entry the value with the smaller error.

        The steps know which numbers cancel exactly, for example those of a loop of ideal parts; the given rows do not.
        """
        held = self.value, self.variance, self.least
        before = [array[rows] for array in held]
        self._evaluate(rows)
        worse = self.variance[rows] > before[1]
        for array, old in zip(held, before, strict=True):
            array[rows] = np.where(worse, old, array[rows])

    def _refine(self) -> None:
        """Correct entries by what they miss in the given rows, until they have all their digits.

        What the steps know to be none can only sink, unless others would miss a row without it.
        """
        if self._refined:
            return
        self._refined, solved = True, (self.pivot >= 0).nonzero()[0]
        at = solved[:, None], (self.row < 0).nonzero()[0]
        certain, held = self._judged(at)[1], self.value[at]
        factors = GivenRows(self._given_rows, self.weight).factors(solved, self.pivot[solved])
        value, wanted = held, certain
        while True:
            value, settled = self._corrected(solved, at[1], factors, value, wanted)
            sure = certain & (value * value > CANCELLED**2 * self.variance[at])
            back = self._missing(solved, value, ~sure)
            if not (back & ~settled & ~wanted).any():
                break
            wanted = wanted | back
        if (back & ~settled).any():
            back = self._missing(solved, np.where(sure | settled, value, 0.0), ~sure)
        self.value[at] = np.where((sure & settled) | back | (np.abs(value) < np.abs(held)), value, held)
        for estimate, unit in ((self.variance, value * value), (self.least, np.abs(value))):
            estimate[at] = np.where(back, unit, estimate[at])

    def _corrected(
        self, solved: np.ndarray, free: np.ndarray, factors: Any, value: np.ndarray, wanted: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Entries with all their digits, as far as steps gain some, and which of them a last step has not moved.

        What they miss in the given rows is reckoned in twice the digits, from which also what is small beside others of its
        column gets all of its own (Demmel et al., "Error bounds from extra-precise iterative refinement", ACM Transactions on
        Mathematical Software 32, 2006). Steps end when those that are ``wanted`` have settled.
        """
        lower_upper, weight, scale = factors
        given = self._given[solved]
        own, over = given[:, free], given[:, self.pivot[solved]]
        left, off, count, settled = value.size + 1, math.inf, 1, ~wanted
        while count:
            defect = Accumulator(own)
            defect.add_rows(over, -value)
            left_over, change = defect.value, np.zeros_like(value)
            some = left_over.any(axis=0)
            change[:, some] = scale[:, None] * lower_upper.solve(weight[:, None] * left_over[:, some], "T")
            size, moved = np.abs(value), np.abs(change)
            settled = moved <= CANCELLED * size
            moving = wanted & ~settled
            near = moving & (moved < DOMINANT * size)
            count, most = np.count_nonzero(moving), np.max(moved[near] / size[near], initial=0.0)
            value = value + change
            if count >= left and not 0.0 < most < DOMINANT * off:
                break
            # The best so far: values that swing gain nothing.
            left, off = min(left, count), min(off, most or off)
        return value, settled

    @cached_property
    def _given_rows(self) -> Any:
        """The given rows; in large ones what is zero is left out."""
        return compact(self._given)

    @cached_property
    def _given_variances(self) -> Any:
        """The squares of their errors."""
        return compact(self._given_variance)

    def _evaluate(self, rows: np.ndarray) -> None:
        """Values of rows from those given, and their errors to first order in those of the given numbers; may be `OutOfRange`."""
        R, spread = self._given_rows, self._given_variances
        solved = (self.pivot >= 0).nonzero()[0]
        pivots, free = self.pivot[solved], (self.row < 0).nonzero()[0]
        own = self.pivot[rows] >= 0
        w = np.zeros((len(rows), R.shape[0]))
        w[np.flatnonzero(~own), rows[~own]] = 1.0
        if len(solved):
            goal = np.where(own[:, None], self.pivot[rows][:, None] == pivots, 0.0)
            GivenRows(R, self.weight).cancel(w, goal, solved, pivots)
        v = self.value[solved[:, None], free]
        over = w @ R
        value = over[:, free] - over[:, pivots] @ v
        value[own] += self.value[rows[own][:, None], free]
        at, squares, sums = (rows[:, None], free), (w * w) @ spread, np.abs(w) @ np.sqrt(spread)
        self.value[at], self.variance[at] = value, squares[:, free] + squares[:, pivots] @ (v * v)
        self.least[at] = sums[:, free] + sums[:, pivots] @ np.abs(v)

    def combined(self, rows: np.ndarray) -> Callable[[], np.ndarray]:
        """Computes magnitudes (k, N) that the given rows bring into solved ones, what cancels in these too.

        The rest of the elimination is not kept for it.
        """
        solved = (self.pivot >= 0).nonzero()[0] if len(rows) else rows
        given = GivenRows(self._given_rows[solved], self.weight)
        return partial(_combined, given, self.pivot[solved], self.pivot[rows])

    def judged_rows(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values, variances and lower estimates of rows; where estimates have grown apart these are made anew."""
        self._refine()
        grown = (self.least[rows] < UNRELIABLE * np.sqrt(self.variance[rows])).any(axis=1)
        if grown.any():
            with self._kept(rows[grown]):
                self._evaluate(rows[grown])
        return self.value[rows], self.variance[rows], self.least[rows]

    def remainder(self, solved: np.ndarray, given: np.ndarray, found: np.ndarray) -> Remainder:
        """Computes what rounding has left of the `solution` ``found`` of solved columns, when it is asked for."""
        own = self.row[solved] >= 0
        rows = GivenRows(compact(self._given[self.row[solved[own]]]), self.weight)
        return Remainder(rows, solved[own], given, own, found)

    def followed_by(self, rows: np.ndarray, weight: np.ndarray) -> Elimination:
        """The same, its rows followed by others and with other magnitudes of the columns; this one stays as it is."""
        made = copy(self)
        made.row = self.row.copy()
        made.append(rows, rows**2, np.abs(rows))
        made.weight, made.size = np.ascontiguousarray(weight, float), column_weights(made._given)
        return made

    def append(self, rows: np.ndarray, variance: np.ndarray, least: np.ndarray | None = None) -> None:
        """Add rows with estimates of their errors, reduced by all pivots found so far."""
        least = np.sqrt(variance) if least is None else least
        used = ((self.row >= 0) & rows.any(axis=0)).nonzero()[0]
        pivots, factor = self.row[used], rows[:, used]
        square = factor * factor
        doubt = np.maximum(variance[:, used] - square, 0.0)
        self._given = np.vstack([self._given, rows])
        self._given_variance = np.vstack([self._given_variance, variance])
        for kept in ("_given_rows", "_given_variances", "_needed"):
            self.__dict__.pop(kept, None)
        value, size = rows - factor @ self.value[pivots], np.abs(self.value[pivots])
        least = least + np.abs(factor) @ (_weighed(self.value[pivots], self.least[pivots]) * size)
        variance = variance + square @ self.variance[pivots] + doubt @ self.value[pivots] ** 2
        value[:, used] = variance[:, used] = least[:, used] = 0.0
        self.value = np.vstack([self.value, value])
        self.least = np.vstack([self.least, least])
        self.variance = np.vstack([self.variance, variance])
        self.pivot = np.append(self.pivot, np.full(len(rows), -1))

    @np.errstate(over="ignore", invalid="ignore")
    def entries(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Block of the values, with exact zeros where they cancelled."""
        self._refine()
        at = rows[:, None], columns
        return np.where(self._present(rows, columns) | self._needed[at], self.value[at], 0.0)

    @cached_property
    def _needed(self) -> np.ndarray:
        """Mask over all values: those in doubt without which others miss a given row."""
        needed = np.zeros(self.value.shape, bool)
        solved, free = (self.pivot >= 0).nonzero()[0], (self.row < 0).nonzero()[0]
        present, at = self._present(solved, free), (solved[:, None], free)
        needed[at] = self._missing(solved, self.value[at], ~present)
        return needed

    def _missing(self, solved: np.ndarray, value: np.ndarray, doubted: np.ndarray) -> np.ndarray:
        """Mask over values of solved rows: those doubted without which others miss a given row by their own terms."""
        doubted = doubted & (value != 0.0)
        found, some = np.zeros_like(doubted), doubted.any(axis=0)
        if not some.any():
            return found
        value, doubted, missing = value[:, some], doubted[:, some], found[:, some]
        pivots, at_some = self.pivot[solved], (solved[:, None], (self.row < 0).nonzero()[0][some])
        own, unit = self._given[at_some], np.sqrt(self._given_variance[at_some])
        over = _block(self._given, self._given_rows, solved, pivots)
        terms = np.sqrt(_block(self._given_variance, self._given_variances, solved, pivots))
        factors, at, begins = _by_rows(over)
        while True:
            kept = np.where(doubted & ~missing, 0.0, value)
            allowed = CANCELLED * (unit + terms @ np.abs(kept))
            before = np.count_nonzero(missing)
            row, column = places(np.abs(own - over @ kept) > allowed)
            # All terms of these rows: an entry of the matrix, and the value in its column.
            count = begins[row + 1] - begins[row]
            place = np.repeat(begins[row] - np.cumsum(count) + count, count) + np.arange(count.sum())
            row, column = np.repeat(row, count), np.repeat(column, count)
            matter = np.abs(factors[place] * value[at[place], column]) > allowed[row, column]
            missing[at[place][matter], column[matter]] = True
            missing &= doubted
            if np.count_nonzero(missing) == before:
                found[:, some] = missing
                return found

    def solution(self, solved: np.ndarray, given: np.ndarray) -> np.ndarray:
        """Coefficients of ``given`` in the columns ``solved``; zero rows where a column has no pivot."""
        found = np.zeros((len(solved), len(given)))
        own = self.row[solved] >= 0
        found[own] = 0.0 - self.entries(self.row[solved[own]], given)
        return found

    def null_directions(self, free: np.ndarray) -> np.ndarray:
        """Directions (N, len(free)) that change no row, one per column without pivot."""
        directions = np.zeros((len(self.row), len(free)))
        solved = (self.row >= 0).nonzero()[0]
        directions[solved] = self.solution(solved, free)
        directions[free, np.arange(len(free))] = 1.0
        return directions


class Remainder:
    """What rounding has left of solved columns, in the order of these, over those that are given."""

    def __init__(
        self, rows: GivenRows, pivots: np.ndarray, given: np.ndarray, own: np.ndarray, found: np.ndarray
    ) -> None:
        self._rows, self._pivots, self._given, self._own, self._found = rows, pivots, given, own, found

    @cached_property
    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """What is to be added to coefficients, and how far this may be off. What is zero stays zero."""
        found = np.zeros((2, *self._found.shape))
        value = self._found[self._own]
        if value.size:
            found[:, self._own] = np.where(value == 0.0, 0.0, self._left(value))
        return found[0], found[1]

    def _left(self, value: np.ndarray) -> np.ndarray:
        rows, pivots = self._rows.rows, self._pivots
        missed = Accumulator(_dense(rows[:, self._given]))
        block = _dense(rows[:, pivots])
        missed.add_rows(block, value)
        low, left, off = np.zeros_like(value), value.size + 1, math.inf
        defect, factors = missed.value, None
        while True:
            some, change = defect.any(axis=0), np.zeros_like(value)
            if not some.any():
                break
            factors = factors or self._rows.factors(np.arange(len(pivots)), pivots)
            lower_upper, weight, scale = factors
            change[:, some] = -scale[:, None] * lower_upper.solve(weight[:, None] * defect[:, some], "T")
            low = low + change
            moving = np.abs(change) > CANCELLED * np.abs(low)
            count = np.count_nonzero(moving)
            most = np.max(np.abs(change[moving]) / np.maximum(np.abs(low[moving]), TINY), initial=0.0)
            if not count or (count >= left and most >= DOMINANT * off):
                break
            left, off = min(left, count), min(off, most)
            again = Accumulator(missed.high)
            again.correct(missed.low)
            again.add_rows(block, low)
            defect = again.value
        return np.stack([low, np.abs(change)])


def _dense(matrix: Any) -> np.ndarray:
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def _combined(given: GivenRows, pivots: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Magnitudes (k, N) of what makes the rows that are solved for ``wanted`` columns of those solved for ``pivots``."""
    w = np.zeros((len(wanted), len(pivots)))
    if len(wanted):
        goal = (wanted[:, None] == pivots).astype(float)
        given.cancel(w, goal, np.arange(len(pivots)), pivots)
    return np.abs(w) @ abs(given.rows)
