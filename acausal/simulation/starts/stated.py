"""Start values as they were stated, and the order in which conditions of a start are met."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np


class Rank(IntEnum):
    """Conditions of a lower number are met first; the others take what is left open.

    The odd numbers between are those of wishes for speeds, which come after those for positions.
    """

    FIXED = 0
    """``fixed=True``, ``initial=`` and ``initially``."""
    STEADY = 2
    """Derivatives that are to be zero."""
    STEADY_FIXED = 4
    """Those of variables that are fixed: zero if that agrees with their values."""
    GIVEN = 6
    """Given starts of differentiated variables."""
    GUESS = 8
    """Given starts of other variables; those that do not hold are no more than guesses."""
    PREFERRED = 10
    """Defaults of variables with a positive ``state_priority``: the coordinates in which users think of the model."""
    DEFAULT = 12
    RESTING_GIVEN = 14
    """Given starts of variables that are to be at rest, and their defaults: other starts say where that is."""
    RESTING = 16
    COMPUTED = 18
    """Guesses of parameters that are computed: nothing is to be left open for them."""


@dataclass(frozen=True)
class Starts:
    """Start values of all variables (nv,), which of them must hold after the start, which were given."""

    value: np.ndarray
    fixed: np.ndarray
    given: np.ndarray
    branches: dict[int, int] = field(default_factory=dict)
    """Elements -> branches that were given for the start."""
    of_run: frozenset[int] = frozenset()
    """Variables that are fixed by ``initial=`` of the run."""
    steady: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    """Variables (nv,) whose derivatives are to be zero; empty for none."""
    discretes: dict[int, float] = field(default_factory=dict)
    """Discrete variables -> values that the run gave for the start."""

    def kind(self, x: int) -> str:
        """How the start of a variable was stated, as reports name it."""
        if self.fixed[x]:
            return "initial=" if x in self.of_run else "fixed=True"
        return "given start" if self.given[x] else "default start"

    def plain(self, differentiated: np.ndarray) -> bool:
        """Whether no derivative is to be zero, or all of them while nothing is fixed."""
        return not self.steady.any() or (bool(self.steady[differentiated].all()) and not self.fixed.any())
