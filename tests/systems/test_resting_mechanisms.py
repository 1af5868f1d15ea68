"""Steady states of mechanisms: free positions, rates of second order, springs without length, rates without an equation."""

from collections.abc import Iterator
from math import atan, cos, pi, sin

import pytest

from acausal import (
    Component,
    Eq,
    InitializationError,
    Parameter,
    ParameterError,
    Statement,
    Structural,
    Variable,
    asin,
    connect,
    der,
    initially,
    simulate,
    time,
)
from acausal import sin as sine
from acausal.components import planar, rotational, translational


class Trolley(Component):
    """A load hangs from a trolley that rolls without friction."""

    def build(self) -> None:
        self.world, self.slide = planar.World(), planar.Prismatic(n=(1.0, 0.0))
        self.trolley, self.load = planar.Body(m=100.0, I=1.0), planar.Body(m=200.0, I=1.0)
        self.hinge, self.arm = planar.Revolute(phi=-1.3), planar.FixedTranslation(r=(5.0, 0.0))

    def equations(self) -> Iterator[Statement]:
        yield connect(self.world.frame_b, self.slide.frame_a)
        yield connect(self.slide.frame_b, self.trolley.frame_a, self.hinge.frame_a)
        yield connect(self.hinge.frame_b, self.arm.frame_a)
        yield connect(self.arm.frame_b, self.load.frame_a)


@pytest.mark.parametrize("s", [0.0, 3.0])
def test_a_load_on_a_free_trolley_hangs_below_it(s: float) -> None:
    """Its vertical acceleration is of second order in the angle, with a slope that vanishes at rest."""
    result = simulate(Trolley(), 1.0, initial={"": "steady state", "slide.s": s} if s else "steady state")
    assert result.initial["hinge.phi"] == pytest.approx(-pi / 2, abs=1e-9)
    for path, value in {"slide.s": s, "load.frame_a.x": s, "load.frame_a.y": -5.0, "load.vx": 0.0}.items():
        assert result[path].at(0.0) == pytest.approx(value, abs=1e-9)
    assert result["hinge.phi"].ptp() < 1e-8


class ScissorLift(Component):
    """Two arms of 2 m that cross in their middles carry a platform; a force pushes the lower end of one along the floor."""

    def build(self) -> None:
        r, half, along = (2.0, 0.0), (1.0, 0.0), (1.0, 0.0)
        self.world, self.platform = planar.World(), planar.Body(m=100.0, I=1.0)
        self.left, self.right = planar.Revolute(phi=0.5), planar.Revolute(phi=pi - 0.5)
        self.arm1 = planar.BodyShape(r=r, r_CM=half, m=10.0, I=3.0)
        self.arm2 = planar.BodyShape(r=r, r_CM=half, m=10.0, I=3.0)
        self.middle1, self.middle2 = planar.FixedTranslation(r=half), planar.FixedTranslation(r=half)
        self.floor, self.roof = planar.Prismatic(n=along, useAxisFlange=True), planar.Prismatic(n=along)
        self.cross, self.top1, self.top2 = planar.Revolute(), planar.Revolute(), planar.Revolute()
        self.push = translational.ConstantForce(f_constant=-1000.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.world.frame_b, self.left.frame_a, self.floor.frame_a)
        yield connect(self.left.frame_b, self.arm1.frame_a, self.middle1.frame_a)
        yield connect(self.floor.frame_b, self.right.frame_a)
        yield connect(self.right.frame_b, self.arm2.frame_a, self.middle2.frame_a)
        yield connect(self.middle1.frame_b, self.cross.frame_a)
        yield connect(self.cross.frame_b, self.middle2.frame_b)
        yield connect(self.arm2.frame_b, self.top2.frame_a)
        yield connect(self.top2.frame_b, self.platform.frame_a, self.roof.frame_a)
        yield connect(self.roof.frame_b, self.top1.frame_a)
        yield connect(self.top1.frame_b, self.arm1.frame_b)
        yield connect(self.push.flange, self.floor.axis)


def test_a_scissor_lift_rests_where_the_force_bears_the_weights() -> None:
    """Virtual work: centres of arms rise by sin(q), the platform by 2 sin(q), the end on the floor moves by 2 cos(q)."""
    initial = simulate(ScissorLift(), 0.1, initial="steady state").initial
    q = atan(220.0 * 9.80665 / 2000.0)
    assert initial["left.phi"] == pytest.approx(q, abs=1e-12)
    assert initial["floor.s"] == pytest.approx(2.0 * cos(q), abs=1e-12)
    assert initial["platform.frame_a.y"] == pytest.approx(2.0 * sin(q), abs=1e-12)


# -- rates that occur in no equation ---------------------------------------------------------------------------------


class Accelerated(Trolley):
    """The trolley with the rate of its speed along the slide."""

    rate: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.rate, der(self.slide.v))


def test_a_variable_without_a_rate_is_refused_with_what_to_write_instead() -> None:
    with pytest.raises(ParameterError, match="`slide.v` is not differentiated") as info:
        simulate(Trolley(), 1.0, initial={"slide.v": "steady state"})
    assert "Eq(self.rate, der(self.slide.v))" in info.value.hint
    assert 'initial={"rate": 0.0}' in info.value.hint
    with pytest.warns(UserWarning, match="moves `hinge.phi` from -1.3 to -1.57"):
        result = simulate(Accelerated(), 1.0, initial={"rate": 0.0})
    assert result.initial["hinge.phi"] == pytest.approx(-pi / 2, abs=1e-9)


def test_an_initial_equation_of_a_rate_that_no_equation_gives_is_refused() -> None:
    class Demanded(Trolley):
        def equations(self) -> Iterator[Statement]:
            yield from super().equations()
            yield initially(Eq(der(self.slide.v), 0))

    with pytest.raises(
        InitializationError, match=r"der\(`slide.v`\), which no equation of the model gives"
    ) as info:
        simulate(Demanded(), 1.0)
    assert "Eq(self.rate, der(self.slide.v))" in info.value.hint


# -- directions of length zero ---------------------------------------------------------------------------------------


class Hung(Component):
    """A body on a spring, with both ends at one place by default."""

    dy: Structural[float] = Structural(float, default=0.0)

    def build(self) -> None:
        self.ceiling, self.body = planar.World(), planar.Body(m=1.0, I=1.0)
        self.spring = planar.Spring(c=100.0, s_unstretched=0.5, dy=self.dy)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.ceiling.frame_b, self.spring.frame_a)
        yield connect(self.spring.frame_b, self.body.frame_a)


def test_rest_at_a_spring_without_length_is_told_and_the_other_one_found_from_a_start() -> None:
    with pytest.warns(UserWarning, match=r"`Eq\(frame_b.fy, f\*dy/s\)` of `spring` all but jump"):
        simulate(Hung(), 1.0, initial="steady state")
    initial = simulate(Hung(dy=-0.4), 1.0, initial="steady state").initial
    assert initial["body.frame_a.y"] == pytest.approx(-0.5 - 9.80665 / 100.0, rel=1e-9)


class Axle(Component):
    """A beam on two springs over an axle that rocks, of which no position is given."""

    w: Parameter = Parameter(default=0.0, unit="rad/s")

    def build(self) -> None:
        self.world, self.axle, self.wheel = (
            planar.World(),
            planar.Revolute(useAxisFlange=True),
            planar.FixedTranslation(r=(1.0, 0.0)),
        )
        self.road = rotational.Position(phi_ref=asin(0.1 * sine(self.w * time)))
        self.spring1, self.spring2 = (planar.Spring(c=1.0, s_unstretched=0.5) for _ in range(2))
        self.guide, self.hinge = planar.Prismatic(n=(0.0, 1.0)), planar.Revolute()
        self.near, self.far = (planar.FixedTranslation(r=(0.5, 0.0)) for _ in range(2))
        self.beam = planar.Body(m=1e-3, I=2.5e-4, g=1.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.world.frame_b, self.axle.frame_a)
        yield connect(self.road.flange, self.axle.axis)
        yield connect(self.axle.frame_b, self.wheel.frame_a, self.guide.frame_a, self.spring1.frame_a)
        yield connect(self.guide.frame_b, self.hinge.frame_a, self.spring1.frame_b)
        yield connect(self.hinge.frame_b, self.near.frame_a)
        yield connect(self.near.frame_b, self.beam.frame_a, self.far.frame_a)
        yield connect(self.far.frame_b, self.spring2.frame_b)
        yield connect(self.wheel.frame_b, self.spring2.frame_a)


def test_a_start_at_springs_without_length_names_them() -> None:
    """Within `s_small` their directions fade out: the motion is that of these equations, and a warning says where it begins."""
    with pytest.warns(UserWarning, match="give starts of positions away from there") as told:
        integrated = simulate(Axle(w=10.0), 0.5)
    for name in ("spring1", "spring2"):
        assert f"`Eq(frame_b.fy, f*dy/s)` of `{name}`" in str(told[0].message)
    with pytest.warns(UserWarning, match="all but jump"):
        implicit = simulate(Axle(w=10.0), 0.5, method="implicit", rtol=1e-8)
    for name in ("beam.frame_a.phi", "beam.frame_a.y"):
        assert integrated[name].final == pytest.approx(implicit[name].final, abs=1e-4)
    level = {"": "steady state", "guide.s": 0.5 - 0.5e-3}
    assert simulate(Axle(), 1.0, initial=level).initial["beam.frame_a.phi"] == pytest.approx(0.0, abs=1e-9)


class Drum(Component):
    """A beam that lies on two springs whose ends are where it begins."""

    def build(self) -> None:
        self.left, self.right = planar.World(), planar.Fixed(r=(1.0, 0.0))
        self.spring1, self.spring2 = (planar.Spring(c=100.0, s_unstretched=0.5) for _ in range(2))
        self.guide, self.hinge = planar.Prismatic(n=(0.0, 1.0)), planar.Revolute()
        self.beam = planar.BodyShape(r=(1.0, 0.0), r_CM=(0.5, 0.0), m=1.0, I=0.1)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.left.frame_b, self.guide.frame_a, self.spring1.frame_a)
        yield connect(self.guide.frame_b, self.hinge.frame_a, self.spring1.frame_b)
        yield connect(self.hinge.frame_b, self.beam.frame_a)
        yield connect(self.beam.frame_b, self.spring2.frame_b)
        yield connect(self.right.frame_b, self.spring2.frame_a)


def test_a_run_meets_exactly_singular_matrices_where_springs_have_no_length() -> None:
    """Energy: the springs hold 2 * 12.5 J at the start; where the beam is, m g y + c (s - 0.5)**2 + m v**2 / 2 is that."""
    with pytest.warns(UserWarning, match="all but jump at `spring1.s` = 1e-10"):
        result = simulate(Drum(), 0.02, rtol=1e-9)
    y, v = result["beam.body.frame_a.y"].final, result["beam.body.vy"].final
    assert 9.80665 * y + 100.0 * (abs(y) - 0.5) ** 2 + v**2 / 2 == pytest.approx(25.0, rel=1e-7)
