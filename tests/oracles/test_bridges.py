import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests.oracles.bridges import SinglePhase, ThreePhase, single_phase, three_phase
from tests.oracles.rectifiers import overlap_angle, six_pulse_mean, six_pulse_voltage


def test_single_phase_bridge_matches_an_event_driven_integrator():
    p, w = SinglePhase(), 100 * np.pi
    t, y, mode = 0.0, np.zeros(2), 1
    ends = []

    def rhs(t, y, m):
        flow = (m * p.V * np.sin(w * t) - p.Rs * y[0] - y[1]) / p.Ls if m else 0.0
        return [flow, (y[0] - y[1] / p.R) / p.C]

    def event(t, y, m):
        return y[0] if m else y[1] - p.V * abs(np.sin(w * t))

    event.terminal, event.direction = True, -1
    while t < 0.04:
        part = solve_ivp(
            rhs, (t, 0.04), y, "DOP853", rtol=1e-12, atol=1e-12, events=event, args=(mode,), max_step=5e-4
        )
        t, y = part.t[-1], part.y[:, -1]
        ends.append(t)
        if mode == 0:
            mode = 1 if np.sin(w * t) > 0 else -1
        else:
            y[0] = 0.0
            mode = (1 if np.sin(w * t) > 0 else -1) if p.V * abs(np.sin(w * t)) > y[1] else 0
    run = single_phase(p, [0.04])
    np.testing.assert_allclose(run.commutations, ends[:-1], rtol=1e-9)
    assert run.states[-1, 1] == pytest.approx(y[1], rel=1e-9)


def test_single_phase_bridge_is_half_wave_symmetric_and_balances_charge():
    p = SinglePhase()
    times = np.concatenate([np.arange(1, 981) * 1e-3, 0.98 + np.arange(1, 401) * 5e-5])
    run = single_phase(p, times)
    last = run.states[-400:]
    np.testing.assert_allclose(last[:200, 0], -last[200:, 0], atol=1e-9 * np.abs(last[:, 0]).max())
    assert np.mean(np.abs(last[:, 0])) == pytest.approx(np.mean(last[:, 1]) / p.R, rel=1e-3)


def test_three_phase_bridge_without_source_impedance_follows_the_largest_difference():
    p = ThreePhase(Ls=1e-7, Rs=0.0)
    reference = solve_ivp(
        lambda t, j: (six_pulse_voltage(p.V, p.f, t) - p.R * j) / p.L,
        (0, 0.01),
        [0.0],
        rtol=1e-10,
        max_step=1e-5,
    )
    assert three_phase(p, [0.01]).states[-1, 0] == pytest.approx(reference.y[0, -1], rel=2e-5)


def test_three_phase_bridge_with_smooth_current_has_the_textbook_overlap_and_mean():
    p = ThreePhase(L=2.0, R=20.0, Rs=0.0)
    run = three_phase(p, np.arange(1, 500) * 2e-3)
    Id = run.states[-1, 0]
    gaps = np.diff(run.commutations[-13:])
    w = 2 * np.pi * p.f
    assert w * gaps.min() == pytest.approx(overlap_angle(p.V, w * p.Ls, Id), rel=1e-2)
    assert p.R * Id == pytest.approx(six_pulse_mean(p.V, 0.0, w * p.Ls, Id), rel=1e-3)


def test_three_phase_bridge_visits_six_pairs_and_six_overlaps():
    run = three_phase(ThreePhase(), np.arange(1, 81) * 5e-4)
    visited = {s.mode for s in run.segments}
    assert sorted(len(mode) for mode in visited) == [3] * 6 + [4] * 6
    assert len(run.commutations) == 24
