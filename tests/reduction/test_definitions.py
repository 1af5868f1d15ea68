"""Definitions put into other rows of a large model."""

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array

from acausal.reduction.large.definitions import without_definitions
from acausal.reduction.large.reduction import SparseRows


@pytest.mark.parametrize(("own", "left"), [(0.1, 0.0), (0.1000001, 1e-7)])
def test_what_cancels_where_a_derivative_is_replaced_is_none(own: float, left: float) -> None:
    """``3 x' + 0.3 x = 0`` and ``w + own x + x' = 0``: ``w = (0.1 - own) x``, where 0.3/3 is no 0.1."""
    none = csr_array((0, 2))
    rows = SparseRows(
        E=csr_array([[3.0, 0.0], [1.0, 0.0]]), A=csr_array([[0.3, 0.0], [own, 1.0]]), B=csr_array((2, 0)),
        nonlinear=np.array([-1, -1]), owner=np.zeros(0, np.int64), Z=none, D=none, X=csr_array((0, 0)),
        z_of=eye_array(2, format="csr"), z_of_slopes=csr_array((2, 2)), sources_of=csr_array((2, 0)),
        ids=np.arange(2), known=np.array([True, False]),
    )  # fmt: skip
    made = without_definitions(rows)
    assert made.ids.tolist() == [0]
    x, w = made.z_of.toarray()[:, 0].tolist()
    assert x == 1.0
    assert w == pytest.approx(-left, rel=1e-8, abs=0.0)
