"""How far below zero a form may lie along an integrated motion without having crossed it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..instants.lexicographic import SCALE_FLOOR

ROUNDING = 1e-15
"""Rounding of a state relative to its scale."""
FLOOR = 4.0
"""Depth at which an unarmed form reacts, in errors of the states in it: more than the noise of the sign test."""
TOUCH = 1e-2
"""Part of the floor up to which a form below zero touches it and does not cross, where nothing is integrated."""


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


class FormNoise:
    """Noise of the forms of a segment, from the magnitudes of the coordinates.

    Parameters
    ----------
    least : (forms,) array
        Floors where all coordinates are exact.
    weights, rounding : (forms, nX) arrays
        Magnitudes of the dependence on the coordinates, and of its rounding in the sign test.
    scale : (nX,) array
        Scales of the coordinates.

    Attributes
    ----------
    floor : (forms,) array
        Depth at which an unarmed form reacts.
    touch : (forms,) array
        Depth up to which a form below zero has not crossed it. A state that came to rest may swing within the
        relative tolerance.
    """

    def __init__(
        self,
        least: np.ndarray,
        weights: np.ndarray,
        rounding: np.ndarray,
        tolerances: Tolerances,
        scale: np.ndarray,
    ) -> None:
        self._least, self._weights, self._rounding = least, weights, rounding
        self._tolerances, self._scale = tolerances, scale
        self.floor, self.touch = least.copy(), TOUCH * least

    @classmethod
    def of(
        cls,
        sign_noise: np.ndarray,
        forms: np.ndarray,
        form_scale: np.ndarray,
        at: np.ndarray,
        states: int,
        sources: np.ndarray,
        tolerances: Tolerances,
        scale: np.ndarray,
        instant: np.ndarray,
    ) -> FormNoise:
        """Noise of forms over ``[z[states]; xi]``.

        Parameters
        ----------
        sign_noise, forms : (forms, ny) arrays
            Of the sign test and the forms themselves.
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
        weights, rounding = np.zeros((2, len(forms), len(at)))
        weights[:, known], rounding[:, known] = np.abs(forms[:, at[known]]), sign_noise[:, at[known]]
        over_sources = sign_noise[:, states : states + len(sources)]
        least = 2.0 * (over_sources @ sources + SCALE_FLOOR * form_scale + 4.0 * instant)
        return cls(least, weights, 2.0 * rounding, tolerances, scale)

    def grow(self, size: np.ndarray) -> None:
        """Take larger magnitudes of the coordinates."""
        error = FLOOR * self._tolerances.absolute(size, self._scale)
        self.floor[:] = self._least + self._weights @ error + self._rounding @ size
        self.touch[:] = TOUCH * self._least + self._weights @ (error + self._tolerances.rtol * size)
