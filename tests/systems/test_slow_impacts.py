"""Impacts slower than what moves them in the time by which their instant may be off."""

import pytest

from acausal import Component, DryFriction, Eq, Impact, Parameter, Variable, der, simulate


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


@pytest.mark.parametrize("w", [1e-3, 1e-4, 1e-5, 1e-6])
@pytest.mark.parametrize("f", [20.0, 1e3, 1e5])
@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
def test_a_slow_impact_gives_speeds_in_proportion(method: str, f: float, w: float) -> None:
    """Friction brings the balls of ``w / 2`` and the one at rest together: ``w / 2 - (f + 1) / 2 * t = f * t``.

    How late the instant is changes all speeds before it alike; what follows from them has their signs. The slowest is as slow
    as the tolerance of integration.
    """
    result = simulate(Thrown(), 2.0, method=method, parameters={"h": 0.5 - 0.5 * w * w, "f": f})
    expected = f * w / (3.0 * f + 1.0)
    found = [result[name].final for name in ("va", "vc")]
    assert found == pytest.approx([expected] * 2, rel=2e-3, abs=1e-2 * 1e-6)
    assert result.stats.candidates <= 10
