"""What rounding leaves of a number, as a part of the magnitudes of the terms it is computed from."""

from __future__ import annotations

import numpy as np

from ..kernels.rounding import HALF, ROUNDING, SUMMED, UNIT

__all__ = ["HALF", "ROUNDING", "SUMMED", "TINY", "UNIT", "amplitudes", "terms_of_sources"]

TINY = 1e-300
"""Keeps quotients from being those of zeros."""


def amplitudes(S: np.ndarray) -> np.ndarray:
    """Matrix by which the magnitudes of sources give at least their amplitudes: a sinusoid keeps its own where it vanishes."""
    found, (i, j) = np.eye(len(S)), np.nonzero(S)
    both = S[j, i] != 0.0
    i, j = i[both], j[both]
    found[i, j] += np.sqrt(np.abs(S[i, j] / S[j, i]))
    return found


def terms_of_sources(S: np.ndarray, size: np.ndarray, h: float) -> np.ndarray:
    """Magnitudes (q,) of the terms by which sources of these amplitudes move for ``h`` seconds.

    A sinusoid keeps its own; what grows with a power of the time has the terms of its Taylor polynomial.
    """
    driven = np.where(S.T == 0.0, np.abs(S), 0.0)
    np.fill_diagonal(driven, 0.0)
    found = term = size
    for k in range(1, len(S)):
        term = driven @ term * (h / k)
        if not term.any():
            break
        found = found + term
    return found
