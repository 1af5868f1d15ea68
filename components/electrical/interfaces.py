"""Pins and the partial components that all electrical parts start from."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Component, Eq, Expr, Flow, Parameter, Port, Statement, Variable

from ..thermal.interfaces import PartialConditionalHeatPort


class Pin(Port):
    """Electrical pin: potential and current."""

    v: Variable = Variable(unit="V", doc="Potential of the pin against ground")
    i: Flow = Flow(unit="A", doc="Current into the component")

    def power(self) -> Expr:
        """Return the power that flows into the component through this pin, in W."""
        return self.v * self.i


class TwoPin(Component):
    """Partial: two pins, ``v = p.v - n.v``, ``i = p.i``.

    Base of composites, whose parts balance the currents; a component with
    equations of its own starts from `OnePort`.
    """

    p = Pin()
    n = Pin()
    v: Variable = Variable(unit="V", doc="Voltage drop from p to n")
    i: Variable = Variable(unit="A", doc="Current into p")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.v, self.p.v - self.n.v)
        yield Eq(self.i, self.p.i)


class OnePort(TwoPin):
    """Partial: a current flows from ``p`` to ``n``, ``p.i + n.i = 0``.

    A component adds one equation between ``v`` and ``i``; ``v * i`` is the power it takes up.
    """

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(0, self.p.i + self.n.i)


class HeatingOnePort(OnePort, PartialConditionalHeatPort):
    """Partial: a part that turns all the power it takes up into heat, ``v * i``, for its ``heatPort`` if it has one."""

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield from self.heat(self.v * self.i)


class TemperatureDependent(HeatingOnePort):
    """Partial: a part with a resistance that depends linearly on the temperature of its ``heatPort``, if it has one."""

    T_ref: Parameter = Parameter(
        default=300.15, unit="K", doc="Temperature to which the given value belongs, with heatPort"
    )
    alpha: Parameter = Parameter(
        default=0.0, unit="1/K", doc="Temperature coefficient of the resistance, with heatPort"
    )

    def heated(self, R: Expr) -> Expr:
        """Return a resistance given for ``T_ref``, or a voltage across it, as it is at the temperature of ``heatPort``."""
        return R * (1 + self.alpha * (self.heatPort.T - self.T_ref)) if self.useHeatPort else R


class TwoPort(Component):
    """Partial: two pairs of pins, ``v1 = p1.v - n1.v``, ``i1 = p1.i``, and the same for side 2.

    A component adds two equations between ``v1``, ``i1``, ``v2`` and ``i2``.
    The sides are isolated from each other: each needs a path to ground.
    """

    p1 = Pin()
    n1 = Pin()
    p2 = Pin()
    n2 = Pin()
    v1: Variable = Variable(unit="V", doc="Voltage drop from p1 to n1")
    i1: Variable = Variable(unit="A", doc="Current from p1 to n1")
    v2: Variable = Variable(unit="V", doc="Voltage drop from p2 to n2")
    i2: Variable = Variable(unit="A", doc="Current from p2 to n2")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.v1, self.p1.v - self.n1.v)
        yield Eq(self.v2, self.p2.v - self.n2.v)
        yield Eq(self.i1, self.p1.i)
        yield Eq(self.i2, self.p2.i)
        yield Eq(0, self.p1.i + self.n1.i)
        yield Eq(0, self.p2.i + self.n2.i)
