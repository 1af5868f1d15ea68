"""Newton's method inside of CasADi: the point, and what is linear in it."""

from typing import Any

import casadi as ca
import numpy as np
import pytest

from acausal.compilation.correction import Correction, correcting
from acausal.compilation.equations import Jet


def made(y: Any, xi: Any, c: Any, value: Any, columns: list[int], rate: Jet) -> Correction:
    """The correction of ``value``, whose rounding is 1e-16 of its terms, here of size 10."""
    function = ca.Function("rows", [y, xi, c], [value, ca.densify(ca.jacobian(value, y))])
    residual = ca.Function("residual", [y, xi, c], [value, 1e-15 * (1.0 + 0.0 * value)])
    f = correcting(function, residual, np.array(columns), rate)
    return Correction(f, residual, np.ones(len(columns)), lambda: f.map(8))


def ignored(_: int) -> None:
    """Iterations are not counted here."""


def test_a_rate_that_is_always_zero_keeps_its_place() -> None:
    """Of three rates the first is zero, the second that of a coordinate solved from ``y1**2 = c``."""
    y, xi, c = ca.SX.sym("y", 3), ca.SX.sym("xi", 1), ca.SX.sym("c", 1)
    value = y[1] ** 2 - c
    rate = Jet(np.array([[0.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]]), np.array([[0.0], [0.0], [3.0]]))
    correction = made(y, xi, c, value, [1], rate)
    found = correction(np.array([5.0, 2.05, 7.0]), np.array([0.5]), np.array([4.0]), ignored)
    assert found is not None
    np.testing.assert_allclose(found[0], [5.0, 2.0, 7.0], rtol=1e-14)
    np.testing.assert_allclose(found[1], [0.0, 4.0, 8.5], rtol=1e-14)


def test_a_guess_that_is_a_solution_stays() -> None:
    """Steps towards the double zero of ``y |y| = c - 1`` at ``c = 1`` halve the way; what is a solution does not move."""
    y, xi, c = ca.SX.sym("y", 1), ca.SX.sym("xi", 0), ca.SX.sym("c", 1)
    correction = made(y, xi, c, y * ca.fabs(y) - (c - 1.0), [0], Jet(np.eye(1), np.zeros((1, 0))))
    guess = np.array([1e-11])
    assert correction(guess, np.zeros(0), np.array([1.0]), ignored) == (guess, None)
    moved = correction(np.array([0.1 + 1e-11]), np.zeros(0), np.array([1.01]), ignored)
    assert moved is not None
    assert moved[0] == pytest.approx([0.1], rel=1e-14)


@pytest.mark.parametrize("y", [(0.0, 0.0), (1.0, 1.0)], ids=["row of zeros", "equal columns"])
def test_a_singular_matrix_is_no_step_and_prints_nothing(
    y: tuple[float, float], capfd: pytest.CaptureFixture[str]
) -> None:
    """``a * b = 2`` and ``a + b = 3`` have slopes (b, a) and (1, 1): dependent where ``a = b``."""
    x, xi, c = (ca.MX.sym(name, n) for name, n in (("y", 2), ("xi", 0), ("c", 0)))
    value = ca.vertcat(x[0] * x[1] - 2.0, x[0] + x[1] - 3.0)
    correction = made(x, xi, c, value, [0, 1], Jet(np.eye(2), np.zeros((2, 0))))
    none = np.zeros(0)
    assert correction(np.array(y), none, none, ignored) is None
    printed = capfd.readouterr()
    assert printed.out + printed.err == ""
    found = correction(np.array([0.9, 2.1]), none, none, ignored)
    assert found is not None
    assert found[0] == pytest.approx([1.0, 2.0], abs=1e-14)
