"""Dimension check on expressions: both sides of an equation, and of a sum, must agree.

A number written in an equation takes any dimension in a sum and none in a
product; a field without unit is not checked.
"""

from __future__ import annotations

from ..errors import UnitError
from .enums import check_enums
from .expressions import Expr, Symbol, fold, walk
from .operations import RELATIONS
from .units import DIMENSIONLESS, Dimension, named_unit, parse_unit, power_of, product

ANY = "any"
"""Dimension of a literal: fits every sum."""
NOTHING = "nothing"
"""Dimension of zero and its multiples: fits every sum, and stays what it is in products."""
Inferred = Dimension | str | None
_SECOND: Dimension = (0, 0, 1, 0, 0, 0, 0)
_PLAIN = frozenset({"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log"})
_SAME = frozenset({"+", "-", "min", "max", "mod"}) | RELATIONS


def check_equation(lhs: Expr, rhs: Expr) -> None:
    """Raise UnitError when the two sides, or parts of one, have different dimensions, ExpressionError for those of an enum."""
    check_enums(lhs, rhs)
    try:
        left, right = dimension(lhs), dimension(rhs)
    except UnitError as error:
        raise error.because(f"it stands in `Eq({lhs}, {rhs})`") from None
    ratio = _ratio(left, right)
    if ratio is None:
        return
    raise UnitError(
        f"the left side `{lhs}` is in {describe(left)}, the right side `{rhs}` in {describe(right)}",
        why=f"the sides of `Eq({lhs}, {rhs})` differ by a factor in {describe(ratio)}",
        hint=_hint(lhs, rhs),
    )


def dimension(expr: Expr) -> Inferred:
    """Return the dimension of an expression, ``ANY`` for literals, None if unknown."""
    return fold(expr, _leaf, _apply)


def _leaf(node: Expr) -> Inferred:
    if isinstance(node, Symbol):
        return parse_unit(node.field.unit)
    return _SECOND if node.op == "time" else (ANY if node.data else NOTHING) if node.op == "const" else None


def _ratio(a: Inferred, b: Inferred) -> Dimension | None:
    """What two known dimensions that differ differ by; None for others."""
    return product(a, b, -1) if isinstance(a, tuple) and isinstance(b, tuple) and a != b else None


def _agree(a: Inferred, b: Inferred, node: Expr, left: Expr, right: Expr) -> Inferred:
    """The common dimension of two operands of an operation."""
    if _ratio(a, b) is not None:
        raise UnitError(
            f"`{left}` in {describe(a)} and `{right}` in {describe(b)} are {_joined(node)}",
            hint=_hint(left, right),
        )
    return None if a is None or b is None else b if a == NOTHING or (a == ANY and b != NOTHING) else a


def _joined(node: Expr) -> str:
    words = {
        "+": "added",
        "-": "subtracted",
        "if_else": "branches of one choice",
        "atan2": "sides of one angle",
        "homotopy": "actual and simplified part of one homotopy",
    }
    return words.get(node.op, "compared")


def _plain(node: Expr, args: list[Inferred]) -> Dimension:
    """The dimension of a function of numbers without dimension."""
    for argument, found in zip(node.args, args, strict=True):
        if _ratio(found, DIMENSIONLESS) is not None:
            raise UnitError(
                f"the argument `{argument}` of `{node.op}(...)` is in {describe(found)}; it must be without unit",
                hint=f"divide it by a quantity in {describe(found)}; {_hint(argument)}",
            )
    return DIMENSIONLESS


def _hint(*sides: Expr) -> str:
    """What to look at; a number in a product is easily meant to have a unit."""
    fields = "check the units of the fields; a field without unit is not checked"
    numbers = {
        str(factor)
        for side in sides
        for node in walk(side)
        if node.op in ("*", "/")
        for factor in node.args
        if factor.op == "const"
    }
    named = ", ".join(sorted(numbers)[:3])
    return (
        f"{fields}; a number in a product has no unit: make {named} a Parameter with one" if named else fields
    )


def _apply(node: Expr, args: list[Inferred]) -> Inferred:
    op = node.op
    if op in _SAME:
        common = _agree(args[0], args[1], node, node.args[0], node.args[1])
        return None if op in RELATIONS else common
    if op in ("*", "/"):
        if args[0] == NOTHING or (op == "*" and args[1] == NOTHING):
            return NOTHING
        a, b = (DIMENSIONLESS if isinstance(x, str) else x for x in args)
        if a is None or b is None:
            return None
        return ANY if args == [ANY, ANY] else product(a, b, 1 if op == "*" else -1)
    if op == "der":
        return product(args[0], _SECOND, -1) if isinstance(args[0], tuple) else None
    if op == "homotopy":
        return _agree(args[0], dimension(node.data[0]), node, node.args[0], node.data[0])
    if op == "if_else":
        return _agree(args[1], args[2], node, node.args[1], node.args[2])
    if op == "**":
        return _power(args[0], node.args[1])
    if op == "sqrt":
        return power_of(args[0], 0.5) if isinstance(args[0], tuple) else args[0]
    if op in _PLAIN:
        return _plain(node, args)
    if op == "atan2":
        _agree(args[0], args[1], node, node.args[0], node.args[1])
        return DIMENSIONLESS
    return args[0] if op in ("neg", "abs", "pre", "no_event", "floor") else None


def _power(base: Inferred, exponent: Expr) -> Inferred:
    if not isinstance(base, tuple) or exponent.op != "const":
        return base if base == DIMENSIONLESS else None
    return power_of(base, exponent.data)


def describe(dim: Inferred) -> str:
    """Return a dimension as a named unit, if there is one, with the product of base units."""
    if dim is None or isinstance(dim, str):
        return "any unit"
    parts = [
        f"{n}{e if e != 1 else ''}"
        for n, e in zip(("m", "kg", "s", "A", "K", "mol", "cd"), dim, strict=True)
        if e
    ]
    base = ".".join(parts) or "1"
    name = named_unit(dim)
    return f"{name} ({base})" if name else base
