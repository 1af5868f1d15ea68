"""The motion of one mode by numerical integration: rates of the selected states, and every variable at a point.

The states integrated are those coordinates of ``X`` that the constraints leave free (`state_selection`); the others
are solved from the constraints wherever the motion is evaluated, so that nothing drifts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...dynamics.closed_form import Trajectory
from ...dynamics.problem import StepFailure
from ...dynamics.stages import StageKernel
from ...dynamics.work import Work
from ...kernels.steps import UNMOVED
from .bounds import Bounds, inside
from .newton import Linearized, NewtonFailure, newton, solve_linear
from .places import Anchor
from .places import Place as Place
from .point_kernels import Guesses, StageRoom, StagesOfMotion
from .singular_points import Surroundings, branches, scaled
from .state_selection import Selection, StateSelection
from .system import Linear, NonlinearSystem

NONE = np.zeros(0, np.int64)
"""No coordinates."""


class Motion:
    """A `dynamics.problem.Problem`: the states of one mode as functions of the time ``h`` since the start of a segment.

    Parameters
    ----------
    system : NonlinearSystem
    sources : Trajectory
        Of the exosystem alone.
    constants : array
        Constants of the nonlinear rows.
    X, H : arrays
        A guess of the point at the start.
    work : Work
        Counts the iterations of Newton's method.
    """

    batched = True
    """Many points may be solved at once."""

    def __init__(
        self, system: NonlinearSystem, sources: Trajectory, constants: np.ndarray, X: np.ndarray, H: np.ndarray, work: Work
    ) -> None:  # fmt: skip
        self.system, self.sources, self.constants, self.work = system, sources, constants, work
        self.failure: NewtonFailure | None = None
        y = np.concatenate((X, H))
        self.last = self.accepted = Place(0.0, y, len(X), sources.at(0.0), np.zeros(len(X)))
        self.recent: list[Place] = []
        """The points found last since a step was accepted."""
        self.take(Selection(np.arange(system.nx), np.zeros(0, np.int64)))
        self.anchor: Anchor | None = None
        self.size = system.scale
        """Magnitudes of the coordinates; once there are steps the largest so far, for scales may be far too large."""
        self.bend_lengths = np.full(system.nx, np.inf)
        """Lengths over which constraints bend, where these are shorter than magnitudes."""
        self._resized()
        self.selections = StateSelection(system)

    def recorded(self) -> None:
        """From now on points are read: that is no work of the run."""
        self.work = Work()

    def accept(self, place: Place) -> None:
        """Go on from a point."""
        self.last, self.accepted, self.recent = place, place, []

    def failed(self, failure: NewtonFailure) -> StepFailure:
        """Keep why a point was not found, and return what a solver is told."""
        self.failure = failure
        return StepFailure(failure.reason)

    def forget(self) -> None:
        """Go back to the accepted point."""
        self.accept(self.accepted)

    @property
    def period(self) -> float:
        """Shortest period of the sources, in seconds; infinite if none is periodic."""
        fastest = float(self.sources.flow.basis.omega.max(initial=0.0))
        return 2.0 * math.pi / fastest if fastest else math.inf

    @property
    def returns(self) -> bool:
        """Whether some source is a polynomial of a degree above one, which may rise and fall within a step."""
        return bool(self.sources.flow.basis.power.max(initial=0.0) > 1.0)

    # -- choice of states ----------------------------------------------------------------------------------------

    def select(self, place: Place) -> None:
        """Choose states at a point.

        Raises
        ------
        DependentConstraints
        """
        if self.system.constraints:
            size, slopes = np.maximum(self.size, UNMOVED * self.system.scale), self.linear(place).C_y
            self.bend_lengths = self.selections.bends(place, slopes, size, self.constants)
            self._resized()
            self.take(self.selections.best(self.scaled_slopes(place)))
            self.anchor = None

    def take(self, selection: Selection) -> None:
        """Go on with these states."""
        self.selection, self.solved = selection, self.solved_of(selection)

    def solved_of(self, selection: Selection) -> np.ndarray:
        """Which of the coordinates and open unknowns are solved for."""
        return np.concatenate((selection.dependent, self.system.nx + np.arange(self.system.m)))

    def worn(self, place: Place) -> bool:
        """Whether other coordinates would make better states by now."""
        if not self.system.constraints:
            return False
        return self.selections.worn(self.scaled_slopes(place), self.selection)

    def scaled_slopes(self, place: Place) -> np.ndarray:
        """Derivatives of the constraints by the coordinates in units of their magnitudes."""
        for known, found in self._scaled:
            if known is place:
                return found
        found = self.linear(place).C_y[:, : self.system.nx] * self.units
        self._scaled = [(place, found), *self._scaled[:1]]
        return found

    def grow(self, size: np.ndarray) -> None:
        """Take the largest magnitudes of the coordinates so far."""
        self.size = size
        self._resized()

    def _resized(self) -> None:
        self.units = np.minimum(np.maximum(self.size, UNMOVED * self.system.scale), self.bend_lengths)
        """Magnitudes of the coordinates, or lengths over which constraints bend where these are shorter."""
        self._scaled: list[tuple[Place, np.ndarray]] = []
        """Slopes of the constraints in these units at the places looked at last."""

    # -- points --------------------------------------------------------------------------------------------------

    def solve(
        self, h: float, y: np.ndarray, near: Place | None = None, selection: Selection | None = None
    ) -> Place:
        """The point with states ``y``.

        Parameters
        ----------
        near : Place, optional
            Begin of the iteration; the last point by default.
        selection : Selection, optional
            What ``y`` are; by default the present states, and open unknowns are sought along their last tangents.

        Raises
        ------
        NewtonFailure
        """
        near, chosen = near or self.last, selection or self.selection
        system, xi, X = self.system, self.sources.at(h), y
        if len(chosen.dependent):
            X = near.X + near.X_t * (h - near.h)
            X[chosen.states] = y
        anchor = self.anchor
        if anchor is None or anchor.h != self.accepted.h or selection is not None:
            guess = near.H
        else:
            guess = anchor.H + anchor.slope[:, :-1].dot(y - anchor.y) + anchor.slope[:, -1] * (h - anchor.h)
        place = self._corrected(h, X, guess, xi, chosen.dependent)
        if place is None:
            if len(chosen.dependent):
                X = self.on_constraints(X, near.H, xi, chosen.dependent)
            found = np.concatenate((X, self.open_unknowns(X, guess, xi)))
            place = Place(h, found, len(X), xi, system.rate(found, xi))
        return place

    def _corrected(
        self, h: float, X: np.ndarray, H: np.ndarray, xi: np.ndarray, dependent: np.ndarray
    ) -> Place | None:
        """The point next to a guess by steps for all unknowns together; None where these do not lead there."""
        kernels = self.system.kernels(dependent)
        if kernels is not None:
            found = kernels(X, H, xi, self.constants, self.work.iterated, self.damped(dependent))
            return None if found is None else Place(h, found[0], len(X), xi, found[1])
        correction = self.system.correction(dependent)
        found = correction and correction(np.concatenate((X, H)), xi, self.constants, self.work.iterated)
        if found is None:
            return None
        return Place(h, found[0].copy(), len(X), xi, found[1].copy())

    def damped(self, dependent: np.ndarray) -> bool:
        """Whether steps may be damped: not where coordinates are found before open unknowns, or these within bounds first."""
        return not len(dependent) and self.system.open_bounds is None

    def on_constraints(
        self, X: np.ndarray, H: np.ndarray, xi: np.ndarray, dependent: np.ndarray
    ) -> np.ndarray:
        """Coordinates with the dependent ones solved."""
        system, constants = self.system, self.constants
        X = X.copy()

        def defect(x: np.ndarray) -> Linearized:
            X[dependent] = x
            found = system.linear(np.concatenate((X, H)), xi, constants)
            return found.C, found.C_y[:, dependent]

        def rounding(x: np.ndarray) -> np.ndarray:
            X[dependent] = x
            return system.rounding(np.concatenate((X, H)), xi, constants)[: system.constraints]

        try:
            scale = system.scale[dependent]
            X[dependent] = newton(defect, rounding, X[dependent].copy(), scale, work=self.work)
        except NewtonFailure as failure:
            raise replace(failure, rows=system.constraint_rows) from None
        return X

    def open_unknowns(self, X: np.ndarray, H: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """Open unknowns that the nonlinear rows give at ``X``; ``H`` is a guess."""
        system, constants = self.system, self.constants
        if not system.m:
            return H
        kernels = None if system.constraints or system.open_bounds is not None else system.kernels(NONE)
        found = kernels and kernels(X, H, xi, constants, self.work.iterated, True)
        if found is not None:
            return found[0][system.nx :]
        y, nx = np.concatenate((X, H)), system.nx

        def defect(unknown: np.ndarray) -> Linearized:
            y[nx:] = unknown
            found = system.linear(y, xi, constants)
            return found.F, found.F_y[:, nx:]

        def rounding(unknown: np.ndarray) -> np.ndarray:
            y[nx:] = unknown
            return system.rounding(y, xi, constants)[system.constraints :]

        def solve(guess: np.ndarray, bounds: Bounds | None) -> np.ndarray:
            return newton(defect, rounding, guess, system.open_scale, bounds, self.work)

        try:
            return self._within_bounds(solve, H)
        except NewtonFailure as failure:
            raise replace(failure, rows=system.mode.nonlinear) from None

    def _within_bounds(
        self, solve: Callable[[np.ndarray, Bounds | None], np.ndarray], H: np.ndarray
    ) -> np.ndarray:
        """Open unknowns within the bounds of their variables if they are found there, else anywhere."""
        bounds = self.system.open_bounds
        for guess in () if bounds is None else (H, inside(H, bounds, self.system.open_scale)):
            try:
                return solve(guess, bounds)
            except NewtonFailure:
                continue
        return solve(H, None)

    def linear(self, place: Place) -> Linear:
        """Residuals and Jacobians at a place, kept with it."""
        system, constants = self.system, self.constants
        return place.linear_by(lambda: system.linear(place.y, place.xi, constants, True).copy())

    def surroundings(self, X: np.ndarray, H: np.ndarray, xi: np.ndarray) -> Surroundings:
        """Slopes of the nonlinear rows at a point, which need not be consistent."""
        system, solved = self.system, self.selection.dependent
        found = system.linear(np.concatenate((X, H)), xi, self.constants, time=True)
        first = system.constraint_levels == 0
        branching = branches(found.C_y[first, : system.nx] * system.scale, found.C_t[first])
        if len(solved) != system.constraints:
            solved = np.arange(system.nx)
        columns = np.concatenate([solved, system.nx + np.arange(system.m)])
        rows = np.concatenate([system.constraint_rows, system.mode.nonlinear])
        J = np.vstack([found.C_y, found.F_y])[: len(rows)] * np.concatenate([system.scale, system.open_scale])
        return Surroundings(rows, scaled(J[:, columns]), branching)

    # -- the problem of the solvers ------------------------------------------------------------------------------

    def rate(self, t: float, y: np.ndarray) -> np.ndarray:
        """Derivative of the states."""
        if not self.system.m:
            return self.system.rate(y, self.sources.at(t))
        return self._found(t, y).X_t[self.selection.states]

    def _found(self, t: float, y: np.ndarray) -> Place:
        """The point with states ``y``, sought from the last one, and if that leads astray from the last accepted one."""
        known, reason = self.accepted, ""
        if t == known.h and (y == known.X[self.selection.states]).all():
            self.last, self.failure = known, None
            return known
        for near in dict.fromkeys((self.last, self.accepted)):
            try:
                self.last = self.solve(t, y, near)
            except NewtonFailure as failure:
                self.failure, reason = failure, failure.reason
            else:
                self.failure = None
                self.recent = [self.last, *self.recent[:1]]
                return self.last
        self.last = self.accepted
        raise StepFailure(reason)

    def stage_kernel(self, count: int) -> StageKernel | None:
        """What finds the points at the stages of steps natively, where something does."""
        kernels = self.system.kernels(self.selection.dependent)
        return None if kernels is None else StagesOfMotion(kernels.stages(count), self._follow)

    def _follow(self, room: StageRoom, times: np.ndarray) -> int:
        """Find points at the stages of a step from the next one on; return how many were found."""
        along = self.anchor if self.anchor is not None and self.anchor.h == self.accepted.h else None
        begin = Guesses(self.last, self.accepted, along)
        found, last = room.follow(times, self.sources, begin, self.constants, self.damped(room.dependent))
        self.work.iterated(room.iterations)
        for place in last:
            self.last, self.failure, self.recent = place, None, [place, *self.recent[:1]]
        return found

    def found(self, t: float, y: np.ndarray) -> Place:
        """The point with states ``y``, one of those found last if it is among them."""
        for place in self.recent:
            if t == place.h and (y == place.X[self.selection.states]).all():
                return place
        self.recent.append(self.solve(t, y, self.last, self.selection))
        return self.recent[-1]

    def jacobian(self, t: float, y: np.ndarray) -> tuple[Any, np.ndarray]:
        """Derivatives of the rate by the states and by time, through the solved coordinates and unknowns."""
        place = self._found(t, y)
        system, states = self.system, self.selection.states
        moved = system.rate_of_sources @ system.S.dot(place.xi)
        if not (system.m or len(self.selection.dependent)):
            return system.rate_of_states, moved
        changes = self.moved(place, np.eye(len(states), len(states) + 1), True)
        if np.isnan(changes).any():
            raise StepFailure("singular")
        X_y, H_y = np.split(changes, [system.nx])
        self.anchor = Anchor(t, y.copy(), place.H, H_y)
        found = system.rate_of_states @ X_y + system.rate_of_open @ H_y
        found[:, -1] += moved
        return found[states, :-1], found[states, -1]

    def carried(self, place: Place, changes: np.ndarray) -> np.ndarray:
        """Changes of ``v`` (nv, k) for changes of the states (n, k) at a place; not numbers where they do not exist."""
        system = self.system
        solved = system.m or system.constraints
        return np.asarray(system.v0.y @ (self.moved(place, changes) if solved else changes))

    def moved(
        self, place: Place, changes: np.ndarray, time: bool = False, selection: Selection | None = None
    ) -> np.ndarray:
        """Changes of coordinates and open unknowns (nX + m, k) for changes of the states; not numbers where there are none.

        One change a column; with ``time`` that passes too in the last one.
        """
        nx, chosen = self.system.nx, selection or self.selection
        if kernels := self.system.kernels(chosen.dependent):
            found = kernels.moved(place.y, place.xi, self.constants, changes, time)
            if found is not None:
                return found
        lin = self.linear(place)
        dX = np.zeros((nx, changes.shape[1]))
        dX[chosen.states] = changes
        try:
            if len(chosen.dependent):
                given = lin.C_y[:, :nx] @ dX
                if time:
                    given[:, -1] += lin.C_t
                dX[chosen.dependent] = -solve_linear(lin.C_y[:, chosen.dependent], given)
            given = lin.F_y[:, :nx] @ dX
            if time:
                given[:, -1] += lin.F_t
            return np.vstack((dX, -solve_linear(lin.F_y[:, nx:], given)))
        except np.linalg.LinAlgError:
            return np.full((nx + self.system.m, changes.shape[1]), np.nan)

    def along(self, place: Place, slope: np.ndarray, selection: Selection) -> tuple[np.ndarray, np.ndarray]:
        """``v`` and its derivative along a curve on which the states have the slope.

        That of a step is not the rate, which amplifies the error of a state in units of its time constant: the two differ by
        any amount where the states are stiff.
        """
        system = self.system
        v0 = system.v0(place.y, place.xi)
        if not len(selection.dependent):
            y_t = np.concatenate((slope, self._open_rates(place, slope)))
        else:
            y_t = self.moved(place, slope[:, None], True, selection)[:, 0]
        if not math.isfinite(np.add.reduce(y_t)):
            return v0, self.jets(place)[1]
        return v0, system.v0(y_t, system.S @ place.xi)

    # -- everything at a point -----------------------------------------------------------------------------------

    def jets(self, place: Place) -> tuple[np.ndarray, np.ndarray]:
        """``v = [s; h; xi]`` and its time derivative at a point."""
        system = self.system
        v0, v1 = system.v0(place.y, place.xi), system.v1(place.y, place.xi)
        if len(system.algebraic):
            v1[len(system.mode.states) + system.algebraic] = self.slopes(place)[system.nx + system.algebraic]
        return v0, v1

    def guessed(self, y: np.ndarray, h: float) -> Place:
        """A guess of coordinates and open unknowns at a time as a place to begin at."""
        nx = self.system.nx
        return Place(h, y, nx, self.accepted.xi, np.zeros(nx))

    def slopes(self, place: Place) -> np.ndarray:
        """Time derivatives of the coordinates and the open unknowns; not numbers where they do not exist."""
        return place.slopes_by(lambda: np.concatenate((place.X_t, self._open_rates(place, place.X_t))))

    def _open_rates(self, place: Place, X_t: np.ndarray) -> np.ndarray:
        """Time derivatives of the open unknowns by those of the coordinates; difference quotients where rows have none."""
        follow, nx = self.system.following, self.system.nx
        if follow is not None:
            H_t = follow(place.y, place.xi, self.constants, X_t)
            if math.isfinite(np.add.reduce(H_t)):
                return H_t
        lin = self.linear(place)
        try:
            return -solve_linear(lin.F_y[:, nx:], lin.F_y[:, :nx] @ X_t + lin.F_t)
        except np.linalg.LinAlgError:
            return np.full(self.system.m, np.nan)

    def bends(self, place: Place) -> np.ndarray:
        """Second time derivatives of ``v`` at a point; open unknowns without derivatives count as straight."""
        system, mode = self.system, self.system.mode
        v1, ns, order = self.jets(place)[1], len(mode.states), system.orders.unknowns
        v2 = np.zeros_like(v1)
        v2[:ns] = mode.rate @ v1
        v2[ns:][: system.m][order == 1] = self.slopes(place)[system.nx :][order == 1]
        v2[ns:][: system.m][order == 2] = place.H[order == 2]
        v2[ns + system.m :] = system.S @ (system.S @ place.xi)
        return v2

    def free_along(self, hs: np.ndarray, X: np.ndarray, slopes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`along` (k, nv) without open unknowns, at times (k,) and coordinates with their slopes (k, nX) there."""
        system, xi = self.system, self.sources.sample(hs).T
        return system.v0(X.T, xi).T, system.v0(slopes.T, system.S @ xi).T

    def unknowns(self, place: Place) -> tuple[np.ndarray, np.ndarray]:
        """Core unknowns and their time derivatives."""
        v0, v1 = self.jets(place)
        return self.system.z_of @ v0, self.system.z_of @ v1
