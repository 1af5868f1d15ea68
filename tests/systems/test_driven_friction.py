"""Friction whose speed a mechanism leads through zero: it cannot rest there, whatever it takes to break away."""

from collections.abc import Iterator

import numpy as np
import pytest

import acausal as ac

RADIUS, INERTIA, SLIDING, PHI, SPEED = 0.1, 0.02, 4.0, 0.5, 20.0


class Yoke(ac.Component):
    """A flywheel moves two slides at right angles by Scotch yokes; both rub."""

    along: ac.Parameter = ac.Parameter(unit="N", doc="Breakaway force of the first slide")
    across: ac.Parameter = ac.Parameter(unit="N", doc="Breakaway force of the second slide")
    part: ac.Parameter = ac.Parameter(unit="1", doc="Sliding force of the second slide, by that of the first")
    r: ac.Parameter = ac.Parameter(default=RADIUS, unit="m")
    J: ac.Parameter = ac.Parameter(default=INERTIA, unit="kg.m2")
    F: ac.Parameter = ac.Parameter(default=SLIDING, unit="N")
    phi: ac.Variable = ac.Variable(unit="rad", start=PHI)
    w: ac.Variable = ac.Variable(unit="rad/s", start=SPEED)
    x: ac.Variable = ac.Variable(unit="m")
    y: ac.Variable = ac.Variable(unit="m")
    fx: ac.Variable = ac.Variable(unit="N")
    fy: ac.Variable = ac.Variable(unit="N")

    def equations(self) -> Iterator[ac.Statement]:
        dx, dy = -self.r * ac.sin(self.phi), self.r * ac.cos(self.phi)
        yield ac.Eq(ac.der(self.phi), self.w)
        yield ac.Eq(self.x, dy)
        yield ac.Eq(self.y, -dx)
        yield ac.Eq(ac.der(self.J * self.w), -self.fx * dx - self.fy * dy)
        yield ac.DryFriction(ac.der(self.x), self.fx, sliding=self.F, breakaway=self.along, name="first")
        yield ac.DryFriction(
            ac.der(self.y), self.fy, sliding=self.part * self.F, breakaway=self.across, name="second"
        )


def way(phi: np.ndarray) -> np.ndarray:
    """Way of a slide at r cos(phi) from phi = 0 on."""
    turns = np.floor(phi / np.pi)
    return RADIUS * (2 * turns + 1 - np.cos(phi - turns * np.pi))


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("method", ["explicit", "implicit"])
@pytest.mark.parametrize(
    ("along", "across", "share"), [(4.0, 0.0, 0.0), (4.001, 0.0, 0.0), (6e3, 0.0, 0.0), (5.0, 3.0, 0.5)]
)
def test_dead_centres_are_passed_at_any_breakaway_force(
    along: float, across: float, share: float, method: str
) -> None:
    """What the ways of the slides take is missing in the kinetic energy."""
    result = ac.simulate(Yoke(along=along, across=across, part=share), 0.5, method=method, rtol=1e-8)
    t = np.linspace(0.0, 0.5, 101)
    phi, w = result["phi"].at(t), result["w"].at(t)
    first, second = way(phi) - way(np.array(PHI)), way(phi + np.pi / 2) - way(np.array(PHI + np.pi / 2))
    left = SPEED**2 - 2 * SLIDING / INERTIA * (first + share * second)
    assert result["phi"].final > 2 * np.pi
    assert w**2 == pytest.approx(left, abs=1e-5)
