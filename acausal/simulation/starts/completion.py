"""Completion of the start values of one mode: a point that meets all conditions in the order of their ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from ...dynamics.directions import generic_direction
from ..instants.choice import BESIDE
from ..nonlinear.newton import NewtonFailure
from .conditions import Conditions
from .descent import STATIONARY, Descent, descend
from .frames import Aim, Frame, StartPoint
from .priorities import MISSED, SETTLED, Solution, least_squares, solve
from .rows import ConditionRows
from .rows import System as System
from .stated import Rank

MOST_ROUNDS = 60
ACCEPTED = 1e-7
"""Scaled step up to which a point is taken when rounds are used up, for conditions that are no more than wishes converge
slowly, and an iteration that does not meet all conditions makes no progress."""
SHORTEST = 2.0**-12
"""Of a step that is shortened."""
MOST_MOVES = 8
"""Moves beside points at which slopes vanish."""
ENOUGH = 3
"""Descents that end at the same distance before no other begin is tried."""
DECREASE = 0.25
"""Part of the decrease a tangent promises that a step has to bring (natural monotonicity, Deuflhard 2004, section 3.3)."""


@dataclass(frozen=True, eq=False)
class Completion:
    """A point, and how the conditions stand there."""

    point: StartPoint
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

    @property
    def missed(self) -> np.ndarray:
        """Mask of the conditions that do not hold."""
        return self._of_conditions(self.solution.missed)

    @property
    def room(self) -> np.ndarray:
        """Mask of the conditions for which something was left open when their rank had its turn."""
        return self._of_conditions(self.solution.room)

    @property
    def determined(self) -> np.ndarray:
        """Mask of the conditions that no coordinate moves."""
        return self._of_conditions(np.abs(self.system.A).max(axis=1, initial=0.0) == 0.0)

    def _of_conditions(self, rows: np.ndarray) -> np.ndarray:
        found, own = np.zeros(len(self.involved), bool), self.system.which >= 0
        found[self.system.which[own]] = rows[own]
        return found


@dataclass(eq=False)
class Unreachable(Exception):
    """No point was found at which the conditions of a system hold.

    Attributes
    ----------
    missed : array of bool
        The rows that could not be met.
    nearest : Completion
        The point next to which the search stayed, and how the last step meets the rows there.
    rest : System or None
        What is missed where a descent came to rest nearest to the conditions; None if none did.
    """

    system: System
    missed: np.ndarray
    nearest: Completion
    rest: System | None = None


def completion(conditions: Conditions, frame: Frame) -> Completion:
    """The point at which conditions hold in the order of their ranks; affine ones are met at once.

    Raises
    ------
    NewtonFailure, Unreachable
    """
    rows = ConditionRows(conditions, frame)
    if not conditions.problem.reduced.nonlinear and not conditions.observed:
        return _met_at_once(rows, frame.begin, Aim(~rows.driven()))
    return Completer(rows).complete()


def _met_at_once(rows: ConditionRows, at: StartPoint, aim: Aim) -> Completion:
    """What one step leads to, where slopes are the same everywhere.

    Raises
    ------
    Unreachable
    """
    system = rows.system(at, aim)
    solution = solve(system.A, system.b, system.rank)
    blocked = solution.missed & system.top
    if blocked.any():
        raise Unreachable(system, blocked, _standing(rows, at, system, solution, aim))
    return _standing(rows, rows.frame.moved(system.here, solution.step), system, solution, aim)


def _standing(
    rows: ConditionRows, at: StartPoint, system: System, solution: Solution, aim: Aim
) -> Completion:
    """A point, and how the conditions stand there."""
    here = rows.frame.linearised(at, aim)
    return Completion(at, here.z, here.slopes, system, solution, here.z_x * rows.frame.scale, rows.involved)


class Completer:
    """Newton's method on the conditions of one mode, damped, rank by rank.

    Each round linearises hard rows and conditions, and steps rank by rank: so what is not prescribed stays near its start.
    Steps are shortened until the hard rows and the conditions that must hold become less wrong (natural monotonicity, as in
    `newton`); where slopes vanish the iteration begins again beside the point.
    """

    def __init__(self, rows: ConditionRows) -> None:
        self.rows, self.frame, self.conditions = rows, rows.frame, rows.conditions
        self.beside = False
        """Whether the start values themselves led nowhere, but others around them did."""

    def complete(self) -> Completion:
        """Find the point.

        Raises
        ------
        NewtonFailure, Unreachable
        """
        try:
            return self._completed()
        except (NewtonFailure, Unreachable):
            if self.frame.bounds is None:
                raise
        # Nothing within the bounds: what there is elsewhere is told after the start.
        self.frame.forget_bounds()
        return self._completed()

    def _completed(self) -> Completion:
        frame, involved, at = self.frame, self.rows.involved, self.frame.begin
        free = ~self.rows.driven()
        active = free & ~involved
        if frame.constrained:
            at = self._approached(at, Aim(active, highest=-1, demanded=Rank.GIVEN))
        if frame.moving.any():
            still = active & ~self.rows.reads_motion(at)
            for demanded in (Rank.GIVEN, Rank.STEADY):
                at = self._approached(at, Aim(still, highest=0, demanded=demanded))
        if involved.any():
            guesses = involved & (self.conditions.rank >= Rank.GUESS)
            try:
                return self._search(at, Aim(free, True))
            except (NewtonFailure, Unreachable):
                if not guesses.any():
                    raise
                # Starts of computed variables that lead nowhere are no more than guesses.
                active = free & ~guesses
        return self._search(at, Aim(active, bool((active & involved).any())))

    def _approached(self, at: StartPoint, aim: Aim) -> StartPoint:
        """A point of some conditions and constraints, where the search for one of all begins, if there is one.

        Near a wrong position speeds may be anything.
        """
        try:
            return self._search(at, aim).point
        except (NewtonFailure, Unreachable):
            return at

    def _search(self, at: StartPoint, aim: Aim) -> Completion:
        """Iterate from a point, and if that comes to nothing from others around it."""
        first: NewtonFailure | Unreachable | None = None
        at = self.frame.settled(at) if aim.solved else at
        if not self._nonlinear(aim):
            return _met_at_once(self.rows, at, aim)
        ends: list[Descent] = []
        for k in range(MOST_MOVES + 1):
            try:
                found = self._newton(self._beside(at, k, aim), aim)
            except (NewtonFailure, Unreachable) as failure:
                first = first or failure
                if aim.demanded > Rank.STEADY:
                    continue
                descended = self._descended(aim, k, ends)
                if descended is None and _agree([end.distance for end in ends]):
                    break
                if descended is None:
                    continue
                found = descended
            self.beside = self.beside or (k > 0 and self._other_point(at, found.point, aim, k))
            return replace(found, beside=self.beside)
        assert first is not None
        if isinstance(first, Unreachable):
            if aim.demanded > Rank.STEADY:
                return first.nearest
            if ends:
                nearest = min(ends, key=lambda end: end.distance)
                first.rest = self.rows.system(nearest.point, aim)
        raise first

    def _beside(self, at: StartPoint, k: int, aim: Aim, side: float = 1.0) -> StartPoint:
        """A point around one, the ``k``-th; the zeroth is the point itself."""
        if not k:
            return at
        frame, distance = self.frame, side * BESIDE * (1 + k // 2)
        step = np.where(frame.moving, 0.0, distance * generic_direction(len(at.x), k))
        return frame.moved(frame.linearised(at, aim), step)

    def _other_point(self, at: StartPoint, found: StartPoint, aim: Aim, k: int) -> bool:
        """Whether values on the other side of a begin lead to another point."""
        try:
            there = self._newton(self._beside(at, k, aim, -1.0), aim).point
        except (NewtonFailure, Unreachable):
            return False
        return self._length_of((there.x - found.x) / self.frame.scale, found) > ACCEPTED

    def _descended(self, aim: Aim, k: int, ends: list[Descent]) -> Completion | None:
        """What Newton's method finds from the end of a descent that begins at, or beside, the start values.

        Descents that come to rest before are added to ``ends``.
        """
        frame = self.frame
        try:
            at = frame.settled(frame.begin) if aim.solved else frame.begin
            descent = descend(self.rows, self._beside(at, k, aim), aim)
            if not descent.rests or descent.distance <= MISSED:
                return self._ended(descent, aim)
        except (NewtonFailure, Unreachable):
            return None
        if descent.kept:
            ends.append(descent)
        return None

    def _ended(self, descent: Descent, aim: Aim) -> Completion:
        """The solution at the end of a descent; that itself where slopes vanish at it, as those of a stretched arm do."""
        try:
            return self._newton(descent.point, aim)
        except Unreachable:
            if descent.distance > MISSED:
                raise
        system = self.rows.system(descent.point, aim)
        return _standing(self.rows, descent.point, system, solve(system.A, system.b, system.rank), aim)

    def _newton(self, at: StartPoint, aim: Aim) -> Completion:
        rows, frame = self.rows, self.frame
        for k in count(1):
            rows.problem.tables.work.iterated()
            system = rows.system(at, aim)
            solution = solve(system.A, system.b, system.rank)
            blocked, last = solution.missed & system.top, k == MOST_ROUNDS
            size, following = self._length_of(solution.step, at), None
            if blocked.any():
                if size > ACCEPTED and not last:
                    following = self._advanced(system, solution.step, aim)
            elif size <= SETTLED or (size <= ACCEPTED and last):
                return _standing(rows, frame.moved(system.here, solution.step), system, solution, aim)
            else:
                if not last:
                    following = self._advanced(system, solution.step, aim)
                blocked = system.top & (np.abs(system.b) > MISSED)
            if following is None:
                raise Unreachable(system, blocked, _standing(rows, at, system, solution, aim))
            at = following
        raise AssertionError

    def _length_of(self, step: np.ndarray, at: StartPoint) -> float:
        """Largest part of a scaled step relative to where it begins."""
        return float(np.max(np.abs(step) / (1.0 + np.abs(at.x) / self.frame.scale), initial=0.0))

    def _nonlinear(self, aim: Aim) -> bool:
        """Whether a step need not lead to the solution."""
        conditions, opened = self.conditions, self.frame.begin.H
        return (
            self.frame.constrained
            or bool(conditions.observed)
            or conditions.has_nonlinear
            or (aim.solved and len(opened) > 0)
        )

    def _advanced(self, system: System, step: np.ndarray, aim: Aim) -> StartPoint | None:
        """The point after a step, shortened until what must hold is nearer, in steps of the same slopes; None if none does."""

        def distance(b: np.ndarray) -> float:
            return float(np.linalg.norm(least_squares(system.A[system.top], b[system.top])[0]))

        length, before = self.frame.within_a_turn(step), distance(system.b)
        while True:
            failure: NewtonFailure | None = None
            try:
                at = self.frame.moved(system.here, length * step)
                if not before > MISSED:
                    return at
                after = self.rows.defects(at, aim) / system.divisor
                if distance(after) <= (1.0 - DECREASE * length) * before:
                    return at
            except NewtonFailure as caught:
                failure = caught
            length *= 0.5
            if length < SHORTEST:
                if failure is not None:
                    raise failure
                return None


def _agree(distances: list[float]) -> bool:
    """Whether descents from several begins have come to rest equally far away: that is as near as the model comes."""
    return len(distances) >= ENOUGH and max(distances) - min(distances) <= STATIONARY * max(distances)
