"""Mechanisms of the benchmarks: stick-slip, pendulums, an arm under a sampled controller, a chain of links, a driven six-bar."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from acausal import Component, Eq, Statement, Structural, Variable, connect, der
from acausal.components import electrical, planar, rotational, translational
from acausal.components.blocks import SampledPI
from acausal.components.electromechanical import RotationalEMF


class StickSlip(Component):
    """A mass on a spring sticks to a belt and slips."""

    def build(self) -> None:
        self.wall, self.spring, self.mass = (
            translational.Fixed(),
            translational.Spring(c=10.0),
            translational.Mass(m=1.0),
        )
        self.friction = translational.Friction(f_coulomb=1.0, f_breakaway=1.5)
        self.belt = translational.ConstantSpeed(v_fixed=0.2)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.wall.flange, self.spring.flange_a)
        yield connect(self.spring.flange_b, self.mass.flange_a)
        yield connect(self.mass.flange_b, self.friction.flange_b)
        yield connect(self.friction.flange_a, self.belt.flange)


class CartesianPendulum(Component):
    """A point mass on a rod of 1 m, index 3; ``force`` pulls along the rod."""

    x: Variable = Variable()
    y: Variable = Variable()
    vx: Variable = Variable()
    vy: Variable = Variable()
    force: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), self.vx)
        yield Eq(der(self.y), self.vy)
        yield Eq(der(self.vx), -self.force * self.x)
        yield Eq(der(self.vy), -self.force * self.y - 9.81)
        yield Eq(self.x**2 + self.y**2, 1.0)


class Arm(Component):
    """Two links in a plane, joints with dry friction, controllers sampled at 1 kHz; motors brake what they turn."""

    def build(self) -> None:
        self.world = planar.World()
        self.joints = [planar.Revolute(useAxisFlange=True) for _ in range(2)]
        self.links = [planar.BodyShape(m=1.0, I=0.02, r=(0.5, 0.0), r_CM=(0.25, 0.0)) for _ in range(2)]
        friction = {"tau_coulomb": 0.2, "tau_breakaway": 0.3, "d": 0.05}
        self.friction = [rotational.BearingFriction(**friction) for _ in range(2)]
        self.control = [
            SampledPI(reference=goal - 0.1 * joint.w, measurement=joint.phi, kp=60.0, ki=100.0, period=1e-3)
            for goal, joint in zip((0.5, -0.7), self.joints, strict=True)
        ]
        self.motor = [rotational.Torque(tau=control.y) for control in self.control]

    def equations(self) -> Iterator[Statement]:
        end = self.world.frame_b
        for joint, link, friction, motor in zip(
            self.joints, self.links, self.friction, self.motor, strict=True
        ):
            yield connect(end, joint.frame_a)
            yield connect(joint.frame_b, link.frame_a)
            yield connect(joint.axis, friction.flange_b)
            yield connect(friction.flange_a, motor.flange)
            end = link.frame_b


class Links(Component):
    """A chain of links with a body at the end of each, free joints."""

    count: Structural[int] = Structural(int, default=30)

    def build(self) -> None:
        self.world = planar.World()
        self.joints = [planar.Revolute() for _ in range(self.count)]
        self.rods = [planar.FixedTranslation(r=(1.0, 0.0)) for _ in range(self.count)]
        self.bodies = [planar.Body(m=1.0, I=0.1) for _ in range(self.count)]

    def equations(self) -> Iterator[Statement]:
        end = self.world.frame_b
        for joint, rod, body in zip(self.joints, self.rods, self.bodies, strict=True):
            yield connect(end, joint.frame_a)
            yield connect(joint.frame_b, rod.frame_a)
            yield connect(rod.frame_b, body.frame_a)
            end = rod.frame_b


class SixBar(Component):
    """A motor turns a four-bar linkage whose rocker pushes a slider against a stop, until that holds it all."""

    CRANK, COUPLER, ROCKER, BASE, ROD = 0.1, 0.25, 0.2, 0.25, 0.4
    STOP = 0.36
    """Of the slider, from the pivot of the rocker."""
    RESTITUTION = 0.5
    ANGLE = np.pi - np.arccos(
        ((CRANK + BASE) ** 2 + ROCKER**2 - COUPLER**2) / (2.0 * (CRANK + BASE) * ROCKER)
    )
    """Of the rocker at the start, where the crank points away from it."""
    START: ClassVar[dict[str, float]] = {
        "rocker.phi": ANGLE,
        "guide.s": ROCKER * np.cos(ANGLE) + np.sqrt(ROD**2 - (ROCKER * np.sin(ANGLE)) ** 2),
    }

    def build(self) -> None:
        self.source, self.ground = electrical.ConstantVoltage(V=24.0), electrical.Ground()
        self.R, self.L, self.emf = (
            electrical.Resistor(R=0.5),
            electrical.Inductor(L=1e-3),
            RotationalEMF(k=0.5),
        )
        self.flywheel = rotational.Inertia(J=0.02)
        self.left, self.right = planar.World(), planar.Fixed(r=(self.BASE, 0.0))
        self.crank = planar.Revolute(useAxisFlange=True, phi=np.pi)
        self.arm, self.lever = (planar.FixedTranslation(r=(r, 0.0)) for r in (self.CRANK, self.ROCKER))
        self.coupler, self.rod = planar.Rod(L=self.COUPLER), planar.Rod(L=self.ROD)
        self.rocker, self.body = planar.Revolute(), planar.Body(m=1.0, I=0.05)
        self.guide, self.slider = planar.Prismatic(useAxisFlange=True), planar.Body(m=2.0, I=0.01)
        self.stop = translational.HardStop(s_min=-1.0, s_max=self.STOP, restitution=self.RESTITUTION)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.R.p)
        yield connect(self.R.n, self.L.p)
        yield connect(self.L.n, self.emf.p)
        yield connect(self.emf.n, self.source.n, self.ground.p)
        yield connect(self.emf.flange, self.flywheel.flange_a)
        yield connect(self.flywheel.flange_b, self.crank.axis)
        yield connect(self.left.frame_b, self.crank.frame_a)
        yield connect(self.crank.frame_b, self.arm.frame_a)
        yield connect(self.arm.frame_b, self.coupler.frame_a)
        yield connect(self.right.frame_b, self.rocker.frame_a, self.guide.frame_a)
        yield connect(self.rocker.frame_b, self.lever.frame_a, self.body.frame_a)
        yield connect(self.coupler.frame_b, self.lever.frame_b, self.rod.frame_a)
        yield connect(self.rod.frame_b, self.guide.frame_b, self.slider.frame_a)
        yield connect(self.guide.axis, self.stop.flange)
