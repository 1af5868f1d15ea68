"""Dependent rows of a mode: the combinations vanish, none of their rows can be left out, and they are all there are."""

import numpy as np
import pytest

from acausal.reduction.affine import AffineModel, Rows
from acausal.reduction.index_reduction import dependencies


def model_of(E: np.ndarray, A: np.ndarray, B: np.ndarray, S: np.ndarray) -> AffineModel:
    n, q = A.shape[1], B.shape[1]
    names = tuple(f"z{k}" for k in range(n))
    return AffineModel(names, E.any(axis=0), Rows(E, A, B), (), S, np.ones(n), np.ones(q), 1.0)


@pytest.mark.parametrize("seed", range(60))
def test_algebraic_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    A = rng.integers(-3, 4, (n, n)) * (rng.random((n, n)) < 0.5).astype(float)
    for _ in range(int(rng.integers(1, 3))):
        A[rng.integers(n)] = rng.integers(-2, 3, n) @ A
    B = rng.integers(-2, 3, (n, 1)).astype(float)
    found = dependencies(model_of(np.zeros((n, n)), A, B, np.zeros((1, 1))), ())
    rank = np.linalg.matrix_rank(A)
    assert found.weights.shape == (n - rank, 1, n)
    weights = found.weights[:, 0]
    assert np.linalg.matrix_rank(weights) == n - rank
    np.testing.assert_allclose(weights @ A, 0.0, atol=1e-10)
    np.testing.assert_allclose(weights @ B, found.sources, atol=1e-10)
    for row in weights:
        part = np.flatnonzero(row)
        assert np.linalg.matrix_rank(A[part]) == len(part) - 1
        assert all(
            np.linalg.matrix_rank(np.delete(A[part], k, axis=0)) == len(part) - 1 for k in range(len(part))
        )
    assert found.free.sum() >= n - rank if rank < n else not found.free.any()


def test_rows_that_depend_on_each_other_when_differentiated() -> None:
    """``z0 = z1`` with ``z0' = 1`` and ``z1' = t``: the first row differentiated, less the others, leaves ``1 - t``."""
    E = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    A = np.array([[1.0, -1.0], [0.0, 0.0], [0.0, 0.0]])
    B = np.array([[0.0, 0.0], [-1.0, 0.0], [0.0, -1.0]])
    S = np.array([[0.0, 0.0], [1.0, 0.0]])
    found = dependencies(model_of(E, A, B, S), ())
    (weights,) = found.weights
    scale = weights[1, 0]
    assert weights[0].tolist() == [0.0, -scale, scale] and weights[1].tolist() == [scale, 0.0, 0.0]
    np.testing.assert_allclose(found.sources[0] / scale, [1.0, -1.0])
    assert not found.free.any()


def test_numbers_decide_and_not_their_pattern() -> None:
    """0.1 * 3 and 0.3 differ by rounding: the loop of factors is consistent, and nothing holds its unknowns."""
    A = np.array([[1.0, -0.1, 0.0], [0.0, 1.0, -3.0], [1.0, 0.0, -0.3]])
    found = dependencies(model_of(np.zeros((3, 3)), A, np.zeros((3, 1)), np.zeros((1, 1))), ())
    np.testing.assert_allclose(found.weights[0, 0] / found.weights[0, 0, 0], [1.0, 0.1, -1.0])
    assert found.free.all()
    A[2, 2] = -0.300000001
    assert not len(
        dependencies(model_of(np.zeros((3, 3)), A, np.zeros((3, 1)), np.zeros((1, 1))), ()).weights
    )
