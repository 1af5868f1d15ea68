"""Rotational flange and partial components."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Component, Eq, Expr, Flow, Port, Statement, Structural, Variable, der


class Flange(Port):
    """Rotational flange: angle ``phi`` and torque ``tau`` into the component."""

    phi: Variable = Variable(unit="rad", doc="Angle")
    tau: Flow = Flow(unit="N.m", doc="Torque into the component")

    def power(self) -> Expr:
        """Return ``tau * der(phi)``."""
        return self.tau * der(self.phi)


class PartialOneFlange(Component):
    """Component with one flange, such as a source or a sensor."""

    flange = Flange()


class PartialTwoFlanges(Component):
    """Component with two flanges."""

    flange_a = Flange()
    flange_b = Flange()


class PartialCompliant(PartialTwoFlanges):
    """Connection of two flanges without inertia.

    ``phi_rel = flange_b.phi - flange_a.phi`` and ``tau = flange_b.tau = -flange_a.tau``.
    """

    phi_rel: Variable = Variable(unit="rad", doc="Angle of flange_b relative to flange_a")
    tau: Variable = Variable(unit="N.m", doc="Torque, positive when it reduces phi_rel")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.phi_rel, self.flange_b.phi - self.flange_a.phi)
        yield Eq(self.flange_b.tau, self.tau)
        yield Eq(self.flange_a.tau, -self.tau)


class PartialCompliantWithRelativeStates(PartialCompliant):
    """Connection of two flanges without inertia, with ``w_rel = der(phi_rel)``."""

    w_rel: Variable = Variable(unit="rad/s", doc="Speed of flange_b relative to flange_a")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.w_rel, der(self.flange_b.phi - self.flange_a.phi))


class PartialRigid(PartialTwoFlanges):
    """Rigid shaft with angle ``phi``."""

    phi: Variable = Variable(unit="rad", doc="Angle")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange_a.phi, self.phi)
        yield Eq(self.flange_b.phi, self.phi)


class PartialSupport(Component):
    """Partial: component with a housing, which is fixed, or turns with the flange ``support`` while ``useSupport`` is true."""

    useSupport: Structural[bool] = Structural(
        bool, default=False, doc="True: the housing is the flange support; false: it is fixed"
    )

    def build(self) -> None:
        super().build()
        if self.useSupport:
            self.support = Flange()

    @property
    def phi_support(self) -> Expr | float:
        """Angle of the housing."""
        return self.support.phi if self.useSupport else 0.0

    def supported(self, tau: Expr) -> Iterator[Statement]:
        """Yield that the housing takes up ``tau``, the sum of the torques at all other flanges."""
        if self.useSupport:
            yield Eq(self.support.tau, -tau)


class PartialOneFlangeAndSupport(PartialOneFlange, PartialSupport):
    """Partial: component between a flange and its housing, ``flange.tau + support.tau = 0``."""

    def equations(self) -> Iterator[Statement]:
        yield from self.supported(self.flange.tau)


class PartialTwoFlangesAndSupport(PartialTwoFlanges, PartialSupport):
    """Partial: component with two flanges in a housing, ``flange_a.tau + flange_b.tau + support.tau = 0``."""

    def equations(self) -> Iterator[Statement]:
        yield from self.supported(self.flange_a.tau + self.flange_b.tau)
