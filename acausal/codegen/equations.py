"""CasADi functions of the curved equations of one mode: residuals and derivatives over its coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..modes.curves import Curves
from .curves import CurveFunctions
from .lowering import Buffered


@dataclass(frozen=True, eq=False)
class Jet:
    """Linear map from the coordinates ``y`` and from the sources ``xi``, shapes (., ny) and (., q)."""

    y: np.ndarray
    xi: np.ndarray

    def __call__(self, y: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """Value at a point."""
        return self.y.dot(y) + self.xi.dot(xi)


class Equations:
    """Rows at chosen levels of differentiation, as functions of the coordinates of a mode.

    Parameters
    ----------
    curves : Curves
    functions : CurveFunctions
    rows : list of (int, int)
        Curved row and level.
    arguments : list of Jet
        All arguments and their time derivatives, one per level.
    S : (q, q) array
        Generator of the sources.
    """

    def __init__(
        self, curves: Curves, functions: CurveFunctions, rows: list[tuple[int, int]], arguments: list[Jet], S: np.ndarray
    ) -> None:
        ny, q = arguments[0].y.shape[1], len(S)
        y, xi, c = ca.SX.sym("y", ny), ca.SX.sym("xi", q), ca.SX.sym("c", len(curves.constant_owner))
        values = []
        for row, level in rows:
            at = np.flatnonzero(curves.owner == row)
            own = np.flatnonzero(curves.constant_owner == row)
            jets = [_combined(j.y[at], y) + _combined(j.xi[at], xi) for j in arguments[: level + 1]]
            values.append(functions.row(row, level, jets, c[own.tolist()] if len(own) else ca.SX(0, 1)))
        value = ca.vertcat(*values) if values else ca.SX(0, 1)
        slope = ca.densify(ca.jacobian(value, y))
        moved = ca.densify(ca.jtimes(value, xi, _combined(S, xi)))
        self.shape = (len(rows), ny)
        self._plain = Buffered(ca.Function("equations", [y, xi, c], [ca.densify(value), slope]))
        self._timed = Buffered(ca.Function("timed", [y, xi, c], [ca.densify(value), slope, moved]))

    def __call__(
        self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray, time: bool = False
    ) -> list[np.ndarray]:
        """Residuals (m,), their derivatives (m, ny), and with ``time`` those by time (m,); overwritten by the next call."""
        f = self._timed if time else self._plain
        inputs = f.inputs
        inputs[0][:], inputs[1][:], inputs[2][:] = y, xi, constants
        f()
        # CasADi stores matrices by columns.
        value, slope, *rest = f.outputs
        return [value, slope.reshape(self.shape[::-1]).T, *rest]


def _combined(matrix: np.ndarray, x: ca.SX) -> ca.SX:
    """Matrix times symbols, without the entries that are zero."""
    return ca.mtimes(ca.sparsify(ca.DM(matrix)), x) if matrix.size else ca.SX(len(matrix), 1)
