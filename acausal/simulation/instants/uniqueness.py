"""Whether a point suits one of two modes alone, whatever left limits and sources are.

Written in terms of the equations of one mode, what keeps the elements that differ is a matrix: that of a linear complementarity
problem. Its complementary cones overlap at most in their boundaries where no principal minor is negative, as in every passive
network (Cottle, Pang, Stone, "The Linear Complementarity Problem", 1992, sections 3.4 and 6.1). Then a point suits both modes
only where both describe the same motion.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ...reduction.affine import Mode
from .tableau import BranchTableau

MOST_DIFFERENCES = 8
"""Elements whose principal minors are all looked at."""
_ROUNDED = 2.0**-30
"""Part of the product of the longest rows below which a minor is rounding."""


def exclude_each_other(tableau: BranchTableau, mode: Mode, other: Mode) -> bool:
    """Whether a point suits one of these modes alone, but for where both describe one motion; false where that is not known."""
    differ = [k for k, (a, b) in enumerate(zip(mode, other, strict=True)) if a != b]
    if len(differ) > MOST_DIFFERENCES:
        return False
    forth = [row for k in differ for row in _guards(tableau, k, mode[k], other[k])]
    back = [row for k in differ for row in _guards(tableau, k, other[k], mode[k])]
    basis = tableau.basis(mode)
    if basis.dependent or not len(forth) == len(back) == len(differ):
        return False
    slot = {row: j for j, row in enumerate(basis.slots.tolist())}
    slots = [slot[tableau.equations[k][mode[k]][0]] for k in differ]
    turned = basis.table[back, slots]  # The guard that leads back is this part of the equation.
    if not turned.all():
        return False
    return _has_no_negative_minor(basis.table[np.ix_(forth, slots)] / turned)


def _guards(tableau: BranchTableau, element: int, branch: int, target: int) -> list[int]:
    """Row of the guard that leads from one branch with a single equation to another one; none without any."""
    targets = tableau.targets[element][branch]
    if target not in targets or len(tableau.equations[element][branch]) != 1:
        return []
    return [tableau.guards[element][branch][targets.index(target)]]


def _has_no_negative_minor(matrix: np.ndarray) -> bool:
    """Whether no principal minor is negative beyond rounding."""
    size = np.abs(matrix)
    scaled = matrix / np.maximum(size.max(axis=1, keepdims=True), np.finfo(float).tiny)
    scaled /= np.maximum(np.abs(scaled).max(axis=0), np.finfo(float).tiny)
    for count in range(1, len(matrix) + 1):
        chosen = np.array(list(combinations(range(len(matrix)), count)))
        minors = scaled[chosen[:, :, None], chosen[:, None, :]]
        rows = np.linalg.norm(minors, axis=2).prod(axis=1)
        if (np.linalg.det(minors) < -_ROUNDED * rows).any():
            return False
    return True
