"""Voltage sources. All hold ``v = p.v - n.v`` whatever current flows; a source that feeds has ``i < 0``.

Every waveform exists as voltage, ``v = offset + V * shape``, and as current, ``i = offset + I * shape``. The shape is
zero before ``startTime``; a negative ``startTime`` begins in the midst of a cycle. Edges are time events, solved for
exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from math import pi

from acausal.modeling import Component, Eq, Input, Parameter, Statement, Structural, Variable, connect

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


class ConstantVoltage(OnePort):
    """Constant voltage, ``v = V``.

    No internal resistance: a short circuit has no solution.
    """

    V: Parameter = Parameter(unit="V", doc="Voltage from p to n")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.v, self.V)


class SignalVoltage(Component):
    """Voltage given by a signal, ``p.v - n.v = v``.

    No internal resistance. A signal that jumps charges a capacitor in parallel by an impulse.
    """

    p = Pin()
    n = Pin()
    v: Input = Input(float, unit="V", doc="Voltage from p to n")
    i: Variable = Variable(unit="A", doc="Current from p to n")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.v, self.p.v - self.n.v)
        yield Eq(self.i, self.p.i)
        yield Eq(0, self.p.i + self.n.i)


class WaveformVoltage(Waveform, OnePort):
    """Partial: ``v = offset + V * shape``, `Waveform`."""

    V: Parameter = Parameter(unit="V", doc="Height of the waveform above the offset; amplitude of a sine")
    offset: Parameter = Parameter(default=0.0, unit="V", doc="Voltage before startTime")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.v, self.offset + self.V * self.shape())


class StepVoltage(StepWaveform, WaveformVoltage):
    """Step, ``v = offset`` before ``startTime``, then ``offset + V``.

    No internal resistance: a capacitor in parallel is charged by an impulse.
    """


class RampVoltage(RampWaveform, WaveformVoltage):
    """Ramp from ``offset`` to ``offset + V`` in ``duration``, beginning at ``startTime``.

    No internal resistance.
    """


class SineVoltage(SineWaveform, WaveformVoltage):
    """Sine, ``v = offset + V * sin(2 * pi * f * (time - startTime) + phase)``, ``offset`` before ``startTime``.

    No internal resistance.
    """


class PulseVoltage(PulseWaveform, WaveformVoltage):
    """Rectangular pulses, ``offset + V`` for the first ``width`` percent of every ``period``, then ``offset``.

    No internal resistance, edges without duration: a capacitor in parallel is charged by impulses.
    """


class SawToothVoltage(SawToothWaveform, WaveformVoltage):
    """Saw tooth, from ``offset`` to ``offset + V`` in every ``period``.

    No internal resistance, falling edge without duration: a capacitor in parallel is discharged by impulses.
    """


class TrapezoidVoltage(TrapezoidWaveform, WaveformVoltage):
    """Trapezoids: up to ``offset + V`` in ``rising``, there for ``width``, down in ``falling``, in every ``period``.

    No internal resistance.
    """


class ExponentialsVoltage(ExponentialsWaveform, OnePort):
    """Exponential rise towards ``offset + vMax`` for ``riseTime``, then exponential fall to ``offset``.

    ``v = offset + vMax * (1 - exp(-(time - startTime) / riseTimeConst))`` while rising. No internal resistance.
    """

    vMax: Parameter = Parameter(unit="V", doc="Voltage above the offset that the rise tends to")
    offset: Parameter = Parameter(default=0.0, unit="V", doc="Voltage before startTime and after the fall")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.v, self.offset + self.vMax * self.shape())


class TableVoltage(TableWaveform, OnePort):
    """Voltage from a table, ``offset`` plus the linear interpolation of ``table`` at ``time - startTime``.

    Outside the table its first or last value holds. No internal resistance.
    """

    offset: Parameter = Parameter(default=0.0, unit="V", doc="Voltage added to the table")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.v, self.offset + self.shape())


class PhaseSequence(Enum):
    """Order in which the phases reach their maximum."""

    POSITIVE = 1
    """p1, p2, p3."""
    NEGATIVE = -1
    """p1, p3, p2."""


class ThreePhaseVoltage(Component):
    """Symmetric three-phase source in star connection, three `SineVoltage` from ``n``.

    ``pk.v - n.v = V * sin(2 * pi * f * time + phase - s * (k - 1) * 2 * pi / 3)``, s = 1 or -1 by ``sequence``.
    No internal impedance: commutation between phases takes no time unless inductors are added.
    """

    p1 = Pin()
    p2 = Pin()
    p3 = Pin()
    n = Pin()
    V: Parameter = Parameter(unit="V", doc="Amplitude of the voltage from a phase to n")
    f: Parameter = Parameter(unit="Hz", min=0, doc="Frequency")
    phase: Parameter = Parameter(default=0.0, unit="rad", doc="Phase of p1 at time 0")
    sequence: Structural[PhaseSequence] = Structural(
        PhaseSequence, default=PhaseSequence.POSITIVE, doc="Order of the phases"
    )

    def build(self) -> None:
        lag = self.sequence.value * 2 * pi / 3
        self.phases = [SineVoltage(V=self.V, f=self.f, phase=self.phase - k * lag) for k in range(3)]

    def equations(self) -> Iterator[Statement]:
        for pin, source in zip((self.p1, self.p2, self.p3), self.phases, strict=True):
            yield connect(pin, source.p)
        yield connect(self.n, *(source.n for source in self.phases))
