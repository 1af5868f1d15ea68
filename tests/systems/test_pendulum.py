"""The plane pendulum: period and force of the rod in closed form, in its angle and in Cartesian coordinates (index 3)."""

from math import cos, radians, sin, sqrt

import numpy as np
import pytest
from scipy.special import ellipk

from acausal import (
    Component,
    Eq,
    Result,
    Variable,
    der,
    simulate,
)
from acausal import sin as sine


class AngularPendulum(Component):
    """A point mass on a rod of 1 m, in its angle."""

    phi: Variable = Variable()
    w: Variable = Variable()

    def equations(self):
        yield Eq(der(self.phi), self.w)
        yield Eq(der(self.w), -9.81 * sine(self.phi))


class CartesianPendulum(Component):
    """The same in Cartesian coordinates; `force` pulls along the rod."""

    x: Variable = Variable()
    y: Variable = Variable()
    vx: Variable = Variable()
    vy: Variable = Variable()
    force: Variable = Variable()

    def equations(self):
        yield Eq(der(self.x), self.vx)
        yield Eq(der(self.y), self.vy)
        yield Eq(der(self.vx), -self.force * self.x)
        yield Eq(der(self.vy), -self.force * self.y - 9.81)
        yield Eq(self.x**2 + self.y**2, 1.0)


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("degrees", [5.0, 30.0, 60.0, 90.0])
@pytest.mark.parametrize("cartesian", [False, True], ids=["angle", "Cartesian"])
def test_pendulum_period(degrees: float, cartesian: bool) -> None:
    """At a quarter of the period, three quarters and so on it passes the lowest point."""
    angle = radians(degrees)
    period = 4 * sqrt(1 / 9.81) * float(ellipk(sin(angle / 2) ** 2))
    if cartesian:
        start = CartesianPendulum(x=sin(angle), y=-cos(angle))
        path = "x"
    else:
        start, path = AngularPendulum(phi=angle), "phi"
    result = simulate(start, 5 * period, rtol=1e-9)
    lowest = zeros(result, path)
    assert len(lowest) == 10
    assert np.abs(lowest - (np.arange(10) + 0.5) * period / 2).max() <= 1e-7
    if cartesian:
        assert result["force"].at(lowest) == pytest.approx(np.full(10, 9.81 * (3 - 2 * cos(angle))), rel=1e-6)


def zeros(result: Result, path: str) -> np.ndarray:
    """Zeros of a smooth signal, by bisection to rounding."""
    from scipy.optimize import brentq

    signal = result[path]
    t = np.linspace(0.0, result.t_end, 401)
    values = signal.at(t)
    at = np.flatnonzero(values[:-1] * values[1:] < 0)
    return np.array([brentq(lambda s: float(signal.at(s)), t[k], t[k + 1], xtol=1e-14) for k in at])
