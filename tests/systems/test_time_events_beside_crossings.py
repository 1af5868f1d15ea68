"""A scheduled instant a few last places of time before a diode takes over: both happen, one after the other or at once."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from acausal import (
    Component,
    Discrete,
    Parameter,
    Program,
    Statement,
    assign,
    connect,
    pre,
    sample,
    time,
    when,
)
from acausal.components import electrical as el
from acausal.components.blocks import PWM, PhaseAngle


class Bridge(Component):
    """Four diodes from a sine of 50 Hz to a resistor behind a coil, in which the current never vanishes."""

    at: Parameter = Parameter(default=1e9, unit="s")
    seen: Discrete = Discrete(int, start=0)
    ticks: Discrete = Discrete(int, start=0)

    def build(self) -> None:
        self.source, self.ground = el.SineVoltage(V=325.0, f=50.0), el.Ground()
        self.a, self.b, self.d, self.e = (el.IdealDiode() for _ in range(4))
        self.resistor, self.coil = el.Resistor(R=10.0), el.Inductor(L=30e-3)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.a.p, self.d.n)
        yield connect(self.source.n, self.b.p, self.e.n)
        yield connect(self.a.n, self.b.n, self.resistor.p)
        yield connect(self.resistor.n, self.coil.p)
        yield connect(self.coil.n, self.d.p, self.e.p, self.ground.p)
        yield when(time >= self.at, assign(self.seen, 1))
        yield when(sample(period=0.02), assign(self.ticks, pre(self.ticks) + 1))


@pytest.fixture(scope="module")
def bridge() -> Program:
    return Program(Bridge())


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("crossing", [2.16, 2.17, 2.18])
@pytest.mark.parametrize("ulps", range(-3, 40))
def test_a_time_event_next_to_a_commutation_holds_nothing_up(
    bridge: Program, crossing: float, ulps: int
) -> None:
    at = crossing - ulps * math.ulp(crossing)
    before = bridge.simulate(2.15 + 0.005)
    found = bridge.simulate(2.19, start=before, parameters={"at": at})
    assert found["seen"].final == 1
    alone = bridge.simulate(2.19, start=before)
    assert found["coil.i"].final == pytest.approx(alone["coil.i"].final, rel=1e-11)
    switched = [e.t for e in found.events if any(c.name.startswith("a.") for c in getattr(e, "changes", ()))]
    assert all(abs(t / 0.01 - round(t / 0.01)) < 1e-9 for t in switched)


class Fired(Component):
    """A thyristor bridge with two diodes and firing pulses that end with each half-wave."""

    f: Parameter = Parameter(default=50.0, unit="Hz")
    alpha: Parameter = Parameter(default=1.2, unit="rad")

    def build(self) -> None:
        self.source, self.ground = el.SineVoltage(V=325.0, f=self.f), el.Ground()
        self.firing = PhaseAngle(frequency=self.f, alpha=self.alpha)
        self.a, self.b = el.IdealThyristor(), el.IdealThyristor()
        self.d, self.e = el.IdealDiode(), el.IdealDiode()
        self.resistor, self.coil = el.Resistor(R=10.0), el.Inductor(L=30e-3)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.firing.fire_p, self.a.fire)
        yield connect(self.firing.fire_n, self.b.fire)
        yield connect(self.source.p, self.a.p, self.d.n)
        yield connect(self.source.n, self.b.p, self.e.n)
        yield connect(self.a.n, self.b.n, self.resistor.p)
        yield connect(self.resistor.n, self.coil.p)
        yield connect(self.coil.n, self.d.p, self.e.p, self.ground.p)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("f", [50.0, 60.0, 16.7, 400.0])
@pytest.mark.parametrize("alpha", [0.3, 1.0, 1.2, 2.4])
def test_pulses_of_many_periods_do_not_creep(f: float, alpha: float) -> None:
    """In every half-wave one instant when a thyristor fires, and one when the voltage changes its sign."""
    result = Program(Fired()).simulate(200.5 / f, parameters={"f": f, "alpha": alpha})
    times = result.events.times
    half_waves = times[1:] * 2.0 * f
    fired = np.abs(half_waves - np.floor(half_waves) - alpha / math.pi) < 1e-9
    assert fired.sum() == 401
    assert np.abs(half_waves[~fired] - np.round(half_waves[~fired])).max() < 1e-10
    assert len(times) == 1 + 401 + 401


def test_edges_of_pulses_are_whole_periods_apart() -> None:
    """Also where each tick shares its instant with an event just before it."""

    class Beside(Component):
        last: Discrete = Discrete(float, start=0.0)

        def build(self) -> None:
            self.pwm = PWM(frequency=50.0, duty=0.5)

        def equations(self) -> Iterator[Statement]:
            early = 0.02 * (1 - 1e-13)
            yield when(time >= pre(self.last) + early, assign(self.last, pre(self.last) + 0.02))

    result = Program(Beside()).simulate(10.0)
    assert result["pwm.end"].final == pytest.approx(10.01, abs=4e-15)
