"""Small models of which the structure is known."""

from collections.abc import Iterator

from acausal import Component, Eq, Parameter, Statement, Structural, Variable, connect, cos, der, sin, tan
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Ground,
    IdealClosingSwitch,
    IdealDiode,
    Inductor,
    Resistor,
)
from acausal.components.rotational import ConstantTorque, Inertia


class Series(Component):
    """Source, resistor, inductor and capacitor in a ring."""

    R: Parameter = Parameter(default=2.0, unit="Ohm")

    def build(self) -> None:
        self.source, self.ground = ConstantVoltage(V=5.0), Ground()
        self.r, self.l, self.c = Resistor(R=self.R), Inductor(L=0.5, i=0.3), Capacitor(C=0.25, v=1.5)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.r.p)
        yield connect(self.r.n, self.l.p)
        yield connect(self.l.n, self.c.p)
        yield connect(self.source.n, self.c.n, self.ground.p)


class Parallel(Component):
    """Two capacitors in parallel, with a source beside them or not."""

    fed: Structural[bool] = Structural(bool, default=True)

    def build(self) -> None:
        self.ground, self.a, self.b = Ground(), Capacitor(C=1.0), Capacitor(C=2.0)
        if self.fed:
            self.source = ConstantVoltage(V=3.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.a.p, self.b.p)
        yield connect(self.a.n, self.b.n, self.ground.p)
        if self.fed:
            yield connect(self.source.p, self.a.p)
            yield connect(self.source.n, self.ground.p)


class Buck(Component):
    """A switch, a diode, an inductor and a loaded capacitor."""

    def build(self) -> None:
        self.source, self.ground = ConstantVoltage(V=24.0), Ground()
        self.switch, self.diode = IdealClosingSwitch(control=True), IdealDiode()
        self.l, self.c, self.load = Inductor(L=47e-6), Capacitor(C=100e-6), Resistor(R=5.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.switch.p)
        yield connect(self.switch.n, self.diode.n, self.l.p)
        yield connect(self.l.n, self.c.p, self.load.p)
        yield connect(self.source.n, self.diode.p, self.c.n, self.load.n, self.ground.p)


class Shaft(Component):
    """Three inertias, rigidly coupled, under a torque."""

    def build(self) -> None:
        self.drive = ConstantTorque(tau_constant=6.0)
        self.j = [Inertia(J=float(k + 1)) for k in range(3)]

    def equations(self) -> Iterator[Statement]:
        yield connect(self.drive.flange, self.j[0].flange_a)
        yield connect(self.j[0].flange_b, self.j[1].flange_a)
        yield connect(self.j[1].flange_b, self.j[2].flange_a)


class Pendulum(Component):
    """A point on a circle, in Cartesian coordinates; F is the force per mass and length."""

    L: Parameter = Parameter(default=1.0, unit="m")
    g: Parameter = Parameter(default=9.81, unit="m/s2")
    x: Variable = Variable(unit="m")
    y: Variable = Variable(unit="m")
    vx, vy = Variable(unit="m/s"), Variable(unit="m/s")
    F = Variable(unit="1/s2")

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), self.vx)
        yield Eq(der(self.y), self.vy)
        yield Eq(der(self.vx), -self.F * self.x)
        yield Eq(der(self.vy), -self.F * self.y - self.g)
        yield Eq(self.x**2 + self.y**2, self.L**2)


class SliderCrank(Component):
    """A driven crank, a rod and a piston that slides along x; the loop is closed by its geometry."""

    r: Parameter = Parameter(default=0.1, unit="m")
    L: Parameter = Parameter(default=0.3, unit="m")
    m: Parameter = Parameter(default=2.0, unit="kg")
    J: Parameter = Parameter(default=0.5, unit="kg.m2")
    phi: Variable = Variable(unit="rad", start=0.7)
    w: Variable = Variable(unit="rad/s", start=5.0)
    psi: Variable = Variable(unit="rad", start=-0.2)
    x: Variable = Variable(unit="m", start=0.3)
    v, f, side = Variable(unit="m/s"), Variable(unit="N"), Variable(unit="N")

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.phi), self.w)
        yield Eq(der(self.x), self.v)
        yield Eq(self.r * sin(self.phi), -self.L * sin(self.psi))
        yield Eq(self.x, self.r * cos(self.phi) + self.L * cos(self.psi))
        yield Eq(self.m * der(self.v), self.f)
        yield Eq(self.side, self.f * tan(self.psi))
        yield Eq(self.J * der(self.w), self.f * self.r * sin(self.phi) + self.side * self.r * cos(self.phi))
