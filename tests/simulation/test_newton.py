"""Damped Newton iteration and continuation."""

import numpy as np
import pytest

from acausal.simulation.nonlinear.newton import NewtonFailure, continued, newton

ONE = np.ones(1)


def diode(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Exponential characteristic in series with 1 ohm at 10 V: steep on one side, flat on the other."""
    e = np.exp(np.minimum(x / 0.025, 700.0))
    return 1e-12 * (e - 1.0) + x - 10.0, np.array([1e-12 * e / 0.025 + 1.0])


@pytest.mark.parametrize("start", [0.0, 0.7, 5.0, -3.0])
def test_exponential_characteristic(start: float) -> None:
    x = newton(diode, np.array([start]), ONE)
    assert 1e-12 * (np.exp(x[0] / 0.025) - 1.0) == pytest.approx(10.0 - x[0], rel=1e-10)


def test_damping_keeps_full_steps_from_diverging() -> None:
    """Newton's full steps for the arc tangent diverge beyond 1.39."""
    x = newton(lambda x: (np.arctan(x), np.array([1.0 / (1.0 + x**2)])), np.array([20.0]), ONE)
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
        newton(lambda x: (x**2 + 1.0, np.array([2.0 * x])), np.array([1.0]), ONE)
    assert found.value.reason in ("no convergence", "singular")
    assert np.isfinite(found.value.x).all()


def test_continuation_reaches_what_a_guess_does_not() -> None:
    """At 325 V a guess of 325 V across the exponential overflows; from zero sources on there is a way."""

    def solve(s: float, x: np.ndarray) -> np.ndarray:
        def f(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            with np.errstate(over="ignore"):
                e = np.exp((325.0 * s - u) / 0.025)
                return u - 1e-12 * (e - 1.0), np.array([1.0 + 1e-12 * e / 0.025])

        return newton(f, x, ONE)

    with pytest.raises(NewtonFailure):
        solve(1.0, np.zeros(1))
    x = continued(solve, np.zeros(1))
    assert x[0] == pytest.approx(325.0 - 0.025 * np.log1p(x[0] / 1e-12), rel=1e-10)


def test_continuation_that_ends_nowhere() -> None:
    def solve(s: float, x: np.ndarray) -> np.ndarray:
        return newton(lambda u: (u**2 + 2.0 * s - 1.0, np.array([2.0 * u])), x, ONE)

    with pytest.raises(NewtonFailure):
        continued(solve, np.ones(1))


def test_outside_the_domain() -> None:
    def root(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(invalid="ignore"):
            return np.sqrt(x), np.array([0.5 / np.sqrt(x)])

    with pytest.raises(NewtonFailure) as found:
        newton(root, np.array([-1.0]), ONE)
    assert found.value.reason == "not finite"


def test_steps_that_leave_the_domain_are_shortened() -> None:
    """A full step from 10 leads to a negative argument of the logarithm."""

    def f(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(invalid="ignore"):
            return np.log(x), np.array([1.0 / x])

    assert newton(f, np.array([10.0]), ONE)[0] == pytest.approx(1.0, abs=1e-14)


def test_functions_may_overwrite_what_they_returned() -> None:
    r, J = np.zeros(1), np.zeros((1, 1))

    def f(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        r[:], J[0] = np.arctan(x), 1.0 / (1.0 + x**2)
        return r, J

    assert abs(newton(f, np.array([20.0]), ONE)[0]) <= 1e-14
