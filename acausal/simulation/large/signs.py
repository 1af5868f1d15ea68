"""Signs of forms along the motion of a large model: value and two derivatives follow from those of all unknowns."""

from __future__ import annotations

import numpy as np

from ...dynamics.noise import Uncertainty
from ...reduction.affine import Rows
from ...reduction.rounding import ROUNDING
from ..instants.transition import SCALE_FLOOR
from ..nonlinear.forms import Forms
from ..numeric import NumericCore
from .motion import LargeMotion


class MotionSigns:
    """What a `SignTable` is for the flow of an analysed mode.

    Parameters
    ----------
    core : NumericCore
    motion : LargeMotion
        At the point that is looked at.
    rows : Rows
        The forms over core unknowns and sources.
    nonlinear : (forms,) array
        Number of the nonlinear row, -1 for affine forms.
    """

    def __init__(self, core: NumericCore, motion: LargeMotion, rows: Rows, nonlinear: np.ndarray) -> None:
        self._forms = Forms.of(motion.system.mode, rows, nonlinear, np.ones(len(nonlinear)))
        self._motion, self._T0 = motion, core.model.T0
        self._scale = magnitudes(rows, core, motion.last.xi)

    def levels(self, known: Uncertainty) -> tuple[np.ndarray, np.ndarray]:
        """Values and first two time derivatives (3, forms), and their noise floors; ``known`` says how exactly the point is."""
        motion, system = self._motion, self._motion.system
        jets = motion.derivatives(motion.last)
        values = np.array(self._forms.levels(motion, jets))
        weights = abs(self._forms.linear(motion, jets[0]))
        floors = np.array([ROUNDING * (weights @ np.abs(v)) for v in jets])
        floors += SCALE_FLOOR * self._scale / self._T0 ** np.arange(3.0)[:, None]
        floors[:2] += known.late * np.abs(values[1:])
        if known.error is not None:
            error = known.error[system.mode.open]
            unknown = np.where(system.mode.slopes, 0.0, error)
            floors[0] += weights @ np.concatenate([error[system.x], unknown, np.zeros(system.q)])
        return values, floors

    def signs(self, known: Uncertainty) -> list[int]:
        """Signs (-1, 0, 1): of the first of value and derivatives that is above its noise."""
        found = np.zeros(self._forms.count, int)
        if self._forms.count:
            for value, floor in zip(*(part[::-1] for part in self.levels(known)), strict=True):
                clear = np.abs(value) > floor
                found[clear] = np.sign(value[clear])
        return found.tolist()


def magnitudes(rows: Rows, core: NumericCore, xi: np.ndarray) -> np.ndarray:
    """Magnitudes of forms: of the variables in the model, of the sources at present."""
    q = len(xi)
    found: np.ndarray = abs(rows.A) @ core.model.scale
    return found + abs(rows.B[:, :q]) @ (core.amplitudes[:q, :q] @ np.abs(xi))
