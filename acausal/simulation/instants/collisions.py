"""Collisions of an instant: what else jumps comes first, then the law of impact for the contacts that touch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from ...reduction.affine import AffineModel, Element, Kind, Mode, ModeData, Restart
from ...reduction.impacts import CONTACT, FREE, gap_speed, lost_energy
from ...values import frozen
from ..numeric import NumericCore
from .impact_rounds import Applied, ImpactFailed, Stage, apply_law, with_shares
from .restart import restart
from .transition import VALUE, Instant

MOST_COLLISIONS = 50
"""Collisions in one instant, each of many rounds: more only where what they leave of other elements closes contacts anew."""
_TRANSMITTED = 2.0**-44
"""Part of the impulses below which one is rounding."""
_GAINED = 1e-9
"""Part of the energy that passes through contacts in the largest round below which a gain is rounding."""
_LINEAR = 1e-6
"""Part of the speed of a gap after an impact that nonlinear equations may leave: Newton's method leaves less than 1e-9."""
_IMPULSE = 0

Solve = Callable[[Instant, Mode, tuple[int, ...], bool], Restart]
"""Restart in the consistent mode next to one, with forced branches; True from where the whole instant begins."""


@frozen
class Collided:
    """How an instant with collisions ends: ``plastic`` are the elements of groups whose rounds did not end.

    ``last`` is what remains of the instant after the rounds, in which the restart was found.
    """

    restart: Restart
    stages: tuple[Stage, ...]
    plastic: tuple[int, ...]
    last: Instant


def can_collide(model: AffineModel, after: Restart) -> bool:
    """Whether contacts transmit an impulse in an inelastic restart that jumps, in a model with restitution.

    Others than those that transmit it may have to rebound: one that another contact has stopped.
    """
    if not any(element.kind is Kind.IMPACT and element.restitution > 0.0 for element in model.elements):
        return False
    return any(model.elements[k].kind is Kind.IMPACT for k in transmitting(model, after))


def transmitting(model: AffineModel, after: Restart) -> Iterator[int]:
    """The elements of two branches, one of them open, that transmit an impulse in a restart that jumps."""
    for k, (element, branch) in enumerate(zip(model.elements, after.data.mode, strict=True)):
        one_way = element.kind in (Kind.IMPACT, Kind.COMPLEMENTARITY)
        one_way |= element.kind is Kind.MODES and len(element.branches) == len((FREE, CONTACT))
        if one_way and _transmits(element, branch, after.J1):
            yield k


def collisions(
    after: Restart,
    begin: Callable[[Restart], tuple[Stage, ...]],
    instant: Instant,
    numbers: Callable[[], NumericCore],
    solve: Solve,
) -> Collided:
    """Carry on an instant in which contacts take an impulse.

    Parameters
    ----------
    after : Restart
        The inelastic restart.
    begin : callable
        The way from the left limits to a restart, for the log.
    instant : Instant
    numbers : callable
        The numbers in force after the last call of ``solve``.
    solve : callable

    Raises
    ------
    ImpactFailed

    Notes
    -----
    Whatever else jumps is solved with all contacts open; the law is applied there, and what it leaves is restarted from,
    inelastically. Friction that would have to transmit more than its cone slides, elements that would pull let go, in all rounds.
    """
    stages, plastic, first, which = [], [], True, ()
    reached = np.zeros(len(instant.forced))
    for _ in range(MOST_COLLISIONS):
        core = numbers()
        if not can_collide(core.model, after):
            break
        open_ = _opened(core.model, instant)
        base = solve(instant, after.data.mode, open_, first)
        found = _settled(numbers(), base, instant, open_, after.data.mode, reached)
        if not len(found.impacts.rounds):
            # Slower than the rest speeds: what was found before, on the tangents of before.
            if numbers() is not core:
                after = solve(instant, after.data.mode, tuple(instant.forced), first)
            break
        if found.base.jumped:
            stages += begin(found.base) if first else _next(stages[-1], found.base)
        which = tuple(found.contacts.which.tolist())
        stages += with_shares(numbers(), found)
        plastic += found.contacts.members(found.impacts.plastic)
        reached, first = found.approached(reached), False
        known = found.known(numbers().model, instant)
        instant = replace(instant, z_minus=stages[-1].z_after, known=known, reinits=())
        after = solve(instant, found.mode_after(after.data.mode), tuple(instant.forced), False)
        _check_speeds(numbers().model, found, after)
    else:
        raise ImpactFailed("unsettled", which)
    # What the end is moved by without an impulse belongs to the way there too.
    if first or (after.z != stages[-1].z_after).any():
        stages += begin(after) if first else _next(stages[-1], after)
    J1 = np.sum([s.J1 for s in stages], axis=0)
    return Collided(Restart(after.data, after.y, after.z, J1, True), tuple(stages), tuple(plastic), instant)


def _next(before: Stage, after: Restart) -> tuple[Stage]:
    """What follows on another part of the instant."""
    limits = before.after, before.y_after, before.z_after, after.data, after.y, after.z
    return (Stage(*limits, after.J1, after.removing),)


def _opened(model: AffineModel, instant: Instant) -> tuple[int, ...]:
    """Forced branches with all contacts open."""
    return tuple(
        FREE if element.kind is Kind.IMPACT else branch
        for element, branch in zip(model.elements, instant.forced, strict=True)
    )


def _settled(
    numbers: NumericCore,
    base: Restart,
    instant: Instant,
    forced: tuple[int, ...],
    closed: Mode,
    reached: np.ndarray,
) -> Applied:
    """The law with all other elements in branches that the impulses allow, those too that nothing yields to."""
    model, tried, which = numbers.model, [], ()
    while base.data.mode not in tried:
        tried.append(base.data.mode)
        violated = partial(_violated, numbers, base.data, instant, forced)
        found = apply_law(
            numbers, base, instant, closed, reached, lambda y, J1, of=violated: of(y, J1) is not None
        )
        which = tuple(found.contacts.which.tolist())
        # Those before the last were asked while they were made, and what no motion follows is none.
        last = found.stages()[-1:]
        mode = violated(last[0].y_after, last[0].J1) if last else None
        if mode is None:
            if found.impacts.unyielding.any():
                raise ImpactFailed("unsolved", tuple(found.contacts.members(found.impacts.unyielding)))
            _check_energy(model, found)
            return found
        data = numbers.mode(mode)
        base = restart(model, instant.limits(data), instant.reinits)
    raise ImpactFailed("unsettled", which)


def _violated(
    numbers: NumericCore,
    data: ModeData,
    instant: Instant,
    forced: tuple[int, ...],
    y: np.ndarray,
    J1: np.ndarray,
) -> Mode | None:
    """The mode with elements in their targets that the impulse of a round, which leads to ``y``, violates; None without any."""
    model, prepared, mode = numbers.model, numbers.tables(data), list(data.mode)
    signs, levels = prepared.guards.signs(y, instant.known, J1)
    for sign, level, (k, target, guard) in zip(signs, levels, prepared.origin, strict=True):
        if sign >= 0 or forced[k] >= 0 or guard in instant.disabled_guards:
            continue
        slides = level == VALUE and model.elements[k].kind is Kind.FRICTION
        if level == _IMPULSE or (slides and _transmits(model.elements[k], 0, J1)):
            mode[k] = target
    for level, k, target in prepared.deselected(forced, y, instant.known, J1):
        if level == _IMPULSE:
            mode[k] = target
    return None if tuple(mode) == data.mode else tuple(mode)


def _transmits(element: Element, branch: int, J1: np.ndarray) -> bool:
    rows = element.blocked[branch].A
    return bool((np.abs(rows @ J1) > _TRANSMITTED * (np.abs(rows) @ np.abs(J1))).any())


def _check_speeds(model: AffineModel, found: Applied, after: Restart) -> None:
    """Raise ImpactFailed where a gap does not open with the speed that the law gives it: impulses are not linear in speeds."""
    if after.jumped:
        return
    contacts = found.contacts
    for weights, v, rest in zip(contacts.weights, found.impacts.v.tolist(), found.rest.tolist(), strict=True):
        members = [(w, k) for w, k in zip(weights.tolist(), contacts.which.tolist(), strict=True) if w > 0.0]
        if any(after.data.mode[k] == FREE for _, k in members):
            speed = sum(w * gap_speed(model.elements[k], after) for w, k in members)
            if abs(speed - v) > rest + _LINEAR * abs(v):
                raise ImpactFailed("nonlinear", tuple(k for _, k in members))


def _check_energy(model: AffineModel, found: Applied) -> None:
    """Raise ImpactFailed where contacts and friction together would give energy in a round: of what passes in the largest one."""
    speeds, gains, passed = found.contacts.speeds, [], 0.0
    for p, stage in zip(found.impacts.rounds, found.stages(), strict=True):
        xi = stage.y_after[len(stage.after.states) :]
        lost = lost_energy(model, stage.before, stage.after, stage.z_before, stage.z_after, stage.J1, xi)
        gains.append((-lost.sum(), np.flatnonzero(lost)))
        passed = max(
            passed, float(np.abs(p) @ (np.abs(speeds(stage.y_before)) + np.abs(speeds(stage.y_after))))
        )
    for gain, elements in gains:
        if gain > _GAINED * passed:
            raise ImpactFailed("energy", tuple(elements))
