"""Values that a mode leaves undetermined: floating potentials, circulating flows.

They take the least-norm point of what the branches block, the common limit of equal leakage
on all open elements and equal resistance on all closed ones (Tikhonov regularisation). One
magnitude serves all variables of a unit: their own ones would make the leakages unequal.
"""

from __future__ import annotations

import numpy as np

from .affine import AffineModel, Balance, Mode, Rows, stack_rows
from .elimination import Elimination, product


def blocked_rows(model: AffineModel, mode: Mode, balance: Balance) -> tuple[Rows, np.ndarray]:
    """Complementary variables of all branches in force, and the magnitudes (k,) of such quantities in the network."""
    rows = stack_rows(
        [element.blocked[branch] for element, branch in zip(model.elements, mode, strict=True)], model
    )
    largest = model.largest_of_unit(balance.z)
    terms = np.hstack([np.abs(rows.A) * largest, np.abs(rows.E) * (largest / balance.T0)])
    magnitude = terms.max(axis=1, initial=0.0)
    magnitude[magnitude == 0.0] = 1.0
    return rows, magnitude


def settle(system: Elimination, free: np.ndarray, forms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Add the rows that make ``sum(forms**2)`` minimal over the free columns.

    Parameters
    ----------
    system : Elimination
        Receives one row per free direction: the normal equations of the least-squares problem.
    free : (f,) array of int
        Columns without pivot.
    forms : (k, N) array
        Affine forms over all columns of ``system``, scaled.

    Returns
    -------
    left : (g,) array of int
        Columns that no form depends on.
    rows : (f, N) array
        The rows added.
    """
    if not len(free):
        return free, np.zeros((0, len(system.row)))
    seen = product(forms, system.null_directions(free)).T
    rows = seen @ forms
    system.append(rows, (np.abs(seen) @ np.abs(forms)) ** 2)
    system.reduce(free)
    return free[system.row[free] < 0], rows


def settle_by_size(
    system: Elimination, free: np.ndarray, columns: np.ndarray, scale: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Make the scaled variables of ``columns`` themselves least norm over the free columns; returns as `settle`."""
    if not len(free):
        return free, np.zeros((0, len(system.row)))
    forms = np.zeros((len(columns), len(system.row)))
    forms[np.arange(len(columns)), columns] = 1.0 / scale
    return settle(system, free, forms)
