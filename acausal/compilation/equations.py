"""CasADi functions of the nonlinear equations of one mode: residuals and derivatives over its coordinates."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..reduction.nonlinear_rows import NonlinearRows
from .lowering import Buffered
from .nonlinear_rows import NonlinearFunctions

BATCH = 64
"""Points evaluated by one call."""
FEW = 16
"""Points up to which calls of one each are faster than one of a whole batch."""


@dataclass(frozen=True, eq=False)
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
    nonlinear_rows : NonlinearRows
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
        self, nonlinear_rows: NonlinearRows, functions: NonlinearFunctions, rows: list[tuple[int, int]], arguments: list[Jet],
        S: np.ndarray, scale: np.ndarray, unit: float,
    ) -> None:  # fmt: skip
        self.shape = (len(rows), arguments[0].y.shape[1])
        self._S, self._scale, self._unit = S, scale, unit
        key = (tuple(rows), S.tobytes(), *((j.y.tobytes(), j.xi.tobytes()) for j in arguments))
        self._compiled = functions.compiled
        self._key = key
        self._plain, self._timed = (
            Buffered(f)
            for f in self.compiled(
                "equations", lambda: _functions(nonlinear_rows, functions, rows, arguments, S)
            )
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
        k, (m, ny) = len(y), self.shape
        parts: tuple[np.ndarray, ...] = tuple(np.empty((k, *shape)) for shape in ((m,), (ny, m), (m,)))
        for begin in range(0, k, BATCH):
            some = slice(begin, min(begin + BATCH, k))
            few = some.stop - begin < FEW
            for at in (slice(i, i + 1) for i in range(begin, some.stop)) if few else (some,):
                self._evaluate(self._timed if few else self._batch, at, y, xi, constants, parts)
        return parts[0], parts[1].transpose(0, 2, 1), parts[2]

    @cached_property
    def _batch(self) -> Buffered:
        return Buffered(self.compiled("many", lambda: self._timed.function.map(BATCH)))

    def _evaluate(
        self, f: Buffered, at: slice, y: np.ndarray, xi: np.ndarray, constants: np.ndarray,
        parts: tuple[np.ndarray, ...],
    ) -> None:  # fmt: skip
        """Put the values of some points into ``parts``, by a function of as many points or more."""
        count, held = at.stop - at.start, f.inputs[0].size // self.shape[1]
        for points, values in zip(f.inputs, (y[at], xi[at], np.tile(constants, (held, 1))), strict=True):
            points.reshape(held, -1)[: len(values)] = values
        f()
        for part, found in zip(parts, f.outputs, strict=True):
            part[at] = found.reshape(held, *part.shape[1:])[:count]

    @property
    def function(self) -> ca.Function:
        """``(y, xi, constants)`` to residuals and their derivatives."""
        return self._plain.function

    @property
    def timed(self) -> ca.Function:
        """The same with derivatives by time."""
        return self._timed.function

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
    nonlinear_rows: NonlinearRows,
    functions: NonlinearFunctions,
    rows: list[tuple[int, int]],
    arguments: list[Jet],
    S: np.ndarray,
) -> tuple[ca.Function, ca.Function]:
    """Residuals with their derivatives, and with those by time."""
    ny, q = arguments[0].y.shape[1], len(S)
    y, xi, c = ca.SX.sym("y", ny), ca.SX.sym("xi", q), ca.SX.sym("c", len(nonlinear_rows.constant_owner))
    values = []
    for row, level in rows:
        at = np.flatnonzero(nonlinear_rows.owner == row)
        own = np.flatnonzero(nonlinear_rows.constant_owner == row)
        jets = [_combined(j.y[at], y) + _combined(j.xi[at], xi) for j in arguments[: level + 1]]
        values.append(functions.row(row, level, jets, c[own.tolist()] if len(own) else ca.SX(0, 1)))
    value = ca.vertcat(*values) if values else ca.SX(0, 1)
    slope = ca.densify(ca.jacobian(value, y))
    moved = ca.densify(ca.jtimes(value, xi, _combined(S, xi)))
    plain = ca.Function("equations", [y, xi, c], [ca.densify(value), slope])
    return plain, ca.Function("timed", [y, xi, c], [ca.densify(value), slope, moved])


def _combined(matrix: np.ndarray, x: ca.SX) -> ca.SX:
    """Matrix times symbols, without the entries that are zero."""
    return ca.mtimes(ca.sparsify(ca.DM(matrix)), x) if matrix.size else ca.SX(len(matrix), 1)
