"""Heat port and partial components."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Component, Eq, Expr, Flow, Port, Statement, Structural, Variable


class HeatPort(Port):
    """Thermal port: temperature and heat flow."""

    T: Variable = Variable(unit="K", start=293.15, doc="Temperature")
    Q_flow: Flow = Flow(unit="W", doc="Heat flow into the component")

    def power(self) -> Expr:
        """Return the heat flow itself: it is a power, in W."""
        return self.Q_flow


class PartialOnePort(Component):
    """Partial: component with one heat port, such as surroundings or a sensor."""

    port = HeatPort()


class PartialTwoPorts(Component):
    """Partial: component with two heat ports."""

    port_a = HeatPort()
    port_b = HeatPort()


class Element1D(PartialTwoPorts):
    """Partial: heat passes from ``port_a`` to ``port_b`` without being stored.

    ``dT = port_a.T - port_b.T`` and ``Q_flow = port_a.Q_flow = -port_b.Q_flow``.
    """

    Q_flow: Variable = Variable(unit="W", doc="Heat flow from port_a to port_b")
    dT: Variable = Variable(unit="K", doc="Temperature of port_a above that of port_b")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.dT, self.port_a.T - self.port_b.T)
        yield Eq(self.port_a.Q_flow, self.Q_flow)
        yield Eq(self.port_b.Q_flow, -self.Q_flow)


class PartialConditionalHeatPort(Component):
    """Partial: a lossy part of any domain, which heats ``heatPort`` while ``useHeatPort`` is true.

    The heat has to be taken up by something. Losses are products, so the model is on the general path. What is lost in an
    impulse does not reach the port.
    """

    useHeatPort: Structural[bool] = Structural(
        bool, default=False, doc="True: the loss leaves through heatPort, a HeatPort"
    )

    def build(self) -> None:
        super().build()
        if self.useHeatPort:
            self.heatPort = HeatPort()

    def heat(self, loss: Expr) -> Iterator[Statement]:
        """Yield that the power ``loss`` leaves through ``heatPort``, if there is one."""
        if self.useHeatPort:
            yield Eq(self.heatPort.Q_flow, -loss)


def linear_temperature_dependency(x: Expr, T_ref: Expr, alpha20: Expr, T: Expr) -> Expr:
    """Return at temperature ``T`` what is ``x`` at ``T_ref`` and varies by ``alpha20`` of its value at 20 degC per kelvin."""
    return x * (1 + alpha20 * (T - 293.15)) / (1 + alpha20 * (T_ref - 293.15))
