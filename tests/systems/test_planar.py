"""Planar mechanisms: a double pendulum, and closed loops that turn past their dead centres."""

from math import cos, pi

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from acausal import Circuit, Component, FrictionState, Result, Structural, connect, simulate
from acausal.components.planar import (
    Body,
    Fixed,
    FixedTranslation,
    Frame,
    Prismatic,
    Revolute,
    Rod,
    Spring,
    World,
)
from acausal.components.rotational import BearingFriction, ConstantSpeed, CoulombFriction, Damper, Inertia
from acausal.components.rotational import Fixed as Housing
from acausal.components.rotational import Spring as TorsionSpring
from tests.oracles.linkages import FourBar, SliderCrank
from tests.oracles.reference_data import load_case, requires_case

# -- open chain ------------------------------------------------------------------------------------------------------


class Bar(Component):
    """Steel bar of 0.5 m with a square cross section of 0.06 m."""

    def build(self) -> None:
        m = 7700 * 0.5 * 0.06**2
        self.half, self.whole = FixedTranslation(r=(0.25, 0.0)), FixedTranslation(r=(0.5, 0.0))
        self.body = Body(m=m, I=m * (0.5**2 + 0.06**2) / 12)
        self.frame_a, self.frame_b = Frame(), Frame()

    def equations(self):
        yield connect(self.frame_a, self.half.frame_a, self.whole.frame_a)
        yield connect(self.half.frame_b, self.body.frame_a)
        yield connect(self.frame_b, self.whole.frame_b)


class DoublePendulum(Component):
    """Two bars, the first joint damped, released level."""

    def build(self) -> None:
        self.world, self.revolute1, self.revolute2 = World(), Revolute(useAxisFlange=True), Revolute()
        self.bar1, self.bar2 = Bar(), Bar()
        self.damper, self.housing = Damper(d=0.1), Housing()

    def equations(self):
        yield connect(self.world.frame_b, self.revolute1.frame_a)
        yield connect(self.revolute1.frame_b, self.bar1.frame_a)
        yield connect(self.bar1.frame_b, self.revolute2.frame_a)
        yield connect(self.revolute2.frame_b, self.bar2.frame_a)
        yield connect(self.housing.flange, self.damper.flange_a)
        yield connect(self.damper.flange_b, self.revolute1.axis)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("links", [1, 2, 3])
def test_a_pendulum_with_friction_in_its_hinges_begins_after_few_searches(links: int) -> None:
    """The point beside start values, which are far from a mechanism, was sought 80 times although its mode was known."""
    model, angles, speeds = Circuit(), (0.3, -0.5, 0.4), (1.0, -2.0, 0.5)
    frame = model.add("world", World()).frame_b
    for k in range(links):
        joint = model.add(f"joint{k}", Revolute(useAxisFlange=True, phi=angles[k], w=speeds[k]))
        bar, housing = model.add(f"bar{k}", Bar()), model.add(f"housing{k}", Housing())
        beside = [CoulombFriction(tau_coulomb=0.5), Damper(d=0.1), TorsionSpring(c=3.0)]
        parts = [model.add(f"part{k}{j}", part) for j, part in enumerate(beside)]
        model.connect(frame, joint.frame_a)
        model.connect(joint.frame_b, bar.frame_a)
        model.connect(housing.flange, *(part.flange_a for part in parts))
        model.connect(joint.axis, *(part.flange_b for part in parts))
        frame = bar.frame_b
    result = simulate(model, 0.01)
    for k in range(links):
        assert result[f"joint{k}.phi"].at(0.0) == pytest.approx(angles[k], rel=1e-12)
        assert result[f"joint{k}.w"].at(0.0) == pytest.approx(speeds[k], rel=1e-12)
        assert result[f"part{k}0.tau"].at(0.0) == pytest.approx(0.5 * np.sign(speeds[k]), rel=1e-12)
    assert result.stats.searches < 10
    assert result.check().ok


@pytest.fixture(scope="module")
def double() -> Result:
    return simulate(DoublePendulum(), 3.0, rtol=1e-8)


@requires_case("msl_double_pendulum")
def test_double_pendulum_against_the_reference(double: Result) -> None:
    case = load_case("msl_double_pendulum")
    for path, column, tolerance in (
        ("revolute1.phi", "phi1", 1e-3),
        ("revolute2.phi", "phi2", 1e-3),
        ("revolute1.w", "w1", 2e-2),
        ("revolute2.w", "w2", 2e-2),
    ):
        np.testing.assert_allclose(double[path].at(case.time), case[column], atol=tolerance)


def test_double_pendulum_keeps_its_energy_but_for_the_damper(double: Result) -> None:
    t = np.linspace(0.0, 3.0, 61)
    m, J, g = 13.86, 13.86 * (0.25 + 0.0036) / 12, 9.80665
    energy = sum(
        m / 2 * (double[f"bar{n}.body.vx"].at(t) ** 2 + double[f"bar{n}.body.vy"].at(t) ** 2)
        + J / 2 * double[f"bar{n}.body.w"].at(t) ** 2
        + m * g * double[f"bar{n}.body.frame_a.y"].at(t)
        for n in (1, 2)
    )
    fine = np.linspace(0.0, 3.0, 6001)
    heat = 0.1 * double["revolute1.w"].at(fine) ** 2
    lost = np.concatenate([[0.0], np.cumsum((heat[:-2:2] + 4 * heat[1::2] + heat[2::2]) * 0.001 / 6)])
    np.testing.assert_allclose(energy, -lost[:: len(lost) // 60], atol=1e-5)


def test_double_pendulum_has_the_states_of_its_two_joints(double: Result) -> None:
    assert (double.modes[0].states, double.modes[0].index) == (4, 3)


# -- closed loops ----------------------------------------------------------------------------------------------------


class Engine(Component):
    """Slider-crank with flywheel, rod and piston, no gravity."""

    def build(self) -> None:
        self.world, self.flywheel = World(), Inertia(J=0.02)
        self.crank, self.arm = Revolute(useAxisFlange=True, phi=0.5, w=20.0), FixedTranslation(r=(0.1, 0.0))
        self.pin, self.wrist = Revolute(), Revolute()
        self.near, self.far = FixedTranslation(r=(0.15, 0.0)), FixedTranslation(r=(0.15, 0.0))
        self.rod, self.piston, self.slide = Body(m=0.5, I=0.004, g=0.0), Body(m=0.8, g=0.0), Prismatic()

    def equations(self):
        yield connect(self.world.frame_b, self.crank.frame_a, self.slide.frame_a)
        yield connect(self.crank.axis, self.flywheel.flange_a)
        yield connect(self.crank.frame_b, self.arm.frame_a)
        yield connect(self.arm.frame_b, self.pin.frame_a)
        yield connect(self.pin.frame_b, self.near.frame_a)
        yield connect(self.near.frame_b, self.rod.frame_a, self.far.frame_a)
        yield connect(self.far.frame_b, self.wrist.frame_a)
        yield connect(self.wrist.frame_b, self.slide.frame_b, self.piston.frame_a)


def test_slider_crank_turns_past_its_dead_centres() -> None:
    oracle = SliderCrank(r=0.1, length=0.3, J=0.02, m=0.5, inertia_of_rod=0.004, M=0.8)
    result = simulate(Engine(), 2.0, rtol=1e-9)
    t = np.linspace(0.0, 2.0, 2001)
    phi, s = result["crank.phi"].at(t), result["slide.s"].at(t)
    assert phi[-1] > 12 * pi
    np.testing.assert_allclose(s, oracle.piston(phi), atol=1e-14)
    np.testing.assert_allclose(phi, oracle.angle(0.5, 20.0, t), atol=1e-6)


class Linkage(Component):
    """Four-bar linkage, crank-rocker, with a flywheel; the coupler is a rod, or a body between two hinges."""

    massless: Structural[bool] = Structural(bool, default=True, doc="True: the coupler is a rod")

    def build(self) -> None:
        self.world, self.pivot, self.flywheel = World(), Fixed(r=(0.4, 0.0)), Inertia(J=0.05)
        self.crank, self.arm = Revolute(useAxisFlange=True, phi=0.7, w=10.0), FixedTranslation(r=(0.1, 0.0))
        self.rocker, self.lever, self.body = Revolute(), FixedTranslation(r=(0.25, 0.0)), Body(m=1.0, I=0.01)
        if self.massless:
            self.coupler = Rod(L=0.35)
        else:
            self.hinge_a, self.hinge_b, self.middle = Revolute(), Revolute(), Body(m=0.3, I=0.003)
            self.near, self.far = FixedTranslation(r=(0.175, 0.0)), FixedTranslation(r=(0.175, 0.0))

    def equations(self):
        yield connect(self.world.frame_b, self.crank.frame_a)
        yield connect(self.crank.axis, self.flywheel.flange_a)
        yield connect(self.crank.frame_b, self.arm.frame_a)
        yield connect(self.pivot.frame_b, self.rocker.frame_a)
        yield connect(self.rocker.frame_b, self.lever.frame_a, self.body.frame_a)
        if self.massless:
            yield connect(self.arm.frame_b, self.coupler.frame_a)
            yield connect(self.lever.frame_b, self.coupler.frame_b)
        else:
            yield connect(self.arm.frame_b, self.hinge_a.frame_a)
            yield connect(self.hinge_a.frame_b, self.near.frame_a)
            yield connect(self.near.frame_b, self.middle.frame_a, self.far.frame_a)
            yield connect(self.far.frame_b, self.hinge_b.frame_a)
            yield connect(self.hinge_b.frame_b, self.lever.frame_b)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    "massless, side", [(True, 1), (True, -1), (False, 1)], ids=["rod above", "rod below", "body above"]
)
def test_four_bar_linkage_turns_in_either_assembly(massless: bool, side: int) -> None:
    """The rocker passes its two dead centres in each turn; the loop closes to rounding."""
    oracle = FourBar(a=0.1, b=0.35, c=0.25, d=0.4)
    begin = float(oracle.rocker(np.array([0.7]), side)[0])
    result = simulate(Linkage(massless=massless), 3.0, initial={"body.frame_a.phi": begin})
    t = np.linspace(0.0, 3.0, 1501)
    phi, psi = result["crank.phi"].at(t), result["rocker.phi"].at(t)
    assert abs(phi[-1] - phi[0]) > 8 * pi
    np.testing.assert_allclose(psi, oracle.rocker(phi, side), atol=1e-12)
    gap = (
        np.hypot(0.4 + 0.25 * np.cos(psi) - 0.1 * np.cos(phi), 0.25 * np.sin(psi) - 0.1 * np.sin(phi)) - 0.35
    )
    assert np.abs(gap).max() < 1e-14


class Press(Component):
    """A crank at constant speed moves a piston by a massless rod."""

    def build(self) -> None:
        self.world, self.drive = World(), ConstantSpeed(w_fixed=10.0)
        self.crank, self.arm = Revolute(useAxisFlange=True), FixedTranslation(r=(0.1, 0.0))
        self.rod, self.slide, self.piston = Rod(L=0.3), Prismatic(), Body(m=2.0)

    def equations(self):
        yield connect(self.world.frame_b, self.crank.frame_a, self.slide.frame_a)
        yield connect(self.drive.flange, self.crank.axis)
        yield connect(self.crank.frame_b, self.arm.frame_a)
        yield connect(self.arm.frame_b, self.rod.frame_a)
        yield connect(self.rod.frame_b, self.slide.frame_b, self.piston.frame_a)


def test_a_driven_slider_crank_has_the_forces_of_its_accelerations() -> None:
    """At the dead centres ``a = -w**2 * r * (1 +- r / l)``, and the rod lies along the slide."""
    result = simulate(Press(), 1.0)
    t = np.arange(0.0, 1.0, 0.1 * pi)
    outer, inner = t[::2], t[1::2]
    assert result["slide.s"].at(outer) == pytest.approx(np.full(len(outer), 0.4), rel=1e-9)
    assert result["slide.s"].at(inner) == pytest.approx(np.full(len(inner), 0.2), rel=1e-9)
    # The piston has the weight on the slide, not on the rod.
    assert result["rod.f"].at(outer) == pytest.approx(
        2.0 * 100.0 * 0.1 * (1 + 1 / 3) * np.ones(len(outer)), rel=1e-6
    )
    assert result["rod.f"].at(inner) == pytest.approx(
        -2.0 * 100.0 * 0.1 * (1 - 1 / 3) * np.ones(len(inner)), rel=1e-6
    )


# -- with ideal friction ---------------------------------------------------------------------------------------------


class Sticking(Component):
    """A pendulum in a bearing with dry friction."""

    def build(self) -> None:
        self.world, self.hinge = World(), Revolute(useAxisFlange=True, phi=1.2)
        self.arm, self.body = FixedTranslation(r=(0.0, -0.5)), Body(m=2.0, I=0.1)
        self.bearing = BearingFriction(tau_coulomb=2.0, tau_breakaway=2.0)

    def equations(self):
        yield connect(self.world.frame_b, self.hinge.frame_a)
        yield connect(self.hinge.frame_b, self.arm.frame_a)
        yield connect(self.arm.frame_b, self.body.frame_a)
        yield connect(self.hinge.axis, self.bearing.flange_a)


def test_a_pendulum_with_dry_friction_comes_to_rest_off_the_vertical() -> None:
    """From turn to turn ``m g L (cos(b) - cos(a)) = tau * (|a| + |b|)``; it stays where the weight is below the friction."""
    from scipy.optimize import brentq

    weight, turns = 2.0 * 9.80665 * 0.5, [1.2]
    while weight * np.sin(abs(turns[-1])) > 2.0:
        a = abs(turns[-1])
        b = brentq(lambda x, a=a: weight * (cos(x) - cos(a)) - 2.0 * (a + x), -a * (1 - 1e-6), a, xtol=1e-14)
        turns.append(-np.sign(turns[-1]) * b)
    result = simulate(Sticking(), 5.0, rtol=1e-9)
    assert result["bearing.state"].final == FrictionState.STICK.value
    assert result["hinge.phi"].final == pytest.approx(turns[-1], abs=1e-7)
    assert result["hinge.w"].at([4.0, 5.0]) == pytest.approx([0.0, 0.0], abs=1e-15)


def test_rounding_is_not_resolved() -> None:
    """Along a slanted guide forces across it are zero but for rounding, which needs no points of its own."""
    circuit = Circuit()
    world, slide = circuit.add("world", World()), circuit.add("slide", Prismatic(n=(0.6, 0.8), s=1.5))
    spring = circuit.add("spring", Spring(c=50.0, s_unstretched=1.0))
    body = circuit.add("body", Body(m=2.0, g=0.0))
    circuit.connect(world.frame_b, slide.frame_a, spring.frame_a)
    circuit.connect(slide.frame_b, spring.frame_b, body.frame_a)
    result = simulate(circuit, 2.0)
    assert np.abs(result["slide.frame_b.fx"].values).max() < 1e-12
    assert len(result.t) < 500


def test_a_point_mass_on_an_arm_is_a_pendulum() -> None:
    """Without inertia the angular acceleration follows from the position alone, differentiated twice."""
    circuit = Circuit()
    world, hinge = circuit.add("world", World()), circuit.add("hinge", Revolute(phi=1.0))
    arm, body = circuit.add("arm", FixedTranslation(r=(0.0, -1.0))), circuit.add("body", Body(m=2.0))
    circuit.connect(world.frame_b, hinge.frame_a)
    circuit.connect(hinge.frame_b, arm.frame_a)
    circuit.connect(arm.frame_b, body.frame_a)
    result = simulate(circuit, 3.0, rtol=1e-9)
    t = np.linspace(0.0, 3.0, 31)
    exact = solve_ivp(
        lambda _, y: [y[1], -9.80665 * np.sin(y[0])],
        (0.0, 3.0),
        [1.0, 0.0],
        "DOP853",
        t,
        rtol=1e-12,
        atol=1e-12,
    )
    assert np.abs(result["hinge.phi"].at(t) - exact.y[0]).max() < 1e-7
