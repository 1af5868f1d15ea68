"""The accepted steps of a segment, and points along them."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np

from ...dynamics.step import Step
from .accuracy import Tolerances, cubic, straight, terms
from .change_points import Bridge
from .forms import Forms
from .motion import Motion, Place
from .newton import NewtonFailure
from .state_selection import Selection

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Accepted:
    """A step with the coordinates it integrates, and the points at its ends."""

    step: Step
    selection: Selection
    begin: Place
    end: Place
    bridge: Bridge | None = None
    """Over a change point within it."""
    course: Step | None = None
    """What all coordinates and open unknowns are near, once that was asked for."""


class AcceptedSteps:
    """Steps that were accepted, one after the other.

    Parameters
    ----------
    motion : Motion
        At the start of the segment.
    forms : Forms
        What can end the segment.

    Attributes
    ----------
    accepted : list of Accepted
    begin : Place
    curved : bool
        What is solved for beside the states follows cubics.
    started, length : float
        Time of the run at which the segment begins, and how long it lasts.
    tolerances : Tolerances
    size : (nX,) array
        Largest magnitudes of the coordinates so far.
    """

    started: float
    length: float
    tolerances: Tolerances
    size: np.ndarray

    def __init__(self, motion: Motion, forms: Forms) -> None:
        self.motion, self.forms, self.begin = motion, forms, motion.last
        self.accepted: list[Accepted] = []
        self.curved = motion.batched and bool(motion.system.m or motion.system.constraints)
        self._in_arrays: tuple[int, Any] = (0, None)

    def in_arrays(self, make: Callable[[Self], T]) -> T:
        """What ``make`` makes of the accepted steps; made anew once there are more."""
        if self._in_arrays[0] != len(self.accepted):
            self._in_arrays = len(self.accepted), make(self)
        return self._in_arrays[1]

    def ends(self) -> np.ndarray:
        """``v`` (k, nv) at the begin and at the ends of all steps, the last of which may lie beyond the segment."""
        v0, places = self.motion.system.v0, [self.begin, *(a.end for a in self.accepted)]
        return np.array([v0(p.y, p.xi) for p in places])

    def largest(self, rows: Any = None) -> np.ndarray:
        """Largest magnitudes of ``v``, or of rows over it, at the begin and at the ends of all steps, one after the other."""
        v0, found = self.motion.system.v0, np.zeros(1)
        for p in (self.begin, *(a.end for a in self.accepted)):
            v = v0(p.y, p.xi)
            found = np.maximum(found, np.abs(v if rows is None else rows @ v))
        return found

    def solved(self, number: int, length: float) -> np.ndarray:
        """Magnitudes (forms,) of the terms that cancel in what forms read of the equations solved for it.

        ``number`` counts the begin, the ends of all steps, and then the end of the segment after ``length``.
        """
        motion, count = self.motion, len(self.accepted)
        place = (
            self.place(length) if number > count else self.accepted[number - 1].end if number else self.begin
        )
        a = self.at(length) if number > count else self.accepted[max(number - 1, 0)]
        tangent = self.forms.tangent(motion, motion.system.v0(place.y, place.xi))
        return np.abs(tangent(motion.system.v0.y)) @ terms(motion, place, motion.solved_of(a.selection))[:, 0]

    def place(self, h: float) -> Place:
        """The point at a time within the steps made."""
        return self.inside(self.at(h), h)

    def at(self, h: float) -> Accepted:
        """The step that holds a time."""
        return self.accepted[
            bisect_left(self.accepted, h, 0, len(self.accepted) - 1, key=lambda a: a.step.t1)
        ]

    def course(self, a: Accepted) -> Step:
        """What all coordinates and open unknowns are near along a step."""
        if a.course is None:
            a.course = cubic(self.motion, a.begin, a.end) if self.curved else straight(a.begin, a.end)
        return a.course

    def inside(self, a: Accepted, h: float) -> Place:
        """The point at a time within a step."""
        step = a.step
        if h <= step.t0:
            return a.begin
        if h >= step.t1:
            return a.end
        if a.bridge is not None and a.bridge.holds(h):
            return a.bridge.place(self.motion, h)
        theta = (h - step.t0) / (step.t1 - step.t0)
        y, guess = step.at(theta), self.motion.guessed(self.course(a).at(theta), h)
        for near in (guess, a.begin):
            try:
                return self.motion.solve(h, y, near, a.selection)
            except NewtonFailure:
                continue
        return self.motion.solve(h, y, a.end, a.selection)

    def jets(self, a: Accepted, hs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``v`` and its derivative along the step at times ``hs`` (k,) within it, (k, nv) each."""
        motion, step = self.motion, a.step
        theta = (hs - step.t0) / (step.t1 - step.t0)
        slopes = step.slope(theta)
        if motion.system.m or motion.system.constraints:
            alone = a.bridge is not None or not motion.batched
            together = None if alone else self._together(a, hs, theta, slopes)
            if together is not None:
                return together
            places = [self.inside(a, h) for h in hs.tolist()]
            found = [
                motion.jets(p) if p.bridged else motion.along(p, s, a.selection)
                for p, s in zip(places, slopes, strict=True)
            ]
            return np.array([v for v, _ in found]), np.array([v for _, v in found])
        X = step.at(theta)
        X[hs >= step.t1] = step.y1
        return motion.free_along(hs, X, slopes)

    def _together(
        self, a: Accepted, hs: np.ndarray, theta: np.ndarray, slopes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """The same by a kernel for all times; None where there is none, or a point is not found."""
        motion, step, system = self.motion, a.step, self.motion.system
        kernels = system.kernels(a.selection.dependent)
        if kernels is None:
            return None
        course, xi = self.course(a).at(theta), motion.sources.sample(hs)
        first, last = hs <= step.t0, hs >= step.t1
        course[first], course[last] = a.begin.y, a.end.y
        xi[first], xi[last] = a.begin.xi, a.end.xi
        found = kernels.along(course, step.at(theta), slopes, xi, ~(first | last), motion.constants)
        if found is None or not math.isfinite(np.add.reduce(np.abs(found[1]), axis=None)):
            return None
        motion.work.iterated(kernels.iterations)
        return system.v0(found[0].T, xi.T).T, system.v0(found[1].T, system.S @ xi.T).T
