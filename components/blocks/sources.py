"""Sources of continuous signals. All corners and steps are time events."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi

from acausal.modeling import (
    Eq,
    Parameter,
    Statement,
    Structural,
    if_else,
    points_problem,
    require,
    sin,
    table,
    time,
)

from .interfaces import SO
from .periodic import PartialPulse


class Constant(SO):
    """Constant signal, ``y = k``."""

    k: Parameter = Parameter(default=1.0, doc="Value")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, self.k)


class PartialSource(SO):
    """Signal that leaves its offset at a start time."""

    offset: Parameter = Parameter(default=0.0, doc="Value before the start time")
    startTime: Parameter = Parameter(default=0.0, unit="s", doc="Time at which the signal starts")


class Step(PartialSource):
    """Step, ``y = offset`` before ``startTime`` and ``y = offset + height`` from then on."""

    height: Parameter = Parameter(default=1.0, doc="Height of the step")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, self.offset + if_else(time < self.startTime, 0.0, self.height))


class Ramp(PartialSource):
    """Ramp, ``y = offset + height * (time - startTime) / duration`` between two constants."""

    height: Parameter = Parameter(default=1.0, doc="Height of the ramp")
    duration: Parameter = Parameter(default=1.0, unit="s", min=0, doc="Duration of the ramp")

    def equations(self) -> Iterator[Statement]:
        yield require(self.duration > 0, "the duration of a ramp must be positive; use Step for a jump")
        rising = (time - self.startTime) * (self.height / self.duration)
        after = if_else(time < self.startTime + self.duration, rising, self.height)
        yield Eq(self.y, self.offset + if_else(time < self.startTime, 0.0, after))


class Sine(PartialSource):
    """Sine, ``y = offset + amplitude * sin(2 * pi * f * (time - startTime) + phase)`` from ``startTime`` on.

    Before, ``y = offset``: a phase other than zero makes a step at ``startTime``.
    """

    amplitude: Parameter = Parameter(default=1.0, doc="Amplitude")
    f: Parameter = Parameter(unit="Hz", min=0, doc="Frequency")
    phase: Parameter = Parameter(default=0.0, unit="rad", doc="Phase at the start time")

    def equations(self) -> Iterator[Statement]:
        wave = self.amplitude * sin(2 * pi * self.f * (time - self.startTime) + self.phase)
        yield Eq(self.y, self.offset + if_else(time < self.startTime, 0.0, wave))


class Pulse(PartialPulse, SO):
    """Rectangular pulses, ``y = offset + amplitude`` during the first ``width`` percent of every period.

    A width of 0 gives no pulse and one of 100 no gap.
    """

    amplitude: Parameter = Parameter(default=1.0, doc="Height of the pulses")
    offset: Parameter = Parameter(default=0.0, doc="Value between the pulses")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.y, self.offset + if_else(self.active(), self.amplitude, 0.0))


class TimeTable(SO):
    """Linear interpolation in a table of time, constant outside.

    Equal times in two rows make a step.
    """

    table: Structural[tuple] = Structural(
        tuple, check=points_problem, doc="Rows (time in s, value), times in ascending order"
    )
    offset: Parameter = Parameter(default=0.0, doc="Added to the values")

    def equations(self) -> Iterator[Statement]:
        times, values = zip(*self.table, strict=True)
        yield Eq(self.y, self.offset + table(time, times, values))
