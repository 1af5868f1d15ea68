"""Events of a run, built on demand from the log of its micro-steps."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from .names import Names, value_of
from .record import MicroStep, Recorded, Segment, StepColumns

SHOWN = 12
"""Events listed by ``repr``."""
IMPULSES = 4
"""Impulses listed by the ``repr`` of an event."""
SOURCE_JUMP = 1e-9
"""Change of a source, relative to its terms, that counts as a jump."""


@dataclass(frozen=True)
class Event:
    """What happened in one instant.

    Attributes
    ----------
    t : float
        Time in seconds.
    kind : str
        "start", "time" (a tick, a condition on time, a source), "state" (a
        guard or relation of continuous variables), "input" (new inputs of a
        stepped run), "continue" (begin of a continued run) or "terminal".
    triggers : tuple of str
        What caused it: elements, relations, sampled conditions.
    modes : dict
        Mode variable of an element -> names of its branches (before, after), for those that changed; at the
        start without those of ``If``, and of equations with comparisons in a loop, which have no branch before it.
    discretes : dict
        Other discrete variables that changed -> (before, after).
    impulses : tuple of (str, float, str)
        (variable, time integral over the instant, unit).
    jumps : tuple of (str, float, float)
        (differentiated variable, before, after).
    lost : dict
        Element -> energy in J that it absorbed within the instant, as `Audit.lost` has it; "a, b" -> the sum of elements
        that share impulses, of which no split is known.
    micro_steps : int
    """

    t: float
    kind: str
    triggers: tuple[str, ...] = ()
    modes: dict[str, tuple[str, str]] = field(default_factory=dict)
    discretes: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    impulses: tuple[tuple[str, float, str], ...] = ()
    jumps: tuple[tuple[str, float, float], ...] = ()
    lost: dict[str, float] = field(default_factory=dict)
    micro_steps: int = 1

    @property
    def energy_lost(self) -> float:
        """Energy in J absorbed by all elements within the instant."""
        return sum(self.lost.values())

    def __repr__(self) -> str:
        parts = [f"t = {self.t:.9g} s", self.kind]
        if self.triggers and self.triggers != (self.kind,):
            parts.append("by " + ", ".join(self.triggers))
        parts += [f"{path}: {a} -> {b}" for path, (a, b) in (*self.modes.items(), *self.discretes.items())]
        parts += [f"impulse of {name} {amount:.6g} {unit}" for name, amount, unit in self.impulses[:IMPULSES]]
        parts += [f"{name} jumps {a:.6g} -> {b:.6g}" for name, a, b in self.jumps]
        if self.lost:
            parts.append(f"{self.energy_lost:.6g} J lost")
        return f"<Event {'; '.join(parts)}>"


class Events(Sequence[Event]):
    """Events in order of time. Instants without trigger and change (a piece of a source that ends) do not count."""

    def __init__(self, names: Names, record: Recorded) -> None:
        self._names, self._record = names, record
        self._first, self._beyond = self._group()
        self._made: dict[int, Event] = {}

    # -- which instants count ------------------------------------------------------------------------------------

    def _group(self) -> tuple[np.ndarray, np.ndarray]:
        """First steps of the instants that are events, and the steps behind them.

        Instants before the last one are decided once for all results of a run.
        """
        steps, known = self._record.steps, self._record.decided
        open_, open_sure = np.zeros(0, np.int64), np.zeros(0, bool)
        for block, begin, count in steps.blocks(known.steps):
            if isinstance(block, StepColumns):
                first, happened = block.instants()
            else:
                undecided = range(max(0, known.steps - begin), count)
                first = np.array([k for k in undecided if block[k].number == 0], int)
                happened = np.zeros(len(first), bool)
            new = begin + first >= known.steps
            # The last instant of a block may go on in the next one.
            first, sure = np.append(open_, (begin + first)[new]), np.append(open_sure, happened[new])
            if len(first):
                self._decide(first, sure)
                open_, open_sure = first[-1:], sure[-1:]
        count = bisect_right(known.beyond, len(steps))
        found = np.frombuffer(known.first, np.int64)[:count], np.frombuffer(known.beyond, np.int64)[:count]
        begin = min(known.steps, len(steps))
        if begin < len(steps) and self._happened(begin, len(steps)):
            return np.append(found[0], begin), np.append(found[1], len(steps))
        return found[0].copy(), found[1].copy()

    def _decide(self, first: np.ndarray, sure: np.ndarray) -> None:
        """Decide which instants are events, the last one left out: where it is not sure, by what has changed."""
        a, b, sure = first[:-1], first[1:], sure[:-1].copy()
        for k in np.flatnonzero(~sure).tolist():
            sure[k] = self._happened(int(a[k]), int(b[k]))
        self._record.decided.decide(a[sure], b[sure])
        self._record.decided.looked(int(first[-1]))

    def _happened(self, a: int, b: int) -> bool:
        steps = self._record.steps
        first, last = steps[a], steps[b - 1]
        if first.kind not in ("time", "terminal") or first.before != last.after or b - a > 1:
            return True
        if (first.kind == "time" and len(first.triggers) > 1) or any(s.jumps for s in steps[a:b]):
            return True
        D, R = self._before(a)
        return _differ(D, last.D) or _differ(R, last.R) or self._source_jumps(first.t)

    def _before(self, a: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Discretes and relations before the instant whose first step is ``a``."""
        if a:
            return self._record.steps[a - 1].D, self._record.steps[a - 1].R
        return self._record.D, None

    def _source_jumps(self, t: float) -> bool:
        segments = self._record.segments
        k = bisect_right(segments, t, key=_start) - 1
        if k <= 0 or segments[k].start != t:
            return False
        left, right = segments[k - 1], segments[k]
        before = left.trajectory.at(left.end - left.start)[len(left.data.states) :]
        after = right.trajectory.y0[len(right.data.states) :]
        if len(before) != len(after):
            return True
        old, new = left.readout.VK, right.readout.VK
        size = np.maximum(abs(old) @ np.abs(before), abs(new) @ np.abs(after))
        return bool((np.abs(new @ after - old @ before) > SOURCE_JUMP * size).any())

    @property
    def times(self) -> np.ndarray:
        """Times of the events in seconds."""
        every = [
            block.t[own] if isinstance(block, StepColumns) else np.array([block[k].t for k in own.tolist()])
            for block, own in self._blocks()
        ]
        return np.concatenate([np.zeros(0), *every])

    @property
    def kinds(self) -> Iterator[str]:
        """Kinds of the events."""
        for block, own in self._blocks():
            if isinstance(block, StepColumns):
                yield from block.kinds(own)
            else:
                yield from (block[k].kind for k in own.tolist())

    def _blocks(self) -> Iterator[tuple[Sequence[MicroStep], np.ndarray]]:
        """Blocks of steps, and which of each are the first ones of events."""
        for block, begin, count in self._record.steps.blocks():
            first, beyond = np.searchsorted(self._first, [begin, begin + count])
            yield block, self._first[first:beyond] - begin

    @property
    def after_start(self) -> list[float]:
        """Times of the events that are not the start."""
        return [t for t, kind in zip(self.times.tolist(), self.kinds, strict=True) if kind != "start"]

    @property
    def moved_at_start(self) -> bool:
        """True if a differentiated variable jumped in the first instant."""
        steps = self._record.steps[: int(self._beyond[0])] if len(self._first) else []
        return any(s.kind == "start" and s.jumps for s in steps)

    # -- making them ---------------------------------------------------------------------------------------------

    def _event(self, k: int) -> Event:
        if k not in self._made:
            self._made[k] = self._make(int(self._first[k]), int(self._beyond[k]))
        return self._made[k]

    def _make(self, a: int, b: int) -> Event:
        steps = self._record.steps[a:b]
        first, last = steps[0], steps[-1]
        # The branch of a choice before the start means nothing, unlike that of an element at rest.
        without = self._names.choices if first.kind == "start" else frozenset()
        modes = {
            path: (branches[x], branches[y])
            for (path, branches), x, y in zip(self._names.elements, first.before, last.after, strict=True)
            if branches[x] != branches[y] and path not in without
        }
        lost: dict[str, float] = {}
        for path, energy in (entry for s in steps for entry in s.lost):
            lost[path] = lost.get(path, 0.0) + energy
        D, R = self._before(a)
        return Event(
            first.t, first.kind, self._triggers(first, (D, R), (last.D, last.R)), modes, self._changes(D, last.D),
            tuple((name, amount, f"{unit}.s" if unit else "s") for s in steps for name, unit, amount in s.impulses),
            tuple(jump for s in steps for jump in s.jumps), lost, len(steps),
        )  # fmt: skip

    def _changes(self, before: np.ndarray | None, after: np.ndarray | None) -> dict[str, tuple[Any, Any]]:
        if before is None or after is None or len(before) != len(after):
            return {}
        found = {}
        for d in np.flatnonzero(before != after).tolist():
            if d not in self._names.mode_variables and d not in self._names.held:
                _, f = self._names.flat.find("d", self._names.discretes[d])
                found[self._names.discretes[d]] = (value_of(f, before[d]), value_of(f, after[d]))
        return found

    def _triggers(self, step: MicroStep, before: tuple[Any, Any], after: tuple[Any, Any]) -> tuple[str, ...]:
        if step.kind not in ("time", "state"):
            return tuple(str(x) for x in step.triggers) or (step.kind,)
        hit, ticks = step.triggers[0], step.triggers[1:]
        found = [] if hit < 0 else [self._form(step, hit)]
        found += [self._names.sample(k) for k in ticks]
        (D, R), (D_after, R_after) = before, after
        if D is not None and D_after is not None:
            found += [self._names.relation(n) for n in self._names.timed_relations if R[n] != R_after[n]]
            if not found:
                found = [of for d, of in self._names.held.items() if D[d] != D_after[d]]
        return tuple(dict.fromkeys(found)) or ("source",)

    def _form(self, step: MicroStep, hit: int) -> str:
        """The guard or relation that crossed zero, by its number among those of the mode that was left."""
        segments = self._record.segments
        data = segments[max(0, bisect_left(segments, step.t, key=_start) - 1)].data
        guards = len(data.guard_element)
        if hit < guards:
            return self._names.elements[int(data.guard_element[hit])][0]
        number = self._names.state_relations[hit - guards]
        return self._names.deciding.get(number) or self._names.relation(number)

    # -- sequence ------------------------------------------------------------------------------------------------

    @overload
    def __getitem__(self, k: int) -> Event: ...
    @overload
    def __getitem__(self, k: slice) -> list[Event]: ...
    def __getitem__(self, k: int | slice) -> Event | list[Event]:
        if isinstance(k, slice):
            return [self._event(i) for i in range(*k.indices(len(self)))]
        if not -len(self) <= k < len(self):
            raise IndexError(f"there are {len(self)} events")
        return self._event(k % len(self))

    def __len__(self) -> int:
        return len(self._first)

    def __iter__(self) -> Iterator[Event]:
        return (self._event(k) for k in range(len(self)))

    def __repr__(self) -> str:
        return show(self)


def _start(segment: Segment) -> float:
    return segment.start


def _differ(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    if a is b:
        return False
    return a is None or b is None or not np.array_equal(a, b)


def show(events: Sequence[Event]) -> str:
    """Return the first events as lines."""
    lines = [f"{len(events)} events", *(f"  {e!r}" for e in events[:SHOWN])]
    if len(events) > SHOWN:
        lines.append(f"  ... and {len(events) - SHOWN} more")
    return "\n".join(lines)
