"""Masses, springs and dampers."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Parameter, Statement, Variable, der

from .interfaces import (
    PartialCompliant,
    PartialCompliantWithRelativeStates,
    PartialMass,
    PartialOneFlange,
)


class Fixed(PartialOneFlange):
    """Flange fixed in the housing, ``s = s0``."""

    s0: Parameter = Parameter(default=0.0, unit="m", doc="Position")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.s, self.s0)


class Mass(PartialMass):
    """Sliding mass without friction, ``der(m * v) = flange_a.f + flange_b.f``.

    Rigid: a push at one flange reaches the other at once.
    """

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(der(self.m * self.v), self.flange_a.f + self.flange_b.f)


class Spring(PartialCompliant):
    """Linear spring, ``f = c * (s_rel - s_rel0)``.

    It never goes solid: a strong push can make the distance negative.
    """

    c: Parameter = Parameter(unit="N/m", min=0, doc="Stiffness")
    s_rel0: Parameter = Parameter(default=0.0, unit="m", doc="Distance without force")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.f, self.c * (self.s_rel - self.s_rel0))


class Damper(PartialCompliantWithRelativeStates):
    """Linear damper, ``f = d * v_rel``."""

    d: Parameter = Parameter(unit="N.s/m", min=0, doc="Damping")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.f, self.d * self.v_rel)


class SpringDamper(PartialCompliantWithRelativeStates):
    """Linear spring and damper side by side, ``f = c * (s_rel - s_rel0) + d * v_rel``."""

    c: Parameter = Parameter(unit="N/m", min=0, doc="Stiffness")
    d: Parameter = Parameter(unit="N.s/m", min=0, doc="Damping")
    s_rel0: Parameter = Parameter(default=0.0, unit="m", doc="Distance without force")
    f_c: Variable = Variable(unit="N", doc="Force of the spring")
    f_d: Variable = Variable(unit="N", doc="Force of the damper")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.f_c, self.c * (self.s_rel - self.s_rel0))
        yield Eq(self.f_d, self.d * self.v_rel)
        yield Eq(self.f, self.f_c + self.f_d)
