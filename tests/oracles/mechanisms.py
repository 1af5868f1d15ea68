"""Mechanisms by a smallest set of coordinates: closed forms, and ordinary differential equations."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipj, ellipkinc


def solved(rate: Callable, start: list[float], t: np.ndarray) -> np.ndarray:
    """States (n, k) at the times `t` (k,), the first of which is that of `start`."""
    found = solve_ivp(rate, (t[0], t[-1]), start, "DOP853", t, rtol=2.3e-14, atol=1e-14)
    return found.y


def turning_pendulum(phi0: float, w0: float, g_over_l: float, t: np.ndarray) -> np.ndarray:
    """Angle from the lowest point at `t` of a pendulum that turns over.

    ``phi = 2 am(w_max t' / 2, k)`` with ``k = 2 sqrt(g / L) / w_max`` and the speed ``w_max`` at the lowest point, which is
    passed at ``t' = 0``: E. T. Whittaker, Analytical Dynamics, section 44.
    """
    fastest = np.sqrt(w0**2 + 2 * g_over_l * (1 - np.cos(phi0)))
    m = 4 * g_over_l / fastest**2
    if m >= 1:
        msg = "the pendulum does not turn over"
        raise ValueError(msg)
    begin = np.sign(w0) * ellipkinc(phi0 / 2, m)
    return np.sign(w0) * 2 * ellipj(fastest / 2 * t + begin, m)[3]


@dataclass(frozen=True)
class Hanging:
    """Mass on a string of length `L`, pushed at the lowest point with ``2 g L < v0**2 < 5 g L``.

    The string is slack from the height ``(v0**2 - 2 g L) / (3 g)`` above the centre on, where the centripetal part of the
    weight is all that the circle needs; then the mass flies along a parabola until the string is taut again.
    """

    L: float
    g: float
    v0: float

    @property
    def height(self) -> float:
        """Height above the centre at which the string becomes slack."""
        return (self.v0**2 - 2 * self.g * self.L) / (3 * self.g)

    @property
    def slack(self) -> float:
        """Time at which it does."""
        end = np.pi - np.arccos(self.height / self.L)
        speed = lambda phi: np.sqrt(self.v0**2 - 2 * self.g * self.L * (1 - np.cos(phi))) / self.L  # noqa: E731
        return quad(lambda phi: 1 / speed(phi), 0, end, epsabs=1e-14, epsrel=1e-13)[0]

    def flight(self, t: float) -> np.ndarray:
        """Position and speed ``x, y, vx, vy`` at `t` while the string is slack."""
        tau, y = t - self.slack, self.height
        x, v = np.sqrt(self.L**2 - y**2), np.sqrt(self.g * y)
        vx, vy = -v * y / self.L, v * x / self.L
        return np.array([x + vx * tau, y + vy * tau - self.g / 2 * tau**2, vx, vy - self.g * tau])

    @property
    def taut(self) -> float:
        """Time at which the string is taut again."""
        begin = self.slack
        found = brentq(lambda t: np.hypot(*self.flight(t)[:2]) - self.L, begin + 0.1, begin + 2.0, xtol=1e-15)
        return float(found)  # type: ignore[arg-type]

    @property
    def caught(self) -> np.ndarray:
        """Speed after the string has taken the radial part of it."""
        x, y, vx, vy = self.flight(self.taut)
        along = (-y * vx + x * vy) / self.L
        return np.array([-y, x]) / self.L * along


def leaving_a_sphere(R: float, g: float, phi0: float, v0: float) -> tuple[float, float]:
    """Time at which a mass that slides down a sphere without friction leaves it, and its height above the centre.

    Starts at the angle `phi0` from the top with the speed `v0`; ``3 cos(phi) = 2 cos(phi0) + v0**2 / (g R)``.
    """
    last = np.arccos((2 * np.cos(phi0) + v0**2 / (g * R)) / 3)
    speed = lambda phi: np.sqrt(v0**2 + 4 * g * R * np.sin((phi + phi0) / 2) * np.sin((phi - phi0) / 2)) / R  # noqa: E731
    # The root in the variable of integration takes the pole of a start at rest away.
    end = np.sqrt(last - phi0)
    found = quad(lambda u: 2 * u / speed(phi0 + u * u), 0, end, epsabs=1e-12, epsrel=1e-12)[0]
    return found, R * np.cos(last)


def double_pendulum(start: list[float], g: float, t: np.ndarray) -> np.ndarray:
    """Angles from the vertical and speeds ``a, b, a', b'`` of two equal masses on massless rods of length one."""

    def rate(_: float, y: np.ndarray) -> list[float]:
        a, b, u, w = y
        c, s = np.cos(a - b), np.sin(a - b)
        mass = np.array([[2.0, c], [c, 1.0]])
        force = [-(w**2) * s - 2 * g * np.sin(a), u**2 * s - g * np.sin(b)]
        return [u, w, *np.linalg.solve(mass, force)]

    return solved(rate, start, t)


def moving_support(start: list[float], g: float, amplitude: float, omega: float, t: np.ndarray) -> np.ndarray:
    """Angle from the vertical and its speed of a pendulum of length one, hung at ``x = amplitude * sin(omega * t)``."""

    def rate(t: float, y: np.ndarray) -> list[float]:
        push = -amplitude * omega**2 * np.sin(omega * t)
        return [y[1], -g * np.sin(y[0]) - push * np.cos(y[0])]

    return solved(rate, start, t)


@dataclass(frozen=True)
class Crank:
    """Slider-crank under gravity: mass `m` at the crank pin of radius `r`, massless rod `l`, piston of mass `M`; slides level."""

    r: float
    l: float  # noqa: E741
    m: float
    M: float
    g: float

    def piston(self, phi: np.ndarray) -> np.ndarray:
        """Distance of the piston."""
        return self.r * np.cos(phi) + np.sqrt(self.l**2 - (self.r * np.sin(phi)) ** 2)

    def _slopes(self, phi: float) -> tuple[float, float]:
        """First and second derivative of the distance by the angle."""
        r, s, c = self.r, np.sin(phi), np.cos(phi)
        root = np.sqrt(self.l**2 - (r * s) ** 2)
        first = -r * s - r**2 * s * c / root
        second = -r * c - r**2 * (c * c - s * s) / root - (r**2 * s * c) ** 2 / root**3
        return first, second

    def motion(self, phi0: float, w0: float, t: np.ndarray) -> np.ndarray:
        """Angle and speed at `t`, by the equation of Lagrange."""

        def rate(_: float, y: np.ndarray) -> list[float]:
            first, second = self._slopes(y[0])
            inertia = self.m * self.r**2 + self.M * first**2
            weight = self.m * self.g * self.r * np.cos(y[0])
            return [y[1], -(self.M * first * second * y[1] ** 2 + weight) / inertia]

        return solved(rate, [phi0, w0], t)

    def piston_force(self, phi: np.ndarray, w: float) -> np.ndarray:
        """Force that accelerates the piston at a constant speed of the crank."""
        return self.M * np.array([self._slopes(p)[1] for p in phi]) * w**2
