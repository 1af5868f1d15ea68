"""Gauss-Jordan elimination of rows with two estimates of the rounding of every value; `reduction.elimination` says what they are.

Shortest row first (Markowitz), pivots of exactly +-1 preferred; a pivot that is weak in its row waits for others (threshold
pivoting: Duff, Erisman and Reid, Direct Methods for Sparse Matrices, 2nd ed., Oxford 2017, section 5.2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .dialect import kernel

CANCELLED = 2.0**-46
"""Values below this fraction of their propagated error unit are zero; errors measured reach 2**-50."""
EXACT = 2.0**-50
"""Part of what is subtracted from it, up to which a difference is zero exactly."""
DOMINANT = 0.5
"""Merit of a pivot relative to the best one of its row from which it may be taken."""
UNRELIABLE = 2.0**-10
"""Part of the upper estimate of an error, below which the lower one says that the upper one has grown."""
WEAK = 2.0**-10
"""Strength below which a pivot waits: others may grow by three digits in a step, less than the check of a mode allows."""
ORDERED, WAITS, SOLVED = 0, 1, 2
DONE, DOUBT = 0, 1


class EchelonRows(NamedTuple):
    """Rows (m, N) in reduced echelon form with respect to the columns that are solved from them."""

    layout = "f2 f2 f2 f1 f1 i1 i1"
    value: np.ndarray
    variance: np.ndarray
    """Squares of the upper estimates of errors."""
    least: np.ndarray
    """Lower estimates."""
    weight: np.ndarray
    """Typical magnitudes (N,) of the unknowns."""
    size: np.ndarray
    """Scales (N,) in which a pivot is compared with its row."""
    pivot: np.ndarray
    """Column (m,) solved from each row, -1 if none."""
    row: np.ndarray
    """Row (N,) from which each column is solved, -1 if none."""


class PivotSearch(NamedTuple):
    """The columns to solve for, and what is known of each row: from which the next pivot is chosen."""

    layout = "i1 i1 i1 i1 i1 i1 i1 i1 i1"
    columns: np.ndarray
    flags: np.ndarray
    """Whether the first of equally good columns is taken, whether weak pivots wait, and how many rows were solved."""
    counts: np.ndarray
    """Values (m,) that may be no rounding in the columns; where there are none, or the row is solved, more than there can be."""
    doubtful: np.ndarray
    """Whether (m,) some values of a row may be rounding."""
    stale: np.ndarray
    """Whether (m,) both are to be found anew."""
    tried: np.ndarray
    """Rows (m,) whose pivots are weak, in the search for the next one."""
    cells: np.ndarray
    """Room for the columns (N,) in which a row is not zero."""
    found: np.ndarray
    """Row and column of the next pivot."""
    solved: np.ndarray
    """The rows (m,) that were solved, in order."""


@kernel
def is_certain(r: EchelonRows, i: int, j: int) -> bool:
    """Whether a value certainly is no rounding."""
    value = r.value[i, j]
    return value * value > CANCELLED * CANCELLED * r.variance[i, j]


@kernel
def is_present(r: EchelonRows, i: int, j: int) -> bool:
    """Whether it may be none."""
    return is_certain(r, i, j) or abs(r.value[i, j]) > CANCELLED * r.least[i, j]


@kernel
def judge_rows(r: EchelonRows, s: PivotSearch) -> None:
    """Count what is present in the rows that have changed."""
    never = r.value.shape[1] + 1
    for i in range(s.stale.shape[0]):
        if s.stale[i] == 0:
            continue
        present, certain = 0, 0
        for k in range(s.columns.shape[0]):
            j = s.columns[k]
            if r.value[i, j] == 0.0:
                continue
            if is_present(r, i, j):
                present += 1
                certain += is_certain(r, i, j)
        s.counts[i] = present if present > 0 else never
        s.doubtful[i] = present != certain
        s.stale[i] = 0


@kernel
def dominant_column(r: EchelonRows, s: PivotSearch, i: int) -> int:
    """The best column to solve a row for: one of the largest, exactly 1 if possible, and of these in fewest rows."""
    largest, least_flaws, fewest, best = 0.0, 4, r.value.shape[0] + 1, -1
    for k in range(s.columns.shape[0]):
        j = s.columns[k]
        if is_certain(r, i, j):
            largest = max(largest, abs(r.value[i, j]) * r.weight[j])
    for k in range(s.columns.shape[0]):
        j = s.columns[k]
        value = abs(r.value[i, j])
        if not is_certain(r, i, j) or value * r.weight[j] < DOMINANT * largest:
            continue
        flaws = 1 if abs(value - 1.0) > CANCELLED else 0
        if value * value < UNRELIABLE * UNRELIABLE * r.variance[i, j]:
            flaws += 2
        if flaws > least_flaws or (flaws == least_flaws and s.flags[ORDERED] > 0):
            continue
        if s.flags[ORDERED] > 0:
            least_flaws, best = flaws, j
            continue
        length = 0
        for m in range(r.value.shape[0]):
            length += is_present(r, m, j)
        if flaws < least_flaws or length < fewest:
            least_flaws, fewest, best = flaws, length, j
    return best


@kernel
def part_of_row(r: EchelonRows, i: int, j: int) -> float:
    """A value relative to the largest one of its row; no number where one of them is none."""
    largest, total = 0.0, 0.0
    for k in range(r.size.shape[0]):
        size = abs(r.value[i, k]) * r.size[k]
        largest = max(largest, size)
        total += size
    return abs(r.value[i, j]) * r.size[j] / largest if total == total else total


@kernel
def strength(r: EchelonRows, i: int, j: int) -> float:
    """Pivot relative to its row, where it is weak there in units of the best one of the column: rows grow by its inverse."""
    part = part_of_row(r, i, j)
    if part >= WEAK:
        return part
    rivals, best = 0, 0.0
    for m in range(r.value.shape[0]):
        if r.pivot[m] < 0 and r.value[m, j] != 0.0 and is_present(r, m, j):
            rivals += 1
            best = max(best, part_of_row(r, m, j))
    return 1.0 if rivals == 1 else part / best


@kernel
def next_pivot(r: EchelonRows, s: PivotSearch) -> bool:
    """Find row and column of the next pivot; whether there is one.

    It is that of the shortest row whose pivot is not weak, else the least weak one. The column is -1 where that row is in doubt.
    What waits takes none that is weak or in doubt.
    """
    never, best, found = r.value.shape[1] + 1, -1.0, s.found
    found[0], found[1] = -1, -1
    for i in range(s.tried.shape[0]):
        s.tried[i] = 0
    while True:
        fewest, row = never, -1
        for i in range(s.counts.shape[0]):
            if s.counts[i] < fewest and s.tried[i] == 0:
                fewest, row = s.counts[i], i
        if row < 0:
            return found[0] >= 0
        s.tried[row] = 1
        if s.doubtful[row] > 0:
            if s.flags[WAITS] > 0:
                continue
            found[0], found[1] = row, -1
            return True
        column = dominant_column(r, s, row)
        strong = part_of_row(r, row, column) if s.flags[WAITS] > 0 else strength(r, row, column)
        if strong >= WEAK:
            found[0], found[1] = row, column
            return True
        if s.flags[WAITS] == 0 and strong > best:
            best = strong
            found[0], found[1] = row, column


@kernel
def weighed(value: float, least: float) -> float:
    """Factor from a value to what it contributes to lower estimates: large where it is nothing but rounding.

    Such a value is a sample of its own error. Its estimate would grow from step to step.
    """
    return 2.0 / CANCELLED if abs(value) <= CANCELLED * least else 1.0


@kernel
def solve_row(r: EchelonRows, s: PivotSearch, i: int, j: int) -> None:
    """Solve a column from a row, and eliminate it from all others."""
    count, value, variance, least = 0, r.value[i], r.variance[i], r.least[i]
    pivot = value[j]
    square = pivot * pivot
    doubt = variance[j] / square - 1.0
    for k in range(value.shape[0]):
        if value[k] != 0.0:
            s.cells[count] = k
            count += 1
    for c in range(count):
        k = s.cells[c]
        value[k] /= pivot
        variance[k] /= square
        least[k] /= abs(pivot)
        if doubt > 0.0:
            variance[k] += doubt * value[k] * value[k]
    value[j], variance[j], least[j] = 1.0, 1.0, 1.0
    r.pivot[i], r.row[j] = j, i
    for m in range(r.value.shape[0]):
        if m != i and r.value[m, j] != 0.0:
            subtract_row(r, s, count, i, m, j)
            if r.pivot[m] < 0:
                s.stale[m] = 1


@kernel
def subtract_row(r: EchelonRows, s: PivotSearch, count: int, i: int, m: int, j: int) -> None:
    """Eliminate a column ``j`` from row ``m`` by row ``i``, which has values in the first cells."""
    factor = r.value[m, j]
    square, heavy = factor * factor, weighed(factor, r.least[m, j])
    doubt = r.variance[m, j] - square
    if doubt <= 0.0:
        doubt = 0.0
    for c in range(count):
        k = s.cells[c]
        value = r.value[i, k]
        change = factor * value
        size, new = abs(change), r.value[m, k] - change
        if abs(new) <= EXACT * size:
            r.value[m, k], r.variance[m, k], r.least[m, k] = 0.0, 0.0, 0.0
        else:
            r.value[m, k] = new
            r.variance[m, k] = r.variance[m, k] + square * r.variance[i, k] + doubt * (value * value)
            r.least[m, k] += max(heavy, weighed(value, r.least[i, k])) * size
    r.value[m, j], r.variance[m, j], r.least[m, j] = 0.0, 0.0, 0.0


@kernel
def reduce_rows(r: EchelonRows, s: PivotSearch) -> int:
    """Solve for as many columns as possible from rows without pivot; `DOUBT` where some are to be evaluated anew before."""
    while True:
        judge_rows(r, s)
        if not next_pivot(r, s):
            return DONE
        row, column = s.found[0], s.found[1]
        if column < 0:
            return DOUBT
        s.counts[row], s.doubtful[row] = r.value.shape[1] + 1, 0
        solve_row(r, s, row, column)
        s.solved[s.flags[SOLVED]] = row
        s.flags[SOLVED] += 1
