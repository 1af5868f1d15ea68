"""Comparisons, truth tables and memory."""

import numpy as np
import pytest

from acausal.components.blocks import (
    And,
    BooleanTable,
    Comparator,
    Greater,
    GreaterEqualThreshold,
    GreaterThreshold,
    Hysteresis,
    Less,
    LessEqualThreshold,
    LessThreshold,
    Nand,
    Nor,
    Not,
    Or,
    Ramp,
    RSFlipFlop,
    Sine,
    Xor,
)
from acausal.errors import RequirementError
from tests.components.signals import pulses, run

INPUTS = [(False, False), (True, False), (True, True), (False, True)]
TABLES = {
    And: [False, False, True, False],
    Or: [False, True, True, True],
    Xor: [False, True, False, True],
    Nand: [True, True, False, True],
    Nor: [True, False, False, False],
}


@pytest.mark.parametrize(("gate", "expected"), TABLES.items())
def test_truth_table(gate, expected: list[bool]) -> None:
    connections = [("u1.y", "gate.u1"), ("u2.y", "gate.u2")]
    result = run(
        4.0, *connections, u1=BooleanTable(table=(1.0, 3.0)), u2=BooleanTable(table=(2.0,)), gate=gate()
    )
    middle = [0.5, 1.5, 2.5, 3.5]
    assert [tuple(bool(result[f"u{k}.y"].at(t)) for k in (1, 2)) for t in middle] == INPUTS
    assert [bool(y) for y in result["gate.y"].at(middle)] == expected


def test_not() -> None:
    result = run(4.0, ("u.y", "gate.u"), u=BooleanTable(table=(1.0, 3.0)), gate=Not())
    assert pulses(result["gate.y"]).tolist() == [[0.0, 1.0], [3.0, 4.0]]


def test_flip_flop_with_dominant_reset() -> None:
    inputs = {"S": BooleanTable(table=(1.0, 2.0, 5.0, 7.0)), "R": BooleanTable(table=(3.0, 4.0, 6.0, 8.0))}
    result = run(9.0, ("S.y", "ff.S"), ("R.y", "ff.R"), ff=RSFlipFlop(), **inputs)
    assert pulses(result["ff.Q"]).tolist() == [[1.0, 3.0], [5.0, 6.0]]
    assert pulses(result["ff.QI"]).tolist() == [[0.0, 1.0], [3.0, 5.0], [6.0, 9.0]]


def test_flip_flop_keeps_its_start_value() -> None:
    assert pulses(run(1.0, ff=RSFlipFlop(S=False, R=False, on=True))["ff.Q"]).tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize("block", [GreaterThreshold, GreaterEqualThreshold])
def test_threshold_on_a_sine(block) -> None:
    y = run(1.0, ("s.y", "b.u"), s=Sine(f=1.0), b=block(threshold=0.5))["b.y"]
    assert pulses(y) == pytest.approx(np.array([(1 / 12, 5 / 12)]), rel=1e-13)


@pytest.mark.parametrize("block", [LessThreshold, LessEqualThreshold])
def test_lower_threshold_on_a_sine(block) -> None:
    y = run(1.0, ("s.y", "b.u"), s=Sine(f=1.0), b=block(threshold=0.5))["b.y"]
    assert pulses(y) == pytest.approx(np.array([(0.0, 1 / 12), (5 / 12, 1.0)]), rel=1e-13)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (GreaterThreshold, False),
        (GreaterEqualThreshold, True),
        (LessThreshold, False),
        (LessEqualThreshold, True),
    ],
)
def test_strictness_at_equality(block, expected: bool) -> None:
    assert bool(run(1.0, b=block(u=0.5, threshold=0.5))["b.y"].final) is expected


@pytest.mark.parametrize(("block", "expected"), [(Greater, [(0.5, 1.0)]), (Less, [(0.0, 0.5)])])
def test_comparison_of_two_signals(block, expected) -> None:
    y = run(1.0, ("ramp.y", "b.u1"), ramp=Ramp(), b=block(u2=0.5))["b.y"]
    assert pulses(y) == pytest.approx(np.array(expected), rel=1e-13)


def test_hysteresis_on_a_sine() -> None:
    y = run(2.0, ("s.y", "b.u"), s=Sine(f=1.0), b=Hysteresis(uLow=-0.5, uHigh=0.5))["b.y"]
    assert pulses(y) == pytest.approx(np.array([(1 / 12, 7 / 12), (13 / 12, 19 / 12)]), rel=1e-12)


def test_hysteresis_starts_from_its_memory() -> None:
    y = run(1.0, ("s.y", "b.u"), s=Sine(f=1.0), b=Hysteresis(uLow=-0.5, uHigh=0.5, on=True))["b.y"]
    assert pulses(y) == pytest.approx(np.array([(0.0, 7 / 12)]), rel=1e-12)


def test_thresholds_in_wrong_order_are_refused() -> None:
    with pytest.raises(RequirementError, match="lower threshold must not exceed"):
        run(1.0, b=Hysteresis(uLow=1.0, uHigh=0.0, u=0.0))


@pytest.mark.parametrize(
    ("hysteresis", "expected"),
    [(0.0, [(0.0, 1 / 2), (1.0, 3 / 2)]), (1.0, [(1 / 12, 7 / 12), (13 / 12, 19 / 12)])],
)
def test_comparator_on_a_sine(hysteresis: float, expected) -> None:
    y = run(1.9, ("s.y", "b.u1"), s=Sine(f=1.0), b=Comparator(u2=0.0, hysteresis=hysteresis))["b.y"]
    assert pulses(y) == pytest.approx(np.array(expected), rel=1e-12)
