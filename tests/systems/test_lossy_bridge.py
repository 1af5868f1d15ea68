"""Diode bridge with small resistances and leakages: rates over ten decades."""

from typing import Any

import numpy as np

from acausal import Component, Parameter, connect, simulate
from acausal.components.electrical import Ground, IdealDiode, Inductor, Resistor, ThreePhaseVoltage
from tests.oracles.bridges import ThreePhase
from tests.oracles.lossy_bridge import lossy_three_phase


class LossyBridge(Component):
    """Three sources with resistance and inductance, six diodes, inductive load; the load side is grounded."""

    Ron: Parameter = Parameter(default=1e-3, unit="Ohm")
    Goff: Parameter = Parameter(default=1e-6, unit="S")

    def build(self) -> None:
        self.source = ThreePhaseVoltage(V=325.0, f=50.0)
        self.resistors = [Resistor(R=0.1) for _ in range(3)]
        self.lines = [Inductor(L=1e-3) for _ in range(3)]
        self.upper = [IdealDiode(Ron=self.Ron, Goff=self.Goff) for _ in range(3)]
        self.lower = [IdealDiode(Ron=self.Ron, Goff=self.Goff) for _ in range(3)]
        self.load = Resistor(R=10.0)
        self.choke = Inductor(L=10e-3)
        self.ground = Ground()

    def equations(self) -> Any:
        pins = (self.source.p1, self.source.p2, self.source.p3)
        for pin, resistor, line, upper, lower in zip(
            pins, self.resistors, self.lines, self.upper, self.lower, strict=True
        ):
            yield connect(pin, resistor.p)
            yield connect(resistor.n, line.p)
            yield connect(line.n, upper.p, lower.n)
        yield connect(*(d.n for d in self.upper), self.load.p)
        yield connect(self.load.n, self.choke.p)
        yield connect(*(d.p for d in self.lower), self.choke.n, self.ground.p)


def test_from_rest_it_follows_the_exact_solution() -> None:
    # At rest all blocked voltages are zero, and the closed form cancels terms of 50 A times 1 MOhm to get them.
    times = np.linspace(1e-3, 40e-3, 40)
    current = simulate(LossyBridge(), 40e-3)["choke.i"].at(times)
    exact = lossy_three_phase(ThreePhase(), 1e-3, 1e-6, times)
    np.testing.assert_allclose(current, exact, rtol=0, atol=1e-9 * np.max(exact))
