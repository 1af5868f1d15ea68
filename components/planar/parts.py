"""Fixed frames, rigid connections and bodies."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Component, Eq, Parameter, Statement, Variable, connect, der

from .interfaces import Frame, PartialCoincident, PartialRigid, pair, rotated


class World(Component):
    """Frame of the world, ``x = y = phi = 0``. Gravity is a property of each `Body`."""

    frame_b = Frame()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.frame_b.x, 0)
        yield Eq(self.frame_b.y, 0)
        yield Eq(self.frame_b.phi, 0)


class Fixed(Component):
    """Frame fixed in the world at ``r``, turned by ``phi``."""

    frame_b = Frame()
    r: Parameter = Parameter(default=(0.0, 0.0), shape=(2,), unit="m", doc="Position")
    phi: Parameter = Parameter(default=0.0, unit="rad", doc="Angle")

    def equations(self) -> Iterator[Statement]:
        x, y = pair(self.r)
        yield Eq(self.frame_b.x, x)
        yield Eq(self.frame_b.y, y)
        yield Eq(self.frame_b.phi, self.phi)


class FixedTranslation(PartialRigid):
    """Massless rigid rod: ``frame_b`` is at ``r`` as seen from ``frame_a``, in the same direction as that.

    ``(dx, dy) = R(phi) * r`` with the rotation R by ``frame_a.phi``.
    """

    r: Parameter = Parameter(shape=(2,), unit="m", doc="Position of frame_b in the coordinates of frame_a")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        x, y = rotated(self.r, self.frame_a.phi)
        yield Eq(self.dx, x)
        yield Eq(self.dy, y)
        yield Eq(self.frame_b.phi, self.frame_a.phi)


class FixedRotation(PartialCoincident):
    """``frame_b`` is turned by ``alpha`` against ``frame_a``, at the same place."""

    alpha: Parameter = Parameter(unit="rad", doc="Angle of frame_b relative to frame_a")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.frame_b.phi, self.frame_a.phi + self.alpha)


class PartialBody(Component):
    """Partial: rigid body at ``frame_a``, with mass, moment of inertia and gravity."""

    frame_a = Frame()
    m: Parameter = Parameter(unit="kg", min=0, doc="Mass")
    I: Parameter = Parameter(
        default=0.0, unit="kg.m2", min=0, doc="Moment of inertia about the centre of mass"
    )
    g: Parameter = Parameter(
        default=9.80665,
        unit="m/s2",
        doc="Gravity against the second axis of the world; 0: motion in a level plane",
    )


class Body(PartialBody):
    """Rigid body with its centre of mass in ``frame_a``.

    ``der(m * vx) = frame_a.fx``, ``der(m * vy) = frame_a.fy - m * g``, ``der(I * w) = frame_a.tau``. ``I = 0`` is a point
    mass. The energy into a body is kinetic and potential.
    """

    vx: Variable = Variable(unit="m/s", doc="Speed of the centre, first coordinate")
    vy: Variable = Variable(unit="m/s", doc="Speed of the centre, second coordinate")
    w: Variable = Variable(unit="rad/s", doc="Angular speed")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.vx, der(self.frame_a.x))
        yield Eq(self.vy, der(self.frame_a.y))
        yield Eq(self.w, der(self.frame_a.phi))
        yield Eq(der(self.m * self.vx), self.frame_a.fx)
        yield Eq(der(self.m * self.vy), self.frame_a.fy - self.m * self.g)
        yield Eq(der(self.I * self.w), self.frame_a.tau)


class BodyShape(PartialBody):
    """Rigid body between two frames: a massless `FixedTranslation` by ``r`` with a `Body` at ``r_CM``.

    The centre of a uniform rod is at half of ``r``. It does not bend: a slender rod is divided, with springs between.
    """

    frame_b = Frame()
    r: Parameter = Parameter(shape=(2,), unit="m", doc="Position of frame_b in the coordinates of frame_a")
    r_CM: Parameter = Parameter(
        shape=(2,), unit="m", doc="Position of the centre of mass in the coordinates of frame_a"
    )

    def build(self) -> None:
        self.translation = FixedTranslation(r=pair(self.r))
        self.translationCM = FixedTranslation(r=pair(self.r_CM))
        self.body = Body(m=self.m, I=self.I, g=self.g)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.frame_a, self.translation.frame_a, self.translationCM.frame_a)
        yield connect(self.translation.frame_b, self.frame_b)
        yield connect(self.translationCM.frame_b, self.body.frame_a)
