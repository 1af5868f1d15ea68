"""Constraints among states: those of a mode with the equations they follow from, and those that hold in every mode."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..values import frozen
from .affine import AffineModel, Mode
from .columns import Columns
from .index_reduction import ModeRows, shuffle
from .scales import balance_of, column_weights

_CLEAR = 2.0**-36
"""Part of the largest pivot from which the least one is no rounding: an elimination takes 2**-46 of the terms for cancelled,
and its numbers grow by less than three digits."""


@frozen
class FoundConstraint:
    """One row ``states @ x + sources @ xi = 0`` without unknowns.

    Attributes
    ----------
    round : int
        Differentiations after which it appeared.
    states : ndarray, shape (nx,)
        Factors of the differentiated variables.
    sources : ndarray, shape (q,)
        Factors of the sources.
    weights : ndarray, shape (k, m)
        Equations it combines, differentiated 0 to ``k - 1`` times.
    dependent : int
        Core unknown it was solved for.
    """

    round: int
    states: np.ndarray
    sources: np.ndarray
    weights: np.ndarray
    dependent: int


def traced_constraints(
    model: AffineModel, mode: Mode, rounds: int, nonlinear: np.ndarray, settled: np.ndarray, read: np.ndarray
) -> list[FoundConstraint]:
    """Find the constraints that affine equations of a mode impose on its states, in the order of their appearance.

    Parameters
    ----------
    rounds : int
        Differentiations that the mode needs.
    nonlinear : (m,) array of bool
        Equations in force that are not affine; they are left out.
    settled : (k, ...) array
        Further rows, which give undetermined variables their values.
    read : (n,) array of bool
        Core unknowns that are solved for last.

    Notes
    -----
    The steps are those of the reduction itself, so that the same variables come out as dependent ones.
    """
    rows, columns = model.rows(mode), Columns.of(model)
    m, plain = len(rows), columns.table(rows)[~nonlinear]
    label = np.zeros((len(plain) + len(settled), m * (rounds + 1)))
    label[np.arange(len(plain)), np.flatnonzero(~nonlinear)] = 1.0
    table = np.vstack([plain, settled])
    reduced = ModeRows(model, np.hstack([table, label]), m, balance_of(model, rows), read)
    system = reduced.system
    labels, found = np.arange(table.shape[1], table.shape[1] + label.shape[1]), []
    for k, new in zip(range(rounds), shuffle(reduced), strict=False):
        states, sources = system.entries(new, columns.state), system.entries(new, columns.source)
        weights = system.entries(new, labels).reshape(len(new), rounds + 1, m)
        dependent = columns.x[system.pivot[new] - columns.state[0]]
        found += [
            FoundConstraint(k, *parts, dependent=int(j))
            for *parts, j in zip(states, sources, weights, dependent, strict=True)
        ]
    return found


def common_constraints(model: AffineModel) -> np.ndarray:
    """Constraints (k, n + q) over ``[z; xi]`` on the differentiated variables that hold in every mode.

    Equations that lie in all modes are eliminated and differentiated by themselves; what the branches of elements would
    determine stays open.
    """
    columns = Columns.of(model)
    table = columns.table(model.base)
    if _clearly_independent(table[:, columns.unknown]):
        return np.zeros((0, model.n + model.q))
    reduced = ModeRows(model, table, len(model.base), balance_of(model, model.base))
    found = np.concatenate([np.zeros(0, np.int64), *shuffle(reduced)])
    rows = np.zeros((len(found), model.n + model.q))
    rows[:, columns.x] = reduced.system.entries(found, columns.state)
    rows[:, model.n :] = reduced.system.entries(found, columns.source)
    return rows


def _clearly_independent(matrix: np.ndarray) -> bool:
    """Whether no combination of rows vanishes, nor nearly: the answer of an elimination, at a small part of its cost."""
    from scipy.linalg import qr

    if not matrix.size or len(matrix) > matrix.shape[1]:
        return not len(matrix)
    matrix = matrix * column_weights(matrix)
    largest = np.abs(matrix).max(axis=1)
    if not largest.all():
        return False
    found: Any = qr(matrix / largest[:, None], mode="r", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diag(found[0]))
    return bool(diagonal.min() > _CLEAR * diagonal.max())
