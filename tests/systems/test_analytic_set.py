"""Closed forms of series RLC, freewheeling, full-wave rectification and charge balance (cases A1, A2, A4, A7)."""

from math import cos, exp, pi, sin, sqrt

import numpy as np
import pytest

from acausal import Result, simulate
from acausal.components.blocks import BooleanStep
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    IdealClosingSwitch,
    IdealDiode,
    IdealOpeningSwitch,
    Inductor,
    Resistor,
    SineVoltage,
    StepVoltage,
)
from tests.oracles.rectifiers import full_wave_resistive
from tests.systems.circuits import circuit, commutations, diode_bridge


def test_step_on_a_series_rlc() -> None:
    R, L, C, V = 2.0, 1e-3, 100e-6, 10.0
    result = simulate(
        circuit(
            ("source", StepVoltage(V=V), "a", "0"),
            ("resistor", Resistor(R=R), "a", "b"),
            ("inductor", Inductor(L=L), "b", "c"),
            ("capacitor", Capacitor(C=C), "c", "0"),
        ),
        5e-3,
    )
    alpha = R / (2 * L)
    w = sqrt(1 / (L * C) - alpha**2)
    for t in (1e-4, 3e-4, 5e-4, 1e-3, 2e-3, 5e-3):
        decay = exp(-alpha * t)
        assert result["capacitor.v"].at(t) == pytest.approx(
            V * (1 - decay * (cos(w * t) + alpha / w * sin(w * t))), rel=1e-13
        )
        assert result["inductor.i"].at(t) == pytest.approx(V / (w * L) * decay * sin(w * t), rel=1e-12)


@pytest.fixture(scope="module")
def freewheeling() -> Result:
    model = circuit(
        ("source", ConstantVoltage(V=24.0), "a", "0"),
        ("switch", IdealOpeningSwitch(), "a", "b"),
        ("winding", Resistor(R=5.0), "b", "c"),
        ("inductor", Inductor(L=20e-3), "c", "0"),
        ("damping", Resistor(R=15.0), "d", "b"),
        ("diode", IdealDiode(), "0", "d"),
        command=BooleanStep(startTime=0.01),
    )
    model.connect(model.command.y, model.switch.control)
    return simulate(model, 0.1)


def test_charging_then_freewheeling(freewheeling: Result) -> None:
    opened = 24 / 5 * (1 - exp(-0.01 * 5 / 20e-3))
    current = freewheeling["inductor.i"]
    assert current.at(0.01, side="left") == pytest.approx(opened, rel=1e-14)
    assert current.at(0.01) == current.at(0.01, side="left")
    for t in (0.011, 0.015):
        assert current.at(t) == pytest.approx(opened * exp(-(t - 0.01) * 20 / 20e-3), rel=1e-13)
    assert -freewheeling["damping.v"].at(0.01, side="left") == 0.0
    assert freewheeling["damping.v"].at(0.01) == pytest.approx(15 * opened, rel=1e-14)
    assert commutations(freewheeling).tolist() == [0.01]


def test_heat_after_opening_is_the_energy_of_the_coil(freewheeling: Result) -> None:
    opened = freewheeling["inductor.i"].at(0.01)
    heat = 20 * freewheeling["inductor.i"].rms(0.01, 0.1) ** 2 * 0.09
    rest = 0.5 * 20e-3 * freewheeling["inductor.i"].final ** 2
    assert heat + rest == pytest.approx(0.5 * 20e-3 * opened**2, rel=1e-13)
    assert 0.5 * 20e-3 * opened**2 == pytest.approx(0.1941276556, rel=1e-9)


def test_full_wave_rectifier_with_resistive_load() -> None:
    V, R = 325.269, 50.0
    result = simulate(
        circuit(
            ("source", SineVoltage(V=V, f=50.0), "a", "b"),
            *diode_bridge("ab", "plus", "0"),
            ("load", Resistor(R=R), "plus", "0"),
        ),
        0.04,
    )
    mean, rms, power = full_wave_resistive(V, R)
    assert result["load.v"].mean() == pytest.approx(mean, rel=1e-13)
    assert result["load.v"].rms() == pytest.approx(rms, rel=1e-13)
    assert R * result["load.i"].rms() ** 2 == pytest.approx(power, rel=1e-13)
    t = np.linspace(0, 0.04, 999)[1:-1]
    np.testing.assert_allclose(result["load.v"].at(t), np.abs(V * np.sin(100 * pi * t)), atol=1e-11)


@pytest.mark.parametrize("R", [1e-3, 1.0, 1e3])
def test_energy_lost_in_charging_does_not_depend_on_the_resistance(R: float) -> None:
    C1, C2 = 1e-6, 3e-6
    model = circuit(
        ("c1", Capacitor(C=C1), "a", "0"),
        ("switch", IdealClosingSwitch(), "a", "b"),
        ("resistor", Resistor(R=R), "b", "c"),
        ("c2", Capacitor(C=C2), "c", "0"),
        command=BooleanStep(),
    )
    model.connect(model.command.y, model.switch.control)
    tau = R * C1 * C2 / (C1 + C2)
    result = simulate(model, 40 * tau, initial={"c1.v": 10.0, "c2.v": 2.0})
    assert [result["c1.v"].final, result["c2.v"].final] == pytest.approx([4.0, 4.0], rel=1e-14)
    assert result["c1.v"].at(tau) == pytest.approx(4 + 6 * exp(-1), rel=1e-13)
    heat = R * result["resistor.i"].rms() ** 2 * 40 * tau
    assert heat == pytest.approx(0.5 * C1 * C2 / (C1 + C2) * 8.0**2, rel=1e-13)
