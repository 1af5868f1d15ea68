"""Linearly implicit methods for stiff problems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .linear import Shifted, shifted
from .problem import StepFailure, StepSizeError
from .rosenbrock_tableaus import RODAS5P
from .stepper import Stepper, longest_stretch


class Rosenbrock(Stepper):
    """The Rosenbrock method Rodas5P, with the exact Jacobian, one factorisation a trial and no iteration.

    Parameters
    ----------
    *args, **options
        As in `Stepper`.
    """

    error_order = RODAS5P.error_order
    between = longest_stretch(*RODAS5P.nodes, RODAS5P.probe)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        tableau, stages = RODAS5P, RODAS5P.nodes.size
        self._parts = np.zeros((stages, self.y.size))
        self._scaled = np.empty_like(tableau.c)
        # Views: slicing in the loop would take as long as the arithmetic.
        self._stages = [
            (k, float(tableau.nodes[k]), tableau.a[k, :k], self._scaled[k, :k], self._parts[:k])
            for k in range(1, stages)
        ]
        self._jacobian: Any = None
        self._drift = self.y
        self._linearised_at: float | None = None
        self._system: Shifted | None = None
        self._solve: Callable[[np.ndarray], np.ndarray] = np.negative

    @property
    def linearised(self) -> Any:
        """Jacobian at the start of the last step."""
        return self._jacobian

    def _advance(self, t1: float) -> tuple[np.ndarray, np.ndarray]:
        t, y, parts, tableau = self.t, self.y, self._parts, RODAS5P
        h = t1 - t
        if self._linearised_at != t:
            self._linearise()
        self._factorise(1.0 / (tableau.gamma * h))
        solve = self._solve
        drifts = np.multiply.outer(h * tableau.times, self._drift)
        np.divide(tableau.c, h, out=self._scaled)
        parts[0] = solve(self._rate + drifts[0])
        argument = y
        for k, node, a, c, known in self._stages:
            argument = y + a.dot(known)
            parts[k] = solve(self._evaluate(t + node * h, argument) + c.dot(known) + drifts[k])
        y1 = argument + parts[-1]
        return y1, np.array([parts[-1], self._inner_error(h)])

    def _inner_error(self, h: float) -> np.ndarray:
        """Error of the dense output inside a step, from its residual in the differential equation.

        The embedded solution cannot see it: in stiff components both ends of a step are right whatever lies between. The
        matrix of the step turns a residual into an error of the solution, for slow and for fast components alike.
        """
        value, slope = RODAS5P.inside
        t, y = self.t + RODAS5P.probe * h, self.y + value.dot(self._parts)
        return self._solve(slope.dot(self._parts) / h - self._evaluate(t, y))

    def _rate_at(self, t1: float, y1: np.ndarray) -> np.ndarray:
        return np.array(self._evaluate(t1, y1), dtype=float)

    def _dense(self, h: float) -> np.ndarray:
        """The dense output without the error of stiff components inside the step, whose course is known where its size is.

        What a stiff component follows is far more exact at the ends than the polynomial is between them, and a small loss turns
        that difference into a flow. What `_inner_error` says of slow components has another course, and ``I - (I - gamma h
        J)^-1`` leaves none of it.
        """
        error = self._errors[1]
        stiff = error - self._solve(error.copy()) / (RODAS5P.gamma * h)
        return RODAS5P.dense.dot(self._parts) - np.multiply.outer(RODAS5P.stiff_error, stiff)

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
            self._system = shifted(self._jacobian)
            self._solve = self._system.solve
        self.work.factorised()
        self._system.factorise(shift, self._jacobian)
