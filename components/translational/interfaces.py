"""Translational flange and partial components."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Component, Eq, Expr, Flow, Parameter, Port, Statement, Variable, der


class Flange(Port):
    """Translational flange: position ``s`` and force ``f`` into the component."""

    s: Variable = Variable(unit="m", doc="Position")
    f: Flow = Flow(unit="N", doc="Force into the component")

    def power(self) -> Expr:
        """Return ``f * der(s)``."""
        return self.f * der(self.s)


class PartialOneFlange(Component):
    """Component with one flange, such as a source or a sensor."""

    flange = Flange()


class PartialTwoFlanges(Component):
    """Component with two flanges."""

    flange_a = Flange()
    flange_b = Flange()


class PartialCompliant(PartialTwoFlanges):
    """Massless connection of two flanges, ``s_rel = flange_b.s - flange_a.s`` and ``f = flange_b.f = -flange_a.f``."""

    s_rel: Variable = Variable(unit="m", doc="Distance from flange_a to flange_b")
    f: Variable = Variable(unit="N", doc="Force, positive when it pulls the flanges together")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.s_rel, self.flange_b.s - self.flange_a.s)
        yield Eq(self.flange_b.f, self.f)
        yield Eq(self.flange_a.f, -self.f)


class PartialCompliantWithRelativeStates(PartialCompliant):
    """Massless connection of two flanges with ``v_rel = der(s_rel)``."""

    v_rel: Variable = Variable(unit="m/s", doc="Speed of flange_b relative to flange_a")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.v_rel, der(self.flange_b.s - self.flange_a.s))


class PartialRigid(PartialTwoFlanges):
    """Rigid connection of length ``L`` with its centre at ``s``."""

    L: Parameter = Parameter(default=0.0, unit="m", min=0, doc="Distance from flange_a to flange_b")
    s: Variable = Variable(unit="m", doc="Position of the centre")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange_a.s, self.s - self.L / 2)
        yield Eq(self.flange_b.s, self.s + self.L / 2)


class PartialMass(PartialRigid):
    """Rigid body with speed and acceleration; the momentum balance is left to the subclass."""

    m: Parameter = Parameter(unit="kg", min=0, doc="Mass")
    v: Variable = Variable(unit="m/s", doc="Speed")
    a: Variable = Variable(unit="m/s2", doc="Acceleration")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.v, der(self.s))
        yield Eq(self.a, der(self.v))
