"""The loop of a run: instant, segment, instant, ..."""

from __future__ import annotations

import math
from itertools import takewhile
from typing import Any

import numpy as np

from ..dynamics.closed_form import Trajectory
from ..dynamics.scan import first_crossing
from ..reduction.affine import ModeData
from ..results.segments import Segment
from .confirmation import confirm_flow
from .failures import NoProgress, NotFinite
from .instants.instant import process, turning
from .nonlinear.numerical import integrate
from .numeric import SegmentTables
from .run import Run
from .uncertainty import LOCATED

TIME = -1
"""In the place of a guard: what comes due is a time, not a crossing."""
MOST_REPEATS = 2
"""Instants at the same time, mode and discrete values with the same cause, after which nothing moves any more."""


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # what is not finite is an error of its own
def advance(run: Run, t_end: float) -> None:
    """Move ``run`` to ``t_end``, instants at ``t_end`` included.

    Where that is interrupted, the run is left at the last instant, or step of integration, that is complete.
    """
    if t_end > run.sources.stop:
        run.sources.end_at(t_end)
    try:
        _go_on(run, t_end)
    finally:
        run.work.enter("")


def _go_on(run: Run, t_end: float) -> None:
    enter = run.work.enter
    while not run.status.finished:
        enter("flow")
        if run.pending is None:
            run.mark()
            due = min(run.schedule.next(run.ticks), run.timed_next, run.sources.next_break(run.t))
            horizon = min(t_end, due)
            hit = integrate(run, horizon) if run.numerical else _flow(run, horizon)
            if hit is None and horizon >= t_end and due > t_end + run.tolerance:
                # What crosses zero at the end itself, to the last digits of time, belongs to this run.
                hit = turning(run)
                if hit is None:
                    return
            run.pending = TIME if hit is None else hit
        enter("instants")
        run.mark()
        _instant(run, run.pending)
        run.pending = None
        if run.report is not None:
            enter("")
            run.mark()
            run.report(run.t)
        if run.t >= t_end:
            return


def finish(run: Run) -> None:
    """Process ``when(terminal())`` after the last instant."""
    run.mark()
    process(run, "terminal", ("terminal",))


def _flow(run: Run, horizon: float) -> int | None:
    """Follow the closed form to the horizon or the first crossing; return the form that crossed, or None."""
    data, tables, t = run.data, run.tables, run.t
    trajectory = tables.flow.start(run.y, None if run.shift is None else data.chosen(run.shift))
    length = horizon - t
    hit, late = None, 0.0
    if len(tables.forms) and length > 0.0:
        hit, late = _crossing(run, data, tables, trajectory, length)
    h = length if hit is None else hit[0]
    end = horizon if hit is None else t + h
    if h > 0.0:
        moment = run.moment()
        run.record.segments.append(Segment(t, end, data, trajectory, moment, run.core.readout))
        run.integrate(data, trajectory, moment, h)
        y, shift = trajectory.at(h), None
        if late > LOCATED * math.ulp(end):
            rate = late * data.Ay.dot(y)
            shift = np.concatenate([data.T.dot(rate), rate[len(data.states) :]])
        before = run.late
        run.follow(y, tables.rounding.dot(trajectory.magnitude(h)), late, shift)
        if not math.isfinite(np.add.reduce(y)):
            wrong = np.flatnonzero(~np.isfinite(y[: len(data.states)]))
            raise run.failed(NotFinite("state", tuple(wrong.tolist())))
        confirm_flow(run, tables, trajectory, h, before)
    run.t = end
    run.forget_signs()
    return None if hit is None else hit[1]


def _crossing(
    run: Run, data: ModeData, tables: SegmentTables, trajectory: Trajectory, length: float
) -> tuple[tuple[float, int] | None, float]:
    """The first crossing, if there is one, and by how many seconds it may be off."""
    which = run.discrete.state_relations
    values = run.R[which].tolist() if len(which) else []
    operators = run.program.unknowns.relation_operators
    watch = tables.watch(data, run.signs(), operators, values, run.forced, run.disabled)
    if not watch.which:
        return None, 0.0
    error = None if run.error is None else run.error[data.states]
    floor = watch.floor(trajectory.y0, error, run.t)
    hit = first_crossing(trajectory, watch.forms, watch.armed, floor, length, run.t, noise=watch.noise)
    if hit is None:
        return None, 0.0
    h, k = hit
    form = watch.which[k]
    if form < tables.guards and (zero := watch.since(trajectory, h, k, run.t)) < h:
        # Events closer than the tolerance share the instant, which may be the last one, but not twice for one cause.
        now = takewhile(lambda step: step.t == run.t, reversed(run.record.steps))
        again = any(step.before == run.mode and step.triggers == (form,) for step in now)
        h = zero if zero > run.tolerance else h if again else 0.0
    return (h, form), watch.lateness(trajectory, h, k)


def _instant(run: Run, hit: int) -> None:
    ticks = run.take_ticks()
    triggers: tuple[Any, ...] = (hit, *[k for k, due in enumerate(ticks) if due])
    key = (run.t, triggers, run.mode, run.D.tobytes())
    run.repeats = run.repeats + 1 if key == run.last else 0
    run.last = key
    if run.repeats > MOST_REPEATS:
        raise run.failed(NoProgress(None if hit == TIME else hit))
    process(run, "time" if hit == TIME else "state", triggers, ticks)
