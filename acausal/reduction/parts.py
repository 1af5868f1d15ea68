"""Parts of an affine model that share no unknown: each is a model of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from ..structure.union import Union
from ..values import frozen
from .affine import AffineModel, Branch, Element, Rows
from .labels import CoreNames


@frozen
class IndependentPart:
    """One of the independent parts, with the indices of what it takes from the whole."""

    model: AffineModel
    columns: np.ndarray
    sources: np.ndarray
    elements: tuple[int, ...]


def independent_parts(model: AffineModel) -> tuple[IndependentPart, ...]:
    """Connected components of the graph of couplings that hold elements; the order is that of the elements.

    Unknowns are coupled where a base equation or anything of one element reads both, in whatever branch.
    Known sources couple nothing.
    """
    of_unknowns, of_rows, of_elements = couplings(model)
    members: dict[int, list[int]] = {}
    for k, r in enumerate(of_elements.tolist()):
        members.setdefault(r, []).append(k)
    return tuple(
        _part(model, np.flatnonzero(of_unknowns == r), np.flatnonzero(of_rows == r), tuple(elements))
        for r, elements in members.items()
    )


def couplings(model: AffineModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels (n,), (rows,), (elements,) of the parts to which unknowns, base equations and elements belong; -1 for none."""
    sets = Union(model.n)
    read = [_read(model.base, i) for i in range(len(model.base))]
    read += [_read_by(element) for element in model.elements]
    for columns in read:
        for other in columns[1:].tolist():
            sets.join(other, int(columns[0]))
    root = np.array([sets.find(j) for j in range(model.n)], dtype=int)
    owner = np.array([root[columns[0]] if len(columns) else -1 for columns in read], dtype=int)
    of_rows, of_elements = np.split(owner, [len(model.base)])
    return root, of_rows, of_elements


def _read(rows: Rows, i: int) -> np.ndarray:
    return np.flatnonzero((rows.A[i] != 0.0) | (rows.E[i] != 0.0))


def _rows_of(element: Element) -> Iterator[Rows]:
    for branch in element.branches:
        yield branch.equations
        yield branch.guards
    yield from element.blocked
    if element.relations is not None:
        yield element.relations


def _read_by(element: Element) -> np.ndarray:
    return np.flatnonzero(sum((rows.A != 0.0).sum(0) + (rows.E != 0.0).sum(0) for rows in _rows_of(element)))


def _part(
    model: AffineModel, columns: np.ndarray, base: np.ndarray, elements: tuple[int, ...]
) -> IndependentPart:
    rows = [model.base.take(base)]
    for k in elements:
        rows.extend(_rows_of(model.elements[k]))
    read = np.any([np.any(r.B != 0.0, axis=0) for r in rows], axis=0)
    while (more := read | (model.S[read] != 0.0).any(axis=0)).sum() > read.sum():
        read = more
    sources = np.flatnonzero(read)

    def cut(rows: Rows) -> Rows:
        return Rows(rows.E[:, columns], rows.A[:, columns], rows.B[:, sources])

    small = AffineModel(
        names=CoreNames(len(columns), lambda k: model.names[columns[k]]),
        differentiated=model.differentiated[columns],
        base=cut(rows[0]),
        elements=tuple(_cut_element(model.elements[k], cut) for k in elements),
        S=model.S[np.ix_(sources, sources)],
        scale=model.scale[columns],
        xi_scale=model.xi_scale[sources],
        T0=model.T0,
        row_names=CoreNames(len(base), lambda k: model.row_names[base[k]]) if len(model.row_names) else (),
        units=None if model.units is None else model.units[columns],
        priority=None if model.priority is None else model.priority[columns],
        nominals=None if model.nominals is None else model.nominals[columns],
    )
    return IndependentPart(small, columns, sources, elements)


def _cut_element(element: Element, cut: Callable[[Rows], Rows]) -> Element:
    def branch(b: Branch) -> Branch:
        return replace(b, equations=cut(b.equations), guards=cut(b.guards))

    return replace(
        element,
        branches=tuple(branch(b) for b in element.branches),
        blocked=tuple(cut(rows) for rows in element.blocked),
        relations=None if element.relations is None else cut(element.relations),
    )
