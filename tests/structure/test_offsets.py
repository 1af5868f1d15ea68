from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from acausal.structure.offsets import Offsets, sigma_offsets


def offsets(signature: list[list[int | None]]) -> Offsets:
    entries = [(i, j, s) for i, line in enumerate(signature) for j, s in enumerate(line) if s is not None]
    row, col, sigma = (np.array(part) for part in zip(*entries, strict=True))
    return sigma_offsets(row, col, sigma, (len(signature), len(signature[0])))


def test_pendulum_has_index_three() -> None:
    """x'' + x*T, y'' + y*T - g, x^2 + y^2 - L^2 over (x, y, T): Pryce 2001, example 1."""
    result = offsets([[2, None, 0], [None, 2, 0], [0, 0, None]])
    assert result.c.tolist() == [0, 0, 2]
    assert result.d.tolist() == [2, 2, 0]
    assert result.degrees_of_freedom == 2


def test_explicit_ode_needs_no_differentiation() -> None:
    result = offsets([[1, 0], [0, 1]])
    assert result.c.tolist() == [0, 0]
    assert result.d.tolist() == [1, 1]
    assert result.rounds == 0
    assert result.singular is None


def test_chain_of_integrators_with_prescribed_output() -> None:
    """x0' = x1, x1' = x2, x2' = u, x0 = known: the constraint is differentiated three times."""
    result = offsets([[1, 0, None, None], [None, 1, 0, None], [None, None, 1, 0], [0, None, None, None]])
    assert result.c.tolist() == [0 + 2, 1, 0, 3]
    assert result.d.tolist() == [3, 2, 1, 0]
    assert result.degrees_of_freedom == 0


def test_singular_system_names_its_parts() -> None:
    result = offsets([[1, None, None], [0, None, None], [0, 0, 0]])
    assert result.singular is not None
    assert result.singular.over.equations.tolist() == [0, 1]
    assert result.singular.over.unknowns.tolist() == [0]
    assert result.singular.under.unknowns.tolist() == [1, 2]


def test_system_that_is_not_square_is_singular() -> None:
    result = offsets([[1, 0]])
    assert result.singular is not None
    assert result.singular.under.unknowns.tolist() == [0, 1]


def test_no_equations() -> None:
    nothing = np.zeros(0, int)
    assert sigma_offsets(nothing, nothing, nothing, (0, 0)).singular is None


def by_assignment(sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Pryce's algorithm: maximum weight transversal, then the fixed point for the smallest offsets."""
    impossible = -1000
    rows, cols = linear_sum_assignment(np.where(sigma < 0, impossible, sigma), maximize=True)
    if (sigma[rows, cols] < 0).any():
        return None
    c = np.zeros(len(sigma), int)
    while True:
        d = np.max(np.where(sigma < 0, impossible, sigma + c[:, None]), axis=0)
        new = d[cols] - sigma[rows, cols]
        if np.array_equal(new, c):
            return c, d
        c = new


@pytest.mark.parametrize("seed", range(200))
def test_offsets_are_the_smallest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 15))
    sigma = np.where(rng.random((n, n)) < rng.choice([2, 3, 5]) / n, rng.integers(0, 3, (n, n)), -1)
    row, col = np.nonzero(sigma >= 0)
    result = sigma_offsets(row, col, sigma[row, col], (n, n))
    expected = by_assignment(sigma)
    assert (result.singular is not None) == (expected is None)
    if expected is not None:
        assert result.c.tolist() == expected[0].tolist()
        assert result.d.tolist() == expected[1].tolist()
        chosen = result.matching.unknown
        assert (result.d[chosen] - result.c == sigma[np.arange(n), chosen]).all()
