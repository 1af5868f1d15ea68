"""Whether a point suits one of two modes alone, whatever left limits and sources are.

Written in terms of the equations of one mode, what keeps the elements that differ is a matrix M: that of a linear complementarity
problem. Where no principal minor is negative, as in every passive network, no ``z >= 0`` has ``(M z)_k < 0`` wherever ``z_k > 0``
(Fiedler and Ptak, "Some generalizations of positive definiteness and monotonicity", 1966; Cottle, Pang, Stone, "The Linear
Complementarity Problem", 1992, section 3.4). So a point suits no other mode where in this one all that leads there is above zero.
On the boundary, where something vanishes, it may suit both.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ...reduction.affine import Mode
from .tableau import BranchTableau, Exchanged

MOST_DIFFERENCES = 8
"""Elements of which all principal minors are looked at."""
_ROUNDED = 2.0**-30
"""Part of the product of its rows below which a minor is rounding."""


def exclude_each_other(tableau: BranchTableau, mode: Mode, other: Mode) -> bool:
    """Whether a point suits one of these modes alone, but on boundaries; false where that is not known."""
    differ = [k for k, (a, b) in enumerate(zip(mode, other, strict=True)) if a != b]
    minors = _least_minor(tableau, mode, other, differ)
    return minors is not None and minors >= -_ROUNDED


def is_alone(tableau: BranchTableau, mode: Mode, free: Sequence[int]) -> bool:
    """Whether a mode alone suits each point that it suits, but on boundaries, where some elements may be in their other branch.

    All principal minors are positive then (Samelson, Thrall and Wesler, "A partition theorem for Euclidean n-space", 1958).
    """
    other = tuple(1 - b if k in free else b for k, b in enumerate(mode))
    least = _least_minor(tableau, mode, other, free)
    return least is not None and least > _ROUNDED


def _least_minor(tableau: BranchTableau, mode: Mode, other: Mode, differ: Sequence[int]) -> float | None:
    """The least principal minor between elements that differ, in units of its rows; None where it is not known."""
    if len(differ) > MOST_DIFFERENCES:
        return None
    forth = [row for k in differ for row in _guards(tableau, k, mode[k], other[k])]
    back = [row for k in differ for row in _guards(tableau, k, other[k], mode[k])]
    basis = Exchanged(tableau)
    basis.enter(mode)
    if basis.dependent or not len(forth) == len(back) == len(differ):
        return None
    slot = {row: j for j, row in enumerate(basis.slots.tolist())}
    slots = [slot[tableau.equations[k][mode[k]][0]] for k in differ]
    turned = basis.table[back, slots]  # The guard that leads back is this part of the equation.
    if not turned.all():
        return None
    return least_principal_minor(basis.table[np.ix_(forth, slots)] / turned)


def _guards(tableau: BranchTableau, element: int, branch: int, target: int) -> list[int]:
    """Row of the guard that leads from one branch with a single equation to another one; none without any."""
    targets = tableau.targets[element][branch]
    if target not in targets or len(tableau.equations[element][branch]) != 1:
        return []
    return [tableau.guards[element][branch][targets.index(target)]]


def least_principal_minor(matrix: np.ndarray) -> float:
    """The least principal minor, in units of the rows that it crosses, where these and columns are alike; at most 1."""
    size, found = np.abs(matrix), 1.0
    scaled = matrix / np.maximum(size.max(axis=1, keepdims=True, initial=0.0), np.finfo(float).tiny)
    scaled /= np.maximum(np.abs(scaled).max(axis=0, initial=0.0), np.finfo(float).tiny)
    lengths = np.linalg.norm(scaled, axis=1)
    for count in range(1, len(matrix) + 1):
        chosen = np.array(list(combinations(range(len(matrix)), count)))
        minors = scaled[chosen[:, :, None], chosen[:, None, :]]
        rows = lengths[chosen].prod(axis=1)
        part = np.divide(np.linalg.det(minors), rows, out=np.zeros(len(rows)), where=rows > 0.0)
        found = min(found, float(part.min()))
    return found
