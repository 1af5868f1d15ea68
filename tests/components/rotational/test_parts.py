"""Inertias, springs, sources and sensors against closed forms."""

import numpy as np
import pytest

from acausal.components.blocks import Ramp, Sine
from acausal.components.rotational import (
    AccSensor,
    AngleSensor,
    ConstantSpeed,
    Damper,
    Fixed,
    Inertia,
    Position,
    PowerSensor,
    RelAngleSensor,
    RelSpeedSensor,
    Speed,
    SpeedSensor,
    Spring,
    SpringDamper,
    Torque,
    Torque2,
    TorqueSensor,
    TorqueStep,
)
from tests.components.signals import run

T = np.linspace(0.0, 4.0, 41)


def test_torsional_oscillation_of_two_inertias() -> None:
    result = run(
        4.0,
        ("a.flange_b", "spring.flange_a"),
        ("spring.flange_b", "b.flange_a"),
        a=Inertia(J=1.0, w=3.0),
        spring=Spring(c=4.0, phi_rel0=0.5),
        b=Inertia(J=2.0, phi=0.5),
    )
    w = np.sqrt(4.0 * 1.5)
    assert result["spring.phi_rel"].at(T) == pytest.approx(0.5 - 3.0 / w * np.sin(w * T), abs=1e-12)
    assert result["spring.tau"].at(T) == pytest.approx(-12.0 / w * np.sin(w * T), abs=1e-11)
    assert result["a.w"].at(T) + 2.0 * result["b.w"].at(T) == pytest.approx(np.full_like(T, 3.0), rel=1e-12)


@pytest.mark.parametrize("split", [False, True])
def test_damped_oscillation(split: bool) -> None:
    if split:
        parts = {"spring": Spring(c=50.0), "damper": Damper(d=4.0)}
    else:
        parts = {"both": SpringDamper(c=50.0, d=4.0)}
    names = list(parts)
    result = run(
        4.0,
        ("housing.flange", *(f"{n}.flange_a" for n in names)),
        ("rotor.flange_a", *(f"{n}.flange_b" for n in names)),
        housing=Fixed(phi0=0.0),
        rotor=Inertia(J=2.0, phi=1.0),
        **parts,
    )
    w = np.sqrt(24.0)
    expected = np.exp(-T) * (np.cos(w * T) + np.sin(w * T) / w)
    assert result["rotor.phi"].at(T) == pytest.approx(expected, abs=1e-12)


def test_rigidly_joined_inertias_turn_as_one() -> None:
    result = run(
        4.0,
        ("torque.flange", "a.flange_a"),
        ("a.flange_b", "sensor.flange_a"),
        ("sensor.flange_b", "b.flange_a"),
        torque=TorqueStep(stepTorque=6.0, offsetTorque=-3.0, startTime=1.0),
        a=Inertia(J=1.0),
        sensor=TorqueSensor(),
        b=Inertia(J=2.0),
    )
    assert result["b.w"].at(T) == pytest.approx(-T + 2.0 * np.maximum(T - 1.0, 0.0), abs=1e-12)
    assert result["sensor.tau"].at([0.5, 2.0]) == pytest.approx([-2.0, 2.0], rel=1e-12)


def test_torque_from_a_signal_and_what_the_sensors_show() -> None:
    result = run(
        4.0,
        ("signal.y", "torque.tau"),
        ("torque.flange", "power.flange_a"),
        ("power.flange_b", "rotor.flange_a"),
        ("rotor.flange_b", "phi.flange", "w.flange", "a.flange"),
        signal=Ramp(height=8.0, duration=4.0),
        torque=Torque(),
        power=PowerSensor(),
        rotor=Inertia(J=2.0),
        phi=AngleSensor(),
        w=SpeedSensor(),
        a=AccSensor(),
    )
    assert result["a.a"].at(T) == pytest.approx(T, abs=1e-12)
    assert result["w.w"].at(T) == pytest.approx(T**2 / 2, abs=1e-12)
    assert result["phi.phi"].at(T) == pytest.approx(T**3 / 6, abs=1e-12)
    assert result["power.power"].at(T) == pytest.approx(T**3, abs=1e-11)


def test_torque_between_two_inertias() -> None:
    result = run(
        4.0,
        ("a.flange_a", "torque.flange_a", "dphi.flange_a", "dw.flange_a"),
        ("b.flange_a", "torque.flange_b", "dphi.flange_b", "dw.flange_b"),
        a=Inertia(J=1.0),
        b=Inertia(J=3.0),
        torque=Torque2(tau=6.0),
        dphi=RelAngleSensor(),
        dw=RelSpeedSensor(),
    )
    assert result["a.w"].at(T) == pytest.approx(-6.0 * T, abs=1e-12)
    assert result["b.w"].at(T) == pytest.approx(2.0 * T, abs=1e-12)
    assert result["dw.w_rel"].at(T) == pytest.approx(8.0 * T, abs=1e-12)
    assert result["dphi.phi_rel"].at(T) == pytest.approx(4.0 * T**2, abs=1e-12)


def test_prescribed_speeds() -> None:
    result = run(
        4.0,
        ("constant.flange", "damper.flange_a"),
        ("signal.y", "speed.w_ref"),
        ("speed.flange", "damper.flange_b"),
        constant=ConstantSpeed(w_fixed=1.5, phi=1.0),
        signal=Ramp(height=4.0, duration=4.0),
        speed=Speed(),
        damper=Damper(d=2.0),
    )
    assert result["constant.phi"].at(T) == pytest.approx(1.0 + 1.5 * T, rel=1e-12)
    assert result["speed.phi"].at(T) == pytest.approx(T**2 / 2, abs=1e-12)
    assert result["damper.tau"].at(T) == pytest.approx(2.0 * (T - 1.5), abs=1e-12)


def test_prescribed_angle_takes_the_torque_of_inertia() -> None:
    result = run(
        4.0,
        ("signal.y", "position.phi_ref"),
        ("position.flange", "rotor.flange_a"),
        signal=Sine(f=0.5 / np.pi, phase=np.pi / 2),
        position=Position(),
        rotor=Inertia(J=2.0, phi=1.0),
    )
    assert result["rotor.w"].at(T) == pytest.approx(-np.sin(T), abs=1e-12)
    assert result["rotor.flange_a.tau"].at(T) == pytest.approx(-2.0 * np.cos(T), abs=1e-12)
