"""Positions that nobody gave only say where to look: where equations contradict them they follow, and nothing jumps."""

import pytest

import acausal.components.rotational as ro
import acausal.components.translational as tr
from acausal import Circuit, Result, simulate

METHODS = ["exact", "explicit", "implicit"]


def two_masses(speeds: tuple[float, float], method: str = "auto", **places: float) -> Result:
    c = Circuit()
    a, r = c.add("a", tr.Mass(m=2.0, v=speeds[0])), c.add("r", tr.Rod(L=0.1))
    b = c.add("b", tr.Mass(m=1.0, v=speeds[1], **places))
    c.connect(a.flange_b, r.flange_a)
    c.connect(r.flange_b, b.flange_a)
    return simulate(c, 1.0, method=method)


@pytest.mark.parametrize("method", METHODS)
def test_two_masses_on_a_rod_take_no_energy(method: str) -> None:
    result = two_masses((1.0, 1.0), method)
    audit = result.audit()
    assert [result[x].at(0.0) for x in ("a.s", "b.s")] == pytest.approx([-0.05, 0.05], rel=1e-14)
    assert [result[x].final for x in ("a.v", "b.v")] == pytest.approx([1.0, 1.0], rel=1e-14)
    assert [audit.into("a"), audit.into("b"), audit.energy_lost] == pytest.approx([0.0] * 3, abs=1e-14)
    assert not result.events or not result.events[0].jumps
    assert result.check().unchecked == ()


def test_a_default_position_follows_a_given_one() -> None:
    result = two_masses((1.0, 1.0), s=5.0)
    assert [result[x].at(0.0) for x in ("a.s", "b.s")] == pytest.approx([4.9, 5.0], rel=1e-14)
    assert result.audit().lost == {}


@pytest.mark.filterwarnings("ignore:given starts contradict")
def test_speeds_that_contradict_each_other_lose_what_momentum_says() -> None:
    """`m_a m_b / (m_a + m_b) / 2` times the square of the relative speed, whatever positions were moved."""
    audit = two_masses((4.0, 1.0)).audit()
    assert audit.energy_lost == pytest.approx(3.0, rel=1e-12)
    assert [audit.into("a"), audit.into("b")] == pytest.approx([9.0 - 16.0, 4.5 - 0.5], rel=1e-12)


def test_inertias_between_stops_of_a_rigid_train() -> None:
    """A support that is turned by an angle: positions alone are moved."""
    c = Circuit()
    w, a, g, b = (
        c.add("w", ro.Fixed(phi0=0.3)),
        c.add("a", ro.Inertia(J=2.0)),
        c.add("g", ro.IdealGear(ratio=2.0)),
        c.add("b", ro.Inertia(J=1.0)),
    )
    k = c.add("k", ro.Spring(c=1.0))
    c.connect(w.flange, k.flange_a)
    c.connect(k.flange_b, a.flange_a)
    c.connect(a.flange_b, g.flange_a)
    c.connect(g.flange_b, b.flange_a)
    result = simulate(c, 1.0)
    assert result["a.phi"].at(0.0) == pytest.approx(2.0 * result["b.phi"].at(0.0), abs=1e-15)
    assert result.audit().balance == pytest.approx(0.0, abs=1e-12)
