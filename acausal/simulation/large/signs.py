"""Signs of forms along the motion of a large model: value and two derivatives follow from those of all unknowns."""

from __future__ import annotations

import numpy as np

from ...dynamics.noise import Uncertainty, shifted
from ...reduction.affine import Rows
from ...reduction.rounding import ROUNDING
from ..nonlinear.forms import Forms
from .motion import LargeMotion


class MotionSigns:
    """What a `SignTable` is for the flow of an analysed mode.

    Parameters
    ----------
    motion : LargeMotion
        At the point that is looked at.
    rows : Rows
        The forms over core unknowns and sources.
    nonlinear : (forms,) array
        Number of the nonlinear row, -1 for affine forms.
    amplitudes : (q, q) array
        Of the sources, by their magnitudes.
    """

    def __init__(
        self, motion: LargeMotion, rows: Rows, nonlinear: np.ndarray, amplitudes: np.ndarray
    ) -> None:
        self._forms = Forms.of(motion.system.mode, rows, nonlinear, np.ones(len(nonlinear)), amplitudes)
        self._motion = motion

    def levels(self, known: Uncertainty) -> tuple[np.ndarray, np.ndarray]:
        """Values and first two time derivatives (3, forms), and their noise floors; ``known`` says how exactly the point is."""
        motion, system = self._motion, self._motion.system
        jets = motion.derivatives(motion.last)
        values = np.array(self._forms.levels(motion, jets))
        weights = self._forms.sizes(motion, jets[0])
        floors = np.array([ROUNDING * (weights @ np.abs(v)) for v in jets])
        floors[:2] += known.late * np.abs(values[1:])
        if known.error is not None:
            floors[0] += weights @ self._off(known.error, np.zeros(system.q))
        if known.shift is not None:
            n = system.mode.z_of.shape[0]
            moved = self._off(known.shift, known.shift[n : n + system.q])
            floors[0] += shifted(np.eye(len(values[0])), self._forms.tangent(motion, jets[0])(moved))
        return values, floors

    def _off(self, unknowns: np.ndarray, sources: np.ndarray) -> np.ndarray:
        """What ``v`` is off by where core unknowns and sources are; derivatives among the unknowns are not."""
        system = self._motion.system
        off = unknowns[system.mode.open]
        at = off[system.x]
        off[system.mode.slopes] = 0.0
        return np.concatenate([at, off, sources])

    def signs(self, known: Uncertainty) -> list[int]:
        """Signs (-1, 0, 1): of the first of value and derivatives that is above its noise."""
        found = np.zeros(self._forms.count, int)
        if self._forms.count:
            for value, floor in zip(*(part[::-1] for part in self.levels(known)), strict=True):
                clear = np.abs(value) > floor
                found[clear] = np.sign(value[clear])
        return found.tolist()
