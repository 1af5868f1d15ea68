"""Car axis of the Test Set for IVP Solvers: index 3, one constraint depends on time; against published and own solutions."""

from math import cos, sin, sqrt

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from acausal import (
    Component,
    Eq,
    Parameter,
    Result,
    Variable,
    der,
    simulate,
    time,
)
from acausal import sin as sine
from acausal import (
    sqrt as root,
)


class CarAxis(Component):
    """Two masses on springs above the wheels, on a rigid axle; the right wheel rolls over a bump."""

    m: Parameter = Parameter(default=5e-4, doc="Mass")
    w: Parameter = Parameter(default=10.0, unit="rad/s", doc="Frequency of the bump")
    xl: Variable = Variable(start=0.0)
    yl: Variable = Variable(start=0.5)
    xr: Variable = Variable(start=1.0)
    yr: Variable = Variable(start=0.5)
    vxl: Variable = Variable(start=-0.5)
    vyl: Variable = Variable()
    vxr: Variable = Variable(start=-0.5)
    vyr: Variable = Variable()
    lambda1: Variable = Variable()
    lambda2: Variable = Variable()
    xb: Variable = Variable(start=1.0)
    yb: Variable = Variable()

    def equations(self):
        xl, yl, xr, yr, xb, yb = self.xl, self.yl, self.xr, self.yr, self.xb, self.yb
        left, right = root(xl**2 + yl**2), root((xr - xb) ** 2 + (yr - yb) ** 2)
        yield Eq(yb, 0.1 * sine(self.w * time))
        yield Eq(xb, root(1 - yb**2))
        for x, v in ((xl, self.vxl), (yl, self.vyl), (xr, self.vxr), (yr, self.vyr)):
            yield Eq(der(x), v)
        pull_l, pull_r = (0.5 - left) / left, (0.5 - right) / right
        yield Eq(der(self.m * self.vxl), pull_l * xl + self.lambda1 * xb + 2 * self.lambda2 * (xl - xr))
        yield Eq(
            der(self.m * self.vyl), pull_l * yl + self.lambda1 * yb + 2 * self.lambda2 * (yl - yr) - self.m
        )
        yield Eq(der(self.m * self.vxr), pull_r * (xr - xb) - 2 * self.lambda2 * (xl - xr))
        yield Eq(der(self.m * self.vyr), pull_r * (yr - yb) - 2 * self.lambda2 * (yl - yr) - self.m)
        yield Eq(xb * xl + yb * yl, 0)
        yield Eq((xl - xr) ** 2 + (yl - yr) ** 2, 1)


@pytest.fixture(scope="module")
def axis() -> Result:
    return simulate(CarAxis(), 3.0, rtol=1e-8)


def test_car_axis_at_the_end(axis: Result) -> None:
    """Test Set for IVP Solvers, Car Axis problem: reference solution at t = 3."""
    positions = {
        "xl": 0.4934557842755629e-1,
        "yl": 0.4969894602303324,
        "xr": 0.1041742524885400e1,
        "yr": 0.3739110272652214,
    }
    speeds = {
        "vxl": -0.7705836840321485e-1,
        "vyl": 0.7446866596327776e-2,
        "vxr": 0.1755681574942899e-1,
        "vyr": 0.7703410437794031,
    }
    for name, value in positions.items():
        assert axis[name].final == pytest.approx(value, abs=1e-6)
    for name, value in speeds.items():
        assert axis[name].final == pytest.approx(value, abs=1e-5)
    assert axis["lambda1"].final == pytest.approx(-0.4736886750784630e-2, abs=1e-5)
    assert axis["lambda2"].final == pytest.approx(-0.1104680411345730e-2, abs=1e-5)


def test_car_axis_keeps_its_constraints_and_their_derivatives(axis: Result) -> None:
    t = np.linspace(0.0, 3.0, 3001)
    xl, yl, xr, yr = (axis[name].at(t) for name in ("xl", "yl", "xr", "yr"))
    vxl, vyl, vxr, vyr = (axis[name].at(t) for name in ("vxl", "vyl", "vxr", "vyr"))
    yb, dyb = 0.1 * np.sin(10 * t), np.cos(10 * t)
    xb = np.sqrt(1 - yb**2)
    dxb = -yb * dyb / xb
    assert np.abs(xb * xl + yb * yl).max() < 1e-13
    assert np.abs((xl - xr) ** 2 + (yl - yr) ** 2 - 1).max() < 1e-13
    assert np.abs(xb * vxl + dxb * xl + yb * vyl + dyb * yl).max() < 1e-12
    assert np.abs((xl - xr) * (vxl - vxr) + (yl - yr) * (vyl - vyr)).max() < 1e-12
    assert (axis.modes[0].states, axis.modes[0].index) == (4, 3)


def test_car_axis_through_the_whole_run(axis: Result) -> None:
    """Multipliers from the differentiated constraints at each point, integrated by an explicit method of order 8."""
    m = 5e-4

    def accelerations(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        yb, dyb, ddyb = 0.1 * sin(10 * t), cos(10 * t), -10 * sin(10 * t)
        xb = sqrt(1 - yb**2)
        dxb = -yb * dyb / xb
        ddxb = -(dyb**2 + yb * ddyb + dxb**2) / xb
        xl, yl, xr, yr = q
        left, right = np.hypot(xl, yl), np.hypot(xr - xb, yr - yb)
        force = np.array([xl, yl, xr - xb, yr - yb])
        force[:2] *= (0.5 - left) / left
        force[2:] *= (0.5 - right) / right
        force[[1, 3]] -= m
        dx, dy = xl - xr, yl - yr
        rows = np.array([[xb, yb, 0.0, 0.0], [2 * dx, 2 * dy, -2 * dx, -2 * dy]])
        moved = np.array(
            [
                2 * (dxb * v[0] + dyb * v[1]) + ddxb * xl + ddyb * yl,
                2 * ((v[0] - v[2]) ** 2 + (v[1] - v[3]) ** 2),
            ]
        )
        multipliers = np.linalg.solve(rows @ rows.T / m, -moved - rows @ force / m)
        return (force + rows.T @ multipliers) / m

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[4:], accelerations(t, y[:4], y[4:])])

    t = np.linspace(0.0, 3.0, 61)
    start = [0.0, 0.5, 1.0, 0.5, -0.5, 0.0, -0.5, 0.0]
    run = solve_ivp(slope, (0.0, 3.0), start, "DOP853", t, rtol=1e-11, atol=1e-12)
    for k, name in enumerate(("xl", "yl", "xr", "yr")):
        assert axis[name].at(t) == pytest.approx(run.y[k], abs=1e-6)
    for k, name in enumerate(("vxl", "vyl", "vxr", "vyr")):
        assert axis[name].at(t) == pytest.approx(run.y[4 + k], abs=1e-5)
