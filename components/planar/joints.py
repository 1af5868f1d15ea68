"""Joints, and the rod that closes loops.

A joint leaves one relative motion free. Where it is driven, ``useAxisFlange`` gives it a flange of the one-dimensional
libraries, so that drives, springs, brakes and sensors from there move it.
"""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import (
    Component,
    Eq,
    Parameter,
    Statement,
    Structural,
    Variable,
    cos,
    der,
    require,
    sin,
    sqrt,
)

from ..mechanics_1d import nonzero
from ..rotational.interfaces import Flange as RotationalFlange
from ..translational.interfaces import Flange as TranslationalFlange
from .interfaces import Frame, PartialCoincident, PartialLine, PartialRigid, pair, rotated


class Driven(Component):
    """Partial: a joint that may have a flange ``axis`` to drive it."""

    useAxisFlange: Structural[bool] = Structural(
        bool, default=False, doc="True: the flange axis drives the joint; false: it moves freely"
    )


class Revolute(PartialCoincident, Driven):
    """Hinge: both frames are at the same place, ``frame_b.phi = frame_a.phi + phi``.

    ``frame_a.tau + frame_b.tau = 0`` and ``frame_b.tau = -tau``, with the torque ``tau`` of the flange ``axis``, without it
    zero. No friction, no clearance.
    """

    phi: Variable = Variable(unit="rad", state_priority=1, doc="Angle of frame_b relative to frame_a")
    w: Variable = Variable(unit="rad/s", state_priority=1, doc="Speed of frame_b relative to frame_a")
    tau: Variable = Variable(unit="N.m", doc="Torque of the axis, positive when it drives frame_b")

    def build(self) -> None:
        if self.useAxisFlange:
            self.axis = RotationalFlange()

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.frame_b.phi, self.frame_a.phi + self.phi)
        yield Eq(self.w, der(self.phi))
        yield Eq(self.frame_b.tau, -self.tau)
        if self.useAxisFlange:
            yield Eq(self.axis.phi, self.phi)
            yield Eq(self.axis.tau, self.tau)
        else:
            yield Eq(self.tau, 0)


class Prismatic(PartialRigid, Driven):
    """Slider: ``frame_b`` moves along ``n`` as seen from ``frame_a``, in the same direction as that.

    ``s = e * (dx, dy)`` and no distance across, ``e = R(phi) * n / |n|`` with the rotation R by ``frame_a.phi``. Along ``e`` the
    force into ``frame_b`` is ``-f``, with the force ``f`` of the flange ``axis``, without it zero. No friction, no clearance.
    """

    n: Parameter = Parameter(
        default=(1.0, 0.0), shape=(2,), unit="1", doc="Direction of motion in the coordinates of frame_a"
    )
    s: Variable = Variable(unit="m", state_priority=1, doc="Distance along n")
    v: Variable = Variable(unit="m/s", state_priority=1, doc="Speed along n")
    f: Variable = Variable(unit="N", doc="Force of the axis, positive when it drives frame_b along n")

    def build(self) -> None:
        if self.useAxisFlange:
            self.axis = TranslationalFlange()

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        a, b = self.frame_a, self.frame_b
        nx, ny = pair(self.n)
        size = sqrt(nx**2 + ny**2)
        yield require(size > 0, "the direction `n` must not be zero")
        ex, ey = rotated((nx / size, ny / size), a.phi)
        yield Eq(self.s, ex * self.dx + ey * self.dy)
        yield Eq(ex * self.dy - ey * self.dx, 0)
        yield Eq(b.phi, a.phi)
        yield Eq(self.v, der(self.s))
        yield Eq(ex * b.fx + ey * b.fy, -self.f)
        if self.useAxisFlange:
            yield Eq(self.axis.s, self.s)
            yield Eq(self.axis.f, self.f)
        else:
            yield Eq(self.f, 0)


class Rod(PartialLine):
    """Massless rod of length ``L`` with a hinge at each end, ``(dx, dy) = L * (cos(phi), sin(phi))``.

    It carries a force along its length only, ``frame_b.f = f * (cos(phi), sin(phi))``, positive in tension. One rod stands for
    the coupler of a closed loop, where the mass of that does not matter.
    """

    L: Parameter = Parameter(unit="m", min=0, doc="Length")
    phi: Variable = Variable(unit="rad", doc="Angle of the line from frame_a to frame_b")
    f: Variable = Variable(unit="N", doc="Force, positive in tension")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        c, s = cos(self.phi), sin(self.phi)
        yield Eq(self.dx, self.L * c)
        yield Eq(self.dy, self.L * s)
        yield Eq(self.frame_b.fx, self.f * c)
        yield Eq(self.frame_b.fy, self.f * s)


class IdealRolling(Component):
    """Wheel that rolls without slip on the first axis of the world, with its centre in ``frame_a``.

    ``frame_a.y = R`` and ``frame_a.x = x0 - R * frame_a.phi``: counterclockwise it rolls towards smaller x. The ground exerts the
    force ``f_long`` along itself and ``f_N`` upwards; it does not pull, and holds ``|f_long| <= mu * f_N`` only. Where ``x0`` is
    not zero, ``initial=`` of a run tells the position or the angle at the start.
    """

    frame_a = Frame()
    R: Parameter = Parameter(unit="m", min=0, doc="Radius of the wheel, not 0")
    x0: Parameter = Parameter(default=0.0, unit="m", doc="Position at angle zero")
    f_long: Variable = Variable(unit="N", doc="Force of the ground on the wheel, along the ground")
    f_N: Variable = Variable(unit="N", doc="Force of the ground on the wheel, upwards")

    def equations(self) -> Iterator[Statement]:
        a = self.frame_a
        yield nonzero(self.R, "R")
        yield Eq(a.y, self.R)
        yield Eq(a.x, self.x0 - self.R * a.phi)
        yield Eq(a.fx, -self.f_long)
        yield Eq(a.fy, -self.f_N)
        yield Eq(a.tau, -self.R * self.f_long)
