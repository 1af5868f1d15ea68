"""Clutches, brakes and bearings: slipping, locking, breaking away."""

import numpy as np
import pytest

from acausal import FrictionState
from acausal.components.blocks import BooleanStep, BooleanToReal, Ramp, Step, TimeTable
from acausal.components.rotational import (
    BearingFriction,
    Brake,
    Clutch,
    ConstantSpeed,
    ConstantTorque,
    CoulombFriction,
    Inertia,
    OneWayClutch,
    Torque,
)
from acausal.components.thermal import HeatCapacitor
from acausal.errors import RequirementError
from tests.components.signals import changes, run

COUPLED = [("j1.flange_b", "clutch.flange_a"), ("clutch.flange_b", "j2.flange_a")]


def test_clutch_locks_when_the_speeds_are_equal() -> None:
    """J1 = 1 at 10 rad/s, J2 = 2 at rest, 5 N.m from 1 s on: locked from 7/3 s on at 10/3 rad/s."""
    result = run(
        4.0,
        *COUPLED,
        ("force.y", "clutch.f_normalized"),
        force=Step(startTime=1.0),
        j1=Inertia(J=1.0, w=10.0),
        clutch=Clutch(fn_max=5.0),
        j2=Inertia(J=2.0),
    )
    assert changes(result["clutch.state"]) == pytest.approx([1.0, 7 / 3], rel=1e-12)
    t = np.linspace(0.0, 4.0, 41)
    slip = np.clip(t, 1.0, 7 / 3) - 1.0
    assert result["j1.w"].at(t) == pytest.approx(10.0 - 5.0 * slip, rel=1e-12)
    assert result["j2.w"].at(t) == pytest.approx(2.5 * slip, abs=1e-11)
    assert result["clutch.tau"].at([0.5, 2.0, 3.0]) == pytest.approx([0.0, -5.0, 0.0], abs=1e-12)
    states = [FrictionState.FREE, FrictionState.BACKWARD, FrictionState.STICK]
    assert [int(s) for s in result["clutch.state"].at([0.5, 2.0, 3.0])] == [s.value for s in states]


def test_a_locked_clutch_transmits_less_than_its_capacity() -> None:
    result = run(
        2.0,
        *COUPLED,
        ("torque.flange", "j1.flange_a"),
        torque=ConstantTorque(tau_constant=6.0),
        j1=Inertia(J=1.0),
        clutch=Clutch(fn_max=10.0, mu=0.5, f_normalized=1.0),
        j2=Inertia(J=2.0),
    )
    assert result["clutch.state"].final == FrictionState.STICK.value
    assert result["j2.w"].at([1.0, 2.0]) == pytest.approx([2.0, 4.0], rel=1e-12)
    assert result["clutch.tau"].at([0.5, 1.5]) == pytest.approx([-4.0, -4.0], rel=1e-12)


def test_a_locked_clutch_slips_at_its_peak_torque() -> None:
    """The torque 3 * t on j1 loads the clutch with 2 * t: it slips at 2 * t = 1.5 * 4 and then transmits 4."""
    result = run(
        5.0,
        *COUPLED,
        ("ramp.y", "torque.tau"),
        ("torque.flange", "j1.flange_a"),
        ramp=Ramp(height=15.0, duration=5.0),
        torque=Torque(),
        j1=Inertia(J=1.0),
        clutch=Clutch(fn_max=4.0, peak=1.5, f_normalized=1.0),
        j2=Inertia(J=2.0),
    )
    assert changes(result["clutch.state"]) == pytest.approx([3.0], rel=1e-12)
    t = np.linspace(3.0, 5.0, 9)
    assert result["j2.w"].at(t) == pytest.approx(4.5 + 2.0 * (t - 3.0), rel=1e-12)
    assert result["j1.w"].at(t) == pytest.approx(4.5 + 1.5 * (t**2 - 9.0) - 4.0 * (t - 3.0), rel=1e-12)


def test_a_clutch_opens_again() -> None:
    result = run(
        4.0,
        *COUPLED,
        ("force.y", "clutch.f_normalized"),
        ("torque.flange", "j1.flange_a"),
        force=TimeTable(table=((0.0, 1.0), (2.0, 1.0), (2.0, 0.0))),
        torque=ConstantTorque(tau_constant=3.0),
        j1=Inertia(J=1.0),
        clutch=Clutch(fn_max=50.0),
        j2=Inertia(J=2.0),
    )
    assert changes(result["clutch.state"]) == [2.0]
    assert result["j1.w"].at([2.0, 3.0, 4.0]) == pytest.approx([2.0, 5.0, 8.0], rel=1e-12)
    assert result["j2.w"].at([2.0, 3.0, 4.0]) == pytest.approx([2.0, 2.0, 2.0], rel=1e-12)


def test_a_clutch_is_engaged_by_a_boolean() -> None:
    result = run(
        4.0,
        *COUPLED,
        ("engage.y", "force.u"),
        ("force.y", "clutch.f_normalized"),
        engage=BooleanStep(startTime=1.0),
        force=BooleanToReal(),
        j1=Inertia(J=1.0, w=10.0),
        clutch=Clutch(fn_max=5.0),
        j2=Inertia(J=2.0),
    )
    assert changes(result["clutch.state"]) == pytest.approx([1.0, 7 / 3], rel=1e-12)


def test_a_ramped_clutch_locks_by_its_integral_of_torque() -> None:
    """Capacity 6 * (t - 1): the speeds are equal when 1.5 * 3 * (t - 1)**2 = 10."""
    result = run(
        4.0,
        *COUPLED,
        ("force.y", "clutch.f_normalized"),
        force=Ramp(startTime=1.0, duration=3.0, height=3.0),
        j1=Inertia(J=1.0, w=10.0),
        clutch=Clutch(fn_max=6.0),
        j2=Inertia(J=2.0),
    )
    assert changes(result["clutch.state"]) == pytest.approx([1.0, 1.0 + np.sqrt(10 / 4.5)], rel=1e-11)
    assert result["j1.w"].final == pytest.approx(10 / 3, rel=1e-12)


def test_brake_stops_a_shaft_and_holds_it() -> None:
    """J = 2 at 10 rad/s under a load of 1 N.m; 6 N.m of friction from 1 s on stop it, and then hold 1 N.m."""
    result = run(
        8.0,
        ("j.flange_b", "brake.flange_a"),
        ("brake.flange_b", "load.flange"),
        ("force.y", "brake.f_normalized"),
        j=Inertia(J=2.0, w=10.0),
        brake=Brake(fn_max=12.0, mu=0.5),
        load=ConstantTorque(tau_constant=1.0),
        force=Step(startTime=1.0),
    )
    stop = 1.0 + 10.5 / 2.5
    assert changes(result["brake.state"]) == pytest.approx([1.0, stop], rel=1e-12)
    assert result["j.phi"].final == pytest.approx(10.25 + 10.5**2 / 5.0, rel=1e-12)
    assert result["brake.tau"].at([0.5, 2.0, 7.0]) == pytest.approx([0.0, 6.0, 1.0], abs=1e-12)


def test_bearing_breaks_away_and_slides() -> None:
    """Torque 2 * t against 3 N.m breakaway and 2 N.m + d * w sliding."""
    result = run(
        6.0,
        ("ramp.y", "torque.tau"),
        ("torque.flange", "bearing.flange_a"),
        ("bearing.flange_b", "j.flange_a"),
        ramp=Ramp(height=12.0, duration=6.0),
        torque=Torque(),
        bearing=BearingFriction(tau_coulomb=2.0, tau_breakaway=3.0, d=0.5),
        j=Inertia(J=1.5),
    )
    assert changes(result["bearing.state"]) == pytest.approx([1.5], rel=1e-12)
    t = np.linspace(1.5, 6.0, 19)
    # 1.5 * w' + 0.5 * w = 2 * t - 2 has the particular solution 4 * t - 16.
    w = 4.0 * t - 16.0 + 10.0 * np.exp(-(t - 1.5) / 3.0)
    assert result["j.w"].at(t) == pytest.approx(w, abs=1e-11)


def test_bearing_with_breakaway_below_sliding_is_refused() -> None:
    with pytest.raises(RequirementError, match="breakaway torque must not be smaller"):
        run(
            1.0,
            ("bearing.flange_b", "j.flange_a"),
            bearing=BearingFriction(tau_coulomb=2.0, tau_breakaway=1.0),
            j=Inertia(J=1.0),
        )


def test_drum_carries_an_inertia_along() -> None:
    result = run(
        5.0,
        ("drum.flange", "friction.flange_a"),
        ("friction.flange_b", "j.flange_a"),
        drum=ConstantSpeed(w_fixed=6.0),
        friction=CoulombFriction(tau_coulomb=4.0),
        j=Inertia(J=2.0),
    )
    assert changes(result["friction.state"]) == pytest.approx([3.0], rel=1e-12)
    t = np.linspace(0.0, 5.0, 11)
    assert result["j.w"].at(t) == pytest.approx(np.minimum(2.0 * t, 6.0), abs=1e-12)


OVERRUN = [
    ("a.flange_b", "clutch.flange_a"),
    ("clutch.flange_b", "b.flange_a"),
    ("drive.flange", "a.flange_a"),
]


@pytest.mark.parametrize("capacity", [0.0, 3.0])
def test_a_one_way_clutch_lets_its_load_run_ahead(capacity: float) -> None:
    """a is driven up to b, meanwhile friction drives a and brakes b; then both move as one."""
    result = run(
        4.0,
        *OVERRUN,
        drive=ConstantTorque(tau_constant=2.0),
        a=Inertia(J=1.0),
        clutch=OneWayClutch(fn_max=capacity, f_normalized=1.0),
        b=Inertia(J=2.0, w=4.0),
    )
    meet = 4.0 / (2.0 + 1.5 * capacity)
    assert changes(result["clutch.state"]) == pytest.approx([meet], rel=1e-12)
    assert result["clutch.w_rel"].at([meet / 2, 4.0]) == pytest.approx([2.0, 0.0], abs=1e-12)
    assert result["b.w"].final == pytest.approx(4.0 / 3.0 * 2.0 + 4.0 * 2.0 / 3.0, rel=1e-12)
    assert result["clutch.tau"].at([meet / 2, 4.0]) == pytest.approx([capacity, -4.0 / 3.0], rel=1e-12)


def test_a_one_way_clutch_breaks_away_forwards_only() -> None:
    """b pulls ahead with 2 * t, of which a takes 2 * t / 3 through the clutch, at most 1.5 * 2 before it slides with 2."""
    result = run(
        6.0,
        ("ramp.y", "pull.tau"),
        ("pull.flange", "b.flange_b"),
        *OVERRUN,
        ramp=Ramp(height=12.0, duration=6.0),
        pull=Torque(),
        drive=ConstantTorque(tau_constant=0.0),
        a=Inertia(J=1.0),
        clutch=OneWayClutch(fn_max=2.0, peak=1.5, f_normalized=1.0),
        b=Inertia(J=2.0),
    )
    assert changes(result["clutch.state"]) == pytest.approx([4.5], rel=1e-12)
    assert result["a.w"].final == pytest.approx(4.5**2 / 3 + 2.0 * 1.5, rel=1e-12)
    assert result["b.w"].final == pytest.approx(4.5**2 / 3 + (36.0 - 4.5**2 - 3.0) / 2, rel=1e-12)


def test_a_rotor_that_would_run_backwards_is_stopped_at_once() -> None:
    """Momentum is conserved as in a plastic impact: a catches b."""
    with pytest.warns(UserWarning, match="given starts contradict"):
        result = run(
            1.0,
            *OVERRUN,
            drive=ConstantTorque(tau_constant=3.0),
            a=Inertia(J=1.0, w=3.0),
            clutch=OneWayClutch(fn_max=0.0, f_normalized=1.0),
            b=Inertia(J=2.0, w=0.0),
        )
    assert result["b.w"].at([0.0, 1.0]) == pytest.approx([1.0, 2.0], rel=1e-12)


@pytest.mark.parametrize("part", ["bearing", "brake"])
def test_friction_in_a_turning_housing_acts_on_the_housing(part: str) -> None:
    """Shaft of 1 and housing of 3 kg.m2 at 8 and 0 rad/s, 6 N.m: equal speeds of 2 rad/s after 1 s."""
    friction = (
        BearingFriction(tau_coulomb=6.0, tau_breakaway=6.0, useSupport=True)
        if part == "bearing"
        else Brake(fn_max=6.0, f_normalized=1.0, useSupport=True)
    )
    result = run(
        2.0,
        ("shaft.flange_b", "friction.flange_a"),
        ("friction.support", "housing.flange_a"),
        shaft=Inertia(J=1.0, w=8.0),
        friction=friction,
        housing=Inertia(J=3.0),
    )
    assert changes(result["friction.state"]) == pytest.approx([1.0], rel=1e-12)
    assert result["shaft.w"].at([0.5, 2.0]) == pytest.approx([5.0, 2.0], rel=1e-12)
    assert result["housing.w"].at([0.5, 2.0]) == pytest.approx([1.0, 2.0], rel=1e-12)


@pytest.mark.parametrize(
    "part",
    [
        CoulombFriction(tau_coulomb=3.0, useHeatPort=True),
        Clutch(fn_max=3.0, f_normalized=1.0, useHeatPort=True),
        OneWayClutch(fn_max=3.0, f_normalized=1.0, useHeatPort=True),
    ],
    ids=lambda part: type(part).__name__,
)
def test_slipping_heats(part) -> None:
    """Two inertias of 1 and 2 kg.m2 come to equal speeds: 12 J of 18 J become heat."""
    result = run(
        4.0,
        ("a.flange_b", "part.flange_a"),
        ("part.flange_b", "b.flange_a"),
        ("part.heatPort", "lining.port"),
        a=Inertia(J=2.0),
        part=part,
        b=Inertia(J=1.0, w=6.0),
        lining=HeatCapacitor(C=4.0, T=300.0),
    )
    assert result["part.w_rel"].final == pytest.approx(0.0, abs=1e-12)
    assert result["lining.T"].final == pytest.approx(300.0 + 12.0 / 4.0, rel=1e-9)


@pytest.mark.parametrize("part", ["bearing", "brake"])
def test_braking_heats(part: str) -> None:
    friction = (
        BearingFriction(tau_coulomb=3.0, tau_breakaway=4.0, d=0.5, useHeatPort=True)
        if part == "bearing"
        else Brake(fn_max=3.0, f_normalized=1.0, useHeatPort=True)
    )
    result = run(
        5.0,
        ("shaft.flange_b", "friction.flange_a"),
        ("friction.heatPort", "drum.port"),
        shaft=Inertia(J=2.0, w=5.0),
        friction=friction,
        drum=HeatCapacitor(C=10.0, T=300.0),
    )
    assert result["friction.state"].final == FrictionState.STICK.value
    assert result["drum.T"].final == pytest.approx(302.5, abs=1e-4)
