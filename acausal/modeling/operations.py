"""Kinds of operations in expressions."""

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
