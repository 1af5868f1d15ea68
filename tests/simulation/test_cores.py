"""What is evaluated again when a discrete or a relation in a factor changes."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from acausal import (
    AcausalError,
    Component,
    Discrete,
    Eq,
    Impact,
    Input,
    Parameter,
    ParameterError,
    Statement,
    StatementError,
    Structural,
    Variable,
    assign,
    compile_model,
    der,
    exp,
    if_else,
    pre,
    sample,
    simulate,
    sin,
    table,
    time,
    when,
)
from acausal.reduction import core as numbers


class Cell(Component):
    """A decay, the rate of which is a function of parameters."""

    x: Variable = Variable(start=1.0, fixed=True)
    rate: Parameter = Parameter(default=2.0)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), -(self.rate * self.rate + 1.0) * self.x)


class Sampled(Component):
    """A gain that is another one with every sample, times the value of a cell."""

    y: Variable = Variable()
    gain: Discrete = Discrete(float, start=1.0)

    def build(self) -> None:
        self.cells = [Cell(rate=1.0 + 0.1 * k) for k in range(4)]

    def equations(self) -> Iterator[Statement]:
        yield when(sample(period=0.1, start=0.1), assign(self.gain, 1.01 * pre(self.gain)))
        yield Eq(self.y, self.gain * self.cells[0].x)


def test_a_gain_of_an_output_makes_no_new_closed_form() -> None:
    program = compile_model(Sampled())
    program.simulate(0.05)
    before = program.cores.modes.bytes
    # Analyses of the equations are new, the motion is not.
    assert program.simulate(1.05).stats.mode_analyses == 10
    assert program.cores.modes.bytes - before < 10 * 1000


class Coupled(Component):
    """Cells whose neighbours act on each other by a gain, and a source that it divides."""

    gain: Discrete = Discrete(float, start=1.0)

    def build(self) -> None:
        self.cells = [Cell(rate=1.0 + 0.1 * k) for k in range(4)]
        self.sums = [Sum() for _ in range(3)]

    def equations(self) -> Iterator[Statement]:
        yield when(time > 0.5, assign(self.gain, 3.0))
        for k, part in enumerate(self.sums):
            left, right = self.cells[k].x, self.cells[k + 1].x
            yield Eq(part.u, 2.0 * right - self.gain * left + time / self.gain)


class Sum(Component):
    """A value, and its part beside another one."""

    a: Variable = Variable()
    b: Variable = Variable()
    u: Input = Input()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.a, self.u)
        yield Eq(self.b, self.a - self.u)


@pytest.mark.parametrize("sparse", [False, True])
def test_changed_factors_give_the_matrices_that_they_would_give_alone(sparse: bool) -> None:
    program = compile_model(Coupled())
    run = program.prepare(1.0)
    P, R, kept = run.values.P, run.values.R, {}
    for gain in (1.0, 3.0, 0.0625):
        D = np.full_like(run.values.D, gain)
        found = []
        for known in (kept, None):
            values = numbers.Values(P, D, R, kept=known)
            exosystem = numbers.build_exosystem(program.reduced, values, (), 1.0)
            matrices = numbers.core_matrices(program.reduced, values, exosystem, sparse)
            rows = (matrices.forms, matrices.base)
            found.append([getattr(r, name) for r in rows for name in "EAB"])
        for one, other in zip(*found, strict=True):
            assert abs(one - other).max() == 0.0
    assert (abs(matrices.base.A) == 0.0625).sum() == 3


class Tuned(Component):
    """A sinusoid and an exponential of which an event changes the rates, and their integral."""

    x: Variable = Variable(start=0.0, fixed=True)
    u: Variable = Variable()
    w: Discrete = Discrete(float, start=1.0)
    decay: Discrete = Discrete(float, start=1.0)

    def equations(self) -> Iterator[Statement]:
        yield when(time >= 1.0, assign(self.w, 5.0), assign(self.decay, -2.0))
        yield Eq(self.u, sin(self.w * time) + exp(self.decay * time))
        yield Eq(der(self.x), self.u)


@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
def test_rates_of_sources_may_change(method: str) -> None:
    result = compile_model(Tuned()).simulate(2.0, method=method)
    turning = (1.0 - math.cos(1.0)) + (math.cos(5.0) - math.cos(10.0)) / 5.0
    growing = (math.e - 1.0) + (math.exp(-2.0) - math.exp(-4.0)) / 2.0
    assert result["u"].at(1.5) == pytest.approx(math.sin(7.5) + math.exp(-3.0), rel=1e-12)
    assert result["x"].final == pytest.approx(turning + growing, rel=1e-12 if method == "exact" else 1e-5)


class Recharged(Component):
    """A storage with a curve of ``n`` points on a straight line, of which it passes those between zero and its rest."""

    x: Variable = Variable(start=0.0, fixed=True)
    n: Structural[int] = Structural(int)

    def equations(self) -> Iterator[Statement]:
        # Few points where the storage moves, the others beyond.
        xs = [0.0, 0.2, 0.4, 0.6, *(2.0 + k for k in range(self.n))]
        yield Eq(der(self.x), 1.0 - table(self.x, xs, [v + 1e-3 * (k % 2) for k, v in enumerate(xs)]))


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The expressions and, of these, the operations that were evaluated."""
    found: list[str] = []
    fold = numbers.fold

    def counted(expr: Any, leaf: Any, apply: Any, *rest: Any, **more: Any) -> Any:
        def told(node: Any, args: list[Any]) -> Any:
            found.append(node.op)
            return apply(node, args)

        return fold(expr, leaf, told, *rest, **more)

    monkeypatch.setattr(numbers, "fold", counted)
    return found


def test_a_changed_gain_evaluates_no_other_factor(evaluated: list[str]) -> None:
    result = compile_model(Sampled()).simulate(1.05)
    assert result["y"].final == pytest.approx(1.01**10 * math.exp(-2.0 * 1.05), rel=1e-12)
    # The sum in the rate of a cell: once for all cells, whatever the number of samples.
    assert evaluated.count("+") == 1


def test_events_of_a_table_evaluate_its_piece_alone(evaluated: list[str]) -> None:
    work = []
    for n in (50, 400):
        program = compile_model(Recharged(n=n))
        program.simulate(1e-3)
        evaluated.clear()
        result = program.simulate(2.0)
        assert len(result.events) == 4
        work.append(len(evaluated))
    assert work[1] <= work[0] + 100


class Counted(Component):
    """A rate that counts which of two levels ``x`` is above, as choices of which one side is a truth, the other a number."""

    x: Variable = Variable(start=1.0, fixed=True)
    y: Variable = Variable(start=0.0, fixed=True)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), -1.0)
        above = [if_else(self.x > 0.1, self.x > level, 3.0) for level in (0.5, 0.2)]
        yield Eq(der(self.y), (above[0] + above[1]) * self.x)


def test_truths_are_counted_on_the_chosen_side_too() -> None:
    # Of the integral of x from 0.85 to 1 twice.
    assert compile_model(Counted()).simulate(0.15)["y"].final == pytest.approx(1.0 - 0.85**2, rel=1e-12)


class Softened(Component):
    """A ball on a floor that is soft from one second on."""

    h: Variable = Variable(start=1.0, fixed=True)
    v: Variable = Variable(start=0.0, fixed=True)
    force: Variable = Variable()
    e: Discrete = Discrete(float, start=0.9)
    resting: Discrete = Discrete(float, start=0.0)
    by: Structural[str] = Structural(str)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.h), self.v)
        yield Eq(der(self.v), -9.81 + self.force)
        if self.by == "rest_speed":
            yield when(time > 1.0, assign(self.resting, 10.0))
        else:
            yield when(time > 1.0, assign(self.e, 0.1))
        restitution = if_else(time > 1.0, 0.1, 0.9) if self.by == "time" else self.e
        yield Impact(self.h, self.force, restitution=restitution, rest_speed=self.resting)


@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
@pytest.mark.parametrize("by", ["discrete", "time", "rest_speed"])
def test_numbers_of_an_impact_may_change(by: str, method: str) -> None:
    result = compile_model(Softened(by=by)).simulate(1.3, method=method)
    first, second = math.sqrt(2.0 * 9.81), 0.9 * math.sqrt(2.0 * 9.81)
    begin = first / 9.81 + 2.0 * second / 9.81
    expected = 0.0 if by == "rest_speed" else 0.1 * second - 9.81 * (1.3 - begin)
    assert result["v"].final == pytest.approx(expected, rel=1e-9, abs=1e-12)


class Contact(Component):
    """A ball with a contact whose numbers are made of it by ``of``."""

    h: Variable = Variable(start=1.0)
    v: Variable = Variable(start=0.0)
    force: Variable = Variable()
    later: Discrete = Discrete(float, start=0.5)
    of: Structural[Any] = Structural(object)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.h), self.v)
        yield Eq(der(self.v), self.force - 9.81)
        yield when(time > 0.1, assign(self.later, -0.5))
        yield Impact(self.h, self.force, **self.of(self))


@pytest.mark.parametrize(
    ("of", "error", "text"),
    [
        (lambda m: {"restitution": 0.5 + m.v}, StatementError, "`restitution` of the Impact `contact` is"),
        (lambda m: {"restitution": 1.0 - 0.1 * m.later * time}, StatementError, "which moves between events"),
        (lambda m: {"rest_speed": 0.1 * m.h}, StatementError, "`rest_speed` of the Impact `contact` is"),
        (lambda m: {"restitution": pre(m.v)}, StatementError, "is the value before an instant"),
        (lambda m: {"restitution": -0.5}, ParameterError, "`restitution` of the Impact `contact` is -0.5"),
        (lambda m: {"restitution": m.later}, ParameterError, "it must be a finite number, not negative"),
        (
            lambda m: {"rest_speed": 0.0 * m.later - 1.0},
            ParameterError,
            "`rest_speed` of the Impact `contact` is -1",
        ),
    ],
)
def test_numbers_of_impacts(
    of: Callable[[Any], dict[str, Any]], error: type[AcausalError], text: str
) -> None:
    with pytest.raises(error, match=text) as caught:
        simulate(Contact(of=of), 1.0)
    assert [place.file for place in caught.value.where] == [__file__]
