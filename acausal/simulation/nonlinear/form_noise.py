"""How far below zero a form may lie along an integrated motion without having crossed it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...reduction.affine import ModeData
from ..instants.lexicographic import SCALE_FLOOR

FLOOR = 4.0
"""Depth that counts as zero, in estimated errors."""
TOUCH = 1e-2
"""Part of the rounding up to which a form below zero touches it and does not cross: the sign test sees more."""

EVALUATION = 1e-14
"""Rounding of what follows from the states, relative to the sum of the magnitudes of its terms: some fifty roundings."""


def step_rounding(data: ModeData, y: np.ndarray, h: float) -> np.ndarray:
    """Rounding of the selected states after a step of ``h`` seconds to ``y``: that of their rates, until it has died away."""
    states = slice(len(data.states))
    rates = np.abs(data.Ay[states])
    return EVALUATION * h * (rates @ np.abs(y)) / np.maximum(rates.diagonal() * h, 1.0)


def core_rounding(data: ModeData, y: np.ndarray, h: float) -> np.ndarray:
    """The same for all core unknowns, zero for those that follow from the states."""
    found = np.zeros(len(data.T))
    found[data.states] = step_rounding(data, y, h)
    return found


class FormNoise:
    """Noise of the forms of a segment: the estimated error of a step, and the rounding of an evaluation.

    A form that was positive and comes to lie below zero by less than the errors which the steps before it and around it left
    may have come to rest there. What lies deeper is a crossing, and is located where the form vanishes. Errors of earlier
    steps do not count: added up they exceed what a form that is damped ever was, and then nothing crosses.

    Parameters
    ----------
    least : (forms,) array
        Rounding where all coordinates are zero.
    rounding : (forms, nX) array
        Rounding in the sign test for magnitudes of the coordinates.
    drift : callable, optional
        Rounding (forms,) that a step of some seconds brings.

    Attributes
    ----------
    resolution : (forms,) array
        Rounding of an evaluation after the last step.
    missed : (forms,) array
        What integration may have missed of the forms along the last step.
    floor : (forms,) array
        Depth at which an unarmed form reacts.
    touch : (forms,) array
        Depth up to which a form below zero has not crossed it. A state that came to rest may swing within its error.
    """

    def __init__(
        self, least: np.ndarray, rounding: np.ndarray, drift: Callable[[float], np.ndarray] | None = None
    ) -> None:
        self._least, self._rounding = least, rounding
        self._drift = drift
        self._before = self.missed = np.zeros(len(least))
        """Errors over the step before."""
        self.resolution, self.floor, self.touch = least, least.copy(), TOUCH * least

    @classmethod
    def of(
        cls,
        sign_noise: np.ndarray,
        form_scale: np.ndarray,
        at: np.ndarray,
        states: int,
        sources: np.ndarray,
        instant: np.ndarray,
        drift: Callable[[float], np.ndarray],
    ) -> FormNoise:
        """Noise of forms over ``[z[states]; xi]``.

        Parameters
        ----------
        sign_noise : (forms, ny) array
            Of the sign test.
        at : (nX,) array
            Column of every coordinate, -1 for one that is none of the states.
        states : int
            Columns of states.
        sources : (q,) array
            Magnitudes of the sources.
        instant : (forms,) array
            Changes within the resolution of time.
        drift : callable
            Rounding (forms,) that a step of some seconds brings.
        """
        known = at >= 0
        rounding = np.zeros((len(sign_noise), len(at)))
        rounding[:, known] = sign_noise[:, at[known]]
        over_sources = sign_noise[:, states : states + len(sources)]
        least = 2.0 * (over_sources @ sources + SCALE_FLOOR * form_scale + 4.0 * instant)
        return cls(least, 2.0 * rounding, drift)

    def follow(self, h: float, size: np.ndarray, error: np.ndarray) -> None:
        """Take a step of ``h`` seconds with magnitudes of the coordinates and errors of the forms over it."""
        least = self._least + self._rounding @ size
        if self._drift is not None:
            least += 2.0 * self._drift(h)
        self.resolution = least
        self.missed = FLOOR * np.maximum(error, self._before)
        self.floor[:], self.touch[:] = least + self.missed, TOUCH * least + self.missed
        self._before = error
