"""Gears, belts and ropes: accelerations of what they couple, torques at the housing, energies."""

from collections.abc import Iterator

import numpy as np
import pytest

from acausal import Component, Parameter, RequirementError, Result, Statement, connect, simulate
from acausal.components.blocks import Ramp
from acausal.components.rotational import (
    ConstantTorque,
    ElasticBelt,
    Fixed,
    IdealBelt,
    IdealGear,
    IdealGearR2T,
    IdealPlanetary,
    IdealRollingWheel,
    Inertia,
    LossyGear,
    RackAndPinion,
    RopePulley,
    Speed,
    Spring,
)
from acausal.components.translational import ConstantForce, Mass
from acausal.components.translational import Fixed as Wall
from acausal.components.translational import Spring as LinearSpring
from tests.components.signals import run

T = np.linspace(0.0, 4.0, 41)
G = 9.81


def closed(result: Result, energy: float) -> bool:
    """Whether the energies into all parts sum to zero up to rounding."""
    return abs(result.audit().balance) <= 1e-11 * energy


@pytest.mark.parametrize("ratio", [3.0, -0.5])
def test_gear_reduces_the_inertia_of_its_load(ratio: float) -> None:
    result = run(
        4.0,
        ("torque.flange", "motor.flange_a"),
        ("motor.flange_b", "gear.flange_a"),
        ("gear.flange_b", "load.flange_a"),
        torque=ConstantTorque(tau_constant=5.0),
        motor=Inertia(J=0.5),
        gear=IdealGear(ratio=ratio),
        load=Inertia(J=4.5),
    )
    a = 5.0 / (0.5 + 4.5 / ratio**2)
    assert result["motor.w"].at(T) == pytest.approx(a * T, abs=1e-11)
    assert result["load.w"].at(T) == pytest.approx(a * T / ratio, abs=1e-11)
    assert result["load.flange_a.tau"].at(T) == pytest.approx(np.full_like(T, 4.5 * a / ratio), rel=1e-11)


def test_the_housing_of_a_gear_takes_up_the_difference_of_its_torques() -> None:
    """Motor of 0.5 at 5 N.m, load of 4.5 behind 3 to 1, and a housing of 2 kg.m2 that yields."""
    result = run(
        4.0,
        ("torque.flange", "motor.flange_a"),
        ("motor.flange_b", "gear.flange_a"),
        ("gear.flange_b", "load.flange_a"),
        ("gear.support", "housing.flange_a"),
        torque=ConstantTorque(tau_constant=5.0),
        motor=Inertia(J=0.5),
        gear=IdealGear(ratio=3.0, useSupport=True),
        load=Inertia(J=4.5),
        housing=Inertia(J=2.0),
    )
    # tau on the gear: J1 a1 = 5 - tau, J2 a2 = 3 tau, JH aH = -2 tau, a1 - aH = 3 (a2 - aH).
    matrix = np.array([[0.5, 0, 0, 1], [0, 4.5, 0, -3], [0, 0, 2, 2], [1, -3, 2, 0]])
    a1, a2, aH, tau = np.linalg.solve(matrix, [5.0, 0.0, 0.0, 0.0])
    for name, a in (("motor", a1), ("load", a2), ("housing", aH)):
        assert result[f"{name}.w"].at(T) == pytest.approx(a * T, abs=1e-11)
    assert result["gear.support.tau"].at(2.0) == pytest.approx(2 * tau, rel=1e-12)
    assert 0.5 * a1 + 4.5 * a2 + 2.0 * aH == pytest.approx(5.0, rel=1e-14)
    assert closed(result, 100.0)


def test_a_planetary_gear_divides_torque_and_adds_speeds() -> None:
    """Two shafts move independently; the third follows from Willis' equation."""
    ratio, J = 2.0, {"sun": 0.3, "carrier": 2.0, "ring": 0.7}
    result = run(
        4.0,
        ("torque.flange", "sun.flange_a"),
        ("sun.flange_b", "gear.sun"),
        ("carrier.flange_a", "gear.carrier"),
        ("ring.flange_a", "gear.ring"),
        ("ring.flange_b", "brake.flange"),
        torque=ConstantTorque(tau_constant=4.0),
        brake=ConstantTorque(tau_constant=-1.0),
        gear=IdealPlanetary(ratio=ratio),
        **{name: Inertia(J=inertia) for name, inertia in J.items()},
    )
    matrix = np.array(
        [[0.3, 0, 0, 1], [0, 2.0, 0, -(1 + ratio)], [0, 0, 0.7, ratio], [1, -(1 + ratio), ratio, 0]]
    )
    *a, _ = np.linalg.solve(matrix, [4.0, 0.0, -1.0, 0.0])
    for name, acceleration in zip(J, a, strict=True):
        assert result[f"{name}.w"].at(T) == pytest.approx(acceleration * T, abs=1e-11)
    assert result["gear.sun.tau"].at(1.0) * ratio == pytest.approx(result["gear.ring.tau"].at(1.0), rel=1e-12)
    assert result.modes[0].states == 4
    assert closed(result, 300.0)


def test_a_held_ring_makes_a_reduction_of_one_plus_ratio() -> None:
    result = run(
        4.0,
        ("torque.flange", "sun.flange_a"),
        ("sun.flange_b", "gear.sun"),
        ("housing.flange", "gear.ring"),
        ("load.flange_a", "gear.carrier"),
        torque=ConstantTorque(tau_constant=2.0),
        sun=Inertia(J=0.1),
        housing=Fixed(),
        load=Inertia(J=3.6),
        gear=IdealPlanetary(ratio=5.0),
    )
    a = 2.0 / (0.1 + 3.6 / 36.0)
    assert result["sun.w"].at(T) == pytest.approx(a * T, rel=1e-12)
    assert result["load.w"].at(T) == pytest.approx(a / 6.0 * T, rel=1e-12)


@pytest.mark.parametrize(
    "part",
    [IdealRollingWheel(radius=0.25), RackAndPinion(radius=0.25), IdealGearR2T(ratio=4.0)],
    ids=lambda part: type(part).__name__,
)
def test_rotation_becomes_translation(part) -> None:
    """A mass of 8 kg on a radius of 0.25 m is an inertia of 0.5 kg.m2; it works against 12 N."""
    result = run(
        4.0,
        ("torque.flange", "shaft.flange_a"),
        ("shaft.flange_b", "part.flangeR"),
        ("part.flangeT", "mass.flange_a"),
        ("mass.flange_b", "load.flange"),
        torque=ConstantTorque(tau_constant=5.0),
        shaft=Inertia(J=1.5),
        part=part,
        mass=Mass(m=8.0),
        load=ConstantForce(f_constant=-12.0),
    )
    a = (5.0 - 12.0 * 0.25) / (1.5 + 8.0 * 0.25**2)
    assert result["shaft.w"].at(T) == pytest.approx(a * T, abs=1e-12)
    assert result["mass.v"].at(T) == pytest.approx(0.25 * a * T, abs=1e-12)
    assert (result.modes[0].states, result.modes[0].path) == (2, "exact")
    assert closed(result, 100.0)


def test_housings_of_a_rack_take_up_torque_and_force() -> None:
    """Both housings stand on springs: the drive turns by what the springs give way."""
    result = run(
        4.0,
        ("signal.y", "speed.w_ref"),
        ("speed.flange", "rack.flangeR"),
        ("rack.flangeT", "load.flange_b"),
        ("wall.flange", "load.flange_a", "bed.flange_a"),
        ("rack.supportT", "bed.flange_b"),
        ("rack.supportR", "mount.flange_b"),
        ("floor.flange", "mount.flange_a"),
        signal=Ramp(height=8.0, duration=4.0),
        speed=Speed(),
        rack=RackAndPinion(radius=0.5, useSupportR=True, useSupportT=True),
        load=LinearSpring(c=10.0),
        wall=Wall(),
        bed=LinearSpring(c=40.0),
        floor=Fixed(),
        mount=Spring(c=5.0),
    )
    phi = T**2
    # force F = 10 s = 40 (s - sT) with sT = -F/40, torque 0.5 F = 5 phiR, s - sT = 0.5 (phi - phiR)
    force = 0.5 * phi / (1 / 10 + 1 / 40 + 0.25 / 5)
    assert result["load.f"].at(T) == pytest.approx(force, abs=1e-11)
    assert result["rack.supportT.s"].at(T) == pytest.approx(-force / 40, abs=1e-12)
    assert result["rack.supportR.phi"].at(T) == pytest.approx(0.5 * force / 5, abs=1e-12)


@pytest.mark.parametrize("radius_b", [0.3, -0.3], ids=["open", "crossed"])
def test_a_belt_reduces_the_inertia_of_its_load(radius_b: float) -> None:
    result = run(
        4.0,
        ("torque.flange", "motor.flange_a"),
        ("motor.flange_b", "belt.flange_a"),
        ("belt.flange_b", "load.flange_a"),
        torque=ConstantTorque(tau_constant=5.0),
        motor=Inertia(J=0.5),
        belt=IdealBelt(radius_a=0.1, radius_b=radius_b),
        load=Inertia(J=4.5),
    )
    a = 5.0 / (0.5 + 4.5 / 9.0)
    assert result["motor.w"].at(T) == pytest.approx(a * T, abs=1e-11)
    assert result["load.w"].at(T) == pytest.approx(a * T * 0.1 / radius_b, abs=1e-11)
    assert result["belt.f"].at(2.0) == pytest.approx((5.0 - 0.5 * a) / 0.1, rel=1e-12)


@pytest.mark.parametrize("d", [0.0, 30.0])
def test_an_elastic_belt_is_a_spring_between_its_pulleys(d: float) -> None:
    """``s = 0.1 phi_a - 0.2 phi_b`` has the reduced mass of 0.1**2 / J1 + 0.2**2 / J2."""
    J1, J2, c = 0.02, 0.16, 450.0
    result = run(
        1.0,
        ("motor.flange_b", "belt.flange_a"),
        ("belt.flange_b", "load.flange_a"),
        motor=Inertia(J=J1, w=10.0),
        belt=ElasticBelt(radius_a=0.1, radius_b=0.2, c=c, d=d),
        load=Inertia(J=J2),
    )
    inverse = 0.1**2 / J1 + 0.2**2 / J2
    alpha = d * inverse / 2
    w = np.sqrt(c * inverse - alpha**2)
    t = np.linspace(0.0, 1.0, 21)
    s = 1.0 / w * np.exp(-alpha * t) * np.sin(w * t)
    rate = np.exp(-alpha * t) * (np.cos(w * t) - alpha / w * np.sin(w * t))
    assert result["belt.s_rel"].at(t) == pytest.approx(s, abs=1e-13)
    assert result["belt.f"].at(t) == pytest.approx(c * s + d * rate, abs=1e-10)
    momentum = 2.0 * J1 * result["motor.w"].at(t) + J2 * result["load.w"].at(t)
    assert momentum == pytest.approx(np.full_like(t, 2.0 * J1 * 10.0), rel=1e-12)
    lost = 1.0 - J1 / 2 * result["motor.w"].final ** 2 - J2 / 2 * result["load.w"].final ** 2
    assert result.energy("belt") == pytest.approx(lost, abs=1e-12)


def test_a_cabin_and_its_counterweight_accelerate_together() -> None:
    """Atwood's machine with a heavy pulley: a = (m_b - m_a) g / (m_a + m_b + J / r**2)."""
    m_a, m_b, J, r = 600.0, 500.0, 20.0, 0.4
    result = run(
        4.0,
        ("wheel.flange_b", "rope.flange"),
        ("rope.flange_a", "cabin.flange_b", "cabin_weight.flange"),
        ("rope.flange_b", "counter.flange_b", "counter_weight.flange"),
        wheel=Inertia(J=J),
        rope=RopePulley(radius=r, s_a0=12.0, s_b0=3.0),
        cabin=Mass(m=m_a, s=12.0),
        counter=Mass(m=m_b, s=3.0),
        cabin_weight=ConstantForce(f_constant=-m_a * G),
        counter_weight=ConstantForce(f_constant=-m_b * G),
    )
    a = (m_b - m_a) * G / (m_a + m_b + J / r**2)
    assert result["cabin.s"].at(T) == pytest.approx(12.0 + a * T**2 / 2, rel=1e-12)
    assert result["counter.s"].at(T) == pytest.approx(3.0 - a * T**2 / 2, abs=1e-11)
    assert result["rope.f_a"].at(1.0) == pytest.approx(m_a * (G + a), rel=1e-12)
    assert result["rope.f_b"].at(1.0) == pytest.approx(m_b * (G - a), rel=1e-12)
    assert result.modes[0].states == 2
    assert closed(result, m_a * G * 4.0)


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (IdealGear(ratio=0.0), "ratio"),
        (LossyGear(ratio=0.0), "ratio"),
        (IdealPlanetary(ratio=0.0), "ratio"),
        (IdealGearR2T(ratio=0.0), "ratio"),
        (IdealRollingWheel(radius=0.0), "radius"),
        (RackAndPinion(radius=0.0), "radius"),
        (RopePulley(radius=0.0), "radius"),
        (IdealBelt(radius_a=0.0, radius_b=0.1), "radius_a"),
        (ElasticBelt(radius_a=0.1, radius_b=0.0, c=1.0), "radius_b"),
    ],
)
def test_what_couples_by_nothing_is_refused(part: Component, name: str) -> None:
    with pytest.raises(RequirementError, match=f"the `{name}` must not be zero"):
        run(1.0, part=part)


def test_a_ratio_from_outside_is_refused_at_zero_too() -> None:
    class Train(Component):
        n: Parameter = Parameter(default=2.0, unit="1", doc="Ratio of the gear")

        def build(self) -> None:
            self.torque, self.gear, self.load = (
                ConstantTorque(tau_constant=1.0),
                IdealGear(ratio=self.n),
                Inertia(J=1.0),
            )

        def equations(self) -> Iterator[Statement]:
            yield connect(self.torque.flange, self.gear.flange_a)
            yield connect(self.gear.flange_b, self.load.flange_a)

    with pytest.raises(RequirementError, match="the `ratio` must not be zero"):
        simulate(Train(), 1.0, parameters={"n": 0.0})
