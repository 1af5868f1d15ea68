"""Circuits of the benchmarks: converters, rectifiers and ladders."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi

from acausal import Component, Input, Parameter, Statement, Structural, absolute, connect
from acausal.components.blocks import PWM, BooleanPulse, SampledPI
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Ground,
    IdealClosingSwitch,
    IdealDiode,
    IdealOpeningSwitch,
    IdealTransformer,
    IdealTwoWaySwitch,
    Inductor,
    Pin,
    Resistor,
    SineVoltage,
)
from acausal.components.electrical.interfaces import TwoPin


class Buck(Component):
    """Step-down converter, 24 V, 100 kHz, duty ratio 0.5."""

    Ron: Parameter = Parameter(default=0.0, unit="Ohm", doc="Resistance of what is closed")
    Goff: Parameter = Parameter(default=0.0, unit="S", doc="Conductance of what is open")

    def build(self) -> None:
        lossy = {"Ron": self.Ron, "Goff": self.Goff}
        self.source = ConstantVoltage(V=24.0)
        self.pwm = PWM(frequency=100e3, duty=0.5)
        self.switch = IdealClosingSwitch(**lossy)
        self.diode = IdealDiode(**lossy)
        self.inductor = Inductor(L=47e-6)
        self.capacitor = Capacitor(C=100e-6)
        self.load = Resistor(R=5.0)
        self.ground = Ground()

    def equations(self) -> Iterator[Statement]:
        yield connect(self.pwm.y, self.switch.control)
        yield connect(self.source.p, self.switch.p)
        yield connect(self.switch.n, self.diode.n, self.inductor.p)
        yield connect(self.inductor.n, self.capacitor.p, self.load.p)
        yield connect(self.source.n, self.diode.p, self.capacitor.n, self.load.n, self.ground.p)


class Bridge(Component):
    """Partial: pairs of diodes between two rails, fed by sines behind resistance and inductance."""

    Ron: Parameter = Parameter(default=0.0, unit="Ohm", doc="Resistance of a conducting diode")
    Goff: Parameter = Parameter(default=0.0, unit="S", doc="Conductance of a blocking diode")

    def legs(self, number: int) -> None:
        """Add the diodes."""
        lossy = {"Ron": self.Ron, "Goff": self.Goff}
        self.upper = [IdealDiode(**lossy) for _ in range(number)]
        self.lower = [IdealDiode(**lossy) for _ in range(number)]
        self.ground = Ground()

    def feed(self, phases: int) -> None:
        """Add the sources."""
        self.source = [SineVoltage(V=325.0, f=50.0, phase=-2 * pi * k / 3) for k in range(phases)]
        self.resistor = [Resistor(R=0.1) for _ in range(phases)]
        self.inductor = [Inductor(L=1e-3) for _ in range(phases)]


class SinglePhaseBridge(Bridge):
    """Full bridge with a smoothing capacitor."""

    def build(self) -> None:
        self.legs(2)
        self.feed(1)
        self.capacitor = Capacitor(C=1e-3)
        self.load = Resistor(R=50.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source[0].p, self.resistor[0].p)
        yield connect(self.resistor[0].n, self.inductor[0].p)
        yield connect(self.inductor[0].n, self.upper[0].p, self.lower[0].n)
        yield connect(self.source[0].n, self.upper[1].p, self.lower[1].n)
        yield connect(self.upper[0].n, self.upper[1].n, self.capacitor.p, self.load.p)
        yield connect(self.lower[0].p, self.lower[1].p, self.capacitor.n, self.load.n, self.ground.p)


class ThreePhaseBridge(Bridge):
    """Six-pulse bridge with an inductive load and a floating star point."""

    def build(self) -> None:
        self.legs(3)
        self.feed(3)
        self.load = Resistor(R=10.0)
        self.choke = Inductor(L=10e-3)

    def equations(self) -> Iterator[Statement]:
        for k in range(3):
            yield connect(self.source[k].p, self.resistor[k].p)
            yield connect(self.resistor[k].n, self.inductor[k].p)
            yield connect(self.inductor[k].n, self.upper[k].p, self.lower[k].n)
        yield connect(*(s.n for s in self.source))
        yield connect(*(d.n for d in self.upper), self.load.p)
        yield connect(self.load.n, self.choke.p)
        yield connect(*(d.p for d in self.lower), self.choke.n, self.ground.p)


class RectifierSection(Component):
    """Section of a ladder: resistor, inductor and diode in the line, capacitor and resistor across it."""

    p = Pin()
    n = Pin()
    ground = Pin()

    def build(self) -> None:
        self.resistor = Resistor(R=0.1)
        self.inductor = Inductor(L=1e-3)
        self.diode = IdealDiode()
        self.capacitor = Capacitor(C=1e-3)
        self.load = Resistor(R=50.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.p, self.resistor.p)
        yield connect(self.resistor.n, self.inductor.p)
        yield connect(self.inductor.n, self.diode.p)
        yield connect(self.diode.n, self.capacitor.p, self.load.p, self.n)
        yield connect(self.capacitor.n, self.load.n, self.ground)


class Section(Component):
    """Section of a ladder: resistor in the line, capacitor across it."""

    p = Pin()
    n = Pin()
    ground = Pin()

    def build(self) -> None:
        self.resistor = Resistor(R=1.0)
        self.capacitor = Capacitor(C=1.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.p, self.resistor.p)
        yield connect(self.resistor.n, self.capacitor.p, self.n)
        yield connect(self.capacitor.n, self.ground)


class Ladder(Component):
    """Sections in a row behind a sine."""

    kind: type[Component] = Section
    count = 0

    def build(self) -> None:
        self.source = SineVoltage(V=325.0, f=50.0)
        self.sections = [self.kind() for _ in range(self.count)]
        self.ground = Ground()

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.sections[0].p)
        for left, right in zip(self.sections, self.sections[1:], strict=False):
            yield connect(left.n, right.p)
        yield connect(self.ground.p, self.source.n, *(s.ground for s in self.sections))


class DiodeLadder(Ladder):
    """34 sections with a diode each: 1000 equations."""

    kind = RectifierSection
    count = 34


class LongLadder(Ladder):
    """10 000 sections."""

    count = 10_000


class Submodule(TwoPin):
    """A full bridge around a capacitor; its legs are switched one after the other."""

    phase: Parameter = Parameter(default=0.0, unit="s")
    frequency: Parameter = Parameter(default=250.0, unit="Hz")
    Ron: Parameter = Parameter(default=0.0, unit="Ohm")

    def build(self) -> None:
        self.left = PWM(frequency=self.frequency, duty=0.7, startTime=self.phase)
        self.right = PWM(frequency=self.frequency, duty=0.2, startTime=self.phase)
        self.upper = [IdealClosingSwitch(control=leg.y, Ron=self.Ron) for leg in (self.left, self.right)]
        self.lower = [IdealOpeningSwitch(control=leg.y, Ron=self.Ron) for leg in (self.left, self.right)]
        self.capacitor = Capacitor(C=5e-3)

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield connect(self.capacitor.p, self.upper[0].p, self.upper[1].p)
        yield connect(self.capacitor.n, self.lower[0].n, self.lower[1].n)
        yield connect(self.p, self.upper[0].n, self.lower[0].p)
        yield connect(self.n, self.upper[1].n, self.lower[1].p)


class Leg(Component):
    """A phase leg of two arms between the poles of a direct voltage, with a load at its middle."""

    n: Structural[int] = Structural(int)
    Ron: Parameter = Parameter(default=0.0, unit="Ohm")

    def build(self) -> None:
        self.source = ConstantVoltage(V=20e3)
        self.middle = ConstantVoltage(V=10e3)
        self.cells = [Submodule(phase=k * 4e-3 / self.n, Ron=self.Ron) for k in range(self.n)]
        self.arms = [Inductor(L=3e-3), Inductor(L=3e-3)]
        self.coil, self.load, self.ground = Inductor(L=10e-3), Resistor(R=20.0), Ground()

    def equations(self) -> Iterator[Statement]:
        upper, lower = self.cells[: self.n // 2], self.cells[self.n // 2 :]
        yield connect(self.source.p, upper[0].p)
        for a, b in zip(upper[:-1], upper[1:], strict=True):
            yield connect(a.n, b.p)
        yield connect(upper[-1].n, self.arms[0].p)
        yield connect(self.arms[0].n, self.arms[1].p, self.coil.p)
        yield connect(self.arms[1].n, lower[0].p)
        for a, b in zip(lower[:-1], lower[1:], strict=True):
            yield connect(a.n, b.p)
        yield connect(lower[-1].n, self.source.n, self.middle.n, self.ground.p)
        yield connect(self.coil.n, self.load.p)
        yield connect(self.load.n, self.middle.p)


class DualActiveBridge(Component):
    """Two full bridges of ideal switches at 100 kHz, an eighth of a period apart, with an inductor and a transformer between."""

    def build(self) -> None:
        self.source, self.ground, self.other = ConstantVoltage(V=400.0), Ground(), Ground()
        self.first, self.second = BooleanPulse(period=1e-5), BooleanPulse(period=1e-5, startTime=1.25e-6)
        controls = (self.first.y, ~self.first.y, self.second.y, ~self.second.y)
        self.leg = [IdealTwoWaySwitch(control=control) for control in controls]
        self.leakage, self.winding = Inductor(L=40e-6), Resistor(R=0.05)
        self.transformer = IdealTransformer(n=8.0)
        self.capacitor, self.load = Capacitor(C=200e-6, v=48.0), Resistor(R=2.0)

    def equations(self) -> Iterator[Statement]:
        a, b, c, d = self.leg
        yield connect(self.source.p, a.n2, b.n2)
        yield connect(self.source.n, a.n1, b.n1, self.ground.p)
        yield connect(a.p, self.leakage.p)
        yield connect(self.leakage.n, self.winding.p)
        yield connect(self.winding.n, self.transformer.p1)
        yield connect(self.transformer.n1, b.p)
        yield connect(self.transformer.p2, c.p)
        yield connect(self.transformer.n2, d.p)
        yield connect(self.capacitor.p, self.load.p, c.n2, d.n2)
        yield connect(self.capacitor.n, self.load.n, c.n1, d.n1, self.other.p)


class PowerFactorCorrector(Component):
    """A rectifier of ideal diodes and a step-up converter at 50 kHz, whose sampled control has the current follow the mains."""

    def build(self) -> None:
        self.mains, self.ground = SineVoltage(V=325.0, f=50.0), Ground()
        self.rectifier = [IdealDiode() for _ in range(4)]
        self.inductor, self.winding, self.diode = Inductor(L=1e-3), Resistor(R=0.1), IdealDiode()
        self.capacitor, self.load = Capacitor(C=470e-6, v=400.0), Resistor(R=320.0)
        self.outer = SampledPI(reference=400.0, measurement=self.capacitor.v, kp=5e-4, ki=5e-3, period=2e-5)
        wanted = self.outer.y * absolute(self.mains.v)
        self.inner = SampledPI(reference=wanted, measurement=self.inductor.i, kp=0.05, ki=200.0, period=2e-5)
        self.pwm = PWM(frequency=50e3, duty=self.inner.y)
        self.switch = IdealClosingSwitch(control=self.pwm.y)

    def equations(self) -> Iterator[Statement]:
        a, b, c, d = self.rectifier
        yield connect(self.mains.p, a.p, b.n)
        yield connect(self.mains.n, c.p, d.n)
        yield connect(a.n, c.n, self.winding.p)
        yield connect(self.winding.n, self.inductor.p)
        yield connect(self.inductor.n, self.switch.p, self.diode.p)
        yield connect(self.diode.n, self.capacitor.p, self.load.p)
        yield connect(b.p, d.p, self.switch.n, self.capacitor.n, self.load.n, self.ground.p)


class Valve(Component):
    """An ideal switch with a diode and its output capacitance across it."""

    p, n = Pin(), Pin()
    control: Input = Input(bool)

    def build(self) -> None:
        self.switch, self.diode = IdealClosingSwitch(control=self.control), IdealDiode()
        self.capacitor = Capacitor(C=5e-10)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.p, self.switch.p, self.diode.n, self.capacitor.p)
        yield connect(self.n, self.switch.n, self.diode.p, self.capacitor.n)


class PhaseShiftBridge(Component):
    """Two legs of valves at 100 kHz, a fifth of a period apart, that switch without voltage; a rectifier behind a transformer."""

    def build(self) -> None:
        period, dead, shift = 1e-5, 2.2e-7, 2e-6
        self.source, self.ground, self.other = ConstantVoltage(V=400.0), Ground(), Ground()
        width = 100.0 * (0.5 - dead / period)
        begins = 0.0, 0.5 * period, shift, shift + 0.5 * period
        self.clock = [BooleanPulse(period=period, width=width, startTime=begin) for begin in begins]
        self.valve = [Valve(control=clock.y) for clock in self.clock]
        self.leakage, self.winding = Inductor(L=15e-6), Resistor(R=0.05)
        self.transformer, self.rectifier = IdealTransformer(n=6.0), [IdealDiode() for _ in range(4)]
        self.coil, self.capacitor, self.load = Inductor(L=20e-6), Capacitor(C=100e-6), Resistor(R=0.6)

    def equations(self) -> Iterator[Statement]:
        (a, b, c, d), (e, f, g, h) = self.valve, self.rectifier
        yield connect(self.source.p, a.p, c.p)
        yield connect(self.source.n, b.n, d.n, self.ground.p)
        yield connect(a.n, b.p, self.leakage.p)
        yield connect(self.leakage.n, self.winding.p)
        yield connect(self.winding.n, self.transformer.p1)
        yield connect(c.n, d.p, self.transformer.n1)
        yield connect(self.transformer.p2, e.p, f.n)
        yield connect(self.transformer.n2, g.p, h.n)
        yield connect(e.n, g.n, self.coil.p)
        yield connect(self.coil.n, self.capacitor.p, self.load.p)
        yield connect(f.p, h.p, self.capacitor.n, self.load.n, self.other.p)
