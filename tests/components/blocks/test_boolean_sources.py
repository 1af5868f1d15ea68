"""Boolean sources: the instants at which they change."""

import numpy as np
import pytest

from acausal.components.blocks import BooleanConstant, BooleanPulse, BooleanStep, BooleanTable
from tests.components.signals import changes, pulses, run


def output(source, t_end=5.0):
    return run(t_end, source=source)["source.y"]


@pytest.mark.parametrize("k", [True, False])
def test_boolean_constant(k: bool) -> None:
    y = output(BooleanConstant(k=k))
    assert changes(y).size == 0
    assert bool(y.at(2.0)) is k


@pytest.mark.parametrize("startValue", [True, False])
def test_boolean_step(startValue: bool) -> None:
    y = output(BooleanStep(startTime=2.0, startValue=startValue))
    assert list(changes(y)) == [2.0]
    assert bool(y.at(0.0)) is startValue
    assert bool(y.at(2.0)) is not startValue


def test_boolean_pulse() -> None:
    y = output(BooleanPulse(width=30.0, period=2.0, startTime=0.5))
    assert pulses(y) == pytest.approx(np.array([(0.5, 1.1), (2.5, 3.1), (4.5, 5.0)]), rel=1e-15)


@pytest.mark.parametrize(("width", "value"), [(0.0, False), (100.0, True)])
def test_extreme_boolean_pulses_do_not_change(width: float, value: bool) -> None:
    y = output(BooleanPulse(width=width, period=1.0))
    assert changes(y).size == 0
    assert bool(y.at(2.5)) is value


def test_boolean_table() -> None:
    assert pulses(output(BooleanTable(table=(1.0, 1.5, 3.0)))).tolist() == [[1.0, 1.5], [3.0, 5.0]]
    inverse = output(BooleanTable(table=(1.0, 1.5, 3.0), startValue=True))
    assert pulses(inverse).tolist() == [[0.0, 1.0], [1.5, 3.0]]
