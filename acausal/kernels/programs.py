"""Programs: straight-line arithmetic as a list of operations, as that of a discrete part."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .dialect import kernel

# What an operation does.
ASSIGN, ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATE, SQUARE, TWICE, INVERT = 0, 1, 2, 3, 4, 5, 6, 7, 8
LESS, LESS_OR_SAME, SAME, DIFFERENT, NOT, AND, OR, IF_ELSE_ZERO = 9, 10, 11, 12, 13, 14, 15, 16
FLOOR, CEIL, MAGNITUDE, SIGN, MINIMUM, MAXIMUM = 17, 18, 19, 20, 21, 22
SQUARE_ROOT, EXPONENTIAL, LOGARITHM, SINE, COSINE = 23, 24, 25, 26, 27
TANGENT, ARCSINE, ARCCOSINE, ARCTANGENT = 28, 29, 30, 31
HYPERBOLIC_SINE, HYPERBOLIC_COSINE, HYPERBOLIC_TANGENT = 32, 33, 34
ANGLE, POWER = 35, 36
WHAT, FIRST, SECOND, TO = 0, 1, 2, 3
WHOLE = 2.0**52
"""Numbers from here on are whole."""
OVERFLOW = 709.782712893384
"""Exponent above which an exponential is beyond the range of doubles."""
WIDEST = 710.4758600739439
"""The same of half of one."""


class Arithmetic(NamedTuple):
    """One program with its numbers; one run at a time uses it."""

    layout = "i2 f1 f1 f1"
    code: np.ndarray
    """(operations, 4): what is done, the places of two arguments and of the result among the numbers."""
    numbers: np.ndarray
    """Inputs, outputs, constants and what is computed on the way; outputs that are constant are written by nothing."""
    inputs: np.ndarray
    """The first of these."""
    outputs: np.ndarray
    """Those that follow."""


@kernel
def floored(x: float) -> float:
    """Largest whole number that is not above."""
    if not abs(x) < WHOLE:
        return x
    whole = float(int(x))
    return whole - 1.0 if whole > x else whole


@kernel
def compared(what: int, x: float, y: float) -> float:
    """Truth of a comparison or of a combination of truths, as a number."""
    if what == LESS:
        holds = x < y
    elif what == LESS_OR_SAME:
        holds = x <= y
    elif what == SAME:
        holds = x == y
    elif what == DIFFERENT:
        holds = x != y
    elif what == AND:
        holds = x != 0.0 and y != 0.0
    else:
        holds = x != 0.0 or y != 0.0
    return 1.0 if holds else 0.0


@kernel
def power(x: float, y: float) -> float:
    """``x`` to the power of ``y``, which is no number where it is not defined."""
    if y == 0.0 or x == 1.0:
        return 1.0
    if x != x or y != y:
        return math.nan
    whole = floored(y) == y
    odd = whole and floored(0.5 * y) != 0.5 * y
    sign = -1.0 if odd and (x < 0.0 or (x == 0.0 and math.copysign(1.0, x) < 0.0)) else 1.0
    if x == 0.0:
        return sign * math.inf if y < 0.0 else sign * 0.0
    if -math.inf < x < 0.0 and not whole:
        return math.nan
    size = abs(x)
    if y * math.log(size) > OVERFLOW:
        return sign * math.inf
    return sign * math.pow(size, y)


@kernel
def trigonometric(what: int, x: float) -> float:
    """An elementary function of angles or of exponentials, which is no number where it is not defined."""
    if what == ARCSINE or what == ARCCOSINE:
        if not abs(x) <= 1.0:
            return math.nan
        return math.asin(x) if what == ARCSINE else math.acos(x)
    if what == ARCTANGENT:
        return math.atan(x)
    if what == HYPERBOLIC_TANGENT:
        return math.tanh(x)
    if what == HYPERBOLIC_SINE or what == HYPERBOLIC_COSINE:
        if abs(x) > WIDEST:
            return math.inf if x > 0.0 or what == HYPERBOLIC_COSINE else -math.inf
        return math.sinh(x) if what == HYPERBOLIC_SINE else math.cosh(x)
    if not abs(x) < math.inf:
        return math.nan
    if what == TANGENT:
        return math.tan(x)
    return math.sin(x) if what == SINE else math.cos(x)


@kernel
def transcendental(what: int, x: float) -> float:
    """An elementary function, which is no number where it is not defined."""
    if what >= SINE:
        return trigonometric(what, x)
    found = math.nan
    if what == SQUARE_ROOT:
        if x >= 0.0:
            found = math.sqrt(x)
    elif what == EXPONENTIAL:
        if x > OVERFLOW:
            found = math.inf
        elif x == x:
            found = math.exp(x)
    elif what == LOGARITHM:
        if x > 0.0:
            found = math.log(x)
        elif x == 0.0:
            found = -math.inf
    return found


@kernel
def applied(what: int, x: float, y: float) -> float:
    """Result of an operation."""
    if what == ADD:
        return x + y
    if what == SUBTRACT:
        return x - y
    if what == MULTIPLY:
        return x * y
    if what == DIVIDE:
        return x / y
    if what == NEGATE:
        return -x
    if what == SQUARE:
        return x * x
    if what == TWICE:
        return 2.0 * x
    if what == INVERT:
        return 1.0 / x
    if what == NOT:
        return 1.0 if x == 0.0 else 0.0
    if what == IF_ELSE_ZERO:
        return y if x != 0.0 else 0.0
    if what == FLOOR:
        return floored(x)
    if what == CEIL:
        return -floored(-x)
    if what == MAGNITUDE:
        return abs(x)
    if what == SIGN:
        return -1.0 if x < 0.0 else 1.0 if x > 0.0 else x
    if what == MINIMUM:
        return y if x != x or y < x else x
    if what == MAXIMUM:
        return y if x != x or y > x else x
    if what >= ANGLE:
        return math.atan2(x, y) if what == ANGLE else power(x, y)
    if what >= SQUARE_ROOT:
        return transcendental(what, x)
    if what == ASSIGN:
        return x
    return compared(what, x, y)


@kernel
def execute(p: Arithmetic) -> None:
    """Compute the outputs from the inputs."""
    for k in range(p.code.shape[0]):
        x: Any = p.numbers[p.code[k, FIRST]]
        y: Any = p.numbers[p.code[k, SECOND]]
        p.numbers[p.code[k, TO]] = applied(p.code[k, WHAT], x, y)
