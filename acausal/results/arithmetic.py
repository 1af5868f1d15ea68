"""Functions of signals of one result: their sources, names, units and types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..modeling.expressions import enum_index
from ..modeling.number_checks import is_number
from ..values import frozen
from .corners import cut_as_followed, cut_at_turns
from .segments import ONE, Affine, Parts, Segments
from .segments import Term as Factors
from .sources import Source


class Elementwise(Source):
    """What sources of one result give together at every time."""

    def __init__(self, name: str, parts: tuple[Source, ...]) -> None:
        super().__init__(parts[0].result, name)
        self.parts, self.held = parts, all(s.held for s in parts)

    def of(self, values: list[Any]) -> Any:
        """The value for values of the parts."""
        raise NotImplementedError

    def within(self, segments: Segments, which: np.ndarray, hs: np.ndarray) -> np.ndarray:
        """Values at times since the starts of some segments."""
        return np.asarray(self.of([s.within(segments, which, hs) for s in self.parts]))

    def cut(self, parts: Parts) -> Parts:
        """Cut where panels of one of the sources have to begin."""
        for source in self.parts:
            parts = source.cut(parts)
        return parts

    def before(self) -> float:
        """Left limit at the start."""
        return float(self.of([np.array(s.before()) for s in self.parts]))

    def undetermined(self) -> np.ndarray:
        """Mask over ``t``: one of the signals is open."""
        return np.logical_or.reduce([s.undetermined() for s in self.parts])


class Function(Elementwise):
    """An output of a function of NumPy, whose arguments are numbers and, where these are None, the parts.

    It calculates with numbers of type ``kind``.
    """

    def __init__(
        self,
        name: str,
        parts: tuple[Source, ...],
        ufunc: np.ufunc,
        numbers: tuple[Any, ...],
        kind: type,
        output: int,
    ) -> None:
        super().__init__(name, parts)
        self.ufunc, self.numbers, self.kind, self.output = ufunc, numbers, kind, output

    def of(self, values: list[Any]) -> Any:
        """The value for values of the parts."""
        made = self.ufunc(*self._arguments(values))
        return made[self.output] if self.ufunc.nout > 1 else made

    def cut(self, parts: Parts) -> Parts:
        """Cut where an argument turns or vanishes too, and where two are equal: peaks, kinks and jumps lie there."""
        parts = super().cut(parts)
        if self.held or self.kind is not float:
            return parts
        segments = self.result.segments

        def arguments(which: np.ndarray, hs: np.ndarray) -> np.ndarray:
            values = self._arguments([s.within(segments, which, hs) for s in self.parts])
            found = [*values, np.subtract(*values)] if len(values) == 2 else values
            return np.column_stack([np.broadcast_to(x, hs.shape) for x in found])

        parts = cut_at_turns(arguments, parts)
        # Between jumps a Boolean has nothing to follow.
        steps = np.asarray(self.of([np.ones(1)] * len(self.parts))).dtype.kind != "f"
        return parts if steps else cut_as_followed(self.evaluate, parts)

    def _arguments(self, values: list[Any]) -> list[Any]:
        given = iter(values)
        return [np.asarray(next(given) if x is None else x).astype(self.kind) for x in self.numbers]


class Combination(Elementwise):
    """Sum of sources with factors, and a constant."""

    def __init__(
        self, name: str, parts: tuple[Source, ...], factors: tuple[float, ...], constant: float
    ) -> None:
        super().__init__(name, parts)
        self.factors, self.constant = factors, constant

    def of(self, values: list[Any]) -> Any:
        """The value for values of the parts."""
        return sum(f * v for f, v in zip(self.factors, values, strict=True)) + self.constant

    def affine(self) -> Affine | None:
        """The values as an affine expression; None if a part is none."""
        total: Affine | None = Affine({}, self.constant)
        for factor, source in zip(self.factors, self.parts, strict=True):
            part = source.affine()
            total = total.plus(part, factor) if total and part else None
        return total

    def products(self, power: int) -> list[Factors] | None:
        """The value to a power as a sum of products of two affine expressions; None if it is none."""
        whole = super().products(power)
        if whole is not None or power != 1:
            return whole
        terms = [(self.constant, ONE, ONE)]
        for factor, source in zip(self.factors, self.parts, strict=True):
            found = source.products(1)
            if found is None:
                return None
            terms += [(factor * c, left, right) for c, left, right in found]
        return terms

    def power_integral(self, a: float, b: float, power: int) -> float:
        """Integral over [a, b] of the value to a power; that of a sum is the sum of those of its parts."""
        if self.held or power != 1 or self.products(1) is not None:
            return super().power_integral(a, b, power)
        parts = zip(self.factors, self.parts, strict=True)
        return self.constant * (b - a) + sum(f * s.power_integral(a, b, 1) for f, s in parts)


class Product(Elementwise):
    """Product of two sources."""

    def of(self, values: list[Any]) -> Any:
        """The value for values of the parts."""
        return values[0] * values[1]

    def products(self, power: int) -> list[Factors] | None:
        """The factors, for the first power."""
        left, right = (s.affine() for s in self.parts)
        return None if power != 1 or left is None or right is None else [(1.0, left, right)]


@frozen
class Operand:
    """An operand or an outcome.

    Attributes
    ----------
    source : Source
    name, unit : str
    kind : type
        bool, int or float.
    members : dict of int to str
        Names of the codes of an enumeration.
    composed : bool
        Whether the name needs parentheses beside another operation.
    """

    source: Source
    name: str
    unit: str = ""
    kind: type = float
    members: dict[int, str] | None = None
    composed: bool = False

    @property
    def factor(self) -> str:
        """The name beside another operation."""
        return f"({self.name})" if self.composed else self.name


Term = Operand | float | int | bool

BITS = frozenset({"bitwise_and", "bitwise_or", "bitwise_xor", "invert"})
"""What is done to the digits of whole numbers, and to Booleans."""
WHOLE = frozenset(
    {"negative", "positive", "absolute", "square", "add", "subtract", "multiply", "maximum", "minimum"}
)
"""What makes whole numbers of whole numbers."""
SAME_UNIT = frozenset(
    {"absolute", "maximum", "minimum", "remainder", "fmod", "floor", "ceil", "rint", "trunc"}
)
INFIX = {
    "divide": "/", "floor_divide": "//", "remainder": "%", "power": "**", "greater": ">", "greater_equal": ">=", "less": "<",
    "less_equal": "<=", "equal": "==", "not_equal": "!=", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^",
}  # fmt: skip


def combined(ufunc: np.ufunc, terms: Sequence[Term]) -> tuple[Operand, ...]:
    """Return what an elementwise function of NumPy makes of signals of one result and numbers: one signal per output.

    Raises
    ------
    ParameterError
        If the function has no meaning for them.
    """
    if ufunc.signature is not None:
        raise ParameterError(f"numpy.{ufunc.__name__} has no meaning for {_names(terms)}")
    rule = _RULES.get(ufunc.__name__)
    found = rule(*terms) if rule else None
    return (found,) if found else _elementwise(ufunc, terms)


def with_codes(ufunc: np.ufunc, terms: Sequence[Any]) -> list[Any]:
    """Return the operands with the codes of members of an enum, or of their names, in the place of these.

    Raises
    ------
    ParameterError
        Unless members are compared for equality, with each other.
    """
    named = [t for t in terms if isinstance(t, Operand) and t.members]
    if not named:
        return list(terms)
    own = named[0].members or {}
    if ufunc.__name__ not in ("equal", "not_equal"):
        raise ParameterError(
            f"`{named[0].name}` takes {', '.join(own.values())}, which are names: numpy.{ufunc.__name__} has no meaning for them",
            hint=f'compare it, == "{next(iter(own.values()))}"; its codes are in `signal.values`',
        )
    if any(t.members != own for t in terms if isinstance(t, Operand)):
        raise ParameterError(f"{_names(terms)} are not of one enumeration and never equal")
    return [_code(own, t) for t in terms]


def _code(members: dict[int, str], value: Any) -> Any:
    if not isinstance(value, (Enum, str)):
        return value
    name = value.name if isinstance(value, Enum) else value
    code = next((k for k, known in members.items() if known == name), None)
    if code is None or (isinstance(value, Enum) and enum_index(value) != code):
        raise ParameterError(f"{value!r} is none of {', '.join(members.values())}")
    return code


def number(value: Any) -> float | int | bool | None:
    """Return a real number or Boolean as one of Python's; None for what is none."""
    if isinstance(value, np.ndarray) and not value.ndim:
        value = value[()]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if not is_number(value) or isinstance(value, np.complexfloating):
        return None
    return int(value) if isinstance(value, (int, np.integer)) else float(value)


def _kind(term: Term) -> type:
    return term.kind if isinstance(term, Operand) else type(term)


def _whole(terms: Sequence[Term]) -> type:
    """Type of a sum or product of terms: int where all of them are whole."""
    return float if any(_kind(t) is float for t in terms) else int


def _elementwise(ufunc: np.ufunc, terms: Sequence[Term]) -> tuple[Operand, ...]:
    """A function at the values of signals; numbers in their places."""
    # Whole numbers are floats in arithmetic, which knows what a division by zero is.
    kinds = [_kind(t) for t in terms]
    bits = ufunc.__name__ in BITS and float not in kinds
    as_type = (bool if set(kinds) == {bool} else np.int64) if bits else float
    try:
        with np.errstate(all="ignore"):
            made = ufunc(*(np.ones(1, as_type) for _ in terms))
    except TypeError as error:
        raise ParameterError(f"numpy.{ufunc.__name__} has no meaning for {_names(terms)}") from error
    parts = tuple(t.source for t in terms if isinstance(t, Operand))
    numbers = tuple(None if isinstance(t, Operand) else t for t in terms)
    unit, (name, composed) = _unit(ufunc.__name__, terms), _written(ufunc.__name__, terms)
    found = []
    for k, out in enumerate(made if ufunc.nout > 1 else (made,)):
        kind = {"b": bool, "i": int}.get(out.dtype.kind, float)
        kind = _whole(terms) if ufunc.__name__ in WHOLE else kind
        own = f"{name}[{k}]" if ufunc.nout > 1 else name
        source = Function(own, parts, ufunc, numbers, as_type, k)
        found.append(Operand(source, own, unit, kind, composed=composed))
    return tuple(found)


def _names(terms: Sequence[Term]) -> str:
    return " and ".join(f"`{_name(t)}`" for t in terms)


def _written(operation: str, terms: Sequence[Term]) -> tuple[str, bool]:
    """The name of a function of terms, and whether it needs parentheses beside another operation."""
    sides = [t.factor if isinstance(t, Operand) else _name(t) for t in terms]
    if operation == "invert":
        return f"~{sides[0]}", False
    if operation in INFIX and len(sides) == 2:
        return f" {INFIX[operation]} ".join(sides), True
    return f"{operation}({', '.join(map(_name, terms))})", False


def _unit(operation: str, terms: Sequence[Term]) -> str:
    """The unit of a function, "" where it has none or it cannot be told."""
    units = {t.unit for t in terms if isinstance(t, Operand)}
    if operation in SAME_UNIT:
        return units.pop() if len(units) == 1 else ""
    if operation != "divide":
        return ""
    left, right = (t.unit if isinstance(t, Operand) else "" for t in terms)
    if not right or right == "1":
        return left
    return f"{left or '1'}/{right}" if not {"/", "."} & set(right) and "/" not in left else ""


def _linear(
    parts: Sequence[tuple[float, Operand]], constant: float, name: str, unit: str, kind: type, composed: bool
) -> Operand:
    """Operands with factors, and a constant."""
    source = parts[0][1].source
    if len(parts) > 1 or parts[0][0] != 1.0 or constant:
        factors, sources = zip(*((float(f), x.source) for f, x in parts), strict=True)
        source = Combination(name, sources, factors, float(constant))
    return Operand(source, name, unit, kind, composed=composed)


def _sum(a: Term, b: Term, sign: int, word: str) -> Operand:
    terms = [(1, a), (sign, b)]
    parts = [(f, x) for f, x in terms if isinstance(x, Operand)]
    constant = sum(f * x for f, x in terms if not isinstance(x, Operand))
    units = {x.unit for _, x in parts}
    right = b.factor if sign < 0 and isinstance(b, Operand) else _name(b)
    unit = units.pop() if len(units) == 1 else ""
    return _linear(parts, constant, f"{_name(a)} {word} {right}", unit, _whole((a, b)), True)


def _product(a: Term, b: Term) -> Operand:
    kind = _whole((a, b))
    if isinstance(a, Operand) and isinstance(b, Operand):
        unit = f"{a.unit}.{b.unit}" if a.unit and b.unit else a.unit or b.unit
        name = f"{a.factor}*{b.factor}"
        return Operand(Product(name, (a.source, b.source)), name, unit, kind)
    term, factor = (a, b) if isinstance(a, Operand) else (b, a)
    assert isinstance(term, Operand) and not isinstance(factor, Operand)
    return _linear([(factor, term)], 0.0, f"{factor:g}*{term.factor}", term.unit, kind, False)


def _quotient(a: Term, b: Term) -> Operand | None:
    if isinstance(b, Operand) or not b or not isinstance(a, Operand):
        return None
    return _linear([(1.0 / b, a)], 0.0, f"{a.factor}/{b:g}", a.unit, float, False)


def _power(a: Term, b: Term) -> Operand | None:
    return _product(a, a) if isinstance(a, Operand) and not isinstance(b, Operand) and b == 2 else None


def _negative(a: Term) -> Operand:
    assert isinstance(a, Operand)
    return _linear([(-1.0, a)], 0.0, f"-{a.factor}", a.unit, _whole((a,)), False)


def _positive(a: Term) -> Operand:
    assert isinstance(a, Operand)
    return _linear([(1.0, a)], 0.0, a.name, a.unit, _whole((a,)), a.composed)


def _name(x: Term) -> str:
    return x.name if isinstance(x, Operand) else str(x) if isinstance(x, bool) else f"{x:g}"


_RULES: dict[str, Callable[..., Operand | None]] = {
    "add": lambda a, b: _sum(a, b, 1, "+"),
    "subtract": lambda a, b: _sum(a, b, -1, "-"),
    "multiply": _product,
    "divide": _quotient,
    "square": lambda a: _product(a, a),
    "power": _power,
    "negative": _negative,
    "positive": _positive,
}
