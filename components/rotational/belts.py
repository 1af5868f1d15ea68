"""Belts between pulleys, and ropes over them.

Belts and ropes carry no mass and slip nowhere. They only pull: in a slack strand the models are wrong, and the forces they
show say when that is.
"""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Component, Eq, Parameter, Statement, Variable, der

from ..mechanics_1d import nonzero
from ..translational.interfaces import Flange as TranslationalFlange
from .interfaces import Flange, PartialTwoFlanges


class PartialBelt(PartialTwoFlanges):
    """Partial: pulleys on a belt with the force ``f``, ``flange_a.tau = radius_a * f`` and ``flange_b.tau = -radius_b * f``.

    A component adds how the angles are related.
    """

    radius_a: Parameter = Parameter(unit="m", doc="Radius of the pulley at flange_a, not 0")
    radius_b: Parameter = Parameter(
        unit="m", doc="Radius of the pulley at flange_b, not 0; negative: crossed"
    )
    f: Variable = Variable(unit="N", doc="Force of the pulling strand above that of the other one")

    def equations(self) -> Iterator[Statement]:
        yield nonzero(self.radius_a, "radius_a")
        yield nonzero(self.radius_b, "radius_b")
        yield Eq(self.flange_a.tau, self.radius_a * self.f)
        yield Eq(self.flange_b.tau, -self.radius_b * self.f)


class IdealBelt(PartialBelt):
    """Belt or chain of constant length, ``radius_a * phi_a = radius_b * phi_b``, ``flange_a.tau = radius_a * f``.

    ``flange_b.tau = -radius_b * f``, with the force ``f`` by which the pulling strand exceeds the other one. A crossed belt has
    a negative ``radius_b``. It fails where ``f`` exceeds what friction on the pulleys holds (Eytelwein).
    """

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.radius_a * self.flange_a.phi, self.radius_b * self.flange_b.phi)


class ElasticBelt(PartialBelt):
    """Elastic belt, ``f = c * s_rel + d * der(s_rel)`` with ``s_rel = radius_a * phi_a - radius_b * phi_b``.

    ``flange_a.tau = radius_a * f`` and ``flange_b.tau = -radius_b * f``. The strands of a belt with pretension ``f0`` carry
    ``f0 + f / 2`` and ``f0 - f / 2``; the latter falls slack at ``f = 2 * f0``, beyond which only half the stiffness is left.
    """

    c: Parameter = Parameter(unit="N/m", min=0, doc="Stiffness of both strands together")
    d: Parameter = Parameter(default=0.0, unit="N.s/m", min=0, doc="Damping of both strands together")
    s_rel: Variable = Variable(
        unit="m", doc="Length by which the pulling strand is longer than without force"
    )

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.s_rel, self.radius_a * self.flange_a.phi - self.radius_b * self.flange_b.phi)
        yield Eq(self.f, self.c * self.s_rel + self.d * der(self.s_rel))


class RopePulley(Component):
    """Pulley with a rope over it, of which ``flange_a`` and ``flange_b`` are the hanging ends, heights upwards positive.

    ``flange_a.s = s_a0 - radius * phi``, ``flange_b.s = s_b0 + radius * phi``; ``flange_a.f = -f_a``, ``flange_b.f = -f_b`` and
    ``flange.tau = radius * (f_b - f_a)`` with the tensions of the rope. The bearing takes up ``f_a + f_b``. The rope is rigid
    and does not slip, which needs tensions in a ratio below ``exp(mu * pi)`` (Eytelwein).
    """

    flange = Flange()
    flange_a = TranslationalFlange()
    flange_b = TranslationalFlange()
    radius: Parameter = Parameter(unit="m", min=0, doc="Radius at which the rope lies, not 0")
    s_a0: Parameter = Parameter(default=0.0, unit="m", doc="Height of flange_a at angle zero")
    s_b0: Parameter = Parameter(default=0.0, unit="m", doc="Height of flange_b at angle zero")
    f_a: Variable = Variable(unit="N", doc="Tension of the rope at flange_a")
    f_b: Variable = Variable(unit="N", doc="Tension of the rope at flange_b")

    def equations(self) -> Iterator[Statement]:
        yield nonzero(self.radius, "radius")
        yield Eq(self.flange_a.s, self.s_a0 - self.radius * self.flange.phi)
        yield Eq(self.flange_b.s, self.s_b0 + self.radius * self.flange.phi)
        yield Eq(self.flange_a.f, -self.f_a)
        yield Eq(self.flange_b.f, -self.f_b)
        yield Eq(self.flange.tau, self.radius * (self.f_b - self.f_a))
