"""Contacts that stick together hold up to the sum of what they hold alone, however the force between them is shared.

Which part of an undetermined force each of them has is not for a run to decide. At the sum all of them break away at
once, and their forces drop to those of sliding.
"""

import itertools
import math

import numpy as np
import pytest

from acausal import FrictionState, simulate
from acausal.components.blocks import Ramp, Sine, Step
from acausal.components.rotational import BearingFriction, Clutch, IdealGear, Inertia, Torque
from acausal.components.rotational import Brake as DiscBrake
from acausal.components.rotational import Fixed as Housing
from acausal.components.translational import Damper, Fixed, Force, Friction, ImpactStop, Mass, Spring
from tests.components.signals import assembled, changes, run

LEVELS = [(8.0, 10.0), (1.0, 2.0), (3.0, 4.0)]
"""Sliding and breakaway."""


def pulled(levels, pull, **more):
    """A mass held by frictions side by side, and pulled."""
    parts = {f"f{k}": Friction(f_coulomb=slide, f_breakaway=hold) for k, (slide, hold) in enumerate(levels)}
    return assembled(
        ("pull.y", "force.f"),
        ("force.flange", "mass.flange_a", *[f"{name}.flange_a" for name in parts], *more.pop("joined", ())),
        ("wall.flange", *[f"{name}.flange_b" for name in parts], *more.pop("held", ())),
        **{"wall": Fixed(), "mass": Mass(m=2.0), "force": Force(), "pull": pull, **parts, **more},
    )


def ramp(slope: float = 1.0) -> Ramp:
    return Ramp(height=20.0 * slope, duration=20.0)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    "levels", [*itertools.permutations(LEVELS), LEVELS[:2], LEVELS[1::-1], [(3.0, 4.0)] * 2]
)
def test_parallel_frictions_break_away_together(levels, sign) -> None:
    """``m v' = t - sum(sliding)`` from ``t = sum(breakaway)`` on."""
    result = simulate(pulled(levels, ramp(sign)), 19.0)
    slide, hold = np.sum(levels, axis=0)
    for k, (own, _) in enumerate(levels):
        assert changes(result[f"f{k}.state"]) == pytest.approx([hold], rel=1e-12)
        assert abs(result[f"f{k}.f"].final) == pytest.approx(own, rel=1e-12)
    t = np.linspace(hold, 19.0, 7)
    speed = sign * ((t - slide) ** 2 - (hold - slide) ** 2) / 4.0
    assert result["mass.v"].at(t) == pytest.approx(speed, abs=1e-11)
    assert result["mass.v"].at(np.linspace(0.0, hold, 50)) == pytest.approx(np.zeros(50), abs=0.0)


def test_forces_shown_are_ones_that_the_contacts_can_have() -> None:
    result = simulate(pulled(LEVELS, ramp()), 16.0)
    t = np.linspace(0.01, 15.99, 200)
    shown = np.array([result[f"f{k}.f"].at(t) for k in range(3)])
    assert np.abs(shown.sum(axis=0)) == pytest.approx(t, rel=1e-12)
    for force, (_, hold) in zip(shown, LEVELS, strict=True):
        assert np.abs(force).max() <= hold * (1.0 + 1e-12)
    assert result.check().ok


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
def test_a_pull_to_and_fro_below_the_sum_moves_nothing(method: str) -> None:
    result = simulate(pulled(LEVELS, Sine(amplitude=15.9, f=1.0)), 3.0, method=method)
    t = np.linspace(0.0, 3.0, 301)
    assert result["mass.s"].at(t) == pytest.approx(np.zeros(301), abs=0.0)
    for k in range(3):
        assert not len(changes(result[f"f{k}.state"]))
        assert result[f"f{k}.state"].final == FrictionState.STICK.value


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
def test_a_pull_to_and_fro_breaks_away_at_the_sum(method: str) -> None:
    """Sticking again at rest is as with one friction that has the sums of the levels."""
    result = simulate(pulled(LEVELS, Sine(amplitude=20.0, f=1.0)), 2.3, method=method)
    single = simulate(pulled([(12.0, 16.0)], Sine(amplitude=20.0, f=1.0)), 2.3)
    moved = changes(single["f0.state"])
    exact = method == "exact"
    assert moved[0] == pytest.approx(math.asin(0.8) / (2.0 * math.pi), rel=1e-12)
    for k in range(3):
        assert changes(result[f"f{k}.state"]) == pytest.approx(moved, rel=1e-11 if exact else 1e-4)
    t = np.linspace(0.0, 2.3, 231)
    assert result["mass.v"].at(t) == pytest.approx(single["mass.v"].at(t), abs=1e-11 if exact else 1e-4)


def test_arriving_contacts_stick_up_to_the_sum() -> None:
    """Coming to rest under a pull of 14 N, which 16 N of breakaway hold and 12 N of sliding do not."""
    travelled = 3.0**2 * 2.0 / (2.0 * 12.0)
    model = pulled(
        LEVELS, Ramp(height=0.0, duration=1.0, offset=14.0), damper=Damper(d=1.0), joined=("damper.flange_a",),
        held=("damper.flange_b",),
    )  # fmt: skip
    result = simulate(model, 2.0, initial={"mass.v": -3.0})
    assert result["mass.v"].final == pytest.approx(0.0, abs=1e-13)
    assert abs(result["mass.s"].final) < travelled
    assert all(result[f"f{k}.state"].final == FrictionState.STICK.value for k in range(3))


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    "levels", [[(2.0, 2.0), (3.0, 4.0)], [(3.0, 4.0), (2.0, 2.0)], [(2.0, 3.0), (3.0, 4.0)]]
)
def test_contacts_that_come_to_rest_under_a_pull_stick_up_to_the_sum(levels, sign, method) -> None:
    """2 kg at 1 m/s, braked by what sliding takes beyond the pull of 4 N; that grows by 2 N/s once the mass rests."""
    slide, hold = np.sum(levels, axis=0)
    rest = 2.0 / (slide - 4.0)
    pull = Ramp(offset=4.0 * sign, height=40.0 * sign, duration=20.0, startTime=rest)
    result = simulate(pulled(levels, pull, mass=Mass(m=2.0, v=sign)), 6.0, method=method)
    breaks = rest + (hold - 4.0) / 2.0
    assert result["mass.v"].at(np.linspace(rest + 1e-6, breaks - 1e-6, 9)) == pytest.approx(
        np.zeros(9), abs=1e-12
    )
    t = np.linspace(breaks, 6.0, 5)
    speed = ((t - breaks) * (hold - slide) + (t - breaks) ** 2) / 2.0
    assert result["mass.v"].at(t) == pytest.approx(sign * speed, rel=1e-5, abs=1e-9)


def test_friction_between_bodies_in_a_triangle() -> None:
    """Body a is held by 2 N directly and by 3 N over b, which the wall holds by 9 N: a breaks away at 5 N, alone."""
    result = run(
        8.0,
        ("pull.y", "force.f"),
        ("force.flange", "a.flange_a", "direct.flange_a", "between.flange_a"),
        ("between.flange_b", "b.flange_a", "far.flange_a"),
        ("wall.flange", "direct.flange_b", "far.flange_b"),
        wall=Fixed(),
        pull=Ramp(height=8.0, duration=8.0),
        force=Force(),
        a=Mass(m=1.0),
        b=Mass(m=1.0),
        direct=Friction(f_coulomb=1.0, f_breakaway=2.0),
        between=Friction(f_coulomb=2.5, f_breakaway=3.0),
        far=Friction(f_coulomb=7.0, f_breakaway=9.0),
    )
    assert changes(result["direct.state"]) == pytest.approx([5.0], rel=1e-12)
    assert changes(result["between.state"]) == pytest.approx([5.0], rel=1e-12)
    assert not len(changes(result["far.state"]))
    assert result["a.v"].final == pytest.approx((4.5**2 - 1.5**2) / 2.0, rel=1e-12)
    assert result["b.v"].final == 0.0


def test_friction_on_both_sides_of_a_gear() -> None:
    """``phi_a = 3 phi_b``: what 2 N.m hold at b is 2/3 N.m at a, beside 1 N.m there."""
    result = run(
        3.0,
        ("pull.y", "torque.tau"),
        ("torque.flange", "a.flange_a"),
        ("a.flange_b", "first.flange_a"),
        ("first.flange_b", "gear.flange_a"),
        ("gear.flange_b", "second.flange_a"),
        ("second.flange_b", "b.flange_a"),
        pull=Ramp(height=3.0, duration=3.0),
        torque=Torque(),
        a=Inertia(J=1.0),
        first=BearingFriction(tau_coulomb=0.5, tau_breakaway=1.0),
        gear=IdealGear(ratio=3.0),
        second=BearingFriction(tau_coulomb=1.5, tau_breakaway=2.0),
        b=Inertia(J=9.0),
    )
    begins = 5.0 / 3.0
    assert changes(result["first.state"]) == pytest.approx([begins], rel=1e-12)
    assert changes(result["second.state"]) == pytest.approx([begins], rel=1e-12)
    assert result["a.w"].final == pytest.approx((2.0**2 - (begins - 1.0) ** 2) / 4.0, rel=1e-12)


def test_a_brake_beside_a_clutch() -> None:
    """4 N.m of the brake and 6 N.m of the clutch to the housing break away at 10 N.m and slide with 5 N.m."""
    result = run(
        14.0,
        ("pull.y", "torque.tau"),
        ("torque.flange", "shaft.flange_a"),
        ("shaft.flange_b", "brake.flange_a"),
        ("brake.flange_b", "clutch.flange_a"),
        ("clutch.flange_b", "housing.flange"),
        pull=Ramp(height=14.0, duration=14.0),
        torque=Torque(),
        shaft=Inertia(J=2.0),
        brake=DiscBrake(fn_max=2.0, f_normalized=1.0, peak=2.0),
        clutch=Clutch(fn_max=3.0, f_normalized=1.0, peak=2.0),
        housing=Housing(),
    )
    assert changes(result["brake.state"]) == pytest.approx([10.0], rel=1e-12)
    assert changes(result["clutch.state"]) == pytest.approx([10.0], rel=1e-12)
    assert result["shaft.w"].final == pytest.approx((9.0**2 - 5.0**2) / 4.0, rel=1e-12)


def test_the_weaker_of_two_in_a_row_breaks_away_although_nothing_tells_their_speeds_apart() -> None:
    """A third friction beside the row: 3 N of the weaker one and 5 N of the third."""
    result = run(
        10.0,
        ("pull.y", "force.f"),
        ("force.flange", "mass.flange_a", "near.flange_a", "beside.flange_a"),
        ("near.flange_b", "joint.flange_a", "far.flange_a"),
        ("wall.flange", "far.flange_b", "beside.flange_b"),
        wall=Fixed(),
        pull=Ramp(height=10.0, duration=10.0),
        force=Force(),
        mass=Mass(m=1.0),
        joint=Mass(m=0.1),
        near=Friction(f_coulomb=5.0, f_breakaway=7.0),
        far=Friction(f_coulomb=1.0, f_breakaway=3.0),
        beside=Friction(f_coulomb=2.0, f_breakaway=5.0),
    )
    assert changes(result["far.state"]) == pytest.approx([8.0], rel=1e-12)
    assert changes(result["beside.state"]) == pytest.approx([8.0], rel=1e-12)
    assert not len(changes(result["near.state"]))
    assert result["mass.v"].final == pytest.approx((7.0**2 - 5.0**2) / 2.0 / 1.1, rel=1e-12)


def test_a_spring_beside_frictions_stores_what_they_do_not_lose() -> None:
    """Pulled until they break away, then let go: energies balance, and the run goes on from where it was saved."""
    model = pulled(
        LEVELS[:2], Sine(amplitude=16.0, f=0.5), spring=Spring(c=30.0), joined=("spring.flange_a",),
        held=("spring.flange_b",),
    )  # fmt: skip
    result = simulate(model, 5.0)
    first = changes(result["f0.state"])[0]
    assert first == pytest.approx(math.asin(12.0 / 16.0) / math.pi, rel=1e-12)
    assert changes(result["f1.state"])[0] == pytest.approx(first, rel=1e-12)
    assert result.check().ok


def test_what_moves_slides_before_what_rests_on_it_is_asked() -> None:
    """Bodies of 0.5 and 1 kg slide together on 1 N each: between them 1/3 N of 0.5 N, although 2 N each would part them."""
    result = run(
        0.1,
        ("wall.flange", "first.flange_a", "second.flange_a"),
        ("first.flange_b", "a.flange_a", "between.flange_a"),
        ("second.flange_b", "b.flange_a", "between.flange_b"),
        wall=Fixed(),
        a=Mass(m=0.5, v=1.0),
        b=Mass(m=1.0, v=1.0),
        first=Friction(f_coulomb=1.0, f_breakaway=2.0),
        second=Friction(f_coulomb=1.0, f_breakaway=2.0),
        between=Friction(f_coulomb=0.25, f_breakaway=0.5),
    )
    assert result["between.state"].final == FrictionState.STICK.value
    assert result["a.v"].final == pytest.approx(1.0 - 0.1 * 4.0 / 3.0, rel=1e-12)
    assert result["b.v"].final == pytest.approx(1.0 - 0.1 * 4.0 / 3.0, rel=1e-12)


def dragged(levels: tuple[float, float], other: tuple[float, float], sign: float, *joined, **more):
    """Two masses of 1 kg one on the other, ``levels`` between them and ``other`` below, pulled with 7 N from 0.5 s."""
    return assembled(
        *joined,
        ("pull.y", "force.f"),
        ("force.flange", "upper.flange_a", "between.flange_a"),
        ("between.flange_b", "lower.flange_a", "below.flange_a"),
        ("below.flange_b", "wall.flange"),
        wall=Fixed(),
        upper=Mass(m=1.0),
        lower=Mass(m=1.0),
        force=Force(),
        pull=Step(height=7.0 * sign, startTime=0.5),
        between=Friction(f_coulomb=levels[0], f_breakaway=levels[1]),
        below=Friction(f_coulomb=other[0], f_breakaway=other[1]),
        **more,
    )


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_moves_at_once_slides_before_what_only_begins_to_move(sign, method) -> None:
    """At 2 N above the lower mass is just held, and the damper would begin to move it: the upper one slides first, with 1 N."""
    joined = [("upper.flange_a", "damper.flange_a"), ("lower.flange_a", "damper.flange_b")]
    model = dragged((1.0, 2.0), (0.5, 2.0), sign, *joined, damper=Damper(d=1.0))
    result = simulate(model, 1.0, method=method)
    t = math.log(6.0 / 5.0)  # v' = 7 - 1 - v, until 1 + v = 2
    assert changes(result["between.state"]) == pytest.approx([0.5], rel=1e-12)
    assert changes(result["below.state"]) == pytest.approx([0.5 + t], rel=1e-6)
    assert result["upper.v"].at(0.5 + t) == pytest.approx(sign, rel=1e-5)


@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_of_several_motions_all_that_cannot_hold_move_and_the_others_are_named(sign, method) -> None:
    """At 3.9 and 2 N both break away. Sliding, the upper mass pulls with 1.5 N: the lower friction slides with 1 N, or holds."""
    way = "backward" if sign > 0.0 else "forward"
    text = (
        rf"t = 0.5.*\(`between.state` {way}, `below.state` {way}\), but fewer could: `between.state` {way}$"
    )
    with pytest.warns(UserWarning, match=text):
        result = simulate(dragged((1.5, 3.9), (1.0, 2.0), sign), 1.0, method=method)
    assert result["upper.v"].final == pytest.approx(sign * 0.5 * 5.5, rel=1e-6)
    assert result["lower.v"].final == pytest.approx(sign * 0.5 * 0.5, rel=1e-6)


@pytest.mark.parametrize(
    ("levels", "other", "speeds"),
    [
        ((1.5, 3.9), (1.0, 1.2), (5.5, 0.5)),  # 1.5 N are more than it holds.
        ((0.9, 3.9), (1.0, 2.0), (6.1, 0.0)),  # 0.9 N are less than it slides with.
        ((1.5, 3.9), (1.0, 4.0), (5.5, 0.0)),  # 3.9 N are less than it holds.
        ((5.0, 6.0), (1.0, 2.0), (3.0, 3.0)),  # They move together.
    ],
)
def test_a_motion_that_is_the_only_one_is_not_called_one_of_several(levels, other, speeds, recwarn) -> None:
    result = simulate(dragged(levels, other, 1.0), 1.0)
    assert [result[f"{name}.v"].final for name in ("upper", "lower")] == pytest.approx(
        [0.5 * v for v in speeds], rel=1e-12, abs=1e-12
    )
    assert not recwarn.list


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
@pytest.mark.parametrize(
    ("at", "apart", "stiffness"),
    [(0.1, 0.2, 4.0), (-0.75, 2.25, 40.0), (0.7, 1.1, 4000.0), (12.3, 0.1, 400.0)],
)
def test_a_stop_takes_what_a_friction_at_its_breakaway_level_does_not_hold(
    at, apart, stiffness, method
) -> None:
    """The stop touches to the last digits only: its gap may be a little less than nothing. Between both ends nothing moves."""
    model = assembled(
        ("pull.y", "force.f"),
        ("force.flange", "far.flange_a", "grip.flange_b", "stop.flange_b"),
        ("near.flange_a", "grip.flange_a", "stop.flange_a", "spring.flange_b"),
        ("wall.flange", "spring.flange_a"),
        wall=Fixed(),
        spring=Spring(c=stiffness, s_rel0=at),
        near=Mass(m=1.5, s=at),
        far=Mass(m=1.0, s=at + apart),
        grip=Friction(f_coulomb=1.0, f_breakaway=2.0),
        stop=ImpactStop(s_rel0=apart),
        force=Force(),
        pull=ramp(-1.0),
    )
    result = simulate(model, 6.0, method=method)
    t, w = np.linspace(0.0, 6.0, 400), math.sqrt(stiffness / 2.5)
    load = t - w / stiffness * np.sin(w * t)  # The far mass takes the rest.
    assert result["far.s"].at(t) - result["near.s"].at(t) == pytest.approx(np.full(400, apart), abs=1e-12)
    assert -result["grip.f"].at(t) == pytest.approx(np.minimum(load, 2.0), abs=1e-4)
    assert -result["stop.f"].at(t) == pytest.approx(np.maximum(load - 2.0, 0.0), abs=1e-4)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
@pytest.mark.parametrize("sliding", [1.5, 0.3])
@pytest.mark.parametrize("struck", [False, True])
def test_what_is_dragged_with_just_its_sliding_level_holds_on(sliding, struck, method) -> None:
    """At 3.9 and 2 N both break away; once the upper mass slides it pulls the lower one with no more than that slides with.

    In the same instant another mass may come to rest at a stop.
    """
    joined, more = [], {}
    if struck:
        joined = [("ball.flange_a", "stop.flange_b"), ("wall.flange", "stop.flange_a")]
        more = {"ball": Mass(m=3.0, s=0.25, v=-0.5), "stop": ImpactStop(s_rel0=0.0)}
    model = dragged((sliding, 3.9), (sliding, 2.0), 1.0, *joined, **more)
    result = simulate(model, 1.0, method=method)
    t = np.linspace(0.0, 1.0, 41)
    speed = np.maximum(t - 0.5, 0.0) * (7.0 - sliding)
    assert result["upper.v"].at(t) == pytest.approx(speed, abs=1e-6)
    assert np.abs(result["lower.v"].at(t)).max() == 0.0
    assert result["below.state"].final == FrictionState.STICK.value
    assert result["between.state"].final == FrictionState.BACKWARD.value
    assert result.check().ok
