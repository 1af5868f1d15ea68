"""Ideal converters between electrical and mechanical power."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Parameter, Statement, Variable, der

from ..electrical.interfaces import OnePort
from ..rotational.interfaces import Flange as RotationalFlange
from ..translational.interfaces import Flange as TranslationalFlange


class RotationalEMF(OnePort):
    """Converter between current and torque, ``v = k * w``, ``flange.tau = -k * i``: ``v * i + flange.tau * w = 0``.

    The core of every DC machine, without resistance, inductance and inertia. Its housing is fixed.
    """

    flange = RotationalFlange()
    k: Parameter = Parameter(unit="N.m/A", doc="Torque per current")
    phi: Variable = Variable(unit="rad", doc="Angle of the shaft")
    w: Variable = Variable(unit="rad/s", doc="Speed of the shaft")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.phi, self.flange.phi)
        yield Eq(self.w, der(self.phi))
        yield Eq(self.v, self.k * self.w)
        yield Eq(self.flange.tau, -self.k * self.i)


class TranslationalEMF(OnePort):
    """Converter between current and force, ``v = k * vel``, ``flange.f = -k * i``: ``v * i + flange.f * vel = 0``.

    A voice coil or linear motor without resistance, inductance and mass, in a field that does not depend on position.
    Its housing is fixed.
    """

    flange = TranslationalFlange()
    k: Parameter = Parameter(unit="N/A", doc="Force per current")
    s: Variable = Variable(unit="m", doc="Position of the flange")
    vel: Variable = Variable(unit="m/s", doc="Speed of the flange")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.s, self.flange.s)
        yield Eq(self.vel, der(self.s))
        yield Eq(self.v, self.k * self.vel)
        yield Eq(self.flange.f, -self.k * self.i)
