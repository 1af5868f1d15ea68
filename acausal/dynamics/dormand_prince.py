"""Explicit Runge-Kutta method of order 5 for problems that are not stiff.

Reference: J. R. Dormand, P. J. Prince, A family of embedded Runge-Kutta formulae, J. Comput. Appl. Math. 6 (1980) 19-26.
Dense output of order 4 by L. F. Shampine, as given in E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential
Equations I, 2nd ed., Springer 1993, section II.6.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

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


class DormandPrince(Stepper):
    """Dormand-Prince 5(4) with dense output of order 4, seven evaluations of the rate a trial.

    The seventh checks the dense output. The embedded solution does not: where its estimate passes through zero, the values
    inside the step, and the events found on them, would be wrong by many times the tolerance.
    """

    error_order = 5
    between = longest_stretch(*NODES, PROBE)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._slopes = np.zeros((7, self.y.size))
        self._scaled = np.empty_like(STAGES)
        self._before_last = self.y
        self.made = 0.0
        """Size of the last step."""
        # Views: slicing in the loop would take as long as the arithmetic.
        self._inner = [(k, NODES[k], self._scaled[k, :k], self._slopes[:k]) for k in range(1, 6)]
        self._outer = (self._scaled[6, :6], self._slopes[:6])

    def _advance(self, t1: float) -> tuple[np.ndarray, np.ndarray]:
        t, y, slopes = self.t, self.y, self._slopes
        h = self.made = t1 - t
        slopes[0] = self._rate
        np.multiply(STAGES, h, out=self._scaled)
        for k, node, weights, known in self._inner:
            self._before_last = y + weights.dot(known)
            slopes[k] = self._evaluate(t + node * h, self._before_last)
        weights, known = self._outer
        y1 = y + weights.dot(known)
        slopes[6] = self._evaluate(t1, y1)
        inner = y + h * PROBE_VALUE.dot(slopes)
        residual = PROBE_SLOPE.dot(slopes) - self._evaluate(t + PROBE * h, inner)
        return y1, np.array([(h * EMBEDDED_WEIGHT) * ERROR.dot(slopes), (h * PROBE_WEIGHT) * residual])

    @property
    def reach(self) -> float:
        """Size of the last step times the largest eigenvalue that shows in it.

        The last two stages are at the same time: by the difference of their rates over that of their arguments.
        """
        apart, change = (self.y - self._before_last) / self._scale, self._stages_apart
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
        return (self._slopes[6] - self._slopes[5]) / self._scale

    def _rate_at(self, t1: float, y1: np.ndarray) -> np.ndarray:
        return self._slopes[6].copy()

    def _dense(self, h: float) -> np.ndarray:
        return h * DENSE.dot(self._slopes)
