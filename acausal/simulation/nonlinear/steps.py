"""The solution of one segment in steps of a solver, made as far as they are asked for."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ...dynamics.automatic import Automatic, Stiffness
from ...dynamics.explicit import Explicit, Fastest
from ...dynamics.noise import StepNoise, lasting, rounded_states
from ...dynamics.problem import StepFailure, StepSizeError
from ...dynamics.rosenbrock import Rosenbrock
from ...dynamics.step import Step
from ...dynamics.stepper import Demands, Stepper
from ...reduction.rounding import UNIT
from ...values import frozen
from .accuracy import RESOLVED, Accuracy, Resolution, Tolerances, cubic, straight, terms
from .change_points import Bridge, bridge, singular_between
from .forms import Forms
from .left_out import require_left_out
from .motion import Motion, Place
from .newton import NewtonFailure
from .state_selection import DependentConstraints, Selection
from .system import NonlinearSystem

T = TypeVar("T")
SINGULAR_MARGIN = 1e-3
"""Distance from a singular point of the constraints at which a run ends, in lengths of the step that led beyond it."""
NEAR, FAR = 0.2, 1.5
"""Distances from a singular point ahead, in steps, between which a step would end next to it."""
STANDING = (UNIT / RESOLVED) ** 0.5
"""Least slope of a combination of the constraints, relative to that at the begin, at which rounding hides forces."""
LATER = 1.25
"""Distance of such a point, in units of that from the begin of a step to its longest stretch without stages, from which the next
step is to pass it."""
REACH = 1e-9
"""Rounding that makes no further step."""
TURN = 0.25
"""Longest step in periods of the fastest source where nothing is nonlinear: what the source does shows at the stages."""
PULSE = 0.025
"""The same where something is nonlinear: a pulse in every period, as of an exponential, may not pass between the stages."""
FLIGHTS = 2.0
"""Longest first step in times that a form needs to leave zero and come back."""
SOLVERS: dict[str, type[Stepper]] = {"explicit": Explicit, "implicit": Rosenbrock}


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


@dataclass(slots=True, eq=False)
class Singular:
    """The constraints may be singular before ``before``; nearer to it than ``margin``, or as short, there are no more steps."""

    before: float
    margin: float

    def reached(self, h: float, length: float) -> bool:
        """Whether a time is that near, or a step up to it as short: nearer to the point nothing may be found at all."""
        return min(self.before - h, length) <= self.margin


@frozen
class Span:
    """A time ``t``, the length until which to integrate from there, and the resolution of time."""

    t: float
    length: float
    resolution: float
    report: Callable[[float], object] | None = None
    """Called with the time after every accepted step."""


class Steps:
    """Accepted steps of a segment, extended on demand.

    Parameters
    ----------
    motion : Motion
        At its start, states selected.
    solver : str
        "explicit", "implicit", or "auto" for what the steps show to be the better one.
    span : Span
        Of the segment.
    forms : Forms
        What can end the segment.
    noise : StepNoise
        Their noise.
    size : (n,) array
        Largest magnitudes of the core unknowns so far.
    stiffness : Stiffness
        What is known of the mode, for "auto".
    """

    def __init__(
        self, motion: Motion, solver: str, tolerances: Tolerances, span: Span, forms: Forms, noise: StepNoise,
        size: np.ndarray, stiffness: Stiffness,
    ) -> None:  # fmt: skip
        self.motion, self._span, self.length, self.forms = motion, span, span.length, forms
        self._of = unknowns_of(motion.system)
        self.size = np.maximum(np.abs(motion.last.X), np.where(self._of >= 0, size[self._of], 0.0))
        """Largest magnitudes of the coordinates so far."""
        motion.grow(self.size)
        self.accuracy = Accuracy(motion, forms, tolerances, noise) if forms.count else None
        self._solves = bool(motion.system.m or motion.system.constraints)
        self._resolution = Resolution(motion, tolerances.rtol) if self._solves and motion.batched else None
        self._solver, self.tolerances, self._stiffness = SOLVERS.get(solver), tolerances, stiffness
        self.accepted: list[Accepted] = []
        self.passed = self.lasting = 0.0
        """Time up to which nothing has crossed, and for how long rounding of the states so far stays: a short step ends none."""
        self._in_arrays: tuple[int, Any] = (0, None)
        self.begin = self._place = motion.last
        motion.accept(motion.last)
        self._singular: Singular | None = None
        self._bridge: Bridge | None = None
        """Over the change point within the step tried last."""
        self._ahead = math.inf
        """Seconds from the end of the last step to where constraints are singular if they go on as over that step."""
        self._volume = self._largest = 1.0
        """Volume of the derivatives of the constraints, in units of that at the begin, and the largest one so far."""
        self._bare = not motion.selection.states.size
        self._longest = self._most()
        self._stepper = self._new(0.0, None)
        flight = math.inf if self.accuracy is None else self.accuracy.flight(self._stepper.h, span.resolution)
        self._first = FLIGHTS * flight
        """Longest first step. What leaves zero and is soon back would be lost in what a long one rounds."""

    @property
    def started(self) -> float:
        """Time of the run at which the segment begins."""
        return self._span.t

    @property
    def reached(self) -> float:
        """Time up to which there are steps."""
        return self._stepper.t

    @property
    def end(self) -> Place:
        """The point up to which steps are accepted."""
        return self._place

    @property
    def fastest(self) -> Fastest | None:
        """What holds the steps of the explicit method, where its stability did for long."""
        return self._stepper.fastest if isinstance(self._stepper, Explicit) else None

    def _new(self, h: float, first: float | None) -> Stepper | Automatic:
        motion, y = self.motion, self._place.X[self.motion.selection.states]
        resolution = self._resolved if self._solves else None
        self._demands = Demands(
            self.tolerances.rtol, self._absolute(), self._longest, self.accuracy, resolution
        )
        options: dict[str, Any] = {"first_step": first, "span": self.length, "work": motion.work}
        options |= {"kernel": motion.stage_kernel}
        if self._solver is None:
            return Automatic(motion, h, y, self._demands, stiffness=self._stiffness, **options)
        return self._solver(motion, h, y, self._demands, **options)

    def _most(self) -> float:
        """Longest step that misses nothing which comes and goes with the sources."""
        motion = self.motion
        if not len(motion.system.mode.nonlinear):
            return TURN * motion.period
        most = PULSE * motion.period
        return min(most, self.tolerances.longest) if self._bare or motion.returns else most

    def sizes(self, size: np.ndarray) -> None:
        """Take the largest magnitudes of the segment over to those of the core unknowns."""
        known = self._of >= 0
        size[self._of[known]] = self.size[known]

    def _absolute(self) -> np.ndarray:
        system, states = self.motion.system, self.motion.selection.states
        found = self.tolerances.absolute(self.size[states], system.scale[states])
        # A state that is small because large terms of its rate cancel is no more exact than these are.
        return found if self._solves or self._bare else np.maximum(found, self._rounded()[states])

    def _rounded(self) -> np.ndarray:
        """Rounding of the coordinates that follow quickly what their rates cancel to; others keep what they are."""
        system, place = self.motion.system, self._place
        rates = abs(system.rate_of_states)
        terms = rates @ np.abs(place.X) + abs(system.rate_of_sources) @ np.abs(place.xi)
        return rounded_states(rates, terms, place.h - self.accepted[-1].step.t0 if self.accepted else 0.0)

    def extend(self) -> Accepted:
        """One more step.

        Raises
        ------
        StepSizeError, NewtonFailure
        """
        motion, begin = self.motion, self._place
        step, end = self._made(begin)
        require_left_out(motion, end)
        known = self._resolution
        made = Accepted(step, motion.selection, begin, end, self._bridge)
        self.accepted.append(made)
        self._place = end
        motion.accept(end)
        length = step.t1 - step.t0
        self.lasting = max(lasting(length, self.tolerances.rtol), self.lasting - length)
        if self.accuracy is not None:
            self.accuracy.begin(end, self.lasting)
        if known is not None:
            known.accept(begin, end)
        if motion.system.constraints:
            self._approach(begin, end)
        begin.release()
        np.maximum(self.size, np.abs(end.X), out=self.size)
        motion.grow(self.size)
        self._demands.change(self._absolute())
        if motion.worn(end):
            motion.select(end)
            self._stepper = self._new(step.t1, self._stepper.h)
        return made

    def in_arrays(self, make: Callable[[Steps], T]) -> T:
        """What ``make`` makes of the accepted steps; made anew once there are more."""
        if self._in_arrays[0] != len(self.accepted):
            self._in_arrays = len(self.accepted), make(self)
        return self._in_arrays[1]

    def pass_on(self) -> None:
        """Tell those who look after each step that nothing has crossed within the last one."""
        self.passed = self.reached
        if self._span.report is not None:
            self._span.report(self._span.t + self.passed)

    def _made(self, begin: Place) -> tuple[Step, Place]:
        """A step, and the point at its end."""
        motion = self.motion
        motion.accept(begin)
        length = begin.h - self.accepted[-1].step.t0 if self.accepted else math.inf
        if self._singular is not None and self._singular.reached(begin.h, length):
            raise DependentConstraints
        try:
            step = self._stepper.step(min(self._limit(begin.h), self._beside(begin.h), self._first))
        except StepSizeError:
            if self._singular is not None:
                raise DependentConstraints from None
            raise
        self._first = math.inf
        if self._singular is not None and (self._bridge is not None or step.t1 >= self._singular.before):
            # The point is passed; or the plane turned quickly, and did not turn over.
            self._singular = None
        return step, motion.found(step.t1, step.y1)

    def _resolved(self, step: Step) -> float:
        """How far a step departs from what it resolves; one that ends where nothing is, or beyond a singular point, fails.

        A change point within it is passed on the branch on which the motion has come.
        """
        motion, begin, self._bridge = self.motion, self.motion.accepted, None
        try:
            end = motion.found(step.t1, step.y1)
            points = singular_between(motion, begin, end)
            if points == 1:
                self._bridge = bridge(motion, begin, end, step, self.tolerances.rtol)
            if points == 0 or self._bridge is not None:
                departs = 0.0 if self._resolution is None else self._resolution(step, end)
                if points == 0 or departs <= 1.0:
                    return departs
        except NewtonFailure as failure:
            raise motion.failed(failure) from failure
        if points == 1:
            known, length = self._singular, step.t1 - step.t0
            self._singular = Singular(step.t1, SINGULAR_MARGIN * length if known is None else known.margin)
        raise StepFailure("singular")

    def _approach(self, begin: Place, end: Place) -> None:
        """Note how the volume of the constraints changes over a step; where it stays next to none the run ends."""
        motion, length = self.motion, end.h - begin.h
        left = motion.selections.shrunk(motion.scaled_slopes(begin), motion.scaled_slopes(end))
        self._ahead = length * left / (1.0 - left) if left < 1.0 else math.inf
        self._volume *= left
        self._largest = max(self._largest, self._volume)
        if self._volume <= STANDING * self._largest:
            # That of many constraints may be small where none of them depends on others.
            least, before = (motion.selections.least(motion.scaled_slopes(p)) for p in (end, self.begin))
            if least <= STANDING * before:
                raise DependentConstraints

    def _beside(self, h: float) -> float:
        """End of a step from ``h`` so that it, or the next one, passes a singular point ahead between its stages."""
        stepper, ahead = self._stepper, self._ahead
        part, steps = stepper.between, ahead / stepper.h
        if not NEAR < steps < FAR:
            return math.inf
        # In the middle of that stretch: what rounding hides grows with a high power of one over the distance of the ends.
        return h + (ahead / part if steps < LATER * part else ahead - part * stepper.h)

    @property
    def bridge(self) -> Bridge | None:
        """What leads over the first change point that was passed; None without any."""
        return next((a.bridge for a in self.accepted if a.bridge is not None), None)

    def _limit(self, h: float) -> float:
        """End of a step from ``h``, without states at equal parts of the rest."""
        if not self._bare:
            return self.length
        count = math.ceil((self.length - h) / self._longest * (1.0 - REACH))
        return self.length if count <= 1 else h + (self.length - h) / count

    def cut(self, h: float) -> None:
        """End the segment at ``h``, and forget what lies after it.

        A record keeps the times of the run at both ends, whose difference may be a rounding less than ``h``: what reads the end
        looks there.
        """
        self.length = self.started + h - self.started
        self.accepted = [a for a in self.accepted if a.step.t0 < h]

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
            curved = self._resolution is not None
            a.course = cubic(self.motion, a.begin, a.end) if curved else straight(a.begin, a.end)
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


def unknowns_of(system: NonlinearSystem) -> np.ndarray:
    """Core unknown that every coordinate is, -1 for a derivative."""
    opened, p = system.mode, system.orders.unknowns
    h = np.where(opened.slopes, -1, opened.open)
    return np.concatenate([opened.states, h[p >= 1], np.full(np.count_nonzero(p >= 2), -1)])
