"""Starts of mechanisms next to zero, and for runs of any length: neither decides whether the linkage is found."""

from collections.abc import Iterator

import numpy as np
import pytest

from acausal import Component, Program, Statement, compile_model, connect
from acausal.components.planar import Body, Fixed, FixedTranslation, Prismatic, Revolute, Rod, World

GRAVITY = 9.80665
TINY = [0.0, 1e-100, 1e-17, 1e-9, 1e-4]


class SliderCrank(Component):
    def build(self) -> None:
        self.world, self.joint, self.crank = World(), Revolute(), FixedTranslation(r=(0.1, 0.0))
        self.pin, self.rod, self.guide = Body(m=1.0, I=0.01), Rod(L=0.3), Prismatic()
        self.piston = Body(m=1.0, I=0.01)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.world.frame_b, self.joint.frame_a, self.guide.frame_a)
        yield connect(self.joint.frame_b, self.crank.frame_a)
        yield connect(self.crank.frame_b, self.pin.frame_a, self.rod.frame_a)
        yield connect(self.rod.frame_b, self.guide.frame_b, self.piston.frame_a)


class FourBar(Component):
    def build(self) -> None:
        self.ground, self.pivot, self.joint = Fixed(), Fixed(r=(0.4, 0.0)), Revolute()
        self.crank, self.pin, self.rod = FixedTranslation(r=(0.1, 0.0)), Body(m=1.0, I=0.01), Rod(L=0.35)
        self.hinge, self.rocker, self.end = Revolute(), FixedTranslation(r=(0.25, 0.0)), Body(m=1.0, I=0.01)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.ground.frame_b, self.joint.frame_a)
        yield connect(self.pivot.frame_b, self.hinge.frame_a)
        yield connect(self.joint.frame_b, self.crank.frame_a)
        yield connect(self.hinge.frame_b, self.rocker.frame_a)
        yield connect(self.crank.frame_b, self.pin.frame_a, self.rod.frame_a)
        yield connect(self.rod.frame_b, self.rocker.frame_b, self.end.frame_a)


crank, four = compile_model(SliderCrank()), compile_model(FourBar())


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("span", [1e-6, 1e6])
@pytest.mark.parametrize("w", [1e-17, 1.0])
@pytest.mark.parametrize("phi", TINY)
def test_a_slider_crank_starts_at_its_dead_centre_and_beside_it(phi: float, w: float, span: float) -> None:
    """The piston is at rest there: the crank falls as a pendulum, with the inertia of the pin alone."""
    result = crank.start(span=span, initial={"joint.phi": phi, "joint.w": w}).result
    found = [result["joint.phi"].at(0.0), result["joint.w"].at(0.0)]
    assert found == pytest.approx([phi, w], rel=1e-15, abs=1e-16)
    expected = -GRAVITY * 0.1 / (0.1**2 + 0.01)
    # The speed of the rod, and with it what the piston takes, is of the order of the angle.
    assert result["der(joint.w)"].at(0.0) == pytest.approx(expected, abs=10.0 * phi + 1e-6)


@pytest.mark.sweep(every=4)
@pytest.mark.filterwarnings("ignore:the start values do not say:UserWarning")
@pytest.mark.parametrize("span", [1e-6, 1e6])
@pytest.mark.parametrize("phi", [0.0, 1e-100, 1e-17, 1e-4])
def test_a_four_bar_linkage_closes_beside_the_line_of_its_pivots(phi: float, span: float) -> None:
    result = four.start(span=span, initial={"joint.phi": phi, "joint.w": 1.0}).result
    x, y = (result[f"end.frame_a.{c}"].at(0.0) for c in "xy")
    assert (x - 0.4) ** 2 + y**2 == pytest.approx(0.25**2, rel=1e-9)
    assert result["rod.dx"].at(0.0) ** 2 + result["rod.dy"].at(0.0) ** 2 == pytest.approx(0.35**2, rel=1e-9)
    # Of the triangle 0.3, 0.35, 0.25 over the ground.
    assert abs(y) == pytest.approx(0.24494897427831783, abs=phi + 1e-9)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("turns", [1, -1000, 100_000])
def test_a_slider_crank_starts_any_number_of_turns_away(turns: int) -> None:
    """The bodies turn with the crank; the rod, which does not, stays within the turn of its start value."""
    near, far = (
        crank.start(span=1.0, initial={"joint.phi": phi, "joint.w": 1.0}).result
        for phi in (0.5, 0.5 + 2.0 * np.pi * turns)
    )
    for path in ("pin.frame_a.x", "pin.frame_a.y", "rod.phi", "der(joint.w)"):
        assert far[path].at(0.0) == pytest.approx(near[path].at(0.0), rel=1e-12 * abs(turns), abs=1e-12)


@pytest.mark.parametrize("turns", [1, -1000, 100_000])
def test_a_four_bar_linkage_starts_any_number_of_turns_away(turns: int) -> None:
    """Of two ways in which it closes the starts say nothing."""
    phi = 0.5 + 2.0 * np.pi * turns
    result = four.start(span=1.0, initial={"joint.phi": phi, "joint.w": 1.0}).result
    assert result["joint.phi"].at(0.0) == pytest.approx(phi, rel=1e-15)
    x, y = (result[f"end.frame_a.{c}"].at(0.0) for c in "xy")
    assert np.hypot(x - 0.4, y) == pytest.approx(0.25, rel=1e-9)
    assert np.hypot(x - 0.1 * np.cos(0.5), y - 0.1 * np.sin(0.5)) == pytest.approx(0.35, rel=1e-9)


@pytest.mark.parametrize("program", [crank, four], ids=["slider-crank", "four-bar"])
def test_what_a_start_came_to_is_a_start(program: Program) -> None:
    first = program.simulate(0.05, initial={"joint.phi": 0.5, "joint.w": 1.0})
    again = program.simulate(0.05, initial=dict(first.initial))
    assert again["joint.phi"].final == pytest.approx(first["joint.phi"].final, rel=1e-6)
