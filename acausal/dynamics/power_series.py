"""Power series of large groups, whose terms are formed where they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..reduction.double_double import BATCH, FEW, Complex
from ..values import frozen


@frozen
class PowerSeries:
    """Terms ``left z_k`` times ``exp(centre h) h^k / k!``, with ``z_0 = drive_0 y0`` and ``z_(k+1) = N z_k + drive_(k+1) y0``.

    As products of columns and rows they would be as many numbers as the cube of the states.

    Attributes
    ----------
    N : (m, m)
        Sparse by rows; real and imaginary parts of what turns are states of their own.
    drive : tuple of (m, ny)
        Start values and derivatives of the drive, zero behind the last.
    left : tuple of (ny, m)
        For the functions that are cosines or do not turn, and for the sines if there are any.
    functions : tuple of (powers,)
        Columns in the basis of these.
    """

    N: Any
    drive: tuple[np.ndarray, ...]
    left: tuple[np.ndarray, ...]
    functions: tuple[np.ndarray, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return sum(part.nbytes for part in (self.N.data, self.N.indices, *self.drive, *self.left))

    def sequence(self, drive: Sequence[np.ndarray]) -> Iterator[np.ndarray]:
        """The ``z_k`` of all powers, for a drive (m,) or (m, ...)."""
        z = drive[0]
        for k in range(len(self.functions[0])):
            yield z
            z = self.N @ z
            if k + 1 < len(drive):
                z = z + drive[k + 1]

    def weights(self, y0: np.ndarray) -> np.ndarray:
        """The ``z_k`` (m, powers) of a start."""
        return np.array([*self.sequence([part @ y0 for part in self.drive])]).T

    def magnitudes(self, y: np.ndarray, through: np.ndarray | None = None) -> np.ndarray:
        """Sums (m, powers) of the magnitudes of the products with ``y`` (ny,), of which the ``z_k`` are made.

        With a matrix ``through`` (ny, ny) of those of its products.
        """
        drive = self.drive if through is None else [part @ through for part in self.drive]
        return np.array([np.abs(z) @ y for z in self.sequence(drive)]).T

    def add(self, found: np.ndarray, left: Sequence[np.ndarray], weights: np.ndarray) -> None:
        """Add products of ``left`` (rows, m), as many as it has, with ``weights`` (m, powers) to columns of the basis."""
        for each, columns in zip(left, self.functions, strict=True):
            found[:, columns] += each @ weights

    def derivative(self, left: Sequence[np.ndarray], frame: np.ndarray) -> np.ndarray:
        """Sums (rows, ny) over the functions with values or slopes ``frame`` (size,) at the start: the first two powers."""
        found = np.zeros((len(left[0]), self.drive[0].shape[1]))
        for each, columns in zip(left, self.functions, strict=True):
            for at, z in zip(frame[columns[:2]].tolist(), self.sequence(self.drive), strict=False):
                found += at * (each @ z)
        return found

    def sums(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Sums (ny,) of the magnitudes of all products with ``y`` (ny,), times ``weights`` (size,) of their functions."""
        z = self.magnitudes(y)
        return sum(
            (
                np.abs(each) @ (z @ weights[columns])
                for each, columns in zip(self.left, self.functions, strict=True)
            ),
            np.zeros(len(y)),
        )

    def add_over(self, found: np.ndarray, rows: np.ndarray) -> None:
        """Add what ``rows`` (k, ny) read of each function (k, size, ny), for every state at the start."""
        carry = self.N.T.tocsr()
        for each, columns in zip(self.left, self.functions, strict=True):
            for total, row in zip(found, rows, strict=True):
                over = [row @ each]
                while len(over) < len(columns):
                    over.append(carry @ over[-1])
                for k, part in enumerate(self.drive[: len(columns)]):
                    total[columns[k:]] += np.array(over[: len(over) - k]) @ part


def as_series(
    centre: complex, left: Complex, N: Complex, drive: Sequence[Complex]
) -> tuple[Any, tuple[np.ndarray, ...], tuple[np.ndarray, ...]] | None:
    """``N``, ``drive`` and ``left`` of a `PowerSeries`; None where its terms are few, or its recursion is not."""
    m, ny = drive[0].shape
    if m * m * ny <= BATCH or np.count_nonzero(N) >= FEW * N.size:
        return None
    from scipy.sparse import csr_array

    if centre.imag < 0.0:
        left, N, drive = left.conj(), N.conj(), [part.conj() for part in drive]
    lr, li = left.real, left.imag
    real = not (centre.imag or N.imag.any() or li.any() or any(part.imag.any() for part in drive))
    if real:
        return csr_array(N.real), tuple(part.real.copy() for part in drive), (lr.copy(),)
    turned = np.block([[N.real, -N.imag], [N.imag, N.real]])
    wide = tuple(np.vstack([part.real, part.imag]) for part in drive)
    # exp(i a) = cos a + i sin a: the sine takes minus the imaginary part of the coefficient.
    sides = (np.hstack([lr, -li]), np.hstack([-li, -lr]))
    return csr_array(turned), wide, sides if centre.imag else sides[:1]


def powers(N: Any, drive: Sequence[np.ndarray], degree: int) -> tuple[int, bool]:
    """Powers up to a ``degree`` that are not zero, and whether there are others."""
    z = drive[0]
    for k in range(degree + 1):
        z = N @ z
        if k + 1 < len(drive):
            z = z + drive[k + 1]
        elif not z.any():
            return k + 1, False
    return degree + 1, True
