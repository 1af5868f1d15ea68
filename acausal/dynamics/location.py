"""Location of one zero in a bracket, to adjacent numbers: of closed forms, polynomials, forms along steps, and conditions."""

from __future__ import annotations

import math
from collections.abc import Callable

GUIDED = 64
"""Steps after which only bisection is left, which ends for certain."""
Function = Callable[[float], tuple[float, float]]
"""Time -> value and slope; a slope of zero tells nothing."""


def locate(at: Function, low: float, high: float, guess: float, t0: float, enough: float = 0.0) -> float:
    """Smallest `h` with a value that is not positive, up to rounding of the value.

    Parameters
    ----------
    at : callable
        Positive on the left of one root and not positive on the right of it.
    low, high : float
        Bracket, possibly without width; `low` moves left when the value there is not positive already.
    guess : float
        Where to begin.
    t0 : float
        Absolute time of ``h = 0``: the neighbour of ``t0 + h`` is the resolution.
    enough : float
        Value times width of the bracket below which any point of it will do.

    Notes
    -----
    Newton's method, bisection when it leaves the bracket. Near the root the computed value is a
    staircase of rounding errors, on which Newton's step can be much shorter than a stair and repeat
    without end. A step that did not halve the value (far from a root one leaves 1/e of an exponential,
    and less of a power) is therefore followed by doubling steps, and so is one of one unit in the last
    place; they bring both ends of the bracket together.
    """
    low = min(low, high)
    x = guess if low < guess <= high else 0.5 * (low + high)
    step, last, count, known = 0.0, math.inf, 0, False
    while True:
        value, slope = at(x)
        if value > 0.0:
            low, known = x, True
        else:
            high = x
        tick = math.ulp(t0 + high)
        move = -value / slope if slope else math.inf
        if not known and (high - low <= tick or x + move <= low):
            low, known = _positive_end(at, low, high, tick), True
        if abs(value) * (high - low) < enough:
            return x
        if high - low <= tick:
            return high
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


def begin_of(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Where in a bracket a condition begins to hold: nothing but values tells the way, and halving follows it."""
    return locate(lambda h: (-1.0 if holds(h) else 1.0, 0.0), low, high, low, 0.0)


def _positive_end(at: Function, low: float, high: float, tick: float) -> float:
    step = max((high - low) / 64.0, tick)
    while low > 0.0 and at(low)[0] <= 0.0:
        low = max(0.0, low - step)
        step *= 2.0
    return low
