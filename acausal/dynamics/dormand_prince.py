"""Explicit Runge-Kutta method of order 5 for problems that are not stiff.

Reference: J. R. Dormand, P. J. Prince, A family of embedded Runge-Kutta formulae, J. Comput. Appl. Math. 6 (1980) 19-26.
Dense output of order 4 by L. F. Shampine, as given in E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential
Equations I, 2nd ed., Springer 1993, section II.6.
"""

from __future__ import annotations

import math

import numpy as np

from ..kernels.step_records import StepMethod
from .step import weights_inside
from .stepper import Stepper, longest_stretch

NODES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)

STAGES = np.array(
    [
        [0, 0, 0, 0, 0, 0, 0],
        [1 / 5, 0, 0, 0, 0, 0, 0],
        [3 / 40, 9 / 40, 0, 0, 0, 0, 0],
        [44 / 45, -56 / 15, 32 / 9, 0, 0, 0, 0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0, 0, 0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0, 0],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0],
    ]
)
"""The last row is the solution: its stage is the first one of the next step."""

ERROR = np.array([71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])
"""Solution of order 5 minus the embedded one of order 4."""

QUARTIC = np.array(
    [
        -12715105075 / 11282082432,
        0,
        87487479700 / 32700410799,
        -10690763975 / 1880347072,
        701980252875 / 199316789632,
        -1453857185 / 822651844,
        69997945 / 29380423,
    ]
)


def _dense_weights() -> np.ndarray:
    """Weights of the stages in the coefficients of `Step`: a cubic Hermite polynomial plus the quartic term."""
    first, last = np.eye(7)[[0, 6]]
    start = first - STAGES[6]
    end = STAGES[6] - last - start
    return np.array([start, end + QUARTIC, -QUARTIC])


DENSE = _dense_weights()

EMBEDDED_WEIGHT = 1.5
"""Error in units of the embedded estimate. Measured: errors that add up over an oscillation stay within the tolerance."""
PROBE = 0.5
"""Fraction of the step where the dense output is checked."""
PROBE_WEIGHT = 0.2
"""Error of the dense output in units of its residual times the step size. Measured: so it stays within the tolerance."""

PROBE_VALUE, PROBE_SLOPE = weights_inside(STAGES[6], DENSE, PROBE)
TIMES = np.array([*NODES, PROBE])
"""Fractions of the step at which the rate is evaluated."""
ARGUMENTS = np.zeros((8, 8))
"""Weights of the rates in the arguments."""
ARGUMENTS[:7, :7], ARGUMENTS[7, :7] = STAGES, PROBE_VALUE

METHOD = StepMethod(
    np.array([0, 5]), np.zeros(1), TIMES, ARGUMENTS, np.zeros((8, 8)), np.zeros(8),
    np.array([np.append(EMBEDDED_WEIGHT * ERROR, 0.0), PROBE_WEIGHT * np.append(PROBE_SLOPE, -1.0)]),
    np.column_stack([DENSE, np.zeros(3)]), np.zeros(3),
)  # fmt: skip
"""The method as kernels read it."""


class DormandPrince(Stepper):
    """Dormand-Prince 5(4) with dense output of order 4, seven evaluations of the rate a trial.

    The seventh checks the dense output. The embedded solution does not: where its estimate passes through zero, the values
    inside the step, and the events found on them, would be wrong by many times the tolerance.
    """

    error_order = 5
    between = longest_stretch(*NODES, PROBE)
    method = METHOD

    count = len(TIMES)
    made = 0.0
    """Size of the last step."""

    def _advance(self, t1: float) -> tuple[np.ndarray, np.ndarray]:
        h, stages = t1 - self.t, self.stages
        self.made = h
        np.multiply(ARGUMENTS, h, out=stages.weights)
        times = self.t + TIMES * h
        times[5:7] = t1
        self._make_stages(times)
        slopes = stages.parts
        residual = PROBE_SLOPE.dot(slopes[:7]) - slopes[7]
        errors = np.array([(h * EMBEDDED_WEIGHT) * ERROR.dot(slopes[:7]), (h * PROBE_WEIGHT) * residual])
        return stages.arguments[6].copy(), errors

    @property
    def reach(self) -> float:
        """Size of the last step times the largest eigenvalue that shows in it.

        The last two stages are at the same time: by the difference of their rates over that of their arguments.
        """
        apart, change = (self.y - self.stages.arguments[5]) / self._scale, self._stages_apart
        distance = float(apart.dot(apart))
        return self.made * math.sqrt(float(change.dot(change)) / distance) if distance > 0.0 else 0.0

    @property
    def quickest(self) -> int:
        """Component that the motion with this eigenvalue moves most, in units of the tolerances."""
        return int(np.argmax(np.abs(self._stages_apart)))

    @property
    def _scale(self) -> np.ndarray:
        return self.demands.atol + self.demands.rtol * self._size

    @property
    def _stages_apart(self) -> np.ndarray:
        """Difference of the rates of the last two stages, in units of the tolerances."""
        return (self.stages.parts[6] - self.stages.parts[5]) / self._scale

    def _rate_at(self, t1: float, y1: np.ndarray) -> np.ndarray:
        return self.stages.parts[6].copy()

    def _dense(self, h: float) -> np.ndarray:
        return h * DENSE.dot(self.stages.parts[:7])
