"""Elimination that tells exact zeros from small numbers."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

from acausal.reduction.double_double import Accumulator
from acausal.reduction.elimination import Elimination, OutOfRange, product
from acausal.reduction.rounding import UNIT
from acausal.reduction.scales import column_weights


def eliminated(rows: list[list[float]], columns: int) -> Elimination:
    table = np.array(rows)
    weight = np.ones(table.shape[1])
    weight[:columns] = column_weights(table[:, :columns])
    system = Elimination(table, weight)
    system.reduce(np.arange(columns))
    return system


def test_a_dependent_row_becomes_exactly_zero() -> None:
    rows = np.array([[0.1, 0.7, -0.3, 1.0], [1.1, 0.9, 0.2, -2.0]])
    system = eliminated([*rows.tolist(), (rows[0] / 3.0 + rows[1] * 0.7).tolist()], 3)
    left = system.pivot < 0
    assert left.sum() == 1
    assert not system.entries(np.flatnonzero(left), np.arange(system.value.shape[1])).any()


@pytest.mark.parametrize("small", [1e-12, 1e-30, 1e-100])
def test_a_small_entry_that_is_no_cancellation_is_an_incidence(small: float) -> None:
    system = eliminated([[1.0, -1.0, 0.0, 0.0], [0.0, small, 1.0, 0.0], [1.0, 0.0, 0.0, 2.0]], 3)
    assert (system.pivot >= 0).all()
    assert system.solution(np.arange(3), np.array([3])).ravel().tolist() == [-2.0, -2.0, 2.0 * small]


def test_a_variable_is_not_solved_from_a_row_in_which_it_is_negligible() -> None:
    system = eliminated([[1.0, 1.0, 0.0, 0.0], [0.0, 1e9, 1.0, 0.0], [1e-9, 1.0, 0.0, 1.0]], 3)
    value = system.solution(np.arange(3), np.array([3])).ravel()
    exact = 1.0 / (1.0 - 1e-9)
    np.testing.assert_allclose(value, [exact, -exact, 1e9 * exact], rtol=1e-15)


def test_cancellation_of_a_cancelled_entry_is_judged_by_its_own_error() -> None:
    # 1 + 1e-9 - 1 is known to 1e-7 only; two such pivots that agree to that are dependent rows.
    a, b = (1.0 + 1e-9) - 1.0, 1e-9
    system = eliminated([[1.0, 1.0, 0.0], [1.0, 1.0 + 1e-9, 1.0], [0.0, 1e-9, 1.0]], 2)
    assert a != b
    left = system.pivot < 0
    assert left.sum() == 1
    assert not system.entries(np.flatnonzero(left), np.arange(system.value.shape[1])).any()


@pytest.mark.parametrize("seed", range(10))
def test_rows_that_follow_lead_where_all_at_once_do(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(6, 9)) * np.exp2(rng.integers(-20, 20, 9))
    rows[rng.random(rows.shape) < 0.4] = 0.0
    rows[np.arange(6), np.arange(6)] += np.exp2(rng.integers(-20, 20, 6))
    columns, given, weight = np.arange(6), np.arange(6, 9), column_weights(rows)
    begun = Elimination(rows[:4], column_weights(rows[:4]))
    begun.reduce(columns, waits=True)
    before = begun.value.copy(), begun.row.copy()
    made = begun.followed_by(rows[4:], weight)
    made.reduce(columns)
    together = Elimination(rows, weight)
    together.reduce(columns)
    np.testing.assert_allclose(
        made.solution(columns, given), together.solution(columns, given), rtol=1e-15, atol=0.0
    )
    # Others may follow it too.
    np.testing.assert_array_equal(begun.value, before[0])
    np.testing.assert_array_equal(begun.row, before[1])


def test_a_weak_pivot_waits_for_rows_that_follow() -> None:
    # Rows would grow by its inverse, and lose in a sum what the last row reads.
    begun = Elimination(np.array([[1e-9, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 9.8]]), np.ones(4))
    begun.size[:] = 1.0
    begun.reduce(np.arange(3), waits=True)
    assert begun.row[0] < 0
    assert begun.row[1] >= 0


def test_rows_added_later_are_reduced_by_the_pivots_found_before() -> None:
    system = eliminated([[2.0, 1.0, 0.0, 4.0]], 3)
    system.append(np.array([[1.0, 1.0, 1.0, 0.0]]), np.array([[1.0, 1.0, 1.0, 0.0]]))
    system.reduce(np.arange(3))
    z = np.zeros(4)
    z[:3] = [0.5, -5.0, 4.5]
    free = np.flatnonzero(system.row[:3] < 0)
    z[free] = [0.0] * len(free)
    solved = np.flatnonzero(system.row[:3] >= 0)
    z[solved] = system.solution(solved, np.array([3])).ravel()
    assert 2.0 * z[0] + z[1] + 4.0 == 0.0
    assert z[0] + z[1] + z[2] == 0.0


def test_null_directions_change_no_row() -> None:
    rows = [[1.0, -1.0, 0.0, 2.0], [0.0, 1.0, -1.0, 0.5]]
    system = eliminated(rows, 4)
    free = np.flatnonzero(system.row < 0)
    directions = system.null_directions(free)
    assert directions.shape == (4, 2)
    assert not (np.array(rows) @ directions).any()


def test_weights_undo_the_scaling_of_columns() -> None:
    matrix = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    weights = column_weights(matrix * np.array([1e-9, 1.0, 1e6]))
    spread = weights * np.array([1e-9, 1.0, 1e6])
    assert spread.max() < 2.0 * spread.min()


def test_product_has_exact_zeros() -> None:
    assert product(np.array([[0.1, 0.2, -0.3]]), np.ones((3, 1)))[0, 0] == 0.0


@pytest.mark.parametrize("seed", range(20))
def test_rank_is_that_of_exact_arithmetic(seed: int) -> None:
    # Small multiples of 1/8 are exact in binary, and the rows that depend on others are so exactly.
    rng = np.random.default_rng(seed)
    n, dependent = 40, int(rng.integers(0, 6))
    rows = rng.integers(-9, 10, (n - dependent, n)) / 8.0 * (rng.random((n - dependent, n)) < 0.15)
    rows = np.vstack([rows, rng.integers(-3, 4, (dependent, n - dependent)) @ rows])[rng.permutation(n)]
    system = eliminated(rows.tolist(), n)
    assert np.count_nonzero(system.pivot >= 0) == exact_rank(rows)


def exact_rank(rows: np.ndarray) -> int:
    """Rank by elimination with fractions."""
    left = [[Fraction(x) for x in row] for row in rows.tolist()]
    rank = 0
    for column in range(rows.shape[1]):
        at = next((k for k in range(rank, len(left)) if left[k][column]), None)
        if at is None:
            continue
        left[rank], left[at] = left[at], left[rank]
        for row in left[rank + 1 :]:
            factor = row[column] / left[rank][column]
            if factor:
                row[:] = [a - factor * b for a, b in zip(row, left[rank], strict=True)]
        rank += 1
    return rank


@pytest.mark.parametrize("n", [20, 40, 80, 160])
@pytest.mark.parametrize("independent", [0.0, 1e-3, 1e-6, 1e-9, 1e-11])
def test_estimates_do_not_grow_with_the_number_of_steps(n: int, independent: float) -> None:
    rng = np.random.default_rng(n)
    rows = np.linalg.qr(rng.standard_normal((n, n)))[0]
    others = rng.standard_normal(n - 1)
    rows[-1] = others @ rows[:-1] / np.linalg.norm(others) + independent * rows[-1]
    system = eliminated(rows.tolist(), n)
    assert np.count_nonzero(system.pivot >= 0) == n - (independent == 0.0)


def test_a_weak_pivot_waits_for_a_strong_one_of_its_column() -> None:
    """As of a rod that lies along its guide: the shortest row says next to nothing of its angle."""
    rows = [[1e-33, 0.0, 0.0, 1.0, -1.0], [0.3, 0.0, 1.0, 1.0, 0.0], [0.4, 1.0, -1.0, 0.0, 9.8]]
    system = eliminated(rows, 2)
    assert system.pivot.tolist() == [-1, 0, 1]
    given = np.array([2, 3, 4])
    assert system.entries(np.array([0]), given)[0] == pytest.approx([-1e-33 / 0.3, 1.0, -1.0])
    assert system.solution(np.array([1]), given)[0] == pytest.approx([1.0 + 0.4 / 0.3, 0.4 / 0.3, -9.8])


@pytest.mark.parametrize("seed", [*range(60), 245, 274])
def test_rank_and_solution_are_exact_with_entries_of_any_size(seed: int) -> None:
    """Growth takes digits from values in one of thirty systems; those are evaluated anew from the rows as they were given."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 16))
    exponents = rng.integers(-57, 58, (n, n)) * (rng.random((n, n)) < 0.2)
    matrix = rng.integers(-9, 10, (n, n)) * np.exp2(exponents) * (rng.random((n, n)) < 3.0 / n)
    if seed % 3 == 0:
        matrix[-1] = matrix[0] * 2.0 ** int(rng.integers(-20, 20))
    right = rng.integers(-3, 4, n).astype(float)
    system = eliminated(np.column_stack([matrix, right]).tolist(), n)
    rank = exact_rank(matrix)
    assert np.count_nonzero(system.pivot >= 0) == rank
    if rank == n:
        found = system.solution(np.arange(n), np.array([n])).ravel()
        assert found == pytest.approx(exact_solution(matrix, -right), rel=1e-12)


def decades(seed: int) -> tuple[np.ndarray, int]:
    """A sparse table of numbers of twelve decades, and how many columns of it are to be solved for."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 16))
    table = np.zeros((n, n + 3))
    for i in range(n):
        at = rng.choice(n, size=min(n, int(rng.integers(1, 4))), replace=False)
        sign = rng.choice([1, -1], len(at))
        table[i, at] = sign * np.where(rng.random(len(at)) < 0.5, 1.0, 10.0 ** rng.integers(-6, 7, len(at)))
        table[i, i] = 1.0 if rng.random() < 0.5 else 10.0 ** rng.integers(-6, 7)
        if rng.random() < 0.4:
            table[i, n + rng.integers(3)] = rng.normal()
    return table, n


@pytest.mark.parametrize("seed", [28, 46, 50, 54, 77, 119, 263, 267, 302, 346, 315, 398, 439, 470, 682, 784])
def test_every_entry_meets_the_given_rows_by_its_own_terms(seed: int) -> None:
    """Judged by the largest term of a row, small entries had lost up to six of their digits."""
    table, n = decades(seed)
    found = eliminated(table.tolist(), n).solution(np.arange(n), n + np.arange(3))
    defect, terms = np.abs(table[:, :n] @ found + table[:, n:]), np.abs(table[:, :n]) @ np.abs(found)
    assert (defect <= 2.0**-46 * (terms + np.abs(table[:, n:]))).all()


@pytest.mark.parametrize("seed", [5, 12, 13, 167, 228, 267, 278, 279, 395, 399])
def test_entries_are_exact_to_the_last_digits(seed: int) -> None:
    """Met by the given rows alone, entries were off by up to 1e-3 of themselves, and one was lost."""
    table, n = decades(seed)
    found = eliminated(table.tolist(), n).solution(np.arange(n), n + np.arange(3))
    exact = np.column_stack([exact_solution(table[:, :n], -table[:, n + k]) for k in range(3)])
    np.testing.assert_allclose(found, exact, rtol=4 * UNIT)


@pytest.mark.parametrize("density", [0.02, 0.5])
def test_products_are_summed_in_twice_the_digits(density: float) -> None:
    """With few entries and with many: the sum with its first matrix cancels to what fractions make of it."""
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(30, 25)) * (rng.random((30, 25)) < 0.1), rng.normal(size=(25, 20))
    b *= rng.random(b.shape) < density
    found = Accumulator(np.asfortranarray(-(a @ b)))
    found.add_rows(a, b)
    exact = [
        [sum(Fraction(x) * Fraction(y) for x, y in zip(row, of, strict=True)) for of in b.T.tolist()]
        for row in a.tolist()
    ]
    left = np.array(
        [
            [float(x - Fraction(y)) for x, y in zip(*rows, strict=True)]
            for rows in zip(exact, (a @ b).tolist(), strict=True)
        ]
    )
    np.testing.assert_allclose(found.value, left, rtol=1e-6, atol=1e-30)


@pytest.mark.parametrize("loss", [1e-3, 1e-5, 1e-7])
def test_what_is_a_difference_of_large_entries_has_all_its_digits(loss: float) -> None:
    """Two ways to one quantity agree: as the drop along a small loss, and as the difference of what stands at its ends."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        source, (a, b, c) = rng.normal(size=(2, 3)), rng.uniform(0.5, 2.0, size=3)
        rows = [  # Of two ends, the drop between them twice, the flow through the loss, and three sources.
            [1.0, -1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [1.0, -1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0, -loss, 0.0, 0.0, 0.0],
            [a, 0.0, 0.0, 0.0, 1.0, *source[0]],
            [0.0, b, 0.0, 0.0, -c, *source[1]],
        ]
        found = eliminated(rows, 5).solution(np.arange(5), 5 + np.arange(3))
        np.testing.assert_allclose(found[2], found[3], rtol=UNIT)
        np.testing.assert_allclose(found[2], loss * found[4], rtol=2 * UNIT)


def test_entries_whose_squares_no_double_holds_are_refused() -> None:
    with pytest.raises(OutOfRange):
        eliminated([[1e-200, 0.0, 1.0], [1.0, 1.0, 0.0]], 2)
    with pytest.raises(OutOfRange):
        eliminated([[1e200, 1.0, 1.0], [1.0, 1.0, 0.0]], 2)


def test_doubtful_values_of_a_long_chain_need_no_dense_factors() -> None:
    """A thousand pivots, one row in doubt: the pivot block keeps its zeros."""
    n = 1200
    rows = np.eye(n, n + 1) + 0.5 * np.eye(n, n + 1, 1)
    system = Elimination(rows, np.ones(n + 1))
    system.reduce(np.arange(n))
    tracemalloc.start()
    system._evaluate(np.array([0]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.3 * n * n * 8
    assert system.value[0, n] == 0.5**n * (-1.0) ** (n + 1)


def test_rows_may_lie_in_memory_by_columns() -> None:
    rows = np.array([[2.0, 1.0, 0.0, 3.0], [1.0, -3.0, 2.0, 0.0], [0.0, 1.0, 5.0, -1.0]])
    found = []
    for order in ("C", "F"):
        system = Elimination(np.array(rows, order=order), np.ones(4))
        system.reduce(np.arange(3))
        found.append(system.solution(np.arange(3), np.array([3])).ravel())
    assert found[0].tolist() == found[1].tolist()
    assert found[0] == pytest.approx(exact_solution(rows[:, :3], -rows[:, 3]), rel=1e-15)


def exact_solution(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solution of a regular system by elimination with fractions."""
    left = [[Fraction(x) for x in row] for row in np.column_stack([matrix, right]).tolist()]
    for k in range(len(left)):
        at = next(i for i in range(k, len(left)) if left[i][k])
        left[k], left[at] = left[at], left[k]
        left[k] = [x / left[k][k] for x in left[k]]
        for i, row in enumerate(left):
            if i != k and row[k]:
                left[i] = [a - row[k] * b for a, b in zip(row, left[k], strict=True)]
    return np.array([float(row[-1]) for row in left])
