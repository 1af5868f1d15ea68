"""Masses, springs and dampers."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Parameter, Statement, Structural, Variable, der, initially

from ..mechanics_1d import characteristic, characteristic_problem
from ..thermal.interfaces import PartialConditionalHeatPort
from .interfaces import (
    PartialCompliant,
    PartialCompliantWithRelativeStates,
    PartialMass,
    PartialOneFlange,
    PartialRigid,
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


class CubicSpring(PartialCompliant):
    """Spring that hardens or softens, ``f = c * x + c3 * x**3`` with ``x = s_rel - s_rel0`` (Duffing).

    Nonlinear: the model is on the general path. A softening one, ``c3 < 0``, gives way beyond ``x**2 = -c / (3 * c3)``, where it
    is no spring any more.
    """

    c: Parameter = Parameter(unit="N/m", min=0, doc="Stiffness at small deflections")
    c3: Parameter = Parameter(unit="N/m3", doc="Force by third power of the deflection; positive: hardening")
    s_rel0: Parameter = Parameter(default=0.0, unit="m", doc="Distance without force")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        x = self.s_rel - self.s_rel0
        yield Eq(self.f, self.c * x + self.c3 * x**3)


class TableSpring(PartialCompliant):
    """Spring with a piecewise-linear characteristic, the force at ``s_rel - s_rel0`` from a table.

    It continues with the slopes of its ends, and stays on the exact path with an event at each breakpoint. Falling parts
    make it an unstable spring, as a snap-through is.
    """

    table: Structural[tuple] = Structural(
        tuple,
        check=characteristic_problem,
        doc="Rows (distance in m, force in N), distances ascending",
    )
    s_rel0: Parameter = Parameter(default=0.0, unit="m", doc="Distance at which the table is at zero")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.f, characteristic(self.s_rel - self.s_rel0, self.table))


class Damper(PartialCompliantWithRelativeStates, PartialConditionalHeatPort):
    """Linear damper, ``f = d * v_rel``."""

    d: Parameter = Parameter(unit="N.s/m", min=0, doc="Damping")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.f, self.d * self.v_rel)
        yield from self.heat(self.f * self.v_rel)


class SpringDamper(PartialCompliantWithRelativeStates, PartialConditionalHeatPort):
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
        yield from self.heat(self.f_d * self.v_rel)


class Rod(PartialRigid):
    """Rod without mass, ``flange_b.s - flange_a.s = L`` and ``flange_a.f + flange_b.f = 0``; it neither yields nor buckles."""

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.flange_a.f + self.flange_b.f, 0)


class InitializeFlange(PartialOneFlange):
    """Fixes position, speed and acceleration of a flange in the first instant; no force, no effect afterwards.

    What the model determines already cannot be fixed again: switch that off.
    """

    use_s_start: Structural[bool] = Structural(bool, default=True, doc="True: s_start holds")
    use_v_start: Structural[bool] = Structural(bool, default=True, doc="True: v_start holds")
    use_a_start: Structural[bool] = Structural(bool, default=True, doc="True: a_start holds")
    s_start: Parameter = Parameter(default=0.0, unit="m", doc="Position at the start")
    v_start: Parameter = Parameter(default=0.0, unit="m/s", doc="Speed at the start")
    a_start: Parameter = Parameter(default=0.0, unit="m/s2", doc="Acceleration at the start")
    v: Variable = Variable(unit="m/s", doc="Speed")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.f, 0)
        yield Eq(self.v, der(self.flange.s))
        if self.use_s_start:
            yield initially(Eq(self.flange.s, self.s_start))
        if self.use_v_start:
            yield initially(Eq(self.v, self.v_start))
        if self.use_a_start:
            yield initially(Eq(der(self.v), self.a_start))
