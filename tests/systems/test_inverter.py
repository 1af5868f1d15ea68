"""Two-level inverter: six switches, six diodes, dead time, natural sampling, R-L load with floating star."""

from math import pi
from typing import Any

import numpy as np
import pytest

from acausal import Component, Parameter, Result, connect, simulate
from acausal.components.blocks import Carrier, DeadTime, NaturalPWM, Sine
from acausal.components.electrical import (
    ConstantVoltage,
    Ground,
    IdealClosingSwitch,
    IdealDiode,
    Inductor,
    Pin,
    Resistor,
)
from tests.oracles.inverter import phase_currents, sinusoidal_edges
from tests.systems.circuits import search_stats

VDC, R, L = 300.0, 2.0, 5e-3
F, CARRIER, DEPTH, DEAD_TIME = 50.0, 2e3, 0.8, 10e-6
STOP = 1 / F


class Leg(Component):
    """Switch with diode to either rail, driven by a sine compared with a triangle that begins at its peak."""

    plus = Pin()
    minus = Pin()
    star = Pin()
    lag: Parameter = Parameter(unit="rad", doc="Lag of the reference")

    def build(self) -> None:
        # The complement: duty and carrier upside down, so that the carrier begins at zero.
        self.reference = Sine(amplitude=-DEPTH / 2, f=F, phase=-self.lag, offset=0.5)
        self.pwm = NaturalPWM(frequency=CARRIER, duty=self.reference.y, carrier=Carrier.TRIANGLE)
        self.delay = DeadTime(u=self.pwm.notY, dead_time=DEAD_TIME)
        self.upper = IdealClosingSwitch(control=self.delay.high)
        self.lower = IdealClosingSwitch(control=self.delay.low)
        self.upper_diode = IdealDiode()
        self.lower_diode = IdealDiode()
        self.resistor = Resistor(R=R)
        self.inductor = Inductor(L=L)

    def equations(self) -> Any:
        yield connect(self.plus, self.upper.p, self.upper_diode.n)
        yield connect(self.upper.n, self.upper_diode.p, self.lower.p, self.lower_diode.n, self.resistor.p)
        yield connect(self.minus, self.lower.n, self.lower_diode.p)
        yield connect(self.resistor.n, self.inductor.p)
        yield connect(self.star, self.inductor.n)


class Inverter(Component):
    """Three legs between the rails of a direct voltage; the star point of the load floats."""

    def build(self) -> None:
        self.source = ConstantVoltage(V=VDC)
        self.legs = [Leg(lag=2 * pi * k / 3) for k in range(3)]
        self.ground = Ground()

    def equations(self) -> Any:
        yield connect(self.source.p, *(leg.plus for leg in self.legs))
        yield connect(self.source.n, self.ground.p, *(leg.minus for leg in self.legs))
        yield connect(*(leg.star for leg in self.legs))


@pytest.fixture(scope="module")
def result() -> Result:
    return simulate(Inverter(), STOP)


def test_phase_currents_follow_the_reference(result: Result) -> None:
    t = np.linspace(0, STOP, 1001)[1:]
    exact = phase_currents(sinusoidal_edges(DEPTH, F, CARRIER, DEAD_TIME, STOP), VDC, R, L, t)
    peak = np.abs(exact).max()
    for k in range(3):
        current = result[f"legs[{k}].inductor.i"].at(t)
        np.testing.assert_allclose(current, exact[:, k], rtol=0, atol=1e-9 * peak)


def test_few_candidates_are_examined_for_each_new_mode(result: Result) -> None:
    stats = search_stats(result)
    assert stats.candidates <= 4 * (stats.searches - stats.hints)


def test_currents_of_the_star_cancel(result: Result) -> None:
    total = sum(result[f"legs[{k}].inductor.i"].values for k in range(3))
    assert np.abs(total).max() <= 1e-12 * np.abs(result["legs[0].inductor.i"].values).max()


def test_leg_stays_between_the_rails(result: Result) -> None:
    for k in range(3):
        output = result[f"legs[{k}].lower.v"].values
        assert output.min() >= -1e-9 * VDC
        assert output.max() <= VDC * (1 + 1e-9)
