"""Location of one zero in a bracket, to adjacent numbers: of closed forms, polynomials, forms along steps, and conditions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..kernels.location import AT, RECORD, begin_location, locate_next

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
    The steps are those of `kernels.location`.
    """
    record = np.zeros(RECORD)
    begin_location(record, low, high, guess, t0, enough)
    while not locate_next(record, *at(float(record[AT]))):
        pass
    return float(record[AT])


def begin_of(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Where in a bracket a condition begins to hold: nothing but values tells the way, and halving follows it."""
    return locate(lambda h: (-1.0 if holds(h) else 1.0, 0.0), low, high, low, 0.0)
