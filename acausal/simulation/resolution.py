"""What rounding leaves open along a segment: when the crossing was that began it, and whether guards hold."""

from __future__ import annotations

import numpy as np

from ..dynamics.closed_form import Trajectory
from ..dynamics.noise import Uncertainty
from ..reduction.affine import AffineModel, Inadmissible, ModeData
from .instants.restart import LeftLimits, restart
from .numeric import NumericCore
from .self_check import RESOLVED, WHERE, Held, Violation, covered, unseen, worst


def unlocated(
    model: AffineModel, data: ModeData, trajectory: Trajectory, known: Uncertainty, length: float, moved: np.ndarray | None,
    missed: float = 0.0,
) -> Violation | None:  # fmt: skip
    """The state that depends too much on whether the crossing that began a segment was late or early.

    ``known`` is how exactly the begin is. ``moved`` are magnitudes (n,) of the core unknowns before: what has come to rest was
    computed from what moved. ``missed`` is the part of them that states may miss anyway. Of two ways to tell what a crossing
    leaves open, as in `Uncertainty.shift`, a state is off by the smaller one.
    """
    states, y0 = data.states, trajectory.y0
    if known.shift is None:
        return None
    allowed = RESOLVED + missed
    k, off = len(states), known.late * (data.Ay @ y0) - data.chosen(known.shift).T
    if (np.abs(off[..., :k]) <= allowed * np.abs(y0[:k])).all():
        return None
    off[..., k:] = 0.0
    ends = [trajectory.flow.start(way).at(length)[:k] for way in np.atleast_2d(off)]
    left = np.abs(ends).min(axis=0)
    terms = _sizes_of_units(model, data, trajectory, length)[states]
    if moved is not None:
        terms = np.maximum(terms, model.largest_of_unit(moved)[states])
    return worst("crossing", np.arange(k), left, terms, allowed * terms)


def _sizes_of_units(model: AffineModel, data: ModeData, trajectory: Trajectory, length: float) -> np.ndarray:
    """Magnitudes (n,) of the terms of the core unknowns in a segment, the largest of each unit."""
    return model.largest_of_unit(data.sizes[0] @ trajectory.magnitude(length))


def hidden(
    core: NumericCore,
    data: ModeData,
    rows_held: Held,
    trajectory: Trajectory,
    length: float,
    ends: np.ndarray,
) -> Violation | None:
    """The guard that rounding hides along a segment, where it matters for the motion whether it holds.

    ``ends`` (k,) are those of steps, at which guards were judged by more than rounding; along a closed form there are none.
    """
    # A flow that begins at zero and dies away is seen while the fastest motion lasts; what is seen then may be hidden after it.
    times = np.array([0.0, min(data.tau / length, WHERE[0]), *WHERE]) * length
    y = trajectory.sample(times)
    if not covered(data, trajectory, y, length):
        return None
    terms = _sizes_of_units(core.model, data, trajectory, length)
    seen = [(times, y, 1.0), (times[-len(WHERE) :], y[-len(WHERE) :], 1.0)]
    if len(ends):
        seen.append((ends, trajectory.sample(ends), -1.0))
    for window, points, side in seen:
        forms = unseen(rows_held, trajectory, points, length, side)
        least = len(window) if side > 0.0 else 2
        often = (forms.sum(axis=0) >= least) & (rows_held.which < len(data.guards))
        for k in often.nonzero()[0].tolist():
            part = _longest(forms[:, k])
            if len(part) < least:
                continue
            found = _apart(core, data, int(rows_held.which[k]), window[part], points[part], terms)
            if found is not None:
                return found
    return None


def _longest(holds: np.ndarray) -> np.ndarray:
    """The places of the longest part in which something holds all along."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], holds, [False]]).astype(np.int8)))
    if not len(edges):
        return edges
    k = 2 * int(np.argmax(edges[1::2] - edges[::2]))
    return np.arange(edges[k], edges[k + 1])


def _apart(
    core: NumericCore, data: ModeData, guard: int, times: np.ndarray, y: np.ndarray, terms: np.ndarray
) -> Violation | None:
    """The guard, where the mode to which it leads from the first of some points does not move through the others."""
    branches = list(data.mode)
    branches[data.guard_element[guard]] = int(data.guard_target[guard])
    z, states = y @ data.T.T, np.flatnonzero(core.model.differentiated)
    try:
        other = core.mode(tuple(branches))
        begin = restart(core.model, LeftLimits(other, z[0], y[0, len(data.states) :]))
    except Inadmissible:
        return None
    moved = core.tables(other).flow.start(begin.y).sample(times - times[0]) @ other.T.T
    off = np.abs(moved - z).max(axis=0)[states]
    return worst("hidden", np.full(len(states), guard), off, terms[states], RESOLVED * terms[states])
