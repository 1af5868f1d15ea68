"""Elimination of the equations of a mode that are linear in the unknowns with constant coefficients.

Columns are derivatives, then algebraic unknowns, then differentiated variables, and a row takes its pivot from the
first of these kinds that it holds. So derivatives become explicit, and a row whose pivot is a differentiated
variable is a constraint, to be differentiated by the `index_reduction`. Numbers decide which coefficients are zero,
expressions follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..reduction.index_reduction import shuffle
from ..reduction.rounding import ROUNDING
from ..structure.elimination import SparseElimination


@dataclass(slots=True, eq=False)
class Coefficient:
    """A number with the expression of parameters that it is a value of."""

    number: float
    expression: Any

    def __rsub__(self, zero: int) -> Coefficient:
        return Coefficient(-self.number, ca.SX(zero) - self.expression)

    def __sub__(self, other: Coefficient) -> Coefficient:
        found = self.number - other.number
        cancelled = abs(found) <= ROUNDING * max(abs(self.number), abs(other.number))
        return Coefficient(0.0 if cancelled else found, self.expression - other.expression)

    def __mul__(self, other: Coefficient) -> Coefficient:
        return Coefficient(self.number * other.number, self.expression * other.expression)

    def __truediv__(self, other: Coefficient) -> Coefficient:
        return Coefficient(self.number / other.number, self.expression / other.expression)

    def __bool__(self) -> bool:
        return self.number != 0.0

    @property
    def unit(self) -> bool:
        """True for 1 and -1, whatever the parameters are."""
        return abs(self.number) == 1.0 and self.expression.is_constant()


@dataclass(eq=False)
class SymbolicRow:
    """``sum of coefficients * columns + remainder = 0``.

    ``sample`` holds the remainder at some generic arguments, ``size`` the magnitude of what was added up there.
    """

    coefficients: dict[int, Coefficient]
    remainder: Any
    sample: np.ndarray
    size: np.ndarray
    origins: frozenset[int]
    differentiated: int = 0


class SymbolicElimination(SparseElimination[Coefficient]):
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
        super().__init__()
        self.kinds, self.cost, self.slope = kinds, cost, differentiate
        self.rows = list(rows)
        for number, row in enumerate(rows):
            self.add(number, row.coefficients)
        for _ in shuffle(self):
            pass
        self.empty = [self.rows[k] for k in self.redundant]

    def solve_unknowns(self) -> None:
        """Take pivots among derivatives and algebraic unknowns."""
        self.reduce(1)

    def solve_states(self) -> Sequence[int]:
        """Take pivots among differentiated variables: rows of constraints."""
        return self.reduce(2)

    def differentiate(self, constraints: Sequence[int]) -> None:
        """Let the derivatives of constraints take part."""
        for number in constraints:
            row, made = self.rows[number], len(self.rows)
            remainder, sample = self.slope(row)
            shift = {c - self.kinds[1]: v for c, v in row.coefficients.items()}
            self.rows.append(
                SymbolicRow(shift, remainder, sample, abs(sample), row.origins, row.differentiated + 1)
            )
            self.settle(made, shift)
            self.add(made, shift)

    def _kind(self, col: int) -> int:
        """Return 0 for derivatives, 1 for algebraic unknowns, 2 for differentiated variables."""
        return 0 if col < self.kinds[0] else 1 if col < self.kinds[1] else 2

    def _rank(self, entries: dict[int, Coefficient]) -> int:
        return min((self._kind(c) for c in entries), default=0)

    def _preference(self, entries: dict[int, Coefficient], col: int) -> tuple[Any, ...]:
        kind, variable = self._kind(col), col + self.kinds[1]
        replaced = kind == 0 and variable in self.position
        cost = self.cost[col - self.kinds[1]] if kind == 2 else 0
        return kind, not replaced, not entries[col].unit, -cost, len(self.users[col]), col

    def _ratio(self, numerator: Coefficient, denominator: Coefficient) -> Coefficient:
        return numerator / denominator

    def _subtracted(self, target: int, row: int, factor: Coefficient) -> None:
        changed, source = self.rows[target], self.rows[row]
        changed.remainder = changed.remainder - factor.expression * source.remainder
        changed.sample = changed.sample - factor.number * source.sample
        changed.size = changed.size + abs(factor.number) * source.size
        changed.origins |= source.origins
        changed.differentiated = max(changed.differentiated, source.differentiated)

    def values(self, free: dict[int, Any]) -> dict[int, Any]:
        """Return all columns as expressions of those that no row defines."""
        found = dict(free)
        for number, pivot in reversed(self.pivots):
            row = self.rows[number]
            total = row.remainder
            for col, factor in row.coefficients.items():
                if col != pivot:
                    total = total + factor.expression * found[col]
            found[pivot] = -total / row.coefficients[pivot].expression
        return found
