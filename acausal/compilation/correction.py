"""CasADi functions that correct chosen coordinates of a mode by Newton's method, several full steps a call."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from ..kernels.newton import ACCURATE, CONTRACTS, REACHED
from ..reduction.rounding import UNIT
from .blocks import MOST_COLUMNS, BlockTriangular, balanced, solution
from .equations import Jet
from .lowering import Buffered, Many

STEPS = 3
"""Newton steps of one call: from the error of a prediction to rounding, where convergence is quadratic."""
LINEAR_STEPS = 2
"""The same of rows that are linear in what is solved: the second tells that the first was exact."""


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
        f, size, missed = self._f, math.inf, 0.0
        f.inputs[1][:], f.inputs[2][:] = xi, constants
        while size > ACCURATE:
            f.inputs[0][:], f.inputs[4][:] = y, size
            # Nothing is written, and nothing said, where a matrix is exactly singular.
            f.outputs[2].fill(np.nan)
            f()
            size, missed = f.outputs[2].tolist()
            iterated(int(f.outputs[3][0]))
            y = f.outputs[0]
        return (y, f.outputs[1]) if size <= ACCURATE and missed == 0.0 else None

    def many(self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray) -> np.ndarray:
        """The same at many points: corrects ``y`` (k, ny) and returns a mask of the points (k,) that were found."""
        found, left, size = np.zeros(len(y), bool), np.arange(len(y)), np.full(len(y), np.inf)
        while len(left):
            there, _, told, _ = self._many([y[left], xi[left], size[:, None]], {2: constants, 3: self._scale})
            size, missed = told.T
            here, on = (size <= ACCURATE) & (missed == 0.0), size > ACCURATE
            found[left[here]], y[left[here]] = True, there[here]
            left, size = left[on], size[on]
            y[left] = there[on]
        return found


def correcting(
    function: ca.Function, residual: ca.Function, columns: np.ndarray, rate: Jet
) -> ca.Function | None:
    """The function of a `Correction`; None where many unknowns are coupled densely, which is no work for CasADi.

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

    Returns
    -------
    casadi.Function
        ``(y, xi, constants, scale, size)`` with the size of the last step before, in units of the scale, to the point, the rate
        there, the size of the last step with the number of residuals that are no rounding, and the number of steps; the size is
        not a number where a step has not contracted.
    """
    at, point = columns.tolist(), _symbols(ca.SX, function)
    y, xi, c = point
    scale, d, weight = (ca.SX.sym(name, len(at)) for name in ("scale", "d", "weight"))
    # Between solutions everything is one expression: calls of small operations would take longer than these.
    value, slope = function(y, xi, c)
    matrix = slope[:, at]
    linear = set(at).isdisjoint(ca.jacobian_sparsity(ca.vec(matrix), y).get_col())
    count = LINEAR_STEPS if linear else STEPS
    sizes = ca.SX.sym("sizes", count + 1)
    solved = (_few if len(at) <= MOST_COLUMNS else _many)(matrix, -value, point, scale)
    if solved is None:
        return None
    moved = ca.SX(y)
    moved[at] += d
    step = ca.Function("step", [y, d, scale], [moved, ca.norm_2(d / (scale + ca.fabs(y[at])))])
    value, rounding = residual(y, xi, c)
    # As `rounding.solved`.
    rounding += UNIT * weight * ca.mmax(ca.fabs(d) / scale)
    missed = ca.sum1(ca.logic_not(ca.fabs(value) <= REACHED * rounding))
    before = ca.vertcat(sizes[0], ca.fmin(sizes[1:-1], 1.0))
    grown = ca.sum1(ca.logic_not(sizes[1:] <= ca.fmax(CONTRACTS * before, ACCURATE)))
    told = ca.vertcat(ca.if_else(grown, np.nan, sizes[-1]), missed)
    # A sparse output would leave out a rate that is zero whatever happens, and shift those below it.
    found = ca.densify(_times(rate.y, y) + _times(rate.xi, xi))
    end = ca.Function("end", [*point, scale, d, weight, sizes], [found, told])

    begin, *others = _symbols(ca.MX, function)
    units, steps = ca.MX.sym("scale", len(at)), [ca.MX.sym("size")]
    x, last = begin, []
    for _ in range(count):
        last = solved([x, *others], units)
        x, size = step(x, last[0], units)
        steps.append(size)
    told = end(x, *others, units, *last, ca.vertcat(*steps))
    return ca.Function("correction", [begin, *others, units, steps[0]], [x, *told, count])


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
    point, rate, m = _symbols(ca.SX, function), ca.SX.sym("rate", known), function.numel_in(0) - known
    _, slope, moved = (part[-m:, :] for part in function(*point))
    given = ca.mtimes(slope[:, :known], rate) + moved
    linear = ca.Function("linear", [*point, rate], balanced(slope[:, known:], -given))
    arguments = [*_symbols(ca.MX, function), ca.MX.sym("rate", known)]
    return ca.Function("following", arguments, [solution(*linear(*arguments))])


def _symbols(kind: Any, function: ca.Function) -> list[Any]:
    """Symbols of the arguments of a function."""
    return [kind.sym(name, function.numel_in(k)) for k, name in enumerate(("y", "xi", "c"))]


Solve = Callable[[list[ca.MX], ca.MX], list[ca.MX]]
"""A point, and units of the unknowns, to the step there and the terms of its equations in these units."""


def _few(matrix: ca.SX, right: ca.SX, point: list[ca.SX], scale: ca.SX) -> Solve:
    """Solves for all unknowns at once."""
    made = ca.Function("equations", [*point, scale], [*balanced(matrix, right), ca.fabs(matrix) @ scale])

    def solve(at: list[ca.MX], units: ca.MX) -> list[ca.MX]:
        *system, terms = made(*at, units)
        return [solution(*system), terms]

    return solve


def _many(matrix: ca.SX, right: ca.SX, point: list[ca.SX], scale: ca.SX) -> Solve | None:
    """Solves block by block, where the larger ones are sparse."""
    blocks = BlockTriangular(matrix, right, point)
    if not blocks.sparse:
        return None
    terms = ca.Function("terms", [*point, scale], [ca.densify(ca.fabs(ca.sparsify(matrix)) @ scale)])
    return lambda at, units: [blocks.solution(at), terms(*at, units)]


def dense(matrix: Any) -> np.ndarray:
    """A matrix, dense or sparse, as an array."""
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def _times(matrix: Any, x: ca.SX) -> ca.SX:
    return ca.mtimes(ca.sparsify(ca.DM(dense(matrix))), x)
