"""Impulses through elements whose law depends on the direction of a speed that turns around in the same instant.

What teeth lose of an impulse is another part of it turning forwards than backwards. An impulse that turns them around acts by
the law of the direction before until they stand still, and from there by that of the direction after, or holds them. Within an
instant all values move along straight lines, so that the first part is the share of the way up to where the speed is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from ...dynamics.noise import Uncertainty
from ...reduction.affine import AffineModel, Element, Inadmissible, Kind, Mode, Restart
from ...reduction.rounding import ROUNDING
from ...values import frozen
from .impact_rounds import ImpactFailed, Stage, limits_of
from .search import NoConsistentMode
from .transition import Choice, Instant

MOST_TURNS = 50
"""Parts of an instant after which elements turn around without end."""
_ROUNDED = 2.0**10 * ROUNDING
"""Part of the speeds and impulses of an instant that is rounding."""

Left = Callable[[Restart], tuple[Stage, ...]]
Solve = Callable[[Mode, Instant], Choice]


@frozen
class _Turn:
    """An element that moves before an impulse goes through it, and not in the same direction after it."""

    element: int
    branch: int
    """The one of the direction before, which is left where the speed becomes zero."""
    before: float
    after: float


def through_standstill(
    model: Callable[[], AffineModel], restart: Restart, instant: Instant, left: Left, solve: Solve
) -> tuple[Restart, tuple[Stage, ...]]:
    """A restart that jumps, in which what turns around is stopped by the law of the direction before; and the way there.

    Parameters
    ----------
    model : callable
        The numbers in force after the last call of ``solve``.
    restart : Restart
    instant : Instant
    left : callable
        The way from the left limits to a restart.
    solve : callable
        The choice next to a mode.

    Returns
    -------
    Restart
    tuple of Stage
        Empty where nothing turns around.

    Raises
    ------
    ImpactFailed
        Where what turns around has no motion up to its standstill, or parts of the instant follow each other without end.
    """
    stages: tuple[Stage, ...] = ()
    turning: tuple[int, ...] = ()
    for _ in range(MOST_TURNS):
        ways = _ways(stages, restart, left)
        stop = _stop(model(), ways[-1], instant, solve, lambda to, so_far=stages: _ways(so_far, to, left))
        if stop is None:
            return (_all(restart, ways), ways) if stages else (restart, ())
        stages, end, turning = stop, stop[-1], turned(model(), ways[-1])
        instant = replace(instant, z_minus=end.z_after, known=_known(instant, end), crossed=None, parted=None)
        restart = solve(end.after.mode, instant).restart
    raise ImpactFailed("unsettled", turning)


def _known(instant: Instant, end: Stage) -> Uncertainty:
    """How exactly the end of a part of an instant is known."""
    late, error, _, sources, _ = instant.known
    rounded = ROUNDING * (np.abs(end.z_before) + np.abs(end.z_after))
    return Uncertainty(late, rounded if error is None else error + rounded, sources=sources)


def turned(model: AffineModel, way: Stage) -> tuple[int, ...]:
    """The elements that turn around in a part of an instant while an impulse goes through them."""
    return tuple(turn.element for turn in _turns(model, way) if turn.after * turn.before < 0.0)


def _ways(stages: tuple[Stage, ...], to: Restart, left: Left) -> tuple[Stage, ...]:
    """The way to a restart, behind the stages so far."""
    if not stages:
        return left(to)
    end = stages[-1]
    limits = end.after, end.y_after, end.z_after, to.data, to.y, to.z
    return *stages, Stage(*limits, to.J1, to.removing, left=end.right)


def _stop(
    model: AffineModel,
    way: Stage,
    instant: Instant,
    solve: Solve,
    reach: Callable[[Restart], tuple[Stage, ...]],
) -> tuple[Stage, ...] | None:
    """The way to where the first of the elements stands still that turn around, by the law before; None where none does.

    Raises
    ------
    ImpactFailed
    """
    for turn in _turns(model, way):
        forced = tuple(turn.branch if k == turn.element else b for k, b in enumerate(instant.forced))
        stopped = None
        with suppress(NoConsistentMode, Inadmissible):
            stopped = solve(way.before.mode, replace(instant, forced=forced)).restart
        if stopped is None and turn.after:
            raise ImpactFailed("turned", (turn.element,))
        if stopped is None or not stopped.jumped:
            continue
        ways = reach(stopped)
        ends = _speeds(model, model.elements[turn.element], ways[-1])
        others = [(t.before, t.after) for t in _turns(model, ways[-1])]
        # Straight lines are followed up to the first zero; what comes to rest there goes on from there.
        shares = [before / (before - after) for before, after in (ends, *others) if before * after < 0.0]
        return *ways[:-1], _shortened(ways[-1], min(shares, default=1.0))
    return None


def _turns(model: AffineModel, way: Stage) -> Iterator[_Turn]:
    for k, element in enumerate(model.elements):
        if element.kind is not Kind.MODES or element.absorbing is None or not _transmits(model, element, way):
            continue
        before, after = _speeds(model, element, way)
        branch = _branch_of(element, before) if before and after * before <= 0.0 else None
        if branch is not None:
            yield _Turn(k, branch, before, after)


def _transmits(model: AffineModel, element: Element, way: Stage) -> bool:
    """Whether the second quantity of a curve has an impulse beyond rounding."""
    assert element.absorbing is not None
    form = element.blocked[element.absorbing[1]].A[0]
    size = model.largest_of_unit(np.abs(way.J1))
    return bool(abs(form @ way.J1) > _ROUNDED * (np.abs(form) @ size))


def _speeds(model: AffineModel, element: Element, way: Stage) -> tuple[float, float]:
    """The first quantity of a curve at both ends of a part of an instant; zero where it is no more than rounding."""
    assert element.absorbing is not None
    form = element.blocked[element.absorbing[0]]
    xi = form.B[0] @ way.y_after[len(way.after.states) :]
    ends = form.A[0] @ way.z_before + xi, form.A[0] @ way.z_after + xi
    size = model.largest_of_unit(np.maximum(np.abs(way.z_before), np.abs(way.z_after)))
    still = _ROUNDED * (np.abs(form.A[0]) @ size + abs(xi))
    before, after = (0.0 if abs(end) <= still else float(end) for end in ends)
    return before, after


def _branch_of(element: Element, speed: float) -> int | None:
    """The branch that is left where the speed, which has this sign, becomes zero; None without any."""
    assert element.absorbing is not None
    form = element.blocked[element.absorbing[0]]
    row = np.concatenate([form.E[0], form.A[0], form.B[0]])
    for b, branch in enumerate(element.branches):
        for g in np.hstack([branch.guards.E, branch.guards.A, branch.guards.B]):
            along = float(g @ row)
            if along * speed > 0.0 and np.allclose(g * (row @ row), along * row, rtol=1e-12, atol=0.0):
                return b
    return None


def _shortened(way: Stage, share: float) -> Stage:
    """The first part of a straight way."""
    begin, end = limits_of(way)
    right = begin + share * (end - begin)
    J1 = share * way.J1
    removing = None if way.removing is None else share * way.removing
    return replace(way, z_after=right[: len(way.z_after)], J1=J1, removing=removing, left=begin, right=right)


def _all(restart: Restart, ways: tuple[Stage, ...]) -> Restart:
    return Restart(restart.data, restart.y, restart.z, np.sum([s.impulse for s in ways], axis=0), True)
