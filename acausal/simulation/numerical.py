"""How a run moves on numerically: segments of integration, and points of the nonlinear equations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..results.record import Segment
from .curved_failures import FAILURES, curved_failed
from .integration import StillMotion, frame_of

if TYPE_CHECKING:
    from .run import Run


def integrate(run: Run, horizon: float) -> int | None:
    """Integrate numerically to the horizon or the first crossing; return the form that crossed, or None."""
    if not horizon > run.t:
        run.t = horizon
        run.forget_signs()
        return None
    try:
        h, hit, motion = run.motions.segment(horizon)
    except FAILURES as failure:
        raise curved_failed(run, failure, "integration") from None
    moment, start = run.moment(), run.t
    end = horizon if hit is None else start + h
    frame = frame_of(run, motion.freedom)
    if h > 0.0:
        run.record.segments.append(Segment(start, end, frame, motion, moment, run.core.readout))  # type: ignore[arg-type]
        run.q = run.core.readout.advance(frame, motion, moment, h)  # type: ignore[arg-type]
        _arrive(run, motion.at(h))
    run.t = end
    run.data = run.core.mode(run.mode)
    run.y = np.concatenate([run.z[run.data.states], run.xi])
    run.error = run.tolerances.atol * run.core.model.scale
    run.forget_signs()
    return hit


def _arrive(run: Run, y: np.ndarray) -> None:
    """Go on from a point ``[z, z', xi]``."""
    n = len(run.z)
    run.z, run.slopes, run.xi = y[:n].copy(), y[n : 2 * n].copy(), y[2 * n :].copy()
    run.touch(run.z, run.slopes, run.xi)


def place_near(run: Run, z: np.ndarray) -> None:
    """Touch at the consistent point of the mode in force that has the states of ``z``."""
    mode = run.data.mode
    limits = run.data.T @ np.concatenate([z[run.data.states], run.xi])
    try:
        system = run.tangents.mode(run.core, mode, limits, run.slopes, run.xi, run.present)
        motion = run.motions.begin(limits, run.slopes, run.xi, system, run.z_touch)
    except FAILURES as failure:
        raise curved_failed(run, failure, "start") from None
    run.touch(*motion.unknowns(motion.last), run.xi)
    run.data = run.core.mode(mode)
    run.y = np.concatenate([run.z_touch[run.data.states], run.xi])
    run.forget_signs()


def still(run: Run) -> tuple[Any, Any]:
    """Frame and trajectory of the present point, for a segment without length."""
    if not run.numerical:
        return run.data, run.tables.flow.start(run.y)
    y = np.concatenate([run.z, run.slopes, run.y[len(run.data.states) :]])
    return frame_of(run, len(run.data.states)), StillMotion(y)
