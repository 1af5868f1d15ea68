"""What a run has left behind, as energies and checks read it."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

from .names import Names
from .record import MicroStep, Prefix
from .segments import Segments


class Recording(Protocol):
    """The names of a model, and the segments and micro-steps of one run of it."""

    names: Names
    steps: Prefix[MicroStep]
    t_start: float
    t_end: float

    @cached_property
    def segments(self) -> Segments:
        """All segments, in order of time."""
        ...
