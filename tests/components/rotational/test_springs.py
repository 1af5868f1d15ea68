"""Nonlinear springs, rigid parts, sensors of relative motion, heat of dampers, starts given by a flange."""

from math import pi, sqrt

import numpy as np
import pytest
from scipy.special import ellipj

from acausal.components.blocks import Sine
from acausal.components.rotational import (
    ConstantSpeed,
    ConstantTorque,
    CubicSpring,
    Damper,
    Disc,
    Fixed,
    Inertia,
    InitializeFlange,
    MultiSensor,
    Position,
    RelAccSensor,
    Spring,
    SpringDamper,
    TableSpring,
)
from acausal.components.thermal import FixedTemperature, HeatCapacitor
from acausal.errors import ParameterError
from tests.components.signals import run

T = np.linspace(0.0, 4.0, 41)
HELD = [("housing.flange", "spring.flange_a"), ("spring.flange_b", "rotor.flange_a")]


def test_a_hardening_spring_swings_by_elliptic_functions() -> None:
    """Duffing: ``x = A cn(w t, m)``, ``w**2 = (c + c3 A**2) / J``, ``m = c3 A**2 / (2 (c + c3 A**2))``."""
    J, c, c3, A = 2.0, 3.0, 5.0, 1.2
    result = run(
        4.0,
        *HELD,
        housing=Fixed(phi0=1.0),
        spring=CubicSpring(c=c, c3=c3, phi_rel0=-0.5),
        rotor=Inertia(J=J, phi=0.5 + A),
    )
    stiff = c + c3 * A**2
    _, cn, _, _ = ellipj(sqrt(stiff / J) * T, c3 * A**2 / (2 * stiff))
    assert result["rotor.phi"].at(T) == pytest.approx(0.5 + A * cn, abs=2e-5)
    x = result["spring.phi_rel"].at(T) + 0.5
    assert result["spring.tau"].at(T) == pytest.approx(c * x + c3 * x**3, rel=1e-12)


def test_a_spring_from_a_table_continues_with_its_outer_slopes() -> None:
    """Stiffness 2 within 1 rad, 8 beyond: half a period is an arc of each."""
    result = run(
        4.2,
        *HELD,
        housing=Fixed(),
        spring=TableSpring(table=((-2.0, -10.0), (-1.0, -2.0), (1.0, 2.0), (1.5, 6.0))),
        rotor=Inertia(J=2.0, w=3.0),
    )
    assert result.modes[0].path == "exact"
    first = np.arcsin(1 / 3.0)
    v = sqrt(9.0 - 1.0)
    # Beyond: 2 x'' = -2 - 8 (x - 1), a circle of frequency 2 about x = 0.75.
    reach = np.hypot(0.25, v / 2)
    half = pi - 2 * np.arcsin(0.25 / reach)
    top = first + half / 4
    assert result["spring.phi_rel"].at(top) == pytest.approx(0.75 + reach, rel=1e-12)
    assert result["rotor.w"].at(top) == pytest.approx(0.0, abs=1e-12)
    period = 4 * first + half
    assert result["rotor.phi"].at([period / 2, period]) == pytest.approx([0.0, 0.0], abs=1e-11)
    assert result["rotor.w"].at([period / 2, period]) == pytest.approx([-3.0, 3.0], rel=1e-12)


@pytest.mark.parametrize(
    "table, message",
    [(((0.0, 0.0),), "at least two rows"), (((0.0, 0.0), (0.0, 1.0)), "ascend"), ((), "at least one row")],
)
def test_a_table_that_is_no_characteristic_is_refused(table: tuple, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        TableSpring(table=table)


def test_a_disc_turns_by_its_angle() -> None:
    result = run(
        4.0,
        ("a.flange_b", "disc.flange_a"),
        ("disc.flange_b", "b.flange_a"),
        ("drive.flange", "a.flange_a"),
        drive=ConstantTorque(tau_constant=6.0),
        a=Inertia(J=1.0),
        disc=Disc(deltaPhi=0.25),
        b=Inertia(J=2.0, phi=0.25),
    )
    assert result["b.phi"].at(T) - result["a.phi"].at(T) == pytest.approx(np.full_like(T, 0.25), rel=1e-12)
    assert result["disc.flange_a.tau"].at(T) == pytest.approx(np.full_like(T, 4.0), rel=1e-12)


def test_sensors_between_rotors() -> None:
    result = run(
        4.0,
        ("signal.y", "drive.phi_ref"),
        ("drive.flange", "meter.flange_a", "relative.flange_a"),
        ("meter.flange_b", "rotor.flange_a"),
        ("free.flange_a", "relative.flange_b", "push.flange"),
        signal=Sine(f=0.5 / pi),
        drive=Position(),
        meter=MultiSensor(),
        rotor=Inertia(J=2.0, w=1.0),
        relative=RelAccSensor(),
        free=Inertia(J=4.0),
        push=ConstantTorque(tau_constant=2.0),
    )
    assert result["meter.w"].at(T) == pytest.approx(np.cos(T), abs=1e-12)
    assert result["meter.tau"].at(T) == pytest.approx(-2.0 * np.sin(T), abs=1e-12)
    assert result["meter.power"].at(T) == pytest.approx(-np.sin(2 * T), abs=1e-12)
    assert result["relative.a_rel"].at(T) == pytest.approx(0.5 + np.sin(T), abs=1e-12)
    assert result["relative.w_rel"].at(T) == pytest.approx(0.5 * T - np.cos(T), abs=1e-12)


@pytest.mark.parametrize("split", [False, True])
def test_a_damper_heats_its_oil(split: bool) -> None:
    """All of 25 J of a swinging rotor, whether spring and damper are one part or two."""
    if split:
        parts = {"spring": Spring(c=50.0), "damper": Damper(d=4.0, useHeatPort=True)}
    else:
        parts = {"damper": SpringDamper(c=50.0, d=4.0, useHeatPort=True)}
    result = run(
        30.0,
        ("housing.flange", *(f"{n}.flange_a" for n in parts)),
        ("rotor.flange_a", *(f"{n}.flange_b" for n in parts)),
        ("damper.heatPort", "oil.port"),
        housing=Fixed(),
        rotor=Inertia(J=2.0, phi=1.0),
        oil=HeatCapacitor(C=5.0, T=300.0),
        **parts,
    )
    # The relative tolerance of a run, 1e-6, allows 3e-4 K.
    assert result["oil.T"].final == pytest.approx(305.0, abs=1e-4)
    assert result.audit().balance == pytest.approx(0.0, abs=5e-4)


def test_the_heat_of_a_damper_between_constant_speeds() -> None:
    result = run(
        1.0,
        ("a.flange", "damper.flange_a"),
        ("b.flange", "damper.flange_b"),
        ("damper.heatPort", "room.port"),
        a=ConstantSpeed(w_fixed=1.0),
        b=ConstantSpeed(w_fixed=4.0),
        damper=Damper(d=2.0, useHeatPort=True),
        room=FixedTemperature(T=300.0),
    )
    assert result["room.port.Q_flow"].final == pytest.approx(18.0, rel=1e-12)


def test_starts_given_by_a_flange() -> None:
    result = run(
        4.0,
        *HELD,
        ("rotor.flange_b", "start.flange"),
        housing=Fixed(),
        spring=Spring(c=8.0),
        rotor=Inertia(J=2.0),
        start=InitializeFlange(phi_start=0.5, w_start=-1.0, use_a_start=False),
    )
    assert result["rotor.phi"].at(T) == pytest.approx(0.5 * np.cos(2 * T) - 0.5 * np.sin(2 * T), abs=1e-13)


def test_an_acceleration_at_the_start_determines_the_angle() -> None:
    result = run(
        4.0,
        *HELD,
        ("rotor.flange_b", "start.flange"),
        housing=Fixed(),
        spring=Spring(c=8.0),
        rotor=Inertia(J=2.0),
        start=InitializeFlange(w_start=0.0, a_start=-4.0, use_phi_start=False),
    )
    assert result["rotor.phi"].at(T) == pytest.approx(np.cos(2 * T), abs=1e-13)
