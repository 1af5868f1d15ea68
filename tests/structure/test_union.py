from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from acausal.structure.union import Union


def test_sets_are_the_connected_components_of_their_joins() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 60, (2, 45))
    sets = Union(60)
    for i, j in zip(a.tolist(), b.tolist(), strict=True):
        assert sets.join(i, j) == sets.find(i) == sets.find(j)
    found = np.array([sets.find(k) for k in range(60)])
    label = connected_components(coo_array((np.ones(45), (a, b)), shape=(60, 60)), directed=False)[1]
    assert ((found[:, None] == found) == (label[:, None] == label)).all()
