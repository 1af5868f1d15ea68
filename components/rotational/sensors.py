"""Ideal sensors: they neither move nor load what they measure."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Output, Statement, Variable, der

from .interfaces import PartialOneFlange, PartialTwoFlanges


class AngleSensor(PartialOneFlange):
    """Angle of a flange, ``phi = flange.phi``."""

    phi: Output = Output(float, unit="rad", doc="Angle")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.tau, 0)
        yield Eq(self.phi, self.flange.phi)


class SpeedSensor(PartialOneFlange):
    """Speed of a flange, ``w = der(flange.phi)``."""

    w: Output = Output(float, unit="rad/s", doc="Speed")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.tau, 0)
        yield Eq(self.w, der(self.flange.phi))


class AccSensor(PartialOneFlange):
    """Acceleration of a flange, ``a = der(der(flange.phi))``.

    At an impact it is an impulse, which no signal shows.
    """

    w: Variable = Variable(unit="rad/s", doc="Speed")
    a: Output = Output(float, unit="rad/s2", doc="Acceleration")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.tau, 0)
        yield Eq(self.w, der(self.flange.phi))
        yield Eq(self.a, der(self.w))


class PartialRelativeSensor(PartialTwoFlanges):
    """Sensor between two flanges that transmits no torque."""

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange_a.tau, 0)
        yield Eq(self.flange_b.tau, 0)


class RelAngleSensor(PartialRelativeSensor):
    """Angle between two flanges, ``phi_rel = flange_b.phi - flange_a.phi``."""

    phi_rel: Output = Output(float, unit="rad", doc="Angle of flange_b relative to flange_a")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.phi_rel, self.flange_b.phi - self.flange_a.phi)


class RelSpeedSensor(PartialRelativeSensor):
    """Relative speed of two flanges, ``w_rel = der(flange_b.phi - flange_a.phi)``."""

    w_rel: Output = Output(float, unit="rad/s", doc="Speed of flange_b relative to flange_a")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.w_rel, der(self.flange_b.phi - self.flange_a.phi))


class RelAccSensor(PartialRelativeSensor):
    """Relative acceleration of two flanges, ``a_rel = der(w_rel)``, ``w_rel = der(flange_b.phi - flange_a.phi)``."""

    w_rel: Variable = Variable(unit="rad/s", doc="Speed of flange_b relative to flange_a")
    a_rel: Output = Output(float, unit="rad/s2", doc="Acceleration of flange_b relative to flange_a")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.w_rel, der(self.flange_b.phi - self.flange_a.phi))
        yield Eq(self.a_rel, der(self.w_rel))


class TorqueSensor(PartialTwoFlanges):
    """Torque through a rigid shaft, ``tau = flange_a.tau``."""

    tau: Output = Output(float, unit="N.m", doc="Torque from flange_a to flange_b")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange_a.phi, self.flange_b.phi)
        yield Eq(self.flange_a.tau + self.flange_b.tau, 0)
        yield Eq(self.tau, self.flange_a.tau)


class PowerSensor(PartialTwoFlanges):
    """Power through a rigid shaft, ``power = flange_a.tau * der(flange_a.phi)``.

    The power of an impact is not finite, and no signal shows it.
    """

    power: Output = Output(float, unit="W", doc="Power from flange_a to flange_b")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange_a.phi, self.flange_b.phi)
        yield Eq(self.flange_a.tau + self.flange_b.tau, 0)
        yield Eq(self.power, self.flange_a.tau * der(self.flange_a.phi))


class MultiSensor(PartialTwoFlanges):
    """Speed, torque and power through a rigid shaft: ``w``, ``tau = flange_a.tau``, ``power = tau * w``."""

    w: Output = Output(float, unit="rad/s", doc="Speed")
    tau: Output = Output(float, unit="N.m", doc="Torque from flange_a to flange_b")
    power: Output = Output(float, unit="W", doc="Power from flange_a to flange_b")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange_a.phi, self.flange_b.phi)
        yield Eq(self.flange_a.tau + self.flange_b.tau, 0)
        yield Eq(self.w, der(self.flange_a.phi))
        yield Eq(self.tau, self.flange_a.tau)
        yield Eq(self.power, self.tau * self.w)
