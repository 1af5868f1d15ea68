"""Power series of large groups against the same terms as products of columns and rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acausal import Result, simulate
from acausal.dynamics import power_series
from acausal.dynamics.assembly import affine_flow
from acausal.dynamics.closed_form import AffineFlow, Trajectory
from acausal.dynamics.noise import FlowNoise
from acausal.reduction.rounding import ROUNDING
from tests.systems.test_size import Chain

from .oracle import exact_state, generator
from .problems import moving


def row(n: int, rates: np.ndarray, turn: float = 0.0) -> np.ndarray:
    """Rates of parts in a row, each of which follows the one before, and of a constant and a ramp that drive them."""
    size = 2 if turn else 1
    A = np.kron(np.diag(rates), np.eye(size)) + np.kron(np.eye(n, k=-1), np.diag([1.0, 0.0])[:size, :size])
    if turn:
        A += np.kron(np.eye(n), [[0.0, turn], [-turn, 0.0]])
    B = np.zeros((len(A), 3))
    B[0], B[-1, 0] = (0.8, 0.0, 0.5), -1.5
    return generator(A, B, [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])


RATES = np.linspace(-2.2, -1.8, 6)
CASES = {
    "equal": row(6, np.full(6, -2.0)),
    "close": row(6, RATES),
    "turning": row(4, np.full(4, -0.5), turn=3.0),
    "joined with their drive": row(6, np.zeros(6)),
}


def both(Ay: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> tuple[AffineFlow, AffineFlow]:
    """The flow with products alone, and with series."""
    products = affine_flow(Ay, len(Ay) - 3, 1.0)
    monkeypatch.setattr(power_series, "BATCH", 0)
    monkeypatch.setattr(power_series, "FEW", 1.5)
    series = affine_flow(Ay, len(Ay) - 3, 1.0)
    assert not products.series
    assert series.series
    return products, series


@pytest.mark.parametrize("Ay", CASES.values(), ids=CASES)
def test_terms_that_are_formed_when_asked_for_are_the_same(
    Ay: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    products, series = both(Ay, monkeypatch)
    y0, h = np.linspace(1.0, 2.0, len(Ay)), 0.2
    exact = exact_state(Ay, h, y0)
    assert series.start(y0).at(h) == pytest.approx(exact, rel=1e-14, abs=1e-14)
    assert products.reach == series.reach
    assert series.missed == pytest.approx(products.missed, abs=1e-15)
    of_products, of_series = (
        [flow.magnitude(y0, h), *flow.drift(y0, 2.0 * y0, h)] for flow in (products, series)
    )
    for one, other in zip(of_products, of_series, strict=True):
        assert one == pytest.approx(other, rel=1e-12)
    rows, weights = np.eye(len(Ay))[::2] - 0.3, products.basis.magnitudes(h)
    expected = products.cancelling(rows, weights, y0)
    assert series.cancelling(rows, series.basis.magnitudes(h), y0) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("Ay", CASES.values(), ids=CASES)
def test_noise_of_guards_is_the_same(Ay: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    y0, h, G = np.linspace(1.0, 2.0, len(Ay)), 0.2, np.eye(len(Ay))[:4] - 0.1
    found: list[list[Any]] = []
    for flow in both(Ay, monkeypatch):
        noise, trajectory = FlowNoise(flow, G, G @ Ay, ROUNDING), flow.start(y0, shift=1e-9 * y0)
        found.append([*moving(noise, trajectory, 0.05, h), noise.rounding(trajectory, h)])
    for one, other in zip(*found, strict=True):
        assert one == pytest.approx(other, rel=1e-9)


@pytest.mark.sweep
def test_a_large_group_takes_memory_as_its_matrix_does() -> None:
    """200 equal lags in a row: products of all powers were 40000 columns and rows, 600 MB of them with sources of their own."""
    n = 200
    Ay = np.zeros((2 * n, 2 * n))
    Ay[:n] = np.hstack([np.eye(n, k=-1) - 2.0 * np.eye(n), np.eye(n)])
    flow = affine_flow(Ay, n, 1.0)
    assert flow.left.size + flow.right.size + sum(series.nbytes for series in flow.series) < 30 * Ay.size
    y = flow.start(np.ones(2 * n)).at(3.0)[:n]
    assert y[0] == pytest.approx(0.5 + 0.5 * np.exp(-6.0), rel=1e-14)
    assert y[-1] == pytest.approx(1.0, rel=1e-14)


class Short(Chain):
    """A row of 40, the flow of which has a series."""

    count = 40


@pytest.mark.sweep
def test_files_hold_the_series_of_a_run(tmp_path: Path) -> None:
    result = simulate(Short(), 0.6)
    result.save(tmp_path / "run.npz")
    again, t = Result.load(tmp_path / "run.npz"), np.linspace(0.0, 0.6, 50)
    trajectories = [s.trajectory for s in result.record.segments if isinstance(s.trajectory, Trajectory)]
    assert all(trajectory.flow.series for trajectory in trajectories)
    for name in ("c[0].x", "c[39].x"):
        np.testing.assert_array_equal(again[name].at(t), result[name].at(t))
