"""What may be wrong with the tables that components are given: checks for `Structural` fields."""

from __future__ import annotations

from typing import Any

from .number_checks import is_finite, shown


def points_problem(table: Any) -> str:
    """Return what is wrong with rows (x, y) of a table over time, "" if nothing is.

    The x ascend; two equal ones make a step.
    """
    return rows_problem(table) or order_problem(tuple(x for x, _ in table), steps=True)


def curve_problem(table: Any) -> str:
    """Return what is wrong with rows (x, y) of a characteristic, a function of x, "" if nothing is.

    The x ascend strictly: at a repeated one the function would have two values.
    """
    return rows_problem(table) or order_problem(tuple(x for x, _ in table))


def times_problem(table: Any) -> str:
    """Return what is wrong with ascending times, "" if nothing is."""
    if not isinstance(table, tuple):
        return f"needs a sequence of times, got {shown(table)}"
    for t in table:
        if not _is_number(t):
            return f"needs finite times, got {shown(t)}"
    return order_problem(table, steps=True)


def rows_problem(table: Any) -> str:
    """Return what is wrong with the shape of rows (x, y) or with their numbers, "" if nothing is."""
    if not isinstance(table, tuple) or not table:
        return f"needs at least one row (x, y), got {shown(table)}"
    for row in table:
        if not isinstance(row, tuple) or len(row) != 2 or not all(map(_is_number, row)):
            return f"needs rows of two finite numbers (x, y), got {shown(row)}"
    return ""


def order_problem(points: tuple[Any, ...], *, steps: bool = False) -> str:
    """Return where points do not ascend, "" if they do.

    Parameters
    ----------
    points : tuple of numbers
    steps : bool
        Two equal points are a step; else every point must be above the one before.
    """
    for k, (a, b) in enumerate(zip(points, points[1:], strict=False), 1):
        if b < a:
            return f"must ascend, but {float(b):g} follows {float(a):g}"
        if b == a and not steps:
            return f"must ascend strictly, but {float(a):g} occurs twice"
        if b == a and k + 1 < len(points) and points[k + 1] == a:
            return f"must ascend, but {float(a):g} occurs more than twice"
    return ""


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and is_finite(value)
