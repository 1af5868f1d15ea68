"""S7: one instant holds all events of one tick; periods are rational; no shorter interval is integrated."""

from fractions import Fraction

import numpy as np
import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    Parameter,
    Variable,
    assign,
    der,
    pre,
    sample,
    simulate,
    time,
    when,
)

from .observing import Statements


class Clocked(Component):
    period: Parameter = Parameter(default=1e-5)
    first: Parameter = Parameter(default=0.0)
    n: Discrete = Discrete(int)

    def equations(self) -> Statements:
        yield when(sample(period=self.period, start=self.first), assign(self.n, pre(self.n) + 1))


def test_ticks_are_multiples_of_the_rational_period() -> None:
    """k * 1e-5 differs from k / 1e5 in the last place for many k."""
    result = simulate(Clocked(), 1e-2)
    ticks = [float(Fraction(k, 100_000)) for k in range(1001)]
    assert any(k * 1e-5 != t for k, t in enumerate(ticks))
    assert result.events.times.tolist() == ticks
    assert result["n"].final == 1001


class Pair(Component):
    """Periods 1/3 and 1/7 of a tenth: they meet at multiples of 0.1."""

    def build(self) -> None:
        self.a = Clocked(period=0.1 / 3)
        self.b = Clocked(period=0.1 / 7)


def test_clocks_that_meet_share_an_instant() -> None:
    result = simulate(Pair(), 1.0)
    times = {Fraction(k, 30) for k in range(31)} | {Fraction(k, 70) for k in range(71)}
    assert len(result.events) == len(times)
    assert (result["a.n"].final, result["b.n"].final) == (31, 71)


def test_a_phase_shift_makes_clocks_meet() -> None:
    class Shifted(Component):
        def build(self) -> None:
            self.a = Clocked(period=0.2)
            self.b = Clocked(period=0.2, first=0.1)
            self.c = Clocked(period=0.1)

    result = simulate(Shifted(), 1.0)
    assert result.events.times == pytest.approx(np.arange(11) / 10, abs=1e-16)


def test_time_events_and_ticks_at_one_time_share_an_instant() -> None:
    class Model(Component):
        """The same time three ways: 0.1 + 0.2 is not 0.3, but is meant to be."""

        n: Discrete = Discrete(int)
        a: Discrete = Discrete(bool)
        b: Discrete = Discrete(bool)

        def equations(self) -> Statements:
            yield when(sample(period=0.3, start=0.3), assign(self.n, pre(self.n) + 1))
            yield Eq(self.a, time >= 0.1 + 0.2)
            yield Eq(self.b, time >= 0.3)

    result = simulate(Model(), 0.5)
    (event,) = [e for e in result.events if e.t > 0.0]
    assert event.discretes.keys() == {"n", "a", "b"}


def test_a_state_event_at_a_tick_shares_its_instant() -> None:
    class Model(Component):
        x: Variable = Variable()
        up: Discrete = Discrete(bool)
        n: Discrete = Discrete(int)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1)
            yield Eq(self.up, self.x >= 0.5)
            yield when(sample(period=0.5), assign(self.n, pre(self.n) + 1))

    result = simulate(Model(), 0.9)
    times = [e.t for e in result.events if e.t > 0.0]
    assert times == pytest.approx([0.5], abs=1e-15)
    assert result["up"].at(0.5) and result["n"].at(0.5) == 2


def test_no_sliver_between_coinciding_events() -> None:
    result = simulate(Pair(), 1.0)
    assert np.diff(result.events.times).min() > 1e-3
