"""A mode with nonlinear rows is reduced as one without them is."""

import numpy as np
import pytest

from acausal.reduction.affine import AffineModel
from acausal.reduction.index_reduction import reduce_mode
from acausal.reduction.open_mode import open_mode
from tests.reduction.circuits import Builder


def random_model(seed: int) -> AffineModel:
    """Random sparse rows, some of which say something about differentiated variables alone."""
    rng = np.random.default_rng(seed)
    builder, n = Builder(), 24
    names = [builder.var(f"z{k}", 10.0 ** rng.integers(-3, 4)) for k in range(n)]
    moving = names[: n // 2]
    constrained = int(rng.integers(0, 4))
    for k in range(n):
        reads = rng.choice(moving if k < constrained else names, 4, replace=False)
        values = {str(name): float(x) for name, x in zip(reads, rng.standard_normal(4), strict=True)}
        rates = {moving[(k + j) % len(moving)]: float(rng.standard_normal()) for j in range(2)}
        builder.eq(values, rates if constrained <= k < n - 6 else None, {0: float(rng.standard_normal())})
    return builder.build()


@pytest.mark.parametrize("seed", range(30))
def test_without_nonlinear_rows_nothing_is_open_and_the_maps_are_those_of_the_affine_mode(seed: int) -> None:
    model = random_model(seed)
    data = reduce_mode(model, ())
    opened = open_mode(model, (), data, np.full(model.n, -1), np.zeros(model.n, bool))
    assert (opened.states.tolist(), len(opened.open), opened.index) == (data.states.tolist(), 0, data.index)
    np.testing.assert_allclose(opened.z_of, data.T, rtol=1e-9)
    np.testing.assert_allclose(opened.rate, data.Ay[: len(data.states)], rtol=1e-9)
