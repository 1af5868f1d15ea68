"""Location of one zero in a bracket to adjacent numbers, as steps between evaluations that the caller makes."""

from __future__ import annotations

import math

import numpy as np

from .dialect import kernel
from .rounding import UNIT

GUIDED = 64
"""Steps after which only bisection is left, which ends for certain."""
AT, X, LOW, HIGH, STEP, LAST, COUNT, KNOWN, VALUE, MOVE, SEEKING, BACK, T0, ENOUGH = range(14)
"""Places in the record of a location: where to evaluate next, or the zero; and what the steps have found."""
RECORD = 14
"""Length of that record."""
FIRST = 2.0**52 + 1.0
SMALLEST = 2.0**-1074


@kernel
def spacing(x: float) -> float:
    """Unit in the last place of a number that is not negative."""
    # The leading bit as a number: Rump, Ogita, Oishi, "Accurate floating-point summation part I" (2008), algorithm 3.6.
    scaled = FIRST * x
    return max(UNIT * abs(scaled - (1.0 - 0.5 * UNIT) * scaled), SMALLEST)


@kernel
def begin_location(s: np.ndarray, low: float, high: float, guess: float, t0: float, enough: float) -> None:
    """Begin with a bracket and a guess; the neighbour of ``t0 + h`` is the resolution.

    Newton's method, bisection where it leaves the bracket. Near the root the computed value is a staircase of rounding errors, on
    which Newton's step can be much shorter than a stair and repeat without end. A step that did not halve the value (far from a
    root one leaves 1/e of an exponential, and less of a power) is therefore followed by doubling steps, and so is one of one
    unit in the last place; they bring both ends of the bracket together. Any point will do where the value times the width
    of the bracket is below what is ``enough``.
    """
    low = min(low, high)
    s[LOW], s[HIGH], s[STEP], s[LAST], s[COUNT], s[KNOWN], s[SEEKING] = (
        low,
        high,
        0.0,
        math.inf,
        0.0,
        0.0,
        0.0,
    )
    s[T0], s[ENOUGH] = t0, enough
    s[X] = s[AT] = guess if low < guess <= high else 0.5 * (low + high)


@kernel
def locate_next(s: np.ndarray, value: float, slope: float) -> bool:
    """Take value and slope at ``s[AT]``, a slope of zero telling nothing; whether it is the zero where the next point is."""
    if s[SEEKING] == 0.0:
        if value > 0.0:
            s[LOW], s[KNOWN] = s[X], 1.0
        else:
            s[HIGH] = s[X]
        tick, width = spacing(s[T0] + s[HIGH]), s[HIGH] - s[LOW]
        s[VALUE], s[MOVE] = value, -value / slope if slope != 0.0 else math.inf
        if s[KNOWN] == 0.0 and (width <= tick or s[X] + s[MOVE] <= s[LOW]):
            # The left end may not be positive: it is looked for.
            s[KNOWN], s[SEEKING], s[BACK] = 1.0, 1.0, max(width / 64.0, tick)
            if s[LOW] > 0.0:
                s[AT] = s[LOW]
                return False
    elif value <= 0.0:
        s[LOW] = max(0.0, s[LOW] - s[BACK])
        s[BACK] *= 2.0
        if s[LOW] > 0.0:
            s[AT] = s[LOW]
            return False
    s[SEEKING] = 0.0
    return narrowed(s)


@kernel
def narrowed(s: np.ndarray) -> bool:
    """Go to the next point of the bracket; whether it is the zero."""
    low, high, value, move = s[LOW], s[HIGH], s[VALUE], s[MOVE]
    tick = spacing(s[T0] + high)
    if abs(value) * (high - low) < s[ENOUGH]:
        s[AT] = s[X]
        return True
    s[AT] = high
    if high - low <= tick:
        return True
    if abs(move) <= 2.0 * tick or abs(value) > 0.5 * s[LAST]:
        s[STEP] = max(2.0 * s[STEP], min(abs(move), high - low), tick)
        move = s[STEP] if value > 0.0 else -s[STEP]
    else:
        s[STEP] = 0.0
    s[LAST] = abs(value)
    s[COUNT] += 1.0
    following = s[X] + move
    s[X] = following if low < following < high and s[COUNT] < GUIDED else 0.5 * (low + high)
    if s[X] == low or s[X] == high:
        return True
    s[AT] = s[X]
    return False
