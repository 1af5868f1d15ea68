"""Newton's method inside of CasADi: the point, and what is linear in it."""

from typing import Any

import casadi as ca
import numpy as np
import pytest

from acausal.compilation.correction import Correction, Following, correcting, following
from acausal.compilation.equations import Jet


def made(y: Any, xi: Any, c: Any, value: Any, columns: list[int], rate: Jet) -> Correction:
    """The correction of ``value``, whose rounding is 1e-16 of its terms, here of size 10."""
    function = ca.Function("rows", [y, xi, c], [value, ca.densify(ca.jacobian(value, y))])
    residual = ca.Function("residual", [y, xi, c], [value, 1e-15 * (1.0 + 0.0 * value)])
    f = correcting(function, residual, np.array(columns), rate)
    return Correction(f, np.ones(len(columns)), lambda: f.map(64))


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


def test_rows_that_are_linear_in_what_is_solved_take_two_steps_and_bent_ones_three() -> None:
    """``a^2 h = c`` is linear in h and bent in a; many points are found as each of them is."""
    y, xi, c = ca.SX.sym("y", 2), ca.SX.sym("xi", 0), ca.SX.sym("c", 1)
    value, given, none = y[0] ** 2 * y[1] - c, np.array([9.0]), np.zeros(0)
    for column, start, root, steps in ((1, [3.0, 40.0], [3.0, 1.0], 2), (0, [3.01, 1.0], [3.0, 1.0], 3)):
        correction = made(y, xi, c, value, [column], Jet(np.eye(2), np.zeros((2, 0))))
        taken: list[int] = []
        found = correction(np.array(start), none, given, taken.append)
        assert found is not None and taken == [steps]
        np.testing.assert_allclose(found[0], root, rtol=1e-15)
        points = np.array([start, [-5.0, 7.0], [np.nan, 1.0], start])
        told = correction.many(points, np.zeros((4, 0)), given)
        assert told.tolist() == [True, column == 1, False, True]
        np.testing.assert_allclose(points[[0, 3]], [root, root], rtol=1e-15)


def test_time_derivatives_of_unknowns_that_rows_give() -> None:
    """x^3 + h = sin(xi), 2 h + k x = c: h' and k' for x' given follow by differentiation."""
    y, xi, c, along = ca.SX.sym("y", 3), ca.SX.sym("xi"), ca.SX.sym("c"), 2.0
    value = ca.vertcat(y[0] ** 3 + y[1] - ca.sin(xi), 2 * y[1] + y[2] * y[0] - c)
    rows = ca.Function("rows", [y, xi, c], [value, ca.jacobian(value, y), ca.jacobian(value, xi) * along])
    found = Following(following(rows, 1))
    x, h, k, moved = 1.5, 0.3, 4.0, -0.7
    rates = found(np.array([x, h, k]), np.array([0.4]), np.array([1.0]), np.array([moved]))
    h_t = np.cos(0.4) * along - 3 * x**2 * moved
    np.testing.assert_allclose(rates, [h_t, -(2 * h_t + k * moved) / x], rtol=1e-14)
    singular = found(np.array([0.0, h, k]), np.array([0.4]), np.array([1.0]), np.array([moved]))
    assert not np.isfinite(singular).all()
