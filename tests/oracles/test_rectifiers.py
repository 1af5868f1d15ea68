import numpy as np
import pytest
from scipy.integrate import quad

from tests.oracles.rectifiers import (
    extinction_angle,
    full_wave_resistive,
    half_wave_rl,
    half_wave_rl_current,
    overlap_angle,
    six_pulse_mean,
    six_pulse_voltage,
    two_pulse_mean,
)


@pytest.mark.parametrize(
    ("L", "beta", "mean", "peak"),
    [(0.01, 3.445993615, 3.10993003, 9.547622), (0.2, 5.015223528, 1.11690648, 2.544828)],
)
def test_half_wave_rl_matches_tabulated_values(L, beta, mean, peak):
    result = half_wave_rl(100.0, 50.0, 10.0, L)
    assert result.beta == pytest.approx(beta, abs=1e-9)
    assert result.average_current == pytest.approx(mean, rel=1e-8)
    assert result.peak_current == pytest.approx(peak, rel=1e-6)


def test_extinction_angle_has_its_resistive_and_inductive_limits():
    assert extinction_angle(1e-3) == pytest.approx(np.pi + 1e-3, rel=1e-12)
    assert extinction_angle(np.pi / 2 - 1e-6) == pytest.approx(2 * np.pi, rel=1e-2)


def test_mean_of_half_wave_current_is_the_integral():
    result = half_wave_rl(100.0, 50.0, 10.0, 0.05)
    area, _ = quad(
        lambda t: float(half_wave_rl_current(100.0, 50.0, 10.0, 0.05, t)), 0, result.extinction_time
    )
    assert 50.0 * area == pytest.approx(result.average_current, rel=1e-12)


def test_full_wave_averages_for_the_mains():
    assert full_wave_resistive(325.269, 50.0) == pytest.approx((207.072677, 229.999916, 1057.99922), rel=1e-8)


def test_six_pulse_mean_is_the_mean_of_the_waveform():
    area, _ = quad(lambda t: float(six_pulse_voltage(325.0, 50.0, t)), 1 / 300, 2 / 300, points=[0.005])
    assert 300 * area == pytest.approx(six_pulse_mean(325.0), rel=1e-9)


def test_overlap_area_is_the_loss_of_mean_voltage():
    V, w_Ls, Id, alpha = 325.0, 0.5, 40.0, 0.4
    u = overlap_angle(V, w_Ls, Id, alpha)
    area, _ = quad(lambda a: np.sqrt(3) * V / 2 * np.sin(a), alpha, alpha + u)
    loss = six_pulse_mean(V, alpha) - six_pulse_mean(V, alpha, w_Ls, Id)
    assert area / (np.pi / 3) == pytest.approx(loss, rel=1e-12)


def test_thyristor_bridge_means():
    assert two_pulse_mean(100.0) == pytest.approx(200 / np.pi)
    assert two_pulse_mean(100.0, np.pi / 3) == pytest.approx(150 / np.pi)
    assert two_pulse_mean(100.0, np.pi / 3, continuous=True) == pytest.approx(100 / np.pi)
