"""Small steps against closed forms."""

from fractions import Fraction

import numpy as np
import pytest

from tests.oracles import circuits, lines
from tests.oracles.lines import Part
from tests.oracles.networks import GROUND, Element
from tests.oracles.random_lines import random_mechanism
from tests.oracles.time_stepping import NoStepError, Trajectory, graded, holding, trajectory

ONE = Fraction(1)


def swing(steps: int) -> Trajectory:
    """A capacitor of 1 V that swings through a diode into an inductor, and stays at -1 V."""
    network = [
        Element("C", "C", "a", GROUND, ONE, ONE),
        Element("D", "D", "a", "b"),
        Element("L", "L", "b", GROUND, ONE, Fraction(0)),
    ]
    starts = {"v.C": ONE, "i.L": Fraction(0)}
    return trajectory([(circuits.system(network), (), Fraction(5))], starts, steps)


def test_a_diode_ends_the_swing_of_a_capacitor_to_first_order() -> None:
    errors = []
    for steps in (250, 500, 1000):
        found = swing(steps)
        exact = np.where(found.t < np.pi, np.cos(found.t), -1.0)
        errors.append(float(np.abs(found.values["v.C"] - exact).max()))
        assert (found.values["i.L"] >= 0.0).all()
    assert errors[0] < 0.05
    np.testing.assert_allclose([errors[0] / errors[1], errors[1] / errors[2]], 2.0, rtol=0.1)


def braked(hold: int, push: Fraction, speed: Fraction) -> Trajectory:
    """A mass of 1 kg under a force, on a friction that slides with 2 N and holds ``hold``, and a stop 1 m ahead."""
    parts = [
        Part("M", "M", "a", GROUND, ONE, (Fraction(0), speed)),
        Part("B", "B", "a", GROUND, push, push),
        Part("F", "F", "a", GROUND, Fraction(2), Fraction(hold)),
        Part("P", "P", "a", GROUND, Fraction(-1)),
    ]
    model = lines.system(parts)
    starts = {"s.a": Fraction(0), "v.a": speed}
    return trajectory([(model, holding(parts, model), Fraction(2))], starts, 1000)


def test_frictions_hold_up_to_their_level_and_slide_above_it() -> None:
    # It slides to rest within v / (2 m/s2), and a push of 3 N moves it only where less holds it.
    found = braked(2, Fraction(0), ONE)
    np.testing.assert_allclose(found.values["s.a"][-1], 0.25, atol=2e-3)
    assert found.values["v.a"][-1] == 0.0
    assert not braked(4, Fraction(3), Fraction(0)).values["s.a"].any()
    found = braked(2, Fraction(3), Fraction(0))
    np.testing.assert_allclose(found.values["s.a"], np.minimum(found.t**2 / 2, 1.0), atol=4e-3)
    # Pushed with 5 N it slides with 2 N; at rest again friction and stop share the push.
    found = braked(4, Fraction(5), Fraction(0))
    np.testing.assert_allclose(found.values["s.a"], np.minimum(1.5 * found.t**2, 1.0), atol=4e-3)
    assert -5.0 <= found.values["f.P"][-1] <= -1.0


def test_what_turns_has_to_break_away() -> None:
    """At rest a friction holds more than it slides with, also where no step ends at rest."""
    # It slides with v' = 5 m/s2 for 0.1 s.
    found = braked(4, Fraction(3), Fraction(-1, 2))
    np.testing.assert_allclose(found.values["s.a"][-1], -0.025, atol=2e-3)
    assert found.values["v.a"][-1] == 0.0
    # A push of 5 N turns it, and it goes back to the stop.
    found = braked(4, Fraction(5), Fraction(-1, 2))
    assert found.values["s.a"][-1] > 1.0 - 1e-6


@pytest.mark.parametrize("ratio", [Fraction(49), Fraction(3, 7), Fraction(-1, 3)])
@pytest.mark.parametrize("place", [ONE, ONE / 3, Fraction(7, 10)])
def test_rounding_of_positions_over_short_steps_releases_nothing(ratio: Fraction, place: Fraction) -> None:
    """What a lever relates is rounded, and that is a speed over a short step, but friction holds the push just."""
    parts = [
        Part("M", "M1", "a", GROUND, ONE, (place, Fraction(0))),
        Part("M", "M2", "b", GROUND, ONE, (place / ratio, Fraction(0))),
        Part("G", "G", "a", "b", ratio),
        Part("B", "B", "a", GROUND, Fraction(4), Fraction(4)),
        Part("F", "F", "a", GROUND, Fraction(2), Fraction(4)),
    ]
    model = lines.system(parts)
    phases = graded([(model, holding(parts, model), Fraction(2))], 3)
    found = trajectory(
        phases, {"s.a": place, "v.a": Fraction(0), "s.b": place / ratio, "v.b": Fraction(0)}, 200
    )
    np.testing.assert_allclose(found.values["s.a"], float(place), rtol=1e-9)


def test_rounding_that_impulses_carry_on_releases_nothing() -> None:
    """Frictions that hold 4 % more than their load, the least that a linear programme over all forces needs, stay at rest.

    Over a step of 55 us rounding of the pushes is a speed of 4e-12 m/s, of which other speeds are made.
    """
    parts = random_mechanism(999071, bodies=6)
    model, rest = lines.system(parts), lines.starts(parts)
    found = trajectory([(model, holding(parts, model), Fraction(7, 10) / 1280)], rest, 10)
    for node, start in rest.items():
        np.testing.assert_allclose(found.values[node], float(start), atol=1e-9)


def test_what_decays_at_once_needs_graded_steps() -> None:
    """Charging with 1 ms is past after one even step of 1.1 ms; in graded steps it is seen."""
    network = [
        Element("V", "V", "a", GROUND, ONE),
        Element("R", "R", "a", "b", Fraction(1, 10**3)),
        Element("C", "C", "b", GROUND, ONE, Fraction(0)),
    ]
    phases = graded([(circuits.system(network), (), ONE)], 9)
    assert sum((span for _, _, span in phases), Fraction(0)) == 1
    found = trajectory(phases, {"v.C": Fraction(0)}, 100)
    np.testing.assert_allclose(found.values["v.C"], 1.0 - np.exp(-1e3 * found.t), atol=1e-2)
    coarse = trajectory([(circuits.system(network), (), ONE)], {"v.C": Fraction(0)}, 900)
    assert np.abs(coarse.values["v.C"] - (1.0 - np.exp(-1e3 * coarse.t))).max() > 0.1


def test_sources_that_contradict_each_other_have_no_step() -> None:
    network = [Element("V", f"V{k}", "a", GROUND, Fraction(k)) for k in (1, 2)]
    with pytest.raises(NoStepError):
        trajectory([(circuits.system(network), (), ONE)], {}, 10)
