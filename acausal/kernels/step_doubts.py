"""Whether one step of integration is accepted: its error, what it resolves, and what asks for a closer look."""

from __future__ import annotations

import math

import numpy as np

from .constraints import copy_row, turns_over
from .dialect import kernel
from .newton import ACCURATE, COLUMNS, PASSES, find_changes, find_point
from .rounding import MISSED, SUMMED
from .step_forms import BEGIN, END, error_of_forms, stay_clear
from .step_points import arrive, evaluate_sources, interpolate, look, make_stages, measure, stand
from .step_records import (
    LONGEST,
    NOW,
    READS_RATES,
    RESOLVES,
    RTOL,
    USUAL,
    StepRecords,
)  # fmt: skip

DEPARTS = 0.01
"""Distance from the cubic, in changes over the step, up to which a step resolves a motion: a fifth of a turn of a crank."""
UNSEEN = 0.1
"""The same in tolerances of the value itself: what barely changes need not be resolved beyond what is asked of it."""
PROBE = 0.3819660112501051
"""Part of a step at which it is looked at, an irrational one: a motion that repeats itself is not met at equal phases."""
LONGER = 2.0
"""Factor from the longest step so far from which one is looked at there too."""
DOUBT = -1.0
"""In the place of an error that a closer look has to find."""


@kernel
def slope_inside(k: StepRecords, i: int, part: float, h: float) -> float:
    """Derivative of the solution inside of a step."""
    c, s = k.places.dense, part
    inner = c[0, i] + s * (c[1, i] + s * c[2, i])
    chord = (k.state.y1[i] - k.state.y[i]) + (1.0 - 2.0 * s) * inner
    return (chord + s * (1.0 - s) * (c[1, i] + 2.0 * s * c[2, i])) / h


@kernel
def cubic(k: StepRecords, j: int, part: float, h: float) -> float:
    """A coordinate or open unknown on the cubic through values and slopes at both ends of a step."""
    at = k.places
    y0 = at.points[BEGIN, j]
    chord = at.points[END, j] - y0
    first, last = h * at.slopes[BEGIN, j] - chord, h * at.slopes[END, j] - chord
    return y0 + part * (chord + (1.0 - part) * (first + part * (-first - last)))


@kernel
def probe(k: StepRecords, h: float) -> bool:
    """Find one more point inside of a step; whether it was found."""
    at, e, states, ny = k.places, k.equations, k.changes.states, k.places.probe.shape[0]
    evaluate_sources(k, k.state.numbers[NOW] + PROBE * h, at.probe_sources)
    for j in range(ny):
        e.rows.inputs[j] = cubic(k, j, PROBE, h)
    for i in range(at.probe_sources.shape[0]):
        e.rows.inputs[ny + i] = at.probe_sources[i]
    for i in range(states.shape[0]):
        c, y0, s = at.dense, k.state.y[i], PROBE
        chord = (k.state.y1[i] - y0) + (1.0 - s) * (c[0, i] + s * (c[1, i] + s * c[2, i]))
        e.rows.inputs[states[i]] = y0 + s * chord
    if find_point(e, k.room) == 0:
        return False
    for j in range(ny):
        at.probe[j] = e.rows.inputs[j]
    copy_row(k.room.rates, at.probe_rates)
    return True


@kernel
def distance_by_rates(k: StepRecords, part: float, h: float, rates: np.ndarray) -> float:
    """How far open unknowns depart from those that belong to the slope of the step, in units of what is allowed.

    `DOUBT` where that slope is rounding.
    """
    w, of, c, found, moves = k.state, k.places.of_rates, k.changes, 0.0, True
    for i in range(of.shape[0]):
        far, rounded = 0.0, 0.0
        for j in range(of.shape[1]):
            far += of[i, j] * (slope_inside(k, j, part, h) - rates[c.states[j]])
            rounded += abs(of[i, j]) * (SUMMED * abs(w.y1[j]) / h)
        moves = moves and rounded <= w.allowed[i]
        found = max(found, abs(far) / w.allowed[i])
    return found if found <= DEPARTS or moves else DOUBT


@kernel
def distance(k: StepRecords, h: float, part: float, inside: np.ndarray, rates: np.ndarray) -> float:
    """How far a point inside of a step departs from what rates or else a cubic say, in units of what is allowed."""
    w, at, e, rtol = k.state, k.places, k.equations, k.state.numbers[RTOL]
    share = rtol * max(1.0, w.numbers[USUAL] / h)
    for i in range(e.solved.shape[0]):
        j = e.solved[i]
        change = max(abs(at.points[END, j] - at.points[BEGIN, j]), abs(inside[j] - at.points[BEGIN, j]))
        w.allowed[i] = DEPARTS * change + share * max(change, w.moved[j])
        w.allowed[i] += ACCURATE * w.scale[j] + UNSEEN * rtol * abs(inside[j])
    by_rates = distance_by_rates(k, part, h, rates) if w.counts[READS_RATES] > 0 else math.inf
    if 0.0 <= by_rates <= 1.0:
        return by_rates
    found = distance_from_cubic(k, h, part, inside)
    if found <= 1.0:
        return found
    if by_rates == DOUBT or not carry_errors(k, at.points[BEGIN], at.sources[BEGIN]):
        return math.inf
    for i in range(e.solved.shape[0]):
        w.allowed[i] += MISSED * max(
            abs(k.changes.found[e.solved[i], 0]), abs(k.changes.found[e.solved[i], 1])
        )
    return distance_from_cubic(k, h, part, inside)


@kernel
def distance_from_cubic(k: StepRecords, h: float, part: float, inside: np.ndarray) -> float:
    """The largest distance of what is solved for from its cubic, in units of what is allowed."""
    w, e, found = k.state, k.equations, 0.0
    for i in range(e.solved.shape[0]):
        j = e.solved[i]
        far = abs(inside[j] - cubic(k, j, part, h)) / w.allowed[i]
        if not far <= found:
            found = far if far < math.inf else math.inf
    return found


@kernel
def carry_errors(k: StepRecords, point: np.ndarray, sources: np.ndarray) -> bool:
    """What the errors of a step make of coordinates and open unknowns at a point; whether that exists."""
    c, at = k.changes, k.places
    stand(k, point, sources)
    for i in range(c.states.shape[0]):
        c.changes[i, 0], c.changes[i, 1] = at.errors[0, i], at.errors[1, i]
    c.counts[COLUMNS], c.counts[PASSES] = 2, 0
    return find_changes(c, k.room) > 0


@kernel
def doubt_at(k: StepRecords, point: np.ndarray, sources: np.ndarray) -> float:
    """How large that is of what is solved for, in units of what may be of it."""
    c, w, at, found = k.changes, k.state, k.places, 0.0
    if not carry_errors(k, point, sources):
        return math.inf
    for i in range(c.solved.shape[0]):
        j = c.solved[i]
        largest = max(abs(at.points[BEGIN, j]), abs(point[j]), w.numbers[RTOL] * w.scale[j], w.moved[j])
        error = max(abs(c.found[j, 0]), abs(c.found[j, 1])) / (DEPARTS * largest)
        if not error <= found:
            found = error if error < math.inf else math.inf
    return found


@kernel
def departs(k: StepRecords, h: float) -> float:
    """How far a step departs from what it resolves, in units of what may be; `DOUBT` where that needs a closer look.

    Rounding, which the closer look allows for, is left out.
    """
    w, at, p, last = k.state, k.places, k.points, k.method.times.shape[0] - 1
    if k.constraints.levels.shape[0] > 0:
        for i in range(w.units.shape[0]):
            if not abs(at.points[END, i] - at.points[BEGIN, i]) <= w.units[i]:
                return DOUBT
        if turns_over(k.constraints, w.units):
            return DOUBT
    w.numbers[USUAL] = w.numbers[USUAL] if w.numbers[USUAL] > 0.0 else h
    part, small, probed = float(k.method.times[last]), False, h > LONGER * w.numbers[LONGEST]
    found = distance(k, h, part, p.points[last], p.rates[last])
    if probed:
        if not probe(k, h):
            return DOUBT
        found = max(found, distance(k, h, PROBE, at.probe, at.probe_rates))
    for i in range(w.y.shape[0]):
        error = max(abs(at.errors[0, i]), abs(at.errors[1, i]))
        small = small or error > DEPARTS * abs(w.y1[i] - w.y[i])
    if small:
        found = max(found, doubt_at(k, at.points[END], at.sources[END]))
        found = max(found, doubt_at(k, p.points[last], p.sources[last]))
        if probed:
            found = max(found, doubt_at(k, at.probe, at.probe_sources))
    # Next to singular points of constraints rounding departs by any amount.
    return found if found <= 1.0 or (found < math.inf and k.constraints.levels.shape[0] == 0) else DOUBT


@kernel
def try_step(k: StepRecords, t1: float) -> float:
    """Error of a step in units of the tolerance; `DOUBT` where that needs a closer look."""
    h = t1 - k.state.numbers[NOW]
    if not make_stages(k, t1):
        return DOUBT
    error = measure(k, h)
    if not error <= 1.0:
        return error if error < np.inf else DOUBT
    if not (arrive(k, t1) and interpolate(k, h) and look(k, END)):
        return DOUBT
    if k.forms.floor.shape[0] > 0:
        error = watch(k, h, error)
    if error >= 0.0 and k.state.counts[RESOLVES] > 0:
        far = departs(k, h)
        error = DOUBT if far < 0.0 else max(error, far)
    return error


@kernel
def watch(k: StepRecords, h: float, error: float) -> float:
    """Error of a step, that of guards and relations included; `DOUBT` where one of these may come near zero."""
    f, at, last = k.forms, k.places, k.method.times.shape[0] - 1
    if not carry_errors(k, at.points[BEGIN], at.sources[BEGIN]):
        return DOUBT
    found = error_of_forms(f, k.changes.found)
    # An output may be off by what the error of a single state then may be.
    share = found / math.sqrt(float(k.state.y.shape[0]))
    if (share > error and found > 1.0) or not stay_clear(f, h, k.points.points[last], k.points.sources[last]):
        return DOUBT
    return max(error, share)
