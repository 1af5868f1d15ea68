"""The solution of one segment in steps of a solver, made as far as they are asked for."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dynamics.automatic import Automatic, Stiffness
from ...dynamics.explicit import Explicit, Fastest
from ...dynamics.noise import TWICE, StepNoise, lasting, rounded_states
from ...dynamics.problem import StepFailure, StepSizeError
from ...dynamics.rosenbrock import Rosenbrock
from ...dynamics.step import Step
from ...dynamics.stepper import Demands, Stepper
from ...kernels import steps as rows
from ...values import frozen
from .accepted_steps import Accepted, AcceptedSteps
from .accuracy import Accuracy, Resolution, Tolerances
from .change_points import Bridge, bridge, singular_between
from .forms import Forms
from .left_out import require_left_out
from .motion import Motion, Place
from .newton import NewtonFailure
from .quiet_steps import QuietSteps, RowControl, RowDemands
from .state_selection import DependentConstraints
from .system import NonlinearSystem

SINGULAR_MARGIN = 1e-3
"""Distance from a singular point of the constraints at which a run ends, in lengths of the step that led beyond it."""
LATER = 1.25
"""Distance of such a point, in units of that from the begin of a step to its longest stretch without stages, from which the next
step is to pass it."""
REACH = 1e-9
"""Rounding that makes no further step."""
TURN = 0.25
"""Longest step in periods of the fastest source where nothing is nonlinear: what the source does shows at the stages."""
PULSE = 0.025
"""The same where something is nonlinear: a pulse in every period, as of an exponential, may not pass between the stages."""
MOST_DOUBTS = 2
"""Times in a row that steps ask for a closer look, up to which the kernel is asked ever more seldom."""
FLIGHTS = 2.0
"""Longest first step in times that a form needs to leave zero and come back."""
SOLVERS: dict[str, type[Stepper]] = {"explicit": Explicit, "implicit": Rosenbrock}


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
    """Called with the time after accepted steps."""
    each: bool = False
    """After every one."""


class Steps(AcceptedSteps):
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
    first : float, optional
        Size of the first step that is tried; estimated by default.
    """

    def __init__(
        self, motion: Motion, solver: str, tolerances: Tolerances, span: Span, forms: Forms, noise: StepNoise,
        size: np.ndarray, stiffness: Stiffness, first: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__(motion, forms)
        self._span, self.started, self.length, self._place = span, span.t, span.length, self.begin
        self._of = unknowns_of(motion.system)
        self.size = largest_so_far(motion, size)
        """Largest magnitudes of the coordinates so far."""
        motion.grow(self.size)
        self.accuracy = Accuracy(motion, forms, tolerances, noise) if forms.count else None
        self._noise = noise
        self._solves = bool(motion.system.m or motion.system.constraints)
        self._resolution = Resolution(motion, tolerances.rtol) if self.curved else None
        self._solver, self.tolerances, self._stiffness = SOLVERS.get(solver), tolerances, stiffness
        self.passed = self.lasting = 0.0
        """Time up to which nothing has crossed, and for how long rounding of the states so far stays: a short step ends none."""
        motion.accept(motion.last)
        self._singular: Singular | None = None
        self._bridge: Bridge | None = None
        """Over the change point within the step tried last."""
        self._ahead = math.inf
        """Seconds from the end of the last step to where constraints are singular if they go on as over that step."""
        self._volume = self._largest = 1.0
        """Volume of the derivatives of the constraints, in units of that at the begin, and the largest one so far."""
        self._bare = not motion.selection.states.size
        self._doubts = self._waits = 0
        """How often in a row no step was made by a kernel, and after how many more steps that is tried again."""
        self._longest = longest_step(motion, tolerances)
        self._stepper = self._new(0.0, first)
        flight = math.inf if self.accuracy is None else self.accuracy.flight(self._stepper.h, span.resolution)
        self._first = FLIGHTS * flight
        """Longest first step. What leaves zero and is soon back would be lost in what a long one rounds."""

    @property
    def grown(self) -> float | None:
        """Size of the step behind the first one: that with which the next segment of the mode may begin; None without steps."""
        if len(self.accepted) > 2:  # The last one may be cut short by the end of the segment.
            return self.accepted[1].step.t1 - self.accepted[1].step.t0
        return self._stepper.h if self.accepted else None

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

    def follow_row(self) -> bool:
        """Have a kernel make steps as long as none asks for a closer look, and no form is near zero; whether it has made some."""
        motion, known, begin = self.motion, self._resolution, self._place
        if self._waits:
            self._waits -= 1
            return False
        closer = self._first < math.inf or self._singular is not None
        alone = self._span.each or self._bare or not motion.batched
        room = None if closer or alone else self._room()
        if room is None:
            return False
        so_far = (0.0, 0.0, np.zeros(len(begin.y))) if known is None else known.so_far
        control = RowControl(self.size, *so_far, self._volume, self._largest, self._ahead)
        least = self.tolerances.absolute(
            np.zeros(len(self._demands.atol)), motion.system.scale[motion.selection.states]
        )
        if not self._solves:
            least = np.maximum(least, self._rounded()[motion.selection.states])
        motion.accept(begin)
        demands = RowDemands(self.length, self.tolerances, least, *self._floor())
        made = room.follow(motion, self._stepper, control, demands)
        self._doubts = 0 if made else min(self._doubts + 1, MOST_DOUBTS)
        self._waits = 2**self._doubts - 1
        for step, end in made:
            self.accepted.append(Accepted(step, motion.selection, begin, end))
            begin, length = end, step.t1 - step.t0
            self.lasting = max(lasting(length, self.tolerances.rtol), self.lasting - length)
        if made:
            self._place, self.size = begin, control.size
            self._volume, self._largest, self._ahead = control.volume, control.largest_volume, control.ahead
            if known is not None:
                known.resume(control.longest, control.usual, control.moved)
            if self.accuracy is not None:
                self.accuracy.resume(self.accepted[-1].begin, begin, self.lasting, room.errors)
            self._renew()
        return bool(made)

    def _floor(self) -> tuple[float, float, np.ndarray]:
        """Length of the last step, zero for none, then a length and what counts as zero of the forms after a step of that."""
        noise, last = self._noise, self.accepted[-1].step if self.accepted else None
        floor = np.maximum(noise.floor, noise.touch)
        if last is not None:
            return last.t1 - last.t0, last.t1 - last.t0, floor
        h = self._stepper.h
        return 0.0, h, floor + TWICE * noise.drift(lasting(h, self.tolerances.rtol))

    def _room(self) -> QuietSteps | None:
        stepper = self._stepper.stepper if isinstance(self._stepper, Automatic) else self._stepper
        return QuietSteps.of(self.motion, stepper.method, self.forms)

    def _renew(self) -> None:
        """Suit tolerances and states to the point reached."""
        motion, end = self.motion, self._place
        motion.grow(self.size)
        self._demands.change(self._absolute())
        if motion.worn(end):
            motion.select(end)
            self._stepper = self._new(end.h, self._stepper.h)

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
        self._renew()
        return made

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
        if self._volume <= rows.STANDING * self._largest:
            # That of many constraints may be small where none of them depends on others.
            least, before = (motion.selections.least(motion.scaled_slopes(p)) for p in (end, self.begin))
            if least <= rows.STANDING * before:
                raise DependentConstraints

    def _beside(self, h: float) -> float:
        """End of a step from ``h`` so that it, or the next one, passes a singular point ahead between its stages."""
        stepper, ahead = self._stepper, self._ahead
        part, steps = stepper.between, ahead / stepper.h
        if not rows.NEAR < steps < rows.FAR:
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


def longest_step(motion: Motion, tolerances: Tolerances) -> float:
    """Longest step that misses nothing which comes and goes with the sources."""
    if not len(motion.system.mode.nonlinear):
        return TURN * motion.period
    most = PULSE * motion.period
    return min(most, tolerances.longest) if not motion.selection.states.size or motion.returns else most


def largest_so_far(motion: Motion, size: np.ndarray) -> np.ndarray:
    """Largest magnitudes (nX,) of the coordinates, where those of the core unknowns so far are ``size`` (n,)."""
    of = unknowns_of(motion.system)
    return np.maximum(np.abs(motion.last.X), np.where(of >= 0, size[of], 0.0))


def unknowns_of(system: NonlinearSystem) -> np.ndarray:
    """Core unknown that every coordinate is, -1 for a derivative."""
    opened, p = system.mode, system.orders.unknowns
    h = np.where(opened.slopes, -1, opened.open)
    return np.concatenate([opened.states, h[p >= 1], np.full(np.count_nonzero(p >= 2), -1)])
