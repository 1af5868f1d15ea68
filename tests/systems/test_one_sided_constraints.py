"""Strings, surfaces and walls: constraints of index 3 that push or pull, and let go."""

from collections.abc import Iterator

import numpy as np
import pytest

from acausal import Complementarity, Eq, If, Impact, Parameter, Statement, Structural, simulate, sqrt
from tests.oracles.mechanisms import Hanging, leaving_a_sphere
from tests.systems.mechanism_models import Bob, G


class OnAString(Bob):
    """A string cannot push: either it is taut, or it has no force."""

    conditional: Structural[bool] = Structural(bool, default=False)

    def equations(self) -> Iterator[Statement]:
        yield from self.newton()
        yield Eq(self.push, 0)
        if self.conditional:
            yield If(self.T > 0, [Eq(self.x**2 + self.y**2, 1)], [Eq(self.T, 0)], name="taut")
        else:
            yield Complementarity(1 - self.x**2 - self.y**2, self.T, name="taut")


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(("rtol", "bound"), [(1e-4, 1e-3), (1e-6, 1e-5), (1e-9, 1e-8)])
def test_a_string_becomes_slack_where_its_force_vanishes_and_catches_the_mass_again(
    rtol: float, bound: float
) -> None:
    oracle = Hanging(L=1.0, g=G, v0=np.sqrt(3.5 * G))
    result = simulate(OnAString(x=0.0, y=-1.0, vx=oracle.v0), 2.0, rtol=rtol)
    slack, taut = (e for e in result.events if e.kind == "state")
    assert slack.t == pytest.approx(oracle.slack, abs=bound)
    assert result["y"].at(slack.t) == pytest.approx(oracle.height, abs=bound)
    assert slack.jumps == ()
    middle = 0.5 * (slack.t + taut.t)
    flying = [result[name].at(middle) for name in ("x", "y", "vx", "vy")]
    assert flying == pytest.approx(oracle.flight(middle), abs=10 * bound)
    assert taut.t == pytest.approx(oracle.taut, abs=10 * bound)
    caught = [result[name].at(taut.t) for name in ("vx", "vy")]
    assert caught == pytest.approx(oracle.caught, abs=10 * bound)


def test_a_string_by_a_condition_on_its_force() -> None:
    oracle = Hanging(L=1.0, g=G, v0=np.sqrt(3.5 * G))
    result = simulate(OnAString(x=0.0, y=-1.0, vx=oracle.v0, conditional=True), 1.0, rtol=1e-9)
    assert [e.t for e in result.events if e.kind == "state"] == pytest.approx([oracle.slack], abs=1e-8)
    flying = [result[name].at(1.0) for name in ("x", "y", "vx", "vy")]
    assert flying == pytest.approx(oracle.flight(1.0), abs=1e-7)


class OnASphere(Bob):
    """A mass that slides on a sphere of radius one until it leaves it."""

    distance: Structural[bool] = Structural(
        bool, default=False, doc="The gap is a length, not a difference of squares"
    )

    def equations(self) -> Iterator[Statement]:
        yield from self.newton()
        yield Eq(self.push, 0)
        square = self.x**2 + self.y**2
        yield Complementarity((sqrt(square) if self.distance else square) - 1, -self.T, name="contact")


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("distance", [False, True])
@pytest.mark.parametrize("phi0, v0", [(0.2, 0.0), (0.0, 0.5)])
def test_a_mass_leaves_a_sphere_where_two_thirds_of_its_height_are_left(
    phi0: float, v0: float, distance: bool
) -> None:
    model = OnASphere(x=np.sin(phi0), y=np.cos(phi0), vx=v0, distance=distance)
    result = simulate(model, 1.5, rtol=1e-9)
    t, height = leaving_a_sphere(1.0, G, phi0, v0)
    (left,) = (e for e in result.events if e.kind == "state")
    assert left.t == pytest.approx(t, abs=1e-8)
    assert result["y"].at(left.t) == pytest.approx(height, abs=1e-8)
    assert left.modes == {"contact": ("on", "off")} and left.jumps == ()


class AtAWall(Bob):
    """A pendulum that hits a wall left of its lowest point."""

    e: Parameter = Parameter(default=0.5)

    def equations(self) -> Iterator[Statement]:
        yield from self.newton()
        yield Eq(self.x**2 + self.y**2, 1)
        yield Impact(self.x + 0.3, self.push, restitution=self.e, name="wall")


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_pendulum_rebounds_from_a_wall(e: float) -> None:
    """The rod turns the impulse of the wall: both coordinates of the speed are multiplied by -e."""
    result = simulate(AtAWall(x=1.0, y=0.0, e=e), 1.2, rtol=1e-9)
    hit = next(event for event in result.events if event.kind == "state")
    height = -np.sqrt(1 - 0.09)
    speed = np.sqrt(-2 * G * height)
    before = {name: b for name, b, _ in hit.jumps}
    after = {name: a for name, _, a in hit.jumps}
    assert [before["vx"], before["vy"]] == pytest.approx([speed * height, 0.3 * speed], abs=1e-7)
    assert [after["vx"], after["vy"]] == pytest.approx([-e * speed * height, -e * 0.3 * speed], abs=1e-7)
    assert hit.lost.get("wall", 0.0) == pytest.approx(0.5 * (1 - e**2) * speed**2, abs=1e-6)
    impulse = next(size for name, size, _ in hit.impulses if name == "push")
    assert impulse == pytest.approx((1 + e) * speed / -height, rel=1e-7)
