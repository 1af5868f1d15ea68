"""What a run stores: segments and the log of its instants. Everything else is computed on demand."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..reduction.affine import Mode
from ..values import frozen
from .segments import BEFORE, Prefix, Segment, Segments

Reasons = Callable[[], dict[str, tuple[str, str]]]
"""Returns what values follow from, by path."""
STARTS = "contradicting start values"
"""What loses the energy of connections between parts whose starts contradict each other."""
TOGETHER = ", "
"""Between the elements of which only the sum is known that they lost."""


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


@dataclass(eq=False)
class Decided:
    """Which instants of a run are events, as far as that was asked: ranges of steps, in order."""

    ranges: list[tuple[int, int]] = field(default_factory=list)
    steps: int = 0
    """Steps that were looked at."""

    def decide(self, a: int, b: int, happened: bool) -> None:
        """Note of the next instant, of steps ``a`` to ``b``, whether it is an event."""
        if happened:
            self.ranges.append((a, b))
        self.steps = b


@frozen
class Recorded:
    """What a result reads: segments in order of time and all steps.

    ``z`` and ``D`` are the left limits of core unknowns and discretes at the start.
    """

    segments: Sequence[Segment]
    steps: Sequence[MicroStep]
    z: np.ndarray
    D: np.ndarray
    reasons: Reasons = dict
    """Returns, by path, the branch (else "") and the reason of what a start determines; called when asked for."""
    decided: Decided = field(default_factory=Decided)
    """Shared by all results of a run."""

    def located(self, t: np.ndarray, side: str) -> tuple[Segments, np.ndarray, np.ndarray]:
        """Segments in which few times lie, which of them each does, and the times since their starts."""
        find = bisect_right if side == "right" else bisect_left
        numbers = [find(self.segments, x, key=lambda s: s.start) - 1 for x in t.tolist()]
        some = sorted({max(k, 0) for k in numbers})
        parts = Segments([self.segments[k] for k in some])
        which = np.array([BEFORE if k < 0 else some.index(k) for k in numbers], np.int64)
        inside = np.maximum(which, 0)
        return parts, which, np.clip(t - parts.start[inside], 0.0, parts.length[inside])


@dataclass(eq=False)
class Record:
    """The same while it grows."""

    segments: list[Segment] = field(default_factory=list)
    steps: list[MicroStep] = field(default_factory=list)
    z: np.ndarray = field(default_factory=lambda: np.zeros(0))
    D: np.ndarray = field(default_factory=lambda: np.zeros(0))
    reasons: Reasons = dict
    decided: Decided = field(default_factory=Decided)

    def begin(self, z: np.ndarray, D: np.ndarray) -> None:
        """Begin with these left limits; what happened at the start is forgotten."""
        self.z, self.D = z, D
        self.steps.clear()

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
        self.segments, self.steps = self.segments[:segments], self.steps[:steps]
        self.decided = Decided()
