"""Disjoint sets that grow together."""

from __future__ import annotations

import numpy as np

from .incidence import INT


class Union:
    """Sets of the nodes ``0 .. n - 1``, each alone at first.

    References
    ----------
    .. [1] R. E. Tarjan, J. van Leeuwen, "Worst-case analysis of set union algorithms", Journal of the ACM 31 (1984) 245-281.
    """

    def __init__(self, n: int) -> None:
        self._parent = np.arange(n, dtype=INT)

    def find(self, node: int) -> int:
        """Return the node that stands for the set of a node."""
        parent = self._parent
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = int(parent[node])
        return node

    def join(self, a: int, b: int) -> int:
        """Put the set of ``a`` into that of ``b``, and return the node that stands for both."""
        root = self.find(b)
        self._parent[self.find(a)] = root
        return root
