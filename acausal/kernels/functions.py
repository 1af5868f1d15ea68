"""The functions ``exp(sigma h) h^k / k!``, alone or times ``cos(omega h)`` and ``sin(omega h)``, and their bounds."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .dialect import kernel
from .rounding import SPLITTER

REAL, TURNING = 0, 1
SIGMA, INVERSE_FACTORIAL, PEAK, SPEED, TIME_UNIT = 0, 1, 2, 3, 4
OMEGA, HIGH, TAIL = 0, 1, 2
FASTEST, TURNS = 0, 1
TURNS_EXACT = 4.0
"""Angle in radians up to which a rounded product ``omega h`` is good enough."""
LARGEST_EXPONENT = 700.0
"""A trajectory is continued anew where a function has grown by so much; those with zero coefficients stay finite."""


class Functions(NamedTuple):
    """A list of functions: those that do not turn, cosines, then the sines in the same order."""

    layout = "i1 f1 f2 f2 i1 i1"
    counts: np.ndarray
    """Numbers of functions that do not turn, and of cosines."""
    limits: np.ndarray
    """Largest of the speeds, and of the angular frequencies."""
    table: np.ndarray
    """Rows (5, functions): sigma, 1 / k!, place of the largest magnitude, speed, time unit."""
    turning: np.ndarray
    """Rows (3, cosines): omega, its leading digits, and the digits behind them."""
    power: np.ndarray
    """Powers k (functions,)."""
    lower: np.ndarray
    """Functions (functions,) with the next lower power, -1 for none."""


@kernel
def powered(h: float, k: int) -> float:
    """The product of ``k`` factors ``h``."""
    found, factor = 1.0, h
    while k > 0:
        if k & 1:
            found *= factor
        factor *= factor
        k >>= 1
    return found


@kernel
def values(b: Functions, h: float, out: np.ndarray) -> None:
    """Values (functions,) at one time."""
    n, m = b.counts[REAL], b.counts[TURNING]
    for j in range(n + m):
        value, sigma, k = 1.0, b.table[SIGMA, j], b.power[j]
        if sigma != 0.0:
            value = math.exp(min(sigma * h, LARGEST_EXPONENT))
        if k > 0:
            value *= b.table[INVERSE_FACTORIAL, j] * powered(h, k)
        out[j] = value
    # The angle is kept in twice the precision, so that no phase drifts.
    exact = h * b.limits[TURNS] <= TURNS_EXACT
    t = SPLITTER * h
    high = t - (t - h)
    for i in range(m):
        angle = b.turning[OMEGA, i] * h
        cos, sin = math.cos(angle), math.sin(angle)
        if not exact:
            first = b.turning[HIGH, i]
            low = (first * high - angle) + first * (h - high) + b.turning[TAIL, i] * h
            cos, sin = cos - sin * low, sin + cos * low
        value = out[n + i]
        out[n + i], out[n + m + i] = value * cos, value * sin


@kernel
def magnitude(b: Functions, j: int, rate: float, h: float) -> float:
    """That of function ``j`` at one time, with another rate of growth."""
    found = 1.0
    if rate != 0.0 and h != 0.0:
        found = math.exp(min(rate * h, LARGEST_EXPONENT))
    if b.power[j] > 0:
        found *= b.table[INVERSE_FACTORIAL, j] * powered(h, b.power[j])
    return found


@kernel
def largest(b: Functions, j: int, first: float, last: float) -> float:
    """Bound of the magnitude of function ``j`` on an interval."""
    return magnitude(b, j, b.table[SIGMA, j], min(max(b.table[PEAK, j], first), last))


@kernel
def envelope(b: Functions, first: float, last: float, out: np.ndarray) -> None:
    """Bounds (functions,) of the magnitudes on an interval."""
    n, m = b.counts[REAL], b.counts[TURNING]
    for j in range(n + m):
        out[j] = largest(b, j, first, last)
    for j in range(n, n + m):
        out[j + m] = out[j]


@kernel
def weight(b: Functions, j: int, length: float) -> float:
    """Bound of the magnitude of function ``j`` on ``[0, length]``; what grows counts as at the start."""
    return magnitude(b, j, min(b.table[SIGMA, j], 0.0), min(b.table[PEAK, j], length))


@kernel
def differentiate(b: Functions, R: np.ndarray, out: np.ndarray) -> None:
    """Coefficients (rows, functions) of the time derivatives of combinations ``R`` of the functions."""
    n, m = b.counts[REAL], b.counts[TURNING]
    for g in range(R.shape[0]):
        for j in range(n + 2 * m):
            out[g, j] = R[g, j] * b.table[SIGMA, j]
        for i in range(m):
            omega = b.turning[OMEGA, i]
            out[g, n + i] += omega * R[g, n + m + i]
            out[g, n + m + i] -= omega * R[g, n + i]
        for j in range(n + 2 * m):
            if b.lower[j] >= 0:
                out[g, b.lower[j]] += R[g, j]
