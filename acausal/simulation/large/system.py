"""Equations of a large model as they stand: nothing is eliminated, all unknowns are solved along the motion.

The states ``X`` are all differentiated variables. The unknowns ``u`` are their derivatives and, in the places of all
other variables, these themselves. With ``F(u, X, xi) = 0`` the rates are part of ``u``, and a step of an implicit
method needs the matrix ``shift F_X' + F_X`` beside ``F_w``, which is as sparse as the equations.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from ...compilation.nonlinear_rows import NonlinearFunctions
from ...dynamics.work import Work
from ...reduction.core import TANGENT_STATES, Values
from ...reduction.large.definitions import without_definitions
from ...reduction.large.reduction import SparseRows, without_constraints
from ...reduction.linearize import Numbering
from ...reduction.open_mode import OpenMode, Orders
from ...reduction.reduced_model import ReducedModel
from ...reduction.rounding import UNIT
from ..nonlinear.newton import Linearized, newton, undamped
from ..numeric import NumericCore
from .sparse_matrices import Factors, Pattern


def kept_back(reduced: ReducedModel, given: np.ndarray, priority: np.ndarray | None) -> np.ndarray:
    """Mask over the core unknowns: a start is given, of a mask over all variables, or a priority as a state is declared."""
    found = np.zeros(len(reduced.core), bool)
    W = reduced.W_core[np.flatnonzero(given)]
    alone = np.flatnonzero(np.diff(W.indptr) == 1)
    found[W.indices[W.indptr[alone]]] = True
    return found if priority is None else found | (priority > 0.0)


class LargeSystem:
    """The only mode of a large model; stands for a `NonlinearSystem` in its runs.

    Parameters
    ----------
    core : NumericCore
        With sparse rows.
    functions : NonlinearFunctions
    kept_back : (n,) array of bool
        Core unknowns that stay states where others can be replaced.

    Raises
    ------
    Inadmissible
        "singular": some unknown can be computed from no equation.
    """

    highest = constraints = analysed = 0

    def __init__(self, core: NumericCore, functions: NonlinearFunctions, kept_back: np.ndarray) -> None:
        self.core, self.nonlinear_rows = core, functions.rows
        model = core.model
        self.Z, self.D, _ = functions.rows.variables
        X = functions.rows.sources(core.exosystem)
        self.q = model.q - (TANGENT_STATES if len(functions.rows) else 0)
        from scipy.sparse import csr_array, hstack

        self.S = csr_array(model.S[: self.q, : self.q])
        argument_scale = (
            abs(self.Z) @ model.scale + abs(self.D) @ model.scale / model.T0 + abs(X) @ model.xi_scale
        )
        self.functions = functions.rescaled(argument_scale)
        self.rows, rounds = self._reduced(X, kept_back)
        self._number(rounds)
        self._over_known = hstack([self.rows.A[:, self.x], self.rows.B], format="csr")
        self.exact = self._constant_matrix()
        """The matrix over the unknowns is the same everywhere."""
        self._factors: Factors | None = None

    def seek_within(self, bounds: Any) -> None:
        """Nothing: unknowns of large models are sought from where the last point left them."""

    def copy(self) -> LargeSystem:
        """The same equations with arrays of their own for the values of nonlinear rows: two runs share none."""
        made = copy(self)
        made.functions = self.functions.rescaled(self.functions.scale)
        return made

    def _reduced(self, X: Any, kept_back: np.ndarray) -> tuple[SparseRows, int]:
        from scipy.sparse import csr_array, eye_array

        base, n, q, reduced = self.core.model.base, self.core.model.n, self.q, self.core.reduced
        number_of = np.full(reduced.n_rows + 1, -1)
        number_of[self.nonlinear_rows.rows] = np.arange(len(self.nonlinear_rows))
        E, A, B = (getattr(base, name).tocsr() for name in "EAB")
        E.eliminate_zeros()
        A.eliminate_zeros()
        rows = SparseRows(
            E, A, B[:, :q], number_of[Numbering.of(reduced).base], self.nonlinear_rows.owner, self.Z, self.D, X[:, :q],
            eye_array(n, format="csr"), csr_array((n, n)), csr_array((n, q)), np.arange(n), np.zeros(n, bool),
        )  # fmt: skip
        rows, rounds = without_constraints(rows, self.S, kept_back)
        return without_definitions(rows), rounds

    def _number(self, rounds: int) -> None:
        """Number states and unknowns, and describe the mode as others read it: over ``v = [X; u; xi]``."""
        from scipy.sparse import csr_array, hstack

        rows, model = self.rows, self.core.model
        known = rows.known
        n, x, w = rows.n, np.flatnonzero(known), np.flatnonzero(~known)
        nx = len(x)
        self.n, self.m, self.nx, self.x = n, n, nx, x
        self.nonlinear = np.flatnonzero(rows.nonlinear >= 0)
        self.pattern = Pattern.of(rows.E, rows.A, rows.nonlinear, rows.Z, rows.D, rows.owner, x)
        scale = model.scale[rows.ids]
        self.scale, self.open_scale = scale[x], scale / np.where(known, model.T0, 1.0)
        column = np.concatenate([np.arange(nx), nx + w])
        values = csr_array((np.ones(n), (np.concatenate([x, w]), column)), shape=(n, nx + n))
        slopes = csr_array((np.ones(nx), (x, nx + x)), shape=(n, nx + n))

        def over_v(own: Any, sources: Any) -> Any:
            return hstack([own, sources], format="csr")

        z_of = over_v(rows.z_of @ values + rows.z_of_slopes @ slopes, rows.sources_of)
        slope_of = over_v(rows.z_of @ slopes, rows.sources_of @ self.S)
        self.arguments = over_v(rows.Z @ values + rows.D @ slopes, rows.X)
        self._affine = over_v(rows.A @ values + rows.E @ slopes, rows.B)
        self._affine_sizes, self._argument_sizes = abs(self._affine), abs(self.arguments)
        rate, nonlinear = over_v(slopes[x], csr_array((nx, self.q))), rows.nonlinear[self.nonlinear]
        index = rounds + (n > nx)
        self.mode = OpenMode((), rows.ids[x], rows.ids, known, z_of, slope_of, rate, nonlinear, index)
        self.z_of = z_of
        self.orders = Orders(np.zeros(len(nonlinear), np.int64), np.zeros(n, np.int64))
        self.constraint_rows = self.constraint_levels = np.zeros(0, np.int64)

    def _constant_matrix(self) -> bool:
        if not len(self.nonlinear):
            return True
        rows = self.rows
        bent = np.flatnonzero(self.functions.nonlinear & rows.in_force())
        algebraic = np.ones(self.n, bool)
        algebraic[self.x] = False
        return not (rows.D[bent].nnz or algebraic[rows.Z[bent].indices].any())

    # -- as a mode among others ----------------------------------------------------------------------------------

    def constants(self, values: Values) -> np.ndarray:
        """Constants of the nonlinear rows."""
        return self.nonlinear_rows.constant_values(values)

    def v0(self, y: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """``v`` from ``[X; u]`` and the sources."""
        return np.concatenate([y, xi])

    def left_over(self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray) -> float:
        """Defect of rows that are left out: there are none."""
        return 0.0

    def rate(self, y: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """``dX/dt`` at a point ``y = [X; u]``."""
        return y[self.nx :][self.x]

    def evaluate(self, level: int, jets: list[np.ndarray], constants: np.ndarray) -> list[np.ndarray]:
        """Nonlinear rows at given arguments: see `NonlinearFunctions`."""
        return self.functions(level, jets, constants)

    # -- equations -----------------------------------------------------------------------------------------------

    def residual(self, X: np.ndarray, u: np.ndarray, xi: np.ndarray, constants: np.ndarray) -> np.ndarray:
        """``F``, one entry per unknown."""
        v = np.concatenate((X, u, xi))
        found = self._affine @ v
        if len(self.nonlinear):
            found[self.nonlinear] += self.functions(0, [self.arguments @ v], constants)[0][
                self.mode.nonlinear
            ]
        return found

    def rounding(self, X: np.ndarray, u: np.ndarray, xi: np.ndarray, constants: np.ndarray) -> np.ndarray:
        """How far rounding may move `residual`."""
        v = np.concatenate((X, u, xi))
        size = UNIT * np.abs(v)
        found = self._affine_sizes @ size
        if len(self.nonlinear):
            errors = self._argument_sizes @ size
            found[self.nonlinear] += self.functions.rounding(self.arguments @ v, constants, errors)[
                self.mode.nonlinear
            ]
        return found

    def gradient(self, X: np.ndarray, u: np.ndarray, xi: np.ndarray, constants: np.ndarray) -> np.ndarray:
        """Derivatives of all nonlinear rows by their arguments."""
        if not len(self.nonlinear):
            return np.zeros(0)
        return self.functions(0, [self.arguments @ np.concatenate((X, u, xi))], constants)[1].copy()

    def factors(self, gradient: np.ndarray) -> Factors:
        """Factors of the matrix over the unknowns, made once where that is the same everywhere.

        Raises
        ------
        LinAlgError
        """
        if self._factors is not None:
            return self._factors
        found = Factors(self.pattern.over_unknowns(gradient), self.exact)
        if self.exact:
            self._factors = found
        return found

    def by_time(self, gradient: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """Derivative of ``F`` by time alone."""
        moved = self.S @ xi
        found = self.rows.B @ moved
        if len(self.nonlinear):
            terms = np.bincount(self.rows.owner, gradient * (self.rows.X @ moved), len(self.nonlinear_rows))
            found[self.nonlinear] += terms[self.mode.nonlinear]
        return found

    def solve(
        self,
        X: np.ndarray,
        u: np.ndarray,
        xi: np.ndarray,
        constants: np.ndarray,
        factors: Factors | None,
        work: Work,
    ) -> np.ndarray:
        """Unknowns at ``X``; ``u`` is a guess, ``factors`` those of the matrix over ``u`` somewhere near.

        Raises
        ------
        NewtonFailure
        """
        if factors is not None and not len(self.nonlinear):
            return factors.solve(-(self._over_known @ np.concatenate((X, xi))))
        if factors is not None and factors.exact:
            return u + factors.solve(-self.residual(X, u, xi, constants))

        def defect(u: np.ndarray) -> Linearized:
            return (
                self.residual(X, u, xi, constants),
                self.pattern.over_unknowns(self.gradient(X, u, xi, constants)),
            )

        def rounding(u: np.ndarray) -> np.ndarray:
            return self.rounding(X, u, xi, constants)

        if factors is not None:
            kept = factors
            found = undamped(
                lambda u: (self.residual(X, u, xi, constants), kept), rounding, u, self.open_scale, work
            )
            if found is not None:
                return found
        return newton(defect, rounding, u, self.open_scale, work=work)
