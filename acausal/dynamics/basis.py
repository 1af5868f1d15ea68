"""Functions ``exp(sigma h) h^k / k!``, alone or times ``cos(omega h)`` and ``sin(omega h)``."""

from __future__ import annotations

import math

import numpy as np

from .double_double import SPLITTER, split

TURNS_EXACT = 4.0
"""Angle in radians up to which a rounded product ``omega h`` is good enough."""
TURN = 2.0 * math.pi / 16.0
"""Angle that resolves a turning function."""
LARGEST_EXPONENT = 700.0
"""A trajectory is continued anew where a function has grown by so much; those with zero coefficients stay finite."""


class Basis:
    """A list of scalar functions of the time ``h`` since the start of a segment.

    Parameters
    ----------
    keys : list of (sigma, omega, omega_low, k)
        One per function, in the order of the columns, ``omega >= 0``. A function
        with ``omega > 0`` stands for the cosine; the sines of all such functions
        follow at the end in the same order. Functions with ``omega == 0`` come
        first. With ``k`` every lower power is present too.

    Attributes
    ----------
    size : int
        Number of functions, sines included.
    speed : (size,)
        ``abs(sigma + i omega)``.
    time_unit : (size,)
        Time in which a function changes: a time constant, or 1/16 of a period; inf for a polynomial.
    fourth : (size, size)
        Matrix of the fourth derivative.
    frame : (size, 4)
        Values and slopes at ``h = 0`` in the first two columns, zeros.
    derivative : (size, size)
        ``d phi / dh = derivative @ phi``.
    """

    def __init__(self, keys: list[tuple[float, float, float, int]]) -> None:
        table = np.array(keys, float).reshape(-1, 4)
        self.n_real = n = int((table[:, 1] == 0).sum())
        self.n_turning = m = len(table) - n
        full = np.vstack([table, table[n:]])
        self.size = len(full)
        self.sigma = full[:, 0].copy()
        self.omega, self.omega_low = table[n:, 1].copy(), table[n:, 2].copy()
        self.speed = np.hypot(full[:, 0], full[:, 1])
        self.fastest = float(self.speed.max(initial=0.0))
        with np.errstate(divide="ignore"):
            self.time_unit = np.where(np.arange(self.size) < n, 1.0, TURN) / self.speed
        self.power = full[:, 3].copy()
        self.inverse_factorial = np.array([1.0 / math.factorial(int(k)) for k in self.power])
        self.derivative = self._derivative_matrix(table.tolist())
        second = self.derivative.dot(self.derivative)
        self.fourth = second.dot(second)
        self.frame = np.zeros((self.size, 4))
        self.frame[:, 0] = self.power == 0
        self.frame[n + m :, 0] = 0.0
        self.frame[:, 1] = self.derivative.dot(self.frame[:, 0])
        self.ones = np.ones(self.size)
        self._decay = np.minimum(self.sigma, 0.0)
        self._decays = bool(self.sigma.any())
        self._grows = bool((self.sigma > 0).any())
        self._powers = bool(self.power.any())
        self._omega_max = float(self.omega.max()) if m else 0.0
        self._omega_high, tail = split(self.omega)
        self._omega_tail = tail + self.omega_low
        self._latest = math.nan, np.zeros(0)
        # Where a function with a power has its largest magnitude.
        with np.errstate(divide="ignore", invalid="ignore"):
            self._peak = np.where(self.sigma < 0, self.power / -self.sigma, np.inf)

    def growing(self) -> list[tuple[float, np.ndarray]]:
        """Return (time within which they stay in the range of doubles, their columns) for every growth rate."""
        rates = np.unique(self.sigma[self.sigma > 0.0]).tolist()
        return [(LARGEST_EXPONENT / rate, np.flatnonzero(self.sigma == rate)) for rate in rates]

    def _derivative_matrix(self, table: list[list[float]]) -> np.ndarray:
        n, m = self.n_real, self.n_turning
        D = np.diag(self.sigma)
        turning = np.arange(n, n + m)
        D[turning, turning + m] = -self.omega
        D[turning + m, turning] = self.omega
        if not self.power.any():
            return D
        rates = [(-1, *row[:3]) for row in table[:n]]
        rates += [(side, *row[:3]) for side in (0, 1) for row in table[n:]]
        place = {(rate, k): j for j, (rate, k) in enumerate(zip(rates, self.power.tolist(), strict=True))}
        for (rate, k), j in place.items():
            if k > 0:
                D[j, place[rate, k - 1]] = 1.0
        return D

    def at(self, h: float) -> np.ndarray:
        """Values at one time, shape (size,); not to be written to."""
        # The end of a segment is asked for by the scan and by the flow.
        latest, phi = self._latest
        if latest != h:
            phi = self._at(h)
            self._latest = h, phi
        return phi

    def _at(self, h: float) -> np.ndarray:
        if self._decays:
            exponent = self.sigma * h
            if self._grows:
                exponent = np.minimum(exponent, LARGEST_EXPONENT)
            phi = np.exp(exponent)
        else:
            phi = np.ones(self.size)
        if self._powers:
            phi *= self.inverse_factorial * h**self.power
        if self.n_turning:
            n, m = self.n_real, self.n_turning
            cos, sin = self._turn(h)
            phi[n : n + m] *= cos
            phi[n + m :] *= sin
        return phi

    def sample(self, hs: np.ndarray) -> np.ndarray:
        """Values at several times, shape (k, size)."""
        column = hs[:, None]
        exponent = column * self.sigma
        if self._grows:
            exponent = np.minimum(exponent, LARGEST_EXPONENT)
        phi = np.exp(exponent)
        if self._powers:
            phi *= self.inverse_factorial * column**self.power
        if self.n_turning:
            n, m = self.n_real, self.n_turning
            cos, sin = self._turn(column)
            phi[:, n : n + m] *= cos
            phi[:, n + m :] *= sin
        return phi

    def exponentials(self, hs: np.ndarray) -> np.ndarray:
        """Values ``exp((sigma + i omega) h)`` at several times without powers, (k, functions without the sines)."""
        n, column = self.n_real, hs[:, None]
        rates = self.sigma[: n + self.n_turning]
        found = np.exp(np.minimum(column * rates, LARGEST_EXPONENT)).astype(complex)
        if self.n_turning:
            cos, sin = self._turn(column)
            found[:, n:] *= cos + 1j * sin
        return found

    def _turn(self, h: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Cosine and sine of ``omega h``; the angle is kept in twice the precision, so that no phase drifts."""
        angle = self.omega * h
        cos, sin = np.cos(angle), np.sin(angle)
        last = h if isinstance(h, float) else float(np.max(h, initial=0.0))
        if last * self._omega_max <= TURNS_EXACT:
            return cos, sin
        t = SPLITTER * h
        high = t - (t - h)
        low = (self._omega_high * high - angle) + self._omega_high * (h - high) + self._omega_tail * h
        return cos - sin * low, sin + cos * low

    def weights(self, length: float) -> np.ndarray:
        """Bounds (size,) of the magnitudes on ``[0, length]``; growing exponentials count as at the start."""
        if not self._powers:
            return self.ones
        top = np.minimum(self._peak, length)
        return np.exp(np.minimum(self.sigma * top, 0.0)) * (self.inverse_factorial * top**self.power)

    def magnitudes(self, a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
        """Smallest and largest magnitudes (size,) on ``[a, b]``; growing exponentials count as at the start."""
        if not self._powers:
            return np.exp(self._decay * b), np.exp(self._decay * a) if a else self.ones

        def at(h: float | np.ndarray) -> np.ndarray:
            return np.exp(self._decay * h) * (self.inverse_factorial * h**self.power)

        return np.minimum(at(a), at(b)), at(np.clip(self._peak, a, b))

    def envelope(self, a: float | np.ndarray, b: float | np.ndarray) -> np.ndarray:
        """Bounds of the magnitude of every function on ``[a, b]``, shape (size,) or (k, size) for (k, 1) ends."""
        if not (self._grows or self._powers) and isinstance(a, float) and a == 0.0:
            return self.ones
        top = np.minimum(np.maximum(self._peak, a), b)
        bound = np.exp(np.minimum(self.sigma * top, LARGEST_EXPONENT))
        if self._powers:
            bound = bound * (self.inverse_factorial * top**self.power)
        return bound
