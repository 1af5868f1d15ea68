"""Large models cost what is new in them: shared parts count once, and long sums and tables are linear."""

from __future__ import annotations

import cmath
import math
import signal
import sys
from collections.abc import Iterator
from itertools import pairwise
from time import process_time
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from acausal import (
    Component,
    Discrete,
    Eq,
    Input,
    Parameter,
    Result,
    Variable,
    compile_model,
    der,
    exp,
    if_else,
    initially,
    maximum,
    mod,
    pre,
    reinit,
    require,
    simulate,
    sin,
    sqrt,
    table,
    time,
    when,
)
from acausal.compilation import lowering, nonlinear_rows
from acausal.errors import AcausalError, BalanceError, ContradictionError
from acausal.modeling.expressions import walk
from acausal.reduction.exosystem import decompose
from acausal.simulation.nonlinear import tangents

SECONDS = 60
"""A path for each use of a part takes years; the slowest of these takes two seconds."""


@pytest.fixture(autouse=True)
def ends_in_time() -> Iterator[None]:
    def late(*_: Any) -> None:
        msg = f"not finished after {SECONDS} s"
        raise TimeoutError(msg)

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def same(z: Any, levels: int = 60) -> Any:
    """The value of z as a part that occurs 2**levels times."""
    for _ in range(levels):
        z = 0.5 * z + 0.5 * z
    return z


class Shared(Component):
    """dx/dt = ``rate``, which a subclass gives, or -1."""

    x: Variable = Variable(start=1.0)
    y: Discrete = Discrete(start=0.0)
    a: Parameter = Parameter(default=2.0)
    w: Parameter = Parameter(default=3.0, unit="1/s")

    def rate(self) -> Any:
        return -1

    def others(self) -> list[Any]:
        return []

    def equations(self) -> Iterator[Any]:
        yield Eq(der(self.x), self.rate())
        yield from self.others()


def model(rate: Any = None, others: Any = None) -> Shared:
    own = {"rate": rate, "others": others}
    return type("Case", (Shared,), {k: v for k, v in own.items() if v is not None})()


def kinks(z: Any) -> Any:
    for _ in range(60):
        z = 0.5 * maximum(z, z) + 0.5 * z
    return z


W = 3.0
FINAL = {
    "a state": (model(lambda s: -same(s.x)), math.exp(-1)),
    "a nonlinear state": (
        model(lambda s: -same(sin(s.x))),
        2 * math.atan(math.tan(0.5) * math.exp(-1)),
    ),
    "a factor": (model(lambda s: -same(s.a) * s.x), math.exp(-2)),
    "kinks": (model(lambda s: -kinks(s.x)), math.exp(-1)),
    "time": (model(lambda s: same(time)), 1.5),
    "a sinusoid": (model(lambda s: same(sin(s.w * time))), 1 + (1 - math.cos(W)) / W),
    "the angle of a sinusoid": (model(lambda s: sin(same(s.w * time))), 1 + (1 - math.cos(W)) / W),
    "an exponential": (model(lambda s: same(exp(-s.w * time))), 1 + (1 - math.exp(-W)) / W),
    "a function by pieces": (model(lambda s: same(sqrt(1 + s.w * time))), 1 + 14 / 9),
    "a choice in time": (
        model(lambda s: same(if_else(time < 0.5, sin(s.w * time), s.w * time))),
        1 + (1 - math.cos(W / 2)) / W + W / 2 * 0.75,
    ),
    "periodic time": (model(lambda s: same(mod(time, 0.25))), 1.125),
    "a slope": (
        type("Slope", (Shared,), {"equations": lambda s: iter([Eq(der(same(s.a * s.x)), -2 * s.x)])})(),
        math.exp(-1),
    ),
    "a condition": (
        model(None, lambda s: [when(same(s.x) < 0.5, reinit(s.x, pre(s.x) + 1))]),
        1.0,
    ),
    "a condition of time": (
        model(None, lambda s: [when(same(time) > 0.5, reinit(s.x, pre(s.x) + 1))]),
        1.0,
    ),
    "an action": (
        model(None, lambda s: [when(s.x < 0.5, reinit(s.x, same(pre(s.x) + s.w * time)))]),
        1.5,
    ),
    "an initial equation": (
        model(lambda s: -s.x, lambda s: [initially(Eq(same(s.x), 2.0))]),
        2 * math.exp(-1),
    ),
    "requirements": (
        model(
            None,
            lambda s: [
                require(same(s.a) > 1, "a"),
                require(same(s.x) > -1, "x"),
                require(same(time) > -1, "t"),
            ],
        ),
        0.0,
    ),
}


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("case", FINAL)
def test_a_part_shared_on_sixty_levels_costs_once(case: str) -> None:
    built, final = FINAL[case]
    program = compile_model(built)
    assert program.simulate(1.0)["x"].final == pytest.approx(final, abs=1e-6)
    program.residual()
    program.structure()


def test_a_binding_shared_on_sixty_levels_costs_once() -> None:
    class Whole(Component):
        k: Parameter = Parameter(default=2.0)

        def build(self) -> None:
            self.part = Shared(a=same(self.k))

    assert simulate(Whole(), 1.0)["part.a"].final == pytest.approx(2.0)


@pytest.mark.parametrize("error", [BalanceError, ContradictionError])
def test_an_error_shows_shared_parts_shortened(error: type[AcausalError]) -> None:
    class Wrong(Component):
        x: Variable = Variable(start=1.0)
        y: Variable = Variable()

        def equations(self) -> Iterator[Eq]:
            yield Eq(same(self.x + self.y), 1)
            if error is ContradictionError:
                yield Eq(same(self.y + self.x), same(2 + self.y - self.y))

    with pytest.raises(error) as info:
        simulate(Wrong(), 1.0)
    assert len(str(info.value)) < 2000


def test_a_shared_part_is_one_term_with_the_sum_of_its_factors() -> None:
    part = sin(3.0 * time)
    (term,) = decompose(2 * part - (part + part) / 4 + if_else(time < 1, part, 0 * part))
    assert term.kind == "sinusoid"
    assert sum(1 for n in walk(term.expr) if n is part) == 1


# -- long sums and tables --------------------------------------------------------------------------------------------


def in_phase(count: int) -> Any:
    """A sum of sines of one frequency and many phases."""
    return model(lambda self: -self.x + sum(sin(self.w * time + 0.001 * k) for k in range(count)) / count)


def test_five_thousand_sines_of_one_frequency_are_one_source() -> None:
    program = compile_model(in_phase(5000))
    states = [t.states for known in program.reduced.knowns for t in known.terms]
    assert sorted(states) == [1, 2]
    # x' = -x + Im(F exp(iwt)), with the phasor F.
    F = sum(cmath.exp(0.001j * k) for k in range(5000)) / 5000
    X = F / (1.0 + 3.0j)
    final = (X * cmath.exp(6.0j)).imag + (1.0 - X.imag) * math.exp(-2.0)
    assert program.simulate(2.0)["x"].final == pytest.approx(final, rel=1e-11)


@pytest.mark.parametrize("count", [99, 300])
def test_sines_of_many_frequencies_are_followed_together(count: int) -> None:
    def rate(self: Shared) -> Any:
        return -self.x + sum(sin(k * self.w * time) / k for k in range(1, count + 1))

    def response(k: int, t: float) -> float:
        a = 3.0 * k
        return (math.sin(a * t) - a * math.cos(a * t) + a * math.exp(-t)) / (1.0 + a * a) / k

    result = simulate(model(rate), 0.5)
    final = math.exp(-0.5) + sum(response(k, 0.5) for k in range(1, count + 1))
    assert result["x"].final == pytest.approx(final, rel=1e-11)
    assert result.stats.paths == {"exact": 1}


def test_a_sum_may_begin_with_nothing() -> None:
    result = simulate(model(lambda self: sum(k * self.w * time * self.w for k in range(3))), 1.0)
    assert result["x"].final == pytest.approx(1.0 + 3.0 * 9.0 / 2.0, rel=1e-12)


def calls_of(action: Any) -> int:
    before, calls = sys.getprofile(), 0

    def counted(*_: Any) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(counted)
    try:
        action()
    finally:
        sys.setprofile(before)
    return calls


def followed(xs: Any, ys: Any) -> Shared:
    return model(lambda self: table(self.w * time, xs, ys))


def test_a_table_over_time_has_as_many_relations_and_as_much_work_at_a_breakpoint_with_any_number_of_points() -> (
    None
):
    def points(count: int) -> tuple[int, int]:
        xs = [0.003 * k for k in range(count)]
        program = compile_model(followed(xs, np.cos(xs)))
        assert len(program.names.timed_relations) == 2
        program.simulate(0.02)
        return len(program.reduced.knowns), calls_of(lambda: program.simulate(0.02))

    assert points(200000) == points(30)


def test_a_nonlinear_equation_is_lowered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its values, derivatives, gradients and bounds of rounding follow from one expression: 5000 sines took 3.7 s, now 1.4 s."""
    lowered = []
    lower = nonlinear_rows.lower
    monkeypatch.setattr(nonlinear_rows, "lower", lambda *args: lowered.append(args) or lower(*args))
    result = simulate(model(lambda s: -same(sin(s.x))), 1.0)
    assert result["x"].final == pytest.approx(FINAL["a nonlinear state"][1], rel=1e-6)
    assert len(lowered) == 1


class Held(Component):
    """A state that a table holds at what it is given."""

    x: Variable = Variable(start=1.0)
    up: Input = Input(float)

    def equations(self) -> Iterator[Any]:
        yield Eq(der(self.x), self.up - table(self.x, [-1.0, 0.0, 0.5, 2.0], [-3.0, 0.0, 0.5, 3.0]))


class Chain(Component):
    """Tables in a row: each gives the next one the difference to the one before."""

    count = 400

    def build(self) -> None:
        self.c = [Held() for _ in range(self.count)]

    def equations(self) -> Iterator[Any]:
        for k in range(self.count):
            yield Eq(self.c[k].up, (self.c[k - 1].x if k else 0.8) - self.c[k].x)


@pytest.mark.sweep
def test_parts_with_a_table_share_its_data_and_the_flow_of_their_pieces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One function holds the data of all parts; another piece changes factors, but not how known functions go on."""
    tables, flows = [], []
    monkeypatch.setattr(
        lowering, "_table", lambda node, make=lowering._table: tables.append(node) or make(node)
    )
    make = tangents.flow_of_sources
    monkeypatch.setattr(tangents, "flow_of_sources", lambda S: flows.append(S) or make(S))
    result = simulate(Chain(), 0.6)

    def slope(_: float, x: np.ndarray) -> np.ndarray:
        return (
            np.concatenate([[0.8], x[:-1]]) - x - np.interp(x, [-1.0, 0.0, 0.5, 2.0], [-3.0, 0.0, 0.5, 3.0])
        )

    exact = solve_ivp(slope, (0.0, 0.6), np.ones(400), rtol=1e-10, atol=1e-12).y[:, -1]
    np.testing.assert_allclose([result[f"c[{k}].x"].final for k in range(400)], exact, atol=2e-6)
    assert len(result.events) > 2
    assert len(tables) == len({id(node) for node in tables})
    assert len(flows) == 1


def test_a_table_of_200000_points_is_compiled_and_entered_at_once() -> None:
    xs = np.linspace(0.0, 3.0, 200001)
    before = process_time()
    result = simulate(followed(xs, np.sin(xs)), 0.5001, t_start=0.5)
    assert process_time() - before < 2.0  # a quarter of a second where nothing else runs
    exact = 1.0 + (math.cos(1.5) - math.cos(W * 0.5001)) / W
    assert result["x"].final == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("method", ["exact", "integrated"])
def test_a_table_of_200000_points_over_a_state_is_compiled_and_entered_at_once(method: str) -> None:
    xs = np.linspace(-1.0, 1.0, 200001)
    before = process_time()
    made = model(
        lambda s: -table(s.x, xs, xs) * (1.0 if method == "exact" else s.x),
        lambda s: [initially(Eq(s.x, 0.5))],
    )
    result = simulate(made, 1e-4)
    assert process_time() - before < 4.0  # eight tenths of a second where nothing else runs
    exact = 0.5 * math.exp(-1e-4) if method == "exact" else 0.5 / (1.0 + 0.5e-4)
    assert result["x"].final == pytest.approx(exact, rel=1e-12)
    assert len(result.events) > 2


def interpolated(xs: Any, ys: Any, u: Any) -> Any:
    """The values of a table on the right of its steps."""
    xs, ys = np.array(xs, float), np.array(ys, float)
    k = np.searchsorted(xs, u, side="right")
    a, b = np.maximum(k - 1, 0), np.minimum(k, len(xs) - 1)
    width = np.where(xs[b] > xs[a], xs[b] - xs[a], 1.0)
    return ys[a] + (ys[b] - ys[a]) * np.clip((u - xs[a]) / width, 0.0, 1.0) * (xs[b] > xs[a])


COURSES = {
    "ramps": ([0.0, 0.5, 1.5, 4.0], [1.0, -1.0, 3.0, 2.0]),
    "steps": ([0.5, 0.5, 1.0, 1.0, 2.0, 2.0], [0.0, 4.0, 4.0, -1.0, 0.0, 7.0]),
    "a step at the begin": ([0.0, 0.0, 2.0], [5.0, 1.0, 2.0]),
    "one point": ([1.0], [2.5]),
    "far from the begin": ([1e6, 1e6 + 1.0], [1.0, 2.0]),
    "beyond both ends": ([-2.0, -1.0], [1.0, 2.0]),
    "steep and flat": ([0.0, 1e-4, 1.0, 2.0], [0.0, 1e4, -1e-4, 1e-4]),
}
ARGUMENTS = {
    "time": (lambda self: self.w * time / 3, lambda t: t),
    "backwards": (lambda self: 2 - self.w * time / 3, lambda t: 2.0 - t),
    "to and fro": (lambda self: 2 * sin(self.w * time), lambda t: 2.0 * np.sin(3.0 * t)),
    "squared": (lambda self: self.w * time * (self.w * time) / 9, lambda t: t * t),
    "by jumps": (lambda self: self.w * mod(time, 0.7), lambda t: 3.0 * np.mod(t, 0.7)),
}
WAYS = [*((a, "exact") for a in ARGUMENTS), ("to and fro", "integrated"), ("by jumps", "integrated")]


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize(("argument", "method"), WAYS)
@pytest.mark.parametrize("course", COURSES)
def test_a_table_over_time_is_what_it_says_between_and_at_its_points(
    course: str, argument: str, method: str
) -> None:
    (xs, ys), (u, value) = COURSES[course], ARGUMENTS[argument]
    result = simulate(
        model(lambda self: table(u(self), xs, ys) + (-self.x if method == "exact" else -(self.x**3))), 2.3
    )
    t = np.linspace(0.0, 2.3, 1001)[1:]
    margin = np.abs(value(t)[:, None] - np.array(xs)).min(axis=1) > 1e-9
    t = t[margin]
    x = result["x"].at(t)
    got = result["der(x)"].at(t) + (x if method == "exact" else x**3)
    size = 1e-11 * (1.0 + np.abs(ys).max())
    assert np.abs(got - interpolated(xs, ys, value(t))).max() < (size if method == "exact" else 1e4 * size)
    assert result.check().ok


def test_equal_tables_share_their_piece_and_different_ones_do_not() -> None:
    xs, ys = [0.0, 1.0, 2.0], [0.0, 1.0, 0.0]
    made = model(
        lambda s: (
            table(time * s.w, xs, ys) + 2 * table(time * s.w, xs, ys) + table(time * s.w, xs, [1.0, 2.0, 2.0])
        )
    )
    assert len(compile_model(made).names.timed_relations) == 4
    t = np.linspace(0.1, 1.0, 77)
    expected = 3 * np.interp(3 * t, xs, ys) + np.interp(3 * t, xs, [1.0, 2.0, 2.0])
    assert simulate(made, 1.0)["der(x)"].at(t) == pytest.approx(expected, abs=1e-12)


def test_a_table_over_time_decides_events_and_goes_through_files(tmp_path: Any) -> None:
    xs, ys = [0.0, 1.0, 3.0], [0.0, 2.0, 0.0]
    made = model(lambda s: 1.0, lambda s: [when(table(s.w * time, xs, ys) > 1.0, reinit(s.x, pre(s.x) + 10))])
    program = compile_model(made)
    result = program.simulate(2.0)
    assert min(abs(e.t - 0.5 / 3.0) for e in result.events) < 1e-16
    result.save(tmp_path / "run.npz")
    again = Result.load(tmp_path / "run.npz")
    assert again["x"].final == result["x"].final == pytest.approx(13.0, rel=1e-14)
    assert again.check().ok


@pytest.mark.parametrize("phase", [0.0, -2.0 * math.pi, 2.0 * math.pi, -1.0])
def test_a_sawtooth_by_mod_of_time_wraps_at_its_events(phase: float) -> None:
    turn = 2.0 * math.pi
    saw = model(lambda self: mod(turn * self.w * time / 3.0 + phase, turn))
    result = simulate(saw, 3.5, parameters={"w": 21.0})
    wraps = [w for w in ((k - phase / turn) / 7.0 for k in range(-5, 40)) if 1e-9 < w <= 3.5]
    times = np.array([s.t for s in result.steps])
    assert max(float(np.abs(times - w).min()) for w in wraps) < 1e-13
    middles = [0.5 * (a + b) for a, b in pairwise([0.0, *wraps, 3.5])]
    exact = [math.fmod(14.0 * math.pi * t + phase + 2.0 * turn, turn) for t in middles]
    assert result["der(x)"].at(middles) == pytest.approx(exact, abs=1e-11)

    def area(s: float) -> float:
        """Integral of mod(s, turn) from 0."""
        n = math.floor(s / turn + 1e-12)
        return 0.5 * n * turn**2 + 0.5 * (s - n * turn) ** 2

    final = 1.0 + (area(14.0 * math.pi * 3.5 + phase) - area(phase)) / (14.0 * math.pi)
    assert result["x"].final == pytest.approx(final, rel=1e-12)
