"""Short definitions: algebraic unknowns of a large model that affine rows give from states are replaced everywhere.

Rows with a single unknown left are definitions of it, in sweeps, as long as they are short. So are rows in whose unknown
nothing else is interested. What is left are the states and unknowns in loops, and a rate takes one product with a sparse
matrix where the model is explicit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..elimination import product
from .reduction import SparseRows

SWEEPS = 40
LONGEST = 12
"""Terms of a definition that is put into other rows."""
GROWTH = 2
"""Most new entries, in units of those of the row and the column of a pivot."""
FILL = 4
"""Entries, in units of those at the begin, that the matrices may get."""


def without_definitions(rows: SparseRows) -> SparseRows:
    """Replace algebraic unknowns by their definitions as long as the matrices stay sparse.

    Parameters
    ----------
    rows : SparseRows
        Every unknown has a row of its own, in its place.
    """
    most = FILL * _entries(rows)
    for _ in range(SWEEPS):
        before = rows.n, rows.E.nnz
        for step in (_resolved, _without_single, _without_outputs):
            made = step(rows)
            if _entries(made) > most:
                return rows
            rows = made
        if (rows.n, rows.E.nnz) == before:
            break
    return rows


def _entries(rows: SparseRows) -> int:
    parts = (rows.E, rows.A, rows.B, rows.Z, rows.D, rows.z_of, rows.z_of_slopes, rows.sources_of)
    return sum(m.nnz for m in parts)


def _unknowns(rows: SparseRows) -> np.ndarray:
    """Number of unknowns in every row; more than one in nonlinear rows."""
    algebraic = np.bincount(rows.A.tocoo().row[~rows.known[rows.A.indices]], minlength=rows.n)
    return algebraic + np.diff(rows.E.indptr) + 2 * (rows.nonlinear >= 0)


def _uses(rows: SparseRows) -> np.ndarray:
    """Rows and arguments that each variable itself occurs in."""
    return np.bincount(rows.A.indices, minlength=rows.n) + np.bincount(rows.Z.indices, minlength=rows.n)


def _resolved(rows: SparseRows) -> SparseRows:
    """Derivatives that a row gives from states replaced in all other rows."""
    from scipy.sparse import csr_array, diags_array

    single = np.flatnonzero((_unknowns(rows) == 1) & rows.known & (np.diff(rows.E.indptr) == 1))
    value = rows.E[single].data
    shared = np.bincount(rows.E.indices, minlength=rows.n) + np.bincount(rows.D.indices, minlength=rows.n)
    length = np.diff(rows.A.indptr)[single]
    wanted = (rows.E[single].indices == single) & (shared[single] > 1) & (length <= LONGEST)
    single, value = single[wanted], value[wanted]
    if not len(single):
        return rows
    inverse = diags_array(-1.0 / value)
    over, sources = inverse @ rows.A[single], inverse @ rows.B[single]
    others = np.ones(rows.n, bool)
    others[single] = False
    keep = diags_array(others.astype(float))

    def without(values: Any, slopes: Any, own: Any, own_rows: bool) -> tuple[Any, Any, Any]:
        picked: Any = slopes[:, single]
        if own_rows:
            picked = (keep @ picked).tocsr()
        place = csr_array(
            (np.ones(len(single)), (np.arange(len(single)), single)), shape=(len(single), rows.n)
        )
        return (
            (values + picked @ over).tocsr(),
            _clean(slopes - picked @ place),
            (own + picked @ sources).tocsr(),
        )

    A, E, B = without(rows.A, rows.E, rows.B, True)
    Z, D, X = without(rows.Z, rows.D, rows.X, False)
    z_of, z_of_slopes, sources_of = without(rows.z_of, rows.z_of_slopes, rows.sources_of, False)
    return replace(
        rows, A=A, E=E, B=B, Z=Z, D=D, X=X, z_of=z_of, z_of_slopes=z_of_slopes, sources_of=sources_of
    )


def _clean(matrix: Any) -> Any:
    found = matrix.tocsr()
    found.eliminate_zeros()
    return found


def _without_single(rows: SparseRows) -> SparseRows:
    """Algebraic unknowns that a short row gives from states replaced."""
    able = (_unknowns(rows) == 1) & ~rows.known & (rows.A.diagonal() != 0.0)
    length, uses = np.diff(rows.A.indptr), _uses(rows)
    cheap = (length <= LONGEST) & ((length - 1) * (uses - 1) <= GROWTH * (length + uses))
    return _replaced(rows, np.flatnonzero(able & cheap))


def _without_outputs(rows: SparseRows) -> SparseRows:
    """Algebraic unknowns that occur in their own row alone replaced."""
    able = (rows.nonlinear < 0) & ~rows.known & (rows.A.diagonal() != 0.0) & (_uses(rows) == 1)
    return _replaced(rows, np.flatnonzero(able))


def _replaced(rows: SparseRows, pivots: np.ndarray) -> SparseRows:
    """Algebraic unknowns replaced by what their own rows say, which go with them."""
    from scipy.sparse import diags_array, eye_array, hstack, vstack

    if not len(pivots):
        return rows
    rest = np.ones(rows.n, bool)
    rest[pivots] = False
    q, n = rows.B.shape[1], int(rest.sum())
    inverse = diags_array(-1.0 / rows.A.diagonal()[pivots])
    given: Any = hstack([rows.A[pivots][:, rest], rows.E[pivots][:, rest], rows.B[pivots]], format="csr")
    definition = inverse @ given
    replacement = vstack([eye_array(2 * n + q, format="csr"), definition], format="csr")

    def parts(values: Any, slopes: Any, sources: Any) -> tuple[Any, Any, Any]:
        """Rows ``values y + slopes y' + sources xi`` over what stays."""
        own = hstack([values[:, rest], slopes[:, rest], sources], format="csr")
        found = product(hstack([own, values[:, pivots]], format="csr"), replacement)
        return found[:, :n], found[:, n : 2 * n], found[:, 2 * n :]

    A, E, B = parts(rows.A[rest], rows.E[rest], rows.B[rest])
    Z, D, X = parts(rows.Z, rows.D, rows.X)
    z_of, z_of_slopes, sources_of = parts(rows.z_of, rows.z_of_slopes, rows.sources_of)
    return replace(
        rows, E=E, A=A, B=B, nonlinear=rows.nonlinear[rest], Z=Z, D=D, X=X, z_of=z_of, z_of_slopes=z_of_slopes,
        sources_of=sources_of, ids=rows.ids[rest], known=rows.known[rest],
    )  # fmt: skip
