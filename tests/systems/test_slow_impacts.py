"""Impacts slower than what moves them in the time by which their instant may be off."""

import pytest

from acausal import (
    Component,
    DryFriction,
    Eq,
    Impact,
    Parameter,
    Structural,
    Variable,
    der,
    simulate,
    sin,
    time,
)


class Thrown(Component):
    """A ball that is thrown up against one that another holds by friction, all of 1 kg."""

    h: Parameter = Parameter(default=0.5)
    f: Parameter = Parameter(default=1.0)
    x: Variable = Variable(start=0.0)
    v: Variable = Variable(start=1.0)
    a: Variable = Variable(start=0.0)
    va: Variable = Variable(start=0.0)
    vc: Variable = Variable(start=0.0)
    push: Variable = Variable()
    drag: Variable = Variable()

    def equations(self):
        yield Eq(der(self.x), self.v)
        yield Eq(der(self.v), -1.0 - self.push)
        yield Eq(der(self.a), self.va)
        yield Eq(der(self.va), self.push - self.drag)
        yield Eq(der(self.vc), self.drag)
        yield Impact(self.h + self.a - self.x, self.push, restitution=0.0, name="stop")
        yield DryFriction(self.va - self.vc, self.drag, sliding=self.f, breakaway=self.f, name="grip")


THROWN = Thrown()


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("w", [1e-3, 1e-4, 1e-5, 1e-6])
@pytest.mark.parametrize("f", [20.0, 1e3, 1e5])
@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
def test_a_slow_impact_gives_speeds_in_proportion(method: str, f: float, w: float) -> None:
    """Friction brings the balls of ``w / 2`` and the one at rest together: ``w / 2 - (f + 1) / 2 * t = f * t``.

    How late the instant is changes all speeds before it alike; what follows from them has their signs. The slowest is as slow
    as the tolerance of integration.
    """
    result = simulate(THROWN, 2.0, method=method, parameters={"h": 0.5 - 0.5 * w * w, "f": f})
    expected = f * w / (3.0 * f + 1.0)
    found = [result[name].final for name in ("va", "vc")]
    assert found == pytest.approx([expected] * 2, rel=2e-3, abs=1e-2 * 1e-6)
    assert result.stats.candidates <= 10


class Pair(Component):
    """Two bodies that bounce on each other until they move as one; the second has drag. What their forces bring in is summed."""

    e: Parameter = Parameter(default=0.3)
    m: Parameter = Parameter(default=2.0)
    k: Parameter = Parameter(default=0.4)
    w: Parameter = Parameter(default=3.0, unit="rad/s")
    power: Structural[int] = Structural(int, default=2)
    x: Variable = Variable()
    u: Variable = Variable()
    y: Variable = Variable()
    v: Variable = Variable()
    force: Variable = Variable()
    brought: Variable = Variable()

    def equations(self):
        push, drag = 3 * sin(self.w * time), self.k * self.v**self.power
        yield Eq(der(self.x), self.u)
        yield Eq(der(self.y), self.v)
        yield Eq(der(self.u), push - self.force)
        yield Eq(der(self.m * self.v), self.force - drag)
        yield Eq(der(self.brought), push - drag)
        yield Impact(0.2 - (self.x - self.y), self.force, restitution=self.e, name="stop")


PAIRS = {power: Pair(power=power) for power in (1, 2)}


@pytest.mark.sweep(every=15)
@pytest.mark.parametrize(
    "rtol", [1e-2, 1e-6, *(pytest.param(rtol, marks=pytest.mark.sweep) for rtol in (1e-3, 1e-4))]
)
@pytest.mark.parametrize(("m", "e"), [(1e-3, 0.1), (1e-3, 0.3), (2.0, 0.3)])
@pytest.mark.parametrize(("method", "power"), [("explicit", 2), ("implicit", 2), ("explicit", 1)])
def test_the_last_of_many_bounces_keeps_momentum(
    method: str, power: int, m: float, e: float, rtol: float
) -> None:
    """The last impact is too slow for a rebound: an impulse stops it, or forces explain its speed in the time it may be late.

    Nothing is lost in either way: what is left are errors of what forces bring in, which is integrated beside the motion.
    """
    result = simulate(
        PAIRS[power], 0.95, method=method, rtol=rtol, parameters={"m": m, "e": e, "k": 0.4 * min(m, 1.0)}
    )
    u, v = result["u"].final, result["v"].final
    assert u == pytest.approx(v, rel=1e-12)
    assert u + m * v == pytest.approx(result["brought"].final, abs=1e-7)
    for event in result.events:
        taken = sum(value for name, value, _ in event.impulses if name == "force")
        moved = {name: after - before for name, before, after in event.jumps}
        assert moved.get("u", 0.0) == pytest.approx(-taken, abs=1e-9)
        assert m * moved.get("v", 0.0) == pytest.approx(taken, abs=1e-9)
