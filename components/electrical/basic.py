"""Linear parts: ground, resistor, capacitor, inductors, transformer."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Component, Eq, Parameter, Statement, Variable, der, if_else, require, sqrt

from .interfaces import OnePort, Pin, TemperatureDependent, TwoPort


class Ground(Component):
    """Reference node, ``p.v = 0``.

    Every circuit needs one; without it the potentials are known only relative to each other.
    """

    p = Pin()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.p.v, 0)


class Resistor(TemperatureDependent):
    """Ideal linear resistor, ``v = R * i``.

    With ``useHeatPort`` the resistance at the temperature of ``heatPort``: ``v = R * (1 + alpha * (heatPort.T - T_ref)) * i``,
    ``heatPort.Q_flow = -v * i``. Inductance and noise are left out. ``R = 0`` is a plain connection.
    """

    R: Parameter = Parameter(unit="Ohm", min=0, doc="Resistance, with heatPort at T_ref")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.v, self.heated(self.R) * self.i)


class Conductor(TemperatureDependent):
    """Ideal linear conductor, ``i = G * v``.

    As `Resistor`, for a given conductance; with ``useHeatPort``: ``(1 + alpha * (heatPort.T - T_ref)) * i = G * v``.
    ``G = 0`` is an open circuit.
    """

    G: Parameter = Parameter(unit="S", min=0, doc="Conductance, with heatPort at T_ref")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.heated(self.i), self.G * self.v)


class Capacitor(OnePort):
    """Ideal linear capacitor, ``i = der(C * v)``.

    Series resistance, leakage and dependence on the voltage are left out.
    Connected to an ideal source of another voltage it takes its charge in an
    impulse of current; half of the energy supplied is then lost.
    """

    C: Parameter = Parameter(unit="F", min=0, doc="Capacitance")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.i, der(self.C * self.v))


class Inductor(OnePort):
    """Ideal linear inductor, ``v = der(L * i)``.

    Winding resistance, core losses and saturation are left out. A current
    that is cut off has no finite answer: the run ends with an error, unless
    the opening element allows the loss.
    """

    L: Parameter = Parameter(unit="H", min=0, doc="Inductance")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.v, der(self.L * self.i))


class CoupledInductors(TwoPort):
    """Two windings on one core: a leakage inductance each, and a common magnetising current.

    ``im = i1 + n * i2``,
    ``v1 = der((1 - k) * L1 * i1 + k * L1 * im)``,
    ``v2 = der((1 - k) * L2 * i2 + n * k * L1 * im)``, with ``n = sqrt(L2 / L1)``.

    The same as ``v1 = L1 * der(i1) + M * der(i2)``, ``v2 = M * der(i1) + L2 * der(i2)``, ``M = k * sqrt(L1 * L2)``,
    written so that ``k = 1`` leaves exactly one state: then ``v2 = n * v1``, and a winding that is cut off hands
    its ampere-turns over to the other. Saturation and core losses are left out.
    """

    L1: Parameter = Parameter(unit="H", min=0, doc="Inductance of winding 1 alone")
    L2: Parameter = Parameter(unit="H", min=0, doc="Inductance of winding 2 alone")
    k: Parameter = Parameter(unit="1", min=0, max=1, doc="Coupling factor; 1: no leakage")
    im: Variable = Variable(unit="A", doc="Magnetising current as seen from winding 1")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield require(self.L1 > 0, "the inductance `L1` must be positive")
        # A requirement is checked only after all factors have been found finite.
        n = sqrt(self.L2 / if_else(self.L1 > 0, self.L1, 1))
        yield Eq(self.im, self.i1 + n * self.i2)
        yield Eq(self.v1, der((1 - self.k) * self.L1 * self.i1 + self.k * self.L1 * self.im))
        yield Eq(self.v2, der((1 - self.k) * self.L2 * self.i2 + n * self.k * self.L1 * self.im))


class IdealTransformer(TwoPort):
    """Ideal transformer, ``v1 = n * v2``, ``i2 = -n * i1``.

    There is no magnetising current: the ratio holds for direct current too,
    where a real transformer saturates. With magnetising current: `CoupledInductors` with ``k = 1``.
    """

    n: Parameter = Parameter(unit="1", doc="Turns ratio, side 1 to side 2")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.v1, self.n * self.v2)
        yield Eq(self.i2, -self.n * self.i1)
