"""Coefficients against the order conditions, and against the solution of the linear test equation.

The conditions are evaluated in rational arithmetic: what remains is the rounding of the coefficients themselves, on any machine.
"""

import numpy as np
import pytest

from acausal.dynamics import dormand_prince as dp
from acausal.dynamics.rosenbrock_tableaus import RODAS5P

from .trees import defect, exact, lower_inverse, trees

STAGES = exact(dp.STAGES)
THETAS = (0.1, 0.37, 0.5, 0.8, 1.0)
ORDER, DENSE = 5, 4
"""Of Rodas5P and of its dense output."""


def inside(solution: np.ndarray, bend: np.ndarray, theta: float) -> np.ndarray:
    """Weights of the stages in the dense output of `Step`."""
    return theta * (solution + (1 - theta) * (bend[0] + theta * (bend[1] + theta * bend[2])))


def weights_of() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """alpha, alpha + Gamma and the map from ``u`` to ``k`` (Hairer, Wanner IV.7, before equation 7.25)."""
    Gamma = lower_inverse(exact(np.eye(RODAS5P.nodes.size)) / exact(RODAS5P.gamma) - exact(RODAS5P.c))
    alpha = exact(RODAS5P.a) @ Gamma
    return alpha, alpha + Gamma, Gamma


def test_the_number_of_rooted_trees() -> None:
    assert [len(trees(order)) for order in range(1, 8)] == [1, 1, 2, 4, 9, 20, 48]  # Butcher 1964


def test_dormand_prince_meets_its_order_conditions() -> None:
    assert np.allclose(dp.STAGES.sum(axis=1), dp.NODES, rtol=0, atol=1e-14)
    for order in range(1, 6):
        assert defect(STAGES[6], order, STAGES, STAGES) < 1e-14
    assert defect(STAGES[6], 6, STAGES, STAGES) > 1e-4


def test_the_embedded_solution_of_dormand_prince_has_order_four() -> None:
    embedded = STAGES[6] - exact(dp.ERROR)
    for order in range(1, 5):
        assert defect(embedded, order, STAGES, STAGES) < 1e-14
    assert defect(embedded, 5, STAGES, STAGES) > 1e-4


@pytest.mark.parametrize("theta", THETAS)
def test_the_dense_output_of_dormand_prince_has_order_four(theta: float) -> None:
    weights = inside(STAGES[6], exact(dp.DENSE), exact(theta))
    for order in range(1, 5):
        assert defect(weights, order, STAGES, STAGES, exact(theta)) < 1e-13


def test_rodas5p_meets_its_order_conditions() -> None:
    alpha, beta, Gamma = weights_of()
    b = exact(RODAS5P.solution) @ Gamma
    for k in range(1, ORDER + 1):
        assert defect(b, k, alpha, beta) < 1e-14
    assert defect(b, ORDER + 1, alpha, beta) > 1e-4


def test_its_embedded_solution_is_one_order_lower() -> None:
    alpha, beta, Gamma = weights_of()
    embedded = exact(RODAS5P.a[-1]) @ Gamma
    for k in range(1, ORDER):
        assert defect(embedded, k, alpha, beta) < 1e-14
    assert defect(embedded, ORDER, alpha, beta) > 1e-4
    assert RODAS5P.error_order == ORDER


def test_its_times_follow_from_the_coefficients() -> None:
    alpha, _, Gamma = weights_of()
    assert np.allclose(RODAS5P.nodes, alpha.sum(axis=1).astype(float), rtol=0, atol=1e-14)
    assert np.allclose(RODAS5P.times, Gamma.sum(axis=1).astype(float), rtol=0, atol=1e-14)


@pytest.mark.parametrize("theta", THETAS)
def test_the_order_of_its_dense_output(theta: float) -> None:
    alpha, beta, Gamma = weights_of()
    weights = inside(exact(RODAS5P.solution), exact(RODAS5P.dense), exact(theta)) @ Gamma
    for k in range(1, DENSE + 1):
        assert defect(weights, k, alpha, beta, exact(theta)) < 1e-13


def test_rodas5p_is_l_stable() -> None:
    _, beta, Gamma = weights_of()
    beta, Gamma = beta.astype(float), Gamma.astype(float)
    for b in (RODAS5P.solution @ Gamma, RODAS5P.a[-1] @ Gamma):
        # Stability function 1 + z b^T (I - z beta)^-1 1 on the imaginary axis and at infinity.
        axis = [abs(growth(1j * w, b, beta)) for w in np.geomspace(1e-2, 1e6, 200)]
        assert max(axis) <= 1.0 + 1e-9
        assert abs(growth(-1e9, b, beta)) < 1e-6


def growth(z: complex, b: np.ndarray, beta: np.ndarray) -> complex:
    ones = np.ones(len(b))
    return complex(1.0 + z * b @ np.linalg.solve(np.eye(len(b)) - z * beta, ones))
