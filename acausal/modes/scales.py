"""Magnitudes of all variables from those of sources, starts and nominals."""

from __future__ import annotations

import numpy as np

from .affine import Rows


def propagate_scales(
    rows: Rows, known: np.ndarray, xi_scale: np.ndarray, T0: float, labels: np.ndarray, sweeps: int = 8
) -> np.ndarray:
    """Network scales: every equation passes its largest known term on to its unknown ones.

    Parameters
    ----------
    rows : Rows
        Equations of the model, those of all branches included.
    known : (n,) array
        Magnitudes given by starts and nominals, 0 where there is none.
    xi_scale : (q,) array
        Magnitudes of the sources.
    T0 : float
        Time unit; ``x'`` counts as ``x / T0``.
    labels : (n,) array of int
        Variables with the same label have the same unit.
    sweeps : int
        Number of passes over all equations. A variable keeps the largest value of the pass that
        first reaches it.

    Returns
    -------
    (n,) array
        Positive. What no equation reaches takes the largest magnitude of its unit, else 1.
    """
    size = np.maximum(np.abs(rows.A), np.abs(rows.E) / T0)
    sources = np.max(np.abs(rows.B) * xi_scale, axis=1, initial=0.0)
    scale = np.abs(np.array(known, dtype=float))
    inverse = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)
    for _ in range(sweeps):
        largest = np.maximum(np.max(size * scale, axis=1, initial=0.0), sources)
        offered = np.max(largest[:, None] * inverse, axis=0, initial=0.0)
        new = (scale == 0.0) & (offered > 0.0)
        if not new.any():
            break
        scale[new] = offered[new]
    return _fill(scale, labels)


def _fill(scale: np.ndarray, labels: np.ndarray) -> np.ndarray:
    filled = scale.copy()
    for j in np.flatnonzero(scale == 0.0):
        largest = np.max(scale[labels == labels[j]], initial=0.0)
        filled[j] = largest if largest > 0.0 else 1.0
    return filled
