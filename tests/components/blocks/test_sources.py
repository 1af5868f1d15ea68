"""Sources of continuous signals against their formulas, on both sides of every corner."""

import numpy as np
import pytest

from acausal.components.blocks import Constant, Pulse, Ramp, Sine, Step, TimeTable
from tests.components.signals import changes, run

T = np.linspace(0.0, 4.0, 81) + 1e-3


def output(source, t_end=5.0):
    return run(t_end, source=source)["source.y"]


def test_constant() -> None:
    assert output(Constant(k=3.5)).at(T) == pytest.approx(np.full_like(T, 3.5), rel=1e-15)


def test_step_has_its_new_value_at_the_step() -> None:
    y = output(Step(height=3.0, offset=-1.0, startTime=2.0))
    assert list(changes(y)) == [2.0]
    assert (y.at(2.0, side="left"), y.at(2.0)) == (-1.0, 2.0)
    assert y.at(T) == pytest.approx(np.where(T < 2.0, -1.0, 2.0), rel=1e-14)


def test_a_step_at_the_start_has_happened() -> None:
    assert output(Step(height=3.0)).at(0.0) == 3.0


def test_ramp() -> None:
    y = output(Ramp(height=-3.0, duration=1.5, offset=1.0, startTime=1.0))
    assert y.at(T) == pytest.approx(1.0 - 3.0 * np.clip((T - 1.0) / 1.5, 0.0, 1.0), abs=1e-13)


def test_sine_starts_at_its_start_time() -> None:
    y = output(Sine(amplitude=2.0, f=1.5, phase=0.7, offset=0.5, startTime=1.0))
    wave = 0.5 + 2.0 * np.sin(2 * np.pi * 1.5 * (T - 1.0) + 0.7)
    assert y.at(T) == pytest.approx(np.where(T < 1.0, 0.5, wave), abs=1e-12)


def test_pulse() -> None:
    y = output(Pulse(amplitude=2.0, width=25.0, period=1.0, offset=-1.0, startTime=0.5))
    assert list(changes(y)) == pytest.approx(
        [0.5, 0.75, 1.5, 1.75, 2.5, 2.75, 3.5, 3.75, 4.5, 4.75], rel=1e-15
    )
    on = (T >= 0.5) & ((T - 0.5) % 1.0 < 0.25)
    assert y.at(T) == pytest.approx(np.where(on, 1.0, -1.0), rel=1e-14)


@pytest.mark.parametrize(("width", "value"), [(0.0, 0.0), (100.0, 1.0)])
def test_extreme_pulses_do_not_change(width: float, value: float) -> None:
    y = output(Pulse(width=width, period=1.0))
    assert changes(y).size == 0
    assert y.at(T) == pytest.approx(np.full_like(T, value))


def test_pulses_that_began_before_the_run_are_under_way() -> None:
    y = output(Pulse(width=50.0, period=1.0, startTime=-0.25))
    assert y.at(0.0) == 1.0
    assert list(changes(y)[:3]) == pytest.approx([0.25, 0.75, 1.25], rel=1e-15)


def test_table_interpolates_and_steps() -> None:
    y = output(TimeTable(table=((1.0, 2.0), (2.0, 4.0), (2.0, 0.0), (3.0, 1.0)), offset=10.0))
    expected = 10.0 + np.where(
        T < 2.0, np.interp(T, [1.0, 2.0], [2.0, 4.0]), np.interp(T, [2.0, 3.0], [0.0, 1.0])
    )
    assert y.at(T) == pytest.approx(expected, abs=1e-13)
    assert (y.at(2.0, side="left"), y.at(2.0)) == pytest.approx((14.0, 10.0), abs=1e-13)
