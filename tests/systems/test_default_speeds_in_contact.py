"""A default speed does not follow a given one through a contact that only pushes: what touches collides in the first instant."""

from typing import Any

import pytest

import acausal.components.translational as tr
from acausal import Circuit, Result, simulate

METHODS = ["exact", "explicit", "implicit"]
pytestmark = pytest.mark.filterwarnings("ignore:given starts contradict")


def row(count: int, e: float, first: dict[str, float], rest: dict[str, float], method: str) -> Result:
    """Balls of 1 kg that touch each other."""
    c = Circuit()
    balls: list[Any] = [c.add("m0", tr.Mass(m=1.0, **first))]
    balls += [c.add(f"m{i}", tr.Mass(m=1.0, **rest)) for i in range(1, count)]
    for i in range(count - 1):
        h = c.add(f"h{i}", tr.ImpactStop(restitution=e))
        c.connect(balls[i].flange_b, h.flange_a)
        c.connect(h.flange_b, balls[i + 1].flange_a)
    return simulate(c, 0.5, method=method)


@pytest.mark.sweep(every=15)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "rest", [{}, {"v": 0.0}, {"s": 0.0}, {"s": 0.0, "v": 0.0}], ids=["none", "v", "s", "both"]
)
@pytest.mark.parametrize("v", [1.0, 1e-9, 1e6])
@pytest.mark.parametrize("count", [2, 4])
def test_the_last_ball_of_a_cradle_flies_away(
    count: int, v: float, rest: dict[str, float], method: str
) -> None:
    result = row(count, 1.0, {"v": v}, rest, method)
    assert [result[f"m{i}.v"].final for i in range(count)] == pytest.approx(
        [0.0] * (count - 1) + [v], abs=1e-12 * v
    )
    assert result.check().ok


@pytest.mark.parametrize("method", METHODS)
def test_balls_that_stick_together_lose_what_momentum_says(method: str) -> None:
    result = row(2, 0.0, {"v": 1.0}, {}, method)
    assert [result[f"m{i}.v"].final for i in range(2)] == pytest.approx([0.5, 0.5], rel=1e-12)
    assert result.audit().energy_lost == pytest.approx(0.25, rel=1e-12)


def test_balls_that_part_stay_as_they_are() -> None:
    result = row(3, 1.0, {"v": -1.0}, {}, "auto")
    assert [result[f"m{i}.v"].final for i in range(3)] == [-1.0, 0.0, 0.0]


def test_a_default_follows_what_it_is_rigidly_joined_to() -> None:
    c = Circuit()
    a, b = c.add("a", tr.Mass(m=1.0, v=1.0)), c.add("b", tr.Mass(m=1.0))
    c.connect(a.flange_b, b.flange_a)
    result = simulate(c, 0.5)
    assert result["b.v"].at(0.0) == 1.0
    assert result.audit().lost == {}


@pytest.mark.parametrize("method", METHODS)
def test_a_moving_wall_hits_what_rests_on_it(method: str) -> None:
    """Nothing is given for the ball: a wall of any mass throws it off at twice its speed."""
    c = Circuit()
    wall, ball = c.add("wall", tr.ConstantSpeed(v_fixed=2.0)), c.add("ball", tr.Mass(m=1.0))
    h = c.add("h", tr.ImpactStop(restitution=1.0))
    c.connect(wall.flange, h.flange_a)
    c.connect(h.flange_b, ball.flange_a)
    result = simulate(c, 0.5, method=method)
    assert result["ball.v"].final == pytest.approx(4.0, rel=1e-12)
