"""Rigorous bounds of closed forms on intervals, from values and slopes at the ends."""

from __future__ import annotations

import math

import numpy as np

from .basis import Basis

RESOLVED = 2.0
"""Angle or number of time constants up to which a function is interpolated; faster ones enter with their magnitude."""
CLOSED_FORM = 4.0 * 2.0**-52
"""Rounding of a closed form relative to the sum of the magnitudes of its terms."""
SLOPE_ERROR = math.sqrt(3.0) / 216.0
"""Error constant of the slope of the cubic Hermite interpolant."""


BERNSTEIN = np.array(
    [
        [1.0, 1.0, 0.5, 0.0, 0.0],
        [0.0, 1.0, 2.0 / 3.0, 0.0, 0.0],
        [0.0, 0.0, 0.5, 1.0, 1.0],
        [0.0, 0.0, -2.0 / 3.0, -1.0, 0.0],
    ]
)
"""From value and quarter slope (times the length) at both ends to the Bernstein coefficients of degree 4 of their cubic."""
MIDDLE = np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16.0
"""Value at the middle from Bernstein coefficients of degree 4."""


class Rest:
    """The part ``R phi`` of the guards that is bounded by magnitudes alone: ``envelope`` (intervals, size) of its functions."""

    __slots__ = ("_basis", "_envelope", "_R", "value")

    def __init__(self, basis: Basis, R: np.ndarray, envelope: np.ndarray) -> None:
        self._basis, self._R, self._envelope = basis, R, envelope
        self.value = envelope.dot(np.abs(R).T)
        """Bounds (intervals, guards)."""

    def slope(self, i: int) -> np.ndarray:
        """Bounds (guards,) of the magnitudes of the slopes on interval `i`."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.abs(self._R.dot(self._basis.derivative)).dot(self._envelope[i])


class Bounds:
    """Bounds of all guards on consecutive intervals; arrays (intervals, guards) unless said otherwise.

    Parameters
    ----------
    values : (intervals, guards, 4)
        Guards at the left end, their slopes there times a quarter of the length, the same at the right
        end; without the functions that are too fast for the length.
    ends : (intervals, guards)
        Full values at the right ends.
    length : float
    fourth : array
        Bounds of the fourth derivative, times the fourth power of the length.
    rest : Rest or None
        The functions that are too fast for the length.
    noise : array or None
        Rounding errors of the values.

    Notes
    -----
    The cubic Hermite interpolant p on an interval of length L has
    ``abs(g - p) <= x^2 (L - x)^2 M4 / 24``. In Bernstein form of degree 4 that is one coefficient,
    ``M4 L^4 / 144``, so the coefficients of p with this one lowered bound g from below.
    """

    __slots__ = ("coefficients", "ends", "error", "length", "low", "noise", "rest")

    def __init__(
        self,
        values: np.ndarray,
        ends: np.ndarray,
        length: float,
        fourth: np.ndarray,
        rest: Rest | None,
        noise: np.ndarray | None = None,
    ) -> None:
        self.ends, self.length, self.rest = ends, length, rest
        self.error = fourth / 144.0
        self.coefficients = values.dot(BERNSTEIN)
        self.coefficients[..., 2] -= self.error
        low = np.minimum.reduce(self.coefficients, 2)
        self.low = low if rest is None else low - rest.value
        """Bound from below; what only rounding takes below zero counts as above."""
        if noise is not None:
            self.low += noise
        self.noise = noise

    def inside(self, i: int) -> np.ndarray:
        """Bound from below on interval `i` that the left end does not enter."""
        inside = self.coefficients[i, :, 1:].min(1)
        if self.noise is not None:
            inside += self.noise[i]
        return inside if self.rest is None else inside - self.rest.value[i]

    def high(self, i: int) -> np.ndarray:
        """Bound from above on interval `i`."""
        c = self.coefficients[i].copy()
        c[:, 2] += 2.0 * self.error[i]
        high = c.max(1)
        return high if self.rest is None else high + self.rest.value[i]

    def middle(self, i: int) -> np.ndarray:
        """Bound from below at the middle of interval `i`."""
        middle = self.coefficients[i].dot(MIDDLE)
        return middle if self.rest is None else middle - self.rest.value[i]

    def slope(self, i: int) -> np.ndarray:
        """Bound from above of the slope on interval `i`."""
        c0, c1, _, c3, c4 = self.coefficients[i].T
        d0, d4 = c1 - c0, c4 - c3
        steepest = np.maximum(np.maximum(d0, d4), 0.75 * (c4 - c0) - d0 - d4) * (4.0 / self.length)
        steepest = steepest + self.error[i] * (144.0 * SLOPE_ERROR / self.length)
        return steepest if self.rest is None else steepest + self.rest.slope(i)


class GuardForms:
    """Guards as combinations ``R phi(h)`` of the functions of a basis.

    Parameters
    ----------
    basis : Basis
    R : (ng, basis.size)
    """

    def __init__(self, basis: Basis, R: np.ndarray) -> None:
        self.basis, self.R = basis, R
        self.size4 = np.abs(R.dot(basis.fourth))

    def whole(self, length: float) -> Bounds:
        """Bounds on the one interval ``[0, length]``."""
        basis, quarter = self.basis, 0.25 * length
        phi = basis.at(length)
        columns = basis.frame.copy()
        columns[:, 1] *= quarter
        columns[:, 2] = phi
        envelope = basis.envelope(0.0, length)
        if basis.fastest * length <= RESOLVED:
            columns[:, 3] = basis.derivative.dot(phi) * quarter
            values = self.R.dot(columns)
            return Bounds(
                values[None], values[None, :, 2], length, (length**4 * self.size4).dot(envelope)[None], None
            )
        keep = basis.speed * length <= RESOLVED
        # Functions that grow beyond the range of doubles count as such in the rest, and nowhere else.
        with np.errstate(over="ignore", invalid="ignore"):
            columns[:, 3] = basis.derivative.dot(phi) * quarter
            rest = Rest(basis, self.R * ~keep, np.where(keep, 0.0, envelope)[None])
            ends = self.R.dot(phi)
            values = self.R.dot(np.where(keep[:, None], columns, 0.0))
            fourth = (length**4 * self.size4).dot(np.where(keep, envelope, 0.0))
        return Bounds(values[None], ends[None], length, fourth[None], rest)

    def bounds(self, nodes: np.ndarray) -> Bounds:
        """Bounds on the intervals between equally spaced `nodes`."""
        basis, R, size4 = self.basis, self.R, self.size4
        length = float(nodes[1] - nodes[0])
        phi = basis.sample(nodes)
        ends = left = phi.dot(R.T)
        envelope = basis.envelope(nodes[:-1, None], nodes[1:, None])
        rest = None
        if basis.fastest * length > RESOLVED:
            keep = basis.speed * length <= RESOLVED
            rest = Rest(basis, R * ~keep, envelope)
            R, size4 = R * keep, size4 * keep
            left = phi.dot(R.T)
        slope = phi.dot((0.25 * length) * R.dot(basis.derivative).T)
        values = np.empty((len(nodes) - 1, len(R), 4))
        values[..., 0], values[..., 1] = left[:-1], slope[:-1]
        values[..., 2], values[..., 3] = left[1:], slope[1:]
        noise = CLOSED_FORM * envelope.dot(np.abs(self.R).T)
        return Bounds(values, ends[1:], length, envelope.dot(length**4 * size4.T), rest, noise)
