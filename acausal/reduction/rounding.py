"""What rounding leaves of a number, as a part of the magnitudes of the terms it is computed from."""

from __future__ import annotations

import numpy as np

from ..kernels.rounding import HALF, ROUNDING, SUMMED, UNIT

__all__ = ["HALF", "ROUNDING", "SUMMED", "TINY", "UNIT", "amplitudes"]

TINY = 1e-300
"""Keeps quotients from being those of zeros."""


def amplitudes(S: np.ndarray) -> np.ndarray:
    """Matrix by which the magnitudes of sources give at least their amplitudes: a sinusoid keeps its own where it vanishes."""
    found, (i, j) = np.eye(len(S)), np.nonzero(S)
    both = S[j, i] != 0.0
    i, j = i[both], j[both]
    found[i, j] += np.sqrt(np.abs(S[i, j] / S[j, i]))
    return found
