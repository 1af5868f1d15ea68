"""What rounding leaves open along a segment: when the crossing was that began it, and whether guards hold."""

from __future__ import annotations

import numpy as np

from ..dynamics.closed_form import Trajectory
from ..reduction.affine import AffineModel, Inadmissible, ModeData
from .instants.transition import restart as entered
from .numeric import NumericCore
from .self_check import RESOLVED, WHERE, Held, Violation, covered, worst


def unlocated(
    model: AffineModel, data: ModeData, trajectory: Trajectory, late: float, length: float, moved: np.ndarray | None,
    missed: float = 0.0,
) -> Violation | None:  # fmt: skip
    """The state that depends too much on whether the crossing that began a segment was ``late`` or early.

    ``moved`` are magnitudes (n,) of the core unknowns before: what has come to rest was computed from what moved. ``missed``
    is the part of them that states may miss anyway. Of two ways to tell what a crossing leaves open, as in
    `Uncertainty.shift`, a state is off by the smaller one.
    """
    states, y0, shift = data.states, trajectory.y0, trajectory.shift
    if shift is None:
        return None
    allowed = RESOLVED + missed
    k, off = len(states), late * (data.Ay @ y0) - shift.T
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
    core: NumericCore, data: ModeData, rows_held: Held, trajectory: Trajectory, length: float
) -> Violation | None:
    """The guard that rounding hides along a segment, where it matters for the motion whether it holds."""
    # A flow that begins at zero and dies away is seen while the fastest motion lasts; what is seen then may be hidden after it.
    times = np.array([0.0, min(data.tau / length, WHERE[0]), *WHERE]) * length
    y, k = trajectory.sample(times), len(data.states)
    z, states = y @ data.T.T, np.flatnonzero(core.model.differentiated)
    terms = _sizes_of_units(core.model, data, trajectory, length)[states]
    for first in (0, len(times) - len(WHERE)):
        forms = covered(data, rows_held, trajectory, y[first:], length)
        for guard in forms[forms < len(data.guards)].tolist():
            branches = list(data.mode)
            branches[data.guard_element[guard]] = int(data.guard_target[guard])
            try:
                other = core.mode(tuple(branches))
                begin = entered(core.model, other, z[first], y[first, k:])
            except Inadmissible:
                continue
            moved = core.tables(other).flow.start(begin.y).sample(times[first:] - times[first]) @ other.T.T
            off = np.abs(moved - z[first:]).max(axis=0)[states]
            found = worst("hidden", np.full(len(states), guard), off, terms, RESOLVED * terms)
            if found is not None:
                return found
    return None
