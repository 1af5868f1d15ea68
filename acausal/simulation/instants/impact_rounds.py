"""The law of impact applied in one mode of everything that is no contact: its rounds, and what they leave."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

import numpy as np

from ...dynamics.noise import TWICE, Uncertainty
from ...reduction.affine import AffineModel, Inadmissible, Kind, Mode, ModeData, Restart
from ...reduction.complementarity import NoComplementarySolution
from ...reduction.impact_law import Impacts, collide, reflected
from ...reduction.impacts import (
    CONTACT,
    FREE,
    Contacts,
    fastest,
    rest_speeds,
    touching_contacts,
    transmitting_chains,
)
from ...reduction.rounding import ROUNDING
from ...values import frozen
from ..numeric import NumericCore
from .restart import LeftLimits, restart
from .transition import VALUE, Instant


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
class Applied:
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

    def approached(self, reached: np.ndarray) -> np.ndarray:
        """The approaches of all elements (K,) so far, with these."""
        found = reached.copy()
        for members, approach in zip(self.contacts.weights > 0.0, self.approach, strict=True):
            found[self.contacts.which[members]] = approach
        return found

    def mode_after(self, mode: Mode) -> Mode:
        """A mode after the inelastic restart with the contacts open that part."""
        parting = set(self.contacts.members(self.impacts.v > self.rest))
        return tuple(FREE if k in parting else branch for k, branch in enumerate(mode))


def with_shares(numbers: NumericCore, found: Applied) -> list[Stage]:
    """The rounds with limits in which each member of a chain has its share of what its speeds lose.

    With contacts open a place without mass is where forces take it, and the members would give and take energy by its leaps. It
    moves with the others where one member springs back: the mean of that of those with the largest restitution.
    """
    rounds = zip(found.stages(), found.impacts.rounds, strict=True)
    return [_shared(numbers, s, found.contacts, p) for s, p in rounds]


def _shared(numbers: NumericCore, s: Stage, contacts: Contacts, p: np.ndarray) -> Stage:
    chains = [contacts.which[w > 0.0] for w in contacts.weights[p > 0.0] if np.count_nonzero(w) > 1]
    if not chains:
        return s
    e = np.array([element.restitution for element in numbers.model.elements])
    springing = [chain[e[chain] == e[chain].max()].tolist() for chain in chains]
    joined = {k: CONTACT for chain in chains for k in chain.tolist()}
    limits, xi = [], s.y_after[len(s.after.states) :]
    for turn in range(max(map(len, springing))):
        branches = joined | {chain[turn % len(chain)]: FREE for chain in springing}
        try:
            data = numbers.mode(tuple(branches.get(k, b) for k, b in enumerate(s.before.mode)))
            ends = [restart(numbers.model, LeftLimits(data, z, xi)) for z in (s.z_before, s.z_after)]
        except Inadmissible:
            return s
        forces = np.abs([numbers.model.elements[k].blocked[CONTACT].A[0] for k in joined])
        if any((forces @ np.abs(end.J1) > ROUNDING * p.sum()).any() for end in ends):
            return s
        limits.append([_point(end.z, data, end.y) for end in ends])
    left, right = np.mean(limits, axis=0)
    return replace(s, left=left, right=right)


def apply_law(
    numbers: NumericCore,
    base: Restart,
    instant: Instant,
    closed: Mode,
    reached: np.ndarray,
    refuses: Callable[[np.ndarray, np.ndarray], bool],
) -> Applied:
    """What the law makes of contacts that touch, in a restart with all of them open; in the mode ``closed`` they are not.

    ``refuses`` tells whether something else does not transmit the impulses (n,) of a round, from where it leads to (ny,).
    """
    model = numbers.model
    contacts = _touching_chains(numbers, base, instant, closed)
    # Without restitution a member of a chain is a rigid joint: what springs back is the other one.
    e = contacts.largest(np.array([element.restitution for element in model.elements]))
    if instant.parted is not None:
        e[_stays_below(contacts, base, e, contacts.sums(instant.parted))] = 0.0
    speeds = contacts.speeds(base.y)
    # What collisions leave of the approach they began with is known no better than that.
    approach = fastest(contacts, np.maximum(contacts.largest(reached), -speeds))
    noise = contacts.sums(_rate_noise(numbers, base, instant)) + ROUNDING * approach
    # A rebound too slow to be told from none is none.
    rest = np.maximum(rest_speeds(model, contacts, approach), noise / np.where(e > 0.0, e, 1.0))
    y = base.y.copy()

    def refused(p: np.ndarray) -> bool:
        y[: len(base.data.states)] += contacts.jump @ p
        return refuses(y, contacts.impulse @ p)

    try:
        impacts = collide(contacts.inverse_masses, speeds, e, rest, refused)
    except NoComplementarySolution:
        raise ImpactFailed("unsolved", tuple(contacts.which.tolist())) from None
    exact = replace(instant, known=Uncertainty(0.0))
    evaluated = contacts.sums(_rate_noise(numbers, base, exact)) + ROUNDING * approach
    found = Applied(base, contacts, impacts, rest, approach, evaluated)
    return found if impacts.refused else _stilled(numbers, found, instant, closed)


def _stilled(numbers: NumericCore, found: Applied, instant: Instant, closed: Mode) -> Applied:
    """The law with a last round that leaves none of the speeds that no sign test would tell from none.

    A round of its own would pull at what has just rebounded, and friction would give energy there. Nor does it leave flights
    lower than what rounding hides of the gaps, or than these move in the time by which the instant may be late: they would end
    before they are seen. What so comes to rest makes others fall that flew beside it.
    """
    W = found.contacts.inverse_masses
    while len(found.impacts.rounds) and not found.impacts.unyielding.any():
        impacts = found.impacts
        still = _still(numbers, found, instant, closed)
        if not impacts.v[still].any():
            break
        p = np.zeros(len(still))
        p[still] = np.linalg.lstsq(W[still][:, still], -impacts.v[still], rcond=None)[0]
        v = np.where(still, 0.0, impacts.v + W @ p)
        rounds = np.vstack([impacts.rounds[:-1], impacts.rounds[-1] + p])
        response = reflected(W, impacts.response, np.flatnonzero(still), np.zeros(len(still)))
        found = replace(found, impacts=replace(impacts, rounds=rounds, v=v, response=response))
    return found


def _still(numbers: NumericCore, found: Applied, instant: Instant, closed: Mode) -> np.ndarray:
    """Mask of the contacts whose speeds are none, or flights hidden."""
    contacts, base, v = found.contacts, found.base, found.impacts.v
    begun = np.abs(contacts.speeds(base.y))
    known = found.known(numbers.model, instant)
    noise = contacts.sums(_rate_noise(numbers, base, replace(instant, known=known)))
    end = found.stages()[-1]
    falling = np.minimum(
        contacts.rates @ (base.data.Ay @ end.y_after), _pulled(numbers.model, contacts, instant)
    )
    # Along a segment twice as much is hidden as in an instant.
    exact = replace(instant, known=Uncertainty(0.0, known.error))
    hidden = contacts.sums(_noise(numbers, base, exact, 0))
    # The mode that follows has states of its own, which round otherwise, and contacts on which others fall.
    with suppress(Inadmissible):
        data = numbers.mode(found.mode_after(closed))
        after = restart(numbers.model, LeftLimits(data, end.z_after, instant.xi))
        moved = np.concatenate([data.T @ (data.Ay @ after.y), numbers.model.S @ instant.xi])
        falling = np.minimum(falling, contacts.rates @ contacts.data.chosen(moved))
        free = np.array([branch == FREE for branch in data.mode])
        hidden = np.maximum(hidden, contacts.sums(np.where(free, _noise(numbers, after, exact, 0), 0.0)))
    low = TWICE * np.maximum(hidden, known.late * begun)
    return (np.abs(v) <= noise) | (v**2 <= 2.0 * np.maximum(-falling, 0.0) * low)


def _touching_chains(numbers: NumericCore, base: Restart, instant: Instant, closed: Mode) -> Contacts:
    """Contacts that touch and transmit impulses by themselves, and chains through places without mass that do so together.

    With contacts open such a place is where forces take it: whether one touches there says nothing, but the sum of a chain does.
    """
    model, known = numbers.model, numbers.tables(base.data).contacts
    touching = _touching(numbers, base, instant, closed)

    def transmitting(which: list[int]) -> Contacts:
        found = known.get(tuple(which))
        if found is None:
            found = known[tuple(which)] = transmitting_chains(
                model, touching_contacts(model, base.data, which)
            )
        return found

    found = transmitting(touching)
    if len(found.weights) == len(touching) and (found.weights == np.eye(len(touching))).all():
        return found
    # Elsewhere there may be contacts of what nothing can move.
    with suppress(Inadmissible):
        found = transmitting([k for k, element in enumerate(model.elements) if element.kind is Kind.IMPACT])
    members = found.weights > 0.0
    kept = np.isin(found.which, touching)
    contact = np.array([closed[k] == CONTACT for k in found.which.tolist()], bool)
    met = ~(members & ~contact).any(axis=1)
    met |= found.gaps(base.y) <= found.sums(_noise(numbers, base, instant, 0))
    alone = members.sum(axis=1) == 1
    return found.chained(np.eye(len(members))[np.where(alone, (members & kept).any(axis=1), met)])


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
        return np.zeros(len(contacts.rates))
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
