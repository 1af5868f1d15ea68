"""What bounces until it moves with something that moves itself comes to rest there, whatever both move at."""

from __future__ import annotations

import numpy as np
import pytest

from acausal import Component, Eq, Parameter, Variable, connect, simulate, sin, time
from acausal.components.translational import ConstantForce, ConstantSpeed, ImpactStop, Mass, Position
from tests.components.signals import assembled

G = 9.81


class VibratingTable(Component):
    """A ball above a table that moves as A sin(2 pi f t)."""

    s = Variable(unit="m")
    f = Parameter(default=3.68, unit="Hz")
    A = Parameter(default=0.0102, unit="m")
    e = Parameter(default=0.51, unit="1")

    def build(self) -> None:
        self.ball, self.weight = Mass(m=0.1), ConstantForce(f_constant=-0.1 * G)
        self.table, self.stop = Position(s_ref=self.s), ImpactStop(restitution=self.e)

    def equations(self):
        yield Eq(self.s, self.A * sin(2 * np.pi * self.f * time))
        yield connect(self.table.flange, self.stop.flange_a)
        yield connect(self.stop.flange_b, self.ball.flange_a)
        yield connect(self.ball.flange_b, self.weight.flange)


def impacts(f: float, A: float, e: float, height: float, least: float) -> list[float]:
    """Times of the impacts until flights get shorter than ``least``, by bisection of the gap."""
    w = 2 * np.pi * f
    table, speed = lambda t: A * np.sin(w * t), lambda t: A * w * np.cos(w * t)
    t, z, v, found = 0.0, height, 0.0, []
    while True:
        at = t

        def gap(h: float, at: float = at, z: float = z, v: float = v) -> float:
            # The sine by what it moves: positions of 1e-2 m would round flights of 1e-12 m away.
            moved = 2 * A * np.cos(w * (at + h / 2)) * np.sin(w * h / 2)
            return z - table(at) + v * h - G * h * h / 2 - moved

        first = 1e-4 if z > table(t) + 1e-9 else max(2 * (v - speed(t)) / (G + 40.0), 0.0)
        step = first
        while gap(step) > 0.0:
            step += first
        low, high = step - first, step
        for _ in range(80):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if gap(middle) > 0.0 else (low, middle)
        if low < least:
            return found
        t += low
        found.append(t)
        z, v = table(t), v - G * low
        v = speed(t) + e * (speed(t) - v)


CASES = [
    (3.68, 0.0102, 0.51, 0.06),
    (1.99, 0.0164, 0.31, 0.25),
    (2.19, 0.0031, 0.28, 0.24),
    (1.32, 0.0138, 0.37, 0.38),
]


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize(("f", "A", "e", "height"), CASES)
@pytest.mark.parametrize("method", ["exact", "implicit"])
def test_a_ball_comes_to_rest_on_a_table_that_moves(
    f: float, A: float, e: float, height: float, method: str
) -> None:
    expected = impacts(f, A, e, height, 1e-5)
    numbers = {"f": f, "A": A, "e": e}
    result = simulate(
        VibratingTable(), 3.0, parameters=numbers, initial={"ball.s": height}, method=method, rtol=1e-8
    )
    found = [event.t for event in result.events if event.t > 0.0][: len(expected)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 if method == "exact" else 1e-6)
    t = np.linspace(0.0, 3.0, 3001)
    assert result["stop.gap"].at(t).min() > -1e-9
    assert result.check(50).ok


@pytest.mark.sweep(every=36)
@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
@pytest.mark.parametrize("e", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(
    ("speed", "begin"), [(0.0, 0.0), (0.1, 0.0), (2.0, 0.0), (-30.0, 0.0), (1e3, 0.0), (-2.0, 1e4)]
)
@pytest.mark.parametrize("beyond", [-1e-7, 0.0, 1e-9])
def test_a_mass_comes_to_rest_on_a_wall_that_moves(speed, begin, e, beyond, method) -> None:
    """It falls from 1 m with 2 m/s2, and its flights accumulate after ``(1 + e) / (1 - e)`` seconds, where the run ends.

    The time of an impact is known the less the slower it is. That wall and mass move while it is open was counted for each of
    them: with the speed of the wall it hid flights that were high enough to be seen, and the mass fell through.
    """
    model = assembled(
        ("wall.flange", "stop.flange_a"),
        ("stop.flange_b", "mass.flange_a"),
        ("pull.flange", "mass.flange_b"),
        wall=ConstantSpeed(v_fixed=speed),
        stop=ImpactStop(restitution=e, s_rel0=1.0),
        mass=Mass(m=2.0, s=2.0, v=speed),
        pull=ConstantForce(f_constant=-4.0),
    )
    length = (1.0 + e) / (1.0 - e)
    result = simulate(model, begin + length + beyond, t_start=begin, method=method)
    found = np.array([event.t for event in result.events if event.jumps])
    flights = 2.0 * e ** np.arange(1.0, len(found))
    expected = begin + 1.0 + np.append(0.0, np.cumsum(flights))
    # What the next flight takes is longer than what is known of the time.
    assert (np.abs(found - expected)[:-1] < 0.05 * flights).all()
    assert flights[-1] < 3e-4
    assert result["stop.gap"].final == pytest.approx(0.0, abs=1e-12)
