"""Whether starts that were moved could have stayed: a check that shares nothing with how starts are completed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...dynamics.noise import Uncertainty
from ...errors import ConsistencyError
from ...reduction.affine import Inadmissible, Restart
from ..confirmation import in_force, point_of
from ..instants.collisions import transmitting
from ..instants.search import NoConsistentMode
from ..instants.transition import Instant, SearchStats
from ..self_check import ELIMINATED, ROUNDED, Violation, admits
from .problem import StartProblem


def moved_for_nothing(now: StartProblem, D: np.ndarray) -> Violation | None:
    """The fixed value or given start of a state that does not hold after the first instant, though some mode admits them all.

    ``D`` are the discretes before it. Nothing is claimed where something else has a say: conditions beside starts, actions,
    nonlinear equations.
    """
    starts, reduced = now.starts, now.reduced
    if reduced.nonlinear or reduced.initials or starts.steady.any() or len(now.flat.computed):
        return None
    ids = tuple(np.flatnonzero(starts.fixed | (starts.given & reduced.differentiated)).tolist())
    if not ids:
        return None
    readout, wanted = now.core.readout, starts.value[list(ids)]
    found = readout.at(ids, now.data, now.y, now.moment)
    moved = np.flatnonzero(_differ(found, wanted))
    acted = any(branch.reinits for branch in now.program.discrete.branches)
    if not len(moved) or acted or not np.array_equal(now.state.D, now.tables.discrete.written(D, now.mode)):
        return None
    restart = _with(now, ids)
    if restart is None or not _holds(now, restart):
        return None
    if _differ(readout.at(ids, restart.data, restart.y, now.moment), wanted).any():
        return None
    k = int(moved[0])
    size = abs(float(found[k])) + abs(float(wanted[k]))
    return Violation("start", ids[k], float(found[k] - wanted[k]), size, ROUNDED * size)


def _differ(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    return np.abs(found - wanted) > ROUNDED * (np.abs(found) + np.abs(wanted))


def _with(now: StartProblem, ids: Sequence[int]) -> Restart | None:
    """Where the stated values lead when they are put in at the point of a start; None where no mode is known to have them."""
    unknowns, core, state = now.program.unknowns, now.core, now.state
    settable = [(x, float(now.starts.value[x])) for x in ids if unknowns.settable(x) is not None]
    stated = dict(unknowns.targets(settable)[0])
    # A search of its own, for that of the run must not learn from it, and a short one, in which every element may move: values
    # that contradict each other lead through all combinations of branches.
    search, z, mode = core.search, now.z, now.mode
    limit, known = len(core.model.elements) + 1, Uncertainty.at(state.t, core.model.S @ now.xi)
    try:
        # Values that are put in are an impulse, which may need another mode than what follows.
        for reinits in (list(stated.items()), []):
            instant = Instant(known, z, now.xi, state.forced, state.disabled, reinits)
            restart = search.search(instant, search.begin(mode, state.forced), SearchStats(), limit).restart
            if restart.jumped and any(True for _ in transmitting(core.model, restart)):
                return None  # What follows by an impulse of an element collides or is charged: given values need not stay.
            z, mode = restart.z, restart.data.mode
    except (NoConsistentMode, Inadmissible, ConsistencyError):
        # A mode on the way that cannot be analysed proves nothing either.
        return None
    return restart


def _holds(now: StartProblem, restart: Restart) -> bool:
    """Whether a point satisfies the equations of its mode and lies in it, with branches that were given."""
    data, core, state, y = restart.data, now.core, now.state, restart.y
    model, elements = core.model, core.model.elements
    if any(elements[k].shown_as(data.mode[k]) != b for k, b in now.starts.branches.items()):
        return False
    relations = state.R, now.tables.discrete.state_relations
    operators = now.program.unknowns.relation_operators
    rows = in_force(core, core.tables(data), operators, relations, state.forced, state.disabled)
    if rows is not None and not admits(rows, data.mode, y, data.Ay):
        return False
    at = point_of(model, data, y, np.abs(y))
    return core.equations.unsolved(data.mode, None, at, ELIMINATED) is None
