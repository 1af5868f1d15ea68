"""Transistors with charges, and the NAND gate that the public test set for initial value problems makes of them."""

from __future__ import annotations

from collections.abc import Iterator

from acausal import (
    Component,
    Eq,
    Expr,
    Parameter,
    Statement,
    connect,
    exp,
    if_else,
    maximum,
    minimum,
    no_event,
    sqrt,
)
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Ground,
    JunctionCapacitor,
    OnePort,
    Pin,
    Resistor,
    TrapezoidVoltage,
)


class Channel(Component):
    """Current from drain ``D`` to source ``S`` of Shichman and Hodges, whichever of the two is the lower one.

    ``i = beta * w * (2 * u - w) * (1 + delta * vds)`` with ``u`` the voltage of the gate above the threshold, at least
    zero, and ``w = min(vds, u)``; ``beta_back`` counts where the drain is the lower one. ``Bs`` and ``Bd`` are the bulk at the
    source ``So`` and at the drain ``Do``.
    """

    D, S, G, Bs, Bd, So, Do = Pin(), Pin(), Pin(), Pin(), Pin(), Pin(), Pin()
    beta: Parameter = Parameter(unit="A/V2")
    beta_back: Parameter = Parameter(unit="A/V2")
    vt0: Parameter = Parameter(unit="V")
    gamma: Parameter = Parameter(unit="1")
    phi: Parameter = Parameter(unit="V")
    delta: Parameter = Parameter(default=0.02, unit="1")

    def forward(self, beta: Expr, vds: Expr, vgs: Expr, vbs: Expr) -> Expr:
        """Current where drain and source are what they are called."""
        threshold = self.vt0 + self.gamma * (sqrt(maximum(self.phi - vbs, 0.0)) - sqrt(self.phi))
        u = maximum(vgs - threshold, 0.0)
        w = minimum(vds, u)
        return beta * w * (2 * u - w) * (1 + self.delta * vds)

    def equations(self) -> Iterator[Statement]:
        vds = self.D.v - self.S.v
        there = self.forward(self.beta, vds, self.G.v - self.S.v, self.Bs.v - self.So.v)
        back = self.forward(self.beta_back, -vds, self.G.v - self.D.v, self.Bd.v - self.Do.v)
        yield Eq(self.D.i, no_event(if_else(vds >= 0.0, there, -back)))
        yield Eq(self.S.i, -self.D.i)
        for pin in (self.G, self.Bs, self.Bd, self.So, self.Do):
            yield Eq(pin.i, 0.0)


class Leakage(OnePort):
    """Current of a junction against its direction."""

    Is: Parameter = Parameter(default=1e-14, unit="A")
    Vt: Parameter = Parameter(default=25.85, unit="V")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.i, self.Is * (exp(no_event(minimum(self.v, 0.0)) / self.Vt) - 1))


class Transistor(Component):
    """A field-effect transistor with linear charges of the gate and junctions of the bulk."""

    D, G, S, B = Pin(), Pin(), Pin(), Pin()
    beta: Parameter = Parameter(unit="A/V2")
    beta_back: Parameter = Parameter(unit="A/V2")
    vt0: Parameter = Parameter(unit="V")
    gamma: Parameter = Parameter(unit="1")
    phi: Parameter = Parameter(unit="V")

    def build(self) -> None:
        self.channel = Channel(
            beta=self.beta, beta_back=self.beta_back, vt0=self.vt0, gamma=self.gamma, phi=self.phi
        )
        self.RS, self.RD, self.RBS, self.RBD = (
            Resistor(R=4.0),
            Resistor(R=4.0),
            Resistor(R=10.0),
            Resistor(R=10.0),
        )
        self.CGS, self.CGD = Capacitor(C=6e-5), Capacitor(C=6e-5)
        self.CBS, self.CBD = JunctionCapacitor(Cj=2.4e-5, Phi=0.87), JunctionCapacitor(Cj=2.4e-5, Phi=0.87)
        self.DBS, self.DBD = Leakage(), Leakage()

    def equations(self) -> Iterator[Statement]:
        yield connect(self.S, self.RS.n, self.CBS.n, self.DBS.n, self.channel.So)
        yield connect(self.RS.p, self.CGS.n, self.channel.S)
        yield connect(self.D, self.RD.p, self.CBD.n, self.DBD.n, self.channel.Do)
        yield connect(self.RD.n, self.CGD.n, self.channel.D)
        yield connect(self.G, self.CGS.p, self.CGD.p, self.channel.G)
        yield connect(self.B, self.RBS.p, self.RBD.p)
        yield connect(self.RBS.n, self.CBS.p, self.DBS.p, self.channel.Bs)
        yield connect(self.RBD.n, self.CBD.p, self.DBD.p, self.channel.Bd)


class Gate(Component):
    """A load transistor above two that are opened by trapezoids: the output is low while both are open.

    F. Mazzia, C. Magherini, Test Set for Initial Value Problem Solvers, release 2.4 (2008), problem "NAND gate"; the numbers are
    those of its program, in which the lower transistors conduct a tenth as well backwards.
    """

    def build(self) -> None:
        enhancement = {"beta": 1.748e-3, "beta_back": 1.748e-4, "vt0": 0.2, "gamma": 0.035, "phi": 1.01}
        self.load = Transistor(beta=5.35e-4, beta_back=5.35e-4, vt0=-2.43, gamma=0.2, phi=1.28)
        self.upper, self.lower = Transistor(**enhancement), Transistor(**enhancement)
        self.supply, self.bulk = ConstantVoltage(V=5.0), ConstantVoltage(V=-2.5)
        self.first = TrapezoidVoltage(V=5.0, rising=5.0, width=5.0, falling=5.0, period=20.0, startTime=5.0)
        self.second = TrapezoidVoltage(
            V=5.0, rising=5.0, width=15.0, falling=5.0, period=40.0, startTime=15.0
        )
        self.output, self.middle = Capacitor(C=5e-5), Capacitor(C=5e-5)
        self.ground = Ground()

    START = {
        "load.CGS.v": 0.0, "load.CGD.v": 0.0, "load.CBS.v": -7.5, "load.CBD.v": -7.5,
        "upper.CGS.v": -3.62385, "upper.CGD.v": -5.0, "upper.CBS.v": -6.12385, "upper.CBD.v": -7.5,
        "lower.CGS.v": 0.0, "lower.CGD.v": -3.62385, "lower.CBS.v": -2.5, "lower.CBD.v": -6.12385,
        "output.v": 5.0, "middle.v": 3.62385,
    }  # fmt: skip
    """Voltages at time 0."""

    def equations(self) -> Iterator[Statement]:
        yield connect(self.supply.p, self.load.D)
        yield connect(self.load.S, self.load.G, self.upper.D, self.output.p)
        yield connect(self.upper.S, self.lower.D, self.middle.p)
        yield connect(self.first.p, self.upper.G)
        yield connect(self.second.p, self.lower.G)
        yield connect(self.bulk.p, self.load.B, self.upper.B, self.lower.B)
        sources = (self.supply, self.bulk, self.first, self.second)
        yield connect(self.ground.p, self.lower.S, self.output.n, self.middle.n, *(s.n for s in sources))
