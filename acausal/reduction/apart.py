"""Left limits of starts that contradict each other: those of every part by its own equations, before anything joins them.

Parts whose starts do not fit each other are joined at the first instant, as by an ideal switch that closes then: what a part
takes is what it would take there, and what is missing is lost in the connections. So each part has left limits of its own, as
far as its equations and what it differentiates determine them. What these leave open is taken from connections that hold
before the instant too, and beside those that do not from elements that are open then and stay so.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..values import frozen
from .core import Exosystem, Values, form_matrices
from .impacts import MEETS
from .reduced_model import FormRows, ReducedModel
from .rounding import ROUNDING

GOLDEN = 0.6180339887498949
"""Its multiples are spread evenly over the fractions of one."""


@frozen
class Apart:
    """Left limits ``[x, x']`` (2 nv,) of all variables, and the directions (k, 2 nv) in which nothing determines them.

    ``wrong``: parts whose own equations contradict what they differentiate.
    """

    values: np.ndarray
    open: np.ndarray
    wrong: tuple[int, ...]


class _Rows(NamedTuple):
    """Rows ``over @ u + known = 0``."""

    over: Any
    known: np.ndarray

    def take(self, which: np.ndarray) -> _Rows:
        return _Rows(self.over[which], self.known[which])


def left_apart(
    reduced: ReducedModel,
    values: Values,
    sources: tuple[Exosystem, np.ndarray],
    begin: np.ndarray,
    scale: np.ndarray,
    part_of: np.ndarray,
    unmoved: np.ndarray,
    opened: list[int],
) -> Apart:
    """Return the left limits of parts that are joined.

    Parameters
    ----------
    sources : (Exosystem, (q,) array)
    begin, scale : (2 nv,) array
        Values and time derivatives of all variables, of which those of differentiated variables and inputs are kept, and
        their magnitudes.
    part_of : (nv,) array of int
        Number of the part to which a variable belongs, -1 for what lies between parts.
    unmoved : (nv,) array of bool
        Variables of parts that carry nothing, which are not looked at.
    opened : list of int
        Rows of elements that hold before the instant and after it.
    """
    given, nv = np.zeros(2 * len(part_of), bool), len(part_of)
    given[np.flatnonzero(reduced.differentiated)] = True
    given[[reduced.flat.find("v", name)[0] for name, *_ in reduced.inputs]] = True
    rows, node = _all_rows(reduced, values, *sources, part_of)
    ends = scale.reshape(2, -1)[:, node >= 0]
    nodes = np.ones((2, node.max(initial=-1) + 1))
    for own, of_ends in zip(nodes, ends, strict=True):
        own[node[node >= 0]] = of_ends
    unknown = np.concatenate([~given & ~np.tile(unmoved, 2), np.ones(nodes.size, bool)])
    out = np.concatenate([np.tile(unmoved, 2), np.zeros(nodes.size, bool)]) & ~np.pad(given, (0, nodes.size))
    sizes = np.concatenate([scale, nodes.ravel()])[unknown]

    def looked_at(rows: _Rows) -> _Rows:
        rows = rows.take(np.flatnonzero(np.asarray(abs(rows.over) @ out.astype(float)) == 0.0))
        known = rows.known + rows.over[:, np.flatnonzero(given)] @ begin[given]
        return _scaled(_Rows(rows.over[:, np.flatnonzero(unknown)], known), sizes)

    rows = looked_at(rows)
    found, basis, wrong, local = _each(
        rows, np.concatenate([part_of, part_of, np.full(nodes.size, -1)])[unknown]
    )
    if not local.all():
        found, basis = _joined(rows.take(np.flatnonzero(~local)), found, basis)
    if opened and basis.size:
        kept = _laws(reduced, values, *sources, np.array(opened), nodes.size)
        found, basis = _joined(looked_at(kept), found, basis)
    # What is solved for at once with others is rounded as these are.
    basis[np.abs(basis) <= MEETS], found[np.abs(found) <= ROUNDING] = 0.0, 0.0
    u, directions = np.append(begin, nodes), np.zeros((basis.shape[1], len(unknown)))
    u[unknown], directions[:, unknown] = sizes * found, (sizes[:, None] * basis).T
    return Apart(u[: 2 * nv], directions[:, : 2 * nv], wrong)


def own_impulses(
    reduced: ReducedModel,
    values: Values,
    limits: np.ndarray,
    impulses: np.ndarray,
    part_of: np.ndarray,
    which: list[int],
) -> tuple[np.ndarray, tuple[int, ...]]:
    """Impulses (nv,) by the equations of some parts by themselves, and those of these parts that leave them open.

    Where a start value holds whatever impulses say, it is held from outside of its part: what its part takes is what moves it
    between its ``limits`` (2, nv).
    """
    from scipy.sparse import csr_array, vstack

    flat, made, unknown = reduced.flat, impulses.copy(), []
    integer = csr_array((flat.val.astype(float), flat.col, flat.ptr), shape=(len(flat.ptr) - 1, flat.nv))
    own, forms = _own_forms(reduced), form_matrices(reduced, values)
    joined: list[Any] = [
        vstack([factor * integer, M[own]], format="csr") for factor, M in zip((0.0, 1.0), forms, strict=True)
    ]
    E, A = joined
    jumps = np.where(reduced.differentiated, limits[1] - limits[0], 0.0)
    size = np.where(reduced.differentiated, np.abs(limits).sum(axis=0), 0.0)
    known, terms = E @ jumps + A @ impulses, abs(E) @ np.abs(jumps) + abs(A) @ np.abs(impulses)
    known[np.abs(known) <= MEETS * terms + ROUNDING * (abs(E) @ size)] = 0.0
    of, total = abs(E) + abs(A), (abs(E) + abs(A)).sum(axis=1)
    for k in which:
        inside = part_of == k
        rows = np.flatnonzero(of @ inside.astype(float) == total)
        at = np.flatnonzero(inside & (impulses != 0.0))
        if not known[rows].any():
            continue
        found, open_, met = _solved(A[rows][:, at].toarray(), known[rows])
        if open_.size or not met.all():
            unknown.append(k)
        made[at] += found
    made[np.abs(made) <= MEETS * np.abs(impulses)] = 0.0
    return made, tuple(unknown)


def _all_rows(
    reduced: ReducedModel, values: Values, exosystem: Exosystem, xi: np.ndarray, part_of: np.ndarray
) -> tuple[_Rows, np.ndarray]:
    """Equations of the model that hold whatever the branches are, and time derivatives of those without derivatives.

    They are over values and time derivatives of all variables, then of nodes, and the node (nv,) of every variable, -1 for none.
    """
    from scipy.sparse import block_array, csr_array, eye_array, vstack

    flat, count = reduced.flat, len(reduced.flat.ptr) - 1
    integer = csr_array((flat.val.astype(float), flat.col, flat.ptr), shape=(count, flat.nv))
    node, equal = _nodes(integer, reduced.row_known[:count] >= 0, part_of)
    rest, at = np.flatnonzero(~equal), np.flatnonzero(node >= 0)
    ends = -csr_array(
        (np.ones(len(at)), (np.arange(len(at)), node[at])), shape=(len(at), node.max(initial=-1) + 1)
    )
    integer, itself = integer[rest], csr_array(eye_array(flat.nv))[at]
    over = block_array(
        [
            [integer, None, None, None], [None, integer, None, None],
            [itself, None, ends, None], [None, itself, None, ends],
        ],
        format="csr",
    )  # fmt: skip
    known = [
        np.append(exosystem.K @ states, 0.0)[reduced.row_known[:count]][rest]
        for states in (xi, exosystem.S @ xi)
    ]
    own = _laws(reduced, values, exosystem, xi, _own_forms(reduced), 2 * ends.shape[1])
    known = np.concatenate([*known, np.zeros(2 * len(at)), own.known])
    return _Rows(vstack([over, own.over], format="csr"), known), node


def _laws(
    reduced: ReducedModel, values: Values, exosystem: Exosystem, xi: np.ndarray, which: np.ndarray, nodes: int
) -> _Rows:
    """Some affine equations, and time derivatives of those without derivatives, over the same."""
    from scipy.sparse import block_array, csr_array

    E, A = (M[which] for M in form_matrices(reduced, values))
    static = np.flatnonzero(np.diff(E.tocsr().indptr) == 0)
    over = block_array([[A, E, csr_array((len(which), nodes))], [None, A[static], None]], format="csr")
    now, rate = (reduced.known_of_form[which] @ (exosystem.K @ states) for states in (xi, exosystem.S @ xi))
    return _Rows(over, np.concatenate([now, rate[static]]))


def _own_forms(reduced: ReducedModel) -> np.ndarray:
    """Rows of the affine equations that hold whatever the branches are."""
    each = [
        r.first + reduced.flat.batches[r.batch].instances for r in reduced.base if isinstance(r, FormRows)
    ]
    return np.concatenate([np.zeros(0, np.int64), *each])


def _nodes(integer: Any, known: np.ndarray, part_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The node (nv,) of every variable that a connection makes equal to others, -1 for none, and the rows that say so."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    node, pair = np.full(len(part_of), -1), (np.diff(integer.indptr) == 2) & ~known
    rows = np.flatnonzero(pair)
    first = integer.indptr[rows]
    a, b = integer.indices[first], integer.indices[first + 1]
    equal = (integer.data[first] == -integer.data[first + 1]) & (
        (part_of[a] < 0) | (part_of[a] != part_of[b])
    )
    pair[rows], a, b = equal, a[equal], b[equal]
    graph = csr_array((np.ones(len(a)), (a, b)), shape=(len(node), len(node)))
    joined = np.unique(np.concatenate([a, b]))
    _, node[joined] = np.unique(connected_components(graph, directed=False)[1][joined], return_inverse=True)
    return node, pair


def _scaled(rows: _Rows, scale: np.ndarray) -> _Rows:
    """Rows over unknowns in units of their scales, each in units of its largest factor; without those that hold none."""
    over = (rows.over * scale).tocsr()
    over.eliminate_zeros()
    largest = abs(over).max(axis=1).toarray().ravel()
    some = np.flatnonzero(largest)
    over, known = over[some], rows.known[some] / largest[some]
    return _Rows((over.T / largest[some]).T.tocsr(), known)


def _each(rows: _Rows, owner: np.ndarray) -> tuple[np.ndarray, np.ndarray, tuple[int, ...], np.ndarray]:
    """Unknowns by the equations of their own parts, a basis of what is left open, parts in contradiction, rows looked at."""
    touched = [
        owner[rows.over.indices[a:b]] for a, b in zip(rows.over.indptr, rows.over.indptr[1:], strict=False)
    ]
    whose = np.array([t[0] if (t == t[0]).all() else -1 for t in touched], np.int64)
    found, wrong = np.zeros(len(owner)), []
    columns = [np.flatnonzero(owner == -1)]
    bases = [np.eye(len(columns[0]))]
    for k in np.unique(owner[owner >= 0]).tolist():
        at, own = np.flatnonzero(owner == k), rows.take(np.flatnonzero(whose == k))
        found[at], basis, met = _solved(own.over[:, at].toarray(), own.known)
        columns.append(at)
        bases.append(basis)
        if not met.all():
            wrong.append(k)
    total = np.zeros((len(owner), sum(b.shape[1] for b in bases)))
    first = 0
    for at, basis in zip(columns, bases, strict=True):
        total[at, first : first + basis.shape[1]] = basis
        first += basis.shape[1]
    return found, total, tuple(wrong), whose >= 0


def _joined(rows: _Rows, found: np.ndarray, basis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What connections that hold before the instant too say of the rest, and a basis of what stays open then."""
    # With generic weights every connection is missed that takes part in a contradiction, and no other.
    weights = 1.0 + np.modf(GOLDEN * np.arange(len(rows.known)))[0]
    over, known = weights[:, None] * (rows.over @ basis), weights * (rows.known + rows.over @ found)
    a, _, met = _solved(over, known)
    _, left, _ = _solved(over[met], known[met])
    return found + basis @ a, basis @ left


def _solved(over: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Least unknowns that satisfy dense rows best, a basis of what these leave open, and which rows are satisfied."""
    left, size, right = np.linalg.svd(over)
    rank = int((size > MEETS * size.max(initial=0.0)).sum())
    u = -right[:rank].T @ ((left[:, :rank].T @ known) / size[:rank])
    terms = np.abs(over) @ np.abs(u) + np.abs(known)
    met = np.abs(over @ u + known) <= MEETS * terms + ROUNDING * terms.max(initial=0.0)
    return u, right[rank:].T, met
