"""Loops that turn many times, and begin many turns away: no step passes over a turn, or to another branch."""

from collections.abc import Iterator

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from acausal import (
    Component,
    Eq,
    Parameter,
    Result,
    Statement,
    Variable,
    absolute,
    cos,
    der,
    if_else,
    no_event,
    simulate,
    sin,
    time,
)
from tests.oracles.mechanisms import Crank

FAR = 2000.0 * np.pi
METHODS = pytest.mark.parametrize("method", ["explicit", "implicit", "auto"])


class Rocker(Component):
    """A rocker that a crank of constant speed moves: nothing but a straight line is integrated."""

    reach: Parameter = Parameter(default=0.4)
    phi: Variable = Variable()
    q: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.phi), 1)
        yield Eq(sin(self.q), self.reach * sin(self.phi))


def rocking(result: Result, reach: float) -> float:
    """Largest error of a rocker."""
    t = np.linspace(0.0, result.t_end, 1999)
    wanted = np.arcsin(reach * np.sin(result["phi"].at(t)))
    return float(np.abs(result["q"].at(t) - wanted).max())


@pytest.mark.sweep(every=4)
@METHODS
@pytest.mark.parametrize("rtol", [1e-3, 1e-9])
@pytest.mark.parametrize(("start", "reach"), [(0.5, 0.4), (0.5, 0.99), (FAR + 0.5, 0.4)])
def test_a_rocker_follows_its_crank(start: float, reach: float, rtol: float, method: str) -> None:
    begin = {"phi": start, "q": np.arcsin(reach * np.sin(start))}
    result = simulate(Rocker(reach=reach), 20.0 * np.pi, rtol=rtol, method=method, initial=begin)
    assert rocking(result, reach) < 1e-11


def test_a_rocker_follows_its_crank_for_a_thousand_turns() -> None:
    begin = {"phi": 0.5, "q": np.arcsin(0.4 * np.sin(0.5))}
    result = simulate(Rocker(), FAR, rtol=1e-3, initial=begin)
    assert rocking(result, 0.4) < 1e-11
    assert result["q"].mean() == pytest.approx(0.0, abs=1e-9)


class Driven(Component):
    """The same as a function of time: there is nothing to integrate at all."""

    w: Parameter = Parameter(default=3.0, unit="rad/s")
    q: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(sin(self.q), 0.95 * sin(self.w * time))


def test_a_rocker_without_states_follows_time() -> None:
    result = simulate(Driven(), 40.0)
    t = np.linspace(0.0, 40.0, 1999)
    np.testing.assert_allclose(result["q"].at(t), np.arcsin(0.95 * np.sin(3.0 * t)), atol=1e-11)


class Slider(Component):
    """Crank with a mass at its pin, massless rod, piston; in the angle and the distance, without weight."""

    phi: Variable = Variable()
    w: Variable = Variable()
    x: Variable = Variable()
    v: Variable = Variable()
    f: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        along = self.x - 0.1 * cos(self.phi)
        yield Eq(der(self.phi), self.w)
        yield Eq(der(self.x), self.v)
        yield Eq(along**2 + (0.1 * sin(self.phi)) ** 2, 0.3**2)
        yield Eq(0.5 * der(self.v), self.f * along)
        yield Eq(0.02 * der(self.w), self.f * 0.1 * self.x * sin(self.phi))


CRANK = Crank(r=0.1, l=0.3, m=2.0, M=0.5, g=0.0)


def sliding(turns: float) -> dict[str, float]:
    """Start values of a `Slider` that has turned before."""
    first = (CRANK.piston(np.array([0.5 + 1e-6, 0.5 - 1e-6])) / 2e-6) @ [1.0, -1.0]
    return {"phi": turns + 0.5, "w": 10.0, "x": CRANK.piston(np.array([0.5]))[0], "v": 10.0 * first}


@pytest.mark.sweep(every=5)
@METHODS
@pytest.mark.parametrize(("rtol", "bound"), [(1e-3, 0.5), (1e-6, 2e-3)])
@pytest.mark.parametrize("turns", [0.0, FAR])
def test_a_slider_crank_turns_freely(turns: float, rtol: float, bound: float, method: str) -> None:
    """The plane of its constraint swings by more than a right angle at every dead centre, and does not turn over."""
    t = np.linspace(0.0, 6.0, 301)
    phi, _ = CRANK.motion(0.5, 10.0, t)
    result = simulate(Slider(), 6.0, rtol=rtol, method=method, initial=sliding(turns))
    turned = result["phi"].at(t) - turns
    np.testing.assert_allclose(turned, phi, atol=bound)
    np.testing.assert_allclose(result["x"].at(t), CRANK.piston(turned), atol=1e-12)


@pytest.mark.parametrize(
    ("method", "rtol"),
    [
        pytest.param(method, rtol, marks=pytest.mark.sweep)
        for method, rtol in (("explicit", 1e-3), ("implicit", 1e-3), ("explicit", 1e-6), ("explicit", 1e-9))
    ],
)
def test_a_slider_crank_turns_a_thousand_times(method: str, rtol: float) -> None:
    """A turn costs less than two tolerances; at 1e-3, where steps resolve the turn of the rod, a twentieth of one."""
    result = simulate(Slider(), FAR / 10.0, rtol=rtol, method=method, initial=sliding(0.0))
    assert result["phi"].final > 0.95 * FAR
    t = np.linspace(0.0, result.t_end, 2001)
    energy = 0.02 * result["w"].at(t) ** 2 + 0.5 * result["v"].at(t) ** 2
    np.testing.assert_allclose(energy / energy[0], 1.0, atol=min(2000.0 * rtol, 0.05))


class Cartesian(Component):
    """The same in the coordinates of the pin and the piston: no angle, and another of them is the state in every quarter."""

    x: Variable = Variable()
    y: Variable = Variable()
    s: Variable = Variable()
    vx: Variable = Variable()
    vy: Variable = Variable()
    v: Variable = Variable()
    crank: Variable = Variable()
    rod: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), self.vx)
        yield Eq(der(self.y), self.vy)
        yield Eq(der(self.s), self.v)
        yield Eq(self.x**2 + self.y**2, 0.1**2)
        yield Eq((self.s - self.x) ** 2 + self.y**2, 0.3**2)
        yield Eq(2.0 * der(self.vx), self.crank * self.x - self.rod * (self.s - self.x))
        yield Eq(2.0 * der(self.vy), self.crank * self.y + self.rod * self.y)
        yield Eq(0.5 * der(self.v), self.rod * (self.s - self.x))


GAIN = 20.0
"""Energy that a turn may gain or lose, in units of the tolerance: some thirty to two hundred steps, each with its error."""
MANY = [
    pytest.param(turns, rtol, marks=pytest.mark.sweep)
    for turns, rtol in ((1000, 1e-5), (1000, 1e-6), (100, 1e-9))
]


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize(("turns", "rtol"), [(20, 1e-3), (20, 1e-4), (20, 1e-6), (10, 1e-9), *MANY])
def test_a_slider_crank_of_points_turns_freely(turns: int, rtol: float) -> None:
    t = np.linspace(0.0, 0.2 * np.pi * turns, 40 * turns + 1)
    begin = {"x": 0.1 * np.cos(0.5), "y": 0.1 * np.sin(0.5), "vx": -np.sin(0.5), "vy": np.cos(0.5)}
    begin["s"] = CRANK.piston(np.array([0.5]))[0]
    result = simulate(Cartesian(), t[-1], rtol=rtol, initial=begin)
    x, y, s, vx, vy, v = (result[name].at(t) for name in ("x", "y", "s", "vx", "vy", "v"))
    np.testing.assert_allclose(x**2 + y**2, 0.01, atol=1e-14)
    np.testing.assert_allclose((s - x) ** 2 + y**2, 0.09, atol=1e-14)
    energy = vx**2 + vy**2 + 0.25 * v**2
    allowed = GAIN * turns * rtol
    np.testing.assert_allclose(energy / energy[0], 1.0, atol=allowed)
    phi = np.unwrap(np.arctan2(y, x))
    assert phi[-1] == pytest.approx(CRANK.motion(0.5, 10.0, t[[0, -1]])[0][-1], abs=allowed * phi[-1])


def test_no_solver_keeps_a_thousand_turns_at_a_tolerance_of_a_thousandth() -> None:
    """Not even in the angle itself: after that time RK45 of SciPy has less than half of the energy left.

    Errors of turns add up: to keep 1000 of them to a tenth takes a tolerance below ``0.1 / (1000 * GAIN)``.
    """
    phi = np.linspace(0.0, 2.0 * np.pi, 4001)
    slope = np.gradient(CRANK.piston(phi), phi, edge_order=2)
    inertia = CRANK.m * CRANK.r**2 + CRANK.M * slope**2
    bend = np.gradient(inertia, phi, edge_order=2)

    def rate(_: float, y: np.ndarray) -> list[float]:
        at = y[0] % (2.0 * np.pi)
        return [y[1], -0.5 * np.interp(at, phi, bend) / np.interp(at, phi, inertia) * y[1] ** 2]

    moved = solve_ivp(rate, (0.0, FAR / 10.0), [0.5, 10.0], "RK45", rtol=1e-3, atol=1e-6)
    energy = np.interp(moved.y[0] % (2.0 * np.pi), phi, inertia) * moved.y[1] ** 2
    # A tenth or a third: after 1000 turns rounding decides.
    assert energy[-1] < 0.5 * energy[0]


class Jumping(Component):
    """What is solved for jumps, or has a kink, and no event says so."""

    a: Variable = Variable()
    jump: Variable = Variable()
    kink: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.a), 1)
        yield Eq(self.jump**3 + self.jump, no_event(if_else(sin(self.a) > 0, 2.0, -2.0)))
        yield Eq(sin(self.kink), no_event(absolute(sin(self.a))) / 2)


def test_jumps_without_events_are_passed() -> None:
    result = simulate(Jumping(), 10.0)
    t = np.linspace(0.01, 10.0, 999)
    np.testing.assert_allclose(result["jump"].at(t), np.sign(np.sin(t)), atol=1e-11)
    np.testing.assert_allclose(result["kink"].at(t), np.arcsin(np.abs(np.sin(t)) / 2), atol=1e-11)
    assert result.stats.steps < 400
