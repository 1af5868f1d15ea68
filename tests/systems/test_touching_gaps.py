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


@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
@pytest.mark.parametrize("place", [0.0, 1e-3, 0.1])
def test_a_touching_body_that_is_pulled_away_slowly_leaves(place: float, method: str) -> None:
    result = ac.simulate(model(place), END, method=method)
    found = [result[f"{name}.s"].final - place for name in ("first", "second")]
    assert found == pytest.approx(left(), rel=1e-5)
    assert not result["gap.contact"].final
