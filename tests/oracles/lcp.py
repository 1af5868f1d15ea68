"""Linear complementarity problems ``w = M z + q``, ``0 <= w``, ``0 <= z``, ``w'z = 0`` by Lemke's method.

The rule against cycling is lexicographic. The numbers are those of the entries: exact for `Fraction`, rounded for floats.
For positive semidefinite M a ray is a proof that no ``z >= 0`` with ``M z + q >= 0`` exists (Cottle, Pang and Stone, The
Linear Complementarity Problem, theorem 4.4.12).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MOST_PIVOTS = 5000


@dataclass(frozen=True)
class Solution:
    """Basic set (True: z is positive or zero, w is zero) and values; z is None when the method ended in a ray."""

    basic: tuple[bool, ...]
    z: list[Any] | None
    pivots: int


class PivotBudgetError(Exception):
    """More pivots than the budget; with exact numbers the rule excludes cycles, so the problem is only large."""


def lemke(M: Sequence[Sequence[Any]], q: Sequence[Any], tiny: float = 0) -> Solution:
    """Solution of a linear complementarity problem, or the ray in which the method ends.

    Parameters
    ----------
    M, q : sequences
        Matrix by rows, and vector; entries of one exact or rounded type.
    tiny : float
        Size up to which a number counts as zero; 0 for exact numbers.
    """
    n = len(q)
    if all(value >= -tiny for value in q):
        return Solution((False,) * n, [0 * value for value in q], 0)
    # Columns: w, z, covering variable, right-hand side. Rows are solved for the basic variables.
    one = 1 + 0 * q[0]
    rows = [
        [one if j == i else 0 * one for j in range(n)] + [-M[i][j] for j in range(n)] + [-one, q[i]]
        for i in range(n)
    ]
    cover, right = 2 * n, 2 * n + 1
    basic = list(range(n))
    # The covering variable enters where the right-hand side is lexicographically smallest.
    leaving = min(range(n), key=lambda i: (rows[i][right], *rows[i][:n]))
    entering = cover
    for count in range(1, MOST_PIVOTS):
        left = basic[leaving]
        _pivot(rows, leaving, entering)
        basic[leaving] = entering
        if left == cover:
            return _solved(rows, basic, n, count)
        entering = left + n if left < n else left - n
        found = _ratio_test(rows, basic, entering, n, tiny)
        if found is None:
            return Solution(tuple(n + i in basic for i in range(n)), None, count)
        leaving = found
    raise PivotBudgetError


def _ratio_test(rows: list[list[Any]], basic: list[int], entering: int, n: int, tiny: float) -> int | None:
    """Row that limits the entering variable, by the lexicographic rule; None for a ray."""
    cover, right = 2 * n, 2 * n + 1
    candidates = [i for i in range(n) if rows[i][entering] > tiny]
    if not candidates:
        return None
    for column in (right, *range(n)):
        ratios = [rows[i][column] / rows[i][entering] for i in candidates]
        least = min(ratios)
        candidates = [i for i, r in zip(candidates, ratios, strict=True) if r <= least + tiny * abs(least)]
        # Where the covering variable can leave, it does: the problem is solved.
        if column == right:
            done = [i for i in candidates if basic[i] == cover]
            if done:
                return done[0]
        if len(candidates) == 1:
            break
    return candidates[0]


def _pivot(rows: list[list[Any]], i: int, column: int) -> None:
    pivot = rows[i][column]
    rows[i] = own = [a / pivot for a in rows[i]]
    for k, row in enumerate(rows):
        factor = row[column]
        if k != i and factor:
            rows[k] = [a - factor * b if b else a for a, b in zip(row, own, strict=True)]


def _solved(rows: list[list[Any]], basic: list[int], n: int, count: int) -> Solution:
    z = [0 * rows[0][-1]] * n
    for row, variable in zip(rows, basic, strict=True):
        if n <= variable < 2 * n:
            z[variable - n] = row[-1]
    return Solution(tuple(n + i in basic for i in range(n)), z, count)
