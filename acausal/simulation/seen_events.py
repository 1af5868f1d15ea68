"""Events with one set of numbers that were seen before, as a kernel follows them, and what it leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..dynamics.closed_form import AffineFlow
from ..dynamics.readout import Readout
from ..kernels import situations as e
from ..kernels.instants import MOST_MICRO_STEPS
from ..kernels.loading import Bound, Packed
from ..kernels.situations import DiscreteRecords, EventLog, EventRoom, EventState
from ..reduction.affine import AffineModel, Mode
from ..results.record import SegmentColumns, StepColumns
from .seen_situations import SeenSituations, SituationKey

KERNEL = "follow_events"
RECORDED = 2048
"""Segments that one call of the kernel records."""
STEPS_EACH = 2
"""Micro-steps for each of them."""
MOST_CLOCKS = 60


class Standpoint(NamedTuple):
    """Where events begin, or end: what changes from one to the next."""

    situation: int
    numbers: tuple[float, float, float, float]
    """Time, the next one that a relation of time asks for, how late the last crossing may be, and the next tick."""
    y: np.ndarray
    z: np.ndarray
    error: np.ndarray | None
    shift: np.ndarray | None
    D: np.ndarray
    R: np.ndarray
    memory: np.ndarray
    ticks: tuple[int, ...]
    signs: list[int] | None


class SeenEvents:
    """Situations that were seen, and the kernel that follows events between them; one run at a time uses it.

    Parameters
    ----------
    model : AffineModel
    operators : sequence of str
        Of the relations of states.
    repeated : set of SituationKey
        Situations that came again in some run, whatever its numbers; those of this one are added.
    """

    def __init__(self, model: AffineModel, operators: Sequence[str], repeated: set[SituationKey]) -> None:
        self._model, self._repeated = model, repeated
        self.situations = SeenSituations(model, operators)
        self.visits: dict[Mode, int] = {}
        """How often each mode was in force: what confirms segments looks closely at fewer and fewer of them."""
        self.searches = 0
        """Modes that were sought in the last events."""
        self.whom: object = None
        """The run that was served last."""
        self._bound: Bound | None = None
        self._discrete: DiscreteRecords | None = None
        self._sizes: tuple[int, ...] = ()
        self._once: set[SituationKey] = set()

    def serve(self, discrete: DiscreteRecords, whom: object) -> None:
        """Follow a run with this discrete part; ``whom`` tells runs apart."""
        self._discrete, self._bound, self.whom = discrete, None, whom

    def begin(self, at: Standpoint, t_end: float, together: float) -> None:
        """Begin where a run is, with events within ``together`` seconds sharing an instant."""
        self._bind(at)
        to = self._now
        t, timed_next, late, next_tick = at.numbers
        to.numbers[:] = t, t_end, timed_next, late, together, next_tick
        to.flags[:] = at.situation, at.error is not None, at.shift is not None, at.signs is not None
        to.y[: len(at.y)], to.z[:], to.D[:], to.R[:], to.memory[:] = at.y, at.z, at.D, at.R, at.memory
        to.ticks[:] = at.ticks
        if at.error is not None:
            to.error[:] = at.error
        if at.shift is not None:
            to.shift[:] = at.shift
        if at.signs is not None:
            to.signs[: len(at.signs)] = at.signs
        self._log.counts[:] = self.searches = 0
        self._log.counts[e.PENDING] = e.UNKNOWN
        for mode, k in self.situations.modes.items():
            self._log.visits[k] = self.visits.get(mode, 0)
        self._before = at.D, at.R

    def follow(self) -> int:
        """Follow events; return what they end with."""
        assert self._bound is not None
        return self._bound.run()

    @property
    def count(self) -> int:
        """Segments and micro-steps that were recorded."""
        return int(self._log.counts[[e.SEGMENTS, e.STEPS]].sum())

    @property
    def pending(self) -> int | None:
        """What causes the instant at the end of a segment that was looked at, None where none follows."""
        cause = int(self._log.counts[e.PENDING])
        return cause if cause >= e.NO_TRIGGER else None

    def _bind(self, at: Standpoint) -> None:
        """Room for the situations as they are now."""
        s = self.situations
        every, sizes = (s.packed_flows, s.packed), (s.most_states, s.most_forms, len(s.modes))
        if self._bound is not None and sizes == self._sizes:
            self._bound.table[: 3 * len(every)] = np.concatenate([many.table for many in every])
            return
        self._sizes, n, q, ny = sizes, self._model.n, len(self._model.S), s.most_states
        lengths = ny, n, n, n + q, len(at.D), len(at.R), len(at.memory)

        def state() -> EventState:
            whole = [np.zeros(k, np.int64) for k in (4, len(at.ticks), s.most_forms)]
            return EventState._make([np.zeros(6), whole[0], *map(np.zeros, lengths), *whole[1:]])

        k, steps = RECORDED, STEPS_EACH * RECORDED + MOST_MICRO_STEPS
        self._now, self._then = state(), state()
        whole = [np.zeros(size, np.int64) for size in (4, k, k, (steps, 6), len(s.modes))]
        self._log = EventLog(
            whole[0], np.zeros(k), np.zeros(k), whole[1], whole[2], np.zeros((k, ny)), np.zeros(steps), whole[3],
            np.zeros((steps, len(at.D))), np.zeros((steps, len(at.R))), whole[4],
        )  # fmt: skip
        sizes_of_room = ny, ny, n + q, n + q, ny, ny, len(at.R), ny, ny, ny, n
        elements = np.zeros(len(self._model.elements), np.int64)
        room = EventRoom._make([*map(np.zeros, sizes_of_room), elements])
        given = self._discrete, self._now, self._then, self._log, room
        self._bound = Bound(KERNEL, *every, *map(Packed, given))

    # -- what they leave -----------------------------------------------------------------------------------------------

    def recorded(self, q: np.ndarray, readout: Readout) -> tuple[SegmentColumns, StepColumns]:
        """Segments and micro-steps of the last events; there is room for others then."""
        log, situations = self._log, self.situations
        segments = int(log.counts[e.SEGMENTS])
        self._last = segments - 1
        stepped, held = recorded_steps(log, self._before, situations.modes_of)
        count = len(situations.flows)
        of, motion = np.unique(log.situation[:segments] * count + log.flow[:segments], return_inverse=True)
        motions = [(situations.tables[k // count].data, situations.flows[k % count]) for k in of.tolist()]
        passed = SegmentColumns(
            log.start[:segments].copy(), log.end[:segments].copy(), motion, held, log.y[:segments].copy(), motions,
            stepped.D, stepped.R, q, readout,
        )  # fmt: skip
        self.searches += int(log.counts[e.SEARCHES])
        self.visits |= {mode: int(log.visits[k]) for mode, k in situations.modes.items() if log.visits[k]}
        self._before = stepped.D[-1], stepped.R[-1]
        log.counts[: e.PENDING] = 0
        return passed, stepped

    @property
    def last_flow(self) -> AffineFlow:
        """That of the last segment."""
        return self.situations.flows[self._log.flow[self._last]]

    @property
    def reached(self) -> Standpoint:
        """Where the last events have led."""
        return self._standpoint(self._now)

    @property
    def left(self) -> Standpoint:
        """Where the last segment began."""
        return self._standpoint(self._then)

    def _standpoint(self, found: EventState) -> Standpoint:
        flags, (t, _, timed_next, late, _, next_tick) = found.flags, found.numbers.tolist()
        tables = self.situations.tables[flags[e.SITUATION]]
        return Standpoint(
            int(flags[e.SITUATION]), (t, timed_next, late, next_tick), found.y[: len(tables.data.Ay)].copy(), found.z.copy(),
            found.error.copy() if flags[e.KNOWN] else None, found.shift.copy() if flags[e.SHIFTED] else None,
            *self._before, found.memory.copy(), tuple(found.ticks.tolist()),
            found.signs[: len(tables.forms)].tolist() if flags[e.SIGNED] else None,
        )  # fmt: skip

    def comes_again(self, key: SituationKey) -> bool:
        """Whether a situation has been there before, or came again in another run."""
        if key in self._repeated:
            return True
        again = key in self._once
        (self._repeated if again else self._once).add(key)
        return again

    def key(self, situation: int) -> SituationKey:
        """What a situation is."""
        return self.situations.keys[situation]


def recorded_steps(
    log: EventLog, before: tuple[np.ndarray, np.ndarray], modes: list[Mode]
) -> tuple[StepColumns, np.ndarray]:
    """Micro-steps of a log, and for each of its segments the row of discretes and relations in it.

    Those before it all are the first row; ``modes`` are those of the situations.
    """
    segments, steps = int(log.counts[e.SEGMENTS]), int(log.counts[e.STEPS])
    step = log.step[:steps].T.copy()
    held, (D, R) = _kept_once([log.D[:steps], log.R[:steps]], before)
    # The discretes of a segment are those of the last micro-step before it.
    place = np.searchsorted(step[e.SEGMENTS_BEFORE], np.arange(segments), side="right")
    stepped = StepColumns(
        log.time[:steps].copy(), step[e.NUMBER], step[e.OF_CAUSE], step[e.OF_TICKS], step[e.OLD], step[e.FOLLOWING],
        held[1:], modes, D, R,
    )  # fmt: skip
    return stepped, held[place]


def _kept_once(rows: list[np.ndarray], before: tuple[np.ndarray, ...]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Numbers of the row before and of those after it, and what these are, those that are the same one after the other once."""
    every = [np.concatenate([first[None], after]) for first, after in zip(before, rows, strict=True)]
    other = np.any([(part[1:] != part[:-1]).any(axis=1) for part in every], axis=0)
    new = np.append(True, other)
    return np.cumsum(new) - 1, [part[new] for part in every]
