"""Columns of the elimination of a mode, and the part of it that many models have in common."""

from __future__ import annotations

import numpy as np

from ..values import frozen
from .affine import AffineModel, Mode, Rows
from .elimination import Elimination
from .scales import column_weights


@frozen
class Columns:
    """Columns of the elimination: unknowns (``x_j'`` in place of a differentiated ``z_j``), x, xi."""

    x: np.ndarray
    unknown: np.ndarray
    state: np.ndarray
    source: np.ndarray

    @classmethod
    def of(cls, model: AffineModel) -> Columns:
        """Number the columns of a model."""
        x = np.flatnonzero(model.differentiated)
        known = model.n + np.arange(len(x) + model.q)
        return cls(x, np.arange(model.n), known[: len(x)], known[len(x) :])

    def table(self, rows: Rows) -> np.ndarray:
        """Rows over all columns."""
        unknown = rows.A.copy()
        unknown[:, self.x] = rows.E[:, self.x]
        return np.hstack([unknown, rows.A[:, self.x], rows.B])


@frozen
class Begun:
    """The elimination of the rows of a mode that are the same for many models, as far as it goes without the others."""

    which: np.ndarray
    """These rows."""
    table: np.ndarray
    system: Elimination

    @classmethod
    def of(cls, model: AffineModel, mode: Mode, which: np.ndarray) -> Begun:
        """Begin with some rows of a mode."""
        columns = Columns.of(model)
        table = columns.table(model.rows(mode).take(which))
        weight = np.ones(table.shape[1])
        weight[columns.unknown] = column_weights(table[:, columns.unknown])
        system = Elimination(table, weight)
        system.reduce(columns.unknown, waits=True)
        return cls(which, table, system)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays: of the rows as they were given, and of the numbers and estimates that the elimination holds."""
        return 6 * self.table.nbytes

    def suits(self, table: np.ndarray) -> bool:
        """Whether all rows of a mode have these among them."""
        return np.array_equal(table[self.which], self.table)

    def followed_by(self, table: np.ndarray, weight: np.ndarray) -> Elimination:
        """The elimination of all rows of a mode, begun with these, with the typical magnitudes of its columns."""
        return self.system.followed_by(np.delete(table, self.which, axis=0), weight)
