"""Signed alias classes: which variables are equal, opposite or zero."""

from __future__ import annotations

import numpy as np

from ..values import frozen
from .incidence import INT, IntegerRows


@frozen
class AliasEdges:
    """Relations ``x[a] = sign * x[b]``; ``b = n`` stands for the number zero.

    Attributes
    ----------
    a, b, sign : ndarray of int64, shape (k,)
        The relations.
    row : ndarray of int64, shape (k,)
        Row every relation was read from.
    n : int
        Number of variables.
    """

    a: np.ndarray
    b: np.ndarray
    sign: np.ndarray
    row: np.ndarray
    n: int

    def take(self, edges: np.ndarray) -> AliasEdges:
        """Select relations by id or mask."""
        return AliasEdges(self.a[edges], self.b[edges], self.sign[edges], self.row[edges], self.n)


@frozen
class AliasClasses:
    """``x[j] = sign[j] * x[representative[j]]``; a zero variable has sign 0 and represents itself.

    Attributes
    ----------
    representative, sign : ndarray of int64, shape (n,)
        The classes.
    label : ndarray of int64, shape (n,)
        Equal for the members of a class; all zero variables that are connected share a label too.
    """

    representative: np.ndarray
    sign: np.ndarray
    label: np.ndarray


def alias_edges(rows: IntegerRows) -> AliasEdges:
    """Read the relations from rows with one entry, or two of equal size; rows must be compressed."""
    length = rows.lengths
    single = np.flatnonzero(length == 1)
    double = np.flatnonzero(length == 2)
    first = rows.ptr[double]
    equal = np.abs(rows.val[first]) == np.abs(rows.val[first + 1])
    double, first = double[equal], first[equal]
    return AliasEdges(
        a=np.concatenate((rows.col[first], rows.col[rows.ptr[single]])),
        b=np.concatenate((rows.col[first + 1], np.full(len(single), rows.n, INT))),
        sign=np.concatenate((-np.sign(rows.val[first] * rows.val[first + 1]), np.ones(len(single), INT))),
        row=np.concatenate((double, single)),
        n=rows.n,
    )


def alias_classes(edges: AliasEdges, priority: np.ndarray | None = None) -> AliasClasses:
    """Signed classes of the variables, in time linear in their number and that of the relations.

    Parameters
    ----------
    edges : AliasEdges
        Relations between them.
    priority : ndarray of int, shape (n,), optional
        The member with the smallest priority, then the smallest id, represents its class.

    Notes
    -----
    Connected components of the double cover: variable j has the nodes ``2j`` (+x) and ``2j + 1`` (-x), and
    ``x_a = s x_b`` joins +x_a with s x_b and -x_a with -s x_b. Zero variables have both nodes in one component.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = edges.n
    opposite = edges.sign < 0
    source = np.concatenate((2 * edges.a, 2 * edges.a + 1, [2 * n]))
    target = np.concatenate((2 * edges.b + opposite, 2 * edges.b + ~opposite, [2 * n + 1]))
    size = 2 * n + 2
    graph = csr_array((np.ones(len(source)), (source, target)), shape=(size, size))
    count, component = connected_components(graph, directed=False)
    plus, minus = component[0 : 2 * n : 2].astype(INT), component[1 : 2 * n : 2].astype(INT)
    label = np.minimum(plus, minus)
    ids = np.arange(n)
    key = ids if priority is None else np.asarray(priority, INT) * n + ids
    best = np.full(count, np.iinfo(INT).max)
    np.minimum.at(best, label, key)
    representative = best[label] % n if n else ids
    orientation = np.where(plus <= minus, 1, -1)
    zero = plus == minus
    sign = np.where(zero, 0, orientation * orientation[representative])
    return AliasClasses(np.where(zero, ids, representative), sign, label)


def independent_edges(edges: AliasEdges) -> np.ndarray:
    """Mask of the relations that do not follow from those with smaller row ids.

    Notes
    -----
    Union-find with signs, one relation after the other: for the few classes that contain a cycle.
    """
    parent: dict[int, int] = {}
    sign: dict[int, int] = {}
    zero = {edges.n: True}
    independent = np.zeros(len(edges.row), bool)
    for edge in np.argsort(edges.row, kind="stable").tolist():
        a, b, s = int(edges.a[edge]), int(edges.b[edge]), int(edges.sign[edge])
        (root_a, sign_a), (root_b, sign_b) = _find(parent, sign, a), _find(parent, sign, b)
        if root_a != root_b:
            both = zero.get(root_a, False) and zero.get(root_b, False)
            parent[root_a], sign[root_a] = root_b, sign_a * s * sign_b
            zero[root_b] = zero.get(root_a, False) or zero.get(root_b, False)
            independent[edge] = not both
        elif sign_a != s * sign_b and not zero.get(root_a, False):
            zero[root_a] = independent[edge] = True
    return independent


def _find(parent: dict[int, int], sign: dict[int, int], node: int) -> tuple[int, int]:
    path = []
    while parent.get(node, node) != node:
        path.append(node)
        node = parent[node]
    total = 1
    for step in reversed(path):
        total *= sign[step]
        parent[step], sign[step] = node, total
    return node, total
