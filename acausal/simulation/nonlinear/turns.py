"""Turns of forms near zero: an end of a piece there makes value and slope exact where they tell a touch from a crossing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...dynamics.location import locate
from ...dynamics.noise import StepNoise

LEVEL = 0.1
"""Change of a form about its turn, in depths of a touch, below which the turn is near enough."""
DOUBT = 2.0
"""Distance of a turn from zero, in errors of the interpolation, at which its side is not certain."""
NEAR = 0.02
"""The same in heights of the parabola that tells where it turns."""


def doubtful_turn(
    hs: np.ndarray, nodes: np.ndarray, error: np.ndarray, noise: StepNoise
) -> tuple[int, int] | None:
    """Interval and form with a lowest value inside whose sign an interpolation does not tell, None without any.

    Parameters
    ----------
    hs : (k,) array
        Times of the nodes.
    nodes : (k, 2, forms) array
        Values and slopes.
    error : (forms,) array
        Error of the interpolation.

    Notes
    -----
    Lowest values are those of parabolas with the slopes at both ends. A form that is below zero at a node crosses it
    anyway, and one that rests at zero all along has no turn that could matter.
    """
    values, slopes = nodes[:, 0], nodes[:, 1]
    turns = (slopes[:-1] < 0.0) & (slopes[1:] > 0.0)
    if not turns.any():
        return None
    bend = np.where(turns, slopes[1:] - slopes[:-1], 1.0)
    drop = 0.5 * slopes[:-1] ** 2 * np.diff(hs)[:, None] / bend
    bottom = values[:-1] - drop
    doubtful = np.abs(bottom) <= np.maximum(DOUBT * error, noise.floor) + NEAR * drop
    inside = np.minimum(values[:-1], values[1:]) - bottom > noise.touch
    above = (values.min(axis=0) >= -noise.touch) & (values.max(axis=0) > noise.floor)
    found = np.argwhere(turns & doubtful & inside & above)
    return (int(found[0, 0]), int(found[0, 1])) if len(found) else None


def lowest(
    slope: Callable[[float], float], begin: tuple[float, float], end: tuple[float, float], touch: float
) -> float | None:
    """Time at which a slope changes its sign; None where rounding hides it.

    Parameters
    ----------
    slope : callable
        Time -> slope.
    begin, end : (float, float)
        Times with their slopes, below and above zero.
    touch : float
        Depth of a touch.
    """
    (low, down), (high, up) = known = begin, end

    def falling(h: float) -> tuple[float, float]:
        """The slope in opposite direction, and its rate by the last two points."""
        nonlocal known
        known = known[1], (h, slope(h))
        (t0, before), (t1, here) = known
        return -here, (before - here) / (t1 - t0) if t1 != t0 else 0.0

    found = locate(falling, low, high, low - down * (high - low) / (up - down), 0.0, LEVEL * touch)
    return found if low < found < high else None
