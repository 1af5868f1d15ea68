"""Starts that are sought within the bounds of variables."""

import math
from collections.abc import Iterator

import pytest

from acausal import (
    AcausalError,
    Component,
    Eq,
    Parameter,
    Statement,
    Variable,
    der,
    log,
    simulate,
    sin,
    sqrt,
)


class Angle(Component):
    """``sin(x) = 1/2``: from next to the crest a full step leads to a solution far away."""

    x: Variable = Variable(start=1.5)
    s: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(sin(self.x), 0.5)
        yield Eq(der(self.s), self.x)


class FirstQuadrant(Angle):
    """The same with bounds."""

    x: Variable = Variable(start=1.5, min=0.0, max=2.0)


class SecondQuadrant(Angle):
    """Bounds around the other solution."""

    x: Variable = Variable(start=1.5, min=1.45, max=4.0)


def test_bounds_choose_the_solution() -> None:
    assert simulate(FirstQuadrant(), 1.0)["x"].at(0.0) == pytest.approx(math.pi / 6, rel=1e-12)
    assert simulate(SecondQuadrant(), 1.0)["x"].at(0.0) == pytest.approx(5 * math.pi / 6, rel=1e-12)


class Square(Component):
    """``x**2 + 2 x = 3`` has the roots 1 and -3; the start value is next to the one out of bounds."""

    x: Variable = Variable(start=-2.5, min=0.0)
    s: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.x**2 + 2 * self.x, 3)
        yield Eq(der(self.s), self.x)


def test_guess_out_of_bounds() -> None:
    assert simulate(Square(), 1.0)["x"].at(0.0) == pytest.approx(1.0, rel=1e-12)


class Domain(Component):
    """A law that has values within the bounds only."""

    target: Parameter = Parameter(default=-3.0)
    x: Variable = Variable(min=1e-6, max=1.0)
    s: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(log(self.x) - sqrt(1 - self.x), self.target)
        yield Eq(der(self.s), self.x)


@pytest.mark.parametrize("x", [1e-4, 0.1, 0.9])
def test_domain(x: float) -> None:
    target = math.log(x) - math.sqrt(1.0 - x)
    assert simulate(Domain(target=target), 1.0)["x"].at(0.0) == pytest.approx(x, rel=1e-9)


class Bead(Component):
    """A bead on a circle: the bound of ``y`` says which half is meant, although its start says the other one."""

    x: Variable = Variable(start=0.6, fixed=True)
    y: Variable = Variable(start=-0.5, max=10.0, min=0.1)
    vx: Variable = Variable()
    vy: Variable = Variable()
    push: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), self.vx)
        yield Eq(der(self.y), self.vy)
        yield Eq(der(self.vx), self.push * self.x)
        yield Eq(der(self.vy), self.push * self.y - 9.81)
        yield Eq(self.x**2 + self.y**2, 1)


def test_states_under_constraints() -> None:
    assert simulate(Bead(), 0.01)["y"].at(0.0) == pytest.approx(0.8, rel=1e-12)


class Outside(Component):
    """The only solution is out of bounds."""

    x: Variable = Variable(start=0.5, min=0.0)
    s: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.x**3, -8)
        yield Eq(der(self.s), self.x)


def test_solution_out_of_bounds_fails_as_a_requirement() -> None:
    with pytest.raises(AcausalError, match="`x` must be at least 0"):
        simulate(Outside(), 1.0)
