"""Whether constraints that were left out follow from the others, as redundant ones do."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ...dynamics.directions import generic_direction
from .motion import Motion, Place
from .newton import NewtonFailure
from .state_selection import DependentConstraints

FOLLOWS = 2.0**-26
"""Defect of a row that follows from others, relative to its terms: half the digits of a double."""
ASIDE = (1e-2, 1e-3, 1e-4)
"""Distances, in units of magnitudes, to places at which rows that follow from others do so too."""


def require_left_out(motion: Motion, place: Place) -> None:
    """Raise DependentConstraints unless the rows left out follow from the others at a place."""
    if motion.system.left_over(place.y, place.xi, motion.constants) > FOLLOWS:
        raise DependentConstraints


def require_left_out_beside(motion: Motion, place: Place, dependent: np.ndarray) -> None:
    """The same at a place and beside it: at a singular point rows follow from others that do not elsewhere.

    What ``dependent`` rows leave open is to be flows that constrain a motion: any other unknown is one without an equation.
    """
    require_left_out(motion, place)
    system, chosen = motion.system, motion.selection
    if len(dependent) and not np.isin(dependent, system.constraint_rows).any():
        raise DependentConstraints
    for distance in ASIDE if len(dependent) else ():
        beside = place.X + distance * system.scale * generic_direction(len(system.scale))
        with suppress(NewtonFailure):
            require_left_out(motion, motion.solve(place.h, beside[chosen.states], place, chosen))
            return
