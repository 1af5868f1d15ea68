"""Mechanisms in Cartesian coordinates: constraints of index 3, held over long runs."""

from collections.abc import Iterator

import numpy as np
import pytest

from acausal import (
    Circuit,
    Component,
    Eq,
    Parameter,
    Result,
    Statement,
    Structural,
    Variable,
    compile_model,
    connect,
    cos,
    der,
    simulate,
    sin,
    time,
)
from acausal.components.electrical import Capacitor, Resistor, SineVoltage
from acausal.components.planar import Body, FixedTranslation, Revolute, World
from acausal.components.rotational import ConstantTorque, Damper, Inertia
from acausal.components.rotational import Fixed as Housing
from tests.oracles.linkages import FourBar
from tests.oracles.mechanisms import Crank, double_pendulum, moving_support, turning_pendulum
from tests.systems.circuits import circuit
from tests.systems.mechanism_models import Bob, G, Linkage


class Pendulum(Bob):
    """On a rod."""

    def equations(self) -> Iterator[Statement]:
        yield from self.newton()
        yield Eq(self.push, 0)
        yield Eq(self.x**2 + self.y**2, 1)


def quiet(result: Result) -> bool:
    """Nothing happened after the start."""
    return [e.kind for e in result.events if e.t > 0.0] == []


# -- pendulum --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def turning() -> Result:
    return simulate(Pendulum(x=1.0, y=0.0, vy=-5.0), 40.0, rtol=1e-9)


def test_a_pendulum_keeps_its_rod_and_its_energy_through_many_turns(turning: Result) -> None:
    t = np.concatenate([turning.t[::5], np.random.default_rng(1).uniform(0.0, 40.0, 2000)])
    x, y = turning["x"].at(t), turning["y"].at(t)
    vx, vy = turning["vx"].at(t), turning["vy"].at(t)
    assert np.abs(x**2 + y**2 - 1.0).max() < 1e-12
    assert np.abs(x * vx + y * vy).max() < 1e-12
    kinetic = 0.5 * (vx**2 + vy**2)
    assert np.abs(kinetic + G * y - 12.5).max() < 1e-6 * kinetic.max()
    assert quiet(turning)


def test_a_pendulum_turns_as_the_elliptic_function_says(turning: Result) -> None:
    t = np.linspace(0.0, 40.0, 401)
    phi = turning_pendulum(np.pi / 2, -5.0, G, t)
    assert abs(phi[-1] - phi[0]) > 72.0 * np.pi / 3.0
    close = t <= 10.0
    np.testing.assert_allclose(turning["x"].at(t[close]), np.sin(phi[close]), atol=3e-7)
    # The phase grows with the square of the time as long as the energy drifts.
    np.testing.assert_allclose(turning["x"].at(t), np.sin(phi), atol=5e-5)
    np.testing.assert_allclose(turning["y"].at(t), -np.cos(phi), atol=5e-5)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_both_methods_integrate_a_pendulum(method: str) -> None:
    result = simulate(Pendulum(x=1.0, y=0.0, vy=-5.0), 5.0, rtol=1e-9, method=method)
    t = np.linspace(0.0, 5.0, 101)
    np.testing.assert_allclose(result["x"].at(t), np.sin(turning_pendulum(np.pi / 2, -5.0, G, t)), atol=1e-6)


def test_the_default_method_makes_the_steps_of_the_explicit_one() -> None:
    program = compile_model(Pendulum(x=1.0, y=0.0, vy=-5.0))
    one, two = (program.simulate(3.0, method=method) for method in ("auto", "explicit"))
    t = np.linspace(0.0, 3.0, 50)
    assert (one["vx"].at(t) == two["vx"].at(t)).all()


def test_a_sweep_over_start_values_makes_the_functions_of_a_mode_once() -> None:
    program = compile_model(Pendulum(x=1.0, y=0.0))
    made = []
    for speed in (-5.0, -3.0, 0.0, 4.0):
        program.simulate(0.01, initial={"vy": speed})
        made.append(len(program.nonlinear_functions._compiled))
    assert made[0] == made[-1] > 0


class Double(Component):
    """Two masses on rods of length one, in Cartesian coordinates."""

    xa: Variable = Variable(start=1.0)
    ya: Variable = Variable()
    xb: Variable = Variable(start=2.0)
    yb: Variable = Variable()
    ua: Variable = Variable()
    va: Variable = Variable()
    ub: Variable = Variable()
    vb: Variable = Variable()
    S: Variable = Variable()
    T: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        dx, dy = self.xb - self.xa, self.yb - self.ya
        for x, v in ((self.xa, self.ua), (self.ya, self.va), (self.xb, self.ub), (self.yb, self.vb)):
            yield Eq(der(x), v)
        yield Eq(der(self.ua), -self.S * self.xa + self.T * dx)
        yield Eq(der(self.va), -self.S * self.ya + self.T * dy - G)
        yield Eq(der(self.ub), -self.T * dx)
        yield Eq(der(self.vb), -self.T * dy - G)
        yield Eq(self.xa**2 + self.ya**2, 1)
        yield Eq(dx**2 + dy**2, 1)


def test_double_pendulum_in_cartesian_coordinates() -> None:
    result = simulate(Double(), 5.0, rtol=1e-10)
    t = np.linspace(0.0, 5.0, 401)
    a, b, *_ = double_pendulum([np.pi / 2, np.pi / 2, 0.0, 0.0], G, t)
    np.testing.assert_allclose(result["xa"].at(t), np.sin(a), atol=1e-6)
    np.testing.assert_allclose(result["yb"].at(t), -np.cos(a) - np.cos(b), atol=1e-6)
    dx, dy = result["xb"].at(t) - result["xa"].at(t), result["yb"].at(t) - result["ya"].at(t)
    assert np.abs(dx**2 + dy**2 - 1.0).max() < 1e-12
    assert (result.modes[0].states, result.modes[0].index) == (4, 3)


class Shaken(Component):
    """A pendulum whose support moves as it is told: the constraint depends on time."""

    omega: Parameter = Parameter(default=4.0)
    x: Variable = Variable()
    y: Variable = Variable(start=-1.0)
    vx: Variable = Variable(start=1.0)
    vy: Variable = Variable()
    T: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        support = 0.3 * sin(self.omega * time)
        yield Eq(der(self.x), self.vx)
        yield Eq(der(self.y), self.vy)
        yield Eq(der(self.vx), -self.T * (self.x - support))
        yield Eq(der(self.vy), -self.T * self.y - G)
        yield Eq((self.x - support) ** 2 + self.y**2, 1)


def test_pendulum_on_a_moving_support() -> None:
    result = simulate(Shaken(), 6.0, rtol=1e-10)
    t = np.linspace(0.0, 6.0, 301)
    phi, _ = moving_support([0.0, 1.0 - 1.2], G, 0.3, 4.0, t)
    np.testing.assert_allclose(result["x"].at(t) - 0.3 * np.sin(4.0 * t), np.sin(phi), atol=1e-7)
    np.testing.assert_allclose(result["y"].at(t), -np.cos(phi), atol=1e-7)


# -- closed loops ----------------------------------------------------------------------------------------------------


class SliderCrank(Component):
    """Mass at the pin of a crank of 0.1 m, massless rod of 0.3 m, piston; free under gravity, or at constant speed."""

    driven: Structural[bool] = Structural(bool, default=False)
    omega: Parameter = Parameter(default=10.0)
    x: Variable = Variable(start=0.1)
    y: Variable = Variable()
    vx: Variable = Variable()
    vy: Variable = Variable()
    s: Variable = Variable(start=0.4)
    v: Variable = Variable()
    crank: Variable = Variable()
    rod: Variable = Variable()
    torque: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        dx = self.s - self.x
        yield Eq(der(self.x), self.vx)
        yield Eq(der(self.y), self.vy)
        yield Eq(der(self.s), self.v)
        yield Eq(2.0 * der(self.vx), -self.crank * self.x + self.rod * dx - self.torque * self.y)
        yield Eq(
            2.0 * der(self.vy), -self.crank * self.y - self.rod * self.y - 2.0 * G + self.torque * self.x
        )
        yield Eq(0.5 * der(self.v), -self.rod * dx)
        yield Eq(dx**2 + self.y**2, 0.3**2)
        if self.driven:
            yield Eq(self.x, 0.1 * cos(self.omega * time))
            yield Eq(self.y, 0.1 * sin(self.omega * time))
        else:
            yield Eq(self.x**2 + self.y**2, 0.1**2)
            yield Eq(self.torque, 0)


def loop_gap(result: Result, t: np.ndarray) -> float:
    x, y, s = (result[name].at(t) for name in ("x", "y", "s"))
    return float(max(np.abs(np.hypot(x, y) - 0.1).max(), np.abs(np.hypot(s - x, y) - 0.3).max()))


def test_a_slider_crank_falls_and_swings_past_its_dead_centres() -> None:
    oracle = Crank(r=0.1, l=0.3, m=2.0, M=0.5, g=G)
    result = simulate(SliderCrank(vy=3.0), 1.0, rtol=1e-9)
    t = np.linspace(0.0, 1.0, 501)
    phi, _ = oracle.motion(0.0, 30.0, t)
    assert phi[-1] > 8.0 * np.pi
    np.testing.assert_allclose(result["y"].at(t), 0.1 * np.sin(phi), atol=1e-6)
    np.testing.assert_allclose(result["s"].at(t), oracle.piston(phi), atol=1e-6)
    assert loop_gap(result, np.concatenate([t, result.t])) < 1e-10
    assert quiet(result)


def test_a_slider_crank_oscillates_about_its_lowest_point() -> None:
    """Both dead centres of the crank are passed in either direction."""
    oracle = Crank(r=0.1, l=0.3, m=2.0, M=0.5, g=G)
    result = simulate(SliderCrank(vy=0.5), 2.0, rtol=1e-9)
    t = np.linspace(0.0, 2.0, 401)
    phi, _ = oracle.motion(0.0, 5.0, t)
    assert phi.min() < -np.pi and phi.max() > 0.0
    np.testing.assert_allclose(result["x"].at(t), 0.1 * np.cos(phi), atol=1e-7)
    assert loop_gap(result, t) < 1e-10


def test_a_slider_crank_at_constant_speed() -> None:
    """Nothing is left to integrate: position, speed and force follow from the angle."""
    oracle = Crank(r=0.1, l=0.3, m=2.0, M=0.5, g=G)
    result = simulate(SliderCrank(driven=True), 2.0, rtol=1e-9)
    t = np.linspace(0.0, 2.0, 501)
    assert loop_gap(result, t) < 1e-10
    np.testing.assert_allclose(result["s"].at(t), oracle.piston(10.0 * t), atol=1e-14)
    force = -result["rod"].at(t) * (result["s"].at(t) - result["x"].at(t))
    np.testing.assert_allclose(force, oracle.piston_force(10.0 * t, 10.0), atol=1e-10)
    assert result.modes[0].states == 0


def assembled(phi: float, speed: float, shape: FourBar, side: int) -> dict[str, float]:
    """Start values for an angle and a speed of the crank."""
    step = 1e-6
    psi, ahead, behind = shape.rocker(np.array([phi, phi + step, phi - step]), side)
    turning = speed * (ahead - behind) / (2 * step)
    a, c = shape.a, shape.c
    return {
        "x": a * np.cos(phi), "y": a * np.sin(phi), "dx": -a * speed * np.sin(phi), "dy": a * speed * np.cos(phi),
        "u": shape.d + c * np.cos(psi), "v": c * np.sin(psi),
        "du": -c * turning * np.sin(psi), "dv": c * turning * np.cos(psi),
    }  # fmt: skip


@pytest.mark.sweep(every=3)
@pytest.mark.filterwarnings("ignore:given starts contradict")
@pytest.mark.parametrize("side", [1, -1])
def test_a_free_four_bar_linkage_turns_over(side: int) -> None:
    """No forces but those of the rods: the kinetic energy stays, and the rocker follows the crank."""
    shape = FourBar(a=0.1, b=0.35, c=0.25, d=0.4)
    result = simulate(Linkage(**assembled(0.7, 20.0, shape, side)), 2.0, rtol=1e-9)
    t = np.concatenate([np.linspace(0.0, 2.0, 1501), result.t])
    x, y, u, v = (result[name].at(t) for name in "xyuv")
    phi = np.unwrap(np.arctan2(y, x)[:1501])
    assert phi[-1] - phi[0] > 8 * np.pi
    psi = np.unwrap(np.arctan2(v, u - 0.4)[:1501])
    np.testing.assert_allclose(np.exp(1j * psi), np.exp(1j * shape.rocker(phi, side)), atol=1e-12)
    assert np.abs(np.hypot(u - x, v - y) - 0.35).max() < 1e-10
    energy = np.sum([result[name].at(t) ** 2 for name in ("dx", "dy", "du", "dv")], axis=0)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-6)
    assert quiet(result)


# -- linear constraints ------------------------------------------------------------------------------------------------


def test_three_rigidly_joined_inertias_need_no_rewriting() -> None:
    parts = Circuit()
    torque, load = parts.add("torque", ConstantTorque(tau_constant=6.0)), parts.add("load", Damper(d=0.5))
    shaft = [parts.add(f"j{k}", Inertia(J=float(k))) for k in (1, 2, 3)]
    wall = parts.add("wall", Housing())
    parts.connect(torque.flange, shaft[0].flange_a)
    for one, two in zip(shaft, shaft[1:], strict=False):
        parts.connect(one.flange_b, two.flange_a)
    parts.connect(shaft[2].flange_b, load.flange_a)
    parts.connect(load.flange_b, wall.flange)
    result = simulate(parts, 20.0)
    t = np.linspace(0.0, 20.0, 101)
    speed, rate = 12.0 * (1 - np.exp(-t / 12.0)), np.exp(-t / 12.0)
    assert (result.modes[0].path, result.modes[0].states) == ("exact", 2)
    for k in (1, 2, 3):
        np.testing.assert_allclose(result[f"j{k}.w"].at(t), speed, atol=1e-12)
    np.testing.assert_allclose(result["j2.flange_a.tau"].at(t), 6.0 - rate, atol=1e-12)


def test_two_capacitors_at_a_source_need_no_rewriting() -> None:
    model = circuit(
        ("source", SineVoltage(V=10.0, f=50.0, phase=np.pi / 2), "a", "0"),
        ("one", Capacitor(C=1e-6), "a", "0"),
        ("two", Capacitor(C=3e-6), "a", "0"),
        ("load", Resistor(R=1e3), "a", "0"),
    )
    result = simulate(model, 0.04)
    t = np.linspace(0.0, 0.04, 101)
    w = 2 * np.pi * 50.0
    assert (result.modes[0].path, result.modes[0].states) == ("exact", 0)
    np.testing.assert_allclose(result["two.i"].at(t), -3e-6 * 10.0 * w * np.sin(w * t), atol=1e-13)
    expected = 4e-6 * 10.0 * w * np.sin(w * t) - 10e-3 * np.cos(w * t)
    np.testing.assert_allclose(result["source.i"].at(t), expected, atol=1e-13)


# -- energy ----------------------------------------------------------------------------------------------------------


class Falling(Component):
    """A body on an arm with a damped hinge, of the library of planar mechanics."""

    def build(self) -> None:
        self.world, self.hinge, self.housing = World(), Revolute(useAxisFlange=True, phi=1.2), Housing()
        self.arm, self.body, self.damper = FixedTranslation(r=(0.5, 0.0)), Body(m=2.0, I=0.1), Damper(d=0.4)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.world.frame_b, self.hinge.frame_a)
        yield connect(self.hinge.frame_b, self.arm.frame_a)
        yield connect(self.arm.frame_b, self.body.frame_a)
        yield connect(self.housing.flange, self.damper.flange_a)
        yield connect(self.damper.flange_b, self.hinge.axis)


def test_an_audit_needs_few_points_where_powers_cancel() -> None:
    """The arm takes no power: what its terms leave is error of the steps, and not to be resolved."""
    result = simulate(Falling(), 2.0, rtol=1e-8)
    segment = result.segments.all[-1]
    asked: list[int] = []
    sample = segment.trajectory.sample
    segment.trajectory.sample = lambda hs: (asked.append(len(hs)), sample(hs))[1]  # type: ignore[method-assign]
    audit = result.audit()
    edges = len(segment.trajectory.edges(0.0, 2.0))
    assert sum(asked) <= 21 * 3 * edges
    height, speed = result["body.frame_a.y"].at([0.0, 2.0]), result["hinge.w"].final
    stored = 2.0 * 9.80665 * (height[1] - height[0]) + 0.5 * (2.0 * 0.25 + 0.1) * speed**2
    assert audit.into("body") == pytest.approx(stored, rel=1e-7)
    assert audit.into("damper") == pytest.approx(-stored, rel=1e-7)
    assert audit.into("arm") == pytest.approx(0.0, abs=1e-8)
