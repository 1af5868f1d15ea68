"""SI unit strings as exponents of the base units.

``"N.m/rad"``, ``"m/s2"``, ``"Ohm"``, ``"1"``: factors joined by ``.`` or ``*``, then one or more divisors behind ``/``, of
which one with several factors stands in parentheses, ``"J/(kg.K)"``; integer exponents written behind the symbol. The
empty string means unknown. Only SI units with factor one: a temperature is in K.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ..errors import UnitError

Dimension = tuple[int, ...]
"""Exponents of m, kg, s, A, K, mol, cd."""

DIMENSIONLESS: Dimension = (0,) * 7
_BASE = {"m": 0, "kg": 1, "s": 2, "A": 3, "K": 4, "mol": 5, "cd": 6}
_DERIVED = {
    "rad": "1", "sr": "1", "Hz": "1/s", "N": "kg.m/s2", "Pa": "N/m2", "J": "N.m", "W": "J/s", "C": "A.s", "V": "W/A",
    "F": "C/V", "Ohm": "V/A", "S": "A/V", "Wb": "V.s", "T": "Wb/m2", "H": "Wb/A", "lm": "cd", "lx": "lm/m2",
}  # fmt: skip
_NAMED = ("N", "Pa", "N.m", "W", "C", "V", "F", "Ohm", "S", "Wb", "T", "H")
"""Units that stand for one quantity; of rad, Hz and the like the dimension is as clear without."""
_FACTOR = re.compile(r"([A-Za-z]+)(-?\d+)?$")


@lru_cache(maxsize=1024)
def parse_unit(unit: str) -> Dimension | None:
    """Return the dimension of a unit string, None for an empty one.

    Raises
    ------
    UnitError
        If the string is not a product of SI units.
    """
    if unit == "":
        return None
    tokens = re.findall(r"[()./*]|[^()./*]+", unit)
    total = _product(tokens, unit)
    if tokens:
        raise _wrong(tokens[0], unit)
    return total


def _product(tokens: list[str], unit: str) -> Dimension:
    """Take a product with its divisors from the front of ``tokens``."""
    total, divided = _item(tokens, unit), False
    while tokens and tokens[0] in "./*":
        operation = tokens.pop(0)
        if divided and operation != "/":
            raise UnitError(
                f'unit "{unit}" is ambiguous: what follows `{operation}` may be multiplied or divided by',
                hint='write "N/(m.s)" or "N.s/m"',
            )
        divided = operation == "/"
        total = product(total, _item(tokens, unit), -1 if divided else 1)
    return total


def _item(tokens: list[str], unit: str) -> Dimension:
    """Take a factor, or a product in parentheses, from the front of ``tokens``."""
    first = tokens.pop(0) if tokens else ""
    if first != "(":
        return _factor(first, unit)
    inner = _product(tokens, unit)
    if not tokens or tokens.pop(0) != ")":
        raise UnitError(f'a parenthesis in unit "{unit}" is not closed', hint='write e.g. "J/(kg.K)"')
    return inner


@lru_cache(maxsize=1024)
def named_unit(dim: Dimension) -> str:
    """Return the symbol of a derived unit of this dimension, "" if there is none."""
    return next((u for u in _NAMED if parse_unit(u) == dim), "")


def _factor(part: str, unit: str) -> Dimension:
    if part == "1":
        return DIMENSIONLESS
    match = _FACTOR.match(part)
    if match:
        symbol, power = match.group(1), int(match.group(2) or 1)
        if symbol in _BASE:
            return tuple(power * (i == _BASE[symbol]) for i in range(7))
        if symbol in _DERIVED:
            inner = parse_unit(_DERIVED[symbol])
            return tuple(power * e for e in inner or DIMENSIONLESS)
    raise _wrong(part, unit)


def _wrong(part: str, unit: str) -> UnitError:
    hint = 'a temperature is in "K"' if part == "degC" else 'write e.g. "N.m/rad", "m/s2", "1"'
    return UnitError(f'`{part}` in unit "{unit}" is not an SI unit', hint=hint)


def power_of(dimension: Dimension, exponent: float) -> Dimension | None:
    """Return the dimension of a power, None if it is not integral."""
    result = tuple(e * exponent for e in dimension)
    return tuple(int(r) for r in result) if all(float(r).is_integer() for r in result) else None


def product(a: Dimension, b: Dimension, sign: int = 1) -> Dimension:
    """Return the dimension of a product (``sign=1``) or quotient (``sign=-1``)."""
    return tuple(x + sign * y for x, y in zip(a, b, strict=True))
