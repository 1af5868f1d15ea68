"""Rigid contacts: rebounds, rest and release."""

import numpy as np
import pytest

from acausal.components.translational import (
    ConstantForce,
    Fixed,
    ForceStep,
    HardStop,
    ImpactStop,
    Mass,
)
from acausal.errors import RequirementError
from tests.components.signals import changes, run

G = 9.81


def test_bouncing_ball() -> None:
    """Released at 1 m with restitution 0.9; impact k + 1 follows impact k after 2 * 0.9**k * v1 / g."""
    result = run(
        5.5,
        ("floor.flange", "stop.flange_a"),
        ("stop.flange_b", "ball.flange_a"),
        ("weight.flange", "ball.flange_b"),
        floor=Fixed(),
        stop=ImpactStop(restitution=0.9),
        ball=Mass(m=1.0, s=1.0),
        weight=ConstantForce(f_constant=-G),
    )
    v1, flights = np.sqrt(2 * G), 0.9 ** np.arange(1, 10)
    impacts = v1 / G + np.concatenate([[0.0], np.cumsum(2 * v1 / G * flights)])
    found = changes(result["ball.v"])
    assert found == pytest.approx(impacts, rel=1e-11)
    assert result["ball.v"].at(found, side="left") == pytest.approx(-v1 * 0.9 ** np.arange(10), rel=1e-10)
    assert result["ball.v"].at(found) == pytest.approx(v1 * 0.9 ** np.arange(1, 11), rel=1e-10)
    tops = impacts[:-1] + v1 / G * flights
    assert result["ball.s"].at(tops) == pytest.approx(flights**2, rel=1e-10)


def test_a_ball_without_restitution_stays_on_the_floor() -> None:
    result = run(
        2.0,
        ("floor.flange", "stop.flange_a"),
        ("stop.flange_b", "ball.flange_a"),
        ("weight.flange", "ball.flange_b"),
        floor=Fixed(s0=-1.0),
        stop=ImpactStop(s_rel0=0.25),
        ball=Mass(m=2.0, s=1.0),
        weight=ConstantForce(f_constant=-2.0 * G),
    )
    landing = np.sqrt(2 * 1.75 / G)
    assert changes(result["ball.v"]) == pytest.approx([landing], rel=1e-12)
    assert result["ball.s"].at([landing + 1e-3, 2.0]) == pytest.approx([-0.75, -0.75], rel=1e-14)
    assert result["stop.f"].at([landing + 1e-3, 2.0]) == pytest.approx([-2.0 * G] * 2, rel=1e-13)


def test_impact_of_two_free_masses_keeps_the_momentum() -> None:
    result = run(
        2.0,
        ("a.flange_b", "stop.flange_a"),
        ("stop.flange_b", "b.flange_a"),
        a=Mass(m=1.0, v=3.0),
        stop=ImpactStop(restitution=0.5),
        b=Mass(m=2.0, s=3.0),
    )
    assert changes(result["a.v"]) == pytest.approx([1.0], rel=1e-13)
    assert (result["a.v"].final, result["b.v"].final) == pytest.approx((0.0, 1.5), abs=1e-12)


def test_elastic_motion_between_two_stops() -> None:
    result = run(
        4.9,
        ("mass.flange_a", "stop.flange"),
        mass=Mass(m=3.0, v=2.0),
        stop=HardStop(s_min=-1.0, s_max=1.0, restitution=1.0),
    )
    assert changes(result["mass.v"]) == pytest.approx([0.5, 1.5, 2.5, 3.5, 4.5], rel=1e-12)
    t = np.linspace(0.0, 4.9, 50)
    assert result["mass.s"].at(t) == pytest.approx(1.0 - np.abs((2.0 * t + 1.0) % 4.0 - 2.0), abs=1e-11)


def test_a_mass_leaves_the_stop_when_the_force_turns() -> None:
    result = run(
        5.0,
        ("force.flange", "mass.flange_a"),
        ("mass.flange_b", "stop.flange"),
        force=ForceStep(offsetForce=2.0, stepForce=-3.0, startTime=3.0),
        mass=Mass(m=1.0),
        stop=HardStop(s_min=-9.0, s_max=1.0),
    )
    assert changes(result["mass.v"]) == pytest.approx([1.0], rel=1e-12)
    assert result["stop.f_max"].at([1.5, 2.5]) == pytest.approx([2.0, 2.0], rel=1e-12)
    t = np.linspace(3.0, 5.0, 9)
    assert result["mass.s"].at(t) == pytest.approx(1.0 - 0.5 * (t - 3.0) ** 2, abs=1e-12)


def test_stops_in_wrong_order_are_refused() -> None:
    with pytest.raises(RequirementError, match="lower stop must lie below"):
        run(1.0, ("m.flange_a", "stop.flange"), m=Mass(m=1.0), stop=HardStop(s_min=1.0, s_max=-1.0))
