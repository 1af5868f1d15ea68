"""Expressions as operations on arrays: parts of one shape, such as the terms of a long sum, are one operation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from ..values import frozen
from .expressions import Expr, Symbol, fold, walk

_SUMS = ("+", "-")
_FEW = 4
"""Operations that take and add up an array of terms; as many terms are added one by one."""
Place = tuple[int, int]
"""Number of a group, and of a part in it."""


@frozen
class Algebra:
    """What values are. Those of several parts are an array with one row for each."""

    stack: Callable[[Sequence[Any]], Any]
    """The array of some values."""
    total: Callable[[Any, Any], Any]
    """A value plus the rows of an array, one after the other."""
    apply: Callable[[Expr, list[Any]], Any]
    """Value of an operation from those of its arguments."""


def stacked(values: Sequence[Any]) -> np.ndarray:
    """Numbers, or their values at some times, as an array with one row for each."""
    width = max([v.size if isinstance(v, np.ndarray) else 1 for v in values])
    if width == 1:
        return np.array(values, float).reshape(-1, 1)
    found = np.empty((len(values), width))
    for row, value in zip(found, values, strict=True):
        row[:] = value
    return found


def added_up(value: Any, rows: np.ndarray) -> np.ndarray:
    """A value plus the rows of an array, with the same bits at one time as at many: numpy's sum has an order of its own."""
    terms = np.empty((len(rows) + 1, max(np.size(value), rows.shape[1])))
    terms[0], terms[1:] = value, rows
    return np.add.accumulate(terms)[-1]


@dataclass(eq=False)
class _Group:
    """Parts of one shape: leaves, or one operation on arguments that lie in the same groups, ``sources``, for all of them."""

    node: Expr
    """One of them."""
    sources: tuple[int, ...]
    ops: tuple[str, ...] = ()
    """Of a sum: "+" or "-" before each term but the first."""
    rows: dict[Any, int] = field(default_factory=dict)
    """What a leaf is, or the places of the arguments, -> place in the group."""
    leaves: list[Expr] = field(default_factory=list)


class ArrayForm:
    """An expression as operations on arrays.

    A sum ``a + b - c + ...`` is one operation as far as its partial sums have no other use.

    Parameters
    ----------
    expr : expression
    apart : callable
        True for operations that are given a value as leaves are.
    """

    def __init__(self, expr: Expr, apart: Callable[[Expr], bool]) -> None:
        self.expr = expr
        """Parts are known by identity as long as the whole is held."""
        self._groups: list[_Group] = []
        self._number: dict[Any, int] = {}
        self._closed: dict[int, Place] = {}
        self._uses = Counter([id(a) for node in walk(expr) for a in node.args if a.op in _SUMS])
        found = fold(expr, self._leaf, self._apply, lambda n: self._apart(n) if apart(n) else None)
        self._result = self._place(found)
        self._columns = [self._columns_of(g) for g in self._groups]

    def _put(
        self, key: Any, row: Any, node: Expr, sources: tuple[int, ...] = (), ops: tuple[str, ...] = ()
    ) -> Place:
        number = self._number.setdefault(key, len(self._groups))
        if number == len(self._groups):
            self._groups.append(_Group(node, sources, ops))
        group = self._groups[number]
        place = group.rows.setdefault(row, len(group.rows))
        if not sources and place == len(group.leaves):
            group.leaves.append(node)
        return number, place

    def _leaf(self, node: Expr) -> Place:
        row = (id(node.owner), node.name) if isinstance(node, Symbol) else node.op == "time" or id(node)
        return self._put((node.op, node.marks), row, node)

    def _apart(self, node: Expr) -> Place:
        return self._put(id(node), None, node)

    def _apply(self, node: Expr, args: list[Any]) -> Any:
        """The place of an operation; of a sum pairs of operation and place, which the next sum goes on with."""
        if node.op in _SUMS:
            first, second = args
            alone = isinstance(first, list) and self._uses[id(node.args[0])] == 1
            terms = first if alone else [("+", self._place(first))]
            terms.append((node.op, self._place(second)))
            return terms
        places = [self._place(a) for a in args]
        sources = tuple([g for g, _ in places])
        data = None if node.data is None else id(node.data)
        return self._put((node.op, sources, data), tuple([p for _, p in places]), node, sources)

    def _place(self, found: Any) -> Place:
        if not isinstance(found, list):
            return found
        if id(found) not in self._closed:
            ops = tuple([op for op, _ in found[1:]])
            sources = tuple([g for _, (g, _) in found])
            row = tuple([p for _, (_, p) in found])
            self._closed[id(found)] = self._put((ops, sources), row, self.expr, sources, ops)
        return self._closed[id(found)]

    def _columns_of(self, group: _Group) -> list[list[int] | None]:
        """Places of each argument in its source; None for all of them in their order."""
        columns = [list(at) for at in zip(*group.rows, strict=True)] if group.sources else []
        sizes = [len(self._groups[s].rows) for s in group.sources]
        ordered = [len(at) == n and at == list(range(n)) for at, n in zip(columns, sizes, strict=True)]
        return [None if all_of else at for at, all_of in zip(columns, ordered, strict=True)]

    def value(self, leaf: Callable[[Expr], Any], algebra: Algebra) -> Any:
        """The value of the expression from those of leaves, and of operations that are apart."""
        values: list[Any] = []
        """Of each group an array, or a list where it has fewer parts than an operation on arrays takes steps."""

        def take(source: int, places: list[int] | None) -> Any:
            found = values[source]
            size = len(self._groups[source].rows)
            if size == 1 or (places is not None and len(places) == 1):
                return found[0 if places is None else places[0]]
            if isinstance(found, list):
                return algebra.stack(found if places is None else [found[p] for p in places])
            return found if places is None else found[places]

        for g, columns in zip(self._groups, self._columns, strict=True):
            if not g.sources:
                values.append([leaf(node) for node in g.leaves])
            elif g.ops:
                found = _added(g, columns, take, algebra)
                values.append([found] if len(g.rows) == 1 else found)
            elif len(g.rows) <= 1 + len(columns):
                parts = [[values[s][p] for s, p in zip(g.sources, row, strict=True)] for row in g.rows]
                values.append([algebra.apply(g.node, arguments) for arguments in parts])
            else:
                arguments = [take(s, c) for s, c in zip(g.sources, columns, strict=True)]
                values.append(algebra.apply(g.node, arguments))
        number, place = self._result
        return values[number][place]


def _added(g: _Group, columns: list[list[int] | None], take: Callable[..., Any], algebra: Algebra) -> Any:
    """Sums of one shape: term by term, or many terms of a single one at once."""
    total = take(g.sources[0], columns[0])
    if len(g.rows) > 1:
        for op, source, places in zip(g.ops, g.sources[1:], columns[1:], strict=True):
            total = total + take(source, places) if op == "+" else total - take(source, places)
        return total
    (row,) = g.rows
    terms = zip(g.ops, g.sources[1:], row[1:], strict=True)
    for (op, source), run in groupby(terms, lambda term: term[:2]):
        places = [p for *_, p in run]
        if len(places) > _FEW:
            rows = take(source, places)
            total = algebra.total(total, rows if op == "+" else -rows)
            continue
        for p in places:
            total = total + take(source, [p]) if op == "+" else total - take(source, [p])
    return total
