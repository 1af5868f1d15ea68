"""Ideal sensors: they take no heat and change no temperature."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Output, Statement

from .interfaces import PartialOnePort, PartialTwoPorts


class TemperatureSensor(PartialOnePort):
    """Absolute temperature, ``T = port.T``.

    Without delay: a real one shows the temperature of its own body, a `HeatCapacitor` behind a `ThermalConductor`.
    """

    T: Output = Output(float, unit="K", doc="Temperature")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.port.Q_flow, 0)
        yield Eq(self.T, self.port.T)


class RelTemperatureSensor(PartialTwoPorts):
    """Difference of temperatures, ``T_rel = port_a.T - port_b.T``."""

    T_rel: Output = Output(float, unit="K", doc="Temperature of port_a above that of port_b")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.port_a.Q_flow, 0)
        yield Eq(self.port_b.Q_flow, 0)
        yield Eq(self.T_rel, self.port_a.T - self.port_b.T)


class HeatFlowSensor(PartialTwoPorts):
    """Heat flow through a connection, ``Q_flow = port_a.Q_flow``."""

    Q_flow: Output = Output(float, unit="W", doc="Heat flow from port_a to port_b")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.port_a.T, self.port_b.T)
        yield Eq(self.port_a.Q_flow + self.port_b.Q_flow, 0)
        yield Eq(self.Q_flow, self.port_a.Q_flow)
