"""Impacts on what friction holds: its force is finite, and no impulse waits for it."""

import numpy as np
import pytest

from acausal import (
    Circuit,
    Component,
    Eq,
    FrictionState,
    If,
    Impact,
    ImpactError,
    NoConsistentModeError,
    Parameter,
    Result,
    Variable,
    der,
    simulate,
)
from acausal.components.blocks import Constant, Step
from acausal.components.translational import (
    Brake,
    ConstantSpeed,
    Fixed,
    Friction,
    ImpactStop,
    Mass,
    MassWithFriction,
    MassWithStopAndFriction,
    Speed,
    Spring,
)
from tests.components.signals import assembled, changes
from tests.oracles.impacts import settle

METHODS = pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
RESTITUTIONS = pytest.mark.parametrize("e", [0.0, 0.5, 1.0])


def after(result: Result, *names: str) -> np.ndarray:
    """Values behind the first event after the start."""
    t = next(event.t for event in result.events if event.t > 0.0)
    return np.array([float(result[name].at(t, side="right")) for name in names])


def held(s: float, m: float = 2.0, v: float = 0.0, level: float = 1.0) -> MassWithFriction:
    """A mass at rest, on which friction holds 6 N and brakes with 4 N, both times a factor."""
    return MassWithFriction(m=m, f_coulomb=4.0 * level, f_breakaway=6.0 * level, s=s, v=v)


def struck(e: float, m: float = 2.0, v: float = 2.0, side: float = 1.0, unit: float = 1.0) -> Circuit:
    """A wall at a speed that meets a mass at rest after a way of a unit of length."""
    level = m * v**2 / unit / 8.0
    ties = [("wall.flange", "stop.flange_a"), ("stop.flange_b", "mass.flange_a")]
    if side < 0.0:
        ties = [("wall.flange", "stop.flange_b"), ("stop.flange_a", "mass.flange_b")]
    return assembled(
        *ties,
        wall=ConstantSpeed(v_fixed=side * v),
        stop=ImpactStop(restitution=e, s_rel0=unit),
        mass=held(2.0 * side * unit, m, level=level),
    )


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("method", ["exact", "auto", "explicit", "implicit"])
@RESTITUTIONS
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_wall_strikes_a_mass_that_sticks(side: float, e: float, method: str) -> None:
    """2 m/s meet rest after 0.5 s; from ``(1 + e) 2 m/s`` friction brakes the mass with 2 m/s2."""
    result = simulate(struck(e, side=side), 0.75, method=method)
    v = side * 2.0 * (1.0 + e)
    assert result["mass.v"].at(0.49999) == 0.0
    assert after(result, "mass.v") == pytest.approx([v], rel=1e-9)
    decay = side * 2.0 * (e > 0.0)
    assert result["mass.v"].final == pytest.approx(v - 0.25 * decay, rel=1e-7)
    assert result["mass.s"].final == pytest.approx(side * 2.0 + 0.25 * v - decay / 32.0, rel=1e-7)
    assert changes(result["mass.state"]) == pytest.approx([0.5], rel=1e-9)
    [struck_at] = [event for event in result.events if event.t > 0.0]
    assert struck_at.t == pytest.approx(0.5, rel=1e-9)
    assert result.check().ok


@pytest.mark.sweep(every=81)
@pytest.mark.parametrize("method", ["exact", "implicit"])
@pytest.mark.parametrize("e", [0.0, 1e-3, 0.5, 1.0])
@pytest.mark.parametrize("v", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("m", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_magnitudes_do_not_matter(unit: float, m: float, v: float, e: float, method: str) -> None:
    """Friction brakes with ``v**2 / (2 unit)``, so that it takes the same part of the speed everywhere."""
    result = simulate(struck(e, m, v, unit=unit), 1.125 * unit / v, method=method)
    assert result["mass.v"].at(1.0000001 * unit / v) == pytest.approx(v * (1.0 + e), rel=1e-6)
    assert result["mass.v"].final == pytest.approx(v * max(1.0, 1.0 + e - 1.0 / 16.0), rel=1e-6)
    assert result["stop.gap"].final >= -1e-9 * unit
    assert result.check().ok


@pytest.mark.sweep(every=6)
@METHODS
@RESTITUTIONS
def test_a_wall_that_begins_to_move_strikes_what_it_touches(e: float, method: str) -> None:
    model = assembled(
        ("step.y", "wall.v_ref"),
        ("wall.flange", "stop.flange_a"),
        ("stop.flange_b", "mass.flange_a"),
        step=Step(height=2.0, startTime=0.5),
        wall=Speed(),
        stop=ImpactStop(restitution=e, s_rel0=1.0),
        mass=held(1.0),
    )
    result = simulate(model, 0.75, method=method)
    assert after(result, "mass.v") == pytest.approx([2.0 * (1.0 + e)], rel=1e-9)
    assert result["mass.state"].final == FrictionState.FORWARD.value
    assert result.check().ok


def walled(first: float, *masses: object, far: float = 1.0, wall: float = 2.0) -> Circuit:
    """A wall that meets the first mass of a row, all of which touch, after 0.5 s; restitutions ``first`` and ``far``."""
    parts: dict[str, object] = {"wall": ConstantSpeed(v_fixed=wall)}
    ties, before = [], "wall.flange"
    for k, mass in enumerate(masses):
        parts[f"c{k}"] = ImpactStop(restitution=far if k else first, s_rel0=1.0)
        parts[f"b{k}"] = mass
        ties += [(before, f"c{k}.flange_a"), (f"c{k}.flange_b", f"b{k}.flange_a")]
        before = f"b{k}.flange_b"
    return assembled(*ties, **parts)


@pytest.mark.sweep(every=6)
@METHODS
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("e", [0.5, 1.0])
def test_a_row_that_sticks_moves_as_a_free_one(e: float, first: bool, method: str) -> None:
    """Equal masses with elastic impacts between them: the speed goes on to the last, and the wall strikes the first anew."""
    row = [held(2.0) if first else Mass(m=2.0, s=2.0), held(3.0)]
    result = simulate(walled(e, *row), 0.5625, method=method)
    # 2 (1 + e) passes on, and the wall strikes the first one again.
    assert after(result, "b0.v", "b1.v") == pytest.approx([2.0 * (1.0 + e)] * 2, rel=1e-9)
    assert result.check().ok


@METHODS
def test_a_row_with_a_plastic_contact_moves_as_one(method: str) -> None:
    """What has no restitution takes part at once: both masses have the speed of the first impact."""
    result = simulate(walled(0.5, held(2.0), held(3.0, 5.0), far=0.0), 0.75, method=method)
    assert after(result, "b0.v", "b1.v") == pytest.approx([3.0, 3.0], rel=1e-9)
    assert result.check().ok


@METHODS
def test_a_plastic_wall_before_an_elastic_contact(method: str) -> None:
    """The wall holds the first mass at 2 m/s, and the second one parts from that as it came."""
    result = simulate(walled(0.0, held(2.0), held(3.0)), 0.5625, method=method)
    assert after(result, "b0.v", "b1.v") == pytest.approx([2.0, 4.0], rel=1e-9)
    assert result.check().ok


def gripped(other: object, e: float, *more: tuple[str, ...], **parts: object) -> Circuit:
    """A wall that meets a mass which friction of 6 N holds on another body."""
    return assembled(
        ("wall.flange", "stop.flange_a"),
        ("stop.flange_b", "mass.flange_a", "grip.flange_a"),
        ("grip.flange_b", "other.flange" if isinstance(other, ConstantSpeed | Fixed) else "other.flange_a"),
        *more,
        wall=ConstantSpeed(v_fixed=2.0),
        stop=ImpactStop(restitution=e, s_rel0=1.0),
        grip=Friction(f_coulomb=4.0, f_breakaway=6.0),
        other=other,
        **parts,
    )


@pytest.mark.sweep(every=6)
@METHODS
@RESTITUTIONS
@pytest.mark.parametrize("kind", ["held", "fixed", "free"])
def test_a_grip_slips_and_what_it_holds_on_feels_no_impulse(kind: str, e: float, method: str) -> None:
    other = {"held": held(2.0, 3.0), "fixed": Fixed(s0=2.0), "free": Mass(m=3.0, s=2.0)}[kind]
    result = simulate(gripped(other, e, mass=Mass(m=2.0, s=2.0)), 0.5625, method=method)
    assert after(result, "mass.v") == pytest.approx([2.0 * (1.0 + e)], rel=1e-9)
    assert result["grip.state"].final == FrictionState.BACKWARD.value
    if kind == "held":
        assert result["other.v"].final == 0.0
        assert result["other.state"].final == FrictionState.STICK.value
    if kind == "free":
        assert result["other.v"].final == pytest.approx(4.0 / 3.0 / 16.0, rel=1e-7)
    assert result.check().ok


@METHODS
@pytest.mark.parametrize("belt", [1.0, -1.0])
def test_a_wall_strikes_a_mass_that_rides_on_a_belt(belt: float, method: str) -> None:
    """The belt goes with ``belt``, the wall with 2 m/s: ``2 + e (2 - belt)``."""
    at = 2.0 - 0.5 * (belt - 1.0)
    mass = Mass(m=2.0, s=at, v=belt)
    result = simulate(gripped(ConstantSpeed(v_fixed=belt), 0.5, mass=mass), 1.25, method=method)
    assert changes(result["grip.state"])[0] == pytest.approx((at - 1.0) / (2.0 - belt), rel=1e-9)
    assert after(result, "mass.v") == pytest.approx([2.0 + 0.5 * (2.0 - belt)], rel=1e-9)
    assert result.check().ok


@METHODS
def test_a_spring_passes_no_impulse_on(method: str) -> None:
    model = assembled(
        ("wall.flange", "stop.flange_a"),
        ("stop.flange_b", "mass.flange_a"),
        ("mass.flange_b", "spring.flange_a"),
        ("spring.flange_b", "other.flange_a"),
        wall=ConstantSpeed(v_fixed=2.0),
        stop=ImpactStop(restitution=0.5, s_rel0=1.0),
        mass=held(2.0),
        spring=Spring(c=10.0, s_rel0=1.0),
        other=held(3.0, 1.0),
    )
    result = simulate(model, 0.5625, method=method)
    assert after(result, "mass.v") == pytest.approx([3.0], rel=1e-9)
    assert result["other.v"].final == 0.0
    assert result.check().ok


@METHODS
def test_a_brake_slips(method: str) -> None:
    model = assembled(
        ("wall.flange", "stop.flange_a"),
        ("stop.flange_b", "brake.flange_a"),
        ("brake.flange_b", "mass.flange_a"),
        ("closed.y", "brake.f_normalized"),
        wall=ConstantSpeed(v_fixed=2.0),
        stop=ImpactStop(restitution=0.5, s_rel0=1.0),
        brake=Brake(fn_max=4.0),
        closed=Constant(k=1.0),
        mass=Mass(m=2.0, s=2.0),
    )
    result = simulate(model, 0.75, method=method)
    assert result["mass.v"].final == pytest.approx(2.5, rel=1e-9)
    assert result.check().ok


@pytest.mark.parametrize("method", ["auto", "implicit"])
def test_a_friction_with_stribeck_effect_lets_go_too(method: str) -> None:
    """On the general path."""
    mass = MassWithStopAndFriction(
        m=2.0, L=0.0, smin=-10.0, smax=10.0, F_prop=0.0, F_Coulomb=4.0, F_Stribeck=2.0, fexp=100.0, s=2.0, v=0.0
    )  # fmt: skip
    result = simulate(walled(0.5, mass), 0.75, method=method)
    assert after(result, "b0.v") == pytest.approx([3.0], rel=1e-9)
    assert result["b0.v"].final == pytest.approx(2.5, rel=1e-5)


@pytest.mark.sweep(every=6)
@METHODS
@RESTITUTIONS
def test_a_mass_in_flight_strikes_one_that_sticks(e: float, method: str) -> None:
    model = assembled(
        ("ball.flange_b", "stop.flange_a"),
        ("stop.flange_b", "mass.flange_a"),
        ball=Mass(m=1.0, s=0.0, v=2.0),
        stop=ImpactStop(restitution=e, s_rel0=1.0),
        mass=held(2.0, 3.0),
    )
    result = simulate(model, 0.5625, method=method)
    ball, mass = after(result, "ball.v", "mass.v")
    assert ball + 3.0 * mass == pytest.approx(2.0, rel=1e-12)
    assert mass - ball == pytest.approx(2.0 * e, rel=1e-9, abs=1e-12)
    assert result.check().ok


def test_what_is_fixed_yields_to_nothing() -> None:
    model = gripped(Fixed(s0=2.0), 0.5, ("mass.flange_b", "other.flange"), mass=Mass(m=2.0, s=2.0))
    with pytest.raises(NoConsistentModeError, match="no consistent mode at t = 0.5"):
        simulate(model, 1.0)


@pytest.mark.sweep(every=18)
@pytest.mark.parametrize("method", ["exact", "implicit"])
@pytest.mark.parametrize("seed", range(48))
def test_rows_move_as_they_would_without_friction(seed: int, method: str) -> None:
    """A wall strikes a row of masses that touch and rest; friction on the housing and between neighbours has no impulse."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    mass, e = 10.0 ** rng.uniform(-0.5, 0.5, n), np.where(rng.random(n) < 0.3, 0.0, rng.uniform(0.3, 0.9, n))
    e[rng.integers(n)] = rng.uniform(0.3, 0.9)
    parts: dict[str, Component] = {"wall": ConstantSpeed(v_fixed=1.0), "last": Fixed(s0=0.0)}
    ties, ends = [], ["wall.flange", *[f"b{k}.flange_b" for k in range(n)]]
    for k in range(n):
        stuck, at = rng.random() < 0.7, k + 1.25
        parts[f"b{k}"] = held(at, mass[k], level=rng.uniform(0.1, 3.0)) if stuck else Mass(m=mass[k], s=at)
        parts[f"c{k}"] = ImpactStop(restitution=e[k], s_rel0=1.0)
        ties += [(ends[k], f"c{k}.flange_a"), (f"c{k}.flange_b", f"b{k}.flange_a")]
        if rng.random() < 0.4:
            parts[f"g{k}"] = Friction(f_coulomb=1.0, f_breakaway=rng.uniform(1.0, 2.0))
            ties += [
                (ends[k + 1], f"g{k}.flange_a"),
                (f"g{k}.flange_b", ends[k + 2] if k < n - 1 else "last.flange"),
            ]
    result = simulate(assembled(*ties, **parts), 0.2500001, method=method)
    bodies, G = np.append(np.inf, mass), np.eye(n, n + 1, 1) - np.eye(n, n + 1)
    exact = settle(bodies, G, np.append(1.0, np.zeros(n)), e, 1e-6)[1:]
    assert after(result, *[f"b{k}.v" for k in range(n)]) == pytest.approx(exact, abs=2e-5)


class Latched(Component):
    """A wall that comes with 2 m/s, and a mass which an ideal latch holds until it moves."""

    e: Parameter = Parameter(default=0.5)
    x: Variable = Variable(start=-1.0)
    s: Variable = Variable(start=0.0)
    v: Variable = Variable(start=0.0)
    f: Variable = Variable()
    hold: Variable = Variable()

    def equations(self):
        yield Eq(der(self.x), 2.0)
        yield Eq(der(self.s), self.v)
        yield Eq(der(2.0 * self.v), self.f - self.hold)
        yield If(self.v > 1.0, [Eq(self.hold, 0.0)], [Eq(self.v, 0.0)])
        yield Impact(self.s - self.x, self.f, restitution=self.e)


@METHODS
def test_what_holds_against_every_impulse_is_told(method: str) -> None:
    """With the branch in which it moves a plastic impact is consistent; no law of impact leads there."""
    assert simulate(Latched(e=0.0), 1.0, method=method)["v"].final == pytest.approx(2.0, rel=1e-9)
    with pytest.raises(ImpactError, match="no motion follows the impact at contact") as info:
        simulate(Latched(), 1.0, method=method)
    assert "no impulses of the contacts that touch stop their approach" in info.value.why
    assert "no restitution above zero changes that: let what is struck yield" in info.value.hint
