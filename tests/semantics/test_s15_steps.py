"""S15: a source that steps must not move at once what has inertia, unless the run allows it."""

from collections.abc import Callable
from typing import Any

import pytest

from acausal import Circuit, InfiniteImpulseError, if_else, simulate, time
from acausal.components import rotational
from acausal.components.blocks import FirstOrder, Ramp
from acausal.components.translational import (
    AccSensor,
    Damper,
    ElastoGap,
    ImpactStop,
    Mass,
    Position,
    Rod,
    Spring,
)

METHODS = pytest.mark.parametrize("method", ["auto", "implicit", "explicit"])


def stepping(before: float, after: float, *chain: tuple[str, Any], ends: str = "flange_b") -> Circuit:
    """A wall that steps at 1 s, and parts in a row, the last of them at the wall."""
    model = Circuit()
    wall = model.add("wall", Position(s_ref=if_else(time > 1.0, after, before)))
    added = [model.add(name, part) for name, part in chain]
    for one, other in zip(added, added[1:], strict=False):
        model.connect(one.flange_b, other.flange_a)
    model.connect(getattr(added[-1], ends), wall.flange)
    return model


def turned() -> Circuit:
    """A gear of ratio 3 with a wheel behind it, turned by 0.3 rad, beside a spring that hardens."""
    model = Circuit()
    hand = model.add("hand", rotational.Position(phi_ref=if_else(time > 1.0, 0.3, 0.0)))
    gear, wheel = (
        model.add("gear", rotational.IdealGear(ratio=3.0)),
        model.add("wheel", rotational.Inertia(J=2.0)),
    )
    spring, wall = (
        model.add("spring", rotational.CubicSpring(c=1.0, c3=1.0)),
        model.add("wall", rotational.Fixed()),
    )
    model.connect(hand.flange, gear.flange_a)
    model.connect(gear.flange_b, wheel.flange_a)
    model.connect(wheel.flange_b, spring.flange_a)
    model.connect(spring.flange_b, wall.flange)
    return model


MOVED = {
    "held": (lambda: stepping(-0.1, -0.2, ("m", Mass(m=1.0))), r"`m\.s` at once, -0\.1 -> -0\.2 m", "0.1 N.s2"),
    "on a rod": (
        lambda: stepping(0.1, 0.2, ("m", Mass(m=2.0)), ("rod", Rod(L=0.5))),
        r"`m\.s` at once, -0\.4 -> -0\.3 m",
        "0.2 N.s2",
    ),
    "pushed": (
        lambda: stepping(0.0, -0.2, ("m", Mass(m=1.0, s=-0.1)), ("gap", ImpactStop())),
        r"`m\.flange_b\.s` at once, -0\.1 -> -0\.2 m",
        "0.1 N.s2",
    ),
    "pushed while it moves": (
        lambda: stepping(0.0, -0.1, ("m", Mass(m=1.0, s=-0.1, v=0.05)), ("gap", ImpactStop(restitution=0.5))),
        r"`m\.flange_b\.s` at once, -0\.05 -> -0\.1 m",
        "0.05 N.s2",
    ),
    "pushed with another one": (
        lambda: stepping(
            0.0, -0.1,
            ("n", Mass(m=1.0, s=-0.05)), ("between", ImpactStop()), ("m", Mass(m=1.0, s=-0.05)), ("gap", ImpactStop()),
        ),
        r"`n\.flange_b\.s` at once, -0\.05 -> -0\.1 m",
        "0.1 N.s2",
    ),
    "turned": (turned, r"`wheel\.phi` at once, 0 -> 0\.1 rad", "0.2 N.m.s2"),
}  # fmt: skip


@METHODS
@pytest.mark.parametrize("case", MOVED)
def test_inertia_does_not_step_with_a_source(case: str, method: str) -> None:
    build, moved, amount = MOVED[case]
    with pytest.raises(InfiniteImpulseError, match="a source steps at t = 1 and moves " + moved) as caught:
        simulate(build(), 2.0, method=method)
    assert amount in caught.value.why and "ramp" in caught.value.hint and caught.value.where
    assert caught.value.result.t_end == 1.0


@METHODS
def test_a_run_that_allows_it_has_the_mass_elsewhere(method: str) -> None:
    build, *_ = MOVED["pushed"]
    result = simulate(build(), 2.0, method=method, impulses="allow")
    assert result["m.s"].at([0.5, 1.5]) == pytest.approx([-0.1, -0.2])
    assert result["m.v"].at([0.5, 1.5]) == pytest.approx([0.0, 0.0])


def measured() -> Circuit:
    """An acceleration that is filtered, of a flange without mass between the wall and a spring."""
    model = stepping(0.0, 0.1, ("m", Mass(m=1.0)), ("spring", Spring(c=1.0)))
    sensor = model.add("sensor", AccSensor())
    model.add("filter", FirstOrder(T=1.0, u=sensor.a))
    model.connect(sensor.flange, model.wall.flange)
    return model


FOLLOWED: dict[str, Callable[[], Circuit]] = {
    "a damper gives a finite impulse": lambda: stepping(0.0, 0.1, ("m", Mass(m=1.0)), ("d", Damper(d=1.0))),
    "a spring gives a force": lambda: stepping(0.0, 0.1, ("m", Mass(m=1.0)), ("spring", Spring(c=1.0))),
    "an elastic gap does": lambda: stepping(
        0.0, -0.1, ("m", Mass(m=1.0, s=-0.05)), ("gap", ElastoGap(c=100.0, d=1.0))
    ),
    "no mass is there": measured,
    "the wall does not reach the mass": lambda: stepping(
        0.2, 0.1, ("m", Mass(m=1.0, v=0.05)), ("gap", ImpactStop())
    ),
    "the wall leaves": lambda: stepping(0.0, 0.1, ("m", Mass(m=1.0)), ("gap", ImpactStop())),
}


@pytest.mark.sweep(every=6)
@METHODS
@pytest.mark.parametrize("case", FOLLOWED)
def test_what_yields_or_has_no_mass_follows_a_step(case: str, method: str) -> None:
    assert simulate(FOLLOWED[case](), 2.0, method=method).check().ok


@METHODS
def test_a_mass_follows_a_ramp_with_its_speed(method: str) -> None:
    """From 1 s to 1.1 s the wall moves by 0.1 m, and its impulse gives the mass 1 m/s, at which it flies on."""
    model = Circuit()
    ramp = model.add("ramp", Ramp(height=-0.1, duration=0.1, startTime=1.0))
    wall, mass = model.add("wall", Position(s_ref=ramp.y)), model.add("m", Mass(m=1.0))
    gap = model.add("gap", ImpactStop())
    model.connect(mass.flange_b, gap.flange_a)
    model.connect(gap.flange_b, wall.flange)
    result = simulate(model, 2.0, method=method)
    assert result["m.v"].final == pytest.approx(-1.0) and result["m.s"].final == pytest.approx(-1.0)
