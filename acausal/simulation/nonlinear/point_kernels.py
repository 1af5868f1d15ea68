"""Kernels that find points of a mode, one alone or those at the stages of a step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...compilation.programs import with_own_numbers
from ...dynamics.closed_form import Trajectory
from ...dynamics.stages import new_stages, new_system
from ...kernels.loading import Bound, Packed
from ...kernels.newton import COLUMNS, DAMPED, ITERATIONS, PASSES, PointChanges, PointEquations, PointRoom
from ...kernels.programs import Arithmetic
from ...kernels.stages import ALONG, GIVEN, NEXT, PointsAlong, StagePoints, Stages
from ...values import frozen
from .places import Anchor, Place


@frozen
class PointSize:
    """Numbers of coordinates, open unknowns, and sources of a mode."""

    nx: int
    m: int
    q: int


@frozen
class Guesses:
    """Where guesses of points begin: at the last one, at the accepted one, and along changes from there."""

    last: Place
    accepted: Place
    anchor: Anchor | None


class PointKernels:
    """Solves all rows of a mode for as many of its coordinates and open unknowns.

    Parameters
    ----------
    programs : sequence of Arithmetic
        Rows and their rounding as in `PointEquations`, and rows as in `PointChanges`; their numbers are copied.
    size : PointSize
    dependent : (k,) array
        Coordinates that are solved for.
    scale : (k + m,) array
        Magnitudes of what is.
    rates : (nx, nx + m + q) array
        ``dX/dt`` over coordinates, open unknowns and sources.
    """

    def __init__(
        self, programs: Sequence[Arithmetic], size: PointSize, dependent: np.ndarray, scale: np.ndarray, rates: np.ndarray
    ) -> None:  # fmt: skip
        self.size, self.dependent = size, dependent
        solved = np.concatenate([dependent, size.nx + np.arange(size.m)]).astype(np.int64)
        n, ny = len(solved), size.nx + size.m
        rows, rounding, timed = map(with_own_numbers, programs)
        equations = PointEquations(rows, rounding, solved, np.ascontiguousarray(rates))
        vectors, counts = [np.zeros(n) for _ in range(8)], np.zeros(2, np.int64)
        system = new_system(n)._replace(scale=scale.astype(float))
        self._room = PointRoom._make([system, *vectors, np.zeros((n, n)), counts, np.zeros(size.nx)])
        self._y, self._xi, self._constants = np.split(rows.inputs, [ny, ny + size.q])
        self._packed = Packed(equations), Packed(self._room)
        self._one = Bound("find_point", *self._packed)
        self._stages: dict[int, StageRoom] = {}
        self.rows: dict[tuple[int, int], Any] = {}
        """Rooms for rows of steps, by whether their method is implicit, and the number of forms."""
        self.states = states = np.setdiff1d(np.arange(size.nx), dependent).astype(np.int64)
        shapes = (len(states), len(states) + 1), (ny, len(states) + 1)
        self._changes = PointChanges(timed, solved, states, np.zeros(2, np.int64), *map(np.zeros, shapes))
        self._packed_changes = Packed(self._changes)
        self.records = equations, self._room, self._changes
        """What finds points and how they move, as kernels read it."""
        self._carry = Bound("find_changes", self._packed_changes, self._packed[1])
        self._along: dict[int, tuple[PointsAlong, Bound]] = {}
        self._point = np.split(timed.inputs, [ny, ny + size.q])

    def __call__(
        self, X: np.ndarray, H: np.ndarray, xi: np.ndarray, constants: np.ndarray, iterated: Callable[[int], None],
        damped: bool,
    ) -> tuple[np.ndarray, np.ndarray] | None:  # fmt: skip
        """Coordinates with open unknowns next to a guess, and the rates there; None where they are not found."""
        nx = self.size.nx
        self._y[:nx], self._y[nx:], self._xi[:] = X, H, xi
        self.begin(constants, damped)
        found = self._one.run()
        iterated(self.iterations)
        return (self._y.copy(), self._room.rates.copy()) if found else None

    def moved(
        self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray, changes: np.ndarray, passes: bool
    ) -> np.ndarray | None:
        """Changes (ny, k) at a point with those of the states (n, k), in order; None where they do not exist.

        With ``passes`` time passes too in the last one.
        """
        c, k = self._changes, changes.shape[1]
        if k > c.changes.shape[1]:
            return None
        self._point[0][:], self._point[1][:], self._point[2][:] = y, xi, constants
        c.changes[:, :k] = changes
        c.counts[COLUMNS], c.counts[PASSES] = k, passes
        return c.found[:, :k].copy() if self._carry.run() else None

    def along(
        self, guesses: np.ndarray, states: np.ndarray, slopes: np.ndarray, sources: np.ndarray, sought: np.ndarray,
        constants: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray] | None:  # fmt: skip
        """Points (k, ny) on which states move with these slopes (k, n), and how they do, (k, ny); None where one is not found.

        Those in the mask ``sought`` are sought from guesses, others are known.
        """
        count = len(guesses)
        if count not in self._along:
            n, ny, q = len(self.states), len(self._y), len(self._xi)
            shapes = (count, n), (count, n), (count, q), (count, ny), (count, ny)
            room = PointsAlong(np.zeros(count, np.int64), *map(np.zeros, shapes))
            packed = *self._packed, self._packed_changes, Packed(room)
            self._along[count] = room, Bound("follow_points", *packed)
        p, kernel = self._along[count]
        p.sought[:], p.points[:], p.sources[:] = sought, guesses, sources
        p.states[:], p.slopes[:] = states, slopes
        self._point[2][:] = constants
        self.begin(constants, False)
        return (p.points.copy(), p.moved.copy()) if kernel.run() == count else None

    def begin(self, constants: np.ndarray, damped: bool) -> None:
        """Take the constants of the rows, and begin to count iterations, which may be damped or not."""
        self._constants[:], self._point[2][:] = constants, constants
        self._room.counts[ITERATIONS], self._room.counts[DAMPED] = 0, damped

    @property
    def iterations(self) -> int:
        """Iterations counted."""
        return int(self._room.counts[ITERATIONS])

    def forget(self) -> None:
        """Begin to count iterations anew."""
        self._room.counts[ITERATIONS] = 0

    def stage_points(self, count: int) -> StagePoints:
        """Room for the points of so many stages."""
        size, n = self.size, len(self.states)
        ny, dependent = size.nx + size.m, self.dependent.astype(np.int64)
        shapes = [
            count,
            (count, size.q),
            (count, ny),
            (count, size.nx),
            2,
            (2, ny),
            (2, size.nx),
            (size.m, n + 1),
        ]
        return StagePoints._make([np.zeros(1, np.int64), self.states, dependent, *map(np.zeros, shapes)])

    def stages(self, count: int) -> StageRoom:
        """Room for the stages of steps of the coordinates that are not solved for."""
        if count not in self._stages:
            self._stages[count] = StageRoom(self, count, self._packed)
        return self._stages[count]


class StageRoom:
    """Stages of steps with the points there, made by a kernel."""

    def __init__(self, kernels: PointKernels, count: int, packed: tuple[Packed, Packed]) -> None:
        n = len(kernels.states)
        self._kernels, self.stages = kernels, new_stages(count, n, new_system(n))
        self.points = kernels.stage_points(count)
        self._kernel = Bound("follow_stages", *packed, Packed(self.stages), Packed(self.points))

    @property
    def dependent(self) -> np.ndarray:
        """Coordinates that are solved for."""
        return self._kernels.dependent

    @property
    def iterations(self) -> int:
        """Iterations that the last stages took."""
        return self._kernels.iterations

    def follow(
        self, times: np.ndarray, sources: Trajectory, begin: Guesses, constants: np.ndarray, damped: bool
    ) -> tuple[int, list[Place]]:
        """Find points at the stages of a step from the next one on; how many were found, and the last two of them."""
        p, counts, anchor = self.points, self.stages.counts, begin.anchor
        first = int(counts[NEXT] + counts[GIVEN])
        p.times[:] = times
        p.sources[first:] = sources.sample(times[first:])
        for k, place in enumerate((begin.last, begin.accepted)):
            p.near[k], p.near_points[k], p.near_rates[k] = place.h, place.y, place.X_t
        p.flags[ALONG] = anchor is not None
        if anchor is not None:
            p.tangent[:] = anchor.slope
        self._kernels.begin(constants, damped)
        found = self._kernel.run()
        nx = self._kernels.size.nx
        last = [
            Place(float(times[k]), p.points[k].copy(), nx, p.sources[k].copy(), p.rates[k].copy())
            for k in range(max(first, first + found - 2), first + found)
        ]
        return found, last


@frozen
class StagesOfMotion:
    """Makes the stages of steps of a motion: a `StageKernel`."""

    room: StageRoom
    make: Callable[[StageRoom, np.ndarray], int]

    @property
    def stages(self) -> Stages:
        """What the steppers work on."""
        return self.room.stages

    def follow(self, times: np.ndarray) -> int:
        """Find points from the next stage on; return how many were found."""
        return self.make(self.room, times)
