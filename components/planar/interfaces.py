"""Frame and partial components."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from acausal.modeling import (
    Component,
    Eq,
    Expr,
    Flow,
    Parameter,
    Port,
    Statement,
    Variable,
    cos,
    der,
    maximum,
    no_event,
    sin,
    sqrt,
)


def pair(vector: Any) -> tuple[Expr, Expr]:
    """Return the two coordinates of a vector."""
    x, y = vector
    return x, y


def rotated(vector: Any, phi: Expr) -> tuple[Expr, Expr]:
    """Return the coordinates in the world of a vector in a frame that is turned by ``phi``."""
    x, y = pair(vector)
    c, s = cos(phi), sin(phi)
    return c * x - s * y, s * x + c * y


class Frame(Port):
    """Planar frame: position and angle in the world, force and torque into the component, resolved in the world."""

    x: Variable = Variable(unit="m", doc="Position, first coordinate")
    y: Variable = Variable(unit="m", doc="Position, second coordinate")
    phi: Variable = Variable(unit="rad", doc="Angle, counterclockwise from the first axis of the world")
    fx: Flow = Flow(unit="N", doc="Force into the component, first coordinate")
    fy: Flow = Flow(unit="N", doc="Force into the component, second coordinate")
    tau: Flow = Flow(unit="N.m", doc="Torque into the component")

    def power(self) -> Expr:
        """Return ``fx * der(x) + fy * der(y) + tau * der(phi)``."""
        return self.fx * der(self.x) + self.fy * der(self.y) + self.tau * der(self.phi)


class PartialTwoFrames(Component):
    """Partial: component without mass between two frames, ``frame_a.f + frame_b.f = 0``."""

    frame_a = Frame()
    frame_b = Frame()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.frame_a.fx + self.frame_b.fx, 0)
        yield Eq(self.frame_a.fy + self.frame_b.fy, 0)


class PartialCoincident(PartialTwoFrames):
    """Partial: frames at the same place, ``frame_a.tau + frame_b.tau = 0``. A component adds how the angles are related."""

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        a, b = self.frame_a, self.frame_b
        yield Eq(b.x, a.x)
        yield Eq(b.y, a.y)
        yield Eq(a.tau + b.tau, 0)


class PartialRigid(PartialTwoFrames):
    """Partial: frames at a distance ``(dx, dy)``, over which the force of ``frame_b`` has a moment about ``frame_a``.

    A component adds what the distance is, and how the angles are related.
    """

    dx: Variable = Variable(unit="m", doc="Distance from frame_a to frame_b, first coordinate")
    dy: Variable = Variable(unit="m", doc="Distance from frame_a to frame_b, second coordinate")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        a, b = self.frame_a, self.frame_b
        yield Eq(b.x, a.x + self.dx)
        yield Eq(b.y, a.y + self.dy)
        yield Eq(a.tau + b.tau + self.dx * b.fy - self.dy * b.fx, 0)


class PartialLine(PartialTwoFrames):
    """Partial: frames at a distance ``(dx, dy)``, both without torque."""

    dx: Variable = Variable(unit="m", doc="Distance from frame_a to frame_b, first coordinate")
    dy: Variable = Variable(unit="m", doc="Distance from frame_a to frame_b, second coordinate")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        a, b = self.frame_a, self.frame_b
        yield Eq(self.dx, b.x - a.x)
        yield Eq(self.dy, b.y - a.y)
        yield Eq(a.tau, 0)
        yield Eq(b.tau, 0)


class PartialLineForce(PartialLine):
    """Partial: force along the line between two frames, without torque.

    ``f`` is positive when it pulls the frames together: ``frame_b.f = f * (dx, dy) / s``. Below ``s_small`` the direction is
    ``(dx, dy) / s_small``, so that the force passes through zero with the distance. A component adds an equation for ``f``.
    """

    s_small: Parameter = Parameter(
        default=1e-10, unit="m", min=1e-100, doc="Length below which the direction fades out"
    )
    dx: Variable = Variable(unit="m", start=1.0, doc="Distance from frame_a to frame_b, first coordinate")
    s: Variable = Variable(unit="m", start=1.0, doc="Length")
    f: Variable = Variable(unit="N", doc="Force, positive when it pulls the frames together")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        b = self.frame_b
        yield Eq(self.s, sqrt(no_event(maximum(self.dx**2 + self.dy**2, self.s_small**2))))
        yield Eq(b.fx, self.f * self.dx / self.s)
        yield Eq(b.fy, self.f * self.dy / self.s)
