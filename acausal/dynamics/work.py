"""What a computation costs: counters and a stopwatch, one record for each run."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

STAGES = ("compile", "analyse", "start", "flow", "instants", "record")
"""What the time of a run is spent on."""


@dataclass(eq=False)
class Work:
    """Counters of integration and of Newton's method, and the time spent on stages."""

    rejections: int = 0
    evaluations: int = 0
    jacobians: int = 0
    factorisations: int = 0
    iterations: int = 0
    """Of Newton's method."""
    held: int = 0
    """Accepted steps of an explicit method that its stability held."""
    lead: int = 0
    """How many more of them than others there were of late."""
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    _stage: str = ""
    _since: float = 0.0
    _analyses: float = 0.0

    def evaluated(self, times: int = 1) -> None:
        """Count calls of a rate."""
        self.evaluations += times

    def stepped(self, evaluations: int, rejections: int, jacobians: int, factorisations: int) -> None:
        """Count what steps took that were made elsewhere."""
        self.evaluations += evaluations
        self.rejections += rejections
        self.jacobians += jacobians
        self.factorisations += factorisations

    def holds(self, held: int, lead: int) -> None:
        """Take the counts of steps that stability held."""
        self.held, self.lead = held, lead

    def rejected(self) -> None:
        """Count a rejected step."""
        self.rejections += 1

    def advanced(self, *, held: bool) -> None:
        """Count a step of an explicit method, which its stability held or not."""
        self.held += held
        self.lead = max(self.lead + (1 if held else -1), 0)

    def linearised(self) -> None:
        """Count a call of a Jacobian."""
        self.jacobians += 1

    def factorised(self) -> None:
        """Count a factorised matrix."""
        self.factorisations += 1

    def iterated(self, times: int = 1) -> None:
        """Count steps of Newton's method."""
        self.iterations += times

    def enter(self, stage: str) -> str:
        """Count time for a stage from now on, "" for none; return the stage until now."""
        now, before = time.perf_counter(), self._stage
        if before:
            self.seconds[before] += now - self._since
        self._stage, self._since = stage, now
        return before

    def spent(self, stage: str, seconds: float) -> None:
        """Count time that was measured elsewhere."""
        self.seconds[stage] += seconds

    def analysed(self, total: float, stage: str) -> None:
        """Count analyses, which took ``total`` seconds until now, as such where they were made within ``stage``."""
        new = min(total - self._analyses, self.seconds[stage])
        self.seconds["analyse"] += new
        self.seconds[stage] -= new
        self._analyses = total
