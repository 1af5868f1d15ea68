"""Dry friction with true sticking."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import DryFriction, Eq, Input, Parameter, Statement, Variable, der

from ..mechanics_1d import dry_friction, friction_disc
from ..thermal.interfaces import PartialConditionalHeatPort
from .interfaces import PartialCompliantWithRelativeStates, PartialMass, PartialRigid, PartialSupport


class CoulombFriction(PartialCompliantWithRelativeStates, PartialConditionalHeatPort):
    """Coulomb friction between two flanges: ``f = f_coulomb * sign(v_rel)`` sliding, ``|f| <= f_coulomb`` sticking.

    Sticking is exact, without creep. ``f_coulomb = 0`` is no friction at all. Two sticking contacts in parallel share
    their force in a way the model does not determine; the least-norm share is shown.
    """

    f_coulomb: Parameter = Parameter(unit="N", min=0, doc="Friction force")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield DryFriction(self.v_rel, self.f, sliding=self.f_coulomb, breakaway=self.f_coulomb)
        yield from self.heat(self.f * self.v_rel)


class Friction(PartialCompliantWithRelativeStates, PartialConditionalHeatPort):
    """Coulomb and viscous friction with stiction between two flanges.

    ``f = f_coulomb * sign(v_rel) + d * v_rel`` sliding, ``|f| <= f_breakaway`` sticking. The drop from breakaway to
    sliding force is a step; the falling characteristic at small speeds (Stribeck effect) is left out.
    """

    f_coulomb: Parameter = Parameter(unit="N", min=0, doc="Sliding force at rest")
    f_breakaway: Parameter = Parameter(unit="N", min=0, doc="Largest sticking force")
    d: Parameter = Parameter(default=0.0, unit="N.s/m", min=0, doc="Viscous friction")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield from dry_friction(self.v_rel, self.f, self.f_coulomb, self.f_breakaway, self.d, what="force")
        yield from self.heat(self.f * self.v_rel)


class PartialRodFriction(PartialRigid, PartialSupport, PartialConditionalHeatPort):
    """Rigid rod with a friction force against the housing, ``flange_a.f + flange_b.f = f``."""

    v: Variable = Variable(unit="m/s", doc="Speed relative to the housing")
    f: Variable = Variable(unit="N", doc="Friction force against the motion")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.v, der(self.s - self.s_support))
        yield Eq(self.flange_a.f + self.flange_b.f, self.f)
        yield from self.supported(self.f)
        yield from self.heat(self.f * self.v)


class SupportFriction(PartialRodFriction):
    """Friction of a rod in its guide.

    ``f = f_coulomb * sign(v) + d * v`` sliding, ``|f| <= f_breakaway`` sticking. The drop from breakaway to sliding force is a
    step; the falling characteristic at small speeds (Stribeck effect) is left out.
    """

    f_coulomb: Parameter = Parameter(unit="N", min=0, doc="Sliding force at rest")
    f_breakaway: Parameter = Parameter(unit="N", min=0, doc="Largest sticking force")
    d: Parameter = Parameter(default=0.0, unit="N.s/m", min=0, doc="Viscous friction")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield from dry_friction(self.v, self.f, self.f_coulomb, self.f_breakaway, self.d, what="force")


class Brake(PartialRodFriction):
    """Friction brake of a rod against the housing, closed by a normalised force.

    With the capacity ``mu * cgeo * fn_max * f_normalized``: ``f = capacity * sign(v)`` sliding, ``|f| <= peak * capacity`` at
    rest, ``f = 0`` while ``f_normalized <= 0``. The coefficient of friction does not depend on the speed.
    """

    fn_max: Parameter = Parameter(unit="N", min=0, doc="Normal force at f_normalized = 1")
    mu: Parameter = Parameter(default=1.0, unit="1", min=0, doc="Coefficient of sliding friction")
    cgeo: Parameter = Parameter(default=1.0, unit="1", min=0, doc="Number of friction surfaces")
    peak: Parameter = Parameter(default=1.0, unit="1", min=1, doc="Breakaway force by sliding force")
    f_normalized: Input = Input(float, unit="1", doc="Normal force by fn_max; not positive: released")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        capacity = self.mu * self.cgeo * self.fn_max * self.f_normalized
        yield friction_disc(self.v, self.f, capacity, self.peak, self.f_normalized)


class MassWithFriction(PartialMass, PartialConditionalHeatPort):
    """Mass that slides on the housing, ``der(m * v) = flange_a.f + flange_b.f - f``.

    ``f = f_coulomb * sign(v) + d * v`` sliding, ``|f| <= f_breakaway`` sticking. The Stribeck effect is left out.
    """

    f_coulomb: Parameter = Parameter(unit="N", min=0, doc="Sliding force at rest")
    f_breakaway: Parameter = Parameter(unit="N", min=0, doc="Largest sticking force")
    d: Parameter = Parameter(default=0.0, unit="N.s/m", min=0, doc="Viscous friction")
    f: Variable = Variable(unit="N", doc="Friction force against the motion")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(der(self.m * self.v), self.flange_a.f + self.flange_b.f - self.f)
        yield from dry_friction(self.v, self.f, self.f_coulomb, self.f_breakaway, self.d, what="force")
        yield from self.heat(self.f * self.v)
