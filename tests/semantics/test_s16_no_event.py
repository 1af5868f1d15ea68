"""S16: within no_event relations are evaluated as they come; without it they are frozen, and roots end at their domain."""

import inspect
from math import exp, log, pi

import numpy as np
import pytest

from acausal import (
    ChatteringError,
    Component,
    Discrete,
    Eq,
    ExpressionError,
    If,
    NonFiniteError,
    Parameter,
    Structural,
    Variable,
    absolute,
    der,
    if_else,
    maximum,
    minimum,
    no_event,
    sign,
    simulate,
    sqrt,
    table,
    time,
    when,
)

from .observing import Statements

METHODS = ("implicit", "explicit")


class Filling(Component):
    """x' = 1 - sqrt(abs(x)) from 0: with x = s**2, -2 (s + log(1 - s)) = t."""

    x: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.x), 1 - sqrt(no_event(absolute(self.x))))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("rtol", "bound"), [(1e-6, 1e-5), (1e-9, 1e-8)])
def test_a_start_where_the_slope_is_infinite(method: str, rtol: float, bound: float) -> None:
    from scipy.optimize import brentq

    t = np.array([1e-3, 0.5, 1.0, 3.0])
    ends = np.array(
        [brentq(lambda s, end=end: -2.0 * (s + log(1.0 - s)) - end, 0.0, 1.0 - 1e-12) for end in t]
    )
    result = simulate(Filling(), 3.0, method=method, rtol=rtol)
    assert result["x"].at(t) == pytest.approx(ends**2, rel=bound)
    assert len(result.events) == 1


class Tank(Component):
    """Level x beside a tide s = sin(t), joined by an orifice: x' = -sign(dp) sqrt(abs(dp)) with dp = x - s."""

    guarded: Structural[bool] = Structural(bool, default=True)
    s: Variable = Variable()
    c: Variable = Variable(start=1.0)
    x: Variable = Variable(start=1.0)

    def equations(self) -> Statements:
        yield Eq(der(self.s), self.c)
        yield Eq(der(self.c), -self.s)
        dp = self.x - self.s
        flow = sign(dp) * sqrt(absolute(dp))
        yield Eq(der(self.x), -(no_event(flow) if self.guarded else flow))


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("start", [-1.0, 0.0, 1.0])
def test_root_of_a_pressure_difference_that_changes_its_sign(start: float, method: str) -> None:
    from scipy.integrate import solve_ivp

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        dp = x - np.sin(t)
        return -np.sign(dp) * np.sqrt(np.abs(dp))

    t = np.array([0.5, 1.0, 3.0, 6.0, 8.0])
    wanted = solve_ivp(rate, (0.0, 8.0), [start], t_eval=t, rtol=1e-9, atol=1e-11, max_step=0.02).y[0]
    result = simulate(Tank(x=start), 8.0, method=method, rtol=1e-8)
    assert result["x"].at(t) == pytest.approx(wanted, abs=1e-6)
    assert [e.kind for e in result.events] == ["start"]


def line_of(component: type[Component], text: str) -> int:
    """Line in this file of a text in the equations of a component."""
    lines, first = inspect.getsourcelines(component.equations)
    return first + next(k for k, line in enumerate(lines) if text in line)


class Basin(Component):
    """A tank as part of a model."""

    def build(self) -> None:
        self.tank = Tank(guarded=False)


def test_without_it_an_evaluation_beyond_the_domain_is_caught_and_named() -> None:
    """The relation keeps its value until the crossing is located, and the root has no value on the way there."""
    from scipy.integrate import solve_ivp

    with pytest.raises(NonFiniteError) as info:
        simulate(Basin(), 8.0)
    error = info.value

    def gap(t: float, x: np.ndarray) -> float:
        return x[0] - np.sin(t)

    gap.terminal = True  # type: ignore[attr-defined]
    reached = solve_ivp(
        lambda t, x: -np.sqrt(np.abs(x - np.sin(t))), (0.0, 2.0), [1.0], events=gap, rtol=1e-9, atol=1e-11, max_step=0.02
    )  # fmt: skip
    (crossing,), ((level,),) = reached.t_events[0], reached.y_events[0]
    assert error.result.t_end == pytest.approx(crossing, rel=1e-5)
    assert f"t = {error.result.t_end:.9g}" in str(error)
    assert "Eq(der(x), -sign(x - s)*sqrt(abs(x - s)))` of `tank`" in str(error)
    x, s = (error.result[f"tank.{name}"].final for name in ("x", "s"))
    assert [x, s] == pytest.approx([level, level], rel=1e-5)
    assert f"last values `tank.x` = {x:.6g}, `tank.s` = {s:.6g}" in str(error)
    (place,) = error.where
    assert (place.path, place.line) == ("tank", line_of(Tank, "Eq(der(self.x)"))
    assert "no_event" in error.hint
    assert error.result["tank.s"].at(0.5) == pytest.approx(np.sin(0.5), abs=1e-6)


class Emptying(Component):
    """x' = -sqrt(x) from 1: x = (1 - t / 2)**2, zero from t = 2 on."""

    guarded: Structural[bool] = Structural(bool, default=True)
    x: Variable = Variable(start=1.0)

    def equations(self) -> Statements:
        yield Eq(der(self.x), -sqrt(no_event(maximum(self.x, 0)) if self.guarded else self.x))


@pytest.mark.parametrize("method", METHODS)
def test_a_vessel_that_runs_empty(method: str) -> None:
    result = simulate(Emptying(), 3.0, method=method)
    assert result["x"].at([0.5, 1.0, 1.5, 2.0, 3.0]) == pytest.approx(
        [0.5625, 0.25, 0.0625, 0.0, 0.0], abs=1e-6
    )
    with pytest.raises(NonFiniteError, match=r"`Eq\(der\(x\), -sqrt\(x\)\)`.*`x` = ") as info:
        simulate(Emptying(guarded=False), 3.0, method=method)
    assert info.value.result.t_end == pytest.approx(2.0, rel=1e-4)
    assert info.value.result["x"].at([0.5, 1.0, 1.5]) == pytest.approx([0.5625, 0.25, 0.0625], abs=1e-6)


# -- relations as they come, on both paths ---------------------------------------------------------------------------


class Wave(Component):
    """u = -cos(t)."""

    u: Variable = Variable(start=-1.0)
    v: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.u), self.v)
        yield Eq(der(self.v), -self.u)


class Observed(Wave):
    """Values with kinks and jumps that nothing dynamic depends on."""

    low: Variable = Variable()
    jump: Variable = Variable()
    bend: Variable = Variable()
    events: Structural[bool] = Structural(bool, default=False)

    def equations(self) -> Statements:
        yield from super().equations()

        def plain(x: object) -> object:
            return x

        kept = plain if self.events else no_event
        yield Eq(self.low, kept(minimum(self.u, 0.5)))
        yield Eq(self.jump, kept(if_else(self.u > 0, 2, 1)))
        yield Eq(self.bend, kept(table(self.u, (-0.5, 0.25, 0.5), (0.0, 3.0, -1.0))))


def test_on_the_exact_path_values_are_the_same_and_no_event_happens() -> None:
    quiet, loud = simulate(Observed(), pi), simulate(Observed(events=True), pi)
    assert {m.path for m in quiet.modes} == {"exact"}
    assert len(quiet.events) == 1 and len(loud.events) == 5
    t = np.linspace(0.01, 3.1, 53)
    u = -np.cos(t)
    for result in (quiet, loud):
        assert result["low"].at(t) == pytest.approx(np.minimum(u, 0.5), abs=1e-14)
        assert result["jump"].at(t) == pytest.approx(np.where(u > 0.0, 2.0, 1.0))
        assert result["bend"].at(t) == pytest.approx(
            np.interp(u, [-0.5, 0.25, 0.5], [0.0, 3.0, -1.0]), abs=1e-13
        )


def test_integral_of_a_value_with_a_kink_on_the_exact_path() -> None:
    class Model(Wave):
        area: Variable = Variable()

        def equations(self) -> Statements:
            yield from super().equations()
            yield Eq(der(self.area), no_event(absolute(self.u)))

    result = simulate(Model(), pi)
    assert {m.path for m in result.modes} == {"exact"}
    assert result["area"].final == pytest.approx(2.0, rel=1e-9)
    assert len(result.events) == 1


def test_a_factor_that_jumps_without_an_event_is_integrated_across() -> None:
    """x' = -k x with k = 1 before t = pi / 2, 2 after; the steps find the jump by their errors."""

    class Model(Wave):
        x: Variable = Variable(start=1.0)

        def equations(self) -> Statements:
            yield from super().equations()
            yield Eq(der(self.x), -no_event(if_else(self.u > 0, 2, 1)) * self.x)

    result = simulate(Model(), 3.0, rtol=1e-8)
    assert {m.path for m in result.modes} == {"general"}
    assert len(result.events) == 1
    assert result["x"].at([1.0, 3.0]) == pytest.approx(
        [exp(-1.0), exp(-pi / 2 - 2 * (3.0 - pi / 2))], rel=1e-6
    )


def test_a_source_that_jumps_without_an_event() -> None:
    class Model(Component):
        x: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x), no_event(if_else(time > 0.3, 2, 1)))

    assert simulate(Model(), 1.0)["x"].at([0.3, 1.0]) == pytest.approx([0.3, 1.7], rel=1e-12)


def test_relations_of_discrete_variables_change_at_instants_anyway() -> None:
    class Model(Wave):
        on: Discrete = Discrete(bool)
        x: Variable = Variable()

        def equations(self) -> Statements:
            yield from super().equations()
            yield Eq(self.on, self.u > 0)
            yield Eq(der(self.x), no_event(if_else(self.on, 1, 0)))

    assert simulate(Model(), 3.0)["x"].final == pytest.approx(3.0 - pi / 2, rel=1e-13)


class Resting(Component):
    """A value and its kink at the same place for ever."""

    k: Parameter = Parameter(default=1.0)
    x: Variable = Variable()
    y: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.x), -self.k * sign(self.x) * sqrt(no_event(absolute(self.x))))
        yield Eq(self.y, no_event(if_else(self.x > 0, 1, -1)))


@pytest.mark.parametrize("method", METHODS)
def test_rest_at_the_infinite_slope(method: str) -> None:
    result = simulate(Resting(), 1.0, method=method)
    assert result["x"].at([0.0, 0.5, 1.0]).tolist() == [0.0, 0.0, 0.0]
    assert result["y"].final == -1.0


def test_it_takes_a_number_not_a_condition() -> None:
    x = Wave().u
    for statement in (lambda c: when(c), lambda c: If(c, [], [])):
        with pytest.raises(ExpressionError, match="condition is needed"):
            statement(no_event(x > 0))


class Relays(Component):
    """States that a relay drives to a line, each to that of another one, or a speed by which a place creeps to zero."""

    kind: Structural[str] = Structural(str)
    x: Variable = Variable(start=0.5)
    y: Variable = Variable(start=0.7)

    def equations(self) -> Statements:
        if self.kind == "relay":
            yield Eq(der(self.x), no_event(if_else(self.x > 0.0, -1.0, 1.0)))
            yield Eq(der(self.y), -self.y)
        elif self.kind == "two":
            yield Eq(der(self.x), -no_event(sign(self.x)))
            yield Eq(der(self.y), -no_event(sign(self.y - self.x)))
        else:
            yield Eq(der(self.x), self.y)
            yield Eq(der(self.y), -5.0 * no_event(sign(self.y + self.x)))


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize(
    ("kind", "begin", "text"), [("relay", 0.5, "x > 0"), ("two", 0.5, "x > 0"), ("creep", 0.2, "y + x")]
)
def test_a_motion_that_slides_is_told(kind: str, begin: float, text: str, method: str, rtol: float) -> None:
    with pytest.raises(ChatteringError, match="slides along .* within no_event") as caught:
        simulate(Relays(kind=kind), 2.0, method=method, rtol=rtol)
    assert text in str(caught.value)
    assert line_of(Relays, "no_event") <= caught.value.where[0].line <= line_of(Relays, "-5.0 * no_event")
    assert caught.value.result.t[-1] == pytest.approx(begin, abs=0.15)


class AtRest(Component):
    """What comes to rest where comparisons within no_event turn: nothing jumps there."""

    x: Variable = Variable(start=1.0)
    v: Variable = Variable(start=0.0)
    q: Variable = Variable(start=0.3)

    def equations(self) -> Statements:
        yield Eq(der(self.x), self.v)
        yield Eq(der(self.v), -no_event(if_else(self.x > 0.0, 4.0 * self.x, self.x)) - 0.3 * self.v)
        yield Eq(der(self.q), -no_event(if_else(self.q > 0.0, 9.0, 2.0)) * self.q - self.q**3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
def test_rest_where_nothing_jumps_is_no_sliding(method: str, rtol: float) -> None:
    result = simulate(AtRest(), 300.0, method=method, rtol=rtol)
    assert result.t[-1] == 300.0
    assert [result[k].final for k in "xvq"] == pytest.approx([0.0] * 3, abs=10.0 * rtol)
