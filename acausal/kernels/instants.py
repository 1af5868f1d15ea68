"""An instant that has been seen before: the discrete part, and the modes that it leads to, each tested as any other."""

from __future__ import annotations

from typing import Any

from .dialect import chosen, kernel
from .discrete_part import CHECKS, CONTROLS, RELATED, decided, evaluate, find_forced, moves, quiet, take
from .location import spacing
from .motion import FlowOfMode
from .programs import Arithmetic
from .rounding import LATE, LOCATED, ROUNDING
from .segments import find_point, follow_sources, holds, put_magnitudes, put_sizes, test_signs
from .signs import SignForms, find_signs, product
from .situations import (
    CAUSE,
    GUARDS,
    KNOWN,
    LEADS,
    MODE,
    NO_TRIGGER,
    RIVALLED,
    SEARCHED,
    SEARCHES,
    SEGMENTS,
    SHIFTED,
    SIGNED,
    SITUATION,
    STEPS,
    TELLS,
    TICKS,
    TIME,
    TOGETHER,
    USUAL,
    WAYS,
    DiscretePlaces,
    DiscreteRecords,
    EntryConditions,
    EventLog,
    EventRoom,
    EventState,
    Situation,
    SituationRecords,
    copy,
    take_ticks,
)

MOST_MICRO_STEPS = 8
CHANGED, SETTLED, UNSEEN = 0, 1, 2
"""What a micro-step comes to."""
CLEAN, ROUNDED, MOVED, REFUSED = 0, 1, 2, 3
"""How a mode is entered."""


@kernel
def enter(
    e: EntryConditions, left: FlowOfMode, to: FlowOfMode, now: EventState, room: EventRoom, xi: int
) -> int:
    """Enter a mode at the present point, with sources from place ``xi`` of the state vector of the mode that is ``left`` on.

    `CLEAN` where nothing was moved, `ROUNDED` where what rounding explains was, and `MOVED` where that moves with the instant;
    `REFUSED` where something jumps or contradicts. See `simulation.instants.transition`: `LeftLimits` and `restart`.
    """
    n, k = now.z.shape[0], to.states.shape[0]
    q = to.rates.shape[0] - k
    copy(now.z, room.point)
    for j in range(q):
        room.point[n + j] = now.y[xi + j]
    for i in range(e.admissible.shape[0]):
        value = 0.0
        for j in range(q):
            value += e.admissible[i, j] * room.point[n + j]
        if abs(value) > e.contradicting[i]:
            return REFUSED
    found = CLEAN
    for i in range(e.constraints.shape[0]):
        value, rounded, doubt = 0.0, 0.0, 0.0
        for j in range(n + q):
            size = abs(room.point[j])
            value += e.constraints[i, j] * room.point[j]
            rounded += e.terms[i, j] * size
            if j < n and now.flags[KNOWN] > 0:
                size += now.error[j] / ROUNDING
            doubt += e.sizes[i, j] * size
        if abs(value) <= ROUNDING * rounded:
            value = 0.0
        e.defects[i], e.doubt[i] = value, ROUNDING * doubt
        if value != 0.0:
            found = max(found, MOVED if abs(value) > e.doubt[i] else ROUNDED)
    if found == MOVED:
        for i in range(n):
            room.motion[i] = product(left.unknowns[i], room.rate)
        for i in range(e.constraints.shape[0]):
            explained = e.doubt[i] + abs(product(e.constraints[i, :n], room.motion))
            if now.flags[SHIFTED] > 0:
                explained += abs(product(e.constraints[i], now.shift))
            if not abs(e.defects[i]) <= explained:
                return REFUSED
    if found != CLEAN and e.jump.shape[1] < e.constraints.shape[0]:
        return REFUSED  # How states follow is not known yet.
    for j in range(q):
        now.y[k + j] = room.point[n + j]
    for j in range(k):
        now.y[j] = now.z[to.states[j]]
    if found != CLEAN:
        remove_defects(e, to, now, room, found == MOVED)
    find_point(to, now)
    return found


@kernel
def remove_defects(e: EntryConditions, to: FlowOfMode, now: EventState, room: EventRoom, moves: bool) -> None:
    """Take what rounding explains out of the states, which are known no better; see `transition.Carried`."""
    n, k, q = now.z.shape[0], to.states.shape[0], to.rates.shape[0] - to.states.shape[0]
    if moves:
        late = LOCATED * spacing(abs(now.numbers[TIME]))
        for j in range(q):
            room.motion[n + j] = late * product(to.rates[k + j, k:], room.point[n:])
        if now.flags[SHIFTED] > 0:
            for j in range(n + q):
                room.motion[j] += now.shift[j]
        for j in range(q):
            room.moved[k + j] = room.motion[n + j]
    for j in range(k):
        change, taken, tested, moved = 0.0, 0.0, 0.0, 0.0
        for i in range(e.constraints.shape[0]):
            if e.defects[i] != 0.0:
                off = abs(e.defects[i])
                change += e.jump[j, i] * e.defects[i]
                taken += abs(e.jump[j, i]) * off
                tested += abs(e.jump[j, i]) * (min(off, e.doubt[i]) if moves else off)
                if moves:
                    moved += e.jump[j, i] * product(e.constraints[i], room.motion)
        now.y[j] += change
        room.taken[j], room.tested[j] = taken, tested
        if moves:
            room.moved[j] = room.motion[to.states[j]] + moved


@kernel
def test_entry(
    s: SignForms, e: EntryConditions, to: FlowOfMode, now: EventState, room: EventRoom, entered: int
) -> bool:
    """Whether no guard that is judged is negative where a mode was ``entered``; their signs are kept."""
    k, shifted = to.states.shape[0], entered == MOVED or now.flags[SHIFTED] > 0
    if entered == MOVED:
        put_magnitudes(to, now, room)
    else:
        put_sizes(to, now, room)
    if entered != CLEAN:
        for j in range(k):
            room.size[j] += room.tested[j] / ROUNDING
    late = 0.0 if entered == MOVED else LOCATED * spacing(abs(now.numbers[TIME]))
    if not find_signs(s, now.y, room.size, late, room.moved, shifted, now.signs):
        for i in range(e.judged.shape[0]):
            if e.judged[i] > 0 and now.signs[i] < 0:
                return False
    if entered != CLEAN:
        for j in range(k):
            now.error[to.states[j]] += room.taken[j]
    return True


@kernel
def find_relations(
    u: DiscretePlaces, f: SignForms, m: FlowOfMode, now: EventState, room: EventRoom, guards: int
) -> None:
    """Truth of the relations of states, and signs of guards where elements latch."""
    if u.relations.shape[0] + u.latches.shape[0] == 0:
        return
    if now.flags[SIGNED] == 0:
        test_signs(f, m, now, room, now.signs)
        now.flags[SIGNED] = 1
    for i in range(u.relations.shape[0]):
        now.R[u.relations[i]] = u.truths[i, now.signs[guards + i] + 1]


@kernel
def find_way(
    d: DiscreteRecords,
    situations: Any,
    here: Situation,
    room: EventRoom,
    cause: int,
    ticks: int,
    searched: int,
    first: int,
) -> int:
    """The next way, from the ``first`` on, on which a cause leads with what the discrete part has found, -1 for none."""
    u, p = d.places, d.update
    at = u.out
    for i in range(first, here.sizes[WAYS]):
        w = here.ways[i]
        if w[CAUSE] == cause and w[TICKS] == ticks and w[SEARCHED] == searched:
            there = chosen(situations, w[LEADS]).here
            related = True
            for j in range(u.relations.shape[0]):
                related = related and p.outputs[at[RELATED] + u.relations[j]] == there.relations[j]
            if related and decided(u, p, there, room):
                return i
    return -1


@kernel
def log_step(
    log: EventLog, now: EventState, number: int, cause: int, ticks: int, before: int, after: int
) -> None:
    """Record a micro-step."""
    i = log.counts[STEPS]
    log.time[i] = now.numbers[TIME]
    row = log.step[i]
    row[0], row[1], row[2], row[3], row[4], row[5] = number, cause, ticks, before, after, log.counts[SEGMENTS]
    copy(now.D, log.D[i])
    copy(now.R, log.R[i])
    log.counts[STEPS] = i + 1


@kernel
def gives_way(s: SituationRecords, to: Situation, m: FlowOfMode, now: EventState, room: EventRoom) -> bool:
    """Whether the present mode cannot go on because of just what moves in the next one; what was known is kept."""
    if enter(s.entry, m, m, now, room, m.states.shape[0]) != CLEAN:
        return False
    found = not test_entry(s.guards, s.entry, m, now, room, CLEAN)
    for j in range(now.z.shape[0]):
        now.z[j] = room.point[j]
    here = s.here
    for i in range(here.sizes[GUARDS]):
        if s.entry.judged[i] > 0 and now.signs[i] < 0:
            k = here.owners[i]
            found = found and here.branches[k] != to.branches[k]
    for k in range(here.branches.shape[0]):
        if here.branches[k] != to.branches[k]:
            ends = False
            for i in range(here.sizes[GUARDS]):
                ends = ends or (here.owners[i] == k and s.entry.judged[i] > 0 and now.signs[i] < 0)
            found = found and ends
    return found


@kernel
def stays_out(here: Situation, s: SituationRecords, now: EventState) -> bool:
    """Whether what has moved since a situation may not be as it was there: guards that lead back are above zero, or nothing."""
    for i in range(s.here.sizes[GUARDS]):
        k = s.here.owners[i]
        if s.entry.judged[i] == TELLS and here.branches[k] != s.here.branches[k] and now.signs[i] <= 0:
            return False
    return True


@kernel
def all_move(here: Situation, now: EventState) -> bool:
    """Whether all that slides has or gets a speed."""
    for j in range(here.sliding.shape[0]):
        moving = False
        for i in range(here.sizes[GUARDS]):
            moving = moving or (here.owners[i] == here.sliding[j] and now.signs[i] > 0)
        if not moving:
            return False
    return True


@kernel
def follow_way(
    s: SituationRecords,
    left: FlowOfMode,
    target: FlowOfMode,
    to: SituationRecords,
    d: DiscreteRecords,
    now: EventState,
    room: EventRoom,
    rivalled: bool,
) -> bool:
    """Enter the mode of a situation with the sources as they are now; whether a search would."""
    late, states = LOCATED * spacing(abs(now.numbers[TIME])), left.states.shape[0]
    for j in range(left.rates.shape[0]):
        room.rate[j] = late * product(left.rates[j], now.y)
    follow_sources(d, now, states)
    if rivalled and not gives_way(s, to.here, left, now, room):
        return False
    entered = enter(to.entry, left, target, now, room, states)
    if entered == REFUSED:
        return False
    if entered != CLEAN and now.flags[KNOWN] == 0:
        for i in range(now.error.shape[0]):
            now.error[i] = 0.0
    if not test_entry(to.guards, to.entry, target, now, room, entered):
        return False
    if not (all_move(to.here, now) if rivalled else stays_out(s.here, to, now)):
        return False
    if entered != CLEAN:
        now.flags[KNOWN] = 1
    now.flags[SIGNED] = d.places.relations.shape[0] == 0
    for i in range(to.here.shown.shape[0]):
        now.D[to.here.shown[i]] = to.here.shows[i]
    return True


@kernel
def follow_first(
    flows: Any, situations: Any, s: SituationRecords, m: FlowOfMode, d: DiscreteRecords, now: EventState, room: EventRoom,
    way: int, cause: int, ticks: int,
) -> int:  # fmt: skip
    """Follow the first of the ways, from one on, on which a search would go; -1 for none."""
    here = s.here
    copy(now.y, room.left)
    copy(now.z, room.left_z)
    while way >= 0:
        to = chosen(situations, here.ways[way, LEADS])
        target, rivalled = chosen(flows, to.here.sizes[USUAL]).mode, here.ways[way, RIVALLED] > 0
        if follow_way(s, m, target, to, d, now, room, rivalled):
            return way
        copy(room.left, now.y)
        copy(room.left_z, now.z)
        way = find_way(d, situations, here, room, cause, ticks, 1, way + 1)
    return -1


@kernel
def known_to_cross(here: Situation, there: Situation, now: EventState) -> bool:
    """Whether the mode goes on though a guard has crossed, which is known to be negative where rounding hides its sign."""
    if there.sizes[MODE] != here.sizes[MODE]:
        return False
    for i in range(there.sizes[GUARDS]):
        if now.signs[i] == 0:
            return True
    return False


@kernel
def micro_step(
    flows: Any, situations: Any, s: SituationRecords, d: DiscreteRecords, now: EventState, log: EventLog, room: EventRoom,
    number: int, cause: int, ticks: int, tolerance: float,
) -> int:  # fmt: skip
    """One micro-step of an instant: `SETTLED` where it changes nothing, `UNSEEN` where it needs another look."""
    first, here, u, update = number == 0, s.here, d.places, d.update
    m = chosen(flows, here.sizes[USUAL]).mode
    copy(now.R, room.before)
    find_relations(u, s.forms, m, now, room, here.sizes[GUARDS])
    if not evaluate(d, s, m, now, room, ticks if first else 0, tolerance):
        return UNSEEN
    find_forced(u, update, here, now, room, first)
    if not first and quiet(u, update, now, here, room):
        take(u, update, now, tolerance)
        return SETTLED
    searched = first or moves(u, update, now, here, room)
    way = find_way(d, situations, here, room, cause, ticks, searched, 0)
    if way < 0:
        return UNSEEN
    take(u, update, now, tolerance)
    if searched:
        log.counts[SEARCHES] += 1
        way = follow_first(flows, situations, s, m, d, now, room, way, cause, ticks)
        if way < 0:
            return UNSEEN
    to = int(here.ways[way, LEADS])
    if searched and first and cause != NO_TRIGGER and known_to_cross(here, chosen(situations, to).here, now):
        return UNSEEN
    log_step(log, now, number, cause, ticks, now.flags[SITUATION], to)
    now.flags[SITUATION] = to
    return CHANGED


@kernel
def checked(u: DiscretePlaces, p: Arithmetic) -> bool:
    """Whether all requirements hold."""
    for i in range(u.out[CHECKS], u.out[CONTROLS]):
        if p.outputs[i] == 0.0:
            return False
    return True


@kernel
def follow_instant(
    flows: Any,
    situations: Any,
    d: DiscreteRecords,
    now: EventState,
    log: EventLog,
    room: EventRoom,
    cause: int,
) -> bool:
    """The micro-steps of an instant; whether all of them were seen before and end well."""
    t = now.numbers[TIME]
    tolerance = max(LOCATED * spacing(abs(t)), now.numbers[TOGETHER])
    ticks, status, number = take_ticks(d.clocks, now, t + tolerance), CHANGED, 0
    while status == CHANGED and number < MOST_MICRO_STEPS:
        here = chosen(situations, now.flags[SITUATION])
        status = micro_step(flows, situations, here, d, now, log, room, number, cause, ticks, tolerance)
        number += 1
    if status != SETTLED or not checked(d.places, d.update):
        return False
    end = chosen(situations, now.flags[SITUATION])
    late = LATE * spacing(abs(t)) + tolerance
    return holds(end.held, chosen(flows, end.here.sizes[USUAL]).mode, now.y, late)
