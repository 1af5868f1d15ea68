"""What rounding leaves of a number, as a part of the magnitudes of the terms it is computed from."""

from __future__ import annotations

import numpy as np

from ..kernels.rounding import SUMMED, UNIT

__all__ = ["HALF", "ROUNDING", "SUMMED", "TINY", "UNIT", "amplitudes"]

HALF = UNIT**0.5
"""Half of the digits: the square of what is smaller is rounding, and rounding of a square may be as large."""
TINY = 1e-300
"""Keeps quotients from being those of zeros."""
ROUNDING = 1e-14
"""Part of its terms below which a sum is zero, some fifty roundings of coefficients and values: for constraints as for guards,
both speak of the same left limits."""


def amplitudes(S: np.ndarray) -> np.ndarray:
    """Matrix by which the magnitudes of sources give at least their amplitudes: a sinusoid keeps its own where it vanishes."""
    found, (i, j) = np.eye(len(S)), np.nonzero(S)
    both = S[j, i] != 0.0
    i, j = i[both], j[both]
    found[i, j] += np.sqrt(np.abs(S[i, j] / S[j, i]))
    return found
