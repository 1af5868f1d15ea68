"""CasADi functions that correct chosen coordinates of a mode by Newton's method, several full steps a call."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from .equations import Jet
from .lowering import Buffered, Many
from .rounding import REACHED, UNIT

STEPS = 3
"""Newton steps of one call: from the error of a prediction to rounding, where convergence is quadratic."""
ACCURATE = 1e-10
"""Step, in units of the scale, from which on residuals that are rounding end an iteration: it goes on as long as it is of
use, for where slopes all but vanish rounding leaves unknowns wide open, and from one point to the next they would leap."""
CONTRACTS = 0.25
"""Ratio of successive steps up to which full ones are trusted."""
MOST_COLUMNS = 40
"""Unknowns up to which dense factors inside of CasADi are the faster ones."""


class Correction:
    """Solves all rows of a mode for as many of its coordinates, near a guess: full steps as long as they contract.

    Parameters
    ----------
    function : casadi.Function
        Made by `correcting`.
    scale : (n,) array
        Magnitudes of the coordinates solved.
    mapped : callable
        Makes the function mapped over `BATCH` points.
    """

    def __init__(self, function: ca.Function, scale: np.ndarray, mapped: Callable[[], ca.Function]) -> None:
        self._f, self._scale = Buffered(function), scale
        self._f.inputs[3][:] = scale
        self._many = Many(Buffered(function), mapped)

    def __call__(
        self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray, iterated: Callable[[int], None]
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Coordinates next to a guess and the rate there, until the next call; None where full steps do not lead there."""
        f, before = self._f, math.inf
        f.inputs[1][:], f.inputs[2][:] = xi, constants
        while True:
            f.inputs[0][:] = y
            # Nothing is written, and nothing said, where a matrix is exactly singular.
            f.outputs[2].fill(np.nan)
            f()
            iterated(STEPS)
            *sizes, missed = f.outputs[2].tolist()
            y = f.outputs[0]
            for size in sizes:
                if not size <= max(CONTRACTS * before, ACCURATE):
                    return None
                before = min(size, 1.0)
            if before <= ACCURATE:
                return (y, f.outputs[1]) if missed == 0.0 else None

    def many(self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray) -> np.ndarray:
        """The same at many points: corrects ``y`` (k, ny) and returns a mask of the points (k,) that were found."""
        found, left, before = np.zeros(len(y), bool), np.arange(len(y)), np.full(len(y), np.inf)
        while len(left):
            there, _, told = self._many([y[left], xi[left]], {2: constants, 3: self._scale})
            steps = np.minimum(np.column_stack([before[left], told[:, :-1]]), 1.0)
            on = (
                told[:, :-1]
                <= np.maximum(CONTRACTS * np.column_stack([before[left], steps[:, 1:-1]]), ACCURATE)
            ).all(axis=1)
            ended = steps[:, -1] <= ACCURATE
            here = on & ended & (told[:, -1] == 0.0)
            found[left[here]], y[left[here]] = True, there[here]
            on &= ~ended
            before[left], y[left[on]] = steps[:, -1], there[on]
            left = left[on]
        return found


def correcting(function: ca.Function, residual: ca.Function, columns: np.ndarray, rate: Jet) -> ca.Function:
    """The function of a `Correction`.

    Parameters
    ----------
    function : casadi.Function
        ``(y, xi, constants)`` to values (n,) and slopes (n, ny).
    residual : casadi.Function
        The same to values and their rounding (n,).
    columns : (n,) array
        Coordinates solved.
    rate : Jet
        What else is wanted at the point found, linear in the coordinates and the sources.
    """
    y, xi, c = (ca.MX.sym(name, function.numel_in(k)) for k, name in enumerate(("y", "xi", "c")))
    at, magnitude, x, sizes = columns.tolist(), ca.MX.sym("scale", len(columns)), y, []
    divisor = wide = matrix = d = ca.MX()
    for _ in range(STEPS):
        value, slope = function(x, xi, c)
        matrix = slope[:, at]
        if not sizes:
            divisor = ca.sum2(ca.fabs(matrix))
            wide = ca.repmat(divisor, 1, len(at))
        d = _solved(matrix / wide, -value / divisor)
        sizes.append(ca.norm_2(d / (magnitude + ca.fabs(x[at]))))
        moved = ca.MX(x)
        moved[at] = x[at] + d
        x = moved
    value, rounding = residual(x, xi, c)
    # As `rounding.solved`.
    rounding += UNIT * ca.mtimes(ca.fabs(matrix), magnitude * ca.mmax(ca.fabs(d) / magnitude))
    missed = len(columns) - ca.sum1(ca.fabs(value) <= REACHED * rounding)
    # A sparse output would leave out a rate that is zero whatever happens, and shift those below it.
    found = ca.densify(_times(rate.y, x) + _times(rate.xi, xi))
    return ca.Function("correction", [y, xi, c, magnitude], [x, found, ca.vertcat(*sizes, missed)])


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
