"""Location of one isolated root of a closed form, to adjacent doubles of absolute time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .basis import Basis

GUIDED = 64
"""Steps after which only bisection is left, which ends for certain."""


@dataclass(frozen=True, eq=False)
class Closed:
    """The scalar function ``row phi(h) + offset`` and its derivative ``slope phi(h)``."""

    basis: Basis
    row: np.ndarray
    slope: np.ndarray
    offset: float

    def value(self, h: float) -> float:
        """Value at `h`."""
        return float(self.row.dot(self.basis.at(h))) + self.offset


def locate(function: Closed, low: float, high: float, t0: float) -> float:
    """Smallest `h` with a value that is not positive, up to rounding of the value.

    Parameters
    ----------
    function : Closed
        Positive on the left of one root and not positive on the right of it.
    low, high : float
        Bracket, possibly without width; `low` moves left when the value there is not positive already.
    t0 : float
        Absolute time of ``h = 0``: the neighbour of ``t0 + h`` is the resolution.

    Notes
    -----
    Newton's method, bisection when it leaves the bracket. Near the root the computed value is a
    staircase of rounding errors, on which Newton's step can be much shorter than a stair and repeat
    without end. A step that did not halve the value (far from a root one leaves 1/e of an exponential,
    and less of a power) is therefore followed by doubling steps, and so is one of one unit in the last
    place; they bring both ends of the bracket together.
    """
    low = _positive_end(function, min(low, high), high, math.ulp(t0 + high))
    x = 0.5 * (low + high)
    step, last, count = 0.0, math.inf, 0
    while True:
        phi = function.basis.at(x)
        value = float(function.row.dot(phi)) + function.offset
        if value > 0.0:
            low = x
        else:
            high = x
        tick = math.ulp(t0 + high)
        if high - low <= tick:
            return high
        slope = float(function.slope.dot(phi))
        move = -value / slope if slope else math.inf
        if abs(move) <= 2.0 * tick or abs(value) > 0.5 * last:
            step = max(2.0 * step, min(abs(move), high - low), tick)
            move = step if value > 0.0 else -step
        else:
            step = 0.0
        last = abs(value)
        count += 1
        following = x + move
        x = following if low < following < high and count < GUIDED else 0.5 * (low + high)
        if x in (low, high):
            return high


def _positive_end(function: Closed, low: float, high: float, tick: float) -> float:
    step = max((high - low) / 64.0, tick)
    while low > 0.0 and function.value(low) <= 0.0:
        low = max(0.0, low - step)
        step *= 2.0
    return low
