import numpy as np
import pytest

from tests.oracles.linkages import FourBar, SliderCrank
from tests.oracles.pendulum import pendulum_angle


def test_the_pendulum_keeps_its_energy_and_begins_at_rest():
    t, h = np.linspace(0.01, 10.0, 50), 1e-5
    phi = pendulum_angle(1.5, 3.0, t)
    w = (pendulum_angle(1.5, 3.0, t + h) - pendulum_angle(1.5, 3.0, t - h)) / (2 * h)
    np.testing.assert_allclose(w**2 / 2 - 9.0 * np.cos(phi), -9.0 * np.cos(1.5), atol=1e-8)
    assert pendulum_angle(1.5, 3.0, np.array([0.0]))[0] == pytest.approx(1.5, rel=1e-14)


def test_the_inertia_of_a_slider_crank_is_that_of_its_velocities():
    crank = SliderCrank(r=0.1, length=0.3, J=0.02, m=0.5, inertia_of_rod=0.004, M=0.8)
    phi, h = np.linspace(0.0, 6.0, 30), 1e-6

    def slope(f):
        return (f(phi + h) - f(phi - h)) / (2 * h)

    def tilt(x):
        return -np.arcsin(0.1 / 0.3 * np.sin(x))

    x = slope(lambda p: 0.1 * np.cos(p) + 0.15 * np.cos(tilt(p)))
    y = slope(lambda p: 0.1 * np.sin(p) + 0.15 * np.sin(tilt(p)))
    direct = 0.02 + 0.5 * (x**2 + y**2) + 0.004 * slope(tilt) ** 2 + 0.8 * slope(crank.piston) ** 2
    np.testing.assert_allclose(crank.inertia(phi), direct, rtol=1e-8)


@pytest.mark.parametrize("side", [1, -1])
def test_the_loop_of_a_four_bar_linkage_closes(side: int):
    phi = np.linspace(0.0, 10.0, 101)
    psi = FourBar(a=0.1, b=0.35, c=0.25, d=0.4).rocker(phi, side)
    gap = np.hypot(0.4 + 0.25 * np.cos(psi) - 0.1 * np.cos(phi), 0.25 * np.sin(psi) - 0.1 * np.sin(phi))
    np.testing.assert_allclose(gap, 0.35, rtol=1e-13)
