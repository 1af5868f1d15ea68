"""Blocks with a continuous state."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Parameter, Statement, Variable, der

from .interfaces import SISO


class Integrator(SISO):
    """Integrator, ``der(x) = k * u`` and ``y = x``."""

    k: Parameter = Parameter(default=1.0, doc="Gain")
    x: Variable = Variable(doc="Integral")

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), self.k * self.u)
        yield Eq(self.y, self.x)


class FirstOrder(SISO):
    """First order lag, ``T * der(x) = k * u - x`` and ``y = x``.

    ``T = 0`` is the gain ``y = k * u``.
    """

    k: Parameter = Parameter(default=1.0, doc="Gain")
    T: Parameter = Parameter(unit="s", min=0, doc="Time constant")
    x: Variable = Variable(doc="State")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.T * der(self.x), self.k * self.u - self.x)
        yield Eq(self.y, self.x)
