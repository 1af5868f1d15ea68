"""Scaled circuits behave as scaled: no number in the engine is compared with volts, amperes or seconds."""

from typing import Any

import numpy as np
import pytest

from acausal import Component, Parameter, Result, connect, simulate
from acausal.components.blocks import PWM
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Ground,
    IdealClosingSwitch,
    IdealDiode,
    Inductor,
    Resistor,
    SineVoltage,
)
from tests.oracles.rectifiers import half_wave_rl
from tests.systems.circuits import circuit, commutations, falls

PERIOD = 10e-6
PERIODS = 100


class Buck(Component):
    """Step-down converter that starts from rest; a light load makes the inductor current intermittent."""

    R: Parameter = Parameter(unit="Ohm")
    impedance: Parameter = Parameter(default=1.0, unit="1", doc="Factor of all impedances")
    slowness: Parameter = Parameter(default=1.0, unit="1", doc="Factor of all times")

    def build(self) -> None:
        z, s = self.impedance, self.slowness
        self.source = ConstantVoltage(V=24.0)
        self.pwm = PWM(frequency=1 / (PERIOD * s), duty=0.4)
        self.switch = IdealClosingSwitch()
        self.diode = IdealDiode()
        self.inductor = Inductor(L=47e-6 * z * s)
        self.capacitor = Capacitor(C=10e-6 / z * s)
        self.load = Resistor(R=self.R * z)
        self.ground = Ground()

    def equations(self) -> Any:
        yield connect(self.pwm.y, self.switch.control)
        yield connect(self.source.p, self.switch.p)
        yield connect(self.switch.n, self.diode.n, self.inductor.p)
        yield connect(self.inductor.n, self.capacitor.p, self.load.p)
        yield connect(self.source.n, self.diode.p, self.capacitor.n, self.load.n, self.ground.p)


def run(R: float, impedance: float = 1.0, slowness: float = 1.0) -> Result:
    model = Buck(R=R, impedance=impedance, slowness=slowness)
    return simulate(model, PERIODS * PERIOD * slowness)


@pytest.fixture(scope="module", params=[5.0, 100.0], ids=["continuous", "intermittent"])
def plain(request: pytest.FixtureRequest) -> tuple[float, Result]:
    return request.param, run(request.param)


def modes(result: Result) -> list[tuple[int, ...]]:
    return [step.after for step in result.steps]


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize(
    ("impedance", "slowness"),
    [(1e-6, 1.0), (1e6, 1.0), (1.0, 1e-3), (1.0, 1e3), (1e-6, 1e3), (1e6, 1e-3)],
)
def test_buck_visits_the_same_modes_at_scaled_times(
    plain: tuple[float, Result], impedance: float, slowness: float
) -> None:
    R, reference = plain
    result = run(R, impedance, slowness)
    assert modes(result) == modes(reference)
    np.testing.assert_allclose(commutations(result), commutations(reference) * slowness, rtol=1e-9)
    t = np.linspace(0, PERIODS * PERIOD, 501)[1:]
    output = reference["capacitor.v"].at(t)
    np.testing.assert_allclose(result["capacitor.v"].at(t * slowness), output, rtol=0, atol=1e-9 * 24)


@pytest.mark.parametrize("amplitude", [1e-12, 1e-4, 1.0, 1e4])
def test_half_wave_rectifier_of_any_amplitude(amplitude: float) -> None:
    R, L, F = 10.0, 50e-3, 50.0
    model = circuit(
        ("source", SineVoltage(V=amplitude, f=F), "a", "0"),
        ("diode", IdealDiode(), "a", "b"),
        ("resistor", Resistor(R=R), "b", "c"),
        ("inductor", Inductor(L=L), "c", "0"),
    )
    result = simulate(model, 5 / F)
    exact = half_wave_rl(amplitude, F, R, L)
    np.testing.assert_allclose(falls(result, "diode.on"), np.arange(5) / F + exact.extinction_time, rtol=1e-9)
    assert result["inductor.i"].mean() == pytest.approx(exact.average_current, rel=1e-9)
