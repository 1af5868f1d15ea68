"""Dry friction with true sticking: bearings, clutches, brakes."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import DryFriction, Eq, Expr, Input, Parameter, Statement, Variable, der, require

from .interfaces import PartialCompliantWithRelativeStates, PartialRigid


class CoulombFriction(PartialCompliantWithRelativeStates):
    """Coulomb friction between two flanges.

    ``tau = tau_coulomb * sign(w_rel)`` sliding, ``|tau| <= tau_coulomb`` sticking. Sticking is exact, without creep;
    ``tau_coulomb = 0`` is no friction at all. Two sticking contacts in parallel share their torque in a way the model
    does not determine; the least-norm share is shown.
    """

    tau_coulomb: Parameter = Parameter(unit="N.m", min=0, doc="Friction torque")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield DryFriction(self.w_rel, self.tau, sliding=self.tau_coulomb, breakaway=self.tau_coulomb)


class PartialShaftFriction(PartialRigid):
    """Rigid shaft with a friction torque against the housing, ``flange_a.tau + flange_b.tau = tau``."""

    w: Variable = Variable(unit="rad/s", doc="Speed")
    tau: Variable = Variable(unit="N.m", doc="Friction torque against the motion")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.w, der(self.phi))
        yield Eq(self.flange_a.tau + self.flange_b.tau, self.tau)


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
        message = "the breakaway torque must not be smaller than the sliding torque"
        yield require(self.tau_breakaway >= self.tau_coulomb, message)
        yield DryFriction(
            self.w, self.tau, sliding=self.tau_coulomb, breakaway=self.tau_breakaway, viscous=self.d
        )


class Clutch(PartialCompliantWithRelativeStates):
    """Friction clutch, closed by a normalised force.

    With the capacity ``mu * cgeo * fn_max * f_normalized``: ``tau = capacity * sign(w_rel)`` sliding,
    ``|tau| <= peak * capacity`` locked, ``tau = 0`` while ``f_normalized <= 0``. Locking is rigid: there is neither
    slip nor torsion, and a shock passes through. The coefficient of friction does not depend on the speed.
    """

    fn_max: Parameter = Parameter(unit="N", min=0, doc="Normal force at f_normalized = 1")
    mu: Parameter = Parameter(default=1.0, unit="1", min=0, doc="Coefficient of sliding friction")
    cgeo: Parameter = Parameter(
        default=1.0, unit="m", min=0, doc="Mean radius times number of friction surfaces"
    )
    peak: Parameter = Parameter(default=1.0, unit="1", min=1, doc="Breakaway torque by sliding torque")
    f_normalized: Input = Input(float, unit="1", doc="Normal force by fn_max; not positive: open")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        capacity = self.mu * self.cgeo * self.fn_max * self.f_normalized
        yield _disc(self.w_rel, self.tau, capacity, self.peak, self.f_normalized)


class Brake(PartialShaftFriction):
    """Friction brake of a shaft against the housing, closed by a normalised force.

    With the capacity ``mu * cgeo * fn_max * f_normalized``: ``tau = capacity * sign(w)`` sliding,
    ``|tau| <= peak * capacity`` at rest, ``tau = 0`` while ``f_normalized <= 0``. The coefficient of friction does
    not depend on the speed.
    """

    fn_max: Parameter = Parameter(unit="N", min=0, doc="Normal force at f_normalized = 1")
    mu: Parameter = Parameter(default=1.0, unit="1", min=0, doc="Coefficient of sliding friction")
    cgeo: Parameter = Parameter(
        default=1.0, unit="m", min=0, doc="Mean radius times number of friction surfaces"
    )
    peak: Parameter = Parameter(default=1.0, unit="1", min=1, doc="Breakaway torque by sliding torque")
    f_normalized: Input = Input(float, unit="1", doc="Normal force by fn_max; not positive: released")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        capacity = self.mu * self.cgeo * self.fn_max * self.f_normalized
        yield _disc(self.w, self.tau, capacity, self.peak, self.f_normalized)


def _disc(speed: Expr, torque: Expr, capacity: Expr, peak: Expr, force: Expr) -> DryFriction:
    return DryFriction(speed, torque, sliding=capacity, breakaway=peak * capacity, engaged=force > 0)
