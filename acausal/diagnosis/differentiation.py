"""Total time derivatives of expressions, for equations that are differentiated."""

from __future__ import annotations

from collections.abc import Callable

from ..modeling.expressions import Expr, Symbol, constant, fold
from .algebra import simplified_product, total

ONE, ZERO, TWO = constant(1.0), constant(0.0), constant(2.0)

_OUTER: dict[str, Callable[[Expr], Expr]] = {
    "sin": lambda x: Expr("cos", (x,)),
    "cos": lambda x: -Expr("sin", (x,)),
    "tan": lambda x: ONE + Expr("tan", (x,)) ** TWO,
    "asin": lambda x: ONE / Expr("sqrt", (ONE - x**TWO,)),
    "acos": lambda x: -ONE / Expr("sqrt", (ONE - x**TWO,)),
    "atan": lambda x: ONE / (ONE + x**TWO),
    "sinh": lambda x: Expr("cosh", (x,)),
    "cosh": lambda x: Expr("sinh", (x,)),
    "tanh": lambda x: ONE - Expr("tanh", (x,)) ** TWO,
    "exp": lambda x: Expr("exp", (x,)),
    "log": lambda x: ONE / x,
    "sqrt": lambda x: ONE / (TWO * Expr("sqrt", (x,))),
}
"""Derivatives of functions of one argument."""


def time_derivative(expr: Expr, slope: Callable[[Symbol], Expr]) -> Expr | None:
    """Return the time derivative of an expression, None where a function in it has none here.

    Parameters
    ----------
    slope : callable
        Time derivative of a symbol.
    """
    missing = object()

    def leaf(node: Expr) -> object:
        return slope(node) if isinstance(node, Symbol) else ZERO

    def apply(node: Expr, args: list[object]) -> object:
        if any(a is missing for a in args):
            return missing
        inner = [a for a in args if isinstance(a, Expr)]
        found = _rule(node, inner)
        return missing if found is None else found

    found = fold(expr, leaf, apply)
    return found if isinstance(found, Expr) else None


def _rule(node: Expr, slopes: list[Expr]) -> Expr | None:
    op, args = node.op, node.args
    if op in ("<", "<=", ">", ">=", "==", "!=", "pre") or all(_is_zero(s) for s in slopes):
        return ZERO
    if op in ("+", "-"):
        return total([(1, slopes[0]), (1 if op == "+" else -1, slopes[1])])
    if op == "neg":
        return total([(-1, slopes[0])])
    if op == "*":
        return total(
            [(1, simplified_product(slopes[0], args[1])), (1, simplified_product(args[0], slopes[1]))]
        )
    if op == "/":
        above = total([(1, slopes[0]), (-1, simplified_product(node, slopes[1]))])
        return above / args[1]
    if op == "**" and args[1].op == "const":
        power = args[1].data
        base = args[0] if power == 2 else args[0] ** constant(power - 1)
        return simplified_product(simplified_product(constant(float(power)), base), slopes[0])
    if op == "if_else":
        return Expr("if_else", (args[0], *slopes[1:]))
    if op in ("no_event", "homotopy"):
        return slopes[0]
    return simplified_product(_OUTER[op](args[0]), slopes[0]) if op in _OUTER else None


def _is_zero(expr: Expr) -> bool:
    return expr.op == "const" and expr.data == 0
