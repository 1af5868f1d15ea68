"""Bodies, joints and line forces against closed forms."""

from math import cos, pi, sin

import numpy as np
import pytest

from acausal import Result, simulate
from acausal.components.planar import (
    Body,
    Damper,
    Fixed,
    FixedRotation,
    FixedTranslation,
    Prismatic,
    Revolute,
    Rod,
    Spring,
    World,
)
from acausal.components.rotational import ConstantSpeed, ConstantTorque
from acausal.components.translational import ConstantForce
from tests.components.signals import assembled
from tests.oracles.pendulum import pendulum_angle

G = 9.80665
T = np.linspace(0.0, 2.0, 41)


def closed(result: Result, energy: float) -> bool:
    """Whether the energies into all parts sum to zero within the tolerance of the run."""
    return abs(result.audit().balance) <= 1e-6 * energy


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("r", [(0.0, -0.7), (0.7, 0.0), (-0.42, 0.56)], ids=str)
def test_a_pendulum_swings_by_elliptic_functions(r: tuple[float, float]) -> None:
    """The angle of the arm in its own coordinates does not matter."""
    hanging = np.arctan2(r[1], r[0]) + pi / 2
    model = assembled(
        ("world.frame_b", "hinge.frame_a"),
        ("hinge.frame_b", "arm.frame_a"),
        ("arm.frame_b", "body.frame_a"),
        world=World(),
        hinge=Revolute(phi=1.5 - hanging),
        arm=FixedTranslation(r=r),
        body=Body(m=2.0, I=0.3),
    )
    result = simulate(model, 10.0, rtol=1e-9)
    t = np.linspace(0.0, 10.0, 101)
    w0 = np.sqrt(2.0 * G * 0.7 / (2.0 * 0.49 + 0.3))
    assert result["hinge.phi"].at(t) + hanging == pytest.approx(pendulum_angle(1.5, w0, t), abs=1e-6)
    x, y = result["body.frame_a.x"].at(t), result["body.frame_a.y"].at(t)
    assert np.abs(x**2 + y**2 - 0.49).max() < 1e-14
    assert (result.modes[0].states, result.modes[0].index) == (2, 3)


def test_a_mass_on_a_rod_swings_likewise() -> None:
    model = assembled(
        ("world.frame_b", "rod.frame_a"),
        ("rod.frame_b", "body.frame_a"),
        world=Fixed(r=(0.3, 0.2)),
        rod=Rod(L=0.7),
        body=Body(m=2.0, I=1.0),
    )
    result = simulate(model, 4.0, rtol=1e-9, initial={"body.frame_a.y": 0.2 - 0.7 * cos(1.2)})
    t = np.linspace(0.0, 4.0, 41)
    angle = pendulum_angle(1.2, np.sqrt(G / 0.7), t)
    assert result["body.frame_a.x"].at(t) == pytest.approx(0.3 + 0.7 * np.sin(angle), abs=1e-7)
    assert result["rod.phi"].at(t) == pytest.approx(angle - pi / 2, abs=1e-7)
    # m v**2 / L = 2 m g (cos(angle) - cos(1.2)), and the share of the weight.
    assert result["rod.f"].at(t) == pytest.approx(2.0 * G * (3.0 * np.cos(angle) - 2.0 * cos(1.2)), abs=1e-5)


@pytest.mark.parametrize("force", [0.0, 5.0])
def test_a_body_slides_down_an_incline(force: float) -> None:
    model = assembled(
        ("incline.frame_b", "slide.frame_a"),
        ("slide.frame_b", "body.frame_a"),
        ("drive.flange", "slide.axis"),
        incline=Fixed(r=(1.0, 2.0), phi=-0.4),
        slide=Prismatic(n=(2.0, 0.0), useAxisFlange=True, s=0.5),
        body=Body(m=2.0, I=0.1),
        drive=ConstantForce(f_constant=force),
    )
    result = simulate(model, 2.0)
    s = 0.5 + (G * sin(0.4) + force / 2.0) * T**2 / 2
    assert result["slide.s"].at(T) == pytest.approx(s, rel=1e-6)
    assert result["body.frame_a.y"].at(T) == pytest.approx(2.0 - sin(0.4) * s, rel=1e-5)
    assert result["body.frame_a.phi"].at(T) == pytest.approx(np.full_like(T, -0.4), rel=1e-13)
    normal = np.hypot(result["incline.frame_b.fx"].at(T), result["incline.frame_b.fy"].at(T))
    along = np.hypot(2.0 * G * cos(0.4), force)
    assert normal == pytest.approx(np.full_like(T, along), rel=1e-6)
    assert result.energy("drive") == pytest.approx(-force * (s[-1] - 0.5), abs=1e-5)
    assert closed(result, 2.0 * G)


def test_a_driven_arm_takes_the_torque_of_its_weight_and_the_force_of_its_rotation() -> None:
    """Constant speed: torque ``m g L cos(phi)``, force ``m w**2 L`` towards the hinge plus the weight."""
    model = assembled(
        ("world.frame_b", "hinge.frame_a"),
        ("hinge.frame_b", "turn.frame_a"),
        ("turn.frame_b", "arm.frame_a"),
        ("arm.frame_b", "body.frame_a"),
        ("drive.flange", "hinge.axis"),
        world=World(),
        hinge=Revolute(useAxisFlange=True),
        turn=FixedRotation(alpha=0.5),
        arm=FixedTranslation(r=(0.4, 0.0)),
        body=Body(m=3.0, I=0.2),
        drive=ConstantSpeed(w_fixed=2.0),
    )
    result = simulate(model, 2.0)
    phi = 2.0 * T + 0.5
    assert result["body.frame_a.phi"].at(T) == pytest.approx(phi, rel=1e-9)
    assert result["hinge.tau"].at(T) == pytest.approx(3.0 * G * 0.4 * np.cos(phi), abs=1e-6)
    assert result["body.frame_a.fx"].at(T) == pytest.approx(-3.0 * 4.0 * 0.4 * np.cos(phi), abs=1e-6)
    assert result["body.frame_a.fy"].at(T) == pytest.approx(3.0 * G - 3.0 * 4.0 * 0.4 * np.sin(phi), abs=1e-6)
    lifted = 3.0 * G * 0.4 * (sin(4.5) - sin(0.5))
    assert result.energy("body") == pytest.approx(lifted, abs=1e-5)
    assert closed(result, 3.0 * G)


def test_a_torque_turns_a_wheel_through_its_axis() -> None:
    model = assembled(
        ("world.frame_b", "hinge.frame_a"),
        ("hinge.frame_b", "wheel.frame_a"),
        ("drive.flange", "hinge.axis"),
        world=World(),
        hinge=Revolute(useAxisFlange=True),
        wheel=Body(m=3.0, I=0.25),
        drive=ConstantTorque(tau_constant=0.5),
    )
    result = simulate(model, 2.0)
    assert result["wheel.w"].at(T) == pytest.approx(2.0 * T, abs=1e-12)
    assert result["world.frame_b.tau"].at(T) == pytest.approx(np.full_like(T, -0.5), rel=1e-12)


def test_a_mass_on_a_spring_without_length_moves_on_an_ellipse() -> None:
    """An isotropic oscillator: ``x = cos(w t)``, ``y = vy / w * sin(w t)`` about the pivot."""
    model = assembled(
        ("pivot.frame_b", "spring.frame_a"),
        ("spring.frame_b", "body.frame_a"),
        pivot=Fixed(r=(0.5, 0.0)),
        spring=Spring(c=18.0),
        body=Body(m=2.0, I=0.1, g=0.0, vy=1.5),
    )
    result = simulate(model, 2.0, initial={"body.frame_a.x": 1.5}, rtol=1e-9)
    assert result["body.frame_a.x"].at(T) == pytest.approx(0.5 + np.cos(3.0 * T), abs=1e-7)
    assert result["body.frame_a.y"].at(T) == pytest.approx(0.5 * np.sin(3.0 * T), abs=1e-7)
    s = np.hypot(np.cos(3.0 * T), 0.5 * np.sin(3.0 * T))
    assert result["spring.f"].at(T) == pytest.approx(18.0 * s, rel=1e-6)


def test_a_spring_between_two_bodies_keeps_momentum_and_angular_momentum() -> None:
    model = assembled(
        ("a.frame_a", "spring.frame_a"),
        ("b.frame_a", "spring.frame_b"),
        a=Body(m=1.0, I=0.1, g=0.0, vx=0.3, vy=-1.0),
        b=Body(m=2.0, I=0.1, g=0.0, vy=0.8),
        spring=Spring(c=30.0, s_unstretched=1.2),
    )
    result = simulate(model, 2.0, initial={"b.frame_a.x": 1.0}, rtol=1e-9)

    def at(path: str) -> np.ndarray:
        return result[path].at(T)

    assert at("a.vx") + 2.0 * at("b.vx") == pytest.approx(np.full_like(T, 0.3), abs=1e-8)
    assert at("a.vy") + 2.0 * at("b.vy") == pytest.approx(np.full_like(T, 0.6), abs=1e-8)
    spin = sum(
        m * (at(f"{n}.frame_a.x") * at(f"{n}.vy") - at(f"{n}.frame_a.y") * at(f"{n}.vx"))
        for n, m in (("a", 1.0), ("b", 2.0))
    )
    assert spin == pytest.approx(np.full_like(T, 1.6), abs=1e-7)
    kinetic = sum(m / 2 * (at(f"{n}.vx") ** 2 + at(f"{n}.vy") ** 2) for n, m in (("a", 1.0), ("b", 2.0)))
    total = kinetic + 15.0 * (at("spring.s") - 1.2) ** 2
    assert total == pytest.approx(np.full_like(T, 0.545 + 0.64 + 0.6), rel=1e-7)


def test_a_damper_along_a_slide_takes_the_speed() -> None:
    model = assembled(
        ("world.frame_b", "slide.frame_a", "damper.frame_a"),
        ("slide.frame_b", "body.frame_a", "damper.frame_b"),
        world=World(),
        slide=Prismatic(n=(3.0, 4.0), s=1.0, v=2.0),
        damper=Damper(d=1.0),
        body=Body(m=2.0, I=0.1, g=0.0),
    )
    result = simulate(model, 2.0, rtol=1e-9)
    assert result["slide.v"].at(T) == pytest.approx(2.0 * np.exp(-0.5 * T), rel=1e-7)
    assert result["body.vy"].at(T) == pytest.approx(1.6 * np.exp(-0.5 * T), rel=1e-7)
    assert result["damper.f"].at(T) == pytest.approx(2.0 * np.exp(-0.5 * T), rel=1e-7)
