"""Inertias, springs and dampers."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Parameter, Statement, Structural, Variable, der, initially

from ..mechanics_1d import characteristic, characteristic_problem
from ..thermal.interfaces import PartialConditionalHeatPort
from .interfaces import (
    PartialCompliant,
    PartialCompliantWithRelativeStates,
    PartialOneFlange,
    PartialRigid,
    PartialTwoFlanges,
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


class CubicSpring(PartialCompliant):
    """Torsion spring that hardens or softens, ``tau = c * x + c3 * x**3`` with ``x = phi_rel - phi_rel0`` (Duffing).

    Nonlinear: the model is on the general path. A softening one, ``c3 < 0``, gives way beyond ``x**2 = -c / (3 * c3)``, where it
    is no spring any more.
    """

    c: Parameter = Parameter(unit="N.m/rad", min=0, doc="Stiffness at small deflections")
    c3: Parameter = Parameter(
        unit="N.m/rad3", doc="Torque by third power of the deflection; positive: hardening"
    )
    phi_rel0: Parameter = Parameter(default=0.0, unit="rad", doc="Angle without torque")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        x = self.phi_rel - self.phi_rel0
        yield Eq(self.tau, self.c * x + self.c3 * x**3)


class TableSpring(PartialCompliant):
    """Torsion spring with a piecewise-linear characteristic, the torque at ``phi_rel - phi_rel0`` from a table.

    It continues with the slopes of its ends, and stays on the exact path with an event at each breakpoint. Falling parts
    make it an unstable spring, as a snap-through is.
    """

    table: Structural[tuple] = Structural(
        tuple,
        check=characteristic_problem,
        doc="Rows (angle in rad, torque in N.m), angles ascending",
    )
    phi_rel0: Parameter = Parameter(default=0.0, unit="rad", doc="Angle at which the table is at zero")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.tau, characteristic(self.phi_rel - self.phi_rel0, self.table))


class Damper(PartialCompliantWithRelativeStates, PartialConditionalHeatPort):
    """Linear rotational damper, ``tau = d * w_rel``."""

    d: Parameter = Parameter(unit="N.m.s/rad", min=0, doc="Damping")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.tau, self.d * self.w_rel)
        yield from self.heat(self.tau * self.w_rel)


class SpringDamper(PartialCompliantWithRelativeStates, PartialConditionalHeatPort):
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
        yield from self.heat(self.tau_d * self.w_rel)


class Disc(PartialTwoFlanges):
    """Rigid connection that turns ``flange_b`` by a fixed angle, ``flange_b.phi = flange_a.phi + deltaPhi``; no inertia."""

    deltaPhi: Parameter = Parameter(default=0.0, unit="rad", doc="Angle of flange_b relative to flange_a")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange_b.phi, self.flange_a.phi + self.deltaPhi)
        yield Eq(self.flange_a.tau + self.flange_b.tau, 0)


class InitializeFlange(PartialOneFlange):
    """Fixes angle, speed and acceleration of a flange in the first instant; no torque, no effect afterwards.

    What the model determines already cannot be fixed again: switch that off.
    """

    use_phi_start: Structural[bool] = Structural(bool, default=True, doc="True: phi_start holds")
    use_w_start: Structural[bool] = Structural(bool, default=True, doc="True: w_start holds")
    use_a_start: Structural[bool] = Structural(bool, default=True, doc="True: a_start holds")
    phi_start: Parameter = Parameter(default=0.0, unit="rad", doc="Angle at the start")
    w_start: Parameter = Parameter(default=0.0, unit="rad/s", doc="Speed at the start")
    a_start: Parameter = Parameter(default=0.0, unit="rad/s2", doc="Acceleration at the start")
    w: Variable = Variable(unit="rad/s", doc="Speed")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.tau, 0)
        yield Eq(self.w, der(self.flange.phi))
        if self.use_phi_start:
            yield initially(Eq(self.flange.phi, self.phi_start))
        if self.use_w_start:
            yield initially(Eq(self.w, self.w_start))
        if self.use_a_start:
            yield initially(Eq(der(self.w), self.a_start))
