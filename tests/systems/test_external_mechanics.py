"""Published mechanical and thermal cases, rebuilt from their descriptions and compared within the tolerances these give.

Where a reference is coarser than the solver an oracle of its own follows it.
"""

from math import cos, exp, pi, radians, sin, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.special import ellipk

from acausal import (
    Circuit,
    Component,
    Eq,
    Parameter,
    Result,
    Start,
    Variable,
    der,
    if_else,
    simulate,
    time,
)
from acausal import sin as sine
from acausal import (
    sqrt as root,
)
from acausal.components.blocks import Sine
from acausal.components.rotational import Damper as RotationalDamper
from acausal.components.rotational import EddyCurrentTorque, IdealGear, Inertia, Torque
from acausal.components.rotational import Fixed as Housing
from acausal.components.rotational import Spring as TorsionSpring
from acausal.components.thermal import FixedTemperature, HeatCapacitor, ThermalConductor
from acausal.components.translational import (
    Damper,
    EddyCurrentForce,
    ElastoGap,
    Fixed,
    Force,
    Mass,
    Spring,
    SpringDamper,
)
from acausal.modeling.component import resolve
from tests.oracles.heat import HeatNetwork
from tests.oracles.piecewise_motion import piecewise_motion
from tests.oracles.reference_data import load_case, requires_case


def model(*connections: tuple[str, ...], **parts: Component) -> Circuit:
    """Named parts, and the ports or signals that are connected."""
    made = Circuit()
    for name, part in parts.items():
        made.add(name, part)
    for ends in connections:
        made.connect(*(resolve(made, end) for end in ends))
    return made


# -- Car axis: index 3, one constraint that depends on time ----------------------------------------------------------


class CarAxis(Component):
    """Two masses on springs above the wheels, on a rigid axle; the right wheel rolls over a bump."""

    m: Parameter = Parameter(default=5e-4, doc="Mass")
    w: Parameter = Parameter(default=10.0, unit="rad/s", doc="Frequency of the bump")
    xl: Variable = Variable(start=0.0)
    yl: Variable = Variable(start=0.5)
    xr: Variable = Variable(start=1.0)
    yr: Variable = Variable(start=0.5)
    vxl: Variable = Variable(start=-0.5)
    vyl: Variable = Variable()
    vxr: Variable = Variable(start=-0.5)
    vyr: Variable = Variable()
    lambda1: Variable = Variable()
    lambda2: Variable = Variable()
    xb: Variable = Variable(start=1.0)
    yb: Variable = Variable()

    def equations(self):
        xl, yl, xr, yr, xb, yb = self.xl, self.yl, self.xr, self.yr, self.xb, self.yb
        left, right = root(xl**2 + yl**2), root((xr - xb) ** 2 + (yr - yb) ** 2)
        yield Eq(yb, 0.1 * sine(self.w * time))
        yield Eq(xb, root(1 - yb**2))
        for x, v in ((xl, self.vxl), (yl, self.vyl), (xr, self.vxr), (yr, self.vyr)):
            yield Eq(der(x), v)
        pull_l, pull_r = (0.5 - left) / left, (0.5 - right) / right
        yield Eq(der(self.m * self.vxl), pull_l * xl + self.lambda1 * xb + 2 * self.lambda2 * (xl - xr))
        yield Eq(
            der(self.m * self.vyl), pull_l * yl + self.lambda1 * yb + 2 * self.lambda2 * (yl - yr) - self.m
        )
        yield Eq(der(self.m * self.vxr), pull_r * (xr - xb) - 2 * self.lambda2 * (xl - xr))
        yield Eq(der(self.m * self.vyr), pull_r * (yr - yb) - 2 * self.lambda2 * (yl - yr) - self.m)
        yield Eq(xb * xl + yb * yl, 0)
        yield Eq((xl - xr) ** 2 + (yl - yr) ** 2, 1)


@pytest.fixture(scope="module")
def axis() -> Result:
    return simulate(CarAxis(), 3.0, rtol=1e-8)


def test_car_axis_at_the_end(axis: Result) -> None:
    """Test Set for IVP Solvers, Car Axis problem: reference solution at t = 3."""
    positions = {
        "xl": 0.4934557842755629e-1,
        "yl": 0.4969894602303324,
        "xr": 0.1041742524885400e1,
        "yr": 0.3739110272652214,
    }
    speeds = {
        "vxl": -0.7705836840321485e-1,
        "vyl": 0.7446866596327776e-2,
        "vxr": 0.1755681574942899e-1,
        "vyr": 0.7703410437794031,
    }
    for name, value in positions.items():
        assert axis[name].final == pytest.approx(value, abs=1e-6)
    for name, value in speeds.items():
        assert axis[name].final == pytest.approx(value, abs=1e-5)
    assert axis["lambda1"].final == pytest.approx(-0.4736886750784630e-2, abs=1e-5)
    assert axis["lambda2"].final == pytest.approx(-0.1104680411345730e-2, abs=1e-5)


def test_car_axis_keeps_its_constraints_and_their_derivatives(axis: Result) -> None:
    t = np.linspace(0.0, 3.0, 3001)
    xl, yl, xr, yr = (axis[name].at(t) for name in ("xl", "yl", "xr", "yr"))
    vxl, vyl, vxr, vyr = (axis[name].at(t) for name in ("vxl", "vyl", "vxr", "vyr"))
    yb, dyb = 0.1 * np.sin(10 * t), np.cos(10 * t)
    xb = np.sqrt(1 - yb**2)
    dxb = -yb * dyb / xb
    assert np.abs(xb * xl + yb * yl).max() < 1e-13
    assert np.abs((xl - xr) ** 2 + (yl - yr) ** 2 - 1).max() < 1e-13
    assert np.abs(xb * vxl + dxb * xl + yb * vyl + dyb * yl).max() < 1e-12
    assert np.abs((xl - xr) * (vxl - vxr) + (yl - yr) * (vyl - vyr)).max() < 1e-12
    assert (axis.modes[0].states, axis.modes[0].index) == (4, 3)


def test_car_axis_through_the_whole_run(axis: Result) -> None:
    """Multipliers from the differentiated constraints at each point, integrated by an explicit method of order 8."""
    m = 5e-4

    def accelerations(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        yb, dyb, ddyb = 0.1 * sin(10 * t), cos(10 * t), -10 * sin(10 * t)
        xb = sqrt(1 - yb**2)
        dxb = -yb * dyb / xb
        ddxb = -(dyb**2 + yb * ddyb + dxb**2) / xb
        xl, yl, xr, yr = q
        left, right = np.hypot(xl, yl), np.hypot(xr - xb, yr - yb)
        force = np.array([xl, yl, xr - xb, yr - yb])
        force[:2] *= (0.5 - left) / left
        force[2:] *= (0.5 - right) / right
        force[[1, 3]] -= m
        dx, dy = xl - xr, yl - yr
        rows = np.array([[xb, yb, 0.0, 0.0], [2 * dx, 2 * dy, -2 * dx, -2 * dy]])
        moved = np.array(
            [
                2 * (dxb * v[0] + dyb * v[1]) + ddxb * xl + ddyb * yl,
                2 * ((v[0] - v[2]) ** 2 + (v[1] - v[3]) ** 2),
            ]
        )
        multipliers = np.linalg.solve(rows @ rows.T / m, -moved - rows @ force / m)
        return (force + rows.T @ multipliers) / m

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[4:], accelerations(t, y[:4], y[4:])])

    t = np.linspace(0.0, 3.0, 61)
    start = [0.0, 0.5, 1.0, 0.5, -0.5, 0.0, -0.5, 0.0]
    run = solve_ivp(slope, (0.0, 3.0), start, "DOP853", t, rtol=1e-11, atol=1e-12)
    for k, name in enumerate(("xl", "yl", "xr", "yr")):
        assert axis[name].at(t) == pytest.approx(run.y[k], abs=1e-6)
    for k, name in enumerate(("vxl", "vyl", "vxr", "vyr")):
        assert axis[name].at(t) == pytest.approx(run.y[4 + k], abs=1e-5)


# -- Drive train with gear: two inertias move as one -----------------------------------------------------------------


@pytest.fixture(scope="module")
def drive() -> Result:
    return simulate(
        model(
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
    parts = model(
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
    parts = model(
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
    parts = model(
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


# -- Final values that other libraries require of themselves ---------------------------------------------------------


class Lag(Component):
    """First-order lag behind a sine."""

    w: Parameter = Parameter(default=1.0, unit="rad/s", doc="Frequency of the sine")
    x: Variable = Variable(start=0.3)

    def equations(self):
        yield Eq(der(self.x), (sine(self.w * time) - self.x) / 0.2)


def test_lag_of_a_sine() -> None:
    """Modia.jl, test TestParameter; closed form."""
    exact = (sin(10) - 0.2 * cos(10)) / 1.04 + (0.3 + 0.2 / 1.04) * exp(-50)
    assert simulate(Lag(), 10.0)["x"].final == pytest.approx(exact, rel=1e-12)
    assert exact == pytest.approx(-0.3617373025974107, rel=1e-5)


class PushedOscillator(Component):
    """A damped oscillator that is pushed while its position is not positive."""

    s: Variable = Variable(start=2.0)
    v: Variable = Variable()
    f: Variable = Variable()

    def equations(self):
        yield Eq(der(self.s), self.v)
        yield Eq(der(self.v) + 0.1 * self.v + self.s, self.f)
        yield Eq(self.f, if_else(self.s > 0, 0.0, 1.5))


def test_oscillator_with_a_push() -> None:
    """Modia.jl, test TestSimpleStateEvents."""
    result = simulate(PushedOscillator(), 10.0)
    assert result["s"].final == pytest.approx(1.1756992201144405, abs=1e-6)
    assert result["v"].final == pytest.approx(-0.5351307571761175, abs=1e-6)


def test_a_body_warms_up() -> None:
    """Modia.jl, test TestHeatTransfer; closed form."""
    result = simulate(
        model(
            ("hot.port", "wall.port_a"),
            ("wall.port_b", "body.port"),
            hot=FixedTemperature(T=393.15),
            wall=ThermalConductor(G=100.0),
            body=HeatCapacitor(C=200.0, T=293.15),
        ),
        15.0,
    )
    assert result["body.T"].final == pytest.approx(393.15 - 100 * exp(-7.5), rel=1e-13)
    assert result["body.T"].final == pytest.approx(393.09468783194814, rel=1e-5)


def test_an_insulated_rod_of_five_cells() -> None:
    """Modia.jl, insulated rod: conductances between the centres of cells, half a cell at the fixed end."""
    area, cells, C = 4e-4, 5, 4e-4 * 0.2 * 7500.0 * 450.0
    G = 74.0 * area / 0.2
    parts: dict[str, Component] = {f"c{k}": HeatCapacitor(C=C, T=293.15) for k in range(cells)}
    parts |= {f"g{k}": ThermalConductor(G=G) for k in range(1, cells)}
    ends = [("hot.port", "inlet.port_a"), ("inlet.port_b", "c0.port")]
    for k in range(1, cells):
        ends += [(f"c{k - 1}.port", f"g{k}.port_a"), (f"g{k}.port_b", f"c{k}.port")]
    result = simulate(
        model(*ends, hot=FixedTemperature(T=493.15), inlet=ThermalConductor(G=2 * G), **parts), 1e5
    )
    found = [result[f"c{k}.T"].final for k in range(cells)]
    coupling = np.diag(np.full(cells - 1, G), 1)
    oracle = HeatNetwork(
        C=np.full(cells, C),
        G=coupling + coupling.T,
        Ga=np.array([2 * G, 0, 0, 0, 0]),
        P=np.zeros(cells),
        Ta=493.15,
    )
    assert found == pytest.approx(oracle.temperatures(np.full(cells, 293.15), 1e5)[0], rel=1e-12)
    stored = [492.9629728925529, 492.607421697723, 492.30480548105595, 492.0850627579106, 491.9694736486912]
    assert found == pytest.approx(stored, rel=1e-5)


@pytest.mark.parametrize("force", [0.0, 2.0], ids=["free", "forced"])
def test_a_mass_on_spring_and_damper(force: float) -> None:
    """ModelingToolkitStandardLibrary.jl, TranslationalModelica; the wall is at 1, where the spring is at rest for s = 0."""
    result = simulate(
        model(
            ("mass.flange_b", "spring.flange_a", "damper.flange_a", "force.flange"),
            ("spring.flange_b", "damper.flange_b", "wall.flange"),
            ("source.y", "force.f"),
            mass=Mass(m=1.0, v=1.0),
            spring=Spring(c=1.0, s_rel0=1.0),
            damper=Damper(d=1.0),
            wall=Fixed(s0=1.0),
            source=Sine(amplitude=force, f=3.0),
            force=Force(),
        ),
        20.0,
    )
    w = 6 * pi
    A = np.array([[0, 1, 0, 0], [-1, -1, force, 0], [0, 0, 0, w], [0, 0, -w, 0]])
    t = np.linspace(15.0, 20.0, 2001)
    exact = np.array([(expm(A * s) @ [0.0, 1.0, 0.0, 1.0])[:2] for s in t[::100]])
    assert result["mass.s"].at(t[::100]) == pytest.approx(exact[:, 0], abs=1e-13)
    assert result["mass.v"].at(t[::100]) == pytest.approx(exact[:, 1], abs=1e-13)
    v = result["mass.v"].at(t)
    if force:
        assert -0.11 < v.min() < -0.1
        assert v.max() == pytest.approx(-v.min(), abs=1e-2)
        assert v.max() == pytest.approx(2 / abs(1j * w + 1 + 1 / (1j * w)), abs=2e-3)
    else:
        assert v[-1] == pytest.approx(0.0, abs=1e-4)


def test_two_bodies_share_their_heat() -> None:
    """ModelingToolkitStandardLibrary.jl, two heat capacities: the difference decays with exp(-2 t)."""
    result = simulate(
        model(
            ("a.port", "way.port_a"),
            ("way.port_b", "b.port"),
            a=HeatCapacitor(C=10.0, T=373.15),
            b=HeatCapacitor(C=10.0, T=273.15),
            way=ThermalConductor(G=10.0),
        ),
        3.0,
    )
    difference = result["a.T"].final - result["b.T"].final
    assert difference == pytest.approx(100 * exp(-6), rel=1e-9)
    assert result["a.T"].final + result["b.T"].final == pytest.approx(646.3, rel=1e-13)


# -- Pendulum: period and force of the rod ---------------------------------------------------------------------------


class AngularPendulum(Component):
    """A point mass on a rod of 1 m, in its angle."""

    phi: Variable = Variable()
    w: Variable = Variable()

    def equations(self):
        yield Eq(der(self.phi), self.w)
        yield Eq(der(self.w), -9.81 * sine(self.phi))


class CartesianPendulum(Component):
    """The same in Cartesian coordinates; `force` pulls along the rod."""

    x: Variable = Variable()
    y: Variable = Variable()
    vx: Variable = Variable()
    vy: Variable = Variable()
    force: Variable = Variable()

    def equations(self):
        yield Eq(der(self.x), self.vx)
        yield Eq(der(self.y), self.vy)
        yield Eq(der(self.vx), -self.force * self.x)
        yield Eq(der(self.vy), -self.force * self.y - 9.81)
        yield Eq(self.x**2 + self.y**2, 1.0)


@pytest.mark.parametrize("degrees", [5.0, 30.0, 60.0, 90.0])
@pytest.mark.parametrize("cartesian", [False, True], ids=["angle", "Cartesian"])
def test_pendulum_period(degrees: float, cartesian: bool) -> None:
    """At a quarter of the period, three quarters and so on it passes the lowest point."""
    angle = radians(degrees)
    period = 4 * sqrt(1 / 9.81) * float(ellipk(sin(angle / 2) ** 2))
    if cartesian:
        start = CartesianPendulum(x=sin(angle), y=-round(cos(angle), 15))
        path = "x"
    else:
        start, path = AngularPendulum(phi=angle), "phi"
    result = simulate(start, 5 * period, rtol=1e-9)
    lowest = zeros(result, path)
    assert len(lowest) == 10
    assert np.abs(lowest - (np.arange(10) + 0.5) * period / 2).max() <= 1e-7
    if cartesian:
        assert result["force"].at(lowest) == pytest.approx(np.full(10, 9.81 * (3 - 2 * cos(angle))), rel=1e-6)


def zeros(result: Result, path: str) -> np.ndarray:
    """Zeros of a smooth signal, by bisection to rounding."""
    from scipy.optimize import brentq

    signal = result[path]
    t = np.linspace(0.0, result.t_end, 401)
    values = signal.at(t)
    at = np.flatnonzero(values[:-1] * values[1:] < 0)
    return np.array([brentq(lambda s: float(signal.at(s)), t[k], t[k + 1], xtol=1e-14) for k in at])
