"""A light body touches an elastic gap of a body that swings a million times as slowly: contacts of some microseconds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import acausal as ac
import acausal.components.translational as tr

M, m, C, D, SOFT, START, LEAN = 1e6, 1e-6, 1e3, 1e-3, 1e-3, 1e-3, 1e5


class Swing(ac.Component):
    """Both bodies hang on springs; positions count from ``origin``."""

    origin: ac.Parameter = ac.Parameter(default=0.0, unit="m")

    def build(self) -> None:
        self.wall, self.hook = tr.Fixed(s0=self.origin - LEAN), tr.Fixed(s0=self.origin)
        self.heavy, self.spring = tr.Mass(m=M), tr.Spring(c=1.0, s_rel0=0.0)
        self.light, self.soft, self.gap = tr.Mass(m=m), tr.Spring(c=SOFT), tr.ElastoGap(c=C, d=D)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.wall.flange, self.spring.flange_a)
        yield ac.connect(self.spring.flange_b, self.heavy.flange_a, self.gap.flange_a)
        yield ac.connect(self.gap.flange_b, self.light.flange_a, self.soft.flange_b)
        yield ac.connect(self.hook.flange, self.soft.flange_a)


def contact() -> tuple[float, float]:
    """Begin and end of the first contact, by small steps."""

    def rates(_: float, y: np.ndarray) -> list[float]:
        X, V, x, v = y
        elastic = C * min(x - X, 0.0)
        force = elastic + max(min(D * (v - V), -elastic), elastic)
        return [V, (-(LEAN + X) + force) / M, v, (-force - SOFT * x) / m]

    def touches(_: float, y: np.ndarray) -> float:
        return y[2] - y[0]

    found = solve_ivp(
        rates, (0.0, 0.06), [0.0, 0.0, START, 0.0], rtol=1e-11, atol=1e-15, max_step=2e-6, events=touches
    )
    begin, end = found.t_events[0]
    return begin, end


@pytest.fixture(scope="module")
def first() -> tuple[float, float]:
    return contact()


@pytest.mark.sweep(every=15)
@pytest.mark.parametrize(
    ("horizon", "origin"),
    [(0.2, 0.0), (5.0, 0.0), (10.0, 0.0), (100.0, 0.0), (10.0, 1e3), (10.0, 1e4), (10.0, 1e5)],
)
def test_the_end_of_a_short_contact_does_not_depend_on_what_is_slow(
    first: tuple[float, float], horizon: float, origin: float
) -> None:
    """What rounding leaves open of an event moves with the motion; a slow swing has not begun to move within microseconds."""
    start = {"heavy.s": origin, "light.s": origin + START, "heavy.v": 0.0, "light.v": 0.0}
    result = ac.simulate(Swing(origin=origin), horizon, initial=start, until=ac.time >= 0.1)
    closes = [e.t for e in result.events if 0.0 < e.t < 0.1]
    assert closes[0] == pytest.approx(first[0], abs=2e-9)
    assert closes[3] == pytest.approx(first[1], abs=1e-8)
    result.check().require()
