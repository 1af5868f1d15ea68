"""Points at which a run is shown: dense enough that straight lines between them are good to 1e-3 of the range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dynamics.closed_form import PRECISION
from ..errors import ParameterError, warn
from ..flattening.template import Located
from .segments import BEFORE, Segments

TOLERANCE = 0.5e-3
"""Allowed distance from the straight line, relative to the range of a variable over the run."""
PROBES = (0.5, 0.381966011250105, 0.732050807568877)
"""Where an interval is checked: the middle, and two irrational places, so that no period hides."""
FIRST = 64
"""Intervals of a run that are looked at first, at least."""
DEPTH = 40
MOST_POINTS = 2_000_000


def shown_variables(segments: Segments, chosen: Sequence[Located] | None) -> tuple[int, ...]:
    """Variables that decide the points: those chosen if all are affine, else one per core unknown and per source."""
    readout = segments.groups[0].readout
    if chosen is not None and not any(
        x.kind == "slope" or (x.kind == "v" and readout.outside[x.index]) for x in chosen
    ):
        return tuple(x.index for x in chosen if x.kind == "v")
    model = readout.model
    found = model.presolved.y[model.core].tolist()
    VK, known = readout.VK, set()
    for k in np.flatnonzero(np.diff(VK.indptr)).tolist():
        part = slice(VK.indptr[k], VK.indptr[k + 1])
        key = (VK.indices[part].tobytes(), VK.data[part].tobytes())
        if VK.indices[part].any() and key not in known:
            known.add(key)
            found.append(k)
    return tuple(found)


def adaptive_grid(segments: Segments, chosen: Sequence[Located] | None) -> tuple[np.ndarray, np.ndarray]:
    """Points of all segments, ends included, by halving what is not yet straight.

    Parameters
    ----------
    segments : Segments
    chosen : sequence of Located or None
        Variables that are to be straight between the points; None for all of the dynamic core.

    Returns
    -------
    which, hs : (k,) arrays
        Segment of every point and time since its start, in order.

    Warns
    -----
    UserWarning
        If `MOST_POINTS` are not enough.
    """
    n = len(segments)
    ids = shown_variables(segments, chosen)

    def values(which: np.ndarray, hs: np.ndarray) -> np.ndarray:
        return segments.affine(lambda g: g.readout.rows(g.data, ids), len(ids), which, hs)

    which, a, b = _first_parts(segments)
    va, vb = values(which, a), values(which, b)
    low, high = np.minimum(va.min(axis=0), vb.min(axis=0)), np.maximum(va.max(axis=0), vb.max(axis=0))
    tolerance, worst = _tolerance(segments)
    noise = worst * segments.magnitude(lambda g: g.readout.rows(g.data, ids), np.arange(n), segments.length)
    points: list[tuple[np.ndarray, np.ndarray]] = [(np.arange(n), segments.length)]
    count = len(which)
    for _ in range(DEPTH):
        # At once, for integrated segments are read in batches.
        hs = np.concatenate([a + f * (b - a) for f in PROBES])
        probes = values(np.tile(which, len(PROBES)), hs).reshape(len(PROBES), len(which), -1)
        low, high = np.minimum(low, probes.min(axis=(0, 1))), np.maximum(high, probes.max(axis=(0, 1)))
        allowed = np.where(high - low > noise, tolerance * (high - low), np.inf)
        bent = np.zeros(len(which), bool)
        for f, v in zip(PROBES, probes, strict=True):
            bent |= (np.abs(v - (va + f * (vb - va))) > allowed).any(axis=1)
        bent &= b > a
        count += int(bent.sum())
        if not bent.any():
            break
        if count > MOST_POINTS:
            warn(_too_few(segments, len(which)))
            break
        points.append((which[~bent], a[~bent]))
        middle, vm = 0.5 * (a + b)[bent], probes[0][bent]
        which, a, b = (
            np.tile(which[bent], 2),
            np.concatenate([a[bent], middle]),
            np.concatenate([middle, b[bent]]),
        )
        va, vb = np.concatenate([va[bent], vm]), np.concatenate([vm, vb[bent]])
    points.append((which, a))
    which, hs = (np.concatenate(p) for p in zip(*points, strict=True))
    return _sorted(which, which, hs)[1:]


def _too_few(segments: Segments, intervals: int) -> str:
    return (
        f"the points of the result do not resolve its signals: {intervals} intervals are too few for straight lines "
        f"between {segments.start[0]:.3g} and {segments.end[-1]:.3g} s; `at`, `mean`, `rms`, `max` and `min` do not "
        "depend on the points; make the run shorter, or give the times to show with `grid`"
    )


def _first_parts(segments: Segments) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Segments and their equal parts: enough of them to see the range of a variable in few long segments."""
    n = len(segments)
    parts = np.where(segments.length > 0.0, max(1, -(-FIRST // n)), 1)
    which = np.repeat(np.arange(n), parts)
    number = np.arange(len(which)) - np.repeat(np.cumsum(parts) - parts, parts)
    step = segments.length[which] / parts[which]
    last = number + 1 == parts[which]
    return which, number * step, np.where(last, segments.length[which], (number + 1) * step)


def _tolerance(segments: Segments) -> tuple[float, float]:
    """Allowed distance from straight lines, relative to the range, and of the range from zero, relative to the terms."""
    worst = max((t.precision for g in segments.groups for t in g.integrated), default=PRECISION)
    return max(TOLERANCE, 200.0 * worst), worst


def _sorted(t: np.ndarray, which: np.ndarray, hs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    order = np.lexsort((hs, which))
    t, which, hs = t[order], which[order], hs[order]
    once = np.append(True, (np.diff(which) != 0) | (np.diff(hs) != 0)) if len(t) else np.zeros(0, bool)
    return t[once], which[once], hs[once]


def given_grid(
    segments: Segments, grid: Any, events: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points of a step or an array of times, and both limits of the events.

    Parameters
    ----------
    segments : Segments
    grid : float or array
    events : (e,) array of int
        Segments that begin with an event.

    Returns
    -------
    t, which, hs : (k,) arrays

    Raises
    ------
    ParameterError
        If the times do not ascend or are too many.
    """
    t0, t1 = float(segments.start[0]), float(segments.end[-1])
    slack = _slack(t0, t1)
    t = grid_times(grid, t0, t1)
    t = np.clip(t[(t >= t0 - slack) & (t <= t1 + slack)], t0, t1)
    which, hs = segments.locate(t, "right")
    t = np.concatenate([t, segments.start[events], segments.end[events - 1]])
    which = np.concatenate([which, events, events - 1])
    hs = np.concatenate([hs, np.zeros(len(events)), segments.length[events - 1]])
    return _sorted(t, which, hs)


def shown_points(
    segments: Segments, grid: Any, events: np.ndarray, chosen: Sequence[Located] | None, moved: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, segments and times since their starts of all points of a result.

    Parameters
    ----------
    segments : Segments
    grid : float, array or None
        None for points that follow the variables ``chosen``; see `adaptive_grid`.
    events : (n,) array of bool
        Segments that begin with an event.
    chosen : sequence of Located or None
    moved : bool
        Something jumped in the first instant, so that its left limit is shown too.
    """
    if grid is None:
        which, hs = adaptive_grid(segments, chosen)
        keep = (hs > 0) | events[which] | (which == 0)
        which, hs = which[keep], hs[keep]
        t = np.where(hs == segments.length[which], segments.end[which], segments.start[which] + hs)
    else:
        t, which, hs = given_grid(segments, grid, np.flatnonzero(events[1:]) + 1)
    if moved and len(t) and t[0] == segments.start[0]:
        return np.append(t[0], t), np.append(BEFORE, which), np.append(0.0, hs)
    return t, which, hs


def check_grid(grid: Any, t0: float, t1: float) -> None:
    """Raise ParameterError unless ``grid`` is a step or ascending times within the run."""
    t, slack = grid_times(grid, t0, t1), _slack(t0, t1)
    outside = t[(t < t0 - slack) | (t > t1 + slack)]
    if len(outside):
        raise ParameterError(
            f"grid has {len(outside)} times outside the run, such as {outside[0]:g} s; it goes from {t0:g} to {t1:g} s",
            hint="give times within the run, or a step",
        )


def _slack(t0: float, t1: float) -> float:
    """Rounding of the ends that a grid may be computed with."""
    return 4.0 * float(np.spacing(max(abs(t0), abs(t1))))


def own_grid(grid: Any) -> float | np.ndarray:
    """Return a step as a float, times as an array of its own.

    Raises
    ------
    ParameterError
        Unless the step is positive or the times ascend.
    """
    try:
        t = np.array(grid, float)
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(f"grid must be a positive step or an array of times, got {grid!r}") from error
    if not t.ndim:
        if isinstance(grid, (str, bool)) or not np.isfinite(t) or t <= 0:
            raise ParameterError(f"grid must be a positive step or an array of times, got {grid!r}")
        return float(t)
    if t.ndim != 1 or not np.isfinite(t).all() or (np.diff(t) < 0).any():
        raise ParameterError("grid must be a positive step or an array of ascending, finite times")
    return t


def grid_times(grid: Any, t0: float, t1: float) -> np.ndarray:
    """Return the times that ``grid`` stands for: multiples of a step from ``t0``, or the given ones.

    A step longer than the run gives both ends.
    """
    step = own_grid(grid)
    if isinstance(step, np.ndarray):
        return step
    count = (t1 - t0) / step
    if count > MOST_POINTS * 10:
        raise ParameterError(f"grid = {step:g} s gives {count:.3g} points", hint="take a longer step")
    if t1 - t0 < step * (1 - 1e-12):
        return np.array([t0, t1])
    return t0 + step * np.arange(int(np.floor(count * (1 + 1e-12))) + 1)
