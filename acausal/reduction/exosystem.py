"""Known functions of time as states of an exosystem: constants, polynomials, sinusoids, exponentials.

A term's states are its value and its derivatives, so that a change of
amplitude, phase or piece changes states only, never the generator.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..flattening.forms import ZERO, has_time
from ..modeling.expressions import Expr, constant
from .template_forms import polynomial_degree

PIECE_DEGREE = 12
"""Degree of the Chebyshev pieces of a general function of time."""


@dataclass(frozen=True, eq=False)
class Term:
    """One additive part of a known expression.

    ``kind``: "polynomial" (``degree``), "sinusoid" (``rate`` is the angular frequency),
    "exponential" (``rate``) or "pieces" (any smooth function).
    """

    kind: str
    expr: Expr
    degree: int = 0
    rate: Expr | None = None

    @property
    def states(self) -> int:
        """Number of exosystem states of the term."""
        return {"polynomial": self.degree + 1, "sinusoid": 2, "exponential": 1, "pieces": PIECE_DEGREE + 1}[
            self.kind
        ]


def decompose(expr: Expr) -> list[Term]:
    """Return the terms of an expression of time, parameters, discretes and frozen relations."""
    degree = polynomial_degree(expr)
    if degree is not None and degree <= PIECE_DEGREE:
        return [Term("polynomial", expr, degree)]
    op, args = expr.op, expr.args
    if op in ("+", "-"):
        right = decompose(args[1])
        return _merge(decompose(args[0]) + (right if op == "+" else [_with(t, -t.expr) for t in right]))
    if op == "neg":
        return [_with(t, -t.expr) for t in decompose(args[0])]
    if op == "*" and not (has_time(args[0]) and has_time(args[1])):
        factor, other = (args[0], args[1]) if has_time(args[1]) else (args[1], args[0])
        return [_with(t, factor * t.expr) for t in decompose(other)]
    if op == "/" and not has_time(args[1]):
        return [_with(t, t.expr / args[1]) for t in decompose(args[0])]
    if op == "if_else":
        chosen = [_with(t, Expr("if_else", (args[0], t.expr, ZERO))) for t in decompose(args[1])]
        other = [_with(t, Expr("if_else", (args[0], ZERO, t.expr))) for t in decompose(args[2])]
        return _merge(chosen + other)
    if op in ("sin", "cos", "exp"):
        rate = slope(args[0])
        if rate is not None:
            return [Term("exponential" if op == "exp" else "sinusoid", expr, rate=rate)]
    return [Term("pieces", expr)]


def _with(term: Term, expr: Expr) -> Term:
    return Term(term.kind, expr, term.degree, term.rate)


def _merge(terms: list[Term]) -> list[Term]:
    """Add up polynomials into one term, and sinusoids or exponentials of one rate expression."""
    merged: list[Term] = []
    for t in terms:
        for k, m in enumerate(merged):
            if m.kind == t.kind and (t.kind == "polynomial" or t.rate is m.rate):
                merged[k] = Term(t.kind, m.expr + t.expr, max(m.degree, t.degree), t.rate)
                break
        else:
            merged.append(t)
    return merged


def slope(expr: Expr) -> Expr | None:
    """Return d/dt of an expression that is affine in time with timeless factors, else None."""
    if not has_time(expr):
        return constant(0.0)
    op, args = expr.op, expr.args
    if op == "time":
        return constant(1.0)
    if op in ("+", "-"):
        a, b = slope(args[0]), slope(args[1])
        return None if a is None or b is None else Expr(op, (a, b))
    if op == "neg":
        a = slope(args[0])
        return None if a is None else -a
    if op in ("*", "/"):
        k = 0 if op == "/" or has_time(args[0]) else 1
        a = slope(args[k])
        if a is None or has_time(args[1 - k]):
            return None
        return Expr(op, (a, args[1])) if k == 0 else args[0] * a
    return None
