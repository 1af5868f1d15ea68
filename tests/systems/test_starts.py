"""Starts of whole models: what is given holds, what is left open follows, and the result tells which is which."""

from collections.abc import Iterator
from math import cos, pi, sin
from typing import Any

import numpy as np
import pytest

from acausal import (
    Component,
    Eq,
    InitializationError,
    Parameter,
    Result,
    Start,
    Statement,
    Structural,
    Variable,
    compile_model,
    connect,
    der,
    initially,
    simulate,
)
from acausal.components.planar import Body, Fixed, FixedTranslation, Prismatic, Revolute, World
from acausal.components.rotational import (
    ConstantSpeed,
    IdealGear,
    IdealRollingWheel,
    Inertia,
    Spring,
    Torque,
)
from tests.oracles.linkages import FourBar
from tests.systems.test_planar import Linkage


class Decay(Component):
    x: Variable = Variable()
    w: Variable = Variable()
    p: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), -self.x)
        yield Eq(self.w, 2 * self.x + 1)
        yield Eq(self.p, self.x**3 + self.x)


class Prescribed(Decay):
    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield initially(Eq(self.x, 3))


class Squared(Decay):
    """At the default start the initial equation has no slope."""

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield initially(Eq(self.x**2, 4))


def test_an_initial_equation_wins_over_a_given_start() -> None:
    with pytest.warns(UserWarning, match="moves `x` from 2 to 3"):
        result = simulate(Prescribed(x=2.0), 1.0)
    assert result["x"].at(0.0) == 3.0
    assert result.initial.reason("x").startswith("initially at Prescribed (test_starts.py:")


def test_an_initial_equation_without_slope_at_the_start() -> None:
    with pytest.warns(UserWarning, match="which of several points is meant"):
        assert abs(simulate(Squared(), 1.0)["x"].at(0.0)) == pytest.approx(2.0, rel=1e-12)
    with pytest.warns(UserWarning, match="moves `x` from -1 to -2"):
        assert simulate(Squared(x=-1.0), 1.0)["x"].at(0.0) == pytest.approx(-2.0, rel=1e-12)


def test_initial_equations_that_contradict_are_both_named() -> None:
    class Twice(Prescribed):
        def equations(self) -> Iterator[Statement]:
            yield from super().equations()
            yield initially(Eq(self.w, 5))

    with pytest.raises(InitializationError, match=r"Eq\(x, 3\), Eq\(w, 5\) cannot all hold") as info:
        simulate(Twice(), 1.0)
    assert [place.file.endswith("test_starts.py") for place in info.value.where] == [True, True]
    assert len({place.line for place in info.value.where}) == 2


@pytest.mark.parametrize(("name", "value"), [("w", 5.0), ("p", 10.0)], ids=["affine", "nonlinear"])
def test_values_of_computed_variables_determine_the_state(name: str, value: float) -> None:
    result = simulate(Decay(), 1.0, initial={name: value})
    assert result["x"].at(0.0) == pytest.approx(2.0, rel=1e-9)
    assert result.initial.reason(name) == "initial="
    assert result.initial.reason("x") == "follows from the equations"
    assert simulate(Decay(**{name: value}), 1.0)["x"].at(0.0) == pytest.approx(2.0, rel=1e-9)


def test_the_start_of_a_computed_variable_is_a_guess_for_newton() -> None:
    class Roots(Component):
        a: Variable = Variable()
        b: Variable = Variable()
        x: Variable = Variable()

        def equations(self) -> Iterator[Statement]:
            yield Eq(der(self.x), -self.x)
            yield Eq(self.b, 2 * self.a + 1)
            yield Eq((self.a - 1) * (self.a - 5) * (self.a + 10), 0)

    for near, root in ((0.6, 1.0), (4.0, 5.0), (-12.0, -10.0)):
        assert simulate(Roots(a=near), 1.0)["a"].at(0.0) == pytest.approx(root)
        assert simulate(Roots(b=2 * near + 1), 1.0)["a"].at(0.0) == pytest.approx(root)


# -- mechanisms ------------------------------------------------------------------------------------------------------


class Pendulum(Component):
    """A body on a crank of 1 m."""

    start: Structural[tuple] = Structural(tuple, default=(), doc="Starts of the hinge")

    def build(self) -> None:
        self.world, self.hinge = World(), Revolute(**dict(self.start))
        self.arm, self.body = FixedTranslation(r=(1.0, 0.0)), Body(m=1.0, I=0.1)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.world.frame_b, self.hinge.frame_a)
        yield connect(self.hinge.frame_b, self.arm.frame_a)
        yield connect(self.arm.frame_b, self.body.frame_a)


def state(result: Result) -> list[float]:
    names = ("hinge.phi", "hinge.w", "body.frame_a.x", "body.frame_a.y", "body.vx", "body.vy")
    return [float(result[n].at(0.0)) for n in names]


def turned(phi: float, w: float) -> Any:
    return pytest.approx([phi, w, cos(phi), sin(phi), -w * sin(phi), w * cos(phi)], abs=1e-13)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("phi", [0.0, 0.5, 2.0, -3.0])
@pytest.mark.parametrize("w", [0.0, -7.0])
def test_a_pendulum_starts_as_its_hinge_says(phi: float, w: float) -> None:
    given = (("phi", phi), ("w", w))
    fixed = (("phi", Start(phi, fixed=True)), ("w", Start(w, fixed=True)))
    assert state(simulate(Pendulum(start=given), 1e-3)) == turned(phi, w)
    assert state(simulate(Pendulum(start=fixed), 1e-3)) == turned(phi, w)
    assert state(simulate(Pendulum(), 1e-3, initial={"hinge.phi": phi, "hinge.w": w})) == turned(phi, w)


class Bead(Component):
    """A point on a circle of radius 1 in Cartesian coordinates."""

    x: Variable = Variable()
    y: Variable = Variable()
    vx: Variable = Variable()
    vy: Variable = Variable()
    push: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), self.vx)
        yield Eq(der(self.y), self.vy)
        yield Eq(der(self.vx), self.push * self.x)
        yield Eq(der(self.vy), self.push * self.y - 9.81)
        yield Eq(self.x**2 + self.y**2, 1)


@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_position_and_speed_of_one_coordinate(y: float) -> None:
    with pytest.warns(UserWarning, match="moves `y`"):
        result = simulate(Bead(y=y), 1e-3, initial={"x": 0.6, "vx": 1.0})
    assert dict(result.initial) == pytest.approx(
        {"x": 0.6, "y": 0.8 * y, "vx": 1.0, "vy": -0.75 * y}, rel=1e-12
    )


@pytest.mark.parametrize("rates", [{}, {"vx": 0.8, "vy": 0.6}])
def test_redundant_given_starts_that_agree_hold_bit_by_bit(rates: dict[str, float]) -> None:
    wanted = {"x": 0.6, "y": -0.8, "vx": 0.0, "vy": 0.0} | rates
    assert dict(simulate(Bead(x=0.6, y=-0.8, **rates), 1e-3).initial) == pytest.approx(wanted, abs=1e-15)
    assert dict(simulate(Bead(), 1e-3, initial=wanted).initial) == pytest.approx(wanted, abs=1e-15)


def test_fixed_values_off_the_circle_are_named_with_the_equation() -> None:
    with pytest.raises(InitializationError, match="`x` = 0.6, `y` = -0.9 cannot all hold") as info:
        simulate(Bead(), 1e-3, initial={"x": 0.6, "y": -0.9})
    assert "`Eq(x**2 + y**2, 1)` of `Bead`" in info.value.why


class Guessed(Linkage):
    """A four-bar linkage whose rocker has a rough start."""

    rocker_at: Structural[float] = Structural(float, default=0.0, doc="Start of the rocker")

    def build(self) -> None:
        super().build()
        self.crank = Revolute(useAxisFlange=True, phi=Start(0.7, fixed=True), w=10.0)
        self.rocker = Revolute(phi=self.rocker_at)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("off", [-0.3, 0.2])
@pytest.mark.parametrize("massless", [True, False], ids=["rod", "body"])
def test_a_four_bar_linkage_takes_the_assembly_next_to_its_starts(
    side: int, off: float, massless: bool
) -> None:
    oracle = FourBar(a=0.1, b=0.35, c=0.25, d=0.4)
    angle = float(oracle.rocker(np.array([0.7]), side)[0])
    with pytest.warns(UserWarning, match=r"moves `rocker.phi`"):
        result = simulate(Guessed(massless=massless, rocker_at=angle + off), 1e-3)
    assert result["crank.phi"].at(0.0) == pytest.approx(0.7, abs=1e-13)
    assert result["crank.w"].at(0.0) == pytest.approx(10.0, rel=1e-12)
    assert result["rocker.phi"].at(0.0) == pytest.approx(angle, abs=1e-12)


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("L", [0.01, 1.0], ids=["short", "long"])
def test_a_coupler_that_cannot_close_the_loop_is_named_with_what_it_joins(L: float) -> None:
    """Ground, crank and rocker of 0.4, 0.1 and 0.25 m join over rods of 0.05 to 0.75 m only."""
    with pytest.raises(InitializationError, match="no start values were found") as info:
        simulate(Linkage(), 1e-3, parameters={"coupler.L": L})
    assert all(f"`{name}`" in info.value.what for name in ("coupler", "arm", "lever"))
    assert "lengths do not let it close" in info.value.hint
    assert [line.split(" `")[0] for line in info.value.what.splitlines()[1:]] == [
        "  begun at",
        "  last tried",
    ]


class Balanced(Component):
    """A pendulum on a cart that a wheel pulls: places of four parts follow from each other."""

    gains: Parameter = Parameter(default=(-0.35, -0.39, 2.1, 0.55), shape=(4,))

    def build(self) -> None:
        self.world, self.slide, self.cart = World(), Prismatic(useAxisFlange=True), Body(m=1.0)
        self.hinge, self.rod, self.bob = Revolute(), FixedTranslation(r=(0.0, 0.5)), Body(m=0.3, I=0.01)
        self.rotor, self.wheel = Inertia(J=1e-4), IdealRollingWheel(radius=0.03)
        state = (self.slide.s, self.slide.v, self.hinge.phi, self.hinge.w)
        self.push = Torque(tau=sum(gain * x for gain, x in zip(self.gains, state, strict=True)))

    def equations(self) -> Iterator[Statement]:
        yield connect(self.push.flange, self.rotor.flange_a)
        yield connect(self.rotor.flange_b, self.wheel.flangeR)
        yield connect(self.wheel.flangeT, self.slide.axis)
        yield connect(self.world.frame_b, self.slide.frame_a)
        yield connect(self.slide.frame_b, self.cart.frame_a, self.hinge.frame_a)
        yield connect(self.hinge.frame_b, self.rod.frame_a)
        yield connect(self.rod.frame_b, self.bob.frame_a)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("end", [0.001, 0.1, 0.3, 0.5, 0.7, 1.0, 8.0])
def test_a_start_does_not_depend_on_the_end(end: float) -> None:
    result = compile_model(Balanced()).simulate(end, rtol=1e-3, initial={"hinge.phi": 1e-4})
    assert result.initial["hinge.phi"] == 1e-4


class Guided(Component):
    """A bar on a hinge that slides upwards: what the joints say decides, not the places of the bar."""

    def build(self) -> None:
        self.world, self.guide, self.hinge = World(), Prismatic(n=(0.0, 1.0), s=0.5), Revolute()
        self.half, self.bar = FixedTranslation(r=(0.5, 0.0)), Body(m=1.0, I=0.1)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.world.frame_b, self.guide.frame_a)
        yield connect(self.guide.frame_b, self.hinge.frame_a)
        yield connect(self.hinge.frame_b, self.half.frame_a)
        yield connect(self.half.frame_b, self.bar.frame_a)


def test_defaults_of_joints_come_before_those_of_bodies() -> None:
    initial = simulate(Guided(), 1e-3).initial
    assert (initial["hinge.phi"], initial["bar.frame_a.x"]) == (0.0, 0.5)
    assert initial["bar.frame_a.y"] == pytest.approx(0.5, abs=1e-15)


def test_more_values_than_states_hold_where_they_agree() -> None:
    values = {"guide.s": 0.5, "bar.frame_a.x": 0.5, "bar.frame_a.y": 0.5, "hinge.phi": 0.0}
    initial = simulate(Guided(), 1e-3, initial=values).initial
    assert {path: initial[path] for path in values} == pytest.approx(values, abs=1e-15)


class Driven(Component):
    """A crank that turns at 10 rad/s moves a rocker; no joint of the loop has a start."""

    def build(self) -> None:
        self.left, self.right, self.drive = (
            World(),
            Fixed(r=(0.25, 0.0)),
            ConstantSpeed(w_fixed=10.0, phi=0.0),
        )
        self.pivot, self.crank = Revolute(useAxisFlange=True), FixedTranslation(r=(0.1, 0.0))
        self.joint, self.coupler, self.hinge = Revolute(), FixedTranslation(r=(0.25, 0.0)), Revolute()
        self.swing, self.rocker, self.body = Revolute(), FixedTranslation(r=(0.2, 0.0)), Body(m=1.0, I=0.02)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.left.frame_b, self.pivot.frame_a)
        yield connect(self.drive.flange, self.pivot.axis)
        yield connect(self.pivot.frame_b, self.crank.frame_a)
        yield connect(self.crank.frame_b, self.joint.frame_a)
        yield connect(self.joint.frame_b, self.coupler.frame_a)
        yield connect(self.coupler.frame_b, self.hinge.frame_a)
        yield connect(self.right.frame_b, self.swing.frame_a)
        yield connect(self.swing.frame_b, self.rocker.frame_a, self.body.frame_a)
        yield connect(self.rocker.frame_b, self.hinge.frame_b)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("end", [1e-3, 0.2, pi / 5])
def test_a_linkage_without_starts_closes_within_half_a_turn(end: float) -> None:
    """Its triangle of 0.15, 0.2 and 0.25 has a right angle between base and rocker."""
    with pytest.warns(UserWarning, match="which of several points"):
        initial = compile_model(Driven()).simulate(end, rtol=1e-3).initial
    assert abs(initial["swing.phi"]) == pytest.approx(pi / 2, abs=1e-12)
    assert abs(initial["joint.phi"]) == pytest.approx(np.arccos(0.15 / 0.25), abs=1e-12)


# -- steady state ----------------------------------------------------------------------------------------------------


def test_the_result_tells_where_every_value_comes_from() -> None:
    initial = simulate(Pendulum(start=(("phi", 0.5),)), 1e-3, initial={"body.vy": 1.0}).initial
    assert initial.reason("body.vy") == "initial="
    assert initial.reason("hinge.phi") == "given start"
    assert initial.reason("body.frame_a.x") == "follows from the equations"
    lines = str(initial).splitlines()
    assert len(lines) == len(initial.entries)
    assert lines[0].split() == ["hinge.phi", "=", "0.5", "rad", "given", "start"]


def test_warnings_of_the_start_point_at_the_line_that_runs() -> None:
    with pytest.warns(UserWarning, match="contradict") as caught:
        simulate(Driven(), 1e-3, initial={"pivot.phi": 0.5})
    assert {w.filename for w in caught} == {__file__}


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("speed", [1e-13, -3e-15, 1e-17])
def test_rounding_of_a_speed_at_the_end_of_a_run_is_no_contradiction(speed: float) -> None:
    """All speeds of a bar at rest on its hinge are zero; the next run begins with what is left of them."""
    final = {
        path: (value if abs(value) > 1e-9 else speed) for path, value in simulate(Guided(), 0.3).final.items()
    }
    assert simulate(Guided(), 0.1, initial=final).initial["guide.s"] == final["guide.s"]


class TwoWays(Component):
    """Two inertias joined by two gears of different ratios, and a gear beside them that is at odds with nothing."""

    def build(self) -> None:
        self.double, self.triple, self.other = (
            IdealGear(ratio=2.0),
            IdealGear(ratio=3.0),
            IdealGear(ratio=5.0),
        )
        self.fast, self.slow, self.behind = Inertia(J=1.0, w=1.0), Inertia(J=1.0), Inertia(J=1.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.double.flange_a, self.triple.flange_a, self.fast.flange_a)
        yield connect(self.double.flange_b, self.triple.flange_b, self.slow.flange_a)
        yield connect(self.slow.flange_b, self.other.flange_a)
        yield connect(self.other.flange_b, self.behind.flange_a)


def test_what_leaves_no_room_to_a_given_start_is_named() -> None:
    """``w_fast = 2 w_slow = 3 w_slow`` holds at rest alone."""
    with pytest.warns(
        UserWarning,
        match="`fast.w` from 1 to 0 at the start; the equations of `double`, `triple` leave no other",
    ):
        result = simulate(TwoWays(), 1.0)
    assert [result[name].final for name in ("fast.w", "slow.w", "behind.w")] == [0.0, 0.0, 0.0]


class SelfBound(Component):
    """The same at odds within the equations of the model: one speed is twice and three times the other."""

    v: Variable = Variable(start=0.0)
    w: Variable = Variable(start=0.0)
    force, reaction = Variable(), Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.v), self.force)
        yield Eq(der(self.w), self.reaction)
        yield Eq(self.v, 2 * self.w)
        yield Eq(self.v, 3 * self.w)


def test_a_model_whose_own_equations_leave_no_room_is_named() -> None:
    with pytest.warns(UserWarning, match="the equations of `SelfBound` leave no other value to `v`"):
        simulate(SelfBound(v=1.0), 1.0)


def test_a_given_sum_of_states_that_does_not_hold_is_told() -> None:
    with pytest.warns(UserWarning, match="moves `w` from 5 to 3 at the start"):
        result = simulate(Decay(x=Start(1.0, fixed=True), w=Start(5.0)), 1.0)
    assert result["w"].at(0.0) == 3.0


def test_what_is_given_as_zero_is_zero() -> None:
    """Coefficients of the closed form cancel there, and leave rounding."""

    class Train(Component):
        def build(self) -> None:
            self.inertias = [Inertia(J=0.3 + 0.7 * k) for k in range(4)]
            self.springs = [Spring(c=10.0 * 3.7**k, phi_rel0=0.3) for k in range(3)]

        def equations(self) -> Iterator[Statement]:
            for k, spring in enumerate(self.springs):
                yield connect(self.inertias[k].flange_b, spring.flange_a)
                yield connect(spring.flange_b, self.inertias[k + 1].flange_a)

    initial = simulate(Train(), 1.0).initial
    assert list(initial.values()) == [0.0] * 8
