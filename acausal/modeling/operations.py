"""Kinds of operations in expressions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

RELATIONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
BOOLEANS = RELATIONS | {"and", "or", "not", "xor", "edge", "change", "sample", "initial", "terminal", "true"}

_MARKED = (
    "v", "d", "enum", "time", "der", "pre", "no_event", "homotopy", "sample", "initial", "terminal", "edge", "change",
    "floor", "mod", "table", "lookup", "piece", "min", "max", "abs", "sign", "slope",
)  # fmt: skip
MARKS = {**dict.fromkeys(RELATIONS, 1), **{op: 2 << k for k, op in enumerate(_MARKED)}}
"""Bits of the operations that someone looks for; "v" are variables, "d" discretes, "enum" what takes members of an enum."""


def marks(*ops: str) -> int:
    """Return the bits of some operations: an expression has none of them where ``expr.marks & marks(...)`` is zero."""
    found = 0
    for op in ops:
        found |= MARKS[op]
    return found


UFUNCS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "power": operator.pow, "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "negative": operator.neg, "absolute": abs,
}  # fmt: skip

ARITHMETIC: dict[str, Callable[..., Any]] = {
    op: UFUNCS[name]
    for op, name in (("+", "add"), ("-", "subtract"), ("*", "multiply"), ("/", "divide"), ("**", "power"), ("neg", "negative"))
}  # fmt: skip
