"""Forces along the line between two frames."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Parameter, Statement, Variable, der

from ..thermal.interfaces import PartialConditionalHeatPort
from .interfaces import PartialLineForce


class Spring(PartialLineForce):
    """Linear spring, ``f = c * (s - s_unstretched)``. Massless; it does not buckle when compressed."""

    c: Parameter = Parameter(unit="N/m", min=0, doc="Stiffness")
    s_unstretched: Parameter = Parameter(default=0.0, unit="m", min=0, doc="Length without force")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.f, self.c * (self.s - self.s_unstretched))


class PartialLineForceWithRate(PartialLineForce):
    """Partial: force along the line between two frames, with the rate of the length ``v_rel = der(s)``."""

    v_rel: Variable = Variable(unit="m/s", doc="Rate of the length")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        # A product, for der(s) is 0 / 0 where the length vanishes.
        yield Eq(self.v_rel * self.s, self.dx * der(self.dx) + self.dy * der(self.dy))


class Damper(PartialLineForceWithRate, PartialConditionalHeatPort):
    """Linear damper, ``f = d * v_rel`` with the rate of the length ``v_rel = der(s)``. Massless."""

    d: Parameter = Parameter(unit="N.s/m", min=0, doc="Damping")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.f, self.d * self.v_rel)
        yield from self.heat(self.f * self.v_rel)


class SpringDamper(PartialLineForceWithRate, PartialConditionalHeatPort):
    """Linear spring and damper side by side, ``f = c * (s - s_unstretched) + d * v_rel`` with ``v_rel = der(s)``.

    Massless; it does not buckle when compressed.
    """

    c: Parameter = Parameter(unit="N/m", min=0, doc="Stiffness")
    d: Parameter = Parameter(unit="N.s/m", min=0, doc="Damping")
    s_unstretched: Parameter = Parameter(default=0.0, unit="m", min=0, doc="Length without force")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.f, self.c * (self.s - self.s_unstretched) + self.d * self.v_rel)
        yield from self.heat(self.d * self.v_rel**2)
