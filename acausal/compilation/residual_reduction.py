"""Elimination of the equations of a mode that are linear in the unknowns with constant coefficients.

Columns are derivatives, then algebraic unknowns, then differentiated variables, and a row takes its pivot from the
first of these kinds that it holds. So derivatives become explicit, and a row whose pivot is a differentiated
variable is a constraint: its derivative joins the rows, until nothing new appears (the shuffle algorithm of
D. G. Luenberger, Automatica 14, 1978).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

ROUNDING = 1e-13
"""A difference of coefficients below this part of their size is zero: products of a few factors are rounded to 1e-15."""


@dataclass(eq=False)
class SymbolicRow:
    """``sum of coefficients * columns + remainder = 0``.

    Every coefficient is (number, expression of the parameters); ``sample`` holds the remainder at some generic
    arguments, ``size`` the magnitude of what was added up there.
    """

    coefficients: dict[int, tuple[float, Any]]
    remainder: Any
    sample: np.ndarray
    size: np.ndarray
    origins: frozenset[int]
    differentiated: int = 0
    pivot: int = field(default=-1)


class SymbolicElimination:
    """Pivots of the linear rows, in the order in which they were taken.

    Parameters
    ----------
    rows : list of SymbolicRow
    kinds : (int, int)
        Columns below the first number are derivatives, those below the second algebraic unknowns, the others
        differentiated variables, as many as derivatives and in the same order.
    cost : sequence of tuple
        Of several differentiated variables that could be replaced the one of largest cost is.
    differentiate : callable
        Row without coefficients -> remainder and sample of its time derivative.
    """

    def __init__(
        self,
        rows: list[SymbolicRow],
        kinds: tuple[int, int],
        cost: list[Any],
        differentiate: Callable[[SymbolicRow], tuple[Any, np.ndarray]],
    ) -> None:
        self.kinds, self.cost, self.differentiate = kinds, cost, differentiate
        self.done: list[SymbolicRow] = []
        self.empty: list[SymbolicRow] = []
        self.position: dict[int, int] = {}
        """Column -> number of the pivot that defines it."""
        self._live: dict[int, SymbolicRow] = {}
        self._users: dict[int, set[int]] = {}
        self._heap: list[tuple[int, int, int]] = []
        self._count = 0
        for row in rows:
            self._add(row)
        self._run()

    def kind(self, col: int) -> int:
        """Return 0 for derivatives, 1 for algebraic unknowns, 2 for differentiated variables."""
        return 0 if col < self.kinds[0] else 1 if col < self.kinds[1] else 2

    def _add(self, row: SymbolicRow) -> None:
        number, self._count = self._count, self._count + 1
        self._live[number] = row
        for col in row.coefficients:
            self._users.setdefault(col, set()).add(number)
        self._push(number)

    def _push(self, number: int) -> None:
        row = self._live[number]
        heapq.heappush(self._heap, (*self._rank(row), number))

    def _rank(self, row: SymbolicRow) -> tuple[int, int]:
        return min((self.kind(c) for c in row.coefficients), default=3), len(row.coefficients)

    def _run(self) -> None:
        while self._heap:
            kind, length, number = heapq.heappop(self._heap)
            row = self._live.get(number)
            if row is None or (kind, length) != self._rank(row):
                continue
            del self._live[number]
            for col in row.coefficients:
                self._users[col].discard(number)
            if not row.coefficients:
                self.empty.append(row)
                continue
            self._take(row, kind)
            if kind == 2:
                self._add(self._derivative(row))

    def _take(self, row: SymbolicRow, kind: int) -> None:
        row.pivot = min(
            (c for c in row.coefficients if self.kind(c) == kind), key=lambda c: self._key(row, c)
        )
        self.position[row.pivot] = len(self.done)
        self.done.append(row)
        for other in sorted(self._users.get(row.pivot, ())):
            target = self._live[other]
            before = set(target.coefficients)
            subtract(target, row)
            for col in before.symmetric_difference(target.coefficients):
                users = self._users.setdefault(col, set())
                (users.add if col in target.coefficients else users.discard)(other)
            self._push(other)

    def _key(self, row: SymbolicRow, col: int) -> tuple[Any, ...]:
        value, expression = row.coefficients[col]
        unit = abs(value) == 1.0 and expression.is_constant()
        variable = col + self.kinds[1]
        replaced = self.kind(col) == 0 and variable in self.position
        cost = self.cost[col - self.kinds[1]] if self.kind(col) == 2 else 0
        return (not replaced, not unit, -cost, len(self._users.get(col, ())), col)

    def _derivative(self, row: SymbolicRow) -> SymbolicRow:
        remainder, sample = self.differentiate(row)
        shift = {c - self.kinds[1]: v for c, v in row.coefficients.items()}
        made = SymbolicRow(shift, remainder, sample, abs(sample), row.origins, row.differentiated + 1)
        waiting = [self.position[c] for c in shift if c in self.position]
        heapq.heapify(waiting)
        while waiting:
            source = self.done[heapq.heappop(waiting)]
            if source.pivot in made.coefficients:
                subtract(made, source)
                for c in source.coefficients:
                    if c in made.coefficients and c in self.position:
                        heapq.heappush(waiting, self.position[c])
        return made

    def values(self, free: dict[int, Any]) -> dict[int, Any]:
        """Return all columns as expressions of those that no row defines."""
        found = dict(free)
        for row in reversed(self.done):
            total = row.remainder
            for col, (_, factor) in row.coefficients.items():
                if col != row.pivot:
                    total = total + factor * found[col]
            found[row.pivot] = -total / row.coefficients[row.pivot][1]
        return found


def subtract(target: SymbolicRow, source: SymbolicRow) -> None:
    """Remove the pivot of ``source`` from ``target``."""
    a, b = target.coefficients[source.pivot], source.coefficients[source.pivot]
    factor, symbolic = a[0] / b[0], a[1] / b[1]
    for col, (value, expression) in source.coefficients.items():
        old, old_expression = target.coefficients.get(col, (0.0, ca.SX(0)))
        new = old - factor * value
        if col == source.pivot or abs(new) <= ROUNDING * max(abs(old), abs(factor * value)):
            target.coefficients.pop(col, None)
        else:
            target.coefficients[col] = new, old_expression - symbolic * expression
    target.remainder = target.remainder - symbolic * source.remainder
    target.sample = target.sample - factor * source.sample
    target.size = target.size + abs(factor) * source.size
    target.origins |= source.origins
    target.differentiated = max(target.differentiated, source.differentiated)
