"""Largest values of a function of time that is given as Legendre series on panels."""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial import legendre

from .panels import DEGREE, Panels

POINTS = 64
"""Intervals of the grid on which a panel is looked at."""
GRID = -np.cos(np.pi * np.arange(POINTS + 1) / POINTS)
ON_GRID = legendre.legvander(GRID, DEGREE).T
HIDDEN = 1.0 / math.cos(math.pi * DEGREE / (2 * POINTS)) - 1.0
"""Share of half its range by which a polynomial may exceed its values on the grid (Ehlich and Zeller, 1964)."""
NEWTON_STEPS = 5


FITTED = 1e-12
"""Distance of a series from the function it stands for, relative to the largest value, that is rounding."""


def largest(panels: Panels) -> tuple[float, float, str]:
    """Return the largest value on all panels, their ends included, its time in seconds, and the side of its limit.

    Every panel is evaluated on a grid of Chebyshev points; local maxima there that may rise above the largest value
    found are refined by Newton's method on the derivative of the series.

    References
    ----------
    H. Ehlich and K. Zeller, Schwankung von Polynomen zwischen Gitterpunkten, Mathematische Zeitschrift 86 (1964).
    """
    degrees = panels.series.shape[1]
    values = panels.series @ ON_GRID[:degrees]
    p, k = np.unravel_index(np.argmax(values), values.shape)
    best, panel, place = float(values[p, k]), int(p), float(GRID[k])
    top = values.max(axis=1)
    reach = top + HIDDEN * 0.5 * (top - values.min(axis=1))
    inner = values[:, 1:-1]
    peaks = (inner >= values[:, :-2]) & (inner >= values[:, 2:]) & (reach > best)[:, None]
    which, at = np.nonzero(peaks)
    if degrees >= 3 and len(which):
        x, refined = _refined(panels.series[which], at + 1)
        n = int(np.argmax(refined))
        if refined[n] > best:
            best, panel, place = float(refined[n]), int(which[n]), float(x[n])
    t = float(panels.middle[panel] + panels.half[panel] * place)
    return best, t, "left" if place > 0.0 else "right"


def _refined(series: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places and values of the local maxima of series (c, m) next to the grid points k (c,)."""
    low, high, x = GRID[k - 1], GRID[k + 1], GRID[k]
    slopes, curvatures = legendre.legder(series, axis=1), legendre.legder(series, 2, axis=1)
    for _ in range(NEWTON_STEPS):
        slope, curvature = _at(slopes, x), _at(curvatures, x)
        step = np.where(curvature < 0.0, -slope / np.where(curvature < 0.0, curvature, 1.0), 0.0)
        x = np.clip(x + step, low, high)
    return x, _at(series, x)


def _at(series: np.ndarray, x: np.ndarray) -> np.ndarray:
    return legendre.legval(x, series.T, tensor=False)
