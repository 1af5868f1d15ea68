"""Energy that an impact takes where momenta are no linear functions of speeds, against what moved before and after it."""

import numpy as np
import pytest

from acausal import Component, Eq, Impact, Parameter, Variable, cos, der, simulate, sin, sqrt
from tests.systems.test_impacts import METHODS, Relativistic


def kinetic(v: float) -> float:
    """Energy of a unit mass at a speed in units of that of light."""
    return 1.0 / np.sqrt(1.0 - v**2) - 1.0


class Caught(Component):
    """A relativistic body catches up with a slow heavy one, and both go on together."""

    x: Variable = Variable(start=-0.8)
    v: Variable = Variable(start=0.8)
    p: Variable = Variable(start=0.8 / 0.6)
    X: Variable = Variable()
    V: Variable = Variable()
    f: Variable = Variable()

    def equations(self):
        yield Eq(der(self.x), self.v)
        yield Eq(self.p * sqrt(1 - self.v**2), self.v)
        yield Eq(der(self.p), -self.f)
        yield Eq(der(self.X), self.V)
        yield Eq(4.0 * der(self.V), self.f)
        yield Impact(self.X - self.x, self.f)


class Hardening(Component):
    """A body with momentum ``v + v**3`` meets a wall after 1 s, and rests there."""

    x: Variable = Variable(start=1.0)
    v: Variable = Variable(start=-1.0)
    p: Variable = Variable(start=-2.0)
    f: Variable = Variable()

    def equations(self):
        yield Eq(der(self.x), self.v)
        yield Eq(self.p, self.v + self.v**3)
        yield Eq(der(self.p), self.f)
        yield Impact(self.x, self.f)


class Arm(Component):
    """A relativistic body on an arm of 1 m that turns against a stop at its tip, at 30 degrees."""

    phi: Variable = Variable(start=0.0)
    y: Variable = Variable()
    w: Variable = Variable(start=0.5)
    L: Variable = Variable(start=0.5 / np.sqrt(0.75))
    f: Variable = Variable()

    def equations(self):
        yield Eq(der(self.phi), self.w)
        yield Eq(self.y, sin(self.phi))
        yield Eq(self.L * sqrt(1 - self.w**2), self.w)
        yield Eq(der(self.L), -self.f * cos(self.phi))
        yield Impact(0.5 - self.y, self.f)


@METHODS
def test_a_body_whose_momentum_has_a_limit_loses_what_it_has(method: str) -> None:
    result = simulate(Relativistic(e=0.0), 2.5, method=method)
    assert result.events[-1].lost["contact"] == pytest.approx(kinetic(0.8), rel=1e-9)


@METHODS
def test_a_body_whose_mass_grows_with_its_speed_loses_what_it_has(method: str) -> None:
    """The work is the integral of v dp, v**2 / 2 + 3 v**4 / 4."""
    result = simulate(Hardening(), 2.0, method=method)
    assert result.events[-1].lost["contact"] == pytest.approx(1.25, rel=1e-9)


@METHODS
def test_a_body_that_is_caught_takes_part_of_the_energy(method: str) -> None:
    result = simulate(Caught(), 2.5, method=method)
    V = result["V"].final
    assert result["v"].final == pytest.approx(V, rel=1e-9)
    assert V / np.sqrt(1 - V**2) + 4.0 * V == pytest.approx(0.8 / 0.6, rel=1e-9)
    lost = kinetic(0.8) - kinetic(V) - 2.0 * V**2
    assert result.events[-1].lost["contact"] == pytest.approx(lost, rel=1e-8)


@METHODS
def test_an_arm_that_is_stopped_loses_what_it_has(method: str) -> None:
    result = simulate(Arm(), 2.0, method=method)
    assert result.events[-1].t == pytest.approx(np.pi / 3.0, rel=1e-6)
    assert result.events[-1].lost["contact"] == pytest.approx(kinetic(0.5), rel=1e-5)


class SliderCrank(Component):
    """A wheel of 0.1 kg m2 turns freely and moves a slider of 2 kg over a rod of 0.3 m; a stop meets the slider."""

    r: Parameter = Parameter(default=0.1)
    phi: Variable = Variable(start=0.5)
    psi: Variable = Variable(start=0.1)
    x: Variable = Variable(start=0.4)
    w: Variable = Variable(start=6.0)
    v: Variable = Variable()
    across: Variable = Variable()
    along: Variable = Variable()
    f: Variable = Variable()

    def equations(self):
        yield Eq(der(self.phi), self.w)
        yield Eq(der(self.x), self.v)
        yield Eq(self.r * cos(self.phi) + 0.3 * cos(self.psi), self.x)
        yield Eq(self.r * sin(self.phi), 0.3 * sin(self.psi))
        yield Eq(0.1 * der(self.w), self.r * (self.along * sin(self.phi) + self.across * cos(self.phi)))
        yield Eq(2.0 * der(self.v), self.along + self.f)
        yield Eq(self.along * sin(self.psi), self.across * cos(self.psi))
        yield Impact(self.x - 0.25, self.f)


@METHODS
def test_a_slider_crank_that_is_stopped_loses_what_it_has(method: str) -> None:
    """Momenta are linear in the speeds at any position: the effective mass changes, and all of the energy is lost."""
    result = simulate(SliderCrank(), 1.0, initial={"phi": 0.5, "w": 6.0}, method=method)
    assert result["w"].final == pytest.approx(0.0, abs=1e-9)
    psi = np.arcsin(0.1 * np.sin(0.5) / 0.3)
    v = -0.1 * 6.0 * (np.sin(0.5) + np.cos(0.5) * np.tan(psi))
    assert result["v"].at(0.0) == pytest.approx(v, rel=1e-6)
    assert result.events[-1].lost["contact"] == pytest.approx(0.05 * 36.0 + v**2, rel=1e-5)
