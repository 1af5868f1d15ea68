"""A mass with Stribeck friction between stops: breaking away, sliding, being stopped, rest at a stop."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from acausal import FrictionState
from acausal.components.blocks import Sine
from acausal.components.thermal import HeatCapacitor
from acausal.components.translational import ConstantForce, Force, MassWithStopAndFriction
from acausal.errors import RequirementError
from tests.components.signals import changes, run

LAW = {
    "m": 2.0,
    "L": 1.0,
    "smin": -2.0,
    "smax": 3.0,
    "F_prop": 1.0,
    "F_Coulomb": 5.0,
    "F_Stribeck": 10.0,
    "fexp": 2.0,
}


def test_a_mass_is_moved_from_stop_to_stop() -> None:
    """It sticks up to 15 N of the 40 N of a sine; each flight by an explicit method of order 8."""
    result = run(
        4.0,
        ("signal.y", "force.f"),
        ("force.flange", "mass.flange_a"),
        signal=Sine(amplitude=40.0, f=0.25),
        force=Force(),
        mass=MassWithStopAndFriction(**LAW),
    )
    leave = np.arcsin(15.0 / 40.0) / (np.pi / 2)

    def slope(t: float, y: np.ndarray) -> list[float]:
        v = abs(y[1])
        friction = np.sign(y[1]) * (5.0 + 10.0 * np.exp(-2.0 * v)) + y[1]
        return [y[1], (40.0 * np.sin(np.pi / 2 * t) - friction) / 2.0]

    def arrive(_: float, y: np.ndarray) -> float:
        return 2.5 - y[0]

    arrive.terminal = True  # type: ignore[attr-defined]
    begin = 1e-7  # beside rest, so that the sign of the speed is known
    flight = solve_ivp(
        slope, (leave + begin, 4.0), [0.0, 1e-14], "DOP853", events=arrive, rtol=1e-11, atol=1e-13
    )
    breaks = changes(result["mass.v"])
    assert min(e.t for e in result.events if e.t > 0) == pytest.approx(leave, rel=1e-9)
    assert breaks[0] == pytest.approx(flight.t[-1], abs=1e-6)
    assert result["mass.v"].at(breaks[0], side="left") == pytest.approx(flight.y[1, -1], abs=1e-5)
    assert result["mass.s"].at([1.2, 1.7, 2.0]) == pytest.approx([2.5, 2.5, 2.5], abs=1e-9)
    # Friction holds 15 N of what presses on the stop.
    push = 40.0 * np.sin(np.pi / 2 * 1.2)
    assert result["mass.f"].at(1.2) + result["mass.f_max"].at(1.2) == pytest.approx(push, rel=1e-9)
    assert result["mass.f_max"].at(1.8) == pytest.approx(0.0, abs=1e-9)
    assert result["mass.s"].at(3.7) == pytest.approx(-1.5, abs=1e-9)
    assert result["mass.f_min"].at(3.5) > 0.0


def test_a_mass_rests_at_its_stop() -> None:
    result = run(
        4.0,
        ("force.flange", "mass.flange_a"),
        force=ConstantForce(f_constant=30.0),
        mass=MassWithStopAndFriction(**LAW),
    )
    assert result["mass.s"].final == pytest.approx(2.5, rel=1e-12)
    assert result["mass.f"].final + result["mass.f_max"].final == pytest.approx(30.0, rel=1e-12)


def test_sliding_to_rest_heats() -> None:
    """All of 4 J, and none of it in a stop."""
    result = run(
        4.0,
        ("mass.heatPort", "body.port"),
        mass=MassWithStopAndFriction(**LAW, v=2.0, useHeatPort=True),
        body=HeatCapacitor(C=5.0, T=300.0),
    )
    assert result["mass.state"].final == FrictionState.STICK.value
    assert result["body.T"].final == pytest.approx(300.8, abs=1e-4)


def test_a_mass_longer_than_its_way_is_refused() -> None:
    with pytest.raises(RequirementError, match="shorter than the distance"):
        run(1.0, mass=MassWithStopAndFriction(**(LAW | {"L": 6.0})))
