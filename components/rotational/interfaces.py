"""Rotational flange and partial components."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Component, Eq, Expr, Flow, Port, Statement, Variable, der


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
