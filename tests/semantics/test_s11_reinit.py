"""S11: reinit takes an external impulse of the size needed; the rest obeys conservation."""

import math

import pytest

from acausal import (
    Component,
    DryFriction,
    Eq,
    SimulationError,
    StatementError,
    Variable,
    der,
    reinit,
    simulate,
    time,
    when,
)

from .observing import Statements


class Oscillator(Component):
    x: Variable = Variable(start=1.0)
    v: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.x), self.v)
        yield Eq(der(self.v), -self.x)
        yield when(time >= 1.0, reinit(self.v, 0.0))


def test_the_variable_has_the_value_and_other_states_keep_theirs() -> None:
    result = simulate(Oscillator(), 2.0)
    assert result["v"].at(1.0) == 0.0
    assert result["x"].at(1.0) == pytest.approx(math.cos(1.0), rel=1e-14)
    assert result["x"].final == pytest.approx(math.cos(1.0) ** 2, rel=1e-12)


class Coupled(Component):
    """Masses 1 and 2 in a rigid joint (v = w), written in either order; a third one is free."""

    v: Variable = Variable(start=1.0)
    w: Variable = Variable(start=1.0)
    f: Variable = Variable()
    free: Variable = Variable(start=4.0)

    def equations(self) -> Statements:
        yield Eq(der(self.v), self.f)
        yield Eq(2 * der(self.w), -self.f)
        yield Eq(self.v, self.w)
        yield Eq(der(self.free), 0)
        yield when(time >= 1.0, reinit(self.v, 5.0))
        yield when(time >= 2.0, reinit(self.w, 7.0))


def test_what_is_rigidly_coupled_moves_along_whichever_is_the_state() -> None:
    result = simulate(Coupled(), 3.0)
    for name in ("v", "w"):
        assert result[name].at([0.5, 1.0, 2.0]) == pytest.approx([1.0, 5.0, 7.0], rel=1e-12)
    assert result["free"].final == pytest.approx(4.0)


def test_a_new_value_is_an_expression_of_the_values_before() -> None:
    class Bounce(Component):
        h: Variable = Variable(start=1.0)
        v: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.h), self.v)
            yield Eq(der(self.v), -10)
            yield when(self.h < 0, reinit(self.v, -0.5 * self.v))

    result = simulate(Bounce(), 0.8)
    t = math.sqrt(0.2)
    assert result["v"].at(t + 1e-9) == pytest.approx(0.5 * math.sqrt(20.0), rel=1e-6)


def test_an_integral_that_nothing_depends_on() -> None:
    class Integrator(Component):
        q: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.q), 2)
            yield when(time >= 1.0, reinit(self.q, 0.5))

    assert simulate(Integrator(), 2.0)["q"].at([1.0, 2.0]) == pytest.approx([0.5, 2.5], rel=1e-14)


def test_a_variable_that_constraints_determine_is_an_error_that_names_them() -> None:
    class Held(Component):
        x: Variable = Variable()
        y: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(self.x, 2.0)
            yield Eq(der(self.x), self.y)
            yield when(time >= 1.0, reinit(self.x, 5.0))

    with pytest.raises(SimulationError, match=r"`x` = 5 cannot hold(.|\n)*demand `x` = 2"):
        simulate(Held(), 2.0)


def test_a_body_that_sticks_slides_after_a_reinit() -> None:
    class Sliding(Component):
        v: Variable = Variable()
        f: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.v), -self.f)
            yield DryFriction(self.v, self.f, sliding=1.0, breakaway=1.0)
            yield when(time >= 1.0, reinit(self.v, 0.5))

    result = simulate(Sliding(), 2.0)
    assert result["v"].at([0.9, 1.0, 1.25, 1.6]) == pytest.approx([0.0, 0.5, 0.25, 0.0], abs=1e-12)


def test_what_is_not_differentiated_has_no_memory() -> None:
    class Algebraic(Component):
        x: Variable = Variable()
        y: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x), -self.x)
            yield Eq(self.y, self.x + 1)
            yield when(time >= 1.0, reinit(self.y, 5.0))

    with pytest.raises(StatementError, match="reinit of `y`"):
        simulate(Algebraic(), 2.0)


class NegativeIntegral(Component):
    """An integral that nothing reads, under its own name and under one with the other sign."""

    x = Variable(start=0.0)
    y = Variable()

    def equations(self) -> Statements:
        yield Eq(self.y, -self.x)
        yield Eq(der(self.x), 1.0)
        yield when(time > 0.5, reinit(self.y, 3.0))


def test_an_integral_is_set_by_its_negative_name() -> None:
    result = simulate(NegativeIntegral(), 1.0)
    assert result["y"].at(0.75) == pytest.approx(2.75)
    assert result["x"].at(0.75) == pytest.approx(-2.75)
