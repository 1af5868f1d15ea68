"""What the language and results offer, on nonlinear models: elements, events, jumps, continuation, reading."""

from math import exp as e_to
from math import log as ln
from math import pi, sqrt
from pathlib import Path

import numpy as np
import pytest

from acausal import (
    Complementarity,
    Component,
    Discrete,
    Eq,
    If,
    Input,
    Mode,
    Modes,
    Parameter,
    Result,
    Variable,
    assign,
    compile_model,
    der,
    exp,
    if_else,
    leave,
    pre,
    reinit,
    sample,
    simulate,
    sin,
    time,
    when,
)
from acausal import sqrt as sqrt_of

from .refusals import Scalar, Statements

TIGHT = 1e-10
"""Tolerance of runs that are compared to 1e-8."""


def times(result: Result) -> list[float]:
    return [event.t for event in result.events if event.kind == "state"]


# -- elements with nonlinear branches and guards ---------------------------------------------------------------------


class Branches(Scalar):
    """x' = -u with u = x**2 above 1/2, u + u**3 = x + x**3 (so u = x) below."""

    u: Variable = Variable(start=0.5)

    def equations(self) -> Statements:
        yield Eq(der(self.x), -self.u)
        large, small = Eq(self.u, self.x**2), Eq(self.u + self.u**3, self.x + self.x**3)
        yield If(self.x > 0.5, [large], [small], name="large")


@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_if_with_nonlinear_branches(method: str) -> None:
    """x = 1 / (1 + t) until t = 1, then exp(1 - t) / 2."""
    result = simulate(Branches(x=1.0), 4.0, method=method, rtol=TIGHT)
    assert times(result) == pytest.approx([1.0], rel=1e-8)
    wanted = [1 / 1.5, 0.5, 0.5 * e_to(-1.0), 0.5 * e_to(-3.0)]
    assert result["x"].at([0.5, 1.0, 2.0, 4.0]) == pytest.approx(wanted, rel=1e-8)
    assert result["large"].at([0.5, 2.0]) == pytest.approx([1.0, 0.0])


class Turning(Scalar):
    """Up as tan(t) to x = 1, down with speed 2 to x = 0, and again."""

    y: Variable = Variable(start=0.5)

    def equations(self) -> Statements:
        yield Eq(der(self.x), self.y)
        yield Modes(
            "state",
            Mode("up", Eq(self.y, 1 + self.x**2), leave("down", self.x**3 - 1)),
            Mode("down", Eq(self.y**3, -8), leave("up", 1 - exp(self.x))),
            start="up",
        )


def test_modes_with_nonlinear_equations_and_guards() -> None:
    result = simulate(Turning(), 3.0, rtol=TIGHT)
    rise, fall = pi / 4, 0.5
    turns = [rise, rise + fall, 2 * rise + fall, 2 * rise + 2 * fall]
    assert times(result) == pytest.approx(turns, rel=1e-8)
    assert result["x"].at([0.5, 1.0]) == pytest.approx([np.tan(0.5), 1.0 - 2.0 * (1.0 - rise)], rel=1e-8)
    assert {mode.branches["state"]: mode.path for mode in result.modes} == {
        "up": "general",
        "down": "general",
    }


class Rectifier(Component):
    """u = cos(t) on v + 2 i, with an element that blocks while v + v**3 < 0, and conducts at v = 0."""

    u: Variable = Variable(start=1.0)
    w: Variable = Variable()
    v: Variable = Variable()
    i: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.u), self.w)
        yield Eq(der(self.w), -self.u)
        yield Eq(self.u, self.v + 2 * self.i)
        yield Complementarity(-(self.v + self.v**3), self.i, name="on")


def test_complementarity_of_a_nonlinear_quantity() -> None:
    result = simulate(Rectifier(), 2 * pi, rtol=TIGHT)
    assert times(result) == pytest.approx([pi / 2, 3 * pi / 2], rel=1e-9)
    u = np.cos(t := np.array([0.0, 1.0, 2.0, 4.0, 5.0]))
    assert result["i"].at(t) == pytest.approx(np.maximum(u, 0.0) / 2.0, abs=1e-8)
    assert result["v"].at(t) == pytest.approx(np.minimum(u, 0.0), abs=1e-8)


class Ramped(Component):
    """a**3 + a = b**3 + b - 2 s with a, b >= 0 and a b = 0: a where s < 0, b where s > 0."""

    s: Variable = Variable(start=-1.0)
    a: Variable = Variable()
    b: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.s), 1)
        yield Eq(self.a**3 + self.a, self.b + self.b**3 - 2 * self.s)
        yield Complementarity(self.a, self.b, name="on")


def test_complementarity_beside_a_nonlinear_equation() -> None:
    result = simulate(Ramped(), 2.0)
    assert times(result) == pytest.approx([1.0], rel=1e-12)
    (half,) = (r.real for r in np.roots([1.0, 0.0, 1.0, -1.0]) if abs(r.imag) < 1e-12)
    assert result["a"].at([0.0, 0.5, 1.5, 2.0]) == pytest.approx([1.0, half, 0.0, 0.0], abs=1e-9)
    assert result["b"].at([0.0, 0.5, 1.5, 2.0]) == pytest.approx([0.0, 0.0, half, 1.0], abs=1e-9)


@pytest.mark.parametrize("start", [-1.0, 1.0])
def test_a_choice_begins_with_the_branch_of_the_start_values(start: float) -> None:
    """The other branch has no value there."""

    class Model(Scalar):
        def equations(self) -> Statements:
            yield Eq(der(self.x), if_else(self.x < 0, sqrt_of(-self.x), -sqrt_of(self.x)))

    result = simulate(Model(x=start), 1.0, rtol=TIGHT)
    assert result["x"].at([0.5, 1.0]) == pytest.approx([start * 0.5625, start * 0.25], rel=1e-8)


# -- events ----------------------------------------------------------------------------------------------------------


class Decay(Scalar):
    """x' = -k x**3 from 1: x = 1 / sqrt(1 + 2 k t); area is the integral of x**2, ln(1 + 2 k t) / (2 k)."""

    k: Parameter = Parameter(default=1.0)
    mirror: Variable = Variable()
    power: Variable = Variable()
    area: Variable = Variable()
    mixed: Variable = Variable()
    n: Discrete = Discrete(int)
    at: Discrete = Discrete(float)
    late: Discrete = Discrete(bool)
    held: Discrete = Discrete(float)

    def equations(self) -> Statements:
        yield Eq(der(self.x), -self.k * self.x**3)
        yield Eq(self.mirror, -self.x)
        yield Eq(self.power, exp(self.x))
        yield Eq(der(self.area), self.x**2)
        yield Eq(self.mixed, self.area * self.x + self.power)
        yield when(self.x**2 < 0.5, assign(self.n, pre(self.n) + 1), assign(self.at, time))
        yield when(exp(self.x) < 1.5, assign(self.late, True))
        yield when(sample(period=0.4), assign(self.held, self.x))


DECAY = Decay(x=1.0)


def decayed(t: np.ndarray | float, k: float = 1.0) -> np.ndarray:
    return 1.0 / np.sqrt(1.0 + 2.0 * k * np.asarray(t))


@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_conditions_on_nonlinear_expressions(method: str) -> None:
    result = simulate(DECAY, 4.0, method=method, rtol=TIGHT)
    assert times(result) == pytest.approx([0.5, (1.0 / ln(1.5) ** 2 - 1.0) / 2.0], rel=1e-8)
    assert result["n"].final == 1 and result["at"].final == pytest.approx(0.5, rel=1e-8)
    assert result["held"].at([0.25, 1.75, 3.9]) == pytest.approx(decayed(np.array([0.0, 1.6, 3.6])), rel=1e-8)


def test_conditions_on_nonlinear_expressions_of_an_affine_model() -> None:
    class Model(Scalar):
        n: Discrete = Discrete(int)
        m: Discrete = Discrete(int)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1)
            yield when(self.x**2 > 2, assign(self.n, pre(self.n) + 1))
            yield when(sin(self.x) < 0.5, assign(self.m, pre(self.m) + 1))

    result = simulate(Model(x=0.75), 8.0)
    assert times(result) == pytest.approx([sqrt(2.0) - 0.75, 5 * pi / 6 - 0.75, 13 * pi / 6 - 0.75], rel=1e-9)
    assert (result["n"].final, result["m"].final) == (1, 1)


def test_reinit_of_a_nonlinear_state() -> None:
    """From 1 to 1/2 takes 1.5 s."""

    class Model(Scalar):
        def equations(self) -> Statements:
            yield Eq(der(self.x), -(self.x**3))
            yield when(self.x < 0.5, reinit(self.x, 2 * pre(self.x)))

    result = simulate(Model(x=1.0), 4.0, rtol=TIGHT)
    assert times(result) == pytest.approx([1.5, 3.0], rel=1e-8)
    ((name, before, after),) = result.events[1].jumps
    assert (name, before, after) == ("x", pytest.approx(0.5, rel=1e-8), pytest.approx(1.0, rel=1e-8))
    assert result["x"].final == pytest.approx(float(decayed(1.0)), rel=1e-8)


def test_reinit_moves_what_nonlinear_constraints_couple() -> None:
    """Two stores joined by y = x**2: x + y is conserved but for the impulse that sets x."""

    class Model(Scalar):
        y: Variable = Variable(start=1.0)
        flow: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x), -self.flow)
            yield Eq(der(self.y), self.flow - self.y)
            yield Eq(self.y, self.x**2)
            yield when(time >= 0.5, reinit(self.x, 3.0))

    result = simulate(Model(x=1.0), 1.0, rtol=1e-9)
    assert result["x"].at(0.5) == pytest.approx(3.0, rel=1e-12)
    assert result["y"].at(0.5) == pytest.approx(9.0, rel=1e-9)
    t = np.array([0.1, 0.4, 0.6, 0.9])
    assert result["y"].at(t) == pytest.approx(result["x"].at(t) ** 2, rel=1e-8)


# -- reading ---------------------------------------------------------------------------------------------------------


def test_reading_eliminated_variables_observers_integrals_and_derivatives() -> None:
    result = simulate(DECAY, 4.0, rtol=TIGHT)
    t = np.array([0.0, 0.3, 0.5, 1.0, 3.7])
    x = decayed(t)
    area = 0.5 * np.log(1.0 + 2.0 * t)
    wanted = {
        "x": x, "mirror": -x, "power": np.exp(x), "area": area, "mixed": area * x + np.exp(x),
        "der(x)": -(x**3), "der(mirror)": x**3, "der(area)": x**2,
    }  # fmt: skip
    for name, values in wanted.items():
        assert result[name].at(t) == pytest.approx(values, rel=1e-8, abs=1e-9), name
    assert result[DECAY.power].at(1.0) == pytest.approx(e_to(1.0 / sqrt(3.0)), rel=1e-8)
    assert result["x"].mean(0.0, 1.0) == pytest.approx(sqrt(3.0) - 1.0, rel=1e-8)
    assert result["x"].rms(0.0, 1.0) == pytest.approx(sqrt(0.5 * ln(3.0)), rel=1e-8)
    assert {mode.path for mode in result.modes} == {"general"} == set(result.stats.paths)


def test_saving_and_loading(tmp_path: Path) -> None:
    result = simulate(DECAY, 2.0)
    result.save(tmp_path / "decay.npz")
    loaded = Result.load(tmp_path / "decay.npz")
    assert loaded.status == result.status
    for name in ("x", "mirror", "power", "area", "mixed", "n", "at"):
        assert np.array_equal(loaded[name].values, result[name].values), name
    assert loaded["x"].at(1.0) == pytest.approx(1.0 / sqrt(3.0), rel=1e-3)


def test_points_of_a_grid() -> None:
    result = simulate(DECAY, 2.0, grid=0.25, rtol=TIGHT)
    t = np.arange(0.0, 2.01, 0.25)
    assert np.isin(t, result.t).all()
    assert result["x"].at(t) == pytest.approx(decayed(t), rel=1e-8)


# -- continuation, steps, parameters ---------------------------------------------------------------------------------


def test_a_continued_run_goes_on_where_the_first_ended() -> None:
    program = compile_model(DECAY)
    first = program.simulate(1.0, rtol=TIGHT)
    second = program.simulate(3.0, start=first, rtol=TIGHT)
    assert second["x"].at([1.0, 2.0, 3.0]) == pytest.approx(decayed(np.array([1.0, 2.0, 3.0])), rel=1e-8)
    assert second["area"].final == pytest.approx(0.5 * ln(7.0), rel=1e-8)
    assert second["n"].final == 1 and second["late"].final
    changed = program.simulate(3.0, start=first, parameters={"k": 4.0}, rtol=TIGHT)
    assert changed["x"].final == pytest.approx(1.0 / sqrt(3.0 + 16.0), rel=1e-8)


def test_parameters_of_a_run() -> None:
    program = compile_model(DECAY)
    for k in (2.0, 0.5, 2.0):
        result = program.simulate(2.0, parameters={"k": k}, rtol=TIGHT)
        assert result["x"].final == pytest.approx(float(decayed(2.0, k)), rel=1e-8)
    assert program.counts.presolves == 1


def test_equal_runs_give_equal_bits() -> None:
    program = compile_model(DECAY)
    first = program.simulate(2.0)["x"]
    program.simulate(1.0, parameters={"k": 3.0})
    again = program.simulate(2.0)["x"]
    assert np.array_equal(first.t, again.t) and np.array_equal(first.values, again.values)


def test_snapshots_of_a_stepped_run() -> None:
    simulation = compile_model(DECAY).start()
    simulation.advance(0.75)
    snapshot = simulation.snapshot()
    simulation.advance(2.0)
    ahead = simulation.result["x"].final
    simulation.restore(snapshot)
    assert simulation.t == 0.75
    simulation.advance(2.0)
    assert simulation.result["x"].final == ahead
    assert ahead == pytest.approx(1.0 / sqrt(5.0), rel=1e-5)
    assert simulation.result["n"].final == 1


def test_inputs_that_change_between_steps() -> None:
    class Model(Scalar):
        u: Input = Input(float)

        def equations(self) -> Statements:
            yield Eq(der(self.x), -self.u * self.x**3)

    simulation = compile_model(Model(x=1.0)).start(inputs={"u": 1.0})
    simulation.advance(1.0)
    simulation.advance(2.0, {"u": 2.0})
    assert simulation.result["x"].at([1.0, 2.0]) == pytest.approx([1 / sqrt(3.0), 1 / sqrt(7.0)], rel=1e-5)


def test_a_condition_that_ends_a_run() -> None:
    result = simulate(DECAY, 4.0, until=DECAY.power < 2, rtol=TIGHT)
    assert result.t_end == pytest.approx((1.0 / ln(2.0) ** 2 - 1.0) / 2.0, rel=1e-8)
    assert result.status.startswith("until")
