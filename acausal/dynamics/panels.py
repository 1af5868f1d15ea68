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
PANEL = 10.0
"""Longest panel of a turning function in its time units: what a rule of 21 points integrates to rounding."""
DECAYED = 37.0
"""Time constants after which a function is below the rounding of its start."""


def longest_panel(basis: Basis, C: np.ndarray, length: float) -> float:
    """Longest panel that resolves the turning functions of a combination; inf where none turns within `length`."""
    present = C.any(0) & (basis.speed * length > FAST) & (np.arange(basis.size) >= basis.n_real)
    return PANEL * float(basis.time_unit[present].min(initial=np.inf))


def many_periods(basis: Basis, C: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Mask over combinations (k, m, basis.size): they turn too often within lengths (k,) for the first panels."""
    many = np.zeros(len(length), bool)
    shortest = MOST_PANELS * PANEL * float(basis.time_unit[basis.n_real :].min(initial=np.inf))
    for i in np.flatnonzero(length > shortest).tolist():
        many[i] = length[i] > MOST_PANELS * longest_panel(basis, C[i], float(length[i]))
    return many


def resolved_panels(basis: Basis, C: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Longest panels (k,) at times `left` (k,) that resolve what turns and has not decayed there."""
    turning = np.flatnonzero(C.any(0) & (np.arange(basis.size) >= basis.n_real))
    sigma = basis.sigma[turning]
    with np.errstate(divide="ignore"):
        until = np.where(sigma < 0.0, DECAYED / -sigma, np.inf)
    alive = left[:, None] < until
    return PANEL * np.where(alive, basis.time_unit[turning], np.inf).min(axis=1, initial=np.inf)


def first_edges(basis: Basis, C: np.ndarray, h0: float, h1: float) -> np.ndarray:
    """Ends of panels over ``[h0, h1]``: graded where functions decay, no longer than what a turning one needs."""
    length = h1 - h0
    if basis.fastest * length <= FAST:
        return np.array([h0, h1])
    present = C.any(0) & (basis.speed * length > FAST)
    decay = -basis.sigma[present]
    edges = [h0 + layer / rate for rate in decay[decay > 0] for layer in LAYERS if layer < rate * length]
    # A turning function matters as long as it has not decayed; halving resolves what is shorter than that.
    panel = longest_panel(basis, C, length)
    if np.isfinite(panel):
        edges += np.linspace(h0, h1, min(MOST_PANELS, int(np.ceil(length / panel)) + 1)).tolist()
    return np.unique(np.array([h0, *edges, h1]))
