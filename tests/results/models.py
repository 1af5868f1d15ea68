"""Small models with closed forms."""

from collections.abc import Iterator

from acausal import Circuit, Component, Parameter, Statement, connect
from acausal.components.blocks import PWM, BooleanStep
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Ground,
    IdealClosingSwitch,
    IdealDiode,
    Inductor,
    Resistor,
)


class Discharge(Component):
    """``v' = -v / (R C)`` from 10 V."""

    R: Parameter = Parameter(default=1e3, unit="Ohm", min=0)

    def build(self) -> None:
        self.capacitor = Capacitor(C=1e-6, v=10.0)
        self.load = Resistor(R=self.R)
        self.ground = Ground()

    def equations(self) -> Iterator[Statement]:
        yield connect(self.capacitor.p, self.load.p)
        yield connect(self.capacitor.n, self.load.n, self.ground.p)


class Buck(Component):
    """Step-down converter."""

    duty: Parameter = Parameter(default=0.4, unit="1")

    def build(self) -> None:
        self.source = ConstantVoltage(V=24.0)
        self.pwm = PWM(frequency=100e3, duty=self.duty)
        self.switch = IdealClosingSwitch()
        self.diode = IdealDiode()
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


def sharing(t_close: float = 1e-3) -> Circuit:
    """1 uF at 10 V is joined with 3 uF at 0 V by an ideal switch: 2.5 V, 37.5 uJ lost."""
    c = Circuit()
    a, b = c.add("a", Capacitor(C=1e-6, v=10.0)), c.add("b", Capacitor(C=3e-6, v=0.0))
    switch, ground = c.add("switch", IdealClosingSwitch()), c.add("ground", Ground())
    step = c.add("step", BooleanStep(startTime=t_close))
    c.connect(a.p, switch.p)
    c.connect(switch.n, b.p)
    c.connect(a.n, b.n, ground.p)
    c.connect(step.y, switch.control)
    return c
