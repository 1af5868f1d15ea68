"""Elastic and rigid contacts, and end stops."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import (
    Discrete,
    DryFriction,
    Eq,
    Impact,
    Parameter,
    Statement,
    Structural,
    Variable,
    der,
    exp,
    if_else,
    maximum,
    no_event,
    require,
)

from ..mechanics_1d import limited
from ..thermal.interfaces import PartialConditionalHeatPort
from .interfaces import PartialCompliant, PartialCompliantWithRelativeStates, PartialMass, PartialOneFlange


def _problem_of_exponent(n: float) -> str:
    return "" if n >= 1 else f"must be at least 1, got {n:g}"


class ElastoGap(PartialCompliantWithRelativeStates, PartialConditionalHeatPort):
    """Elastic one-sided contact, ``f = f_c + f_d`` while ``s_rel < s_rel0``, else no force.

    ``f_c = -c * (s_rel0 - s_rel)**n`` and ``f_d = d * v_rel``, limited to ``|f_d| <= |f_c|``: the force is continuous
    and never pulls. ``n = 1.5`` is the contact of two spheres (Hertz), with ``c`` in N/m**n; the motion apart, and with
    ``n = 1`` all of it, stays on the exact path. The mass of what is pressed is left out; where the duration of contact
    does not matter, take `ImpactStop`.
    """

    c: Parameter = Parameter(unit="N/m", min=0, doc="Stiffness in contact")
    d: Parameter = Parameter(unit="N.s/m", min=0, doc="Damping in contact")
    s_rel0: Parameter = Parameter(default=0.0, unit="m", doc="Distance at which contact begins")
    n: Structural[float] = Structural(
        float, default=1.0, check=_problem_of_exponent, doc="Exponent of the force of the spring"
    )
    contact: Discrete = Discrete(bool, doc="In contact")
    f_c: Variable = Variable(unit="N", doc="Force of the spring")
    f_d: Variable = Variable(unit="N", doc="Force of the damper")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.contact, self.s_rel < self.s_rel0)
        depth = maximum(self.s_rel0 - self.s_rel, 0)
        f_d = limited(self.d * self.v_rel, self.f_c, -self.f_c)
        if self.n == 1.0:
            yield Eq(self.f_c, -self.c * depth)
            yield Eq(self.f_d, f_d)
        else:
            # A power of a negative distance has no value. The event is that of `contact`; the motion apart from it is affine.
            yield Eq(self.f_c, if_else(self.contact, -self.c * no_event(depth) ** self.n, 0.0))
            yield Eq(self.f_d, if_else(self.contact, no_event(f_d), 0.0))
        yield Eq(self.f, self.f_c + self.f_d)
        yield from self.heat(self.f_d * self.v_rel)


class ImpactStop(PartialCompliant):
    """Rigid one-sided contact, ``gap = s_rel - s_rel0 >= 0``, with Newton's law of impact.

    At an impact the relative speed turns from ``v`` to ``-restitution * v`` by an impulse; where flights become too short
    for the resolution of time the contact stays closed until its force ``-f`` would pull. The compression itself has no
    duration: where waves in the bodies or the duration of the contact matter, take a stiff spring and damper.
    """

    s_rel0: Parameter = Parameter(default=0.0, unit="m", doc="Distance in contact")
    restitution: Parameter = Parameter(
        default=0.0, unit="1", min=0, max=1, doc="Speed after by speed before an impact"
    )
    gap: Variable = Variable(unit="m", doc="Distance to contact")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.gap, self.s_rel - self.s_rel0)
        yield Impact(self.gap, -self.f, restitution=self.restitution)


class HardStop(PartialOneFlange):
    """Rigid end stops in the housing, ``s_min <= s <= s_max``, with Newton's law of impact.

    ``flange.f = f_max - f_min``, where each stop only pushes. See ``ImpactStop`` for the limits of the idealisation.
    """

    s_min: Parameter = Parameter(unit="m", doc="Lower stop")
    s_max: Parameter = Parameter(unit="m", doc="Upper stop")
    restitution: Parameter = Parameter(
        default=0.0, unit="1", min=0, max=1, doc="Speed after by speed before an impact"
    )
    f_min: Variable = Variable(unit="N", doc="Force of the lower stop")
    f_max: Variable = Variable(unit="N", doc="Force of the upper stop")

    def equations(self) -> Iterator[Statement]:
        yield require(self.s_min < self.s_max, "the lower stop must lie below the upper one")
        yield Eq(self.flange.f, self.f_max - self.f_min)
        yield Impact(self.flange.s - self.s_min, self.f_min, restitution=self.restitution, name="lower")
        yield Impact(self.s_max - self.flange.s, self.f_max, restitution=self.restitution, name="upper")


class MassWithStopAndFriction(PartialMass, PartialConditionalHeatPort):
    """Mass that slides on the housing between two rigid stops, ``der(m * v) = flange_a.f + flange_b.f - f + f_min - f_max``.

    ``f = (F_Coulomb + F_Stribeck * exp(-fexp * |v|)) * sign(v) + F_prop * v`` sliding, ``|f| <= F_Coulomb + F_Stribeck``
    sticking; ``flange_a.s >= smin`` and ``flange_b.s <= smax``, where it is stopped without rebound. At a stop friction
    takes its share of a push before the stop does, though in truth nothing tells. Nonlinear: the model is on the general path;
    without Stribeck effect take `MassWithFriction` and `HardStop`.
    """

    smin: Parameter = Parameter(unit="m", doc="Stop of flange_a")
    smax: Parameter = Parameter(unit="m", doc="Stop of flange_b")
    F_prop: Parameter = Parameter(unit="N.s/m", min=0, doc="Viscous friction")
    F_Coulomb: Parameter = Parameter(
        unit="N", min=0, doc="Sliding force at high speed, without viscous friction"
    )
    F_Stribeck: Parameter = Parameter(unit="N", min=0, doc="Excess of the breakaway force")
    fexp: Parameter = Parameter(unit="s/m", min=0, doc="Decay of the excess with speed")
    f: Variable = Variable(unit="N", doc="Friction force against the motion")
    f_min: Variable = Variable(unit="N", doc="Force of the lower stop")
    f_max: Variable = Variable(unit="N", doc="Force of the upper stop")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield require(
            self.smin + self.L < self.smax, "the mass must be shorter than the distance of the stops"
        )
        pushes = self.flange_a.f + self.flange_b.f + self.f_min - self.f_max
        yield Eq(der(self.m * self.v), pushes - self.f)
        yield DryFriction(
            self.v,
            self.f,
            sliding=lambda speed: self.F_Coulomb + self.F_Stribeck * exp(-self.fexp * speed),
            breakaway=self.F_Coulomb + self.F_Stribeck,
            viscous=self.F_prop,
        )
        yield Impact(self.flange_a.s - self.smin, self.f_min, name="lower")
        yield Impact(self.smax - self.flange_b.s, self.f_max, name="upper")
        yield from self.heat(self.f * self.v)
