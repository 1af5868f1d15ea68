"""Collisions of an instant: what else jumps comes first, then the law of impact for the contacts that touch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from ...dynamics.noise import TWICE, Uncertainty
from ...reduction.affine import AffineModel, Element, Kind, Mode, ModeData, Restart
from ...reduction.complementarity import NoComplementarySolution
from ...reduction.impact_law import Impacts, collide, reflected
from ...reduction.impacts import (
    CONTACT,
    FREE,
    Contacts,
    fastest,
    gap_speed,
    lost_energy,
    rest_speeds,
    touching_contacts,
)
from ...reduction.rounding import ROUNDING
from ...values import frozen
from ..numeric import NumericCore
from .transition import VALUE, Instant, restart

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


class ImpactFailed(Exception):
    """The law of impact gives no motion; ``why`` is a key of `failures.WHY_IMPACT`, ``elements`` take part."""

    def __init__(self, why: str, elements: tuple[int, ...]) -> None:
        super().__init__(why)
        self.why = why
        self.elements = elements


@frozen
class Stage:
    """One part of the jumps of an instant: limits on both sides, and the impulses between."""

    before: ModeData
    y_before: np.ndarray
    z_before: np.ndarray
    after: ModeData
    y_after: np.ndarray
    z_after: np.ndarray
    J1: np.ndarray
    removing: np.ndarray | None = None
    """The impulse of what has removed defects that are no jump: what is uncertain has to explain it; None without any."""
    by: tuple[Contacts, np.ndarray] | None = None
    """The contacts of a round and their impulses; None of what is no round."""
    left: np.ndarray | None = None
    right: np.ndarray | None = None
    """The limits with their slopes and sources where they lie within a jump, so that no mode tells the slopes."""

    @property
    def impulse(self) -> np.ndarray:
        """All that moves the values."""
        return self.J1 if self.removing is None else self.J1 + self.removing


def limits_of(s: Stage) -> tuple[np.ndarray, np.ndarray]:
    """Both limits of a part as states ``[z, z', xi]``."""
    left = _point(s.z_before, s.before, s.y_before) if s.left is None else s.left
    return left, _point(s.after.T @ s.y_after, s.after, s.y_after) if s.right is None else s.right


def _point(z: np.ndarray, data: ModeData, y: np.ndarray) -> np.ndarray:
    return np.concatenate([z, data.T @ (data.Ay @ y), y[len(data.states) :]])


@frozen
class Collided:
    """How an instant with collisions ends: ``plastic`` are the elements of groups whose rounds did not end."""

    restart: Restart
    stages: tuple[Stage, ...]
    plastic: tuple[int, ...]


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
        stages += found.stages()
        plastic += found.contacts.which[found.impacts.plastic].tolist()
        reached[found.contacts.which], first = found.approach, False
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
    return Collided(Restart(after.data, after.y, after.z, J1, True), tuple(stages), tuple(plastic))


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


@frozen
class _Found:
    """The law applied in one mode of everything that is no contact."""

    base: Restart
    contacts: Contacts
    impacts: Impacts
    rest: np.ndarray
    approach: np.ndarray
    """The fastest in the instant so far, of each contact and those that share masses with it."""
    evaluated: np.ndarray
    """Noise of the speeds before that is none of the states."""

    def stages(self) -> list[Stage]:
        """One for each round."""
        data, contacts = self.base.data, self.contacts
        k, made, y = len(data.states), [], self.base.y
        z = self.base.z
        for p in self.impacts.rounds:
            y_after = y.copy()
            y_after[:k] += contacts.jump @ p
            z_after = data.T @ y_after
            made.append(Stage(data, y, z, data, y_after, z_after, contacts.impulse @ p, by=(contacts, p)))
            y, z = y_after, z_after
        return made

    @cached_property
    def _passed(self) -> np.ndarray:
        """Unknowns after the rounds over those before the instant and the sources (n, n + q)."""
        data, contacts = self.base.data, self.contacts
        k, n = len(data.states), len(self.base.z)
        begun = np.zeros((len(self.base.y), n + len(self.base.y) - k))
        begun[np.arange(k), data.states] = 1.0
        begun[k:, n:] = np.eye(len(self.base.y) - k)
        if self.base.jumped:
            begun[:k] += data.jump @ data.constraints
        return (data.T + data.T[:, :k] @ contacts.jump @ self.impacts.response @ contacts.rates) @ begun

    def rounding(self, before: np.ndarray | None) -> np.ndarray:
        """Rounding (n,) of the core unknowns after the rounds: that of states moves with the impulses that follow from it.

        What comes to rest has cancelled its own impulses.
        """
        data, z = self.base.data, self.base.z
        moved = data.T[:, : len(data.states)] @ self.contacts.jump @ self.impacts.response
        summed = self.contacts.terms(np.sum(np.abs(self.impacts.rounds), axis=0))[0]
        rounded = ROUNDING * (np.abs(z) + summed) + np.abs(moved) @ self.evaluated
        return rounded if before is None else rounded + np.abs(self._passed[:, : len(z)]) @ before

    def known(self, model: AffineModel, instant: Instant) -> Uncertainty:
        """How exactly the unknowns after the rounds are known.

        What moves while the instant may be late moves together before them, and so does what they make of it.
        """
        known, n = instant.known, len(self.base.z)
        found = known._replace(error=self.rounding(known.error))
        moved = known.motion(model.S @ instant.xi)
        if moved is None:
            return found
        shift = np.zeros(moved.shape) if known.shift is None else known.shift.copy()
        shift[:n] = self._passed @ moved
        return found._replace(shift=shift, rate=None if known.rate is None else lambda: np.zeros(n))

    def mode_after(self, mode: Mode) -> Mode:
        """A mode after the inelastic restart with the contacts open that part."""
        parting = set(self.contacts.which[self.impacts.v > self.rest].tolist())
        return tuple(FREE if k in parting else branch for k, branch in enumerate(mode))


def _settled(
    numbers: NumericCore,
    base: Restart,
    instant: Instant,
    forced: tuple[int, ...],
    closed: Mode,
    reached: np.ndarray,
) -> _Found:
    """The law with all other elements in branches that the impulses allow, those too that nothing yields to."""
    model, tried, which = numbers.model, [], ()
    while base.data.mode not in tried:
        tried.append(base.data.mode)
        found = _apply(numbers, base, instant, closed, reached)
        which = tuple(found.contacts.which.tolist())
        mode = _violated(numbers, found, instant, forced)
        if mode is None:
            if found.impacts.unyielding.any():
                raise ImpactFailed("unsolved", tuple(found.contacts.which[found.impacts.unyielding].tolist()))
            _check_energy(model, found)
            return found
        data = numbers.mode(mode)
        base = restart(model, instant.limits(data), instant.reinits)
    raise ImpactFailed("unsettled", which)


def _apply(
    numbers: NumericCore, base: Restart, instant: Instant, closed: Mode, reached: np.ndarray
) -> _Found:
    model = numbers.model
    which = _touching(numbers, base, instant, closed)
    known = numbers.tables(base.data).contacts
    contacts = known.get(tuple(which))
    if contacts is None:
        contacts = known[tuple(which)] = touching_contacts(model, base.data, which)
    e = np.array([model.elements[k].restitution for k in which])
    if instant.parted is not None:
        e[_stays_below(contacts, base, e, instant.parted[which])] = 0.0
    speeds = contacts.speeds(base.y)
    # What collisions leave of the approach they began with is known no better than that.
    approach = fastest(contacts, np.maximum(reached[contacts.which], -speeds))
    noise = _rate_noise(numbers, base, instant)[contacts.which] + ROUNDING * approach
    # A rebound too slow to be told from none is none.
    rest = np.maximum(rest_speeds(model, contacts, approach), noise / np.where(e > 0.0, e, 1.0))
    try:
        impacts = collide(contacts.inverse_masses, speeds, e, rest)
    except NoComplementarySolution:
        raise ImpactFailed("unsolved", tuple(contacts.which.tolist())) from None
    exact = replace(instant, known=Uncertainty(0.0))
    evaluated = _rate_noise(numbers, base, exact)[contacts.which] + ROUNDING * approach
    return _stilled(numbers, _Found(base, contacts, impacts, rest, approach, evaluated), instant)


def _stilled(numbers: NumericCore, found: _Found, instant: Instant) -> _Found:
    """The law with a last round that leaves none of the speeds that no sign test would tell from none.

    A round of its own would pull at what has just rebounded, and friction would give energy there. Nor does it leave flights
    lower than what rounding hides of the gaps, or than these move in the time by which the instant may be late: they would end
    before they are seen.
    """
    impacts, contacts = found.impacts, found.contacts
    if not len(impacts.rounds) or impacts.unyielding.any():
        return found
    known = found.known(numbers.model, instant)
    noise = _rate_noise(numbers, found.base, replace(instant, known=known))[contacts.which]
    falling = np.minimum(
        contacts.rates @ (found.base.data.Ay @ found.stages()[-1].y_after),
        _pulled(numbers.model, contacts, instant),
    )
    # Along a segment twice as much is hidden as in an instant.
    hidden = _noise(numbers, found.base, replace(instant, known=Uncertainty(0.0, known.error)), 0)
    low = TWICE * np.maximum(hidden[contacts.which], known.late * np.abs(contacts.speeds(found.base.y)))
    still = (np.abs(impacts.v) <= noise) | (impacts.v**2 <= 2.0 * np.maximum(-falling, 0.0) * low)
    if not impacts.v[still].any():
        return found
    p, W = np.zeros(len(still)), contacts.inverse_masses
    p[still] = np.linalg.lstsq(W[still][:, still], -impacts.v[still], rcond=None)[0]
    v = np.where(still, 0.0, impacts.v + W @ p)
    rounds = np.vstack([impacts.rounds[:-1], impacts.rounds[-1] + p])
    response = reflected(W, impacts.response, np.flatnonzero(still), np.zeros(len(still)))
    return replace(found, impacts=replace(impacts, rounds=rounds, v=v, response=response))


def _touching(numbers: NumericCore, base: Restart, instant: Instant, closed: Mode) -> list[int]:
    """Contacts that touch: those that close, and those whose gap is no more than its rounding."""
    prepared = numbers.tables(base.data)
    # A contact touches to what moves it by itself.
    signs, levels = prepared.guards.signs(base.y, instant.known.apart)
    side = {
        element: sign
        for sign, level, (element, _, _) in zip(signs, levels, prepared.origin, strict=True)
        if level == VALUE
    }
    return [
        k
        for k, element in enumerate(numbers.model.elements)
        if element.kind is Kind.IMPACT and (closed[k] == CONTACT or side.get(k, 0) <= 0)
    ]


def _stays_below(contacts: Contacts, base: Restart, e: np.ndarray, parted: np.ndarray) -> np.ndarray:
    """Contacts that a rebound would open no wider than they overlapped: flights below the resolution of crossings."""
    rate = contacts.speeds(base.y)
    falling = contacts.rates @ (base.data.Ay @ base.y)
    return (parted > 0.0) & ((e * rate) ** 2 <= 2.0 * np.maximum(-falling, 0.0) * parted)


def _pulled(model: AffineModel, contacts: Contacts, instant: Instant) -> np.ndarray:
    """Rates of the speeds of gaps before the instant: what rests again soon pulls, though with contacts open it falls too."""
    if instant.known.rate is None:
        return np.zeros(len(contacts.which))
    motion = np.concatenate([instant.known.rate(), model.S @ instant.xi])
    return contacts.rates @ contacts.data.chosen(motion)


def _rate_noise(numbers: NumericCore, base: Restart, instant: Instant) -> np.ndarray:
    """Noise of the speed of the gap of every contact, zero for other elements."""
    return _noise(numbers, base, instant, 1)


def _noise(numbers: NumericCore, base: Restart, instant: Instant, order: int) -> np.ndarray:
    """The same of its derivative of some order."""
    prepared = numbers.tables(base.data)
    noise = np.zeros(len(numbers.model.elements))
    for value, (k, _, _) in zip(
        prepared.guards.levels(base.y, instant.known)[1][order].tolist(), prepared.origin, strict=True
    ):
        noise[k] = max(noise[k], value)
    return noise


def _violated(numbers: NumericCore, found: _Found, instant: Instant, forced: tuple[int, ...]) -> Mode | None:
    """The mode with elements in their targets that an impulse of a round violates, None without any."""
    model, data = numbers.model, found.base.data
    prepared = numbers.tables(data)
    mode = list(data.mode)
    for stage in found.stages():
        signs, levels = prepared.guards.signs(stage.y_after, instant.known, stage.J1)
        for sign, level, (k, target, guard) in zip(signs, levels, prepared.origin, strict=True):
            if sign >= 0 or forced[k] >= 0 or guard in instant.disabled_guards:
                continue
            slides = level == VALUE and model.elements[k].kind is Kind.FRICTION
            if level == _IMPULSE or (slides and _transmits(model.elements[k], 0, stage.J1)):
                mode[k] = target
        for level, k, target in prepared.deselected(forced, stage.y_after, instant.known, stage.J1):
            if level == _IMPULSE:
                mode[k] = target
    return None if tuple(mode) == data.mode else tuple(mode)


def _transmits(element: Element, branch: int, J1: np.ndarray) -> bool:
    rows = element.blocked[branch].A
    return bool((np.abs(rows @ J1) > _TRANSMITTED * (np.abs(rows) @ np.abs(J1))).any())


def _check_speeds(model: AffineModel, found: _Found, after: Restart) -> None:
    """Raise ImpactFailed where a gap does not open with the speed that the law gives it: impulses are not linear in speeds."""
    if after.jumped:
        return
    for k, v, rest in zip(
        found.contacts.which.tolist(), found.impacts.v.tolist(), found.rest.tolist(), strict=True
    ):
        if after.data.mode[k] == FREE:
            speed = gap_speed(model.elements[k], after)
            if abs(speed - v) > rest + _LINEAR * abs(v):
                raise ImpactFailed("nonlinear", (k,))


def _check_energy(model: AffineModel, found: _Found) -> None:
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
