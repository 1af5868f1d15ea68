"""Bodies at rest that just touch an elastic gap, and leave it with the fourth power of the time."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import acausal as ac
import acausal.components.translational as tr

M, C, F, END = 30.0, 40.0, 0.003, 4.0


def model(place: float) -> ac.Circuit:
    """A force pulls the second of two bodies on a spring, the first one touches."""
    c = ac.Circuit()
    first, second = c.add("first", tr.Mass(m=M, s=place)), c.add("second", tr.Mass(m=M, s=place))
    wall, gap = c.add("wall", tr.Fixed()), c.add("gap", tr.ElastoGap(c=200.0, d=5.0, s_rel0=place))
    spring, force = c.add("spring", tr.Spring(c=C)), c.add("force", tr.ConstantForce(f_constant=F))
    c.connect(wall.flange, gap.flange_a)
    c.connect(gap.flange_b, first.flange_a, spring.flange_a)
    c.connect(spring.flange_b, second.flange_a, force.flange)
    return c


def left() -> np.ndarray:
    """Ways of both bodies without the gap, which the first one leaves at once."""

    def rates(_: float, y: np.ndarray) -> list[float]:
        pull = C * (y[2] - y[0])
        return [y[1], pull / M, y[3], (F - pull) / M]

    return solve_ivp(rates, (0.0, END), np.zeros(4), rtol=1e-12, atol=1e-15).y[::2, -1]


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
@pytest.mark.parametrize("place", [0.0, 1e-3, 0.1])
def test_a_touching_body_that_is_pulled_away_slowly_leaves(place: float, method: str) -> None:
    result = ac.simulate(model(place), END, method=method)
    found = [result[f"{name}.s"].final - place for name in ("first", "second")]
    assert found == pytest.approx(left(), rel=1e-5)
    assert not result["gap.contact"].final


def row() -> ac.Circuit:
    """Three bodies in a row: a force pulls the last one, and the first one, which touches, follows with the fourth power."""
    c = ac.Circuit()
    bodies = [c.add(name, tr.Mass(m=2e-4, s=s)) for name, s in zip("abc", PLACES, strict=True)]
    wall, gap = c.add("wall", tr.Fixed()), c.add("gap", tr.ElastoGap(c=0.2, d=5e-4))
    damper = c.add("damper", tr.Damper(d=2e-4))
    spring = c.add("spring", tr.SpringDamper(c=0.01, d=1e-4, s_rel0=PLACES[2] - PLACES[1]))
    force = c.add("force", tr.ConstantForce(f_constant=3e-4))
    c.connect(wall.flange, gap.flange_a)
    for left, part, right in zip(bodies, (gap, damper, spring), (damper, spring, force), strict=True):
        c.connect(part.flange_b, left.flange_a)
        c.connect(left.flange_b, right.flange if right is force else right.flange_a)
    return c


PLACES = (0.0, 0.1, 0.30000000000000004)


def ways_of_row(end: float) -> np.ndarray:
    """Ways of the three bodies without the gap."""

    def rates(_: float, y: np.ndarray) -> list[float]:
        first, second = 2e-4 * (y[3] - y[1]), 0.01 * (y[4] - y[2]) + 1e-4 * (y[5] - y[3])
        return [y[1], first / 2e-4, y[3], (second - first) / 2e-4, y[5], (3e-4 - second) / 2e-4]

    return solve_ivp(rates, (0.0, end), np.zeros(6), rtol=1e-12, atol=1e-15).y[::2, -1]


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("rtol", [1e-6, 1e-8, 1e-9])
@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
def test_rounding_of_a_rate_at_the_end_of_a_row_hides_how_its_first_body_leaves(
    method: str, rtol: float
) -> None:
    """The spring rounds by more than the damper gives at first: no step, however short, keeps the error of what follows."""
    result = ac.simulate(row(), 0.4, method=method, rtol=rtol)
    found = [result[f"{name}.s"].final - place for name, place in zip("abc", PLACES, strict=True)]
    assert found == pytest.approx(ways_of_row(0.4), rel=100.0 * rtol)
    assert result.check().ok
