"""Rounds of signed aliases and known values over integer rows with protected unknowns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..values import frozen
from .aliases import AliasClasses, AliasEdges, alias_classes, alias_edges, independent_edges
from .incidence import INT, IntegerRows, stack
from .peeling import LARGEST


@frozen
class Merged:
    """State of the elimination: ``x[j] = sign[j] * x[root[j]]``, and ``x[known[k]] = values[k] @ x``.

    Attributes
    ----------
    live, origin : IntegerRows and ndarray of int64, shape (m',)
        Rows over roots that are left, and the input row each came from.
    root, sign : ndarray of int64, shape (n,)
        Signed representative of every column; sign 0 means that the variable is zero.
    known, values : ndarray of int64, shape (k,), and IntegerRows
        Roots with a known value, and that value over the known columns.
    links, link_origin : IntegerRows and ndarray of int64
        Equations between fixed variables that were not merged (``x_a = s x_b``, ``x_a = 0``).
    dependent : ndarray of int64
        Input rows that follow from others.
    leftover : bool
        In a dependent row known columns are left: it holds only if they cancel in value.
    """

    live: IntegerRows
    origin: np.ndarray
    root: np.ndarray
    sign: np.ndarray
    known: np.ndarray
    values: IntegerRows
    links: IntegerRows
    link_origin: np.ndarray
    dependent: np.ndarray
    leftover: bool


def merge(
    rows: IntegerRows, fixed: np.ndarray, priority: np.ndarray, given: np.ndarray, max_terms: int = 8
) -> Merged:
    """Merge aliases and replace known values until nothing changes.

    Parameters
    ----------
    rows : IntegerRows
        Rows ``sum_j val_j x_j = 0``, compressed.
    fixed : ndarray of bool, shape (n,)
        Columns that must stay: they may represent a class, but are neither merged into another fixed one, nor
        replaced by zero or by a known value.
    priority : ndarray of int, shape (n,)
        The member with the smallest value, then the smallest id, represents its class. Fixed ones come first.
    given : ndarray of bool, shape (n,)
        Known columns: they are never merged or replaced.
    max_terms : int
        Most given columns in one known value.

    Notes
    -----
    Every round is linear in the number of entries; two or three suffice for networks. At most 50 are made, what they
    leave is left to the caller.
    """
    none = np.zeros(0, INT)
    empty = rows.take(none)
    state = Merged(
        rows,
        np.arange(rows.m),
        np.arange(rows.n),
        np.ones(rows.n, INT),
        none,
        empty,
        empty,
        none,
        none,
        False,
    )
    for _ in range(50):
        state = _drop_dependent(state, given)
        after = _merge_aliases(state, fixed, priority, given)
        if after is state:
            after = _replace_known(state, fixed, given, max_terms)
        if after is state:
            break
        state = after
    return _drop_dependent(state, given)


def _drop_dependent(state: Merged, given: np.ndarray) -> Merged:
    done = state.live.count(~given) == 0
    if not done.any():
        return state
    return replace(
        state,
        live=state.live.take(~done),
        origin=state.origin[~done],
        dependent=np.concatenate((state.dependent, state.origin[done])),
        leftover=state.leftover or bool(state.live.lengths[done].any()),
    )


def _merge_aliases(state: Merged, fixed: np.ndarray, priority: np.ndarray, given: np.ndarray) -> Merged:
    """One round over the rows of one or two unknowns and nothing known."""
    live = state.live
    candidates = np.flatnonzero((live.lengths <= 2) & (live.count(given) == 0))
    edges = alias_edges(live.take(candidates))
    if not len(edges.row):
        return state
    edges = replace(edges, row=candidates[edges.row])
    classes = alias_classes(edges, priority)
    stay = np.flatnonzero(fixed & ((classes.representative != np.arange(live.n)) | (classes.sign == 0)))
    independent = _independent(edges, classes)
    representative, sign = classes.representative.copy(), classes.sign.copy()
    links = _links(stay, classes)
    link_rows = _link_rows(stay, edges.take(independent), classes)
    representative[stay], sign[stay] = stay, 1
    left = np.ones(live.m, bool)
    left[edges.row] = False
    live = live.take(left)
    live = (
        IntegerRows(live.ptr, representative[live.col], live.val * sign[live.col], live.n)
        .compress()
        .primitive()
    )
    return replace(
        state,
        live=live,
        origin=state.origin[left],
        root=representative[state.root],
        sign=state.sign * sign[state.root],
        links=stack(state.links, links),
        link_origin=np.concatenate((state.link_origin, state.origin[link_rows])),
        dependent=np.concatenate((state.dependent, state.origin[edges.row[~independent]])),
    )


def _independent(edges: AliasEdges, classes: AliasClasses) -> np.ndarray:
    """Mask of the relations that do not follow from others; only classes with surplus relations are walked through."""
    size = int(classes.label.max(initial=0)) + 1
    rank = np.bincount(classes.label, minlength=size)
    one_is_free = np.zeros(size, bool)
    one_is_free[classes.label[classes.sign != 0]] = True
    rank[one_is_free] -= 1
    surplus = np.bincount(classes.label[edges.a], minlength=size) > rank
    doubtful = np.flatnonzero(surplus[classes.label[edges.a]])
    independent = np.ones(len(edges.row), bool)
    independent[doubtful] = independent_edges(edges.take(doubtful))
    return independent


def _links(stay: np.ndarray, classes: AliasClasses) -> IntegerRows:
    """Rows ``x[j] - sign * x[representative] = 0`` of the variables that are not merged."""
    count, n = len(stay), len(classes.sign)
    index = np.arange(count)
    row = np.concatenate((index, index))
    col = np.concatenate((stay, classes.representative[stay]))
    val = np.concatenate((np.ones(count, INT), -classes.sign[stay]))
    return IntegerRows.from_triplets(row, col, val, (count, n))


def _link_rows(stay: np.ndarray, edges: AliasEdges, classes: AliasClasses) -> np.ndarray:
    """Give every such variable one of the independent rows of its class, one that contains it if possible."""
    if not len(stay):
        return np.zeros(0, INT)
    wanted = np.zeros(int(classes.label.max()) + 1, bool)
    wanted[classes.label[stay]] = True
    edges = edges.take(wanted[classes.label[edges.a]])
    by_variable: dict[int, list[int]] = {}
    by_class: dict[int, list[int]] = {}
    for a, b, row in sorted(
        zip(edges.a.tolist(), edges.b.tolist(), edges.row.tolist(), strict=True), key=lambda edge: -edge[2]
    ):
        by_variable.setdefault(a, []).append(row)
        by_variable.setdefault(b, []).append(row)
        by_class.setdefault(int(classes.label[a]), []).append(row)
    taken: dict[int, bool] = {}
    result = []
    for variable in stay.tolist():
        row = next((r for r in reversed(by_variable[variable]) if r not in taken), None)
        if row is None:
            pool = by_class[int(classes.label[variable])]
            row = next(r for r in reversed(pool) if r not in taken)
        taken[row] = True
        result.append(row)
    return np.array(result, INT)


def _replace_known(state: Merged, fixed: np.ndarray, given: np.ndarray, max_terms: int) -> Merged:
    """One round over the rows of one unknown and something known."""
    live = state.live
    row = live.row
    largest = np.zeros(live.m, INT)
    np.maximum.at(largest, row, np.abs(live.val))
    fits = (live.count(~given) == 1) & (live.lengths <= max_terms + 1) & (largest <= LARGEST)
    entry = np.flatnonzero(fits[row] & ~given[live.col] & ~fixed[live.col] & (np.abs(live.val) == 1))
    known, first = np.unique(live.col[entry], return_index=True)
    if not len(known):
        return state
    entry = entry[first]
    chosen = live.take(row[entry])
    scaled = IntegerRows(
        chosen.ptr, chosen.col, -chosen.val * np.repeat(live.val[entry], chosen.lengths), chosen.n
    )
    values = scaled.where(given[chosen.col])
    left = np.ones(live.m, bool)
    left[row[entry]] = False
    return replace(
        state,
        live=live.take(left).substitute(known, values).primitive(),
        origin=state.origin[left],
        known=np.concatenate((state.known, known)),
        values=stack(state.values, values),
    )
