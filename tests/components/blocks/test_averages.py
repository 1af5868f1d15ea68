"""Mean and root mean square of a sine over whole and half periods."""

import numpy as np
import pytest

from acausal.components.blocks import Mean, RootMeanSquare, Sine
from tests.components.signals import run

F = 50.0


def average(block):
    return run(0.065, ("s.y", "b.u"), s=Sine(amplitude=3.0, offset=2.0, f=F), b=block)["b.y"]


def test_mean_over_whole_periods() -> None:
    y = average(Mean(period=1 / F))
    assert y.at([0.0, 0.01, 0.0199]) == pytest.approx([0.0, 0.0, 0.0], abs=0.0)
    assert y.at([0.02, 0.03, 0.0399, 0.05, 0.064]) == pytest.approx(np.full(5, 2.0), rel=1e-12)


def test_mean_over_half_periods() -> None:
    y = average(Mean(period=0.5 / F))
    up, down = 2.0 + 6.0 / np.pi, 2.0 - 6.0 / np.pi
    assert y.at([0.005, 0.015, 0.025, 0.035, 0.045]) == pytest.approx([0.0, up, down, up, down], rel=1e-11)


def test_the_integral_starts_anew_in_every_window() -> None:
    result = run(0.065, ("s.y", "b.u"), s=Sine(amplitude=3.0, offset=2.0, f=F), b=Mean(period=1 / F))
    assert result["b.integral"].at([0.0, 0.02, 0.04, 0.06]) == pytest.approx(np.zeros(4), abs=1e-15)
    assert result["b.integral"].at(0.04, side="left") == pytest.approx(0.04, rel=1e-12)


def test_root_mean_square() -> None:
    y = average(RootMeanSquare(period=1 / F))
    assert y.at(0.0199) == 0.0
    assert y.at([0.02, 0.03, 0.05, 0.064]) == pytest.approx(np.full(4, np.sqrt(4.0 + 4.5)), rel=1e-10)
