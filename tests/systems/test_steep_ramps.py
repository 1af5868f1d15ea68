"""Short steep ramps into slow states: digits that a split into source and decay would lose, against closed forms in 50 digits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import mpmath as mp
import pytest

from acausal import (
    Component,
    Eq,
    Result,
    Start,
    Structural,
    Variable,
    connect,
    der,
    if_else,
    initially,
    simulate,
    time,
)  # fmt: skip
from acausal.components.electrical import (
    Capacitor,
    Ground,
    IdealDiode,
    RampVoltage,
    Resistor,
    TableCurrent,
    TableVoltage,
)

BEGIN = 0.25


def along(points: list[tuple[float, float]], v0: float, tau: float, t: float) -> float:
    """State at ``t`` of ``tau v' = u - v`` with straight lines between points (time, u) that begin at time 0."""
    with mp.workdps(50):
        v = mp.mpf(v0)
        for (a, u), (b, w) in zip(points, [*points[1:], (t, points[-1][1])], strict=True):
            h = mp.mpf(min(b, t)) - mp.mpf(a)
            if h <= 0:
                continue
            slope = (mp.mpf(w) - mp.mpf(u)) / (mp.mpf(b) - mp.mpf(a))
            lag = slope * tau
            v = u + slope * h - lag + (v - u + lag) * mp.exp(-h / tau)
        return float(v)


def charged(source: Callable[[], Any], capacitance: float = 1.0) -> Component:
    """A capacitor behind a resistor of 1 Ohm at a source."""

    class Charged(Component):
        def build(self) -> None:
            self.source, self.r, self.ground = source(), Resistor(R=1.0), Ground()
            self.c = Capacitor(C=capacitance, v=Start(1.0, fixed=True))

        def equations(self) -> Any:
            yield connect(self.source.p, self.r.p)
            yield connect(self.r.n, self.c.p)
            yield connect(self.source.n, self.c.n, self.ground.p)

    return Charged()


def triangle(h: float, height: float) -> tuple[tuple[float, float], ...]:
    return (-1.0, 0.0), (BEGIN, 0.0), (BEGIN + h, height), (BEGIN + 2.0 * h, 0.0)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("length", [0.3, 1.0, 30.0])
@pytest.mark.parametrize("height", [1.0, 1e4, 1e8])
@pytest.mark.parametrize("h", [1e-9, 1e-6, 1e-3])
def test_a_pulse_leaves_what_it_has_carried_whatever_the_length_of_the_run(
    h: float, height: float, length: float
) -> None:
    table = triangle(h, height)
    result = simulate(charged(lambda: TableVoltage(table=table)), length)
    points = [(0.0, 0.0), *table[1:]]
    for t in (table[2][0], table[3][0], 0.3):
        assert result["c.v"].at(t) == pytest.approx(along(points, 1.0, 1.0, t), rel=1e-13)
    assert result.check().ok


@pytest.mark.parametrize("tau", [1e2, 1e4, 1e6])
@pytest.mark.parametrize("duration", [1e-6, 1e-3])
def test_a_ramp_that_is_short_against_the_time_constant(duration: float, tau: float) -> None:
    ramp = partial(RampVoltage, V=1.0, duration=duration, startTime=1.0)
    result = simulate(charged(ramp, tau), 3.0 * tau)
    points = [(0.0, 0.0), (1.0, 0.0), (1.0 + duration, 1.0)]
    for t in (2.0, tau, 3.0 * tau):
        assert result["c.v"].at(t) == pytest.approx(along(points, 1.0, tau, t), rel=1e-13)


@pytest.mark.parametrize("current", [1e-3, 1e6])
def test_a_pulse_behind_a_diode_that_blocks_after_it(current: float) -> None:
    """The crossing is sought along the usual flow, and the segment that ends there followed along another one."""
    h = 1e-6

    class Rectified(Component):
        def build(self) -> None:
            self.i, self.d, self.ground = TableCurrent(table=triangle(h, current)), IdealDiode(), Ground()
            self.free = IdealDiode()
            self.c, self.r = Capacitor(C=1.0, v=Start(1.0, fixed=True)), Resistor(R=1.0)

        def equations(self) -> Any:
            yield connect(self.i.n, self.d.p, self.free.n)
            yield connect(self.d.n, self.c.p, self.r.p)
            yield connect(self.i.p, self.free.p, self.c.n, self.r.n, self.ground.p)

    result = simulate(Rectified(), 1.0)
    points = [(0.0, 0.0), *triangle(h, current)[1:]]
    for t in (BEGIN + h, BEGIN + 2.0 * h, 1.0):
        assert result["c.v"].at(t) == pytest.approx(along(points, 1.0, 1.0, t), rel=1e-13)


class Piecewise(Component):
    """The same as an expression in time."""

    h: Structural = Structural(float, default=1e-8)
    height: Structural = Structural(float, default=1e4)
    y: Variable = Variable(start=0.0)

    def equations(self) -> Any:
        h, a = self.h, self.height
        falls = if_else(time < BEGIN + 2 * h, a - (time - BEGIN - h) * (a / h), 0)
        u = if_else(time < BEGIN, 0, if_else(time < BEGIN + h, (time - BEGIN) * (a / h), falls))
        yield initially(Eq(self.y, 1.0))
        yield Eq(der(self.y), u - self.y)


@pytest.mark.parametrize("method", ["auto", "implicit"])
@pytest.mark.parametrize("height", [1.0, 1e4, 1e8])
def test_a_start_is_kept_beside_slopes_that_exceed_it_by_far(height: float, method: str) -> None:
    """The scale of the state is that of the slope times the run: a start of one was rounding beside it."""
    result = simulate(Piecewise(height=height), 1.0, method=method)
    assert result["y"].at(0.0) == pytest.approx(1.0, rel=1e-15)
    points = [(0.0, 0.0), (BEGIN, 0.0), (BEGIN + 1e-8, height), (BEGIN + 2e-8, 0.0)]
    # Time itself is known to its last place, a part of 1e-9 of these slopes.
    assert result["y"].final == pytest.approx(along(points, 1.0, 1.0, 1.0), rel=1e-7)


def test_results_of_segments_of_different_lengths_are_read_together(tmp_path: Any) -> None:
    result = simulate(charged(lambda: TableVoltage(table=triangle(1e-8, 1e4))), 1.0)
    result.save(tmp_path / "pulse.acausal")
    loaded = Result.load(tmp_path / "pulse.acausal")
    for found in (result, loaded):
        assert found["c.v"].max() == 1.0
        assert found["c.v"].mean() == result["c.v"].mean()
        assert found.check().ok
