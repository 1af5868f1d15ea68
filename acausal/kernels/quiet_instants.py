"""Scheduled instants of integrated modes after which nothing is near zero, and the segments between them.

What is repeated here are the decisions of `simulation.quiet_instants` at an instant and of `steps` in a segment, with the
numbers of the present one. An instant leads to the mode that controls prescribe, with all else as it was; where something jumps
there, comes near zero, or asks for a closer look, segment and instant are taken back and left to these.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .constraints import choice_serves, copy_row
from .dialect import chosen, kernel
from .discrete_part import (
    MOTION,
    NEW,
    READ,
    RELATED,
    answers,
    ask,
    decided,
    find_forced,
    is_compared,
    quiet,
    take,
)  # fmt: skip
from .events import FULL, ODD, OVER
from .instants import CHANGED, MOST_MICRO_STEPS, SETTLED, UNSEEN, checked, log_step
from .location import spacing
from .newton import ITERATIONS, find_point
from .programs import execute
from .rounding import LOCATED, ROUNDING
from .segments import ANEW, MUCH_LONGER, follow_sources, is_power
from .signs import product
from .situations import (
    END,
    GUARDS,
    NEXT_TICK,
    NO_TRIGGER,
    SEARCHES,
    SEGMENTS,
    SITUATION,
    STEPS,
    TIME,
    TIMED_NEXT,
    TOGETHER,
    DiscretePlaces,
    DiscreteRecords,
    EventLog,
    EventRoom,
    EventState,
    Situation,
    copy,
    copy_state,
    take_ticks,
)
from .step_forms import BEGIN
from .step_points import look
from .step_records import (
    AHEAD,
    ATOL,
    BEFORE,
    CHANGES,
    HELD_OWN,
    INSIDE,
    LARGEST,
    LAST_ERROR,
    LIMIT,
    LONGEST,
    MADE,
    NEAR_BOUNDARY,
    NOW,
    SINCE_LOOK,
    SIZE,
    SOURCES_FROM,
    SOURCES_UNTIL,
    SPEED,
    USUAL,
    VOLUME,
    StepRecords,
)
from .steps import DOUBTFUL, LEAST_ERROR, MADE_LAST, SURELY, UNMOVED, follow_steps, log_place

FOLLOWED = -1
"""A segment and its instant that were followed: others come next."""
FIRST, GROWN, LONGEST_SEGMENT = 0, 1, 2
"""Seconds: the first step of a segment of a mode, that of the next one, and the longest segment that was looked at."""
VISITED, IS_STIFF, NEAR, QUIET, SINCE = 0, 1, 2, 3, 4
MODE_COUNTS = 5
"""Counts of a mode: segments in it, whether the implicit method makes its steps, and what tells when the other one does: steps
near the boundary of stability, quiet ones, and implicit ones since eigenvalues were looked at."""
CLEAR, SAME, CLOSE, MOST_STEPS = 0, 1, 2, 3
"""Parts of magnitudes: that which forms exceed where they are clear of zero, that up to which sources that moved along a segment
are those that are evaluated at its end, and that up to which unknowns are the same. And steps of a segment that may slide along a
comparison without events unseen."""


class QuietMode(NamedTuple):
    """What instants and segments read of one mode, over the frame ``[z, z', xi]`` of ``2 n + q`` numbers."""

    layout = "r f1 i1 i1 i1 i1 i1 i2 f1 f2 f2 f2"
    of = (Situation,)
    here: Situation
    numbers: np.ndarray
    counts: np.ndarray
    saved: np.ndarray
    """Counts of the steps, of the mode, and of iterations before the present segment."""
    begins: np.ndarray
    """Place in the frame from which each coordinate and open unknown is taken or sought, -1 for zero."""
    unknowns: np.ndarray
    """Core unknown that each coordinate is, -1 for a derivative."""
    watched: np.ndarray
    """Numbers of the forms that end a segment among all guards and relations."""
    source_entries: np.ndarray
    """Products (terms, 3) that make the functions of the sources: source, function, and source at the begin."""
    source_factors: np.ndarray
    over: np.ndarray
    """Core unknowns and their derivatives (2 n, 2 ny + q) over coordinates and open unknowns, their derivatives, and sources."""
    forms: np.ndarray
    """Guards of the mode, then relations, over the frame."""
    constraints: np.ndarray
    """Constraints (k, q) among differentiated variables over the sources."""


class QuietPlaces(NamedTuple):
    """What all modes have in common."""

    layout = "f1 f1 f1 f1 i1 i1 i1 i1 i1"
    numbers: np.ndarray
    scale: np.ndarray
    """Magnitudes (n,) within a part of which unknowns are the same."""
    source_scale: np.ndarray
    """Least magnitudes (q,) of the sources."""
    speeds: np.ndarray
    """With which compared variables are let part: no sum of a few of them with rational factors vanishes."""
    differentiated: np.ndarray
    """Core unknowns that must not jump."""
    constants: np.ndarray
    """Discrete that each constant of the equations is, -1 for none."""
    fixed: np.ndarray
    fixed_relations: np.ndarray
    """Discretes and relations by which constants choose between equations: these must stay."""
    compared: np.ndarray
    """Which of the variables that the discrete part reads are those that its actions compare."""


@kernel
def find_sources(k: StepRecords, m: QuietMode) -> None:
    """Follow the sources from the present ones on."""
    C = k.sources.C
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] = 0.0
    for t in range(m.source_factors.shape[0]):
        to, function, of = m.source_entries[t, 0], m.source_entries[t, 1], m.source_entries[t, 2]
        C[to, function] += m.source_factors[t] * k.places.sources[BEGIN, of]
    k.state.numbers[SOURCES_FROM], k.state.numbers[SOURCES_UNTIL] = 0.0, math.inf


@kernel
def read_frame(k: StepRecords, m: QuietMode, now: EventState, room: EventRoom) -> None:
    """Core unknowns and their derivatives at the begin of the next step, which is the end of the last one."""
    at = k.places
    ny, q, n2 = at.points.shape[1], at.sources.shape[1], m.over.shape[0]
    for i in range(ny):
        room.point[i], room.point[ny + i] = at.points[BEGIN, i], at.slopes[BEGIN, i]
    for i in range(q):
        room.point[2 * ny + i] = now.y[n2 + i] = at.sources[BEGIN, i]
    for i in range(n2):
        now.y[i] = product(m.over[i], room.point)


@kernel
def grow_sizes(m: QuietMode, now: EventState, room: EventRoom) -> None:
    """Take the unknowns of the present point into the largest magnitudes so far."""
    for i in range(m.over.shape[0] // 2):
        room.magnitude[i] = max(room.magnitude[i], abs(now.y[i]))


@kernel
def find_clear(m: QuietMode, p: QuietPlaces, now: EventState, room: EventRoom) -> bool:
    """Signs of all forms at the present point, and the terms of each; whether all are clear of zero.

    Unknowns count with the largest magnitudes that they have had.
    """
    n = m.over.shape[0] // 2
    for i in range(m.forms.shape[0]):
        value, terms = 0.0, 0.0
        for j in range(m.forms.shape[1]):
            size = abs(now.y[j])
            if j < n:
                size = max(size, room.magnitude[j])
            value += m.forms[i, j] * now.y[j]
            terms += abs(m.forms[i, j]) * size
        room.size[i] = p.numbers[CLEAR] * terms
        if not abs(value) > room.size[i]:
            return False
        now.signs[i] = 1 if value > 0.0 else -1
    return True


@kernel
def stays_put(m: QuietMode, p: QuietPlaces, now: EventState, room: EventRoom) -> bool:
    """Whether no differentiated variable jumps to the present point from the left limits.

    Those that constraints give are told again, to what Newton's method leaves open, where these say what they said before.
    """
    n2, exact = m.over.shape[0], True
    for i in range(p.differentiated.shape[0]):
        j = p.differentiated[i]
        size = max(abs(now.y[j]), abs(room.left[j]))
        exact = exact and abs(now.y[j] - room.left[j]) <= ROUNDING * size
    if exact:
        return True
    for i in range(m.constraints.shape[0]):
        moved, terms = 0.0, 0.0
        for j in range(m.constraints.shape[1]):
            moved += m.constraints[i, j] * (now.y[n2 + j] - room.left[n2 + j])
            terms += abs(m.constraints[i, j]) * abs(room.left[n2 + j])
        if not abs(moved) <= ROUNDING * terms:
            return False
    for i in range(p.differentiated.shape[0]):
        j = p.differentiated[i]
        if not abs(now.y[j] - room.left[j]) <= p.numbers[CLOSE] * (p.scale[j] + abs(now.y[j])):
            return False
    return True


@kernel
def measure_units(k: StepRecords, m: QuietMode, room: EventRoom) -> None:
    """Magnitudes by which coordinates are judged at the begin of a segment."""
    w, at = k.state, k.places
    for i in range(w.largest.shape[0]):
        known = room.magnitude[m.unknowns[i]] if m.unknowns[i] >= 0 else 0.0
        w.largest[i] = max(abs(at.points[BEGIN, i]), known)
        w.units[i] = min(max(w.largest[i], UNMOVED * w.scale[i]), w.bends[i])
    for i in range(w.moved.shape[0]):
        w.moved[i] = 0.0


@kernel
def enter_mode(k: StepRecords, m: QuietMode, p: QuietPlaces, now: EventState, room: EventRoom) -> bool:
    """Find the point of a mode at the frame, where the sources have their right limits; whether it is quiet."""
    at, e, n2 = k.places, k.equations, m.over.shape[0]
    ny, q = at.points.shape[1], at.sources.shape[1]
    for i in range(ny):
        e.rows.inputs[i] = now.y[m.begins[i]] if m.begins[i] >= 0 else 0.0
    for i in range(q):
        e.rows.inputs[ny + i] = at.sources[BEGIN, i] = now.y[n2 + i]
    for i in range(p.constants.shape[0]):
        if p.constants[i] >= 0:
            e.rows.inputs[ny + q + i] = k.changes.rows.inputs[ny + q + i] = now.D[p.constants[i]]
    if find_point(e, k.room) == 0:
        return False
    copy_row(e.rows.inputs[:ny], at.points[BEGIN])
    copy_row(k.room.rates, at.rates[BEGIN])
    find_sources(k, m)
    if not look(k, BEGIN):
        return False
    read_frame(k, m, now, room)
    if not stays_put(m, p, now, room) or not find_clear(m, p, now, room):
        return False
    for i in range(m.here.sizes[GUARDS]):
        if now.signs[i] < 0:
            return False
    measure_units(k, m, room)
    if k.constraints.levels.shape[0] > 0:
        for i in range(k.constraints.levels.shape[0]):
            copy_row(k.constraints.slopes[0, i], k.constraints.slopes[1, i])
        return choice_serves(k.constraints, k.points.dependent, k.state.units)
    return True


@kernel
def begin_steps(k: StepRecords, m: QuietMode, room: EventRoom, length: float) -> None:
    """Stand at the begin of a segment, as a new stepper would."""
    w, at, states = k.state, k.places, k.changes.states
    for i in range(w.y.shape[0]):
        x = states[i]
        w.y[i], w.rate[i], w.size[i] = at.points[BEGIN, x], at.rates[BEGIN, x], abs(at.points[BEGIN, x])
        w.atol[i] = max(w.numbers[ATOL] * w.largest[x], w.least[i])
    for j in range(m.watched.shape[0]):
        k.forms.floor[j] = room.size[m.watched[j]]
    numbers = w.numbers
    numbers[NOW], numbers[LIMIT], numbers[SIZE] = 0.0, length, m.numbers[FIRST]
    numbers[LAST_ERROR], numbers[LONGEST], numbers[USUAL], numbers[BEFORE] = LEAST_ERROR, 0.0, 0.0, 0.0
    numbers[VOLUME], numbers[LARGEST], numbers[AHEAD], numbers[SPEED] = 1.0, 1.0, math.inf, 0.0
    w.counts[HELD_OWN] = w.counts[CHANGES] = 0
    w.counts[NEAR_BOUNDARY], w.counts[INSIDE], w.counts[SINCE_LOOK] = (
        m.counts[NEAR],
        m.counts[QUIET],
        m.counts[SINCE],
    )


@kernel
def log_begin(k: StepRecords) -> None:
    """Write down the point at which a segment begins, before its steps."""
    k.log.times[k.state.counts[MADE]] = 0.0
    copy_row(k.state.y, k.log.states[k.state.counts[MADE]])
    log_place(k, BEGIN)
    k.state.counts[MADE] += 1


@kernel
def save_counts(k: StepRecords, m: QuietMode) -> None:
    """Keep what is counted, for the case that a segment is taken back."""
    steps = k.state.counts.shape[0]
    for i in range(steps):
        m.saved[i] = k.state.counts[i]
    for i in range(MODE_COUNTS):
        m.saved[steps + i] = m.counts[i]
    m.saved[steps + MODE_COUNTS] = k.room.counts[ITERATIONS]


@kernel
def take_back_counts(k: StepRecords, m: QuietMode) -> None:
    """Take back what was counted since."""
    steps = k.state.counts.shape[0]
    for i in range(steps):
        k.state.counts[i] = m.saved[i]
    for i in range(MODE_COUNTS):
        m.counts[i] = m.saved[steps + i]
    k.room.counts[ITERATIONS] = m.saved[steps + MODE_COUNTS]


@kernel
def steps_of(steps: Any, modes: Any, mode: int) -> Any:
    """The steps of a mode by the method that makes them at present."""
    return chosen(steps, 2 * mode + chosen(modes, mode).counts[IS_STIFF])


@kernel
def make_steps(steps: Any, m: QuietMode, mode: int) -> int:
    """Make steps to the end of a segment, by the other method where that is the better one; what they end with."""
    status = MADE_LAST
    while status == MADE_LAST:
        k = chosen(steps, 2 * mode + m.counts[IS_STIFF])
        w = k.state
        status = follow_steps(k)
        if status == MADE_LAST and w.counts[CHANGES] == SURELY:
            m.counts[IS_STIFF] = 1 - m.counts[IS_STIFF]
            w.counts[NEAR_BOUNDARY] = w.counts[INSIDE] = w.counts[SINCE_LOOK] = 0
            w.numbers[LAST_ERROR] = LEAST_ERROR
        elif status == MADE_LAST:
            return DOUBTFUL if w.counts[CHANGES] > 0 else MADE_LAST
    return status


@kernel
def follow_quiet_segment(
    steps: Any, k: StepRecords, m: QuietMode, p: QuietPlaces, now: EventState, log: EventLog, room: EventRoom
) -> int:  # fmt: skip
    """Make the steps of a segment to the next scheduled time; `FOLLOWED` where they lead there."""
    t, counts, until = now.numbers[TIME], k.state.counts, min(now.numbers[NEXT_TICK], now.numbers[TIMED_NEXT])
    if not t < until <= now.numbers[END] or not m.numbers[FIRST] > 0.0:
        return ODD
    length, first = until - t, counts[MADE]
    # The first segments of a mode, and much longer ones, are looked at closely.
    if is_power(m.counts[VISITED] + 1, ANEW) or length > MUCH_LONGER * m.numbers[LONGEST_SEGMENT]:
        return ODD
    if first + 1 >= k.log.times.shape[0]:
        return FULL
    grow_sizes(m, now, room)
    begin_steps(k, m, room, length)
    log_begin(k)
    status = make_steps(steps, m, now.flags[SITUATION])
    if status == DOUBTFUL:
        return ODD
    if k.state.numbers[NOW] < length:
        return ODD if status == MADE_LAST or first == 0 else FULL
    made = counts[MADE] - first - 1
    if made > p.numbers[MOST_STEPS]:
        return ODD
    m.numbers[GROWN] = k.log.times[first + 2] - k.log.times[first + 1] if made > 2 else k.state.numbers[SIZE]
    m.counts[VISITED] += 1
    m.counts[NEAR], m.counts[QUIET], m.counts[SINCE] = (
        counts[NEAR_BOUNDARY],
        counts[INSIDE],
        counts[SINCE_LOOK],
    )
    i = log.counts[SEGMENTS]
    log.start[i], log.end[i], log.situation[i], log.flow[i] = t, until, now.flags[SITUATION], first
    copy(k.state.largest, log.y[i])
    log.counts[SEGMENTS] = i + 1
    now.numbers[TIME] = until
    return FOLLOWED


@kernel
def end_quiet_segment(
    k: StepRecords, m: QuietMode, p: QuietPlaces, d: DiscreteRecords, now: EventState, log: EventLog, room: EventRoom
) -> bool:  # fmt: skip
    """Take the left limits at the end of a segment; whether sources there are those that are evaluated, and all forms clear."""
    read_frame(k, m, now, room)
    for i in range(m.unknowns.shape[0]):
        if m.unknowns[i] >= 0:
            room.magnitude[m.unknowns[i]] = k.state.largest[i]
    n2, first = m.over.shape[0], log.flow[log.counts[SEGMENTS] - 1]
    copy(now.y, room.left)
    follow_sources(d, now, n2)
    for i in range(k.places.sources.shape[1]):
        moved, found = room.left[n2 + i], now.y[n2 + i]
        size = max(abs(moved), abs(found), abs(k.log.sources[first, i]), p.source_scale[i])
        if not abs(moved - found) <= p.numbers[SAME] * size:
            return False
    return find_clear(m, p, now, room)


@kernel
def point_aside(
    d: DiscreteRecords, m: QuietMode, p: QuietPlaces, now: EventState, room: EventRoom, side: float
) -> bool:
    """Let what fired branches compare lie so near to anything as what is not clear of it, and move away; whether there is any."""
    u, update, found, n = d.places, d.update, False, m.over.shape[0] // 2
    for i in range(p.compared.shape[0]):
        at = u.into[READ] + m.here.reads.shape[0] + MOTION * i
        if is_compared(u, update, i):
            found, terms = True, 0.0
            for j in range(m.here.reads.shape[1]):
                size = max(abs(now.y[j]), room.magnitude[j]) if j < n else abs(now.y[j])
                terms += abs(m.here.reads[p.compared[i], j]) * size
            update.inputs[at], update.inputs[at + 2] = side * p.speeds[i], p.numbers[CLEAR] * terms
    return found


@kernel
def clearly_compared(
    d: DiscreteRecords, m: QuietMode, p: QuietPlaces, now: EventState, room: EventRoom
) -> bool:
    """Whether what was found depends on no comparison whose sides are not clear of each other: it would be the same beyond."""
    update, first, same = d.update, d.places.into[READ] + m.here.reads.shape[0], True
    copy(update.outputs, room.moved)
    for side in range(2):
        if not point_aside(d, m, p, now, room, 1.0 - 2.0 * side):
            return True
        execute(update)
        for i in range(update.outputs.shape[0]):
            same = same and update.outputs[i] == room.moved[i]
            update.outputs[i] = room.moved[i]
    for i in range(MOTION * p.compared.shape[0]):
        update.inputs[first + i] = 0.0
    execute(update)
    return same


@kernel
def find_mode(
    modes: Any, count: int, u: DiscretePlaces, d: DiscreteRecords, here: Situation, room: EventRoom
) -> int:
    """Number of the mode that controls prescribe, where all else stays as it is; -1 where it is not known."""
    p = d.update
    for k in range(count):
        there, suits = chosen(modes, k).here, True
        for i in range(here.branches.shape[0]):
            branch = room.forced[i]
            if branch < 0:  # What is no longer disabled begins with its first branch.
                branch = here.branches[i] if here.branches[i] != u.forces[i, 0] else 0
            suits = suits and there.branches[i] == branch
        for j in range(u.relations.shape[0]):
            suits = suits and p.outputs[u.out[RELATED] + u.relations[j]] == there.relations[j]
        if suits and decided(u, p, there, room):
            return k
    return -1


@kernel
def constants_stay(p: QuietPlaces, d: DiscreteRecords, now: EventState) -> bool:
    """Whether nothing changes by which constants of the equations choose."""
    u = d.places
    for i in range(p.fixed.shape[0]):
        if d.update.outputs[u.out[NEW] + p.fixed[i]] != now.D[p.fixed[i]]:
            return False
    for i in range(p.fixed_relations.shape[0]):
        if d.update.outputs[u.out[RELATED] + p.fixed_relations[i]] != now.R[p.fixed_relations[i]]:
            return False
    return True


@kernel
def say_relations(m: QuietMode, u: DiscretePlaces, now: EventState) -> None:
    """Truth of the relations of states by the signs at the present point."""
    for i in range(u.relations.shape[0]):
        now.R[u.relations[i]] = u.truths[i, now.signs[m.here.sizes[GUARDS] + i] + 1]


@kernel
def quiet_step(
    steps: Any, modes: Any, p: QuietPlaces, d: DiscreteRecords, now: EventState, log: EventLog, room: EventRoom,
    number: int, ticks: int, tolerance: float,
) -> int:  # fmt: skip
    """One micro-step of an instant: `SETTLED` where it changes nothing, `UNSEEN` where it needs another look."""
    first, m, u, update = number == 0, chosen(modes, now.flags[SITUATION]), d.places, d.update
    copy(now.R, room.before)
    say_relations(m, u, now)
    if not (ask(d, m.here.reads, now, ticks if first else 0, tolerance) and answers(d)):
        return UNSEEN
    if not clearly_compared(d, m, p, now, room):
        return UNSEEN
    find_forced(u, update, m.here, now, room, first)
    if not first and quiet(u, update, now, m.here, room):
        take(u, update, now, tolerance)
        return SETTLED
    to = find_mode(modes, log.visits.shape[0], u, d, m.here, room)
    if to < 0 or not constants_stay(p, d, now):
        return UNSEEN
    there = chosen(modes, to)
    if is_power(there.counts[VISITED] + 1, ANEW):
        return UNSEEN  # It is analysed anew, and its segment is looked at closely.
    take(u, update, now, tolerance)
    copy(now.y, room.left)
    follow_sources(d, now, m.over.shape[0])
    if not enter_mode(steps_of(steps, modes, to), there, p, now, room):
        return UNSEEN
    for i in range(there.here.shown.shape[0]):
        now.D[there.here.shown[i]] = there.here.shows[i]
    log.counts[SEARCHES] += 1
    log_step(log, now, number, NO_TRIGGER, ticks, now.flags[SITUATION], to)
    now.flags[SITUATION] = to
    return CHANGED


@kernel
def follow_quiet_instant(
    steps: Any, modes: Any, p: QuietPlaces, d: DiscreteRecords, now: EventState, log: EventLog, room: EventRoom
) -> bool:  # fmt: skip
    """The micro-steps of an instant; whether all of them are quiet and end well."""
    t = now.numbers[TIME]
    tolerance = max(LOCATED * spacing(abs(t)), now.numbers[TOGETHER])
    ticks, status, number = take_ticks(d.clocks, now, t + tolerance), CHANGED, 0
    while status == CHANGED and number < MOST_MICRO_STEPS:
        status = quiet_step(steps, modes, p, d, now, log, room, number, ticks, tolerance)
        number += 1
    return status == SETTLED and checked(d.places, d.update)


@kernel
def follow_quiet_instants(
    steps: Any, modes: Any, p: QuietPlaces, d: DiscreteRecords, now: EventState, then: EventState, log: EventLog,
    room: EventRoom,
) -> int:  # fmt: skip
    """Follow segments, each with the instant behind it, until one needs another look or there is no room.

    Records of events serve here too. In ``now.y`` stands the frame. In the log, ``flow`` is the row of the log of steps in which
    a segment begins, ``y`` are the largest magnitudes of its coordinates, and ``visits`` has one place for each mode. In the
    room, ``magnitude`` are the largest magnitudes of the core unknowns so far and ``left_z`` those before the present segment,
    ``size`` is what counts as zero of each form, ``left`` the frame of left limits, ``point`` what `QuietMode.over` is over, and
    ``moved`` the results of the discrete part.
    """
    begin = now.flags[SITUATION]
    copy(now.y, room.left)
    if not enter_mode(steps_of(steps, modes, begin), chosen(modes, begin), p, now, room):
        return ODD
    full = log.time.shape[0] - MOST_MICRO_STEPS
    while log.counts[SEGMENTS] < log.start.shape[0] and log.counts[STEPS] <= full:
        m, k = chosen(modes, now.flags[SITUATION]), steps_of(steps, modes, now.flags[SITUATION])
        segments, micro_steps, searched = log.counts[SEGMENTS], log.counts[STEPS], log.counts[SEARCHES]
        copy_state(now, then)
        copy(room.magnitude, room.left_z)
        save_counts(k, m)
        status = follow_quiet_segment(steps, k, m, p, now, log, room)
        if status == FOLLOWED:
            seen = end_quiet_segment(k, m, p, d, now, log, room)
            if not (seen and follow_quiet_instant(steps, modes, p, d, now, log, room)):
                status = ODD
        if status != FOLLOWED:
            copy_state(then, now)
            copy(room.left_z, room.magnitude)
            take_back_counts(k, m)
            log.counts[SEGMENTS], log.counts[STEPS], log.counts[SEARCHES] = segments, micro_steps, searched
            return status
        m.numbers[FIRST] = m.numbers[GROWN]
        if now.numbers[TIME] >= now.numbers[END]:
            return OVER
    return FULL
