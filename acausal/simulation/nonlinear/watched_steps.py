"""Guards and relations along the steps of a segment: what the search for crossings reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass

import numpy as np

from ...dynamics.closed_form import Basis
from ...dynamics.noise import StepNoise
from ...values import frozen
from .accepted_steps import Accepted
from .forms import Forms
from .motion import Motion
from .newton import NewtonFailure
from .steps import Steps
from .turns import doubtful_turn, lowest

DEGREE = 5
POLYNOMIALS = Basis([(0.0, 0.0, 0.0, k) for k in range(DEGREE + 1)])
"""Powers of time: what forms are interpolated by within a step."""
FINE = 0.02
"""Error of the interpolation, relative to the distance of a form from zero, that needs no finer one."""
FINEST = 10
"""Halvings of a step for the interpolation of forms."""


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
class _Flow:
    basis: Basis


class StepPiece:
    """Forms on part of a step as polynomials of the time since its begin: what the scan for crossings reads."""

    flow = _Flow(POLYNOMIALS)

    def __init__(self, values: np.ndarray, length: float) -> None:
        self.reach = length
        self.C = (HERMITE @ values).T / length ** np.arange(DEGREE + 1)


@frozen
class Watched:
    """Forms that can end a segment.

    Attributes
    ----------
    which : list of int
        Numbers of the forms among all of the mode.
    armed : (forms,) array of bool
        The form leaves zero into the positive.
    open_at_zero : (forms,) array of bool
        The form is not in force any more where it comes to lie at zero.
    noise : callable
        Motion -> noise of the forms.
    """

    forms: Forms
    which: list[int]
    armed: np.ndarray
    open_at_zero: np.ndarray
    noise: Callable[[Motion], StepNoise]


class WatchedSteps:
    """The steps of a segment as pieces for `first_crossing`, integrated as the search proceeds."""

    flow = StepPiece.flow

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
            clear = steps.follow_row()
            a = steps.accepted[-1] if clear else steps.extend()
            # Behind a row at the end of the segment no search goes on.
            if self._forms.count and not (clear and steps.reached >= h_end):
                yield from self._split(a, a.step.t0, a.step.t1, None, FINEST)
            steps.pass_on()

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
