"""Bounds of guards on intervals against exponentials evaluated by themselves."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from acausal.dynamics.assembly import affine_flow
from acausal.dynamics.scan import IntervalBounds
from acausal.kernels.crossing import RESOLVED


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("length", [1e-4, 0.03, 2.0])
def test_bounds_hold_for_values_and_slopes_of_slow_and_fast_functions(seed: int, length: float) -> None:
    rng = np.random.default_rng(seed)
    rates = 10.0 ** rng.uniform(-1.0, 5.0, 6)
    y0, G = rng.normal(size=6), rng.normal(size=(4, 6))
    trajectory = affine_flow(np.diag(-rates), 6, 1.0).start(y0)
    functions, nodes = trajectory.flow.basis.functions, np.linspace(0.0, length, 5)
    for guard, row in zip(G, G @ trajectory.C, strict=True):
        bounds = IntervalBounds(functions, row)
        for first, last in itertools.pairwise([*nodes.tolist(), 0.0, length]):
            if first > last:
                continue
            h = np.linspace(first, last, 400)
            decayed = y0 * np.exp(-np.outer(h, rates))
            values, slopes = decayed @ guard, (-rates * decayed) @ guard
            size = 1e-13 * np.abs(guard).sum()
            assert bounds.lowest(first, last) <= values.min() + size
            assert bounds.highest(first, last) >= values.max() - size
            assert bounds.steepest(first, last) >= slopes.max() - size * rates.max()


def test_a_fast_function_that_has_decayed_leaves_the_slope_certain() -> None:
    """It counted as unknown as soon as a function too fast for the interval took part, however small."""
    fast = 1e5
    trajectory = affine_flow(np.diag([-1.0, -fast]), 2, 1.0).start(np.ones(2))
    first, last = 2e-4, 4e-4
    assert fast * (last - first) > RESOLVED
    bounds = IntervalBounds(trajectory.flow.basis.functions, trajectory.C.sum(axis=0))
    slope = bounds.steepest(first, last)
    nodes = np.array([first, last])
    exact = -np.exp(-nodes) - fast * np.exp(-fast * nodes)
    assert exact.max() <= slope < -0.9
