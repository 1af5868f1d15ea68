"""Descent to a point at which conditions are missed least, from where Newton's method leads nowhere.

Newton's steps grow without limit next to configurations at which slopes depend on each other, such as a stretched arm, and
they aim through them. A descent goes around: the length of what is missed decreases along it, and it ends where a force
in its direction would rest, which is a solution unless that is out of reach (Levenberg-Marquardt method: J. Nocedal and
S. J. Wright, "Numerical Optimization", 2nd edition, Springer 2006, section 10.3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..nonlinear.newton import NewtonFailure
from .priorities import least_squares

if TYPE_CHECKING:
    from .frames import AffineFrame, NonlinearFrame
    from .rows import ConditionRows, System

MOST_ROUNDS = 200
FIRST, LEAST, MOST = 1e-2, 1e-12, 1e8
"""Damping, in units of the scaled slopes: at first, where tangents are trusted, and where no step decreases any more."""
GROWS, SHRINKS = 4.0, 0.2
"""Change of the damping after a step that was of no use, and after one that was."""
STATIONARY = 1e-7
"""Slope of the length of what is missed, at which nothing more is to be gained."""
MET = 1e-13
"""What is missed, in units of its scale, that is rounding."""
RETURNS = 6
"""Newton steps that lead back to the rows that are kept; they converge quadratically from nearby."""


class Descent:
    """Least squares over the coordinates of a frame: of conditions, with the rows of the mode kept, or of all of them."""

    def __init__(self, frame: AffineFrame | NonlinearFrame, rows: ConditionRows, active: np.ndarray) -> None:
        self.frame, self.rows, self.active = frame, rows, active
        system = self._system()
        self.kept = system.which < 0
        begin = frame.state()
        if not self._returned():
            # Constraints that not even the begin meets: every row pulls in proportion to what it misses.
            frame.restore(begin)
            self.kept = np.zeros(len(system.which), bool)
        self.distance = np.inf
        """Length of what is missed."""
        self.wanted = system.top & ~self.kept
        self.divisor = rows.common(system)

    def _system(self) -> System:
        return self.rows.system(self.frame.linearise(), self.active)

    def missed(self) -> np.ndarray:
        """What is missing in all rows, scaled alike where they have the same unit."""
        return self.rows.defects(self.frame.linearise(), self.active) / self.divisor

    def run(self) -> bool:
        """Descend; whether it came to rest where something is missed that no slope leads away from."""
        damping = FIRST
        for _ in range(MOST_ROUNDS):
            A, b = self._scaled()
            # Lengths of columns make the damping independent of the units of the coordinates (Marquardt's scaling).
            size = np.linalg.norm(A, axis=0)
            size[size == 0.0] = 1.0
            A = A / size
            back, free = least_squares(A[self.kept], b[self.kept])
            J, r = A[self.wanted] @ free, b[self.wanted]
            self.distance = before = float(np.linalg.norm(r))
            gradient = J.T @ r
            if before <= MET:
                return False
            if np.linalg.norm(gradient) <= STATIONARY * before:
                return True
            while True:
                step = np.linalg.solve(J.T @ J + damping * np.eye(J.shape[1]), gradient)
                if self._advances((back + free @ step) / size, before):
                    damping = max(damping * SHRINKS, LEAST)
                    break
                damping *= GROWS
                if damping > MOST:
                    return True
        return False

    def _scaled(self) -> tuple[np.ndarray, np.ndarray]:
        system = self._system()
        factor = system.divisor / self.divisor
        return system.A * factor[:, None], system.b * factor

    def _advances(self, step: np.ndarray, before: float) -> bool:
        """Take a step if less is missed after it; whether it was taken."""
        begin = self.frame.state()
        try:
            self.frame.move(self.frame.within_a_turn(step) * step)
            if self._returned() and np.linalg.norm(self.missed()[self.wanted]) < before:
                return True
        except NewtonFailure:
            pass
        self.frame.restore(begin)
        return False

    def _returned(self) -> bool:
        """Go back to the rows that are kept; whether they hold then."""
        if not self.kept.any():
            return True
        for _ in range(RETURNS):
            system = self._system()
            b = system.b[self.kept]
            if np.abs(b).max() <= MET:
                return True
            self.frame.move(least_squares(system.A[self.kept], b)[0])
        return False
