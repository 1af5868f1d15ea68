"""Given temperatures and heat flows."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Input, Parameter, Statement

from .interfaces import PartialOnePort


class FixedTemperature(PartialOnePort):
    """Surroundings of constant temperature, ``port.T = T``, whatever heat they take up."""

    T: Parameter = Parameter(unit="K", doc="Temperature")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.port.T, self.T)


class PrescribedTemperature(PartialOnePort):
    """Temperature from a signal, ``port.T = T``.

    A step of the signal takes an infinite heat flow wherever it meets a heat capacity directly.
    """

    T: Input = Input(float, unit="K", doc="Temperature")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.port.T, self.T)


class FixedHeatFlow(PartialOnePort):
    """Constant heat flow, ``port.Q_flow = -Q_flow * (1 + alpha * (port.T - T_ref))``: positive heats what is connected.

    With ``alpha`` the losses of a winding at constant current, whose resistance grows with temperature.
    """

    Q_flow: Parameter = Parameter(unit="W", doc="Heat flow into what is connected, at T_ref")
    T_ref: Parameter = Parameter(default=293.15, unit="K", doc="Temperature at which the heat flow is Q_flow")
    alpha: Parameter = Parameter(default=0.0, unit="1/K", doc="Temperature coefficient of the heat flow")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.port.Q_flow, -self.Q_flow * (1 + self.alpha * (self.port.T - self.T_ref)))


class PrescribedHeatFlow(PartialOnePort):
    """Heat flow from a signal, ``port.Q_flow = -Q_flow``: positive heats what is connected.

    A dependence on temperature is up to the signal.
    """

    Q_flow: Input = Input(float, unit="W", doc="Heat flow into what is connected")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.port.Q_flow, -self.Q_flow)
