"""Which states of a matrix drive which: parts on their own, and an order in which what is driven comes first.

What a state does not drive must not see it, not even by rounding: a state at rest begins to move by any error. So decompositions
of a matrix keep this order, in which all that they are made of is block upper triangular: products and inverses of such matrices
have the zeros that follow from the matrix, exactly.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..structure.blocks import sort_blocks, written_order
from ..structure.incidence import Incidence
from ..structure.matching import Matching


def independent_parts(A: np.ndarray) -> Iterator[np.ndarray]:
    """States (k,) of each part of a matrix that has nothing to do with the others, ascending."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    if A.all():
        yield np.arange(len(A))
        return
    count, label = connected_components(csr_array(A != 0), directed=True, connection="weak")
    for k in range(count):
        yield np.flatnonzero(label == k)


def driven_first(A: np.ndarray) -> tuple[np.ndarray, list[slice]]:
    """Order of the states, and the blocks of those that drive each other.

    Each block is driven by blocks behind it only. States that are in such an order already stay in theirs.
    """
    n = len(A)
    if n == 1 or A.all():
        return np.arange(n), [slice(0, n)]
    states = np.arange(n)
    driver, driven = np.nonzero(A.T)  # A driver uses what it drives, as if it were evaluated after it.
    uses = Incidence.from_pairs(driver, driven, (n, n))
    own = Matching(states, states)
    blocks = written_order(sort_blocks(uses, own), uses, own, states)
    ends = blocks.ptr.tolist()
    return blocks.equations, [slice(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)]
