"""A six-bar with motor and stop, of one degree of freedom, against its reduced equation of motion."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from acausal import compile_model
from benchmarks.machines import SixBar

V, R, L, K, J, J_ROCKER, MASS = 24.0, 0.5, 1e-3, 0.5, 0.02, 0.05, 2.0
STEP = 1e-6
"""Of central differences."""


def places(p: float) -> tuple[float, float]:
    """Angle of the rocker and place of the slider over the angle of the crank, by the law of cosines."""
    a, b, c, d = SixBar.CRANK, SixBar.COUPLER, SixBar.ROCKER, SixBar.BASE
    x, y = a * np.cos(p) - d, a * np.sin(p)
    reach = np.hypot(x, y)
    u = np.arctan2(y, x) % (2.0 * np.pi) - np.arccos((reach**2 + c**2 - b**2) / (2.0 * reach * c))
    return u, c * np.cos(u) + np.sqrt(SixBar.ROD**2 - (c * np.sin(u)) ** 2)


def ratios(p: float) -> np.ndarray:
    """Speeds of rocker and slider in units of that of the crank."""
    return np.subtract(places(p + STEP), places(p - STEP)) / (2.0 * STEP)


def inertia(p: float) -> float:
    u, s = ratios(p)
    return J + J_ROCKER * u**2 + MASS * s**2


def motion(_: float, y: np.ndarray) -> list[float]:
    p, w, i = y
    bend = (inertia(p + 1e-4) - inertia(p - 1e-4)) / 2e-4
    return [w, (K * i - 0.5 * bend * w**2) / inertia(p), (V - R * i - K * w) / L]


def at_stop(_: float, y: np.ndarray) -> float:
    return SixBar.STOP - places(y[0])[1]


at_stop.terminal, at_stop.direction = True, -1.0  # type: ignore[attr-defined]


def test_impacts_come_when_the_reduced_equation_says() -> None:
    """At the stop the slider turns round, and all the rest of the mechanism with it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = compile_model(SixBar()).simulate(0.25, rtol=1e-7, initial=SixBar.START)
    t, y, wanted = 0.0, np.array([np.pi, 0.0, 0.0]), []
    for _ in range(3):
        found = solve_ivp(motion, (t, 0.3), y, "DOP853", events=at_stop, rtol=1e-9, atol=1e-10)
        t, y = found.t[-1], found.y[:, -1]
        wanted.append(t)
        y[1] *= -SixBar.RESTITUTION
    assert [event.t for event in result.events][1:] == pytest.approx(wanted, abs=1e-6)
    assert result["guide.s"].values.max() <= SixBar.STOP * (1.0 + 1e-12)
    assert result.check().ok


def test_it_comes_to_rest_at_the_stop_where_the_motor_stalls() -> None:
    result = compile_model(SixBar()).simulate(0.4, initial=SixBar.START)
    assert abs(result["crank.w"].final) < 1e-9
    assert result["guide.s"].final == pytest.approx(SixBar.STOP, rel=1e-12)
    assert result["emf.i"].final == pytest.approx(V / R, rel=1e-9)
