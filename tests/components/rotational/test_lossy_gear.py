"""Gears with losses: efficiency in both directions of power, bearings, standstill, self-locking."""

from math import pi, sin

import numpy as np
import pytest

from acausal import Result
from acausal.components.blocks import Ramp, Sine
from acausal.components.rotational import ConstantTorque, Inertia, LossyGear, Torque
from acausal.components.thermal import HeatCapacitor
from acausal.errors import ParameterError
from tests.components.signals import run
from tests.oracles.lossy_gear import GearTrain

TRAIN = [
    ("drive.flange", "a.flange_a"),
    ("a.flange_b", "gear.flange_a"),
    ("gear.flange_b", "b.flange_a"),
    ("b.flange_b", "load.flange"),
]


def driven(tau: float, gear: LossyGear, load: float = 0.0, w: float = 0.0, t_end: float = 2.0) -> Result:
    return run(
        t_end,
        *TRAIN,
        drive=ConstantTorque(tau_constant=tau),
        a=Inertia(J=1.0, w=w),
        gear=gear,
        b=Inertia(J=8.0, w=w / 2),
        load=ConstantTorque(tau_constant=load),
    )


def test_losses_of_a_driving_and_a_driven_gear() -> None:
    """a + 4 a = T - loss * 4-fold inertia behind the gear: ``tau_a = (4 a / 2 + tau1 * 2) / (2 * eta)`` and the like."""
    losses = ((0.0, 0.9, 0.8, 0.5, 0.6),)
    result = driven(5.0, LossyGear(ratio=2.0, lossTable=losses))
    # Power flows from a to b: 2 (0.9 tau - 0.5) = 8 a / 2.
    a = (5.0 - 0.5 / 0.9) / (1 + 2.0 / 0.9)
    assert result["a.w"].final == pytest.approx(2.0 * a, rel=1e-12)
    # The same from b: 2 (tau / 0.8 - 0.6) = 8 a / 2 - load.
    result = driven(0.0, LossyGear(ratio=2.0, lossTable=losses), load=10.0)
    a = (5.0 - 0.6) * 0.8 / (1 + 2.0 * 0.8)
    assert result["a.w"].final == pytest.approx(2.0 * a, rel=1e-12)


def test_an_ideal_table_is_an_ideal_gear() -> None:
    result = driven(5.0, LossyGear(ratio=2.0))
    assert result["a.w"].final == pytest.approx(2.0 * 5.0 / 3.0, rel=1e-12)
    assert result["gear.tauLoss"].final == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(
    "height, breakaway, state",
    [(50.0, (25.0 + 1.0) / 0.4, 1), (-30.0, (25.0 - 2.0) * 0.3, 2)],
    ids=["up", "down"],
)
def test_a_hoist_sticks_between_lifting_and_lowering(height: float, breakaway: float, state: int) -> None:
    """Torque from 30 N.m up or down against 1000 N.m behind 40 to 1; losses help to hold and hinder to lift."""
    result = run(
        2.0,
        ("ramp.y", "drive.tau"),
        *TRAIN,
        ramp=Ramp(height=height, duration=2.0, offset=30.0),
        drive=Torque(),
        a=Inertia(J=1.0),
        gear=LossyGear(ratio=40.0, lossTable=((0.0, 0.4, 0.3, 1.0, 2.0),)),
        b=Inertia(J=8.0),
        load=ConstantTorque(tau_constant=-1000.0),
    )
    moves = 2.0 * (breakaway - 30.0) / height
    assert [e.t for e in result.events if "gear.state" in e.modes and e.t > 0] == pytest.approx(
        [moves], rel=1e-9
    )
    assert result["a.w"].at(moves) == pytest.approx(0.0, abs=1e-12)
    assert result["gear.state"].final == state


CASES = {
    "constant": ((0.0, 0.5, 0.6, 0.5, 0.7),),
    "by speed": ((0.0, 0.95, 0.9, 1.0, 1.2), (0.5, 0.8, 0.7, 0.3, 0.4), (2.0, 0.9, 0.85, 0.6, 0.8)),
}


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("table", CASES.values(), ids=CASES)
def test_a_gear_that_is_driven_to_and_fro(table: tuple) -> None:
    """Through all four directions of power and speed, and through standstill."""
    result = run(
        4.0,
        ("sine.y", "drive.tau"),
        *TRAIN,
        sine=Sine(amplitude=6.0, f=0.5),
        drive=Torque(),
        a=Inertia(J=1.0, w=0.4),
        gear=LossyGear(ratio=2.0, lossTable=table),
        b=Inertia(J=2.0, w=0.2),
        load=ConstantTorque(tau_constant=-2.0),
    )

    def losses(speed: float) -> tuple[float, float, float, float]:
        speeds, *columns = zip(*table, strict=True)
        e1, e2, t1, t2 = (float(np.interp(speed, speeds, column)) for column in columns)
        return e1, e2, t1, t2

    oracle = GearTrain(J1=1.0, J2=2.0, ratio=2.0, load=-2.0, drive=lambda t: 6.0 * sin(pi * t), losses=losses)
    t, w = oracle.speeds(0.4, 4.0)
    exact = len(table) == 1
    assert (result.modes[0].path == "exact") is exact
    assert result["a.w"].at(t) == pytest.approx(w, abs=1e-8 if exact else 2e-5)
    visited = {int(s) for s in result["gear.state"].at(np.linspace(0, 4, 401))}
    assert visited >= {1, 2}
    assert (result["gear.tauLoss"].at(t) * result["gear.w_a"].at(t)).min() >= -1e-9
    assert result.audit().balance == pytest.approx(0.0, abs=1e-9 if exact else 1e-4)


def test_the_loss_heats_the_oil() -> None:
    gear = LossyGear(ratio=2.0, lossTable=((0.0, 0.9, 0.8, 0.5, 0.6),), useHeatPort=True)
    result = run(
        3.0,
        *TRAIN,
        ("gear.heatPort", "oil.port"),
        drive=ConstantTorque(tau_constant=5.0),
        a=Inertia(J=1.0),
        gear=gear,
        b=Inertia(J=8.0),
        load=ConstantTorque(tau_constant=0.0),
        oil=HeatCapacitor(C=10.0, T=300.0),
    )
    work = 5.0 * result["a.phi"].final
    kinetic = result["a.w"].final ** 2 / 2 + 4.0 * result["b.w"].final ** 2
    assert result["oil.T"].final == pytest.approx(300.0 + (work - kinetic) / 10.0, abs=1e-4)


@pytest.mark.parametrize(
    "table, message",
    [
        ((), "needs rows"),
        (((0.0, 1.0, 1.0),), "needs rows"),
        (((1.0, 1.0, 1.0, 0.0, 0.0), (0.0, 1.0, 1.0, 0.0, 0.0)), "ascending"),
        (((0.0, 1.2, 1.0, 0.0, 0.0),), "efficiencies"),
        (((0.0, 1.0, 1.0, -1.0, 0.0),), "friction"),
    ],
)
def test_a_table_that_is_none_of_losses_is_refused(table: tuple, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        LossyGear(ratio=1.0, lossTable=table)
