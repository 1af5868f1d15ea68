"""Speeds after impacts of rigid bodies: one round as a projection, and a row of balls with gaps between them."""

import numpy as np
from scipy.optimize import nnls


def round_of_impacts(mass: np.ndarray, G: np.ndarray, u: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """The speeds nearest to `u` in kinetic energy of the difference with ``G u >= bound``.

    The conditions of Karush, Kuhn and Tucker of this projection are impulses that do not pull, and act only where a bound is
    met. Solved as a least-distance problem (Lawson, Hanson, *Solving Least Squares Problems*, 1974, chapter 23).
    """
    root = np.sqrt(mass)
    A, b = G / root, bound - G @ u
    size = max(np.abs(b).max(), 1e-300)
    E = np.vstack([A.T, b / size])
    f = np.append(np.zeros(len(mass)), 1.0)
    r = E @ nnls(E, f)[0] - f
    return u - size * r[:-1] / r[-1] / root


def settle(
    mass: np.ndarray, G: np.ndarray, u: np.ndarray, e: np.ndarray, slow: float, most: int = 1000
) -> np.ndarray:
    """Rounds until no contact approaches faster than `slow`; those without restitution that touch always take part."""
    for _ in range(most):
        v = G @ u
        part = (v < -slow) | ((e == 0.0) & (v <= slow))
        if not (v < -slow).any():
            return u
        u = round_of_impacts(mass, G[part], u, np.where(v < -slow, -e * v, 0.0)[part])
    return round_of_impacts(mass, G, u, np.zeros(len(G)))


def row_with_gaps(mass: np.ndarray, u: np.ndarray, e: float, gap: float = 1e-3) -> np.ndarray:
    """Last speeds of balls in a row that begin with small equal gaps: one impact of two balls after the other."""
    u, x = np.array(u, float), gap * np.arange(len(mass))
    while True:
        approach = u[:-1] - u[1:]
        distance = np.diff(x)
        with np.errstate(divide="ignore", invalid="ignore"):
            times = np.where(approach > 1e-12, np.maximum(distance, 0.0) / approach, np.inf)
        k = int(np.argmin(times))
        if not np.isfinite(times[k]):
            return u
        x = x + times[k] * u
        p = (1 + e) * approach[k] / (1 / mass[k] + 1 / mass[k + 1])
        u[k] -= p / mass[k]
        u[k + 1] += p / mass[k + 1]
