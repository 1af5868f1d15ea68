"""Linearly implicit methods for stiff problems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels.step_records import StepMethod
from .linear import Shifted, shifted
from .problem import StepFailure, StepSizeError
from .rosenbrock_tableaus import RODAS5P
from .stepper import Stepper, longest_stretch

TIMES = np.append(RODAS5P.nodes, RODAS5P.probe)
"""Fractions of the step at which the rate is evaluated, that within it last."""
DRIFTS = np.append(RODAS5P.times, 0.0)


def _beside(square: np.ndarray, last: np.ndarray) -> np.ndarray:
    """A square matrix with one more row, and a column of zeros."""
    return np.column_stack([np.vstack([square, last]), np.zeros(len(square) + 1)])


ARGUMENTS = _beside(RODAS5P.a, RODAS5P.inside[0])
"""Weights of the stages in the arguments."""
COUPLING = _beside(RODAS5P.c, -RODAS5P.inside[1])
"""Weights of the stages, over the step size, beside the rates."""
METHOD = StepMethod(
    np.array([1, RODAS5P.error_order]), np.array([RODAS5P.gamma]), TIMES, ARGUMENTS, COUPLING, DRIFTS,
    np.array([1.0, -1.0])[:, None] * np.eye(len(TIMES))[-2:], np.column_stack([RODAS5P.dense, np.zeros(3)]),
    RODAS5P.stiff_error,
)  # fmt: skip
"""The method as kernels read it."""


class Rosenbrock(Stepper):
    """The Rosenbrock method Rodas5P, with the exact Jacobian, one factorisation a trial and no iteration.

    Parameters
    ----------
    *args, **options
        As in `Stepper`.
    """

    error_order = RODAS5P.error_order
    between = longest_stretch(*RODAS5P.nodes, RODAS5P.probe)
    method = METHOD

    count = len(TIMES)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._jacobian: Any = None
        self._drift = self.y
        self._linearised_at: float | None = None
        self._system: Shifted | None = None
        self._solve: Callable[[np.ndarray], np.ndarray] = np.negative

    @property
    def linearised(self) -> Any:
        """Jacobian at the start of the last step."""
        return self._jacobian

    def linearised_by(self, jacobian: np.ndarray) -> None:
        """Take the Jacobian at the start of the last of the steps that were made elsewhere."""
        self._jacobian, self._linearised_at = jacobian, None

    def _advance(self, t1: float) -> tuple[np.ndarray, np.ndarray]:
        stages, h = self.stages, t1 - self.t
        if self._linearised_at != self.t:
            self._linearise()
        self._factorise(1.0 / (RODAS5P.gamma * h))
        np.multiply.outer(h * DRIFTS, self._drift, out=stages.drifts)
        stages.weights[:] = ARGUMENTS
        np.divide(COUPLING, h, out=stages.coupling)
        self._make_stages(self.t + TIMES * h, self._solve)
        # That the last argument is the embedded solution is how such a method estimates its error. It cannot see what is between
        # the ends of a step: in stiff components both are right whatever lies there. The last stage finds that from the residual
        # of the dense output in the differential equation, which the matrix of the step turns into an error of the solution, for
        # slow and for fast components alike.
        y1 = stages.arguments[-2] + stages.parts[-2]
        return y1, np.array([stages.parts[-2], -stages.parts[-1]])

    def _rate_at(self, t1: float, y1: np.ndarray) -> np.ndarray:
        return np.array(self._evaluate(t1, y1), dtype=float)

    def _dense(self, h: float) -> np.ndarray:
        """The dense output without the error of stiff components inside the step, whose course is known where its size is.

        What a stiff component follows is far more exact at the ends than the polynomial is between them, and a small loss turns
        that difference into a flow. The error of slow components there has another course, and ``I - (I - gamma h J)^-1`` leaves
        none of it.
        """
        error = self._errors[1]
        stiff = error - self._solve(error.copy()) / (RODAS5P.gamma * h)
        return RODAS5P.dense.dot(self.stages.parts[:-1]) - np.multiply.outer(RODAS5P.stiff_error, stiff)

    def _linearise(self) -> None:
        """Jacobian and derivative by time at the start of a step; they serve all trials of it."""
        self.work.linearised()
        try:
            self._jacobian, self._drift = self.problem.jacobian(self.t, self.y)
        except StepFailure as failure:
            raise StepSizeError("the Jacobian cannot be evaluated", self.t, None, 0.0) from failure
        self._linearised_at = self.t

    def _factorise(self, shift: float) -> None:
        """Prepare the solver for the stages of a trial."""
        if self._system is None:
            small = None if self._kernel is None else self.stages.system
            self._system = shifted(self._jacobian, small)
            self._solve = self._system.solve
        self.work.factorised()
        self._system.factorise(shift, self._jacobian)
