"""Mechanical systems with impacts and dry friction: every event of long runs."""

import numpy as np
import pytest

from acausal import Circuit, FrictionState, Result, simulate
from acausal.components.blocks import Step
from acausal.components.rotational import Clutch, Inertia
from acausal.components.translational import (
    ConstantForce,
    ConstantSpeed,
    Fixed,
    Friction,
    ImpactStop,
    Mass,
    Spring,
)
from tests.oracles.mechanics import BouncingBall, ClutchLocking, StickSlip
from tests.oracles.reference_data import load_case, requires_case
from tests.systems.circuits import commutations

BALL = BouncingBall()


@pytest.fixture(scope="module")
def ball() -> Result:
    """Dropped from 1 m with restitution 0.9; beyond the time at which infinitely many impacts accumulate."""
    model = Circuit()
    floor, stop = model.add("floor", Fixed()), model.add("stop", ImpactStop(restitution=BALL.e))
    mass = model.add("ball", Mass(m=1.0, s=BALL.height))
    weight = model.add("weight", ConstantForce(f_constant=-BALL.g))
    model.connect(floor.flange, stop.flange_a)
    model.connect(stop.flange_b, mass.flange_a, weight.flange)
    return simulate(model, 9.0)


def impact_times(result: Result) -> np.ndarray:
    return np.array([step.t for step in result.steps if step.impulses])


def test_impacts_before_the_accumulation(ball: Result) -> None:
    found, exact = impact_times(ball), BALL.impacts(44)
    np.testing.assert_allclose(found[:44], exact, rtol=1e-9)
    assert found[44] > 8.5
    velocity = BALL.g * BALL.first * BALL.e ** np.arange(1, 45)
    np.testing.assert_allclose(ball["ball.v"].at(found[:44]), velocity, rtol=1e-9)


def test_ball_comes_to_rest_at_the_accumulation(ball: Result) -> None:
    assert np.all(np.diff(impact_times(ball)) > 0)
    assert impact_times(ball)[-1] == pytest.approx(BALL.accumulation, rel=1e-4)
    np.testing.assert_array_equal(ball["ball.v"].at(np.array([8.6, 9.0])), 0.0)
    assert ball["stop.f"].at(8.7) == pytest.approx(-BALL.g, rel=1e-12)


@requires_case("siconos_bouncing_ball")
def test_ball_against_the_reference(ball: Result) -> None:
    case = load_case("siconos_bouncing_ball")
    away = case.away_from_events
    np.testing.assert_allclose(ball["ball.s"].at(case.time[away]), case["q"][away], atol=1e-6)
    impacts = case.event_times[:10]
    np.testing.assert_allclose(impact_times(ball)[: len(impacts)], impacts, atol=1e-8)


def test_stick_slip_over_a_hundred_seconds() -> None:
    case = StickSlip()
    model = Circuit()
    belt = model.add("belt", ConstantSpeed(v_fixed=case.vb))
    wall, spring = model.add("wall", Fixed()), model.add("spring", Spring(c=case.k))
    friction = model.add("friction", Friction(f_coulomb=case.Fc, f_breakaway=case.Fs))
    mass = model.add("mass", Mass(m=case.m))
    model.connect(wall.flange, spring.flange_a)
    model.connect(spring.flange_b, mass.flange_a, friction.flange_b)
    model.connect(belt.flange, friction.flange_a)
    result = simulate(model, 100.0)
    events = case.events(100.0)
    np.testing.assert_allclose(commutations(result), [event.t for event in events], rtol=1e-9)
    sticking = result["friction.state"].at(commutations(result)) == FrictionState.STICK.value
    np.testing.assert_array_equal(sticking, [event.sticks for event in events])
    t = np.linspace(0, 100, 1001)
    np.testing.assert_allclose(result["mass.s"].at(t), case.position(t), rtol=0, atol=1e-9 * case.Fs / case.k)


def test_clutch_locks_and_loses_a_state() -> None:
    model = Circuit()
    force = model.add("force", Step(startTime=1.0))
    j1, j2 = model.add("j1", Inertia(J=1.0, w=10.0)), model.add("j2", Inertia(J=2.0))
    clutch = model.add("clutch", Clutch(fn_max=5.0))
    model.connect(force.y, clutch.f_normalized)
    model.connect(j1.flange_b, clutch.flange_a)
    model.connect(clutch.flange_b, j2.flange_a)
    result = simulate(model, 4.0)
    exact = ClutchLocking(J1=1.0, J2=2.0, w1=10.0, w2=0.0, capacity=5.0)
    np.testing.assert_allclose(commutations(result), [1.0, 1.0 + exact.t_lock], rtol=1e-9)
    assert commutations(result)[-1] == pytest.approx(7 / 3, rel=1e-9)
    t = np.linspace(1, 4, 31)
    speeds = np.stack([result["j1.w"].at(t), result["j2.w"].at(t)], axis=-1)
    np.testing.assert_allclose(speeds, exact.speeds(t - 1.0), rtol=0, atol=1e-9 * 10)
    assert result["j1.w"].final == pytest.approx(10 / 3, rel=1e-9)
    open_, slipping, locked = (m.states for m in result.modes)
    assert open_ == slipping == locked + 1


def test_two_clutches_in_series_slip_at_the_weaker_one() -> None:
    """Nothing turns between them: 1 N.m brakes 1 kg.m2 from 1 rad/s, so 0.9 rad/s after 0.1 s."""
    c = Circuit()
    a, b = c.add("a", Inertia(J=1.0, w=1.0)), c.add("b", Inertia(J=2.0))
    weak, strong = (
        c.add("weak", Clutch(fn_max=1.0, f_normalized=1.0)),
        c.add("strong", Clutch(fn_max=2.0, f_normalized=1.0)),
    )
    c.connect(a.flange_b, weak.flange_a)
    c.connect(weak.flange_b, strong.flange_a)
    c.connect(strong.flange_b, b.flange_a)
    result = simulate(c, 0.1)
    assert result["a.w"].final == pytest.approx(0.9, rel=1e-12)
    assert result["strong.w_rel"].final == pytest.approx(0.0, abs=1e-12)
