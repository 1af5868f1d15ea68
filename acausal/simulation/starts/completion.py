"""Completion of the start values of one mode: a point that meets all conditions in the order of their ranks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from ...dynamics.directions import generic_direction
from ...kernels.newton import SMALLEST_STEP
from ...values import frozen
from ..instants.choice import BESIDE
from ..nonlinear.newton import NewtonFailure, Trial, damped
from .conditions import Conditions
from .frames import Aim, Frame, StartPoint
from .priorities import MISSED, SETTLED, Solution, least_squares, solve
from .rows import ConditionRows
from .rows import System as System
from .stated import Rank

MOST_ROUNDS = 60
ACCEPTED = 1e-7
"""Scaled step up to which a point is taken where none leads nearer, for conditions that are no more than wishes converge
slowly, and an iteration that does not meet all conditions makes no progress: lengths that differ by less are the same."""
MOST_MOVES = 8
"""Moves beside points at which slopes vanish."""
ENOUGH = 3
"""Descents that end at the same distance before no other begin is tried."""


@frozen
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
    # Wishes that contradict each other meet halfway, in lengths of their unit, so that the choice of coordinates has no say.
    solution = solve(system.A, system.b, system.rank, weight=system.divisor / system.common)
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


Back = Callable[[StartPoint, Aim], StartPoint]
"""Leads a point back to one at which the rows hold that are kept."""


class Completer:
    """Newton's method on the conditions of one mode, damped, rank by rank.

    Each round linearises hard rows and conditions, and steps rank by rank: so what is not prescribed stays near its start.
    Steps are shortened until the conditions that must hold are nearer, in steps of the same slopes, as those of `damped` are.
    Next to configurations at which slopes depend on each other, such as a stretched arm, such steps grow without limit and aim
    through them. Then the iteration begins anew with the length of what is missed in place of that of the step, and with steps
    that turn towards where it decreases: these go around, and end at a solution or at the nearest point.
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
        ends: list[System] = []
        for k in range(MOST_MOVES + 1):
            try:
                found = self._newton(self._beside(at, k, aim), aim)
            except (NewtonFailure, Unreachable) as failure:
                first = first or failure
                if aim.demanded > Rank.STEADY:
                    continue
                around = self._around(aim, k, ends)
                if around is None and _agree([end.distance for end in ends]):
                    break
                if around is None:
                    continue
                found = around
            self.beside = self.beside or (k > 0 and self._other_point(at, found.point, aim, k))
            return replace(found, beside=self.beside)
        assert first is not None
        if isinstance(first, Unreachable):
            if aim.demanded > Rank.STEADY:
                return first.nearest
            if ends:
                first.rest = min(ends, key=lambda end: end.distance)
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
        return _length((there.x - found.x) / self.frame.scale, found, self.frame) > ACCEPTED

    def _around(self, aim: Aim, k: int, ends: list[System]) -> Completion | None:
        """What is found from the start values, or beside them, around configurations at which slopes depend on each other.

        Conditions at points where it comes to rest, with those of the mode met, are added to ``ends``.
        """
        frame = self.frame
        with suppress(NewtonFailure):
            at = self._beside(frame.settled(frame.begin) if aim.solved else frame.begin, k, aim)
            back: Back = self._returned
            try:
                at = back(at, aim)
            except (NewtonFailure, Unreachable):
                # Constraints that not even the begin meets: every row pulls in proportion to what it misses.
                back = _anywhere
            try:
                return self._newton(at, aim, back)
            except Unreachable as end:
                if back is not _anywhere:
                    ends.append(end.system)
        return None

    def _returned(self, at: StartPoint, aim: Aim) -> StartPoint:
        """The point next to one at which the rows of the mode hold."""
        return self._newton(at, replace(aim, active=np.zeros_like(aim.active))).point

    def _newton(self, at: StartPoint, aim: Aim, back: Back | None = None) -> Completion:
        """Iterate; with ``back``, which returns to what is kept, in units in which distances count as distances."""
        return damped(_Rounds(self.rows, aim, back), at, MOST_ROUNDS)

    def _nonlinear(self, aim: Aim) -> bool:
        """Whether a step need not lead to the solution."""
        conditions, opened = self.conditions, self.frame.begin.H
        return (
            self.frame.constrained
            or bool(conditions.observed)
            or bool(conditions.nonlinear_rows)
            or (aim.solved and len(opened) > 0)
        )


@dataclass(eq=False)
class _Rounds:
    """The rounds of a search: steps from rank to rank, damped until what must hold is nearer."""

    rows: ConditionRows
    aim: Aim
    back: Back | None
    units: np.ndarray | None = None
    failure: NewtonFailure | Unreachable | None = None

    def linearise(self, at: StartPoint, /) -> Completion | None:
        rows, aim, back = self.rows, self.aim, self.back
        rows.problem.tables.work.iterated()
        system = rows.system(at, aim)
        if back is not None:
            self.units = system.common if self.units is None else self.units
            system = system.over(self.units, back is not _anywhere)
        solution = solve(system.A, system.b, system.rank)
        self._at, self._system, self._solution = at, system, solution
        self._blocked, self._size = solution.missed & system.top, _length(solution.step, at, self.rows.frame)
        if self._blocked.any():
            if self._size <= ACCEPTED:
                return self.ended(False)
        elif self._size <= SETTLED:
            return _standing(rows, self.rows.frame.moved(system.here, solution.step), system, solution, aim)
        self._to_steps = np.eye(int(system.top.sum()))
        if back is None:
            self._to_steps = least_squares(system.A[system.top], self._to_steps)[0]
        return None

    def tried(self, length: float, /) -> Trial | None:
        system, step = self._system, length * self._solution.step
        if self.back is not None:
            # Next to the steepest descent the length of a step is in proportion to the square of this one.
            step = solve(system.A, system.b, system.rank, SMALLEST_STEP * (length**-2 - 1.0)).step
        try:
            step *= self.rows.frame.within_a_turn(step)
            at = self.rows.frame.moved(system.here, step)
            at = at if self.back is None else self.back(at, self.aim)
            there = self._distance(self.rows.defects(at, self.aim) / system.divisor)
        except (NewtonFailure, Unreachable) as failure:
            self.failure = failure
            return None
        self.failure, here = None, self._distance(system.b)
        if not here > MISSED:
            return Trial(at)
        return Trial(at, here - there, here - self._distance(system.b - system.A @ step))

    def _distance(self, b: np.ndarray) -> float:
        return float(np.linalg.norm(self._to_steps @ b[self._system.top]))

    def ended(self, slow: bool, /) -> Completion:
        if isinstance(self.failure, NewtonFailure):
            raise self.failure
        system, blocked = self._system, self._blocked
        nearest = _standing(self.rows, self._at, system, self._solution, self.aim)
        if system.distance <= MISSED and (self.back is not None or self._size <= ACCEPTED):
            return nearest
        raise Unreachable(
            system, blocked if blocked.any() else system.top & (np.abs(system.b) > MISSED), nearest
        )


def _length(step: np.ndarray, at: StartPoint, frame: Frame) -> float:
    """Largest part of a scaled step relative to where it begins."""
    return float(np.max(np.abs(step) / (1.0 + np.abs(at.x) / frame.scale), initial=0.0))


def _anywhere(at: StartPoint, aim: Aim) -> StartPoint:
    """The point itself: nothing is kept."""
    return at


def _agree(distances: list[float]) -> bool:
    """Whether descents from several begins have come to rest equally far away: that is as near as the model comes."""
    return len(distances) >= ENOUGH and max(distances) - min(distances) <= ACCEPTED * max(distances)
