"""Slopes of constraints at both ends of a step: whether it is beyond doubt that the chosen states go on to serve.

`simulation.nonlinear.state_selection` decides where it is not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .dialect import kernel

RESELECT = 0.3
"""Pivot of the chosen coordinates, relative to that of the best ones, below which others are chosen."""
SINGULAR = 1e-11
"""Relative pivot of the constraints below which they depend on each other."""
FREE, LOWER, TRIED, TAKEN = 0, 1, 2, 4
"""What becomes of coordinates: those of a lower level are taken where no other ones are left; `TRIED` is added to either."""


class ConstraintSlopes(NamedTuple):
    """Derivatives of the constraints (k,) of a mode by its coordinates (nx,), and room."""

    layout = "i1 f1 f3 f2 f2 f2 i1 f2"
    levels: np.ndarray
    """How often each constraint is differentiated."""
    preference: np.ndarray
    """Factors with which coordinates compete for being solved."""
    slopes: np.ndarray
    """At the begin and at the end of a step (2, k, nx)."""
    square: np.ndarray
    """Room (k, k)."""
    competing: np.ndarray
    """Slopes (k, nx) in units in which they compete."""
    rows: np.ndarray
    """Those of one level."""
    taken: np.ndarray
    """What became of each coordinate."""
    pivots: np.ndarray
    """Those of the coordinates that are solved for, and of the best ones (2, k)."""


@kernel
def copy_row(source: np.ndarray, target: np.ndarray) -> None:
    """Copy numbers."""
    for i in range(source.shape[0]):
        target[i] = source[i]


@kernel
def multiply_slopes(c: ConstraintSlopes, first: int, last: int, units: np.ndarray) -> int:
    """Products of the slopes of constraints that are not differentiated, in these units; how many these are."""
    count = 0
    for i in range(c.levels.shape[0]):
        if c.levels[i] == 0:
            other = 0
            for j in range(c.levels.shape[0]):
                if c.levels[j] == 0:
                    value = 0.0
                    for x in range(units.shape[0]):
                        value += c.slopes[first, i, x] * units[x] * (c.slopes[last, j, x] * units[x])
                    c.square[count, other] = value
                    other += 1
            count += 1
    return count


@kernel
def determinant_of_products(c: ConstraintSlopes, count: int, logarithm: bool) -> float:
    """Determinant of the products that were formed, or the logarithm of its magnitude, which is not lost in any range."""
    A, found = c.square, 0.0 if logarithm else 1.0
    for k in range(count):
        best, row = -1.0, k
        for i in range(k, count):
            if abs(A[i, k]) > best:
                best, row = abs(A[i, k]), i
        if row != k:
            for j in range(count):
                value = A[k, j]
                A[k, j] = A[row, j]
                A[row, j] = value
            if not logarithm:
                found = -found
        pivot = A[k, k]
        if pivot == 0.0:
            return -math.inf if logarithm else 0.0
        found = found + math.log(abs(pivot)) if logarithm else found * pivot
        for i in range(k + 1, count):
            factor = A[i, k] / pivot
            for j in range(k + 1, count):
                A[i, j] -= factor * A[k, j]
    return found


@kernel
def volume_left(c: ConstraintSlopes, units: np.ndarray) -> float:
    """Volume that the slopes span at the end of a step, in units of that at its begin."""
    before = determinant_of_products(c, multiply_slopes(c, 0, 0, units), True)
    after = determinant_of_products(c, multiply_slopes(c, 1, 1, units), True)
    return math.exp(0.5 * (after - before)) if before > -math.inf else math.inf


@kernel
def turns_over(c: ConstraintSlopes, units: np.ndarray) -> bool:
    """Whether the plane of the constraints may turn over along a step."""
    return determinant_of_products(c, multiply_slopes(c, 0, 1, units), False) < 0.0


@kernel
def best_column(rows: np.ndarray, count: int, taken: np.ndarray, most: int) -> int:
    """The column with the largest norm of those that may be taken, -1 for none."""
    best, found = -1.0, -1
    for x in range(taken.shape[0]):
        if taken[x] <= most:
            size = 0.0
            for i in range(count):
                size += rows[i, x] * rows[i, x]
            if size > best:
                best, found = size, x
    return found


@kernel
def try_level(c: ConstraintSlopes, level: int, pivots: np.ndarray, done: int, most: int) -> int:
    """Solve the constraints of a level by QR with column pivoting; how many, -1 where there are too few columns.

    Pivots are those of `state_selection`: relative to the largest of their level.
    """
    count = 0
    for i in range(c.levels.shape[0]):
        if c.levels[i] == level:
            copy_row(c.competing[i], c.rows[count])
            count += 1
    for step in range(count):
        column, size = best_column(c.rows, count, c.taken, most), 0.0
        if column < 0:
            return -1
        for i in range(count):
            size += c.rows[i, column] * c.rows[i, column]
        size = math.sqrt(size)
        pivots[done + step] = size
        if not size > SINGULAR * pivots[done] or not size > 0.0:
            return -1
        c.taken[column] += TRIED
        for i in range(count):
            c.rows[i, column] /= size
        for x in range(c.taken.shape[0]):
            if c.taken[x] <= most:
                along = 0.0
                for i in range(count):
                    along += c.rows[i, column] * c.rows[i, x]
                for i in range(count):
                    c.rows[i, x] -= along * c.rows[i, column]
    largest = pivots[done] if count > 1 else 1.0
    for step in range(count):
        pivots[done + step] /= largest
    return count


@kernel
def solve_levels(c: ConstraintSlopes, pivots: np.ndarray) -> bool:
    """Solve the constraints level by level, those of a higher one for coordinates that none below reads, else for any."""
    done, level = 0, 0
    while done < c.levels.shape[0]:
        count = try_level(c, level, pivots, done, FREE)
        if count < 0:
            for x in range(c.taken.shape[0]):
                if TRIED <= c.taken[x] < TAKEN:
                    c.taken[x] -= TRIED
            count = try_level(c, level, pivots, done, LOWER)
        if count < 0:
            return False
        for x in range(c.taken.shape[0]):
            if c.taken[x] >= TRIED:
                c.taken[x] = TAKEN
            else:
                for i in range(c.levels.shape[0]):
                    if c.levels[i] == level and c.competing[i, x] != 0.0:
                        c.taken[x] = LOWER
        done += count
        level += 1
    return True


@kernel
def choice_serves(c: ConstraintSlopes, dependent: np.ndarray, units: np.ndarray) -> bool:
    """Whether the coordinates that are solved for are beyond doubt still good ones at the end of a step."""
    for i in range(c.levels.shape[0]):
        largest = 0.0
        for x in range(units.shape[0]):
            c.competing[i, x] = c.slopes[1, i, x] * units[x]
            largest = max(largest, abs(c.competing[i, x]))
        for x in range(units.shape[0]):
            c.competing[i, x] = c.competing[i, x] / (largest if largest > 0.0 else 1.0) * c.preference[x]
    for x in range(units.shape[0]):
        c.taken[x] = TAKEN
    for i in range(dependent.shape[0]):
        c.taken[dependent[i]] = FREE
    if not solve_levels(c, c.pivots[0]):
        return False
    good = True
    for i in range(c.levels.shape[0]):
        good = good and c.pivots[0, i] >= RESELECT
    if good:
        return True  # No pivot exceeds one.
    for x in range(units.shape[0]):
        c.taken[x] = FREE
    if not solve_levels(c, c.pivots[1]):
        return False
    for i in range(c.levels.shape[0]):
        if c.pivots[0, i] < RESELECT * c.pivots[1, i]:
            return False
    return True
