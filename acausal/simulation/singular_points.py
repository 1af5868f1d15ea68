"""Curved rows near a point where they were not solved: which belong together, and which depend on each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .motion import Motion

NEARLY_SINGULAR = 1e-3
"""Ratio of singular values below which a configuration counts as singular where a motion ends."""
TAKES_PART = 0.1
"""Factor of a row in the combination that vanishes, relative to the largest."""


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Jacobian over the unknowns that curved rows are solved for, rows and columns scaled.

    Attributes
    ----------
    rows : ndarray of int, shape (m,)
        Curved row of every equation; one that is differentiated occurs more than once.
    J : ndarray, shape (m, n)
    """

    rows: np.ndarray
    J: np.ndarray

    @classmethod
    def of(cls, motion: Motion, X: np.ndarray, H: np.ndarray, xi: np.ndarray) -> Surroundings:
        """Look at a point of a motion, which need not be consistent."""
        system = motion.system
        found = system.linear(X, H, xi, motion.constants)
        solved = motion.selection.dependent
        if len(solved) != system.constraints:
            solved = np.arange(system.nx)
        columns = np.concatenate([solved, system.nx + np.arange(system.m)])
        scale = np.concatenate([system.scale, system.open_scale])
        J = (np.vstack([found.C_y, found.F_y]) * scale)[:, columns]
        J[~np.isfinite(J)] = 0.0
        size = np.abs(J).max(axis=1, initial=0.0, keepdims=True)
        rows = np.concatenate([system.constraint_rows, system.mode.curved])
        return cls(rows, J / np.where(size > 0.0, size, 1.0))

    def constraints(self, count: int) -> Surroundings:
        """The constraints among the rows, which come first, without the equations for open unknowns."""
        return Surroundings(self.rows[:count], self.J[:count])

    @property
    def flat(self) -> np.ndarray:
        """Curved rows without any slope."""
        return np.unique(self.rows[~self.J.any(axis=1)])

    def coupled(self, row: int) -> np.ndarray:
        """Curved rows that share unknowns with one of them, directly or through others."""
        reached = self.rows == row
        while True:
            more = reached | (self.J[:, (self.J[reached] != 0.0).any(axis=0)] != 0.0).any(axis=1)
            if (more == reached).all():
                return np.unique(self.rows[reached])
            reached = more

    def dependent(self) -> tuple[float, np.ndarray]:
        """Ratio of the smallest and largest singular value, and the curved rows of the combination that vanishes nearly."""
        if not self.J.size:
            return 1.0, self.rows[:0]
        left, values, _ = np.linalg.svd(self.J)
        short = len(self.J) > self.J.shape[1]
        ratio = 0.0 if short or values[0] == 0.0 else float(values[-1] / values[0])
        factors = np.abs(left[:, -1])
        order = np.argsort(-factors, kind="stable")
        part = order[factors[order] > TAKES_PART * factors.max()]
        return ratio, np.array(list(dict.fromkeys(self.rows[part].tolist())), np.int64)
