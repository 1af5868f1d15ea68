"""Ideal sensors: they neither move nor load what they measure."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Output, Statement, Variable, der

from .interfaces import PartialOneFlange, PartialTwoFlanges


class PositionSensor(PartialOneFlange):
    """Position of a flange, ``s = flange.s``."""

    s: Output = Output(float, unit="m", doc="Position")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.f, 0)
        yield Eq(self.s, self.flange.s)


class SpeedSensor(PartialOneFlange):
    """Speed of a flange, ``v = der(flange.s)``."""

    v: Output = Output(float, unit="m/s", doc="Speed")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.f, 0)
        yield Eq(self.v, der(self.flange.s))


class AccSensor(PartialOneFlange):
    """Acceleration of a flange, ``a = der(der(flange.s))``.

    At an impact it is an impulse, which no signal shows.
    """

    v: Variable = Variable(unit="m/s", doc="Speed")
    a: Output = Output(float, unit="m/s2", doc="Acceleration")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.f, 0)
        yield Eq(self.v, der(self.flange.s))
        yield Eq(self.a, der(self.v))


class PartialRelativeSensor(PartialTwoFlanges):
    """Sensor between two flanges that transmits no force."""

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange_a.f, 0)
        yield Eq(self.flange_b.f, 0)


class RelPositionSensor(PartialRelativeSensor):
    """Distance between two flanges, ``s_rel = flange_b.s - flange_a.s``."""

    s_rel: Output = Output(float, unit="m", doc="Distance from flange_a to flange_b")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.s_rel, self.flange_b.s - self.flange_a.s)


class RelSpeedSensor(PartialRelativeSensor):
    """Relative speed of two flanges, ``v_rel = der(flange_b.s - flange_a.s)``."""

    v_rel: Output = Output(float, unit="m/s", doc="Speed of flange_b relative to flange_a")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.v_rel, der(self.flange_b.s - self.flange_a.s))


class RelAccSensor(PartialRelativeSensor):
    """Relative acceleration of two flanges, ``a_rel = der(v_rel)``, ``v_rel = der(flange_b.s - flange_a.s)``."""

    v_rel: Variable = Variable(unit="m/s", doc="Speed of flange_b relative to flange_a")
    a_rel: Output = Output(float, unit="m/s2", doc="Acceleration of flange_b relative to flange_a")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.v_rel, der(self.flange_b.s - self.flange_a.s))
        yield Eq(self.a_rel, der(self.v_rel))


class ForceSensor(PartialTwoFlanges):
    """Force through a rigid connection, ``f = flange_a.f``."""

    f: Output = Output(float, unit="N", doc="Force from flange_a to flange_b")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange_a.s, self.flange_b.s)
        yield Eq(self.flange_a.f + self.flange_b.f, 0)
        yield Eq(self.f, self.flange_a.f)


class PowerSensor(PartialTwoFlanges):
    """Power through a rigid connection, ``power = flange_a.f * der(flange_a.s)``.

    The power of an impact is not finite, and no signal shows it.
    """

    power: Output = Output(float, unit="W", doc="Power from flange_a to flange_b")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange_a.s, self.flange_b.s)
        yield Eq(self.flange_a.f + self.flange_b.f, 0)
        yield Eq(self.power, self.flange_a.f * der(self.flange_a.s))


class MultiSensor(PartialTwoFlanges):
    """Speed, force and power through a rigid connection: ``v``, ``f = flange_a.f``, ``power = f * v``."""

    v: Output = Output(float, unit="m/s", doc="Speed")
    f: Output = Output(float, unit="N", doc="Force from flange_a to flange_b")
    power: Output = Output(float, unit="W", doc="Power from flange_a to flange_b")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange_a.s, self.flange_b.s)
        yield Eq(self.flange_a.f + self.flange_b.f, 0)
        yield Eq(self.v, der(self.flange_a.s))
        yield Eq(self.f, self.flange_a.f)
        yield Eq(self.power, self.f * self.v)
