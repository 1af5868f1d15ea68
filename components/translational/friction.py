"""Dry friction with true sticking."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import DryFriction, Eq, Parameter, Statement, Variable, der, require

from .interfaces import PartialCompliantWithRelativeStates, PartialMass

MESSAGE = "the breakaway force must not be smaller than the sliding force"


class CoulombFriction(PartialCompliantWithRelativeStates):
    """Coulomb friction between two flanges: ``f = f_coulomb * sign(v_rel)`` sliding, ``|f| <= f_coulomb`` sticking.

    Sticking is exact, without creep. ``f_coulomb = 0`` is no friction at all. Two sticking contacts in parallel share
    their force in a way the model does not determine; the least-norm share is shown.
    """

    f_coulomb: Parameter = Parameter(unit="N", min=0, doc="Friction force")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield DryFriction(self.v_rel, self.f, sliding=self.f_coulomb, breakaway=self.f_coulomb)


class Friction(PartialCompliantWithRelativeStates):
    """Coulomb and viscous friction with stiction between two flanges.

    ``f = f_coulomb * sign(v_rel) + d * v_rel`` sliding, ``|f| <= f_breakaway`` sticking. The drop from breakaway to
    sliding force is a step; the falling characteristic at small speeds (Stribeck effect) is left out.
    """

    f_coulomb: Parameter = Parameter(unit="N", min=0, doc="Sliding force at rest")
    f_breakaway: Parameter = Parameter(unit="N", min=0, doc="Largest sticking force")
    d: Parameter = Parameter(default=0.0, unit="N.s/m", min=0, doc="Viscous friction")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield require(self.f_breakaway >= self.f_coulomb, MESSAGE)
        yield DryFriction(
            self.v_rel, self.f, sliding=self.f_coulomb, breakaway=self.f_breakaway, viscous=self.d
        )


class MassWithFriction(PartialMass):
    """Mass that slides on the housing, ``der(m * v) = flange_a.f + flange_b.f - f``.

    ``f = f_coulomb * sign(v) + d * v`` sliding, ``|f| <= f_breakaway`` sticking. The Stribeck effect is left out.
    """

    f_coulomb: Parameter = Parameter(unit="N", min=0, doc="Sliding force at rest")
    f_breakaway: Parameter = Parameter(unit="N", min=0, doc="Largest sticking force")
    d: Parameter = Parameter(default=0.0, unit="N.s/m", min=0, doc="Viscous friction")
    f: Variable = Variable(unit="N", doc="Friction force against the motion")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield require(self.f_breakaway >= self.f_coulomb, MESSAGE)
        yield Eq(der(self.m * self.v), self.flange_a.f + self.flange_b.f - self.f)
        yield DryFriction(self.v, self.f, sliding=self.f_coulomb, breakaway=self.f_breakaway, viscous=self.d)
