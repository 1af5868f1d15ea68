"""What stands for an analysed mode where a point is read as it is, on the constraints of a mode or not."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np

from ..values import frozen


@frozen
class PointFrame:
    """What reading needs of a mode whose state is ``[z, z', xi]``, as `ExactMode` has it for a closed form."""

    n: int
    S: np.ndarray
    """Generator of the sources."""
    mode: tuple[int, ...] = ()
    undetermined: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    index: int = 0
    freedom: int = 0
    """Number of states that the mode has."""
    guard_element: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    """Owner of every guard in force."""
    path: str = "general"
    reason: str = ""
    """The equation, or else, that keeps the mode off the closed form."""

    def state(self, z: np.ndarray, slopes: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """The state vector at a point."""
        return np.concatenate([z, slopes, xi])

    @property
    def guard_target(self) -> np.ndarray:
        """Branches to which they lead."""
        return np.zeros(0, np.int64)

    @property
    def Gy(self) -> np.ndarray:
        """Guards over the state: none."""
        return np.zeros((0, 2 * self.n + len(self.S)))

    @cached_property
    def states(self) -> np.ndarray:
        """Places of ``z`` and ``z'``: sources follow."""
        return np.arange(2 * self.n)

    @cached_property
    def T(self) -> Any:
        """Takes the state to ``z``, sparse."""
        from scipy.sparse import csr_array, hstack, identity

        n = self.n
        return hstack([identity(n), csr_array((n, n + len(self.S)))], format="csr")

    @cached_property
    def Ay(self) -> Any:
        """Takes rows over the state without entries over ``z'`` to those of their derivatives, sparse."""
        from scipy.sparse import block_array, csr_array, identity

        n = self.n
        made: Any = block_array(
            [[None, identity(n), None], [csr_array((n, n)), None, None], [None, None, csr_array(self.S)]],
            format="csr",
        )
        return made

    @cached_property
    def sizes(self) -> tuple[Any, Any]:
        """Magnitudes of ``T`` and ``Ay``, which have no signs."""
        return self.T, abs(self.Ay)

    @cached_property
    def fastest(self) -> float:
        """Largest sum of the magnitudes of the coefficients of a rate."""
        return float(self.sizes[1].sum(axis=1).max(initial=0.0))
