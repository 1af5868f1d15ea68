"""Descent to a point at which conditions are missed least, from where Newton's method leads nowhere.

Newton's steps grow without limit next to configurations at which slopes depend on each other, such as a stretched arm, and
they aim through them. A descent goes around: the length of what is missed decreases along it, and it ends where a force
in its direction would rest, which is a solution unless that is out of reach (Levenberg-Marquardt method: J. Nocedal and
S. J. Wright, "Numerical Optimization", 2nd edition, Springer 2006, section 10.3).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..nonlinear.newton import NewtonFailure
from .frames import Aim, StartPoint
from .priorities import SETTLED, least_squares
from .rows import ConditionRows, System

MOST_ROUNDS = 200
FIRST, MOST = 1e-2, 1e8
"""Damping, in units of the scaled slopes: at first, and where no step decreases any more."""
GROWS, SHRINKS = 4.0, 0.2
"""Change of the damping after a step that was of no use, and after one that was."""
STATIONARY = 1e-7
"""Slope of the length of what is missed, relative to that, at which nothing more is to be gained; such lengths are equal."""
RETURNS = 6
"""Newton steps that lead back to the rows that are kept; they converge quadratically from nearby."""


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a descent ended.

    Attributes
    ----------
    distance : float
        Length of what is missed.
    rests : bool
        Whether something is missed that no slope leads away from.
    kept : bool
        Whether the rows of the mode hold all along.
    """

    point: StartPoint
    distance: float
    rests: bool
    kept: bool


def descend(rows: ConditionRows, at: StartPoint, aim: Aim) -> Descent:
    """Least squares over the coordinates of a frame: of conditions, with the rows of the mode kept, or of all of them."""
    system = rows.system(at, aim)
    kept = system.which < 0
    way = _Way(rows, aim, rows.common(system), kept, system.top & ~kept)
    begin = way.returned(at)
    if begin is not None:
        return way.end(begin)
    # Constraints that not even the begin meets: every row pulls in proportion to what it misses.
    return replace(way, kept=np.zeros(len(kept), bool), wanted=system.top).end(at)


@dataclass(frozen=True, eq=False)
class _Way:
    """Rows that are kept, those that are to be missed less, and what both are divided by."""

    rows: ConditionRows
    aim: Aim
    divisor: np.ndarray
    kept: np.ndarray
    wanted: np.ndarray

    def end(self, at: StartPoint) -> Descent:
        """Where the way from a point comes to rest, or the rounds are used up."""
        damping, distance = FIRST, np.inf
        for _ in range(MOST_ROUNDS):
            system = self.rows.system(at, self.aim)
            factor = system.divisor / self.divisor
            A, b = system.A * factor[:, None], system.b * factor
            # Lengths of columns make the damping independent of the units of the coordinates (Marquardt's scaling).
            size = np.linalg.norm(A, axis=0)
            size[size == 0.0] = 1.0
            A = A / size
            back, free = least_squares(A[self.kept], b[self.kept])
            J, r = A[self.wanted] @ free, b[self.wanted]
            distance, gradient = float(np.linalg.norm(r)), J.T @ r
            if distance <= SETTLED:
                break
            if np.linalg.norm(gradient) <= STATIONARY * distance:
                return self._ended(at, distance, True)
            while True:
                step = np.linalg.solve(J.T @ J + damping * np.eye(J.shape[1]), gradient)
                after = self._advanced(system, (back + free @ step) / size, distance)
                if after is not None:
                    at, damping = after, max(damping * SHRINKS, float(np.finfo(float).eps))
                    break
                damping *= GROWS
                if damping > MOST:
                    return self._ended(at, distance, True)
        return self._ended(at, distance, False)

    def _ended(self, at: StartPoint, distance: float, rests: bool) -> Descent:
        return Descent(at, distance, rests, bool(self.kept.any()))

    def _advanced(self, system: System, step: np.ndarray, before: float) -> StartPoint | None:
        """The point after a step, if less is missed there."""
        frame = self.rows.frame
        try:
            at = self.returned(frame.moved(system.here, frame.within_a_turn(step) * step))
        except NewtonFailure:
            return None
        if at is None:
            return None
        missed = self.rows.defects(at, self.aim) / self.divisor
        return at if np.linalg.norm(missed[self.wanted]) < before else None

    def returned(self, at: StartPoint) -> StartPoint | None:
        """The point next to one at which the rows that are kept hold, if steps lead there."""
        if not self.kept.any():
            return at
        for _ in range(RETURNS):
            system = self.rows.system(at, self.aim)
            b = system.b[self.kept]
            if np.abs(b).max() <= SETTLED:
                return at
            at = self.rows.frame.moved(system.here, least_squares(system.A[self.kept], b)[0])
        return None
