"""Segments in closed form: what moves on from the present point of a run, and the judgement of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from itertools import takewhile

import numpy as np

from ..dynamics.closed_form import AffineFlow, Trajectory
from ..dynamics.noise import LOCATED, Uncertainty
from ..dynamics.scan import FlowWatch
from ..reduction.affine import ModeData
from ..reduction.rounding import HALF, SUMMED
from .confirmation import confirm_flow
from .propagator import Arrival, RangeLeft
from .run import Run
from .watch import can_trigger, orientations

CLOSER = 2.0
"""Times the time of a crossing: until then another flow of the same motion has to cross too."""
JUDGED = 1e300
"""Largest sum of unknowns that is judged: products of larger ones leave the range of doubles."""


class ClosedForm:
    """The closed form of the mode in force, from the present point on."""

    def __init__(self, run: Run, holds: Callable[[], bool]) -> None:
        state, self._run, self._data, self._holds = run.state, run, run.data, holds
        self._tables, self._late, self._crossing = run.tables, 0.0, 0
        found = None if state.shift is None else run.known.shift
        moved = None if found is None else run.data.chosen(found)
        # What steps missed lies in the point from which the closed form begins; what rounding leaves open follows it.
        self._moved, self._shift = (moved, None) if run.numerical else (None, moved)
        self._begin = Uncertainty(state.late, state.error, shift=None if run.numerical else found)
        self._flows, self._y = run.tables.flows, run.y

    @cached_property
    def _trajectory(self) -> Trajectory:
        """That of a segment of the usual length, before another is taken."""
        assert self._flows is not None
        return self._flows.usual.start(self._y, self._shift)

    def dense(self) -> tuple[ModeData, Trajectory]:
        """The mode, and its trajectory."""
        return self._data, self._trajectory

    def advance(self, length: float) -> tuple[float, int | None]:
        """The first crossing within some seconds, if there is one."""
        found = self._first(length, length)
        if found is None:
            return length, None
        watch, h, k = found
        coarse = self._trajectory
        if h > 0.0 and self._suited(h) is not coarse.flow:
            # So short a segment is followed by what loses fewer digits in it.
            closer = self._first(min(length, CLOSER * h), h)
            if closer is None:
                self._trajectory = coarse
            else:
                watch, h, k = closer
        return self._reached(watch, h, k)

    def _first(self, length: float, over: float) -> tuple[FlowWatch, float, int] | None:
        """The first crossing within some seconds along what suits a segment ``over`` so many, with what was watched."""
        run = self._run
        self._trajectory = trajectory = self._suited(over).start(self._y, self._shift)
        if not len(self._tables.forms):
            return None
        watch, error = self.guards(), run.state.error
        if not watch.which:
            return None

        def known() -> np.ndarray | float:
            return watch.known(self._y, None if error is None else error[self._data.states], self._moved)

        hit = watch.first(trajectory, length, run.state.t, known)
        return None if hit is None else (watch, *hit)

    def _suited(self, length: float) -> AffineFlow:
        """The flow that suits a segment of some seconds."""
        assert self._flows is not None
        usual = self._flows.usual
        return usual if length >= usual.shortest else self._flows.within(length)

    def _reached(self, watch: FlowWatch, h: float, k: int) -> tuple[float, int]:
        """Time and form of a crossing, with how late it may be."""
        trajectory, state = self._trajectory, self._run.state
        form, self._late = watch.which[k], watch.lateness(trajectory, h, k)
        # What left zero reacts there again, but for flights that rounding hides.
        doubtful = not watch.armed[k] or not 0.0 < self._late <= HALF * h
        if doubtful and form < self._tables.count and (zero := watch.since(trajectory, h, k, state.t)) < h:
            # Events closer than the tolerance share the instant, which may be the last one. What crossed before within the time
            # that rounding leaves open has been the same crossing, and is taken where it shows.
            steps = takewhile(
                lambda step: step.t >= state.t + zero - (h - zero), reversed(self._run.record.steps)
            )
            again = not watch.armed[k] and any(
                step.before == state.mode and step.triggers == (form,) for step in steps
            )
            apart = watch.armed[k] or zero > self._run.tolerance
            h = h if again else zero if apart else 0.0
            self._late = watch.lateness(trajectory, h, k)
        self._crossing = form
        return h, form

    def guards(self) -> FlowWatch:
        """What to watch with the signs of the forms and the values of the relations, from the cache if possible."""
        run, tables = self._run, self._tables
        state, signs, which = run.state, run.signs(), run.discrete.state_relations
        values = state.R[which].tolist() if len(which) else []
        flow = self._trajectory.flow
        key = flow, tuple(signs), tuple(values), state.forced, state.disabled
        found = tables.watches.get(key)
        if found is None:
            orientation = orientations(tables.count, run.program.unknowns.relation_operators, values)
            armed = np.array(signs) * orientation > 0
            triggers = np.flatnonzero(can_trigger(tables.data, state.forced, state.disabled, len(signs)))
            coefficients = tables.signs.coefficients
            found = FlowWatch(flow, coefficients, tables.data, tables.forms, orientation, armed, triggers)
            tables.keep(tables.watches, key, found)
        return found

    def end(self, h: float, t: float) -> Arrival | RangeLeft | None:
        """The point after ``h`` seconds, at ``t``, if that is within the range of doubles.

        Sources are evaluated there as the instant that follows does. What depends on them alone then is the same before and
        after it: no rounding of its motion is left to be a difference.
        """
        if not h > 0.0:
            return None
        data, trajectory, run = self._data, self._trajectory, self._run
        y, states, shift = trajectory.at(h), len(data.states), None
        rate = trajectory.slope(h) if self._late else None
        if run.sources.constant is None:
            followed = y.copy()
            run.sources.evaluate(t, run.state.D, run.state.R, y[states:])
            if rate is not None:
                # What rounding of the sources moves the form that crosses by, its zero moves too.
                form = self._tables.forms[self._crossing]
                moved, slope = abs(form.dot(y - followed)), abs(form.dot(rate))
                self._late += moved / slope if slope * h > moved else 0.0
        if not math.isfinite(sum(y.tolist())):
            wrong = np.flatnonzero(~np.isfinite(y[:states]))
            return RangeLeft(_last_finite(data, trajectory, h), tuple(wrong.tolist()))
        slopes, second = run.state.slopes, run.state.second
        if run.numerical:
            towards = data.Ay @ y
            slopes, second = data.T @ towards, data.T @ (data.Ay @ towards)
        if rate is not None and self._late > LOCATED * math.ulp(run.state.t + h):
            # Rates over states would amplify their rounding by what is fast.
            moved = self._late * rate
            shift = np.concatenate([data.T.dot(moved), moved[states:]])
        error = SUMMED * data.sizes[0].dot(trajectory.magnitude(h))
        return Arrival(data.unknowns(y), slopes, second, error, self._late, shift, y)

    def look(self, flow: AffineFlow, h: float) -> None:
        """Judge the end of a segment along a flow, and the way there."""
        trajectory = flow.start(self._y, self._shift)
        confirm_flow(self._run, self._tables, trajectory, h, self._begin, True)

    def confirm(self, h: float) -> None:
        """Judge the end, and the way there at the first visits of the mode."""
        inside, trajectory = self._run.visit(h), self._trajectory
        doubtful = trajectory.shift is not None or trajectory.flow.departure is not None
        if inside or doubtful or not self._holds():
            confirm_flow(self._run, self._tables, trajectory, h, self._begin, inside)


def _last_finite(data: ModeData, trajectory: Trajectory, h: float) -> float:
    """Time up to which all unknowns can be judged, where they are not finite after ``h`` seconds."""
    low = 0.0
    while low < (middle := 0.5 * (low + h)) < h:
        known = float(np.sum(data.sizes[0] @ np.abs(trajectory.at(middle)))) < JUDGED
        low, h = (middle, h) if known else (low, middle)
    return low
