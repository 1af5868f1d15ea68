"""How far below zero a form may lie along an integrated motion without having crossed it."""

from __future__ import annotations

import numpy as np

from ..instants.lexicographic import SCALE_FLOOR

FLOOR = 4.0
"""Depth that counts as zero, in estimated errors."""
TOUCH = 1e-2
"""Part of the rounding up to which a form below zero touches it and does not cross: the sign test sees more."""


class FormNoise:
    """Noise of the forms of a segment: the estimated errors of its steps, and the rounding of an evaluation.

    A form that was positive and comes to lie below zero by less than the sum of the errors of all steps may have come to
    rest there. What lies deeper is a crossing, and is located where the form vanishes.

    Parameters
    ----------
    least : (forms,) array
        Rounding where all coordinates are zero.
    rounding : (forms, nX) array
        Rounding in the sign test for magnitudes of the coordinates.

    Attributes
    ----------
    floor : (forms,) array
        Depth at which an unarmed form reacts.
    touch : (forms,) array
        Depth up to which a form below zero has not crossed it. A state that came to rest may swing within its error.
    """

    def __init__(self, least: np.ndarray, rounding: np.ndarray) -> None:
        self._least, self._rounding = least, rounding
        self.floor, self.touch = least.copy(), TOUCH * least

    @classmethod
    def of(
        cls,
        sign_noise: np.ndarray,
        form_scale: np.ndarray,
        at: np.ndarray,
        states: int,
        sources: np.ndarray,
        instant: np.ndarray,
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
        """
        known = at >= 0
        rounding = np.zeros((len(sign_noise), len(at)))
        rounding[:, known] = sign_noise[:, at[known]]
        over_sources = sign_noise[:, states : states + len(sources)]
        least = 2.0 * (over_sources @ sources + SCALE_FLOOR * form_scale + 4.0 * instant)
        return cls(least, 2.0 * rounding)

    def follow(self, size: np.ndarray, error: np.ndarray, sum_of_errors: np.ndarray) -> None:
        """Take a step with these magnitudes of the coordinates, and errors of the forms over it and until its end."""
        least = self._least + self._rounding @ size
        self.floor[:], self.touch[:] = least + FLOOR * error, TOUCH * least + FLOOR * sum_of_errors
