"""Largest values of a function of time that is given as Legendre series on panels."""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial import legendre

from .panels import DEGREE, NODES, Panels

POINTS = 64
"""Intervals of the grid on which a panel is looked at."""
GRID = -np.cos(np.pi * np.arange(POINTS + 1) / POINTS)
ON_GRID = legendre.legvander(GRID, DEGREE).T
HIDDEN = 1.0 / math.cos(math.pi * DEGREE / (2 * POINTS)) - 1.0
"""Share of half its range by which a polynomial may exceed its values on the grid (Ehlich and Zeller, 1964)."""
NEWTON_STEPS = 5


def largest(panels: Panels, factor: float = 1.0) -> float:
    """Return the largest value of a multiple of the function on all panels, their ends included.

    Every series is evaluated on a grid of Chebyshev points; local maxima there that may rise above the values at the
    nodes are refined by Newton's method on the derivative of the series. A series only tells where to look: beside
    a jump it rises above the function. The value is that of the function, at these places, at the ends, which see
    a jump from both sides, and at the best node.

    References
    ----------
    H. Ehlich and K. Zeller, Schwankung von Polynomen zwischen Gitterpunkten, Mathematische Zeitschrift 86 (1964).
    """
    series, count = factor * panels.series, len(panels.half)
    nodes = factor * panels.values
    node, k = np.unravel_index(np.argmax(nodes), nodes.shape)
    which = np.concatenate([np.repeat(np.arange(count), 2), [node]])
    places = np.concatenate([np.tile([-1.0, 1.0], count), [NODES[k]]])
    degrees = series.shape[1]
    if degrees >= 3:
        values = series @ ON_GRID[:degrees]
        top = values.max(axis=1)
        reach = top + HIDDEN * 0.5 * (top - values.min(axis=1))
        inner = values[:, 1:-1]
        peaks = (inner >= values[:, :-2]) & (inner >= values[:, 2:]) & (reach > nodes[node, k])[:, None]
        found, at = np.nonzero(peaks)
        which = np.concatenate([which, found])
        places = np.concatenate([places, refined(series[found], at + 1)])
    return float(np.max(factor * panels.function(which, places)))


def refined(series: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Places of the local maxima of series (c, m) next to the grid points k (c,)."""
    low, high, x = GRID[k - 1], GRID[k + 1], GRID[k]
    slopes, curvatures = legendre.legder(series, axis=1), legendre.legder(series, 2, axis=1)
    for _ in range(NEWTON_STEPS):
        slope, curvature = _at(slopes, x), _at(curvatures, x)
        step = np.where(curvature < 0.0, -slope / np.where(curvature < 0.0, curvature, 1.0), 0.0)
        x = np.clip(x + step, low, high)
    return x


def _at(series: np.ndarray, x: np.ndarray) -> np.ndarray:
    return legendre.legval(x, series.T, tensor=False)
