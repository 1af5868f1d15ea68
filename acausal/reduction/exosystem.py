"""Known functions of time as states of an exosystem: constants, polynomials, sinusoids, exponentials.

A term's states are its value and its derivatives, so that a change of
amplitude, phase or piece changes states only, never the generator.
"""

from __future__ import annotations

from ..flattening.forms import ONE, ZERO, Activity, number_of
from ..modeling.expressions import Expr, constant, fold, walk
from ..values import frozen
from .template_forms import polynomial_degrees

PIECE_DEGREE = 12
"""Degree of the Chebyshev pieces of a general function of time."""
MOST_RATES = 100
"""Sinusoids and exponentials of different rates, and general functions, of one known expression that have states of their own."""


@frozen
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


@frozen
class _Share:
    """How a part enters the whole: ``factor`` times it while ``chosen`` holds; None is 1 and always."""

    factor: Expr | None
    chosen: Expr | None

    def scaled(self, op: str, by: Expr) -> _Share:
        if op == "*" and self.factor is None:
            return _Share(by, self.chosen)
        return _Share(Expr(op, (constant(1.0) if self.factor is None else self.factor, by)), self.chosen)

    def negated(self) -> _Share:
        return _Share(constant(-1.0) if self.factor is None else -self.factor, self.chosen)

    def while_(self, condition: Expr) -> _Share:
        return _Share(
            self.factor, condition if self.chosen is None else Expr("and", (self.chosen, condition))
        )

    def of(self, part: Expr) -> Expr:
        """The contribution of a part; where it is not chosen it may be infinite, and counts as zero."""
        value = part if self.factor is None else self.factor * part
        return value if self.chosen is None else Expr("if_else", (self.chosen, value, ZERO))

    def __add__(self, other: _Share) -> _Share:
        a, b = self.chosen, other.chosen
        chosen = None if a is None or b is None else Expr("or", (a, b))
        return _Share(self.of(constant(1.0)) + other.of(constant(1.0)), chosen)


def decompose(expr: Expr) -> list[Term]:
    """Return the terms of an expression of time, parameters, discretes and frozen relations.

    A part that is used several times becomes one term with the sum of its factors, so the work is
    proportional to the number of different parts, not to the number of paths to them.
    """
    active = Activity(expr)
    degrees = polynomial_degrees(expr, active)
    slopes: dict[int, Expr | None] = {}
    share = {id(expr): _Share(None, None)}
    terms: list[Term] = []

    def give(part: Expr, new: _Share) -> None:
        share[id(part)] = share[id(part)] + new if id(part) in share else new

    for node in reversed(list(walk(expr))):
        own = share.get(id(node))
        if own is None:
            continue
        op, args, degree = node.op, node.args, degrees[id(node)]
        if degree is not None and degree <= PIECE_DEGREE:
            terms.append(Term("polynomial", own.of(node), degree))
        elif op in ("+", "-"):
            give(args[0], own)
            give(args[1], own if op == "+" else own.negated())
        elif op == "neg":
            give(args[0], own.negated())
        elif op == "*" and not all(map(active.has_time, args)):
            k = 0 if active.has_time(args[0]) else 1
            give(args[k], own.scaled("*", args[1 - k]))
        elif op == "/" and not active.has_time(args[1]):
            give(args[0], own.scaled("/", args[1]))
        elif op == "if_else":
            give(args[1], own.while_(args[0]))
            give(args[2], own.while_(Expr("not", (args[0],))))
        elif op in ("sin", "cos", "exp") and (rate := _slope(args[0], active, slopes)) is not None:
            kind = "exponential" if op == "exp" else "sinusoid"
            terms.append(Term(kind, own.of(node), rate=rate))
        else:
            terms.append(Term("pieces", own.of(node)))
    return _merge(terms[::-1])


def _merge(terms: list[Term]) -> list[Term]:
    """Add up polynomials into one term, and sinusoids or exponentials of equal rates.

    Many terms with a rate of their own, or general ones, are one general function: the work of closed forms grows with the
    square of their states.
    """
    numbers: dict[object, int] = {}
    keys: list[tuple[object, ...]] = []
    rates: dict[tuple[object, ...], None] = {}
    for k, t in enumerate(terms):
        if t.kind == "polynomial":
            keys.append((t.kind,))
        elif len(rates) > MOST_RATES:
            keys.append(("pieces",))
        else:
            keys.append((t.kind, k if t.rate is None else number_of(t.rate, numbers)))
            rates[keys[-1]] = None
    if len(rates) > MOST_RATES:
        keys = [key if t.kind == "polynomial" else ("pieces",) for key, t in zip(keys, terms, strict=True)]
    merged: dict[tuple[object, ...], Term] = {}
    for key, t in zip(keys, terms, strict=True):
        m = merged.get(key)
        rate = t.rate if key[0] == t.kind else None
        merged[key] = Term(
            str(key[0]),
            t.expr if m is None else m.expr + t.expr,
            t.degree if m is None else max(m.degree, t.degree),
            rate,
        )
    return list(merged.values())


def _slope(expr: Expr, active: Activity, known: dict[int, Expr | None]) -> Expr | None:
    """Return d/dt of an expression that is affine in time with timeless factors, else None."""

    def apply(node: Expr, slopes: list[Expr | None]) -> Expr | None:
        op, args = node.op, node.args
        if op in ("+", "-") and slopes[0] is not None and slopes[1] is not None:
            return Expr(op, (slopes[0], slopes[1]))
        if op == "neg" and slopes[0] is not None:
            return -slopes[0]
        if op in ("*", "/"):
            k = 0 if op == "/" or active.has_time(args[0]) else 1
            a = slopes[k]
            if a is None or active.has_time(args[1 - k]):
                return None
            return Expr(op, (a, args[1])) if k == 0 else args[0] * a
        return None

    def timeless(node: Expr) -> Expr | None:
        return None if active.has_time(node) else ZERO

    return fold(expr, lambda node: ONE if node.op == "time" else ZERO, apply, timeless, known)
