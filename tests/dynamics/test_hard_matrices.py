"""Flows of matrices whose states are hard to compare in size, against multiple precision."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from acausal.dynamics.assembly import affine_flow


def ring(stages: int, own: float, feedback: float) -> np.ndarray:
    """States that each drive the next one, the last one the first one a little."""
    A = own * np.eye(stages) + np.diag(np.ones(stages - 1), -1)
    A[0, -1] = feedback
    return A


def falling(stages: int, ratio: float) -> np.ndarray:
    """RC ladder of 1 us a stage whose impedance falls by a ratio from stage to stage, from 1 kOhm on."""
    A = np.zeros((stages, stages))
    for k in range(stages):
        C = 1e-9 * ratio**k
        for other in (k - 1, k + 1):
            if other < stages:
                conductance = ratio ** max(k, other) / 1e3
                A[k, k] -= conductance / C
                if other >= 0:
                    A[k, other] += conductance / C
    return A


RINGS = [
    (stages, own, feedback)
    for own in (-1.0, 0.0)
    for stages, feedback in [
        (3, 1e-12),
        (4, 1e-16),
        (4, -1e-14),
        (5, 1e-12),
        (6, 1e-8),
        (6, 1e-16),
        (6, 1e-2),
    ]
]


@pytest.mark.parametrize("unit", [1.0, 300.0])
@pytest.mark.parametrize(("stages", "own", "feedback"), RINGS)
def test_feedback_too_weak_to_matter_makes_no_sizes(
    stages: int, own: float, feedback: float, unit: float
) -> None:
    """Balanced with what hardly comes back, states had sizes eleven decades apart, in which modes that cancel look well."""
    A = ring(stages, own, feedback)
    flow = affine_flow(A, stages, unit)
    assert flow.departure is None
    for h in (0.1, 1.0, 10.0):
        with mp.workdps(60):
            exact = np.array(mp.expm(mp.matrix(A.tolist()) * h).tolist(), float)
        found = np.array([flow.start(unit).at(h) for unit in np.eye(stages)]).T
        # An integrator is as large as it comes to be within the unit.
        size = unit ** (stages - 1) / math.factorial(stages - 1) if own == 0.0 and h < unit else 1.0
        assert np.abs(found - exact).max() < 1e-12 * max(size, np.abs(exact).max())


@pytest.mark.parametrize(
    ("stages", "ratio"), [(4, 300.0), (4, 1e3), (5, 100.0), (7, 30.0), (8, 10.0), (10, 100.0)]
)
def test_a_ladder_of_falling_impedance_is_followed_in_few_pieces(stages: int, ratio: float) -> None:
    """A fast group that had died away left rounding, and the run went on in pieces of 7 ns for ever."""
    A = falling(stages, ratio)
    end = 1e-2
    trajectory = affine_flow(A, stages, end).start(np.ones(stages))
    assert sum(1 for _ in trajectory.pieces(end)) < 200
    for h in (1e-6, 1e-4, end):
        with mp.workdps(60):
            exact = np.array(
                (mp.expm(mp.matrix(A.tolist()) * h) * mp.ones(stages, 1)).tolist(), float
            ).ravel()
        assert trajectory.at(h) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("unit", [1.0, 300.0, 1e6])
@pytest.mark.parametrize(
    ("lags", "rate"), [(1, 1 + 1e-12), (2, 1 + 1e-7), (3, 1.0001), (4, 1.0), (4, 1.0001), (4, 1.1), (6, 1.01)]
)
def test_a_source_that_decays_like_what_it_drives_stays_joined_with_it(
    lags: int, rate: float, unit: float
) -> None:
    """What responds dies away in a few seconds however long a run is, and so does what was left of two parts that cancel."""
    A = np.zeros((lags + 1, lags + 1))
    A[:lags, :lags] = ring(lags, -1.0, 0.0) if lags > 1 else -np.eye(1)
    A[0, lags], A[lags, lags] = 1.0, -rate
    trajectory = affine_flow(A, lags, unit).start(np.eye(lags + 1)[lags])
    for h in (0.3, 1.0, 3.0, 10.0):
        with mp.workdps(60):
            exact = float(mp.expm(mp.matrix(A.tolist()) * h)[lags - 1, lags])
        assert trajectory.at(h)[lags - 1] == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize("rate", [0.005, 0.02, 0.1, 1.0])
@pytest.mark.parametrize("stages", [3, 5, 6])
@pytest.mark.parametrize("turning", [True, False])
def test_integrators_behind_a_slow_source(stages: int, rate: float, turning: bool) -> None:
    """Polynomials and a slow sine or exponential were split apart: a chain of five was 4 % off, and an event missed."""
    A = np.zeros((stages + 1 + turning, stages + 1 + turning))
    A[:stages, :stages] = np.diag(np.ones(stages - 1), -1)
    A[0, stages] = 1.0
    if turning:
        A[stages, -1], A[-1, stages] = rate, -rate
    else:
        A[stages, stages] = rate
    flow = affine_flow(A, stages, 1.0, 1.0)
    assert flow.departure is None
    for h in (0.1, 0.5, 1.0):
        with mp.workdps(60):
            exact = float(mp.expm(mp.matrix(A.tolist()) * h)[stages - 1, len(A) - 1])
        assert flow.start(np.eye(len(A))[-1]).at(h)[stages - 1] == pytest.approx(exact, rel=1e-8)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("unit", [30.0, 3e3, 1e6])
@pytest.mark.parametrize("apart", [1e-3, 0.01, 0.03, 0.1])
@pytest.mark.parametrize("lags", [3, 4, 6])
@pytest.mark.parametrize("rate", [0.0, 1.0, 1.02])
def test_lags_whose_rates_are_some_percent_apart(lags: int, apart: float, rate: float, unit: float) -> None:
    """Groups of them die away within a few pieces: no reason to split them into modes that nearly cancel."""
    rates = 1.0 + apart * np.arange(lags)
    A = np.zeros((lags + 1, lags + 1))
    A[:lags, :lags] = np.diag(-rates) + np.diag(rates[1:], -1)
    A[0, lags], A[lags, lags] = rates[0], -rate
    flow = affine_flow(A, lags, unit, unit)
    assert flow.departure is None
    for h in (0.1, 1.0, 5.0):
        with mp.workdps(60):
            exact = float(mp.expm(mp.matrix(A.tolist()) * h)[lags - 1, lags])
        assert flow.start(np.eye(lags + 1)[lags]).at(h)[lags - 1] == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("units", [(1.0, 1e6, 1.0, 1e6), (1e-3, 1.0, 1e3, 1.0)])
@pytest.mark.parametrize("feedback", [1e-8, -1e-8, -1e-14])
def test_a_ring_is_as_exact_in_other_units(units: tuple[float, ...], feedback: float) -> None:
    size = np.array(units)
    A = ring(4, -1.0, feedback) * size[:, None] / size
    flow = affine_flow(A, 4, 1.0)
    assert flow.departure is None
    for h in (0.1, 1.0):
        with mp.workdps(60):
            exact = np.array(mp.expm(mp.matrix(A.tolist()) * h).tolist(), float)
        found = np.array([flow.start(one).at(h) for one in np.eye(4)]).T
        # In units of their own states come to 1.
        assert (np.abs(found - exact) <= 1e-10 * size[:, None] / size).all()
