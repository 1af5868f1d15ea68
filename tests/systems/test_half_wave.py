"""Half-wave rectifier with a resistive-inductive load: extinction against the root of the textbook equation."""

import numpy as np
import pytest

from acausal import Circuit, Result, simulate
from acausal.components.electrical import IdealDiode, Inductor, Resistor, SineVoltage
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
