"""Forces from signals, sensors, bodies with shape, spring-dampers and rolling wheels against closed forms."""

from math import cos, pi, sqrt

import numpy as np
import pytest

from acausal import RequirementError, simulate
from acausal.components.blocks import Ramp
from acausal.components.planar import (
    AbsolutePosition,
    AbsoluteVelocity,
    Body,
    BodyShape,
    CutForce,
    Damper,
    FixedTranslation,
    FrameForce,
    IdealRolling,
    Prismatic,
    Revolute,
    SpringDamper,
    World,
    WorldForce,
)
from acausal.components.thermal import HeatCapacitor
from tests.components.signals import assembled
from tests.oracles.pendulum import pendulum_angle

G = 9.80665
T = np.linspace(0.0, 2.0, 41)


def test_a_force_in_the_world_pushes_and_turns_a_body() -> None:
    result = simulate(
        assembled(
            ("ramp.y", "force.fx"),
            ("force.frame_b", "body.frame_a", "position.frame_a", "velocity.frame_a"),
            ramp=Ramp(height=12.0, duration=2.0),
            force=WorldForce(fy=5.0, tau=0.6),
            body=Body(m=2.0, I=0.3),
            position=AbsolutePosition(),
            velocity=AbsoluteVelocity(),
        ),
        2.0,
    )
    assert result["velocity.vx"].at(T) == pytest.approx(1.5 * T**2, abs=1e-12)
    assert result["position.x"].at(T) == pytest.approx(0.5 * T**3, abs=1e-12)
    assert result["velocity.vy"].at(T) == pytest.approx((2.5 - G) * T, abs=1e-11)
    assert result["position.y"].at(T) == pytest.approx((2.5 - G) * T**2 / 2, abs=1e-11)
    assert result["velocity.w"].at(T) == pytest.approx(2.0 * T, abs=1e-12)
    assert result["position.phi"].at(T) == pytest.approx(T**2, abs=1e-12)
    assert result.energy("body") == pytest.approx(-result.energy("force"), rel=1e-9)


def test_a_thrust_turns_with_the_body_it_drives() -> None:
    """At 3 rad/s the acceleration (4, 1) turns: ``v = int R(3 t) (4, 1)``."""
    result = simulate(
        assembled(
            ("force.frame_b", "body.frame_a"),
            force=FrameForce(fx=8.0, fy=2.0, tau=0.0),
            body=Body(m=2.0, I=0.3, g=0.0, w=3.0),
        ),
        2.0,
        rtol=1e-9,
    )
    s, c = np.sin(3 * T) / 3, (1 - np.cos(3 * T)) / 3
    assert result["body.vx"].at(T) == pytest.approx(4.0 * s - 1.0 * c, abs=1e-7)
    assert result["body.vy"].at(T) == pytest.approx(4.0 * c + 1.0 * s, abs=1e-7)


def test_a_bar_swings_as_a_compound_pendulum_and_loads_its_hinge() -> None:
    """At the lowest point the hinge carries ``m g + m w**2 L / 2``."""
    m, length = 3.0, 0.8
    inertia = m * length**2 / 12
    result = simulate(
        assembled(
            ("world.frame_b", "cut.frame_a"),
            ("cut.frame_b", "hinge.frame_a"),
            ("hinge.frame_b", "bar.frame_a"),
            world=World(),
            cut=CutForce(),
            hinge=Revolute(phi=-pi / 2 + 1.1),
            bar=BodyShape(r=(length, 0.0), r_CM=(length / 2, 0.0), m=m, I=inertia),
        ),
        2.0,
        rtol=1e-9,
    )
    angle = pendulum_angle(1.1, sqrt(1.5 * G / length), T)
    assert result["hinge.phi"].at(T) + pi / 2 == pytest.approx(angle, abs=1e-7)
    assert result["bar.frame_b.y"].at(T) == pytest.approx(-length * np.cos(angle), abs=1e-7)
    w2 = 3.0 * G / length * (np.cos(angle) - cos(1.1))
    along = m * G * np.cos(angle) + m * w2 * length / 2
    fx, fy = result["cut.fx"].at(T), result["cut.fy"].at(T)
    # The force on the bar towards the hinge is what cut passes on.
    assert -fx * np.sin(angle) + fy * np.cos(angle) == pytest.approx(along, abs=1e-5)
    assert result["cut.tau"].at(T) == pytest.approx(np.zeros_like(T), abs=1e-9)


def test_a_spring_damper_along_a_slide() -> None:
    m, c, d = 2.0, 50.0, 4.0
    result = simulate(
        assembled(
            ("world.frame_b", "slide.frame_a", "part.frame_a"),
            ("slide.frame_b", "part.frame_b", "body.frame_a"),
            world=World(),
            slide=Prismatic(s=1.5),
            part=SpringDamper(c=c, d=d, s_unstretched=1.0),
            body=Body(m=m, g=0.0),
        ),
        2.0,
        rtol=1e-9,
    )
    alpha = d / (2 * m)
    w = sqrt(c / m - alpha**2)
    s = 1.0 + 0.5 * np.exp(-alpha * T) * (np.cos(w * T) + alpha / w * np.sin(w * T))
    assert result["slide.s"].at(T) == pytest.approx(s, abs=1e-7)
    assert result.audit().balance == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    "part",
    [Damper(d=4.0, useHeatPort=True), SpringDamper(c=50.0, d=4.0, s_unstretched=1.0, useHeatPort=True)],
    ids=["damper", "spring and damper"],
)
def test_what_damping_takes_becomes_heat(part: Damper | SpringDamper) -> None:
    """All that motion and spring lose warms the capacity."""
    m, C = 2.0, 5.0
    result = simulate(
        assembled(
            ("world.frame_b", "slide.frame_a", "part.frame_a"),
            ("slide.frame_b", "part.frame_b", "body.frame_a"),
            ("part.heatPort", "oil.port"),
            world=World(),
            slide=Prismatic(),
            part=part,
            body=Body(m=m, g=0.0),
            oil=HeatCapacitor(C=C, T=300.0),
        ),
        1.0,
        initial={"slide.s": 1.5, "slide.v": 2.0},
        rtol=1e-9,
    )

    def energy(s: float, v: float) -> float:
        return m * v**2 / 2 + (50.0 * (s - 1.0) ** 2 / 2 if isinstance(part, SpringDamper) else 0.0)

    lost = energy(1.5, 2.0) - energy(result["slide.s"].final, result["slide.v"].final)
    assert lost > 1.0
    assert result["oil.T"].final == pytest.approx(300.0 + lost / C, abs=1e-6)


@pytest.mark.parametrize("inertia", [0.0, 0.08], ids=["hoop without inertia", "disc"])
def test_a_wheel_rolls_before_a_force(inertia: float) -> None:
    """``a = F / (m + I / R**2)``; friction with the ground turns it."""
    m, R, F = 4.0, 0.2, 6.0
    result = simulate(
        assembled(
            ("force.frame_b", "body.frame_a", "wheel.frame_a"),
            force=WorldForce(fx=F, fy=0.0, tau=0.0),
            body=Body(m=m, I=inertia),
            wheel=IdealRolling(R=R, x0=1.0),
        ),
        2.0,
        initial={"body.frame_a.phi": 0.0},
    )
    a = F / (m + inertia / R**2)
    assert result["body.vx"].at(T) == pytest.approx(a * T, abs=1e-11)
    assert result["body.frame_a.x"].at(T) == pytest.approx(1.0 + a * T**2 / 2, abs=1e-11)
    assert result["body.w"].at(T) == pytest.approx(-a / R * T, abs=1e-10)
    assert result["wheel.f_long"].at(T) == pytest.approx(np.full_like(T, -inertia * a / R**2), abs=1e-11)
    assert result["wheel.f_N"].at(T) == pytest.approx(np.full_like(T, m * G), rel=1e-11)
    assert (result.modes[0].states, result.modes[0].path) == (2, "exact")


def test_a_point_on_a_rolling_wheel_draws_a_cycloid() -> None:
    result = simulate(
        assembled(
            ("wheel.frame_a", "spoke.frame_a", "body.frame_a"),
            wheel=IdealRolling(R=0.5),
            spoke=FixedTranslation(r=(0.0, -0.5)),
            body=Body(m=1.0, I=0.1, w=-3.0),
        ),
        2.0,
        rtol=1e-9,
    )
    x, y = result["spoke.frame_b.x"].at(T), result["spoke.frame_b.y"].at(T)
    assert x == pytest.approx(0.5 * (3 * T - np.sin(3 * T)), abs=1e-9)
    assert y == pytest.approx(0.5 * (1 - np.cos(3 * T)), abs=1e-9)


def test_a_wheel_without_radius_is_refused() -> None:
    with pytest.raises(RequirementError, match="the `R` must not be zero"):
        simulate(assembled(wheel=IdealRolling(R=0.0)), 1.0)
