"""Peeling: unknowns that occur in one row only become short definitions."""

from __future__ import annotations

import numpy as np

from ..values import frozen
from .incidence import INT, IntegerRows, stack

LARGEST = 1 << 20
"""Bound on the coefficients of a definition, so that no product of two leaves 64 bits."""


@frozen
class Peeled:
    """Definitions ``x[pivot[k]] = definitions[k] @ x`` that contain no pivot, and the rows they left.

    Attributes
    ----------
    pivot, row : ndarray of int64, shape (k,)
        Defined columns, and the row each was taken from.
    definitions : IntegerRows
        One row per pivot, over the same columns as the input.
    rest : ndarray of int64, shape (m - k,)
        Rows that were not used; they contain no pivot.
    rounds : int
        Number of sweeps over the rows.
    """

    pivot: np.ndarray
    row: np.ndarray
    definitions: IntegerRows
    rest: np.ndarray
    rounds: int


@frozen
class _Definitions:
    pivot: np.ndarray
    row: np.ndarray
    rows: IntegerRows
    bounded: np.ndarray

    def extend(self, other: _Definitions) -> _Definitions:
        mine = self.rows.substitute(other.pivot, other.rows)
        return _Definitions(
            np.concatenate((self.pivot, other.pivot)),
            np.concatenate((self.row, other.row)),
            stack(mine, other.rows),
            np.concatenate((self.bounded, other.bounded)),
        )

    def take(self, chosen: np.ndarray) -> _Definitions:
        return _Definitions(
            self.pivot[chosen], self.row[chosen], self.rows.take(chosen), self.bounded[chosen]
        )


def peel(
    rows: IntegerRows, eligible: np.ndarray, uses: np.ndarray, max_terms: int = 8, max_rounds: int = 8
) -> Peeled:
    """Define columns that occur in exactly one row, with coefficient +-1, by the rest of that row.

    Parameters
    ----------
    rows : IntegerRows
        Rows ``sum_j val_j x_j = 0``, compressed.
    eligible : ndarray of bool, shape (n,)
        Columns that may be defined.
    uses : ndarray of int, shape (n,)
        Occurrences outside these rows. Of several candidates the one used least, then the smallest id is taken.
    max_terms : int
        Longest definition, counted after every pivot in it has been replaced. Columns that are used nowhere,
        neither outside nor in another definition, may be longer: they are outputs only.
    max_rounds : int
        Sweeps over all rows. Every sweep may lengthen definitions, so chains are not followed to their end.

    Returns
    -------
    Peeled
        The definitions, free of pivots, and the ids of the rows that are left.
    """
    nothing = np.zeros(0, INT)
    done = _Definitions(nothing, nothing, rows.take(nothing), np.zeros(0, bool))
    eligible, uses = eligible.copy(), np.array(uses, INT)
    live, origin, rounds = rows, np.arange(rows.m), 0
    while live.m and rounds < max_rounds:
        found = _candidates(live, origin, eligible, uses, done, max_terms)
        if not len(found.pivot):
            break
        rounds += 1
        fits = _fits(done, found, max_terms)
        eligible[found.pivot[~fits]] = False
        found = found.take(fits)
        spread = np.repeat(uses[found.pivot] > 0, found.rows.lengths)
        np.add.at(uses, found.rows.col[spread], 1)
        done = done.extend(found)
        left = np.isin(origin, found.row, assume_unique=True, invert=True)
        live, origin = live.take(left), origin[left]
    return Peeled(done.pivot, done.row, done.rows, origin, rounds)


def _candidates(
    live: IntegerRows,
    origin: np.ndarray,
    eligible: np.ndarray,
    uses: np.ndarray,
    done: _Definitions,
    max_terms: int,
) -> _Definitions:
    """At most one new definition per live row."""
    occurrences = np.bincount(live.col, minlength=live.n)
    output = (uses == 0) & (np.bincount(done.rows.col, minlength=live.n) == 0)
    length, largest = live.lengths, np.zeros(live.m, INT)
    row = live.row
    np.maximum.at(largest, row, np.abs(live.val))
    single = (
        (occurrences[live.col] == 1)
        & (np.abs(live.val) == 1)
        & eligible[live.col]
        & (largest[row] <= LARGEST)
    )
    entry = np.flatnonzero(single & ((length[row] - 1 <= max_terms) | output[live.col]))
    entry = entry[np.lexsort((live.col[entry], uses[live.col[entry]], row[entry]))]
    entry = entry[np.concatenate(([True], np.diff(row[entry]) != 0))[: len(entry)]]
    pivot, sign = live.col[entry], live.val[entry]
    chosen = live.take(row[entry])
    values = IntegerRows(chosen.ptr, chosen.col, -chosen.val * np.repeat(sign, chosen.lengths), chosen.n)
    return _Definitions(
        pivot,
        origin[row[entry]],
        values.where(chosen.col != np.repeat(pivot, chosen.lengths)),
        ~output[pivot],
    )


def _fits(done: _Definitions, found: _Definitions, max_terms: int) -> np.ndarray:
    """Mask of new definitions that may be put into the earlier ones without making one of those too long or too large."""
    position = np.full(done.rows.n, -1, INT)
    position[found.pivot] = np.arange(len(found.pivot))
    hit = position[done.rows.col] >= 0
    inner, row = position[done.rows.col[hit]], done.rows.row[hit]
    growth = found.rows.lengths[inner] - 1
    total = np.cumsum(growth)
    start = np.flatnonzero(np.concatenate(([True], np.diff(row) != 0))[: len(row)])
    before = np.repeat(total[start] - growth[start], np.diff(np.concatenate((start, [len(row)]))))
    too_long = done.bounded[row] & (done.rows.lengths[row] + total - before > max_terms)
    largest = np.ones(len(found.pivot), INT)
    np.maximum.at(largest, found.rows.row, np.abs(found.rows.val))
    too_large = np.abs(done.rows.val[hit]) * largest[inner] > LARGEST
    fits = np.ones(len(found.pivot), bool)
    fits[inner[too_long | too_large]] = False
    return fits
