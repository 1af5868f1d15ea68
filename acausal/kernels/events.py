"""Events that have been seen before: segments in closed form, crossings, and instants that lead from mode to mode.

A run of this kernel is one of `simulation.loop` for which everything is known: the modes, what follows which trigger, and that
nothing jumps. It repeats each decision with the numbers of the present event; where one turns out otherwise, or is doubtful,
it takes the event back and leaves it to that loop.
"""

from __future__ import annotations

from typing import Any

from .dialect import chosen, kernel
from .instants import MOST_MICRO_STEPS, follow_instant
from .segments import follow_segment, looked_at
from .situations import (
    END,
    ENDED,
    MODE,
    PENDING,
    SEARCHES,
    SEGMENTS,
    SITUATION,
    STEPS,
    TIME,
    UNKNOWN,
    DiscreteRecords,
    EventLog,
    EventRoom,
    EventState,
    copy_state,
)

FULL, ODD, OVER, LOOK = 0, 1, 2, 3
"""What a run of events ends with: no room to record more, an event that needs another look, the end of the run, or a segment
that is to be looked at before its event, which follows in the next run."""


MOST_STANDING = 100
"""Events at one time after which another look tells whether anything moves on."""


@kernel
def follow_events(
    flows: Any,
    situations: Any,
    d: DiscreteRecords,
    now: EventState,
    then: EventState,
    log: EventLog,
    room: EventRoom,
) -> int:
    """Follow events until one of them needs another look, which then has not begun, or the record is full.

    An event whose segment was looked at is taken back to the end of its segment.
    """
    full, standing = log.time.shape[0] - MOST_MICRO_STEPS, 0
    while log.counts[SEGMENTS] < log.start.shape[0] and log.counts[STEPS] <= full:
        if standing > MOST_STANDING:
            return ODD
        copy_state(now, then)
        segments, steps, searched = log.counts[SEGMENTS], log.counts[STEPS], log.counts[SEARCHES]
        begin, cause = chosen(situations, now.flags[SITUATION]), log.counts[PENDING]
        fresh = cause == UNKNOWN
        if fresh:
            cause = follow_segment(flows, begin, d, now, log, room)
            if cause != UNKNOWN and looked_at(log, begin.here.sizes[MODE]):
                log.visits[begin.here.sizes[MODE]] += 1
                log.counts[PENDING] = cause
                return LOOK
        seen = cause != UNKNOWN
        if seen and cause != ENDED:
            seen = follow_instant(flows, situations, d, now, log, room, cause)
        if not seen:
            copy_state(then, now)
            log.counts[SEGMENTS], log.counts[STEPS], log.counts[SEARCHES] = segments, steps, searched
            return ODD
        if fresh:
            log.visits[begin.here.sizes[MODE]] += 1
        log.counts[PENDING] = UNKNOWN
        standing = standing + 1 if now.numbers[TIME] == then.numbers[TIME] else 0
        if now.numbers[TIME] >= now.numbers[END]:
            return OVER
    return FULL
