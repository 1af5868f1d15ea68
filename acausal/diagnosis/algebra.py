"""Expressions without zeros, ones and double signs, as formulas are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import isfinite

from ..modeling.evaluation import FUNCTIONS
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
    return tidied("*", (a, b), None)


def tidied(op: str, args: Sequence[Expr], data: object) -> Expr:
    """Return an operation without zeros, factors of one and double signs; literal numbers are put together.

    A quotient of numbers stays where it is no short decimal, and so does a function of them where it is no whole number.
    """
    if op == "homotopy":
        return args[0]
    if op == "neg":
        return total([(-1, args[0])])
    if args and all(a.op == "const" for a in args):
        number = _number(op, [a.data for a in args])
        if number is not None:
            return constant(number)
    if op in ("+", "-"):
        sign, (a, b) = 1 if op == "+" else -1, args
        if b.op == "neg" or _is(a, 0) or _is(b, 0):
            return total([(1, a), (sign, b)])
    elif op == "*":
        return _signed_product(*args)
    elif op == "/" and _is(args[0], 0):
        return args[0]
    elif op in ("/", "**") and _is(args[1], 1):
        return args[0]
    elif op == "/" and (args[0].op == "neg") != (args[1].op == "neg"):
        return -Expr(op, (_bare(args[0]), _bare(args[1])), data)
    elif op == "/":
        return Expr(op, (_bare(args[0]), _bare(args[1])), data)
    return Expr(op, tuple(args), data)


def with_numbers(op: str, args: Sequence[Expr], known: Sequence[float | None]) -> list[Expr]:
    """Return the arguments of an operation, those with a ``known`` value as a number where that says more.

    That is a factor of zero, several quantities that are one as a factor or zero as a term, and long ones; a single
    parameter tells more by its name.
    """

    def chosen(a: Expr, value: float | None) -> Expr:
        if value is None or not isfinite(value):
            return a
        several = bool(a.args)
        zero = value == 0 and (op == "*" or (op == "/" and a is args[0]) or (several and op in ("+", "-")))
        one = value == 1 and several and op in ("*", "/")
        long = several and len(to_text(a)) > LONGEST_KNOWN
        return constant(float(f"{value:.10g}")) if zero or one or long else a

    return [chosen(a, value) for a, value in zip(args, known, strict=True)]


def without_idle_parts(expr: Expr) -> Expr:
    """Return an expression without what literal zeros and ones make idle, as in ``0*x + 1*y``."""

    def apply(node: Expr, args: list[Expr]) -> Expr:
        if node.op == "homotopy":
            return Expr(node.op, tuple(args), node.data)
        return tidied(node.op, args, node.data)

    return fold(expr, lambda node: node, apply)


_ARITHMETIC = ("+", "-", "*", "/", "**")
_OF_NUMBERS = (
    *_ARITHMETIC,
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "log",
    "sqrt",
)
LONGEST_KNOWN = 30
"""Characters of a known part beyond which its value says more."""
SHORT = 8
"""Characters of a quotient or power that is written as a decimal number."""


def _number(op: str, numbers: Sequence[float]) -> float | None:
    """The value of an operation on literal numbers, None for one that says more as it is written."""
    if op not in _OF_NUMBERS:
        return None
    try:
        value = float(FUNCTIONS[op](*numbers))
    except (ArithmeticError, ValueError, TypeError):  # a complex number is none of these
        return None
    short = len(repr(value)) <= SHORT if op in _ARITHMETIC else value == int(value)
    return value if short else None


def _signed_product(a: Expr, b: Expr) -> Expr:
    negative, (a, b) = (a.op == "neg") != (b.op == "neg"), (_bare(a), _bare(b))
    if _is(a, 0) or _is(b, 0):
        return constant(0.0)
    found = b if _is(a, 1) else a if _is(b, 1) else Expr("*", (a, b))
    return -found if negative else found


def _is(expr: Expr, number: int) -> bool:
    return expr.op == "const" and expr.data == number


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
