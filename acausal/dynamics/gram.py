"""Integrals of products of the functions of closed forms, for any number of periods."""

from __future__ import annotations

import math

import numpy as np

from ..values import frozen
from .closed_form import Basis

SLOW = 16.0
"""Angle or number of time constants up to which a Gauss rule of `POINTS` points integrates to rounding."""
POINTS = 40
NODES, WEIGHTS = np.polynomial.legendre.leggauss(POINTS)
CHUNK = 50_000
"""Pairs of functions integrated by the rule at once."""


def gram(basis: Basis, h0: float, h1: float) -> np.ndarray:
    """Integrals of ``phi_i(h) phi_j(h)`` over ``[h0, h1]``, (size, size), for any number of periods.

    Notes
    -----
    With ``phi = Re z`` or ``Im z`` the products are those of ``z_i z_j`` and ``z_i conj(z_j)``, which are again
    exponentials times powers.
    """
    n, m = basis.n_real, basis.n_turning
    rates = basis.sigma[: n + m].astype(complex)
    rates[n:] += 1j * basis.omega
    low = np.zeros(n + m)
    low[n:] = basis.omega_low
    powers = basis.power[: n + m].astype(int)
    z = _Exponentials(rates, low, basis.exponentials(np.array([h0, h1])), powers)
    same, other = _products(z, z, h0, h1), _products(z, z.conjugate(), h0, h1)
    G = np.empty((basis.size, basis.size))
    turning = slice(n, n + m)
    G[: n + m, : n + m] = 0.5 * np.real(same + other)
    G[n + m :, : n + m] = 0.5 * np.imag(same + other)[turning]
    G[: n + m, n + m :] = G[n + m :, : n + m].T
    G[n + m :, n + m :] = 0.5 * np.real(other - same)[turning, turning]
    # Sines of small angles keep their digits.
    both = np.flatnonzero(basis.speed * (h1 - h0) <= 0.5 * SLOW)
    half = 0.5 * (h1 - h0)
    phi = basis.sample(h0 + half * (1.0 + NODES))[:, both]
    G[np.ix_(both, both)] = half * (phi.T * WEIGHTS) @ phi
    return G


@frozen
class _Exponentials:
    """Exponentials times powers; ``low`` are the second parts of their frequencies, ``ends`` their values at both limits."""

    rates: np.ndarray
    low: np.ndarray
    ends: np.ndarray
    powers: np.ndarray

    def conjugate(self) -> _Exponentials:
        return _Exponentials(self.rates.conj(), -self.low, self.ends.conj(), self.powers)


def _products(z: _Exponentials, other: _Exponentials, h0: float, h1: float) -> np.ndarray:
    """Integrals of products of exponentials with powers."""
    # Close frequencies differ by what the second parts of them hold.
    mu = (z.rates[:, None] + other.rates) + 1j * (z.low[:, None] + other.low)
    powers = z.powers
    power = powers[:, None] + powers
    factor = np.array([1.0 / math.factorial(int(k)) for k in powers])
    begin, end = (e[:, None] * o for e, o in zip(z.ends, other.ends, strict=True))
    slow = np.abs(mu) * (h1 - h0) <= SLOW
    out = np.empty(mu.shape, complex)
    i, j = np.nonzero(slow)
    for k in range(0, len(i), CHUNK):
        at = i[k : k + CHUNK], j[k : k + CHUNK]
        out[at] = begin[at] * _by_rule(mu[at], power[at], h0, h1)
    fast = ~slow
    out[fast] = _by_parts(mu[fast], power[fast], end[fast], h1) - _by_parts(
        mu[fast], power[fast], begin[fast], h0
    )
    return out * (factor[:, None] * factor)


def _by_rule(mu: np.ndarray, power: np.ndarray, h0: float, h1: float) -> np.ndarray:
    """Integrals of ``h^power exp(mu (h - h0))``."""
    half = 0.5 * (h1 - h0)
    since = half * (1.0 + NODES)
    values = np.exp(mu[:, None] * since)
    if power.any():
        values = values * (h0 + since) ** power[:, None]
    return half * (values @ WEIGHTS)


def _by_parts(mu: np.ndarray, power: np.ndarray, exponential: np.ndarray, h: float) -> np.ndarray:
    """Antiderivatives of ``h^power exp(mu h)``, given the exponentials at `h`."""
    total = np.zeros(len(mu), complex)
    # F_j = (h^j - j F_(j - 1)) / mu, which loses nothing beyond `SLOW`.
    for j in range(int(power.max(initial=0)) + 1):
        used = power >= j
        total[used] = (h**j - j * total[used]) / mu[used]
    return exponential * total
