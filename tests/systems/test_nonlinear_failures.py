"""Nonlinear models that cannot be solved: kind of error, text, place, last values, remedy, and the result until then."""

import math

import numpy as np
import pytest

from acausal import (
    Component,
    ConvergenceError,
    Discrete,
    Eq,
    If,
    InitializationError,
    Input,
    NonFiniteError,
    Parameter,
    ParameterError,
    RequirementError,
    Variable,
    assign,
    cos,
    der,
    exp,
    log,
    pre,
    reinit,
    require,
    sample,
    simulate,
    sin,
    sqrt,
    time,
    when,
)

from .refusals import Scalar, Statements, failed, nothing_computed, refused

# -- at the start ----------------------------------------------------------------------------------------------------


def test_no_solution_at_the_start() -> None:
    class Part(Scalar):
        def equations(self) -> Statements:
            yield Eq(cos(self.x), 2)  # <-

    class Model(Component):
        def build(self) -> None:
            self.part = Part(x=1.0)

    text = r"start at t = 0: the nonlinear equations `Eq\(cos\(x\), 2\)` of `part` .*last values `part.x` = "
    with refused(
        InitializationError, text, hint="start values", path="part", at=test_no_solution_at_the_start
    ):
        simulate(Model(), 1.0)


def test_equation_without_solution_for_any_value() -> None:
    class Model(Scalar):
        y: Variable = Variable(start=1.0)

        def equations(self) -> Statements:
            yield Eq(der(self.x), self.y)
            yield Eq(exp(self.y), -1 - self.x)

    error = failed(InitializationError, Model())
    assert "`Eq(exp(y), -1 - x)` of `Model`" in error.what and "last values `x` = 0, `y` = -" in error.what
    assert "equations without solution" in error.hint and nothing_computed(error)


@pytest.mark.parametrize(
    ("start", "equation", "text"),
    [
        (-1.0, lambda x, y: Eq(y, log(x)), "`Eq(y, log(x))` of `Model` cannot be evaluated; last values `x` = -1"),
        (-2.0, lambda x, y: Eq(y, sqrt(x)), "`Eq(y, sqrt(x))` of `Model` cannot be evaluated; last values `x` = -2"),
        (-3.0, lambda x, y: Eq(y, x**1.5), "`Eq(y, x**1.5)` of `Model` cannot be evaluated; last values `x` = -3"),
    ],
)  # fmt: skip
def test_start_outside_of_the_domain(start: float, equation: object, text: str) -> None:
    class Model(Scalar):
        y: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1 + self.y)
            yield equation(self.x, self.y)  # type: ignore[operator]

    error = failed(NonFiniteError, Model(x=start))
    assert text in error.what and error.what.startswith("start at t = 0")
    assert "domain" in error.why and "start values" in error.hint and nothing_computed(error)


def test_last_values_of_an_algebraic_unknown_are_those_tried() -> None:
    class Model(Scalar):
        y: Variable = Variable(start=-2.0)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1)
            yield Eq(sqrt(self.y), -1 - self.x)

    error = failed(NonFiniteError, Model(x=0.5))
    assert "`x` = 0.5" in error.what and "`y` = -2" in error.what


def test_guess_outside_of_the_domain_is_no_obstacle() -> None:
    class Model(Scalar):
        y: Variable = Variable(start=-2.0)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1)
            yield Eq(log(self.y), self.x)

    result = simulate(Model(x=0.5), 1.0)
    assert result["y"].final == pytest.approx(math.exp(1.5), rel=1e-6)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_parameters_and_initial_values_that_are_no_numbers(value: float) -> None:
    class Model(Scalar):
        k: Parameter = Parameter(default=1.0)

        def equations(self) -> Statements:
            yield Eq(der(self.x), -self.k * self.x**3)

    assert "`k` must be a finite number" in failed(ParameterError, Model(), parameters={"k": value}).what
    assert "initial value of `x`" in failed(ParameterError, Model(), initial={"x": value}).what


def test_fixed_values_that_nonlinear_equations_contradict() -> None:
    class Model(Scalar):
        y: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x), -self.y)
            yield Eq(self.y, self.x**3)

    error = failed(InitializationError, Model(), initial={"x": 2.0, "y": 3.0})
    assert "`x` = 2, `y` = 3 cannot all hold" in error.what


# -- during the integration ------------------------------------------------------------------------------------------


class Escaping(Scalar):
    """x' = x**2 from 1: x = 1 / (1 - t)."""

    area: Variable = Variable()
    inverse: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.x), self.x**2)
        yield Eq(der(self.area), self.inverse)
        yield Eq(self.inverse, 1 / self.x)


@pytest.mark.parametrize("method", ["auto", "explicit", "implicit"])
def test_solution_that_escapes_in_finite_time(method: str) -> None:
    class Model(Component):
        def build(self) -> None:
            self.first, self.second = Escaping(x=0.25), Escaping(x=1.0)

    error = failed(ConvergenceError, Model(), method=method)
    assert "the error of `second.x`" in error.what and "singularity" in error.why
    assert error.hint.startswith("`second.x` has grown from ") and "smaller `rtol`" in error.hint
    assert error.result.t_end == pytest.approx(1.0, rel=1e-5)
    assert f"t = {error.result.t_end:.9g}" in error.what
    t = np.array([0.0, 0.5, 0.9, 0.99])
    assert error.result["second.x"].at(t) == pytest.approx(1.0 / (1.0 - t), rel=1e-3)
    assert error.result["second.inverse"].at(t) == pytest.approx(1.0 - t, abs=1e-5)
    assert error.result["second.area"].final == pytest.approx(0.5, rel=1e-5)
    assert error.result["first.x"].final == pytest.approx(1.0 / 3.0, rel=1e-5)
    assert error.result.status.startswith("failed")


def test_solution_that_reaches_a_pole() -> None:
    """x' = 1 / (1 - x): x = 1 - sqrt(1 - 2 t)."""

    class Model(Scalar):
        def equations(self) -> Statements:
            yield Eq(der(self.x), 1 / (1 - self.x))

    error = failed(ConvergenceError, Model())
    assert error.result.t_end == pytest.approx(0.5, rel=1e-5)
    t = np.array([0.1, 0.3, 0.45])
    assert error.result["x"].at(t) == pytest.approx(1.0 - np.sqrt(1.0 - 2.0 * t), rel=1e-5)


def test_solution_that_ceases_to_exist() -> None:
    class Model(Scalar):
        y: Variable = Variable(start=1.0)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1)
            yield Eq(self.y**2, 1 - self.x)  # <-

    with refused(
        ConvergenceError,
        r"integration at t = .*`Eq\(y\*\*2, 1 - x\)` of `Model` were not solved; last values `x` = 1, `y` = ",
        hint="equations without solution",
        path="Model",
        at=test_solution_that_ceases_to_exist,
    ):
        simulate(Model(), 2.0)
    error = failed(ConvergenceError, Model())
    assert error.result.t_end == pytest.approx(1.0, rel=1e-6)
    assert error.result["y"].at([0.25, 0.75]) == pytest.approx(np.sqrt([0.75, 0.25]), rel=1e-6)


def test_solution_that_ends_at_a_fold() -> None:
    """y**3 - y = u has its left branch up to u = 2 / (3 sqrt(3)), y = -1 / sqrt(3)."""

    class Model(Scalar):
        y: Variable = Variable(start=-1.3)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1)
            yield Eq(self.y**3 - self.y, self.x)

    error = failed(ConvergenceError, Model(x=-1.0))
    assert error.result.t_end == pytest.approx(1.0 + 2.0 / (3.0 * math.sqrt(3.0)), rel=1e-6)
    assert "last values `x` = 0.3849, `y` = -0.577" in error.what
    y = error.result["y"].at(np.array([0.0, 0.5, 1.3]))
    assert y**3 - y == pytest.approx([-1.0, -0.5, 0.3], rel=1e-9)


def test_unknowns_without_states_that_cease_to_exist() -> None:
    class Model(Scalar):
        def equations(self) -> Statements:
            yield Eq(self.x**2, 1 - time)

    error = failed(ConvergenceError, Model(x=1.0))
    assert error.result.t_end == pytest.approx(1.0, rel=1e-6)
    assert error.what.startswith(f"integration at t = {error.result.t_end:.9g}")
    assert error.result["x"].at([0.25, 0.96]) == pytest.approx(np.sqrt([0.75, 0.04]), rel=1e-6)


@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_argument_that_leaves_the_domain(method: str) -> None:
    class Model(Scalar):
        y: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x), -1 + 0 * der(self.y))
            yield Eq(self.y, log(self.x))

    error = failed(NonFiniteError, Model(x=1.0), method=method)
    assert error.result.t_end == pytest.approx(1.0, rel=1e-9)
    x, y = error.result["x"].final, error.result["y"].final
    assert f"last values `x` = {x:.6g}, `y` = {y:.6g}" in error.what
    assert error.result["y"].at([0.25, 0.5]) == pytest.approx(np.log([0.75, 0.5]), rel=1e-6)


class Sinking(Scalar):
    """x = 2 - t, with a condition on its logarithm."""

    level: Discrete = Discrete(int)

    def equations(self) -> Statements:
        yield Eq(der(self.x), -1)
        yield when(log(self.x) < -1, assign(self.level, 1))


def test_condition_that_loses_its_value() -> None:
    """What the condition has to say before that is heard."""
    error = failed(NonFiniteError, Sinking(x=2.0), 3.0)
    assert "`log(x) - -1 = 0` of `Sinking` cannot be evaluated; last values `x` = -" in error.what
    assert error.result["level"].final == 1
    (turn,) = [e.t for e in error.result.events if e.kind == "state"]
    assert turn == pytest.approx(2.0 - math.exp(-1.0), rel=1e-9)


def test_input_that_is_no_number() -> None:
    class Model(Scalar):
        u: Input = Input(float)

        def equations(self) -> Statements:
            yield Eq(der(self.x), self.u - self.x**3)

    error = failed(NonFiniteError, Model(x=1.0), inputs={"u": lambda t: math.nan if t > 0.5 else 0.0})
    assert "input `u` is not finite at t = 0.5" in error.what
    assert error.result["x"].at(0.4) == pytest.approx(1.0 / math.sqrt(1.8), rel=1e-6)


def test_requirement_along_an_integration() -> None:
    class Model(Scalar):
        def equations(self) -> Statements:
            yield Eq(der(self.x), self.x**2)
            yield require(self.x < 4, "x must stay below 4")

    error = failed(RequirementError, Model(x=1.0), rtol=1e-9)
    assert error.result.t_end == pytest.approx(0.75, rel=1e-7)
    assert error.result["x"].at(0.5) == pytest.approx(2.0, rel=1e-7)


# -- at a restart ----------------------------------------------------------------------------------------------------


class Stepped(Scalar):
    """y**2 = d - x with a step of d at t = 0.5, and segments before that."""

    to: Parameter = Parameter(default=-3.0)
    n: Discrete = Discrete(int)
    d: Discrete = Discrete(float, start=4.0)
    y: Variable = Variable(start=1.0)

    def equations(self) -> Statements:
        yield Eq(der(self.x), 1)
        yield Eq(self.y**2, self.d - self.x)
        yield when(sample(period=0.1), assign(self.n, pre(self.n) + 1))
        yield when(time >= 0.45, assign(self.d, self.to))


def test_no_solution_after_an_event() -> None:
    error = failed(ConvergenceError, Stepped())
    assert error.what.startswith(
        "restart at t = 0.45: the nonlinear equations `Eq(y**2, d - x)` of `Stepped`"
    )
    assert "last values `x` = 0.45, `y` = " in error.what
    assert error.result.t_end == pytest.approx(0.45)
    assert error.result["n"].final == 5
    t = np.array([0.05, 0.3, 0.44])
    assert error.result["y"].at(t) == pytest.approx(np.sqrt(4.0 - t), rel=1e-9)


def test_value_outside_of_the_domain_after_a_reinit() -> None:
    class Model(Scalar):
        def equations(self) -> Statements:
            yield Eq(der(self.x), -sqrt(self.x))  # <-
            yield when(time > 0.5, reinit(self.x, -1))

    with refused(
        NonFiniteError,
        r"restart at t = 0.5: `Eq\(der\(x\), -sqrt\(x\)\)` of `Model` cannot be evaluated; last values `x` = -1",
        hint="limit the argument",
        path="Model",
        at=test_value_outside_of_the_domain_after_a_reinit,
    ):
        simulate(Model(x=1.0), 1.0)
    error = failed(NonFiniteError, Model(x=1.0))
    assert error.result["x"].at(0.4) == pytest.approx(0.64, rel=1e-6)


def test_branch_that_cannot_be_evaluated() -> None:
    class Model(Scalar):
        u: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x), self.u - self.x**3)
            yield If(time < 0.5, [Eq(self.u, 0)], [Eq(self.u, log(self.x - 5))])

    error = failed(NonFiniteError, Model(x=1.0))
    assert error.what.startswith("restart at t = 0.5: `u - log(x - 5) = 0` of `Model`")
    assert f"`x` = {1.0 / math.sqrt(2.0):.3g}" in error.what
    assert error.result.t_end == 0.5


class Cubic(Component):
    """A law without slope at the start: v = cbrt(sin(w t))."""

    w: Parameter = Parameter(default=2.0, unit="rad/s")
    v: Variable = Variable()
    x: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(self.v**3, sin(self.w * time))
        yield Eq(der(self.x), self.v)


@pytest.mark.parametrize("v", [0.0, 0.5])
def test_a_law_that_is_flat_at_the_start_and_later_is_followed(v: float) -> None:
    """Steps come as near to the flat points as what is solved for asks."""
    result = simulate(Cubic(v=v), 2.0)
    t = np.array([0.0, 1e-6, 0.1, 0.5, 1.5, 1.6, 2.0])
    np.testing.assert_allclose(result["v"].at(t), np.cbrt(np.sin(2.0 * t)), atol=1e-9)
