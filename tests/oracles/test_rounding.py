"""How much rounding of a matrix moves what is kept, against eigenvalues of rounded matrices."""

from fractions import Fraction

import numpy as np
import pytest

from .rounding import UNIT, rounded_share


@pytest.mark.parametrize("stores", [(1e-6, 3e-6), (1e-6, 2.2e-6, 4.7e-6), (3.3e-7, 1e-6, 7e-6, 1.3e-5)])
def test_the_kept_sum_drifts_by_less_and_by_much_of_it(stores: tuple[float, ...]) -> None:
    """Coefficients moved by a unit at random move the eigenvalue zero by a good part of the bound, and by no more."""
    rng, loss, span = np.random.default_rng(1), 1e-7, 0.1
    exact = [[Fraction(0)] * len(stores) for _ in stores]
    for k in range(len(stores) - 1):
        for i, j, sign in ((k, k, -1), (k, k + 1, 1), (k + 1, k, 1), (k + 1, k + 1, -1)):
            exact[i][j] += sign / (Fraction(loss) * Fraction(stores[i]))
    A = np.array([[float(x) for x in row] for row in exact])
    moved = []
    for _ in range(200):
        change = A * rng.choice((-UNIT, UNIT), A.shape)
        moved.append(span * abs((np.asarray(stores) @ change).sum()) / sum(stores))
    bound = rounded_share(stores, loss, span)
    assert 0.3 * bound < max(moved) <= bound * (1.0 + 1e-12)


def test_one_storage_shares_with_nothing() -> None:
    assert rounded_share([1e-6], 1e-9, 1.0) == 0.0
