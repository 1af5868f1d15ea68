"""A function of time as Legendre series on panels, and its Fourier integrals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial import legendre

from ..dynamics import gram
from ..reduction.rounding import UNIT
from ..values import frozen

Evaluate = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Segments (k,) and times since their starts (k,) to values (k,)."""

DEGREE = 15
FITTED = 1e-12
"""Distance of a series from the function it stands for, relative to the largest value, that is rounding."""
RTOL = 1e-13
"""Error of a panel, relative to the largest value, that needs no halving."""
LEVELS = 106
"""Halvings after which a panel is taken as it is, the digits of two doubles: a jump within a transient that is as short as
the rounding of the whole is found to the rounding of the transient."""
MOST_PANELS = 50_000
"""Panels of one generation beyond which values that never become smooth are taken as they are."""
STALE = 2
"""Number of `halved_in_vain` after which a small error is rounding."""
SMALL = 1e-6
"""Error, relative to the largest value, below which it may be rounding."""
CHUNK = 2_000_000
"""Numbers in one intermediate array."""

NODES, WEIGHTS = legendre.leggauss(DEGREE + 1)
POLYNOMIALS = legendre.legvander(NODES, DEGREE)
"""Values at the nodes, (nodes, degrees)."""
TO_SERIES = WEIGHTS[:, None] * POLYNOMIALS * (np.arange(DEGREE + 1) + 0.5)
FINE_RULE = gram.WEIGHTS[:, None] * legendre.legvander(gram.NODES, DEGREE)
"""Integrates P_k(x) exp(-i q x) for q up to `gram.SLOW`."""
POINTS = np.concatenate([[-1.0], NODES, [1.0]])
"""Nodes between the ends, at which a transient that is too fast for the nodes shows."""
AT_ENDS = legendre.legvander(np.array([-1.0, 1.0]), DEGREE).T


@frozen
class Panels:
    """Sums ``series[k] P_k(x)`` on panels ``t = middle + half x``, -1 <= x <= 1, in any order.

    Attributes
    ----------
    middle, half : (p,) arrays
        In seconds.
    series : (p, m) array
        Coefficients of the Legendre polynomials, m <= DEGREE + 1.
    function : callable
        Panels (k,) and places -1 <= x <= 1 on them (k,) to the values (k,) of what the series stand for. A panel across
        a jump is halved until it is too short to count in an integral; its series is not the function.
    resolved : bool
        False if the panels would have become too many before the series meet the function.
    """

    middle: np.ndarray
    half: np.ndarray
    series: np.ndarray
    function: Evaluate
    resolved: bool = True

    @property
    def t(self) -> np.ndarray:
        """Times of the Gauss nodes, (p, nodes)."""
        return self.middle[:, None] + self.half[:, None] * NODES

    @property
    def values(self) -> np.ndarray:
        """Values at the Gauss nodes, (p, nodes)."""
        return self.series @ POLYNOMIALS[:, : self.series.shape[1]].T

    def integral(self, values: np.ndarray) -> float:
        """Integral of a function given at the Gauss nodes, (p, nodes)."""
        return float(self.half @ (values @ WEIGHTS))

    def fourier(self, omega: np.ndarray, origin: float) -> np.ndarray:
        """Integrals of ``x(t) exp(-i omega (t - origin))`` over all panels, for any number of turns in a panel.

        Parameters
        ----------
        omega : (n,) array
            Angular frequencies in rad/s.
        origin : float
            Time of phase zero in seconds.

        Returns
        -------
        integrals : (n,) complex array

        Notes
        -----
        The integral of ``P_k(x) exp(-i q x)`` is ``2 (-i)^k j_k(q)`` (DLMF 18.17.19), with the spherical Bessel
        function: what oscillates is integrated exactly, so that panels need to resolve the function alone (Filon).

        References
        ----------
        NIST Digital Library of Mathematical Functions, https://dlmf.nist.gov/18.17.E19.
        """
        share = self.half @ np.abs(self.series)
        used = np.flatnonzero(share > UNIT * share.max(initial=0.0))
        degrees = used[-1] + 1 if len(used) else 1
        factors = self.half[:, None] * self.series[:, :degrees]
        # Halving leaves few different lengths.
        lengths, at = np.unique(self.half, return_inverse=True)
        out = np.empty(len(omega), complex)
        step = max(1, CHUNK // max(factors.size, gram.POINTS * len(lengths)))
        for k in range(0, len(omega), step):
            part = omega[k : k + step, None]
            turns = np.exp(-1j * part * (self.middle - origin))
            out[k : k + step] = np.einsum(
                "pk,npk,np->n", factors, moments(part * lengths, degrees)[:, at], turns
            )
        return out


def moments(q: np.ndarray, degrees: int) -> np.ndarray:
    """Integrals of ``P_k(x) exp(-i q x)`` over -1 <= x <= 1 for q >= 0 and all k below ``degrees``, (..., degrees)."""
    from scipy.special import spherical_jn

    k = np.arange(degrees)
    out = np.empty((*q.shape, degrees), complex)
    slow = q <= gram.SLOW
    out[slow] = np.exp(-1j * q[slow][:, None] * gram.NODES) @ FINE_RULE[:, :degrees]
    out[~slow] = 2.0 * (-1j) ** k * spherical_jn(k, q[~slow][:, None])
    return out


def equal_parts(
    left: np.ndarray, right: np.ndarray, longest: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cut intervals into parts that are not longer than ``longest``; also return the interval of every part."""
    counts = np.maximum(1, np.ceil((right - left) / longest)).astype(np.int64)
    of = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
    width = (right - left) / counts
    begin = left[of] + number * width[of]
    end = np.where(number + 1 == counts[of], right[of], left[of] + (number + 1) * width[of])
    return begin, end, of


def follow(
    f: Evaluate,
    start: np.ndarray,
    parts: tuple[np.ndarray, np.ndarray, np.ndarray],
    longest: float,
    rounding: float = 0.0,
) -> Panels:
    """`fit` on parts ``(which, h0, h1)`` of segments, with no panel longer than ``longest``."""
    which, h0, h1 = parts
    left, right, of = equal_parts(h0, h1, longest)
    return fit(f, start, which[of], left, right, rounding)


def fit(
    f: Evaluate, start: np.ndarray, which: np.ndarray, h0: np.ndarray, h1: np.ndarray, rounding: float = 0.0
) -> Panels:
    """`fitted` for a function with one value; ``start`` are the starts (n,) of all segments in seconds."""
    at, left, half, series, resolved = fitted(
        lambda k, hs: np.asarray(f(k, hs))[:, None], which, h0, h1, RTOL, rounding
    )

    def function(p: np.ndarray, x: np.ndarray) -> np.ndarray:
        return f(at[p], (left[p] + half[p]) + half[p] * x)

    return Panels(start[at] + left + half, half, series[:, :, 0], function, resolved)


def fitted(
    f: Evaluate,
    which: np.ndarray,
    h0: np.ndarray,
    h1: np.ndarray,
    rtol: float,
    rounding: np.ndarray | float = 0.0,
    noisy: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, bool]:
    """Approximate functions that are smooth within segments, on panels.

    These are halved until the last coefficients are small and the series meets the function at both ends.

    Parameters
    ----------
    f : callable
        Segments (k,) and times since their starts (k,) to values (k, m).
    which : (k,) array of int
        Segments.
    h0, h1 : (k,) arrays
        Times since their starts between which the functions are wanted, ``h1 > h0``.
    rtol : float
        Error of a panel, relative to the largest finite value of each function, that needs no halving.
    rounding : (m,) array or float
        The same, absolute: how far rounding moves the values.
    noisy : bool
        Whether what halving leaves is rounding, however large.

    Returns
    -------
    which, left, half : (p,) arrays
        Segments, starts and half lengths of the panels.
    series : (p, degrees, m) array
    resolved : bool
        False if the panels would have become too many before the series meet the functions.
    """
    left, half = h0, 0.5 * (h1 - h0)
    last, stale = np.zeros(0), np.zeros(0)
    scale, found, resolved = np.zeros(1), [], True
    for level in range(LEVELS):
        hs = (left + half)[:, None] + half[:, None] * POINTS
        values = np.asarray(f(np.repeat(which, len(POINTS)), hs.ravel()), float).reshape(*hs.shape, -1)
        series, error = _series(values)
        scale = np.maximum(scale, np.max(np.abs(values), axis=(0, 1), initial=0.0, where=np.isfinite(values)))
        stale = _halved_in_vain(error, last, stale) if level else np.zeros(error.shape, np.int64)
        # A value that is not a number compares as false, and halving would not help.
        rough = (error > np.maximum(rtol * scale, rounding) + _late(series, left, half)) & (
            (stale < STALE) | (not noisy) & (error > SMALL * scale)
        )
        bad = np.any(rough, axis=1)
        if level == LEVELS - 1 or bad.sum() > MOST_PANELS:
            resolved, bad[:] = level == LEVELS - 1 or not bool((error[bad] > SMALL * scale).any()), False
        found.append((which[~bad], left[~bad], half[~bad], series[~bad]))
        if not bad.any():
            break
        which, left, half = which[bad], left[bad], 0.5 * half[bad]
        left = np.stack([left, left + 2.0 * half], 1).ravel()
        which, half, last, stale = (np.repeat(x, 2, axis=0) for x in (which, half, error[bad], stale[bad]))
    at, left, half, series = (np.concatenate(x) for x in zip(*found, strict=True))
    return at, left, half, series, resolved


def _series(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (p, degrees, m) from values at `POINTS`, and how far they are off (p, m)."""
    series = np.einsum("nd,pnm->pdm", TO_SERIES, values[:, 1:-1])
    ends = np.abs(np.einsum("de,pdm->pem", AT_ENDS, series) - values[:, [0, -1]])
    return series, np.maximum(np.abs(series[:, -2:]).max(axis=1), ends.max(axis=1))


def _halved_in_vain(error: np.ndarray, last: np.ndarray, stale: np.ndarray) -> np.ndarray:
    """Halvings in a row that left a tenth of the error or more in both halves: what is in one alone can be resolved."""
    both = np.repeat(error.reshape(-1, 2, *error.shape[1:]).min(axis=1), 2, axis=0)
    return np.where(both > 0.1 * last, stale + 1, 0)


def _late(series: np.ndarray, left: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Change of a function within the rounding of time: by Markov's inequality ``abs(P_k') <= k (k + 1) / 2``."""
    k = np.arange(DEGREE + 1)
    late = np.spacing(left + 2.0 * half) / half
    return np.einsum("pdm,d,p->pm", np.abs(series), 0.5 * k * (k + 1), late)
