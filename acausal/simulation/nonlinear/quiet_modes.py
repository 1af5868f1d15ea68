"""Modes of an integrated run between whose scheduled instants nothing is near zero, and the kernel that follows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...dynamics.dormand_prince import DormandPrince
from ...dynamics.point_frame import PointFrame
from ...dynamics.rosenbrock import Rosenbrock
from ...kernels import quiet_instants as q
from ...kernels import situations as e
from ...kernels import step_records as k
from ...kernels.instants import MOST_MICRO_STEPS
from ...kernels.loading import Bound, Packed, PackedMany
from ...kernels.quiet_instants import QuietMode, QuietPlaces
from ...kernels.situations import DiscreteRecords, EventLog, EventRoom, EventState
from ...reduction.affine import Mode
from ...results.record import StepColumns
from ...values import frozen
from ..seen_events import recorded_steps
from ..seen_situations import SituationKey
from .logged_steps import LoggedMode, LoggedMotion, LoggedSegment
from .motion import Motion
from .quiet_steps import QuietSteps

KERNEL = "follow_quiet_instants"
RECORDED = 256
"""Segments that one call of the kernel records."""
STEPS_EACH = 2
"""Micro-steps for each of them."""


@frozen
class ModeToFollow:
    """One mode as a kernel follows it."""

    key: SituationKey
    motion: Motion
    """With the states and constants of all its steps."""
    steps: QuietSteps
    logged: LoggedMode
    frame: PointFrame
    record: QuietMode


class KnownOfMode(NamedTuple):
    """What a run knows of a mode beside its motion, and learns in a row."""

    first: float
    """Size of the step with which a segment begins, zero where that is not known."""
    longest: float
    """Longest of its segments that were looked at."""
    visited: int
    """Segments in it."""
    stiff: bool
    """Whether the implicit method makes its steps."""
    near: int
    quiet: int
    implicit: int
    """Counts of `Stiffness`."""


class QuietPoint(NamedTuple):
    """A point between two instants."""

    mode: int
    t: float
    timed_next: float
    next_tick: float
    frame: np.ndarray
    """Core unknowns, their time derivatives, and sources."""
    D: np.ndarray
    R: np.ndarray
    memory: np.ndarray
    ticks: tuple[int, ...]


class PassedSegment(NamedTuple):
    """A segment that was followed."""

    start: float
    end: float
    mode: int
    course: LoggedMotion
    held: int
    """Row of the discretes and relations in it."""


def source_products(motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Sources, functions, and sources at the begin (terms, 3) of the products that make up the sources, and their factors."""
    flow = motion.sources.flow
    right = flow.right.tocsr()
    count = np.diff(right.indptr)
    entries = np.column_stack(
        [np.repeat(flow.left.indices, count), np.repeat(flow.function, count), right.indices]
    )
    return np.ascontiguousarray(entries, np.int64), right.data.astype(float)


def over_points(motion: Motion) -> np.ndarray:
    """Core unknowns and their derivatives (2 n, 2 ny + q) over coordinates and open unknowns, their derivatives, and sources."""
    system = motion.system
    v0, v1 = system.v0, system.v1
    values, slopes, sources = (_dense(part) for part in (v0.y, v1.y, v1.xi))
    nv, ny = values.shape
    turned = np.zeros((nv, ny))
    at = len(system.mode.states) + system.algebraic
    slopes[at], sources[at] = 0.0, 0.0
    turned[at, system.nx + system.algebraic] = 1.0
    z_of = _dense(system.z_of)
    own = np.hstack([z_of @ values, np.zeros((len(z_of), ny)), z_of @ _dense(v0.xi)])
    return np.vstack([own, np.hstack([z_of @ slopes, z_of @ turned, z_of @ sources])])


def begins_of(motion: Motion, n: int) -> np.ndarray:
    """Place in the frame of each coordinate and open unknown, -1 where that is zero; see `Linearisation.made`."""
    opened, p = motion.system.mode, motion.system.orders.unknowns
    h = np.where(opened.slopes, n + opened.open, opened.open)
    h1 = np.where(opened.slopes, -1, n + opened.open)
    H = np.where(p == 0, h, np.where(p == 1, h1, -1))
    return np.concatenate([opened.states, h[p >= 1], h1[p >= 2], H]).astype(np.int64)


def _dense(matrix: np.ndarray) -> np.ndarray:
    return np.array(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), float)


class QuietModes:
    """Such modes of one run, with one set of numbers.

    Parameters
    ----------
    places : QuietPlaces
    discrete : DiscreteRecords
    sources : int
        Number of sources in the frame.
    """

    def __init__(self, places: QuietPlaces, discrete: DiscreteRecords, sources: int) -> None:
        self._places, self._discrete, self._sources = places, discrete, sources
        self.modes: list[ModeToFollow] = []
        self.place: dict[SituationKey, int] = {}
        self._steps, self._packed = PackedMany(k.StepRecords), PackedMany(QuietMode)
        self._bound: Bound | None = None

    def add(self, made: ModeToFollow) -> int:
        """Number of a mode, which takes the place of one in the same situation."""
        number, record = self.place.get(made.key), Packed(made.record)
        steps = [Packed(made.steps.by(kind.method)) for kind in (DormandPrince, Rosenbrock)]
        if number is None:
            number = self.place[made.key] = len(self.modes)
            self.modes.append(made)
            self._packed.add(record)
            for each in steps:
                self._steps.add(each)
        else:
            self.modes[number] = made
            self._packed.put(number, record)
            for i, each in enumerate(steps):
                self._steps.put(2 * number + i, each)
        self._bound = None
        return number

    def begin(
        self, at: QuietPoint, t_end: float, together: float, size: np.ndarray, constants: np.ndarray,
        known: Callable[[Mode], KnownOfMode], chooses: bool,
    ) -> None:  # fmt: skip
        """Begin at a point, with the largest magnitudes ``size`` (n,) so far, and the constants of the nonlinear rows there.

        Events ``together`` seconds apart share an instant. What is known of modes may choose the method.
        """
        self._bind(at)
        to = self._now
        to.numbers[:] = at.t, t_end, at.timed_next, 0.0, together, at.next_tick
        to.flags[:] = at.mode, 0, 0, 0
        to.y[:], to.D[:], to.R[:], to.memory[:], to.ticks[:] = at.frame, at.D, at.R, at.memory, at.ticks
        self._room.magnitude[:] = size
        self._log.counts[:] = 0
        self._before = at.D, at.R
        self._constants = constants
        for mode in self.modes:
            told, record = known(mode.key.mode), mode.record
            record.numbers[[q.FIRST, q.LONGEST_SEGMENT]] = told.first, told.longest
            record.counts[:] = told[2:]
            mode.steps.begin(mode.motion, constants, chooses)

    def follow(self) -> int:
        """Follow segments and instants; return what they end with."""
        assert self._bound is not None
        return self._bound.run()

    def _bind(self, at: QuietPoint) -> None:
        """Room for the modes as they are now."""
        if self._bound is not None:
            return
        n2, forms = len(at.frame) - self._sources, max(len(mode.record.forms) for mode in self.modes)
        sizes = [mode.steps.places.points.shape[1] for mode in self.modes]
        most = 2 * max(sizes) + self._sources

        def state() -> EventState:
            flags, ticks, signs = (np.zeros(size, np.int64) for size in (4, len(at.ticks), forms))
            lengths = len(at.frame), 0, 0, 0, len(at.D), len(at.R), len(at.memory)
            return EventState._make([np.zeros(6), flags, *map(np.zeros, lengths), ticks, signs])

        count, steps = RECORDED, STEPS_EACH * RECORDED + MOST_MICRO_STEPS
        self._now, self._then = state(), state()
        whole = [np.zeros(size, np.int64) for size in (4, count, count, (steps, 6), len(self.modes))]
        self._log = EventLog(
            whole[0], np.zeros(count), np.zeros(count), whole[1], whole[2], np.zeros((count, max(sizes))), np.zeros(steps),
            whole[3], np.zeros((steps, len(at.D))), np.zeros((steps, len(at.R))), whole[4],
        )  # fmt: skip
        n = n2 // 2
        results = len(self._discrete.update.outputs)
        rooms = map(np.zeros, (forms, 0, most, 0, results, n, len(at.R), 0, 0, len(at.frame), n))
        elements = np.zeros(len(self.modes[0].key.mode), np.int64)
        self._room = EventRoom._make([*rooms, elements])
        given = self._places, self._discrete, self._now, self._then, self._log, self._room
        self._bound = Bound(KERNEL, self._steps, self._packed, *map(Packed, given))

    # -- what they leave -------------------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """Segments that were followed."""
        return int(self._log.counts[e.SEGMENTS])

    def passed(self) -> tuple[list[PassedSegment], StepColumns]:
        """Segments and micro-steps; there is room for others then."""
        log, segments = self._log, self.count
        steps, held = recorded_steps(log, self._before, [mode.key.mode for mode in self.modes])
        self._before = steps.D[-1], steps.R[-1]
        logs = [
            k.StepLog._make(
                [part[: mode.steps.state.counts[k.MADE]].copy() for part in mode.steps.records.log]
            )
            for mode in self.modes
        ]
        behind, found = [len(each.times) for each in logs], list[PassedSegment]()
        for i in range(segments - 1, -1, -1):
            number, first = int(log.situation[i]), int(log.flow[i])
            mode, start = self.modes[number], float(log.start[i])
            size, constants = log.y[i, : mode.logged.system.nx].copy(), self._constants_with(steps.D[held[i]])
            rows = LoggedSegment(logs[number], first, behind[number] - 1, start, size, constants)
            behind[number] = first
            motion = LoggedMotion(mode.logged, rows)
            found.append(PassedSegment(start, float(log.end[i]), number, motion, int(held[i])))
        return found[::-1], steps

    def _constants_with(self, D: np.ndarray) -> np.ndarray:
        """Constants of the nonlinear rows with these discretes."""
        which = self._places.constants
        return np.where(which >= 0, np.append(D, 0.0)[which], self._constants)

    @property
    def instants(self) -> int:
        """Micro-steps that have led to a point."""
        return int(self._log.counts[e.SEARCHES])

    def learnt(self) -> dict[Mode, KnownOfMode]:
        """What is known by now of the modes that were followed."""
        found = {}
        for number in np.unique(self._log.situation[: self.count]).tolist():
            numbers, counts = self.modes[number].record.numbers, self.modes[number].record.counts.tolist()
            first, longest = numbers[[q.FIRST, q.LONGEST_SEGMENT]].tolist()
            found[self.modes[number].key.mode] = KnownOfMode(
                first, longest, counts[0], bool(counts[1]), *counts[2:]
            )
        return found

    def counted(self, mode: Mode) -> tuple[np.ndarray, np.ndarray]:
        """Numbers and counts of a mode, which all its situations share."""
        for made in self.modes:
            if made.key.mode == mode:
                return made.record.numbers, made.record.counts
        return np.zeros(3), np.zeros(q.MODE_COUNTS, np.int64)

    @property
    def reached(self) -> QuietPoint:
        """Where the last instant has led."""
        now = self._now
        t, _, timed_next, _, _, next_tick = now.numbers.tolist()
        return QuietPoint(
            int(now.flags[e.SITUATION]), t, timed_next, next_tick, now.y.copy(), *self._before, now.memory.copy(),
            tuple(now.ticks.tolist()),
        )  # fmt: skip

    @property
    def size(self) -> np.ndarray:
        """Largest magnitudes (n,) of the core unknowns."""
        return self._room.magnitude.copy()
