"""What sums, multiples and products of signals are made of: their terms, names and units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from ..values import frozen

S = TypeVar("S")


@frozen
class Operand(Generic[S]):
    """An operand or an outcome: a sum of sources with factors and a constant, or a product of two.

    ``composed`` marks an operand that is a sum of several terms itself.
    """

    parts: tuple[tuple[float, S], ...]
    constant: float
    name: str
    unit: str
    composed: bool = False
    product: tuple[Operand[S], Operand[S]] | None = None

    @property
    def factor(self) -> str:
        """The name as a factor, in parentheses where it is a sum."""
        return f"({self.name})" if self.composed else self.name


Term = Operand[S] | float


def combined(operation: str, terms: Sequence[Term[S]]) -> Operand[S] | None:
    """Return a sum, a multiple or a product of terms; None for other operations.

    ``operation`` is the name of a ufunc of numpy; at least one term is no number.
    """
    rule = _RULES.get(operation)
    return None if rule is None else rule(*terms)


def _sum(a: Term[Any], b: Term[Any], sign: float, word: str) -> Operand[Any]:
    terms = [(1.0, a), (sign, b)]
    parts = tuple((f * g, s) for f, x in terms if isinstance(x, Operand) for g, s in x.parts)
    constant = sum(f * x for f, x in terms if not isinstance(x, Operand))
    units = {x.unit for _, x in terms if isinstance(x, Operand)}
    right = b.factor if sign < 0.0 and isinstance(b, Operand) else _name(b)
    unit = units.pop() if len(units) == 1 else ""
    return Operand(parts, constant, f"{_name(a)} {word} {right}", unit)


def _multiple(term: Operand[Any], factor: float, name: str) -> Operand[Any]:
    return Operand(tuple((factor * f, s) for f, s in term.parts), 0.0, name, term.unit)


def _product(a: Term[Any], b: Term[Any]) -> Operand[Any]:
    if isinstance(a, Operand) and isinstance(b, Operand):
        unit = f"{a.unit}.{b.unit}" if a.unit and b.unit else a.unit or b.unit
        return Operand((), 0.0, f"{a.factor}*{b.factor}", unit, product=(a, b))
    term, factor = (a, b) if isinstance(a, Operand) else (b, a)
    assert isinstance(term, Operand) and not isinstance(factor, Operand)
    return _multiple(term, factor, f"{factor:g}*{term.factor}")


def _quotient(a: Term[Any], b: Term[Any]) -> Operand[Any] | None:
    if isinstance(b, Operand) or not b or not isinstance(a, Operand):
        return None
    return _multiple(a, 1.0 / b, f"{a.factor}/{b:g}")


def _power(a: Term[Any], b: Term[Any]) -> Operand[Any] | None:
    return _product(a, a) if isinstance(a, Operand) and not isinstance(b, Operand) and b == 2.0 else None


def _name(x: Term[Any]) -> str:
    return x.name if isinstance(x, Operand) else f"{x:g}"


_RULES: dict[str, Callable[..., Operand[Any] | None]] = {
    "add": lambda a, b: _sum(a, b, 1.0, "+"),
    "subtract": lambda a, b: _sum(a, b, -1.0, "-"),
    "multiply": _product,
    "divide": _quotient,
    "square": lambda a: _product(a, a),
    "power": _power,
    "negative": lambda a: _multiple(a, -1.0, f"-{a.factor}"),
    "positive": lambda a: a,
}
