"""Sampled blocks against recursions written out by hand."""

import numpy as np
import pytest

from acausal.components.blocks import (
    FirstOrder,
    Ramp,
    SampledPI,
    Sampler,
    TimeTable,
    UnitDelay,
    ZeroOrderHold,
)
from tests.components.signals import changes, run

MIDDLE = np.arange(8) * 0.25 + 0.125


def ramp() -> Ramp:
    return Ramp(height=2.0, duration=2.0, offset=1.0)


def held(block):
    return run(1.9, ("ramp.y", "b.u"), ramp=ramp(), b=block)["b.y"]


def test_zero_order_hold() -> None:
    y = held(ZeroOrderHold(samplePeriod=0.25))
    assert list(changes(y)) == [0.25 * k for k in range(1, 8)]
    assert y.at(MIDDLE) == pytest.approx(1.0 + 0.25 * np.arange(8), rel=1e-13)


def test_hold_shows_its_start_value_before_the_first_sample() -> None:
    y = held(ZeroOrderHold(samplePeriod=0.25, startTime=0.5, held=7.0))
    assert y.at(MIDDLE) == pytest.approx([7.0, 7.0, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75], rel=1e-13)


def test_sampler_samples_at_the_start_as_well() -> None:
    y = held(Sampler(samplePeriod=0.25, startTime=0.5, held=7.0))
    assert y.at(MIDDLE) == pytest.approx([1.0, 1.0, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75], rel=1e-13)


def test_unit_delay() -> None:
    y = held(UnitDelay(samplePeriod=0.25, stored=-3.0))
    assert y.at(MIDDLE) == pytest.approx([-3.0, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5], rel=1e-13)


def test_sampled_blocks_on_one_tick_see_each_others_new_outputs() -> None:
    blocks = {"a": ZeroOrderHold(samplePeriod=0.25), "b": ZeroOrderHold(samplePeriod=0.25)}
    result = run(2.0, ("ramp.y", "a.u"), ("a.y", "b.u"), ramp=ramp(), **blocks)
    assert result["b.y"].at(MIDDLE) == pytest.approx(result["a.y"].at(MIDDLE), rel=1e-15)


def test_a_unit_delay_gives_a_processor_its_period() -> None:
    blocks = {"a": ZeroOrderHold(samplePeriod=0.25), "b": UnitDelay(samplePeriod=0.25)}
    result = run(2.0, ("ramp.y", "a.u"), ("a.y", "b.u"), ramp=ramp(), **blocks)
    assert result["b.y"].at(MIDDLE)[1:] == pytest.approx(result["a.y"].at(MIDDLE)[:-1], rel=1e-15)


def recursion(kp: float, ki: float, period: float, low: float, high: float, reference, decay: float, n: int):
    """Outputs of controller and first-order plant at the first n samples."""
    x, integral, outputs, states = 0.0, 0.0, [], []
    for k in range(n):
        error = reference(k) - x
        integral = min(max(integral + ki * period * error, low), high)
        y = min(max(kp * error + integral, low), high)
        states.append(x)
        outputs.append(y)
        x = decay * x + (1.0 - decay) * 2.0 * y
    return outputs, states


@pytest.mark.parametrize("limit", [100.0, 0.8])
def test_sampled_pi_in_a_loop(limit: float) -> None:
    period, n = 0.1, 30
    result = run(
        period * n,
        ("step.y", "pi.reference"),
        ("pi.y", "plant.u"),
        ("plant.y", "pi.measurement"),
        step=TimeTable(table=((0.0, 1.0), (1.55, 1.0), (1.55, -0.5))),
        pi=SampledPI(kp=0.6, ki=2.0, period=period, yMin=-limit, yMax=limit),
        plant=FirstOrder(k=2.0, T=0.5),
    )
    decay = np.exp(-period / 0.5)
    outputs, states = recursion(0.6, 2.0, period, -limit, limit, lambda k: 1.0 if k < 16 else -0.5, decay, n)
    ticks = period * np.arange(n)
    assert result["pi.y"].at(ticks + period / 2) == pytest.approx(outputs, abs=1e-12)
    assert result["plant.y"].at(ticks) == pytest.approx(states, abs=1e-12)


def test_the_integral_does_not_wind_up() -> None:
    result = run(
        2.0,
        ("e.y", "pi.reference"),
        e=TimeTable(table=((0.0, 1.0), (1.05, 1.0), (1.05, -1.0))),
        pi=SampledPI(kp=0.0, ki=10.0, period=0.1, measurement=0.0, yMin=-2.0, yMax=2.0),
    )
    assert result["pi.y"].at([0.05, 0.15, 0.55, 1.05]) == pytest.approx([1.0, 2.0, 2.0, 2.0], rel=1e-14)
    assert result["pi.y"].at([1.15, 1.25, 1.35, 1.85]) == pytest.approx([1.0, 0.0, -1.0, -2.0], abs=1e-14)
