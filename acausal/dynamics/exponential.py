"""Whether a flow is the exponential of its generator, told without eigenvalues.

Everything that a closed form knows of a matrix comes from its eigenvalues, and whether modes only cancel each other there is
judged by guesses of how large states are. Here the exponential is squared up from a short time, which needs neither.

References
----------
Moler, Van Loan, "Nineteen dubious ways to compute the exponential of a matrix, twenty-five years later", SIAM Review 45 (2003):
methods 1 and 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from ..reduction.rounding import UNIT
from .closed_form import AffineFlow
from .products import Departure

TERMS = 8
"""Of the Taylor series; with SHORT the others are 2e-14 of its sum at most."""
SHORT = 0.125
"""Norm of the exponent at the first time."""
PERIODS = 16.0
"""Time units up to which flows are compared; what cancels does so from the start."""
DECADE = 3
"""Doublings between two comparisons: one in each decade of time, nearly."""
AGREED = 2.0**-30
"""Part of the size of a state by which a flow may differ."""
RANGE = 1e100
"""Growth beyond which nothing is compared."""


def departure(flow: AffineFlow, Ay: np.ndarray, unit: float) -> Departure | None:
    """Where the flow of ``y' = Ay y`` is not the exponential of its generator; None where it is, in all states.

    Parameters
    ----------
    flow : AffineFlow
    Ay : (ny, ny)
    unit : float
        Time unit in seconds for which the flow was made.

    Notes
    -----
    A state is as large as it comes to be within `PERIODS` units, driven by another one of size 1. Where that is less than 1, as
    behind weak couplings, and nothing of it comes back, rounding of 1 is no fault.
    """
    squared = list(_squared_up(Ay, PERIODS * unit))
    states = np.eye(len(Ay))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        reached = np.max([np.abs(states + X) for _, X in squared], axis=0)
        back = reached.T
        size = np.where(back > 0.0, np.maximum(reached, np.minimum(1.0, 1.0 / back)), reached)
        which = [k for k in range(len(squared))[::-DECADE] if flow.shortest <= squared[k][0] <= flow.reach]
        if not which:
            return None
        expected = states + [squared[k][1] for k in which]
        off = np.abs(_matrices(flow, np.array([squared[k][0] for k in which])) - expected)
        if (off <= AGREED * size).all():
            return None
        bounds = list(_rounding(Ay, squared))
        allowed = AGREED * size + [bounds[k] for k in which]
        k, i, j = np.unravel_index(np.argmax(off / allowed), off.shape)
    if off[k, i, j] <= allowed[k, i, j]:
        return None
    return Departure(int(i), float(off[k, i, j]), float(size[i, j]), float(allowed[k, i, j]))


def _matrices(flow: AffineFlow, hs: np.ndarray) -> np.ndarray:
    """What takes states at the start to those after each of some times, (k, ny, ny)."""
    phi = flow.basis.sample(hs)
    if flow.plain:
        return np.array([(flow.left * at[flow.function]) @ flow.right for at in phi])
    each = np.array([flow.coefficients(unit) for unit in np.eye(flow.ny)])
    return (each @ phi.T).transpose(2, 1, 0)


def _squared_up(A: np.ndarray, last: float) -> Iterator[tuple[float, np.ndarray]]:
    """Times that double up to ``last`` or beyond, and ``exp(A h) - 1``, which keeps the digits of slow states."""
    size = np.abs(A)
    norm = min(float(size.sum(axis=0).max()), float(size.sum(axis=1).max()))
    h = 2.0 ** math.floor(math.log2(min(SHORT / norm, last))) if norm else last
    X = term = A * h
    for k in range(2, TERMS + 1):
        term = A @ term * (h / k)
        X = X + term
    while np.abs(X).max() < RANGE:
        yield h, X
        if h >= last:
            return
        X, h = 2.0 * X + X @ X, 2.0 * h


def _rounding(A: np.ndarray, squared: list[tuple[float, np.ndarray]]) -> Iterator[np.ndarray]:
    """Bounds of what rounds, and is left out, of what `_squared_up` gives, elementwise."""
    size, n = np.abs(A) * squared[0][0], len(A)
    part = size
    E = UNIT * part
    for k in range(2, TERMS + 1):
        part = size @ part / k
        E = E + (k * n * UNIT) * part
    following = size @ part / (TERMS + 1)
    E = E + 2.0 * (following + size @ following / (TERMS + 2))
    yield E
    for (_, X), (_, doubled) in pairwise(squared):
        largest = np.abs(X)
        rounded = E + (n * UNIT) * largest
        E = 2.0 * E + largest @ rounded + rounded @ largest + E @ E + UNIT * (np.abs(doubled) + 2.0 * largest)
        E[~np.isfinite(E)] = np.inf
        yield E
