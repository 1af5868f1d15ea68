from __future__ import annotations

import numpy as np

from acausal.structure.incidence import Incidence, IntegerRows, stack


def test_triplets_are_summed_and_zeros_dropped() -> None:
    row, col, val = np.array([0, 0, 0, 1, 1]), np.array([2, 0, 2, 1, 1]), np.array([1, 4, 2, 3, -3])
    rows = IntegerRows.from_triplets(row, col, val, (2, 3))
    assert rows.ptr.tolist() == [0, 2, 2]
    assert rows.col.tolist() == [0, 2]
    assert rows.val.tolist() == [4, 3]


def test_primitive_divides_every_row_by_its_divisor() -> None:
    rows = IntegerRows.from_dicts([{0: 4, 1: -6}, {}, {1: 5}, {0: 1, 1: 2}], 2)
    assert rows.primitive().val.tolist() == [2, -3, 1, 1, 2]


def test_substitution_replaces_columns_and_cancels() -> None:
    rows = IntegerRows.from_dicts([{0: 1, 1: 2}, {2: 1}], 3)
    definitions = IntegerRows.from_dicts([{0: 1, 2: 3}], 3)
    assert rows.substitute(np.array([1]), definitions).csr().toarray().tolist() == [[3, 0, 6], [0, 0, 1]]
    opposite = IntegerRows.from_dicts([{1: -2}], 3)
    assert rows.substitute(np.array([0]), opposite).lengths.tolist() == [0, 1]


def test_selections_agree_with_dense_indexing() -> None:
    rng = np.random.default_rng(7)
    dense = rng.integers(-2, 3, (9, 7))
    rows = IntegerRows.from_triplets(*np.nonzero(dense), dense[np.nonzero(dense)], dense.shape)
    order, columns, mask = np.array([3, 0, 0, 8]), np.array([6, 2, 4]), rng.random(9) < 0.5
    assert np.array_equal(rows.take(order).csr().toarray(), dense[order])
    assert np.array_equal(rows.take(mask).csr().toarray(), dense[mask])
    assert np.array_equal(rows.columns(columns).csr().toarray(), dense[:, columns])
    assert np.array_equal(rows.transpose().csr().toarray(), dense.T)
    assert np.array_equal(rows.times(rows.transpose()).csr().toarray(), dense @ dense.T)
    assert np.array_equal(stack(rows, rows.take(order)).csr().toarray(), np.vstack((dense, dense[order])))
    chosen = rng.random(7) < 0.5
    assert np.array_equal(rows.count(chosen), np.count_nonzero(dense[:, chosen], axis=1))


def test_empty_rows_are_allowed_everywhere() -> None:
    rows = IntegerRows.from_dicts([{}, {}], 3)
    assert rows.compress().m == rows.primitive().m == stack(rows, IntegerRows.empty(3)).m == 2
    assert rows.take(np.array([], int)).m == 0


def test_repeated_pairs_count_once() -> None:
    incidence = Incidence.from_pairs(np.array([1, 1, 0, 1]), np.array([2, 0, 1, 2]), (2, 3))
    assert incidence.col.tolist() == [1, 0, 2]
    assert incidence.transpose().col.tolist() == [1, 0, 1]
    assert incidence.unknowns(np.array([1, 0])).tolist() == [0, 2, 1]


def test_a_restriction_agrees_with_dense_indexing() -> None:
    dense = np.random.default_rng(3).random((7, 9)) < 0.4
    rows, cols = np.array([5, 0, 3]), np.array([8, 2, 4, 1])
    row, col = np.nonzero(dense)
    found = Incidence.from_pairs(row, col, (7, 9)).restricted(rows, cols)
    assert (found.m, found.n) == (3, 4)
    assert (found.csr().toarray() == dense[np.ix_(rows, cols)]).all()
