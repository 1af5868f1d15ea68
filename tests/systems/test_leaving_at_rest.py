"""A body at rest leaves a stop, or a friction that has held it, at once, however the rates of its motion round."""

from fractions import Fraction

import numpy as np
import pytest

import acausal as ac
from acausal.components.translational import (
    ConstantForce,
    CoulombFriction,
    Damper,
    Fixed,
    ImpactStop,
    Mass,
    Spring,
)
from tests.oracles.lines import Part
from tests.systems import line_models


def hanging(light: float, heavy: float, third: float, length: float, start: float) -> ac.Circuit:
    """Three masses hold each other by friction; a spring and 6 N pull the light one from a stop. Another one slows down."""
    model = ac.Circuit()
    ceiling, stop = model.add("ceiling", Fixed()), model.add("stop", ImpactStop())
    low, up = model.add("light", Mass(m=light)), model.add("heavy", Mass(m=heavy, s=start))
    side, spring = model.add("third", Mass(m=third)), model.add("spring", Spring(c=1.0, s_rel0=length))
    one, two = (
        model.add("one", CoulombFriction(f_coulomb=9.0)),
        model.add("two", CoulombFriction(f_coulomb=9.0)),
    )
    force, beside = (
        model.add("force", ConstantForce(f_constant=-6.0)),
        model.add("beside", Mass(m=3.0, s=1.0)),
    )
    damper = model.add("damper", Damper(d=1.0))
    model.connect(low.flange_a, stop.flange_a)
    model.connect(ceiling.flange, stop.flange_b, spring.flange_a, damper.flange_a)
    model.connect(spring.flange_b, up.flange_a)
    model.connect(up.flange_b, one.flange_a, two.flange_a, force.flange)
    model.connect(one.flange_b, low.flange_b)
    model.connect(two.flange_b, side.flange_b)
    model.connect(damper.flange_b, beside.flange_a)
    return model


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("span", [1e-3, 1.0])
@pytest.mark.parametrize(
    ("light", "heavy", "third", "length", "start"),
    [
        (0.5, 2.0, 1.0, 1.8125, 1.75),
        (0.5, 2.0, 1.0, 1.75, 1.0),
        (0.5, 1.0, 2.0, 1.8125, 1.75),
        (0.5, 2.0, 1.0, 1.75, 1.75),
        (3.0, 1.0, 2.0, 2.0, 0.5),
    ],
)
def test_a_mass_leaves_its_stop(
    light: float, heavy: float, third: float, length: float, start: float, span: float
) -> None:
    result = ac.simulate(hanging(light, heavy, third, length, start), span, method="exact")
    swing = start - (length - 6.0)
    moved = -2.0 * swing * np.sin(0.5 * span / np.sqrt(light + heavy + third)) ** 2
    assert len(result.events) == 1
    assert result["light.s"].final == pytest.approx(moved, rel=1e-9)
    assert result.check().ok


PULLING = {
    "damper": Part("D", "more", "n1", "n2", Fraction(10)),
    "spring": Part("K", "more", "n1", "n2", Fraction(10), Fraction(-1, 2)),
    "drag": Part("A", "more", "n1", "n2", Fraction(10)),
    "cubic spring": Part("Q", "more", "n1", "n2", Fraction(10), Fraction(-1, 2)),
}


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("method", ["auto", "implicit", "explicit"])
@pytest.mark.parametrize("pulling", PULLING)
def test_what_friction_holds_with_all_it_has_leaves_as_soon_as_more_pulls(
    pulling: str, method: str, side: int
) -> None:
    """A body slides over one that rubs on the ground: 0.5 N are what this holds with, and what begins with the motion is more.

    It begins with the time, or with its square: as a spring that is stretched from rest, or a drag of the square of a speed.
    The lower body slides against 0.25 N from the first instant, ``2 v' = 0.5 - 0.25``. It was held until 1e-13 s, in steps until
    2e-6 s.
    """
    parts = [
        Part("M", "M1", "n1", "0", Fraction(4), (Fraction(side, 2), Fraction(0))),
        Part("B", "B1", "n1", "0", Fraction(11 * side, 2), Fraction(11 * side, 2)),
        Part("M", "M2", "n2", "0", Fraction(2), (Fraction(0), Fraction(0))),
        Part("F", "under", "n2", "0", Fraction(1, 4), Fraction(1, 2)),
        Part("F", "between", "n1", "n2", Fraction(1, 2), Fraction(1, 2)),
    ]
    more = PULLING[pulling]
    if more.extra is not None:
        more = more._replace(extra=Fraction(-side, 2))
    result = ac.simulate(line_models.model([*parts, more], 1.0), 0.1, method=method)
    assert result["der(M2.v)"].at(0.0) == side * 0.125
    assert [event.t for event in result.events] == [0.0]
    assert result.check().ok
