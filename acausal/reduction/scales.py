"""Magnitudes of all variables from those of sources, starts and nominals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .affine import AffineModel, Balance, Rows
from .double_double import places

NO_START = 1e-12
"""Magnitude, in the unit of the variable, below which a start may be rounding: such as a speed at the end of a run."""

MOST_DOUBLINGS = 60
"""Of a unit of time: from rounding of a second to ages, within which every model has its own."""
SWEEPS = 8
"""Passes over all equations; a variable keeps the largest value of the pass that first reaches it."""
EQUILIBRATING = 3
"""Sweeps of the equilibration: weights enter comparisons only, so that orders of magnitude suffice."""


def column_weights(matrix: np.ndarray) -> np.ndarray:
    """Column scales of a geometric equilibration; they enter comparisons only, never the values."""
    at, (m, n) = places(matrix), matrix.shape
    size, columns = np.log2(np.abs(matrix[at])), np.zeros(n)
    for _ in range(EQUILIBRATING):
        rows = _middle(size + columns[at[1]], at[0], m)
        columns = _middle(size + rows[at[0]], at[1], n)
    return np.exp2(columns)


def _middle(sizes: np.ndarray, at: np.ndarray, count: int) -> np.ndarray:
    """What takes the largest and the least of each group to the same distance from zero; zero for groups of none."""
    high, low = np.full(count, -np.inf), np.full(count, np.inf)
    np.maximum.at(high, at, sizes)
    np.minimum.at(low, at, sizes)
    empty = high < low
    high[empty] = low[empty] = 0.0
    return -0.5 * (high + low)


def propagate_scales(
    rows: Rows, known: np.ndarray, xi_scale: np.ndarray, T0: float, labels: np.ndarray
) -> np.ndarray:
    """Network scales: every equation passes its largest known term on to its unknown ones.

    Parameters
    ----------
    rows : Rows
        Equations of the model, those of all branches included; dense or sparse.
    known : (n,) array
        Magnitudes given by starts and nominals, 0 where there is none.
    xi_scale : (q,) array
        Magnitudes of the sources.
    T0 : float
        Time unit; ``x'`` counts as ``x / T0``.
    labels : (n,) array of int
        Variables with the same label have the same unit.

    Returns
    -------
    (n,) array
        Positive. What no equation reaches takes the largest magnitude of its unit, else 1.
    """
    equations, sources = _entries(rows, T0), _largest_of_rows(rows.B, xi_scale)
    given = np.abs(np.array(known, dtype=float))
    scale = _spread(equations, sources, np.where(given >= NO_START, given, 0.0))
    scale = _fill(scale, labels)
    small = (scale == 0.0) & (given > 0.0)
    if small.any():
        # Nothing is there to compare it with: it is small indeed.
        scale[small] = given[small]
        scale = _fill(_spread(equations, sources, scale), labels)
    return np.where(scale == 0.0, 1.0, scale)


def balance_of(model: AffineModel, rows: Rows) -> Balance:
    """Magnitudes for the analysis of some rows: from themselves and from nominals, all sources and the second counting as one."""
    if model.nominals is None:
        return Balance(model.scale, model.xi_scale, model.T0)
    units = np.arange(model.n) if model.units is None else model.units
    ones = np.ones(model.q)
    return Balance(propagate_scales(rows, model.nominals, ones, 1.0, units), ones, 1.0)


Sizes = Callable[[float], np.ndarray]
"""Time unit -> scales (n,) of all variables."""


def longer_unit(sizes: Sizes, T0: float, least: tuple[Any, np.ndarray]) -> float:
    """Time unit in which sums of variables reach magnitudes that they have whatever moves, as far as they do in any.

    In a short unit the equations say of a position no more than how far it moves, beside lengths of a linkage that are
    larger by decades. Speeds and forces that follow from the one and from the other do not go together.

    Parameters
    ----------
    least : (k, n) matrix and (k,) array
        The sums and the magnitudes.
    """
    sums, least_sizes = abs(least[0]), least[1]
    missing = sums @ sizes(T0) < least_sizes
    if missing.any():
        missing &= sums @ sizes(T0 * 2.0**MOST_DOUBLINGS) >= least_sizes
    while missing.any():
        T0 *= 2.0
        missing &= sums @ sizes(T0) < least_sizes
    return T0


def shorter_unit(sizes: Sizes, T0: float, known: np.ndarray, bounds: np.ndarray) -> float:
    """Time unit, at most the one given, in which the first variable takes no more than it has whatever moves.

    In a long unit the equations say of a position how far it would fall freely, beside lengths of a linkage that are smaller by
    decades. A linkage has a time of its own, and the length of a run none.

    Parameters
    ----------
    known, bounds : (n,) arrays
        Magnitudes given by starts and nominals, and those that variables do not exceed; 0 for none.
    """
    # What starts and sources say at any time does not depend on the unit.
    among, few, many = (bounds > 0.0) & (np.abs(known) < NO_START), 0, MOST_DOUBLINGS
    if not among.any():
        return T0
    largest = sizes(T0)
    among &= sizes(T0 * 2.0**-many) < np.minimum(bounds, largest)
    if not among.any() or (largest < bounds)[among].any():
        return T0
    while many - few > 1:
        middle = (few + many) // 2
        below = (sizes(T0 * 2.0**-middle) < bounds)[among].any()
        few, many = (few, middle) if below else (middle, many)
    return T0 * 2.0**-few


def _spread(
    equations: tuple[np.ndarray, np.ndarray, np.ndarray], sources: np.ndarray, scale: np.ndarray
) -> np.ndarray:
    """Scales of what equations reach from those that are known."""
    (row, col, size), scale = equations, scale.copy()
    for _ in range(SWEEPS):
        largest, offered = sources.copy(), np.zeros_like(scale)
        np.maximum.at(largest, row, size * scale[col])
        np.maximum.at(offered, col, largest[row] / size)
        new = (scale == 0.0) & (offered > 0.0)
        if not new.any():
            break
        scale[new] = offered[new]
    return scale


def _entries(rows: Rows, T0: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, columns and magnitudes of all terms; a derivative counts as its variable over the time unit."""
    of_values, of_slopes = _magnitudes(rows.A), _magnitudes(rows.E)
    row, col, size = (np.concatenate(parts) for parts in zip(of_values, of_slopes, strict=True))
    size[len(of_values[0]) :] /= T0
    return row, col, size


def _largest_of_rows(B: Any, xi_scale: np.ndarray) -> np.ndarray:
    row, col, size = _magnitudes(B)
    largest = np.zeros(B.shape[0])
    np.maximum.at(largest, row, size * xi_scale[col])
    return largest


def _magnitudes(matrix: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, columns and magnitudes of the entries that are not zero."""
    if isinstance(matrix, np.ndarray):
        row, col = places(matrix)
        return row, col, np.abs(matrix[row, col])
    entries = matrix.tocoo()
    some = entries.data != 0.0
    return entries.row[some], entries.col[some], np.abs(entries.data[some])


def _fill(scale: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Scales with the largest one of the same unit where there is none, if there is one of that unit."""
    _, unit = np.unique(labels, return_inverse=True)
    largest = np.zeros(unit.max(initial=-1) + 1)
    np.maximum.at(largest, unit, scale)
    return np.where(scale == 0.0, largest[unit], scale)
