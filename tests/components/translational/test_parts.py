"""Masses, springs, dampers, sources and sensors against closed forms."""

import numpy as np
import pytest

from acausal.components.blocks import Ramp, Sine
from acausal.components.translational import (
    AccSensor,
    ConstantForce,
    ConstantSpeed,
    Damper,
    Fixed,
    Force,
    Force2,
    ForceSensor,
    ForceStep,
    Mass,
    Position,
    PositionSensor,
    PowerSensor,
    RelPositionSensor,
    RelSpeedSensor,
    Speed,
    SpeedSensor,
    Spring,
    SpringDamper,
)
from tests.components.signals import run

T = np.linspace(0.0, 4.0, 41)


def test_spring_and_mass_oscillate() -> None:
    result = run(
        4.0,
        ("wall.flange", "spring.flange_a"),
        ("spring.flange_b", "mass.flange_a"),
        wall=Fixed(s0=0.5),
        spring=Spring(c=50.0, s_rel0=1.0),
        mass=Mass(m=2.0, s=1.8, v=1.0),
    )
    x = 0.3 * np.cos(5.0 * T) + 0.2 * np.sin(5.0 * T)
    assert result["mass.s"].at(T) == pytest.approx(1.5 + x, rel=1e-11)
    assert result["spring.f"].at(T) == pytest.approx(50.0 * x, abs=1e-10)
    assert result["mass.a"].at(T) == pytest.approx(-25.0 * x, abs=1e-10)


@pytest.mark.parametrize("split", [False, True])
def test_damped_oscillation(split: bool) -> None:
    if split:
        parts = {"spring": Spring(c=50.0), "damper": Damper(d=4.0)}
    else:
        parts = {"both": SpringDamper(c=50.0, d=4.0)}
    names = list(parts)
    result = run(
        4.0,
        ("wall.flange", *(f"{n}.flange_a" for n in names)),
        ("mass.flange_a", *(f"{n}.flange_b" for n in names)),
        wall=Fixed(),
        mass=Mass(m=2.0, s=1.0),
        **parts,
    )
    w = np.sqrt(24.0)
    expected = np.exp(-T) * (np.cos(w * T) + np.sin(w * T) / w)
    assert result["mass.s"].at(T) == pytest.approx(expected, abs=1e-12)


def test_free_masses_on_a_spring_keep_their_momentum() -> None:
    result = run(
        4.0,
        ("a.flange_b", "spring.flange_a"),
        ("spring.flange_b", "b.flange_a"),
        a=Mass(m=1.0, s=0.0, v=3.0, L=0.2),
        spring=Spring(c=4.0, s_rel0=0.7),
        b=Mass(m=2.0, s=1.0, L=0.4),
    )
    w = np.sqrt(4.0 * 1.5)
    stretch = -3.0 / w * np.sin(w * T)
    centre = 2.0 / 3.0 + T
    assert result["b.s"].at(T) - result["a.s"].at(T) == pytest.approx(1.0 + stretch, abs=1e-12)
    assert result["a.s"].at(T) / 3.0 + 2.0 / 3.0 * result["b.s"].at(T) == pytest.approx(centre, abs=1e-12)


def test_rigidly_joined_masses_move_as_one() -> None:
    result = run(
        4.0,
        ("force.flange", "a.flange_a"),
        ("a.flange_b", "sensor.flange_a"),
        ("sensor.flange_b", "b.flange_a"),
        force=ConstantForce(f_constant=6.0),
        a=Mass(m=1.0),
        sensor=ForceSensor(),
        b=Mass(m=2.0),
    )
    assert result["b.s"].at(T) == pytest.approx(T**2, abs=1e-12)
    assert result["sensor.f"].at(T) == pytest.approx(np.full_like(T, 4.0), rel=1e-12)


def test_force_step() -> None:
    result = run(
        4.0,
        ("force.flange", "mass.flange_a"),
        force=ForceStep(stepForce=3.0, offsetForce=-1.0, startTime=1.0),
        mass=Mass(m=2.0),
    )
    after = np.maximum(T - 1.0, 0.0)
    assert result["mass.v"].at(T) == pytest.approx(-0.5 * T + 1.5 * after, abs=1e-12)
    assert result["mass.s"].at(T) == pytest.approx(-0.25 * T**2 + 0.75 * after**2, abs=1e-12)


def test_force_from_a_signal_and_what_the_sensors_show() -> None:
    result = run(
        4.0,
        ("signal.y", "force.f"),
        ("force.flange", "power.flange_a"),
        ("power.flange_b", "mass.flange_a"),
        ("mass.flange_b", "s.flange", "v.flange", "a.flange"),
        signal=Ramp(height=8.0, duration=4.0),
        force=Force(),
        power=PowerSensor(),
        mass=Mass(m=2.0),
        s=PositionSensor(),
        v=SpeedSensor(),
        a=AccSensor(),
    )
    assert result["a.a"].at(T) == pytest.approx(T, abs=1e-12)
    assert result["v.v"].at(T) == pytest.approx(T**2 / 2, abs=1e-12)
    assert result["s.s"].at(T) == pytest.approx(T**3 / 6, abs=1e-12)
    assert result["power.power"].at(T) == pytest.approx(T**3, abs=1e-11)


def test_force_between_two_masses() -> None:
    result = run(
        4.0,
        ("a.flange_a", "force.flange_a", "ds.flange_a", "dv.flange_a"),
        ("b.flange_a", "force.flange_b", "ds.flange_b", "dv.flange_b"),
        a=Mass(m=1.0),
        b=Mass(m=3.0),
        force=Force2(f=6.0),
        ds=RelPositionSensor(),
        dv=RelSpeedSensor(),
    )
    assert result["a.v"].at(T) == pytest.approx(-6.0 * T, abs=1e-12)
    assert result["b.v"].at(T) == pytest.approx(2.0 * T, abs=1e-12)
    assert result["dv.v_rel"].at(T) == pytest.approx(8.0 * T, abs=1e-12)
    assert result["ds.s_rel"].at(T) == pytest.approx(4.0 * T**2, abs=1e-12)


def test_prescribed_speeds() -> None:
    result = run(
        4.0,
        ("constant.flange", "damper.flange_a"),
        ("signal.y", "speed.v_ref"),
        ("speed.flange", "damper.flange_b"),
        constant=ConstantSpeed(v_fixed=1.5, s=1.0),
        signal=Ramp(height=4.0, duration=4.0),
        speed=Speed(),
        damper=Damper(d=2.0),
    )
    assert result["constant.s"].at(T) == pytest.approx(1.0 + 1.5 * T, rel=1e-12)
    assert result["speed.s"].at(T) == pytest.approx(T**2 / 2, abs=1e-12)
    assert result["damper.f"].at(T) == pytest.approx(2.0 * (T - 1.5), abs=1e-12)


def test_prescribed_position_takes_the_force_of_inertia() -> None:
    result = run(
        4.0,
        ("signal.y", "position.s_ref"),
        ("position.flange", "mass.flange_a"),
        signal=Sine(f=0.5 / np.pi, phase=np.pi / 2),
        position=Position(),
        mass=Mass(m=2.0, s=1.0),
    )
    assert result["mass.v"].at(T) == pytest.approx(-np.sin(T), abs=1e-12)
    assert result["mass.flange_a.f"].at(T) == pytest.approx(-2.0 * np.cos(T), abs=1e-12)
