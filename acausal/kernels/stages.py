"""The stages of one step of a one-step method, explicit or linearly implicit: arguments, the points there, and their rates.

And points along a step that was made.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .dialect import kernel
from .linear_systems import SmallSystem, substitute
from .newton import (
    COLUMNS,
    PASSES,
    PointChanges,
    PointEquations,
    PointRoom,
    find_changes,
    find_point,
)

# Counts of a step, and flags of its points.
NEXT, GIVEN, IMPLICIT = 0, 1, 2
ALONG = 0
# Where points are guessed from: the last one that was found, and the one at the begin of the step.
LAST, ACCEPTED = 0, 1


class Stages(NamedTuple):
    """A step from ``begin`` (n,): stage k, of s, is at the argument ``begin + weights[k] parts``."""

    layout = "r i1 f1 f2 f2 f2 f2 f2"
    of = (SmallSystem,)
    system: SmallSystem
    counts: np.ndarray
    """The next stage, whether the rate there is among the parts already, and whether parts solve the linear system:
    ``(I / (gamma h) - J) part = rate + coupling parts + drift``."""
    begin: np.ndarray
    weights: np.ndarray
    """(s, s)."""
    coupling: np.ndarray
    """(s, s)."""
    drifts: np.ndarray
    """(s, n)."""
    arguments: np.ndarray
    """(s, n)."""
    parts: np.ndarray
    """Rates (s, n), or what they are turned into."""


class StagePoints(NamedTuple):
    """The points at the stages of a step."""

    layout = "i1 i1 i1 f1 f2 f2 f2 f1 f2 f2 f2"
    flags: np.ndarray
    """Whether open unknowns are guessed along the tangent."""
    states: np.ndarray
    """Which coordinates (n,) are integrated."""
    dependent: np.ndarray
    """Which are solved from constraints."""
    times: np.ndarray
    """Times (s,) of the stages."""
    sources: np.ndarray
    """The sources (s, q) there."""
    points: np.ndarray
    """Coordinates and open unknowns (s, ny)."""
    rates: np.ndarray
    """Rates (s, nx) of the coordinates."""
    near: np.ndarray
    """Times of the places that guesses begin at, the last one and the accepted one."""
    near_points: np.ndarray
    """Their coordinates and open unknowns (2, ny)."""
    near_rates: np.ndarray
    """Rates (2, nx) of the coordinates."""
    tangent: np.ndarray
    """Changes of the open unknowns (m, n + 1) per change of the states and of time, from the begin of the step."""


@kernel
def form_argument(s: Stages, k: int) -> None:
    """The argument of a stage."""
    for i in range(s.begin.shape[0]):
        value = 0.0
        for j in range(k):
            if s.weights[k, j] != 0.0:
                value += s.weights[k, j] * s.parts[j, i]
        s.arguments[k, i] = s.begin[i] + value


@kernel
def guess(s: Stages, p: StagePoints, inputs: np.ndarray, k: int, place: int) -> None:
    """Coordinates and open unknowns from which the point of a stage is sought."""
    nx, later = p.rates.shape[1], p.times[k] - p.near[place]
    for i in range(p.points.shape[1]):
        inputs[i] = p.near_points[place, i]
    for i in range(p.dependent.shape[0]):
        j = p.dependent[i]
        inputs[j] += p.near_rates[place, j] * later
    for i in range(p.states.shape[0]):
        inputs[p.states[i]] = s.arguments[k, i]
    if p.flags[ALONG] > 0:
        n = p.states.shape[0]
        for i in range(p.tangent.shape[0]):
            value = p.near_points[ACCEPTED, nx + i] + p.tangent[i, n] * (p.times[k] - p.near[ACCEPTED])
            for j in range(n):
                value += p.tangent[i, j] * (s.arguments[k, j] - s.begin[j])
            inputs[nx + i] = value


@kernel
def find_stage(e: PointEquations, room: PointRoom, s: Stages, p: StagePoints, k: int) -> bool:
    """Find the point of a stage, from the last one, and if that leads astray from the one at the begin."""
    ny = p.points.shape[1]
    for place in range(2):
        guess(s, p, e.rows.inputs, k, place)
        for i in range(p.sources.shape[1]):
            e.rows.inputs[ny + i] = p.sources[k, i]
        if find_point(e, room) > 0:
            for i in range(ny):
                p.points[k, i] = p.near_points[LAST, i] = e.rows.inputs[i]
            for i in range(p.rates.shape[1]):
                p.rates[k, i] = p.near_rates[LAST, i] = room.rates[i]
            p.near[LAST] = p.times[k]
            return True
    return False


@kernel
def form_part(s: Stages, k: int) -> None:
    """Turn the rate of a stage into its part."""
    for i in range(s.begin.shape[0]):
        value = s.parts[k, i] + s.drifts[k, i]
        for j in range(k):
            value += s.coupling[k, j] * s.parts[j, i]
        s.parts[k, i] = value
    substitute(s.system, s.parts[k])


@kernel
def follow_stages(e: PointEquations, room: PointRoom, s: Stages, p: StagePoints) -> int:
    """Make the stages from the next one on, as far as their points are found; how many points were."""
    found = 0
    while s.counts[NEXT] < s.parts.shape[0]:
        k = s.counts[NEXT]
        if s.counts[GIVEN] == 0:
            form_argument(s, k)
            if not find_stage(e, room, s, p, k):
                break
            for i in range(s.begin.shape[0]):
                s.parts[k, i] = p.rates[k, p.states[i]]
            found += 1
        if s.counts[IMPLICIT] > 0:
            form_part(s, k)
        s.counts[NEXT], s.counts[GIVEN] = k + 1, 0
    return found


class PointsAlong(NamedTuple):
    """Points (k, ...) along a step."""

    layout = "i1 f2 f2 f2 f2 f2"
    sought: np.ndarray
    """Whether each is sought from a guess; others are known."""
    states: np.ndarray
    """The states (k, n) there."""
    slopes: np.ndarray
    """Their slopes."""
    sources: np.ndarray
    points: np.ndarray
    """Coordinates and open unknowns (k, ny), at first guesses."""
    moved: np.ndarray
    """Time derivatives of these (k, ny) with the slopes of the states."""


@kernel
def follow_points(e: PointEquations, room: PointRoom, c: PointChanges, p: PointsAlong) -> int:
    """Find points along a step, and how they move; how many were found."""
    ny, inputs, point = p.points.shape[1], e.rows.inputs, c.rows.inputs
    c.counts[COLUMNS], c.counts[PASSES] = 1, 1
    for k in range(p.points.shape[0]):
        for i in range(ny):
            inputs[i] = p.points[k, i]
        for i in range(p.sources.shape[1]):
            inputs[ny + i] = point[ny + i] = p.sources[k, i]
        if p.sought[k] > 0:
            for i in range(c.states.shape[0]):
                inputs[c.states[i]] = p.states[k, i]
            if find_point(e, room) == 0:
                return k
        for i in range(ny):
            p.points[k, i] = point[i] = inputs[i]
        for i in range(c.states.shape[0]):
            c.changes[i, 0] = p.slopes[k, i]
        if find_changes(c, room) == 0:
            return k
        for i in range(ny):
            p.moved[k, i] = c.found[i, 0]
    return p.points.shape[0]
