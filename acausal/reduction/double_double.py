"""Error-free products: residuals of a decomposition in twice the working precision.

A stiff matrix times one of its slow vectors cancels to far below the rounding
error of its products. Everything the flow keeps of a matrix (eigenvalues,
bases) is therefore corrected once with residuals formed here.

Forms of a mode over its state vector are composed with them where their terms cancel. A variable that is defined as a short sum,
as the potential between a large loss and a small one in series, is a difference of large numbers over the unknowns that were
kept. These have all their digits, the difference has those that are left. Where a sum is so much smaller than its terms, what
rounding has left of the unknowns takes part in it.

References
----------
Dekker, "A floating-point technique for extending the available precision",
Numerische Mathematik 18 (1971).
Ogita, Rump, Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..kernels.rounding import SPLITTER
from .rounding import SUMMED, UNIT

Complex = NDArray[np.complexfloating]

BATCH = 2**17
"""Elements of products formed together."""
FEW = 0.1
"""Part of the entries of a matrix up to which their indices cost less than products with zero."""

_MANY = 2000
"""Entries from which on a comparison finds the places of few sooner than `numpy.nonzero`: ten times as fast."""


def places(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the entries that are not zero, row by row."""
    if matrix.size < _MANY:
        row, column = matrix.nonzero()
        return row, column
    return np.divmod(np.flatnonzero(matrix != 0.0), matrix.shape[1])


def split(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """High and low half of every element; their products are exact."""
    t = SPLITTER * a
    high = t - (t - a)
    return high, a - high


def two_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rounded product and its rounding error."""
    ah, al = split(a)
    bh, bl = split(b)
    p = a * b
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


class Accumulator:
    """Sum of a matrix and of matrix products, kept as an unevaluated pair of doubles."""

    def __init__(self, first: np.ndarray) -> None:
        self.high = np.array(first, dtype=float, order="C")
        self.low = np.zeros(self.high.shape)

    def add(self, a: np.ndarray, b: np.ndarray) -> None:
        """Add the elementwise product of two arrays that broadcast to the shape."""
        p, error = two_product(a, b)
        self._sum(p)
        self.low += error

    def add_product(self, a: np.ndarray, b: np.ndarray) -> None:
        """Add the matrix product ``a @ b``."""
        if np.count_nonzero(a) < FEW * a.size:
            self.add_rows(a, b)
            return
        step = max(1, BATCH // self.high.size)
        for start in range(0, a.shape[1], step):
            p, error = two_product(a.T[start : start + step, :, None], b[start : start + step, None, :])
            for slab in p:
                self._sum(slab)
            self.low += error.sum(0)

    def add_rows(self, a: np.ndarray, b: np.ndarray) -> None:
        """Add the matrix product ``a @ b`` of a matrix ``a`` with few entries in each row."""
        row, column = places(a)
        if np.count_nonzero(b) < FEW * b.size:
            self._add_pairs(row, column, a[row, column], b)
            return
        place = np.arange(len(row)) - np.searchsorted(row, row)
        for k in range(place.max(initial=-1) + 1):
            at = row[place == k], column[place == k]
            _add_at(self.high, self.low, at[0], *two_product(a[at][:, None], b[at[1]]))

    def _add_pairs(self, row: np.ndarray, column: np.ndarray, values: np.ndarray, b: np.ndarray) -> None:
        """The same for the entries of ``a`` and a matrix ``b`` that has few: products of these alone."""
        inner, outer = places(b)
        first = np.searchsorted(inner, np.arange(len(b) + 1))
        count = first[column + 1] - first[column]
        # All pairs of an entry of ``a`` and one of the row of ``b`` that it meets.
        pair = np.repeat(np.arange(len(row)), count)
        other = np.arange(len(pair)) + np.repeat(first[column] - np.cumsum(count) + count, count)
        at = row[pair] * b.shape[1] + outer[other]
        order = np.argsort(at, kind="stable")
        at, pair, other = at[order], pair[order], other[order]
        p, error = two_product(values[pair], b[inner[other], outer[other]])
        place = np.arange(len(at)) - np.searchsorted(at, at)
        high, low = self.high.reshape(-1), self.low.reshape(-1)
        for k in range(place.max(initial=-1) + 1):
            now = place == k
            _add_at(high, low, at[now], p[now], error[now])

    def correct(self, low: np.ndarray) -> None:
        """Add what is no larger than the rounding of the sum."""
        self.low += low

    def _sum(self, p: np.ndarray) -> None:
        total = self.high + p
        z = total - self.high
        self.low += (self.high - (total - z)) + (p - z)
        self.high = total

    @property
    def value(self) -> np.ndarray:
        """The sum, rounded once."""
        return self.high + self.low


def _add_at(high: np.ndarray, low: np.ndarray, at: np.ndarray, p: np.ndarray, error: np.ndarray) -> None:
    """Add numbers with their errors at different places of a sum."""
    before = high[at]
    total = before + p
    z = total - before
    low[at] += (before - (total - z)) + (p - z) + error
    high[at] = total


def residual(A: NDArray[np.float64] | Complex, P: Complex, T: Complex) -> Complex:
    """``A P - P T``, every element as if computed in twice the working precision.

    Parameters
    ----------
    A : (n, n), real or complex
    P : (n, m), complex
    T : (m, m), or (m,) for a diagonal matrix; complex
    """
    m = P.shape[1]
    acc = Accumulator(np.zeros((len(A), 2 * m)))
    wide, rotated = _add_complex_product(acc, A, P)
    if T.ndim == 1:
        acc.add(wide, np.tile(-T.real, 2))
        if T.imag.any():
            acc.add(rotated, np.tile(-T.imag, 2))
    else:
        acc.add_product(wide[:, :m], np.hstack([-T.real, -T.imag]))
        acc.add_product(wide[:, m:], np.hstack([T.imag, -T.real]))
    r = acc.value
    return r[:, :m] + 1j * r[:, m:]


def product(A: Complex, B: NDArray[np.float64] | Complex) -> Complex:
    """``A B``, every element rounded once; `B` has few entries in each column."""
    rows = len(A)
    acc = Accumulator(np.zeros((B.shape[1], 2 * rows)))
    acc.add_rows(B.real.T, np.hstack([A.real.T, A.imag.T]))
    if B.imag.any():
        acc.add_rows(B.imag.T, np.hstack([-A.imag.T, A.real.T]))
    r = acc.value.T
    return r[:rows] + 1j * r[rows:]


def dual(P: Complex) -> Complex:
    """Inverse of a complex matrix, small elements of large matrices included.

    Raises
    ------
    numpy.linalg.LinAlgError
        The matrix is singular.
    """
    U = np.linalg.inv(P)
    n = len(P)
    acc = Accumulator(np.zeros((n, 2 * n)))
    _add_complex_product(acc, U, P)
    acc.add(-np.eye(n, 2 * n), np.ones((1, 1)))
    r = acc.value
    return U - (r[:, :n] + 1j * r[:, n:]) @ U


def _add_complex_product(
    acc: Accumulator, A: NDArray[np.float64] | Complex, P: Complex
) -> tuple[np.ndarray, np.ndarray]:
    """Add ``A P`` with real and imaginary part side by side; returns ``P`` and ``i P`` in that form."""
    wide = np.hstack([P.real, P.imag])
    rotated = np.hstack([-P.imag, P.real])
    acc.add_product(np.ascontiguousarray(A.real), wide)
    if np.iscomplexobj(A) and A.imag.any():
        acc.add_product(np.ascontiguousarray(A.imag), rotated)
    return wide, rotated


# -- forms of a mode ------------------------------------------------------------------------------------------------------

Fine = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""What rounding has left of ``T`` and of ``Ay``, and how far this may be off, for each of them."""


class Maps(Protocol):
    """Maps of a mode, ``z = T y`` and ``y' = Ay y``, with what rounding has left of them."""

    @property
    def T(self) -> np.ndarray:
        """Takes the state vector to the unknowns."""
        ...

    @property
    def Ay(self) -> np.ndarray:
        """Takes the state vector to its time derivative."""
        ...

    def fine(self) -> Fine | None:
        """What rounding has left of both; None where it is not known."""
        ...


def over_state(
    maps: Maps, A: np.ndarray, B: np.ndarray, E: np.ndarray | None = None, least: float = 0.0
) -> np.ndarray:
    """The forms ``E z' + A z + B xi`` over ``y = [z[states]; xi]``, shape (m, ny).

    Coefficients up to a part ``least`` of their terms become zero.
    """
    T, Ay = maps.T, maps.Ay
    states = T.shape[1] - B.shape[1]
    value, size = A @ T, np.abs(A) @ np.abs(T)
    value[:, states:] += B
    size[:, states:] += np.abs(B)
    if E is not None and not E.any():
        E = None
    if E is not None:
        value += E @ T @ Ay
        size += np.abs(E @ T) @ np.abs(Ay)
    none = np.abs(value) < least * size
    lost = (UNIT * size > SUMMED * np.abs(value)) & ~none
    some = lost.any(axis=1)
    fine = maps.fine() if some.any() else None
    if fine is not None and any(part.any() for part in fine[:2]):
        better, doubt = _summed(maps, fine, A[some], B[some], None if E is None else E[some])
        better[np.abs(better) <= doubt] = 0.0
        value[some] = np.where(lost[some], better, value[some])
    value[none] = 0.0
    return value


def _summed(
    maps: Maps, fine: Fine, A: np.ndarray, B: np.ndarray, E: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """The same in twice the digits, rounded once, and how far it may be off by what the maps are."""
    T, Ay = maps.T, maps.Ay
    low_T, low_Ay, doubt_T, doubt_Ay = fine
    states = T.shape[1] - B.shape[1]
    total = Accumulator(np.hstack([np.zeros((len(B), states)), B]))
    total.add_rows(A, T)
    total.correct(A @ low_T)
    doubt = np.abs(A) @ doubt_T
    if E is not None:
        moving = Accumulator(np.zeros((len(E), len(Ay))))
        moving.add_rows(E, T)
        high = moving.value
        low = (moving.high - high) + moving.low + E @ low_T
        total.add_rows(high, Ay)
        total.correct(high @ low_Ay + low @ Ay)
        doubt += (np.abs(E) @ doubt_T) @ np.abs(Ay) + np.abs(high) @ doubt_Ay
    return total.value, doubt
