"""An explicit method that notices where its stability, and not the accuracy of the solution, holds its steps.

Reference: E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed., Springer 1996, section IV.2 (stiffness
detection of DOPRI5: the estimate of the eigenvalue, and the counting of steps).
"""

from __future__ import annotations

import math

import numpy as np

from ..kernels.steps import HELD, LONG, SMALL
from ..values import frozen
from .dormand_prince import DormandPrince
from .step import Step


@frozen
class Fastest:
    """What holds the steps of an explicit method."""

    h: float
    """Size of the last step."""
    time_constant: float
    """That of the fastest motion: one over the magnitude of its eigenvalue."""
    component: int
    """Which moves most with it, in units of the absolute tolerances."""


class Explicit(DormandPrince):
    """Dormand-Prince that counts the steps which stability holds."""

    _held = 0
    _speed = 0.0
    """Logarithm of the magnitude of the fastest eigenvalue, as the mean of so many held steps: of a pair a single one tells only
    by how much it stretches what happens to be there."""

    def step(self, limit: float) -> Step:
        """One accepted step, as `Stepper.step`."""
        step = super().step(limit)
        if self.y.size:
            held = self.reach > HELD
            self.work.advanced(held=held)
            if held:
                self._held += 1
                self._speed += (math.log(self.reach / self.made) - self._speed) / self._held
        return step

    @property
    def held(self) -> tuple[int, float]:
        """Steps that stability held, and the logarithm of their eigenvalue."""
        return self._held, self._speed

    def hold(self, held: int, speed: float) -> None:
        """Take these behind steps that were made elsewhere."""
        self._held, self._speed = held, speed

    @property
    def _scale(self) -> np.ndarray:
        """The absolute tolerances: with relative ones an eigenvalue seems too large where an oscillation passes zero."""
        return np.maximum(self.demands.atol, SMALL * self.demands.rtol * self._size)

    @property
    def fastest(self) -> Fastest | None:
        """What holds the steps, where stability did for long; None where it is accuracy."""
        if self.work.lead < LONG or not self.reach > HELD:
            return None
        return Fastest(self.made, math.exp(-self._speed), self.quickest)
