"""Converters and a mechanism that do the same time after time."""

from __future__ import annotations

from collections.abc import Iterator

from acausal import (
    Circuit,
    Component,
    Discrete,
    Eq,
    Input,
    Parameter,
    Statement,
    assign,
    connect,
    pre,
    sample,
    when,
)
from acausal.components import electrical as el
from acausal.components.blocks import PWM, Carrier, ComplementaryPWM, NaturalPWM, SampledPI, Sine
from acausal.components.translational import CoulombFriction, Fixed, Force, Mass


class Converter(Component):
    """24 V step down into a capacitor with ``load`` ohms."""

    load: Parameter = Parameter(default=5.0, unit="Ohm")

    def build(self) -> None:
        self.source, self.ground = el.ConstantVoltage(V=24.0), el.Ground()
        self.switch, self.diode = el.IdealClosingSwitch(), el.IdealDiode()
        self.inductor, self.capacitor = el.Inductor(L=47e-6), el.Capacitor(C=100e-6)
        self.resistor = el.Resistor(R=self.load)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.switch.p)
        yield connect(self.switch.n, self.diode.n, self.inductor.p)
        yield connect(self.inductor.n, self.capacitor.p, self.resistor.p)
        yield connect(self.source.n, self.diode.p, self.capacitor.n, self.resistor.n, self.ground.p)


class Chopped(Converter):
    """Switched by a clock; its current does not vanish at first, and does once the capacitor is full."""

    def build(self) -> None:
        super().build()
        self.pwm = PWM(frequency=100e3, duty=0.4)

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield connect(self.pwm.y, self.switch.control)


class Regulated(Converter):
    """Switched by a sampled controller with limits, which reads the output."""

    def build(self) -> None:
        super().build()
        self.control = SampledPI(reference=12.0, measurement=self.capacitor.v, kp=0.02, ki=50.0, period=1e-5)
        self.pwm = PWM(frequency=100e3, duty=self.control.y)

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield connect(self.pwm.y, self.switch.control)


class Hysteretic(Converter):
    """Switched by comparisons of the output with two limits: relations of states."""

    on: Discrete = Discrete(bool, start=True)

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.switch.control, self.on)
        yield when(self.capacitor.v > 12.1, assign(self.on, False)).elsewhen(
            self.capacitor.v < 11.9, assign(self.on, True)
        )


class NaturallySampled(Component):
    """A half bridge whose switch follows the comparison of a sine with a triangle, with a diode below."""

    def build(self) -> None:
        self.source, self.ground = el.ConstantVoltage(V=100.0), el.Ground()
        self.sine = Sine(amplitude=0.4, f=50.0, offset=0.5)
        self.pwm = NaturalPWM(frequency=1e3, duty=self.sine.y)
        self.switch, self.diode = el.IdealClosingSwitch(), el.IdealDiode()
        self.inductor, self.resistor = el.Inductor(L=1e-3), el.Resistor(R=2.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.switch.p)
        yield connect(self.switch.n, self.diode.n, self.inductor.p)
        yield connect(self.inductor.n, self.resistor.p)
        yield connect(self.source.n, self.diode.p, self.resistor.n, self.ground.p)
        yield connect(self.pwm.y, self.switch.control)


class Rectifier(Component):
    """A thyristor, fired late in each half wave, into an inductive load: it latches until its current vanishes."""

    def build(self) -> None:
        self.source, self.ground = el.SineVoltage(V=325.0, f=50.0), el.Ground()
        self.pwm = PWM(frequency=50.0, duty=0.05, startTime=4e-3)
        self.thyristor = el.IdealThyristor()
        self.inductor, self.resistor = el.Inductor(L=10e-3), el.Resistor(R=10.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.thyristor.p)
        yield connect(self.thyristor.n, self.inductor.p)
        yield connect(self.inductor.n, self.resistor.p)
        yield connect(self.source.n, self.resistor.n, self.ground.p)
        yield connect(self.pwm.y, self.thyristor.fire)


class Dragged(Component):
    """A mass in dry friction that a force drags to and fro, in steps of a clock."""

    push: Discrete = Discrete(float, start=1.5)

    def build(self) -> None:
        self.mass, self.friction, self.ground = Mass(m=1.0), CoulombFriction(f_coulomb=1.0), Fixed()
        self.force = Force(f=self.push)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.force.flange, self.mass.flange_a)
        yield connect(self.mass.flange_b, self.friction.flange_a)
        yield connect(self.friction.flange_b, self.ground.flange)
        yield when(sample(period=0.1), assign(self.push, -pre(self.push)))


class Across(Component):
    """A half bridge with two diodes across each switch: where that is closed, either branch of these suits."""

    u: Input = Input(float, unit="V")

    def build(self) -> None:
        self.source, self.ground, self.feed = el.SignalVoltage(v=self.u), el.Ground(), el.Resistor(R=0.1)
        self.pwm, self.capacitor = PWM(frequency=1e4, duty=0.4), el.Capacitor(C=1e-5)
        self.high, self.low = el.IdealClosingSwitch(), el.IdealClosingSwitch()
        self.above, self.below = ([el.IdealDiode(), el.IdealDiode()] for _ in range(2))
        self.inductor, self.load = el.Inductor(L=1e-4), el.Resistor(R=2.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.pwm.y, self.high.control)
        yield connect(self.pwm.notY, self.low.control)
        yield connect(self.source.p, self.feed.p)
        yield connect(self.feed.n, self.capacitor.p, self.high.p, *(d.n for d in self.above))
        yield connect(self.high.n, self.low.p, self.inductor.p, *(d.p for d in self.above))
        yield connect(self.high.n, *(d.n for d in self.below))
        yield connect(self.inductor.n, self.load.p)
        yield connect(self.source.n, self.capacitor.n, self.low.n, self.load.n, self.ground.p)
        yield connect(self.low.n, *(d.p for d in self.below))


def ramped_network() -> Circuit:
    """Capacitors that a ramp charges through a switch with dead times: short segments follow flows of their own."""
    circuit = Circuit()
    ground, source = (
        circuit.add("ground", el.Ground()),
        circuit.add("source", el.RampVoltage(V=20.0, duration=5e-4, startTime=1.5e-4)),
    )
    a, b, c = (circuit.add(f"c{k}", el.Capacitor(C=C)) for k, C in enumerate((4.259e-6, 2.222e-5, 7.055e-5)))
    values = (3.199, 16.71, 10.06, 1.152, 10.52)
    r = [circuit.add(f"r{k}", el.Resistor(R=R)) for k, R in enumerate(values)]
    diode, switch = circuit.add("diode", el.IdealDiode()), circuit.add("switch", el.IdealClosingSwitch())
    gate = circuit.add(
        "gate",
        ComplementaryPWM(
            frequency=2e4, duty=0.4, carrier=Carrier.TRIANGLE, phase=1 / 3, dead_time=0.05 / 2e4
        ),
    )
    circuit.connect(source.n, ground.p, a.n, b.n, c.n, r[4].n)
    circuit.connect(source.p, r[0].p, r[3].p)
    circuit.connect(r[0].n, c.p, r[1].p)
    circuit.connect(r[1].n, diode.p)
    circuit.connect(b.p, r[2].p)
    circuit.connect(r[3].n, switch.p)
    circuit.connect(diode.n, a.p, r[2].n, switch.n, r[4].p)
    circuit.connect(gate.high, switch.control)
    return circuit


class SineBoost(Component):
    """A step-up converter behind a diode at a sine: an edge of the clock finds a current, or none, or a voltage too low."""

    def build(self) -> None:
        self.source, self.ground = el.SineVoltage(V=10.0, f=50.0), el.Ground()
        self.rectifier, self.diode = el.IdealDiode(), el.IdealDiode()
        self.resistor, self.inductor = el.Resistor(R=0.5), el.Inductor(L=1e-3)
        self.capacitor, self.load = el.Capacitor(C=2e-3), el.Resistor(R=20.0)
        self.switch, self.pwm = el.IdealClosingSwitch(), PWM(frequency=333.0, duty=0.3)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.pwm.y, self.switch.control)
        yield connect(self.source.p, self.rectifier.p)
        yield connect(self.rectifier.n, self.resistor.p)
        yield connect(self.resistor.n, self.inductor.p)
        yield connect(self.inductor.n, self.switch.p, self.diode.p)
        yield connect(self.diode.n, self.capacitor.p, self.load.p)
        yield connect(self.source.n, self.switch.n, self.capacitor.n, self.load.n, self.ground.p)
