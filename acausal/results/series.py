"""Integrated segments as polynomials on short panels: what files hold of steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import legendre

from ..reduction.rounding import ROUNDING
from .panels import CHUNK, DEGREE, FITTED, fitted


@dataclass(eq=False)
class SeriesMotion:
    """States of one segment as sums ``series[k] P_k(x)`` on panels, -1 <= x <= 1.

    It is read as the motion it was made from.
    """

    y0: np.ndarray
    ends: np.ndarray
    """Ends (p + 1,) of the panels in seconds since the start, the first one zero."""
    series: np.ndarray
    """(p, degrees, ny)."""
    panels: np.ndarray
    """Ends of the panels with which a quadrature begins."""
    precision: float
    halvings: int
    knots: np.ndarray
    """Times (k,), ascending, at which the states are known to the bit: the points at which results are shown."""
    known: np.ndarray
    """States (k, ny) there."""
    totals: np.ndarray
    """Integrals (k, nq) there."""

    largest: np.ndarray | None = None
    """Magnitudes (ny,) by which the states are rounded; None in files of earlier formats."""

    reach = -1.0

    def edges(self, h0: float, h1: float) -> np.ndarray:
        """Ends of panels of a quadrature within a part of the segment."""
        inner = self.panels[(self.panels > h0) & (self.panels < h1)]
        return np.concatenate([[h0], inner, [h1]])

    def known_integral(self, n: int, hs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mask over the times ``hs`` that are knots, and integral ``n`` there."""
        if not self.totals.size:
            return np.zeros(len(hs), bool), np.zeros(0)
        near = np.clip(np.searchsorted(self.knots, hs), 0, len(self.knots) - 1)
        found = self.knots[near] == hs
        return found, self.totals[near[found], n]

    def magnitude(self, length: float) -> np.ndarray:
        """Magnitudes by which the states are rounded."""
        return np.abs(self.y0) if self.largest is None else self.largest

    def terms(self, hs: np.ndarray) -> np.ndarray:
        """Magnitudes of the states at some times."""
        return np.abs(self.sample(hs))

    def at(self, h: float) -> np.ndarray:
        """State at one time."""
        return self.sample(np.array([h]))[0]

    def sample(self, hs: np.ndarray) -> np.ndarray:
        """States (k, ny) at the times ``hs`` (k,)."""
        hs = np.asarray(hs, float)
        if not len(self.series):
            return np.tile(self.y0, (len(hs), 1))
        k = np.clip(np.searchsorted(self.ends, hs, side="left") - 1, 0, len(self.series) - 1)
        begin, end = self.ends[k], self.ends[k + 1]
        x = np.clip((2.0 * hs - begin - end) / (end - begin), -1.0, 1.0)
        phi = legendre.legvander(x, self.series.shape[1] - 1)
        out = np.empty((len(hs), len(self.y0)))
        step = max(1, CHUNK // max(1, self.series[0].size))
        for a in range(0, len(hs), step):
            part = slice(a, a + step)
            out[part] = np.einsum("kd,kdy->ky", phi[part], self.series[k[part]])
        if len(self.knots):
            near = np.clip(np.searchsorted(self.knots, hs), 0, len(self.knots) - 1)
            exact = self.knots[near] == hs
            out[exact] = self.known[near[exact]]
        out[hs <= 0.0] = self.y0
        return out


def series_of(
    motion: Any, length: float, points: np.ndarray, integrals: Callable[[np.ndarray], np.ndarray]
) -> SeriesMotion:
    """Approximate an integrated motion to rounding; at some points it and its integrals are taken as they are.

    Panels begin as the steps, within which the solution is smooth.
    """
    y0 = np.asarray(motion.y0, float)
    panels = np.asarray(motion.edges(0.0, length), float)
    if length <= 0.0:
        none = np.zeros((0, DEGREE + 1, len(y0)))
        rest = np.zeros(0), np.zeros((0, len(y0))), np.zeros((0, 0))
        return SeriesMotion(y0, np.zeros(1), none, panels, motion.precision, motion.halvings, *rest)
    steps = np.asarray(getattr(motion, "breaks", panels), float)
    edges = np.unique(np.concatenate([[0.0], steps[(steps > 0.0) & (steps < length)], [length]]))
    none = np.zeros(len(edges) - 1, np.int64)
    largest = motion.magnitude(length)
    rounding = ROUNDING * largest
    # Next to a change point rounding blows up what is solved for, without a limit that is known.
    noisy = getattr(motion, "bridged", False)
    _, left, half, series, _ = fitted(
        lambda _, hs: motion.sample(hs), none, edges[:-1], edges[1:], FITTED, rounding, noisy
    )
    size = np.abs(series)
    needed = size > np.maximum(FITTED * size.max(axis=(0, 1)), rounding)
    used = np.flatnonzero(needed.any(axis=(0, 2)))
    series = series[:, : used.max(initial=0) + 1]
    knots = np.unique(points)
    order = np.argsort(left, kind="stable")
    return SeriesMotion(
        y0, np.append(left[order], length), series[order], panels, motion.precision, motion.halvings, knots,
        motion.sample(knots), integrals(knots), largest,
    )  # fmt: skip
