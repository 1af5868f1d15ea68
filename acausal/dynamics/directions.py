"""Directions for tests at one more point, and for iterations on vectors."""

from __future__ import annotations

import numpy as np


def generic_direction(n: int, turn: int = 0) -> np.ndarray:
    """Return a vector that no structure of a problem is orthogonal to, the same in every run.

    Its components, cosines of angles that are incommensurable with a turn, repeat nowhere, vanish nowhere and have no
    pattern of signs: neither equal parts nor symmetries cancel in it, as they would in a vector of ones.

    Parameters
    ----------
    n : int
        Number of components, each below one in magnitude.
    turn : int
        Numbers further directions.
    """
    return np.cos(1.0 + 1.7 * np.arange(n) + turn)
