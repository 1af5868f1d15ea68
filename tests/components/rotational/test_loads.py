"""Loads that depend on speed, brakes by eddy currents, prescribed motion; housings that move."""

from math import pi

import numpy as np
import pytest

from acausal.components.blocks import Sine
from acausal.components.rotational import (
    Accelerate,
    ConstantSpeed,
    ConstantTorque,
    EddyCurrentTorque,
    Fixed,
    Inertia,
    LinearSpeedDependentTorque,
    Position,
    QuadraticSpeedDependentTorque,
    SignTorque,
    Speed,
    Torque,
)
from acausal.components.thermal import FixedTemperature
from tests.components.signals import run

T = np.linspace(0.0, 3.0, 31)
SHAFT = ("rotor.flange_b", "load.flange")


@pytest.mark.parametrize("w0", [4.0, -4.0])
@pytest.mark.parametrize("same", [False, True])
def test_load_proportional_to_speed(w0: float, same: bool) -> None:
    """``J w' = -2 w / 5``, or ``-2 |w| / 5`` where the torque has one direction."""
    load = LinearSpeedDependentTorque(tau_nominal=-2.0, w_nominal=5.0, TorqueDirection=same)
    result = run(3.0, SHAFT, rotor=Inertia(J=0.5, w=w0), load=load)
    rate = -0.8 * (np.sign(w0) if same else 1.0)
    assert result["rotor.w"].at(T) == pytest.approx(w0 * np.exp(rate * T), rel=1e-12)
    assert result["load.tau"].at(T) == pytest.approx(0.5 * rate * w0 * np.exp(rate * T), rel=1e-12)


@pytest.mark.parametrize("w0", [4.0, -4.0])
@pytest.mark.parametrize("same", [False, True])
def test_load_proportional_to_the_square_of_speed(w0: float, same: bool) -> None:
    """``w' = -k w |w|`` gives ``1 / w = 1 / w0 + k t sign(w)``, and ``w' = -k w**2`` the same without the sign."""
    load = QuadraticSpeedDependentTorque(tau_nominal=-2.0, w_nominal=5.0, TorqueDirection=same)
    result = run(3.0, SHAFT, rotor=Inertia(J=1.6, w=w0), load=load)
    k = 2.0 / 25.0 / 1.6
    expected = 1 / (1 / w0 + k * T * (1.0 if same else np.sign(w0)))
    assert result["rotor.w"].at(T) == pytest.approx(expected, rel=2e-6)


def test_a_fan_passes_standstill() -> None:
    """Driven by a sine of torque about rest: the load changes its sign without an event; a period repeats itself."""
    result = run(
        40.0,
        ("signal.y", "drive.tau"),
        ("drive.flange", "rotor.flange_a"),
        SHAFT,
        signal=Sine(amplitude=3.0, f=0.5),
        drive=Torque(),
        rotor=Inertia(J=0.5),
        load=QuadraticSpeedDependentTorque(tau_nominal=-1.0, w_nominal=1.0, TorqueDirection=False),
    )
    late = np.linspace(36.0, 38.0, 41)
    w = result["rotor.w"].at(late)
    assert w == pytest.approx(-result["rotor.w"].at(late + 1.0), abs=1e-5)
    assert [e for e in result.events if 0 < e.t < 40] == []
    loss = np.trapezoid(np.abs(result["rotor.w"].at(np.linspace(36.0, 38.0, 4001))) ** 3, dx=0.0005)
    assert result.energy("load", 36.0, 38.0) == pytest.approx(loss, rel=1e-5)


def test_a_braking_torque_of_constant_size() -> None:
    """2 N.m slow 4 rad/s down to 0.5 rad/s, from where the torque falls with the speed."""
    result = run(3.0, SHAFT, rotor=Inertia(J=1.0, w=4.0), load=SignTorque(tau_nominal=-2.0, w0=0.5))
    late = np.maximum(T - 1.75, 0.0)
    expected = np.where(T < 1.75, 4.0 - 2.0 * T, 0.5 * np.exp(-4.0 * late))
    assert result["rotor.w"].at(T) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("cold", [True, False])
def test_an_eddy_current_brake_has_its_peak_at_its_nominal_speed(cold: bool) -> None:
    """A warm conductor of copper moves the peak by its resistance: 1 + 3.92e-3 * 100 at 120 degC."""
    temperature, peak = (293.15, 10.0) if cold else (393.15, 13.92)
    brake = EddyCurrentTorque(tau_nominal=50.0, w_nominal=10.0, alpha20=3.92e-3, useHeatPort=True)
    parts = {"load": brake, "disc": FixedTemperature(T=temperature), "rotor": Inertia(J=1.0)}
    for factor, share in ((1.0, 1.0), (0.5, 0.8), (3.0, 0.6), (-1.0, -1.0)):
        result = run(
            0.1,
            ("drive.flange", "load.flange", "rotor.flange_a"),
            ("load.heatPort", "disc.port"),
            drive=ConstantSpeed(w_fixed=factor * peak),
            **(parts | {"rotor": Inertia(J=1.0, w=factor * peak)}),
        )
        assert result["load.tau"].final == pytest.approx(50.0 * share, rel=1e-9)
        loss = 50.0 * share * factor * peak
        assert result["disc.port.Q_flow"].final == pytest.approx(loss, rel=1e-9)


def test_an_eddy_current_brake_without_heat_port_slows_down() -> None:
    """``w' = -2 w / (1 + w**2)`` has ``ln w + w**2 / 2 = const - 2 t``."""
    result = run(
        3.0,
        SHAFT,
        rotor=Inertia(J=1.0, w=3.0),
        load=EddyCurrentTorque(tau_nominal=1.0, w_nominal=1.0),
    )
    w = result["rotor.w"].at(T)
    assert np.log(w) + w**2 / 2 + 2 * T == pytest.approx(np.full_like(T, np.log(3.0) + 4.5), abs=2e-5)
    assert result.energy("load") == pytest.approx(4.5 - w[-1] ** 2 / 2, rel=1e-6)


def test_accelerated_motion_takes_the_torque_of_inertia() -> None:
    result = run(
        3.0,
        ("signal.y", "drive.a_ref"),
        ("drive.flange", "rotor.flange_a"),
        signal=Sine(amplitude=2.0, f=0.5 / pi),
        drive=Accelerate(phi=0.5, w=1.0),
        rotor=Inertia(J=3.0, phi=0.5, w=1.0),
    )
    assert result["rotor.w"].at(T) == pytest.approx(3.0 - 2.0 * np.cos(T), rel=1e-12)
    assert result["rotor.phi"].at(T) == pytest.approx(0.5 + 3.0 * T - 2.0 * np.sin(T), rel=1e-12)
    assert result["rotor.flange_a.tau"].at(T) == pytest.approx(6.0 * np.sin(T), abs=1e-11)


@pytest.mark.parametrize(
    "source, torque",
    [
        (ConstantTorque(tau_constant=2.0, useSupport=True), 2.0),
        (Torque(tau=2.0, useSupport=True), 2.0),
        (LinearSpeedDependentTorque(tau_nominal=2.0, w_nominal=4.0, useSupport=True), 2.0),
        (QuadraticSpeedDependentTorque(tau_nominal=2.0, w_nominal=4.0, useSupport=True), 2.0),
        (SignTorque(tau_nominal=2.0, useSupport=True), 2.0),
        (EddyCurrentTorque(tau_nominal=2.0, w_nominal=4.0, useSupport=True), -2.0),
    ],
    ids=lambda x: type(x).__name__ if hasattr(x, "flange") else "",
)
def test_torques_act_on_the_housing_too(source, torque: float) -> None:
    """Rotor at 3 and housing at -1 rad/s: what one gains the other loses; nominal speed is between them."""
    result = run(
        1.0,
        ("source.flange", "rotor.flange_a"),
        ("source.support", "housing.flange_a"),
        source=source,
        rotor=Inertia(J=1.0, w=3.0),
        housing=Inertia(J=2.0, w=-1.0),
    )
    assert result["rotor.a"].at(0.0) == pytest.approx(torque, rel=1e-12)
    assert result["housing.a"].at(0.0) == pytest.approx(-torque / 2, rel=1e-12)
    assert result["rotor.w"].final + 2 * result["housing.w"].final == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize(
    "source",
    [
        ConstantSpeed(w_fixed=5.0, useSupport=True),
        Speed(w_ref=5.0, useSupport=True),
        Accelerate(a_ref=0.0, w=5.0, useSupport=True),
    ],
    ids=lambda source: type(source).__name__,
)
def test_motion_is_relative_to_the_housing(source) -> None:
    result = run(
        1.0,
        ("source.flange", "rotor.flange_a"),
        ("source.support", "turning.flange"),
        source=source,
        turning=ConstantSpeed(w_fixed=2.0),
        rotor=Inertia(J=1.0, w=7.0),
    )
    assert result["rotor.w"].at([0.0, 1.0]) == pytest.approx([7.0, 7.0], rel=1e-12)


def test_a_position_is_relative_to_the_housing() -> None:
    result = run(
        1.0,
        ("source.flange", "rotor.flange_a"),
        ("source.support", "base.flange"),
        source=Position(phi_ref=0.3, useSupport=True),
        base=Fixed(phi0=1.0),
        rotor=Inertia(J=1.0, phi=1.3),
    )
    assert result["rotor.phi"].final == pytest.approx(1.3, rel=1e-14)
