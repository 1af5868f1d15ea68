"""Current sources. All hold the current ``i`` from ``p`` to ``n`` through the source, whatever the voltage."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Component, Eq, Input, Parameter, Statement, Variable

from .interfaces import OnePort, Pin
from .waveforms import (
    ExponentialsWaveform,
    PulseWaveform,
    RampWaveform,
    SawToothWaveform,
    SineWaveform,
    StepWaveform,
    TableWaveform,
    TrapezoidWaveform,
    Waveform,
)


class ConstantCurrent(OnePort):
    """Constant current, ``i = I``.

    No internal conductance: an open circuit has no solution.
    """

    I: Parameter = Parameter(unit="A", doc="Current from p to n")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.i, self.I)


class SignalCurrent(Component):
    """Current given by a signal, ``p.i = i``.

    No internal conductance. A signal that jumps changes the current of an inductor in series by an impulse.
    """

    p = Pin()
    n = Pin()
    v: Variable = Variable(unit="V", doc="Voltage drop from p to n")
    i: Input = Input(float, unit="A", doc="Current from p to n")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.v, self.p.v - self.n.v)
        yield Eq(self.i, self.p.i)
        yield Eq(0, self.p.i + self.n.i)


class WaveformCurrent(Waveform, OnePort):
    """Partial: ``i = offset + I * shape``, `Waveform`."""

    I: Parameter = Parameter(unit="A", doc="Height of the waveform above the offset; amplitude of a sine")
    offset: Parameter = Parameter(default=0.0, unit="A", doc="Current before startTime")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.i, self.offset + self.I * self.shape())


class StepCurrent(StepWaveform, WaveformCurrent):
    """Step, ``i = offset`` before ``startTime``, then ``offset + I``.

    No internal conductance: an inductor in series gets an impulse of voltage.
    """


class RampCurrent(RampWaveform, WaveformCurrent):
    """Ramp from ``offset`` to ``offset + I`` in ``duration``, beginning at ``startTime``.

    No internal conductance.
    """


class SineCurrent(SineWaveform, WaveformCurrent):
    """Sine, ``i = offset + I * sin(2 * pi * f * (time - startTime) + phase)``, ``offset`` before ``startTime``.

    No internal conductance.
    """


class PulseCurrent(PulseWaveform, WaveformCurrent):
    """Rectangular pulses, ``offset + I`` for the first ``width`` percent of every ``period``, then ``offset``.

    No internal conductance, edges without duration: an inductor in series gets impulses of voltage.
    """


class SawToothCurrent(SawToothWaveform, WaveformCurrent):
    """Saw tooth, from ``offset`` to ``offset + I`` in every ``period``.

    No internal conductance, falling edge without duration: an inductor in series gets impulses of voltage.
    """


class TrapezoidCurrent(TrapezoidWaveform, WaveformCurrent):
    """Trapezoids: up to ``offset + I`` in ``rising``, there for ``width``, down in ``falling``, in every ``period``.

    No internal conductance.
    """


class ExponentialsCurrent(ExponentialsWaveform, OnePort):
    """Exponential rise towards ``offset + iMax`` for ``riseTime``, then exponential fall to ``offset``.

    ``i = offset + iMax * (1 - exp(-(time - startTime) / riseTimeConst))`` while rising. No internal conductance.
    """

    iMax: Parameter = Parameter(unit="A", doc="Current above the offset that the rise tends to")
    offset: Parameter = Parameter(default=0.0, unit="A", doc="Current before startTime and after the fall")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.i, self.offset + self.iMax * self.shape())


class TableCurrent(TableWaveform, OnePort):
    """Current from a table, ``offset`` plus the linear interpolation of ``table`` at ``time - startTime``.

    Outside the table its first or last value holds. No internal conductance.
    """

    offset: Parameter = Parameter(default=0.0, unit="A", doc="Current added to the table")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.i, self.offset + self.shape())
