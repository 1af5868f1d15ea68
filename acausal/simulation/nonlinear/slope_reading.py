"""Points of integrated steps read from their slopes as well as from their values.

A step is known to its tolerance, and so is what it moves: its slope, to that over its length. A rate amplifies the error of a
state that is quick against the step by more. A step of the implicit Euler method of the same length ``h`` that leads from the
value ``y`` less the way of the slope ``s`` to a point that is solved exactly, ``x - h f(x) = y - h s``, keeps the value where a
state is slow and takes the slope where it is quick: of the error of the value ``1 / (1 + h / T)`` is left, with the time constant
``T``.

It moves a point by the residual of the step in the differential equation through the matrix of a stage. That is what the control
of errors inside a step bounds, in states and in all that guards amplify alike: nothing is lost that was resolved, as in a
transient at the begin, and nothing has to choose which states are quick. Solved coordinates and open unknowns take part: what is
quick through them is quick, and what they hold back is not.
"""

from __future__ import annotations

import numpy as np

from ...compilation.correction import dense
from ...reduction.rounding import SUMMED
from .newton import solutions, undamped_many
from .system import NonlinearSystem

PASSES = 6
"""Steps of a correction. One leaves as much of the error of a value as the slope errs by. An explicit method may be at the limit
of its stability for long, where a step is three time constants, and err to one side: six leave a thousandth there."""


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
        self._scale = np.concatenate((system.scale, system.open_scale))

    def fastest(self, y: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """Inverse of the shortest time constant at points (k, nX + m), no number where there is none."""
        ny = y.shape[1]
        J = np.tile(self._rates[:, self._states], (len(y), 1, 1))
        if len(self._solved):
            _, slope = self._rows(y, xi)
            moved = np.linalg.solve(slope[:, :, self._solved], slope[:, :, self._states])
            J = J - self._rates[:, :ny][:, self._solved] @ moved
        return np.abs(np.linalg.eigvals(J)).max(axis=1, initial=0.0)

    def corrected(
        self, y: np.ndarray, xi: np.ndarray, slopes: np.ndarray, lengths: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Points (k, nX + m) near ``y`` where states have the ``slopes`` of their steps, their rates, and which were found.

        Errors are small, and all steps but the last one so short that their tangents tell them.
        """
        states, count = self._states, len(self._solved)
        value, J = self._equations(y, xi, lengths)
        value[:, count:] += lengths[:, None] * slopes - y[:, states]
        d = solutions(J, -value)
        before, along = y + d, np.zeros_like(value)
        for _ in range(PASSES - 2):
            along[:, count:] = d[:, states]
            d = solutions(J, along)
            before += d
        along[:, count:] = d[:, states]
        y = before + solutions(J, along)
        found = np.asarray(np.isfinite(y).all(axis=1))
        at = np.flatnonzero(found)
        given, y_at = (before[:, states] - lengths[:, None] * slopes)[at], y[at]
        found[at] = self._stepped(y_at, xi[at], given, lengths[at])
        y[at] = y_at
        return y, slopes + (y - before)[:, states] / lengths[:, None], found

    def _equations(self, y: np.ndarray, xi: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals of all rows at points, and of states what a step leads from, with their derivatives."""
        states, ny, tau = self._states, y.shape[1], lengths[:, None]
        rates = np.hstack([y, xi]) @ self._rates.T
        slope = -tau[:, :, None] * self._rates[:, :ny]
        slope[:, np.arange(len(states)), states] += 1.0
        value, J = self._rows(y, xi)
        return np.hstack([value, y[:, states] - tau * rates]), np.concatenate([J, slope], axis=1)

    def _stepped(self, y: np.ndarray, xi: np.ndarray, given: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Correct ``y`` to points that a step of the implicit Euler method leads to from ``given``; which of them were found."""
        system, states, count = self._system, self._states, len(self._solved)

        def equations(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            value, J = self._equations(y[at], xi[at], lengths[at])
            value[:, count:] -= given[at]
            return value, J

        def rounding(at: np.ndarray) -> np.ndarray:
            terms = lengths[at, None] * (np.abs(np.hstack([y[at], xi[at]])) @ self._sizes.T)
            terms += np.abs(y[np.ix_(at, states)]) + np.abs(given[at])
            if not count:
                return SUMMED * terms
            return np.hstack([system.rounding_many(y[at], xi[at], self._constants), SUMMED * terms])

        return undamped_many(equations, rounding, y, self._scale)

    def _rows(self, y: np.ndarray, xi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals of constraints and nonlinear rows at points, with their derivatives."""
        if not len(self._solved):
            return np.empty((len(y), 0)), np.empty((len(y), 0, y.shape[1]))
        value, slope, _ = self._system.many(y, xi, self._constants)
        return value, slope
