"""Index reduction with sparse rows: constraints between states are found, and solved for some of them once and for all.

Rows without unknowns of their own, or more rows than they have unknowns together, constrain the states: what `shuffle`
of `index_reduction` asks for, confined to the over-determined part. Where numbers are constant a constraint holds at all
times, so one state of each can be replaced by the others in all rows, derivatives included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from ...structure.decomposition import decompose
from ...structure.incidence import Incidence
from ...structure.matching import Matching, maximum_matching
from ...values import frozen
from ..affine import Inadmissible
from ..elimination import Elimination, product
from ..index_reduction import shuffle
from ..scales import column_weights

MOST_ROUNDS = 5
LARGEST_PART = 500
"""Rows of one connected over-determined part."""


@frozen
class SparseRows:
    """Rows ``E z' + A z + B xi``, some of them plus a nonlinear row ``rho(a)`` with ``a = Z z + D z' + X xi``.

    All unknowns of the model are ``z_of y + z_of_slopes y' + sources_of xi`` with the unknowns ``y`` that the rows are over.
    """

    E: Any
    A: Any
    B: Any
    nonlinear: np.ndarray
    """Nonlinear row of every row, -1 for affine ones."""
    owner: np.ndarray
    """Nonlinear row of every argument."""
    Z: Any
    D: Any
    X: Any
    z_of: Any
    z_of_slopes: Any
    sources_of: Any
    ids: np.ndarray
    """Unknowns of the model that ``y`` are."""
    known: np.ndarray
    """Mask (n,): states, whose derivatives are unknowns in their place."""

    @property
    def n(self) -> int:
        """Number of unknowns ``y``."""
        return self.A.shape[1]

    def differentiated(self) -> np.ndarray:
        """Mask (n,): the derivative occurs."""
        found = np.zeros(self.n, bool)
        found[self.E.indices] = found[self.D[self.in_force()].indices] = True
        return found

    def in_force(self) -> np.ndarray:
        """Mask over the arguments: their nonlinear row is an equation."""
        return np.isin(self.owner, self.nonlinear[self.nonlinear >= 0])

    def unknowns(self) -> Incidence:
        """Unknowns of every row: derivatives in the places of the states."""
        row_of = row_of_argument(self.nonlinear, self.owner)
        rows, columns = [], []
        for matrix, slope, nonlinear in (
            (self.E, True, False),
            (self.A, False, False),
            (self.D, True, True),
            (self.Z, False, True),
        ):
            entries = matrix.tocoo()
            row = row_of[entries.row] if nonlinear else entries.row
            some = (row >= 0) & (self.known[entries.col] == slope)
            rows.append(row[some].astype(np.int64))
            columns.append(entries.col[some].astype(np.int64))
        return Incidence.from_pairs(
            np.concatenate(rows), np.concatenate(columns), (len(self.nonlinear), self.n)
        )

    def taken(self, order: np.ndarray) -> SparseRows:
        """The same rows in another order."""
        return replace(
            self, E=self.E[order], A=self.A[order], B=self.B[order], nonlinear=self.nonlinear[order]
        )

    def substituted(self, replacement: Any, rest: np.ndarray, rows: np.ndarray) -> SparseRows:
        """The given rows over the unknowns ``rest``, where ``[y; y'; xi] = replacement [y[rest]; y'[rest]; xi]``."""
        from scipy.sparse import hstack

        n = len(rest)

        def parts(*given: Any) -> tuple[Any, Any, Any]:
            found = product(hstack(given, format="csr"), replacement)
            return found[:, :n], found[:, n : 2 * n], found[:, 2 * n :]

        A, E, B = parts(self.A[rows], self.E[rows], self.B[rows])
        Z, D, X = parts(self.Z, self.D, self.X)
        z_of, z_of_slopes, sources_of = parts(self.z_of, self.z_of_slopes, self.sources_of)
        return replace(
            self, E=E, A=A, B=B, nonlinear=self.nonlinear[rows], Z=Z, D=D, X=X, z_of=z_of, z_of_slopes=z_of_slopes,
            sources_of=sources_of, ids=self.ids[rest], known=self.known[rest],
        )  # fmt: skip


def row_of_argument(nonlinear: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """Row that every argument of nonlinear rows belongs to, -1 for those of guards and relations.

    Parameters
    ----------
    nonlinear : (n,) array
        Nonlinear row of every row, -1 for affine ones.
    owner : (arguments,) array
        Nonlinear row of every argument.
    """
    at = np.flatnonzero(nonlinear >= 0)
    row_of = np.full(max(int(owner.max(initial=-1)), int(nonlinear.max(initial=-1))) + 1, -1)
    row_of[nonlinear[at]] = at
    return row_of[owner]


def without_constraints(rows: SparseRows, generator: Any, kept_back: np.ndarray) -> tuple[SparseRows, int]:
    """Replace states until every unknown has a row of its own, in whose place it then stands; returns also the rounds.

    Parameters
    ----------
    rows : SparseRows
    generator : (q, q) csr_array
        Of the sources.
    kept_back : (n,) array of bool
        Unknowns that are replaced only if no others can be.

    Raises
    ------
    Inadmissible
        "singular": nonlinear rows constrain states, or rows contradict each other or say nothing.
    """
    system = _SparseReduction(rows, generator, kept_back)
    rounds = sum(1 for _ in islice(shuffle(system), MOST_ROUNDS))
    if not system.matching.perfect:
        raise Inadmissible("singular")
    return system.rows.taken(system.matching.equation), rounds


class _SparseReduction:
    """Rows of which each differentiation replaces the states that constraints give, as these hold at all times."""

    matching: Matching

    def __init__(self, rows: SparseRows, generator: Any, kept_back: np.ndarray) -> None:
        self.rows, self.generator, self.kept_back = rows, generator, kept_back

    def solve_unknowns(self) -> None:
        """Match derivatives and algebraic unknowns with rows."""
        self.rows = replace(self.rows, known=self.rows.differentiated())
        self._incidence = self.rows.unknowns()
        self.matching = maximum_matching(self._incidence)

    def solve_states(self) -> Sequence[tuple[Any, Any, np.ndarray]]:
        """Constraints in the over-determined part, with the rows they take the place of."""
        if self.matching.perfect or self._incidence.m != self._incidence.n:
            return ()
        over = decompose(self._incidence, self.matching).over
        if (self.rows.nonlinear[over.equations] >= 0).any():
            return ()
        return (_constraints(self.rows, over.equations, over.unknowns),)

    def differentiate(self, constraints: Sequence[tuple[Any, Any, np.ndarray]]) -> None:
        """Replace a state for each constraint, and its derivative, everywhere."""
        from scipy.sparse import block_array, eye_array

        for C, U, spent in constraints:
            chosen = _pivots(C, self.kept_back)
            every = np.arange(self.rows.n)
            rest = np.setdiff1d(every, chosen)
            S, V = _substitution(C, U, chosen, rest)
            whole = block_array(
                [[S, None, V], [None, S, V @ self.generator], [None, None, eye_array(V.shape[1])]],
                format="csr",
            )
            self.rows = self.rows.substituted(whole, rest, np.setdiff1d(every, spent))
            self.kept_back = self.kept_back[rest]


def _constraints(
    rows: SparseRows, equations: np.ndarray, unknowns: np.ndarray
) -> tuple[Any, Any, np.ndarray]:
    """Constraints ``C y + U xi = 0`` hidden in over-determined rows, and the rows they take the place of."""
    from scipy.sparse import csr_array, diags_array
    from scipy.sparse.csgraph import connected_components

    slopes = diags_array(rows.known.astype(float))
    M = (rows.E[equations] @ slopes + rows.A[equations] @ (diags_array(np.ones(rows.n)) - slopes)).tocsr()[
        :, unknowns
    ]
    M.eliminate_zeros()
    count, label = connected_components(M @ M.T + diags_array(np.ones(len(equations))), directed=False)
    order = np.argsort(label, kind="stable")
    ends = np.searchsorted(label[order], np.arange(count + 1))
    alone = np.diff(M.indptr) == 0
    single = np.flatnonzero(alone)
    parts = [
        csr_array(
            (np.ones(len(single)), (np.arange(len(single)), single)), shape=(len(single), len(equations))
        )
    ]
    spent = [single]
    for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        if b - a == 1:
            continue
        members = order[a:b]
        if b - a > LARGEST_PART:
            raise Inadmissible("singular")
        dropped, combination = _dependent(M[members].toarray())
        at = np.repeat(np.arange(len(dropped)), len(members)), np.tile(members, len(dropped))
        parts.append(csr_array((combination.ravel(), at), shape=(len(dropped), len(equations))))
        spent.append(members[dropped])
    from scipy.sparse import vstack

    N: Any = vstack(parts, format="csr")
    N.eliminate_zeros()
    C = product(N, rows.A[equations])
    C = (C @ slopes).tocsr()
    C.eliminate_zeros()
    return C, product(N, rows.B[equations]), equations[np.concatenate(spent)]


def _dependent(M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows that depend on others, and the combinations of all rows that show it."""
    m, n = M.shape
    system = Elimination(np.hstack([M, np.eye(m)]), np.concatenate([column_weights(M), np.ones(m)]))
    system.reduce(np.arange(n))
    dropped = np.flatnonzero(system.pivot < 0)
    return dropped, system.entries(dropped, np.arange(n, n + m))


def _pivots(C: Any, kept_back: np.ndarray) -> np.ndarray:
    """A state for every constraint, those that occur in one constraint alone before others."""
    k, n = C.shape
    uses = np.bincount(C.indices, minlength=n)
    for allowed in ((uses == 1) & ~kept_back, ~kept_back, np.ones(n, bool)):
        entries = C.tocoo()
        some = allowed[entries.col]
        found = maximum_matching(
            Incidence.from_pairs(
                entries.row[some].astype(np.int64), entries.col[some].astype(np.int64), (k, n)
            )
        )
        if (found.unknown >= 0).all():
            return found.unknown
    raise Inadmissible("singular")


def _substitution(C: Any, U: Any, chosen: np.ndarray, rest: np.ndarray) -> tuple[Any, Any]:
    """Unknowns from those that stay, ``y = S y[rest] + V xi``."""
    from scipy.sparse import csr_array, diags_array
    from scipy.sparse.linalg import spsolve

    n, k = C.shape[1], len(chosen)
    own, given = C[:, chosen].tocsc(), C[:, rest]
    if own.nnz == k:
        inverse = diags_array(1.0 / own.diagonal())
        over, sources = -(inverse @ given), -(inverse @ U)
    else:
        try:
            over, sources = (
                csr_array(-spsolve(own, part.tocsc())).reshape(part.shape) for part in (given, U)
            )
        except RuntimeError as singular:
            raise Inadmissible("singular") from singular
        if not (np.isfinite(over.data).all() and np.isfinite(sources.data).all()):
            raise Inadmissible("singular")
    place: Any = csr_array((np.ones(k), (chosen, np.arange(k))), shape=(n, k))
    stay = csr_array((np.ones(len(rest)), (rest, np.arange(len(rest)))), shape=(n, len(rest)))
    return (stay + place @ over).tocsr(), (place @ sources).tocsr()
