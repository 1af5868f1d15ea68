"""Choice of the next mode of a nonlinear model: search on touching affine models until point and mode stay."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from ...dynamics.directions import generic_direction
from ...reduction.affine import Mode, Restart
from ..failures import NoConsistentPoint
from ..nonlinear.newton import NewtonFailure
from ..nonlinear.state_selection import DependentConstraints
from .search import Choice, NoConsistentMode

if TYPE_CHECKING:
    from ..run import Run

WAY_POINTS = (6, 12, 24, 48, 96)
"""Points of Gauss rules along an instant, until two agree."""
MOST_ROUNDS = 40
BESIDE = 0.3
"""Distance from a point at which slopes vanish, in units of the scale."""
SETTLED = 1e-9
"""Scaled change of the point between two rounds after which it stays."""
ACCEPTED = 1e-6
"""The same where it does not become smaller: what is left is rounding in a model of many unknowns."""
STALLED = 0.5
"""Part of the change before, from which on a change has not become smaller."""


def choose(
    run: Run,
    z_minus: np.ndarray,
    xi: np.ndarray,
    present: Mode,
    forced: Any,
    triggers: Any,
    rest: dict[str, Any],
) -> Choice:
    """The consistent mode after an instant, and the point in it.

    Raises
    ------
    NoConsistentMode, NoConsistentPoint

    Notes
    -----
    Every round searches on the model that touches at the last point, restarts there from the left limits,
    and solves the nonlinear rows of the mode found from that restart. At a fixed point the restart conserves what
    it must, all rows hold, and guards have their signs along the nonlinear motion. A search begins with the present
    mode; where tangents lead to and fro between modes, with the last one. Where a hint foretells the mode and nothing
    can jump in it, the first round would do no more than name it.
    """
    foreseen = _foreseen(run, z_minus, xi, present, forced, triggers, rest)
    if foreseen is not None:
        return foreseen
    tried: list[Mode] = []
    first: NoConsistentMode | None = None
    nearest = np.inf
    for k in range(MOST_ROUNDS):
        try:
            choice = run.search.next_mode(z_minus, xi, present, forced, triggers, t=run.t, **rest)
        except NoConsistentMode as failure:
            if k or not _guesses(run).any():
                if first is not None:
                    run.touch(run.z, run.slopes, xi)
                raise first or failure from None
            # Slopes may vanish at a guess alone: x^2 at 0.
            first = failure
            run.touch(_beside(run), run.slopes, xi)
            continue
        if choice.restart.data.mode in tried[:-1]:
            choice = run.search.next_mode(z_minus, xi, tried[-1], forced, triggers, t=run.t, **rest)
        restart = choice.restart
        mode = restart.data.mode
        far = _distance(run, restart.z, run.z_touch)
        if tried and mode == tried[-1] and (far <= SETTLED or STALLED * nearest <= far <= ACCEPTED):
            return Choice(restart, choice.history)
        nearest = far
        tried.append(mode)
        z, slopes = _point(run, restart, xi)
        run.touch(z, slopes, xi, derivatives(restart)[1])
    raise NoConsistentPoint(tried)


def _foreseen(
    run: Run,
    z_minus: np.ndarray,
    xi: np.ndarray,
    present: Mode,
    forced: Any,
    triggers: Any,
    rest: dict[str, Any],
) -> Choice | None:
    """The fixed point in the mode that a hint foretells, if that is one to which no differentiated variable jumps.

    Left limits then are what a restart leads to, and the guess for the rest.
    """
    mode = run.foreseen(present, forced, triggers)
    system = None if mode is None else run.tangents.known(mode)
    if system is None or run.bounds is not None or rest.get("reinits"):
        return None
    if (system.mode.slopes & (system.orders.unknowns > 0)).any():
        return None  # A slope that is a coordinate has no left limit that is kept.
    before = run.core, run.z_touch, run.motions.last
    choice = None
    with suppress(NewtonFailure, DependentConstraints, NoConsistentMode):
        motion = run.motions.begin(z_minus, run.slopes, xi, system, run.z_touch)
        z, slopes = motion.unknowns(motion.last)
        moving = run.base.model.differentiated
        if _close(run, z, z_minus)[moving].all():
            run.touch(z, slopes, xi, motion.bends(motion.last) if run.tangents.deep else None)
            choice = run.search.next_mode(z_minus, xi, present, forced, triggers, t=run.t, **rest)
    if choice is not None:
        restart = choice.restart
        if restart.data.mode == mode and not restart.jumped and _close(run, restart.z, run.z_touch).all():
            return Choice(restart, choice.history)
    core, touched, run.motions.last = before
    run.touch_as(core, touched)
    return None


def derivatives(restart: Restart) -> tuple[np.ndarray, np.ndarray]:
    """First and second time derivatives of the core unknowns along the flow after a restart."""
    data = restart.data
    rate = data.Ay @ restart.y
    return data.T @ rate, data.T @ (data.Ay @ rate)


def _guesses(run: Run) -> np.ndarray:
    """Mask of the algebraic variables of nonlinear rows: their values are guesses."""
    return run.tangents.read & ~run.core.model.differentiated


def _beside(run: Run) -> np.ndarray:
    """The point of the last tangent, with guesses moved a little."""
    direction = np.where(_guesses(run), generic_direction(len(run.z_touch)), 0.0)
    return run.z_touch + BESIDE * run.core.model.scale * direction


def _point(run: Run, restart: Restart, xi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Point on the nonlinear rows of a mode next to a restart on a touching model.

    Algebraic variables are sought from where the model was touched, where a tangent may lead far astray.
    """
    data, slopes = restart.data, derivatives(restart)[0]
    system = run.tangents.mode(run.core, data.mode, restart.z, slopes, xi, run.present)
    try:
        motion = run.motions.begin(restart.z, slopes, xi, system, run.z_touch)
    except NewtonFailure as failure:
        try:
            motion = run.motions.begin(restart.z, slopes, xi, system)
        except NewtonFailure:
            raise failure from None
    return motion.unknowns(motion.last)


def _distance(run: Run, z: np.ndarray, other: np.ndarray) -> float:
    """Largest scaled difference of two points."""
    return float(np.max(np.abs(z - other) / (run.base.model.scale + np.abs(z)), initial=0.0))


def _close(run: Run, z: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Mask of the core unknowns that are the same at two points."""
    return np.abs(z - other) <= SETTLED * (run.base.model.scale + np.abs(z))


def mean_along(
    run: Run, before: Mode, z_minus: np.ndarray, z_plus: np.ndarray, xi: np.ndarray
) -> np.ndarray | None:
    """Means of the core unknowns over an instant in which the states move along a straight line.

    Impulses do work against what nonlinear rows give along the way (a charge against the potential it makes),
    in the structure that holds before the instant. None where that is the mean of both limits.
    """
    slopes = np.zeros_like(z_minus)
    system = run.tangents.mode(run.core, before, z_minus, slopes, xi, run.present)
    if not system.m or system.constraints:
        return None

    def point(s: float) -> np.ndarray:
        motion = run.motions.begin(z_minus + s * (z_plus - z_minus), slopes, xi, system)
        return motion.unknowns(motion.last)[0]

    try:
        first, last = point(0.0), point(1.0)
        return 0.5 * (z_minus + z_plus) + _bend(run, point, first, last)
    except NewtonFailure:
        # The way leaves the domain of a function: no better value than the mean of both limits is defined.
        return None


def _bend(run: Run, point: Callable[[float], np.ndarray], first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Mean distance of a way from the straight line between its ends."""
    bend, before = np.zeros_like(first), None
    for count in WAY_POINTS:
        nodes, weights = np.polynomial.legendre.leggauss(count)
        bend = np.zeros_like(first)
        for node, weight in zip((0.5 * (nodes + 1.0)).tolist(), (0.5 * weights).tolist(), strict=True):
            bend += weight * (point(node) - (1.0 - node) * first - node * last)
        if before is not None and _close(run, bend, before).all():
            break
        before = bend
    return bend
