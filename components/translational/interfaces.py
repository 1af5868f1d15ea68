"""Translational flange and partial components."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Component, Eq, Expr, Flow, Parameter, Port, Statement, Structural, Variable, der


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


class PartialSupport(Component):
    """Partial: component with a housing, which is fixed, or moves with the flange ``support`` while ``useSupport`` is true."""

    useSupport: Structural[bool] = Structural(
        bool, default=False, doc="True: the housing is the flange support; false: it is fixed"
    )

    def build(self) -> None:
        super().build()
        if self.useSupport:
            self.support = Flange()

    @property
    def s_support(self) -> Expr | float:
        """Position of the housing."""
        return self.support.s if self.useSupport else 0.0

    def supported(self, f: Expr) -> Iterator[Statement]:
        """Yield that the housing takes up ``f``, the sum of the forces at all other flanges."""
        if self.useSupport:
            yield Eq(self.support.f, -f)


class PartialOneFlangeAndSupport(PartialOneFlange, PartialSupport):
    """Partial: component between a flange and its housing, ``flange.f + support.f = 0``."""

    def equations(self) -> Iterator[Statement]:
        yield from self.supported(self.flange.f)


class PartialTwoFlangesAndSupport(PartialTwoFlanges, PartialSupport):
    """Partial: component with two flanges in a housing, ``flange_a.f + flange_b.f + support.f = 0``."""

    def equations(self) -> Iterator[Statement]:
        yield from self.supported(self.flange_a.f + self.flange_b.f)
