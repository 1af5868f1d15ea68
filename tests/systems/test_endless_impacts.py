"""Impacts that follow each other without end in one instant."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from acausal import (
    Circuit,
    Component,
    ConsistencyError,
    DryFriction,
    Eq,
    Impact,
    Parameter,
    Structural,
    Variable,
    der,
    minimum,
    simulate,
    time,
)
from acausal.components.translational import (
    ConstantForce,
    CoulombFriction,
    ElastoGap,
    Fixed,
    Friction,
    ImpactStop,
    Mass,
    MassWithFriction,
    Spring,
)
from acausal.simulation.instants import impact_rounds
from acausal.simulation.instants.impact_rounds import Applied
from tests.components.signals import assembled

METHODS = pytest.mark.parametrize("method", ["auto", "explicit"])


class Fitting(Component):
    """A ball arrives at a wall when a gate comes to rest behind it: it fits exactly between the two."""

    e: Parameter = Parameter(default=1.0)
    rest: Structural[float | None] = Structural(object, default=None)
    x: Variable = Variable(start=-1.0)
    v: Variable = Variable(start=1.0)
    f: Variable = Variable()
    g: Variable = Variable()

    def equations(self):
        law = {"restitution": self.e, "rest_speed": self.rest}
        yield Eq(der(self.x), self.v)
        yield Eq(der(self.v), self.g - self.f)
        yield Impact(-self.x, self.f, **law, name="wall")
        yield Impact(self.x - minimum(3.0 * time - 3.0, 0.0), self.g, **law, name="gate")


@pytest.mark.sweep(every=3)
@METHODS
def test_impacts_without_end_are_plastic_after_a_bound_with_a_warning(method: str) -> None:
    with pytest.warns(UserWarning, match="impacts at wall, gate do not end after 1000 rounds"):
        result = simulate(Fitting(), 2.0, method=method)
    assert (result["v"].final, result["x"].final) == pytest.approx((0.0, 0.0), abs=1e-9)
    assert simulate(Fitting(e=0.5), 2.0, method=method)["v"].final == pytest.approx(0.0, abs=1e-9)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("rest", [None, 0.0])
@pytest.mark.parametrize("e", [0.1, 0.5, 0.9, 0.99])
@METHODS
@pytest.mark.filterwarnings("ignore:at t = 1 impacts")
def test_what_a_collision_leaves_begins_no_other_without_end(
    e: float, rest: float | None, method: str
) -> None:
    """Every round leaves e of the speed: it ends at 1e-6 of the approach, or in its rounding where no speed is too slow."""
    result = simulate(Fitting(e=e, rest=rest), 2.0, method=method)
    assert (result["v"].final, result["x"].final) == pytest.approx((0.0, 0.0), abs=1e-12)


def column(
    masses: Sequence[float], restitutions: Sequence[float], heights: Sequence[float], size: float = 0.0
) -> Circuit:
    """Balls above each other and a floor, each of some size."""
    count = len(masses)
    parts = {f"m{k}": Mass(m=m, s=s) for k, (m, s) in enumerate(zip(masses, heights, strict=True))}
    parts |= {
        f"stop{k}": ImpactStop(restitution=e, s_rel0=size * (k > 0)) for k, e in enumerate(restitutions)
    }
    parts |= {f"weight{k}": ConstantForce(f_constant=-9.81 * m) for k, m in enumerate(masses)}
    joined: list[tuple[str, ...]] = [("floor.flange", "stop0.flange_a")]
    for k in range(count):
        above = [f"stop{k + 1}.flange_a"] * (k + 1 < count)
        joined.append((f"stop{k}.flange_b", f"m{k}.flange_a", f"weight{k}.flange", *above))
    return assembled(*joined, floor=Fixed(), **parts)


@pytest.mark.sweep(every=12)
@METHODS
@pytest.mark.parametrize(
    ("masses", "restitutions", "heights"),
    [
        ((1.0, 2.0), (0.5, 0.5), (1.0, 1.5)),
        ((2.86, 1.07), (0.38, 0.74), (0.58, 0.75)),
        ((2.08, 2.01), (0.55, 0.35), (0.11, 0.27)),
        ((2.08, 0.76, 2.84), (0.33, 0.09, 0.57), (0.15, 0.54, 0.79)),
    ],
)
def test_balls_above_each_other_fall_to_rest(masses, restitutions, heights, method) -> None:
    """The last flights take some units in the last place of time, and what comes to rest has cancelled its own impulses."""
    count = len(masses)
    result = simulate(column(masses, restitutions, heights), 3.0, method=method)
    assert result.status == "finished"
    for k in range(count):
        assert (result[f"m{k}.s"].final, result[f"m{k}.v"].final) == pytest.approx((0.0, 0.0), abs=1e-9)
        assert abs(result[f"stop{k}.f"].final) == pytest.approx(9.81 * sum(masses[k:]), rel=1e-9)
    t = np.linspace(0.0, 3.0, 2000)
    ways, speeds = (np.array([result[f"m{k}.{what}"].at(t) for k in range(count)]) for what in "sv")
    energy = np.array(masses) @ (9.81 * ways + 0.5 * speeds**2)
    assert np.diff(energy).max() < 1e-6
    assert all((above - below).min() > -1e-9 for below, above in pairwise([np.zeros(len(t)), *ways]))


@pytest.mark.sweep(every=15)
@pytest.mark.parametrize("method", ["auto", "implicit"])
@pytest.mark.parametrize(
    ("masses", "restitutions", "heights"),
    [
        ((1.908, 0.962), (0.33, 0.72), (0.23, 1.055)),
        ((1.766, 0.988, 0.393), (0.39, 0.38, 0.46), (0.387, 0.91, 1.189)),
        ((0.937, 0.378, 1.449), (0.15, 0.84, 0.44), (0.21, 0.615, 0.77)),
        ((0.74, 0.209, 1.635), (0.76, 0.72, 0.45), (0.303, 0.898, 1.107)),
        ((1.229, 1.494, 1.023), (0.21, 0.36, 0.83), (0.14, 0.51, 1.034)),
        ((0.297, 0.935, 0.288), (0.39, 0.13, 0.85), (0.357, 0.664, 1.027)),
        ((1.267, 1.762), (0.69, 0.34), (0.183, 0.586)),
    ],
)
def test_balls_with_a_size_lose_the_energy_of_their_heights(masses, restitutions, heights, method) -> None:
    """While the time of a slow impact is open all balls move together, and no contact pulls a ball through a gap.

    What flew was stopped without an impulse; gaps closed at once where the others did, and took 4e-4 J of 8.5 J with them. A ball
    on one that rests fell on it from no height that its numbers hold, and came back from below it as fast each time.
    """
    result = simulate(column(masses, restitutions, heights, 0.1), 2.0, method=method)
    assert result.status == "finished" and result.check().ok
    falls = np.array(heights) - 0.1 * np.arange(len(masses))
    assert result.audit().energy_lost == pytest.approx(9.81 * float(np.dot(masses, falls)), rel=1e-11)


def rows_by_small_steps(m: np.ndarray, F: np.ndarray, e: np.ndarray, v0: float, T: float) -> np.ndarray:
    """Where masses in a row come to, 0.3 m apart with contacts at 0.1 m, by time stepping of Moreau with friction at each."""
    h, n = 1e-4, len(m)
    x, v = 0.3 * np.arange(n), np.array([v0, *np.zeros(n - 1)])
    B = np.diff(np.eye(n), axis=0)
    for _ in range(round(T / h)):
        middle = x + h / 2 * v
        after, p, f = v.copy(), np.zeros(n - 1), np.zeros(n)
        for _ in range(20):
            held = np.clip(m * after + f, -h * F, h * F)
            after, f = after + (f - held) / m, held
            for j in np.flatnonzero(np.diff(middle) <= 0.1):
                wanted = p[j] - (B[j] @ after + e[j] * min(B[j] @ v, 0.0)) / (B[j] ** 2 @ (1.0 / m))
                after, p[j] = after + B[j] / m * (max(wanted, 0.0) - p[j]), max(wanted, 0.0)
        x, v = middle + h / 2 * after, after
    return x


def row(m: Sequence[float], F: Sequence[float], e: Sequence[float]) -> Component:
    """The same masses as a model."""
    parts = {
        f"m{k}": MassWithFriction(m=m[k], s=0.3 * k, v=4.0 * (k == 0), f_coulomb=F[k], f_breakaway=F[k])
        for k in range(3)
    }
    parts |= {f"stop{k}": ImpactStop(restitution=e[k], s_rel0=0.1) for k in range(2)}
    joined = [(f"m{k}.flange_b", f"stop{k}.flange_a") for k in range(2)]
    joined += [(f"stop{k}.flange_b", f"m{k + 1}.flange_a") for k in range(2)]
    return assembled(*joined, **parts)


@pytest.mark.sweep(every=24)
@pytest.mark.parametrize("method", ["auto", "implicit", "explicit"])
@pytest.mark.parametrize(
    ("masses", "friction", "restitutions"),
    [
        ((1.46, 0.9, 1.72), (0.0, 1.29, 7.39), (0.11, 0.59)),
        ((0.69, 1.25, 0.72), (0.0, 5.21, 7.5), (0.12, 0.16)),
        ((1.8, 1.78, 0.62), (0.0, 6.68, 7.63), (0.31, 0.59)),
    ],
)
def test_a_row_with_friction_overlaps_by_what_steps_have_missed(
    masses, friction, restitutions, method
) -> None:
    """One contact ends a flight unseen when the next one closes: no force has to end that, and its speed decides.

    Its gap was below zero beyond doubt when it was open, and its impulse pulled when it was closed: no mode was consistent.
    """
    m, F, e = map(np.array, (masses, friction, restitutions))
    result = simulate(row(m, F, e), 0.6, method=method)
    assert result.check().ok
    ends = [result[f"m{k}.s"].final for k in range(3)]
    assert ends == pytest.approx(rows_by_small_steps(m, F, e, 4.0, 0.6), abs=1e-3)
    # What impacts lose and what slides turn into heat is what there was: no mass turns around between two events.
    t = np.array([0.0, *(event.t for event in result.events), 0.6])
    heat = sum(F[k] * np.abs(np.diff(result[f"m{k}.s"].at(t))).sum() for k in range(3))
    moving = sum(0.5 * m[k] * result[f"m{k}.v"].final ** 2 for k in range(3))
    assert result.audit().energy_lost + heat + moving == pytest.approx(0.5 * m[0] * 4.0**2, rel=1e-8)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("masses", "friction", "restitutions"),
    [
        ((1.97, 0.56, 0.68), (0.0, 4.25, 7.75), (0.18, 0.3)),
        ((1.35, 1.15, 0.64), (0.0, 3.44, 5.35), (0.11, 0.62)),
        ((0.92, 1.19, 0.68), (0.0, 4.66, 3.86), (0.14, 0.16)),
    ],
)
def test_what_a_late_instant_explains_passes_through_contacts_too(masses, friction, restitutions) -> None:
    """Speeds between which a late instant does not tell are made equal: what that takes is part of the impulses.

    It was left out of them, and 6e-8 of the momentum of a mass came from nowhere.
    """
    result = simulate(row(masses, friction, restitutions), 0.6)
    assert result.check().ok
    instants = [event for event in result.events if event.jumps]
    assert instants
    for event in instants:
        passed, moved = (
            {path: x for path, x, _ in event.impulses},
            {path: b - a for path, a, b in event.jumps},
        )
        for k in range(3):
            assert moved.get(f"m{k}.v", 0.0) == pytest.approx(passed.get(f"m{k}.a", 0.0), abs=1e-13)


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize(
    ("masses", "friction", "restitutions"),
    [
        ((0.55, 0.63, 1.68), (0.0, 3.11, 5.24), (0.2, 0.2)),
        ((1.47, 1.26, 0.71), (0.0, 4.86, 5.05), (0.11, 0.21)),
        ((0.9, 1.8, 0.86), (0.0, 3.2, 7.06), (0.12, 0.19)),
    ],
)
def test_a_row_with_friction_has_a_motion_also_where_no_flight_is_too_low(
    masses, friction, restitutions, monkeypatch
) -> None:
    """What decides an instant is the same for all modes: then each flight ends in one, however low it is.

    Of impacts that rounding explains in part, one pulled without the others; and a gap that was zero in the doubt of an instant
    was below it when that doubt was gone.
    """
    monkeypatch.setattr(impact_rounds, "_stilled", lambda numbers, found, *_: found)
    m, F, e = map(np.array, (masses, friction, restitutions))
    result = simulate(row(m, F, e), 0.6)
    assert result.check().ok
    ends = [result[f"m{k}.s"].final for k in range(3)]
    assert ends == pytest.approx(rows_by_small_steps(m, F, e, 4.0, 0.6), abs=1e-3)


def test_a_row_with_friction_comes_to_the_same_place_by_steps() -> None:
    """A gap was left by 2e-8 m where steps knew it no better than the places of both masses."""
    model = row((1.35, 1.15, 0.64), (0.0, 3.44, 5.35), (0.11, 0.62))
    results = [simulate(model, 0.6, method=method) for method in ("auto", "implicit", "explicit")]
    ends = [[result[f"m{k}.s"].final for k in range(3)] for result in results]
    assert all(result.check().ok for result in results)
    assert ends[1:] == [pytest.approx(ends[0], rel=1e-12)] * 2


@pytest.mark.parametrize("speed", [1e-6, 1e-3])
def test_a_collision_that_says_too_much_is_uncertain_is_found(speed, monkeypatch) -> None:
    """Speeds up to it are taken without an impulse; what the engine makes of its own noise is no excuse for that."""
    right = Applied.rounding
    monkeypatch.setattr(Applied, "rounding", lambda found, before: right(found, before) + speed)
    monkeypatch.setattr(impact_rounds, "_stilled", lambda numbers, found, *_: found)
    with pytest.raises(ConsistencyError, match="not conserved over the instant"):
        simulate(column((1.0, 2.0), (0.5, 0.5), (1.0, 1.5)), 3.0)


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
@pytest.mark.parametrize(
    ("masses", "length", "at"),
    [
        ((0.5, 1.5), 1.875, -0.75),
        ((0.5, 1.5), 1e-3, 1.0),
        ((3.0, 1.0), 1e-3, 1.0),
        ((1.0, 2.3), 1.0, 1e4),
    ],
)
def test_flights_that_become_shorter_without_end_come_to_rest(
    masses: tuple[float, float], length: float, at: float, method: str
) -> None:
    """A body jerks a heavier load off its stop with a string, and both come back: each time with ``m / (m + M)`` of the speed.

    They took the depth at which rounding shows a crossing for a height to fall from, and so flew on for ever.
    """
    (m, M), up, down = masses, 3.5, 5.5
    model = assembled(
        ("up.flange", "body.flange_a", "string.flange_a"),
        ("down.flange", "load.flange_a", "string.flange_b", "stop.flange_b"),
        ("wall.flange", "stop.flange_a"),
        wall=Fixed(s0=at),
        body=Mass(m=m, s=at + length, v=1.0),
        load=Mass(m=M, s=at, v=1.0),
        up=ConstantForce(f_constant=up),
        down=ConstantForce(f_constant=-down),
        string=ImpactStop(s_rel0=-length),
        stop=ImpactStop(s_rel0=0.0),
    )
    flight = 2.0 * (m + M) / (down - up) + 2.0 * m / up
    end = flight * (m + M) / M
    result = simulate(model, 1.3 * end, method=method)
    assert result.events[-1].t == pytest.approx(end, rel=1e-5)
    assert result["body.v"].final == result["load.v"].final == 0.0
    assert (result["body.s"].final, result["load.s"].final) == pytest.approx((at + length, at), rel=1e-15)
    times = np.cumsum([flight * (m / (m + M)) ** k for k in range(6)])
    speeds = (m / (m + M)) ** np.arange(1, 7)
    assert result["body.v"].at(times * (1.0 + 1e-7)) == pytest.approx(speeds, abs=1e-6)


def test_an_elastic_impact_below_plastic_ones_comes_to_rest_with_friction() -> None:
    """Its rebounds become shorter without end; what is open of a speed that is turned around is no more than before it."""
    grams, places = (
        (20.138548688606248, 8.512655604037767, 4.235781870903664, 17.125466909500762),
        (0, 1, 2, 4),
    )
    model = assembled(
        ("left.flange", "gap.flange_a", "grip.flange_a"),
        ("gap.flange_b", "grip.flange_b", "m0.flange_a", "plastic.flange_a"),
        ("plastic.flange_b", "m1.flange_a", "elastic.flange_a"),
        ("elastic.flange_b", "m2.flange_a", "force.flange", "friction.flange_a"),
        ("friction.flange_b", "m3.flange_a", "spring.flange_a"),
        ("spring.flange_b", "right.flange"),
        **{f"m{k}": Mass(m=1e-3 * m, s=1e-4 * s) for k, (m, s) in enumerate(zip(grams, places, strict=True))},
        left=Fixed(),
        right=Fixed(s0=8e-4),
        gap=ElastoGap(c=20.0, d=0.05),
        grip=Friction(f_coulomb=2e-5, f_breakaway=3e-5),
        plastic=ImpactStop(s_rel0=1e-4, restitution=0.5),
        elastic=ImpactStop(restitution=1.0),
        friction=CoulombFriction(f_coulomb=5e-5),
        spring=Spring(c=0.3, s_rel0=4e-4),
        force=ConstantForce(f_constant=-1e-4),
    )
    result = simulate(model, 0.4)
    ends, speeds = (np.array([result[f"m{k}.{what}"].final for k in range(4)]) for what in "sv")
    assert ends[:2] + (1e-4, 0.0) == pytest.approx(ends[1:3], rel=1e-13)
    assert speeds == pytest.approx(speeds[0], rel=1e-13)
    assert abs(result.audit().balance) < 1e-14 * result["spring.f"].max() * 1e-4
    result.check().require()


class Thrown(Component):
    """A ball thrown along a floor that it bounces on, with friction in proportion to what presses on it."""

    e: Parameter = Parameter(default=0.5)
    mu: Parameter = Parameter(default=0.1)
    y: Variable = Variable(start=0.5)
    vx: Variable = Variable(start=3.0)
    vy: Variable = Variable(start=0.0)
    N: Variable = Variable()
    f: Variable = Variable()

    def equations(self):
        yield Eq(der(self.y), self.vy)
        yield Eq(2.0 * der(self.vx), -self.f)
        yield Eq(2.0 * der(self.vy), self.N - 20.0)
        yield Impact(self.y, self.N, restitution=self.e)
        yield DryFriction(self.vx, self.f, sliding=self.mu * self.N, breakaway=self.mu * self.N)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
@pytest.mark.parametrize(("mu", "e"), [(0.1, 0.5), (0.3, 0.3), (0.05, 0.5), (0.1, 0.0)])
def test_what_bounces_with_friction_comes_to_slide(mu: float, e: float, method: str) -> None:
    """Each impact takes mu (1 + e) of its speed from that along the floor; rounding of the last rebound pulls at nothing."""
    result = simulate(Thrown(e=e, mu=mu), 8.0, method=method, rtol=1e-9)
    hits = np.sqrt(10.0)
    v, t = 3.0 - mu * (1.0 + e) / (1.0 - e) * hits, hits / 10.0 * (1.0 + 2.0 * e / (1.0 - e))
    assert result["vx"].at(t + 0.01) == pytest.approx(v - 0.1 * mu, rel=1e-7)
    assert result.events[-1].t == pytest.approx(t + v / (10.0 * mu), rel=1e-7)
    assert result["vx"].final == pytest.approx(0.0, abs=1e-9)
    result.check().require()
