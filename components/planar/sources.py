"""Forces and torques from signals. Their reaction is taken up by the world."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Component, Eq, Input, Statement

from .interfaces import Frame, rotated


class PartialForce(Component):
    """Partial: force ``(fx, fy)`` and torque ``tau`` on what is connected to ``frame_b``."""

    frame_b = Frame()
    fx: Input = Input(float, unit="N", doc="Force, first coordinate")
    fy: Input = Input(float, unit="N", doc="Force, second coordinate")
    tau: Input = Input(float, unit="N.m", doc="Torque, counterclockwise")


class WorldForce(PartialForce):
    """Force and torque in the coordinates of the world, ``frame_b.fx = -fx``, ``frame_b.fy = -fy``, ``frame_b.tau = -tau``."""

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.frame_b.fx, -self.fx)
        yield Eq(self.frame_b.fy, -self.fy)
        yield Eq(self.frame_b.tau, -self.tau)


class FrameForce(PartialForce):
    """Force and torque in the coordinates of ``frame_b``, such as the thrust of an engine: the force turns with the frame.

    ``(frame_b.fx, frame_b.fy) = -R(phi) * (fx, fy)`` with the rotation R by ``frame_b.phi``, and ``frame_b.tau = -tau``.
    """

    def equations(self) -> Iterator[Statement]:
        fx, fy = rotated((self.fx, self.fy), self.frame_b.phi)
        yield Eq(self.frame_b.fx, -fx)
        yield Eq(self.frame_b.fy, -fy)
        yield Eq(self.frame_b.tau, -self.tau)
