"""Flows that nothing determines where nonlinear rows follow from others: the smallest ones are taken."""

from __future__ import annotations

import numpy as np

from ...compilation.equations import Jet, ModeEquations
from ...reduction.rounding import UNIT
from .newton import solutions


class LeastFlows:
    """The rows that say so in one mode, in the place of those left out.

    Where a sum of squares is smallest under the equations ``F(X, H) = 0``, its derivatives by ``H`` vanish in all directions in
    which these leave ``H`` undetermined. So do those of the sum with ``F`` times Lagrange multipliers, which stay the same if the
    directions turn.

    Parameters
    ----------
    rows : (k,) array
        Nonlinear rows left out.
    squares : Jet
        Derivatives of the sum by ``H`` over [X, H] and the sources.
    equations : ModeEquations
        The last of its rows are ``F``.
    S : (q, q) array
        Generator of the sources.
    scale : (m,) array
        Magnitudes of ``H``.
    """

    def __init__(
        self, rows: np.ndarray, squares: Jet, equations: ModeEquations, S: np.ndarray, scale: np.ndarray
    ) -> None:
        self.left_out, self._squares, self._scale = rows, squares, scale
        self._passing = squares.xi @ S
        self._count, self._known = len(scale) - len(rows), equations.shape[1] - len(scale)
        self._bent = equations.bent(self._count, self._known)

    def __call__(
        self, slopes: np.ndarray, y: np.ndarray, xi: np.ndarray, constants: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values, derivatives over [X, H] and by time at k points, where ``F`` has the slopes (k, m - r, ny)."""
        squares, count = self._squares, self._count
        by_open = y @ squares.y.T + xi @ squares.xi.T
        Q, R = self._factors(slopes)
        pull = np.einsum("kmc,km->kc", Q[:, :, :count], by_open * self._scale)
        bent, passing = self._bent([y, xi, -solutions(R[:, :count], pull)], {2: constants})
        bent = bent.reshape(len(y), y.shape[1], -1).transpose(0, 2, 1)
        free = self._free(Q)
        return (
            np.einsum("krm,km->kr", free, by_open),
            free @ (squares.y + bent),
            np.einsum("krm,km->kr", free, xi @ self._passing.T + passing),
        )

    def rounding(self, slopes: np.ndarray, y: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """How far rounding may move the values at k points: that of two products, Higham, section 3.5."""
        free, squares = np.abs(self._free(self._factors(slopes)[0])), self._squares
        terms = np.abs(y) @ np.abs(squares.y).T + np.abs(xi) @ np.abs(squares.xi).T
        return UNIT * (free.shape[2] + y.shape[1] + xi.shape[1]) * np.einsum("krm,km->kr", free, terms)

    def _factors(self, slopes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.linalg.qr((slopes[:, :, self._known :] * self._scale).transpose(0, 2, 1), mode="complete")

    def _free(self, Q: np.ndarray) -> np.ndarray:
        """Directions (k, r, m) in which ``F`` leaves ``H`` undetermined."""
        free = Q[:, :, self._count :].transpose(0, 2, 1) * self._scale
        return free / np.abs(free).max(axis=2, keepdims=True)
