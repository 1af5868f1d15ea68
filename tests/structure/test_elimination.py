from __future__ import annotations

import numpy as np
import pytest

from acausal.structure.elimination import combine, echelon, null_space
from acausal.structure.incidence import IntegerRows
from tests.oracles.rref import null_basis, rank, same_span


def random_rows(rng: np.random.Generator) -> IntegerRows:
    m, n = rng.integers(1, 12, 2)
    dense = rng.integers(-3, 4, (m, n)) * (rng.random((m, n)) < rng.choice([0.2, 0.4, 0.8]))
    return IntegerRows.from_triplets(*np.nonzero(dense), dense[np.nonzero(dense)], dense.shape)


def test_dependent_row_comes_with_its_combination() -> None:
    form = echelon(IntegerRows.from_dicts([{0: 1, 1: 1}, {0: 1, 1: -1}, {0: 5}], 2))
    assert len(form.redundant) == 1
    found = form.combinations.csr().toarray()[0]
    assert np.array_equal(found * np.sign(found[0]), [5, 5, -2])


def test_sum_of_all_nodes_vanishes() -> None:
    ring = [{k: 1, (k + 1) % 6: -1} for k in range(6)]
    form = echelon(IntegerRows.from_dicts(ring, 6))
    assert form.combinations.csr().toarray().tolist() == [[1] * 6]


@pytest.mark.parametrize("seed", range(150))
def test_echelon_agrees_with_the_reduced_form(seed: int) -> None:
    rows = random_rows(np.random.default_rng(seed))
    dense = rows.csr().toarray()
    form = echelon(rows)
    combinations = form.combinations.csr().toarray()
    kept = np.delete(dense, form.redundant, axis=0)
    assert len(kept) == rank(dense)
    assert not (combinations @ dense).any()
    assert (combinations[np.arange(len(form.redundant)), form.redundant] > 0).all()
    assert rank(combinations) == len(form.redundant) if len(form.redundant) else form.combinations.m == 0
    assert not len(kept) or rank(kept) == len(kept)


@pytest.mark.parametrize("seed", range(150))
def test_null_space_agrees_with_the_reduced_form(seed: int) -> None:
    rows = random_rows(np.random.default_rng(seed))
    space = null_space(rows)
    basis = space.basis.csr().toarray()
    assert same_span(basis, null_basis(rows.csr().toarray()))
    at_free = basis[:, space.free]
    assert np.array_equal(at_free, np.diag(np.diag(at_free)))
    assert (np.diag(at_free) > 0).all()


def test_long_ring_has_one_dependent_row() -> None:
    n = 5000
    ring = [{k: 1, (k + 1) % n: -1} for k in range(n)]
    form = echelon(IntegerRows.from_dicts(ring, n))
    assert len(form.redundant) == 1
    assert form.combinations.val.tolist() == [1] * n


def test_fractions_are_scaled_to_integers() -> None:
    form = echelon(IntegerRows.from_dicts([{0: 2, 1: 3}, {0: 3, 1: 5}, {0: 7, 1: 11}], 2))
    found = form.combinations.csr().toarray()[0]
    assert np.array_equal(found * np.sign(found[0]), [2, 1, -1])


@pytest.mark.parametrize("seed", range(50))
def test_vectors_in_the_row_space_are_combinations_of_independent_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = random_rows(rng)
    dense = rows.csr().toarray()
    vectors = rng.integers(-2, 3, (3, rows.m)) @ dense
    row, col = np.nonzero(vectors)
    found = combine(rows, IntegerRows.from_triplets(row, col, vectors[row, col], (3, rows.n)))
    for vector, combination in zip(vectors, found, strict=True):
        assert rank(dense[list(combination)]) == len(combination)
        assert [
            sum(c * int(dense[r, k]) for r, c in combination.items()) for k in range(rows.n)
        ] == vector.tolist()


def test_vector_outside_of_the_row_space_is_refused() -> None:
    rows = IntegerRows.from_dicts([{0: 1, 1: 1}], 3)
    with pytest.raises(ValueError, match=r"columns \[2\] are left"):
        combine(rows, IntegerRows.from_dicts([{0: 2, 1: 2, 2: 1}], 3))
