"""Newton's method inside of CasADi: the point, and what is linear in it."""

import casadi as ca
import numpy as np

from acausal.codegen.correction import Correction, correcting
from acausal.codegen.equations import Jet


def test_a_rate_that_is_always_zero_keeps_its_place() -> None:
    """Of three rates the first is zero, the second that of a coordinate solved from ``y1**2 = c``."""
    y, xi, c = ca.SX.sym("y", 3), ca.SX.sym("xi", 1), ca.SX.sym("c", 1)
    value = y[1] ** 2 - c
    function = ca.Function("rows", [y, xi, c], [value, ca.densify(ca.jacobian(value, y))])
    rate = Jet(np.array([[0.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]]), np.array([[0.0], [0.0], [3.0]]))
    correction = Correction(correcting(function, np.array([1]), rate), np.ones(1))
    point, rates, sizes = correction(np.array([5.0, 2.05, 7.0]), np.array([0.5]), np.array([4.0]))
    np.testing.assert_allclose(point, [5.0, 2.0, 7.0], rtol=1e-9)
    np.testing.assert_allclose(rates, [0.0, 4.0, 8.5], rtol=1e-9)
    assert sizes[-1] < sizes[0]
