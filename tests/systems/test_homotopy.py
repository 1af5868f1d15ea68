"""Starts that are found from simplified equations."""

import math
import pickle
from collections.abc import Iterator

import numpy as np
import pytest

from acausal import (
    Component,
    Eq,
    ExpressionError,
    InitializationError,
    Parameter,
    Statement,
    Structural,
    UnitError,
    Variable,
    compile_model,
    der,
    homotopy,
    maximum,
    simulate,
    time,
)
from acausal.modeling.expressions import Expr


class Fading(Component):
    """A balance at ``x = a`` whose slope has the other sign at a distance above one: Newton's method is driven away."""

    helped: Structural = Structural(bool, default=True)
    a: Parameter = Parameter(default=20.0, unit="m")
    width: Parameter = Parameter(default=1.0, unit="m")
    x: Variable = Variable(unit="m")

    def balance(self) -> Expr:
        """Zero at ``a`` alone."""
        d = (self.x - self.a) / self.width
        actual = d / (1 + d**2)
        return homotopy(actual, maximum(d, 10 * d)) if self.helped else actual


class Follower(Fading):
    """A lag behind the balance: ``s' = x - s``."""

    s: Variable = Variable(unit="m")
    T: Parameter = Parameter(default=1.0, unit="s")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.balance(), 0)
        yield Eq(self.T * der(self.s), self.x - self.s)


class Relaxing(Fading):
    """The balance attracts a state."""

    speed: Parameter = Parameter(default=1.0, unit="m/s")

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), -self.speed * self.balance())


def test_algebraic_equation() -> None:
    with pytest.raises(InitializationError, match="were not solved"):
        simulate(Follower(helped=False), 1.0)
    result = simulate(Follower(), 1.0)
    assert result["x"].at(0.0) == pytest.approx(20.0, rel=1e-12)
    assert result["s"].final == pytest.approx(20.0 * (1.0 - math.exp(-1.0)), rel=1e-6)


def test_steady_state() -> None:
    """States that are determined by the equations of the start follow the way too."""
    with pytest.raises(InitializationError, match="steady state"):
        simulate(Relaxing(helped=False), 1.0, initial="steady state")
    assert simulate(Relaxing(), 1.0, initial="steady state").initial["x"] == pytest.approx(20.0, rel=1e-12)


@pytest.mark.parametrize("model", [Follower, Relaxing])
def test_same_run_where_it_is_not_needed(model: type[Fading]) -> None:
    helped, plain = (simulate(model(helped=h, x=19.8), 1.0) for h in (True, False))
    assert np.array_equal(helped.t, plain.t)
    assert np.array_equal(helped["x"].values, plain["x"].values)
    assert not len(helped.events) > 1  # the corner of the simplified part makes no event


def test_program_pickles() -> None:
    program = pickle.loads(pickle.dumps(compile_model(Follower())))
    assert program.simulate(1.0)["x"].at(0.0) == pytest.approx(20.0, rel=1e-12)
    assert program.simulate(1.0, parameters={"a": -30.0})["x"].at(0.0) == pytest.approx(-30.0, rel=1e-12)


def test_residual_is_that_of_the_actual_part() -> None:
    arguments = [0.0, [1.0], [2.0], [3.0], [], [20.0, 1.0, 1.0], [], []]
    helped, plain = (compile_model(Follower(helped=h)).residual() for h in (True, False))
    assert helped.p.names == plain.p.names
    assert np.array_equal(np.array(helped.F(*arguments)[0]), np.array(plain.F(*arguments)[0]))


class OnlySimplified(Component):
    """The simplified part alone reads ``y``; the actual one leads away from zero to no solution."""

    x: Variable = Variable()
    y: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(homotopy((self.x - 20) / (1 + (self.x - 20) ** 2), self.x - self.y), 0)
        yield Eq(self.y, 15 + time)


def test_variable_of_the_simplified_part_alone() -> None:
    result = simulate(OnlySimplified(), 1.0)
    assert result["x"].final == pytest.approx(20.0, rel=1e-12)
    assert result["y"].final == pytest.approx(16.0, rel=1e-12)


class Affine(Component):
    """With an affine actual part the model stays on the exact path."""

    x: Variable = Variable(start=1.0)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), homotopy(-self.x, -(self.x**3)))


def test_affine_actual_part() -> None:
    assert simulate(Affine(), 1.0)["x"].final == pytest.approx(math.exp(-1.0), rel=1e-12)


def test_text_and_units() -> None:
    model = Follower()
    assert str(homotopy(model.x, model.x - model.s)) == "homotopy(x, x - s)"

    class Mixed(Follower):
        def equations(self) -> Iterator[Statement]:
            yield from super().equations()
            yield Eq(self.x, homotopy(self.x, self.T))

    with pytest.raises(UnitError, match="actual and simplified part"):
        simulate(Mixed(), 1.0)


def test_refused_simplified_parts() -> None:
    model = Follower()
    for simplified in (time, der(model.s), homotopy(model.x, model.a)):
        with pytest.raises(ExpressionError, match="simplified part"):
            homotopy(model.x, simplified)
