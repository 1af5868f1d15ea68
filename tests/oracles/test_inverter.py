import numpy as np
import pytest

from tests.oracles.inverter import phase_currents, sinusoidal_edges

VDC, R, L = 100.0, 2.0, 1e-3


def test_one_leg_high_charges_the_load_through_two_parallel_phases():
    edges = [(0.0, 0, True), (0.0, 3, True), (0.0, 5, True)]
    times = np.array([1e-4, 1e-3])
    expected = VDC / (1.5 * R) * -np.expm1(-times * R / L)
    i = phase_currents(edges, VDC, R, L, times)
    np.testing.assert_allclose(i, np.outer(expected, [1, -0.5, -0.5]), rtol=1e-14)


def test_dead_time_keeps_the_sign_of_the_current_and_clamps_it_at_zero():
    edges = [(0.0, 0, True), (0.0, 3, True), (1e-4, 0, False), (1e-4, 3, False)]
    peak = VDC / (2 * R) * -np.expm1(-1e-4 * R / L)
    zero = 1e-4 + L / R * np.log1p(peak * 2 * R / VDC)
    times = np.array([1e-4, 1.5e-4, zero * (1 + 1e-9), 1.0])
    i = phase_currents(edges, VDC, R, L, times)
    reverse = (peak + VDC / (2 * R)) * np.exp(-5e-5 * R / L) - VDC / (2 * R)
    np.testing.assert_allclose(i[:2, 0], [peak, reverse], rtol=1e-13)
    assert np.all(i[2:] == 0.0)
    assert np.all(i[:, 2] == 0.0)


def test_clamped_leg_leaves_the_other_two_as_a_single_loop():
    edges = [(0.0, k, True) for k in (0, 3, 5)] + [(1e-4, 5, False)]
    i = phase_currents(edges, VDC, R, L, [1.0])
    np.testing.assert_allclose(i[0], [VDC / (2 * R), -VDC / (2 * R), 0.0], rtol=1e-12)


def test_without_resistance_currents_are_ramps():
    i = phase_currents([(0.0, 0, True), (0.0, 3, True), (0.0, 5, True)], VDC, 0.0, L, [1e-4])
    np.testing.assert_allclose(i[0], VDC / L * 1e-4 * np.array([2, -1, -1]) / 3, rtol=1e-14)


def test_shoot_through_is_rejected():
    with pytest.raises(ValueError, match="both switches"):
        phase_currents([(0.0, 0, True), (0.0, 1, True)], VDC, R, L, [1e-3])


def test_modulated_currents_sum_to_zero_and_have_the_fundamental_of_the_reference():
    edges = sinusoidal_edges(0.8, 50.0, 10e3, 0.0, 0.06)
    times = np.arange(0.04, 0.06, 1e-5)
    i = phase_currents(edges, VDC, R, L, times)
    assert np.abs(i.sum(axis=1)).max() < 1e-12 * np.abs(i).max()
    fundamental = 2 * np.abs(np.mean(i[:, 0] * np.exp(-2j * np.pi * 50 * times)))
    assert fundamental == pytest.approx(0.8 * VDC / 2 / abs(R + 2j * np.pi * 50 * L), rel=2e-3)


def test_dead_time_lowers_the_fundamental_by_its_share_of_the_period():
    dead, f_carrier = 2e-6, 10e3
    times = np.arange(0.04, 0.06, 1e-5)
    phasors = []
    for dead_time in (0.0, dead):
        i = phase_currents(sinusoidal_edges(0.8, 50.0, f_carrier, dead_time, 0.06), VDC, R, L, times)
        phasors.append(2 * np.mean(i[:, 0] * np.exp(-2j * np.pi * 50 * times)))
    loss = abs(phasors[0] - phasors[1]) * abs(R + 2j * np.pi * 50 * L)
    assert loss == pytest.approx(4 / np.pi * dead * f_carrier * VDC, rel=0.1)
