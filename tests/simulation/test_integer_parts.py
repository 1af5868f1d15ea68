"""``floor`` and ``mod`` of continuous unknowns: one instant per wrap, exact values on both sides."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import acausal as ac
from acausal.components import rotational, translational


class Sawtooth(ac.Component):
    x: ac.Variable = ac.Variable()
    q: ac.Variable = ac.Variable()
    y: ac.Variable = ac.Variable()
    w: ac.Parameter = ac.Parameter(default=8.0)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.Eq(ac.der(self.x), self.w)
        yield ac.Eq(self.q, ac.mod(self.x, 1))
        yield ac.Eq(self.y, ac.table(ac.mod(self.x, 1), [0.0, 0.5, 1.0], [0.0, 1.0, 0.0]))


@pytest.mark.parametrize("x0", [0.0, 0.3, -3.0, 1000.3, -77.9])
@pytest.mark.parametrize("w", [8.0, -8.0])
def test_a_sawtooth_has_one_instant_per_wrap_and_per_corner(x0: float, w: float) -> None:
    r = ac.simulate(Sawtooth(x=x0), 0.38, parameters={"w": w})
    halves = np.arange(-8, 9) / 2 + np.round(2 * x0) / 2
    expected = np.sort((halves - x0) / w)
    expected = expected[(expected > 1e-9) & (expected < 0.38)]
    np.testing.assert_allclose(
        [e.t for e in r.events if e.t > 0], expected, rtol=0, atol=4e-16 * (1 + abs(x0))
    )
    t = np.linspace(0.003, 0.377, 101)
    phase = np.mod(x0 + w * t, 1.0)
    np.testing.assert_allclose(r["q"].at(t), phase, rtol=0, atol=1e-12)
    np.testing.assert_allclose(r["y"].at(t), 1 - np.abs(2 * phase - 1), rtol=0, atol=1e-12)
    for name in ("q", "y"):
        assert -1e-12 <= r[name].min() and r[name].max() <= 1 + 1e-12


class Pendulum(ac.Component):
    """On the general path; x turns around between wraps."""

    x: ac.Variable = ac.Variable()
    v: ac.Variable = ac.Variable(start=2.5)
    q: ac.Variable = ac.Variable()
    f: ac.Variable = ac.Variable()
    area: ac.Variable = ac.Variable()

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.Eq(ac.der(self.x), self.v)
        yield ac.Eq(ac.der(self.v), -9 * ac.sin(self.x))
        yield ac.Eq(self.q, ac.mod(self.x, 0.25))
        yield ac.Eq(self.f, ac.floor(10 * self.x**2))
        yield ac.Eq(ac.der(self.area), self.v * ac.floor(4 * self.x))


def test_nonlinear_motion_wraps_both_ways() -> None:
    r = ac.simulate(Pendulum(), 2.0)
    t = np.linspace(0.01, 1.99, 97)
    x = r["x"].at(t)
    np.testing.assert_array_equal(r["f"].at(t), np.floor(10 * x**2))
    np.testing.assert_allclose(r["q"].at(t), np.mod(x, 0.25), rtol=0, atol=1e-12)
    # The integral of floor(4 x) over x: full steps of width 1/4, then the rest.
    k = np.floor(4 * x)
    np.testing.assert_allclose(r["area"].at(t), k * (k - 1) / 8 + k * (x - k / 4), rtol=0, atol=1e-7)


class Growth(ac.Component):
    """Growth restarts at every wrap: der(x) = 1 + mod(x, 1)."""

    x: ac.Variable = ac.Variable(start=0.2)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.Eq(ac.der(self.x), 1 + ac.mod(self.x, 1))


def test_a_wrap_acts_back_on_the_motion() -> None:
    r = ac.simulate(Growth(), 2.0)
    first = math.log(2 / 1.2)
    expected = [first, first + math.log(2), first + 2 * math.log(2)]
    expected = [t for t in expected if t < 2.0]
    np.testing.assert_allclose([e.t for e in r.events if e.t > 0], expected, rtol=1e-13)
    wraps = len(expected)
    assert r["x"].final == pytest.approx(wraps - 1 + math.exp(2.0 - expected[-1]), rel=1e-12)


class Counter(ac.Component):
    x: ac.Variable = ac.Variable()
    quarter: ac.Discrete = ac.Discrete(int)
    late: ac.Discrete = ac.Discrete(int)
    i: ac.Variable = ac.Variable()
    nested: ac.Variable = ac.Variable()
    held: ac.Variable = ac.Variable()

    def equations(self) -> Iterator[ac.Statement]:
        phase = ac.mod(self.x, 1)
        yield ac.Eq(ac.der(self.x), 1)
        yield ac.Eq(self.quarter, ac.floor(4 * self.x))
        yield ac.when(phase >= 0.8, ac.assign(self.late, ac.pre(self.late) + 1))
        yield ac.Complementarity(self.i - phase + 0.5, self.i)
        yield ac.Eq(self.nested, ac.floor(2 * ac.mod(self.x, 1)))
        yield ac.Eq(self.held, ac.no_event(ac.floor(8 * self.x)))


def test_integer_parts_in_every_kind_of_statement() -> None:
    r = ac.simulate(Counter(), 2.4)
    expected = sorted({*np.arange(1, 10) / 4, 0.8, 1.8})
    np.testing.assert_allclose([e.t for e in r.events if e.t > 0], expected, rtol=0, atol=1e-15)
    t = np.linspace(0.01, 2.39, 60)
    np.testing.assert_array_equal(r["quarter"].at(t), np.floor(4 * t))
    np.testing.assert_array_equal(r["late"].at(t), np.floor(t + 0.2))
    np.testing.assert_allclose(r["i"].at(t), np.maximum(0, t % 1 - 0.5), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(r["nested"].at(t), np.floor(2 * (t % 1)))
    np.testing.assert_array_equal(r["held"].at(t), np.floor(8 * t))


class Part(ac.Component):
    u: ac.Input = ac.Input(float)
    n: ac.Input = ac.Input(int)
    y: ac.Variable = ac.Variable()

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.Eq(self.y, self.u + self.n)


class Fed(ac.Component):
    x: ac.Variable = ac.Variable()
    choice: ac.Variable = ac.Variable()

    def build(self) -> None:
        self.cells = [Part(u=ac.mod(self.x, 1), n=ac.floor(2 * self.x)) for _ in range(2)]

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.Eq(ac.der(self.x), 1)
        yield ac.If(self.cells[0].n >= 1, [ac.Eq(self.choice, 1)], [ac.Eq(self.choice, 0)])


def test_integer_parts_feed_inputs_of_parts() -> None:
    r = ac.simulate(Fed(), 1.9)
    t = np.array([0.1, 0.7, 1.2, 1.6])
    for k in range(2):
        np.testing.assert_allclose(r[f"cells[{k}].y"].at(t), t % 1 + np.floor(2 * t), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(r["choice"].at(t), [0, 1, 1, 1])


class Sliding(ac.Component):
    x: ac.Variable = ac.Variable(start=0.2)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.Eq(ac.der(self.x), 0.5 - ac.floor(self.x))


def test_an_integer_that_brings_itself_back_is_refused() -> None:
    with pytest.raises(ac.ChatteringError, match=r"at t = 1\.6"):
        ac.simulate(Sliding(), 2.0)


class Cam(ac.Component):
    """Lift over the angle of one turn, moving a mass against a spring."""

    def build(self) -> None:
        self.drive = rotational.ConstantSpeed(w_fixed=50.0)
        self.meter = rotational.AngleSensor()
        lift = ac.table(
            ac.mod(self.meter.phi / (2 * math.pi), 1), [0, 0.25, 0.5, 0.75, 1], [0, 0.5, 1, 0.5, 0]
        )
        self.follower = translational.Position(s_ref=0.01 * lift)
        self.spring = translational.Spring(c=100.0, s_rel0=0.1)
        self.wall = translational.Fixed(s0=0.2)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.drive.flange, self.meter.flange)
        yield ac.connect(self.follower.flange, self.spring.flange_a)
        yield ac.connect(self.spring.flange_b, self.wall.flange)


@pytest.mark.parametrize(("phi", "w"), [(0.0, 50.0), (1.0, -50.0), (8.0, 50.0), (-20.0, -50.0)])
def test_a_cam_repeats_its_lift_every_turn(phi: float, w: float) -> None:
    initial: dict[str, Any] = {"drive.phi": phi}
    r = ac.simulate(Cam(), 0.3, parameters={"drive.w_fixed": w}, initial=initial)
    t = np.linspace(0.001, 0.299, 83)
    turn = np.mod((phi + w * t) / (2 * math.pi), 1.0)
    lift = 0.01 * (1 - np.abs(2 * turn - 1))
    np.testing.assert_allclose(r["follower.flange.s"].at(t), lift, rtol=0, atol=1e-15)
    np.testing.assert_allclose(r["spring.f"].at(t), 100 * (0.1 - lift), rtol=1e-13)


class Held(ac.Component):
    """The law of x, given as ``law``; v is solved for beside it."""

    x: ac.Variable = ac.Variable(start=3.2)
    v: ac.Variable = ac.Variable()
    law: Any

    def equations(self) -> Iterator[ac.Statement]:
        yield from self.law()


def held(law: Any, start: float = 3.2) -> ac.Component:
    return type("Case", (Held,), {"law": law})(x=start)


GRID = np.linspace(0.0, 10.0, 41)
CURVE = 0.25 * GRID + 0.1 * np.sin(GRID)
AT_REST = {
    "floor": (lambda x: 0.25 * ac.floor(x), (5.75, 6.0)),
    "table": (
        lambda x: ac.table(x, GRID, CURVE),
        (brentq(lambda x: 4.5 - x + np.interp(x, GRID, CURVE), 0, 10, xtol=1e-15),),
    ),
}
"""Laws, and all states of rest that they have."""


@pytest.mark.parametrize("start", [-2.0, 3.2, 5.0, 30.0])
@pytest.mark.parametrize("part", AT_REST)
def test_a_steady_state_is_one_in_the_piece_in_which_it_lies(part: str, start: float) -> None:
    """The condition was met with the piece before the start, and not looked at again in the one that the start leads to."""
    of, rests = AT_REST[part]
    made = held(lambda s: [ac.Eq(ac.der(s.x), 4.5 - s.x + of(s.x)), ac.Eq(s.v, s.x)], start)
    result = ac.simulate(made, 1.0, initial="steady state")
    assert min(abs(result["x"].at(0.0) - rest) for rest in rests) < 1e-12
    assert result["x"].ptp() < 1e-12
    assert [event.kind for event in result.events] == ["start"]


def test_a_steady_state_that_no_piece_has_is_refused() -> None:
    """4.5 - x + floor(x): zero nowhere, as x - floor(x) is below one."""
    made = held(lambda s: [ac.Eq(ac.der(s.x), 4.5 - s.x + ac.floor(s.x)), ac.Eq(s.v, s.x)])
    with pytest.raises(ac.InitializationError, match="der"):
        ac.simulate(made, 1.0, initial="steady state")


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("seed", range(12))
def test_unknowns_in_a_loop_with_a_rising_table_are_found_whatever_the_steps_of_the_source(seed: int) -> None:
    rng = np.random.default_rng(seed)
    xs, ys = np.sort(rng.normal(size=6)) * 2, np.cumsum(rng.random(6) ** 3) * 3 - 2
    factor, levels = float(10 ** rng.uniform(-1.5, 1.0)), rng.normal(size=3) * 3
    source = ac.if_else(ac.time < 0.2, levels[0], ac.if_else(ac.time < 0.4, levels[1], levels[2]))
    result = ac.simulate(
        held(lambda s: [ac.Eq(factor * s.v + ac.table(s.v, xs, ys), source), ac.Eq(ac.der(s.x), s.v)]), 0.6
    )
    for t, level in zip((0.1, 0.3, 0.5), levels, strict=True):
        found = brentq(lambda v, c=level: factor * v + np.interp(v, xs, ys) - c, -1e4, 1e4, xtol=1e-14)
        assert result["v"].at(t) == pytest.approx(found, rel=1e-11, abs=1e-12)
    assert result.check().ok


@pytest.mark.parametrize("method", ["exact", "integrated"])
def test_a_table_over_a_state_is_what_it_says_on_both_ways(method: str) -> None:
    """x = 2 sin(3 t) passes every point of the table six times; v is compared between the points."""
    xs, ys = [-1.5, -0.4, 0.0, 0.1, 1.2], [1.0, -1.0, 3.0, 3.0, 0.0]

    class Swing(ac.Component):
        x: ac.Variable = ac.Variable()
        u: ac.Variable = ac.Variable(start=6.0)
        v: ac.Variable = ac.Variable()
        z: ac.Variable = ac.Variable(start=0.5)

        def equations(self) -> Iterator[ac.Statement]:
            yield ac.Eq(ac.der(self.x), self.u)
            yield ac.Eq(ac.der(self.u), -9 * self.x)
            yield ac.Eq(self.v, ac.table(self.x, xs, ys))
            yield ac.Eq(ac.der(self.z), -(self.z if method == "exact" else self.z**3))

    result = ac.simulate(Swing(), 6.0, rtol=1e-9)
    t = np.linspace(0.0, 6.0, 997)[1:-1]
    x = 2 * np.sin(3 * t)
    t, x = t[np.abs(x[:, None] - xs).min(axis=1) > 1e-6], x[np.abs(x[:, None] - xs).min(axis=1) > 1e-6]
    np.testing.assert_allclose(
        result["v"].at(t), np.interp(x, xs, ys), rtol=0, atol=1e-11 if method == "exact" else 1e-6
    )
    assert result.check().ok
