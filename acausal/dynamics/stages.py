"""Stages of one step, made one by one or by a kernel."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..kernels.linear_systems import SmallSystem
from ..kernels.stages import Stages


class StageKernel(Protocol):
    """Makes stages of a problem natively, as far as it can."""

    @property
    def stages(self) -> Stages:
        """What it works on. Steppers of one motion share it: each makes all its stages anew in every step."""
        ...

    def follow(self, times: np.ndarray) -> int:
        """Make stages at these times (s,) from the next one on; return how many rates it has found."""
        ...


def new_system(n: int) -> SmallSystem:
    """Room for a linear system of ``n`` unknowns that compete in their own units."""
    return SmallSystem(np.zeros((n, n)), np.zeros(n, np.int64), np.zeros(n), np.ones(n))


def new_stages(count: int, n: int, system: SmallSystem) -> Stages:
    """Room for a step of ``count`` stages with ``n`` components, and what a kernel solves for the parts."""
    square, rows = (count, count), (count, n)
    return Stages(system, np.zeros(3, np.int64), *map(np.zeros, (n, square, square, rows, rows, rows)))
