"""Ladder of resistors and capacitors, nested: the model that grows."""

from collections.abc import Iterator

import numpy as np

from acausal import Component, Parameter, Statement, Structural, connect
from acausal.components.electrical import Capacitor, ConstantVoltage, Ground, Pin, Resistor


class Section(Component):
    """Series resistor and shunt capacitor."""

    a = Pin()
    b = Pin()
    g = Pin()
    R: Parameter = Parameter(unit="Ohm")
    C: Parameter = Parameter(unit="F")

    def build(self) -> None:
        self.r = Resistor(R=self.R)
        self.c = Capacitor(C=self.C)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.a, self.r.p)
        yield connect(self.r.n, self.c.p, self.b)
        yield connect(self.c.n, self.g)


class Ladder(Component):
    """Constant source at the begin of ``n`` sections with 1 ohm and 1 F altogether, the end is open."""

    n: Structural[int] = Structural(int)

    def build(self) -> None:
        self.source = ConstantVoltage(V=1.0)
        self.ground = Ground()
        self.section = [Section(R=1 / self.n, C=1 / self.n) for _ in range(self.n)]

    def equations(self) -> Iterator[Statement]:
        sections = self.section
        yield connect(self.source.p, sections[0].a)
        for left, right in zip(sections, sections[1:], strict=False):
            yield connect(left.b, right.a)
        yield connect(self.source.n, self.ground.p, *(s.g for s in sections))


def exact_voltages(n: int, t: float) -> np.ndarray:
    """Capacitor voltages of a ladder from rest, shape (n,).

    ``v' = n**2 (v[k-1] - 2 v[k] + v[k+1])`` with ``v[0] = 1`` and ``v[n+1] = v[n]`` has the modes
    ``sin(k angle)`` with ``angle = (2 j - 1) pi / (2 n + 1)`` and the rates ``-4 n**2 sin(angle / 2)**2``.
    """
    angle = (2 * np.arange(1, n + 1) - 1) * np.pi / (2 * n + 1)
    shapes = np.sin(np.outer(np.arange(1, n + 1), angle)) * np.sqrt(4 / (2 * n + 1))
    decay = np.exp(-4 * n**2 * np.sin(angle / 2) ** 2 * t)
    return 1 - shapes @ (decay * shapes.sum(axis=0))
