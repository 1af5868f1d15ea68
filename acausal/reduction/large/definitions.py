"""Short definitions: algebraic unknowns of a large model that affine rows give from states are replaced everywhere.

Rows with a single unknown left are definitions of it, in sweeps, as long as they are short. So are rows in whose unknown
nothing else is interested. What is left are the states and unknowns in loops, and a rate takes one product with a sparse
matrix where the model is explicit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

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
    from scipy.sparse import csr_array, diags_array, hstack, vstack

    single = np.flatnonzero((_unknowns(rows) == 1) & rows.known & (np.diff(rows.E.indptr) == 1))
    value = rows.E[single].data
    shared = np.bincount(rows.E.indices, minlength=rows.n) + np.bincount(rows.D.indices, minlength=rows.n)
    length = np.diff(rows.A.indptr)[single]
    wanted = (rows.E[single].indices == single) & (shared[single] > 1) & (length <= LONGEST)
    single, value = single[wanted], value[wanted]
    if not len(single):
        return rows
    n, own = rows.n, rows.taken(single)
    every = np.arange(n)
    others = np.setdiff1d(every, single)
    definitions: Any = diags_array(-1.0 / value) @ hstack([own.A, csr_array(own.E.shape), own.B])
    made = rows.substituted(_identity_but(n + single, definitions), every, others)
    E, A, B = (vstack(p, format="csr") for p in ((made.E, own.E), (made.A, own.A), (made.B, own.B)))
    nonlinear = np.concatenate([made.nonlinear, own.nonlinear])
    return replace(made, E=E, A=A, B=B, nonlinear=nonlinear).taken(
        np.argsort(np.concatenate([others, single]))
    )


def _identity_but(at: np.ndarray, rows: Any) -> Any:
    """The identity with some of its rows replaced by sparse ones."""
    from scipy.sparse import eye_array, vstack

    order = np.arange(rows.shape[1])
    order[at] = len(order) + np.arange(len(at))
    whole: Any = vstack([eye_array(len(order)), rows], format="csr")
    return whole[order]


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
    from scipy.sparse import diags_array, hstack

    if not len(pivots):
        return rows
    n, own = rows.n, rows.taken(pivots)
    definitions: Any = diags_array(-1.0 / rows.A.diagonal()[pivots]) @ hstack([own.A, own.E, own.B])
    rest = np.setdiff1d(np.arange(n), pivots)
    stay = np.concatenate([rest, n + rest, 2 * n + np.arange(own.B.shape[1])])
    return rows.substituted(_identity_but(pivots, definitions)[:, stay], rest, rest)
