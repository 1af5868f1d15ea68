"""What a run stores: segments and the log of its instants. Everything else is computed on demand."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar, overload

import numpy as np

from ..dynamics.closed_form import AffineFlow
from ..dynamics.quadrature import Course
from ..dynamics.readout import Moment, ReadMode, Readout
from ..reduction.affine import Mode
from ..values import frozen

T = TypeVar("T")

Reasons = Callable[[], dict[str, tuple[str, str]]]
"""Returns what values follow from, by path."""
STARTS = "contradicting start values"
"""What loses the energy of connections between parts whose starts contradict each other."""
TOGETHER = ", "
"""Between the elements of which only the sum is known that they lost."""


@dataclass(slots=True, eq=False)
class Segment:
    """Time between two instants: mode, state, discrete row; ``end`` is the next instant."""

    start: float
    end: float
    data: ReadMode
    trajectory: Course
    moment: Moment
    readout: Readout


def move_columns(columns: Any, names: Sequence[str], make: Callable[[np.ndarray], np.ndarray]) -> None:
    """Take what ``make`` makes of each column in the place of it."""
    for name in names:
        setattr(columns, name, make(getattr(columns, name)))


@dataclass(slots=True, eq=False)
class SegmentColumns(Sequence[Segment]):
    """Segments along closed forms as columns, which make a segment when it is asked for.

    Attributes
    ----------
    start, end : (k,) arrays
    motion, held : (k,) arrays of int
        Numbers of their ``motions``, a mode and a flow each, and rows of ``D`` and ``R``.
    y : (k, ny) array
        States at their starts, the first ones of each row.
    """

    start: np.ndarray
    end: np.ndarray
    motion: np.ndarray
    held: np.ndarray
    y: np.ndarray
    motions: list[tuple[ReadMode, AffineFlow]]
    D: np.ndarray
    R: np.ndarray
    q: np.ndarray
    readout: Readout

    def move(self, make: Callable[[np.ndarray], np.ndarray]) -> None:
        """Take what ``make`` makes of each column in the place of it."""
        move_columns(self, ("start", "end", "motion", "held", "y", "D", "R"), make)

    def __len__(self) -> int:
        return len(self.start)

    @overload
    def __getitem__(self, k: int) -> Segment: ...
    @overload
    def __getitem__(self, k: slice) -> list[Segment]: ...
    def __getitem__(self, k: int | slice) -> Segment | list[Segment]:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        (data, flow), start, at = self.motions[self.motion[k]], float(self.start[k]), self.held[k]
        moment = Moment(start, self.D[at], self.R[at], self.q)
        return Segment(
            start, float(self.end[k]), data, flow.start(self.y[k, : flow.ny]), moment, self.readout
        )


@dataclass(frozen=True, slots=True, eq=False)
class Jump:
    """Both limits, as states ``[z, z', xi]``, of a part of a micro-step in which differentiated variables moved."""

    left: np.ndarray
    right: np.ndarray
    J1: np.ndarray
    """Impulses (n,)."""
    mean: np.ndarray | None = None
    """Means (2 n,) of the core unknowns and their slopes over the instant, None for those of both limits."""
    apart: np.ndarray | None = None
    """Left limits of all variables and their slopes, and impulses of every part by itself (3, nv), where starts contradict each
    other; NaN where they are open."""


class Ending(NamedTuple):
    """How a run ended."""

    t: float
    status: str
    state: Any
    """What continues it: ``simulate(..., start=result)``."""


@dataclass(slots=True, eq=False)
class MicroStep:
    """One micro-step of an instant as logged by the run."""

    t: float
    number: int
    kind: str
    triggers: tuple[Any, ...]
    before: Mode
    after: Mode
    impulses: tuple[tuple[str, str, float], ...] = ()
    """(variable, unit, time integral)."""
    jumps: tuple[tuple[str, float, float], ...] = ()
    """(variable, before, after)."""
    lost: tuple[tuple[str, float], ...] = ()
    """(element, energy absorbed)."""
    parts: tuple[Jump, ...] = ()
    """What jumped, part by part: one, or with contacts that rebound one for each round of impacts."""
    D: np.ndarray | None = None
    """Discretes after the micro-step."""
    R: np.ndarray | None = None
    """Relations after the micro-step."""


KINDS = "state", "time"
"""Kinds of micro-steps that something crossing zero causes, and of others."""


@dataclass(slots=True, eq=False)
class StepColumns(Sequence[MicroStep]):
    """Micro-steps in which nothing jumped as columns, which make a micro-step when it is asked for.

    Attributes
    ----------
    t : (k,) array
    number, cause, ticks : (k,) arrays of int
        In their instants; what crossed, negative for nothing; and the clocks that were due, a bit each.
    before, after, held : (k,) arrays of int
        Numbers of their ``modes``, and rows of ``D`` and ``R``.
    """

    t: np.ndarray
    number: np.ndarray
    cause: np.ndarray
    ticks: np.ndarray
    before: np.ndarray
    after: np.ndarray
    held: np.ndarray
    modes: list[Mode]
    D: np.ndarray
    R: np.ndarray

    def move(self, make: Callable[[np.ndarray], np.ndarray]) -> None:
        """Take what ``make`` makes of each column in the place of it."""
        move_columns(self, ("t", "number", "cause", "ticks", "before", "after", "held", "D", "R"), make)

    def __len__(self) -> int:
        return len(self.t)

    @overload
    def __getitem__(self, k: int) -> MicroStep: ...
    @overload
    def __getitem__(self, k: slice) -> list[MicroStep]: ...
    def __getitem__(self, k: int | slice) -> MicroStep | list[MicroStep]:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        cause, ticks, at = int(self.cause[k]), int(self.ticks[k]), self.held[k]
        triggers = cause, *(n for n in range(ticks.bit_length()) if ticks >> n & 1)
        return MicroStep(
            float(self.t[k]), int(self.number[k]), KINDS[cause < 0], triggers,
            self.modes[self.before[k]], self.modes[self.after[k]], D=self.D[at], R=self.R[at],
        )  # fmt: skip

    def kinds(self, which: np.ndarray) -> list[str]:
        """Kinds of some micro-steps."""
        return [KINDS[k] for k in (self.cause[which] < 0).tolist()]

    def instants(self) -> tuple[np.ndarray, np.ndarray]:
        """First micro-steps of the instants, which are whole, and whether it is sure that something happened in each."""
        first = np.flatnonzero(self.number == 0)
        last = np.append(first[1:], len(self)) - 1
        changed = np.diff(self.held, prepend=0)[first] != 0
        modes = self.before[first] != self.after[last]
        return first, (self.cause[first] >= 0) | (self.ticks[first] != 0) | (last > first) | modes | changed


class Growing(Sequence[T]):
    """Items of several sequences, one after the other. Blocks may make their items when they are asked for.

    Attributes
    ----------
    parts : list of sequences
        Lists are open to single items; others stay as they are.
    begins : list of int
        Numbers of their first items.
    """

    __slots__ = ("begins", "parts")

    def __init__(self, parts: Sequence[Sequence[T]] = ()) -> None:
        self.parts: list[Sequence[T]] = []
        self.begins: list[int] = []
        for part in parts:
            self.extend(part)

    def append(self, item: T) -> None:
        """Add one item."""
        last = self.parts[-1] if self.parts else None
        if isinstance(last, list):
            last.append(item)
        else:
            self.extend([item])

    def extend(self, block: Sequence[T]) -> None:
        """Add a sequence, which is taken as it is; one without items is none."""
        if len(block):
            self.begins.append(len(self))
            self.parts.append(block)

    def first(self, count: int) -> Growing[T]:
        """The first items, which grow apart from these."""
        last = bisect_right(self.begins, count - 1) - 1
        if last < 0:
            return Growing()
        return Growing([*self.parts[:last], self.parts[last][: count - self.begins[last]]])

    def __len__(self) -> int:
        return self.begins[-1] + len(self.parts[-1]) if self.parts else 0

    @overload
    def __getitem__(self, k: int) -> T: ...
    @overload
    def __getitem__(self, k: slice) -> list[T]: ...
    def __getitem__(self, k: int | slice) -> T | list[T]:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        k = k + len(self) if k < 0 else k
        if not 0 <= k < len(self):
            raise IndexError(k)
        part = bisect_right(self.begins, k) - 1
        return self.parts[part][k - self.begins[part]]

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(self.parts)


class Prefix(Sequence[T]):
    """The first items of a sequence that grows, and some of its own: taking one costs nothing."""

    __slots__ = ("taken", "items", "last")

    def __init__(self, items: Sequence[T], taken: int, last: tuple[T, ...] = ()) -> None:
        self.items, self.taken, self.last = items, taken, last

    def __len__(self) -> int:
        return self.taken + len(self.last)

    @overload
    def __getitem__(self, k: int) -> T: ...
    @overload
    def __getitem__(self, k: slice) -> list[T]: ...
    def __getitem__(self, k: int | slice) -> T | list[T]:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        k = k + len(self) if k < 0 else k
        if not 0 <= k < len(self):
            raise IndexError(k)
        return self.items[k] if k < self.taken else self.last[k - self.taken]

    def __iter__(self) -> Iterator[T]:
        return chain(islice(self.items, self.taken), self.last)

    def blocks(self, item: int = 0) -> Iterator[tuple[Sequence[T], int, int]]:
        """Blocks from the one with some item on, with the numbers of their first items, and how many items of each count.

        A list may have grown since.
        """
        items: Any = self.items
        for k in range(max(0, bisect_right(items.begins, item) - 1), bisect_left(items.begins, self.taken)):
            part, begin = items.parts[k], items.begins[k]
            yield part, begin, min(len(part), self.taken - begin)
        if self.last:
            yield self.last, self.taken, len(self.last)


@dataclass(eq=False)
class Decided:
    """Which instants of a run are events, as far as that was asked: ranges of steps, in order."""

    first: array[int] = field(default_factory=lambda: array("q"))
    """First step of each."""
    beyond: array[int] = field(default_factory=lambda: array("q"))
    """The step behind the last one of each."""
    steps: int = 0
    """Steps that were looked at."""

    def decide(self, first: np.ndarray, beyond: np.ndarray) -> None:
        """Note that the next instants, of these ranges of steps, are events; others up to the last one are none."""
        self.first.frombytes(np.asarray(first, np.int64).tobytes())
        self.beyond.frombytes(np.asarray(beyond, np.int64).tobytes())

    def looked(self, steps: int) -> None:
        """Note that so many steps were looked at."""
        self.steps = steps


@frozen
class Recorded:
    """What a result reads: segments in order of time and all steps.

    ``z`` and ``D`` are the left limits of core unknowns and discretes at the start.
    """

    segments: Prefix[Segment]
    steps: Prefix[MicroStep]
    z: np.ndarray
    D: np.ndarray
    reasons: Reasons = dict
    """Returns, by path, the branch (else "") and the reason of what a start determines; called when asked for."""
    decided: Decided = field(default_factory=Decided)
    """Shared by all results of a run."""


@dataclass(eq=False)
class Record:
    """The same while it grows."""

    segments: Growing[Segment] = field(default_factory=Growing)
    steps: Growing[MicroStep] = field(default_factory=Growing)
    z: np.ndarray = field(default_factory=lambda: np.zeros(0))
    D: np.ndarray = field(default_factory=lambda: np.zeros(0))
    reasons: Reasons = dict
    decided: Decided = field(default_factory=Decided)

    def begin(self, z: np.ndarray, D: np.ndarray) -> None:
        """Begin with these left limits; what happened at the start is forgotten."""
        self.z, self.D = z, D
        self.steps = Growing()

    def explain(self, reasons: Reasons) -> None:
        """Keep what the start follows from."""
        self.reasons = reasons

    def until_now(self, last: tuple[Segment, ...]) -> Recorded:
        """Return the record as it is, followed by segments of its own, in a time that does not depend on its length."""
        segments = Prefix(self.segments, len(self.segments), last)
        steps = Prefix(self.steps, len(self.steps))
        return Recorded(segments, steps, self.z, self.D, self.reasons, self.decided)

    def cut(self, segments: int, steps: int) -> None:
        """Forget what came after so many segments and steps; results that were taken keep it."""
        self.segments, self.steps = self.segments.first(segments), self.steps.first(steps)
        self.decided = Decided()
