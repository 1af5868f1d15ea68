"""Inertias, springs and dampers."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Parameter, Statement, Variable, der

from .interfaces import (
    PartialCompliant,
    PartialCompliantWithRelativeStates,
    PartialOneFlange,
    PartialRigid,
)


class Fixed(PartialOneFlange):
    """Flange fixed in the housing, ``phi = phi0``."""

    phi0: Parameter = Parameter(default=0.0, unit="rad", doc="Angle")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.phi, self.phi0)


class Inertia(PartialRigid):
    """Rotating inertia on a rigid shaft, ``der(J * w) = flange_a.tau + flange_b.tau``."""

    J: Parameter = Parameter(unit="kg.m2", min=0, doc="Moment of inertia")
    w: Variable = Variable(unit="rad/s", doc="Speed")
    a: Variable = Variable(unit="rad/s2", doc="Acceleration")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.w, der(self.phi))
        yield Eq(self.a, der(self.w))
        yield Eq(der(self.J * self.w), self.flange_a.tau + self.flange_b.tau)


class Spring(PartialCompliant):
    """Linear torsion spring, ``tau = c * (phi_rel - phi_rel0)``."""

    c: Parameter = Parameter(unit="N.m/rad", min=0, doc="Stiffness")
    phi_rel0: Parameter = Parameter(default=0.0, unit="rad", doc="Angle without torque")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.tau, self.c * (self.phi_rel - self.phi_rel0))


class Damper(PartialCompliantWithRelativeStates):
    """Linear rotational damper, ``tau = d * w_rel``."""

    d: Parameter = Parameter(unit="N.m.s/rad", min=0, doc="Damping")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.tau, self.d * self.w_rel)


class SpringDamper(PartialCompliantWithRelativeStates):
    """Linear torsion spring and damper side by side, ``tau = c * (phi_rel - phi_rel0) + d * w_rel``."""

    c: Parameter = Parameter(unit="N.m/rad", min=0, doc="Stiffness")
    d: Parameter = Parameter(unit="N.m.s/rad", min=0, doc="Damping")
    phi_rel0: Parameter = Parameter(default=0.0, unit="rad", doc="Angle without torque")
    tau_c: Variable = Variable(unit="N.m", doc="Torque of the spring")
    tau_d: Variable = Variable(unit="N.m", doc="Torque of the damper")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.tau_c, self.c * (self.phi_rel - self.phi_rel0))
        yield Eq(self.tau_d, self.d * self.w_rel)
        yield Eq(self.tau, self.tau_c + self.tau_d)
