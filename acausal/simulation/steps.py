"""The solution of one segment in steps of a solver, made as far as they are asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..flow.basis import Basis
from ..solvers import DormandPrince, Rosenbrock, Step, Stepper
from .forms import Forms
from .motion import Motion, Place, Selection

DEGREE = 5
POLYNOMIALS = Basis([(0.0, 0.0, 0.0, k) for k in range(DEGREE + 1)])
"""Powers of time: what forms are interpolated by within a step."""
FINE = 0.02
"""Error of the interpolation, relative to the distance of a form from zero, that needs no finer one."""
FINEST = 6
"""Halvings of a step for the interpolation of forms."""
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
QUARTER = 0.25 ** np.arange(DEGREE + 1) / np.array([math.factorial(k) for k in range(DEGREE + 1)])


@dataclass(slots=True, eq=False)
class Accepted:
    """A step with the coordinates it integrates and the points at its ends."""

    step: Step
    selection: Selection
    begin: Place
    end: Place


@dataclass(frozen=True, eq=False)
class Tolerances:
    """Relative tolerance, absolute one in units of the scale of each variable, and the longest step in seconds."""

    rtol: float
    atol: float
    longest: float


class Steps:
    """Accepted steps of a segment, extended on demand.

    Parameters
    ----------
    motion : Motion
        At its start, states selected.
    solver : str
        "explicit" or "implicit".
    length : float
        Of the segment, in seconds.
    """

    def __init__(self, motion: Motion, solver: str, tolerances: Tolerances, length: float) -> None:
        self.motion, self.length = motion, length
        self._solver, self.tolerances = SOLVERS[solver], tolerances
        self.accepted: list[Accepted] = []
        self._place = motion.last
        self._stepper = self._new(0.0, None)

    @property
    def reached(self) -> float:
        """Time up to which there are steps."""
        return self._stepper.t

    def _new(self, h: float, first: float | None) -> Stepper:
        motion, t = self.motion, self.tolerances
        states = motion.selection.states
        return self._solver(
            motion, h, self._place.X[states],
            rtol=t.rtol, atol=t.atol * motion.system.scale[states], max_step=t.longest, first_step=first, span=self.length,
        )  # fmt: skip

    def extend(self) -> Accepted:
        """One more step.

        Raises
        ------
        StepSizeError
        """
        motion = self.motion
        begin = motion.last = self._place
        step = self._stepper.step(self.length)
        end = motion.solve(step.t1, step.y1, motion.last, motion.selection)
        made = Accepted(step, motion.selection, begin, end)
        self.accepted.append(made)
        self._place = motion.last = end
        if motion.worn(end):
            motion.select(end)
            self._stepper = self._new(step.t1, self._stepper.h)
        return made

    def cut(self, h: float) -> None:
        """Forget what lies after ``h``."""
        self.accepted = [a for a in self.accepted if a.step.t0 < h]

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

    def inside(self, a: Accepted, h: float) -> Place:
        """The point at a time within a step."""
        step = a.step
        if h <= step.t0:
            return a.begin
        if h >= step.t1:
            return a.end
        theta = (h - step.t0) / (step.t1 - step.t0)
        near = a.begin if theta < 0.5 else a.end
        return self.motion.solve(h, step.at(np.array([theta]))[0], near, a.selection)


@dataclass(slots=True, eq=False)
class _Flow:
    basis: Basis


class Piece:
    """Forms on part of a step as polynomials of the time since its begin: what the scan for crossings reads."""

    flow = _Flow(POLYNOMIALS)

    def __init__(self, values: np.ndarray, length: float) -> None:
        self.reach = length
        self.C = (HERMITE @ values).T / length ** np.arange(DEGREE + 1)


class WatchedSteps:
    """The steps of a segment as pieces for `first_crossing`, integrated as the search proceeds."""

    reach = -1.0

    def __init__(
        self, steps: Steps, forms: Forms, floor: np.ndarray, report: Callable[[float], None]
    ) -> None:
        self._steps, self._forms, self._floor, self._report = steps, forms, floor, report

    def pieces(self, h_end: float) -> Iterator[tuple[float, Piece]]:
        """Starts and pieces until the end of the segment."""
        steps = self._steps
        end: np.ndarray | None = None
        while steps.reached < h_end:
            a = steps.extend()
            if not self._forms.count:
                continue
            begin = self._values(a, a.step.t0) if end is None else end
            end = self._values(a, a.step.t1)
            yield from self._split(a, a.step.t0, a.step.t1, begin, end, FINEST)
            self._report(a.step.t1)

    def _values(self, a: Accepted, h: float) -> np.ndarray:
        return self._forms.at(self._steps.motion, self._steps.inside(a, h))

    def _split(
        self, a: Accepted, h0: float, h1: float, begin: np.ndarray, end: np.ndarray, depth: int
    ) -> Iterator[tuple[float, Piece]]:
        """One piece, or two halves while the interpolation is too rough near zero."""
        length, middle = h1 - h0, 0.5 * (h0 + h1)
        inner = self._values(a, middle)
        nodes = np.vstack([begin[0], inner[0], end[0], length * np.vstack([begin[1], inner[1], end[1]])])
        piece = Piece(nodes, length)
        if depth and self._forms.count:
            quarter = self._values(a, 0.75 * h0 + 0.25 * h1)[0]
            error = np.abs(quarter - QUARTER @ (HERMITE @ nodes))
            near = np.abs(nodes[:3]).min(axis=0)
            if (error > np.maximum(FINE * near, self._floor)).any():
                yield from self._split(a, h0, middle, begin, inner, depth - 1)
                yield from self._split(a, middle, h1, inner, end, depth - 1)
                return
        yield h0, piece
