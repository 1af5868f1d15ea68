"""Dry friction with true sticking: bearings, clutches, brakes."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import (
    Component,
    DryFriction,
    Eq,
    Expr,
    Input,
    Parameter,
    Statement,
    Variable,
    der,
    maximum,
)

from ..mechanics_1d import dry_friction, friction_disc, one_way_disc
from ..thermal.interfaces import PartialConditionalHeatPort
from .interfaces import PartialCompliantWithRelativeStates, PartialRigid, PartialSupport


class CoulombFriction(PartialCompliantWithRelativeStates, PartialConditionalHeatPort):
    """Coulomb friction between two flanges.

    ``tau = tau_coulomb * sign(w_rel)`` sliding, ``|tau| <= tau_coulomb`` sticking. Sticking is exact, without creep;
    ``tau_coulomb = 0`` is no friction at all. Two sticking contacts in parallel share their torque in a way the model
    does not determine; the least-norm share is shown.
    """

    tau_coulomb: Parameter = Parameter(unit="N.m", min=0, doc="Friction torque")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield DryFriction(self.w_rel, self.tau, sliding=self.tau_coulomb, breakaway=self.tau_coulomb)
        yield from self.heat(self.tau * self.w_rel)


class PartialShaftFriction(PartialRigid, PartialSupport, PartialConditionalHeatPort):
    """Rigid shaft with a friction torque against the housing, ``flange_a.tau + flange_b.tau = tau``."""

    w: Variable = Variable(unit="rad/s", doc="Speed relative to the housing")
    tau: Variable = Variable(unit="N.m", doc="Friction torque against the motion")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.w, der(self.phi - self.phi_support))
        yield Eq(self.flange_a.tau + self.flange_b.tau, self.tau)
        yield from self.supported(self.tau)
        yield from self.heat(self.tau * self.w)


class BearingFriction(PartialShaftFriction):
    """Friction of a shaft in its bearings.

    ``tau = tau_coulomb * sign(w) + d * w`` sliding, ``|tau| <= tau_breakaway`` sticking. The drop from breakaway to
    sliding torque is a step; the falling characteristic at small speeds (Stribeck effect) is left out.
    """

    tau_coulomb: Parameter = Parameter(unit="N.m", min=0, doc="Sliding torque at rest")
    tau_breakaway: Parameter = Parameter(unit="N.m", min=0, doc="Largest sticking torque")
    d: Parameter = Parameter(default=0.0, unit="N.m.s/rad", min=0, doc="Viscous friction")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield from dry_friction(self.w, self.tau, self.tau_coulomb, self.tau_breakaway, self.d, what="torque")


class PartialDisc(Component):
    """Partial: discs pressed together by a normalised force, with the ``capacity`` ``mu * cgeo * fn_max * f_normalized``."""

    fn_max: Parameter = Parameter(unit="N", min=0, doc="Normal force at f_normalized = 1")
    mu: Parameter = Parameter(default=1.0, unit="1", min=0, doc="Coefficient of sliding friction")
    cgeo: Parameter = Parameter(
        default=1.0, unit="m", min=0, doc="Mean radius times number of friction surfaces"
    )
    peak: Parameter = Parameter(default=1.0, unit="1", min=1, doc="Breakaway torque by sliding torque")
    f_normalized: Input = Input(float, unit="1", doc="Normal force by fn_max; not positive: open")

    @property
    def capacity(self) -> Expr:
        """Sliding torque."""
        return self.mu * self.cgeo * self.fn_max * self.f_normalized


class Clutch(PartialCompliantWithRelativeStates, PartialDisc, PartialConditionalHeatPort):
    """Friction clutch, closed by a normalised force.

    With the capacity ``mu * cgeo * fn_max * f_normalized``: ``tau = capacity * sign(w_rel)`` sliding,
    ``|tau| <= peak * capacity`` locked, ``tau = 0`` while ``f_normalized <= 0``. Locking is rigid: there is neither
    slip nor torsion, and a shock passes through. The coefficient of friction does not depend on the speed.
    """

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield friction_disc(self.w_rel, self.tau, self.capacity, self.peak, self.f_normalized)
        yield from self.heat(self.tau * self.w_rel)


class OneWayClutch(PartialCompliantWithRelativeStates, PartialDisc, PartialConditionalHeatPort):
    """Freewheel with a friction clutch beside it: ``w_rel >= 0``, driving through ``flange_a`` it locks.

    With the capacity ``mu * cgeo * fn_max * f_normalized``: ``tau = capacity`` while ``w_rel > 0``, ``tau <= peak * capacity``
    locked, with any magnitude below. ``f_normalized = 0`` is a freewheel without friction. Locking is rigid; the torque is
    unique, which that of a separate clutch and freewheel would not be.
    """

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield one_way_disc(self.w_rel, self.tau, maximum(self.capacity, 0), self.peak)
        yield from self.heat(self.tau * self.w_rel)


class Brake(PartialShaftFriction, PartialDisc):
    """Friction brake of a shaft against the housing, closed by a normalised force.

    With the capacity ``mu * cgeo * fn_max * f_normalized``: ``tau = capacity * sign(w)`` sliding,
    ``|tau| <= peak * capacity`` at rest, ``tau = 0`` while ``f_normalized <= 0``. The coefficient of friction does
    not depend on the speed.
    """

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield friction_disc(self.w, self.tau, self.capacity, self.peak, self.f_normalized)
