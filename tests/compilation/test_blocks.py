"""Linear equations within CasADi functions, block by block."""

import casadi as ca
import numpy as np
import pytest

from acausal.compilation.blocks import BlockTriangular
from acausal.compilation.correction import correcting
from acausal.compilation.equations import Jet
from acausal.compilation.lowering import Buffered

SIZES = ([1, 1, 1], [1, 1, 5, 1, 3], [60, 1, 2, 45, 1, 1])
"""Of the blocks: single ones next to each other, small ones, and such as are factorised with what is not zero alone."""


def block_matrix(sizes: list[int], rng: np.random.Generator) -> np.ndarray:
    """Blocks on the diagonal, each of one piece, that read those before them."""
    n, first = sum(sizes), 0
    found = np.where(rng.random((n, n)) < 0.1, rng.normal(size=(n, n)), 0.0)
    for size in sizes:
        own = slice(first, first + size)
        found[own, first + size :] = 0.0
        found[own, own] = 3.0 * np.eye(size) + 0.9 * np.roll(np.eye(size), 1, axis=1)
        first += size
    return found


def solver(matrix: np.ndarray) -> Buffered:
    """Of ``s matrix x = b`` with the entries that are zero left out; (s, b) to x."""
    n = len(matrix)
    s, b = ca.SX.sym("s"), ca.SX.sym("b", n)
    blocks = BlockTriangular(ca.SX(ca.sparsify(ca.DM(matrix))) * s, b, [s, b])
    given = [ca.MX.sym("s"), ca.MX.sym("b", n)]
    return Buffered(ca.Function("solver", given, [blocks.solution(given)]))


def solved(f: Buffered, s: float, b: np.ndarray) -> np.ndarray:
    f.inputs[0][:], f.inputs[1][:] = s, b
    f.outputs[0].fill(np.nan)
    f()
    return f.outputs[0].copy()


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("unit", [1.0, 1e-30, 1e30])
def test_the_solution_is_that_of_all_equations_in_any_unit(sizes: list[int], unit: float) -> None:
    rng = np.random.default_rng(len(sizes))
    matrix, n = block_matrix(sizes, rng), sum(sizes)
    matrix = matrix[rng.permutation(n)][:, rng.permutation(n)] * np.exp2(rng.integers(-40, 40, (n, 1)))
    x = rng.normal(size=n)
    np.testing.assert_allclose(solved(solver(matrix), unit, unit * (matrix @ x)), x, rtol=1e-12, atol=1e-13)


def test_what_reads_nothing_that_moves_is_exactly_zero() -> None:
    rng = np.random.default_rng(7)
    sizes = SIZES[-1]
    matrix, n = block_matrix(sizes, rng), sum(sizes)
    order, columns = rng.permutation(n), rng.permutation(n)
    still = sum(sizes[:-3])
    b = np.where(np.arange(n) < still, 0.0, rng.normal(size=n))
    found = np.empty(n)
    found[columns] = solved(solver(matrix[order][:, columns]), 1.0, b[order])
    assert not found[:still].any()
    assert found[still:].all()


@pytest.mark.parametrize("sizes", SIZES)
def test_a_singular_block_gives_no_numbers_and_prints_nothing(
    sizes: list[int], capfd: pytest.CaptureFixture[str]
) -> None:
    matrix = block_matrix(sizes, np.random.default_rng(3))
    found = solved(solver(matrix), 0.0, np.ones(len(matrix)))
    assert not np.isfinite(found).any()
    matrix[:, 0] = 0.0
    found = solved(solver(matrix), 1.0, np.ones(len(matrix)))
    assert not np.isfinite(found).all()
    printed = capfd.readouterr()
    assert printed.out + printed.err == ""


def test_many_unknowns_with_many_entries_are_left_to_others() -> None:
    rng = np.random.default_rng(1)
    y, xi, c = (ca.SX.sym(name, n) for name, n in (("y", 50), ("xi", 1), ("c", 1)))
    for matrix, few in ((rng.normal(size=(50, 50)), False), (np.eye(50) + np.eye(50, k=1), True)):
        value = ca.mtimes(ca.sparsify(ca.DM(matrix)), y**3) - 1.0
        function = ca.Function("rows", [y, xi, c], [value, ca.densify(ca.jacobian(value, y))])
        residual = ca.Function("residual", [y, xi, c], [value, 1e-15 + 0.0 * value])
        rate = Jet(np.eye(50), np.zeros((50, 1)))
        assert (correcting(function, residual, np.arange(50), rate) is not None) == few
