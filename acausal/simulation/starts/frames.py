"""Coordinates in which the start values of one mode are sought, and all core unknowns as functions of them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ...compilation.correction import dense
from ...dynamics.directions import generic_direction
from ...reduction.magnitudes import nonlinear_magnitudes
from ...values import frozen
from ..nonlinear.beginning import settled_unknowns
from ..nonlinear.bounds import Bounds, within
from ..nonlinear.left_out import require_left_out_beside
from ..nonlinear.motion import Motion
from ..nonlinear.state_selection import DependentConstraints
from .priorities import RANK
from .problem import StartProblem
from .stated import Rank

if TYPE_CHECKING:
    from ..nonlinear.system import NonlinearSystem

ALL = sys.maxsize
"""Every derivative of constraints."""
LONGEST_TURN = 0.5
"""Radians: longer steps along a tangent take angles to other turns."""
LEAST_LENGTH = 1e-6
"""Relative to the scale of positions: what is shorter keeps a root from zero and is no length of a linkage."""


@frozen
class Aim:
    """What a search is after."""

    active: np.ndarray
    """Mask of the conditions that take part."""
    solved: bool = False
    """Whether open unknowns are solved for, or stay as they are."""
    highest: int = ALL
    """Derivative up to which constraints take part: those of positions are the zeroth."""
    demanded: Rank = Rank.STEADY
    """Ranks up to this one count as one; where they contradict each other the nearest point is taken."""


@frozen
class StartPoint:
    """Coordinates and open unknowns of a mode."""

    x: np.ndarray
    H: np.ndarray


@frozen
class Linearised:
    """A point: core unknowns and their derivatives, hard rows that must vanish, and all derivatives by the coordinates."""

    point: StartPoint
    z: np.ndarray
    slopes: np.ndarray
    z_x: np.ndarray
    slopes_x: np.ndarray
    defect: np.ndarray
    hard: np.ndarray
    H_x: np.ndarray | None
    """Of the open unknowns; None where they are not solved for."""


class Frame:
    """Coordinates ``x`` of a mode in which its starts are sought; open unknowns ``H`` follow from them by Newton's method.

    Those of an affine mode are its selected states: nothing constrains them, and nothing is open.
    """

    def __init__(self, problem: StartProblem) -> None:
        self.bounds: Bounds | None = None
        """Within which the coordinates are sought first."""
        self._motion: Motion | None = None
        self.constrained = False
        if problem.reduced.nonlinear:
            self._of_nonlinear(problem, problem.system())
        else:
            data, n = problem.data, len(problem.data.states)
            self.begin = StartPoint(problem.z[data.states].astype(float), np.zeros(0))
            self.scale = problem.core.model.scale[data.states]
            T, S = data.T, data.T @ data.Ay
            self._z_y, self._s_y = T[:, :n], S[:, :n]
            self._z_known, self._s_known = T[:, n:] @ problem.y[n:], S[:, n:] @ problem.y[n:]
            self.moving = self._angles = np.zeros(n, bool)
        n = len(self.begin.x)
        self.over_open = self._z_y[:, n:], self._s_y[:, n:]

    def _of_nonlinear(self, problem: StartProblem, system: NonlinearSystem) -> None:
        near = problem.z if problem.near is None else problem.near
        motion = problem.linearisation.made(near, problem.slopes, problem.xi, system, problem.values)
        self._motion, self._system, at = motion, system, motion.last
        self.begin, self.scale = StartPoint(at.X, at.H), system.scale
        self.bounds = _state_bounds(problem.tables.bounds, system)
        self.constrained = system.constraints > 0
        self._z_y, self._s_y = dense(system.z_of @ system.v0.y), dense(system.z_of @ system.v1.y)
        z_xi, s_xi = system.z_of @ system.v0.xi, system.z_of @ system.v1.xi
        self._z_known, self._s_known = z_xi @ at.xi, s_xi @ at.xi
        varies = self._z_y.any(axis=1) | dense(z_xi).any(axis=1)
        self.without_rates = np.asarray(varies & ~self._s_y.any(axis=1) & ~dense(s_xi).any(axis=1))
        """Mask of the core unknowns that vary, but of whose derivatives the mode says nothing."""
        self._angles = _angles(problem, self._z_y[:, : system.nx])
        self.moving = self._rates()
        """Mask of the coordinates that constraints read only when they are differentiated."""
        self.scale = self._speeds(problem)

    def _speeds(self, problem: StartProblem) -> np.ndarray:
        """Scales with those of rates of constrained coordinates as far apart as lengths of the linkage are.

        Of wishes for speeds that cannot all hold the nearest point is taken, however long the run is.
        """
        scale, T0, lengths = self.scale.copy(), problem.core.model.T0, _lengths_of_units(problem)
        states = self._system.mode.states.tolist()
        rates = self._s_y[states, : self._system.nx] != 0.0
        for j in np.flatnonzero(rates.sum(axis=1) == 1).tolist():
            at = int(np.argmax(rates[j]))
            if self.moving[at]:
                length, position = (
                    lengths.get(problem.program.unknowns.unit_of_core(states[j]), 0.0),
                    float(scale[j]),
                )
                scale[at] = (length if length > LEAST_LENGTH * position else position) / T0
        return scale

    def _rates(self) -> np.ndarray:
        x, system, found = self.begin.x, self._system, np.zeros(self._system.nx, bool)
        for shift in (0.0, 1.0):
            lin = self._linear(StartPoint(x + shift * self.scale * generic_direction(len(x)), self.begin.H))
            reads, levels = dense(lin.C_y)[:, : system.nx] != 0.0, system.constraint_levels
            first = reads[levels == 0].any(axis=0)
            found = (found | reads.any(axis=0)) & ~first
        return found

    def settled(self, at: StartPoint) -> StartPoint:
        """The open unknowns that belong to coordinates; those of the point are a guess that may lie far away."""
        if self._motion is None or not len(at.H):
            return at
        return StartPoint(at.x, settled_unknowns(self._motion, at.x, at.H))

    def within_a_turn(self, step: np.ndarray) -> float:
        """Part of a scaled step that may be made at once."""
        turn = float(np.abs((step * self.scale)[self._angles]).max(initial=0.0))
        return min(1.0, LONGEST_TURN / max(turn, LONGEST_TURN))

    def moved(self, here: Linearised, step: np.ndarray) -> StartPoint:
        """The point after a scaled step; open unknowns that are solved for follow."""
        at = here.point
        x = within(at.x + self.scale * step, self.bounds)
        if self._motion is None or here.H_x is None:
            return StartPoint(x, at.H)
        return StartPoint(
            x, self._motion.open_unknowns(x, at.H + here.H_x @ (x - at.x), self._motion.last.xi)
        )

    def forget_bounds(self) -> None:
        """Coordinates may be anywhere from now on."""
        self.bounds = None

    def linearised(self, at: StartPoint, aim: Aim) -> Linearised:
        """A point and its derivatives."""
        nx, y, H_x = len(at.x), np.concatenate([at.x, at.H]), None
        z, slopes = self._z_y @ y + self._z_known, self._s_y @ y + self._s_known
        z_x, slopes_x = self._z_y[:, :nx], self._s_y[:, :nx]
        defect, hard = np.zeros(0), np.zeros((0, nx))
        if self._motion is not None:
            lin, rows = self._linear(at), self._system.constraint_levels <= aim.highest
            defect, hard = lin.C[rows], dense(lin.C_y)[rows, :nx]
            if aim.solved and len(at.H):
                H_x = _sensitivity(dense(lin.F_y), nx)
                z_x, slopes_x = z_x + self._z_y[:, nx:] @ H_x, slopes_x + self._s_y[:, nx:] @ H_x
        return Linearised(at, z, slopes, z_x, slopes_x, defect, hard, H_x)

    def _linear(self, at: StartPoint) -> Any:
        assert self._motion is not None
        y = np.concatenate([at.x, at.H])
        return self._system.linear(y, self._motion.last.xi, self._motion.constants)


def _sensitivity(F_y: np.ndarray, nx: int) -> np.ndarray:
    """Changes of the open unknowns per change of the ``nx`` coordinates; the shortest ones where they are not determined."""
    F_X, F_H = F_y[:, :nx], F_y[:, nx:]
    if not np.isfinite(F_y).all():
        return np.zeros((F_H.shape[1], nx))
    try:
        return -np.linalg.solve(F_H, F_X)
    except np.linalg.LinAlgError:
        return -np.linalg.pinv(F_H, rcond=RANK) @ F_X


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
    try:
        motion = lin.begin(z, slopes, xi, system, values)
    except DependentConstraints:
        # Whether that is so everywhere is looked at here.
        lin.linearise(z, slopes, xi, values)
        raise
    require_left_out_beside(motion, motion.last, problem.tangents.dependent)
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
