"""Decoupling of state matrices against multiple precision and exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from acausal.dynamics.decoupling import decouple
from acausal.dynamics.driving import driven_first
from acausal.reduction.double_double import dual, residual

from .oracle import ladder


def test_residual_is_exact_to_the_last_bits() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(3, 3)) * 10.0 ** rng.integers(-8, 8, size=(3, 3))
    P = rng.normal(size=(3, 2)) + 0j
    T = np.diag((np.linalg.pinv(P) @ A @ P).diagonal()).astype(complex)
    product = [
        [sum(Fraction(A[i, k]) * Fraction(P[k, j].real) for k in range(3)) for j in range(2)]
        for i in range(3)
    ]
    moved = [[Fraction(P[i, j].real) * Fraction(T[j, j].real) for j in range(2)] for i in range(3)]
    exact = [[float(product[i][j] - moved[i][j]) for j in range(2)] for i in range(3)]
    assert residual(A, P, T).real == pytest.approx(np.array(exact), rel=1e-15)
    assert residual(A, P, T.diagonal()).real == pytest.approx(np.array(exact), rel=1e-15)


def test_dual_keeps_small_elements() -> None:
    P = np.array([[1.0, -2e-9, 3e-20], [-1e-9, 1.0, 1e-3], [4e-16, 1e-5, 1.0]], complex)
    with mp.workdps(60):
        inverse = mp.matrix(P.real.tolist()) ** -1
        exact = np.array([[float(inverse[i, j]) for j in range(3)] for i in range(3)])
    assert np.abs(dual(P).real / exact - 1).max() < 1e-15


@pytest.mark.parametrize("seed", range(3))
def test_eigenvalues_of_a_graded_matrix_have_full_relative_accuracy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = ladder(10.0 ** rng.permutation(np.linspace(-13, -1, 6)), 10.0 ** rng.uniform(-1, 2, 6))
    found = sorted(group.centre.real for group in decouple(A, 1e-3))
    with mp.workdps(50):
        exact = sorted(float(mp.re(value)) for value in mp.eig(mp.matrix(A.tolist()), right=False))
    assert found == pytest.approx(exact, rel=3e-16)


def test_equal_eigenvalues_of_independent_states_stay_simple_modes() -> None:
    groups = decouple(-5.0 * np.eye(3), 1.0)
    assert [len(group.N) for group in groups] == [1, 1, 1]


def test_defective_part_of_a_stiff_matrix_is_one_group() -> None:
    A = np.array([[-1e13, 1e3, 0], [1e3, 0, -1e6], [0, 100, -2e4]])
    groups = decouple(A, 1e-3)
    assert sorted(len(group.N) for group in groups) == [1, 2]
    P = np.hstack([group.P for group in groups])
    U = np.vstack([group.U for group in groups])
    assert np.abs(U @ P - np.eye(3)).max() < 1e-15


def test_double_integrator_is_found_without_rounding() -> None:
    (group,) = decouple(np.array([[0.0, 1.0], [0.0, 0.0]]), 1.0)
    assert group.centre == 0
    assert not (group.N @ group.N).any()


@pytest.mark.parametrize("conductance", [1e-12, 1e-9, 1e-6, 1e-4])
def test_current_that_dies_at_once_is_split_off_from_what_it_drives(conductance: float) -> None:
    # Coupled coils of equal inductance in series with a conductance, that of blocked valves, beside a swing with a capacitor.
    L, M, C, Co, R, E = 22e-6, 11e-6, 1e-6, 47e-6, 10.0, 0.05
    g = conductance
    A = np.array(
        [
            [-0.5 * E / (L - M), -1.0 / (g * 3.0 * L), 0.5 / (L - M), -0.5 / (3.0 * L)],
            [0.0, -2.0 / (g * 3.0 * L), 0.0, -1.0 / (1.5 * L)],
            [-1.0 / C, 0.5 / C, -0.5 * g / C, -0.5 * g / C],
            [0.5 * g / Co, 0.5 / Co, -0.5 * g / Co, -1.0 / (R * Co)],
        ]
    )
    found = decouple(A, 4e-6)
    assert [len(group.N) for group in found] == [1, 1, 1]
    with mp.workdps(60):
        exact = [complex(value) for value in mp.eig(mp.matrix(A.tolist()), right=False)]
    for group in found:
        value = min(exact, key=lambda other: abs(other - group.centre))
        assert abs(value - group.centre) < 1e-15 * abs(value)


def _random_drives(rng: np.random.Generator, sizes: list[int], defective: bool) -> np.ndarray:
    """A matrix of blocks, some of which drive others, with its states in random order."""
    n, starts = sum(sizes), np.cumsum([0, *sizes])
    A = np.zeros((n, n))
    for b, m in enumerate(sizes):
        own = slice(starts[b], starts[b] + m)
        A[own, own] = rng.normal(size=(m, m)) * 10.0 ** rng.uniform(-2, 2)
        if defective:
            A[own, own] = -2.0 * np.eye(m) + np.diag(rng.choice([0.0, 1.0], m - 1), 1)
        for c in range(b + 1, len(sizes)):
            if rng.random() < 0.4:
                A[own, starts[c] : starts[c] + sizes[c]] = rng.normal(size=(m, sizes[c]))
    order = rng.permutation(n)
    return A[order[:, None], order]


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("defective", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_what_a_state_does_not_drive_has_exact_zeros(seed: int, defective: bool) -> None:
    rng = np.random.default_rng(seed)
    A = _random_drives(rng, rng.integers(1, 4, size=rng.integers(2, 5)).tolist(), defective)
    drives = np.linalg.matrix_power(np.eye(len(A)) + (A != 0), len(A)) > 0
    found = decouple(A, 1.0)
    for h in (1e-3, 0.3, 2.0):
        exact = np.array(mp.expm(mp.matrix((A * h).tolist())).tolist(), float)
        flow = np.zeros(A.shape)
        for g in found:
            motion = np.array(mp.expm(mp.matrix((g.N * h).tolist())).tolist(), complex)
            part = g.P @ (motion * np.exp((g.centre + g.centre_low) * h)) @ g.U
            assert not part[~drives].any()
            flow += g.weight * part.real
        assert np.abs(flow - exact).max() < 1e-11 * np.abs(exact).max()


def test_what_is_ordered_keeps_its_order() -> None:
    A = np.triu(np.ones((5, 5)))
    A[3, 2] = 1.0
    order, blocks = driven_first(A)
    assert order.tolist() == [0, 1, 2, 3, 4]
    assert blocks == [slice(0, 1), slice(1, 2), slice(2, 4), slice(4, 5)]


def test_a_defective_block_that_drives_another_one_is_one_group_with_it() -> None:
    # Two equal states that drive each other in a circle of which eigenvectors say too little, and one that they drive.
    A = np.array([[-1.0, 1.0, 0.0], [0.0, -2.0, 1.0], [0.0, -1.0, 0.0]])
    found = decouple(A, 1.0)
    assert sorted(len(group.N) for group in found) == [3]
    h = 0.7
    flow = sum(
        g.weight * (g.P @ np.array(mp.expm(mp.matrix((g.N * h).tolist())).tolist(), complex) @ g.U)
        * np.exp(g.centre * h)
        for g in found
    )  # fmt: skip
    exact = np.array(mp.expm(mp.matrix((A * h).tolist())).tolist(), float)
    assert np.abs(np.real(flow) - exact).max() < 1e-14
    assert not flow[1:, 0].any()


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("feedback", [0.0, 1e-13, 1e-9])
@pytest.mark.parametrize("gap", [1e-12, 1e-9, 1e-6, 1e-5, 1e-3])
@pytest.mark.parametrize("T0", [1.0, 1e3, 1e7])
def test_a_cascade_of_like_stages_does_not_depend_on_how_long_a_run_is(
    T0: float, gap: float, feedback: float
) -> None:
    rates = 1.0 + gap * np.array([0.0, 1.3, -1.6, 0.0, 2.2])
    A = np.diag(-rates) + np.diag(rates[1:], -1) + feedback * np.diag(rates[1:], 1)
    for h in (0.3, 3.0):
        with mp.workdps(60):
            exact = np.array(mp.expm(mp.matrix(A.tolist()) * mp.mpf(h)).tolist(), float)
        flow = np.zeros(A.shape)
        for g in decouple(A, T0):
            motion = np.array(mp.expm(mp.matrix((g.N * h).tolist())).tolist(), complex)
            flow += g.weight * (g.P @ (motion * np.exp((g.centre + g.centre_low) * h)) @ g.U).real
        assert np.abs(flow - exact).max() < 1e-12
