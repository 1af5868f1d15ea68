"""Models that look broken and are not: what is undetermined in them acts on nothing, or what is redundant is consistent."""

from math import pi

from acausal import Circuit, Component, Eq, Parameter, Variable, time
from acausal.components import blocks, thermal
from acausal.components.electrical import ConstantVoltage, Ground, Resistor, SineVoltage
from acausal.components.rotational import IdealGear, Inertia

from .refusals import Statements


class Three(Component):
    """Three unknowns."""

    x: Variable = Variable()
    y: Variable = Variable()
    z: Variable = Variable()


class StatedTwice(Three):
    """The second equation is the first again."""

    def equations(self) -> Statements:
        yield Eq(self.x + self.y, time)
        yield Eq(self.z, time)
        yield Eq(2 * self.x + 2 * self.y, 2 * time)


class Dependent(Three):
    """The third equation is the sum of the others, by numbers only."""

    a: Parameter = Parameter(default=0.1)
    b: Parameter = Parameter(default=0.2)

    def equations(self) -> Statements:
        yield Eq(self.a * self.x + self.y + self.z, 1)
        yield Eq(self.b * self.x + self.y - self.z, 1)
        yield Eq((self.a + self.b) * self.x + 2 * self.y, 2)


def identity_loop() -> Component:
    """An output that is fed back by a gain of one says nothing."""
    c = Circuit()
    loop, lag = c.add("loop", blocks.Gain(k=1.0)), c.add("lag", blocks.FirstOrder(T=1.0, u=1.0))
    c.connect(loop.y, loop.u)
    del lag
    return c


def gears(*ratios: float, total: float) -> Circuit:
    """A turning shaft drives another through some gears in a row, and through a single one beside them."""
    c = Circuit()
    shaft, load = c.add("shaft", Inertia(J=1.0, w=10.0)), c.add("load", Inertia(J=2.0))
    end = shaft.flange_b
    for k, ratio in enumerate(ratios):
        gear = c.add(f"gear{k}", IdealGear(ratio=ratio))
        c.connect(end, gear.flange_a)
        end = gear.flange_b
    beside = c.add("beside", IdealGear(ratio=total))
    c.connect(shaft.flange_b, beside.flange_a)
    c.connect(end, beside.flange_b, load.flange_a)
    return c


def floating_circuit() -> Circuit:
    """A source on a resistor, and no ground."""
    c = Circuit()
    source, load = c.add("source", ConstantVoltage(V=1.0)), c.add("load", Resistor(R=2.0))
    c.connect(source.p, load.p)
    c.connect(source.n, load.n)
    return c


def equal_sources() -> Circuit:
    """Two sources of one value in parallel, one of them written differently."""
    c = Circuit()
    a, b = (
        c.add("a", SineVoltage(V=1.0, f=50.0, phase=0.0)),
        c.add("b", SineVoltage(V=1.0, f=50.0, phase=2 * pi - 2 * pi)),
    )
    load, ground = c.add("load", Resistor(R=1.0)), c.add("ground", Ground())
    c.connect(a.p, b.p, load.p)
    c.connect(a.n, b.n, load.n, ground.p)
    return c


def open_heat_port() -> Circuit:
    """A body that exchanges heat with nothing."""
    c = Circuit()
    c.add("body", thermal.HeatCapacitor(C=1.0, T=300.0))
    return c
