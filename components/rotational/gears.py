"""Gears without inertia, elasticity or loss, and what turns rotation into translation.

They are constraints: what they couple moves as one, and has the states of one. A loop of gears whose ratios do not close
can only stand still.
"""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Component, Eq, Expr, Parameter, Statement, Structural

from ..mechanics_1d import nonzero
from ..translational.interfaces import Flange as TranslationalFlange
from .interfaces import Flange, PartialTwoFlangesAndSupport


class PartialGear(PartialTwoFlangesAndSupport):
    """Partial: two flanges that turn at a fixed ratio, ``phi_a = ratio * phi_b``, in a housing that closes their torques.

    ``phi_a`` and ``phi_b`` are the angles of the flanges relative to the housing. A component adds how the torques are related.
    """

    ratio: Parameter = Parameter(
        unit="1", doc="Speed of flange_a by speed of flange_b, not 0; negative: the direction reverses"
    )

    def equations(self) -> Iterator[Statement]:
        yield nonzero(self.ratio, "ratio")
        yield from super().equations()
        yield Eq(self.flange_a.phi - self.phi_support, self.ratio * (self.flange_b.phi - self.phi_support))


class IdealGear(PartialGear):
    """Gear without inertia, loss or backlash, ``phi_a = ratio * phi_b`` and ``ratio * flange_a.tau + flange_b.tau = 0``.

    ``phi_a`` and ``phi_b`` are the angles of the flanges relative to the housing, which takes up the difference of the
    torques. Where teeth lift off, add `ElastoBacklash`; where their friction matters, take `LossyGear`.
    """

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.ratio * self.flange_a.tau + self.flange_b.tau, 0)


class IdealPlanetary(Component):
    """Planetary gear without inertia or loss, ``(1 + ratio) * carrier.phi = sun.phi + ratio * ring.phi``.

    ``ring.tau = ratio * sun.tau`` and ``carrier.tau = -(1 + ratio) * sun.tau``. Of the three shafts two move independently.
    Inertias of sun, ring and carrier are connected from outside; that of the planets is left out, and so are backlash and losses.
    """

    sun = Flange()
    carrier = Flange()
    ring = Flange()
    ratio: Parameter = Parameter(unit="1", doc="Teeth of the ring by teeth of the sun, not 0")

    def equations(self) -> Iterator[Statement]:
        yield nonzero(self.ratio, "ratio")
        yield Eq((1 + self.ratio) * self.carrier.phi, self.sun.phi + self.ratio * self.ring.phi)
        yield Eq(self.ring.tau, self.ratio * self.sun.tau)
        yield Eq(self.carrier.tau, -(1 + self.ratio) * self.sun.tau)


class PartialRotationalToTranslational(Component):
    """Partial: between the rotational ``flangeR`` and the translational ``flangeT``, each with a housing of its own.

    A housing is fixed, or is the flange ``supportR`` or ``supportT``, which takes up the torque or the force.
    """

    flangeR = Flange()
    flangeT = TranslationalFlange()
    useSupportR: Structural[bool] = Structural(
        bool, default=False, doc="True: the rotational housing is the flange supportR; false: it is fixed"
    )
    useSupportT: Structural[bool] = Structural(
        bool, default=False, doc="True: the translational housing is the flange supportT; false: it is fixed"
    )

    def build(self) -> None:
        if self.useSupportR:
            self.supportR = Flange()
        if self.useSupportT:
            self.supportT = TranslationalFlange()

    def equations(self) -> Iterator[Statement]:
        if self.useSupportR:
            yield Eq(self.supportR.tau, -self.flangeR.tau)
        if self.useSupportT:
            yield Eq(self.supportT.f, -self.flangeT.f)

    @property
    def phi(self) -> Expr:
        """Angle of ``flangeR`` relative to its housing."""
        return self.flangeR.phi - self.supportR.phi if self.useSupportR else self.flangeR.phi

    @property
    def s(self) -> Expr:
        """Position of ``flangeT`` relative to its housing."""
        return self.flangeT.s - self.supportT.s if self.useSupportT else self.flangeT.s


class IdealGearR2T(PartialRotationalToTranslational):
    """Gear from rotation to translation without mass or loss, ``phi = ratio * s`` and ``ratio * flangeR.tau + flangeT.f = 0``.

    ``phi`` and ``s`` are relative to the housings. A spindle of pitch h has ``ratio = 2 * pi / h``. It is never self-locking:
    add friction where that matters.
    """

    ratio: Parameter = Parameter(unit="rad/m", doc="Angle of flangeR by distance of flangeT, not 0")

    def equations(self) -> Iterator[Statement]:
        yield nonzero(self.ratio, "ratio")
        yield from super().equations()
        yield Eq(self.phi, self.ratio * self.s)
        yield Eq(self.ratio * self.flangeR.tau + self.flangeT.f, 0)


class PartialRolling(PartialRotationalToTranslational):
    """Partial: what rolls on a radius, ``s = radius * phi`` and ``flangeR.tau + radius * flangeT.f = 0``.

    ``phi`` and ``s`` are relative to the housings.
    """

    radius: Parameter = Parameter(unit="m", doc="Radius of the circle that rolls, not 0")

    def equations(self) -> Iterator[Statement]:
        yield nonzero(self.radius, "radius")
        yield from super().equations()
        yield Eq(self.s, self.radius * self.phi)
        yield Eq(self.flangeR.tau + self.radius * self.flangeT.f, 0)


class IdealRollingWheel(PartialRolling):
    """Wheel that rolls without slip, inertia or loss, ``s = radius * phi`` and ``flangeR.tau + radius * flangeT.f = 0``.

    ``phi`` and ``s`` are relative to the housings. It fails where the force exceeds what friction with the ground holds.
    """

    radius: Parameter = Parameter(unit="m", min=0, doc="Radius of the wheel, not 0")


class RackAndPinion(PartialRolling):
    """Pinion ``flangeR`` that moves a rack ``flangeT``, ``s = radius * phi`` and ``flangeR.tau + radius * flangeT.f = 0``.

    ``phi`` and ``s`` are relative to the housings. ``radius`` is that of the pitch circle of the pinion; for a rack on its
    other side it is negative. No backlash, no friction of the teeth.
    """
