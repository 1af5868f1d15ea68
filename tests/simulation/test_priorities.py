"""Linear conditions in order of their ranks."""

import numpy as np
import pytest

from acausal.simulation.starts.priorities import solve


@pytest.mark.parametrize("size", [1e-6, 1.0, 3e7])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", range(6))
def test_a_contradiction_rounds_nothing_that_shares_no_unknown_with_it(
    order: int, weighted: bool, size: float
) -> None:
    """Two values contradict each other for ``x0``; what holds for ``x1`` and ``x2`` stays, to the bit."""
    A = np.array(
        [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.7], [1.0, 0.0, 0.0], [0.0, 1.0, 0.3], [0.0, 0.3, 1.0]]
    )
    b, weight = size * np.array([0.0, 1.0, 0.0, -0.4, 0.0, 0.0]), np.array([0.4, 1.0, 0.4, 0.9, 0.7, 0.3])
    rows = np.random.default_rng(order).permutation(len(A))
    found = solve(A[rows], b[rows], np.full(len(A), 6), weight=weight[rows] if weighted else None)
    assert found.step[1] == found.step[2] == 0.0
    # Defects of 1 and -0.4 at least squares: in the middle, or where the larger weight has the smaller one.
    shares = weight[[1, 3]] ** 2 if weighted else np.ones(2)
    assert found.step[0] == pytest.approx(size * (shares @ [1.0, -0.4]) / shares.sum(), rel=1e-12)
