"""Published mechanical cases, rebuilt from their descriptions and compared within the tolerances these give.

Where a reference is coarser than the solver an oracle of its own follows it.
"""

from math import pi
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from acausal import (
    Result,
    Start,
    simulate,
)
from acausal.components.blocks import Sine
from acausal.components.rotational import Damper as RotationalDamper
from acausal.components.rotational import EddyCurrentTorque, IdealGear, Inertia, Torque
from acausal.components.rotational import Fixed as Housing
from acausal.components.rotational import Spring as TorsionSpring
from acausal.components.thermal import HeatCapacitor
from acausal.components.translational import (
    EddyCurrentForce,
    ElastoGap,
    Fixed,
    Mass,
    Spring,
    SpringDamper,
)
from tests.components.signals import assembled
from tests.oracles.piecewise_motion import piecewise_motion
from tests.oracles.reference_data import load_case, requires_case

# -- Drive train with gear: two inertias move as one -----------------------------------------------------------------


@pytest.fixture(scope="module")
def drive() -> Result:
    return simulate(
        assembled(
            ("source.y", "torque.tau"),
            ("torque.flange", "inertia1.flange_a"),
            ("inertia1.flange_b", "gear.flange_a"),
            ("gear.flange_b", "inertia2.flange_a"),
            ("inertia2.flange_b", "spring.flange_a", "damper.flange_a"),
            ("spring.flange_b", "inertia3.flange_a"),
            ("damper.flange_b", "housing.flange"),
            source=Sine(amplitude=10.0, f=5.0),
            torque=Torque(),
            inertia1=Inertia(J=0.1),
            gear=IdealGear(ratio=10.0),
            inertia2=Inertia(J=2.0),
            spring=TorsionSpring(c=1e4),
            inertia3=Inertia(J=2.0),
            damper=RotationalDamper(d=10.0),
            housing=Housing(),
        ),
        1.0,
    )


@requires_case("msl_rot_first")
def test_drive_train_against_the_reference(drive: Result) -> None:
    case = load_case("msl_rot_first")
    for path, column, tolerance in (
        ("inertia3.phi", "phi3", 1e-4),
        ("inertia3.w", "w3", 1e-3),
        ("damper.phi_rel", "phi_damper", 1e-4),
        ("damper.w_rel", "w_damper", 1e-3),
    ):
        assert np.abs(drive[path].at(case.time) - case[column]).max() <= tolerance


def test_drive_train_by_the_matrix_exponential(drive: Result) -> None:
    """The gear adds 0.1 * 10**2 to the second inertia, and multiplies the torque by 10; (sin, cos) generate it."""
    J2, J3, c, d, w = 12.0, 2.0, 1e4, 10.0, 10 * pi
    A = np.zeros((6, 6))
    A[0, 1] = A[2, 3] = 1.0
    A[1, [0, 1, 2]], A[1, 4] = np.array([-c, -d, c]) / J2, 100.0 / J2
    A[3, [0, 2]] = np.array([c, -c]) / J3
    A[4, 5], A[5, 4] = w, -w
    t = np.linspace(0.0, 1.0, 41)
    exact = np.array([expm(A * s)[:, 5] for s in t])
    assert drive["inertia3.phi"].at(t) == pytest.approx(exact[:, 2], abs=1e-13)
    assert drive["inertia3.w"].at(t) == pytest.approx(exact[:, 3], abs=1e-12)
    assert drive["damper.phi_rel"].at(t) == pytest.approx(-exact[:, 0], abs=1e-13)
    assert drive["damper.w_rel"].at(t) == pytest.approx(-exact[:, 1], abs=1e-12)
    assert (drive.modes[0].states, drive.modes[0].path) == (4, "exact")


# -- Chains of masses: lengths of springs are given at the start -----------------------------------------------------


@pytest.fixture(scope="module")
def chains() -> Result:
    """The positions of m1 and m2 follow from the lengths of their springs, m4 rests at its equilibrium."""
    parts = assembled(
        ("wall1.flange", "spring1.flange_a"),
        ("spring1.flange_b", "m1.flange_a"),
        ("m1.flange_b", "sd1.flange_a"),
        ("sd1.flange_b", "m2.flange_a"),
        ("wall2.flange", "spring2.flange_a"),
        ("spring2.flange_b", "m3.flange_a"),
        ("m3.flange_b", "sd2.flange_a"),
        ("sd2.flange_b", "m4.flange_a"),
        wall1=Fixed(s0=-1.0),
        spring1=Spring(c=1000.0, s_rel0=1.0),
        m1=Mass(m=1.0, L=1.0, v=Start(0.0, fixed=True)),
        sd1=SpringDamper(c=111.0, d=1.0, s_rel0=1.0),
        m2=Mass(m=1.0, L=2.0),
        wall2=Fixed(s0=1.0),
        spring2=Spring(c=1000.0, s_rel0=2.0),
        m3=Mass(m=1.0, L=3.0, s=Start(4.5, fixed=True), v=Start(0.0, fixed=True)),
        sd2=SpringDamper(c=111.0, d=1.0, s_rel0=4.0),
        m4=Mass(m=1.0, L=5.0, s=Start(12.5, fixed=True), v=Start(0.0, fixed=True)),
    )
    given = {"spring1.s_rel": 0.5, "sd1.s_rel": 1.0, "sd1.v_rel": 0.0}
    return simulate(parts, 5.0, initial=given)


def test_chains_begin_where_their_springs_say(chains: Result) -> None:
    assert chains["m1.s"].at(0.0) == pytest.approx(0.0, abs=1e-14)
    assert chains["m2.s"].at(0.0) == pytest.approx(2.5, rel=1e-14)
    assert chains["m2.v"].at(0.0) == pytest.approx(0.0, abs=1e-14)


@requires_case("msl_initial_conditions")
def test_chains_against_the_reference(chains: Result) -> None:
    case = load_case("msl_initial_conditions")
    for path, column in (("m1.s", "s1"), ("sd1.s_rel", "r1"), ("m3.s", "s3"), ("sd2.s_rel", "r2")):
        assert np.abs(chains[path].at(case.time) - case[column]).max() <= 1e-3
    for path, column in (("m1.v", "v1"), ("sd1.v_rel", "rv1")):
        scale = np.abs(case[column]).max()
        assert np.abs(chains[path].at(case.time) - case[column]).max() <= 1e-3 * scale


def test_chains_by_the_matrix_exponential(chains: Result) -> None:
    A = np.zeros((4, 4))
    A[0, 2] = A[1, 3] = 1.0
    # Deflections from equilibrium x1 = s1 - 0.5, x2 = s2 - 3: the springs there have their free lengths.
    A[2] = [-1111.0, 111.0, -1.0, 1.0]
    A[3] = [111.0, -111.0, 1.0, -1.0]
    t = np.linspace(0.0, 5.0, 51)
    x = np.array([expm(A * s) @ [-0.5, -0.5, 0.0, 0.0] for s in t])
    assert chains["m1.s"].at(t) == pytest.approx(0.5 + x[:, 0], abs=1e-11)
    assert chains["sd1.s_rel"].at(t) == pytest.approx(1.0 + x[:, 1] - x[:, 0], abs=1e-11)
    assert chains["m1.v"].at(t) == pytest.approx(x[:, 2], abs=1e-10)


def test_the_chain_in_equilibrium_stays_there(chains: Result) -> None:
    t = np.linspace(0.0, 5.0, 501)
    for path, value in (("m3.s", 4.5), ("m4.s", 12.5), ("sd2.s_rel", 4.0)):
        assert np.abs(chains[path].at(t) - value).max() <= 1e-12
    for path in ("m3.v", "m4.v"):
        assert np.abs(chains[path].at(t)).max() <= 1e-11


# -- Eddy-current brake that heats its disc --------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["rotational", "translational"])
def braking(request: pytest.FixtureRequest) -> tuple[Result, str]:
    """The same numbers in both domains."""
    law = {"TRef": 293.15, "alpha20": 3.92e-3, "useHeatPort": True}
    if request.param == "rotational":
        body, brake = Inertia(J=1.0, w=20.0), EddyCurrentTorque(tau_nominal=100.0, w_nominal=10.0, **law)
    else:
        body, brake = Mass(m=1.0, v=20.0), EddyCurrentForce(f_nominal=100.0, v_nominal=10.0, **law)
    parts = assembled(
        ("body.flange_b", "brake.flange"),
        ("brake.heatPort", "disc.port"),
        body=body,
        brake=brake,
        disc=HeatCapacitor(C=1.0, T=293.15),
    )
    return simulate(parts, 1.0, rtol=1e-8), "body.phi" if request.param == "rotational" else "body.s"


@requires_case("msl_eddy_current_brake")
def test_eddy_current_brake_against_the_reference(braking: tuple[Result, str]) -> None:
    result, position = braking
    case = load_case("msl_eddy_current_brake")
    assert np.abs(result[position].at(case.time) - case["phi"]).max() <= 1e-3
    assert np.abs(result["disc.T"].at(case.time) - case["T"]).max() <= 0.02
    assert np.abs(result["brake.lossPower"].at(case.time) - case["P"]).max() <= 1e-4 * 1600.0


def test_eddy_current_brake_turns_motion_into_heat(braking: tuple[Result, str]) -> None:
    """All of 200 J, within what is left after a second; and T = 293.15 + 200 - w**2 / 2 at any time."""
    result, position = braking
    assert result["disc.T"].final == pytest.approx(493.15, abs=1e-2)

    def slope(_: float, y: np.ndarray) -> list[float]:
        x = y[1] / (10.0 * (1 + 3.92e-3 * (200.0 - y[1] ** 2 / 2)))
        return [y[1], -200.0 * x / (1 + x**2)]

    t = np.linspace(0.0, 1.0, 41)
    run = solve_ivp(slope, (0.0, 1.0), [0.0, 20.0], "DOP853", t, rtol=1e-12, atol=1e-12)
    assert result[position].at(t) == pytest.approx(run.y[0], abs=1e-7)
    assert result["disc.T"].at(t) == pytest.approx(493.15 - run.y[1] ** 2 / 2, abs=1e-5)
    assert result.audit().balance == pytest.approx(0.0, abs=2e-6)


# -- Masses between spring-dampers and between one-sided contacts ----------------------------------------------------


@pytest.fixture(scope="module")
def gaps() -> Result:
    spring, gap = {"c": 10.0, "d": 1.5, "s_rel0": 1.0}, {"c": 10.0, "d": 1.5, "s_rel0": 1.5}
    parts = assembled(
        ("left.flange", "springDamper1.flange_a", "elastoGap1.flange_a"),
        ("right.flange", "springDamper2.flange_b", "elastoGap2.flange_b"),
        ("springDamper1.flange_b", "mass1.flange_a"),
        ("mass1.flange_b", "springDamper2.flange_a"),
        ("elastoGap1.flange_b", "mass2.flange_a"),
        ("mass2.flange_b", "elastoGap2.flange_a"),
        left=Fixed(s0=-2.0),
        right=Fixed(s0=2.0),
        mass1=Mass(m=1.0, s=2.0),
        mass2=Mass(m=1.0, s=2.0),
        springDamper1=SpringDamper(**spring),
        springDamper2=SpringDamper(**spring),
        elastoGap1=ElastoGap(**gap),
        elastoGap2=ElastoGap(**gap),
    )
    return simulate(parts, 5.0)


@requires_case("msl_elasto_gap")
def test_elastic_gaps_against_the_reference(gaps: Result) -> None:
    case = load_case("msl_elasto_gap")
    for path, column in (
        ("elastoGap1.v_rel", "v2"),
        ("elastoGap2.s_rel", "r2"),
        ("springDamper1.v_rel", "v1"),
        ("springDamper2.s_rel", "r1"),
    ):
        assert np.abs(gaps[path].at(case.time) - case[column]).max() <= 5e-4
    contacts = [t for name in ("elastoGap1", "elastoGap2") for t in jumps(gaps, f"{name}.contact")]
    assert np.sort(contacts) == pytest.approx(case.event_times[case.event_times < 5.0], abs=1e-5)


def jumps(result: Result, path: str) -> list[float]:
    """Times at which a discrete signal changes."""
    signal = result[path]
    return [t for t in {e.t for e in result.events} if t > 0 and signal.at(t, side="left") != signal.at(t)]


def test_elastic_gaps_by_fine_integration(gaps: Result) -> None:
    """Stopped at each change of the law: contact, and the limit of damping."""

    def contact(r: float, rate: float) -> float:
        spring = 10.0 * max(1.5 - r, 0.0)
        return -spring + max(-spring, min(1.5 * rate, spring))

    def acceleration(s: float, v: float) -> float:
        return contact(2.0 - s, -v) - contact(2.0 + s, v)

    def change(side: int, k: int | None) -> Any:
        """Zero where contact with the wall at ``2 * side`` begins or ends, or where damping is limited."""
        if k is None:
            return lambda s, v: 1.5 - (2.0 - side * s)
        return lambda s, v: 10 * (1.5 - (2.0 - side * s)) - k * 1.5 * side * v

    changes = [change(side, k) for side in (1, -1) for k in (None, 1, -1)]
    t, s, v = piecewise_motion(acceleration, changes, (2.0, 0.0), 5.0)
    assert gaps["mass2.s"].at(t) == pytest.approx(s, abs=1e-9)
    assert gaps["mass2.v"].at(t) == pytest.approx(v, abs=1e-9)
    assert gaps.modes[0].path == "exact"
