"""Dimension check on expressions: both sides of an equation, and of a sum, must agree.

A number written in an equation takes any dimension in a sum and none in a
product; a field without unit is not checked.
"""

from __future__ import annotations

from ..errors import UnitError
from .expressions import RELATIONS, Expr, Symbol, fold
from .units import DIMENSIONLESS, Dimension, parse_unit, power_of, product

ANY = "any"
"""Dimension of a literal: fits every sum."""
Inferred = Dimension | str | None
_SECOND = parse_unit("s")
_PLAIN = frozenset({"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log"})
_SAME = frozenset({"+", "-", "min", "max", "mod"}) | RELATIONS


def check_equation(lhs: Expr, rhs: Expr) -> None:
    """Raise UnitError when the two sides have different dimensions."""
    _agree(dimension(lhs), dimension(rhs), lhs, rhs)


def dimension(expr: Expr) -> Inferred:
    """Return the dimension of an expression, ``ANY`` for literals, None if unknown."""
    return fold(expr, _leaf, _apply)


def _leaf(node: Expr) -> Inferred:
    if isinstance(node, Symbol):
        return parse_unit(node.field.unit)
    return _SECOND if node.op == "time" else ANY if node.op == "const" else None


def _agree(a: Inferred, b: Inferred, left: Expr, right: Expr) -> Inferred:
    if a is None or b is None:
        return None
    if a == ANY or b == ANY:
        return b if a == ANY else a
    if a != b:
        raise UnitError(
            f"`{left}` has dimension {describe(a)} and `{right}` has dimension {describe(b)}",
            hint="check the units of the fields; a field without unit is not checked",
        )
    return a


def _apply(node: Expr, args: list[Inferred]) -> Inferred:
    op = node.op
    if op in _SAME:
        common = _agree(args[0], args[1], node.args[0], node.args[1])
        return None if op in RELATIONS else common
    if op in ("*", "/"):
        a, b = (DIMENSIONLESS if x == ANY else x for x in args)
        if a is None or b is None:
            return None
        both = args == [ANY, ANY]
        nothing = op == "*" and any(n.op == "const" and n.data == 0 for n in node.args)
        return ANY if both or nothing else product(a, b, 1 if op == "*" else -1)  # type: ignore[arg-type]
    if op == "der":
        return None if args[0] is None else product(args[0], _SECOND, -1)  # type: ignore[arg-type]
    if op == "if_else":
        return _agree(args[1], args[2], node.args[1], node.args[2])
    if op == "**":
        return _power(args[0], node.args[1])
    if op == "sqrt":
        return args[0] if args[0] in (None, ANY) else power_of(args[0], 0.5)  # type: ignore[arg-type]
    if op in _PLAIN:
        _agree(args[0], DIMENSIONLESS, node.args[0], node)
        return DIMENSIONLESS
    return args[0] if op in ("neg", "abs", "pre", "no_event", "floor") else None


def _power(base: Inferred, exponent: Expr) -> Inferred:
    if base is None or base == ANY or exponent.op != "const":
        return base if base == DIMENSIONLESS else None
    return power_of(base, exponent.data)  # type: ignore[arg-type]


def describe(dim: Dimension | str) -> str:
    """Return a dimension as a product of base units."""
    if isinstance(dim, str):
        return dim
    parts = [
        f"{n}{e if e != 1 else ''}"
        for n, e in zip(("m", "kg", "s", "A", "K", "mol", "cd"), dim, strict=True)
        if e
    ]
    return ".".join(parts) or "1"
