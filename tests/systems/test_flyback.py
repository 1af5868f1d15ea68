"""Flyback converter with perfectly coupled windings: the flux passes from one to the other without leakage."""

from typing import Any

import numpy as np
import pytest

from acausal import Component, Parameter, Result, connect, simulate
from acausal.components.blocks import PWM
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    CoupledInductors,
    Ground,
    IdealClosingSwitch,
    IdealDiode,
    Resistor,
)
from tests.systems.circuits import commutations, falls

VIN, RATIO, DUTY, FREQUENCY = 48.0, 0.5, 0.4, 100e3
L1, C, R = 100e-6, 100e-6, 4.0
PERIOD = 1 / FREQUENCY
PERIODS = 1800
LAST = (PERIODS - 1) * PERIOD, PERIODS * PERIOD


class Flyback(Component):
    """The dots of the windings are opposed: the diode conducts while the switch is open."""

    duty: Parameter = Parameter(default=DUTY, unit="1")

    def build(self) -> None:
        self.source = ConstantVoltage(V=VIN)
        self.pwm = PWM(frequency=FREQUENCY, duty=self.duty)
        self.switch = IdealClosingSwitch(control=self.pwm.y)
        self.core = CoupledInductors(L1=L1, L2=RATIO**2 * L1, k=1.0)
        self.diode = IdealDiode()
        self.capacitor = Capacitor(C=C)
        self.load = Resistor(R=R)
        self.ground = Ground()

    def equations(self) -> Any:
        yield connect(self.source.p, self.core.p1)
        yield connect(self.core.n1, self.switch.p)
        yield connect(self.source.n, self.switch.n, self.ground.p)
        yield connect(self.core.n2, self.diode.p)
        yield connect(self.diode.n, self.capacitor.p, self.load.p)
        yield connect(self.core.p2, self.capacitor.n, self.load.n, self.ground.p)


@pytest.fixture(scope="module")
def result() -> Result:
    """Close to the steady state: started from it, and let settle."""
    output = VIN * RATIO * DUTY / (1 - DUTY)
    magnetising = RATIO * output / R / (1 - DUTY) - VIN * DUTY * PERIOD / (2 * L1)
    return simulate(Flyback(), PERIODS * PERIOD, initial={"capacitor.v": output, "core.im": magnetising})


def test_mean_of_a_settled_period(result: Result) -> None:
    mean = result["load.v"].mean(*LAST)
    assert mean == pytest.approx(VIN * RATIO * DUTY / (1 - DUTY), rel=1e-3)


def test_volt_seconds_of_the_core_vanish(result: Result) -> None:
    swing = VIN * DUTY
    settled = result["core.v1"].mean(*LAST)
    assert settled == pytest.approx(0, abs=1e-9 * swing)


def test_flux_of_the_core_is_continuous(result: Result) -> None:
    edges = commutations(result)
    flux = result["core.im"]
    np.testing.assert_allclose(flux.at(edges), flux.at(edges, side="left"), rtol=1e-12)
    assert not any(step.jumps for step in result.steps[1:])


def test_ampere_turns_pass_from_one_winding_to_the_other(result: Result) -> None:
    opening = falls(result, "switch.closed")
    primary = result["core.i1"].at(opening, side="left")
    np.testing.assert_allclose(result["core.i1"].at(opening), 0, atol=1e-12)
    np.testing.assert_allclose(RATIO * result["core.i2"].at(opening), primary, rtol=1e-12)
    np.testing.assert_allclose(result["core.v2"].values, RATIO * result["core.v1"].values, atol=1e-9 * VIN)


def test_one_state_of_the_core_in_either_position(result: Result) -> None:
    assert {m.states for m in result.modes} == {2}
