"""Edges of pulse width modulators against their formulas; no pulse and no gap without length."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    Input,
    Parameter,
    Result,
    Statement,
    assign,
    pre,
    sample,
    simulate,
    sin,
    time,
    when,
)
from acausal.components.blocks import (
    PWM,
    BooleanTable,
    Carrier,
    ComplementaryPWM,
    DeadTime,
    NaturalPWM,
    Ramp,
    TimeTable,
)
from tests.components.signals import assembled, changes, pulses, run

F = 1000.0
MS = 1e-3


class EdgeCounter(Component):
    """Counts the changes of a signal, those between two micro-steps of one instant included."""

    u: Input = Input(bool)
    rises: Discrete = Discrete(int)
    falls: Discrete = Discrete(int)
    off: Discrete = Discrete(bool, start=True)

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.off, ~self.u)
        yield when(self.u, assign(self.rises, pre(self.rises) + 1))
        yield when(self.off, assign(self.falls, pre(self.falls) + 1))


def intervals(signal) -> np.ndarray:
    return pulses(signal) / MS


def test_sawtooth_edges() -> None:
    result = run(3.5 * MS, pwm=PWM(frequency=F, duty=0.25))
    assert intervals(result["pwm.y"]) == pytest.approx(
        np.array([(0, 0.25), (1, 1.25), (2, 2.25), (3, 3.25)]), rel=1e-14
    )
    assert intervals(result["pwm.notY"]) == pytest.approx(
        np.array([(0.25, 1), (1.25, 2), (2.25, 3), (3.25, 3.5)]), rel=1e-14
    )


def test_falling_edges() -> None:
    y = run(3 * MS, pwm=PWM(frequency=F, duty=0.25, carrier=Carrier.FALLING))["pwm.y"]
    assert intervals(y)[:2] == pytest.approx(np.array([(0.75, 1), (1.75, 2)]), rel=1e-14)


def test_triangle_edges() -> None:
    y = run(2.5 * MS, pwm=PWM(frequency=F, duty=0.5, carrier=Carrier.TRIANGLE))["pwm.y"]
    assert intervals(y) == pytest.approx(np.array([(0, 0.25), (0.75, 1.25), (1.75, 2.25)]), rel=1e-14)


@pytest.mark.parametrize("carrier", Carrier)
@pytest.mark.parametrize("duty", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("begin", [-5.0, -0.5 * MS])
def test_nothing_before_the_first_period_of_a_run_that_begins_before_zero(carrier, duty, begin) -> None:
    pwm = PWM(frequency=F, duty=duty, carrier=carrier, phase=0.25)
    both = ComplementaryPWM(frequency=F, duty=duty, dead_time=0.0, carrier=carrier, phase=0.25)
    result = simulate(assembled(pwm=pwm, both=both), 2.25 * MS, t_start=begin)
    for y, low in (("pwm.y", "pwm.notY"), ("both.high", "both.low")):
        assert not result[y].mean(begin, 0.25 * MS)
        assert result[low].mean(begin, 0.25 * MS) == 1.0
        assert result[y].mean(0.25 * MS, 2.25 * MS) == pytest.approx(duty, rel=1e-12)


@pytest.mark.parametrize("begin", [-2.0, 0.0, 2.0])
@pytest.mark.parametrize("on", [False, True])
def test_dead_time_follows_the_start_wherever_it_is(begin: float, on: bool) -> None:
    result = simulate(assembled(dead=DeadTime(u=on, dead_time=0.25)), begin + 1.0, t_start=begin)
    for name, wanted in (("dead.high", on), ("dead.low", not on)):
        assert result[name].mean(begin, begin + 0.25) == 0.0
        assert result[name].mean(begin + 0.25, begin + 1.0) == wanted


def test_phase_and_start_time_delay_the_carrier() -> None:
    y = run(3 * MS, pwm=PWM(frequency=F, duty=0.5, phase=1 / 3, startTime=0.5 * MS))["pwm.y"]
    assert intervals(y)[:2] == pytest.approx(np.array([(5 / 6, 4 / 3), (11 / 6, 7 / 3)]), rel=1e-13)


@pytest.mark.parametrize("carrier", Carrier)
@pytest.mark.parametrize(("duty", "on"), [(-0.1, False), (0.0, False), (1.0, True), (1.2, True)])
def test_extreme_duty_ratios_have_no_edges(carrier: Carrier, duty: float, on: bool) -> None:
    result = run(
        4.5 * MS,
        ("pwm.y", "counter.u"),
        pwm=PWM(frequency=F, duty=duty, carrier=carrier),
        counter=EdgeCounter(),
    )
    assert changes(result["pwm.y"]).size == 0
    assert bool(result["pwm.y"].at(0.0)) is on
    assert result["counter.rises"].final <= on
    assert result["counter.falls"].final == 0


@pytest.mark.parametrize("carrier", Carrier)
def test_no_edge_without_length_when_the_duty_ratio_changes(carrier: Carrier) -> None:
    duties = [1.0, 0.5, 1.0, 1.0, 0.0, 0.5, 0.5, 0.0, 0.0, 1.0, 0.25, 0.0]
    steps = [(0.0, duties[0])]
    for k in range(1, len(duties)):
        steps += [(k - 0.5, duties[k - 1]), (k - 0.5, duties[k])]
    result = run(
        len(duties) * MS,
        ("duty.y", "pwm.duty"),
        ("pwm.y", "counter.u"),
        duty=TimeTable(table=tuple((t * MS, d) for t, d in steps)),
        pwm=PWM(frequency=F, carrier=carrier),
        counter=EdgeCounter(),
    )
    found = pulses(result["pwm.y"])
    assert all(b - a > 0.1 * MS for a, b in found)
    assert all(c[0] - b[1] > 0.1 * MS for b, c in zip(found[:-1], found[1:], strict=True))
    ends = [b for _, b in found if b < len(duties) * MS]
    assert result["counter.falls"].final == len(ends)
    for k, d in enumerate(duties):
        inside = [max(0.0, min(b, (k + 1) * MS) - max(a, k * MS)) for a, b in found]
        assert sum(inside) == pytest.approx(d * MS, abs=1e-12 * MS)


def test_the_duty_ratio_is_held_from_the_begin_of_the_period() -> None:
    duty = Ramp(offset=0.1, height=0.8, duration=4 * MS)
    y = run(4 * MS, ("duty.y", "pwm.duty"), duty=duty, pwm=PWM(frequency=F))["pwm.y"]
    expected = [(k, k + 0.1 + 0.2 * k) for k in range(4)]
    assert intervals(y) == pytest.approx(np.array(expected), rel=1e-12)


def test_edges_do_not_drift() -> None:
    y = run(0.2, pwm=PWM(frequency=1e4, duty=0.3))["pwm.y"]
    found = pulses(y)
    k = np.arange(2000)
    assert found[:2000, 0] == pytest.approx(k / 1e4, rel=1e-15)
    assert found[:2000, 1] - k / 1e4 == pytest.approx(np.full(2000, 0.3e-4), rel=1e-11)


def natural(carrier: Carrier, **ramp: float):
    parts = {"duty": Ramp(**ramp), "pwm": NaturalPWM(frequency=F, carrier=carrier)}
    return run(3.9 * MS, ("duty.y", "pwm.duty"), **parts)["pwm.y"]


def test_natural_sampling_with_a_sawtooth() -> None:
    # 0.1 + 0.2 * t / ms = t / ms - k
    y = natural(Carrier.SAWTOOTH, offset=0.1, height=0.8, duration=4 * MS)
    assert intervals(y) == pytest.approx(np.array([(k, (k + 0.1) / 0.8) for k in range(4)]), rel=1e-12)


def test_natural_sampling_with_a_triangle() -> None:
    # Rising flank 2 * (t / ms - k), falling flank 2 - 2 * (t / ms - k), against 0.1 + 0.2 * t / ms.
    y = natural(Carrier.TRIANGLE, offset=0.1, height=0.8, duration=4 * MS)
    falls = [(0.1 + 2 * k) / 1.8 for k in range(4)]
    rises = [0.0, *((1.9 + 2 * k) / 2.2 for k in range(3))]
    assert intervals(y)[:4] == pytest.approx(np.column_stack([rises, falls]), rel=1e-12)


@pytest.mark.parametrize("carrier", Carrier)
@pytest.mark.parametrize(("duty", "on"), [(0.0, False), (1.0, True)])
def test_natural_sampling_of_extreme_duty_ratios(carrier: Carrier, duty: float, on: bool) -> None:
    result = run(
        3.5 * MS,
        ("pwm.y", "counter.u"),
        pwm=NaturalPWM(frequency=F, duty=duty, carrier=carrier),
        counter=EdgeCounter(),
    )
    assert changes(result["pwm.y"]).size == 0
    assert bool(result["pwm.y"].at(0.5 * MS)) is on
    assert result["counter.falls"].final == 0


def test_dead_time_delays_turning_on() -> None:
    result = run(2.5 * MS, leg=ComplementaryPWM(frequency=F, duty=0.4, dead_time=0.05 * MS))
    assert intervals(result["leg.high"]) == pytest.approx(
        np.array([(0.05, 0.4), (1.05, 1.4), (2.05, 2.4)]), rel=1e-12
    )
    assert intervals(result["leg.low"]) == pytest.approx(
        np.array([(0.45, 1), (1.45, 2), (2.45, 2.5)]), rel=1e-12
    )


def test_pulses_shorter_than_the_dead_time_are_lost() -> None:
    result = run(1.9 * MS, leg=ComplementaryPWM(frequency=F, duty=0.03, dead_time=0.05 * MS))
    assert pulses(result["leg.high"]).size == 0
    assert intervals(result["leg.low"]) == pytest.approx(np.array([(0.08, 1), (1.08, 1.9)]), rel=1e-12)


@pytest.mark.parametrize(("duty", "on", "off"), [(1.0, "high", "low"), (0.0, "low", "high")])
def test_extreme_duty_ratios_of_a_leg(duty: float, on: str, off: str) -> None:
    result = run(3 * MS, leg=ComplementaryPWM(frequency=F, duty=duty, dead_time=0.05 * MS))
    assert intervals(result[f"leg.{on}"]) == pytest.approx(np.array([(0.05, 3.0)]), rel=1e-12)
    assert pulses(result[f"leg.{off}"]).size == 0


def test_the_switches_of_a_leg_are_never_on_together() -> None:
    result = run(
        9 * MS,
        ("u.y", "leg.u"),
        ("leg.high", "high.u"),
        ("leg.low", "low.u"),
        u=BooleanTable(table=tuple(k * MS for k in range(1, 8))),
        leg=DeadTime(dead_time=0.1 * MS),
        high=EdgeCounter(),
        low=EdgeCounter(),
    )
    high, low = intervals(result["leg.high"]), intervals(result["leg.low"])
    assert high == pytest.approx(np.array([(1.1, 2), (3.1, 4), (5.1, 6), (7.1, 9)]), rel=1e-12)
    assert low == pytest.approx(np.array([(0.1, 1), (2.1, 3), (4.1, 5), (6.1, 7)]), rel=1e-12)
    assert (result["high.rises"].final, result["low.rises"].final) == (4, 4)


def test_without_dead_time_the_leg_switches_over_at_once() -> None:
    result = run(2.5 * MS, leg=ComplementaryPWM(frequency=F, duty=0.4))
    assert intervals(result["leg.high"]) == pytest.approx(np.array([(0, 0.4), (1, 1.4), (2, 2.4)]), rel=1e-12)
    assert intervals(result["leg.low"]) == pytest.approx(
        np.array([(0.4, 1), (1.4, 2), (2.4, 2.5)]), rel=1e-12
    )


def corner_defects(result: Result, name: str) -> list[float]:
    """Instants in which a signal changes more than once."""
    at = result.names.find(name).index
    values: dict[float, list[float]] = {}
    for step in result.steps:
        values.setdefault(step.t, []).append(float(step.D[at]))
    found, before = [], None
    for t, steps in values.items():
        path = steps if before is None else [before, *steps]
        if before is not None and sum(a != b for a, b in itertools.pairwise(path)) > 1:
            found.append(t)
        before = steps[-1]
    return found


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("carrier", list(Carrier))
@pytest.mark.parametrize("corner", [3.0, 3.5, 101.0, pytest.param(101.5, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("level", [0.0, 1.0])
@pytest.mark.parametrize("slope", [0.01, -0.01, 5.0, -5.0])
def test_a_carrier_crossed_at_its_corner(carrier: Carrier, corner: float, level: float, slope: float) -> None:
    frequency = 3333.333 if corner > 100 else F
    at = corner / frequency

    class Crossed(Component):
        def build(self) -> None:
            self.ramp = Ramp(
                offset=level - slope, height=2 * slope, startTime=at - 1 / frequency, duration=2 / frequency
            )
            self.pwm = NaturalPWM(frequency=frequency, duty=self.ramp.y, carrier=carrier)

    result = simulate(Crossed(), at + 3.2 / frequency)
    assert corner_defects(result, "pwm.y") == []
    assert corner_defects(result, "pwm.notY") == []


@pytest.mark.parametrize("kind", [PWM, NaturalPWM])
@pytest.mark.parametrize("carrier", list(Carrier))
@pytest.mark.parametrize("start", [-0.25, -0.75, -1000.25, -3.0])
def test_a_run_that_starts_within_a_period(kind: type, carrier: Carrier, start: float) -> None:
    y = run(4 * MS, pwm=kind(frequency=F, duty=0.3, carrier=carrier, startTime=start * MS))["pwm.y"]
    shape = {
        Carrier.SAWTOOTH: lambda x: x,
        Carrier.TRIANGLE: lambda x: 2 * np.minimum(x, 1 - x),
        Carrier.FALLING: lambda x: 1 - x,
    }[carrier]
    t = np.arange(0.0123, 3.99, 0.02)
    assert y.at(t * MS).tolist() == (0.3 > shape((t - start) % 1.0)).tolist()


class NonlinearEdges(Component):
    """Exclusive gates: one until a time that is linear in that of the tick, one from a time that is not."""

    begin: Discrete = Discrete(float, unit="s")
    end: Discrete = Discrete(float, unit="s")
    first: Discrete = Discrete(bool)
    second: Discrete = Discrete(bool)
    period: Parameter = Parameter(default=MS, unit="s")
    w: Parameter = Parameter(default=300.0, unit="rad/s")

    def equations(self) -> Iterator[Statement]:
        duty = 0.5 + 0.4 * sin(self.w * time)
        yield when(
            sample(period=self.period),
            assign(self.begin, time + self.period * duty),
            assign(self.end, time + 0.1 * self.period),
        )
        yield Eq(self.first, time < self.end)
        yield Eq(self.second, time >= self.begin)


def test_edges_of_a_duty_ratio_that_is_nonlinear_in_time() -> None:
    result = simulate(NonlinearEdges(), 1.0005)
    first, second = (result.names.find(n).index for n in ("first", "second"))
    assert sum(bool(s.D[first] and s.D[second]) for s in result.steps) == 0
    assert sum(s.number == 0 for s in result.steps) > 3000
    k = np.arange(1, 1000)
    t = k * MS + MS * (0.5 + 0.4 * np.sin(300.0 * k * MS))
    assert not result["second"].at(t - 1e-9).any()
    assert result["second"].at(t + 1e-9).all()
