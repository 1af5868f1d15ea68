"""Exact elimination of integer rows: rank, dependent rows with their combinations, null space."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from heapq import heapify, heappop, heappush
from math import gcd, lcm
from typing import Any, Generic, TypeVar

import numpy as np

from ..values import frozen
from .aliases import alias_classes, alias_edges
from .incidence import INT, IntegerRows

Number = int | Fraction
Value = TypeVar("Value", bound=Any)

BULK_ROUNDS = 20
"""Rounds of pivots taken in bulk; the elimination row by row takes what is left, with the same rank."""


@frozen
class Echelon:
    """Rows that depend on the others.

    Attributes
    ----------
    redundant : ndarray of int64, shape (k,)
        Dependent rows, ascending.
    combinations : IntegerRows, shape (k, m)
        Row i holds integers ``c`` without common divisor, ``c[redundant[i]] > 0``, ``sum_j c_j rows[j] = 0``;
        besides ``redundant[i]`` only rows that are not redundant take part.
    """

    redundant: np.ndarray
    combinations: IntegerRows


@frozen
class NullSpace:
    """Integer vectors that every row maps to zero.

    Attributes
    ----------
    free : ndarray of int64, shape (k,)
        One column per vector, ascending: vector i is positive there and zero at the other free columns.
    basis : IntegerRows, shape (k, n)
        The vectors.
    """

    free: np.ndarray
    basis: IntegerRows


def echelon(rows: IntegerRows) -> Echelon:
    """Exact echelon form over the rationals, without back substitution.

    Parameters
    ----------
    rows : IntegerRows
        The rows, compressed.

    Returns
    -------
    Echelon
        Dependent rows and their combinations.

    Notes
    -----
    Rows with a column that occurs nowhere else are independent and leave in bulk. The rest is eliminated row by row,
    the shortest first, pivot +-1 in the column with the fewest rows if possible [1]_. Without back substitution
    chains of sums stay sparse.

    References
    ----------
    .. [1] H. M. Markowitz, "The elimination form of the inverse and its application to linear programming",
       Management Science 3 (1957) 255-269.
    """
    work = _Elimination(rows)
    redundant = sorted(work.redundant)
    combinations = IntegerRows.from_dicts(
        [_integers(work.combination(row), row) for row in redundant], rows.m
    )
    return Echelon(np.array(redundant, INT), combinations)


def combine(rows: IntegerRows, vectors: IntegerRows) -> list[dict[int, Number]]:
    """Write vectors as combinations of rows.

    Parameters
    ----------
    rows : IntegerRows, shape (m, n)
        The rows, compressed.
    vectors : IntegerRows, shape (k, n)
        Vectors that the rows span.

    Returns
    -------
    list of dict
        Coefficients ``c`` by row with ``sum_j c_j rows[j] == vectors[i]``. Rows that depend on others take no part, so
        that no smaller set among the rows of one combination would do.

    Raises
    ------
    ValueError
        If a vector is no combination of the rows.
    """
    work = _Elimination(rows)
    return [work.express(_entries(vectors, k)) for k in range(vectors.m)]


def null_space(rows: IntegerRows) -> NullSpace:
    """Basis of the integer null space; the rows are compressed.

    Notes
    -----
    Columns that rows of one or two entries make zero, equal or opposite are merged in bulk before the elimination;
    back substitution is made for the free columns only.
    """
    representative, sign = np.arange(rows.n), np.ones(rows.n, INT)
    while True:
        edges = alias_edges(rows)
        if not len(edges.row):
            break
        classes = alias_classes(edges)
        sign = sign * classes.sign[representative]
        representative = classes.representative[representative]
        left = np.ones(rows.m, bool)
        left[edges.row] = False
        rows = rows.take(left)
        rows = IntegerRows(
            rows.ptr, classes.representative[rows.col], rows.val * classes.sign[rows.col], rows.n
        ).compress()
    work = _Elimination(rows)
    pivots = np.array([col for _, col in work.pivots], INT)
    is_free = (representative == np.arange(rows.n)) & (sign != 0)
    is_free[pivots] = False
    free = np.flatnonzero(is_free)
    values = work.back_substitute(free.tolist())
    vectors: list[dict[int, Number]] = [{} for _ in free]
    for column, (root, s) in enumerate(zip(representative.tolist(), sign.tolist(), strict=True)):
        for index, value in values.get(root, {}).items() if s else ():
            vectors[index][column] = s * value
    basis = [_integers(vector, int(column)) for vector, column in zip(vectors, free, strict=True)]
    return NullSpace(free, IntegerRows.from_dicts(basis, rows.n))


def _integers(vector: dict[int, Number], positive: int) -> dict[int, int]:
    """Scale to integers without common divisor."""
    scale = lcm(*(Fraction(value).denominator for value in vector.values()))
    whole = {key: int(value * scale) for key, value in vector.items() if value}
    divisor = gcd(*whole.values())
    if whole[positive] < 0:
        divisor = -divisor
    return {key: value // divisor for key, value in whole.items()}


def _entries(rows: IntegerRows, row: int) -> dict[int, Number]:
    part = slice(rows.ptr[row], rows.ptr[row + 1])
    return dict(zip(rows.col[part].tolist(), rows.val[part].tolist(), strict=True))


class SparseElimination(Generic[Value]):
    """Elimination of sparse rows over a field, the shortest row first.

    ``final[q] = rows[q] - sum of f * final[r]``, with all ``(r, f)`` told to `_subtracted`. Values that vanish are false.
    """

    def __init__(self) -> None:
        self.pivots: list[tuple[int, int]] = []
        """(row, column) in the order in which they were taken."""
        self.position: dict[int, int] = {}
        """Column -> number of its pivot."""
        self.redundant: list[int] = []
        """Rows without entries that are left."""
        self.final: dict[int, dict[int, Value]] = {}
        self.users: defaultdict[int, set[int]] = defaultdict(set)
        """Column -> rows without pivot in which it occurs."""
        self._waiting: list[tuple[int, int, int]] = []
        self._done: set[int] = set()

    def add(self, row: int, entries: dict[int, Value]) -> None:
        """Let a row take part."""
        self.final[row] = entries
        for col in entries:
            self.users[col].add(row)
        self._wait(row)

    def reduce(self, last: int = 0) -> list[int]:
        """Take pivots in columns of ranks up to the last one, until none is left; return their rows."""
        new = []
        while self._waiting and self._waiting[0][0] <= last:
            rank, length, row = heappop(self._waiting)
            entries = self.final[row]
            if row in self._done or length != len(entries) or rank != self._rank(entries):
                continue
            self._done.add(row)
            if not entries:
                self.redundant.append(row)
                continue
            pivot = min(entries, key=lambda col: self._preference(entries, col))
            self.position[pivot] = len(self.pivots)
            self.pivots.append((row, pivot))
            new.append(row)
            for col in entries:
                self.users[col].discard(row)
            for other in sorted(self.users[pivot]):
                self._subtract(other, row, pivot)
                self._wait(other)
        return new

    def settle(self, row: int, entries: dict[int, Value]) -> None:
        """Remove all pivots from the entries of a row that comes late."""
        self.final[row] = entries
        position = self.position
        waiting = [position[col] for col in entries if col in position]
        heapify(waiting)
        while waiting:
            source, pivot = self.pivots[heappop(waiting)]
            if pivot in entries:
                self._subtract(row, source, pivot)
                for col in self._reduced(source):
                    if col in entries and col in position:
                        heappush(waiting, position[col])

    def _wait(self, row: int) -> None:
        entries = self.final[row]
        heappush(self._waiting, (self._rank(entries), len(entries), row))

    def _subtract(self, target: int, row: int, pivot: int) -> None:
        entries, source = self.final[target], self._reduced(row)
        factor = self._ratio(entries[pivot], source[pivot])
        self._subtracted(target, row, factor)
        for col, value in source.items():
            new = entries.get(col, 0) - factor * value
            if new and col != pivot:
                entries[col] = new
                self.users[col].add(target)
            else:
                entries.pop(col, None)
                self.users[col].discard(target)

    def _reduced(self, row: int) -> dict[int, Value]:
        """A pivot row at the time it was taken."""
        return self.final[row]

    def _rank(self, entries: dict[int, Value]) -> int:
        """Rank of the column a row takes its pivot from."""
        return 0

    def _preference(self, entries: dict[int, Value], col: int) -> tuple[Any, ...]:
        """The column in which this is least becomes pivot."""
        raise NotImplementedError

    def _ratio(self, numerator: Value, denominator: Value) -> Value:
        raise NotImplementedError

    def _subtracted(self, target: int, row: int, factor: Value) -> None:
        """A multiple of a row was subtracted from another one."""
        raise NotImplementedError


class _Elimination(SparseElimination[Number]):
    """Elimination over the rationals, with ``steps[q] = [(r, f), ...]``."""

    def __init__(self, rows: IntegerRows) -> None:
        super().__init__()
        self.steps: defaultdict[int, list[tuple[int, Number]]] = defaultdict(list)
        self._rows = rows
        live = self._trim(rows)
        sub = rows.take(live)
        col, val, ptr = sub.col.tolist(), sub.val.tolist(), sub.ptr.tolist()
        for row, start, stop in zip(live.tolist(), ptr[:-1], ptr[1:], strict=True):
            self.add(row, dict(zip(col[start:stop], val[start:stop], strict=True)))
        self.reduce()
        self._order = {row: -k for k, (row, _) in enumerate(self.pivots)}

    def _trim(self, rows: IntegerRows) -> np.ndarray:
        """Take pivots in columns with one entry, in bulk; return the ids of the rows that are left."""
        live = np.arange(rows.m)
        for _ in range(BULK_ROUNDS):
            occurrences = np.bincount(rows.col, minlength=rows.n)
            entry = np.flatnonzero(occurrences[rows.col] == 1)
            row = rows.row[entry]
            first = np.concatenate(([True], np.diff(row) != 0))[: len(row)]
            self.pivots += zip(live[row[first]].tolist(), rows.col[entry[first]].tolist(), strict=True)
            left = np.ones(rows.m, bool)
            left[row] = False
            rows, live = rows.take(left), live[left]
            if 50 * np.count_nonzero(~left) <= len(left):
                break
        self.position = {col: k for k, (_, col) in enumerate(self.pivots)}
        return live

    def _preference(self, entries: dict[int, Number], col: int) -> tuple[bool, int, int]:
        return abs(entries[col]) != 1, len(self.users[col]), col

    def _ratio(self, numerator: Number, denominator: Number) -> Number:
        return _ratio(numerator, denominator)

    def _subtracted(self, target: int, row: int, factor: Number) -> None:
        self.steps[target].append((row, factor))

    def _reduced(self, row: int) -> dict[int, Number]:
        return self.final[row] if row in self.final else _entries(self._rows, row)

    def combination(self, row: int) -> dict[int, Number]:
        """Write the vanished row as a combination of the original ones."""
        order = self._order
        result: dict[int, Number] = {row: 1}
        heap = [(-len(order), row)]
        while heap:
            _, target = heappop(heap)
            for source, factor in self.steps.get(target, ()):
                if source not in result:
                    heappush(heap, (order[source], source))
                result[source] = result.get(source, 0) - factor * result[target]
        return {key: value for key, value in result.items() if value}

    def express(self, vector: dict[int, Number]) -> dict[int, Number]:
        """Write a vector as a combination of the original rows."""
        own = self._rows.m
        self.settle(own, dict(vector))
        steps, left = self.steps.pop(own, []), self.final.pop(own)
        if left:
            raise ValueError(f"not a combination of the rows: columns {sorted(left)} are left")
        total: dict[int, Number] = {}
        for row, factor in steps:
            for original, value in self.combination(row).items():
                total[original] = total.get(original, 0) + factor * value
        return {row: value for row, value in total.items() if value}

    def back_substitute(self, free: list[int]) -> dict[int, dict[int, Number]]:
        """Columns that are not zero as combinations of the free ones: ``{column: {position in free: value}}``."""
        values: dict[int, dict[int, Number]] = {column: {k: 1} for k, column in enumerate(free)}
        for row, pivot in reversed(self.pivots) if free else ():
            entries = self._reduced(row)
            total: dict[int, Number] = {}
            for col, value in entries.items():
                for k, part in values.get(col, {}).items() if col != pivot else ():
                    total[k] = total.get(k, 0) - value * part
            known = {k: _ratio(value, entries[pivot]) for k, value in total.items() if value}
            if known:
                values[pivot] = known
        return values


def _ratio(numerator: Number, denominator: Number) -> Number:
    quotient = Fraction(numerator) / denominator if denominator not in (1, -1) else numerator * denominator
    return int(quotient) if quotient.denominator == 1 else quotient
