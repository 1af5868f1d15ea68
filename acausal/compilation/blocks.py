"""Linear equations within CasADi functions, solved block by block where their matrix is block triangular.

Pivoting across blocks would bring rounding into what is exactly zero, and the work would grow with the cube of all unknowns.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

import casadi as ca

MOST_COLUMNS = 40
"""Unknowns up to which dense factors inside of CasADi are the faster ones."""
SPARSE = 0.1
"""Share of entries that are not zero up to which the others are left out of the factors of more unknowns."""


class BlockTriangular:
    """Equations ``matrix x = right`` whose coefficients depend on the same arguments.

    Parameters
    ----------
    matrix : (n, n) casadi.SX
    right : (n, 1) casadi.SX
    arguments : list of casadi.SX
    """

    def __init__(self, matrix: ca.SX, right: ca.SX, arguments: list[ca.SX]) -> None:
        matrix = ca.sparsify(matrix)
        ends, rows, columns = _blocks(matrix.sparsity())
        # Where unknown k stands among those that are solved.
        self._place = [0] * len(columns)
        for at, k in enumerate(columns):
            self._place[k] = at
        self._parts = ca.Function("parts", arguments, [matrix[rows, columns], ca.densify(right[rows])])
        self._pattern = self._parts.sparsity_out(0)
        self._groups = _grouped(ends)
        self.sparse = all(
            single or last - first <= MOST_COLUMNS or self._thin(first, last)
            for first, last, single in self._groups
        )
        """Whether no block of many unknowns has many entries."""

    def solution(self, arguments: list[ca.MX]) -> ca.MX:
        """The solution at symbols of the arguments; no numbers where there is none."""
        matrix, right = self._parts(*arguments)
        found = ca.MX(0, 1)
        for first, last, single in self._groups:
            made = self._group(first, last, single)
            given = [matrix[first:last, :last], right[first:last], found]
            found = ca.vertcat(found, made(*given) if single else solution(*made(*given)))
        return found[self._place]

    def _thin(self, first: int, last: int) -> bool:
        own, _ = self._pattern.sub(list(range(first, last)), list(range(first, last)), False)
        return own.nnz() <= SPARSE * own.numel()

    def _group(self, first: int, last: int, single: bool) -> ca.Function:
        """Some of the equations with those before them solved: the unknowns, or the equations for them in units of their rows."""
        count = last - first
        pattern, _ = self._pattern.sub(list(range(first, last)), list(range(last)), False)
        matrix, right = ca.SX.sym("matrix", pattern), ca.SX.sym("right", count)
        known = ca.SX.sym("known", first)
        left, own = right - ca.mtimes(matrix[:, :first], known), matrix[:, first:]
        if not single:
            dense = count <= MOST_COLUMNS or not self._thin(first, last)
            return ca.Function("block", [matrix, right, known], balanced(own, left, dense))
        found: list[ca.SX] = []
        for k in range(count):
            before = own[k, :k]
            terms = [before[j] * found[j] for j in before.sparsity().get_col()]
            found.append((left[k] - sum(terms, ca.SX(0))) / own[k, k])
        return ca.Function("chain", [matrix, right, known], [ca.densify(ca.vertcat(*found))])


def balanced(matrix: ca.SX, right: ca.SX, dense: bool = True) -> list[ca.SX]:
    """Equations with rows of one size, which make partial pivoting independent of their units.

    Rows without any slope give no numbers; LAPACK's own equilibration would print a warning about them.
    """
    size = ca.sum2(ca.fabs(matrix))
    units = ca.repmat(size, 1, matrix.size2()) if dense else ca.diag(1 / ca.densify(size))
    scaled = ca.densify(matrix / units) if dense else ca.mtimes(units, matrix)
    return [scaled, ca.densify(right / size)]


def solution(matrix: ca.MX, right: ca.MX) -> ca.MX:
    """The solution of equations that were balanced; no numbers where there is none."""
    if matrix.is_dense():
        return ca.solve(matrix, right, "lapacklu", {"equilibration": False})
    # A zero alone is no pivot: how small the others are depends on units.
    return ca.solve(matrix, right, "qr", {"eps": 0.0})


def _blocks(pattern: Any) -> tuple[list[int], list[int], list[int]]:
    """Ends of the blocks of a lower block triangular form, with the order of rows and of columns in it."""
    n = pattern.size1()
    if ca.sprank(pattern) < n:
        return [n], list(range(n)), list(range(n))
    _, rows, columns, ends, *_ = pattern.btf()
    return ends[1:], rows, columns


def _grouped(ends: list[int]) -> list[tuple[int, int, bool]]:
    """Begin and end of blocks, and whether each is of single unknowns: those next to each other together."""
    found: list[tuple[int, int, bool]] = []
    blocks = zip([0, *ends], ends, strict=False)
    for single, some in groupby(blocks, lambda block: block[1] - block[0] == 1):
        of = list(some)
        found += [(of[0][0], of[-1][1], True)] if single else [(*block, False) for block in of]
    return found
