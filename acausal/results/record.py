"""What a run stores: segments and the log of its instants. Everything else is computed on demand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..flow.modal import Trajectory
from ..flow.readout import Moment, Readout
from ..modes.affine import Mode, ModeData


@dataclass(slots=True, eq=False)
class Segment:
    """Time between two instants: mode, state, discrete row; ``end`` is the next instant."""

    start: float
    end: float
    data: ModeData
    trajectory: Trajectory
    moment: Moment
    readout: Readout


@dataclass(slots=True, eq=False)
class Step:
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


@dataclass(eq=False)
class Record:
    """Segments in order of time and all steps."""

    segments: list[Segment] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    def starts(self) -> np.ndarray:
        return np.array([s.start for s in self.segments])
