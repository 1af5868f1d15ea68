"""Where panels have to begin: what dies away, turns or vanishes within a segment, however short against it.

A function of signals has its peaks, kinks and jumps where an argument turns or vanishes, or where two arguments meet. Those
between the nodes of a panel show nowhere, and nothing would halve it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial import legendre

from .extremes import GRID, ON_GRID, refined
from .panels import FITTED, Evaluate, fitted
from .segments import Parts

BISECTIONS = 52
"""Of an interval with a zero, to the last digit of a double."""


def split(parts: Parts, which: np.ndarray, hs: np.ndarray) -> Parts:
    """Cut parts of segments at times ``hs`` (k,) since the starts of the segments ``which`` (k,), where these lie inside.

    Parts are in order, those of one segment beside each other.
    """
    segment, h0, h1 = parts
    if not len(segment) or not len(which):
        return parts
    first = np.flatnonzero(np.diff(segment, prepend=-1))
    owner, start, end = segment[first], h0[first], h1[np.append(first[1:], len(segment)) - 1]
    at = np.clip(np.searchsorted(owner, which), 0, len(owner) - 1)
    inside = (owner[at] == which) & (hs > start[at]) & (hs < end[at])
    of, begin = np.concatenate([segment, which[inside]]), np.concatenate([h0, hs[inside]])
    order = np.lexsort((begin, of))
    of, begin = of[order], begin[order]
    once = (np.diff(of, prepend=-1) != 0) | (np.diff(begin, prepend=-1.0) != 0.0)
    of, begin = of[once], begin[once]
    until = np.append(begin[1:], 0.0)
    until[np.diff(of, append=-1) != 0] = end
    return of, begin, until


def cut_at_turns(f: Evaluate, parts: Parts) -> Parts:
    """Parts of segments, cut where one of several functions (k, m), smooth within the parts, turns or vanishes.

    Zeros are sought between the turns, where there is one at most.
    """
    return _cut(f, _cut(f, parts, _turns), _zeros)


def cut_as_followed(f: Evaluate, parts: Parts) -> Parts:
    """Parts of segments, cut until series follow one function (k,): next to the ends of parts too, as nodes alone do not."""

    def nowhere(series: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(0, np.int64), np.zeros(0)

    return _cut(lambda which, hs: np.asarray(f(which, hs))[:, None], parts, nowhere)


def _cut(
    f: Evaluate, parts: Parts, places: Callable[[np.ndarray, float], tuple[np.ndarray, np.ndarray]]
) -> Parts:
    """Parts of segments, cut at places of the series that stand for functions, and where one series follows another."""
    if not len(parts[0]):
        return parts
    which, left, half, series, _ = fitted(f, *parts, FITTED)
    size = np.abs(series).max(axis=(0, 1), initial=0.0)
    of, hs = [which], [left]
    for noise, one in zip((FITTED * size).tolist(), np.moveaxis(series, 2, 0), strict=True):
        panels, x = places(one, noise)
        of.append(which[panels])
        hs.append((left + half)[panels] + half[panels] * x)
    return split(parts, np.concatenate(of), np.concatenate(hs))


def _turns(series: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Panels and places of the local maxima and minima of series (p, degrees), as far as they rise above noise."""
    found = []
    for sign in (1.0, -1.0):
        values = sign * (series @ ON_GRID[: series.shape[1]])
        rise, fall = values[:, 1:-1] - values[:, :-2], values[:, 1:-1] - values[:, 2:]
        # Two points at one height beside a top count too.
        panels, k = np.nonzero((np.maximum(rise, fall) > noise) & (np.minimum(rise, fall) >= -noise))
        found.append((panels, refined(sign * series[panels], k + 1)))
    (tops, high), (bottoms, low) = found
    return np.concatenate([tops, bottoms]), np.concatenate([high, low])


def _zeros(series: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Panels and places of the zeros of series (p, degrees) between values above noise, and where these begin and end."""
    values = series @ ON_GRID[: series.shape[1]]
    sign = np.where(np.abs(values) > noise, np.sign(values), 0.0)
    panels, k = np.nonzero(sign[:, :-1] != sign[:, 1:])
    low, high, below = GRID[k], GRID[k + 1], sign[panels, k]
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        same = np.sign(legendre.legval(middle, series[panels].T, tensor=False)) == below
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return panels, high
