"""Mechanisms in Cartesian coordinates that several modules of tests use."""

from collections.abc import Iterator

from acausal import Component, Eq, Parameter, Statement, Variable, der

G = 9.81


class Bob(Component):
    """Point mass at the distance 1 from the origin, held by the force ``-T * (x, y)``."""

    m: Parameter = Parameter(default=1.0)
    x: Variable = Variable()
    y: Variable = Variable()
    vx: Variable = Variable()
    vy: Variable = Variable()
    T: Variable = Variable()
    push: Variable = Variable()

    def newton(self) -> Iterator[Statement]:
        yield Eq(der(self.x), self.vx)
        yield Eq(der(self.y), self.vy)
        yield Eq(der(self.m * self.vx), -self.T * self.x + self.push)
        yield Eq(der(self.m * self.vy), -self.T * self.y - self.m * G)


class Linkage(Component):
    """Four-bar linkage of masses at its two moving joints, pivots at 0 and (d, 0)."""

    a: Parameter = Parameter(default=0.1)
    b: Parameter = Parameter(default=0.35)
    c: Parameter = Parameter(default=0.25)
    d: Parameter = Parameter(default=0.4)
    x: Variable = Variable()
    y: Variable = Variable()
    u: Variable = Variable()
    v: Variable = Variable()
    dx: Variable = Variable()
    dy: Variable = Variable()
    du: Variable = Variable()
    dv: Variable = Variable()
    A: Variable = Variable()
    B: Variable = Variable()
    C: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        p, q = self.u - self.x, self.v - self.y
        for x, v in ((self.x, self.dx), (self.y, self.dy), (self.u, self.du), (self.v, self.dv)):
            yield Eq(der(x), v)
        yield Eq(der(self.dx), -self.A * self.x + self.B * p)
        yield Eq(der(self.dy), -self.A * self.y + self.B * q)
        yield Eq(der(self.du), -self.C * (self.u - self.d) - self.B * p)
        yield Eq(der(self.dv), -self.C * self.v - self.B * q)
        yield Eq(self.x**2 + self.y**2, self.a**2)
        yield Eq(p**2 + q**2, self.b**2)
        yield Eq((self.u - self.d) ** 2 + self.v**2, self.c**2)
