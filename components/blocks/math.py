"""Algebra of continuous signals."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Input, Parameter, Statement, if_else, maximum, minimum, require

from .interfaces import SI2SO, SISO, SO


class Gain(SISO):
    """Gain, ``y = k * u``."""

    k: Parameter = Parameter(default=1.0, doc="Gain")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, self.k * self.u)


class Add(SI2SO):
    """Weighted sum of two signals, ``y = k1 * u1 + k2 * u2``."""

    k1: Parameter = Parameter(default=1.0, doc="Weight of the first input")
    k2: Parameter = Parameter(default=1.0, doc="Weight of the second input")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, self.k1 * self.u1 + self.k2 * self.u2)


class Add3(SI2SO):
    """Weighted sum of three signals, ``y = k1 * u1 + k2 * u2 + k3 * u3``."""

    u3: Input = Input(float, doc="Third input")
    k1: Parameter = Parameter(default=1.0, doc="Weight of the first input")
    k2: Parameter = Parameter(default=1.0, doc="Weight of the second input")
    k3: Parameter = Parameter(default=1.0, doc="Weight of the third input")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, self.k1 * self.u1 + self.k2 * self.u2 + self.k3 * self.u3)


class Feedback(SI2SO):
    """Difference, ``y = u1 - u2``."""

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, self.u1 - self.u2)


class Product(SI2SO):
    """Product, ``y = u1 * u2``.

    Not linear: on the exact path only where nothing in the dynamics depends on it, as for a power that is measured.
    """

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, self.u1 * self.u2)


class Limiter(SISO):
    """Limiter, ``y = min(max(u, uMin), uMax)``."""

    uMin: Parameter = Parameter(doc="Lower limit")
    uMax: Parameter = Parameter(doc="Upper limit")

    def equations(self) -> Iterator[Statement]:
        yield require(self.uMin <= self.uMax, "the lower limit must not exceed the upper one")
        yield Eq(self.y, minimum(maximum(self.u, self.uMin), self.uMax))


class BooleanToReal(SO):
    """Number for a Boolean, ``y = realTrue`` while ``u`` is true, else ``y = realFalse``."""

    u: Input = Input(bool, doc="Input")
    realTrue: Parameter = Parameter(default=1.0, doc="Output while the input is true")
    realFalse: Parameter = Parameter(default=0.0, doc="Output while the input is false")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, if_else(self.u, self.realTrue, self.realFalse))
