"""Integer rows and incidence patterns: the array form every structural pass works on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..values import frozen

if TYPE_CHECKING:
    from scipy.sparse import csr_array

INT = np.int64


@frozen
class IntegerRows:
    """Sparse integer matrix by rows; row i reads ``sum_k val[k] * x[col[k]]`` for ``ptr[i] <= k < ptr[i + 1]``.

    Attributes
    ----------
    ptr : ndarray of int64, shape (m + 1,)
        Start of every row.
    col, val : ndarray of int64, shape (nnz,)
        Column ids and coefficients.
    n : int
        Number of columns.
    """

    ptr: np.ndarray
    col: np.ndarray
    val: np.ndarray
    n: int

    @classmethod
    def from_csr(cls, matrix: csr_array, n: int) -> IntegerRows:
        """Wrap a sparse matrix of n columns whose values are integers."""
        ptr, col, val = (np.asarray(part, INT) for part in (matrix.indptr, matrix.indices, matrix.data))
        return cls(ptr, col, val, n)

    @classmethod
    def from_triplets(
        cls, row: np.ndarray, col: np.ndarray, val: np.ndarray, shape: tuple[int, int]
    ) -> IntegerRows:
        """Collect triplets: duplicates are summed, zeros dropped, columns ascend within a row."""
        from scipy.sparse import csr_array

        matrix = csr_array((np.asarray(val, INT), (row, col)), shape=shape)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return cls.from_csr(matrix, shape[1])

    @classmethod
    def empty(cls, n: int) -> IntegerRows:
        """No rows, over ``n`` columns."""
        return cls(np.zeros(1, INT), np.zeros(0, INT), np.zeros(0, INT), n)

    @classmethod
    def from_dicts(cls, rows: Sequence[dict[int, int]], n: int) -> IntegerRows:
        """Rows given as ``{column: coefficient}``, stored with ascending columns."""
        ordered = [sorted(row.items()) for row in rows]
        ptr = np.cumsum([0, *(len(row) for row in ordered)], dtype=INT)
        flat = np.array([entry for row in ordered for entry in row], INT).reshape(-1, 2)
        return cls(ptr, flat[:, 0].copy(), flat[:, 1].copy(), n)

    def csr(self) -> csr_array:
        """Return the same matrix for scipy."""
        from scipy.sparse import csr_array

        return csr_array((self.val, self.col, self.ptr), shape=(self.m, self.n))

    @property
    def m(self) -> int:
        """Number of rows."""
        return len(self.ptr) - 1

    @property
    def lengths(self) -> np.ndarray:
        """Entries per row, shape (m,)."""
        return np.diff(self.ptr)

    @property
    def row(self) -> np.ndarray:
        """Row of every entry, shape (nnz,)."""
        return np.repeat(np.arange(self.m), self.lengths)

    def compress(self) -> IntegerRows:
        """Sum duplicates, drop zeros, sort columns."""
        return IntegerRows.from_triplets(self.row, self.col, self.val, (self.m, self.n))

    def primitive(self) -> IntegerRows:
        """Divide every row by the greatest common divisor of its coefficients."""
        if not len(self.val) or np.abs(self.val).max() == 1:
            return self
        filled = np.flatnonzero(self.lengths)
        divisor = np.gcd.reduceat(np.abs(self.val), self.ptr[filled])
        return IntegerRows(self.ptr, self.col, self.val // np.repeat(divisor, self.lengths[filled]), self.n)

    def take(self, rows: np.ndarray) -> IntegerRows:
        """Select rows by id or by mask, in the given order."""
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        ptr, entry = gather(self.ptr, rows)
        return IntegerRows(ptr, self.col[entry], self.val[entry], self.n)

    def where(self, entry: np.ndarray) -> IntegerRows:
        """Keep only the entries of a mask of shape (nnz,)."""
        ptr = np.concatenate(([0], np.cumsum(entry)))[self.ptr]
        return IntegerRows(ptr, self.col[entry], self.val[entry], self.n)

    def times(self, other: IntegerRows) -> IntegerRows:
        """Matrix product, compressed."""
        return IntegerRows.from_csr(self.csr() @ other.csr(), other.n).compress()

    def transpose(self) -> IntegerRows:
        """Swap rows and columns, compressed."""
        return IntegerRows.from_triplets(self.col, self.row, self.val, (self.n, self.m))

    def count(self, columns: np.ndarray) -> np.ndarray:
        """Entries per row that lie in the columns of a mask of shape (n,)."""
        return np.diff(np.concatenate(([0], np.cumsum(columns[self.col])))[self.ptr])

    def columns(self, columns: np.ndarray) -> IntegerRows:
        """Select columns by id; they are renumbered in the given order, all others are dropped."""
        position = np.full(self.n, -1, INT)
        position[columns] = np.arange(len(columns))
        kept = self.where(position[self.col] >= 0)
        return IntegerRows(kept.ptr, position[kept.col], kept.val, len(columns))

    def over(self, n: int, position: np.ndarray) -> IntegerRows:
        """Rename column j to ``position[j]`` among ``n`` columns."""
        return IntegerRows(self.ptr, position[self.col], self.val, n)

    def substitute(self, columns: np.ndarray, definitions: IntegerRows) -> IntegerRows:
        """Replace column ``columns[k]`` by row k of ``definitions`` (over the same columns), then compress."""
        position = np.full(self.n, -1, INT)
        position[columns] = np.arange(len(columns))
        which = position[self.col]
        hit = which >= 0
        if not hit.any():
            return self
        row = self.row
        terms = definitions.take(which[hit])
        new_row = np.concatenate((row[~hit], np.repeat(row[hit], terms.lengths)))
        new_col = np.concatenate((self.col[~hit], terms.col))
        new_val = np.concatenate((self.val[~hit], terms.val * np.repeat(self.val[hit], terms.lengths)))
        return IntegerRows.from_triplets(new_row, new_col, new_val, (self.m, self.n))


def gather(ptr: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Start of every chosen row in a new array, and the old position of each of its entries."""
    count = ptr[rows + 1] - ptr[rows]
    start = np.concatenate(([0], np.cumsum(count)))
    return start, np.arange(start[-1]) + np.repeat(ptr[rows] - start[:-1], count)


def dense_rows(matrix: Any, which: np.ndarray) -> np.ndarray:
    """Some rows (k, n) of a matrix that is sparse by rows: to slice it takes longer than to read few of them."""
    if isinstance(matrix, np.ndarray):
        return matrix[which]
    start, entry = gather(matrix.indptr, which)
    found = np.zeros((len(which), matrix.shape[1]))
    found[np.repeat(np.arange(len(which)), np.diff(start)), matrix.indices[entry]] = matrix.data[entry]
    return found


def stack(*parts: IntegerRows) -> IntegerRows:
    """Put rows over the same columns below each other."""
    shift = np.cumsum([0, *(len(part.col) for part in parts)])
    ptr = np.concatenate(
        [[0], *(part.ptr[1:] + offset for part, offset in zip(parts, shift, strict=False))]
    ).astype(INT)
    col = np.concatenate([part.col for part in parts])
    val = np.concatenate([part.val for part in parts])
    return IntegerRows(ptr, col, val, parts[0].n)


@frozen
class Incidence:
    """Which unknowns occur in which equations; without duplicates, ids ascending within an equation.

    Attributes
    ----------
    ptr : ndarray of int64, shape (m + 1,)
        Start of every equation.
    col : ndarray of int64, shape (nnz,)
        Unknowns.
    n : int
        Number of unknowns.
    """

    ptr: np.ndarray
    col: np.ndarray
    n: int

    @classmethod
    def from_pairs(cls, row: np.ndarray, col: np.ndarray, shape: tuple[int, int]) -> Incidence:
        """Collect pairs of equation and unknown; pairs may repeat."""
        count = IntegerRows.from_triplets(row, col, np.ones(len(row), INT), shape)
        return cls(count.ptr, count.col, count.n)

    @property
    def m(self) -> int:
        """Number of equations."""
        return len(self.ptr) - 1

    @property
    def row(self) -> np.ndarray:
        """Equation of every pair, shape (nnz,)."""
        return np.repeat(np.arange(self.m), np.diff(self.ptr))

    def unknowns(self, equations: np.ndarray) -> np.ndarray:
        """Unknowns of several equations, one after the other."""
        return self.col[gather(self.ptr, equations)[1]]

    def restricted(self, rows: np.ndarray, cols: np.ndarray) -> Incidence:
        """Some equations with those of their unknowns that are among some, renumbered in the given orders."""
        position = np.full(self.n, -1, INT)
        position[cols] = np.arange(len(cols))
        ptr, entry = gather(self.ptr, rows)
        row, col = np.repeat(np.arange(len(rows)), np.diff(ptr)), position[self.col[entry]]
        inside = col >= 0
        return Incidence.from_pairs(row[inside], col[inside], (len(rows), len(cols)))

    def transpose(self) -> Incidence:
        """Swap equations and unknowns."""
        return Incidence.from_pairs(self.col, self.row, (self.n, self.m))

    def csr(self) -> csr_array:
        """Return a matrix of ones for scipy."""
        from scipy.sparse import csr_array

        return csr_array((np.ones(len(self.col), np.int32), self.col, self.ptr), shape=(self.m, self.n))
