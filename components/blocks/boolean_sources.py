"""Sources of Boolean signals. Every change is a time event."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import (
    Eq,
    Parameter,
    Statement,
    Structural,
    not_,
    time,
    times_problem,
    xor_,
)

from .interfaces import BooleanSO
from .periodic import PartialPulse


class BooleanConstant(BooleanSO):
    """Constant Boolean signal, ``y = k``."""

    k: Structural[bool] = Structural(bool, default=True, doc="Value")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, self.k)


class BooleanStep(BooleanSO):
    """Boolean step, ``y = startValue`` before ``startTime`` and its complement from then on."""

    startTime: Parameter = Parameter(default=0.0, unit="s", doc="Time of the step")
    startValue: Structural[bool] = Structural(bool, default=False, doc="Value before the step")

    def equations(self) -> Iterator[Statement]:
        stepped = time >= self.startTime
        yield Eq(self.y, not_(stepped) if self.startValue else stepped)


class BooleanPulse(PartialPulse, BooleanSO):
    """Boolean pulses, true during the first ``width`` percent of every period.

    A width of 0 gives no pulse and one of 100 no gap.
    """

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.y, self.active())


class BooleanTable(BooleanSO):
    """Boolean signal that changes at the times of a table."""

    table: Structural[tuple] = Structural(
        tuple, check=times_problem, doc="Times in s at which the output changes, in ascending order"
    )
    startValue: Structural[bool] = Structural(bool, default=False, doc="Value before the first change")

    def equations(self) -> Iterator[Statement]:
        y = self.startValue
        for instant in self.table:
            y = xor_(y, time >= instant)
        yield Eq(self.y, y)
