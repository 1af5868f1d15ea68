"""What a run of events that have been seen before knows and changes: situations, the discrete part, the state, and the record."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .dialect import kernel
from .programs import Arithmetic
from .signs import SignForms

# Numbers of a run.
TIME, END, TIMED_NEXT, LATE_BY, TOGETHER, NEXT_TICK = range(6)
# Flags of a run.
SITUATION, KNOWN, SHIFTED, SIGNED = range(4)
# Counts of a log.
SEGMENTS, STEPS, SEARCHES, PENDING = range(4)
# Sizes of one situation: number of its mode, ways in use, guards, and the flow for segments of the usual lengths.
MODE, WAYS, GUARDS, USUAL = range(4)
# Columns of micro-steps.
NUMBER, OF_CAUSE, OF_TICKS, OLD, FOLLOWING, SEGMENTS_BEFORE = range(6)
# Columns of ways.
CAUSE, TICKS, LEADS, SEARCHED, RIVALLED = range(5)
TELLS, NOTHING = 1, 2
"""A guard that is judged where a mode is entered, and one that is zero there whatever the point is."""
NO_TRIGGER, UNKNOWN, ENDED = -1, -2, -3
"""In the place of a form that crosses: a scheduled time, what needs another look, and the end of the run."""


class EntryConditions(NamedTuple):
    """What has to hold where a mode is entered, and how its states follow from left limits."""

    layout = "f2 f2 f2 f2 f2 f1 i1 f1 f1"
    constraints: np.ndarray
    """Rows (constraints, n + q) over left limits and sources."""
    terms: np.ndarray
    sizes: np.ndarray
    """Magnitudes of their coefficients, and of what these were made of."""
    jump: np.ndarray
    """How states (k, constraints) follow their defects."""
    admissible: np.ndarray
    """Rows over sources that vanish."""
    contradicting: np.ndarray
    """From which magnitudes on they do not."""
    judged: np.ndarray
    """Which guards (guards,) have to be positive."""
    defects: np.ndarray
    doubt: np.ndarray
    """Room (constraints,)."""


class VariableLevels(NamedTuple):
    """Values and derivatives of single variables, and what counts as zero of them."""

    layout = "f2 f2 f1"
    forms: np.ndarray
    """Rows (4 variables, ny): of the value and three derivatives, one order behind the other."""
    bounds: np.ndarray
    """Rows (3 variables, ny) over magnitudes."""
    numbers: np.ndarray
    """Their unit of time."""


class HeldRows(NamedTuple):
    """What has to stay positive in a situation: rows over the state vector, and magnitudes of their parts."""

    layout = "f2 f2"
    rows: np.ndarray
    parts: np.ndarray


class Situation(NamedTuple):
    """A mode with what controls and relations say, and where it has led."""

    layout = "i1 i1 f1 f2 i1 i1 i1 i1 f1 f1 i1 f1 i2"
    sizes: np.ndarray
    """Number of the mode, ways in use, guards, and number of the flow for segments of the usual lengths."""
    short: np.ndarray
    units: np.ndarray
    """Numbers of flows for short segments, and the lengths from which they suit."""
    reads: np.ndarray
    """Rows over the state vector of what the discrete part reads."""
    branches: np.ndarray
    """Those of the elements."""
    owners: np.ndarray
    """Elements of the guards."""
    sliding: np.ndarray
    """Frictions that slide."""
    forced: np.ndarray
    flags: np.ndarray
    relations: np.ndarray
    """What the discrete part gives in it: forced branches, enabled guards, and relations of states."""
    shown: np.ndarray
    """Discretes that show its branches."""
    shows: np.ndarray
    ways: np.ndarray
    """Rows (cause, ticks, situation it leads to, whether a mode is sought, and whether the one before may go on)."""


class DiscretePlaces(NamedTuple):
    """How the discrete part reads and writes its program."""

    layout = "i1 i1 i1 i1 f2 i1 i2 i2 i1 i1 i1 i1 i1"
    into: np.ndarray
    out: np.ndarray
    """Where its arguments begin, and its results."""
    inputs: np.ndarray
    """Discretes that are given from outside."""
    relations: np.ndarray
    """Numbers of the relations of states."""
    truths: np.ndarray
    """Their truth (relations, 3) by the sign of the difference."""
    plain: np.ndarray
    """Branches that do nothing but assign."""
    compares: np.ndarray
    """Which variables (branches, compared) their actions compare."""
    forces: np.ndarray
    """Branches (elements, 2) that a control forces where it does not hold and where it does, -1 for none."""
    latches: np.ndarray
    """Elements that a control only closes."""
    moving: np.ndarray
    """Discretes that sources read."""
    moving_relations: np.ndarray
    """Relations that they read."""
    source_into: np.ndarray
    """Where the arguments of the program of sources begin."""
    positions: np.ndarray
    """Which states of sources it gives."""


class SituationRecords(NamedTuple):
    """All that events read of one situation."""

    layout = "r r r r r r"
    of = EntryConditions, SignForms, SignForms, VariableLevels, HeldRows, Situation
    entry: EntryConditions
    guards: SignForms
    forms: SignForms
    """Guards and relations."""
    levels: VariableLevels
    held: HeldRows
    here: Situation


class Clocks(NamedTuple):
    """When clocks tick: at ``(first + k step) / divisor``, or at ``start + k period`` where the divisor is zero."""

    layout = "i2 f2"
    rational: np.ndarray
    real: np.ndarray


class DiscreteRecords(NamedTuple):
    """The discrete part and the sources of a run."""

    layout = "r r r r"
    of = DiscretePlaces, Arithmetic, Arithmetic, Clocks
    places: DiscretePlaces
    update: Arithmetic
    sources: Arithmetic
    clocks: Clocks


class EventState(NamedTuple):
    """What changes from event to event."""

    layout = "f1 i1 f1 f1 f1 f1 f1 f1 f1 i1 i1"
    numbers: np.ndarray
    flags: np.ndarray
    y: np.ndarray
    z: np.ndarray
    error: np.ndarray
    shift: np.ndarray
    D: np.ndarray
    R: np.ndarray
    memory: np.ndarray
    ticks: np.ndarray
    signs: np.ndarray


class EventLog(NamedTuple):
    """Segments and micro-steps, in order."""

    layout = "i1 f1 f1 i1 i1 f2 f1 i2 f2 f2 i1"
    counts: np.ndarray
    start: np.ndarray
    end: np.ndarray
    situation: np.ndarray
    flow: np.ndarray
    y: np.ndarray
    time: np.ndarray
    step: np.ndarray
    """Rows (number, cause, ticks, situation before, after, segments before it) of micro-steps."""
    D: np.ndarray
    R: np.ndarray
    visits: np.ndarray
    """Segments in each mode."""


class EventRoom(NamedTuple):
    """Room for what is needed for a moment: vectors of the state vector, of unknowns with sources, and of defects."""

    layout = "f1 f1 f1 f1 f1 f1 f1 f1 f1 f1 f1 i1"
    size: np.ndarray
    rate: np.ndarray
    """How far the state vector moves while an instant may be late."""
    point: np.ndarray
    """Unknowns and sources (n + q,)."""
    motion: np.ndarray
    """How far these may be off, all together."""
    moved: np.ndarray
    magnitude: np.ndarray
    before: np.ndarray
    """Relations before a micro-step."""
    taken: np.ndarray
    tested: np.ndarray
    """How far states were moved by what rounding explains, and what of it moves by itself."""
    left: np.ndarray
    left_z: np.ndarray
    """State vector and unknowns of the mode that is left."""
    forced: np.ndarray
    """Branches that controls force."""


@kernel
def copy(x: np.ndarray, out: np.ndarray) -> None:
    """Write the numbers of one array to another."""
    for i in range(x.shape[0]):
        out[i] = x[i]


@kernel
def copy_state(now: EventState, out: EventState) -> None:
    """Write one state to another."""
    copy(now.numbers, out.numbers)
    copy(now.y, out.y)
    copy(now.z, out.z)
    copy(now.error, out.error)
    copy(now.shift, out.shift)
    copy(now.D, out.D)
    copy(now.R, out.R)
    copy(now.memory, out.memory)
    for i in range(now.flags.shape[0]):
        out.flags[i] = now.flags[i]
    for i in range(now.ticks.shape[0]):
        out.ticks[i] = now.ticks[i]
    for i in range(now.signs.shape[0]):
        out.signs[i] = now.signs[i]


@kernel
def tick_time(c: Clocks, i: int, k: int) -> float:
    """Time of tick ``k`` of a clock."""
    divisor = c.rational[i, 2]
    if divisor > 0:
        return float(c.rational[i, 0] + k * c.rational[i, 1]) / float(divisor)
    return float(c.real[i, 0] + k * c.real[i, 1])


@kernel
def take_ticks(c: Clocks, now: EventState, end: float) -> int:
    """Which clocks tick until ``end``, as the digits of a number; they move on."""
    if not now.numbers[NEXT_TICK] <= end:
        return 0
    found, digit, following = 0, 1, np.inf
    for i in range(c.rational.shape[0]):
        if tick_time(c, i, now.ticks[i]) <= end:
            now.ticks[i] += 1
            found += digit
        following = min(following, tick_time(c, i, now.ticks[i]))
        digit *= 2
    now.numbers[NEXT_TICK] = following
    return found
