"""Largest values of closed forms with so many periods that panels cannot follow them: a search guided by bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..dynamics.closed_form import PANEL, TURN, Basis, longest_panel
from ..reduction.rounding import SUMMED
from ..values import frozen
from .extremes import largest
from .panels import FITTED, NODES, TO_SERIES, Panels
from .segments import Affine, SegmentGroup, Segments

MOST_PANELS = 32768
"""Panels of one segment above which it is a wave."""
MOST_FOLLOWED = 2**17
"""Panels that are all looked at where the search finds no end."""
CHUNK = 4096
"""Panels looked at together."""
SLOW = 2.0
"""Angle or number of time constants of an interval up to which a function is bounded by its values at the ends."""
RESOLVED = 1e-6
"""Distance from the bound, relative to the sizes of all terms, at which a search is given up, and for further pieces."""
FIRST = 64
"""Intervals at the beginning."""
PARTS = 8
"""Parts into which an interval is cut."""
MOST_CUT = 256
"""Intervals that are cut in one round."""
ROUNDS = 32
NEAR = 0.05
"""Distance of frequencies, relative to them, up to which their functions have one amplitude."""
PERIOD = 2
"""Panels in a period of the fastest function."""


@frozen
class Wave:
    """Closed form ``c phi(t - start)`` for ``start + h0 <= t <= start + h1``.

    Attributes
    ----------
    basis : Basis
    c : (basis.size,) array
    start, h0, h1 : float
        In seconds.
    """

    basis: Basis
    c: np.ndarray
    start: float
    h0: float
    h1: float

    @cached_property
    def size(self) -> float:
        """Bound of the sum of the magnitudes of all terms."""
        return float(np.abs(self.c) @ self.basis.envelope(self.h0, self.h1))

    @cached_property
    def bundles(self) -> list[np.ndarray]:
        """Turning functions of nearly one frequency, numbered from the first cosine: their sum has one amplitude."""
        basis = self.basis
        m = basis.n_turning
        used = np.flatnonzero(self.c[basis.n_real : basis.n_real + m] + 1j * self.c[basis.n_real + m :])
        used = used[np.argsort(basis.omega[used], kind="stable")]
        found: list[list[int]] = []
        for k in used.tolist():
            if found and basis.omega[k] <= (1.0 + NEAR) * basis.omega[found[-1][0]]:
                found[-1].append(k)
            else:
                found.append([k])
        return [np.array(f) for f in found]

    def bounds(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Bounds from above on intervals (k,).

        What is slow on an interval exceeds its values at the ends by an eighth of its largest curvature times the square
        of the length at most; fast turning functions of nearly one frequency count with their amplitude.
        """
        basis, n = self.basis, self.basis.n_real
        length = right - left
        slow = basis.speed * length[:, None] <= SLOW
        envelope = basis.envelope(left[:, None], right[:, None])
        ends = [(np.where(slow, basis.sample(h), 0.0) * self.c).sum(axis=1) for h in (left, right)]
        curvature = (np.abs(self.c @ basis.derivative @ basis.derivative) * envelope * slow).sum(axis=1)
        bound = np.maximum(*ends) + 0.125 * length**2 * curvature
        bound += (np.maximum(self.c, 0.0) * envelope * ~slow)[:, :n].sum(axis=1)
        for bundle in self.bundles:
            bound += self._amplitude(bundle, left, right, envelope, slow)
        return bound

    def _amplitude(
        self,
        bundle: np.ndarray,
        left: np.ndarray,
        right: np.ndarray,
        envelope: np.ndarray,
        slow: np.ndarray,
    ) -> np.ndarray:
        """Bound of the amplitude of the fast ones of a bundle.

        Without the common turn the sum is slow in the complex plane: the bound is that of a slow function, or the sum
        of all amplitudes.
        """
        basis, at = self.basis, self.basis.n_real + bundle
        a = np.where(slow[:, at], 0.0, self.c[at] - 1j * self.c[at + basis.n_turning])
        power, factor, sigma = basis.power[at], basis.inverse_factorial[at], basis.sigma[at]
        ends = [
            np.abs((a * basis.exponentials(h)[:, at] * (factor * h[:, None] ** power)).sum(axis=1))
            for h in (left, right)
        ]
        rate = np.abs(sigma + 1j * (basis.omega[bundle] - basis.omega[bundle].mean()))
        top = right[:, None]
        curvature = rate**2 * top**power * factor
        for k, scale in ((1, 2.0 * rate), (2, np.ones(len(at)))):
            inverse = np.array([1.0 / math.factorial(max(0, int(p) - k)) if p >= k else 0.0 for p in power])
            curvature = curvature + scale * inverse * top ** np.maximum(power - k, 0.0)
        growth = np.exp(np.maximum(sigma * left[:, None], sigma * top))
        joint = np.maximum(*ends) + 0.125 * (right - left) ** 2 * (np.abs(a) * curvature * growth).sum(axis=1)
        return np.minimum(joint, (np.abs(a) * envelope[:, at]).sum(axis=1))

    def panels(self, left: np.ndarray, right: np.ndarray) -> Panels:
        """Series on intervals (k,) that resolve all functions."""
        middle, half = 0.5 * (left + right), 0.5 * (right - left)

        def function(p: np.ndarray, x: np.ndarray) -> np.ndarray:
            return self.basis.sample(middle[p] + half[p] * x) @ self.c

        p, x = np.indices((len(middle), len(NODES)))
        values = function(p.ravel(), NODES[x.ravel()])
        return Panels(middle + self.start, half, values.reshape(p.shape) @ TO_SERIES, function)


@dataclass(frozen=True)
class Found:
    """A value of the signal, which elsewhere is not above ``bound``."""

    value: float
    bound: float


def waves(
    segments: Segments, affine: Affine, a: float, b: float
) -> Iterator[tuple[float, float, list[Wave]]]:
    """Parts of [a, b], each in one segment, in which a signal has too many periods for panels, in order of time."""
    which, h0, h1 = segments.overlap(a, b)
    shortest = np.array([_shortest(group) for group in segments.groups])
    long = h1 - h0 > shortest[segments.group_of[which]]
    for k, begin, end in zip(which[long].tolist(), h0[long].tolist(), h1[long].tolist(), strict=True):
        trajectory = segments.all[k].trajectory
        basis = trajectory.flow.basis
        row, start = affine.row(segments.groups[segments.group_of[k]]), float(segments.start[k])
        found = []
        for at, piece in trajectory.pieces(end):
            low, high = max(begin - at, 0.0), min(end - at, piece.reach)
            if high > low:
                found.append(_wave(basis, (row @ piece.C)[0], start + at, low, high))
        if _panels(found) > MOST_PANELS:
            yield max(a, start), min(b, float(segments.end[k])), found


def _shortest(group: SegmentGroup) -> float:
    """Shortest segment that may be a wave."""
    if group.flow is None:
        return np.inf
    return MOST_PANELS * PANEL * float(group.basis.time_unit[group.basis.n_real :].min(initial=np.inf))


def _wave(basis: Basis, c: np.ndarray, start: float, h0: float, h1: float) -> Wave:
    size = np.abs(c) * basis.envelope(h0, h1)
    return Wave(basis, np.where(size > SUMMED * size.sum(), c, 0.0), start, h0, h1)


def _panels(parts: list[Wave]) -> float:
    """Number of panels that resolve all functions."""
    return sum((w.h1 - w.h0) / longest_panel(w.basis, w.c[None], w.h1 - w.h0) for w in parts)


def largest_of_waves(parts: list[Wave], factor: float) -> Found:
    """Largest value of a multiple of waves.

    Intervals with the highest bounds are cut first, those below the best value found are left. Where many intervals
    differ too little for that, as with several frequencies, all are looked at, if they are not too many.
    """
    parts = [Wave(w.basis, factor * w.c, w.start, w.h0, w.h1) for w in parts]
    bounds = [float(w.bounds(np.array([w.h0]), np.array([w.h1]))[0]) for w in parts]
    best: Found | None = None
    size = max(w.size for w in parts)
    for k in np.argsort(-np.array(bounds), kind="stable").tolist():
        # Where one part is given up, the bounds of the others are as good.
        if best is None or (bounds[k] > best.value and best.bound <= best.value + RESOLVED * size):
            best = _searched(parts[k], best, FITTED if best is None else RESOLVED)
        else:
            best = replace(best, bound=max(best.bound, bounds[k]) if bounds[k] > best.value else best.bound)
    assert best is not None
    if best.bound > best.value + RESOLVED * size and _panels(parts) <= MOST_FOLLOWED:
        for wave in parts:
            best = _followed(wave, best)
        return replace(best, bound=best.value)
    return best if best.bound > best.value + RESOLVED * size else replace(best, bound=best.value)


def _searched(wave: Wave, best: Found | None, close: float) -> Found:
    """The better of `best` and the largest value of a wave; the bound is that of what was not searched."""
    size = wave.size
    before = -np.inf if best is None else best.bound
    period = _period(wave)
    ends = np.linspace(wave.h0, wave.h1, FIRST + 1)
    left, right = ends[:-1], ends[1:]
    bound = wave.bounds(left, right)
    for _ in range(ROUNDS):
        order = np.argsort(-bound, kind="stable")
        if best is not None:
            order = order[bound[order] > best.value + close * size]
        left, right, bound = left[order], right[order], bound[order]
        if not len(left):
            break
        first, last = left[:MOST_CUT], right[:MOST_CUT]
        begin, end = np.minimum(first + period, last), np.maximum(last - period, first)
        best = _better(wave, np.concatenate([first, end]), np.concatenate([begin, last]), best)
        long = last - first > 2.0 * period
        edges = first[long][:, None] + (last - first)[long][:, None] * np.linspace(0.0, 1.0, PARTS + 1)
        parts = edges[:, :-1].ravel(), edges[:, 1:].ravel()
        cut = np.minimum(wave.bounds(*parts), np.repeat(bound[:MOST_CUT][long], PARTS))
        left = np.concatenate([parts[0], left[MOST_CUT:]])
        right = np.concatenate([parts[1], right[MOST_CUT:]])
        bound = np.concatenate([cut, bound[MOST_CUT:]])
    assert best is not None
    return replace(best, bound=max(before, float(bound.max(initial=-np.inf))))


def _followed(wave: Wave, best: Found) -> Found:
    """The better of `best` and the largest value of a wave, all of which is looked at."""
    edges = np.linspace(wave.h0, wave.h1, int(np.ceil((wave.h1 - wave.h0) / _period(wave))) + 1)
    for k in range(0, len(edges) - 1, CHUNK):
        part = edges[k : k + CHUNK + 1]
        best = _better(wave, part[:-1], part[1:], best)
    return best


def _better(wave: Wave, left: np.ndarray, right: np.ndarray, best: Found | None) -> Found:
    """The better of `best` and the largest value on intervals of a period."""
    steps = np.linspace(0.0, 1.0, PERIOD + 1)
    edges = left[:, None] + (right - left)[:, None] * steps
    value = largest(wave.panels(edges[:, :-1].ravel(), edges[:, 1:].ravel()))
    return Found(value, -np.inf) if best is None or value > best.value else best


def _period(wave: Wave) -> float:
    """Period of the fastest turning function."""
    basis = wave.basis
    used = (wave.c != 0.0) & (np.arange(basis.size) >= basis.n_real)
    shortest = 2.0 * np.pi / TURN * float(basis.time_unit[used].min(initial=np.inf))
    return min(shortest, wave.h1 - wave.h0)


def extreme(
    segments: Segments,
    affine: Affine | None,
    panels_of: Callable[[float, float], Panels],
    factor: float,
    a: float,
    b: float,
) -> Found:
    """Largest value of a multiple of a signal on [a, b], and a bound, equal to the value where that is the largest one.

    ``affine`` is the signal as an affine expression, if it is one; ``panels_of`` gives its series on a part of [a, b].
    """
    long = [] if affine is None else list(waves(segments, affine, a, b))
    found = [largest_of_waves([w for _, _, parts in long for w in parts], factor)] if long else []
    edges = np.array([a, *(t for begin, end, _ in long for t in (begin, end)), b])
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if end > begin:
            value = largest(panels_of(begin, end), factor)
            found.append(Found(value, value))
    return Found(max(x.value for x in found), max(x.bound for x in found))
