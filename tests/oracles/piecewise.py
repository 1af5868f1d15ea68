"""Piecewise-exact integration of hand-written switched affine equations.

In each mode ``x' = A x + b`` with a diagonalisable ``A = V diag(l) V^-1``, so that::

    x(t)       = V [exp(l t) w + t phi1(l t) beta],          w = V^-1 x(0),  beta = V^-1 b
    int_0^t x  = V [t phi1(l t) w + t^2 phi2(l t) beta],     phi1(z) = (e^z - 1)/z,  phi2(z) = (phi1(z) - 1)/z

There is no step size and no discretisation error. A guard ``row @ x + offset >= 0`` ends a mode at its zero,
found on the exact flow to the last bits of the time since the start of the segment. The hand-written part is the
transition each guard names. `AffineFlow` works in double precision, `MpAffineFlow` with `mpmath` numbers for modes
whose rates span more decades than a double can hold.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import mpmath
import numpy as np
from scipy.optimize import brentq

Transition = Callable[[Any], tuple[str, Any]]


def phi1(z: np.ndarray) -> np.ndarray:
    """``(exp(z) - 1) / z`` without cancellation, 1 at zero."""
    z = np.asarray(z, complex)
    safe = np.where(z == 0, 1.0, z)
    return np.where(z == 0, 1.0, np.expm1(safe) / safe)


def phi2(z: np.ndarray) -> np.ndarray:
    """``(phi1(z) - 1) / z`` without cancellation, 1/2 at zero."""
    z = np.asarray(z, complex)
    small = np.abs(z) < 0.5
    term, series = np.full(z.shape, 0.5 + 0j), np.zeros(z.shape, complex)
    for k in range(3, 22):
        series = series + term
        term = term * np.where(small, z, 0) / k
    safe = np.where(small, 1.0, z)
    return np.where(small, series, (phi1(safe) - 1) / safe)


class AffineFlow:
    """Exact flow of ``x' = A x + b`` in double precision; raises `ValueError` for a defective `A`."""

    def __init__(self, A: Any, b: Any) -> None:
        self.A, self.b = np.asarray(A, float), np.asarray(b, float)
        self.rates, self.V = np.linalg.eig(self.A)
        if np.linalg.cond(self.V) > 1e8:
            msg = "the mode's matrix has no well-conditioned basis of eigenvectors"
            raise ValueError(msg)
        self.W = np.linalg.inv(self.V)
        self.beta = self.W @ self.b
        self.fastest = float(np.max(np.abs(self.rates.imag), initial=0.0))

    def at(self, x: Any, t: float) -> np.ndarray:
        """State `t` after it was `x`."""
        z = self.rates * t
        return (self.V @ (np.exp(z) * (self.W @ x) + t * phi1(z) * self.beta)).real

    def integral(self, x: Any, t: float) -> np.ndarray:
        """Time integral of the state from 0 to `t`."""
        z = self.rates * t
        return (self.V @ (t * phi1(z) * (self.W @ x) + t * t * phi2(z) * self.beta)).real

    def rate(self, x: Any) -> np.ndarray:
        """Time derivative at the state `x`."""
        return self.A @ x + self.b

    def values(self, row: Any, offset: float, x: Any, times: np.ndarray) -> np.ndarray:
        """``row @ x(t) + offset`` at each of `times`; what is below the rounding error of its terms counts as zero."""
        z = np.multiply.outer(times, self.rates)
        terms = (np.exp(z) * (self.W @ x) + times[..., None] * phi1(z) * self.beta) * (
            np.asarray(row) @ self.V
        )
        g = terms.sum(axis=-1).real + offset
        return np.where(np.abs(g) <= 1e-14 * (np.abs(terms).sum(axis=-1) + abs(offset)), 0.0, g)

    def first_crossing(self, row: Any, offset: float, x: Any, duration: float) -> float | None:
        """First time in ``(0, duration]`` at which ``row @ x + offset`` becomes negative, None without one."""
        bracket = self.bracket(row, offset, x, duration)
        if bracket is None or bracket[0] == bracket[1]:
            return None if bracket is None else bracket[0]
        return self.refine(
            row, offset, x, brentq(self._scalar(row, offset, x), *bracket, xtol=1e-300, rtol=9e-16)
        )

    def refine(self, row: Any, offset: float, x: Any, root: float) -> float:
        """One Newton correction of a root of the guard."""
        at_root = self.at(x, root)
        slope = float(np.dot(row, self.rate(at_root)))
        return root - (float(np.dot(row, at_root)) + float(offset)) / slope if slope else root

    def bracket(self, row: Any, offset: float, x: Any, duration: float) -> tuple[float, float] | None:
        """Interval with the first change from positive to negative; a guard that starts at zero may leave it."""
        count = max(8, int(np.ceil(16 * duration * self.fastest / (2 * np.pi))))
        first = duration / count
        times = np.concatenate([[0.0], first * 2.0 ** np.arange(-24, 0, 4), first * np.arange(1, count + 1)])
        g = self.values(row, offset, x, times)
        negative = np.flatnonzero(g < 0)
        positive = np.flatnonzero(g > 0)
        if not len(negative) or (len(positive) and negative[-1] < positive[0]):
            return None
        if not len(positive) or negative[0] > 0 and negative[0] < positive[0]:
            return (0.0, 0.0)
        k = negative[negative > positive[0]][0]
        return float(times[k - 1]), float(times[k])

    def _scalar(self, row: Any, offset: float, x: Any) -> Callable[[float], float]:
        left, w = np.asarray(row, float) @ self.V, self.W @ x
        return lambda t: (
            float((left @ (np.exp(self.rates * t) * w + t * phi1(self.rates * t) * self.beta)).real) + offset
        )


class MpAffineFlow:
    """Exact flow of ``x' = A x + b`` in the working precision of `mpmath` at construction.

    Roots are bracketed by the double-precision twin and polished by Newton steps in full precision.
    """

    def __init__(self, A: Sequence[Sequence[Any]], b: Sequence[Any]) -> None:
        self.digits = mpmath.mp.dps
        self.A, self.b = _objects(A), _objects(b)
        rates, V = mpmath.mp.eig(mpmath.matrix(A))
        self.rates, self.V = list(rates), _objects(V.tolist())
        self.W = _objects((V**-1).tolist())
        self.beta = self.W @ self.b
        self.twin = AffineFlow(self.A.astype(float), self.b.astype(float))

    def _modal(self, t: Any) -> tuple[np.ndarray, np.ndarray]:
        powers = [mpmath.exp(rate * t) for rate in self.rates]
        first = [(p - 1) / rate if rate else t for p, rate in zip(powers, self.rates, strict=True)]
        return _objects(powers), _objects(first)

    def at(self, x: Any, t: Any) -> np.ndarray:
        """State `t` after it was `x`."""
        with mpmath.workdps(self.digits):
            powers, first = self._modal(t)
            return _real(self.V @ (powers * (self.W @ x) + first * self.beta))

    def integral(self, x: Any, t: Any) -> np.ndarray:
        """Time integral of the state from 0 to `t`."""
        with mpmath.workdps(self.digits):
            _, first = self._modal(t)
            second = [
                (f - t) / rate if rate else t * t / 2 for f, rate in zip(first, self.rates, strict=True)
            ]
            return _real(self.V @ (first * (self.W @ x) + _objects(second) * self.beta))

    def rate(self, x: Any) -> np.ndarray:
        """Time derivative at the state `x`."""
        return self.A @ x + self.b

    def first_crossing(self, row: Any, offset: Any, x: Any, duration: Any) -> Any:
        """First time in ``(0, duration]`` at which ``row @ x + offset`` becomes negative, None without one."""
        root = self.twin.first_crossing(
            [float(r) for r in row], float(offset), x.astype(float), float(duration)
        )
        if root is None or root == 0:
            return root
        root = mpmath.mpf(root)
        for _ in range(3):
            at_root = self.at(x, root)
            root -= (np.dot(row, at_root) + offset) / np.dot(row, self.rate(at_root))
        return root


def _objects(values: Any) -> np.ndarray:
    return np.array(values, dtype=object)


def _real(values: np.ndarray) -> np.ndarray:
    return _objects([v.real for v in values])


class Guard(NamedTuple):
    """The mode holds while ``row @ x + offset >= 0``; at its zero `transition` names the next mode and state."""

    row: tuple[Any, ...]
    offset: Any
    transition: Transition


@dataclass(frozen=True)
class Mode:
    """An affine flow with the guards that end it."""

    flow: AffineFlow | MpAffineFlow
    guards: tuple[Guard, ...] = ()


class Segment(NamedTuple):
    """Part of a run in one mode: state `x` at `start`, left after `duration`."""

    start: Any
    mode: str
    x: Any
    duration: Any


def advance(
    modes: Mapping[str, Mode], mode: str, x: Any, duration: Any, start: Any = 0.0
) -> tuple[str, Any, list[Segment]]:
    """Follow the flow and the guards' transitions for `duration`; returns the last mode, its state, the segments."""
    segments: list[Segment] = []
    stalls = 0
    while duration > 0:
        flow = modes[mode].flow
        crossings = [
            (flow.first_crossing(g.row, g.offset, x, duration), k) for k, g in enumerate(modes[mode].guards)
        ]
        found = [(t, k) for t, k in crossings if t is not None and t < duration]
        step = min(found)[0] if found else duration
        stalls = stalls + 1 if step == 0 else 0
        if stalls > len(modes):
            msg = f"the guards of mode {mode!r} pass control round in a circle at t = {start}"
            raise RuntimeError(msg)
        segments.append(Segment(start, mode, x, step))
        x = flow.at(x, step)
        start, duration = start + step, duration - step
        if found:
            mode, x = modes[mode].guards[min(found)[1]].transition(x)
    return mode, x, segments


def sample(modes: Mapping[str, Mode], segments: Sequence[Segment], times: Any) -> np.ndarray:
    """States at `times` (right limits at segment boundaries), shape ``(len(times), n)``, as floats."""
    starts = np.array([float(s.start) for s in segments])
    times = np.asarray(times, float)
    which = np.clip(np.searchsorted(starts, times, side="right") - 1, 0, None)
    rows = [
        modes[segments[k].mode].flow.at(segments[k].x, t - starts[k])
        for k, t in zip(which, times, strict=True)
    ]
    return np.array(rows).astype(float)
