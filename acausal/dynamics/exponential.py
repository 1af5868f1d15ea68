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
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..reduction.rounding import UNIT
from .closed_form import AffineFlow
from .products import Departure
from .spectrum import EigenvalueGroup

TERMS = 8
"""Of the Taylor series; with SHORT the others are far below the rounding of its sum."""
SHORT = 2.0**-9
"""Norm of the exponent at the first time."""
FEWEST = 12
"""Doublings from there to the last time."""
GROWN = 6
"""Doublings after which what takes more steps from state to state than the series has terms is known to 1e-9 of itself."""
PERIODS = 16.0
"""Time units up to which flows are compared; what cancels does so from the start."""
DECADE = 3
"""Doublings between two comparisons: one in each decade of time, nearly."""
RESOLVED = 2.0**-27
"""Part of the size of a state by which a flow may differ: losses of a tenth of a milliohm beside microseconds leave 1e-9."""
AGREED = 2.0**-34
"""The same of modes that stand for groups."""
ROUNDED = 2.0**-43
"""The same of one that is as good as any: `spectrum.CONDITION` times the rounding of a number."""
EARLY = 2.0**-20
"""Part of what a state has come to be until then."""
LOST = 2.0**-30
"""The same where no state is measured by others."""
RANGE = 1e100
"""Growth beyond which nothing is compared."""


class Exponential:
    """``exp(A h)`` at times ``h`` that double, up to some time units.

    Parameters
    ----------
    A : (n, n) array
    unit : float
        Time unit in seconds.
    span : float
        Longest time of interest.

    Notes
    -----
    A state is as large as it comes to be within a time unit, or until it is looked at, driven by another one of size 1. Where
    that is less than 1, as behind weak couplings, rounding of 1 is no fault, unless so much of it comes back that it would be
    one of the other state.
    """

    def __init__(self, A: np.ndarray, unit: float, span: float = math.inf) -> None:
        self._A = A
        with np.errstate(all="ignore"):
            self._squared = list(_squared_up(A, min(PERIODS * unit, span)))
            self._reached = np.maximum.accumulate([np.abs(np.eye(len(A)) + X) for _, X in self._squared])
            self._first = sum(h < unit for h, _ in self._squared[1:])
            self._sizes = np.maximum(self._reached, np.minimum(1.0, 1.0 / self._reached.transpose(0, 2, 1)))
        self._compared = list(range(len(self._squared))[::-DECADE])

    @property
    def size(self) -> np.ndarray:
        """How large (n, n) states are within a time unit, for each one that begins with 1."""
        return self._sizes[self._first]

    @property
    def reached(self) -> np.ndarray:
        """What states (n, n) come to within a time unit at most, for each one that begins with 1."""
        return self._reached[self._first]

    @cached_property
    def _bounds(self) -> np.ndarray:
        """By how much the exponentials themselves may be off."""
        bounds = list(_rounding(self._A, self._squared))
        return np.array([bounds[k] for k in self._compared])

    def _off(self, matrices: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        times = np.array([self._squared[k][0] for k in self._compared])
        expected = np.array([self._squared[k][1] for k in self._compared]) + np.eye(len(self._A))
        found = matrices(times)
        # High powers may leave the range of doubles where what they belong to has died away; a run that reads them says so.
        return np.where(np.isfinite(found), np.abs(found - expected), 0.0)

    def departure(
        self, matrices: Callable[[np.ndarray], np.ndarray], part: float = RESOLVED
    ) -> Departure | None:
        """Where matrices (k, n, n) at some times (k,), which should be exponentials, are not; None if they are."""
        with np.errstate(all="ignore"):
            size = self._sizes[np.maximum(self._compared, self._first)]
            off, allowed = self._off(matrices), part * size + self._bounds
            k, i, j = np.unravel_index(np.argmax(off / allowed), off.shape)
        if off[k, i, j] <= allowed[k, i, j]:
            return None
        return Departure(int(i), float(off[k, i, j]), float(size[k, i, j]), float(allowed[k, i, j]))

    def lost(self, matrices: Callable[[np.ndarray], np.ndarray]) -> float:
        """How far such matrices are from exponentials, up to 1 as near as any, where each state is measured by itself alone."""
        grown = np.array(self._compared) >= GROWN
        with np.errstate(all="ignore"):
            found = self._off(matrices) / (LOST * self._reached[self._compared] + self._bounds)
        return float(np.nanmax(found[grown], initial=0.0))

    def missed(self, matrices: Callable[[np.ndarray], np.ndarray]) -> float:
        """How far such matrices are from exponentials: up to 1 as near as any, and for what states have become until then too."""
        with np.errstate(all="ignore"):
            off, early = self._off(matrices), EARLY * self._sizes[self._compared]
            late = ROUNDED * self._sizes[np.maximum(self._compared, self._first)]
            allowed = np.minimum(early, late)
            if (off <= allowed).all():
                return 0.0
            found = float(np.max(off / (allowed + self._bounds)))
        return found if found == found else math.inf


def sizes_reached(A: np.ndarray, unit: float) -> np.ndarray:
    """Sizes of the states of a matrix: what each comes to within a time unit when any one begins with 1."""
    return Exponential(A, unit).reached.max(axis=1)


def confirmed(groups: Sequence[EigenvalueGroup], A: np.ndarray, unit: float) -> bool:
    """Whether the sum of simple modes is the exponential of a matrix."""

    def matrices(hs: np.ndarray) -> np.ndarray:
        return np.array([
            sum((g.weight * (g.P * np.exp(g.centre * h)) @ g.U).real for g in groups) for h in hs.tolist()
        ])  # fmt: skip

    return Exponential(A, unit).departure(matrices, AGREED) is None


def matrices_of(flow: AffineFlow, hs: np.ndarray) -> np.ndarray:
    """What takes states at the start to those after each of some times, (k, ny, ny), beyond its reach piece by piece."""
    found = np.empty((len(hs), flow.ny, flow.ny))
    within = hs <= flow.reach
    found[within] = _within_reach(flow, hs[within])
    if not within.all():
        last, h = _within_reach(flow, np.array([flow.reach]))[0], flow.reach
        for k in np.flatnonzero(~within)[np.argsort(hs[~within], kind="stable")].tolist():
            while h < hs[k]:
                last, h = last @ last, 2.0 * h
            assert h == hs[k], "times and reaches are powers of two"
            found[k] = last
    return found


def _within_reach(flow: AffineFlow, hs: np.ndarray) -> np.ndarray:
    phi = flow.basis.sample(hs)
    if flow.plain:
        return np.array([(flow.left * at[flow.function]) @ flow.right for at in phi]).reshape(
            -1, flow.ny, flow.ny
        )
    each = np.array([flow.coefficients(unit) for unit in np.eye(flow.ny)])
    return (each @ phi.T).transpose(2, 1, 0)


def _squared_up(A: np.ndarray, last: float) -> Iterator[tuple[float, np.ndarray]]:
    """Times that double up to ``last`` or beyond, and ``exp(A h) - 1``, which keeps the digits of slow states."""
    size = np.abs(A)
    norm = min(float(size.sum(axis=0).max()), float(size.sum(axis=1).max()), sys.float_info.max)
    h = 2.0 ** math.floor(math.log2(min(SHORT / norm, last * 2.0**-FEWEST))) if norm else last
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
