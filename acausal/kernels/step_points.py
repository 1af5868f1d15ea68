"""The points of one step of integration: sources, slopes at its ends, stages, and the solution inside of it."""

from __future__ import annotations

import math

import numpy as np

from .constraints import copy_row
from .dialect import kernel
from .functions import values
from .linear_systems import factorise, substitute
from .newton import COLUMNS, PASSES, find_changes
from .signs import product
from .stages import ALONG, GIVEN, IMPLICIT, NEXT, find_stage, follow_stages
from .step_forms import BEGIN, END, read_forms
from .step_records import (
    EVALUATED,
    FACTORISED,
    JACOBIANS,
    NOW,
    RTOL,
    SOURCES_FROM,
    StepRecords,
)  # fmt: skip


@kernel
def evaluate_sources(k: StepRecords, h: float, out: np.ndarray) -> None:
    """Sources (q,) at a time."""
    values(k.functions, h - k.state.numbers[SOURCES_FROM], k.sources.phi)
    for i in range(out.shape[0]):
        out[i] = product(k.sources.C[i], k.sources.phi)


@kernel
def move_sources(k: StepRecords, which: int) -> None:
    """Time derivatives of the sources at an end of the step."""
    for i in range(k.sources.moved.shape[0]):
        k.sources.moved[i] = product(k.sources.S[i], k.places.sources[which])


@kernel
def stand(k: StepRecords, point: np.ndarray, sources: np.ndarray) -> None:
    """Look at the equations next to a point."""
    inputs, ny = k.changes.rows.inputs, point.shape[0]
    copy_row(point, inputs)
    for i in range(sources.shape[0]):
        inputs[ny + i] = sources[i]


@kernel
def look(k: StepRecords, which: int) -> bool:
    """Time derivatives at an end of the step, and slopes of the constraints there; whether they exist."""
    c, at, nx, total = k.changes, k.places, k.state.largest.shape[0], 0.0
    stand(k, at.points[which], at.sources[which])
    for i in range(c.states.shape[0]):
        c.changes[i, 0] = at.rates[which, c.states[i]]
    c.counts[COLUMNS], c.counts[PASSES] = 1, 1
    if find_changes(c, k.room) == 0:
        return False
    for i in range(c.found.shape[0]):
        at.slopes[which, i] = at.rates[which, i] if i < nx else c.found[i, 0]
        total += abs(at.slopes[which, i])
    n = c.solved.shape[0]
    for i in range(k.constraints.levels.shape[0]):
        for j in range(nx):
            k.constraints.slopes[which, i, j] = c.rows.outputs[n + j * n + i]
    if k.forms.floor.shape[0] > 0:
        move_sources(k, which)
        read_forms(k.forms, which, at.points[which], at.slopes[which], at.sources[which], k.sources.moved)
    return total < np.inf


@kernel
def linearise(k: StepRecords) -> bool:
    """Jacobian and derivative by time at the begin of a step, and changes of open unknowns; whether they exist."""
    c, at, w, n, ny = k.changes, k.places, k.state, k.changes.states.shape[0], k.changes.found.shape[0]
    nx, total = w.largest.shape[0], 0.0
    stand(k, at.points[BEGIN], at.sources[BEGIN])
    for i in range(n):
        for j in range(n + 1):
            c.changes[i, j] = 1.0 if i == j else 0.0
    c.counts[COLUMNS], c.counts[PASSES] = n + 1, 1
    w.counts[JACOBIANS] += 1
    if find_changes(c, k.room) == 0:
        return False
    move_sources(k, BEGIN)
    for i in range(n):
        row = k.equations.rates[c.states[i]]
        for j in range(n + 1):
            value = 0.0
            for x in range(ny):
                value += row[x] * c.found[x, j]
            if j < n:
                at.jacobian[i, j] = value
            else:
                at.drift[i] = value
            total += abs(value)
        for x in range(k.sources.moved.shape[0]):
            at.drift[i] += row[ny + x] * k.sources.moved[x]
    for i in range(ny - nx):
        for j in range(n + 1):
            k.points.tangent[i, j] = c.found[nx + i, j]
    return total < np.inf


@kernel
def shift(k: StepRecords, h: float) -> bool:
    """Factorise the matrix of a step; whether it is regular."""
    system, n = k.stages.system, k.state.y.shape[0]
    for i in range(n):
        for j in range(n):
            system.matrix[i, j] = -k.places.jacobian[i, j]
        system.matrix[i, i] += 1.0 / (k.method.gamma[0] * h)
    k.state.counts[FACTORISED] += 1
    return factorise(system) > 0


@kernel
def make_stages(k: StepRecords, t1: float) -> bool:
    """Make the stages of a step; whether all points were found."""
    m, s, p, w, at = k.method, k.stages, k.points, k.state, k.places
    t, h, count, implicit = w.numbers[NOW], t1 - w.numbers[NOW], m.times.shape[0], m.kind[0] > 0
    if implicit and not shift(k, h):
        return False
    for i in range(count):
        p.times[i] = t1 if m.times[i] == 1.0 else t + m.times[i] * h
        if i > 0:
            evaluate_sources(k, p.times[i], p.sources[i])
        for j in range(i):
            s.weights[i, j] = m.arguments[i, j] if implicit else m.arguments[i, j] * h
            if implicit:
                s.coupling[i, j] = m.coupling[i, j] / h
        if implicit:
            for j in range(w.y.shape[0]):
                s.drifts[i, j] = h * m.drifts[i] * at.drift[j]
    copy_row(w.y, s.begin)
    copy_row(w.rate, s.parts[0])
    for place in range(2):
        p.near[place] = t
        copy_row(at.points[BEGIN], p.near_points[place])
        copy_row(at.rates[BEGIN], p.near_rates[place])
    p.flags[ALONG] = 1 if implicit else 0
    s.counts[NEXT], s.counts[GIVEN], s.counts[IMPLICIT] = 0, 1, m.kind[0]
    w.counts[EVALUATED] += follow_stages(k.equations, k.room, s, p)
    return s.counts[NEXT] == count


@kernel
def combine(weights: np.ndarray, parts: np.ndarray, component: int) -> float:
    """Combination of the parts of one component."""
    value = 0.0
    for j in range(parts.shape[0]):
        if weights[j] != 0.0:
            value += weights[j] * parts[j, component]
    return value


@kernel
def measure(k: StepRecords, h: float) -> float:
    """Solution at the end of a step, and its error in units of the tolerance."""
    m, s, w, at = k.method, k.stages, k.state, k.places
    n, count, implicit, found = w.y.shape[0], m.times.shape[0], m.kind[0] > 0, 0.0
    factor = 1.0 if implicit else h
    for i in range(n):
        w.y1[i] = s.arguments[count - 2, i]
        if implicit:
            w.y1[i] += s.parts[count - 2, i]
        largest = 0.0
        for e in range(2):
            at.errors[e, i] = factor * combine(m.errors[e], s.parts, i)
            largest = max(largest, abs(at.errors[e, i]))
        ratio = largest / (w.atol[i] + w.numbers[RTOL] * max(w.size[i], abs(w.y1[i])))
        found += ratio * ratio
    return math.sqrt(found / n)


@kernel
def arrive(k: StepRecords, t1: float) -> bool:
    """Find the point at the end of a step; whether it was found."""
    p, at, w, last = k.points, k.places, k.state, k.method.times.shape[0]
    row = last - 2
    if k.method.kind[0] > 0:
        row, p.times[last] = last, t1
        evaluate_sources(k, t1, p.sources[last])
        copy_row(w.y1, k.stages.arguments[last])
        w.counts[EVALUATED] += 1
        if not find_stage(k.equations, k.room, k.stages, p, last):
            return False
    copy_row(p.points[row], at.points[END])
    copy_row(p.rates[row], at.rates[END])
    copy_row(p.sources[row], at.sources[END])
    return True


@kernel
def interpolate(k: StepRecords, h: float) -> bool:
    """Coefficients of the solution inside of a step; whether they are finite."""
    m, s, w, at, total = k.method, k.stages, k.state, k.places, 0.0
    implicit = m.kind[0] > 0
    if implicit:
        copy_row(at.errors[1], w.allowed)
        substitute(s.system, w.allowed)
    for i in range(w.y.shape[0]):
        stiff = at.errors[1, i] - w.allowed[i] / (m.gamma[0] * h) if implicit else 0.0
        for d in range(3):
            value = combine(m.dense[d], s.parts, i)
            at.dense[d, i] = value - m.stiff[d] * stiff if implicit else h * value
            total += abs(at.dense[d, i])
    return total < np.inf
