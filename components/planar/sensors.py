"""Ideal sensors: they neither move nor load what they measure. All quantities are resolved in the world."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Component, Eq, Output, Statement, der

from .interfaces import Frame, PartialCoincident


class PartialAbsoluteSensor(Component):
    """Partial: sensor at one frame, without force and torque."""

    frame_a = Frame()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.frame_a.fx, 0)
        yield Eq(self.frame_a.fy, 0)
        yield Eq(self.frame_a.tau, 0)


class AbsolutePosition(PartialAbsoluteSensor):
    """Position and angle of a frame, ``x = frame_a.x``, ``y = frame_a.y``, ``phi = frame_a.phi``."""

    x: Output = Output(float, unit="m", doc="Position, first coordinate")
    y: Output = Output(float, unit="m", doc="Position, second coordinate")
    phi: Output = Output(float, unit="rad", doc="Angle, counterclockwise")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.x, self.frame_a.x)
        yield Eq(self.y, self.frame_a.y)
        yield Eq(self.phi, self.frame_a.phi)


class AbsoluteVelocity(PartialAbsoluteSensor):
    """Speed and angular speed of a frame, ``vx = der(frame_a.x)``, ``vy = der(frame_a.y)``, ``w = der(frame_a.phi)``."""

    vx: Output = Output(float, unit="m/s", doc="Speed, first coordinate")
    vy: Output = Output(float, unit="m/s", doc="Speed, second coordinate")
    w: Output = Output(float, unit="rad/s", doc="Angular speed, counterclockwise")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.vx, der(self.frame_a.x))
        yield Eq(self.vy, der(self.frame_a.y))
        yield Eq(self.w, der(self.frame_a.phi))


class CutForce(PartialCoincident):
    """Force and torque through a rigid connection, ``fx = frame_a.fx``, ``fy = frame_a.fy``, ``tau = frame_a.tau``."""

    fx: Output = Output(float, unit="N", doc="Force from frame_a to frame_b, first coordinate")
    fy: Output = Output(float, unit="N", doc="Force from frame_a to frame_b, second coordinate")
    tau: Output = Output(float, unit="N.m", doc="Torque from frame_a to frame_b")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        a, b = self.frame_a, self.frame_b
        yield Eq(b.phi, a.phi)
        yield Eq(self.fx, a.fx)
        yield Eq(self.fy, a.fy)
        yield Eq(self.tau, a.tau)
