"""The solution of one segment in steps of a solver, made as far as they are asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dynamics.automatic import Automatic, Stiffness
from ...dynamics.closed_form import Basis
from ...dynamics.dormand_prince import DormandPrince
from ...dynamics.noise import StepNoise, rounded_states
from ...dynamics.problem import StepFailure, StepSizeError
from ...dynamics.rosenbrock import Rosenbrock
from ...dynamics.step import Step
from ...dynamics.stepper import Demands, Stepper
from ...values import frozen
from .accuracy import Accuracy, Resolution, Tolerances, cubic, straight
from .forms import Forms
from .left_out import require_left_out
from .motion import Motion, Place
from .newton import NewtonFailure
from .state_selection import DependentConstraints, Selection
from .system import NonlinearSystem
from .turns import doubtful_turn, lowest

DEGREE = 5
POLYNOMIALS = Basis([(0.0, 0.0, 0.0, k) for k in range(DEGREE + 1)])
"""Powers of time: what forms are interpolated by within a step."""
FINE = 0.02
"""Error of the interpolation, relative to the distance of a form from zero, that needs no finer one."""
SINGULAR_MARGIN = 1e-3
"""Distance from a singular point of the constraints at which a run ends, in lengths of the step that led beyond it."""
REACH = 1e-9
"""Rounding that makes no further step."""
FINEST = 10
"""Halvings of a step for the interpolation of forms."""
TURN = 0.25
"""Longest step in periods of the fastest source where nothing is nonlinear: what the source does shows at the stages."""
PULSE = 0.025
"""The same where something is nonlinear: a pulse in every period, as of an exponential, may not pass between the stages."""
SOLVERS: dict[str, type[Stepper]] = {"explicit": DormandPrince, "implicit": Rosenbrock}


def _hermite() -> np.ndarray:
    """From values and slopes at 0, 1/2, 1 to derivatives at 0, in units of the length of the step."""
    theta = np.array([0.0, 0.5, 1.0])
    powers = np.arange(DEGREE + 1)
    values = theta[:, None] ** powers
    slopes = powers * theta[:, None] ** np.maximum(powers - 1, 0)
    factorial = np.array([math.factorial(int(k)) for k in powers])
    return factorial[:, None] * np.linalg.inv(np.vstack([values, slopes]))


HERMITE = _hermite()
INSIDE = np.array([0.25, 0.5, 0.75, 1.0])
QUARTERS = (
    np.power.outer(INSIDE[::2], np.arange(DEGREE + 1))
    / [math.factorial(k) for k in range(DEGREE + 1)]
    @ HERMITE
)
"""From the same to the interpolation at 1/4 and 3/4."""
STRAIGHT = np.outer([1.0, 0.5, 0.0, -1.0, -1.0, -1.0], np.eye(6)[0]) + np.outer(
    [0.0, 0.5, 1.0, 1.0, 1.0, 1.0], np.eye(6)[2]
)
"""From the same to those of the straight line between the ends."""
SINKING = np.array([[0.0], [-1.0], [-2.0], [-2.0], [-2.0], [-2.0]])
"""A straight line that leaves zero."""


@dataclass(slots=True, eq=False)
class Accepted:
    """A step with the coordinates it integrates, and the points at its ends."""

    step: Step
    selection: Selection
    begin: Place
    end: Place
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
        motion.size = self.size
        self.accuracy = Accuracy(motion, forms, tolerances, noise) if forms.count else None
        self._solves = bool(motion.system.m or motion.system.constraints)
        self._resolution = Resolution(motion, tolerances.rtol) if self._solves and motion.batched else None
        self._solver, self.tolerances, self._stiffness = SOLVERS.get(solver), tolerances, stiffness
        self.accepted: list[Accepted] = []
        self.stacked: Any = None
        """The accepted steps in arrays, once many points were asked for."""
        self.begin = self._place = motion.last
        motion.accept(motion.last)
        self._singular: Singular | None = None
        self._bare = not motion.selection.states.size
        self._longest = self._most()
        self._stepper = self._new(0.0, None)

    @property
    def reached(self) -> float:
        """Time up to which there are steps."""
        return self._stepper.t

    @property
    def end(self) -> Place:
        """The point up to which steps are accepted."""
        return self._place

    def _new(self, h: float, first: float | None) -> Stepper | Automatic:
        motion, y = self.motion, self._place.X[self.motion.selection.states]
        resolution = self._resolved if self._solves else None
        self._demands = Demands(
            self.tolerances.rtol, self._absolute(), self._longest, self.accuracy, resolution
        )
        options: dict[str, Any] = {"first_step": first, "span": self.length, "work": motion.work}
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
        made = Accepted(step, motion.selection, begin, end)
        self.accepted.append(made)
        self._place = end
        motion.accept(end)
        if self.accuracy is not None:
            self.accuracy.begin(end)
        if known is not None:
            known.accept(begin, end)
        begin.linear = None
        np.maximum(self.size, np.abs(end.X), out=self.size)
        self._demands.atol = self._absolute()
        if motion.worn(end):
            motion.select(end)
            self._stepper = self._new(step.t1, self._stepper.h)
        if self._span.report is not None:
            self._span.report(self._span.t + step.t1)
        return made

    def _made(self, begin: Place) -> tuple[Step, Place]:
        """A step, and the point at its end."""
        motion = self.motion
        motion.accept(begin)
        length = begin.h - self.accepted[-1].step.t0 if self.accepted else math.inf
        if self._singular is not None and self._singular.reached(begin.h, length):
            raise DependentConstraints
        try:
            step = self._stepper.step(self._limit(begin.h) if self._bare else self.length)
        except StepSizeError:
            if self._singular is not None:
                raise DependentConstraints from None
            raise
        if self._singular is not None and step.t1 >= self._singular.before:
            # The plane turned quickly, and did not turn over.
            self._singular = None
        return step, motion.found(step.t1, step.y1)

    def _resolved(self, step: Step) -> float:
        """How far a step departs from what it resolves; one that ends where nothing is, or beyond a singular point, fails."""
        motion, begin = self.motion, self.motion.accepted
        try:
            end = motion.found(step.t1, step.y1)
            if not motion.overturned(begin, end):
                return 0.0 if self._resolution is None else self._resolution(step, end)
        except NewtonFailure as failure:
            raise motion.failed(failure) from failure
        known, length = self._singular, step.t1 - step.t0
        self._singular = Singular(step.t1, SINGULAR_MARGIN * length if known is None else known.margin)
        raise StepFailure("singular")

    def _limit(self, h: float) -> float:
        """End of a step from ``h`` without states: equal parts of the rest."""
        count = math.ceil((self.length - h) / self._longest * (1.0 - REACH))
        return self.length if count <= 1 else h + (self.length - h) / count

    def cut(self, h: float) -> None:
        """Forget what lies after ``h``."""
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

    def place(self, h: float) -> Place:
        """The point at a time within the steps made."""
        return self.inside(self.at(h), h)

    def at(self, h: float) -> Accepted:
        """The step that holds a time."""
        low, high = 0, len(self.accepted) - 1
        while low < high:
            middle = (low + high) // 2
            if self.accepted[middle].step.t1 < h:
                low = middle + 1
            else:
                high = middle
        return self.accepted[low]

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
        theta = (h - step.t0) / (step.t1 - step.t0)
        y, guess = step.at(theta), self.motion.guessed(self.course(a).at(theta), h)
        for near in (guess, a.begin):
            try:
                return self.motion.solve(h, y, near, a.selection)
            except NewtonFailure:
                continue
        return self.motion.solve(h, y, a.end, a.selection)

    def jets_at(self, h: float) -> tuple[np.ndarray, np.ndarray]:
        """``v`` and its time derivative at one time within the steps made."""
        return self.motion.jets(self.place(h))

    def jets(self, a: Accepted, hs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``v`` and its derivative along the step at times ``hs`` (k,) within it, (k, nv) each."""
        motion, step = self.motion, a.step
        theta = (hs - step.t0) / (step.t1 - step.t0)
        slopes = step.slope(theta)
        if motion.system.m or motion.system.constraints:
            places = [self.inside(a, h) for h in hs.tolist()]
            found = [motion.along(p, s, a.selection) for p, s in zip(places, slopes, strict=True)]
            return np.array([v for v, _ in found]), np.array([v for _, v in found])
        X = step.at(theta)
        X[hs >= step.t1] = step.y1
        return motion.free_along(hs, X, slopes)


def unknowns_of(system: NonlinearSystem) -> np.ndarray:
    """Core unknown that every coordinate is, -1 for a derivative."""
    opened, p = system.mode, system.orders.unknowns
    h = np.where(opened.slopes, -1, opened.open)
    return np.concatenate([opened.states, h[p >= 1], np.full(np.count_nonzero(p >= 2), -1)])


@dataclass(slots=True, eq=False)
class _Flow:
    basis: Basis


class StepPiece:
    """Forms on part of a step as polynomials of the time since its begin: what the scan for crossings reads."""

    flow = _Flow(POLYNOMIALS)

    def __init__(self, values: np.ndarray, length: float) -> None:
        self.reach = length
        self.C = (HERMITE @ values).T / length ** np.arange(DEGREE + 1)


class WatchedSteps:
    """The steps of a segment as pieces for `first_crossing`, integrated as the search proceeds."""

    reach = -1.0

    def __init__(self, steps: Steps, forms: Forms, noise: StepNoise, open_at_zero: np.ndarray) -> None:
        self.steps, self._forms, self.noise = steps, forms, noise
        self._open_at_zero = open_at_zero
        self.highest = np.full(forms.count, -math.inf)
        """Largest values of the forms at the ends and middles of pieces."""
        self.piece = 0.0, 0.0
        """Begin and end of the last piece."""
        self.vanished = np.zeros(forms.count, bool)
        """Forms that were positive and lie at zero along the last piece, where they are not in force any more."""
        self.nonzero = np.zeros(forms.count)
        """Begins of the last pieces in which the forms were not zero throughout."""

    def pieces(self, h_end: float) -> Iterator[tuple[float, StepPiece]]:
        """Starts and pieces until the end of the segment."""
        steps = self.steps
        while steps.reached < h_end:
            a = steps.extend()
            if not self._forms.count:
                continue
            yield from self._split(a, a.step.t0, a.step.t1, None, FINEST)

    def _values(self, a: Accepted, hs: np.ndarray) -> np.ndarray:
        """Forms and their slopes, (k, 2, forms)."""
        return self._forms.at(self.steps.motion, *self.steps.jets(a, hs))

    def _split(
        self, a: Accepted, h0: float, h1: float, begin: np.ndarray | None, depth: int
    ) -> Generator[tuple[float, StepPiece], None, np.ndarray]:
        """One piece, or two halves while the interpolation is too rough near zero; returns the values at the end.

        Those at its begin are evaluated with the others where they are not known.
        """
        length = h1 - h0
        times = np.append(h0, h0 + length * INSIDE)
        times[-1] = h1
        try:
            if begin is None:
                values = self._values(a, times)
            else:
                values = np.concatenate([begin[None], self._values(a, times[1:])])
        except NewtonFailure:
            # A crossing may lie before the place where a form has no value.
            if not depth:
                raise
            half = h0 + 0.5 * length
            middle = yield from self._split(a, h0, half, begin, depth - 1)
            return (yield from self._split(a, half, h1, middle, depth - 1))
        nodes = np.vstack([values[::2, 0], length * values[::2, 1]])
        error = np.abs(QUARTERS @ nodes - values[1::2, 0]).max(axis=0)
        near = np.abs(nodes[:3]).min(axis=0)
        turn = self._turn(a, times, values, error)
        if turn is not None and depth:
            lowest = yield from self._split(a, h0, turn, values[0], depth - 1)
            return (yield from self._split(a, turn, h1, lowest, depth - 1))
        rough = error > np.maximum(FINE * near, self.noise.floor)
        if rough.any():
            if depth:
                middle = yield from self._split(a, h0, float(times[2]), values[0], depth - 1)
                return (yield from self._split(a, float(times[2]), h1, middle, depth - 1))
            # Beside a bend the quintic swings beyond values that the form does not have.
            nodes = np.where(rough, STRAIGHT @ nodes, nodes)
        np.maximum(self.highest, nodes[:3].max(axis=0), out=self.highest)
        zero = ~nodes.any(axis=0)
        self.nonzero[~zero] = h0
        self.vanished = zero & self._open_at_zero & (self.highest > self.noise.floor)
        if self.vanished.any():
            nodes = np.where(self.vanished, SINKING * np.maximum(self.noise.floor, self.noise.touch), nodes)
        self.piece = h0, h1
        yield h0, StepPiece(nodes, length)
        return values[-1]

    def _turn(self, a: Accepted, hs: np.ndarray, nodes: np.ndarray, error: np.ndarray) -> float | None:
        """Time at which a form turns so near zero that its interpolation does not tell the side; None without any."""
        found = doubtful_turn(hs, nodes, error, self.noise)
        if found is None:
            return None
        i, k = found
        try:
            return lowest(
                lambda h: float(self._values(a, np.array([h]))[0, 1, k]),
                (float(hs[i]), float(nodes[i, 1, k])),
                (float(hs[i + 1]), float(nodes[i + 1, 1, k])),
                float(self.noise.touch[k]),
            )
        except NewtonFailure:
            return None
