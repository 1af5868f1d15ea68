"""Motions that slide along a jump of the equations which makes no event: steps become as short as the error control lets them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .motion import Motion, Place
from .newton import NewtonFailure
from .steps import Steps

FAR = 16.0
"""Distances that are compared, as a ratio: what leads back grows by it at a kink, by its root at a root, at a jump not at all."""

Values = Callable[[list[Place]], np.ndarray]
"""Points -> left minus right side of the comparisons there, (k, points)."""


def slides(steps: Steps, values: Values, least: int) -> list[int]:
    """Comparisons along which the second half of the accepted steps slides.

    On both sides the flow leads back, as fast near the jump as farther away, and in the time of these steps it would have led
    ``least`` times as far as the motion came.
    """
    recent, motion = steps.accepted[len(steps.accepted) // 2 :], steps.motion
    found = values([a.end for a in recent])
    elapsed = recent[-1].step.t1 - recent[0].step.t0
    place = recent[-1].end
    widest, here = np.abs(found).max(axis=1), found[:, -1]
    try:
        rates = _rates(motion, place, values, 1e-3 * (recent[-1].step.t1 - recent[-1].step.t0))
        back = np.flatnonzero((here * rates < 0.0) & (elapsed * np.abs(rates) > least * widest))
        return [k for k in back.tolist() if _leads_back(motion, place, values, k, here[k] / rates[k])]
    except NewtonFailure:
        return []
    finally:
        motion.forget()


def _rates(motion: Motion, place: Place, values: Values, tau: float) -> np.ndarray:
    """Time derivatives of the comparisons along the flow at a point."""
    return np.diff(values([place, _along(motion, place, tau)]), axis=1)[:, 0] / tau


def _along(motion: Motion, place: Place, tau: float) -> Place:
    """The point to which a constant rate leads in some seconds."""
    states = motion.selection.states
    return motion.solve(place.h + tau, place.X[states] + tau * place.X_t[states], place, motion.selection)


def _leads_back(motion: Motion, place: Place, values: Values, k: int, before: float) -> bool:
    """Whether the flow at both sides of comparison ``k``, which is zero ``-before`` seconds on, leads back at a jump."""
    tau, speeds = 0.5 * abs(before), []
    for distance in (FAR, 1.0, -1.0, -FAR):
        at = _along(motion, place, (distance - 1.0) * before)
        speeds.append(float(_rates(motion, at, values, tau)[k]))
    own, other = np.abs(speeds[:2]), np.abs(speeds[2:])
    opposite = min(speeds[0] * speeds[1], speeds[2] * speeds[3]) > 0.0 > speeds[0] * speeds[2]
    return opposite and all(part.max() < FAR**0.25 * part.min() for part in (own, other))
