"""Dry friction: breaking away, sliding, sticking for good."""

import numpy as np
import pytest

from acausal.components.blocks import Ramp, Step
from acausal.components.thermal import HeatCapacitor
from acausal.components.translational import (
    Brake,
    ConstantForce,
    ConstantSpeed,
    CoulombFriction,
    Fixed,
    Force,
    Friction,
    Mass,
    MassWithFriction,
    Spring,
    SupportFriction,
)
from acausal.errors import RequirementError
from tests.components.signals import changes, run


@pytest.mark.parametrize("separate", [False, True])
def test_oscillator_with_coulomb_friction_sticks_after_seven_half_periods(separate: bool) -> None:
    """m = 2, k = 50, F = 4: the amplitude drops by 2 * F / k = 0.16 in every half period."""
    if separate:
        parts = {"mass": Mass(m=2.0, s=1.05), "friction": CoulombFriction(f_coulomb=4.0)}
        extra = [("wall.flange", "friction.flange_a"), ("friction.flange_b", "mass.flange_b")]
    else:
        parts = {"mass": MassWithFriction(m=2.0, f_coulomb=4.0, f_breakaway=4.0, s=1.05)}
        extra = []
    spring = [("wall.flange", "spring.flange_a"), ("spring.flange_b", "mass.flange_a")]
    result = run(6.0, *spring, *extra, wall=Fixed(), spring=Spring(c=50.0), **parts)
    half = np.pi / 5.0
    turning = [1.05, -0.89, 0.73, -0.57, 0.41, -0.25, 0.09, 0.07]
    assert result["mass.s"].at(half * np.arange(8)) == pytest.approx(turning, abs=1e-11)
    k = np.arange(7)
    middle = 0.08 * (-1.0) ** k
    assert result["mass.s"].at((k + 0.25) * half) == pytest.approx(
        middle + (np.array(turning)[:-1] - middle) * np.cos(np.pi / 4), abs=1e-11
    )
    assert result["mass.v"].at([7.01 * half, 5.0, 6.0]) == pytest.approx(np.zeros(3), abs=0.0)
    assert result["mass.s"].final == pytest.approx(0.07, rel=1e-11)


def test_mass_on_a_belt_sticks_and_slips() -> None:
    """Stick until the spring reaches the breakaway force, slip until the speeds are equal again."""
    m, c, speed, fc, fs = 2.0, 50.0, 0.3, 4.0, 7.0
    result = run(
        8.0,
        ("belt.flange", "friction.flange_a"),
        ("friction.flange_b", "mass.flange_a", "spring.flange_b"),
        ("wall.flange", "spring.flange_a"),
        belt=ConstantSpeed(v_fixed=speed),
        friction=Friction(f_coulomb=fc, f_breakaway=fs),
        mass=Mass(m=m, v=speed),
        spring=Spring(c=c),
        wall=Fixed(),
    )
    w = np.sqrt(c / m)
    begin = fs / (c * speed)
    y = (fs - fc) / c
    slip = (2 * np.pi - 2 * np.arctan(y * w / speed)) / w
    stick = 2 * (fs - fc) / (c * speed)
    expected = [begin]
    while expected[-1] < 8.0:
        expected += [expected[-1] + slip, expected[-1] + slip + stick]
    assert changes(result["friction.state"]) == pytest.approx([t for t in expected if t < 8.0], rel=1e-10)
    t = np.linspace(0.0, slip, 20)
    slipping = fc / c + y * np.cos(w * t) + speed / w * np.sin(w * t)
    assert result["mass.s"].at(begin + t) == pytest.approx(slipping, abs=1e-11)
    assert result["mass.v"].at([0.1, begin - 1e-6, begin + slip + stick / 2]) == pytest.approx(
        np.full(3, speed), rel=1e-12
    )


def test_a_mass_breaks_away_at_the_breakaway_force() -> None:
    result = run(
        5.0,
        ("ramp.y", "force.f"),
        ("force.flange", "mass.flange_a"),
        ramp=Ramp(height=10.0, duration=5.0),
        force=Force(),
        mass=MassWithFriction(m=2.0, f_coulomb=3.0, f_breakaway=5.0),
    )
    assert changes(result["mass.state"]) == pytest.approx([2.5], rel=1e-13)
    t = np.linspace(2.5, 5.0, 11)
    assert result["mass.v"].at(t) == pytest.approx((t**2 - 2.5**2 - 3.0 * (t - 2.5)) / 2.0, abs=1e-12)
    before = np.linspace(0.0, 2.4, 7)
    assert result["mass.f"].at(before) == pytest.approx(2.0 * before, abs=1e-12)
    assert result["mass.s"].at(before) == pytest.approx(np.zeros(7), abs=0.0)


def test_sliding_mass_with_viscous_friction_comes_to_rest() -> None:
    """m * v' = -F - d * v from v0: at rest after m / d * log(1 + d * v0 / F)."""
    result = run(5.0, mass=MassWithFriction(m=2.0, f_coulomb=3.0, f_breakaway=3.0, d=0.5, v=4.0))
    stop = 2.0 / 0.5 * np.log(1.0 + 0.5 * 4.0 / 3.0)
    assert changes(result["mass.state"]) == pytest.approx([stop], rel=1e-12)
    t = np.linspace(0.0, stop, 11)[:-1]
    assert result["mass.v"].at(t) == pytest.approx((4.0 + 6.0) * np.exp(-t / 4.0) - 6.0, abs=1e-12)
    assert result["mass.v"].final == 0.0


def test_without_friction_force_there_is_no_friction() -> None:
    result = run(
        2.0,
        ("force.flange", "mass.flange_a"),
        force=ConstantForce(f_constant=2.0),
        mass=MassWithFriction(m=2.0, f_coulomb=0.0, f_breakaway=0.0),
    )
    assert result["mass.v"].at([0.5, 1.0, 2.0]) == pytest.approx([0.5, 1.0, 2.0], rel=1e-13)


@pytest.mark.parametrize("part", [Friction, MassWithFriction])
def test_breakaway_below_sliding_is_refused(part) -> None:
    values = {"m": 1.0} if part is MassWithFriction else {}
    parts = {"part": part(f_coulomb=5.0, f_breakaway=4.0, **values)}
    connections = []
    if part is Friction:
        parts |= {"a": Fixed(), "b": Mass(m=1.0)}
        connections = [("a.flange", "part.flange_a"), ("b.flange_a", "part.flange_b")]
    with pytest.raises(RequirementError, match="breakaway force must not be smaller"):
        run(1.0, *connections, **parts)


def test_a_rod_slides_in_its_guide() -> None:
    """Force 2 * t against 3 N breakaway and 2 N + d * v sliding; the rod has a length, the guide moves on."""
    result = run(
        6.0,
        ("ramp.y", "force.f"),
        ("force.flange", "guide.flange_a"),
        ("guide.flange_b", "mass.flange_a"),
        ramp=Ramp(height=12.0, duration=6.0),
        force=Force(),
        guide=SupportFriction(f_coulomb=2.0, f_breakaway=3.0, d=0.5, L=0.4, s=0.2),
        mass=Mass(m=1.5, s=0.4),
    )
    assert changes(result["guide.state"]) == pytest.approx([1.5], rel=1e-12)
    t = np.linspace(1.5, 6.0, 19)
    v = 4.0 * t - 16.0 + 10.0 * np.exp(-(t - 1.5) / 3.0)
    assert result["mass.v"].at(t) == pytest.approx(v, abs=1e-11)
    assert result["mass.s"].final - result["guide.s"].final == pytest.approx(0.2, rel=1e-12)


def test_a_brake_on_a_sledge_acts_on_both() -> None:
    """Rod of 1 and sledge of 3 kg at 8 and 0 m/s; 6 N from 1 s on make equal speeds of 2 m/s after another second."""
    result = run(
        3.0,
        ("force.y", "brake.f_normalized"),
        ("mass.flange_b", "brake.flange_a"),
        ("brake.support", "sledge.flange_a"),
        force=Step(startTime=1.0),
        mass=Mass(m=1.0, v=8.0),
        brake=Brake(fn_max=12.0, mu=0.5, useSupport=True),
        sledge=Mass(m=3.0),
    )
    assert changes(result["brake.state"]) == pytest.approx([1.0, 2.0], rel=1e-12)
    assert result["mass.v"].at([0.5, 1.5, 3.0]) == pytest.approx([8.0, 5.0, 2.0], rel=1e-12)
    assert result["sledge.v"].at([0.5, 1.5, 3.0]) == pytest.approx([0.0, 1.0, 2.0], abs=1e-12)


@pytest.mark.parametrize(
    "part",
    [
        Brake(fn_max=3.0, f_normalized=1.0, useHeatPort=True),
        SupportFriction(f_coulomb=3.0, f_breakaway=3.0, useHeatPort=True),
    ],
    ids=lambda part: type(part).__name__,
)
def test_a_stopped_mass_heats_what_stops_it(part) -> None:
    result = run(
        5.0,
        ("mass.flange_b", "part.flange_a"),
        ("part.heatPort", "lining.port"),
        mass=Mass(m=2.0, v=5.0),
        part=part,
        lining=HeatCapacitor(C=10.0, T=300.0),
    )
    assert result["lining.T"].final == pytest.approx(302.5, abs=1e-4)


@pytest.mark.parametrize("separate", [False, True])
def test_friction_between_bodies_heats(separate: bool) -> None:
    parts = (
        {
            "mass": Mass(m=2.0, v=5.0),
            "friction": Friction(f_coulomb=3.0, f_breakaway=4.0, d=0.5, useHeatPort=True),
        }
        if separate
        else {"friction": MassWithFriction(m=2.0, v=5.0, f_coulomb=3.0, f_breakaway=4.0, useHeatPort=True)}
    )
    joined = (
        [("mass.flange_b", "friction.flange_b"), ("wall.flange", "friction.flange_a")] if separate else []
    )
    result = run(
        5.0,
        *joined,
        ("friction.heatPort", "lining.port"),
        lining=HeatCapacitor(C=10.0, T=300.0),
        wall=Fixed(),
        **parts,
    )
    assert result["lining.T"].final == pytest.approx(302.5, abs=1e-4)
