"""First panels of a quadrature along a combination of closed-form functions."""

from __future__ import annotations

import numpy as np

from .basis import Basis

FAST = 4.0
"""Time constants or radians of one panel above which the first panels are made shorter."""
LAYERS = (2.0, 6.0, 16.0, 40.0)
"""Ends of the first panels of a decaying function, in time constants."""
MOST_PANELS = 256
"""First panels for turning functions; halving does the rest."""


def first_edges(basis: Basis, C: np.ndarray, h0: float, h1: float) -> np.ndarray:
    """Ends of panels over ``[h0, h1]``: graded where functions decay, no longer than what a turning one needs."""
    length = h1 - h0
    if basis.fastest * length <= FAST:
        return np.array([h0, h1])
    present = C.any(0) & (basis.speed * length > FAST)
    decay = -basis.sigma[present]
    edges = [h0 + layer / rate for rate in decay[decay > 0] for layer in LAYERS if layer < rate * length]
    turning = basis.time_unit[present & (np.arange(basis.size) >= basis.n_real)]
    # A turning function matters as long as it has not decayed; halving resolves what is shorter than that.
    panel = 10.0 * turning.min(initial=np.inf)
    if np.isfinite(panel):
        edges += np.linspace(h0, h1, min(MOST_PANELS, int(np.ceil(length / panel)) + 1)).tolist()
    return np.unique(np.array([h0, *edges, h1]))
