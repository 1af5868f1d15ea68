"""Mechanisms that are told where their end stands, and not how their joints do."""

import warnings
from collections.abc import Iterator

import numpy as np
import pytest

from acausal import Component, InitializationError, Statement, Structural, compile_model, connect
from acausal.components.planar import BodyShape, Revolute, World
from acausal.components.planar import Fixed as Support
from acausal.components.rotational import Fixed, SpringDamper

A, B = 1.0, 0.8


class Arm(Component):
    """Two links on hinges; the start values of the hinges are guesses."""

    def build(self) -> None:
        self.world, self.shoulder, self.elbow = World(), Revolute(phi=0.3), Revolute(phi=0.5)
        self.upper = BodyShape(r=(A, 0.0), r_CM=(A / 2, 0.0), m=1.0, I=0.1)
        self.lower = BodyShape(r=(B, 0.0), r_CM=(B / 2, 0.0), m=1.0, I=0.1)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.world.frame_b, self.shoulder.frame_a)
        yield connect(self.shoulder.frame_b, self.upper.frame_a)
        yield connect(self.upper.frame_b, self.elbow.frame_a)
        yield connect(self.elbow.frame_b, self.lower.frame_a)


PROGRAM = compile_model(Arm())


def tip(p: float, q: float) -> tuple[float, float]:
    """Where two angles put the end of the arm."""
    return A * np.cos(p) + B * np.cos(p + q), A * np.sin(p) + B * np.sin(p + q)


def started(x: float, y: float, end: float) -> tuple[float, float]:
    """Angles at the start of a run whose tip is fixed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # guesses do not stay
        result = PROGRAM.simulate(end, initial={"lower.frame_b.x": x, "lower.frame_b.y": y})
    return result["shoulder.phi"].at(0.0), result["elbow.phi"].at(0.0)


@pytest.mark.parametrize("end", [1e-4, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_an_arm_starts_with_its_tip_where_it_is_fixed(seed: int, end: float) -> None:
    x, y = tip(*np.random.default_rng(seed).uniform(-np.pi, np.pi, 2))
    assert tip(*started(x, y, end)) == pytest.approx((x, y), abs=1e-9)


def test_a_stretched_arm_has_no_slope_towards_its_tip() -> None:
    """Its angles are the square root of what rounding leaves of the distance."""
    assert started(A + B, 0.0, 0.1) == pytest.approx((0.0, 0.0), abs=1e-6)


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize(("x", "y", "distance"), [(3.0, 4.0, 5.0 - A - B), (0.06, 0.08, A - B - 0.1)])
def test_a_tip_out_of_reach_tells_the_distance_that_is_left(x: float, y: float, distance: float) -> None:
    with pytest.raises(InitializationError, match=f"{distance:.6g} m are left"):
        started(x, y, 0.1)


class Loop(Component):
    """Three links between two points, with starts from which no tangent leads to a closed loop."""

    lengths: Structural[tuple] = Structural(tuple, default=(1.093, 0.76, 0.61))

    def build(self) -> None:
        self.world, self.end = World(), Support(r=(-0.767, 0.715))
        self.joints = [Revolute(phi=phi) for phi in (5.86, -0.04, -0.15, 0.0)]
        self.links = [BodyShape(r=(a, 0.0), r_CM=(a / 2, 0.0), m=1.0, I=0.1) for a in self.lengths]

    def equations(self) -> Iterator[Statement]:
        ends = [self.world.frame_b, *(link.frame_b for link in self.links)]
        begins = [*(link.frame_a for link in self.links), self.end.frame_b]
        for joint, before, after in zip(self.joints, ends, begins, strict=True):
            yield connect(before, joint.frame_a)
            yield connect(joint.frame_b, after)


def test_a_loop_far_from_closed_closes_within_a_turn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # starts do not stay
        result = compile_model(Loop()).start().result
    angles = np.array([result[f"joints[{k}].phi"].at(0.0) for k in range(3)])
    end = (np.array(Loop().lengths) * np.exp(1j * np.cumsum(angles))).sum()
    assert abs(end - (-0.767 + 0.715j)) <= 1e-9
    assert np.abs(angles - (5.86, -0.04, -0.15)).max() <= 2 * np.pi


class Hanging(Component):
    """A heavy arm on a torsion spring, far from where it rests."""

    phi: Structural[float] = Structural(float, default=0.3)

    def build(self) -> None:
        self.world, self.hinge = World(), Revolute(phi=self.phi, useAxisFlange=True)
        self.arm = BodyShape(r=(1.0, 0.0), r_CM=(0.5, 0.0), m=2.0, I=0.1)
        self.spring, self.wall = SpringDamper(c=20.0, d=1.0), Fixed()

    def equations(self) -> Iterator[Statement]:
        yield connect(self.world.frame_b, self.hinge.frame_a)
        yield connect(self.hinge.frame_b, self.arm.frame_a)
        yield connect(self.hinge.axis, self.spring.flange_b)
        yield connect(self.spring.flange_a, self.wall.flange)


@pytest.mark.parametrize("phi", [0.3, -1.0, 2.0])
def test_the_only_point_of_rest_is_no_choice_of_several(phi: float) -> None:
    """20 phi + 2 * 9.80665 * 0.5 cos(phi) = 0 has one root, as 20 > 9.80665."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        angle = compile_model(Hanging(phi=phi)).simulate(0.1, initial="steady state").initial["hinge.phi"]
    assert 20.0 * angle + 9.80665 * np.cos(angle) == pytest.approx(0.0, abs=1e-9)
