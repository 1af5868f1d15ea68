"""Torques and prescribed motions."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Expr, Input, Parameter, Statement, Structural, Variable, der, if_else, time

from ..mechanics_1d import eddy_current, limited, linear_in_speed, quadratic_in_speed
from ..thermal.interfaces import PartialConditionalHeatPort, linear_temperature_dependency
from .interfaces import PartialOneFlangeAndSupport, PartialTwoFlanges


class Torque(PartialOneFlangeAndSupport):
    """Torque from a signal, ``flange.tau = -tau``: positive ``tau`` accelerates what is connected."""

    tau: Input = Input(float, unit="N.m", doc="Torque on the connected component")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.flange.tau, -self.tau)


class Torque2(PartialTwoFlanges):
    """Torque from a signal between two flanges, ``flange_a.tau = tau`` and ``flange_b.tau = -tau``.

    Positive ``tau`` accelerates ``flange_b`` and ``flange_a`` the other way.
    """

    tau: Input = Input(float, unit="N.m", doc="Torque on what is connected to flange_b")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange_a.tau, self.tau)
        yield Eq(self.flange_b.tau, -self.tau)


class ConstantTorque(PartialOneFlangeAndSupport):
    """Constant torque, ``flange.tau = -tau_constant``: positive values accelerate what is connected."""

    tau_constant: Parameter = Parameter(unit="N.m", doc="Torque on the connected component")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.flange.tau, -self.tau_constant)


class TorqueStep(PartialOneFlangeAndSupport):
    """Torque that steps by ``stepTorque`` at ``startTime``, ``flange.tau = -(offsetTorque + step)``."""

    stepTorque: Parameter = Parameter(unit="N.m", doc="Height of the step")
    offsetTorque: Parameter = Parameter(default=0.0, unit="N.m", doc="Torque before the step")
    startTime: Parameter = Parameter(default=0.0, unit="s", doc="Time of the step")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        step = if_else(time < self.startTime, 0.0, self.stepTorque)
        yield Eq(self.flange.tau, -(self.offsetTorque + step))


class ConstantSpeed(PartialOneFlangeAndSupport):
    """Rotation with constant speed against any torque, ``der(phi) = w_fixed``."""

    w_fixed: Parameter = Parameter(unit="rad/s", doc="Speed")
    phi: Variable = Variable(unit="rad", doc="Angle relative to the housing")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.flange.phi - self.phi_support, self.phi)
        yield Eq(der(self.phi), self.w_fixed)


class Speed(PartialOneFlangeAndSupport):
    """Rotation with the speed of a signal against any torque, ``der(phi) = w_ref``.

    A step of the signal takes an impulse of torque wherever it meets inertia.
    """

    w_ref: Input = Input(float, unit="rad/s", doc="Speed")
    phi: Variable = Variable(unit="rad", doc="Angle relative to the housing")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.flange.phi - self.phi_support, self.phi)
        yield Eq(der(self.phi), self.w_ref)


class Position(PartialOneFlangeAndSupport):
    """Rotation with the angle of a signal against any torque, ``phi = phi_ref``.

    The signal must be continuous where inertia is moved: a jump in angle takes an infinite impulse, and is an
    `InfiniteImpulseError` of the run.
    """

    phi_ref: Input = Input(float, unit="rad", doc="Angle relative to the housing")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.flange.phi - self.phi_support, self.phi_ref)


class Accelerate(PartialOneFlangeAndSupport):
    """Motion with the acceleration of a signal against any torque, ``der(w) = a_ref``, ``der(phi) = w``."""

    a_ref: Input = Input(float, unit="rad/s2", doc="Acceleration")
    phi: Variable = Variable(unit="rad", doc="Angle relative to the housing")
    w: Variable = Variable(unit="rad/s", doc="Speed relative to the housing")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.flange.phi - self.phi_support, self.phi)
        yield Eq(der(self.phi), self.w)
        yield Eq(der(self.w), self.a_ref)


class PartialSpeedDependentTorque(PartialOneFlangeAndSupport):
    """Partial: torque ``tau = -flange.tau`` that depends on the speed ``w`` relative to the housing."""

    tau_nominal: Parameter = Parameter(unit="N.m", doc="Torque at nominal speed; negative: a load")
    w_nominal: Parameter = Parameter(unit="rad/s", min=1e-300, doc="Nominal speed")
    TorqueDirection: Structural[bool] = Structural(
        bool, default=True, doc="True: the torque has the same direction at speeds of either sign"
    )
    tau: Variable = Variable(unit="N.m", doc="Torque on the connected component")
    w: Variable = Variable(unit="rad/s", doc="Speed relative to the housing")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.w, der(self.flange.phi - self.phi_support))
        yield Eq(self.tau, -self.flange.tau)


class LinearSpeedDependentTorque(PartialSpeedDependentTorque):
    """Torque proportional to speed, ``tau = tau_nominal * |w / w_nominal|``.

    Without ``TorqueDirection``: ``tau = tau_nominal * w / w_nominal``, a load or a drive in both directions.
    """

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.tau, linear_in_speed(self.tau_nominal, self.w / self.w_nominal, self.TorqueDirection))


class QuadraticSpeedDependentTorque(PartialSpeedDependentTorque):
    """Torque proportional to the square of speed, ``tau = tau_nominal * (w / w_nominal)**2``, as of fans and vehicles in air.

    Without ``TorqueDirection`` the sign is that of ``tau_nominal * w``: a load or a drive in both directions. Nonlinear: the
    model is on the general path.
    """

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(
            self.tau, quadratic_in_speed(self.tau_nominal, self.w / self.w_nominal, self.TorqueDirection)
        )


class SignTorque(PartialOneFlangeAndSupport):
    """Torque with the sign of the speed, ``tau = tau_nominal * w / w0``, limited to ``|tau| <= |tau_nominal|``.

    Positive ``tau_nominal`` drives in both directions. Negative brakes, and creeps below ``w0``: true sticking has
    `CoulombFriction`.
    """

    tau_nominal: Parameter = Parameter(unit="N.m", doc="Torque at speeds above w0; negative: a load")
    w0: Parameter = Parameter(default=0.1, unit="rad/s", min=1e-300, doc="Speed below which it falls to zero")
    tau: Variable = Variable(unit="N.m", doc="Torque on the connected component")
    w: Variable = Variable(unit="rad/s", doc="Speed relative to the housing")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.w, der(self.flange.phi - self.phi_support))
        yield Eq(self.tau, -self.flange.tau)
        yield Eq(self.tau, self.tau_nominal * limited(self.w / self.w0, -1, 1))


class EddyCurrentTorque(PartialOneFlangeAndSupport, PartialConditionalHeatPort):
    """Eddy-current brake, ``tau = 2 * tau_nominal * x / (1 + x**2)`` with ``x = w / w_nominal`` (Kloss).

    ``flange.tau = tau`` brakes at any speed, and holds nothing at rest. With ``useHeatPort`` the loss ``tau * w`` heats the
    conductor, whose resistance moves the speed of the largest torque: ``w_nominal`` belongs to ``TRef``, and changes by
    ``alpha20`` of its value at 20 degC per kelvin. Field and penetration depth are those of low frequency.
    """

    tau_nominal: Parameter = Parameter(unit="N.m", min=0, doc="Largest torque")
    w_nominal: Parameter = Parameter(unit="rad/s", min=1e-300, doc="Speed of the largest torque at TRef")
    TRef: Parameter = Parameter(default=293.15, unit="K", doc="Temperature to which w_nominal belongs")
    alpha20: Parameter = Parameter(
        default=0.0, unit="1/K", doc="Temperature coefficient of resistance at 20 degC, with heatPort"
    )
    tau: Variable = Variable(unit="N.m", doc="Braking torque")
    w: Variable = Variable(unit="rad/s", doc="Speed relative to the housing")
    lossPower: Variable = Variable(unit="W", doc="Power that becomes heat")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.w, der(self.flange.phi - self.phi_support))
        yield Eq(self.tau, self.flange.tau)
        yield Eq(self.tau, eddy_current(self.tau_nominal, self.w / self.speed_of_peak))
        yield Eq(self.lossPower, self.tau * self.w)
        yield from self.heat(self.lossPower)

    @property
    def speed_of_peak(self) -> Expr:
        """Speed of the largest torque at the present temperature."""
        if not self.useHeatPort:
            return self.w_nominal
        return linear_temperature_dependency(self.w_nominal, self.TRef, self.alpha20, self.heatPort.T)
