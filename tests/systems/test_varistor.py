"""A varistor of 2 kV behind an inductance, i = G v + (v / 2 kV)**30 A, against an independent integration."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import root_scalar

from acausal import Component, Eq, Parameter, Statement, absolute, connect, simulate
from acausal.components.electrical import Ground, Inductor, OnePort, Resistor, SineVoltage


class Varistor(OnePort):
    G: Parameter = Parameter(default=1e-9, unit="S", doc="Leakage")
    V0: Parameter = Parameter(default=2000.0, unit="V")
    I0: Parameter = Parameter(default=1.0, unit="A")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        steep = self.I0 * (self.v / self.V0) * (absolute(self.v) / self.V0) ** 29.0
        yield Eq(self.i, self.G * self.v + steep)


class Clamped(Component):
    G: Parameter = Parameter(default=1e-9, unit="S")

    def build(self) -> None:
        self.source = SineVoltage(V=3000.0, f=50.0)
        self.resistor = Resistor(R=1.0)
        self.line = Inductor(L=10e-3)
        self.varistor = Varistor(G=self.G)
        self.ground = Ground()

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.resistor.p)
        yield connect(self.resistor.n, self.line.p)
        yield connect(self.line.n, self.varistor.p)
        yield connect(self.varistor.n, self.source.n, self.ground.p)


def currents(G: float, times: list[float]) -> list[float]:
    """Currents by an implicit Runge-Kutta method; the voltage by bisection."""

    def voltage(i: float) -> float:
        high = 2000.0 * max(1.0, abs(i)) ** (1.0 / 30.0) + 1.0
        law = root_scalar(
            lambda v: G * v + (v / 2000.0) ** 30 - abs(i), bracket=(0.0, high), xtol=1e-9, rtol=1e-14
        )
        return math.copysign(float(law.root), i) if i else 0.0

    def rate(t: float, y: list[float]) -> list[float]:
        return [(3000.0 * math.sin(100.0 * math.pi * t) - y[0] - voltage(float(y[0]))) / 10e-3]

    found = solve_ivp(rate, (0.0, times[-1]), [0.0], "Radau", times, rtol=1e-8, atol=1e-8)
    return [float(i) for i in found.y[0]]


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("G", [1e-3, 1e-6])
def test_a_varistor_with_leakage(G: float) -> None:
    times = [0.004, 0.007]
    result = simulate(Clamped(), times[-1], parameters={"G": G})
    assert [result["line.i"].at(t) for t in times] == pytest.approx(currents(G, times), rel=1e-6)
    assert result["varistor.v"].max() < 2000.0 * 171.0 ** (1.0 / 30.0)
