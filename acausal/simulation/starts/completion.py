"""Completion of the start values of one mode: a point that meets all conditions in the order of their ranks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from ...dynamics.directions import generic_direction
from ..instants.choice import BESIDE
from ..nonlinear.newton import NewtonFailure
from .conditions import Conditions
from .descent import Descent
from .frames import ALL, AffineFrame, NonlinearFrame
from .priorities import MISSED, Solution, least_squares, solve
from .rows import ConditionRows
from .rows import System as System
from .stated import Rank

MOST_ROUNDS = 60
SETTLED = 1e-13
"""Scaled step after which a point stays."""
ACCEPTED = 1e-7
"""Scaled step up to which a point is taken when rounds are used up: conditions that are no more than wishes converge slowly."""
STALLED = 1e-10
"""Scaled step up to which an iteration that meets not all conditions makes no progress."""
SHORTEST = 2.0**-12
"""Of a step that is shortened."""
MOST_MOVES = 8
"""Moves beside points at which slopes vanish."""
ENOUGH, ALIKE = 3, 1e-6
"""Descents that end at the same distance, relative to that, before no other begin is tried."""
DECREASE = 0.25
"""Part of the decrease a tangent promises that a step has to bring (natural monotonicity, Deuflhard 2004, section 3.3)."""


@dataclass(eq=False)
class Unreachable(Exception):
    """No point was found at which the conditions of a system hold.

    Attributes
    ----------
    missed : array of bool
        The rows that could not be met.
    nearest : Completion
        The point next to which the search stayed, and how the last step meets the rows there.
    state : object
        Of the frame there.
    rest : System or None
        What is missed where a descent came to rest nearest to the conditions; None if none did.
    """

    system: System
    missed: np.ndarray
    nearest: Completion
    state: Any
    rest: System | None = None


@dataclass(frozen=True, eq=False)
class Completion:
    """A point, and how the conditions stand there."""

    z: np.ndarray
    slopes: np.ndarray
    system: System
    solution: Solution
    of_states: np.ndarray
    """Core unknowns over the scaled coordinates of the mode."""
    involved: np.ndarray
    """Mask of the conditions that depend on unknowns which Newton's method solves for."""
    beside: bool = False
    """Whether the start values themselves led nowhere, but others around them did."""

    def mask(self, which: str, size: int) -> np.ndarray:
        """``missed`` or ``room`` of the solution, per condition (size,)."""
        found = np.zeros(size, bool)
        own = self.system.which >= 0
        found[self.system.which[own]] = getattr(self.solution, which)[own]
        return found

    def determined(self, size: int) -> np.ndarray:
        """Mask of the conditions (size,) that no coordinate moves."""
        found, system = np.zeros(size, bool), self.system
        own = system.which >= 0
        found[system.which[own]] = ~system.A[own].any(axis=1)
        return found


def completion(conditions: Conditions, frame: AffineFrame | NonlinearFrame) -> Completion:
    """The point at which conditions hold in the order of their ranks; affine ones are met at once.

    Raises
    ------
    NewtonFailure, Unreachable
    """
    rows = ConditionRows(conditions, frame)
    if isinstance(frame, AffineFrame) and not conditions.observed:
        return met_at_once(rows, ~rows.driven())
    return Completer(rows).complete()


def met_at_once(rows: ConditionRows, active: np.ndarray, demanded: Rank = Rank.STEADY) -> Completion:
    """What one step leads to, where slopes are the same everywhere.

    Raises
    ------
    Unreachable
    """
    system = rows.system(rows.frame.linearise(), active, demanded)
    solution = solve(system.A, system.b, system.rank)
    blocked = solution.missed & system.top
    if blocked.any():
        raise Unreachable(system, blocked, _standing(rows, system, solution), rows.frame.state())
    rows.frame.move(solution.step)
    return _standing(rows, system, solution)


def _standing(rows: ConditionRows, system: System, solution: Solution) -> Completion:
    """The point of the frame, and how the conditions stand there."""
    point = rows.frame.linearise()
    return Completion(point.z, point.slopes, system, solution, point.z_x * rows.frame.scale, rows.involved)


class Completer:
    """Newton's method on the conditions of one mode, damped, rank by rank.

    Each round linearises hard rows and conditions, and steps rank by rank: so what is not prescribed stays near its start.
    Steps are shortened until the hard rows and the conditions that must hold become less wrong (natural monotonicity, as in
    `newton`); where slopes vanish the iteration begins again beside the point.
    """

    def __init__(self, rows: ConditionRows) -> None:
        self.rows, self.frame, self.conditions = rows, rows.frame, rows.conditions
        self.problem, self.involved = rows.problem, rows.involved
        self.beside = False
        """Whether the start values themselves led nowhere, but others around them did."""

    # -- iteration -----------------------------------------------------------------------------------------------

    def complete(self) -> Completion:
        """Find the point.

        Raises
        ------
        NewtonFailure, Unreachable
        """
        frame, begin = self.frame, self.frame.state()
        if frame.bounds is None:
            return self._completed()
        try:
            return self._completed()
        except (NewtonFailure, Unreachable):
            # Nothing within the bounds: what there is elsewhere is told after the start.
            frame.forget_bounds()
            frame.restore(begin)
            return self._completed()

    def _completed(self) -> Completion:
        rank, active = self.conditions.rank, ~self.involved
        self._given = self.frame.state()
        driven = self.rows.driven()
        active &= ~driven
        if self.frame.constrained:
            self._approach(active, -1)
        if self.frame.moving.any():
            still = active & ~self._reads_motion()
            self._approach(still, 0)
            self._approach(still, 0, Rank.STEADY)
        if self.involved.any():
            try:
                return self._search(~driven, True)
            except (NewtonFailure, Unreachable):
                guesses = self.involved & (rank >= Rank.GUESS)
                if not guesses.any():
                    raise
                # Starts of computed variables that lead nowhere are no more than guesses.
                active = ~guesses & ~driven
        return self._search(active, bool((active & self.involved).any()))

    def _approach(self, active: np.ndarray, highest: int, demanded: Rank = Rank.GIVEN) -> None:
        """Go to a point of some conditions and constraints up to the ``highest`` derivative, if there is one.

        There the search for one of all begins: near a wrong position speeds may be anything.
        Ranks up to ``demanded`` count as one; where they contradict each other the nearest point is taken.
        """
        begin = self.frame.state()
        try:
            self._search(active, False, highest, demanded)
        except (NewtonFailure, Unreachable):
            self.frame.restore(begin)

    def _reads_motion(self) -> np.ndarray:
        """Mask of the conditions that depend on rates of constrained coordinates."""
        rows = self.rows.values(self.frame.linearise())[1]
        return np.abs(rows[:, self.frame.moving]).max(axis=1, initial=0.0) > 0.0

    def _search(
        self, active: np.ndarray, solved: bool, highest: int = ALL, demanded: Rank = Rank.STEADY
    ) -> Completion:
        """Iterate from the present point, and if that comes to nothing from others around it."""
        frame, first = self.frame, None
        frame.begin(solved, highest)
        if not self._nonlinear():
            return met_at_once(self.rows, active, demanded)
        begin = frame.state()
        ends: list[tuple[float, System]] = []
        for k in range(MOST_MOVES + 1):
            try:
                if k:
                    frame.restore(begin)
                    self._move_beside(k)
                found = self._newton(active, demanded)
            except (NewtonFailure, Unreachable) as failure:
                first = first or failure
                if demanded > Rank.STEADY:
                    continue
                found = self._descended(active, solved, highest, k, ends)
                if found is None and _agree([distance for distance, _ in ends]):
                    break
                if found is None:
                    continue
            self.beside = self.beside or (k > 0 and self._other_point(active, demanded, begin, k))
            return replace(found, beside=self.beside)
        assert first is not None
        if demanded > Rank.STEADY and isinstance(first, Unreachable):
            frame.restore(first.state)
            return first.nearest
        if ends and isinstance(first, Unreachable):
            first.rest = min(ends, key=lambda end: end[0])[1]
        raise first

    def _move_beside(self, k: int, side: float = 1.0) -> None:
        frame, distance = self.frame, side * BESIDE * (1 + k // 2)
        frame.move(np.where(frame.moving, 0.0, distance * generic_direction(len(frame.x), k)))

    def _other_point(self, active: np.ndarray, demanded: Rank, begin: Any, k: int) -> bool:
        """Whether values on the other side of the begin lead to another point."""
        frame, here = self.frame, self.frame.state()
        found = frame.x
        try:
            frame.restore(begin)
            self._move_beside(k, -1.0)
            self._newton(active, demanded)
            there = frame.x
        except (NewtonFailure, Unreachable):
            there = found
        frame.restore(here)
        return self._length_of((there - found) / frame.scale) > ACCEPTED

    def _descended(
        self, active: np.ndarray, solved: bool, highest: int, k: int, ends: list[tuple[float, System]]
    ) -> Completion | None:
        """What Newton's method finds from the end of a descent that begins at, or beside, the start values.

        Descents that come to rest before are noted in ``ends``, with the distance that is left.
        """
        frame = self.frame
        try:
            frame.restore(self._given)
            frame.begin(solved, highest)
            if k:
                self._move_beside(k)
            descent = Descent(frame, self.rows, active)
            if not descent.run() or descent.distance <= MISSED:
                return self._ended(active, descent)
        except (NewtonFailure, Unreachable):
            return None
        if descent.kept.any():
            ends.append((descent.distance, self.rows.system(frame.linearise(), active)))
        return None

    def _ended(self, active: np.ndarray, descent: Descent) -> Completion:
        """The solution at the end of a descent; that itself where slopes vanish at it, as those of a stretched arm do."""
        frame, end = self.frame, self.frame.state()
        try:
            return self._newton(active, Rank.STEADY)
        except Unreachable:
            if descent.distance > MISSED:
                raise
        frame.restore(end)
        system = self.rows.system(frame.linearise(), active)
        return _standing(self.rows, system, solve(system.A, system.b, system.rank))

    def _newton(self, active: np.ndarray, demanded: Rank) -> Completion:
        frame = self.frame
        for k in count(1):
            self.problem.tables.work.iterated()
            system = self.rows.system(frame.linearise(), active, demanded)
            solution = solve(system.A, system.b, system.rank)
            blocked, last = solution.missed & system.top, k == MOST_ROUNDS
            size = self._length_of(solution.step)
            if blocked.any():
                advances = size > STALLED and not last
                if advances and self._advance(system, solution.step, active, _length):
                    continue
            elif size <= SETTLED or (size <= ACCEPTED and last):
                frame.move(solution.step)
                return _standing(self.rows, system, solution)
            elif not last:
                self._advance(system, solution.step, active, partial(_least, system.A[system.top]))
                continue
            else:
                blocked = system.top & (np.abs(system.b) > MISSED)
            raise Unreachable(system, blocked, _standing(self.rows, system, solution), frame.state())
        raise AssertionError

    def _length_of(self, step: np.ndarray) -> float:
        """Largest part of a scaled step relative to where it begins."""
        x = np.abs(self.frame.x) / self.frame.scale
        return float(np.max(np.abs(step) / (1.0 + x), initial=0.0))

    def _nonlinear(self) -> bool:
        """Whether a step need not lead to the solution."""
        conditions = self.conditions
        return (
            self.frame.constrained
            or bool(conditions.observed)
            or conditions.has_nonlinear
            or self.frame.solved
        )

    def _advance(
        self, system: System, step: np.ndarray, active: np.ndarray, size: Callable[[np.ndarray], float]
    ) -> bool:
        """Take a step, shortened until the ``size`` of the defects of what must hold decreases; whether it does."""
        frame, begin = self.frame, self.frame.state()
        length = frame.within_a_turn(step)
        top = system.top
        before = size(system.b[top])
        while True:
            failure: NewtonFailure | None = None
            try:
                frame.move(length * step)
                if not before > MISSED:
                    return True
                after = self.rows.defects(frame.linearise(), active) / system.divisor
                if size(after[top]) <= (1.0 - DECREASE * length) * before:
                    return True
            except NewtonFailure as caught:
                failure = caught
            length *= 0.5
            if length < SHORTEST:
                if failure is not None:
                    raise failure
                return False
            frame.restore(begin)


def _agree(distances: list[float]) -> bool:
    """Whether descents from several begins have come to rest equally far away: that is as near as the model comes."""
    return len(distances) >= ENOUGH and max(distances) - min(distances) <= ALIKE * max(distances)


def _length(b: np.ndarray) -> float:
    return float(np.linalg.norm(b))


def _least(A: np.ndarray, b: np.ndarray) -> float:
    """Length of the shortest step that removes the defects ``b``."""
    return float(np.linalg.norm(least_squares(A, b)[0]))
