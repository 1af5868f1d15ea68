"""Starts of mechanisms that do not depend on how long a run is, or on how fast a clock beside them ticks."""

import math
import warnings
from collections.abc import Iterator

import pytest

from acausal import Component, Parameter, Statement, compile_model, connect, simulate
from acausal.components.blocks import PWM
from acausal.components.planar import Body, BodyShape, Fixed, Prismatic, Revolute, World

M, m, inertia, h, g = 1.0, 0.5, 0.01, 0.25, 9.80665
"""Masses, inertia and height of the centre of mass of the pendulum, gravity, in SI units."""


class Cart(Component):
    """A pendulum that stands on a cart, both without friction."""

    def build(self) -> None:
        self.world = World()
        self.rail = Prismatic()
        self.cart = Body(m=M, I=0.1)
        self.joint = Revolute()
        self.pendulum = BodyShape(m=m, I=inertia, r=(0.0, 2.0 * h), r_CM=(0.0, h))

    def equations(self) -> Iterator[Statement]:
        yield connect(self.world.frame_b, self.rail.frame_a)
        yield connect(self.rail.frame_b, self.cart.frame_a, self.joint.frame_a)
        yield connect(self.joint.frame_b, self.pendulum.frame_a)


class ClockedCart(Cart):
    """The same beside a fast modulator, whose period would be the unit of time."""

    frequency: Parameter = Parameter(default=1e5, unit="Hz")

    def build(self) -> None:
        super().build()
        self.pwm = PWM(frequency=self.frequency, duty=0.5)


def acceleration(phi: float) -> float:
    """Angular acceleration of the pendulum at rest, by Lagrange's equations in the two free coordinates."""
    effective = inertia + m * h**2 - (m * h * math.cos(phi)) ** 2 / (M + m)
    return m * g * h * math.sin(phi) / effective


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("phi", [0.0, 1e-4, 0.3, 1.0])
@pytest.mark.parametrize("length", [1.0, 1e-4, 1e-6, 1e-8, 1e-10])
def test_a_start_does_not_depend_on_the_length_of_the_run(length: float, phi: float) -> None:
    result = simulate(Cart(), length, initial={"rail.s": 1.0, "joint.phi": phi})
    assert result["rail.s"].at(0.0) == pytest.approx(1.0, abs=1e-12)
    assert result["joint.phi"].at(0.0) == pytest.approx(phi, abs=1e-12)
    assert result["der(joint.w)"].at(0.0) == pytest.approx(acceleration(phi), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("phi", [1e-4, 0.3])
def test_a_fast_clock_beside_a_mechanism_does_not_disturb_its_start(phi: float) -> None:
    result = simulate(ClockedCart(frequency=1e7), 1e-6, initial={"rail.s": 0.0, "joint.phi": phi})
    assert result["der(joint.w)"].at(0.0) == pytest.approx(acceleration(phi), rel=1e-9)


class Chain(Component):
    """A closed chain of five links: two cranks are given, and the speed of one of them."""

    def build(self) -> None:
        self.world, self.pivot = World(), Fixed(r=(2.3, 0.0))
        self.crank, self.rocker = Revolute(phi=0.848, w=0.1), Revolute(phi=2.116)
        self.hinge_a, self.joint, self.hinge_b = Revolute(), Revolute(), Revolute()
        self.arm, self.near, self.far, self.lever = (
            BodyShape(r=(a, 0.0), r_CM=(a / 2, 0.0), m=0.2, I=0.01) for a in (1.1, 4.1, 4.1, 3.8)
        )

    def equations(self) -> Iterator[Statement]:
        yield connect(self.world.frame_b, self.crank.frame_a)
        yield connect(self.crank.frame_b, self.arm.frame_a)
        yield connect(self.arm.frame_b, self.hinge_a.frame_a)
        yield connect(self.hinge_a.frame_b, self.near.frame_a)
        yield connect(self.near.frame_b, self.joint.frame_a)
        yield connect(self.joint.frame_b, self.far.frame_a)
        yield connect(self.far.frame_b, self.hinge_b.frame_a)
        yield connect(self.hinge_b.frame_b, self.lever.frame_b)
        yield connect(self.pivot.frame_b, self.rocker.frame_a)
        yield connect(self.rocker.frame_b, self.lever.frame_a)


def test_speeds_that_are_left_open_do_not_depend_on_the_length_of_the_run() -> None:
    program = compile_model(Chain())
    speeds = [program.simulate(length)["rocker.w"].at(0.0) for length in (1.0, 1e-3, 1e-9)]
    assert speeds == pytest.approx([speeds[0]] * 3, rel=1e-9)


def test_given_angles_hold_however_short_the_run_is() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        initial = simulate(Chain(), 1e-9).initial
    assert (initial["crank.phi"], initial["rocker.phi"]) == pytest.approx((0.848, 2.116), abs=1e-12)
