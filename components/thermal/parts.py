"""Storage, conduction, convection and radiation of heat."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Component, Eq, Input, Parameter, Statement, Structural, Variable, der

from .interfaces import Element1D, HeatPort, PartialOnePort


class HeatCapacitor(PartialOnePort):
    """Body of one temperature, ``der(C * T) = port.Q_flow``.

    For bodies in which heat spreads faster than it arrives (Biot number below about 0.1). Where it does not, use
    several with `ThermalConductor` between them.
    """

    C: Parameter = Parameter(unit="J/K", min=0, doc="Heat capacity")
    T: Variable = Variable(unit="K", start=293.15, doc="Temperature")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.T, self.port.T)
        yield Eq(der(self.C * self.T), self.port.Q_flow)


class ThermalConductor(Element1D):
    """Conduction of heat, ``Q_flow = G * dT``.

    ``G = k * A / L`` for a plate of area A and thickness L of a material of conductivity k. It stores no heat, and its
    conductivity does not depend on temperature. ``G = 0`` insulates.
    """

    G: Parameter = Parameter(unit="W/K", min=0, doc="Thermal conductance")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.Q_flow, self.G * self.dT)


class ThermalResistor(Element1D):
    """Conduction of heat, ``dT = R * Q_flow``.

    As `ThermalConductor`, for a given resistance. ``R = 0`` is a plain connection.
    """

    R: Parameter = Parameter(unit="K/W", min=0, doc="Thermal resistance")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.dT, self.R * self.Q_flow)


class PartialConvection(Component):
    """Partial: heat passes between a solid and a fluid, ``dT = solid.T - fluid.T``, ``Q_flow = solid.Q_flow``."""

    solid = HeatPort()
    fluid = HeatPort()
    Q_flow: Variable = Variable(unit="W", doc="Heat flow from solid to fluid")
    dT: Variable = Variable(unit="K", doc="Temperature of the solid above that of the fluid")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.dT, self.solid.T - self.fluid.T)
        yield Eq(self.solid.Q_flow, self.Q_flow)
        yield Eq(self.fluid.Q_flow, -self.Q_flow)


class Convection(PartialConvection):
    """Convection between a solid and a fluid, ``Q_flow = Gc * dT``.

    ``Gc = A * h`` with the surface A and the coefficient of heat transfer h, which follows from the flow of the fluid
    and is given from outside. It multiplies an unknown, so the model is on the general path; for a coefficient that never
    changes take `ThermalConductor`.
    """

    Gc: Input = Input(float, unit="W/K", doc="Convective thermal conductance")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.Q_flow, self.Gc * self.dT)


class ConvectiveResistor(PartialConvection):
    """Convection between a solid and a fluid, ``dT = Rc * Q_flow``.

    As `Convection`, for a given resistance; for one that never changes take `ThermalResistor`. ``Rc = 0`` is perfect contact.
    """

    Rc: Input = Input(float, unit="K/W", doc="Convective thermal resistance")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.dT, self.Rc * self.Q_flow)


class BodyRadiation(Element1D):
    """Radiation between two grey bodies, ``Q_flow = Gr * sigma * (port_a.T**4 - port_b.T**4)``.

    ``Gr`` contains areas, emissivities and view factors: ``e * A`` for a small body in large surroundings; for two large
    parallel plates ``A / (1 / e1 + 1 / e2 - 1)``. Nothing between the bodies absorbs, and the emissivities do not depend on
    wavelength or temperature. Temperatures are absolute.
    """

    Gr: Parameter = Parameter(unit="m2", min=0, doc="Net radiation conductance")
    sigma: Parameter = Parameter(
        default=5.670374419e-8, unit="W/(m2.K4)", doc="Stefan-Boltzmann constant, CODATA 2018"
    )

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        a, b = self.port_a.T, self.port_b.T
        yield Eq(self.Q_flow, self.Gr * self.sigma * (a**4 - b**4))


def _problem_of_count(m: int) -> str:
    return "" if m >= 1 else f"must be at least 1, got {m}"


class ThermalCollector(Component):
    """Joins ``m`` heat ports ``port_a[k]`` in ``port_b``: equal temperatures, ``port_b.Q_flow + sum(port_a.Q_flow) = 0``."""

    port_b = HeatPort()
    m: Structural[int] = Structural(
        int, default=3, check=_problem_of_count, doc="Number of collected heat ports"
    )

    def build(self) -> None:
        self.port_a = [HeatPort() for _ in range(self.m)]

    def equations(self) -> Iterator[Statement]:
        for port in self.port_a:
            yield Eq(port.T, self.port_b.T)
        yield Eq(self.port_b.Q_flow + sum(port.Q_flow for port in self.port_a), 0)
