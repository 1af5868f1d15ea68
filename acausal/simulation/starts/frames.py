"""Coordinates in which the start values of one mode are sought, and all core unknowns as functions of them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...compilation.correction import dense
from ...dynamics.directions import generic_direction
from ...reduction.magnitudes import nonlinear_magnitudes
from ..nonlinear.beginning import settled_unknowns
from ..nonlinear.bounds import Bounds, within
from ..nonlinear.motion import Motion
from .problem import StartProblem

if TYPE_CHECKING:
    from ..nonlinear.system import NonlinearSystem

ALL = sys.maxsize
"""Every derivative of constraints."""
LONGEST_TURN = 0.5
"""Radians: longer steps along a tangent take angles to other turns."""
LEAST_LENGTH = 1e-6
"""Relative to the scale of positions: what is shorter keeps a root from zero and is no length of a linkage."""


@dataclass(frozen=True, eq=False)
class Linearised:
    """A point: core unknowns and their derivatives, hard rows that must vanish, and all derivatives by the coordinates."""

    z: np.ndarray
    slopes: np.ndarray
    z_x: np.ndarray
    slopes_x: np.ndarray
    defect: np.ndarray
    hard: np.ndarray
    z_terms: np.ndarray
    """Magnitudes of what ``z_x`` is computed from: cancelled terms leave rounding relative to these."""
    slopes_terms: np.ndarray


class AffineFrame:
    """The selected states of an affine mode: everything follows from them, nothing else constrains them."""

    constrained = False
    open = 0
    solved = False
    bounds: Bounds | None = None

    def __init__(self, problem: StartProblem) -> None:
        data, n = problem.data, len(problem.data.states)
        self.x = problem.z[data.states].astype(float)
        self.scale = problem.core.model.scale[data.states]
        self._T, self._S = data.T, data.T @ data.Ay
        self._sources, self._n = problem.y[n:], n
        self.over_open = np.zeros((len(problem.z), 0)), np.zeros((len(problem.z), 0))
        self.moving = self.angles = np.zeros(n, bool)

    def begin(self, solved: bool, highest: int = ALL) -> None:
        """Nothing is to be solved for."""

    def forget_bounds(self) -> None:
        """There are none."""

    def within_a_turn(self, step: np.ndarray) -> float:
        """Part of a scaled step that may be made at once."""
        return 1.0

    def move(self, step: np.ndarray) -> None:
        """Move by a scaled step."""
        self.x = self.x + self.scale * step

    def state(self) -> Any:
        """What `restore` goes back to."""
        return self.x

    def restore(self, state: Any) -> None:
        """Go back."""
        self.x = state

    def linearise(self) -> Linearised:
        """The point and its derivatives."""
        y, n = np.concatenate([self.x, self._sources]), self._n
        z_x, slopes_x, none = self._T[:, :n], self._S[:, :n], np.zeros((0, n))
        return Linearised(
            self._T @ y, self._S @ y, z_x, slopes_x, np.zeros(0), none, np.abs(z_x), np.abs(slopes_x)
        )


class NonlinearFrame:
    """Coordinates ``X`` of a nonlinear mode under its constraints; open unknowns ``H`` follow from them by Newton's method."""

    def __init__(self, problem: StartProblem) -> None:
        system = problem.system()
        begin = problem.z if problem.near is None else problem.near
        self.motion: Motion = problem.linearisation.made(
            begin, problem.slopes, problem.xi, system, problem.values
        )
        self.system = system
        place = self.motion.last
        self.x, self.H = place.X.copy(), place.H.copy()
        self.scale = system.scale
        self.bounds = _state_bounds(problem.tables.bounds, system)
        """Within which the coordinates are sought first."""
        self.constrained, self.open = system.constraints > 0, system.m
        self.solved = False
        nx, z_of = system.nx, system.z_of
        self._z_y, self._s_y = dense(z_of @ system.v0.y), dense(z_of @ system.v1.y)
        self.angles = _angles(problem, self._z_y[:, :nx])
        # However far an angle turns in a run, its start is sought within the turn of its start value.
        self.scale = np.where(self.angles, np.minimum(self.scale, 1.0), self.scale)
        self._z_xi, self._s_xi = z_of @ system.v0.xi, z_of @ system.v1.xi
        self.over_open = self._z_y[:, nx:], self._s_y[:, nx:]
        self._rows = np.arange(system.constraints)
        self.moving = self._rates()
        """Mask of the coordinates that constraints read only when they are differentiated."""
        self.scale = self._speeds(problem)

    def _speeds(self, problem: StartProblem) -> np.ndarray:
        """Scales with those of rates of constrained coordinates as far apart as lengths of the linkage are.

        Of wishes for speeds that cannot all hold the nearest point is taken, however long the run is.
        """
        scale, T0, lengths = self.scale.copy(), problem.core.model.T0, _lengths_of_units(problem)
        states = self.system.mode.states.tolist()
        rates = self._s_y[states, : self.system.nx] != 0.0
        for j in np.flatnonzero(rates.sum(axis=1) == 1).tolist():
            at = int(np.argmax(rates[j]))
            if self.moving[at]:
                length, position = (
                    lengths.get(problem.program.unknowns.unit_of_core(states[j]), 0.0),
                    float(scale[j]),
                )
                scale[at] = (length if length > LEAST_LENGTH * position else position) / T0
        return scale

    def without_rates(self) -> np.ndarray:
        """Mask of the core unknowns that vary, but of whose derivatives the mode says nothing."""
        varies = self._z_y.any(axis=1) | dense(self._z_xi).any(axis=1)
        return np.asarray(varies & ~self._s_y.any(axis=1) & ~dense(self._s_xi).any(axis=1))

    def begin(self, solved: bool, highest: int = ALL) -> None:
        """Solve for the open unknowns from now on, or leave them as they are.

        Constraints are looked at up to their ``highest`` derivative: those of positions are the zeroth.
        """
        self._rows = np.flatnonzero(self.system.constraint_levels <= highest)
        self.solved = solved and self.open > 0
        if self.solved:
            self.H = settled_unknowns(self.motion, self.x, self.H)

    def _rates(self) -> np.ndarray:
        found = np.zeros(self.system.nx, bool)
        for shift in (0.0, 1.0):
            lin = self.system.linear(
                self.x + shift * self.scale * generic_direction(len(self.x)), self.H,
                self.motion.last.xi, self.motion.constants,
            )  # fmt: skip
            reads, levels = dense(lin.C_y)[:, : self.system.nx] != 0.0, self.system.constraint_levels
            first = reads[levels == 0].any(axis=0)
            found = (found | reads.any(axis=0)) & ~first
        return found

    def within_a_turn(self, step: np.ndarray) -> float:
        """Part of a scaled step that may be made at once."""
        turn = float(np.abs((step * self.scale)[self.angles]).max(initial=0.0))
        return min(1.0, LONGEST_TURN / max(turn, LONGEST_TURN))

    def move(self, step: np.ndarray) -> None:
        """Move by a scaled step; the open unknowns follow."""
        dx = within(self.x + self.scale * step, self.bounds) - self.x
        if self.solved:
            guess = self.H + self._sensitivity(self._linear())[0] @ dx
            H = self.motion.open_unknowns(self.x + dx, guess, self.motion.last.xi)
            self.H = H
        self.x = self.x + dx

    def forget_bounds(self) -> None:
        """Coordinates may be anywhere from now on."""
        self.bounds = None

    def state(self) -> Any:
        """What `restore` goes back to."""
        return self.x, self.H

    def restore(self, state: Any) -> None:
        """Go back."""
        self.x, self.H = state

    def linearise(self) -> Linearised:
        """The point and its derivatives."""
        lin, nx, xi = self._linear(), self.system.nx, self.motion.last.xi
        z_x, slopes_x = self._z_y[:, :nx], self._s_y[:, :nx]
        z_terms, slopes_terms = np.abs(z_x), np.abs(slopes_x)
        if self.solved:
            H_x, terms = self._sensitivity(lin)
            z_x, slopes_x = z_x + self._z_y[:, nx:] @ H_x, slopes_x + self._s_y[:, nx:] @ H_x
            z_terms = z_terms + np.abs(self._z_y[:, nx:]) @ terms
            slopes_terms = slopes_terms + np.abs(self._s_y[:, nx:]) @ terms
        y = np.concatenate([self.x, self.H])
        z, slopes = self._z_y @ y + self._z_xi @ xi, self._s_y @ y + self._s_xi @ xi
        hard = dense(lin.C_y)[self._rows, :nx]
        defect = lin.C[self._rows].copy()
        return Linearised(z, slopes, z_x, slopes_x, defect, hard.copy(), z_terms, slopes_terms)

    def _linear(self) -> Any:
        return self.system.linear(self.x, self.H, self.motion.last.xi, self.motion.constants)

    def _sensitivity(self, lin: Any) -> tuple[np.ndarray, np.ndarray]:
        """Changes of the open unknowns per change of the coordinates, and magnitudes of what they are computed from.

        Where the unknowns are not determined the changes are those of shortest length.

        Notes
        -----
        The magnitudes are ``|F_H^-1| (|F_X| + |F_H| |H_X|)``, of which rounding is a multiple (N. J. Higham, Accuracy and
        Stability of Numerical Algorithms, 2nd ed., 2002, section 7.2).
        """
        nx = self.system.nx
        F_y = dense(lin.F_y)
        if not np.isfinite(F_y).all():
            return np.zeros((self.open, nx)), np.zeros((self.open, nx))
        F_X, F_H = F_y[:, :nx], F_y[:, nx:]
        try:
            inverse = np.linalg.inv(F_H)
            H_X = -np.linalg.solve(F_H, F_X)
        except np.linalg.LinAlgError:
            inverse = np.linalg.pinv(F_H, rcond=1e-12)
            H_X = -inverse @ F_X
        return H_X, np.abs(inverse) @ (np.abs(F_X) + np.abs(F_H) @ np.abs(H_X))


def frame_of(problem: StartProblem) -> AffineFrame | NonlinearFrame:
    """The coordinates of the mode of a problem."""
    return NonlinearFrame(problem) if problem.reduced.nonlinear else AffineFrame(problem)


def _state_bounds(bounds: Bounds | None, system: NonlinearSystem) -> Bounds | None:
    """Bounds of the coordinates of a mode; None without any."""
    if bounds is None:
        return None
    states, rest = system.mode.states, np.full(system.nx - len(system.mode.states), np.inf)
    return np.concatenate([bounds[0][states], -rest]), np.concatenate([bounds[1][states], rest])


def placed(problem: StartProblem, z: np.ndarray, slopes: np.ndarray) -> StartProblem:
    """The problem at the consistent point of its mode next to ``z``, where the affine model in force linearises then.

    Raises
    ------
    Inadmissible, NewtonFailure, DependentConstraints
    """
    lin, mode, xi, values = problem.linearisation, problem.mode, problem.xi, problem.values
    system = lin.mode(mode, z, slopes, xi, values)
    motion = lin.begin(z, slopes, xi, system, values)
    lin.linearise(*motion.unknowns(motion.last), xi, values)
    return problem.at(z=lin.z).within(lin.core.mode(mode))


def _lengths_of_units(problem: StartProblem) -> dict[str, float]:
    """Units -> largest magnitude that constants of nonlinear equations give to variables of the unit."""
    found: dict[str, float] = {}
    sizes = nonlinear_magnitudes(problem.reduced, problem.core.values, 0.0)
    for x in np.flatnonzero(sizes).tolist():
        unit = problem.program.unknowns.unit(x)
        if unit not in ("", "1"):
            found[unit] = max(found.get(unit, 0.0), float(sizes[x]))
    return found


def _angles(problem: StartProblem, z_x: np.ndarray) -> np.ndarray:
    """Mask of the coordinates that are angles."""
    alone = np.flatnonzero((z_x != 0.0).sum(axis=1) == 1).tolist()
    found = np.zeros(z_x.shape[1], bool)
    found[
        [int(np.argmax(z_x[k] != 0.0)) for k in alone if problem.program.unknowns.unit_of_core(k) == "rad"]
    ] = True
    return found
