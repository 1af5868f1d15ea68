"""CasADi functions that correct chosen coordinates of a mode by Newton's method, several full steps a call."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from .equations import Jet
from .lowering import Buffered

STEPS = 3
"""Newton steps of one call: from the error of a prediction to rounding, where convergence is quadratic."""
MOST_COLUMNS = 40
"""Unknowns up to which dense factors inside of CasADi are the faster ones."""


class Correction:
    """Solves all rows of a mode for as many of its coordinates, near a guess.

    Parameters
    ----------
    function : casadi.Function
        Made by `correcting`.
    scale : (n,) array
        Magnitudes of the coordinates solved.
    """

    def __init__(self, function: ca.Function, scale: np.ndarray) -> None:
        self._f = Buffered(function)
        self._f.inputs[3][:] = scale

    def __call__(
        self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, list[float]]:
        """Coordinates, the rate there, and the scaled sizes of the steps; arrays are overwritten by the next call.

        Sizes are not numbers where a step does not exist.
        """
        f = self._f
        f.inputs[0][:], f.inputs[1][:], f.inputs[2][:] = y, xi, constants
        # Nothing is written, and nothing said, where a matrix is exactly singular.
        f.outputs[2].fill(np.nan)
        f()
        return f.outputs[0], f.outputs[1], f.outputs[2].tolist()


def correcting(function: ca.Function, columns: np.ndarray, rate: Jet) -> ca.Function:
    """The function of a `Correction`.

    Parameters
    ----------
    function : casadi.Function
        ``(y, xi, constants)`` to values (n,) and slopes (n, ny).
    columns : (n,) array
        Coordinates solved.
    rate : Jet
        What else is wanted at the point found, linear in the coordinates and the sources.
    """
    y, xi, c = (ca.MX.sym(name, function.numel_in(k)) for k, name in enumerate(("y", "xi", "c")))
    at, magnitude, x, sizes = columns.tolist(), ca.MX.sym("scale", len(columns)), y, []
    divisor = wide = None
    for _ in range(STEPS):
        value, slope = function(x, xi, c)
        matrix = slope[:, at]
        if divisor is None or wide is None:
            divisor = ca.sum2(ca.fabs(matrix))
            wide = ca.repmat(divisor, 1, len(at))
        d = _solved(matrix / wide, -value / divisor)
        sizes.append(ca.norm_2(d / (magnitude + ca.fabs(x[at]))))
        moved = ca.MX(x)
        moved[at] = x[at] + d
        x = moved
    # A sparse output would leave out a rate that is zero whatever happens, and shift those below it.
    found = ca.densify(_times(rate.y, x) + _times(rate.xi, xi))
    return ca.Function("correction", [y, xi, c, magnitude], [x, found, ca.vertcat(*sizes)])


class Following:
    """Time derivatives of the unknowns that the last rows of a mode give, by those of the others; made of `following`."""

    def __init__(self, function: ca.Function) -> None:
        self._f = Buffered(function)

    def __call__(self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """Derivatives at a point; not numbers where they do not exist, or where a slope of a row does not."""
        f = self._f
        f.inputs[0][:], f.inputs[1][:], f.inputs[2][:], f.inputs[3][:] = y, xi, constants, rate
        f.outputs[0].fill(np.nan)
        f()
        return f.outputs[0].copy()


def following(function: ca.Function, known: int) -> ca.Function:
    """The function of a `Following`.

    Parameters
    ----------
    function : casadi.Function
        ``(y, xi, constants)`` to values (n,), slopes (n, ny) and derivatives by time (n,).
    known : int
        Coordinates whose rates are known, the first ones.
    """
    y, xi, c = (ca.MX.sym(name, function.numel_in(k)) for k, name in enumerate(("y", "xi", "c")))
    rate, m = ca.MX.sym("rate", known), function.numel_in(0) - known
    _, slope, moved = (part[-m:, :] for part in function(y, xi, c))
    matrix, given = slope[:, known:], ca.mtimes(slope[:, :known], rate) + moved
    divisor = ca.sum2(ca.fabs(matrix))
    found = _solved(matrix / ca.repmat(divisor, 1, m), -given / divisor)
    return ca.Function("following", [y, xi, c, rate], [ca.densify(found)])


def _solved(matrix: ca.MX, right: ca.MX) -> ca.MX:
    """Rows of one size make partial pivoting independent of their units.

    Those without any slope give no numbers then; LAPACK's own equilibration would print a warning about them.
    """
    return ca.solve(matrix, right, "lapacklu", {"equilibration": False})


def dense(matrix: Any) -> np.ndarray:
    """A matrix, dense or sparse, as an array."""
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def _times(matrix: Any, x: ca.MX) -> ca.MX:
    return ca.mtimes(ca.sparsify(ca.DM(dense(matrix))), x)
