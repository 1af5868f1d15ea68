"""Linear systems ``(shift I - J) x = b``, factorised once and solved several times."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..kernels.linear_systems import RightSide, SmallSystem
from ..kernels.loading import Bound, Packed
from .problem import StepFailure


@runtime_checkable
class Shifted(Protocol):
    """A shifted matrix and its factors; one that stands for a Jacobian itself also has ``@`` with vectors."""

    def factorise(self, shift: float, jacobian: Any) -> None:
        """Prepare `solve`. Raises `StepFailure` when the shifted matrix is singular."""
        ...

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Solution for the right-hand side `b`, which may be overwritten."""
        ...


class DenseShifted:
    """LU factors by LAPACK, called without the checks of `scipy.linalg.lu_factor`, which cost more than small systems."""

    def __init__(self, n: int) -> None:
        from scipy.linalg import get_lapack_funcs

        self._getrf, self._getrs = get_lapack_funcs(("getrf", "getrs"), dtype=float)
        self._matrix = np.empty((n, n), order="F")
        self._diagonal = np.einsum("ii->i", self._matrix)
        self._pivots = np.empty(n, dtype=np.int32)

    def factorise(self, shift: float, jacobian: Any) -> None:
        """Factors by partial pivoting."""
        np.negative(jacobian, out=self._matrix)
        self._diagonal += shift
        _, self._pivots, info = self._getrf(self._matrix, overwrite_a=1)
        if info > 0:
            raise StepFailure("the matrix of the step is singular")

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Forward and back substitution."""
        return self._getrs(self._matrix, self._pivots, b, overwrite_b=1)[0]


class SmallShifted:
    """LU factors by the kernels, which use them too.

    Parameters
    ----------
    system : SmallSystem
    """

    def __init__(self, system: SmallSystem) -> None:
        self._matrix, self._diagonal = system.matrix, np.einsum("ii->i", system.matrix)
        self._right, packed = RightSide(np.zeros(len(system.matrix))), Packed(system)
        self._factorise, self._solve = Bound("factorise", packed), Bound("solve", packed, Packed(self._right))

    def factorise(self, shift: float, jacobian: Any) -> None:
        """Factors by partial pivoting."""
        np.negative(jacobian, out=self._matrix)
        self._diagonal += shift
        if not self._factorise.run():
            raise StepFailure("the matrix of the step is singular")

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Forward and back substitution."""
        self._right.x[:] = b
        self._solve.run()
        return self._right.x.copy()


class SparseShifted:
    """LU factors by SuperLU."""

    def __init__(self, n: int) -> None:
        from scipy.sparse import csc_array, identity
        from scipy.sparse.linalg import splu

        self._splu, self._csc = splu, csc_array
        self._identity = csc_array(identity(n, format="csc"))
        self._factors: Any = None

    def factorise(self, shift: float, jacobian: Any) -> None:
        """Factors with a column order that keeps them sparse."""
        matrix = self._csc(shift * self._identity - jacobian)
        try:
            self._factors = self._splu(matrix)
        except RuntimeError as singular:
            raise StepFailure("the matrix of the step is singular") from singular

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Forward and back substitution."""
        return self._factors.solve(b)


def shifted(jacobian: Any, small: SmallSystem | None = None) -> Shifted:
    """What solves systems with a Jacobian of this kind, in ``small`` if that is given; one that does so itself is returned."""
    if isinstance(jacobian, Shifted):
        return jacobian
    if small is not None:
        return SmallShifted(small)
    return (DenseShifted if isinstance(jacobian, np.ndarray) else SparseShifted)(jacobian.shape[0])
