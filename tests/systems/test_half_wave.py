"""Half-wave rectifier with a resistive-inductive load: extinction against the root of the textbook equation."""

import numpy as np
import pytest

from acausal import Circuit, Result, simulate
from acausal.components.electrical import Capacitor, IdealDiode, Inductor, Resistor, SineVoltage
from tests.oracles.rectifiers import HalfWaveRL, half_wave_rl, half_wave_rl_current
from tests.systems.circuits import circuit, commutations, falls, rises

V, F, R = 100.0, 50.0, 10.0
PERIODS = 5
STOP = (PERIODS - 0.05) / F
CASES = {0.01: 0.010968938353, 0.05: 0.013380394068, 0.2: 0.015963952305}
"""Inductance in H and extinction time in s, both of case A3."""


def half_wave(L: float, **diode: float) -> Circuit:
    return circuit(
        ("source", SineVoltage(V=V, f=F), "a", "0"),
        ("diode", IdealDiode(**diode), "a", "b"),
        ("resistor", Resistor(R=R), "b", "c"),
        ("inductor", Inductor(L=L), "c", "0"),
    )


@pytest.fixture(scope="module", params=CASES)
def run(request: pytest.FixtureRequest) -> tuple[float, Result, HalfWaveRL]:
    L = request.param
    return L, simulate(half_wave(L), STOP), half_wave_rl(V, F, R, L)


def test_extinction_is_the_root_of_the_textbook_equation(run: tuple[float, Result, HalfWaveRL]) -> None:
    L, result, exact = run
    assert exact.extinction_time == pytest.approx(CASES[L], abs=1e-12)
    after_crossing = falls(result, "diode.on") - np.arange(PERIODS) / F
    np.testing.assert_allclose(after_crossing, exact.extinction_time, rtol=0, atol=1e-15)


def test_the_diode_conducts_from_the_zero_crossing_and_switches_twice_a_period(
    run: tuple[float, Result, HalfWaveRL],
) -> None:
    _, result, _ = run
    np.testing.assert_allclose(rises(result, "diode.on"), np.arange(1, PERIODS) / F, rtol=1e-15)
    assert len(commutations(result)) == 2 * PERIODS - 1


def test_current_is_the_closed_form(run: tuple[float, Result, HalfWaveRL]) -> None:
    L, result, exact = run
    t = np.linspace(0, STOP, 2001)
    error = result["inductor.i"].at(t) - half_wave_rl_current(V, F, R, L, t)
    # The closed form itself has the rounding of the angle, 1e-14 after five periods.
    assert np.abs(error).max() <= 1e-13 * exact.peak_current
    assert result["inductor.i"].mean(0, 1 / F) == pytest.approx(exact.average_current, rel=1e-13)


def test_blocking_current_is_exactly_zero(run: tuple[float, Result, HalfWaveRL]) -> None:
    _, result, exact = run
    assert result["inductor.i"].at(0.5 * (exact.extinction_time + 1 / F)) == 0.0


@pytest.mark.parametrize("Goff", [1e-9, 1e-5])
def test_a_leaking_diode_tends_to_the_ideal_one(Goff: float) -> None:
    result, exact = simulate(half_wave(0.05, Goff=Goff), 1 / F), half_wave_rl(V, F, R, 0.05)
    (off,) = falls(result, "diode.on")
    # The leakage current at extinction, at most V * Goff, moves the zero by itself over the slope of the current.
    slope = abs(V * np.sin(exact.beta)) / 0.05
    assert abs(off - exact.extinction_time) <= 2 * V * Goff / slope


@pytest.mark.sweep(every=18)
@pytest.mark.parametrize(
    ("C", "load", "R_source", "amplitude", "frequency"),
    [(2e-6, 11.7, 1.0, 10.0, 60.0), (8.95e-6, 526.2, 1e-3, 10.0, 1.0), (9.75e-4, 10.32, 1e-3, 1.0, 1.0)],
)
def test_a_peak_rectifier_turns_off_in_one_event(
    C: float, load: float, R_source: float, amplitude: float, frequency: float
) -> None:
    """What sources evaluated anew round differently, a conductance of 1e6 S makes visible in the guard that has just vanished."""
    for factor in np.linspace(0.9, 1.1, 12):
        model = circuit(
            ("source", SineVoltage(V=amplitude, f=frequency), "a", "0"),
            ("inner", Resistor(R=R_source), "a", "b"),
            ("diode", IdealDiode(Ron=1e-6), "b", "c"),
            ("capacitor", Capacitor(C=factor * C), "c", "0"),
            ("load", Resistor(R=load), "c", "0"),
        )
        result = simulate(model, 19.9 / frequency)
        events = [e for e in result.events if e.kind == "state"]
        assert all(e.modes for e in events)
        off = falls(result, "diode.on")
        assert len(off) == 20 and len(events) <= 40
        # The capacitor leaves the sine where the load takes its current: tan(phase) = -w C R, up to the loss at the source.
        phase = (np.pi - np.arctan(2 * np.pi * frequency * load * factor * C)) / (2 * np.pi)
        small = 2.0 * np.pi * frequency * factor * C * R_source + R_source / load
        np.testing.assert_allclose(off * frequency - np.arange(20), phase, atol=small)
