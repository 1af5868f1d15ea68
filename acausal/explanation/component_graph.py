"""Components and connections as a graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..flattening.flat_model import FlatModel
from ..modeling.fields import Input
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
        Components one of which reads a signal of the other.
    """

    components: tuple[str, ...]
    sets: tuple[tuple[int, ...], ...]
    signals: tuple[tuple[int, int], ...]


def component_graph(equations: Equations) -> ComponentGraph:
    """Return the graph of all components that are connected."""
    flat = equations.flat
    owner = _owners(flat)
    sets: list[list[int]] = []
    signals: list[tuple[int, int]] = []
    for k in range(equations.integer_rows):
        cols = flat.col[int(flat.ptr[k]) : int(flat.ptr[k + 1])].tolist()
        owners = list(dict.fromkeys(owner[c] for c in cols))
        if len(owners) < 2:
            continue
        if equations.is_connection(k):
            if all(getattr(equations.field(c), "flow", False) for c in cols):
                sets.append(owners)
        elif any(isinstance(equations.field(c), Input) for c in cols):
            signals += [(owners[0], other) for other in owners[1:]]
    used = sorted({c for s in sets for c in s} | {c for pair in signals for c in pair})
    position = {c: n for n, c in enumerate(used)}
    paths = _paths(flat)
    return ComponentGraph(
        tuple(paths[c] for c in used),
        tuple(tuple(position[c] for c in s) for s in sets),
        tuple(dict.fromkeys((position[a], position[b]) for a, b in signals)),
    )


def _owners(flat: FlatModel) -> list[int]:
    """Component of every variable, numbered stamp by stamp."""
    owner, first = np.zeros(flat.nv, np.int64), 0
    for s in flat.stamps:
        for j in range(len(s.template.variables)):
            owner[s.vb + j] = first + np.arange(len(s.vb))
        first += len(s.vb)
    return owner.tolist()


def _paths(flat: FlatModel) -> list[str]:
    return [flat.path(k, i) for k, s in enumerate(flat.stamps) for i in range(len(s.vb))]
