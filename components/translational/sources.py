"""Forces and prescribed motions."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Input, Parameter, Statement, Variable, der, if_else, time

from .interfaces import PartialOneFlange, PartialTwoFlanges


class Force(PartialOneFlange):
    """Force from a signal, ``flange.f = -f``: positive ``f`` pushes what is connected towards larger ``s``."""

    f: Input = Input(float, unit="N", doc="Force on the connected component")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.f, -self.f)


class Force2(PartialTwoFlanges):
    """Force from a signal between two flanges, ``flange_a.f = f`` and ``flange_b.f = -f``.

    Positive ``f`` pushes ``flange_b`` towards larger ``s`` and ``flange_a`` the other way.
    """

    f: Input = Input(float, unit="N", doc="Force on what is connected to flange_b")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange_a.f, self.f)
        yield Eq(self.flange_b.f, -self.f)


class ConstantForce(PartialOneFlange):
    """Constant force, ``flange.f = -f_constant``: positive values push towards larger ``s``."""

    f_constant: Parameter = Parameter(unit="N", doc="Force on the connected component")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.f, -self.f_constant)


class ForceStep(PartialOneFlange):
    """Force that steps by ``stepForce`` at ``startTime``, ``flange.f = -(offsetForce + step)``."""

    stepForce: Parameter = Parameter(unit="N", doc="Height of the step")
    offsetForce: Parameter = Parameter(default=0.0, unit="N", doc="Force before the step")
    startTime: Parameter = Parameter(default=0.0, unit="s", doc="Time of the step")

    def equations(self) -> Iterator[Statement]:
        step = if_else(time < self.startTime, 0.0, self.stepForce)
        yield Eq(self.flange.f, -(self.offsetForce + step))


class ConstantSpeed(PartialOneFlange):
    """Motion with constant speed against any force, ``der(s) = v_fixed``; also a moving belt."""

    v_fixed: Parameter = Parameter(unit="m/s", doc="Speed")
    s: Variable = Variable(unit="m", doc="Position")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.s, self.s)
        yield Eq(der(self.s), self.v_fixed)


class Speed(PartialOneFlange):
    """Motion with the speed of a signal against any force, ``der(s) = v_ref``.

    A step of the signal takes an impulse of force wherever it meets mass.
    """

    v_ref: Input = Input(float, unit="m/s", doc="Speed")
    s: Variable = Variable(unit="m", doc="Position")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.s, self.s)
        yield Eq(der(self.s), self.v_ref)


class Position(PartialOneFlange):
    """Motion with the position of a signal against any force, ``s = s_ref``.

    The signal must be continuous where mass is moved: a jump in position takes an infinite impulse.
    """

    s_ref: Input = Input(float, unit="m", doc="Position")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.s, self.s_ref)
