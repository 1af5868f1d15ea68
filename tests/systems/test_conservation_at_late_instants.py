"""What is conserved at instants that integration locates late: a jump that the delay explains is none, yet nothing is lost."""

from collections.abc import Iterator

import pytest

from acausal import (
    Component,
    ConsistencyError,
    Discrete,
    Eq,
    If,
    Impact,
    ImpactError,
    NoConsistentModeError,
    Parameter,
    Result,
    Statement,
    Variable,
    assign,
    der,
    simulate,
    sin,
    time,
    when,
)


class Stores(Component):
    """A switch joins two stores as a pendulum comes back: capacitors, or coils whose currents become one.

    The first is linear and charged evenly, the second may saturate: its charge, or flux, is what is conserved.
    """

    first: Parameter = Parameter(default=1.0)
    second: Parameter = Parameter(default=0.3)
    bend: Parameter = Parameter(default=0.0)
    rate: Parameter = Parameter(default=2.0)
    u: Variable = Variable()
    v: Variable = Variable()
    flow: Variable = Variable()
    charge: Variable = Variable(start=0.3)
    phi: Variable = Variable(start=0.5)
    w: Variable = Variable(start=0.0)
    joined: Discrete = Discrete(bool, start=False)

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.first * der(self.u), self.rate - self.flow)
        yield Eq(self.charge, self.second * self.v + self.bend * (self.v**3 - self.v))
        yield Eq(der(self.charge), self.flow)
        yield If(self.joined, [Eq(self.u, self.v)], [Eq(self.flow, 0.0)])
        yield Eq(der(self.phi), self.w)
        yield Eq(der(self.w), -sin(self.phi))
        yield when(self.phi < -0.49, assign(self.joined, True))


def switched(start: float, bend: float, method: str, rtol: float) -> tuple[Result, float]:
    """The run, and when the switch has closed."""
    result = simulate(Stores(u=start, bend=bend), 4.0, method=method, rtol=rtol)
    return result, result.events[1].t


@pytest.mark.sweep(every=30)
@pytest.mark.parametrize("rtol", [1e-2, 1e-5])
@pytest.mark.parametrize("bend", [0.0, 0.1])
@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_stores_that_are_joined_late_keep_their_charge(method: str, bend: float, rtol: float) -> None:
    """They differ by any part of what the doubt about the instant explains, and by more: only that is a jump with an impulse.

    No method of integration loses a sum of states, and one of what bends no more than its tolerance. The first store has
    ``u0 + 2 t``, so that it is chosen to differ from 1 by so much when the switch closes.
    """
    t = 3.0
    for _ in range(2):
        t = switched(1.0 - 2.0 * t, bend, method, rtol)[1]
    kinds = []
    for off in (-0.1, -1e-3, -1e-6, 1e-10, 1e-5, 1e-2, 0.1):
        begin = 1.0 - 2.0 * t + off
        result, at = switched(begin, bend, method, rtol)
        assert at == pytest.approx(t, abs=1e-9)
        assert result["u"].at(at, side="left") - result["v"].at(at, side="left") == pytest.approx(
            off, abs=1e-8
        )
        for now, side, exact in (
            (at, "left", 1e-12),
            (at, "right", 1e-12),
            (4.0, "left", rtol if bend else 1e-12),
        ):
            total = result["u"].at(now, side=side) + result["charge"].at(now, side=side)
            assert total == pytest.approx(begin + 0.3 + 2.0 * now, abs=exact)
        assert result["u"].at(at) == pytest.approx(result["v"].at(at), abs=1e-12)
        event = result.events[1]
        assert bool(event.jumps) == bool(event.impulses)
        kinds.append(bool(event.jumps))
    assert kinds[:4] == sorted(kinds[:4], reverse=True)
    assert kinds[3:] == sorted(kinds[3:])
    assert (kinds[0], kinds[3], kinds[-1]) == (True, False, True)


class Row(Component):
    """Three bodies that bounce on each other until they move as one; the last one falls. What their forces bring in is summed."""

    a: Parameter = Parameter(default=0.3)
    b: Parameter = Parameter(default=2.0)
    e: Parameter = Parameter(default=0.3)
    w: Parameter = Parameter(default=3.0, unit="rad/s")
    x: Variable = Variable()
    y: Variable = Variable(start=0.2)
    z: Variable = Variable(start=0.25)
    vx: Variable = Variable()
    vy: Variable = Variable()
    vz: Variable = Variable()
    f: Variable = Variable()
    g: Variable = Variable()
    brought: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        push, pull = 3 * sin(self.w * time), 0.4 * sin(self.z)
        yield Eq(der(self.x), self.vx)
        yield Eq(der(self.y), self.vy)
        yield Eq(der(self.z), self.vz)
        yield Eq(der(self.vx), push - self.f)
        yield Eq(der(self.a * self.vy), self.f - self.g)
        yield Eq(der(self.b * self.vz), self.g - pull)
        yield Eq(der(self.brought), push - pull)
        yield Impact(self.y - self.x, self.f, restitution=self.e, name="one")
        yield Impact(self.z - self.y, self.g, restitution=self.e, name="two")


@pytest.mark.sweep(every=10)
@pytest.mark.parametrize("method", ["explicit", "implicit"])
@pytest.mark.parametrize(
    ("a", "b", "e"),
    [(0.3, 2.0, 0.3), (1.0, 0.01, 0.1), pytest.param(1.0, 0.01, 0.3, marks=pytest.mark.sweep)],
)
def test_bodies_that_bounce_until_they_move_as_one_keep_their_momentum(
    method: str, a: float, b: float, e: float
) -> None:
    """At every instant, and forces bring in the rest to the tolerance; some runs are refused by name."""
    finished = 0
    for rtol in (1e-2, 1e-3, 1e-6):
        try:
            result = simulate(Row(a=a, b=b, e=e), 1.0, method=method, rtol=rtol)
        except (NoConsistentModeError, ConsistencyError, ImpactError):
            continue
        finished += 1

        def momentum(t: float, side: str, result: Result = result) -> float:
            vx, vy, vz, brought = (result[name].at(t, side=side) for name in ("vx", "vy", "vz", "brought"))
            return vx + a * vy + b * vz - brought

        for event in result.events:
            assert momentum(event.t, "right") == pytest.approx(momentum(event.t, "left"), abs=1e-14)
        assert momentum(1.0, "left") == pytest.approx(0.0, abs=1e-7)
        assert result["vx"].final == pytest.approx(result["vz"].final, abs=1e-12)
    assert finished
