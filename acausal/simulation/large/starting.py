"""Starts of large models that more than the values of states determines: all equations and conditions at once, sparse."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import InitializationError
from ...reduction.rounding import UNIT
from ...structure.incidence import Incidence
from ...structure.matching import alternating_reach, maximum_matching
from ..failures import UNSOLVED
from ..nonlinear.motion import Motion
from ..nonlinear.newton import Linearized, NewtonFailure, newton
from ..starts.conditions import Conditions
from ..starts.problem import StartProblem
from ..starts.stated import Rank
from .demands import NAMED, Demand, demands
from .system import LargeSystem

WISH = 1e-6
"""Weight of the distances from the start values: with that of one the matrix has the square of the condition of the equations
(A. Bjorck, Numerical Methods for Least Squares Problems, SIAM 1996, section 2.5)."""


class SparseStart:
    """Newton's method on the equations and demands of a start; what they leave open stays next to the start values.

    States with given starts move only where the demands cannot be met otherwise. With defects ``G`` and the free states
    ``x`` the step is that with the least ``|x - x0|`` in units of the scales: rows ``x + G_x' l = x0``, ``G_u' l = 0``
    stand beside those of ``G`` (J. Nocedal, S. J. Wright, Numerical Optimization, 2nd ed., Springer 2006, section 16.1).

    Parameters
    ----------
    system : LargeSystem
    stated : Demand
    given : (nx,) array of bool
        States with given starts, those apart that are to be at rest.
    resting : (nx,) array of bool
        States that are to be at rest.
    where : str
        Activity and time, for messages.
    """

    def __init__(
        self, system: LargeSystem, stated: Demand, given: np.ndarray, resting: np.ndarray, where: str
    ) -> None:
        self.system, self.demands, self._where = system, stated, where
        owner, self._bent = system.nonlinear_rows.owner, np.flatnonzero(stated.nonlinear >= 0)
        found = [np.flatnonzero(owner == r) for r in stated.nonlinear[self._bent].tolist()]
        self._demand = np.repeat(self._bent, [len(at) for at in found])
        self._argument = np.concatenate([np.zeros(0, np.int64), *found])
        self._given, self._resting = given, resting

    # -- what is free --------------------------------------------------------------------------------------------

    @cached_property
    def free(self) -> np.ndarray:
        """States that the start may move.

        Those that are to be at rest say nothing of where that is: where it suffices they move alone.

        Raises
        ------
        InitializationError
            More demands than what they depend on has unknowns.
        """
        nx, given, structure = self.system.nx, self._given, self._structure()
        unknowns = np.ones(self.system.n, bool)
        chosen = ~given & (self._resting | (not self._resting.any()))
        while True:
            part = _incidence(structure[:, np.concatenate([chosen, unknowns])])
            found = maximum_matching(part)
            if (found.unknown >= 0).all():
                return np.flatnonzero(chosen)
            rows = np.flatnonzero(alternating_reach(part, found))
            read = np.diff(structure[rows][:, :nx].tocsc().indptr) > 0
            if not (read & ~given & ~chosen).any():
                break
            chosen |= read & ~given
        all_of = _incidence(structure)
        found = maximum_matching(all_of)
        if (found.unknown < 0).any():
            raise self._contradiction(np.flatnonzero(alternating_reach(all_of, found)[self.system.n :]))
        from scipy.sparse.csgraph import min_weight_full_bipartite_matching

        some = np.concatenate([~given, unknowns])
        structure.data[:] = 1.0 + ~some[structure.indices]
        column = min_weight_full_bipartite_matching(structure)[1]
        needed = ~given
        needed[column[column < nx]] = True
        return np.flatnonzero(needed)

    def _structure(self) -> Any:
        """Entries of `_slopes`, whatever their values."""
        pattern, ones = self.system.pattern, np.ones(len(self.system.nonlinear_rows.owner))
        slopes = abs(pattern.slopes) + abs(pattern.of_slopes) @ ones
        values = abs(pattern.values) + abs(pattern.of_values) @ ones
        found = self._joined(
            slopes, values, abs(self.demands.rows), self._bends(ones, abs(self.system.arguments))
        )
        found.eliminate_zeros()
        return found

    def _contradiction(self, which: np.ndarray) -> InitializationError:
        text, places = self.demands.named(which)
        return InitializationError(
            f"{self._where}: {text} cannot all hold",
            where=places,
            why="there are more conditions than unknowns that they depend on, beside the equations of the model",
            hint="drop one of them; conditions that follow from others are accepted in models of this size only where"
            " the start values meet all conditions",
        )

    # -- equations -----------------------------------------------------------------------------------------------

    def solve(
        self, X0: np.ndarray, u: np.ndarray, xi: np.ndarray, constants: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """States and unknowns of the start next to ``X0`` and a guess ``u``.

        Raises
        ------
        InitializationError
        """
        few, every = self.free, np.union1d(self.free, np.flatnonzero(~self._given))
        if len(few) < len(every):
            with suppress(NewtonFailure):
                return self._solved(few, X0, u, xi, constants)
        try:
            return self._solved(every, X0, u, xi, constants)
        except NewtonFailure as failure:
            raise self._not_met(failure) from None

    def _solved(
        self, free: np.ndarray, X0: np.ndarray, u: np.ndarray, xi: np.ndarray, constants: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        from scipy.sparse import block_array, csc_array, eye_array

        system = self.system
        f, n, nx = len(free), system.n, system.nx
        kept = np.concatenate([free, nx + np.arange(n)])
        scale = np.concatenate([system.scale, system.open_scale])
        first = np.concatenate([X0, u])
        size = abs(self._slopes(first, xi, constants)[:, kept] * scale[kept]).max(axis=1).toarray().ravel()
        size[~(np.isfinite(size) & (size > 0.0))] = 1.0
        alone = len(size) == f + n
        wanted: Any = block_array([[WISH * eye_array(f), None], [None, csc_array((n, n))]])

        begin = np.concatenate([first[kept] / scale[kept], np.zeros(0 if alone else len(size))])

        def point(w: np.ndarray) -> np.ndarray:
            y = first.copy()
            y[kept] = scale[kept] * w[: f + n]
            return y

        def defect(w: np.ndarray) -> Linearized:
            y = point(w)
            G = (self._slopes(y, xi, constants)[:, kept] * scale[kept] / size[:, None]).tocsr()
            missed = self._defects(y, xi, constants) / size
            if alone:
                return missed, G.tocsc()
            r = np.concatenate([WISH * (w - begin)[:f], np.zeros(n), missed])
            return r, block_array([[wanted, G.T], [G, None]], format="csc")

        def rounding(w: np.ndarray) -> np.ndarray:
            own = self._rounding(point(w), xi, constants) / size
            # Multipliers enter linearly and are found anew in every step: no iteration waits for them.
            return own if alone else np.concatenate([np.full(f + n, np.inf), own])

        # As many equations as unknowns leave nothing to wishes.
        units = np.concatenate([np.ones(f + n), np.full(0 if alone else len(size), np.inf)])
        y = point(newton(defect, rounding, begin, units))
        return y[:nx], y[nx:]

    def _not_met(self, failure: NewtonFailure) -> InitializationError:
        missed = np.abs(failure.residual[-len(self.demands.conditions) :])
        text, places = self.demands.named(np.argsort(-missed, kind="stable")[:NAMED])
        return InitializationError(
            f"{self._where}: no point was found at which {text} hold: {failure.reason}",
            where=places,
            why="they depend on each other or on the equations of the model"
            if failure.reason == "singular"
            else "",
            hint="give start values near the point that you mean, or drop a condition, such as that of a steady state",
        )

    def _slopes(self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray) -> Any:
        """Derivatives of all defects by states and unknowns."""
        gradient = self._gradient(np.concatenate([y, xi]), constants)
        slopes, values = self.system.pattern.parts(gradient)
        return self._joined(slopes, values, self.demands.rows, self._bends(gradient, self.system.arguments))

    def _gradient(self, v: np.ndarray, constants: np.ndarray) -> np.ndarray:
        """Derivatives of all nonlinear rows, those of demands included, by their arguments."""
        system = self.system
        if not len(system.nonlinear_rows):
            return np.zeros(0)
        return system.evaluate(0, [system.arguments @ v], constants)[1].copy()

    def _bends(self, gradient: np.ndarray, arguments: Any) -> Any:
        """Derivatives of the nonlinear demands by ``v``."""
        from scipy.sparse import csr_array

        shape = (len(self.demands.conditions), arguments.shape[0])
        return csr_array((gradient[self._argument], (self._demand, self._argument)), shape=shape) @ arguments

    def _joined(self, slopes: np.ndarray, values: np.ndarray, rows: Any, bends: Any) -> Any:
        from scipy.sparse import block_array

        system, count = self.system, self.system.nx + self.system.n
        over_states = system.pattern.matrix(values)[:, system.x]
        over_unknowns = system.pattern.matrix(np.where(system.pattern.differentiated, slopes, values))
        stated = (rows + bends)[:, :count]
        return block_array(
            [[over_states, over_unknowns], [stated[:, : system.nx], stated[:, system.nx :]]], format="csr"
        )

    def _defects(self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray) -> np.ndarray:
        nx = self.system.nx
        return np.concatenate(
            [
                self.system.residual(y[:nx], y[nx:], xi, constants),
                self._missing(np.concatenate([y, xi]), constants),
            ]
        )

    def _rounding(self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray) -> np.ndarray:
        """How far rounding may move the defects."""
        system, demands, nx = self.system, self.demands, self.system.nx
        v = np.concatenate([y, xi])
        size = UNIT * np.abs(v)
        missing = abs(demands.rows) @ size + UNIT * np.abs(demands.constant)
        if len(self._bent):
            arguments = self.system.arguments
            own = self.system.functions.rounding(
                arguments @ v, constants, UNIT * (abs(arguments) @ np.abs(v))
            )
            missing[self._bent] += own[demands.nonlinear[self._bent]]
        return np.concatenate([system.rounding(y[:nx], y[nx:], xi, constants), missing])

    def _missing(self, v: np.ndarray, constants: np.ndarray) -> np.ndarray:
        """Defects of the demands."""
        found = self.demands.rows @ v + self.demands.constant
        if len(self._bent):
            nonlinear = self.system.evaluate(0, [self.system.arguments @ v], constants)[0]
            found[self._bent] += nonlinear[self.demands.nonlinear[self._bent]]
        return found


def _incidence(matrix: Any) -> Incidence:
    row, column = matrix.nonzero()
    return Incidence.from_pairs(row.astype(np.int64), column.astype(np.int64), matrix.shape)


def begun(problem: StartProblem) -> StartProblem:
    """The point with which a large model begins: that of the starts, or the nearest one at which all that is demanded holds.

    Raises
    ------
    NewtonFailure, InitializationError
    """
    starts = problem.starts
    guessed = (
        starts.given & ~starts.fixed & ~problem.reduced.differentiated
    ).any() and not starts.steady.any()
    conditions = Conditions(problem, Rank.GUESS if guessed else Rank.STEADY_FIXED)
    *wished, stated = demands(conditions, _equations(problem))
    given = problem.program.unknowns.among_core(starts.given & ~starts.fixed & problem.reduced.differentiated)
    point = None
    for wish in wished:
        with suppress(InitializationError, *UNSOLVED):
            found = _point(problem, wish)
            if not wish.guesses or (found[0] == problem.z)[given].all():
                point = found
                break
    z, slopes = point or _point(problem, stated)
    lin = problem.linearisation
    lin.linearise(z, slopes, problem.xi, problem.values)
    return problem.at(z=z, slopes=slopes).within(problem.core.mode(()))


def _equations(problem: StartProblem) -> LargeSystem:
    found: Any = problem.system()
    return found


def _point(problem: StartProblem, stated: Demand) -> tuple[np.ndarray, np.ndarray]:
    """Core unknowns and their slopes where what is stated holds, those of the starts where they meet it."""
    system, xi = _equations(problem), problem.xi[: _equations(problem).q]
    ids, alone = system.mode.open, stated.of_states(system.mode.states)
    guess = np.where(system.mode.slopes, 0.0, problem.z[ids])
    try:
        motion = _motion(problem, problem.z, problem.slopes)
    except UNSOLVED:
        if alone:
            raise
    else:
        guess = motion.last.H
        if alone or stated.hold(np.concatenate((motion.last.y, xi))):
            return motion.unknowns(motion.last)
    starts, unknowns = problem.starts, problem.program.unknowns
    resting = unknowns.among_core(starts.steady)
    given = starts.given & ~starts.fixed & problem.reduced.differentiated
    given, near = unknowns.among_core(given) & ~resting, problem.z
    if problem.near is not None:
        near = np.where(resting, problem.near, near)
    where, states = f"start at t = {problem.state.t:.9g}", system.mode.states
    start = SparseStart(system, stated, given[states], resting[states], where)
    X, u = start.solve(near[states], guess, xi, system.constants(problem.values))
    v = np.concatenate([X, u, xi])
    motion = _motion(problem, system.z_of @ v, system.mode.slope_of @ v)
    return motion.unknowns(motion.last)


def _motion(problem: StartProblem, z: np.ndarray, slopes: np.ndarray) -> Motion:
    return problem.linearisation.begin(z, slopes, problem.xi, problem.system(), problem.values)
