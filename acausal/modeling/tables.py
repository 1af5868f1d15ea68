"""What may be wrong with the tables that components are given: checks for `Structural` fields."""

from __future__ import annotations

from typing import Any

from .fields import is_finite, shown


def points_problem(table: Any) -> str:
    """Return what is wrong with rows (x, y) of a table with ascending x, "" if nothing is."""
    if not isinstance(table, tuple) or not table:
        return f"needs at least one row (x, y), got {shown(table)}"
    for row in table:
        if not isinstance(row, tuple) or len(row) != 2 or not all(map(_is_number, row)):
            return f"needs rows of two finite numbers (x, y), got {shown(row)}"
    return _order_problem(tuple(x for x, _ in table))


def times_problem(table: Any) -> str:
    """Return what is wrong with ascending times, "" if nothing is."""
    if not isinstance(table, tuple):
        return f"needs a sequence of times, got {shown(table)}"
    for t in table:
        if not _is_number(t):
            return f"needs finite times, got {shown(t)}"
    return _order_problem(table)


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and is_finite(value)


def _order_problem(points: tuple[Any, ...]) -> str:
    for a, b in zip(points, points[1:], strict=False):
        if b < a:
            return f"must ascend, but {float(b):g} follows {float(a):g}"
    return ""
