"""Given positions at which contacts overlap: bodies are moved apart as their masses say, and then move at their speeds."""

from collections.abc import Iterator
from typing import Any

import pytest

import acausal.components.rotational as ro
import acausal.components.translational as tr
from acausal import AcausalError, Circuit, Component, Eq, Impact, Result, Statement, Variable, der, simulate

METHODS = ["exact", "explicit", "implicit"]


def stopped(stop: Any, mass: Any, method: str = "auto", **options: Any) -> Result:
    c = Circuit()
    a, h = c.add("a", mass), c.add("h", stop)
    c.connect(a.flange_a, h.flange)
    return simulate(c, 0.5, method=method, **options)


def begin(result: Result, s: str = "a.s", v: str = "a.v") -> list[float]:
    return [result[s].at(0.0), result[v].at(0.0)]


@pytest.mark.sweep(every=12)
@pytest.mark.filterwarnings("ignore:given starts contradict")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("reach", [1.0, 100.0])
@pytest.mark.parametrize("overlap", [1e-17, 1e-9, 0.1])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_mass_that_leaves_the_stop_it_overlaps(
    side: float, overlap: float, reach: float, method: str
) -> None:
    """Nothing touches the far stop, and nothing is lost."""
    lower, upper = (0.0, reach) if side > 0.0 else (-reach, 0.0)
    stop = tr.HardStop(s_min=lower, s_max=upper, restitution=0.5)
    result = stopped(stop, tr.Mass(m=1.0, s=-side * overlap, v=side), method)
    assert begin(result) == [0.0, side]
    assert result["a.s"].final == pytest.approx(0.5 * side, rel=1e-12)
    assert result.audit().lost == {}


@pytest.mark.sweep(every=4)
@pytest.mark.filterwarnings("ignore:given starts contradict")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("overlap", [0.0, 1e-17, 1e-9, 0.1])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_mass_that_runs_into_the_stop_it_overlaps(side: float, overlap: float, method: str) -> None:
    """It rebounds as from where it just touches."""
    lower, upper = (0.0, 1.0) if side > 0.0 else (-1.0, 0.0)
    stop = tr.HardStop(s_min=lower, s_max=upper, restitution=0.5)
    result = stopped(stop, tr.Mass(m=1.0, s=-side * overlap, v=-side), method)
    assert begin(result) == [0.0, 0.5 * side]
    assert result.audit().lost == pytest.approx({"h.lower" if side > 0.0 else "h.upper": 0.375})


class Shaft(Component):
    """A shaft that turns no further back than 0.25 rad."""

    phi: Variable = Variable()
    w: Variable = Variable()
    f: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.phi), self.w)
        yield Eq(2.0 * der(self.w), self.f)
        yield Impact(self.phi - 0.25, self.f, restitution=0.5)


@pytest.mark.filterwarnings("ignore:given starts contradict")
@pytest.mark.parametrize("w", [1.0, -1.0])
def test_a_shaft_that_overlaps_its_stop(w: float) -> None:
    """Without ports, what the gap reads is moved."""
    result = simulate(Shaft(phi=-0.1, w=w), 0.5)
    assert begin(result, "phi", "w") == pytest.approx([0.25, 1.0 if w > 0.0 else 0.5], rel=1e-15)


@pytest.mark.filterwarnings("ignore:given starts contradict")
@pytest.mark.parametrize("v", [1.0, -1.0])
def test_a_pinion_turns_with_the_rack_that_overlaps_a_stop(v: float) -> None:
    c = Circuit()
    a, g, j = (
        c.add("a", tr.Mass(m=1.0, s=-0.1, v=v)),
        c.add("g", ro.IdealGearR2T(ratio=2.0)),
        c.add("j", ro.Inertia(J=1.0)),
    )
    h = c.add("h", tr.HardStop(s_min=0.0, s_max=1.0, restitution=0.5))
    c.connect(j.flange_b, g.flangeR)
    c.connect(g.flangeT, a.flange_a, h.flange)
    result = simulate(c, 0.5)
    expected = [0.0, 1.0 if v > 0.0 else 0.5]
    assert begin(result) == pytest.approx(expected, abs=1e-15)
    assert begin(result, "j.phi", "j.w") == pytest.approx([2.0 * x for x in expected], abs=1e-15)


def test_a_fixed_position_beyond_a_stop_is_refused() -> None:
    with pytest.raises(AcausalError, match="a.s"):
        stopped(tr.HardStop(s_min=0.0, s_max=1.0), tr.Mass(m=1.0, v=1.0), initial={"a.s": -0.1})


def test_what_is_moved_is_told() -> None:
    with pytest.warns(UserWarning, match="`a.s` from -0.1 to 0 at the start"):
        stopped(tr.HardStop(s_min=0.0, s_max=1.0), tr.Mass(m=1.0, s=-0.1, v=1.0))


def test_a_default_position_beyond_a_stop_begins_at_it() -> None:
    assert begin(stopped(tr.HardStop(s_min=0.25, s_max=1.0), tr.Mass(m=1.0, v=1.0))) == [0.25, 1.0]


@pytest.mark.filterwarnings("ignore:given starts contradict")
def test_two_masses_that_overlap_part_as_their_masses_say() -> None:
    """The common centre stays, and so do the speeds."""
    c = Circuit()
    a, b = c.add("a", tr.Mass(m=1.0, s=0.3, v=-1.0)), c.add("b", tr.Mass(m=2.0, s=0.0, v=1.0))
    h = c.add("h", tr.ImpactStop(restitution=1.0))
    c.connect(a.flange_b, h.flange_a)
    c.connect(h.flange_b, b.flange_a)
    result = simulate(c, 0.5)
    assert begin(result) == pytest.approx([0.1, -1.0], rel=1e-14)
    assert begin(result, "b.s", "b.v") == pytest.approx([0.1, 1.0], rel=1e-14)
    assert result.audit().lost == {}


@pytest.mark.filterwarnings("ignore:given starts contradict")
def test_a_row_of_masses_is_moved_as_a_whole() -> None:
    """Moved off the wall the first one would run through the second."""
    c = Circuit()
    a, b = c.add("a", tr.Mass(m=1.0, s=-0.2, v=0.0)), c.add("b", tr.Mass(m=1.0, s=-0.1, v=1.0))
    wall, h = c.add("wall", tr.HardStop(s_min=0.0, s_max=9.0)), c.add("h", tr.ImpactStop())
    c.connect(a.flange_a, wall.flange)
    c.connect(a.flange_b, h.flange_a)
    c.connect(h.flange_b, b.flange_a)
    result = simulate(c, 0.5)
    assert [*begin(result), *begin(result, "b.s", "b.v")] == pytest.approx([0.0, 0.0, 0.0, 1.0], abs=1e-15)


@pytest.mark.filterwarnings("ignore:given starts contradict")
@pytest.mark.parametrize("v", [0.0, 1.0])
def test_friction_does_not_keep_a_mass_beyond_a_stop(v: float) -> None:
    mass = tr.MassWithFriction(m=1.0, s=-0.1, v=v, f_coulomb=0.5, f_breakaway=0.5)
    assert begin(stopped(tr.HardStop(s_min=0.0, s_max=1.0), mass)) == pytest.approx([0.0, v], abs=1e-15)


@pytest.mark.filterwarnings("ignore:given starts contradict")
@pytest.mark.parametrize("v", [1.0, -1.0])
def test_a_nonlinear_spring_does_not_matter(v: float) -> None:
    c = Circuit()
    a, h = (
        c.add("a", tr.Mass(m=1.0, s=-0.1, v=v)),
        c.add("h", tr.HardStop(s_min=0.0, s_max=1.0, restitution=0.5)),
    )
    spring, wall = c.add("k", tr.CubicSpring(c=1.0, c3=2.0)), c.add("w", tr.Fixed())
    c.connect(wall.flange, spring.flange_a)
    c.connect(spring.flange_b, a.flange_a, h.flange)
    assert begin(simulate(c, 0.5)) == pytest.approx([0.0, 1.0 if v > 0.0 else 0.5], abs=1e-12)
