"""Expressions without zeros, ones and double signs, as formulas are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from ..modeling.expressions import Expr, constant, fold, to_text


def product(factors: Sequence[Fraction | Expr]) -> Expr:
    """Return the product of a number and expressions, ones left out."""
    number, *rest = factors
    assert isinstance(number, Fraction)
    found: Expr | None = None if number == 1 and rest else constant(float(number))
    for factor in rest:
        assert isinstance(factor, Expr)
        found = factor if found is None else found * factor
    return constant(1.0) if found is None else found


def simplified_product(a: Expr, b: Expr) -> Expr:
    """Return ``a * b`` without factors of zero and one."""
    if a.op == "const" and a.data in (0, 1):
        return a if a.data == 0 else b
    if b.op == "const" and b.data in (0, 1):
        return b if b.data == 0 else a
    return tidied("*", (a, b), None)


def tidied(op: str, args: Sequence[Expr], data: object) -> Expr:
    """Return an operation without zeros and double signs, as they stay behind where variables are replaced."""
    if op == "homotopy":
        return args[0]
    if op == "neg":
        return total([(-1, args[0])])
    if op in ("+", "-"):
        sign, (a, b) = 1 if op == "+" else -1, args
        if b.op == "neg" or _zero(a) or _zero(b):
            return total([(1, a), (sign, b)])
    elif op in ("*", "/"):
        a, b = args
        if _zero(a) or (op == "*" and _zero(b)):
            return constant(0.0)
        if (a.op == "neg") != (b.op == "neg"):
            return -Expr(op, (_bare(a), _bare(b)), data)
        return Expr(op, (_bare(a), _bare(b)), data)
    return Expr(op, tuple(args), data)


def _zero(expr: Expr) -> bool:
    return expr.op == "const" and expr.data == 0


def _bare(expr: Expr) -> Expr:
    return expr.args[0] if expr.op == "neg" else expr


def total(terms: Iterable[tuple[int, Expr]]) -> Expr:
    """Return the sum of signed expressions: zeros left out, no double signs, positive terms first."""
    made: list[tuple[int, Expr]] = []
    for sign, term in terms:
        while term.op == "neg":
            sign, term = -sign, term.args[0]
        if term.op == "const" and term.data < 0:
            sign, term = -sign, constant(-term.data)
        if not (term.op == "const" and term.data == 0):
            made.append((1 if sign > 0 else -1, term))
    found: Expr | None = None
    for sign, term in sorted(made, key=lambda t: -t[0]):
        if found is None:
            found = term if sign > 0 else -term
        else:
            found = found + term if sign > 0 else found - term
    return constant(0.0) if found is None else found


def shown(expr: Expr) -> str:
    """Return an expression as text, with minimum, maximum and absolute value where choices stand for them."""

    def apply(node: Expr, args: list[Expr]) -> Expr:
        if node.op == "if_else" and node.args[0].op == "<":
            (a, b), first, second = node.args[0].args, node.args[1], node.args[2]
            if first is a and second is b:
                return Expr("minimum", (args[1], args[2]))
            if first is b and second is a:
                return Expr("maximum", (args[2], args[1]))
            if second is a and first.op == "neg" and first.args[0] is a:
                return Expr("absolute", (args[2],))
        return Expr(node.op, tuple(args), node.data)

    return to_text(fold(expr, lambda node: node, apply))
