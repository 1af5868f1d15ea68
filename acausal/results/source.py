"""What a signal is read from."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .affine import Affine
from .panels import Panels


class Source(Protocol):
    """Where a signal takes its values from."""

    result: Any
    """The run; signals of one run may be combined."""
    t_start: float
    t_end: float

    @property
    def t(self) -> np.ndarray:
        """Points in seconds."""
        ...

    def sample(self) -> np.ndarray:
        """Values at ``t``."""
        ...

    def at(self, t: np.ndarray, side: str) -> np.ndarray:
        """Limits from one side at times within the run."""
        ...

    def power_integral(self, a: float, b: float, power: int) -> float:
        """Integral over [a, b] of the value to a power."""
        ...

    def panels(self, a: float, b: float, longest: float) -> Panels:
        """Series that represent the values on [a, b], no panel longer than ``longest``."""
        ...

    def affine(self) -> Affine | None:
        """The values as an affine form; None if they are none."""
        ...

    def undetermined(self) -> np.ndarray:
        """Mask over ``t``."""
        ...
