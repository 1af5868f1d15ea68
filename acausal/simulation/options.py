"""What is asked of a run besides the model, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..results.streaming import Stream


@dataclass(frozen=True)
class Options:
    """Choices of a run that are not part of the model."""

    impulses: str = "error"
    max_micro_steps: int = 50
    save: tuple[str, ...] | None = None
    grid: Any = None
    method: str = "auto"
    rtol: float = 1e-6
    atol: float | None = None
    stream: Stream | None = None
    """Where events that were seen before are written to as they are recorded."""


@dataclass(eq=False)
class Status:
    """How a run ended."""

    finished: bool = False
    message: str = ""
