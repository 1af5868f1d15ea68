"""Elastic contacts: duration and depth of a collision, rebound, losses."""

from math import gamma, pi, sqrt
from typing import Any

import numpy as np
import pytest

from acausal import Result
from acausal.components.thermal import HeatCapacitor
from acausal.components.translational import ConstantForce, ElastoGap, Fixed, Mass
from acausal.errors import ParameterError
from tests.components.signals import changes, run
from tests.oracles.piecewise_motion import piecewise_motion


def collision(gap: ElastoGap, t_end: float = 1.0, **parts: Any) -> Result:
    """A mass of 2 kg, 1 m from a wall, moves against it with 4 m/s."""
    return run(
        t_end,
        ("mass.flange_b", "gap.flange_a"),
        ("gap.flange_b", "wall.flange"),
        *parts.pop("connections", ()),
        mass=Mass(m=2.0, v=4.0),
        gap=gap,
        wall=Fixed(s0=1.0),
        **parts,
    )


def test_contact_with_a_linear_flank_lasts_half_a_period() -> None:
    result = collision(ElastoGap(c=800.0, d=0.0, s_rel0=0.2))
    begin, end = 0.2, 0.2 + pi / 20
    assert changes(result["gap.contact"]) == pytest.approx([begin, end], rel=1e-12)
    assert result["gap.f"].at((begin + end) / 2) == pytest.approx(-4.0 * sqrt(1600.0), rel=1e-12)
    assert result["mass.v"].final == pytest.approx(-4.0, rel=1e-12)
    assert result["gap.f"].at([0.1, 0.5]).tolist() == [0.0, 0.0]
    assert result.modes[0].path == "exact"


def test_a_collision_of_spheres_follows_hertz() -> None:
    """Depth ``(5 m v**2 / (4 c))**(2/5)``, duration ``4 sqrt(pi) gamma(2/5) / (5 gamma(9/10)) * depth / v``.

    L. D. Landau and E. M. Lifshitz, Theory of Elasticity, section 9.
    """
    c = 3e4
    result = collision(ElastoGap(c=c, d=0.0, n=1.5))
    depth = (1.25 * 2.0 * 16.0 / c) ** 0.4
    begin, end = changes(result["gap.contact"])
    # Apart from the wall the motion is a closed form, whatever its contact is.
    assert begin == pytest.approx(0.25, rel=1e-15)
    assert [mode.path for mode in result.modes] == ["exact", "general"]
    duration = 4 * sqrt(pi) * gamma(0.4) / (5 * gamma(0.9)) * depth / 4.0
    assert end - begin == pytest.approx(duration, rel=1e-5)
    t = np.linspace(begin, end, 2001)
    assert -result["gap.s_rel"].at(t).min() == pytest.approx(depth, rel=1e-5)
    assert result["mass.v"].final == pytest.approx(-4.0, rel=1e-5)


@pytest.mark.parametrize("d", [10.0, 400.0], ids=["light", "heavy"])
def test_damping_never_pulls(d: float) -> None:
    """Where damping exceeds the force of the spring on the way out, none is left: no force, not a pulling one."""
    c = 800.0

    def force(s: float, v: float) -> float:
        spring = c * max(s - 0.8, 0.0)
        return -spring - max(-spring, min(d * v, spring))

    kinks: list[Any] = [
        lambda s, v: s - 0.8,
        lambda s, v: c * (s - 0.8) - d * v,
        lambda s, v: c * (s - 0.8) + d * v,
    ]
    result = collision(ElastoGap(c=c, d=d, s_rel0=0.2))
    t, s, v = piecewise_motion(lambda s, v: force(s, v) / 2.0, kinks, (0.0, 4.0), 1.0)
    assert result["mass.s"].at(t) == pytest.approx(s, abs=2e-9)
    assert result["mass.v"].at(t) == pytest.approx(v, abs=2e-8)
    assert result["gap.f"].at(np.linspace(0.0, 1.0, 2001)).max() <= 1e-10
    assert result.energy("gap") == pytest.approx(16.0 - result["mass.v"].final ** 2, rel=1e-9)


def test_the_loss_of_a_collision_heats() -> None:
    result = collision(
        ElastoGap(c=800.0, d=10.0, s_rel0=0.2, useHeatPort=True),
        connections=[("gap.heatPort", "buffer.port")],
        buffer=HeatCapacitor(C=2.0, T=300.0),
    )
    lost = 16.0 - result["mass.v"].final ** 2
    assert 2.0 < lost < 16.0
    assert result["buffer.T"].final == pytest.approx(300.0 + lost / 2.0, abs=1e-4)


def test_a_weight_comes_to_rest_on_an_elastic_contact() -> None:
    result = run(
        8.0,
        ("floor.flange", "gap.flange_a"),
        ("gap.flange_b", "mass.flange_a", "weight.flange"),
        floor=Fixed(),
        gap=ElastoGap(c=500.0, d=40.0, s_rel0=0.1),
        mass=Mass(m=2.0, s=0.5),
        weight=ConstantForce(f_constant=-20.0),
    )
    assert result["mass.s"].final == pytest.approx(0.1 - 20.0 / 500.0, rel=1e-9)
    assert result["gap.f"].final == pytest.approx(-20.0, rel=1e-9)


def test_an_exponent_below_one_is_refused() -> None:
    with pytest.raises(ParameterError, match="must be at least 1"):
        ElastoGap(c=1.0, d=0.0, n=0.5)
    assert ElastoGap(c=1.0, d=0.0, n=2).n == 2.0
