"""How a run moves on numerically: segments of integration, and points of the nonlinear equations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...results.record import Segment
from ..failures import UNSOLVED, NotSolved
from .integration import SampledMotion, StillMotion, frame_of

if TYPE_CHECKING:
    from ..run import Run


def integrate(run: Run, horizon: float) -> int | None:
    """Integrate numerically to the horizon or the first crossing; return the form that crossed, or None."""
    if not horizon > run.t:
        run.t = horizon
        run.forget_signs()
        return None
    try:
        h, hit, motion = run.motions.segment(horizon)
    except UNSOLVED as failure:
        error = run.failed(NotSolved(failure, "integration"))
        _keep_unfinished(run)
        raise error from None
    except BaseException:
        # An interruption, or whatever the observer of the run raises.
        _keep_unfinished(run)
        raise
    end = horizon if hit is None else run.t + h
    if h > 0.0:
        _record(run, end, h, motion)
    run.t = end
    run.arrive()
    run.forget_signs()
    return hit


def _record(run: Run, end: float, h: float, motion: SampledMotion) -> None:
    """Record a segment of length ``h`` and go to the point at its end."""
    before = run.work.enter("record")
    moment, frame = run.moment(), frame_of(run, motion.freedom)
    run.record.segments.append(Segment(run.t, end, frame, motion, moment, run.core.readout))  # type: ignore[arg-type]
    run.integrate(frame, motion, moment, h)
    y, n = motion.at(h), len(run.z)
    run.z, run.slopes, run.xi = y[:n].copy(), y[n : 2 * n].copy(), y[2 * n :].copy()
    run.work.enter(before)


def _keep_unfinished(run: Run) -> None:
    """Record the accepted steps of a segment that failed: the result of the error ends with the last one."""
    found = run.motions.unfinished()
    if found is None:
        return
    h, motion = found
    _record(run, run.t + h, h, motion)
    run.t += h
    run.place()
    run.mark()


def still(run: Run) -> tuple[Any, Any]:
    """Frame and trajectory of the present point, for a segment without length."""
    if not run.numerical:
        return run.data, run.tables.flow.start(run.y)
    y = np.concatenate([run.z, run.slopes, run.y[len(run.data.states) :]])
    return frame_of(run, len(run.data.states)), StillMotion(y)
