"""Nonlinear rows near a point where they were not solved: which belong together, and which depend on each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dynamics.directions import generic_direction
from ...reduction.rounding import HALF
from ...values import frozen

NEARLY_SINGULAR = 1e-3
"""Ratio of singular values below which a configuration counts as singular where a motion ends."""
TAKES_PART = 0.1
"""Factor of a row in the combination that vanishes, relative to the largest."""
SMALLEST = 1e-6
"""Singular value, with rows of about one, below which those of a sparse matrix are not told apart; its square is well above
rounding."""
ITERATIONS = 4
"""Inverse iterations on a sparse matrix: each makes the share of a singular value twice the smallest four times smaller."""


@frozen
class Surroundings:
    """Jacobian over the unknowns that nonlinear rows are solved for, rows and columns scaled.

    Attributes
    ----------
    rows : ndarray of int, shape (m,)
        Nonlinear row of every equation; one that is differentiated occurs more than once.
    J : ndarray, shape (m, n)
    branching : bool
        Whether several motions go on from here, as `branches` tells.
    """

    rows: np.ndarray
    J: np.ndarray
    branching: bool = False

    def constraints(self, count: int) -> Surroundings:
        """The constraints among the rows, which come first, without the equations for open unknowns."""
        return Surroundings(self.rows[:count], self.J[:count])

    @property
    def flat(self) -> np.ndarray:
        """Nonlinear rows without any slope."""
        return np.unique(self.rows[~self.J.any(axis=1)])

    def coupled(self, row: int) -> np.ndarray:
        """Nonlinear rows that share unknowns with one of them, directly or through others."""
        reached = self.rows == row
        while True:
            more = reached | (self.J[:, (self.J[reached] != 0.0).any(axis=0)] != 0.0).any(axis=1)
            if (more == reached).all():
                return np.unique(self.rows[reached])
            reached = more

    def dependent(self) -> tuple[float, np.ndarray]:
        """Ratio of the smallest and largest singular value, and the nonlinear rows of the combinations that vanish nearly."""
        if not self.J.size:
            return 1.0, self.rows[:0]
        left, values, _ = np.linalg.svd(self.J)
        short = len(self.J) > self.J.shape[1]
        ratio = 0.0 if short or values[0] == 0.0 else float(values[-1] / values[0])
        # Where several vanish no single one is determined. Equal shares keep the order of the rows, whatever the rounding.
        every = np.append(values, np.zeros(len(left) - len(values)))
        vanish = every <= max(every[-1], HALF * every[0])
        factors = np.round(np.linalg.norm(left[:, vanish], axis=1), 3)
        order = np.argsort(-factors, kind="stable")
        part = order[factors[order] > TAKES_PART * factors.max()]
        return ratio, np.array(list(dict.fromkeys(self.rows[part].tolist())), np.int64)


def branches(C_X: np.ndarray, C_t: np.ndarray) -> bool:
    """Return whether constraints depend on each other over all coordinates, and time does not separate them.

    Where the combination that vanishes changes with time, where a given motion drives the
    coordinates to the end of their range, no motion goes on.

    Parameters
    ----------
    C_X : ndarray, shape (m, n)
        Derivatives of the constraints by the scaled coordinates.
    C_t : ndarray, shape (m,)
        Derivatives by time.
    """
    if not C_X.size or not (np.isfinite(C_X).all() and np.isfinite(C_t).all()):
        return False
    size = np.abs(C_X).max(axis=1, keepdims=True)
    both = np.column_stack([C_X, C_t]) / np.where(size > 0.0, size, 1.0)
    left, values, _ = np.linalg.svd(both[:, :-1])
    if len(C_X) <= C_X.shape[1] and values[-1] >= NEARLY_SINGULAR * values[0]:
        return False
    drift = both[:, -1]
    return bool(abs(left[:, -1] @ drift) <= TAKES_PART * np.linalg.norm(drift))


def crossing(J: np.ndarray, moved: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directions of the two motions that cross at a point, and normals of the planes in which they lie, (2, n) each.

    Where one combination ``u C`` of the constraints has no slope, motions are those along which its second derivative vanishes:
    in two planes where that is the product of two factors. Without such planes there are none, and no directions in planes.

    Parameters
    ----------
    J : ndarray, shape (m, n)
        Derivatives of the constraints by the scaled coordinates.
    moved : ndarray, shape (n, m, n)
        Their changes per change of each coordinate.
    columns : ndarray of int
        Coordinates that the constraints depend on.
    """
    directions, normals = np.zeros((2, 2, J.shape[1]))
    size = np.maximum(np.abs(J).max(axis=1), np.abs(moved).max(axis=(0, 2)))
    size[size == 0.0] = 1.0
    J, moved = J / size[:, None], moved / size[:, None]
    left, values, right = np.linalg.svd(J[:, columns])
    rank = int(np.count_nonzero(values > NEARLY_SINGULAR))
    if len(J) - rank != 1 or len(columns) - rank < 2:
        return directions[:0], normals[:0]
    free = right[rank:]
    bends = np.einsum("ai,m,imj,bj->ab", free, left[:, -1], moved[columns][:, :, columns], free)
    bent, axes = np.linalg.eigh(bends + bends.T)
    low, high = bent[0], bent[-1]
    if not low < 0.0 < high or np.abs(bent[1:-1]).max(initial=0.0) > NEARLY_SINGULAR * max(-low, high):
        return directions[:0], normals[:0]
    along, across = np.sqrt(high) * axes[:, 0], np.sqrt(-low) * axes[:, -1]
    directions[:, columns] = np.array([along + across, along - across]) @ free
    along, across = np.sqrt(-low) * axes[:, 0], np.sqrt(high) * axes[:, -1]
    normals[:, columns] = np.array([along - across, along + across]) @ free
    return directions[: 2 if len(free) == 2 else 0], normals


@frozen
class SparseSurroundings(Surroundings):
    """The same with a sparse ``J``, of any rows; the affine ones among them have the number -1."""

    J: Any

    @property
    def flat(self) -> np.ndarray:
        """Nonlinear rows without any slope."""
        return self._nonlinear(np.diff(self.J.indptr) == 0)

    def coupled(self, row: int) -> np.ndarray:
        """Nonlinear rows that share unknowns with one of them, directly or through others."""
        part = self._components()
        return self._nonlinear(np.isin(part, part[self.rows == row]))

    def dependent(self) -> tuple[float, np.ndarray]:
        """How nearly singular rows that share unknowns are, and the nonlinear rows of the combination that vanishes nearly.

        The ratio of singular values is given in units of ``1/n**2`` for ``n`` rows: that of a chain of so many equal
        parts, which nothing makes singular.
        """
        factors = self._vanishing()
        large = np.abs(factors) > TAKES_PART * np.abs(factors).max(initial=0.0)
        if not large.any():
            return 1.0, self.rows[:0]
        component = self._components()
        own = component == component[np.flatnonzero(large)[0]]
        J, factors = self.J[own], np.where(own, factors, 0.0)
        largest = np.sqrt(abs(J).sum(axis=0).max() * abs(J).sum(axis=1).max())
        smallest = np.linalg.norm(factors @ self.J) / np.linalg.norm(factors)
        ratio = float(smallest / largest) if largest > 0.0 else 0.0
        return min(1.0, ratio * np.count_nonzero(own) ** 2), self._nonlinear(own & large)

    def _vanishing(self) -> np.ndarray:
        """Factors of the rows in the combination next to zero, by inverse iteration with ``J J'``."""
        from scipy.sparse import eye_array
        from scipy.sparse.linalg import splu

        factors = generic_direction(len(self.rows))
        square = splu((self.J @ self.J.T + SMALLEST**2 * eye_array(len(factors))).tocsc())
        for _ in range(ITERATIONS if len(factors) else 0):
            factors = square.solve(factors / np.linalg.norm(factors))
        return factors

    def _components(self) -> np.ndarray:
        """Number of the set of rows, connected by unknowns, that each row is in."""
        from scipy.sparse import block_array
        from scipy.sparse.csgraph import connected_components

        graph = block_array([[None, self.J], [self.J.T, None]])
        return connected_components(graph, directed=False)[1][: len(self.rows)]

    def _nonlinear(self, some: np.ndarray) -> np.ndarray:
        found = np.unique(self.rows[some])
        return found[found >= 0]


def scaled(J: np.ndarray) -> np.ndarray:
    """The largest entry of each row one, and none that is no number."""
    J = np.where(np.isfinite(J), J, 0.0)
    size = np.abs(J).max(axis=1, initial=0.0, keepdims=True)
    return J / np.where(size > 0.0, size, 1.0)


def scaled_sparse(J: Any) -> Any:
    """`scaled` for a sparse matrix."""
    from scipy.sparse import csr_array, diags_array

    J = csr_array(J)
    J.data[~np.isfinite(J.data)] = 0.0
    J.eliminate_zeros()
    size = abs(J).max(axis=1).toarray().ravel()
    return csr_array(diags_array(1.0 / np.where(size > 0.0, size, 1.0)) @ J)
