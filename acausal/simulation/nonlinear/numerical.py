"""How a run moves on numerically: segments of integration, and points of the nonlinear equations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dynamics.readout import PointFrame
from ...reduction.labels import nonlinear_row
from ...results.segments import Segment
from ..confirmation import confirm_steps
from ..failures import UNSOLVED, NotSolved, Sliding
from ..run import Run
from .integration import SampledMotion, Span, StillMotion
from .motion import Place
from .sliding import slides
from .watching import Situation, watched


def integrate(run: Run, horizon: float) -> int | None:
    """Integrate numerically to the horizon or the first crossing; return the form that crossed, or None."""
    state = run.state
    if not horizon > state.t:
        run.reach(horizon)
        return None
    try:
        h, hit, motion = _segment(run, horizon)
    except UNSOLVED as failure:
        error = run.failed(NotSolved(failure, "integration"))
        _keep_unfinished(run)
        raise error from None
    except BaseException:
        # An interruption, or whatever watches the run raises.
        _keep_unfinished(run)
        raise
    end = horizon if hit is None else state.t + h
    if h > 0.0:
        _record(run, end, h, motion)
        confirm_steps(run, h)
    run.reach(end)
    run.arrive()
    return hit


def _segment(run: Run, horizon: float) -> tuple[float, int | None, SampledMotion]:
    """Integrate from the present point; the length, the form that crossed, and the motion."""
    system, state = run.system(), run.state
    run.integration.begin()
    relations, operators = state.R[run.discrete.state_relations], run.program.unknowns.relation_operators
    here = Situation(
        state.t, run.data, run.tables, run.y, relations.tolist(), operators, state.forced, state.disabled,
        run.signs(), state.error,
    )  # fmt: skip
    ends = watched(run.tangents, run.core, system, here)
    motion = run.linearisation.begin(state.z, state.slopes, run.xi, system, run.present)
    hidden = run.core.model.q - len(motion.sources.y0)
    which, least = run.program.nonlinear_rows.eventless, run.options.max_micro_steps
    between = [(batch, i, node.args[0] - node.args[1]) for batch, i, node in which]

    def values(places: list[Place]) -> np.ndarray:
        frame = _frame(run, len(motion.selection.states))
        ys = np.array([np.concatenate([*motion.unknowns(p), p.xi, np.zeros(hidden)]) for p in places])
        return run.core.readout.expressions(between, frame, ys, run.moment(), np.array([p.h for p in places]))  # type: ignore[arg-type]

    def report(t: float) -> None:
        steps = run.integration.steps
        assert steps is not None
        count = len(steps.accepted)
        # At powers of two: looking back at half of the steps takes no longer than the steps.
        sliding = slides(steps, values, least) if count > least and not count & (count - 1) else []
        if sliding:
            raise run.failed(Sliding(t, tuple(which[k] for k in sliding)))
        if run.report is not None:
            run.report(t)

    span = Span(state.t, horizon - state.t, run.tolerance, report if which else run.report)
    return run.integration.segment(motion, ends, state.mode, state.z, span, hidden)


def _record(run: Run, end: float, h: float, motion: SampledMotion) -> None:
    """Record a segment of length ``h`` and go to the point at its end."""
    before = run.work.enter("record")
    moment, frame = run.moment(), _frame(run, motion.freedom)
    run.record.segments.append(Segment(run.state.t, end, frame, motion, moment, run.core.readout))
    run.integrate(frame, motion, moment, h)
    run.follow(motion.at(h))
    run.work.enter(before)


def _keep_unfinished(run: Run) -> None:
    """Record the accepted steps of a segment that failed: the result of the error ends with the last one."""
    found = run.integration.unfinished()
    if found is None:
        return
    h, motion = found
    end = run.state.t + h
    _record(run, end, h, motion)
    run.reach(end)
    run.place()
    run.mark()


def _frame(run: Run, states: int) -> PointFrame:
    """How results read the states ``[z, z', xi]`` of the mode in force."""
    core, reason = run.core, run.method.reason
    if run.reduced.nonlinear:
        rows = run.tangents.rows_in_force(run.state.mode)
        text, place = nonlinear_row(run.reduced, int(rows[0]) if len(rows) else 0)
        reason = f"{text} at {place}"
    return core.readout.moving_frame(core.model.S, run.data, states, reason)


def still(run: Run) -> tuple[Any, Any]:
    """Frame and trajectory of the present point, for a segment without length."""
    if not run.numerical:
        return run.data, run.tables.flow.start(run.y)
    y = np.concatenate([run.state.z, run.state.slopes, run.y[len(run.data.states) :]])
    return _frame(run, len(run.data.states)), StillMotion(y)
