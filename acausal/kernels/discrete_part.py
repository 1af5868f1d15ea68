"""The discrete part of an instant: one evaluation of its program, what that says, and whether it changes anything."""

from __future__ import annotations

import numpy as np

from .dialect import kernel
from .location import spacing
from .motion import FlowOfMode
from .programs import Arithmetic, execute
from .rounding import LOCATED
from .segments import put_sizes
from .signs import product
from .situations import (
    SHIFTED,
    TIME,
    TIMED_NEXT,
    DiscretePlaces,
    DiscreteRecords,
    EventRoom,
    EventState,
    Situation,
    SituationRecords,
    VariableLevels,
)

# Arguments of the discrete part, and its results.
GIVEN, BEFORE, RELATIONS, READ, TICKED, REMEMBERED, CLOCK, INPUTS = range(8)
NEW, MEMORY, RELATED, TIMES, FIRED, VALUES, CHECKS, CONTROLS, ENABLED, SOUND = range(10)
MOTION = 5
"""Numbers that say how a compared variable moves: two derivatives, and what counts as zero of these and of the value."""


@kernel
def is_compared(u: DiscretePlaces, p: Arithmetic, i: int) -> bool:
    """Whether a branch that fired compares a variable."""
    for b in range(u.compares.shape[0]):
        if u.compares[b, i] > 0 and p.outputs[u.out[FIRED] + b] != 0.0:
            return True
    return False


@kernel
def find_motions(
    d: DiscreteRecords, levels: VariableLevels, m: FlowOfMode, now: EventState, room: EventRoom, first: int
) -> bool:
    """How variables move that fired branches compare, from place ``first`` of the inputs on; whether there are any."""
    u, p = d.places, d.update
    count, found = u.compares.shape[1], False
    for i in range(count):
        if not is_compared(u, p, i):
            continue
        found = True
        put_sizes(m, now, room)
        unit, late = levels.numbers[0], LOCATED * spacing(abs(now.numbers[TIME]))
        scale = 1.0
        for order in range(3):
            k = i + order * count
            following = product(levels.forms[k + count], now.y)
            floor = product(levels.bounds[k], room.size) + late / unit * abs(following)
            if now.flags[SHIFTED] > 0:
                floor += abs(product(levels.forms[k], room.moved))
            p.inputs[first + MOTION * i + 2 + order] = floor / scale
            scale *= unit
            if order < 2:
                p.inputs[first + MOTION * i + order] = following / scale
    return found


@kernel
def ask(d: DiscreteRecords, reads: np.ndarray, now: EventState, ticks: int, tolerance: float) -> bool:
    """Evaluate the discrete part as if nothing moved; whether what it ``reads``, rows over the state vector, is finite."""
    u, p = d.places, d.update
    at, total = u.into, 0.0
    for i in range(now.D.shape[0]):
        p.inputs[at[BEFORE] + i] = now.D[i]
    for i in range(now.R.shape[0]):
        p.inputs[at[RELATIONS] + i] = now.R[i]
    for i in range(reads.shape[0]):
        value = product(reads[i], now.y)
        p.inputs[at[READ] + i] = value
        total += value
    if not abs(total) < np.inf:
        return False
    for i in range(at[READ] + reads.shape[0], at[TICKED]):
        p.inputs[i] = 0.0
    for i in range(at[REMEMBERED] - at[TICKED]):
        p.inputs[at[TICKED] + i] = float((ticks >> i) & 1)
    for i in range(now.memory.shape[0]):
        p.inputs[at[REMEMBERED] + i] = now.memory[i]
    p.inputs[at[CLOCK]], p.inputs[at[CLOCK] + 1] = now.numbers[TIME], tolerance
    for i in range(u.inputs.shape[0]):
        p.inputs[at[INPUTS] + i] = now.D[u.inputs[i]]
    execute(p)
    return True


@kernel
def answers(d: DiscreteRecords) -> bool:
    """Whether what was found is sound, and nothing in it asks for more than assignments."""
    u, p, found = d.places, d.update, d.places.out
    for i in range(u.plain.shape[0]):
        if p.outputs[found[FIRED] + i] != 0.0 and u.plain[i] == 0:
            return False
    return p.outputs[found[SOUND]] != 0.0 and p.outputs[found[SOUND] + 1] != 0.0


@kernel
def evaluate(
    d: DiscreteRecords, s: SituationRecords, m: FlowOfMode, now: EventState, room: EventRoom, ticks: int, tolerance: float
) -> bool:  # fmt: skip
    """Evaluate the discrete part, with the motions of what it compares; whether nothing in it asks for more than assignments."""
    reads = s.here.reads
    if not ask(d, reads, now, ticks, tolerance):
        return False
    if find_motions(d, s.levels, m, now, room, d.places.into[READ] + reads.shape[0]):
        execute(d.update)
    return answers(d)


@kernel
def find_forced(
    u: DiscretePlaces, p: Arithmetic, here: Situation, now: EventState, room: EventRoom, first: bool
) -> None:
    """Branches that controls force; what latches stays closed by itself while it carries something."""
    for k in range(u.forces.shape[0]):
        room.forced[k] = u.forces[k, 1 if p.outputs[u.out[CONTROLS] + k] != 0.0 else 0]
    for i in range(u.latches.shape[0]):
        k = u.latches[i]
        carries = here.branches[k] == 1
        if not first:
            for j in range(here.owners.shape[0]):
                carries = carries and (here.owners[j] != k or now.signs[j] != 0)
        if carries:
            room.forced[k] = -1


@kernel
def same(p: Arithmetic, first: int, x: np.ndarray) -> bool:
    """Whether some results of a program are these numbers."""
    for i in range(x.shape[0]):
        if p.outputs[first + i] != x[i]:
            return False
    return True


@kernel
def decided(u: DiscretePlaces, p: Arithmetic, here: Situation, room: EventRoom) -> bool:
    """Whether a situation has the forced branches and the enabled guards that the discrete part has found."""
    for k in range(here.forced.shape[0]):
        if room.forced[k] != here.forced[k]:
            return False
    return same(p, u.out[ENABLED], here.flags)


@kernel
def quiet(u: DiscretePlaces, p: Arithmetic, now: EventState, here: Situation, room: EventRoom) -> bool:
    """Whether a micro-step changes nothing."""
    at, calm = u.out, True
    for i in range(u.plain.shape[0]):
        calm = calm and p.outputs[at[FIRED] + i] == 0.0
    for i in range(now.R.shape[0]):
        calm = calm and now.R[i] == room.before[i]
    return calm and same(p, at[NEW], now.D) and same(p, at[RELATED], now.R) and decided(u, p, here, room)


@kernel
def take(u: DiscretePlaces, p: Arithmetic, now: EventState, tolerance: float) -> None:
    """Accept what the discrete part has found."""
    at, soon, until = u.out, now.numbers[TIME] + tolerance, np.inf
    for i in range(now.D.shape[0]):
        now.D[i] = p.outputs[at[NEW] + i]
    for i in range(now.memory.shape[0]):
        now.memory[i] = p.outputs[at[MEMORY] + i]
    for i in range(now.R.shape[0]):
        now.R[i] = p.outputs[at[RELATED] + i]
    for i in range(at[FIRED] - at[TIMES]):
        s = p.outputs[at[TIMES] + i]
        if soon < s < until:
            until = s
    now.numbers[TIMED_NEXT] = until


@kernel
def moves(u: DiscretePlaces, p: Arithmetic, now: EventState, here: Situation, room: EventRoom) -> bool:
    """Whether what the discrete part has found may lead to another mode or point, before it is accepted."""
    at = u.out
    for i in range(u.moving.shape[0]):
        if p.outputs[at[NEW] + u.moving[i]] != now.D[u.moving[i]]:
            return True
    for i in range(u.moving_relations.shape[0]):
        if p.outputs[at[RELATED] + u.moving_relations[i]] != room.before[u.moving_relations[i]]:
            return True
    return not decided(u, p, here, room)
