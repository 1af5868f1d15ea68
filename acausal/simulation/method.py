"""How the segments of a run are found: in closed form, or by numerical integration, and how exactly."""

from __future__ import annotations

import numpy as np

from ..reduction.affine import AffineModel
from ..values import frozen
from .nonlinear.accuracy import Tolerances
from .options import Options
from .self_check import SOLVED, STEPS

EXACT_STATES = 300
"""Differentiated variables above which closed forms take longer than steps of integration."""


@frozen
class Method:
    """Whether some modes may be integrated, or all of them are, why unless an equation says so, by which solver, and how exactly.

    A mode that need not be integrated has a closed form where all equations in force are affine.
    """

    numerical: bool
    everywhere: bool
    reason: str
    solver: str
    tolerances: Tolerances

    @classmethod
    def of(cls, options: Options, model: AffineModel, nonlinear: bool, sparse: bool, T0: float) -> Method:
        """The method of a model with ``nonlinear`` equations, or rows that are ``sparse``; ``T0`` is the unit of time."""
        asked = options.method not in ("auto", "exact")
        many = options.method == "auto" and np.count_nonzero(model.differentiated) > EXACT_STATES
        atol = options.rtol * 1e-2 if options.atol is None else options.atol
        reason = f'method="{options.method}"' if asked else f"more than {EXACT_STATES} states"
        everywhere = bool(asked or many or sparse)
        tolerances = Tolerances(options.rtol, atol, T0 / 40.0)
        return cls(everywhere or nonlinear, everywhere, reason, options.method, tolerances)

    @property
    def accuracy(self) -> float:
        """Part of the magnitudes that values may miss."""
        return SOLVED + STEPS * self.tolerances.rtol * self.numerical

    @property
    def missed(self) -> float:
        """Part of their magnitudes on the way that guards may be off by where modes are integrated, else none."""
        return self.accuracy if self.numerical else 0.0
