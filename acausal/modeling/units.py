"""SI unit strings as exponents of the base units.

``"N.m/rad"``, ``"m/s2"``, ``"Ohm"``, ``"1"``: factors joined by ``.`` or ``*``, one or more ``/``,
integer exponents written behind the symbol. The empty string means unknown.
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
    "F": "C/V", "Ohm": "V/A", "S": "A/V", "Wb": "V.s", "T": "Wb/m2", "H": "Wb/A", "degC": "K", "lm": "cd", "lx": "lm/m2",
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
    total = [0] * 7
    parts = re.split(r"([./*])", unit.replace("(", "").replace(")", ""))
    sign = 1
    for k, part in enumerate(parts):
        if k % 2:
            sign = -1 if part == "/" or (sign < 0 and "(" in unit) else 1
            continue
        for i, e in enumerate(_factor(part, unit)):
            total[i] += sign * e
    return tuple(total)


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
    raise UnitError(f'`{part}` in unit "{unit}" is not an SI unit', hint='write e.g. "N.m/rad", "m/s2", "1"')


def power_of(dimension: Dimension, exponent: float) -> Dimension | None:
    """Return the dimension of a power, None if it is not integral."""
    result = tuple(e * exponent for e in dimension)
    return tuple(int(r) for r in result) if all(float(r).is_integer() for r in result) else None


def product(a: Dimension, b: Dimension, sign: int = 1) -> Dimension:
    """Return the dimension of a product (``sign=1``) or quotient (``sign=-1``)."""
    return tuple(x + sign * y for x, y in zip(a, b, strict=True))
