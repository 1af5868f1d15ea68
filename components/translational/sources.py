"""Forces and prescribed motions."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Expr, Input, Parameter, Statement, Structural, Variable, der, if_else, time

from ..mechanics_1d import eddy_current, limited, linear_in_speed, quadratic_in_speed
from ..thermal.interfaces import PartialConditionalHeatPort, linear_temperature_dependency
from .interfaces import PartialOneFlangeAndSupport, PartialTwoFlanges


class Force(PartialOneFlangeAndSupport):
    """Force from a signal, ``flange.f = -f``: positive ``f`` pushes what is connected towards larger ``s``."""

    f: Input = Input(float, unit="N", doc="Force on the connected component")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.flange.f, -self.f)


class Force2(PartialTwoFlanges):
    """Force from a signal between two flanges, ``flange_a.f = f`` and ``flange_b.f = -f``.

    Positive ``f`` pushes ``flange_b`` towards larger ``s`` and ``flange_a`` the other way.
    """

    f: Input = Input(float, unit="N", doc="Force on what is connected to flange_b")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange_a.f, self.f)
        yield Eq(self.flange_b.f, -self.f)


class ConstantForce(PartialOneFlangeAndSupport):
    """Constant force, ``flange.f = -f_constant``: positive values push towards larger ``s``."""

    f_constant: Parameter = Parameter(unit="N", doc="Force on the connected component")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.flange.f, -self.f_constant)


class ForceStep(PartialOneFlangeAndSupport):
    """Force that steps by ``stepForce`` at ``startTime``, ``flange.f = -(offsetForce + step)``."""

    stepForce: Parameter = Parameter(unit="N", doc="Height of the step")
    offsetForce: Parameter = Parameter(default=0.0, unit="N", doc="Force before the step")
    startTime: Parameter = Parameter(default=0.0, unit="s", doc="Time of the step")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        step = if_else(time < self.startTime, 0.0, self.stepForce)
        yield Eq(self.flange.f, -(self.offsetForce + step))


class ConstantSpeed(PartialOneFlangeAndSupport):
    """Motion with constant speed against any force, ``der(s) = v_fixed``; also a moving belt."""

    v_fixed: Parameter = Parameter(unit="m/s", doc="Speed")
    s: Variable = Variable(unit="m", doc="Position relative to the housing")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.flange.s - self.s_support, self.s)
        yield Eq(der(self.s), self.v_fixed)


class Speed(PartialOneFlangeAndSupport):
    """Motion with the speed of a signal against any force, ``der(s) = v_ref``.

    A step of the signal takes an impulse of force wherever it meets mass.
    """

    v_ref: Input = Input(float, unit="m/s", doc="Speed")
    s: Variable = Variable(unit="m", doc="Position relative to the housing")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.flange.s - self.s_support, self.s)
        yield Eq(der(self.s), self.v_ref)


class Position(PartialOneFlangeAndSupport):
    """Motion with the position of a signal against any force, ``s = s_ref``.

    The signal must be continuous where mass is moved: a jump in position takes an infinite impulse, and is an
    `InfiniteImpulseError` of the run.
    """

    s_ref: Input = Input(float, unit="m", doc="Position relative to the housing")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.flange.s - self.s_support, self.s_ref)


class Accelerate(PartialOneFlangeAndSupport):
    """Motion with the acceleration of a signal against any force, ``der(v) = a_ref``, ``der(s) = v``."""

    a_ref: Input = Input(float, unit="m/s2", doc="Acceleration")
    s: Variable = Variable(unit="m", doc="Position relative to the housing")
    v: Variable = Variable(unit="m/s", doc="Speed relative to the housing")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.flange.s - self.s_support, self.s)
        yield Eq(der(self.s), self.v)
        yield Eq(der(self.v), self.a_ref)


class PartialSpeedDependentForce(PartialOneFlangeAndSupport):
    """Partial: force ``f = -flange.f`` that depends on the speed ``v`` relative to the housing."""

    f_nominal: Parameter = Parameter(unit="N", doc="Force at nominal speed; negative: a load")
    v_nominal: Parameter = Parameter(unit="m/s", min=1e-300, doc="Nominal speed")
    ForceDirection: Structural[bool] = Structural(
        bool, default=True, doc="True: the force has the same direction at speeds of either sign"
    )
    f: Variable = Variable(unit="N", doc="Force on the connected component")
    v: Variable = Variable(unit="m/s", doc="Speed relative to the housing")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.v, der(self.flange.s - self.s_support))
        yield Eq(self.f, -self.flange.f)


class LinearSpeedDependentForce(PartialSpeedDependentForce):
    """Force proportional to speed, ``f = f_nominal * |v / v_nominal|``.

    Without ``ForceDirection``: ``f = f_nominal * v / v_nominal``, a load or a drive in both directions.
    """

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.f, linear_in_speed(self.f_nominal, self.v / self.v_nominal, self.ForceDirection))


class QuadraticSpeedDependentForce(PartialSpeedDependentForce):
    """Force proportional to the square of speed, ``f = f_nominal * (v / v_nominal)**2``, as of fans and vehicles in air.

    Without ``ForceDirection`` the sign is that of ``f_nominal * v``: a load or a drive in both directions. Nonlinear: the model
    is on the general path.
    """

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.f, quadratic_in_speed(self.f_nominal, self.v / self.v_nominal, self.ForceDirection))


class SignForce(PartialOneFlangeAndSupport):
    """Force with the sign of the speed, ``f = f_nominal * v / v0``, limited to ``|f| <= |f_nominal|``.

    Positive ``f_nominal`` drives in both directions. Negative brakes, and creeps below ``v0``: true sticking has
    `CoulombFriction`.
    """

    f_nominal: Parameter = Parameter(unit="N", doc="Force at speeds above v0; negative: a load")
    v0: Parameter = Parameter(default=0.1, unit="m/s", min=1e-300, doc="Speed below which it falls to zero")
    f: Variable = Variable(unit="N", doc="Force on the connected component")
    v: Variable = Variable(unit="m/s", doc="Speed relative to the housing")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.v, der(self.flange.s - self.s_support))
        yield Eq(self.f, -self.flange.f)
        yield Eq(self.f, self.f_nominal * limited(self.v / self.v0, -1, 1))


class EddyCurrentForce(PartialOneFlangeAndSupport, PartialConditionalHeatPort):
    """Eddy-current brake, ``f = 2 * f_nominal * x / (1 + x**2)`` with ``x = v / v_nominal`` (Kloss).

    ``flange.f = f`` brakes at any speed, and holds nothing at rest. With ``useHeatPort`` the loss ``f * v`` heats the
    conductor, whose resistance moves the speed of the largest force: ``v_nominal`` belongs to ``TRef``, and changes by
    ``alpha20`` of its value at 20 degC per kelvin. Field and penetration depth are those of low frequency.
    """

    f_nominal: Parameter = Parameter(unit="N", min=0, doc="Largest force")
    v_nominal: Parameter = Parameter(unit="m/s", min=1e-300, doc="Speed of the largest force at TRef")
    TRef: Parameter = Parameter(default=293.15, unit="K", doc="Temperature to which v_nominal belongs")
    alpha20: Parameter = Parameter(
        default=0.0, unit="1/K", doc="Temperature coefficient of resistance at 20 degC, with heatPort"
    )
    f: Variable = Variable(unit="N", doc="Braking force")
    v: Variable = Variable(unit="m/s", doc="Speed relative to the housing")
    lossPower: Variable = Variable(unit="W", doc="Power that becomes heat")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.v, der(self.flange.s - self.s_support))
        yield Eq(self.f, self.flange.f)
        yield Eq(self.f, eddy_current(self.f_nominal, self.v / self.speed_of_peak))
        yield Eq(self.lossPower, self.f * self.v)
        yield from self.heat(self.lossPower)

    @property
    def speed_of_peak(self) -> Expr:
        """Speed of the largest force at the present temperature."""
        if not self.useHeatPort:
            return self.v_nominal
        return linear_temperature_dependency(self.v_nominal, self.TRef, self.alpha20, self.heatPort.T)
