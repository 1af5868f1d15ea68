"""Kernels that follow the trajectories of one flow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..kernels.loading import Bound, Packed
from ..kernels.motion import FlowTerms


class FlowRoom:
    """Kernels for the trajectories of one flow, one after the other.

    Parameters
    ----------
    terms : tuple of arrays
        ``left``, ``right`` and ``function`` of the flow.
    functions : Packed
        The functions of its basis.
    limited : sequence of (reach, columns, decays)
        Groups of these that are exact over a reach.
    """

    __slots__ = ("_follow", "_start", "flow")

    def __init__(
        self,
        terms: tuple[np.ndarray, np.ndarray, np.ndarray],
        functions: Packed,
        limited: Sequence[tuple[float, np.ndarray, bool]],
    ) -> None:
        (left, right, function), size = terms, len(functions.record.power)
        ny, nt = left.shape
        grouped = np.zeros((len(limited), size), np.int64)
        for group, (_, columns, _) in enumerate(limited):
            grouped[group, columns] = 1
        reaches, decays = (
            np.array([g[0] for g in limited], float),
            np.array([g[2] for g in limited], np.int64),
        )
        self.flow = FlowTerms(
            np.ascontiguousarray(left), np.ascontiguousarray(right), function.astype(np.int64), reaches, decays, grouped,
            *map(np.zeros, (nt, ny, (ny, size), 1, size, ny)),
        )  # fmt: skip
        packed = Packed(self.flow)
        self._start, self._follow = Bound("start_flow", packed), Bound("follow_flow", functions, packed)

    def start(self, y0: np.ndarray) -> np.ndarray:
        """Coefficients of the trajectory through `y0`."""
        self.flow.begin[:] = y0
        self._start.run()
        return self.flow.C.copy()

    def follow(self, C: np.ndarray, h: float) -> np.ndarray:
        """State after ``h`` seconds of the trajectory with coefficients ``C``."""
        self.flow.C[:], self.flow.time[0] = C, h
        self._follow.run()
        return self.flow.end.copy()
