"""Modes that a run has been in, as kernels read them: the motion, what ends it, and what has to hold where they are entered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..dynamics.closed_form import AffineFlow
from ..dynamics.scan import CrossingSearch, FlowWatch
from ..kernels.loading import Packed, PackedMany
from ..kernels.motion import FlowOfMode, FlowRecords
from ..kernels.situations import (
    NOTHING,
    TELLS,
    EntryConditions,
    HeldRows,
    Situation,
    SituationRecords,
    VariableLevels,
)
from ..reduction.affine import CONTRADICTING, AffineModel, Mode, ModeData
from .instants.transition import ModeTables
from .self_check import Held
from .watch import can_trigger, orientations


class Way(NamedTuple):
    """Where a cause leads from a situation."""

    cause: int
    ticks: int
    to: int
    """Number of a situation."""
    searched: bool
    """Whether a mode is sought."""
    rivalled: bool = False
    """Whether the one before may go on."""


class SituationKey(NamedTuple):
    """A mode with what controls and relations say."""

    mode: tuple[int, ...]
    forced: tuple[int, ...]
    disabled: frozenset[tuple[int, int, int]]
    relations: tuple[float, ...]


class SaidInSituation(NamedTuple):
    """What the discrete part reads and says in a situation, which frictions slide, and the discretes that show its branches."""

    reads: np.ndarray
    levels: VariableLevels
    sliding: np.ndarray
    flags: np.ndarray
    shown: np.ndarray
    shows: np.ndarray


def bytes_of(record: Any) -> int:
    """Bytes of the arrays of a record, and of those in it."""
    return sum(part.nbytes if isinstance(part, np.ndarray) else bytes_of(part) for part in record)


def motion_of(flow: AffineFlow, data: ModeData) -> FlowOfMode:
    """What a mode makes of its flow."""
    numbers = np.array([flow.shortest, float(flow.basis.power.any())])
    parts = abs(flow.left) @ abs(flow.right), data.Ay, data.T, abs(data.T)
    room = map(np.zeros, ((flow.ny, flow.basis.size), flow.basis.size, flow.ny))
    states = data.states.astype(np.int64)
    return FlowOfMode._make([numbers, *map(np.ascontiguousarray, parts), states, *room])


def entry_of(model: AffineModel, data: ModeData, judged: np.ndarray) -> EntryConditions:
    """What has to hold where a mode is entered."""
    count = len(data.constraints)
    if count:
        # How states follow from defects takes long to find, and few modes need it: until one did, it is left to the loop.
        jump = data.jump if data.moves_known else np.zeros((len(data.states), 0))
        rows = data.constraints, data.constraint_terms, data.constraint_sizes, jump
    else:
        none = np.zeros((0, model.n + len(model.S)))
        rows = none, none, none, np.zeros((len(data.states), 0))
    limit = np.zeros(0)
    if len(data.admissible):
        limit = CONTRADICTING * np.max(np.abs(data.admissible) * model.xi_scale, axis=1)
    admissible = data.admissible.reshape(-1, len(model.S))
    given = map(np.ascontiguousarray, (*rows, admissible))
    return EntryConditions._make([*given, limit, judged.astype(np.int64), np.zeros(count), np.zeros(count)])


class SeenSituations:
    """The situations of one set of numbers, by the order in which they were seen.

    Attributes
    ----------
    place : dict
        Their numbers.
    keys, modes_of, tables : list
        Their keys, their modes, and the tables of these.
    flows : list
        Flows of all of them, each for one situation and some lengths of segments.
    modes : dict
        Numbers of the modes.
    packed_flows, packed : PackedMany
        What kernels read of flows and situations.
    most_states, most_forms, bytes : int
        Length of the longest state vector, most guards and relations, and what flows and entries take.
    """

    def __init__(self, model: AffineModel, operators: Sequence[str]) -> None:
        self._model, self._operators = model, operators
        self.place: dict[SituationKey, int] = {}
        self.keys: list[SituationKey] = []
        self.modes_of: list[Mode] = []
        self.tables: list[ModeTables] = []
        self.flows: list[AffineFlow] = []
        self.modes: dict[tuple[int, ...], int] = {}
        self._said: list[SaidInSituation] = []
        self._usual: list[int] = []
        self._short: list[dict[float, int]] = []
        self._ways: list[dict[Way, None]] = []
        self._in_mode: dict[Mode, list[int]] = {}
        self.most_states = self.most_forms = self.bytes = 0
        self.packed_flows, self.packed = PackedMany(FlowRecords), PackedMany(SituationRecords)

    def add(self, key: SituationKey, tables: ModeTables, held: Held | None, said: SaidInSituation) -> int:
        """Number of a situation, which is packed where it is new."""
        if key in self.place:
            return self.place[key]
        number = self.place[key] = len(self.keys)
        self.keys.append(key)
        self.modes_of.append(key.mode)
        self.tables.append(tables)
        self._said.append(said)
        self._ways.append({})
        self._short.append({})
        self.modes.setdefault(key.mode, len(self.modes))
        self._in_mode.setdefault(key.mode, []).append(number)
        self._usual.append(self._add_flow(number, tables.flow))
        told = np.where(tables.data.Gy.any(axis=1), TELLS, NOTHING)
        judged = can_trigger(tables.data, key.forced, key.disabled, tables.count) * told
        none = np.zeros((0, len(tables.data.Ay)))
        rows, parts = (none, none) if held is None else (held.rows, held.parts)
        record = SituationRecords(
            entry_of(self._model, tables.data, judged), tables.guards.for_kernels, tables.signs.for_kernels, said.levels,
            HeldRows(np.ascontiguousarray(rows), np.ascontiguousarray(parts)), self._situation(number),
        )  # fmt: skip
        self.bytes += bytes_of(record)
        self.packed.add(Packed(record))
        self.most_states = max(self.most_states, len(tables.data.Ay))
        self.most_forms = max(self.most_forms, len(tables.forms))
        return number

    def _add_flow(self, number: int, flow: AffineFlow) -> int:
        """Number of a flow for a situation."""
        key, tables = self.keys[number], self.tables[number]
        data, forms, basis = tables.data, tables.forms, flow.basis
        which = np.flatnonzero(can_trigger(data, key.forced, key.disabled, len(forms)))
        orientation = orientations(tables.count, self._operators, key.relations)
        watch = FlowWatch(
            flow, tables.signs.coefficients, data, forms, orientation, np.ones(len(forms), bool), which
        )
        noise = watch.noise
        count, ny = watch.forms.shape
        search = CrossingSearch(count, ny, basis.size, len(noise.moves), len(noise.stays))
        search.noise.moves[:], search.noise.stays[:] = noise.moves, noise.stays
        watched, followed = watch.for_kernels(orientation), flow.rooms.make().flow
        guards = search.guards._replace(rows=watched.forms, states=followed.C)
        record = FlowRecords(
            basis.functions, followed, motion_of(flow, data), watched, noise.for_kernels, guards, search.noise, search.work
        )  # fmt: skip
        self.bytes += bytes_of(record)
        self.packed_flows.add(Packed(record))
        self.flows.append(flow)
        return len(self.flows) - 1

    def complete(self, number: int) -> None:
        """Add what was found since of how defects move the states of a mode."""
        record, data = self.packed.record[number], self.tables[number].data
        if len(data.constraints) and not record.entry.jump.shape[1] and data.moves_known:
            entry = record.entry._replace(jump=np.ascontiguousarray(data.jump))
            self.packed.replace(number, "entry", entry)

    def add_flows(self, number: int) -> None:
        """Add flows for short segments that were made since."""
        made, known = self.tables[number].flows, self._short[number]
        if made is None or len(made.short) == len(known):
            return
        for unit, flow in made.short.items():
            if unit not in known and flow.plain:
                known[unit] = self._add_flow(number, flow)
        self._renew(number)

    def _renew(self, number: int) -> None:
        """Pack a situation with the ways and flows that are known now."""
        self.packed.replace(number, "here", self._situation(number))

    def _situation(self, number: int) -> Situation:
        key, said, ways = self.keys[number], self._said[number], list(self._ways[number])
        tables, short = self.tables[number], self._short[number]
        sizes = np.array([self.modes[key.mode], len(ways), tables.count, self._usual[number]])
        table = np.array(ways, np.int64).reshape(-1, 5)
        owners = tables.data.guard_element.astype(np.int64)
        return Situation(
            sizes, np.array(list(short.values()), np.int64), np.array(list(short)), said.reads, np.array(key.mode, np.int64),
            owners, said.sliding, np.array(key.forced, np.int64), said.flags, np.array(key.relations, float), said.shown,
            said.shows, table,
        )  # fmt: skip

    def agree(self, mode: Mode, cause: int, ticks: int, key: SituationKey, known: tuple[Mode, ...]) -> None:
        """Keep of what a cause has led to, where modes are sought, what the run itself tries first, in this order.

        Several modes may suit a point, as where one element lies across another one; so no other one must be tried.
        """
        for number in self._in_mode.get(mode, ()):
            ways, tried = self._ways[number], iter(known)
            for way in list(ways):
                there = self.keys[way.to]
                if (way.cause, way.ticks, way.searched) == (cause, ticks, True) and there[1:] == key[1:]:
                    if there.mode != next(tried, None):
                        del ways[way]
                        tried = iter(())
                        self._renew(number)

    def forget_searches(self, one_mode: Callable[[SituationKey], bool]) -> None:
        """Forget what searches have found: another run has to find its modes by itself where several may suit a point.

        ``one_mode`` says where none but that of a situation may.
        """
        for number, ways in enumerate(self._ways):
            kept = {way: None for way in ways if not way.searched or one_mode(self.keys[way.to])}
            if len(kept) < len(ways):
                self._ways[number] = kept
                self._renew(number)

    def connect(self, number: int, way: Way, before: Sequence[Mode] = ()) -> None:
        """A cause leads from a situation on a way, which is known where those are to the modes that are tried ``before``."""
        ways, key = self._ways[number], self.keys[way.to]
        others = {
            self.keys[w.to].mode for w in ways if w[:2] == way[:2] and w.searched and self.keys[w.to][1:] == key[1:]
        }  # fmt: skip
        if way not in ways and others.issuperset(before):
            ways[way] = None
            self._renew(number)
