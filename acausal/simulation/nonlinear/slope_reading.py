"""Points of integrated steps read from their slopes as well as from their values, where anything is nonlinear.

A step is known to its tolerance, and so is what it moves: its slope, to that over its length. A rate amplifies the error of a
state that is quick against the step by more. The point read leaves the least of ``|x - y|**2 + |r|**2``: ``y`` is the value of
the step, ``r = h (f(x) - s)`` what the rate moves beyond the slope ``s`` within the length ``h`` of the step. With
``J = h f'(x)`` the value counts by ``1 / (1 + J**2)`` and the slope by the rest: a state that is slow keeps its value to the
second order, and a quick one takes the slope, whether it decays, grows or turns. Nothing has to choose which states are quick,
and the point is where the equations hold together. Solved coordinates and open unknowns take part: what is quick through them is
quick, and what they hold back is not.

States are measured in units in which what they move in each other is alike both ways. A state that follows another one with a
large gain and does not act on it is not quick, however large that gain is: its slope tells less of the other one than the value.

The least squares are solved as ``x - y + J' r = 0`` beside the equation of ``r``. Such a system is never singular, and gives the
rate ``s + r / h`` without the rounding of the state that it amplifies.

References
----------
Bjorck, "Numerical Methods for Least Squares Problems", SIAM 1996, section 2.5 (augmented systems). Osborne, "On
Pre-Conditioning of Matrices", Journal of the ACM 7 (1960).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...compilation.correction import dense
from ...reduction.rounding import SUMMED
from .newton import NewtonFailure, newton, solutions, undamped_many
from .system import NonlinearSystem

PASSES = 3
"""How often what is found is taken for the value. One leaves ``1 / (1 + J**2)`` of its error. An explicit method may be at the
limit of its stability for long, where a step is three time constants, and err to one side: three leave a thousandth there."""

LEFT = 0.01
"""Part of what slopes correct that may be left open where rounding decides."""
SWEEPS = 4
"""Over all states, for their units: these need not be more alike than each state for itself makes them."""


@dataclass(slots=True, eq=False)
class _Steps:
    """What is known at points of steps; arrays (points, ...)."""

    xi: np.ndarray
    lengths: np.ndarray
    slopes: np.ndarray
    J: np.ndarray
    """Derivatives of what rates move within the steps, in the units of the states."""
    units: np.ndarray

    def at(self, k: np.ndarray) -> _Steps:
        """The same of some of the points."""
        return _Steps(self.xi[k], self.lengths[k], self.slopes[k], self.J[k], self.units[k])


class SlopeReading:
    """Corrects points of steps that integrate the same coordinates.

    Parameters
    ----------
    system : NonlinearSystem
    constants : array
        Constants of the nonlinear rows.
    states, dependent : arrays
        Coordinates that are integrated, and those that constraints give.
    """

    def __init__(
        self, system: NonlinearSystem, constants: np.ndarray, states: np.ndarray, dependent: np.ndarray
    ) -> None:
        self._system, self._constants, self._states = system, constants, states
        self._solved = np.concatenate((dependent, system.nx + np.arange(system.m)))
        rates = np.hstack([dense(system.rate_of_both), dense(system.rate_of_sources)])[states]
        self._rates, self._sizes = rates, np.abs(rates)
        self._scale = np.concatenate((system.scale, system.open_scale, np.ones(len(states))))

    @np.errstate(all="ignore")
    def quickness(self, y: np.ndarray, xi: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sizes of ``J`` at points (k, nX + m) of steps of some lengths, and the units of the states there (k, n).

        No numbers where there is no such matrix.
        """
        J = self._moved(self._rows(y, xi)[1], lengths)
        scale = self._system.scale[self._states]
        J, units = balanced(J * scale / scale[:, None])
        return np.linalg.norm(J, axis=(1, 2)), units * scale

    @np.errstate(all="ignore")  # a matrix may be singular, and its solution no number
    def corrected(
        self, y: np.ndarray, xi: np.ndarray, slopes: np.ndarray, lengths: np.ndarray, units: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Points (k, nX + m) near ``y``, the rates of the states there by the ``slopes`` of their steps, and which were found.

        ``lengths`` (k,) are those of the steps, and ``units`` (k, n) those of the states in them.

        Errors are small, and all passes but the last one move a point so little that its tangent tells how.
        """
        states, ny, rows = self._states, y.shape[1], self._rows(y, xi)
        J = self._moved(rows[1], lengths) * units[:, None, :] / units[:, :, None]
        steps = _Steps(xi, lengths, slopes, J, units)
        x = np.hstack([y, np.zeros((len(y), len(states)))])
        value, matrix = self._equations(x, rows, steps)
        step = solutions(matrix, -value)
        for _ in range(PASSES - 1):
            x += step
            value = np.zeros_like(x)
            value[:, ny:] = _carried(steps.J, x[:, ny:])
            step = solutions(matrix, -value)
        before = x[:, states] / steps.units
        x += step
        found = np.asarray(np.isfinite(x).all(axis=1))
        at = np.flatnonzero(found)
        there = x[at]
        found[at] = self._solved_from(there, before[at], steps.at(at))
        x[at] = there
        return x[:, :ny], slopes + x[:, ny:] * steps.units / lengths[:, None], found

    def _solved_from(self, x: np.ndarray, before: np.ndarray, steps: _Steps) -> np.ndarray:
        """Correct points ``x = [y; r]`` that belong to the values ``before`` of states; which of them were found."""
        first = x.copy()
        found = undamped_many(
            lambda at: self._conditions(x[at], before[at], steps.at(at)),
            lambda at: self._rounding(x[at], before[at], steps.at(at)),
            x, self._scale,
        )  # fmt: skip
        for i in np.flatnonzero(~found).tolist():
            step, own = steps.at(np.array([i])), before[i : i + 1]
            found[i] = self._damped(x, i, own, step) or self._rounded(x, i, first[i : i + 1], own, step)
        return found

    def _damped(self, x: np.ndarray, i: int, before: np.ndarray, step: _Steps) -> bool:
        """Correct one of the points by steps that are shortened; whether it was found."""

        def conditions(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            value, matrix = self._conditions(at[None], before, step)
            return value[0], matrix[0]

        try:
            x[i] = newton(conditions, lambda at: self._rounding(at[None], before, step)[0], x[i], self._scale)
        except NewtonFailure:
            return False
        return True

    def _rounded(self, x: np.ndarray, i: int, first: np.ndarray, before: np.ndarray, step: _Steps) -> bool:
        """Take the ``first`` point for one of them where a further correction is hardly any; whether it is.

        At a kink rounding decides from one iteration to the next on which side of it a point lies.
        """
        ny = x.shape[1] - len(self._states)
        value, matrix = self._conditions(first, before, step)
        left = solutions(matrix, -value)
        rounded = self._rounding(first, before, step)[0, len(self._solved) :].max()
        size = (np.abs(left) / (self._scale + np.abs(first))).max()
        if not size <= max(LEFT * np.abs(first[0, ny:]).max(), rounded):
            return False
        x[i] = first[0] + left[0]
        return True

    def _conditions(self, x: np.ndarray, before: np.ndarray, steps: _Steps) -> tuple[np.ndarray, np.ndarray]:
        """Residuals at points and their derivatives."""
        ny = x.shape[1] - len(self._states)
        value, matrix = self._equations(x, self._rows(x[:, :ny], steps.xi), steps)
        value[:, ny:] += x[:, self._states] / steps.units - before
        return value, matrix

    def _rounding(self, x: np.ndarray, before: np.ndarray, steps: _Steps) -> np.ndarray:
        """How far rounding may move these residuals."""
        ny, unit = x.shape[1] - len(self._states), steps.units
        y, r = np.abs(x[:, :ny]), np.abs(x[:, ny:])
        rates = np.hstack([y, np.abs(steps.xi)]) @ self._sizes.T + np.abs(steps.slopes)
        moved = steps.lengths[:, None] * rates / unit + r
        kept = y[:, self._states] / unit + np.abs(before) + _carried(np.abs(steps.J), r)
        parts = [SUMMED * moved, SUMMED * kept]
        if len(self._solved):
            parts.insert(0, self._system.rounding_many(x[:, :ny], steps.xi, self._constants))
        return np.hstack(parts)

    def _equations(
        self, x: np.ndarray, rows: tuple[np.ndarray, np.ndarray], steps: _Steps
    ) -> tuple[np.ndarray, np.ndarray]:
        """Residuals of all ``rows`` at points ``x = [y; r]``, of ``r`` and of ``J' r``, with their derivatives over ``x``."""
        n, unit = len(self._states), steps.units
        ny, (value, slope) = x.shape[1] - n, rows
        y, r, tau = x[:, :ny], x[:, ny:], steps.lengths[:, None] / unit
        solved, own = value.shape[1], np.arange(n)
        matrix = np.zeros((len(x), ny + n, ny + n))
        matrix[:, :solved, :ny] = slope
        matrix[:, solved:ny, :ny] = tau[:, :, None] * self._rates[:, :ny]
        matrix[:, solved + own, ny + own] = -1.0
        matrix[:, ny + own, self._states] = 1.0 / unit
        matrix[:, ny:, ny:] = steps.J.transpose(0, 2, 1)
        moved = tau * (np.hstack([y, steps.xi]) @ self._rates.T - steps.slopes) - r
        return np.hstack([value, moved, _carried(steps.J, r)]), matrix

    def _moved(self, slope: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """``J`` (k, n, n) with all that is solved."""
        states, solved = self._states, self._solved
        J = np.broadcast_to(self._rates[:, states], (len(slope), len(states), len(states)))
        if len(solved):
            slope = np.where(np.isfinite(slope), slope, np.nan)
            J = J - self._rates[:, solved] @ solutions(slope[:, :, solved], slope[:, :, states])
        # What is solved for rounds by the largest coupling: a state that acts on nothing has to keep its value.
        scale = self._system.scale[states]
        size = np.abs(J) * scale / scale[:, None]
        J = np.where(size <= SUMMED * size.max(axis=(1, 2), keepdims=True, initial=0.0), 0.0, J)
        return lengths[:, None, None] * J

    def _rows(self, y: np.ndarray, xi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals of constraints and nonlinear rows at points, with their derivatives."""
        if not len(self._solved):
            return np.empty((len(y), 0)), np.empty((len(y), 0, y.shape[1]))
        value, slope, _ = self._system.many(y, xi, self._constants)
        return value, slope


def balanced(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Matrices (k, n, n) in units (k, n) in which rows and columns beside the diagonal are alike, to what rounds beside one."""
    n = matrices.shape[1]
    beside = matrices**2
    beside[:, np.arange(n), np.arange(n)] = 0.0
    units = np.ones(matrices.shape[:2])
    for _ in range(SWEEPS):
        for i in range(n):
            row, column = beside[:, i].sum(axis=1), beside[:, :, i].sum(axis=1)
            factor = np.sqrt((row + SUMMED**2) / (column + SUMMED**2))
            beside[:, i] /= factor[:, None]
            beside[:, :, i] *= factor[:, None]
            units[:, i] *= np.sqrt(factor)
    return matrices * units[:, None, :] / units[:, :, None], units


def _carried(J: np.ndarray, r: np.ndarray) -> np.ndarray:
    """``J' r`` at all points."""
    return np.einsum("kij,ki->kj", J, r)
