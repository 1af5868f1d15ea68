"""Where a function, or a condition, changes its side: adjacent numbers, with few evaluations."""

import math

import pytest

from acausal.dynamics.location import begin_of, locate


@pytest.mark.parametrize("begin", [1e-30, 0.7, 1.0, math.nextafter(1.0, 2.0), math.pi, 4.0, 6.9])
def test_a_condition_begins_at_adjacent_numbers(begin: float) -> None:
    asked: list[float] = []

    def holds(t: float) -> bool:
        asked.append(t)
        return t >= begin

    found = begin_of(holds, 0.0, 7.0)
    assert begin <= found <= begin + math.ulp(begin)
    assert len(asked) <= 60 - min(0.0, math.log2(begin))


@pytest.mark.parametrize("power", [1.5, 2.0, 3.0, 9.0])
@pytest.mark.parametrize("guess", [0.0, 0.3, 1.0])
def test_a_flat_zero_is_where_the_value_is_positive_no_more(power: float, guess: float) -> None:
    """``(0.4 - t)**power`` before 0.4, and nothing after it: Newton's method comes from one side."""
    asked: list[float] = []

    def at(t: float) -> tuple[float, float]:
        asked.append(t)
        left = max(0.4 - t, 0.0)
        return left**power, -power * left ** (power - 1.0)

    found = locate(at, 0.0, 1.0, guess, 0.0)
    assert at(found)[0] <= 0.0 < at(math.nextafter(found, 0.0))[0]
    assert found == 0.4
    assert len(asked) <= 130


def test_a_bracket_whose_left_end_is_not_positive_is_widened() -> None:
    assert locate(lambda t: (0.25 - t, -1.0), 0.5, 0.5, 0.5, 0.0) == 0.25
