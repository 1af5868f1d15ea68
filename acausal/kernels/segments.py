"""A segment of an event that has been seen before: to the next crossing or scheduled time, along the closed form."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import crossing
from .crossing import CLEAR, HIT, NOISE, first_crossing
from .dialect import chosen, kernel
from .functions import values
from .location import spacing
from .motion import (
    SHORTEST,
    UNSURE,
    FlowOfMode,
    FlowRecords,
    find_coefficients,
    find_magnitudes,
    find_slopes,
    hear_noise,
    lateness,
    limit_reach,
)
from .programs import execute
from .rounding import EVALUATED, HALF, LATE, LOCATED, RESOLVED, RISE, ROUNDING, SUMMED
from .signs import SignForms, find_signs, product
from .situations import (
    END,
    ENDED,
    GUARDS,
    KNOWN,
    LATE_BY,
    NEXT_TICK,
    NO_TRIGGER,
    SEGMENTS,
    SHIFTED,
    SIGNED,
    SITUATION,
    TIME,
    TIMED_NEXT,
    TOGETHER,
    UNKNOWN,
    USUAL,
    DiscreteRecords,
    EventLog,
    EventRoom,
    EventState,
    HeldRows,
    Situation,
    SituationRecords,
    copy,
)

CLOSER = 2.0
"""Times the time of a crossing: until then another flow of the same motion has to cross too."""
ANEW = 4
"""Where the number of segments of a mode comes to a power of this it is analysed anew, and the segment is looked at closely."""
MUCH_LONGER = 4.0
"""So many times as long as the longest one that was looked at is a segment that is looked at too."""
SPAN = 16.0
"""Ratio of the lengths between which one flow for short segments suits."""


@kernel
def put_magnitudes(m: FlowOfMode, now: EventState, room: EventRoom) -> None:
    """Magnitudes by which the state vector is rounded, with the errors of its states."""
    for j in range(m.rates.shape[0]):
        room.size[j] = abs(now.y[j])
    if now.flags[KNOWN] > 0:
        for j in range(m.states.shape[0]):
            room.size[j] += now.error[m.states[j]] / ROUNDING


@kernel
def put_sizes(m: FlowOfMode, now: EventState, room: EventRoom) -> None:
    """The same, and how far it may be off, all of it together."""
    put_magnitudes(m, now, room)
    n, k = now.z.shape[0], m.states.shape[0]
    if now.flags[SHIFTED] > 0:
        for j in range(k):
            room.moved[j] = now.shift[m.states[j]]
        for j in range(k, m.rates.shape[0]):
            room.moved[j] = now.shift[n + j - k]


@kernel
def test_signs(s: SignForms, m: FlowOfMode, now: EventState, room: EventRoom, signs: np.ndarray) -> bool:
    """Signs of forms at the present point; whether none is negative."""
    put_sizes(m, now, room)
    late = LOCATED * spacing(abs(now.numbers[TIME]))
    return find_signs(s, now.y, room.size, late, room.moved, now.flags[SHIFTED] > 0, signs)


@kernel
def holds(h: HeldRows, m: FlowOfMode, y: np.ndarray, late: float) -> bool:
    """Whether rows are positive at ``y``, up to rounding and what moves while an event may be late."""
    for i in range(h.rows.shape[0]):
        value = product(h.rows[i], y)
        if not value >= 0.0:
            allowed = 0.0
            for j in range(m.rates.shape[0]):
                allowed += EVALUATED * h.parts[i, j] * abs(y[j])
                allowed += abs(h.rows[i, j]) * abs(late * product(m.rates[j], y))
            if not value + allowed >= 0.0:
                return False
    return True


@kernel
def located(m: FlowOfMode, now: EventState, shifted: bool) -> bool:
    """Whether no state depends much on when the crossing was that began the segment."""
    if not shifted:
        return True
    for i in range(m.states.shape[0]):
        off = now.numbers[LATE_BY] * product(m.rates[i], now.y) - m.shift[i]
        if not abs(off) <= RESOLVED * abs(now.y[i]):
            return False
    return True


@kernel
def search_crossing(r: FlowRecords, now: EventState, length: float) -> int:
    """The first crossing within a length, as the status of a search."""
    w, g, search, t = r.watched, r.guards, r.search, now.numbers[TIME]
    if w.forms.shape[0] == 0:
        return CLEAR
    for k in range(w.forms.shape[0]):
        armed = now.signs[w.which[k]] * w.orientation[k] > 0.0
        g.armed[k], g.leaves[k], g.above[k] = armed, RISE if armed else 1.0, 0
    for k in range(search.flags.shape[0]):
        search.flags[k] = 0
    search.flags[crossing.FRESH] = 1
    search.numbers[crossing.LENGTH], search.numbers[crossing.START] = length, t
    status = first_crossing(r.functions, g, r.noise, search)
    if status == NOISE:
        known, shifted = now.flags[KNOWN] > 0, now.flags[SHIFTED] > 0
        hear_noise(r, now.y, now.error, spacing(abs(t)), known, shifted)
        search.flags[crossing.HEARD], search.flags[crossing.MOVES] = 1, 1
        search.flags[crossing.SHIFTED] = shifted
        status = first_crossing(r.functions, g, r.noise, search)
    search.flags[crossing.STATUS] = status
    return status


@kernel
def is_power(count: int, base: int) -> bool:
    """Whether a count is one, or a power of the base."""
    found = 1
    while found < count:
        found *= base
    return found == count


@kernel
def looked_at(log: EventLog, mode: int) -> bool:
    """Whether a segment is looked at closely, as the 1st, 4th, 16th, ... of each mode."""
    return is_power(log.visits[mode] + 1, ANEW)


@kernel
def suited(flows: Any, here: Situation, length: float) -> int:
    """Number of the flow that suits a segment of some length, -1 where it is not known."""
    usual = here.sizes[USUAL]
    if length >= chosen(flows, usual).mode.numbers[SHORTEST]:
        return int(usual)
    for i in range(here.short.shape[0]):
        if here.units[i] <= length < SPAN * here.units[i]:
            return int(here.short[i])
    return -1


@kernel
def begin_shift(m: FlowOfMode, now: EventState) -> None:
    """How far the state vector may be off at the begin."""
    n, k = now.z.shape[0], m.states.shape[0]
    if now.flags[SHIFTED] > 0:
        for j in range(k):
            m.shift[j] = now.shift[m.states[j]]
        for j in range(k, m.rates.shape[0]):
            m.shift[j] = now.shift[n + j - k]


@kernel
def find_point(m: FlowOfMode, now: EventState) -> None:
    """The core unknowns of the present state vector."""
    for i in range(m.unknowns.shape[0]):
        now.z[i] = product(m.unknowns[i], now.y)


@kernel
def follow_sources(d: DiscreteRecords, now: EventState, states: int) -> None:
    """Evaluate the sources at the present time, as the right limits that they have there."""
    u, sources = d.places, d.sources
    if u.positions.shape[0] == 0:
        return
    at = u.source_into
    for i in range(at[2] - at[1]):
        sources.inputs[at[1] + i] = now.D[u.moving[i]]
    for i in range(at[3] - at[2]):
        sources.inputs[at[2] + i] = now.R[u.moving_relations[i]]
    sources.inputs[at[3]] = now.numbers[TIME]
    execute(sources)
    for i in range(u.positions.shape[0]):
        now.y[states + u.positions[i]] = sources.outputs[i]


@kernel
def end_segment(
    r: FlowRecords, d: DiscreteRecords, now: EventState, room: EventRoom, k: int, h: float, late: float
) -> bool:
    """Go to the end of a segment, where form ``k`` crosses, -1 for none; whether all is a number."""
    f, m, w = r.terms, r.mode, r.watched
    ny, states, n = m.rates.shape[0], m.states.shape[0], now.z.shape[0]
    find_magnitudes(r, now.y, h, room.magnitude)
    for i in range(ny):
        room.moved[i] = now.y[i] = product(f.C[i], f.phi)
        room.rate[i] = product(f.C[i], m.slopes) if late > 0.0 else 0.0
    follow_sources(d, now, states)
    if late > 0.0 and d.places.positions.shape[0] > 0:
        moved, slope = 0.0, 0.0
        for i in range(ny):
            moved += w.forms[k, i] * (now.y[i] - room.moved[i])
            slope += w.forms[k, i] * room.rate[i]
        if abs(slope) * h > abs(moved):
            late += abs(moved) / abs(slope)
    total = 0.0
    for i in range(ny):
        total += now.y[i]
    if not abs(total) < np.inf:
        return False
    find_point(m, now)
    now.flags[KNOWN], now.flags[SHIFTED], now.flags[SIGNED] = 1, 0, 0
    now.numbers[LATE_BY] = late
    for i in range(n):
        now.error[i] = SUMMED * product(m.magnitudes[i], room.magnitude)
    if late > LOCATED * spacing(abs(now.numbers[TIME])):
        now.flags[SHIFTED] = 1
        for i in range(ny):
            room.rate[i] = late * room.rate[i]
        for i in range(n):
            now.shift[i] = product(m.unknowns[i], room.rate)
        for i in range(states, ny):
            now.shift[n + i - states] = room.rate[i]
    return True


@kernel
def search_along(r: FlowRecords, now: EventState, length: float) -> int:
    """The first crossing within a length along a flow, as the status of a search."""
    begin_shift(r.mode, now)
    find_coefficients(r.terms, now.y, r.terms.C)
    if limit_reach(r.functions, r.terms, now.y) < length:
        return NOISE  # It goes on in pieces.
    return search_crossing(r, now, length)


@kernel
def choose_flow(flows: Any, here: Situation, now: EventState, length: float) -> int:
    """Number of the flow along which a segment of some length ends, `UNKNOWN` for none; its search says what crosses."""
    c = suited(flows, here, length)
    if c < 0:
        return UNKNOWN
    status = search_along(chosen(flows, c), now, length)
    found = chosen(flows, c).search.numbers[crossing.FOUND]
    if status != HIT:
        return UNKNOWN if status == NOISE else c
    closer = suited(flows, here, found) if found > 0.0 else UNKNOWN
    if closer < 0 or closer == c:
        return closer
    # So short a segment is followed by what loses fewer digits in it.
    status = search_along(chosen(flows, closer), now, min(length, CLOSER * found))
    if status != HIT:
        return UNKNOWN if status == NOISE else c
    return closer if chosen(flows, closer).search.numbers[crossing.FOUND] > 0.0 else UNKNOWN


@kernel
def complete_segment(
    r: FlowRecords, s: SituationRecords, d: DiscreteRecords, now: EventState, log: EventLog, room: EventRoom, horizon: float
) -> int:  # fmt: skip
    """Go to the end of a segment: the number of the form that crosses, `NO_TRIGGER`, or `UNKNOWN`."""
    m, w, search = r.mode, r.watched, r.search
    t, k, late = now.numbers[TIME], -1, 0.0
    length, reached = horizon - t, horizon
    if w.forms.shape[0] > 0 and search.flags[crossing.STATUS] == HIT:
        k, length = search.flags[crossing.GUARD], search.numbers[crossing.FOUND]
        reached = t + length
    values(r.functions, length, r.terms.phi)
    find_slopes(r.functions, r.terms.phi, m.slopes)
    if k >= 0:
        late = lateness(r, k, length)
        doubtful = r.guards.armed[k] == 0 or not 0.0 < late <= HALF * length
        if late == UNSURE or (doubtful and w.which[k] < s.here.sizes[GUARDS]):
            return UNKNOWN
    i = log.counts[SEGMENTS]
    log.start[i], log.end[i] = t, reached
    copy(now.y[: m.rates.shape[0]], log.y[i])
    if not located(m, now, now.flags[SHIFTED] > 0):
        return UNKNOWN
    now.numbers[TIME] = reached
    if not end_segment(r, d, now, room, k, length, late):
        return UNKNOWN
    seconds = LATE * spacing(abs(reached)) + max(LOCATED * spacing(abs(t)), now.numbers[TOGETHER])
    if not holds(s.held, m, now.y, seconds):
        return UNKNOWN
    log.counts[SEGMENTS] = i + 1
    return int(w.which[k]) if k >= 0 else NO_TRIGGER


@kernel
def stays(forms: SignForms, r: FlowRecords, now: EventState, room: EventRoom) -> bool:
    """Whether no form is about to change its sign at the present point."""
    test_signs(forms, r.mode, now, room, now.signs)
    for k in range(r.watched.forms.shape[0]):
        if now.signs[r.watched.which[k]] * r.watched.orientation[k] < 0.0:
            return False
    return True


@kernel
def follow_segment(
    flows: Any, s: SituationRecords, d: DiscreteRecords, now: EventState, log: EventLog, room: EventRoom
) -> int:
    """Move on to the next crossing or scheduled time: the number of the form that crosses, `NO_TRIGGER`, `ENDED` or `UNKNOWN`."""
    t, here = now.numbers[TIME], s.here
    due = min(now.numbers[NEXT_TICK], now.numbers[TIMED_NEXT])
    horizon = min(due, now.numbers[END])
    if not t < horizon:
        return UNKNOWN
    if now.flags[SIGNED] == 0:
        test_signs(s.forms, chosen(flows, here.sizes[USUAL]).mode, now, room, now.signs)
    c = choose_flow(flows, here, now, horizon - t)
    if c < 0:
        return UNKNOWN
    i = log.counts[SEGMENTS]
    log.situation[i], log.flow[i] = now.flags[SITUATION], c
    cause = complete_segment(chosen(flows, c), s, d, now, log, room, horizon)
    # What crosses zero at the end itself, or is due with it, belongs to the run.
    tolerance = max(LOCATED * spacing(abs(horizon)), now.numbers[TOGETHER])
    if cause != NO_TRIGGER or due <= horizon + tolerance:
        return cause
    return ENDED if stays(s.forms, chosen(flows, c), now, room) else UNKNOWN
