"""Bounds of guards on intervals against exponentials evaluated by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from acausal.dynamics.assembly import affine_flow
from acausal.dynamics.scan import RESOLVED, GuardForms


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("length", [1e-4, 0.03, 2.0])
def test_bounds_hold_for_values_and_slopes_of_slow_and_fast_functions(seed: int, length: float) -> None:
    rng = np.random.default_rng(seed)
    rates = 10.0 ** rng.uniform(-1.0, 5.0, 6)
    y0, G = rng.normal(size=6), rng.normal(size=(4, 6))
    trajectory = affine_flow(np.diag(-rates), 6, 1.0).start(y0)
    forms = GuardForms(trajectory.flow.basis, G @ trajectory.C)
    nodes = np.linspace(0.0, length, 5)
    whole = forms.whole(length, lambda: np.full(len(G), np.inf))
    assert whole is not None
    for bounds, ends in ((forms.bounds(nodes), nodes), (whole, nodes[[0, -1]])):
        for i in range(len(ends) - 1):
            h = np.linspace(ends[i], ends[i + 1], 400)
            decayed = y0 * np.exp(-np.outer(h, rates))
            values, slopes = decayed @ G.T, (-rates * decayed) @ G.T
            size = 1e-13 * np.abs(G).sum()
            assert (bounds.low[i] <= values.min(axis=0) + size).all()
            assert (bounds.high(i) >= values.max(axis=0) - size).all()
            assert (bounds.slope(i) >= slopes.max(axis=0) - size * rates.max()).all()


def test_a_fast_function_that_has_decayed_leaves_the_slope_certain() -> None:
    """It counted as unknown as soon as a function too fast for the interval took part, however small."""
    fast = 1e5
    trajectory = affine_flow(np.diag([-1.0, -fast]), 2, 1.0).start(np.ones(2))
    forms = GuardForms(trajectory.flow.basis, np.ones((1, 2)) @ trajectory.C)
    nodes = np.array([2e-4, 4e-4])
    assert fast * (nodes[1] - nodes[0]) > RESOLVED
    slope = float(forms.bounds(nodes).slope(0)[0])
    exact = -np.exp(-nodes) - fast * np.exp(-fast * nodes)
    assert exact.max() <= slope < -0.9
