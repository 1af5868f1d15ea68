"""Components and connections as a graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..flattening.flat_model import FlatModel, kind_of
from ..modeling.expressions import Symbol, walk
from ..modeling.typed_fields import Input
from .equations import Equations


@dataclass(frozen=True)
class ComponentGraph:
    """What is connected with what.

    Attributes
    ----------
    components : tuple of str
        Paths, in the order of their variables; the model itself is "".
    sets : tuple of tuple of int
        Connection sets: the components whose ports are connected, by their position.
    signals : tuple of (int, int)
        A component, and one that reads a signal of it.
    """

    components: tuple[str, ...]
    sets: tuple[tuple[int, ...], ...]
    signals: tuple[tuple[int, int], ...]


def component_graph(equations: Equations) -> ComponentGraph:
    """Return the graph of all components that are connected."""
    flat = equations.flat
    owner = _owners(flat, "v")
    sets: dict[frozenset[str], list[int]] = {}
    signals: list[tuple[int, int]] = list(_discrete_signals(flat))
    for k in range(equations.integer_rows):
        cols = flat.col[int(flat.ptr[k]) : int(flat.ptr[k + 1])].tolist()
        owners = list(dict.fromkeys(owner[c] for c in cols))
        if len(owners) < 2:
            continue
        if equations.is_connection(k):
            # A port with several flows has a row for each.
            if all(getattr(equations.field(c), "flow", False) for c in cols):
                sets.setdefault(frozenset(flat.variable(c).rpartition(".")[0] for c in cols), owners)
        elif isinstance(equations.field(cols[0]), Input):
            signals += [(other, owners[0]) for other in owners[1:]]
    used = sorted({c for s in sets.values() for c in s} | {c for pair in signals for c in pair})
    position = {c: n for n, c in enumerate(used)}
    paths = [flat.path(*instance) for instance in flat.instances()]
    return ComponentGraph(
        tuple(paths[c] for c in used),
        tuple(tuple(position[c] for c in s) for s in sets.values()),
        tuple(dict.fromkeys((position[a], position[b]) for a, b in signals)),
    )


def _discrete_signals(flat: FlatModel) -> Iterator[tuple[int, int]]:
    """Pairs of components one of which feeds a discrete input of the other."""
    owner = _owners(flat, "d")
    for k, i, assignment in flat.statements("assignments"):
        if isinstance(assignment.target.field, Input):
            sources = [n for n in walk(assignment.value) if isinstance(n, Symbol) and kind_of(n) == "d"]
            target = owner[flat.symbol(k, i, "d", assignment.target)]
            found = (owner[flat.symbol(k, i, "d", n)] for n in sources)
            yield from ((source, target) for source in found if source != target)


def _owners(flat: FlatModel, kind: str) -> list[int]:
    """Component of every continuous ("v") or discrete ("d") variable, numbered batch by batch."""
    owner, first = np.zeros(flat.nv if kind == "v" else flat.nd, np.int64), 0
    for s in flat.batches:
        base, table = (s.vb, s.template.variables) if kind == "v" else (s.db, s.template.discretes)
        for j in range(len(table)):
            owner[base + j] = first + np.arange(len(base))
        first += len(s)
    return owner.tolist()
