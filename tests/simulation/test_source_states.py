"""Functions of time in the run, against exact integrals of what they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import dawsn

from acausal import (
    Component,
    Discrete,
    Eq,
    If,
    Input,
    Mode,
    Modes,
    NonFiniteError,
    Parameter,
    ParameterError,
    Result,
    Statement,
    StatementError,
    Structural,
    Variable,
    asin,
    assign,
    compile_model,
    cos,
    der,
    exp,
    if_else,
    initially,
    leave,
    mod,
    pre,
    sample,
    simulate,
    sin,
    time,
    when,
)
from acausal.simulation.sources.piece import GROWTH, _growth
from acausal.simulation.sources.pieces import Pieces, Stretch

Function = Callable[[float], float]


class Integral(Component):
    """x' = u."""

    u: Input = Input(float)
    x: Variable = Variable(start=0.0, fixed=True)

    def equations(self):
        yield Eq(der(self.x), self.u)


class Lag(Component):
    """x' = a (u - x)."""

    a: Any = Parameter(default=1.0)
    u: Input = Input(float)
    x: Variable = Variable(start=0.0, fixed=True)

    def equations(self):
        yield Eq(der(self.x), self.a * (self.u - self.x))


class Counted(Component):
    """x' = 50 (u - x); n counts how often x rises above one half."""

    u: Input = Input(float)
    x: Variable = Variable(start=0.0, fixed=True)
    n: Any = Discrete(int)

    def equations(self):
        yield Eq(der(self.x), 50 * (self.u - self.x))
        yield when(self.x >= 0.5, assign(self.n, pre(self.n) + 1))


class Bell(Component):
    """x' = exp(-(t - c)^2 / w^2)."""

    c: Any = Parameter(default=0.0)
    w: Any = Parameter(default=1.0)
    x: Variable = Variable(start=0.0, fixed=True)

    def equations(self):
        yield Eq(der(self.x), exp(-(((time - self.c) / self.w) ** 2)))


def run(u: Function, t_end: float = 1.0, t_start: float = 0.0) -> Result:
    return simulate(Integral(), t_end, t_start=t_start, inputs={"u": u})


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize(
    ("u", "integral"),
    [
        (lambda t: 1.0 if t < 0.3 else -1.0, -0.4),
        (lambda t: float(t > 0.5), 0.5),
        (lambda t: float(t > 0.0), 1.0),
        (lambda t: float(t == 0.0), 0.0),
        (lambda t: math.sin(t) + (t > 0.5), 1.5 - math.cos(1.0)),
        (lambda t: math.floor(10 * t), 4.5),
        (lambda t: float(200 * t % 1.0 < 0.37), 0.37),
        (lambda t: abs(t - 0.3), 0.5 * (0.3**2 + 0.7**2)),
        (lambda t: max(0.0, math.sin(20 * math.pi * t)), 1 / math.pi),
        (math.sqrt, 2 / 3),
        (lambda t: math.sqrt(1.0 - t), 2 / 3),
        (lambda t: abs(t - 0.5) ** (1 / 3), 1.5 * 0.5 ** (4 / 3)),
        (lambda t: math.exp(-50 * t), (1 - math.exp(-50)) / 50),
        (lambda t: 1 / (1.0001 - t), math.log(1.0001 / 0.0001)),
        (lambda t: math.sin(1e3 * t), (1 - math.cos(1e3)) / 1e3),
        (lambda t: math.tanh(1e4 * (t - 0.5)), 0.0),
        (lambda t: 5.0, 5.0),
        (lambda t: 3 * t**2, 1.0),
    ],
)
def test_the_integral_of_a_callable_is_exact(u: Function, integral: float) -> None:
    assert run(u)["x"].final == pytest.approx(integral, rel=1e-11, abs=1e-12)


def test_a_jump_into_fast_change_is_an_event() -> None:
    result = run(lambda t: 0.0 if t < 0.5 else 1.0 + math.sin(1e3 * t))
    assert result.events.times.tolist() == [0.0, 0.5]


def test_a_callable_is_read_as_it_is() -> None:
    result = run(lambda t: math.floor(10 * t) + math.sin(300 * t))
    times = np.random.default_rng(1).uniform(0.0, 1.0, 300)
    expected = np.floor(10 * times) + np.sin(300 * times)
    assert result["u"].at(times) == pytest.approx(expected, rel=1e-11, abs=1e-11)


def test_a_jump_lies_at_the_number_where_it_is() -> None:
    result = run(lambda t: 1.0 if t < 0.3 else -1.0)
    assert result["u"].at([math.nextafter(0.3, 0.0), 0.3]).tolist() == [1.0, -1.0]
    assert 0.3 in result.events.times.tolist()


@pytest.mark.parametrize(("t_start", "t_end"), [(1.0, 3.0), (0.1, 0.8), (0.7, 1.1), (0.3, 0.9)])
def test_a_callable_is_not_evaluated_outside_of_the_run(t_start: float, t_end: float) -> None:
    asked: list[float] = []

    def u(t: float) -> float:
        asked.append(t)
        return math.sin(7 * t)

    run(u, t_end, t_start)
    assert min(asked) >= t_start
    assert max(asked) <= t_end


@pytest.mark.parametrize("t_start", [0.0, 1e6, -1e3])
def test_the_begin_of_the_run_does_not_matter(t_start: float) -> None:
    result = run(lambda t: float(t - t_start > 0.25) * (t - t_start), t_start + 1.0, t_start)
    assert result["x"].final == pytest.approx(0.5 * (1 - 0.25**2), rel=1e-9)


@pytest.mark.parametrize("span", [1e-9, 1e9])
def test_the_length_of_the_run_does_not_matter(span: float) -> None:
    result = run(lambda t: math.sin(40 * t / span) + (t > 0.7 * span), span)
    assert result["x"].final == pytest.approx(span * ((1 - math.cos(40)) / 40 + 0.3), rel=1e-12)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("a", [1e-2, 1.0, 10.0, 30.0, 1e2, 1e3, 1e6])
@pytest.mark.parametrize("w", [1e1, 1e2, 1e3])
def test_a_lag_of_any_speed_follows_a_fast_callable(a: float, w: float) -> None:
    result = simulate(Lag(a=a), 1.0, inputs={"u": lambda t: math.sin(w * t)})
    t = np.linspace(0.0, 1.0, 41)
    expected = a * (a * np.sin(w * t) - w * np.cos(w * t) + w * np.exp(-a * t)) / (a**2 + w**2)
    assert result["x"].at(t) == pytest.approx(expected, rel=0.0, abs=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("w", [30.0, 300.0])
def test_no_crossing_between_the_ends_of_pieces_is_missed(w: float) -> None:
    a, gain = 50.0, 2 * math.hypot(50.0, w) / 50.0
    result = simulate(Counted(), 1.0, inputs={"u": lambda t: gain * math.sin(w * t)})

    def x(t: Any) -> Any:
        return gain * a * (a * np.sin(w * t) - w * np.cos(w * t) + w * np.exp(-a * t)) / (a**2 + w**2)

    grid = np.linspace(0.0, 1.0, 20_001)
    crossed = np.flatnonzero(np.diff(np.sign(x(grid) - 0.5)))
    expected = [brentq(lambda t: x(t) - 0.5, grid[k], grid[k + 1], xtol=1e-15) for k in crossed]
    assert result.events.times[1:] == pytest.approx(expected, rel=1e-11)
    assert result["n"].final == sum(x(grid[k]) < 0.5 for k in crossed)


def test_a_lag_follows_a_callable_whose_pieces_grow_from_a_singular_point() -> None:
    a = 20.0
    result = simulate(Lag(a=a), 1.0, inputs={"u": math.sqrt})
    # x = sqrt(t) - D(sqrt(a t)) / sqrt(a) with Dawson's integral D.
    t = np.linspace(0.01, 1.0, 25)
    expected = np.sqrt(t) - dawsn(np.sqrt(a * t)) / math.sqrt(a)
    assert result["x"].at(t) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(("c", "w", "span"), [(0.0, 1.0, 3.0), (1.5, 0.05, 3.0), (2e-6, 1e-6, 5e-6)])
def test_a_general_function_inside_of_a_component(c: float, w: float, span: float) -> None:
    result = simulate(Bell(c=c, w=w), span)
    expected = 0.5 * math.sqrt(math.pi) * w * (math.erf((span - c) / w) + math.erf(c / w))
    assert result["x"].final == pytest.approx(expected, rel=1e-12)


def test_pieces_go_on_through_steps_of_a_stepped_run() -> None:
    simulation = compile_model(Integral()).start(inputs={"u": lambda t: math.sin(100 * t)}, span=1.0)
    for t in (0.1, 0.37, 1.0, 1.6):
        simulation.advance(t)
        assert simulation.result["x"].final == pytest.approx((1 - math.cos(100 * t)) / 100, abs=1e-13)


def test_rounding_of_a_function_is_no_reason_to_stop() -> None:
    result = run(lambda t: float(np.float32(math.sin(20 * t))))
    assert result["x"].final == pytest.approx((1 - math.cos(20)) / 20, rel=1e-6)


def test_coefficients_that_vanish_exactly_show_no_decay() -> None:
    c = [1.0, 0.1, 0.0, 0.0, 1e-9, 1e-9, *6 * [0.0]]
    # With an error of what is left out, the largest factor is the safety of 0.9.
    assert _growth(c, 1e-16, 1e-9) == pytest.approx(0.9)
    assert _growth(c, 1e-16, 1.0) == GROWTH


def test_noise_has_no_pieces() -> None:
    random = np.random.default_rng(2)
    with pytest.raises(ParameterError, match="no smooth piece") as caught:
        run(lambda t: random.uniform())
    assert "(times, values)" in str(caught.value)


@pytest.mark.parametrize(
    "u",
    [
        lambda t: 1 / (0.3 - t),
        lambda t: 0.0 if t <= 0.3 else 1 / (t - 0.3),
        lambda t: math.nan if t > 0.3 else 1.0,
    ],
)
def test_a_pole_inside_of_the_run_is_told(u: Function) -> None:
    with pytest.raises(NonFiniteError, match=r"not finite at t = 0\.(3|29999)"):
        run(lambda t: u(t) if t != 0.3 else u(math.nextafter(0.3, 1.0)))


def test_what_varies_too_quickly_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acausal.simulation.sources.pieces.MOST_SHORT", 1000)
    pieces = Pieces(lambda t: math.sin(1e8 * t), "input `u`", Stretch(1.0, 1.0, 0.125))
    t = 0.0
    with pytest.raises(ParameterError, match="varies too quickly"):
        while t < 1.0:
            t = pieces.next(t).end


def test_quick_repetition_takes_few_values() -> None:
    asked = 0

    def u(t: float) -> float:
        nonlocal asked
        asked += 1
        return math.sin(1e3 * t)

    run(u)
    # Two pieces per period at this accuracy would be 320; 13 + 12 values per piece.
    assert asked < 20_000


def test_tables_go_on_through_steps_that_end_at_their_points() -> None:
    simulation = compile_model(Integral()).start(inputs={"u": ([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])}, span=1.0)
    for t, integral in ((1.0, 0.5), (2.0, 1.0), (3.0, 1.0)):
        simulation.advance(t)
        assert simulation.result["x"].final == pytest.approx(integral, rel=1e-14)


def test_a_jump_at_the_end_is_part_of_the_run() -> None:
    result = run(lambda t: float(t >= 1.0))
    assert result["x"].final == pytest.approx(0.0, abs=1e-15)
    assert result["u"].final == 1.0


@pytest.mark.parametrize("unit", [1e-3, 1.0])
def test_the_derivatives_of_a_piece_are_off_by_no_more_than_it_says(unit: float) -> None:
    """Of sin(10 t), at both ends and inside of each piece."""
    pieces, t, ends = Pieces(lambda t: math.sin(10.0 * t), "a source", Stretch(1.0, 1.0, 0.125)), 0.0, 0
    while t < 1.0:
        piece = pieces.next(t)
        for at in (piece.start, 0.5 * (piece.start + piece.end), piece.end):
            exact = [unit**k * 10.0**k * math.sin(10.0 * at + 0.5 * math.pi * k) for k in range(4)]
            assert (np.abs(piece.states(at, unit)[:4] - exact) <= piece.errors(unit)[:4]).all()
        t, ends = piece.end, ends + 1
    assert ends >= 8


class Driven(Component):
    """A bar whose one end follows a slot at a prescribed angle, so that a momentum is prescribed too."""

    w: Parameter = Parameter(default=10.0, unit="rad/s")
    phi: Variable = Variable()
    x: Variable = Variable()
    y: Variable = Variable(start=0.5)
    vx: Variable = Variable()
    vy: Variable = Variable()
    f: Variable = Variable()

    def equations(self):
        angle = self.phi
        yield Eq(angle, asin(0.1 * sin(self.w * time)))
        yield Eq(cos(angle) * self.x + sin(angle) * self.y, 0.0)
        yield Eq(der(self.x), self.vx)
        yield Eq(der(self.y), self.vy)
        yield Eq(der(self.vx), self.f * cos(angle))
        yield Eq(der(self.vy), self.f * sin(angle) - self.y)


def test_a_source_that_is_fitted_anew_makes_no_jump() -> None:
    """Where one piece ends the next one differs from it by the errors of both, in slopes more than in values."""
    result = simulate(Driven(), 3.0, rtol=1e-8)
    assert len(result.events) == 1
    t = np.linspace(0.0, 3.0, 301)
    x, y, angle = result["x"].at(t), result["y"].at(t), np.arcsin(0.1 * np.sin(10.0 * t))
    assert np.abs(np.cos(angle) * x + np.sin(angle) * y).max() < 1e-12


class Still(Component):
    """A source that does not move though time stands in it, beside others that do."""

    x: Variable = Variable()
    y: Variable = Variable()
    z: Variable = Variable(start=0.0, fixed=True)
    rest: Discrete = Discrete(float, start=5.0)
    count: Discrete = Discrete(int)
    second: Parameter = Parameter(default=1.0, unit="s")

    def equations(self) -> Iterator[Statement]:
        t = time / self.second
        yield Eq(self.x, 100.0 + 0 * t)
        yield Eq(self.y, mod(self.x, 3.0))
        yield Eq(der(self.z), 0 * t * t + sin(3.0 * t))
        yield when(time > 1.0, assign(self.rest, 0 * pre(self.rest)), assign(self.count, 7))


@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
def test_a_slope_that_is_zero_as_written_takes_its_place(method: str) -> None:
    result = simulate(Still(), 2.0, method=method)
    assert [result[k].final for k in ("x", "y", "rest", "count")] == [100.0, 1.0, 0.0, 7]
    assert result["z"].final == pytest.approx((1.0 - math.cos(6.0)) / 3.0, rel=1e-5)


class Instants(Component):
    """What is true at an instant only, in a guard, in a choice of equations or in a condition of the start."""

    x: Variable = Variable()
    f: Variable = Variable()
    at: Structural[str] = Structural(str)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), self.f)
        if self.at == "choice":
            yield If(sample(period=0.1), [Eq(self.f, 1.0)], [Eq(self.f, 0.0)])
        elif self.at == "guard":
            due = if_else(sample(period=0.1), 1.0, -1.0)
            yield Modes(
                "state", Mode("a", Eq(self.f, 1.0), leave("b", due)), Mode("b", Eq(self.f, 0.0)), start="a"
            )
        else:
            yield Eq(self.f, 1.0)
            yield initially(Eq(self.x, pre(self.x) + 1.0))


@pytest.mark.parametrize("at", ["guard", "choice", "start"])
def test_what_is_true_at_an_instant_only_is_refused(at: str) -> None:
    with pytest.raises(StatementError, match="in an equation that holds at every time") as caught:
        simulate(Instants(at=at), 1.0)
    assert [place.file for place in caught.value.where] == [__file__]


class Products(Component):
    """A sum of products of sines and cosines."""

    x: Variable = Variable(start=0.0)
    w: Parameter = Parameter(default=3.0, unit="1/s")

    def equations(self) -> Iterator[Statement]:
        rates = [1.0 + k / 300 for k in range(300)]
        yield Eq(
            der(self.x), sum(sin(a * self.w * time) * cos(2 * self.w * time) for a in rates) / 300 - self.x
        )


def test_many_products_of_sines_are_one_source() -> None:
    """Each had states of its own: 5000 of them asked for 31 GiB."""
    program = compile_model(Products())
    assert len([t for known in program.reduced.knowns for t in known.terms if t.kind == "pieces"]) == 1
    exact = 0.0
    for k in range(300):
        for a in (3 * (1 + k / 300) + 6, 3 * (1 + k / 300) - 6):
            # x' = -x + sin(a t)
            exact += (math.sin(a * 0.5) - a * math.cos(a * 0.5) + a * math.exp(-0.5)) / (1 + a * a) / 600
    assert program.simulate(0.5)["x"].final == pytest.approx(exact, rel=1e-10)


class Cubed(Component):
    """A lag behind a power of a sine, which is followed by pieces."""

    w: Parameter = Parameter(default=5.0)
    v: Variable = Variable(fixed=True)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.v), sin(self.w * time) ** 3 - self.v)


@pytest.mark.parametrize("first", [1e-9, 1e-4, 0.1])
def test_a_run_that_goes_on_for_longer_has_pieces_that_suit_it(first: float) -> None:
    """They suited the first run, however short it was: one of a microsecond, continued for a second, took for ever."""
    program = compile_model(Cubed())
    whole, begun = program.simulate(2.0), program.simulate(first)
    rest = program.simulate(2.0, start=begun)
    assert rest.stats.segments <= whole.stats.segments + 2
    assert rest["v"].final == pytest.approx(whole["v"].final, rel=1e-12)
