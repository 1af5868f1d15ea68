"""CasADi functions of the nonlinear equations of one mode: residuals and derivatives over its coordinates."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import casadi as ca
import numpy as np

from ..reduction.rounding import UNIT
from ..values import frozen
from .lowering import BATCH, Buffered, Many
from .nonlinear_rows import NonlinearFunctions


@frozen
class Jet:
    """Linear map from the coordinates ``y`` and from the sources ``xi``, shapes (., ny) and (., q)."""

    y: Any
    xi: Any

    def __call__(self, y: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """Value at a point."""
        return self.y.dot(y) + self.xi.dot(xi)


class ModeEquations:
    """Rows at chosen levels of differentiation, as functions of the coordinates of a mode.

    Parameters
    ----------
    functions : NonlinearFunctions
    rows : list of (int, int)
        Nonlinear row and level.
    arguments : list of Jet
        All arguments and their time derivatives, one per level.
    S : (q, q) array
        Generator of the sources.
    scale : (ny,) array
        Magnitudes of the coordinates.
    unit : float
        Unit of time, in seconds.
    """

    def __init__(
        self, functions: NonlinearFunctions, rows: list[tuple[int, int]], arguments: list[Jet],
        S: np.ndarray, scale: np.ndarray, unit: float,
    ) -> None:  # fmt: skip
        self.shape = (len(rows), arguments[0].y.shape[1])
        self._S, self._scale, self._unit = S, scale, unit
        key = (tuple(rows), self.shape, S.tobytes(), *((j.y.tobytes(), j.xi.tobytes()) for j in arguments))
        self._compiled = functions.compiled
        self._key = key
        self._residual, self._plain, self._timed = (
            Buffered(f) for f in self.compiled("equations", lambda: _functions(functions, rows, arguments, S))
        )
        timed = self._timed.function
        self._many = Many(self._timed, lambda: self.compiled("many", lambda: timed.map(BATCH)))
        residual = self._residual.function
        self._rounding_many = Many(
            self._residual, lambda: self.compiled("residual many", lambda: residual.map(BATCH))
        )

    def compiled(self, name: Hashable, make: Callable[[], Any]) -> Any:
        """A function of these equations, from the cache of the program if it was made before."""
        return self._compiled((self._key, name), make)

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
        found = [value, slope.reshape(self.shape[::-1]).T, *rest]
        with np.errstate(invalid="ignore"):
            doubt = float(slope.sum()) + (float(rest[0].sum()) if rest else 0.0)
        if doubt - doubt != 0.0 and np.isfinite(value).all():
            return self._mended(f, [part.copy() for part in found])
        return found

    def many(
        self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same at many points, (k, ny) and (k, q): residuals (k, m), slopes (k, m, ny), derivatives by time (k, m)."""
        value, slope, moved = self._many([y, xi], {2: constants})
        m, ny = self.shape
        return value, slope.reshape(-1, ny, m).transpose(0, 2, 1), moved

    def rounding(self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray) -> np.ndarray:
        """How far rounding may move the residuals (m,); overwritten by the next call."""
        f = self._residual
        f.inputs[0][:], f.inputs[1][:], f.inputs[2][:] = y, xi, constants
        f()
        return f.outputs[1]

    def rounding_many(self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray) -> np.ndarray:
        """The same at many points, (k, m)."""
        return self._rounding_many([y, xi], {2: constants})[1]

    @property
    def function(self) -> ca.Function:
        """``(y, xi, constants)`` to residuals and their derivatives."""
        return self._plain.function

    @property
    def timed(self) -> ca.Function:
        """The same with derivatives by time."""
        return self._timed.function

    @property
    def residual(self) -> ca.Function:
        """``(y, xi, constants)`` to residuals and their rounding."""
        return self._residual.function

    def beside(self, rows: np.ndarray, count: int) -> Buffered:
        """Slopes of some rows, each column where its own coordinate alone is another one.

        ``(y, xi, constants, others)`` with the first ``count`` coordinates of the others to the slopes (rows, count), by columns.
        """
        name = ("beside", rows.tobytes(), count)
        return Buffered(self.compiled(name, lambda: _beside(self.function, rows, count)))

    def bent(self, count: int, known: int) -> Many:
        """How the slopes of the last ``count`` rows change by coordinates behind the first ``known`` ones, times multipliers.

        ``(y, xi, constants, multipliers)`` to the derivatives over the coordinates (m, ny), by columns, and by time (m,).
        """
        single = self.compiled(("bent", known), lambda: _bent(self.function, count, known, self._S))
        return Many(Buffered(single), lambda: self.compiled(("bent many", known), lambda: single.map(BATCH)))

    def _mended(self, f: Buffered, found: list[np.ndarray]) -> list[np.ndarray]:
        """Difference quotients over the scales in place of slopes that are not finite.

        The slope of ``sqrt`` at zero is infinite, its value is not.
        """
        y, xi = f.inputs[0], f.inputs[1]
        value, slope, *rest = found
        for j in np.flatnonzero(~np.isfinite(slope).all(axis=0)).tolist():
            before = y[j]
            # One of the two directions may lead out of the domain of the function.
            for step in (self._scale[j], -self._scale[j]):
                y[j] = before + step
                f()
                quotient = (f.outputs[0] - value) / step
                slope[:, j] = np.where(np.isfinite(slope[:, j]), slope[:, j], quotient)
            y[j] = before
        for moved in rest:
            before = xi.copy()
            for step in (self._unit, -self._unit):
                xi[:] = before + self._S.dot(before) * step
                f()
                quotient = (f.outputs[0] - value) / step
                moved[:] = np.where(np.isfinite(moved), moved, quotient)
            xi[:] = before
        return found


def _functions(
    functions: NonlinearFunctions,
    rows: list[tuple[int, int]],
    arguments: list[Jet],
    S: np.ndarray,
) -> tuple[ca.Function, ca.Function, ca.Function]:
    """Residuals with their rounding, with their derivatives, and with those by time."""
    ny, q = arguments[0].y.shape[1], len(S)
    owner, constant_owner = functions.rows.owner, functions.rows.constant_owner
    y, xi, c = ca.SX.sym("y", ny), ca.SX.sym("xi", q), ca.SX.sym("c", len(constant_owner))
    size, size_xi = ca.fabs(y), ca.fabs(xi)
    values, bounds = [], []
    for row, level in rows:
        at = np.flatnonzero(owner == row)
        own = np.flatnonzero(constant_owner == row)
        jets = [_combined(j.y[at], y) + _combined(j.xi[at], xi) for j in arguments[: level + 1]]
        constants = c[own.tolist()] if len(own) else ca.SX(0, 1)
        values.append(functions.row(row, level, jets, constants))
        errors = [
            UNIT * (_combined(abs(j.y[at]), size) + _combined(abs(j.xi[at]), size_xi))
            for j in arguments[: level + 1]
        ]
        bounds.append(functions.row_rounding(row, level, jets, constants, errors))
    value, bound = (ca.densify(ca.vertcat(*x)) if x else ca.SX(0, 1) for x in (values, bounds))
    slope = ca.densify(ca.jacobian(value, y))
    moved = ca.densify(ca.jtimes(value, xi, _combined(S, xi)))
    residual = ca.Function("residual", [y, xi, c], [value, bound])
    plain = ca.Function("equations", [y, xi, c], [value, slope])
    return residual, plain, ca.Function("timed", [y, xi, c], [value, slope, moved])


def _beside(function: ca.Function, rows: np.ndarray, count: int) -> ca.Function:
    y, xi, c = (ca.SX.sym(name, function.numel_in(k)) for k, name in enumerate(("y", "xi", "c")))
    others, slope = ca.SX.sym("others", count), function(y, xi, c)[1][rows.tolist(), :count]
    columns = [ca.substitute(ca.sparsify(slope[:, j]), y[j], others[j]) for j in range(count)]
    return ca.Function("beside", [y, xi, c, others], [ca.densify(ca.horzcat(*columns))])


def _bent(function: ca.Function, count: int, known: int, S: np.ndarray) -> ca.Function:
    y, xi, c = (ca.SX.sym(name, function.numel_in(k)) for k, name in enumerate(("y", "xi", "c")))
    factors = ca.SX.sym("factors", count)
    slope = function(y, xi, c)[1][-count:, known:] if count else ca.SX(0, y.numel() - known)
    pull = ca.mtimes(slope.T, factors)
    moved = ca.densify(ca.jtimes(pull, xi, _combined(S, xi)))
    return ca.Function("bent", [y, xi, c, factors], [ca.densify(ca.jacobian(pull, y)), moved])


def _combined(matrix: np.ndarray, x: ca.SX) -> ca.SX:
    """Matrix times symbols, without the entries that are zero."""
    return ca.mtimes(ca.sparsify(ca.DM(matrix)), x) if matrix.size else ca.SX(len(matrix), 1)
