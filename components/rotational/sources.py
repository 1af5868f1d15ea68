"""Torques and prescribed motions."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Input, Parameter, Statement, Variable, der, if_else, time

from .interfaces import PartialOneFlange, PartialTwoFlanges


class Torque(PartialOneFlange):
    """Torque from a signal, ``flange.tau = -tau``: positive ``tau`` accelerates what is connected."""

    tau: Input = Input(float, unit="N.m", doc="Torque on the connected component")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.tau, -self.tau)


class Torque2(PartialTwoFlanges):
    """Torque from a signal between two flanges, ``flange_a.tau = tau`` and ``flange_b.tau = -tau``.

    Positive ``tau`` accelerates ``flange_b`` and ``flange_a`` the other way.
    """

    tau: Input = Input(float, unit="N.m", doc="Torque on what is connected to flange_b")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange_a.tau, self.tau)
        yield Eq(self.flange_b.tau, -self.tau)


class ConstantTorque(PartialOneFlange):
    """Constant torque, ``flange.tau = -tau_constant``: positive values accelerate what is connected."""

    tau_constant: Parameter = Parameter(unit="N.m", doc="Torque on the connected component")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.tau, -self.tau_constant)


class TorqueStep(PartialOneFlange):
    """Torque that steps by ``stepTorque`` at ``startTime``, ``flange.tau = -(offsetTorque + step)``."""

    stepTorque: Parameter = Parameter(unit="N.m", doc="Height of the step")
    offsetTorque: Parameter = Parameter(default=0.0, unit="N.m", doc="Torque before the step")
    startTime: Parameter = Parameter(default=0.0, unit="s", doc="Time of the step")

    def equations(self) -> Iterator[Statement]:
        step = if_else(time < self.startTime, 0.0, self.stepTorque)
        yield Eq(self.flange.tau, -(self.offsetTorque + step))


class ConstantSpeed(PartialOneFlange):
    """Rotation with constant speed against any torque, ``der(phi) = w_fixed``."""

    w_fixed: Parameter = Parameter(unit="rad/s", doc="Speed")
    phi: Variable = Variable(unit="rad", doc="Angle")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.phi, self.phi)
        yield Eq(der(self.phi), self.w_fixed)


class Speed(PartialOneFlange):
    """Rotation with the speed of a signal against any torque, ``der(phi) = w_ref``.

    A step of the signal takes an impulse of torque wherever it meets inertia.
    """

    w_ref: Input = Input(float, unit="rad/s", doc="Speed")
    phi: Variable = Variable(unit="rad", doc="Angle")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.phi, self.phi)
        yield Eq(der(self.phi), self.w_ref)


class Position(PartialOneFlange):
    """Rotation with the angle of a signal against any torque, ``phi = phi_ref``.

    The signal must be continuous where inertia is moved: a jump in angle takes an infinite impulse.
    """

    phi_ref: Input = Input(float, unit="rad", doc="Angle")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.phi, self.phi_ref)
