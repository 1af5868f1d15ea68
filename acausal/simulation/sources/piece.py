"""A polynomial piece of a function of time: Chebyshev fit, derivatives at any point."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np

from ...reduction.exosystem import PIECE_DEGREE
from ...values import frozen

TRIM = 2.0**-50
"""Size of the highest coefficients, relative to the largest value, that are rounding."""
DEPARTURE = 16.0
"""Distance from the continued piece, in errors of the fit, at which a function has a jump or kink."""
GROWTH = 4.0
"""Largest factor between the lengths of neighbouring pieces."""
AMPLIFICATION = 100.0
"""Largest scaled derivative, relative to the largest value, that a solver is given."""

_K = np.arange(PIECE_DEGREE + 1)
_NODES = 0.5 * (1.0 - np.cos(np.pi * _K / PIECE_DEGREE))
_FACTORIAL = np.array([math.factorial(k) for k in range(PIECE_DEGREE + 1)], float)
_SHIFT = np.maximum(_K[None, :] - _K[:, None], 0)
_MARKOV = np.cumprod([1.0, *(2.0 * (PIECE_DEGREE**2 - k**2) / (2 * k + 1) for k in range(PIECE_DEGREE))])
"""Largest derivatives of a polynomial that is at most 1 in [0, 1], as those of a Chebyshev polynomial at its ends."""
_FALLING = np.array([[float(math.perm(j, k)) for j in _K.tolist()] for k in _K.tolist()])
_BINOMIAL = _FALLING / _FACTORIAL[:, None]


def _chebyshev(x: np.ndarray) -> np.ndarray:
    """Chebyshev polynomials of [0, 1] at ``x``, one row per point."""
    return np.cos(np.arccos(np.clip(2.0 * x - 1.0, -1.0, 1.0))[:, None] * _K)


def _powers() -> np.ndarray:
    """Coefficients, in powers of x, of the Chebyshev polynomials of [0, 1]; one column per polynomial."""
    found = np.zeros((PIECE_DEGREE + 1, PIECE_DEGREE + 1))
    found[0, 0], found[0, 1], found[1, 1] = 1.0, -1.0, 2.0
    for k in range(2, PIECE_DEGREE + 1):
        found[:, k] = -2.0 * found[:, k - 1] - found[:, k - 2]
        found[1:, k] += 4.0 * found[:-1, k - 1]
    return found


_FIT = np.linalg.inv(_chebyshev(_NODES))
_POWERS = _powers()


@lru_cache(maxsize=64)
def _probes(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Points between the nodes, at least ``count`` of them, and the Chebyshev polynomials there."""
    x = 0.5 * (1.0 - np.cos(np.pi * (_K[:-1] + 0.5) / PIECE_DEGREE))
    if count > len(x):
        x = np.concatenate([x, (np.arange(count) + 0.5) / count])
    return x, _chebyshev(x)


@frozen
class Piece:
    """A polynomial in ``(t - origin) / length``, in force on ``[start, end)``."""

    start: float
    end: float
    last: float
    """Last point that it describes; before ``end`` where there is a jump."""
    origin: float
    length: float
    coefficients: np.ndarray
    size: float
    """Largest value of the function that it was fitted to."""
    error: float = 0.0
    """Bound on its distance from the function."""
    departure: float = 0.0
    """The distance that was measured, with rounding."""
    growth: float = GROWTH
    """Factor by which the length can grow, from the size of the last coefficients."""

    def value(self, t: float) -> float:
        """Value at ``t``, also a little outside of the piece."""
        x = (t - self.origin) / self.length
        total = 0.0
        for c in reversed(self.coefficients.tolist()):
            total = total * x + c
        return total

    def states(self, t: float, unit: float) -> np.ndarray:
        """Derivatives times ``unit**k`` at ``t``."""
        return self._derivatives(t) * (unit / self.length) ** _K

    def errors(self, unit: float) -> np.ndarray:
        """Bounds on the errors of the `states`, which are largest at the ends: Markov's inequality."""
        return self.departure * _MARKOV * (unit / self.length) ** _K

    def _derivatives(self, t: float) -> np.ndarray:
        x = (t - self.origin) / self.length
        if x <= 0.0:
            return self.coefficients * _FACTORIAL
        return (_FALLING * (x**_K)[_SHIFT]) @ self.coefficients

    def expansion(self, middle: np.ndarray, half: np.ndarray) -> np.ndarray:
        """Coefficients (degree + 1, m) of powers of ``(t - middle) / half``."""
        x = (middle - self.origin) / self.length
        of_powers = (_BINOMIAL * self.coefficients * x[:, None, None] ** _SHIFT).sum(axis=2)
        return (of_powers * (half / self.length)[:, None] ** _K).T

    @cached_property
    def unit(self) -> float:
        """Largest unit of time in which no scaled derivative exceeds what a solver loses digits by."""
        if not self.coefficients[1:].any() or self.size == 0.0:
            return math.inf
        largest = np.maximum(np.abs(self._derivatives(self.start)), np.abs(self._derivatives(self.end)))[1:]
        some = np.flatnonzero(largest)
        ratios = (AMPLIFICATION * self.size / largest[some]) ** (1.0 / (some + 1.0))
        return 4.0 * self.length * float(ratios.min())


def fit(
    function: Callable[[float], float],
    start: float,
    end: float,
    relative: float,
    absolute: float,
    probes: int,
) -> Piece | None:
    """Fit a piece on ``[start, end]``.

    Parameters
    ----------
    function : callable
    start, end : float
    relative, absolute : float
        Error that is allowed, relative to the largest value and at least.
    probes : int
        Number of points between the nodes at which the fit is checked, at least one per gap.

    Returns
    -------
    piece : Piece or None
        None if the function is not smooth there.
    """
    length = end - start
    values = np.array([float(function(t)) for t in (*(start + length * _NODES[:-1]).tolist(), end)])
    size = float(np.abs(values).max())
    if not math.isfinite(size):
        return None
    # Constants stay what they are.
    c = _FIT @ (values - values[0])
    c[0] += values[0]
    slope = float(np.abs(np.diff(values) / np.diff(_NODES)).max()) / length
    # Times are rounded, which counts where the function is steep.
    rounding = TRIM * size + 2.0 * math.ulp(abs(start) + length) * slope
    error = max(relative * size, 2.0 * rounding, absolute)
    if abs(float(c[-1])) > DEPARTURE * error:
        return None
    x, polynomials = _probes(probes)
    between = np.array([float(function(t)) for t in (start + length * x).tolist()])
    departure = float(np.abs(between - polynomials @ c).max())
    if not departure <= error:
        return None
    growth = _growth(np.abs(c).tolist(), rounding, error)
    tail = np.cumsum(np.abs(c[::-1]))[::-1]
    c[tail <= max(TRIM * size, absolute)] = 0.0
    departure += max(rounding, absolute)
    return Piece(start, end, end, start, length, _POWERS @ c, size, error, departure, growth)


def _growth(c: list[float], rounding: float, error: float) -> float:
    """Factor by which a piece can grow, from the decay of those of its coefficients that are no rounding."""
    pairs = [max(a, b) for a, b in pairwise(c)]
    clear = [k for k, p in enumerate(pairs) if p > 4.0 * rounding]
    k = clear[-1] if clear else 0
    if k < 4:
        return GROWTH
    # Neighbouring coefficients can vanish, even exactly; then there is no decay to see.
    ratio = (pairs[k] / max(pairs[k], pairs[k - 3])) ** (1.0 / 3.0)
    first_left_out = pairs[k] * ratio ** (PIECE_DEGREE - k)
    return min(GROWTH, 0.9 * (error / first_left_out) ** (1.0 / (PIECE_DEGREE + 1)))
