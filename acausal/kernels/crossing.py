"""First crossing of guards along combinations of known functions; nothing is sampled away.

Guards are bounded on whole intervals, from values and slopes at their ends; intervals that bounds do not settle are split, and
an isolated root is located to adjacent doubles of absolute time. What counts as zero is known along the way: the `Noise`
of a form moves with the motion, beside a floor that stays.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from . import functions as f
from .dialect import kernel
from .functions import Functions, differentiate, envelope, largest, magnitude, values, weight
from .location import AT, begin_location, locate_next, spacing
from .rounding import SUMMED

TWICE = 2.0
"""What counts as zero along a segment, in units of what does in the sign test at its begin."""
TOUCH = 0.01
"""Part of the rounding up to which a form below zero touches it and does not cross: the sign test sees more."""
STEADY = 2.0
"""Factor within which depths on an interval are much the same."""
PARTS = 4
"""Parts into which an undecided interval is split."""
FINEST = 2.0**-80
"""Smallest interval next to the start, relative to the length of the search, at whose end nothing has crossed."""
CHUNK = 16
"""Most intervals of a search that settles nothing before its depths are taken anew."""
RESOLVED = 2.0
"""Angle or number of time constants up to which a function is interpolated; faster ones enter with their magnitude."""
SLOPE_ERROR = math.sqrt(3.0) / 216.0
"""Error constant of the slope of the cubic Hermite interpolant."""
LEVELS = 80
"""Intervals within intervals: 40 quarters to the finest one, and 27 to adjacent numbers behind that."""
HALVINGS = 1100
"""Times that the interval next to the start may be split."""

CLEAR, HIT, NOISE = 0, 1, 2
"""What a search ends with: nothing crosses, something does, and it needs to know the noise before it goes on."""
# Numbers of a search.
LENGTH, START, FINE, FOUND = range(4)
# Flags of a search.
FRESH, GOES_ON, BEGUN, HEARD, CONSTANT, MOVES, SHIFTED, GUARD, LEVEL, DIVIDED, SPLIT, NEXT, STATUS = range(13)
# Depths of a guard in an interval: below which it is zero, touches it, and has left it; at the least and at the most.
FLOOR, TOUCHED, RISE, MOST_FLOOR, MOST_TOUCHED, MOST_RISE = range(6)
# Bounds of a guard on an interval: Bernstein coefficients, then the rest of them.
LEFT, NEAR, MIDDLE, FAR, RIGHT, ERROR, LOW, REST, ROUNDED, END = range(10)
# Frames of the stack.
FROM, TO, COUNT, INDEX, KNOWN = range(5)


class Guards(NamedTuple):
    """Combinations of functions that have to stay positive; arrays (guards, functions) and (guards,)."""

    layout = "f2 f2 f2 f2 f2 i1 f1 i1"
    rows: np.ndarray
    """Over the state vector (guards, ny)."""
    states: np.ndarray
    """The state vector over the functions (ny, functions)."""
    values: np.ndarray
    slopes: np.ndarray
    fourth: np.ndarray
    """Magnitudes of the fourth derivatives."""
    armed: np.ndarray
    """Whether it leaves zero into the positive."""
    leaves: np.ndarray
    """Part of the floor above which it has left zero."""
    above: np.ndarray
    """Whether it has left zero, changed by the search."""


class Noise(NamedTuple):
    """What counts as zero: a floor that stays, and noise that moves; arrays (guards, ...) but for the numbers of functions."""

    layout = "f1 f1 f1 f1 f2 i1 f2 i1 f1 f2 f1 f2"
    rounding: np.ndarray
    """Noise of the values."""
    late: np.ndarray
    """What a late begin adds. It moves a guard by its rate times that, which is nothing where the guard touches zero."""
    missed: np.ndarray
    """What integration may have missed: as far below zero, beside `TOUCH` of the noise, a guard touches and does not cross."""
    start: np.ndarray
    """Noise that moves, at the start."""
    moving: np.ndarray
    """Coefficients (guards, terms) of what follows the motion."""
    moves: np.ndarray
    """Functions (terms,) that it follows."""
    staying: np.ndarray
    """The same of what stays as long as the terms do that cancel."""
    stays: np.ndarray
    rates: np.ndarray
    """By how much the rates at the start are missed."""
    shift: np.ndarray
    """Coefficients (guards, terms) of what moves all together while the begin is open."""
    shift_start: np.ndarray
    shift_rates: np.ndarray
    """Its magnitudes at the start, and those (guards, functions) of its rates."""


class SearchRoom(NamedTuple):
    """What a search writes to."""

    layout = "f1 i1 f2 i1 f3 f2 f2 f1 f1 f1 f2 f1 f1"
    numbers: np.ndarray
    flags: np.ndarray
    bounds: np.ndarray
    """Those of every guard on the present interval (guards, 10)."""
    open: np.ndarray
    """Guards that may trigger in it."""
    depth: np.ndarray
    """What counts as zero, for each level of intervals (levels, guards, 6)."""
    frames: np.ndarray
    """Intervals within intervals (levels, 5)."""
    phi: np.ndarray
    """Values (levels, functions) at the left ends of these."""
    right: np.ndarray
    envelope: np.ndarray
    spare: np.ndarray
    """Functions (functions,) at the right end, their bounds in the interval, and what is needed for a moment."""
    over: np.ndarray
    """Coefficients (guards, functions) that are needed for a moment."""
    zero: np.ndarray
    """Record of a location."""
    halvings: np.ndarray
    """Right ends of the intervals next to the start that wait."""


NUMBERS, FLAGS, BOUNDS, DEPTHS, FRAME = 4, 13, 10, 6, 5
"""Lengths of the records above."""


@kernel
def combine(G: np.ndarray, C: np.ndarray, out: np.ndarray) -> None:
    """Guards ``G y`` where ``y`` is the combination ``C`` of functions."""
    for k in range(G.shape[0]):
        for j in range(C.shape[1]):
            found = 0.0
            for i in range(C.shape[0]):
                found += G[k, i] * C[i, j]
            out[k, j] = found


# -- bounds on an interval ----------------------------------------------------------------------------------------------


@kernel
def derive(b: Functions, g: Guards, w: SearchRoom) -> None:
    """The derivatives of the guards that bounds are made of."""
    differentiate(b, g.values, g.slopes)
    differentiate(b, g.slopes, w.over)
    differentiate(b, w.over, g.fourth)
    differentiate(b, g.fourth, w.over)
    for k in range(w.over.shape[0]):
        for j in range(w.over.shape[1]):
            g.fourth[k, j] = abs(w.over[k, j])


@kernel
def bound(
    b: Functions, g: Guards, w: SearchRoom, left: np.ndarray, first: float, length: float, rounds: bool
) -> None:
    """Bound all guards on an interval, with functions ``left`` at its begin and those at its end in `SearchRoom.right`.

    The cubic Hermite interpolant p on an interval of length L has ``abs(g - p) <= x^2 (L - x)^2 M4 / 24``. In Bernstein form of
    degree 4 that is one coefficient, ``M4 L^4 / 144``, so the coefficients of p with this one lowered bound g from below.
    Functions too fast for the length count with their magnitudes. What only rounding takes below zero counts as above.
    """
    envelope(b, first, first + length, w.envelope)
    fast, quarter, fourth = (
        b.limits[f.FASTEST] * length > RESOLVED,
        0.25 * length,
        length * length * length * length,
    )
    for k in range(g.values.shape[0]):
        v, a, u, c, m4, end, rest, size = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for j in range(g.values.shape[1]):
            r, slope = g.values[k, j], g.slopes[k, j]
            end += r * w.right[j]
            size += abs(r) * w.envelope[j]
            if fast and b.table[f.SPEED, j] * length > RESOLVED:
                rest += abs(r) * w.envelope[j]
            else:
                v += r * left[j]
                u += r * w.right[j]
                a += slope * left[j]
                c += slope * w.right[j]
                m4 += g.fourth[k, j] * w.envelope[j]
        e, o = m4 * fourth / 144.0 if m4 > 0.0 else 0.0, w.bounds[k]
        known = v + u + a + c + e + rest
        if known != known:
            # What is no number bounds nothing.
            v, u, a, c, e, rest = 0.0, 0.0, 0.0, 0.0, math.inf, math.inf
        a, c = a * quarter, c * quarter
        o[LEFT], o[NEAR], o[FAR], o[RIGHT], o[ERROR], o[END], o[REST] = v, v + a, u - c, u, e, end, rest
        o[MIDDLE] = 0.5 * (v + u) + (a - c) * (2.0 / 3.0) - e
        o[ROUNDED] = SUMMED * size if rounds else 0.0
        o[LOW] = min(o[LEFT], o[NEAR], o[MIDDLE], o[FAR], o[RIGHT]) + o[ROUNDED] - o[REST]


@kernel
def inside(o: np.ndarray) -> float:
    """Bound from below of a guard with bounds ``o`` that the left end does not enter."""
    return min(o[NEAR], o[MIDDLE], o[FAR], o[RIGHT]) + o[ROUNDED] - o[REST]


@kernel
def high(o: np.ndarray) -> float:
    """Bound from above."""
    return max(o[LEFT], o[NEAR], o[MIDDLE] + 2.0 * o[ERROR], o[FAR], o[RIGHT]) + o[REST]


@kernel
def middle(o: np.ndarray) -> float:
    """Bound from below at the middle of the interval."""
    return (o[LEFT] + 4.0 * o[NEAR] + 6.0 * o[MIDDLE] + 4.0 * o[FAR] + o[RIGHT]) / 16.0 - o[REST]


@kernel
def steepest(b: Functions, g: Guards, w: SearchRoom, k: int, length: float) -> float:
    """Bound from above of the slope of guard ``k`` on the interval bounded last."""
    o, rest = w.bounds[k], 0.0
    begin, end = o[NEAR] - o[LEFT], o[RIGHT] - o[FAR]
    if o[REST] > 0.0 or b.limits[f.FASTEST] * length > RESOLVED:
        for j in range(g.values.shape[1]):
            if b.table[f.SPEED, j] * length > RESOLVED:
                rest += abs(g.slopes[k, j]) * w.envelope[j]
    steep = max(begin, end, 0.75 * (o[RIGHT] - o[LEFT]) - begin - end) * (4.0 / length)
    return steep + o[ERROR] * (144.0 * SLOPE_ERROR / length) + rest


@kernel
def cubic_zero(o: np.ndarray, offset: float) -> float:
    """Where on an interval, as a part of it, the cubic of a guard that falls through zero about vanishes."""
    v, u = o[LEFT] + offset, o[RIGHT] + offset
    a, c = 4.0 * (o[NEAR] - o[LEFT]), 4.0 * (o[RIGHT] - o[FAR])
    square, cube = 3.0 * (u - v) - 2.0 * a - c, 2.0 * (v - u) + a + c
    x = v / (v - u) if v > u else 0.5
    for _ in range(3):  # Each doubles the digits of a secant: more than the cubic has is of no use.
        slope = a + x * (2.0 * square + x * 3.0 * cube)
        if not slope < 0.0:
            break
        x = min(max(x - (v + x * (a + x * (square + x * cube))) / slope, 0.0), 1.0)
    return x


# -- what counts as zero --------------------------------------------------------------------------------------------------


@kernel
def moving_noise(
    b: Functions, n: Noise, k: int, first: float, last: float, shifted: bool, most: bool
) -> float:
    """Noise that moves of guard ``k`` on an interval, at the least or at the most."""
    found, together = 0.0, 0.0
    at = first if most else last
    for i in range(n.moves.shape[0]):
        j = n.moves[i]
        rate = min(b.table[f.SIGMA, j], 0.0)
        if most:
            size = magnitude(b, j, rate, min(max(b.table[f.PEAK, j], first), last))
        else:
            size = min(magnitude(b, j, rate, first), magnitude(b, j, rate, last))
        found += n.moving[k, i] * size
        if shifted:
            together += n.shift[k, i] * size
    found = min(n.start[k], found)
    if shifted:
        # Slow functions that cancel at the start have moved by no more than their rates allow.
        rates = 0.0
        at = last if most else first
        for j in range(n.shift_rates.shape[1]):
            rates += n.shift_rates[k, j] * largest(b, j, 0.0, at)
        found += min(together, n.shift_start[k] + at * rates)
    at = last if most else first
    for i in range(n.stays.shape[0]):
        found += n.staying[k, i] * weight(b, n.stays[i], at)
    return found


@kernel
def leaving(b: Functions, n: Noise, k: int, h: float) -> float:
    """How far below zero missed rates explain guard ``k`` at a time: until the fastest function has moved."""
    fastest = b.limits[f.FASTEST]
    return TWICE * (min(h, 1.0 / fastest) if fastest > 0.0 else h) * n.rates[k]


@kernel
def find_depth(
    b: Functions, g: Guards, n: Noise, w: SearchRoom, level: int, first: float, last: float
) -> None:
    """What counts as zero between two times, written to a level."""
    moves, shifted = w.flags[MOVES] > 0, w.flags[SHIFTED] > 0
    for k in range(g.values.shape[0]):
        o, least, below = w.depth[level, k], n.rounding[k], n.missed[k]
        most, most_below = least, below
        if moves:
            most += moving_noise(b, n, k, first, last, shifted, True)
            least += moving_noise(b, n, k, first, last, shifted, False)
            most_below += leaving(b, n, k, last)
            below += leaving(b, n, k, first)
        if first == last:
            most, most_below = least, below
        o[FLOOR], o[TOUCHED] = least + n.late[k] + below, TOUCH * least + below
        o[MOST_FLOOR], o[MOST_TOUCHED] = most + n.late[k] + most_below, TOUCH * most + most_below
        o[RISE], o[MOST_RISE] = g.leaves[k] * o[FLOOR], g.leaves[k] * o[MOST_FLOOR]


@kernel
def depth_between(
    b: Functions, g: Guards, n: Noise, w: SearchRoom, level: int, first: float, last: float
) -> int:
    """Level of what counts as zero between two times: that of the whole search where it is much the same all along."""
    if w.flags[CONSTANT]:
        return 0
    find_depth(b, g, n, w, level, first, last)
    return level


# -- the search -----------------------------------------------------------------------------------------------------------


@kernel
def may_trigger(g: Guards, w: SearchRoom, level: int) -> bool:
    """Whether some guards may trigger on the present interval, and which; what is settled is so at the least depth."""
    found = False
    for k in range(g.values.shape[0]):
        o, d = w.bounds[k], w.depth[level, k]
        if g.above[k]:
            settled = o[LOW] >= -d[TOUCHED]
        else:
            settled = o[LOW] >= -d[FLOOR] and (inside(o) >= -d[TOUCHED] or high(o) <= d[RISE])
        w.open[k] = not settled
        found = found or not settled
    return found


@kernel
def note_risen(g: Guards, w: SearchRoom, level: int) -> None:
    """Note the guards that have left their noise on the present interval."""
    for k in range(g.values.shape[0]):
        o, rise = w.bounds[k], w.depth[level, k, MOST_RISE]
        if o[END] > rise or middle(o) > rise:
            g.above[k] = 1


@kernel
def combination(b: Functions, row: np.ndarray, phi: np.ndarray) -> float:
    """Value of one row."""
    found = 0.0
    for j in range(row.shape[0]):
        found += row[j] * phi[j]
    return found


@kernel
def locate_root(
    b: Functions, g: Guards, w: SearchRoom, k: int, first: float, last: float, guess: float, offset: float
) -> float:
    """Where guard ``k`` with an offset falls through zero."""
    begin_location(w.zero, first, last, guess, w.numbers[START], 0.0)
    while True:
        values(b, w.zero[AT], w.spare)
        value = combination(b, g.values[k], w.spare) + offset
        if locate_next(w.zero, value, combination(b, g.slopes[k], w.spare)):
            return w.zero[AT]


@kernel
def find_roots(b: Functions, g: Guards, w: SearchRoom, level: int, first: float, last: float) -> bool:
    """Whether every open guard certainly has exactly one root on the present interval; the earliest one then is found."""
    count = g.values.shape[0]
    for k in range(count):
        if w.open[k]:
            o, d = w.bounds[k], w.depth[level, k]
            down = o[END] < -d[MOST_TOUCHED]
            if not g.above[k]:
                # A guard that never left its noise triggers at a depth: that must be much the same all along the interval.
                down = o[END] < -d[MOST_FLOOR] and high(o) < d[RISE] and d[MOST_FLOOR] <= STEADY * d[FLOOR]
            if not (down and steepest(b, g, w, k, last - first) < 0.0):
                return False
    best, hit = last, -1
    for k in range(count):
        if not w.open[k]:
            continue
        offset = 0.0 if g.above[k] else w.depth[level, k, MOST_FLOOR]
        until = last
        if hit >= 0:
            # What crosses within the last place of the same time is later.
            until = best - spacing(w.numbers[START] + best)
            if until <= first:
                continue
            values(b, until, w.spare)
            if combination(b, g.values[k], w.spare) + offset > 0.0:
                continue
        guess = first + cubic_zero(w.bounds[k], offset) * (last - first)
        best = locate_root(b, g, w, k, first, until, guess, offset)
        hit = k
    w.numbers[FOUND], w.flags[GUARD] = best, hit
    return hit >= 0


@kernel
def decide_at_end(b: Functions, g: Guards, n: Noise, w: SearchRoom, level: int, last: float) -> bool:
    """Settle an interval by the values at its end; whether something has crossed."""
    at = depth_between(b, g, n, w, level + 1, last, last)
    for k in range(g.values.shape[0]):
        d = w.depth[at, k]
        if w.bounds[k, END] < -(d[TOUCHED] if g.above[k] else d[FLOOR]):
            w.numbers[FOUND], w.flags[GUARD] = last, k
            return True
    for k in range(g.values.shape[0]):
        if w.bounds[k, END] > w.depth[at, k, RISE]:
            g.above[k] = 1
    return False


@kernel
def locatable(
    b: Functions, g: Guards, n: Noise, w: SearchRoom, level: int, first: float, last: float
) -> bool:
    """Whether what leaves zero at first has crossed within the interval, which holds further doubles."""
    if not last - first > PARTS * spacing(w.numbers[START] + last):
        return False
    at = depth_between(b, g, n, w, level + 1, last, last)
    for k in range(g.values.shape[0]):
        if g.armed[k] and w.bounds[k, END] < -w.depth[at, k, TOUCHED]:
            return True
    return False


@kernel
def push(w: SearchRoom, first: float, last: float, count: int) -> None:
    """Put an interval in ``count`` parts on the stack."""
    level = w.flags[LEVEL] + 1
    w.flags[LEVEL] = level
    o = w.frames[level]
    o[FROM], o[TO], o[COUNT], o[INDEX], o[KNOWN] = first, last, count, 0.0, 0.0


@kernel
def split_next_to_start(b: Functions, g: Guards, n: Noise, w: SearchRoom, level: int, last: float) -> bool:
    """Settle ``[0, last]``, whose first part may be split very often: times next to zero have no smallest scale.

    Whether something has crossed in the first part; what lies behind it waits.
    """
    w.flags[SPLIT], w.flags[NEXT] = 0, level
    while locatable(b, g, n, w, level, 0.0, last):
        w.halvings[w.flags[SPLIT]] = last
        w.flags[SPLIT] += 1
        last /= PARTS
        values(b, last, w.right)
        values(b, 0.0, w.spare)
        bound(b, g, w, w.spare, 0.0, last, True)
        at = depth_between(b, g, n, w, level + 1, 0.0, last)
        if not may_trigger(g, w, at):
            note_risen(g, w, at)
            return False
        if find_roots(b, g, w, at, 0.0, last):
            return True
    return decide_at_end(b, g, n, w, level, last)


@kernel
def settle_undecided(
    b: Functions, g: Guards, n: Noise, w: SearchRoom, level: int, first: float, last: float
) -> bool:
    """Split an interval, at adjacent doubles decide by the values at the end; whether something has crossed."""
    w.flags[DIVIDED] = 1
    finite, low = True, True
    for k in range(g.values.shape[0]):
        finite = finite and abs(w.bounds[k, END]) < math.inf
        low = low and abs(w.bounds[k, LOW]) < math.inf
    # Where bounds leave the range of doubles before the values do, the values decide, and where no room is left.
    if (finite and not low) or w.flags[LEVEL] + 2 >= LEVELS:
        return decide_at_end(b, g, n, w, level, last)
    if not last - first > PARTS * max(spacing(w.numbers[START] + last), w.numbers[FINE]):
        if not locatable(b, g, n, w, level, first, last):
            return decide_at_end(b, g, n, w, level, last)
        if not first > 0.0:
            return split_next_to_start(b, g, n, w, level, last)
    push(w, first, last, PARTS)
    return False


@kernel
def walk(b: Functions, g: Guards, n: Noise, w: SearchRoom, first: float, last: float, count: int) -> bool:
    """Settle ``count`` equal intervals, each at the depths of all of them; whether something has crossed."""
    w.flags[LEVEL], w.flags[SPLIT], w.flags[NEXT], w.flags[DIVIDED] = 0, 0, -1, 0
    push(w, first, last, count)
    values(b, first, w.phi[1])
    while w.flags[LEVEL] > 0:
        level = w.flags[LEVEL]
        o = w.frames[level]
        i, parts = int(o[INDEX]), int(o[COUNT])
        if level == w.flags[NEXT] and w.flags[SPLIT] > 0:
            w.flags[SPLIT] -= 1
            end = float(w.halvings[w.flags[SPLIT]])
            push(w, end / PARTS, end, PARTS - 1)
            values(b, end / PARTS, w.phi[level + 1])
            continue
        if i == parts:
            w.flags[LEVEL] -= 1
            continue
        o[INDEX] = i + 1.0
        length = (o[TO] - o[FROM]) / parts
        begin, end = o[FROM] + i * length, o[TO] if i + 1 == parts else o[FROM] + (i + 1) * length
        values(b, end, w.right)
        bound(b, g, w, w.phi[level], begin, length, True)
        for j in range(w.right.shape[0]):
            w.phi[level, j] = w.right[j]
        if settle_interval(b, g, n, w, level, begin, end):
            return True
        if w.flags[LEVEL] > level:
            values(b, begin, w.phi[level + 1])
    return False


@kernel
def settle_interval(
    b: Functions, g: Guards, n: Noise, w: SearchRoom, level: int, first: float, last: float
) -> bool:
    """Settle one interval of a level by its bounds, or split it; whether something has crossed."""
    clear, finite = True, True
    for k in range(g.values.shape[0]):
        clear = clear and g.above[k] > 0 and w.bounds[k, LOW] >= 0.0
    if clear:
        return False
    o = w.frames[level]
    if o[KNOWN] == 0.0:
        o[KNOWN] = 1.0 + depth_between(b, g, n, w, level, o[FROM], o[TO])
    at = int(o[KNOWN]) - 1
    if not may_trigger(g, w, at):
        note_risen(g, w, at)
        return False
    if find_roots(b, g, w, at, first, last):
        return True
    for k in range(g.values.shape[0]):
        finite = finite and abs(w.bounds[k, END]) < math.inf
    if not finite:
        o[INDEX] = o[COUNT]  # Beyond the range of doubles, which the end of the segment tells.
    return settle_undecided(b, g, n, w, level, first, last)


@kernel
def time_unit(b: Functions, g: Guards, w: SearchRoom, first: float, last: float) -> float:
    """Interval that suits the fastest function still above the noise of some guard."""
    envelope(b, first, last, w.envelope)
    found = last
    for j in range(g.values.shape[1]):
        if b.table[f.TIME_UNIT, j] < found:
            for k in range(g.values.shape[0]):
                if abs(g.values[k, j]) * w.envelope[j] > w.depth[0, k, TOUCHED]:
                    found = b.table[f.TIME_UNIT, j]
                    break
    return found


@kernel
def march(b: Functions, g: Guards, n: Noise, w: SearchRoom) -> int:
    """Search from left to right in chunks, with steps that follow the speed of the guards where they exceed their noise."""
    length, h, growth = w.numbers[LENGTH], 0.0, 1.0
    while h < length:
        step = min(time_unit(b, g, w, h, length) * growth, 0.25 * length)
        left, count = (length - h) / step * (1.0 - 1e-9), CHUNK
        if left < CHUNK:
            count = max(1, int(math.ceil(left)))
        last = h + count * step
        if last >= length * (1.0 - 1e-12):
            last = length
        if walk(b, g, n, w, h, last, count):
            return HIT
        growth = 1.0 if w.flags[DIVIDED] else 2.0 * growth
        h = last
    return CLEAR


@kernel
def arm(b: Functions, g: Guards, n: Noise, w: SearchRoom) -> bool:
    """Arm the guards above their noise; whether one below minus its noise has triggered already."""
    at = depth_between(b, g, n, w, 1, 0.0, 0.0)
    for k in range(g.values.shape[0]):
        g.above[k] = combination(b, g.values[k], w.phi[0]) > w.depth[at, k, MOST_RISE]
    for k in range(g.values.shape[0]):
        if combination(b, g.values[k], w.phi[0]) < -w.depth[at, k, MOST_FLOOR]:
            w.numbers[FOUND], w.flags[GUARD] = 0.0, k
            return True
    return False


@kernel
def first_crossing(b: Functions, g: Guards, n: Noise, w: SearchRoom) -> int:
    """Search the first seconds of a combination, see `dynamics.scan.first_crossing`.

    What does not go below zero triggers at no depth, whether it has left its noise or not: only where something comes near zero
    is the noise asked for, with the status `NOISE`; then the search begins anew.
    """
    length, count = w.numbers[LENGTH], g.values.shape[0]
    if w.flags[FRESH]:
        w.flags[FRESH] = 0
        combine(g.rows, g.states, g.values)
        derive(b, g, w)
    values(b, 0.0, w.phi[0])
    values(b, length, w.right)
    bound(b, g, w, w.phi[0], 0.0, length, False)
    positive = w.flags[GOES_ON] == 0
    for k in range(count):
        positive = positive and w.bounds[k, LOW] >= 0.0
    if positive:
        return CLEAR
    if w.flags[HEARD] == 0:
        return NOISE
    slow, positive = True, w.flags[GOES_ON] == 0
    for k in range(count):
        touch = TOUCH * n.rounding[k] + n.missed[k]
        positive = positive and w.bounds[k, LOW] >= -touch
        slow = slow and w.bounds[k, LEFT] >= w.bounds[k, REST] - touch
    if slow and positive:
        return CLEAR
    w.numbers[FINE], w.flags[CONSTANT] = FINEST * length, 0
    find_depth(b, g, n, w, 0, 0.0, length)
    constant = True
    for k in range(count):
        constant = constant and w.depth[0, k, MOST_FLOOR] <= STEADY * w.depth[0, k, FLOOR]
    w.flags[CONSTANT] = constant
    if w.flags[BEGUN] == 0:
        w.flags[BEGUN] = 1
        if arm(b, g, n, w):
            return HIT
    if slow:
        if not may_trigger(g, w, 0):
            note_risen(g, w, 0)
            return CLEAR
        if find_roots(b, g, w, 0, 0.0, length):
            return HIT
    return march(b, g, n, w)
