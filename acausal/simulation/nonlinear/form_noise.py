"""How far below zero a form may lie along an integrated motion without having crossed it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...reduction.affine import ROUNDING, ModeData

FLOOR = 4.0
"""Depth that counts as zero, in estimated errors."""
TOUCH = 1e-2
"""Part of the rounding up to which a form below zero touches it and does not cross: the sign test sees more."""

ORDER = 5
"""Power of its length with which the error of a step grows, in all methods."""


def lasting(h: float, rtol: float) -> float:
    """Time in which what a step of ``h`` seconds follows moves by its own size: a step that long would miss all of it.

    For that time rounding of the states, which every step brings anew, moves what follows from them.
    """
    return h * rtol ** (-1.0 / ORDER)


def step_rounding(rates: Any, terms: np.ndarray, h: float) -> np.ndarray:
    """Rounding of states after a step of ``h`` seconds: that of their rates, the sums of ``terms``, until it has died away.

    ``rates`` are the magnitudes of the derivatives of these by the states.
    """
    return ROUNDING * h * terms / np.maximum(h * rates.diagonal(), 1.0)


def rounded_states(data: ModeData, y: np.ndarray, h: float) -> np.ndarray:
    """The same for the selected states of a mode at ``y``."""
    rates = np.abs(data.Ay[: len(data.states)])
    return step_rounding(rates, rates @ np.abs(y), h)


def core_rounding(data: ModeData, y: np.ndarray, h: float) -> np.ndarray:
    """The same for all core unknowns, zero for those that follow from the states."""
    n = data.T.shape[0]
    found = np.zeros(max(n, len(data.states)))
    found[data.states] = rounded_states(data, y, h)
    return found[:n]


class FormNoise:
    """Noise of the forms of a segment: the estimated error of a step, and the rounding of an evaluation.

    What rounds in the states moves a form that is zero with all its terms, for as long as it takes what the steps follow to move.
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
        Rounding (forms,) of the states that stays for some seconds.

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
        at: np.ndarray,
        states: int,
        sources: np.ndarray,
        begin: np.ndarray,
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
        begin : (forms,) array
            By how much the values at the begin may be off.
        drift : callable
            Rounding (forms,) of the states that stays for some seconds.
        """
        known = at >= 0
        rounding = np.zeros((len(sign_noise), len(at)))
        rounding[:, known] = sign_noise[:, at[known]]
        over_sources = sign_noise[:, states : states + len(sources)]
        least = 2.0 * (over_sources @ sources + begin)
        return cls(least, 2.0 * rounding, drift)

    def follow(self, h: float, size: np.ndarray, error: np.ndarray) -> None:
        """Take a step with magnitudes of the coordinates and errors of the forms; rounding stays for ``h`` seconds."""
        least = self._least + self._rounding @ size
        if self._drift is not None:
            least += 2.0 * self._drift(h)
        self.resolution = least
        self.missed = FLOOR * np.maximum(error, self._before)
        self.floor[:], self.touch[:] = least + self.missed, TOUCH * least + self.missed
        self._before = error
