"""Step-size control, the same for all one-step methods.

References: E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed., Springer 1993,
section II.4 (error norm, first step); E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed., Springer
1996, section IV.2 (PI control after Gustafsson).
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..kernels.stages import GIVEN, IMPLICIT, NEXT
from ..kernels.step_records import StepMethod
from ..kernels.steps import LEAST_ERROR, REACH, SMALLEST_STEP, growth, reduction
from .problem import Problem, StepFailure, StepSizeError
from .stages import StageKernel, new_stages, new_system
from .step import Step
from .work import Work

MOST_TRIALS = 100
"""Of one step. Reached near t = 0 only, where floats get arbitrarily dense."""
AFTER_FAILURE = 0.5
"""Factor after a trial that could not be evaluated."""

Outputs = Callable[[float, np.ndarray, np.ndarray], float]
"""(end of a step, the components there, (n,), estimates of its error, (k, n)) -> largest error of what follows from the
components, in units of its tolerance. May raise `StepFailure`."""
Resolution = Callable[[Step], float]
"""Step -> how far what is solved for at its points departs from a polynomial through its ends, in units of what may be."""


@dataclass(slots=True, eq=False)
class Demands:
    """What is demanded of steps; absolute tolerances may change from one to the next."""

    rtol: float
    atol: np.ndarray
    """Absolute tolerances (n,), positive where a component may vanish."""
    max_step: float = math.inf
    """Longest step, before it is stretched by at most 1 % to a limit. A method sees the rate at its stages only: keep
    steps below a small part (1/40) of the shortest period of an input, or a pulse may pass between the stages."""
    outputs: Outputs | None = None
    """Errors of what follows from the components, in units of their tolerances."""
    resolution: Resolution | None = None
    """Whether a step resolves what is solved for beside the components: up to one it does. May raise `StepFailure`."""

    def change(self, atol: np.ndarray) -> None:
        """Demand other absolute tolerances of the steps to come."""
        self.atol = atol


def longest_stretch(*points: float) -> float:
    """Middle of the longest stretch between points of a step."""
    at = np.sort(points)
    k = int(np.diff(at).argmax())
    return 0.5 * float(at[k] + at[k + 1])


class Stepper(ABC):
    """Integrates a problem by one accepted step at a time.

    Parameters
    ----------
    problem : Problem
    t : float
    y : (n,)
        Start; copied.
    demands : Demands
    first_step : float, optional
        Size of the first trial; estimated when None, which takes one more evaluation of the rate.
    span : float
        Length of the interval of interest: the unit of time where the problem does not show one.
    rate : (n,) array, optional
        Rate at the start where it is known.
    work : Work, optional
        Counters to go on with.
    kernel : callable, optional
        Number of stages -> what makes them natively, None where nothing does.

    Attributes
    ----------
    t, y
        Where the integration stands. `y` is replaced by each step, never changed in place.
    h : float
        Size proposed for the next step.
    steps : int
        Accepted steps.
    work : Work
        Rejected steps, calls of the rate and of the Jacobian, factorised matrices.

    Raises
    ------
    StepSizeError
        The rate cannot be evaluated at the start.

    Notes
    -----
    The error of a step is the root mean square of ``error / (atol + rtol max(|y0|, |y1|))`` over the n components. That of
    an output may be what the error of a single component then may be, sqrt(n) tolerances: one that is a multiple of a
    component asks for nothing new, one that amplifies an error or a difference does. A stepper assumes that the rate is
    smooth: make a new one after a discontinuity.
    """

    error_order: int
    """The estimated error is of this order in the step size."""
    count: int
    """Stages of a step, those that are only looked at included."""
    between: float
    """Part of a step in the middle of the longest stretch without a point that the method looks at."""
    method: StepMethod
    """The method as kernels read it."""

    def __init__(
        self,
        problem: Problem,
        t: float,
        y: np.ndarray,
        demands: Demands,
        *,
        first_step: float | None = None,
        span: float,
        rate: np.ndarray | None = None,
        work: Work | None = None,
        kernel: Callable[[int], StageKernel | None] | None = None,
    ) -> None:
        self.problem, self.demands = problem, demands
        self.t = float(t)
        self.y = np.array(y, dtype=float)
        self._errors = np.empty((0, self.y.size))
        self._kernel = None if kernel is None else kernel(self.count)
        self.stages = (
            self._kernel.stages if self._kernel else new_stages(self.count, self.y.size, new_system(0))
        )
        self.steps, self.work = 0, work or Work()
        self._size = np.abs(self.y)
        self._ratio: np.ndarray | None = None
        self._last_error = LEAST_ERROR
        self._rate = self.y
        self.h = math.inf if first_step is None else first_step
        if self.y.size:
            with np.errstate(all="ignore"):
                self._rate = self._initial_rate() if rate is None else rate
                self.h = self._first_step(span) if first_step is None else first_step

    @property
    def rate(self) -> np.ndarray:
        """Rate where the integration stands."""
        return self._rate

    def step(self, limit: float) -> Step:
        """One accepted step that ends at or before `limit`, and exactly there when it is near.

        Without components nothing but `resolution` limits it.

        Raises
        ------
        StepSizeError
            The step size became too small for the floating point numbers at `t`, or too many trials were rejected.
        """
        if not limit > self.t:
            raise ValueError(f"the limit {limit!r} does not lie after t = {self.t!r}")
        with np.errstate(all="ignore"):
            return self._accepted(limit)

    @property
    def last_error(self) -> float:
        """Error of the last step, which the size of the next one takes into account."""
        return self._last_error

    def resume(
        self, t: float, y: np.ndarray, rate: np.ndarray, h: float, last_error: float, steps: int
    ) -> None:
        """Go on behind so many steps that were made elsewhere, the last of them with this error."""
        self.t, self.y, self._rate, self._size = t, y, rate, np.abs(y)
        self.h, self._last_error = h, last_error
        self.steps += steps

    @abstractmethod
    def _advance(self, t1: float) -> tuple[np.ndarray, np.ndarray]:
        """Solution at `t1` and estimates of its error, (k, n). May raise `StepFailure`."""

    @abstractmethod
    def _rate_at(self, t1: float, y1: np.ndarray) -> np.ndarray:
        """Rate at the end of the last `_advance`, not shared. May raise `StepFailure`."""

    @abstractmethod
    def _dense(self, h: float) -> np.ndarray:
        """Coefficients (3, n) of the dense output of the last `_advance`, see `Step`."""

    def _evaluate(self, t: float, y: np.ndarray) -> np.ndarray:
        self.work.evaluated()
        return self.problem.rate(t, y)

    def _make_stages(
        self, times: np.ndarray, solve: Callable[[np.ndarray], np.ndarray] | None = None
    ) -> None:
        """Make all stages of a step at these times (s,); an implicit method solves its systems by ``solve``."""
        s, counts = self.stages, self.stages.counts
        counts[NEXT], counts[GIVEN], counts[IMPLICIT] = 0, 1, solve is not None
        s.begin[:], s.parts[0] = self.y, self._rate
        while True:
            if self._kernel is not None:
                self.work.evaluated(self._kernel.follow(times))
            else:
                k = int(counts[NEXT])
                if solve is not None:
                    s.parts[k] = solve(s.parts[k] + s.coupling[k, :k].dot(s.parts[:k]) + s.drifts[k])
                counts[NEXT] = k + 1
            k = int(counts[NEXT])
            if k == len(times):
                return
            s.arguments[k] = s.begin + s.weights[k, :k].dot(s.parts[:k])
            s.parts[k] = self._evaluate(float(times[k]), s.arguments[k])
            counts[GIVEN] = 1

    def _accepted(self, limit: float) -> Step:
        t, rejected = self.t, self.work.rejections
        h = max(min(self.h, self.demands.max_step), SMALLEST_STEP * math.ulp(t))
        while True:
            ends = h * REACH >= limit - t
            t1 = limit if ends else t + h
            error, step, rate = self._trial(t1)
            if step is not None and error <= 1.0:
                break
            h = self._reduced(t1 - t, error, self.work.rejections - rejected)
        # A step cut short by the limit says little about the size of the next one.
        least = h if ends else 0.0
        self.h = max(least, (t1 - t) * self._growth(error, self.work.rejections > rejected))
        if not ends or t1 - t >= h:
            self._last_error = max(error, LEAST_ERROR)
        self.steps += 1
        self.t, self.y, self._rate, self._size = t1, step.y1, rate, np.abs(step.y1)
        return step

    def _trial(self, t1: float) -> tuple[float, Step | None, np.ndarray]:
        """Error in units of the tolerance, the step to `t1`, and the rate there; the error is infinite without a step."""
        error, step, rate = 0.0, None, self._rate
        try:
            if self.y.size:
                error, y1 = self._tried(t1)
                if not error <= 1.0:
                    return error, None, rate
                rate = self._rate_at(t1, y1)
                if not np.isfinite(rate).all():
                    self._ratio = rate
                    return math.inf, None, rate
                step = Step(self.t, t1, self.y, y1, self._dense(t1 - self.t), self._errors)
                # Where numbers leave the range of doubles the way between both ends does so first.
                if not math.isfinite(float(np.add.reduce(np.abs(step.dense), axis=None))):
                    return math.inf, None, rate
            else:
                step = Step(self.t, t1, self.y, self.y, np.empty((3, 0)), self._errors)
            if self.demands.resolution is not None:
                error = max(error, self.demands.resolution(step))
        except StepFailure:
            self._ratio = None
            return math.inf, None, rate
        return error, step, rate

    def _tried(self, t1: float) -> tuple[float, np.ndarray]:
        """Error in units of the tolerance, and the solution at `t1`."""
        y1, self._errors = self._advance(t1)
        difference = np.abs(self._errors).max(axis=0)
        ratio = difference / (self.demands.atol + self.demands.rtol * np.maximum(self._size, np.abs(y1)))
        self._ratio = ratio
        error = math.sqrt(ratio.dot(ratio) / ratio.size)
        if error <= 1.0 and self.demands.outputs is not None:
            error = max(error, self.demands.outputs(t1, y1, self._errors) / math.sqrt(ratio.size))
        return error, y1

    def _growth(self, error: float, after_rejection: bool) -> float:
        """Factor from an accepted step to the next; never above one straight after a rejection."""
        return growth(error, self._last_error, self.error_order, after_rejection)

    def _reduced(self, h: float, error: float, trials: int) -> float:
        """Step size after a rejected trial of size `h`."""
        self.work.rejected()
        self.problem.forget()
        factor = reduction(error, self.error_order) if math.isfinite(error) else AFTER_FAILURE
        if h * factor < SMALLEST_STEP * math.ulp(self.t):
            raise StepSizeError("the step size became too small", self.t, self._worst(), h)
        if trials >= MOST_TRIALS:
            raise StepSizeError(f"{MOST_TRIALS} trials of one step were rejected", self.t, self._worst(), h)
        return h * factor

    def _worst(self) -> int | None:
        """Component with the largest error; one that is not a number counts as largest."""
        return None if self._ratio is None else int(np.argmax(np.abs(self._ratio)))

    def _initial_rate(self) -> np.ndarray:
        try:
            rate = np.array(self._evaluate(self.t, self.y), dtype=float)
        except StepFailure as failure:
            raise StepSizeError("the rate cannot be evaluated", self.t, None, 0.0) from failure
        if not np.isfinite(rate).all():
            raise StepSizeError("the rate is not finite", self.t, int(np.argmin(np.isfinite(rate))), 0.0)
        return rate

    def _first_step(self, span: float) -> float:
        """Estimate from the first two derivatives (section II.4), with `span` as the unit of time."""
        scale = self.demands.atol + self.demands.rtol * self._size
        norm = math.sqrt(self.y.size)
        size = float(np.linalg.norm(self.y / scale)) / norm
        slope = float(np.linalg.norm(self._rate / scale)) / norm * span
        h = 0.01 * span * size / slope if size >= 1e-5 and slope >= 1e-5 else 1e-6 * span
        h = min(h, span, self.demands.max_step)
        if not h > 0.0:
            worst = int(np.argmax(np.abs(self._rate / scale)))
            raise StepSizeError("the first step is too small", self.t, worst, sys.float_info.min)
        try:
            change = self._evaluate(self.t + h, self.y + h * self._rate) - self._rate
        except StepFailure:
            return h
        curvature = float(np.linalg.norm(change / scale)) / norm / h * span**2
        largest = max(slope, curvature)
        if not math.isfinite(largest):
            return h
        flat = largest <= 1e-15
        second = max(1e-6, h / span * 1e-3) if flat else (0.01 / largest) ** (1.0 / self.error_order)
        return min(100.0 * h, second * span, span, self.demands.max_step)
