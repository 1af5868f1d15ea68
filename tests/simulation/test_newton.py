"""Damped Newton iteration and continuation."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import acausal.simulation.nonlinear.newton as module
from acausal.simulation.nonlinear.newton import NewtonFailure, Trial, continued, damped

ONE, EPS = np.ones(1), float(np.finfo(float).eps)


Rounded = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Residual, Jacobian, and how far rounding may move the residual."""


def with_rounding(f: Callable[[np.ndarray], Rounded], x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Newton's method for a function that tells its rounding too."""
    return module.newton(lambda x: f(x)[:2], lambda x: f(x)[2], x, scale)


def newton(f: Callable[[np.ndarray], tuple[Any, Any]], x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Newton's method where the unknowns move residuals by their rounding, and ten terms of size one do."""

    def rounded(x: np.ndarray) -> Rounded:
        r, J = f(x)
        with np.errstate(invalid="ignore"):
            return r, J, EPS * (np.abs(J) @ np.abs(x) + 10.0)

    return with_rounding(rounded, x, scale)


def diode(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Exponential characteristic in series with 1 ohm at 10 V: steep on one side, flat on the other."""
    e = np.exp(np.minimum(x / 0.025, 700.0))
    return 1e-12 * (e - 1.0) + x - 10.0, 1e-12 * e[:, None] / 0.025 + 1.0


@pytest.mark.parametrize("start", [0.0, 0.7, 5.0, -3.0])
def test_exponential_characteristic(start: float) -> None:
    x = newton(diode, np.array([start]), ONE)
    assert 1e-12 * (np.exp(x[0] / 0.025) - 1.0) == pytest.approx(10.0 - x[0], rel=1e-10)


def test_damping_keeps_full_steps_from_diverging() -> None:
    """Newton's full steps for the arc tangent diverge beyond 1.39."""
    x = newton(lambda x: (np.arctan(x), 1.0 / (1.0 + x[:, None] ** 2)), np.array([20.0]), ONE)
    assert abs(x[0]) <= 1e-14


def test_several_unknowns() -> None:
    def f(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        a, b = x
        return np.array([a**2 + b**2 - 4.0, a * b - 1.0]), np.array([[2 * a, 2 * b], [b, a]])

    a, b = newton(f, np.array([3.0, 0.1]), np.ones(2))
    assert a == pytest.approx(np.sqrt(2.0 + np.sqrt(3.0)), rel=1e-14)
    assert b == pytest.approx(1.0 / a, rel=1e-14)


def test_no_solution() -> None:
    with pytest.raises(NewtonFailure) as found:
        newton(lambda x: (x**2 + 1.0, 2.0 * x[:, None]), np.array([1.0]), ONE)
    assert found.value.reason in ("no convergence", "singular")
    assert np.isfinite(found.value.x).all()


def test_continuation_reaches_what_a_guess_does_not() -> None:
    """At 325 V a guess of 325 V across the exponential overflows; from zero sources on there is a way."""

    def solve(s: float, x: np.ndarray) -> np.ndarray:
        def f(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            with np.errstate(over="ignore"):
                e = np.exp((325.0 * s - u) / 0.025)
                return u - 1e-12 * (e - 1.0), 1.0 + 1e-12 * e[:, None] / 0.025

        return newton(f, x, ONE)

    with pytest.raises(NewtonFailure):
        solve(1.0, np.zeros(1))
    x = continued(solve, np.zeros(1))
    assert x[0] == pytest.approx(325.0 - 0.025 * np.log1p(x[0] / 1e-12), rel=1e-10)


def test_continuation_that_ends_nowhere() -> None:
    def solve(s: float, x: np.ndarray) -> np.ndarray:
        return newton(lambda u: (u**2 + 2.0 * s - 1.0, 2.0 * u[:, None]), x, ONE)

    with pytest.raises(NewtonFailure):
        continued(solve, np.ones(1))


def test_outside_the_domain() -> None:
    def root(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(invalid="ignore"):
            return np.sqrt(x), 0.5 / np.sqrt(x[:, None])

    with pytest.raises(NewtonFailure) as found:
        newton(root, np.array([-1.0]), ONE)
    assert found.value.reason == "not finite"


def test_steps_that_leave_the_domain_are_shortened() -> None:
    """A full step from 10 leads to a negative argument of the logarithm."""

    def f(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(invalid="ignore"):
            return np.log(x), 1.0 / x[:, None]

    assert newton(f, np.array([10.0]), ONE)[0] == pytest.approx(1.0, abs=1e-14)


class Promise:
    """Steps that promise their length and bring it where they are short, from points that count the steps."""

    def __init__(self, short: float, brought: float) -> None:
        self.short, self.brought, self.lengths = short, brought, list[float]()

    def linearise(self, at: int, /) -> str | None:
        self.lengths.append(float(at))
        return "found" if at == 3 else None

    def tried(self, length: float, /) -> Trial | None:
        self.lengths.append(length)
        brought = self.brought if length <= self.short else 0.0
        return Trial(int(self.lengths.count(0.25)), brought * length, length) if length < 1.0 else None

    def ended(self, slow: bool, /) -> str:
        return "slow" if slow else "stuck"


def test_steps_are_shortened_until_they_bring_a_quarter_of_what_they_promise() -> None:
    """The next one is twice as long as the one before."""
    problem = Promise(0.25, 0.26)
    assert damped(problem, 0) == "found"
    assert problem.lengths == [0.0, 1.0, 0.5, 0.25, 1.0, 0.5, 0.25, 2.0, 0.5, 0.25, 3.0]


def test_how_an_iteration_ended_is_told() -> None:
    assert damped(Promise(0.25, 0.24), 0) == "stuck"
    assert damped(Promise(0.25, 0.26), 0, 3) == "slow"


def test_functions_may_overwrite_what_they_returned() -> None:
    r, J = np.zeros(1), np.zeros((1, 1))

    def f(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        r[:], J[0] = np.arctan(x), 1.0 / (1.0 + x**2)
        return r, J

    assert abs(newton(f, np.array([20.0]), ONE)[0]) <= 1e-14


@pytest.mark.parametrize("current", 10.0 ** np.arange(-12, 4))
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_accuracy_does_not_depend_on_a_scale(current: float, scale: float) -> None:
    """An unknown of 1e-12 to 1e3 of which an exponential of width 0.04 is taken behind a resistance, from far above."""
    R, width, saturation = 1.0 / current, 0.04, 1e-14

    def f(x: np.ndarray) -> Rounded:
        u = 1.0 - R * x[0]
        e = saturation * np.exp(u / width)
        r, slope = x[0] - e + saturation, 1.0 + e * R / width
        return (
            np.array([r]),
            np.array([[slope]]),
            EPS * np.array([abs(x[0]) + saturation + e * (1.0 + (1.0 + R * abs(x[0])) / width)]),
        )

    def potential(u: float) -> float:
        return (1.0 - u) / R - saturation * np.expm1(u / width)

    root: Any = brentq(potential, -1.0, 1.0, xtol=1e-16)
    expected = (1.0 - root) / R
    for start in (0.0, expected, 2.0 * current):
        found = with_rounding(f, np.array([start]), np.array([scale]))[0]
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("order", [2, 3, 5])
@pytest.mark.parametrize("start", [1.0, -3.0, 1e-20, 1e3])
def test_multiple_zero(order: int, start: float) -> None:
    """No rounding tells where a power vanishes: the point is one beside it, where slopes are numbers from which to go on."""

    def f(x: np.ndarray) -> Rounded:
        r, J = x**order, order * x[:, None] ** (order - 1)
        return r, J, EPS * order * np.abs(r)

    assert abs(with_rounding(f, np.array([start]), ONE)[0]) <= 1e-9


def test_zeros_near_each_other_are_no_multiple_one() -> None:
    """Far away the two look like one: 1e-11 and -1e-11 at a scale of one."""
    x = with_rounding(
        lambda x: (x**2 - 1e-22, 2.0 * x[:, None], EPS * (3.0 * x**2 + 1e-22)), np.array([1.0]), ONE
    )
    assert x[0] == pytest.approx(1e-11, rel=1e-12)


def test_a_pair_of_zeros_one_rounding_apart_is_found_as_near_as_rounding_allows() -> None:
    x = newton(lambda x: ((x - 1.0) ** 2, 2.0 * (x[:, None] - 1.0)), np.array([3.0]), ONE)
    assert x[0] == pytest.approx(1.0, abs=1e-6)


def test_unknowns_of_all_sizes_side_by_side() -> None:
    """Each to its own last places, whatever stands beside it and whatever its scale is."""
    solution = 10.0 ** np.arange(-12.0, 13.0, 3.0)
    n = len(solution)
    coupling = np.eye(n) + 0.1 * np.outer(solution, 1.0 / solution)

    def f(x: np.ndarray) -> Rounded:
        cube, terms = x**3 / solution**2, coupling @ (solution + solution)
        r = coupling @ x + cube - coupling @ solution - solution
        J = coupling + np.diag(3.0 * x**2 / solution**2)
        return r, J, EPS * n * (np.abs(J) @ np.abs(x) + terms)

    x = with_rounding(f, 3.0 * solution, np.full(n, 1e15))
    np.testing.assert_allclose(x, solution, rtol=1e-12)


def test_small_corrections_that_do_not_contract_are_no_solution() -> None:
    """A jump over zero, however near: the correction is small, the residual is not."""

    def f(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.where(x < 1.0, -1.0, 1.0) + 1e12 * (x - 1.0), np.full((1, 1), 1e12)

    with pytest.raises(NewtonFailure):
        newton(f, np.array([0.0]), ONE)


@pytest.mark.parametrize("large", [1e3, 1e5, 1e7])
@pytest.mark.parametrize("far", [-0.1, -0.01, 0.1, 1.0, 3.0, 10.0, 30.0])
def test_rounding_of_one_unknown_does_not_hide_that_others_come_nearer(large: float, far: float) -> None:
    """Large flows leave a small one, known to their last digits, and the drop of an exponential, which is still sought."""

    def rounded(x: np.ndarray) -> Rounded:
        a, b, c = x
        drop = large + a + c
        e = np.exp(min(drop / 0.5, 700.0))
        r = np.array([0.01 * (e - 1.0) + drop - 3.0, b + c - 2.0 / 3.0, a + b + c - total])
        s = 0.02 * e + 1.0
        J = np.array([[s, 0.0, s], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
        return r, J, EPS * (np.abs(J) @ np.abs(x) + np.array([s * large, 1.0, 1.0]))

    expected = brentq(lambda v: 0.01 * (np.exp(v / 0.5) - 1.0) + v - 3.0, 0.0, 3.0)
    for total in (5.9559, 1.234567, 0.1, 33.3):
        x = with_rounding(rounded, np.array([total, large, far - large]), np.array([0.375, 5e5, 3.75]))
        assert large + x[0] + x[2] == pytest.approx(expected, abs=1e-15 * large)
