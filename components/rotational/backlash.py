"""Play between teeth or claws, with elastic flanks."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Expr, Parameter, Statement, Variable, absolute, if_else, maximum, minimum

from ..mechanics_1d import beyond, limited
from ..thermal.interfaces import PartialConditionalHeatPort
from .interfaces import PartialCompliantWithRelativeStates


class PartialBacklash(PartialCompliantWithRelativeStates, PartialConditionalHeatPort):
    """Partial: no torque within a clearance ``b``, ``tau_c = c * x`` with the deflection ``x`` beyond it, and damping.

    ``x`` is by how much ``phi_rel - phi_rel0`` exceeds the range from ``-b / 2`` to ``b / 2``. A component adds, by `damping`,
    what the damper does in contact; ``b = 0`` makes any of them a `SpringDamper`.
    """

    c: Parameter = Parameter(unit="N.m/rad", min=0, doc="Stiffness in contact")
    d: Parameter = Parameter(default=0.0, unit="N.m.s/rad", min=0, doc="Damping in contact")
    b: Parameter = Parameter(default=0.0, unit="rad", min=0, doc="Clearance from flank to flank")
    phi_rel0: Parameter = Parameter(default=0.0, unit="rad", doc="Angle in the middle of the clearance")
    tau_c: Variable = Variable(unit="N.m", doc="Torque of the spring")
    tau_d: Variable = Variable(unit="N.m", doc="Torque of the damper")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        x = self.phi_rel - self.phi_rel0
        yield Eq(self.tau_c, self.c * beyond(x, self.b))
        yield Eq(self.tau_d, if_else(self.b > 0, self.damping(x), self.d * self.w_rel))
        yield Eq(self.tau, self.tau_c + self.tau_d)
        yield from self.heat(self.tau_d * self.w_rel)

    def damping(self, x: Expr) -> Expr:
        """Return the torque of the damper at the angle ``x`` from the middle of the clearance."""
        raise NotImplementedError


class ElastoBacklash(PartialBacklash):
    """Backlash with elastic flanks, whose damping is at most as large as the torque of the spring.

    ``tau = tau_c + tau_d`` with ``tau_c = c * x`` beyond the clearance ``b``, else 0, and ``tau_d = d * w_rel``, limited to
    ``|tau_d| <= |tau_c|``: the torque is continuous and the flanks never pull. They have no mass.
    """

    def damping(self, x: Expr) -> Expr:
        stiff = absolute(self.tau_c)
        return limited(self.d * self.w_rel, -stiff, stiff)


class ElastoBacklash2(PartialBacklash):
    """Backlash with elastic flanks and full damping, so that the torque steps where contact begins.

    ``tau = tau_c + d * w_rel`` beyond the clearance ``b``, or 0 where the flanks would pull, with ``tau_c = c * x``. It loses
    more than `ElastoBacklash` at equal ``d``.
    """

    def damping(self, x: Expr) -> Expr:
        full = self.d * self.w_rel
        above, below = x > self.b / 2, x < -self.b / 2
        return if_else(above, maximum(full, -self.tau_c), if_else(below, minimum(full, -self.tau_c), 0.0))
