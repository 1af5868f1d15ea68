"""Nonlinear models that have no unique solution, and options of integration that are refused."""

import math

import numpy as np
import pytest

from acausal import (
    Component,
    ConvergenceError,
    Eq,
    NotAffineError,
    ParameterError,
    SingularModelError,
    Variable,
    der,
    simulate,
)

from .refusals import Scalar, Statements, failed, refused

# -- what has no unique solution -------------------------------------------------------------------------------------


def test_unknown_without_an_equation() -> None:
    class Model(Scalar):
        y: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(self.x**2, 4)  # <-
            yield Eq(self.x**3, 8)

    text = r"(?s)left to determine `y`\n.*Eq\(x\*\*2, 4\) at Model .*Eq\(x\*\*3, 8\) at Model .* determine `x` more than once"
    with refused(
        SingularModelError,
        text,
        hint="prescribe already",
        path="Model",
        at=test_unknown_without_an_equation,
    ):
        simulate(Model(x=1.0), 1.0)


def test_constraint_that_is_stated_twice() -> None:
    class Model(Scalar):
        y: Variable = Variable(start=0.8)
        u: Variable = Variable()
        v: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x), self.u)
            yield Eq(der(self.y), self.v)
            yield Eq(self.x**2 + self.y**2, 1)  # <-
            yield Eq((self.x**2 + self.y**2) ** 2, 1)

    text = (
        r"`Eq\(x\*\*2 \+ y\*\*2, 1\)` of `Model`; `Eq\(\(x\*\*2 \+ y\*\*2\)\*\*2, 1\)` .*`y` = 0.8, `x` = 0.6"
    )
    with refused(
        SingularModelError,
        text,
        hint="stated twice",
        path="Model",
        at=test_constraint_that_is_stated_twice,
    ):
        simulate(Model(x=0.6), 1.0)


def test_algebraic_equation_that_is_stated_twice() -> None:
    class Model(Scalar):
        y: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(self.x**2 + self.y**2, 1)
            yield Eq(2 * self.x**2 + 2 * self.y**2, 2)

    error = failed(SingularModelError, Model(x=1.0))
    assert "`Eq(x**2 + y**2, 1)`" in error.what and "`Eq(2*x**2 + 2*y**2, 2)`" in error.what


class Pendulum(Component):
    """A point on a circle of radius 1."""

    x: Variable = Variable()
    y: Variable = Variable()
    u: Variable = Variable()
    v: Variable = Variable()
    force: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.x), self.u)
        yield Eq(der(self.y), self.v)
        yield Eq(der(self.u), -self.x * self.force)
        yield Eq(der(self.v), -self.y * self.force - 9.81)
        yield Eq(self.x**2 + self.y**2, 1)


def test_start_where_a_constraint_has_no_slope() -> None:
    """At the center of the circle, and on its axis, the constraint does not say where to go."""
    with pytest.warns(UserWarning, match="which of several points is meant; taken: `x` = "):
        result = simulate(Pendulum(), 0.1)
    assert result["x"].at(0.0) ** 2 + result["y"].at(0.0) ** 2 == pytest.approx(1.0, rel=1e-14)
    with pytest.warns(UserWarning, match="which of several points is meant; taken: `x` = 0.5"):
        result = simulate(Pendulum(x=0.5), 0.1)
    assert abs(result["y"].at(0.0)) == pytest.approx(0.75**0.5, rel=1e-14)


def test_constraint_that_needs_too_many_differentiations() -> None:
    class Model(Scalar):
        v: Variable = Variable()
        a: Variable = Variable()
        jerk: Variable = Variable()
        p: Variable = Variable(start=0.5)

        def equations(self) -> Statements:
            yield Eq(der(self.x), self.v)
            yield Eq(der(self.v), self.a)
            yield Eq(der(self.a), self.jerk)
            yield Eq(der(self.p), -self.p)
            yield Eq(self.x + self.x**3, self.p)  # <-

    with refused(
        SingularModelError,
        r"`Eq\(x \+ x\*\*3, p\)` of `Model` would have to be differentiated more than twice",
        hint="lower derivative",
        path="Model",
        at=test_constraint_that_needs_too_many_differentiations,
    ):
        simulate(Model(), 1.0)


class Circles(Scalar):
    """The point where two circles of radius 1 meet; one moves away and touches the other at t = 1."""

    y: Variable = Variable(start=0.8)
    c: Variable = Variable(start=1.0)
    u: Variable = Variable()
    v: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.c), 1)
        yield Eq(der(self.x), self.u)
        yield Eq(der(self.y), self.v)
        yield Eq(self.x**2 + self.y**2, 1)
        yield Eq((self.x - self.c) ** 2 + self.y**2, 1)


def test_constraints_that_become_dependent() -> None:
    error = failed(ConvergenceError, Circles(x=0.5))
    assert error.result.t_end == pytest.approx(1.0, rel=1e-6)
    t = np.array([0.0, 0.5, 0.9])
    assert error.result["y"].at(t) == pytest.approx(np.sqrt(1.0 - (1.0 + t) ** 2 / 4.0), rel=1e-6)


# -- options ---------------------------------------------------------------------------------------------------------


class Cubic(Scalar):
    def equations(self) -> Statements:
        yield Eq(der(self.x), -(self.x**3))  # <-


def test_the_exact_path_refuses_a_nonlinear_model() -> None:
    with refused(
        NotAffineError,
        r"`Eq\(der\(x\), -x\*\*3\)` is not affine in the unknowns",
        hint='method="auto"',
        path="Cubic",
        at=Cubic.equations,
    ):
        simulate(Cubic(x=1.0), 1.0, method="exact")


@pytest.mark.parametrize("name", ["rtol", "atol"])
@pytest.mark.parametrize("value", [0, 0.0, -1e-6, math.nan, "small", (1e-6,)])
def test_tolerances_that_are_refused(name: str, value: object) -> None:
    with refused(ParameterError, f"`{name}` must be ", hint=""):
        simulate(Cubic(x=1.0), 1.0, **{name: value})


@pytest.mark.parametrize("method", ["rk45", "", "Exact", None, 3])
def test_methods_that_are_refused(method: object) -> None:
    with refused(ParameterError, "'auto', 'exact', 'explicit', 'implicit'", hint=""):
        simulate(Cubic(x=1.0), 1.0, method=method)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["auto", "explicit", "implicit"])
def test_methods_and_tolerances_that_are_taken(method: str) -> None:
    for rtol, atol in ((1e-4, None), (1e-8, None), (1e-8, 1e-12)):
        result = simulate(Cubic(x=1.0), 2.0, method=method, rtol=rtol, atol=atol)
        assert result["x"].final == pytest.approx(1.0 / math.sqrt(5.0), rel=10.0 * rtol)
        assert {mode.path for mode in result.modes} == {"general"}
