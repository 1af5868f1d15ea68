"""Equations of one mode of a nonlinear model as functions of time and its states, solved by Newton's method.

``X`` holds the states of the affine part and the open unknowns that are differentiated, with their lower
derivatives; ``H`` the highest derivatives of the open unknowns. Nonlinear rows differentiated less often than
needed constrain ``X`` (``C = 0``); differentiated fully they determine ``H`` (``F = 0``).
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from ...compilation.blocks import MOST_COLUMNS
from ...compilation.correction import Correction, Following, correcting, dense, following
from ...compilation.equations import Jet, ModeEquations
from ...compilation.lowering import BATCH, Buffered
from ...compilation.nonlinear_rows import NonlinearFunctions
from ...compilation.programs import program_of
from ...kernels.loading import compiled_function
from ...reduction.open_mode import OpenMode, Orders
from .least_flows import LeastFlows
from .places import Linear as Linear
from .point_kernels import PointKernels, PointSize
from .quick_states import QuickStates

LARGE = 4096
"""Entries from which a matrix may be stored sparse."""
PREFERENCE = 8.0
"""Factor by which a coordinate of the next higher priority may be the better pivot and still be kept as a state."""
DETERMINED = 2.0**-26
"""Error of an inverse, half the digits, from which it is none."""
SPARSE = 0.1
"""Share of entries that are not zero up to which it is."""


def thin(matrix: np.ndarray) -> Any:
    """The matrix, in sparse form where that pays."""
    if matrix.size < LARGE or np.count_nonzero(matrix) > SPARSE * matrix.size:
        return matrix
    from scipy.sparse import csr_array

    return csr_array(matrix)


def beside(parts: list[Any]) -> Any:
    """Matrices with the same rows as one, in sparse form where they have it or where that pays."""
    if isinstance(parts[0], np.ndarray):
        return thin(np.hstack(parts))
    from scipy.sparse import hstack

    return hstack(parts, format="csr")


class Coordinates(NamedTuple):
    """What is known beforehand of the unknowns ``s`` and ``h`` of a mode."""

    scale: np.ndarray
    """Magnitudes."""
    unit: float
    """Of time, in seconds."""
    priority: np.ndarray | None
    """Ranks as states; None for equal ones."""


class NonlinearSystem:
    """One mode.

    Parameters
    ----------
    mode : OpenMode
    orders : Orders
    arguments : (na, nv) array
        Arguments of all nonlinear rows over ``v = [s; h; xi]``.
    evaluate : NonlinearFunctions
    S : (q, q) array
        Generator of the sources.
    coordinates : Coordinates
    left_out : (rows, squares) or None
        Nonlinear rows that follow from others, and over the core unknowns (n, n) the sum of squares that is as small as
        possible in their place.
    """

    def __init__(
        self, mode: OpenMode, orders: Orders, arguments: np.ndarray, evaluate: NonlinearFunctions, S: np.ndarray,
        coordinates: Coordinates,
        left_out: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:  # fmt: skip
        self.mode, self.orders, self.evaluate, self.S = mode, orders, evaluate, S
        self.nonlinear_rows, (scale, unit, priority) = evaluate.rows, coordinates
        ns, m = len(mode.states), len(mode.open)
        p, c = orders.unknowns, orders.rows
        first, second = np.flatnonzero(p >= 1), np.flatnonzero(p >= 2)
        self.nx, self.m = ns + len(first) + len(second), m
        self.highest = orders.highest
        self.algebraic = np.flatnonzero(p == 0)
        jets = _jets(mode, p, first, second, S, self.nx)
        self.v0, self.v1 = (Jet(thin(j.y), thin(j.xi)) for j in jets[:2])
        self.z_of = thin(mode.z_of)
        used = jets[: self.highest + 1]
        self.arguments = arguments
        rate = _rates(mode, first, second, jets, self.nx)
        self._rate = Jet(thin(rate.y), thin(rate.xi))
        self.rate_of_states, self.rate_of_open = thin(rate.y[:, : self.nx]), rate.y[:, self.nx :]
        """``dX/dt`` over X and over H."""
        self.open_bounds: tuple[np.ndarray, np.ndarray] | None = None
        """Within which open unknowns are sought first, while a start is sought."""
        self.scale = np.concatenate([scale[:ns], scale[ns + first], scale[ns + second] / unit])
        rank = np.zeros(ns + m) if priority is None else priority
        weight = PREFERENCE ** -np.concatenate([rank[:ns], rank[ns + first], rank[ns + second]])
        self.pivot_weight = weight / weight.max(initial=1.0)
        """Factors, at most one, with which coordinates compete for being solved from constraints."""
        self.open_scale = scale[ns:] / unit**p
        hidden = [
            (row, i) for row, k in zip(mode.nonlinear.tolist(), c.tolist(), strict=True) for i in range(k)
        ]
        full = list(zip(mode.nonlinear.tolist(), c.tolist(), strict=True))
        self.constraint_rows = np.array([row for row, _ in hidden], np.int64)
        """Nonlinear row behind every constraint; those of ``F`` are the rows of the mode in order."""
        self.constraint_levels = np.array([level for _, level in hidden], np.int64)
        """How often each constraint is differentiated."""
        self.constraints = len(hidden)
        jets_of_arguments = [Jet(arguments @ j.y, arguments @ j.xi) for j in used]
        magnitudes = np.concatenate([self.scale, self.open_scale])
        self._equations = ModeEquations(evaluate, hidden + full, jets_of_arguments, S, magnitudes, unit)
        self._corrections: dict[bytes, Correction | None] = {}
        self._kernels: dict[bytes, PointKernels | None] = {}
        self._beside: Buffered | None = None
        self._argument_scale = np.abs(arguments[:, : ns + m]) @ scale
        self._least: LeastFlows | None = None
        if left_out is not None:
            rows, squares = left_out
            by_open = jets[0].y[:, self.nx :].T @ mode.z_of.T @ squares @ mode.z_of
            found = Jet(by_open @ jets[0].y, by_open @ jets[0].xi)
            self._least = LeastFlows(rows, found, self._equations, S, self.open_scale)

    # -- evaluation ----------------------------------------------------------------------------------------------

    def seek_within(self, bounds: tuple[np.ndarray, np.ndarray] | None) -> None:
        """Seek open unknowns within these bounds first."""
        self.open_bounds = bounds

    def linear(self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray, time: bool = False) -> Linear:
        """Constraints ``C`` and equations ``F`` at a point ``y = [X; H]`` with their derivatives, until the next call."""
        value, slope, *moved = self._equations(y, xi, constants, time)
        n = self.constraints
        t = moved[0] if time else value
        F, F_y, F_t = value[n:], slope[n:], t[n:]
        if self._least is not None:
            more = self._least(F_y[None], y[None], xi[None], constants)
            F, F_y, F_t = (
                np.concatenate((part, added[0])) for part, added in zip((F, F_y, F_t), more, strict=True)
            )
        return Linear(value[:n], F, slope[:n], F_y, t[:n], F_t)

    def left_over(self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray) -> float:
        """Largest defect of the rows left out at a point [X, H], relative to their terms."""
        if self._least is None:
            return 0.0
        a, owner = self.arguments @ self.v0(y, xi), self.nonlinear_rows.owner
        value, gradient = (np.array(x) for x in self.evaluate(0, [a], constants))
        size = np.abs(gradient) * (np.abs(a) + self._argument_scale)
        rows = self._least.left_out
        terms = np.bincount(owner, size, len(self.nonlinear_rows))[rows]
        return float((np.abs(value[rows]) / (terms + np.finfo(float).tiny)).max())

    def rounding(self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray) -> np.ndarray:
        """How far rounding may move ``[C, F]`` at a point, until the next call."""
        if self._least is None:
            return self._equations.rounding(y, xi, constants)
        return self.rounding_many(y[None], xi[None], constants)[0]

    def rounding_many(self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray) -> np.ndarray:
        """The same at many points, one per row of ``y`` and ``xi``."""
        found = self._equations.rounding_many(y, xi, constants)
        if self._least is None:
            return found
        slopes = self._equations.many(y, xi, constants)[1][:, self.constraints :]
        return np.concatenate((found, self._least.rounding(slopes, y, xi)), axis=1)

    def correction(self, dependent: np.ndarray) -> Correction | None:
        """Newton's method for the dependent coordinates and ``H``.

        None where there is nothing to solve, where rows are left out, or where many unknowns are coupled densely.
        """
        key = dependent.tobytes()
        if key in self._corrections:
            return self._corrections[key]
        found = None
        if self._least is None and len(dependent) + self.m:
            columns = np.concatenate([dependent, self.nx + np.arange(self.m)])
            scale = np.concatenate([self.scale[dependent], self.open_scale])
            equations, rate = self._equations, self._rate
            name = (key, dense(rate.y).tobytes(), dense(rate.xi).tobytes())
            made = equations.compiled(
                name, lambda: correcting(equations.function, equations.residual, columns, rate)
            )
            if made is not None:
                many = partial(equations.compiled, (name, "many"), partial(made.map, BATCH))
                found = Correction(made, scale, many)
        self._corrections[key] = found
        return found

    def kernels(self, dependent: np.ndarray) -> PointKernels | None:
        """Kernels that find points, given the other coordinates.

        None where kernels are interpreted or cannot evaluate the rows, where these are not as many as what is solved for, and for
        many unknowns or states.
        """
        key = dependent.tobytes()
        if key not in self._kernels:
            self._kernels[key] = self._kernels_for(dependent)
        return self._kernels[key]

    def _kernels_for(self, dependent: np.ndarray) -> PointKernels | None:
        few = len(dependent) + self.m <= MOST_COLUMNS and isinstance(self._rate.y, np.ndarray)
        square = self._least is None and len(dependent) == self.constraints
        if not (few and square) or compiled_function("find_point") is None:
            return None
        equations = self._equations
        functions = equations.function, equations.residual, equations.timed
        programs = equations.compiled("programs", lambda: [program_of(f) for f in functions])
        if None in programs:
            return None
        size = PointSize(self.nx, self.m, len(self.S))
        scale = np.concatenate([self.scale[dependent], self.open_scale])
        rates = np.hstack([dense(self._rate.y), dense(self._rate.xi)])
        return PointKernels(programs, size, dependent, scale, rates)

    @cached_property
    def following(self) -> Following | None:
        """Time derivatives of ``H``; None where there are too many for it, or constraints, whose slopes are looked at anyway."""
        if self.constraints or self._least is not None or not 0 < self.m <= MOST_COLUMNS:
            return None
        equations = self._equations
        return Following(equations.compiled("following", lambda: following(equations.timed, self.nx)))

    def many(
        self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``[C, F]``, their derivatives over [X, H] and by time at many points, one per row of ``y`` and ``xi``."""
        value, slope, moved = self._equations.many(y, xi, constants)
        if self._least is None:
            return value, slope, moved
        more = self._least(slope[:, self.constraints :], y, xi, constants)
        return (
            np.concatenate((value, more[0]), axis=1),
            np.concatenate((slope, more[1]), axis=1),
            np.concatenate((moved, more[2]), axis=1),
        )

    def beside(self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Derivatives of the constraints that are not differentiated by each coordinate where it alone is another one."""
        if self._beside is None:
            first = np.flatnonzero(self.constraint_levels == 0)
            self._beside = self._equations.beside(first, self.nx)
        f = self._beside
        for given, values in zip(f.inputs, (y, xi, constants, others), strict=True):
            given[:] = values
        f()
        return f.outputs[0].reshape(self.nx, -1).T

    def rate(self, y: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """``dX/dt`` at a point ``y = [X; H]``."""
        return self._rate(y, xi)

    @cached_property
    def open_of_rates(self) -> np.ndarray | None:
        """Matrix by which changes of the rates give those of the open unknowns; None where they do not, or are constrained."""
        if self.constraints or not self.m:
            return None
        scaled = self.rate_of_open * self.open_scale / self.scale[:, None]
        found = np.linalg.pinv(scaled)
        if np.abs(found @ scaled - np.eye(self.m)).max() > DETERMINED:
            return None
        return self.open_scale[:, None] * found / self.scale

    @cached_property
    def quick(self) -> QuickStates | None:
        """What follows from slopes of quick states, open unknowns given; None where there are constraints."""
        if self.constraints or not self.nx:
            return None
        outputs = np.hstack([dense(self.z_of @ self.v0.y), dense(self.z_of @ self.v0.xi)])
        return QuickStates(np.hstack([dense(self._rate.y), dense(self._rate.xi)]), outputs)

    @property
    def rate_of_both(self) -> Any:
        """``dX/dt`` over [X, H]."""
        return self._rate.y

    @property
    def rate_of_sources(self) -> Any:
        """``dX/dt`` over xi."""
        return self._rate.xi


def _jets(
    mode: OpenMode, p: np.ndarray, first: np.ndarray, second: np.ndarray, S: np.ndarray, nx: int
) -> list[Jet]:
    """``v = [s; h; xi]`` and its first two time derivatives; what is not known of them is zero."""
    ns, m, q = len(mode.states), len(mode.open), len(S)
    nv = ns + m + q
    power, jets = np.eye(q), []
    lower = {0: (first, ns), 1: (second, ns + len(first))}
    for level in range(3):
        y, xi = np.zeros((nv, nx + m)), np.zeros((nv, q))
        if level == 0:
            y[np.arange(ns), np.arange(ns)] = 1.0
        else:
            y[:ns], xi[:ns] = mode.rate @ jets[-1].y, mode.rate @ jets[-1].xi
        known, at = lower.get(level, (first[:0], 0))
        y[ns + known, at + np.arange(len(known))] = 1.0
        top = np.flatnonzero(p == level)
        y[ns + top, nx + top] = 1.0
        xi[ns + m :] = power
        power = power @ S
        jets.append(Jet(y, xi))
    return jets


def _rates(mode: OpenMode, first: np.ndarray, second: np.ndarray, jets: list[Jet], nx: int) -> Jet:
    ns = len(mode.states)
    rows = np.concatenate([np.arange(ns), ns + first])
    y, xi = jets[1].y[rows], jets[1].xi[rows]
    last = np.zeros((len(second), y.shape[1]))
    last[np.arange(len(second)), nx + second] = 1.0
    return Jet(np.vstack([y, last]), np.vstack([xi, np.zeros((len(second), xi.shape[1]))]))
