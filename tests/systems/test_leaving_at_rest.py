"""A body that touches a stop at rest and is pulled away leaves it at once, however the rates of its motion round."""

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
