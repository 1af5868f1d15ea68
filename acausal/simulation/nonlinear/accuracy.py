"""How exactly a segment has to be integrated: errors of guards and relations along with those of the states.

A state that a guard amplifies, as that of an element which leaks does the small flow through it, is to be as exact as the
guard needs. An error ``e`` of the states is one of ``W e`` in what follows from them, with the derivatives ``W`` along the
constraints and nonlinear rows at the begin of a step: see A. C. Hindmarsh et al., "SUNDIALS", ACM TOMS 31 (2005), where the
weighted norm of a step covers algebraic variables too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .forms import Forms
from .motion import Motion, Place

ROUNDING = 1e-15
"""Rounding of a state relative to its scale."""
EVALUATION = 1e-14
"""Rounding of what follows from the states, relative to the sum of the magnitudes of its terms: some fifty roundings."""


@dataclass(frozen=True, eq=False)
class Tolerances:
    """Relative tolerance, absolute one in units of the largest magnitude of each variable so far.

    ``longest`` is the longest step in seconds where unknowns of nonlinear equations have no states beside them, whose
    error would limit it.
    """

    rtol: float
    atol: float
    longest: float

    def absolute(self, size: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Absolute errors of variables with given magnitudes so far; scales matter as far as rounding does.

        Scales are taken from the sources before anything moves. That of the flow through a small storage exceeds by
        decades what a loss beside it lets through.
        """
        return np.maximum(self.atol * size, ROUNDING * scale)


class Accuracy:
    """Errors of guards and relations in units of their tolerances; `dynamics.stepper.Outputs`.

    Parameters
    ----------
    forms : Forms
        Guards and relations that can trigger.

    Attributes
    ----------
    error, sum_of_errors : (forms,) array
        Estimated errors over the last step, and over all as if nothing damped them.
    """

    def __init__(self, motion: Motion, forms: Forms, tolerances: Tolerances) -> None:
        self._motion, self._forms, self._tolerances = motion, forms, tolerances
        self._largest, self.error, self.sum_of_errors = np.zeros((3, forms.count))
        self.begin(motion.last)

    def begin(self, place: Place) -> None:
        """Go on from a place, after the last step if there was one."""
        motion = self._motion
        self.sum_of_errors = self.sum_of_errors + self.error
        v = motion.system.v0(np.concatenate([place.X, place.H]), place.xi)
        self._place, self._tangent = place, self._forms.tangent(motion, v)
        np.maximum(self._largest, np.abs(self._tangent.values), out=self._largest)
        rounding = EVALUATION * self._tangent.terms
        self._absolute = np.maximum(self._tolerances.atol * self._largest, rounding) + np.finfo(float).tiny

    def __call__(self, change: np.ndarray, errors: np.ndarray) -> float:
        """Largest error over a step."""
        v = self._motion.carried(self._place, np.vstack([change, errors]).T)
        v[~np.isfinite(v)] = 0.0  # A slope that does not exist tells nothing of the error.
        found, values = self._tangent(v), self._tangent.values
        self.error = np.abs(found[:, 1:]).max(axis=1)
        size = np.maximum(np.abs(values), np.abs(values + found[:, 0]))
        return float((self.error / (self._absolute + self._tolerances.rtol * size)).max(initial=0.0))
