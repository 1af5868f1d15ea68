import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests.oracles.mechanics import BouncingBall, ClutchLocking, CoulombOscillator, StickSlip


def test_bouncing_ball_has_the_published_impacts():
    ball = BouncingBall()
    published = [0.451523641, 1.264266195, 1.995734493, 2.654055962, 3.246545283]
    np.testing.assert_allclose(ball.impacts(5), published, rtol=1e-9)
    assert ball.accumulation == pytest.approx(8.578949179, rel=1e-9)
    assert np.sum(ball.impacts(100) < 8.5) == 44


def test_bouncing_ball_reverses_its_velocity_at_impact_and_rests_at_last():
    ball = BouncingBall(e=0.5)
    t = ball.impacts(3)
    q, v = ball.state([t[1] * (1 - 1e-12), t[1] * (1 + 1e-12), 1.001 * ball.accumulation])
    np.testing.assert_allclose(q, 0.0, atol=1e-10)
    assert v[1] == pytest.approx(-0.5 * v[0], rel=1e-9)
    assert v[2] == 0.0


def test_stick_slip_satisfies_its_equation_of_motion_between_events():
    system = StickSlip()
    sticks, breaks, again = system.events(10.0)[:3]
    part = solve_ivp(
        lambda t, y: [y[1], system.Fc - system.k * y[0]],
        (breaks.t, again.t),
        [breaks.x, system.vb],
        rtol=1e-12,
        atol=1e-14,
        method="DOP853",
    )
    np.testing.assert_allclose(part.y[:, -1], [again.x, system.vb], rtol=1e-10)
    assert system.k * (sticks.x + system.vb * (breaks.t - sticks.t)) == pytest.approx(system.Fs, rel=1e-14)


def test_stick_slip_position_is_continuous_and_periodic():
    system = StickSlip()
    events = system.events(100.0)
    t = np.array([event.t for event in events])
    np.testing.assert_allclose(system.position(t * (1 - 1e-13)), system.position(t), rtol=1e-10)
    np.testing.assert_allclose(np.diff(t[1::2]), t[3] - t[1], rtol=1e-12)
    assert len(events) == 98


def test_stick_slip_never_sticks_to_a_fast_belt():
    assert StickSlip(vb=0.4).events(50.0) == []


def test_clutch_locks_with_momentum_balance():
    clutch = ClutchLocking(J1=2.0, J2=3.0, w1=50.0, w2=10.0, capacity=30.0, tau1=5.0, tau2=-4.0)
    t = np.array([clutch.t_lock, 2 * clutch.t_lock])
    w = clutch.speeds(t)
    np.testing.assert_allclose(w[:, 0], w[:, 1], rtol=1e-14)
    np.testing.assert_allclose(5.0 * w[:, 0], 130.0 + 1.0 * t, rtol=1e-14)
    mirrored = ClutchLocking(J1=3.0, J2=2.0, w1=10.0, w2=50.0, capacity=30.0, tau1=-4.0, tau2=5.0)
    np.testing.assert_allclose(mirrored.speeds(t), w[:, ::-1], rtol=1e-14)
    assert mirrored.transmitted == pytest.approx(-clutch.transmitted)


def test_clutch_that_cannot_hold_is_rejected():
    with pytest.raises(ValueError, match="cannot hold"):
        ClutchLocking(1.0, 1.0, 1.0, 0.0, capacity=10.0, tau1=-30.0, tau2=5.0).speeds(1.0)


def test_coulomb_oscillator_stops_at_the_known_point():
    system = CoulombOscillator()
    np.testing.assert_allclose(
        system.turning_points(), [1.05, -0.89, 0.73, -0.57, 0.41, -0.25, 0.09, 0.07], rtol=1e-12
    )
    assert system.stop_time == pytest.approx(4.398229715026, rel=1e-12)
    np.testing.assert_allclose(
        system.position([0.0, system.half_period * 2.5, 10.0]), [1.05, 0.08, 0.07], rtol=1e-12
    )
