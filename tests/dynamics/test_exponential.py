"""The comparison of flows with exponentials that know no eigenvalues, against multiple precision and faults put into flows."""

from __future__ import annotations

from functools import partial

import mpmath as mp
import numpy as np
import pytest

from acausal import ConsistencyError, simulate
from acausal.components import blocks
from acausal.dynamics import spectrum
from acausal.dynamics.assembly import affine_flow
from acausal.dynamics.exponential import Exponential, _rounding, _squared_up, matrices_of
from tests.systems.circuits import Circuit

from .oracle import ladder


def cascade(stages: int, apart: float) -> np.ndarray:
    """State matrix of low passes with time constants of about 1 s, each behind the one before."""
    rates = 1.0 / (1.0 + apart * np.arange(stages))
    return np.diag(-rates) + np.diag(rates[1:], -1)


def stiff(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return ladder(10.0 ** rng.permutation(np.linspace(-9, -1, 5)), 10.0 ** rng.uniform(-1, 2, 5))


MATRICES = {
    "cascade": cascade(4, 1e-6),
    "oscillator": np.array([[0.0, 1e3], [-1e3, -1e-3]]),
    "integrators": np.diag(np.ones(3), -1),
    "growing": np.array([[2.0, 1.0], [0.0, 1.0]]),
    "loss of 1e-9": np.array([[-1e9, 1e9, 0.0], [1e9, -1e9 - 1.0, 1.0], [0.0, 1.0, -1.0]]),
    **{f"ladder {seed}": stiff(seed) for seed in range(3)},
}


@pytest.mark.parametrize("name", MATRICES)
def test_what_is_squared_up_is_as_exact_as_it_says(name: str) -> None:
    A = MATRICES[name]
    squared = list(_squared_up(A, 1.0))
    with np.errstate(over="ignore", invalid="ignore"):
        bounds = list(_rounding(A, squared))
    for (h, X), E in list(zip(squared, bounds, strict=True))[::6]:
        with mp.workdps(60):
            exact = mp.expm(mp.matrix(A.tolist()) * h) - mp.eye(len(A))
            off = np.array((mp.matrix(X.tolist()) - exact).tolist(), float)
        assert (np.abs(off) <= E).all()


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("name", MATRICES)
def test_flows_are_exponentials(name: str, unit: float) -> None:
    A = MATRICES[name]
    assert affine_flow(A, len(A), unit).departure is None


@pytest.mark.parametrize("name", MATRICES)
def test_a_faulty_product_is_found(name: str) -> None:
    A = MATRICES[name]
    flow = affine_flow(A, len(A), 1.0)
    k = int(np.argmax(np.abs(flow.left).max(axis=0) * np.abs(flow.right).max(axis=1)))
    flow.left[:, k] *= 1.0 + 1e-6
    assert Exponential(A, 1.0).departure(partial(matrices_of, flow)) is not None


@pytest.mark.parametrize("unit", [1e-3, 1.0, 30.0, 1e7])
@pytest.mark.parametrize("size", [1.0, 1e6])
@pytest.mark.parametrize("stages", [4, 6])
def test_modes_that_only_cancel_are_found(
    stages: int, size: float, unit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spectrum, "_reaches", lambda *_: True)
    sizes = size ** np.arange(stages)
    found = affine_flow(cascade(stages, 1e-6) * sizes[:, None] / sizes, stages, unit).departure
    assert found is not None
    assert found.off > found.allowed


def test_a_run_ends_where_modes_only_cancel(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Circuit()
    model.add("step", blocks.Constant(k=1.0))
    last = model.step.y
    for k in range(4):
        stage = model.add(f"stage{k}", blocks.FirstOrder(T=1.0 + 1e-6 * k))
        model.connect(last, stage.u)
        last = stage.y
    expected = 1.0 - np.exp(-5.0) * (1.0 + 5.0 + 12.5 + 125.0 / 6.0)
    monkeypatch.setattr(spectrum, "_reaches", lambda *_: True)
    with pytest.raises(
        ConsistencyError, match=r"modes that cancel exceed the motion of `stage3.x`"
    ) as refused:
        simulate(model, 5.0)
    assert "implicit" in refused.value.hint
    implicit = simulate(model, 5.0, method="implicit")
    assert implicit["stage3.y"].final == pytest.approx(expected, rel=1e-5)
