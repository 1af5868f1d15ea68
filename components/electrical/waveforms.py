"""Waveforms: the shapes that voltage and current sources share.

A shape is a function of time without unit that is zero before ``startTime``.
The edges of a shape are time events, solved for exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi

from acausal.modeling import (
    Component,
    Discrete,
    Expr,
    Parameter,
    Statement,
    Structural,
    assign,
    exp,
    floor,
    if_else,
    initial,
    maximum,
    points_problem,
    require,
    sample,
    sin,
    table,
    time,
    when,
)


class Waveform(Component):
    """Partial: a shape over time; ``started`` chooses between zero and the shape."""

    startTime: Parameter = Parameter(default=0.0, unit="s", doc="Time at which the waveform begins")

    def shape(self) -> Expr:
        """Return the waveform as an expression of time."""
        raise NotImplementedError

    def started(self, value: Expr | float) -> Expr:
        """Return zero before ``startTime``, then ``value``."""
        return if_else(time < self.startTime, 0, value)


class StepWaveform(Waveform):
    """Partial: ``1``."""

    def shape(self) -> Expr:
        return self.started(1)


class RampWaveform(Waveform):
    """Partial: ``(time - startTime) / duration``, then ``1``."""

    duration: Parameter = Parameter(unit="s", min=0, doc="Duration of the ramp; 0: a step")

    def shape(self) -> Expr:
        slope = ratio(time - self.startTime, self.duration)
        return self.started(if_else(time < self.startTime + self.duration, slope, 1))


class SineWaveform(Waveform):
    """Partial: ``sin(2 * pi * f * (time - startTime) + phase)``."""

    f: Parameter = Parameter(unit="Hz", min=0, doc="Frequency")
    phase: Parameter = Parameter(default=0.0, unit="rad", doc="Phase at startTime")

    def shape(self) -> Expr:
        return self.started(sin(2 * pi * self.f * (time - self.startTime) + self.phase))


class ExponentialsWaveform(Waveform):
    """Partial: ``1 - exp(-(time - startTime) / riseTimeConst)`` for ``riseTime``, from there down to zero.

    The fall is proportional to ``exp(-(time - startTime - riseTime) / fallTimeConst)``.
    """

    riseTime: Parameter = Parameter(unit="s", min=0, doc="Duration of the rising part")
    riseTimeConst: Parameter = Parameter(unit="s", min=0, doc="Time constant of the rising part")
    fallTimeConst: Parameter = Parameter(unit="s", min=0, doc="Time constant of the falling part")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield require(
            (self.riseTimeConst > 0) & (self.fallTimeConst > 0), "the time constants must be positive"
        )

    def shape(self) -> Expr:
        top = self.startTime + self.riseTime
        rise = 1 - exp(-(time - self.startTime) / self.riseTimeConst)
        fall = (1 - exp(-self.riseTime / self.riseTimeConst)) * exp(-(time - top) / self.fallTimeConst)
        return self.started(if_else(time < top, rise, fall))


class TableWaveform(Waveform):
    """Partial: linear between the points of ``table``, whose times count from ``startTime``.

    Outside the table the first or last value holds. Two points of equal time make a step.
    """

    table: Structural[tuple] = Structural(
        tuple, check=points_problem, doc="Points (time in s, value), times ascending"
    )

    def shape(self) -> Expr:
        times, values = zip(*self.table, strict=True)
        return table(time - self.startTime, times, values)


class PeriodicWaveform(Waveform):
    """Partial: a cycle that is repeated; ``tick`` is the start of the present one."""

    period: Parameter = Parameter(unit="s", min=0, doc="Duration of one cycle")
    nperiod: Structural[int] = Structural(int, default=-1, doc="Number of cycles; negative: no end")
    tick: Discrete = Discrete(float, unit="s", doc="Start of the present cycle")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield require(self.period > 0, "the `period` must be positive")
        # A waveform that began before the run is in the midst of a cycle.
        passed = self.period * maximum(0, floor((time - self.startTime) / self.period))
        yield when(sample(period=self.period, start=self.startTime), assign(self.tick, time)).elsewhen(
            initial(), assign(self.tick, self.startTime + passed)
        )

    def cycle(self) -> Expr:
        """Return one cycle, over ``time - tick``."""
        raise NotImplementedError

    def shape(self) -> Expr:
        if self.nperiod < 0:
            return self.started(self.cycle())
        end = self.startTime + self.nperiod * self.period
        return self.started(if_else(time < end, self.cycle(), 0))


class PulseWaveform(PeriodicWaveform):
    """Partial: ``1`` for the first ``width`` percent of a cycle, then ``0``."""

    width: Parameter = Parameter(
        default=50.0, unit="1", min=0, max=100, doc="Width of the pulse in percent of period"
    )

    def cycle(self) -> Expr:
        # A pulse that fills its cycle ends only after the next one has begun: no gap between them.
        fraction = if_else(self.width < 100, self.width / 100, 2)
        return if_else(time < self.tick + fraction * self.period, 1, 0)


class SawToothWaveform(PeriodicWaveform):
    """Partial: from ``0`` to ``1`` in every cycle."""

    def cycle(self) -> Expr:
        return (time - self.tick) / self.period


class TrapezoidWaveform(PeriodicWaveform):
    """Partial: up in ``rising``, ``1`` for ``width``, down in ``falling``, then ``0`` to the end of the cycle."""

    rising: Parameter = Parameter(default=0.0, unit="s", min=0, doc="Duration of the rising edge")
    width: Parameter = Parameter(unit="s", min=0, doc="Duration of the flat top")
    falling: Parameter = Parameter(default=0.0, unit="s", min=0, doc="Duration of the falling edge")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        used = self.rising + self.width + self.falling
        yield require(used < (1 + 1e-9) * self.period, "edges and top are longer than the `period`")

    def cycle(self) -> Expr:
        crest = self.tick + self.rising
        descent = crest + self.width
        end = descent + self.falling
        down = if_else(time < end, ratio(end - time, self.falling), 0)
        return if_else(time < crest, ratio(time - self.tick, self.rising), if_else(time < descent, 1, down))


def ratio(elapsed: Expr, duration: Expr) -> Expr:
    """Return ``elapsed / duration``; an edge of no duration is never sampled, its slope only has to be finite."""
    return elapsed / if_else(duration > 0, duration, 1)
