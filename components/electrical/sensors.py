"""Sensors: they measure without disturbing the circuit, and give a signal."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Component, Eq, Output, Statement

from .interfaces import Pin


class PotentialSensor(Component):
    """Potential against ground, ``phi = p.v``, ``p.i = 0``.

    Infinite input resistance and bandwidth.
    """

    p = Pin()
    phi: Output = Output(float, unit="V", doc="Potential of p against ground")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.phi, self.p.v)
        yield Eq(self.p.i, 0)


class VoltageSensor(Component):
    """Voltage between two pins, ``v = p.v - n.v``, ``p.i = n.i = 0``.

    Infinite input resistance and bandwidth.
    """

    p = Pin()
    n = Pin()
    v: Output = Output(float, unit="V", doc="Voltage from p to n")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.v, self.p.v - self.n.v)
        yield Eq(self.p.i, 0)
        yield Eq(self.n.i, 0)


class CurrentSensor(Component):
    """Current through a wire, ``i = p.i``, ``p.v = n.v``.

    No burden resistance, infinite bandwidth.
    """

    p = Pin()
    n = Pin()
    i: Output = Output(float, unit="A", doc="Current from p to n")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.i, self.p.i)
        yield Eq(self.p.v, self.n.v)
        yield Eq(0, self.p.i + self.n.i)


class PowerSensor(Component):
    """Instantaneous power, ``power = pc.i * (pv.v - nv.v)``.

    The current path ``pc``-``nc`` is a wire, the voltage path ``pv``-``nv``
    carries no current. The product makes no feedback model nonlinear unless
    ``power`` is fed back into the circuit.
    """

    pc = Pin()
    nc = Pin()
    pv = Pin()
    nv = Pin()
    power: Output = Output(float, unit="W", doc="Power carried by the current path at the measured voltage")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.pc.v, self.nc.v)
        yield Eq(0, self.pc.i + self.nc.i)
        yield Eq(self.pv.i, 0)
        yield Eq(self.nv.i, 0)
        yield Eq(self.power, self.pc.i * (self.pv.v - self.nv.v))
