"""Published cases, rebuilt from their descriptions and compared within the tolerances these give."""

from math import exp, pi, sqrt

import numpy as np
import pytest

from acausal import Result, simulate
from acausal.components.blocks import PWM, BooleanPulse, Mean, Ramp, RootMeanSquare
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    CurrentSensor,
    IdealDiode,
    IdealGTOThyristor,
    IdealTriac,
    Inductor,
    Resistor,
    SineVoltage,
    StepVoltage,
    VoltageSensor,
)
from tests.oracles.reference_data import Trajectory, load_case, requires_case
from tests.systems.circuits import circuit, commutations, diode_bridge, falls, rises


def largest_error(result: Result, path: str, data: Trajectory, name: str) -> float:
    """Largest difference at the rows with one value."""
    rows = data.away_from_events & (data.time <= result.t_end)
    return float(np.abs(result[path].at(data.time[rows]) - data[name][rows]).max())


# -- LC oscillator damped through a bridge: seen from its terminals an ideal bridge is the resistor behind it --------


@pytest.fixture(scope="module")
def damped() -> Result:
    model = circuit(
        ("capacitor", Capacitor(C=1e-6), "a", "0"),
        ("inductor", Inductor(L=10e-3), "a", "0"),
        *diode_bridge("a0", "plus", "minus"),
        ("load", Resistor(R=1e3), "plus", "minus"),
    )
    return simulate(model, 5e-3, initial={"capacitor.v": 10.0, "inductor.i": 0.0})


def test_an_oscillation_damped_through_a_bridge_is_exact(damped: Result) -> None:
    R, L, C, V = 1e3, 10e-3, 1e-6, 10.0
    alpha = 1 / (2 * R * C)
    w = sqrt(1 / (L * C) - alpha**2)
    t = np.linspace(0, 5e-3, 1001)
    exact = V * np.exp(-alpha * t) * (np.cos(w * t) - alpha / w * np.sin(w * t))
    assert np.abs(damped["capacitor.v"].at(t) - exact).max() <= 1e-12
    # Zeros of the voltage: both pairs change over at once, none conducts alone.
    zeros = (np.arctan2(w, alpha) + pi * np.arange(16)) / w
    np.testing.assert_allclose(commutations(damped), zeros[zeros < 5e-3], rtol=1e-12)
    assert np.array_equal(damped["t0.on"].values, damped["b1.on"].values)
    assert np.array_equal(damped["t1.on"].values, damped["b0.on"].values)
    assert np.array_equal(damped["t0.on"].values, 1 - damped["t1.on"].values)


@requires_case("siconos_diode_bridge")
def test_an_oscillation_damped_through_a_bridge(damped: Result) -> None:
    data = load_case("siconos_diode_bridge")
    assert largest_error(damped, "capacitor.v", data, "v") <= 0.03
    assert largest_error(damped, "inductor.i", data, "i_L") <= 3e-4


# -- Full-wave bridge with resistive load ----------------------------------------------------------------------------


@requires_case("msl_diode_bridge_2pulse")
def test_two_pulse_bridge() -> None:
    model = circuit(
        ("source", SineVoltage(V=sqrt(2) * 110, f=50.0), "a", "0"),
        *diode_bridge("a0", "plus", "minus", lambda: IdealDiode(Ron=1e-5, Goff=1e-5)),
        ("ammeter", CurrentSensor(), "plus", "b"),
        ("load", Resistor(R=20.0), "b", "minus"),
        ("voltmeter", VoltageSensor(), "plus", "minus"),
        mean_i=Mean(period=0.01),
        mean_v=Mean(period=0.01),
        rms_v=RootMeanSquare(period=0.01),
    )
    model.connect(model.ammeter.i, model.mean_i.u)
    model.connect(model.voltmeter.v, model.mean_v.u, model.rms_v.u)
    result = simulate(model, 0.1)
    data = load_case("msl_diode_bridge_2pulse")
    rows = data.away_from_events & (data.time > 0.01)
    t = data.time[rows]
    assert np.abs(result["mean_i.y"].at(t) / data["mean_i"][rows] - 1).max() <= 1e-6
    assert np.abs(result["mean_v.y"].at(t) / data["mean_v"][rows] - 1).max() <= 1e-6
    assert np.abs(result["rms_v.y"].at(t) / np.sqrt(data["mean_v_squared"][rows]) - 1).max() <= 1e-6


# -- Step-down chopper with a ramped duty ratio ----------------------------------------------------------------------


@requires_case("msl_chopper_step_down")
def test_step_down_chopper() -> None:
    losses = {"Ron": 1e-5, "Goff": 1e-5}
    model = circuit(
        ("source", ConstantVoltage(V=60.0), "in", "0"),
        ("transistor", IdealGTOThyristor(**losses), "in", "x"),
        ("diode", IdealDiode(**losses), "0", "x"),
        ("v_sw", VoltageSensor(), "x", "0"),
        ("inductor", Inductor(L=25e-3), "x", "out"),
        ("capacitor", Capacitor(C=20e-6), "out", "0"),
        ("v_out", VoltageSensor(), "out", "0"),
        ("ammeter", CurrentSensor(), "out", "a"),
        ("resistor", Resistor(R=10.0), "a", "b"),
        ("choke", Inductor(L=25e-3), "b", "0"),
        command=Ramp(height=12 / 60, duration=0.05, startTime=0.025),
        pwm=PWM(frequency=1e3),
        mean_i=Mean(period=1e-3),
        mean_v=Mean(period=1e-3),
    )
    model.connect(model.command.y, model.pwm.duty)
    model.connect(model.pwm.y, model.transistor.fire)
    model.connect(model.ammeter.i, model.mean_i.u)
    model.connect(model.v_out.v, model.mean_v.u)
    result = simulate(model, 0.1, initial={"capacitor.v": 12.0, "inductor.i": 0.0, "choke.i": 0.0})
    data = load_case("msl_chopper_step_down")
    assert largest_error(result, "inductor.i", data, "i_L") <= 1e-5
    assert largest_error(result, "mean_i.y", data, "mean_i") <= 1e-5
    assert largest_error(result, "mean_v.y", data, "mean_v") <= 1e-4
    assert largest_error(result, "v_sw.v", data, "v_sw") <= 1e-4


# -- Fifth-order low-pass with two loops of capacitors ---------------------------------------------------------------


@requires_case("msl_cauer_lowpass")
def test_cauer_low_pass() -> None:
    l1, l2 = 1.304, 0.8586
    result = simulate(
        circuit(
            ("source", StepVoltage(V=1.0, startTime=1.0), "in", "0"),
            ("R1", Resistor(R=1.0), "in", "a"),
            ("C1", Capacitor(C=1.072), "a", "0"),
            ("L1", Inductor(L=l1), "a", "b"),
            ("C2", Capacitor(C=1 / (1.704992**2 * l1)), "a", "b"),
            ("C3", Capacitor(C=1.682), "b", "0"),
            ("L2", Inductor(L=l2), "b", "c"),
            ("C4", Capacitor(C=1 / (1.179945**2 * l2)), "b", "c"),
            ("C5", Capacitor(C=0.7262), "c", "0"),
            ("R2", Resistor(R=1.0), "c", "0"),
        ),
        60.0,
    )
    data = load_case("msl_cauer_lowpass")
    for name in data.names:
        quantity, part = name.split("_")
        assert largest_error(result, f"{part}.{quantity}", data, name) <= 5e-5


# -- Triac with a snubber --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def triac() -> Result:
    model = circuit(
        ("source", SineVoltage(V=5.0, f=2.0), "s", "0"),
        ("resistor", Resistor(R=20.0), "s", "n"),
        ("triac", IdealTriac(Ron=1e-5, Goff=1e-5, Vknee=0.8), "n", "0"),
        ("series", Resistor(R=100.0), "n", "m"),
        ("snubber", Capacitor(C=5e-3), "m", "0"),
        gate=BooleanPulse(period=0.25, width=50.0, startTime=0.1),
    )
    model.connect(model.gate.y, model.triac.fire)
    return simulate(model, 2.0, initial={"snubber.v": 0.0})


@requires_case("msl_ideal_triac")
def test_triac_with_snubber(triac: Result) -> None:
    data = load_case("msl_ideal_triac")
    assert largest_error(triac, "snubber.v", data, "v_snub") <= 1e-4
    for path, name in (("triac.forward.on", "off_a"), ("triac.backward.on", "off_b")):
        rows = data.away_from_events
        assert np.array_equal(triac[path].at(data.time[rows]), 1 - data[name][rows])


def test_triac_fires_and_extinguishes_at_the_stated_times(triac: Result) -> None:
    assert rises(triac, "triac.forward.on") == pytest.approx([0.1, 0.6, 1.1, 1.6], rel=1e-12)
    assert rises(triac, "triac.backward.on") == pytest.approx([0.35, 0.85, 1.35, 1.85], rel=1e-12)
    assert falls(triac, "triac.forward.on") == pytest.approx([0.23630, 0.73590, 1.23574, 1.73568], abs=1e-4)
    assert falls(triac, "triac.backward.on") == pytest.approx([0.48522, 0.98547, 1.48557, 1.98561], abs=1e-4)


# -- Final values ----------------------------------------------------------------------------------------------------


def test_a_capacitor_with_a_given_start() -> None:
    result = simulate(
        circuit(
            ("source", ConstantVoltage(V=10.0), "a", "0"),
            ("R", Resistor(R=5.0), "a", "b"),
            ("C", Capacitor(C=2.0), "b", "0"),
        ),
        10.0,
        initial={"C.v": 3.0},
    )
    assert result["C.v"].final == pytest.approx(10 - 7 * exp(-1), rel=1e-14)
    assert result["R.v"].final == pytest.approx(7 * exp(-1), rel=1e-14)


def test_two_inductors_in_series_start_together() -> None:
    result = simulate(
        circuit(
            ("source", ConstantVoltage(V=10.0), "a", "0"),
            ("L1", Inductor(L=0.1), "a", "b"),
            ("R1", Resistor(R=10.0), "b", "c"),
            ("R2", Resistor(R=20.0), "b", "c"),
            ("L2", Inductor(L=0.2), "c", "0"),
        ),
        1.0,
        initial={"L1.i": 0.1},
    )
    for t in (0.0, 0.01, 1.0):
        exact = 1.5 - 1.4 * exp(-t * 1000 / 45)
        assert [result["L1.i"].at(t), result["L2.i"].at(t)] == pytest.approx([exact, exact], rel=1e-13)
