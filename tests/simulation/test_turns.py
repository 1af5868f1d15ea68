"""Where a form turns near zero: near enough that its lowest value is known to a part of the depth of a touch."""

import math
from collections.abc import Callable

import pytest

from acausal.simulation.nonlinear.turns import LEVEL, lowest

SLOPES: dict[str, Callable[[float], float]] = {
    "line": lambda d: 3.0 * d,
    "cubic": lambda d: d + 10.0 * d**3,
    "exponential": lambda d: math.expm1(8.0 * d),
    "sine": lambda d: math.sin(3.0 * d),
    "bend": lambda d: d * (50.0 if d > 0.0 else 1.0),
}


@pytest.mark.parametrize("touch", [1e-12, 1e-9, 1e-5])
@pytest.mark.parametrize("turn", [0.02, 0.3, 0.5, 0.98])
@pytest.mark.parametrize("kind", SLOPES)
def test_the_lowest_value_is_known_to_a_part_of_a_touch(kind: str, turn: float, touch: float) -> None:
    asked: list[float] = []

    def slope(h: float) -> float:
        asked.append(h)
        return SLOPES[kind](h - turn)

    found = lowest(slope, (0.0, SLOPES[kind](-turn)), (1.0, SLOPES[kind](1.0 - turn)), touch)
    assert found is not None
    assert abs(SLOPES[kind](found - turn) * (found - turn)) <= LEVEL * touch
    assert len(asked) <= 16


def test_a_turn_between_adjacent_numbers_is_hidden() -> None:
    ends = 1.0, math.nextafter(1.0, 2.0)
    assert lowest(lambda h: -1.0 if h == 1.0 else 1.0, (ends[0], -1.0), (ends[1], 1.0), 1e-30) is None


def test_a_turn_at_the_end_of_its_bracket_is_found_there_or_hidden() -> None:
    """The first place that is tried is then the end, whose slope is known: two equal points tell no rate."""
    found = lowest(lambda h: -1.0 if h < 1.0 else 1e-300, (0.0, -1.0), (1.0, 1e-300), 0.0)
    assert found is None or found == pytest.approx(1.0, abs=1e-15)
