"""S10: events at the end are processed, then terminal(); terminate and until are normal ends."""

import numpy as np
import pytest

from acausal import (
    Complementarity,
    Component,
    Discrete,
    Eq,
    If,
    Impact,
    Program,
    Variable,
    assign,
    der,
    pre,
    reinit,
    sample,
    simulate,
    terminal,
    terminate,
    time,
    when,
)

from .observing import Statements


class Model(Component):
    x: Variable = Variable()
    n: Discrete = Discrete(int)
    at_end: Discrete = Discrete(int, start=-1)

    def equations(self) -> Statements:
        yield Eq(der(self.x), 1)
        yield when(sample(period=0.5), assign(self.n, pre(self.n) + 1))
        yield when(terminal(), assign(self.at_end, self.n))


def test_an_event_at_the_end_happens_before_terminal() -> None:
    result = simulate(Model(), 1.0)
    assert result["n"].at(1.0, side="left") == 2
    assert result["n"].final == 3
    assert result["at_end"].final == 3


def test_the_last_value_is_the_right_limit() -> None:
    class Resetting(Component):
        x: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1)
            yield when(time >= 1.0, reinit(self.x, -5.0))

    x = simulate(Resetting(), 1.0)["x"]
    assert x.at(1.0, side="left") == pytest.approx(1.0)
    assert x.final == x.values[-1] == pytest.approx(-5.0)


def test_terminate_is_a_normal_end() -> None:
    class Stopping(Component):
        x: Variable = Variable()
        seen: Discrete = Discrete(bool)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 2)
            yield when(self.x > 1, terminate("full"))
            yield when(terminal(), assign(self.seen, True))

    result = simulate(Stopping(), 10.0)
    assert result.t_end == pytest.approx(0.5, rel=1e-14)
    assert "full" in result.status
    assert result["seen"].final


def test_until_ends_a_run() -> None:
    model = Model()
    result = simulate(model, 10.0, until=model.x > 0.75)
    assert result.t_end == pytest.approx(0.75, rel=1e-14)
    assert result["n"].final == 2
    assert result.status != simulate(model, 10.0).status


class Bouncing(Component):
    """A ball without weight that meets a wall at 1 s."""

    x: Variable = Variable(start=1.0)
    v: Variable = Variable(start=-1.0)
    f: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.x), self.v)
        yield Eq(der(self.v), self.f)
        yield Impact(self.x, self.f, restitution=0.5)


class Counting(Component):
    y: Variable = Variable(start=0.0)
    n: Discrete = Discrete(int)

    def equations(self) -> Statements:
        yield Eq(der(self.y), 1.0)
        yield when(self.y > 1.0, assign(self.n, pre(self.n) + 1))


class Connected(Component):
    """At 1 us a capacitor is connected through a diode to one that discharges faster: an impulse, then the diode blocks."""

    u1: Variable = Variable(start=10.0)
    u2: Variable = Variable(start=2.0)
    i: Variable = Variable()
    diode: Variable = Variable()
    switch: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(1e-6 * der(self.u1), -self.i - self.u1)
        yield Eq(3e-6 * der(self.u2), self.i)
        yield Eq(self.u1 - self.u2, self.switch + self.diode)
        yield If(time >= 1e-6, [Eq(self.switch, 0)], [Eq(self.i, 0)], name="s")
        yield Complementarity(-self.diode, self.i, name="d")


@pytest.mark.parametrize("method", ["auto", "explicit"])
def test_s10_an_event_at_the_end_is_one_and_keeps_its_trigger(method: str) -> None:
    result = simulate(Bouncing(), 1.0, method=method)
    assert (result["v"].final, result["v"].at(1.0, side="left")) == pytest.approx((0.5, -1.0), rel=1e-9)
    assert [(e.t, e.triggers) for e in result.events] == [(0.0, ("start",)), (1.0, ("contact",))]
    result = simulate(Counting(), 1.0, method=method)
    assert result["n"].final == 1
    assert [(e.t, e.triggers) for e in result.events] == [(0.0, ("start",)), (1.0, ("y > 1",))]


@pytest.mark.parametrize("method", ["auto", "explicit"])
def test_s10_a_run_in_steps_meets_an_event_at_the_end_of_a_step(method: str) -> None:
    run = Program(Bouncing()).start(method=method)
    for t in (0.5, 1.0, 1.5, 2.0):
        run.advance(t)
    assert (run.result["v"].final, run.result["x"].final) == pytest.approx((0.5, 0.5), rel=1e-9)


@pytest.mark.parametrize("method", ["auto", "explicit"])
@pytest.mark.parametrize("t_end", [1e-6, 2e-6])
def test_s10_an_impulse_at_the_end_is_finished_like_any_other(method: str, t_end: float) -> None:
    """What an impulse lets through is no current: the diode blocks after it, in the same event."""
    result = simulate(Connected(), t_end, method=method)
    after = (10.0 / np.e + 6.0) / 4.0
    assert result["u2"].final == pytest.approx(after, rel=1e-6)
    assert result["u1"].final == pytest.approx(after * np.exp(1.0 - t_end / 1e-6), rel=1e-6)
    assert result["i"].final == 0.0
    assert not result["d"].final
    assert [e.t for e in result.events] == [0.0, 1e-6]
