"""Backlash: an inertia between two flanks, against integration from one change of the law to the next."""

from typing import Any

import numpy as np
import pytest

from acausal.components.rotational import ElastoBacklash, ElastoBacklash2, Fixed, Inertia
from acausal.components.thermal import HeatCapacitor
from tests.components.signals import run
from tests.oracles.piecewise_motion import piecewise_motion

C, D, B, J = 80.0, 3.0, 0.2, 2.0


def spring(x: float) -> float:
    return C * (max(x - B / 2, 0.0) + min(x + B / 2, 0.0))


def limited(x: float, w: float) -> float:
    """Damping at most as large as the torque of the spring."""
    most = abs(spring(x))
    return spring(x) + max(-most, min(D * w, most))


def full(x: float, w: float) -> float:
    """Damping in contact, but no pull."""
    if x > B / 2:
        return max(spring(x) + D * w, 0.0)
    return min(spring(x) + D * w, 0.0) if x < -B / 2 else 0.0


CHANGES: list[Any] = [
    lambda x, w: x - B / 2,
    lambda x, w: x + B / 2,
    lambda x, w: spring(x) - D * w if x != 0 else 1.0,
    lambda x, w: spring(x) + D * w if x != 0 else 1.0,
]


@pytest.mark.parametrize("part, law", [(ElastoBacklash, limited), (ElastoBacklash2, full)])
def test_an_inertia_between_two_flanks(part: Any, law: Any) -> None:
    result = run(
        3.0,
        ("housing.flange", "play.flange_a"),
        ("play.flange_b", "rotor.flange_a"),
        housing=Fixed(phi0=0.3),
        play=part(c=C, d=D, b=B, phi_rel0=0.1),
        rotor=Inertia(J=J, phi=0.4, w=1.5),
    )
    t, x, w = piecewise_motion(lambda x, w: -law(x, w) / J, CHANGES, (0.0, 1.5), 3.0)
    assert result["play.phi_rel"].at(t) - 0.1 == pytest.approx(x, abs=1e-8)
    assert result["rotor.w"].at(t) == pytest.approx(w, abs=1e-8)
    assert result.modes[0].path == "exact"
    push = result["play.tau"].at(t) * (result["play.phi_rel"].at(t) - 0.1)
    assert push.min() >= -1e-13
    first = B / 2 / 1.5
    step = result["play.tau"].at(first + 1e-12) - result["play.tau"].at(first - 1e-12)
    assert step == pytest.approx(D * 1.5 if part is ElastoBacklash2 else 0.0, abs=1e-9)
    lost = J / 2 * (1.5**2 - result["rotor.w"].final ** 2) - C / 2 * (spring(x[-1]) / C) ** 2
    assert result.energy("play") - C / 2 * (spring(x[-1]) / C) ** 2 == pytest.approx(lost, abs=1e-9)


@pytest.mark.parametrize("part", [ElastoBacklash, ElastoBacklash2])
def test_without_clearance_it_is_a_spring_and_damper(part: Any) -> None:
    result = run(
        3.0,
        ("housing.flange", "play.flange_a"),
        ("play.flange_b", "rotor.flange_a"),
        housing=Fixed(),
        play=part(c=C, d=D),
        rotor=Inertia(J=J, w=1.5),
    )
    t = np.linspace(0.0, 3.0, 31)
    alpha = D / (2 * J)
    w = np.sqrt(C / J - alpha**2)
    assert result["rotor.phi"].at(t) == pytest.approx(1.5 / w * np.exp(-alpha * t) * np.sin(w * t), abs=1e-13)


@pytest.mark.parametrize("part", [ElastoBacklash, ElastoBacklash2])
def test_what_damping_takes_becomes_heat(part: Any) -> None:
    result = run(
        3.0,
        ("housing.flange", "play.flange_a"),
        ("play.flange_b", "rotor.flange_a"),
        ("play.heatPort", "flanks.port"),
        housing=Fixed(),
        play=part(c=C, d=D, b=B, useHeatPort=True),
        rotor=Inertia(J=J, w=1.5),
        flanks=HeatCapacitor(C=5.0, T=300.0),
    )
    stored = C / 2 * (spring(float(result["play.phi_rel"].final)) / C) ** 2
    heat = J / 2 * (1.5**2 - result["rotor.w"].final ** 2) - stored
    assert result["flanks.T"].final == pytest.approx(300.0 + heat / 5.0, abs=1e-6)
