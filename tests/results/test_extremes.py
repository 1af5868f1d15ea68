"""Largest and smallest values of signals that jump without an event, against closed forms."""

import io
import math
from collections.abc import Iterator

import numpy as np
import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    Parameter,
    Result,
    Statement,
    Variable,
    assign,
    atan2,
    der,
    exp,
    if_else,
    log,
    no_event,
    pre,
    reinit,
    sample,
    simulate,
    table,
    time,
    when,
)

W, STOP = 7.0, 3.0


class Turning(Component):
    """``x = cos(W t)``, ``y = -sin(W t)``, and what jumps with them."""

    x: Variable = Variable(start=1.0)
    y: Variable = Variable(start=0.0)
    angle: Variable = Variable()
    two: Variable = Variable()
    beside: Variable = Variable()
    many: Variable = Variable()
    low: Variable = Variable()

    def equations(self) -> Iterator[Eq]:
        yield Eq(der(self.x), W * self.y)
        yield Eq(der(self.y), -W * self.x)
        yield Eq(self.angle, atan2(self.y, self.x))
        yield Eq(self.two, no_event(if_else(self.x > 0.3, 1.0, -0.3)))
        # A smooth maximum of 1, and at x = 0.9995 a step down from there to 0.
        yield Eq(self.beside, no_event(if_else(self.x > 0.9995, self.x, 0.0)))
        steps = [if_else(self.x > 0.1 * n, 1.0, 0.0) for n in range(-9, 10)]
        yield Eq(self.many, no_event(sum(steps[1:], steps[0])))
        # Its smallest value is a limit that the function has on one side of the jump.
        yield Eq(self.low, no_event(if_else(self.x > 0.3, self.x, 1.0)))


BOUNDS = {
    "angle": (-math.pi, math.pi),
    "two": (-0.3, 1.0),
    "beside": (0.0, 1.0),
    "many": (0.0, 19.0),
    "low": (0.3, 1.0),
}


@pytest.fixture(scope="module", params=["exact", "implicit", "explicit"])
def turning(request: pytest.FixtureRequest) -> tuple[Result, Result]:
    """A run, and what was saved of it."""
    result, file = simulate(Turning(), STOP, method=request.param), io.BytesIO()
    result.save(file)
    file.seek(0)
    return result, Result.load(file)


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("path", BOUNDS)
def test_extreme_values_beside_jumps_without_events_are_values_of_the_signal(
    turning: tuple[Result, Result], path: str
) -> None:
    for result in turning:
        low, high = BOUNDS[path]
        signal = result[path]
        # The states of integrated runs are good to 1e-7.
        lowest, highest = signal.min(), signal.max()
        assert (lowest, highest) == pytest.approx((low, high), abs=1e-6)
        assert signal.ptp() == highest - lowest
        assert lowest <= signal.values.min()
        assert highest >= signal.values.max()
        if path in ("two", "many"):
            assert {lowest, highest} == {low, high}
        if path == "angle":
            assert -math.pi <= lowest < highest <= math.pi


def test_extreme_values_of_exact_runs_reach_the_limits_at_a_jump() -> None:
    result = simulate(Turning(), STOP, method="exact")
    for path, bounds in BOUNDS.items():
        signal = result[path]
        assert (signal.min(), signal.max()) == pytest.approx(bounds, abs=1e-12)
    # Multiples, sums and products are signals too.
    assert (-2.0 * result["two"]).max() == pytest.approx(0.6, rel=1e-15)
    assert (result["two"] + result["many"]).max() == pytest.approx(20.0, rel=1e-15)
    assert (result["two"] * result["two"]).min() == pytest.approx(0.09, rel=1e-15)


@pytest.mark.parametrize("beyond", [-1e-3, -1e-12, 0.0, 1e-12, 1e-3])
def test_a_jump_at_the_end_of_a_window_gives_values_of_the_signal(beyond: float) -> None:
    two = simulate(Turning(), STOP, method="exact")["two"]
    jump = math.acos(0.3) / W
    for t0, t1 in ((0.1, jump + beyond), (jump + beyond, 0.3)):
        assert two.max(t0, t1) in (1.0, -0.3)
        assert two.min(t0, t1) in (1.0, -0.3)
    if beyond:
        assert two.min(0.1, jump + beyond) == (1.0 if beyond < 0.0 else -0.3)
        assert two.max(jump + beyond, 0.3) == (1.0 if beyond < 0.0 else -0.3)


class Stepped(Component):
    """A voltage from a table, a count and a saw tooth of 2 V/s, which all jump at every full second."""

    count: Discrete = Discrete(int)
    saw: Variable = Variable()
    v: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.v, table(time, (0.0, 1.0, 1.0, 2.0, 2.0), (0.0, 1.0, 3.0, 3.0, -1.0)))
        yield Eq(der(self.saw), 2.0)
        every_second = sample(period=1.0, start=1.0)
        yield when(every_second, assign(self.count, pre(self.count) + 1), reinit(self.saw, -5.0))


@pytest.mark.parametrize("method", ["exact", "explicit"])
@pytest.mark.parametrize("end", [1.0, 2.0, 2.5])
def test_what_an_event_at_the_end_of_the_run_leads_to_counts(end: float, method: str) -> None:
    result = simulate(Stepped(), end, method=method)
    v, count, saw = result["v"], result["count"], result["saw"]
    assert (count.min(), count.max()) == (0, count.final) == (0, int(end))
    assert count.max(0.5) == int(end)
    assert saw.min() == pytest.approx(-5.0, rel=1e-9)
    assert v.max() == pytest.approx(3.0, rel=1e-12)
    assert v.min() == pytest.approx(0.0 if end == 1.0 else -1.0, abs=1e-12)
    assert (2.0 * v).ptp() == pytest.approx(6.0 if end == 1.0 else 8.0, rel=1e-12)
    assert (v > 2.0).max() == 1


@pytest.mark.parametrize("end", [2.0, 2.5])
def test_of_a_jump_at_an_end_of_a_window_the_limit_inside_counts(end: float) -> None:
    """However long the run is."""
    result = simulate(Stepped(), end)
    v, count, saw = result["v"], result["count"], result["saw"]
    assert (v.min(1.0, 2.0), v.max(1.0, 2.0)) == pytest.approx((3.0, 3.0), rel=1e-12)
    assert (count.min(1.0, 2.0), count.max(1.0, 2.0)) == (1, 1)
    assert (saw.min(1.0, 2.0), saw.max(1.0, 2.0)) == pytest.approx((-5.0, -3.0), rel=1e-12)
    assert (v.min(0.5, 2.0), v.max(0.5, 1.5)) == pytest.approx((0.5, 3.0), rel=1e-12)


class Charging(Component):
    """``x = 1 - exp(-t / tau)`` with a jump within the transient and one at the start."""

    tau: Parameter = Parameter()
    x: Variable = Variable(start=0.0)
    folded: Variable = Variable()
    started: Variable = Variable()

    def equations(self) -> Iterator[Eq]:
        yield Eq(self.tau * der(self.x), 1.0 - self.x)
        yield Eq(self.folded, no_event(if_else(self.x > 0.5, self.x, -self.x)))
        yield Eq(self.started, no_event(if_else(self.x > 0.0, 1.0 + self.x, -1.0)))


@pytest.mark.parametrize("tau", [1e-15, 1e-12, 1e-6, 1.0])
def test_a_jump_within_a_transient_far_shorter_than_the_run_is_found_to_rounding(tau: float) -> None:
    result = simulate(Charging(tau=tau), 1.0, method="exact")
    final = -np.expm1(-1.0 / tau)
    assert result["folded"].min() == pytest.approx(-0.5, abs=1e-12)
    assert result["folded"].max() == pytest.approx(final, rel=1e-14)
    assert (result["started"].min(), result["started"].max()) == (-1.0, pytest.approx(1.0 + final))
    assert result["started"].min(0.5, 1.0) > 1.0


def test_harmonics_of_a_signal_that_jumps_without_an_event() -> None:
    two = simulate(Turning(), STOP, method="exact")["two"]
    period = 2.0 * math.pi / W
    found = two.harmonics(1.0 / period, 3, 0.0, 2.0 * period)
    # 1.3 high for |phase| < acos(0.3), on -0.3.
    width = math.acos(0.3)
    n = np.arange(1, 4)
    expected = np.append(1.3 * width / math.pi - 0.3, 2.6 * np.sin(n * width) / (np.pi * n))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert two.mean(0.0, period) == pytest.approx(expected[0], abs=1e-10)


class Singular(Component):
    """A peak of height 30 on a logarithm, which is infinite at the start."""

    x: Variable = Variable(start=0.0)
    q: Variable = Variable()

    def equations(self) -> Iterator[Eq]:
        yield Eq(der(self.x), 1.0)
        yield Eq(self.q, no_event(log(self.x)) + 30.0 * exp(-(((self.x - 0.513) / 0.01) ** 2)))


def test_an_infinite_value_does_not_hide_others() -> None:
    q = simulate(Singular(), 1.0)["q"]
    t = np.linspace(0.512, 0.514, 2_000_001)
    assert q.max() == pytest.approx(
        (np.log(t) + 30.0 * np.exp(-(((t - 0.513) / 0.01) ** 2))).max(), rel=1e-12
    )
    assert q.min() == -math.inf
