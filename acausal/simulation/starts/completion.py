"""Completion of the start values of one mode: a point that meets all conditions in the order of their ranks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from ..curved.newton import NewtonFailure
from .conditions import Conditions, Rank
from .frames import AffineFrame, CurvedFrame, Linearised
from .priorities import MISSED, Solution, least_squares, solve

if TYPE_CHECKING:
    from ..run import Run

MOST_ROUNDS = 60
SETTLED = 1e-13
"""Scaled step after which a point stays."""
ACCEPTED = 1e-7
"""Scaled step up to which a point is taken when rounds are used up: conditions that are no more than wishes converge slowly."""
STALLED = 1e-10
"""Scaled step up to which an iteration that meets not all conditions makes no progress."""
SHORTEST = 2.0**-12
"""Of a step that is shortened."""
LONGEST = 0.5
"""Of a step in the units of ``SETTLED``: longer ones along a tangent take angles to other turns."""
BESIDE = 0.3
"""Distance, in units of the scale, to a point beside one at which slopes vanish."""
MOST_MOVES = 8
"""Moves beside such points."""
SPEED = 1
"""By which wishes for speeds come after those for positions of the same rank."""
CANCELLED = 1e-13
"""Coefficient, relative to the terms that it is the sum of, that counts as zero."""
STEP = 1e-6
"""Of difference quotients, in units of the scale."""


class Depth(Enum):
    """Which hard rows take part: positions are found before speeds, which near a wrong position may be anything."""

    NONE = "none"
    POSITIONS = "positions"
    ALL = "all"


class Unreachable(Exception):
    """No point was found; ``conditions`` are those that could not be met, ``solution`` how the last step meets them."""

    def __init__(self, system: System, missed: np.ndarray) -> None:
        super().__init__("no point meets the conditions")
        self.system, self.missed = system, missed
        self.nearest: Completion | None = None
        """The point next to which it stayed, with the state of the frame there."""
        self.state: Any = None


@dataclass(frozen=True, eq=False)
class System:
    """Scaled linear conditions at a point: ``A step = b``, hard rows of the mode first."""

    A: np.ndarray
    b: np.ndarray
    rank: np.ndarray
    which: np.ndarray
    """Condition of every row, -1 for a hard one."""
    divisor: np.ndarray
    """What rows and defects are divided by."""

    @property
    def top(self) -> np.ndarray:
        """Rows that must be met."""
        return self.rank <= Rank.STEADY


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


class Completer:
    """Newton's method on the conditions of one mode, damped, rank by rank.

    Each round linearises hard rows and conditions, and steps rank by rank: so what is not prescribed stays near its start.
    Steps are shortened until the hard rows and the conditions that must hold become less wrong (natural monotonicity, as in
    `newton`); where slopes vanish the iteration begins again beside the point.
    """

    def __init__(self, run: Run, conditions: Conditions, frame: AffineFrame | CurvedFrame) -> None:
        self.run, self.conditions, self.frame = run, conditions, frame
        self.D, self.Z, self.X, self.constant = conditions.stacked()
        self._sizes_D, self._sizes_Z = abs(self.D), abs(self.Z)
        model = run.core.model
        self._size = self._sizes_Z @ model.network_scale + self._sizes_D @ (model.network_scale / model.T0)
        """Magnitudes of the affine conditions."""
        self.beside = False
        """Whether the start values themselves led nowhere, but others around them did."""
        self.involved = self._involved()
        """Conditions that depend on unknowns which Newton's method has to solve for."""

    def _involved(self) -> np.ndarray:
        """Mask over the conditions."""
        z_open, slopes_open = self.frame.over_open
        reads = np.asarray(self._sizes_Z @ np.abs(z_open) + self._sizes_D @ np.abs(slopes_open))
        found = reads.max(axis=1, initial=0.0) > 0.0
        if self.frame.open:
            tangents = self.run.tangents
            for k, _, at, _ in self.conditions.curved(np.zeros(len(self.run.program.curves.owner))):
                reads = abs(tangents.Z[at]) @ np.abs(z_open) + abs(tangents.D[at]) @ np.abs(slopes_open)
                found[k] = bool(np.any(reads))
            for k, _ in self.conditions.observed:
                found[k] = True
        return found

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
            frame.bounds = None
            frame.restore(begin)
            return self._completed()

    def _completed(self) -> Completion:
        rank, active = self.conditions.rank, ~self.involved
        driven = self._driven()
        active &= ~driven
        if self.run.near is not None:
            # The begin is a point of equations that are nearly the same.
            begin = self.frame.state()
            try:
                return self._search(~driven, True)
            except (NewtonFailure, Unreachable):
                self.frame.restore(begin)
        if self.frame.constrained:
            self._approach(active, Depth.NONE, Rank.GIVEN)
        if self.frame.moving.any():
            still = active & ~self._reads_motion()
            self._approach(still, Depth.POSITIONS, Rank.GIVEN)
            self._approach(still, Depth.POSITIONS)
        if self.involved.any():
            self._approach(active, Depth.ALL)
            try:
                return self._search(~driven, True)
            except (NewtonFailure, Unreachable):
                # Starts of computed variables that lead nowhere are no more than guesses.
                active = (~self.involved | (rank < Rank.GUESS)) & ~driven
        return self._search(active, bool((active & self.involved).any()))

    def _approach(self, active: np.ndarray, depth: Depth, demanded: Rank = Rank.STEADY) -> None:
        """Go to a point of some conditions, if there is one: begin of the search for one of all.

        Ranks up to ``demanded`` count as one; where they contradict each other the nearest point is taken.
        """
        begin = self.frame.state()
        try:
            self._search(active, False, depth, demanded)
        except (NewtonFailure, Unreachable):
            self.frame.restore(begin)

    def _driven(self) -> np.ndarray:
        """Mask of the derivatives that cannot be zero: sources alone determine their variables."""
        of = np.array([c.rate_of for c in self.conditions.items], np.int64)
        moved = np.abs(self.frame.linearise().z_x * self.frame.scale).max(axis=1, initial=0.0)
        return (of >= 0) & (moved[of] <= 1e-11 * self.run.core.model.scale[of])

    def _reads_motion(self) -> np.ndarray:
        """Mask of the conditions that depend on rates of constrained coordinates."""
        rows = self._values(self.frame.linearise())[1]
        return np.abs(rows[:, self.frame.moving]).max(axis=1, initial=0.0) > 0.0

    def _search(
        self, active: np.ndarray, solved: bool, depth: Depth = Depth.ALL, demanded: Rank = Rank.STEADY
    ) -> Completion:
        """Iterate from the present point, and if that comes to nothing from others around it."""
        frame, first = self.frame, None
        frame.begin(solved, depth.value)
        begin = frame.state()
        for k in range(MOST_MOVES + 1):
            try:
                if k:
                    frame.restore(begin)
                    direction = np.cos(1.0 + 1.7 * np.arange(len(frame.x)) + k)
                    frame.move(np.where(frame.moving, 0.0, BESIDE * (1 + k // 2) * direction))
                found = self._newton(active, demanded)
            except (NewtonFailure, Unreachable) as failure:
                first = first or failure
                if not self._curved():
                    break
            else:
                self.beside = self.beside or k > 0
                return replace(found, beside=self.beside)
        assert first is not None
        if demanded > Rank.STEADY and isinstance(first, Unreachable) and first.nearest is not None:
            frame.restore(first.state)
            return first.nearest
        raise first

    def _newton(self, active: np.ndarray, demanded: Rank) -> Completion:
        frame = self.frame
        for k in count(1):
            system = self._system(frame.linearise(), active, demanded)
            solution = solve(system.A, system.b, system.rank)
            blocked = solution.missed & system.top
            size = self._length_of(solution.step)
            last = k == MOST_ROUNDS
            if blocked.any():
                stays = size <= STALLED or last
                if not (
                    self._curved() and not stays and self._advance(system, solution.step, active, _length)
                ):
                    failure = Unreachable(system, blocked)
                    failure.nearest, failure.state = self._found(system, solution), frame.state()
                    raise failure
            elif size <= SETTLED or (size <= ACCEPTED and last) or not self._curved():
                frame.move(solution.step)
                return self._found(system, solution)
            elif last:
                failure = Unreachable(system, system.top & (np.abs(system.b) > MISSED))
                failure.nearest, failure.state = self._found(system, solution), frame.state()
                raise failure
            else:
                self._advance(system, solution.step, active, partial(_least, system.A[system.top]))
        raise AssertionError

    def _found(self, system: System, solution: Solution) -> Completion:
        point = self.frame.linearise()
        over = point.z_x * self.frame.scale
        return Completion(point.z, point.slopes, system, solution, over, self.involved, self.beside)

    def _length_of(self, step: np.ndarray) -> float:
        """Largest part of a scaled step relative to where it begins."""
        x = np.abs(self.frame.x) / self.frame.scale
        return float(np.max(np.abs(step) / (1.0 + x), initial=0.0))

    def _curved(self) -> bool:
        """Whether a step need not lead to the solution."""
        conditions = self.conditions
        return (
            self.frame.constrained or bool(conditions.observed) or conditions.has_curved or self.frame.solved
        )

    def _advance(
        self, system: System, step: np.ndarray, active: np.ndarray, size: Callable[[np.ndarray], float]
    ) -> bool:
        """Take a step, shortened until the ``size`` of the defects of what must hold decreases; whether it does."""
        frame, begin = self.frame, self.frame.state()
        length = min(1.0, LONGEST / max(self._length_of(step), LONGEST)) if frame.constrained else 1.0
        top = system.top
        before = size(system.b[top])
        while True:
            failure: NewtonFailure | None = None
            try:
                frame.move(length * step)
                if not before > MISSED or not self._curved():
                    return True
                after = self._defects(frame.linearise(), active) / system.divisor
                if size(after[top]) <= (1.0 - 0.25 * length) * before:
                    return True
            except NewtonFailure as caught:
                failure = caught
            length *= 0.5
            if length < SHORTEST:
                if failure is not None:
                    raise failure
                return False
            frame.restore(begin)

    # -- rows ----------------------------------------------------------------------------------------------------

    def _system(self, point: Linearised, active: np.ndarray, demanded: Rank) -> System:
        """Hard rows and active conditions at a point, scaled; ranks up to ``demanded`` are one."""
        value, rows, size, flat = self._values(point)
        rows, which = rows * self.frame.scale, np.flatnonzero(active)
        largest = np.abs(rows).max(axis=1, initial=0.0)
        # Values are given with a relative precision: rows count by their largest term, be it known or not.
        terms = self._terms(value, rows)
        divisor = np.where(flat, np.where(size > 0.0, size, 1.0), np.maximum(largest, terms))[which]
        hard = point.hard * self.frame.scale
        hard_size = np.abs(hard).max(axis=1, initial=0.0)
        hard_size[hard_size == 0.0] = 1.0
        A = np.vstack([hard / hard_size[:, None], rows[which] / divisor[:, None]])
        divisor = np.concatenate([hard_size, divisor])
        b = -np.concatenate([point.defect, value[which]]) / divisor
        none = np.full(len(hard), -1)
        own = self.conditions.rank[which].copy()
        # Of wishes of one rank those for positions come first: no speed moves a position to please another one.
        moving = np.abs(rows[which][:, self.frame.moving]).max(axis=1, initial=0.0) > 0.0
        own[moving & (own >= Rank.GIVEN)] += SPEED
        rank = np.concatenate([np.zeros(len(hard), np.int64), own])
        if demanded > Rank.STEADY:
            rank[rank <= demanded] = Rank.FIXED
        return System(A, b, rank, np.concatenate([none, which]), divisor)

    def _terms(self, value: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Largest terms of the conditions: what the coordinates contribute, the rest, and what is prescribed."""
        x = self.frame.x / self.frame.scale
        known = value - rows @ x - self.constant
        parts = (np.abs(rows * x).max(axis=1, initial=0.0), np.abs(known), np.abs(self.constant))
        return np.maximum.reduce(parts)

    def _defects(self, point: Linearised, active: np.ndarray) -> np.ndarray:
        """What is missing in the rows of a system at another point, not scaled."""
        conditions, xi = self.conditions, self.conditions.xi
        value = self._affine_values(point)
        if conditions.has_curved:
            for k, found, _, _ in conditions.curved(self.run.tangents.arguments(point.z, point.slopes, xi)):
                value[k] = found
        if conditions.observed:
            value[[k for k, _ in conditions.observed]] += conditions.read(point.z, point.slopes, xi)
        return -np.concatenate([point.defect, value[active]])

    def _affine_values(self, point: Linearised) -> np.ndarray:
        return self.Z @ point.z + self.D @ point.slopes + self.X @ self.conditions.xi + self.constant

    def _values(self, point: Linearised) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Values (k,), derivatives by the coordinates (k, nx) and magnitudes (k,) of all conditions, and which do not vary."""
        value, size, xi = self._affine_values(point), self._size.copy(), self.conditions.xi
        rows = np.asarray(self.Z @ point.z_x + self.D @ point.slopes_x)
        if self.conditions.has_curved:
            tangents = self.run.tangents
            arguments = tangents.arguments(point.z, point.slopes, xi)
            for k, found, at, gradient in self.conditions.curved(arguments):
                value[k] = found
                rows[k] = gradient @ (tangents.Z[at] @ point.z_x + tangents.D[at] @ point.slopes_x)
                size[k] = float(np.max(np.abs(gradient) * tangents.scale[at], initial=0.0))
        self._observe(point, value, rows, size, xi)
        cancelled = self._sizes_Z @ np.abs(point.z_x) + self._sizes_D @ np.abs(point.slopes_x)
        rows[np.abs(rows) <= CANCELLED * np.asarray(cancelled)] = 0.0
        return value, rows, size, np.abs(rows).max(axis=1, initial=0.0) == 0.0

    def _observe(
        self, point: Linearised, value: np.ndarray, rows: np.ndarray, size: np.ndarray, xi: np.ndarray
    ) -> None:
        """Variables outside the core, differentiated by difference quotients along each coordinate."""
        observed = self.conditions.observed
        if not observed:
            return
        at, scale = [k for k, _ in observed], self.frame.scale
        read = self.conditions.read
        here = read(point.z, point.slopes, xi)
        value[at] += here
        size[at] = np.maximum(np.abs(here), np.abs(self.constant[at]))
        for j in range(len(scale)):
            h = STEP * scale[j]
            dz, ds = h * point.z_x[:, j], h * point.slopes_x[:, j]
            rows[at, j] = (
                read(point.z + dz, point.slopes + ds, xi) - read(point.z - dz, point.slopes - ds, xi)
            ) / (2.0 * h)
        # Rounding of the quotient is no slope.
        noise = 1e-8 * size[at]
        small = np.abs(rows[at]) * scale <= noise[:, None]
        rows[at] = np.where(small, 0.0, rows[at])


def _length(b: np.ndarray) -> float:
    return float(np.linalg.norm(b))


def _least(A: np.ndarray, b: np.ndarray) -> float:
    """Length of the shortest step that removes the defects ``b``."""
    return float(np.linalg.norm(least_squares(A, b)[0]))
