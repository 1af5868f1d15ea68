"""Order conditions of one-step methods by rooted trees (Hairer, Norsett, Wanner II.2; Hairer, Wanner IV.7)."""

from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

Tree = tuple
"""A rooted tree is the tuple of its subtrees."""


@lru_cache
def trees(order: int) -> list[Tree]:
    """Rooted trees with `order` nodes."""
    return _forests(order - 1)


def _forests(nodes: int) -> list[Tree]:
    if nodes == 0:
        return [()]
    found = {
        tuple(sorted((*rest, tree)))
        for first in range(1, nodes + 1)
        for tree in trees(first)
        for rest in _forests(nodes - first)
    }
    return sorted(found)


def order_of(tree: Tree) -> int:
    return 1 + sum(map(order_of, tree))


def density(tree: Tree) -> int:
    return order_of(tree) * prod(map(density, tree))


def exact(values: Any) -> Any:
    """The same doubles as fractions, in an array of objects where there are several."""
    return np.vectorize(Fraction, otypes=[object])(values)[()]


def lower_inverse(matrix: np.ndarray) -> np.ndarray:
    """Inverse of a lower triangular matrix of fractions, by forward substitution."""
    inverse = exact(np.eye(len(matrix)))
    for i, row in enumerate(matrix):
        inverse[i] = (inverse[i] - row[:i] @ inverse[:i]) / row[i]
    return inverse


def elementary(tree: Tree, alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Elementary differential of every stage; `beta` differs from `alpha` by the coefficients of the Jacobian."""
    matrix = beta if len(tree) == 1 else alpha
    return np.prod(
        [matrix @ elementary(sub, alpha, beta) for sub in tree] or [exact(np.ones(len(alpha)))], axis=0
    )


def defect(weights: np.ndarray, order: int, alpha: np.ndarray, beta: np.ndarray, theta: Any = 1) -> float:
    """Largest defect of the conditions of this order for the solution at a fraction of the step."""
    target = [Fraction(theta**order) / density(tree) for tree in trees(order)]
    values = [weights @ elementary(tree, alpha, beta) for tree in trees(order)]
    return float(np.max(np.abs(np.subtract(values, target))))
