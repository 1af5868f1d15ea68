"""Sparse matrices of one pattern whose entries are combinations of constants and slopes of nonlinear rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...reduction.large.reduction import row_of_argument
from ...values import frozen

PIVOT = 1e-3
"""Diagonal entry, relative to the largest of its column, that serves as pivot."""
MATCHED: dict[str, Any] = {
    "permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": PIVOT, "options": {"SymmetricMode": True},
}  # fmt: skip
"""Where rows are matched with columns the order of elimination is taken from the pattern, pivots from the diagonal."""
PANEL = 4
"""Columns that are factorised together: factors of networks have short columns, and wide panels work on zeros."""


class Factors:
    """LU factors of a sparse matrix.

    Parameters
    ----------
    matrix : csc_array
    exact : bool
        The matrix is the same everywhere: one solution is enough.

    Raises
    ------
    LinAlgError
        For a singular matrix.
    """

    def __init__(self, matrix: Any, exact: bool = False) -> None:
        from scipy.sparse.linalg import splu

        self.exact = exact
        diagonal = matrix.diagonal()
        if matrix.nnz == np.count_nonzero(diagonal) == len(diagonal):
            self.solve = diagonal.__rtruediv__
            return
        try:
            lu = splu(matrix, panel_size=PANEL, **(MATCHED if diagonal.all() else {}))
        except RuntimeError as singular:
            raise np.linalg.LinAlgError from singular
        self.solve = lu.solve


@frozen
class Pattern:
    """Layout of ``E + R D`` (over derivatives) and ``A + R Z`` (over variables), with ``R`` the slopes of nonlinear rows.

    Entries are stored by columns. ``slopes`` and ``values`` are constant parts; ``of_slopes`` and ``of_values`` turn the
    slopes of all nonlinear rows by their arguments into what is added to them.
    """

    n: int
    indices: np.ndarray
    indptr: np.ndarray
    slopes: np.ndarray
    values: np.ndarray
    of_slopes: Any
    of_values: Any
    differentiated: np.ndarray
    """Mask over the entries: their column is a differentiated variable."""
    of_unknowns: tuple[np.ndarray, np.ndarray, np.ndarray]
    """Entries that are ever different from zero in the matrix over the unknowns, with their rows and ends of columns."""

    @classmethod
    def of(
        cls, E: Any, A: Any, nonlinear: np.ndarray, Z: Any, D: Any, owner: np.ndarray, states: np.ndarray
    ) -> Pattern:
        """Lay out the matrices.

        Parameters
        ----------
        E, A : (n, n) csr_array
        nonlinear : (n,) array
            Nonlinear row of every row, -1 for affine ones.
        Z, D : (arguments, n) csr_array
            Arguments of the nonlinear rows over variables and derivatives.
        owner : (arguments,) array
            Nonlinear row of every argument.
        states : array of int
            Differentiated variables.
        """
        from scipy.sparse import csr_array

        n, own = len(nonlinear), row_of_argument(nonlinear, owner)
        parts = [_entries(E, None), _entries(A, None), _entries(D, own), _entries(Z, own)]
        place = np.concatenate([col * n + row for row, col, _, _ in parts])
        unique, at = np.unique(place, return_inverse=True)
        ends = np.cumsum([0, *(len(p[0]) for p in parts)])
        slot = [at[a:b] for a, b in zip(ends[:-1], ends[1:], strict=True)]
        row, column = (unique % n).astype(np.int32), unique // n
        mask = np.zeros(n, bool)
        mask[states] = True
        differentiated = mask[column]
        slopes, values = np.zeros(len(unique), bool), np.zeros(len(unique), bool)
        for k, present in enumerate((slopes, values, slopes, values)):
            present[slot[k]] = True
        kept = np.flatnonzero(np.where(differentiated, slopes, values))

        def constant(k: int) -> np.ndarray:
            return np.bincount(slot[k], parts[k][2], len(unique))

        def moving(k: int) -> Any:
            _, _, value, argument = parts[k]
            return csr_array((value, (slot[k], argument)), shape=(len(unique), len(owner)))

        def ends_of(columns: np.ndarray) -> np.ndarray:
            return np.searchsorted(columns, np.arange(n + 1)).astype(np.int32)

        return cls(
            n, row, ends_of(column), constant(0), constant(1), moving(2), moving(3), differentiated,
            (kept, row[kept], ends_of(column[kept])),
        )  # fmt: skip

    def parts(self, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Entries over derivatives and over variables."""
        if not len(gradient):
            return self.slopes, self.values
        return self.slopes + self.of_slopes @ gradient, self.values + self.of_values @ gradient

    def matrix(self, data: np.ndarray) -> Any:
        """The matrix with these entries."""
        from scipy.sparse import csc_array

        return csc_array((data, self.indices, self.indptr), shape=(self.n, self.n))

    def over_unknowns(self, gradient: np.ndarray) -> Any:
        """Matrix over the unknowns, without the places where only the other part has entries."""
        from scipy.sparse import csc_array

        slopes, values = self.parts(gradient)
        kept, indices, ends = self.of_unknowns
        data = np.where(self.differentiated, slopes, values)[kept]
        return csc_array((data, indices, ends), shape=(self.n, self.n))


def _entries(matrix: Any, row_of: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Row, column, value and number of the own row of every entry; entries whose row is -1 are left out."""
    entries = matrix.tocoo()
    own = entries.row.astype(np.int64)
    row = own if row_of is None else row_of[own]
    some = (row >= 0) & (entries.data != 0.0)
    return row[some], entries.col[some].astype(np.int64), entries.data[some], own[some]
