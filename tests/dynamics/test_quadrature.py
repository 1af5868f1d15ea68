"""Integrals along a trajectory against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from acausal.dynamics.assembly import affine_flow
from acausal.dynamics.closed_form import Trajectory, integrate_forms
from acausal.dynamics.kronrod import COARSE, NODES, WEIGHTS
from acausal.dynamics.quadrature import integrals, integrate

from .oracle import blocks, chain, generator, sinusoid


def sources(*parts: np.ndarray, y0: list[float]) -> Trajectory:
    """Trajectory of an exosystem alone."""
    S = blocks(*parts)
    return affine_flow(generator(np.zeros((0, 0)), np.zeros((0, len(S))), S), 0, 0.02).start(np.array(y0))


def test_rules_have_their_degree() -> None:
    for degree in range(0, 32, 2):
        assert WEIGHTS @ NODES**degree == pytest.approx(2 / (degree + 1), rel=1e-15)
    for degree in range(0, 20, 2):
        assert COARSE @ NODES**degree == pytest.approx(2 / (degree + 1), rel=1e-15)
    assert abs(COARSE @ NODES**20 - 2 / 21) > 1e-6


def test_polynomials_are_exact_with_one_evaluation() -> None:
    calls = []

    def powers(ys: np.ndarray, hs: np.ndarray) -> np.ndarray:
        calls.append(len(hs))
        return ys[:, :1] ** np.array([1, 9, 19])

    trajectory = sources(chain(2), y0=[0.5, 2.0])
    value = integrate(trajectory, powers, 0.25, 1.5)
    exact = [(3.5 ** (p + 1) - 1.0) / (2 * (p + 1)) for p in (1, 9, 19)]
    assert value == pytest.approx(exact, rel=1e-14)
    assert calls == [21]


def test_power_of_a_sinusoid_over_many_periods() -> None:
    omega = 2 * math.pi * 50
    trajectory = sources(sinusoid(omega), y0=[0.0, omega])
    value = integrate(trajectory, lambda ys, hs: ys[:, :1] ** 2, 0.0, 1.0)
    assert value == pytest.approx([0.5], rel=1e-14)


def test_rectified_sinusoid() -> None:
    omega = 2 * math.pi * 50
    trajectory = sources(sinusoid(omega), y0=[0.0, omega])
    value = integrate(trajectory, lambda ys, hs: np.maximum(ys[:, :1], 0.0), 0.0, 0.1)
    assert value == pytest.approx([10 / omega], rel=1e-12)


def test_fast_transient_at_the_start_of_a_long_segment() -> None:
    rate, end = 1e13, 5e-6
    trajectory = affine_flow(generator([[-rate]], [[0.0]], [[0.0]]), 1, 2e-5).start(np.array([7.0, 1.0]))
    value = integrate(trajectory, lambda ys, hs: np.stack([ys[:, 0] ** 2, ys[:, 0], hs], 1), 0.0, end)
    assert value == pytest.approx([49 / (2 * rate), 7 / rate, end**2 / 2], rel=2e-14)


def test_stiff_and_slow_together() -> None:
    rates = np.array([1e12, 1e3])
    Ay = generator(-np.diag(rates), np.diag(rates) @ np.ones((2, 1)), [[0.0]])
    trajectory = affine_flow(Ay, 2, 2e-5).start(np.array([3.0, 5.0, 1.0]))
    end = 1e-3
    value = integrate(trajectory, lambda ys, hs: ys[:, :1] * ys[:, 1:2], 0.0, end)
    # (1 + 2 e^(-a h)) (1 + 4 e^(-b h))
    a, b = rates
    exact = end + 2 / a + 4 * -math.expm1(-b * end) / b + 8 / (a + b)
    assert value == pytest.approx([exact], rel=4e-15)


def test_empty_interval() -> None:
    trajectory = sources(chain(2), y0=[0.5, 2.0])
    assert integrate(trajectory, lambda ys, hs: ys, 0.5, 0.5).tolist() == [0.0, 0.0]


def test_rounding_of_an_integrand_is_not_resolved() -> None:
    """A power that vanishes up to the rounding of large potentials."""
    trajectory = affine_flow(generator([[-1.0]], [[0.0]], [[0.0]]), 1, 1.0).start(np.array([1.0, 1.0]))
    points = 0

    def integrand(ys: np.ndarray, hs: np.ndarray) -> np.ndarray:
        nonlocal points
        points += len(hs)
        return np.stack([(1e3 + ys[:, 0]) - 1e3 - ys[:, 0], ys[:, 0]], 1)

    noise, exact = integrate(trajectory, integrand, 0.0, 3.0)
    assert points < 50_000
    assert abs(noise) < 1e-12
    assert exact == pytest.approx(-math.expm1(-3.0), rel=1e-14)


@pytest.mark.parametrize("sharpness", [1e3, 1e4, 1e6])
@pytest.mark.parametrize(("begin", "end"), [(0.0, 1.0), (0.0, 2.0), (0.3, 1.0), (0.3, 1.7)])
def test_a_narrow_peak_is_not_taken_for_rounding(sharpness: float, begin: float, end: float) -> None:
    """1/(1 + (k (t - 1))^2), where a panel is far longer than the peak at one of its ends or inside."""
    trajectory, points = sources(chain(2), y0=[-1.0, 1.0]), 0

    def integrand(ys: np.ndarray, hs: np.ndarray) -> np.ndarray:
        nonlocal points
        points += len(hs)
        return 1.0 / (1.0 + (sharpness * ys[:, :1]) ** 2)

    found = integrate(trajectory, integrand, begin, end)
    exact = (math.atan(sharpness * (end - 1.0)) - math.atan(sharpness * (begin - 1.0))) / sharpness
    assert found == pytest.approx([exact], rel=1e-15 * sharpness)
    assert points < 5_000


@pytest.mark.parametrize(("until", "off", "most"), [(0.1, 1e-12, 20_000), (2.0, 1e-4, 200)])
def test_rounding_counts_where_it_is(until: float, off: float, most: int) -> None:
    """sqrt(abs(t - 0.3)), whose values are known to 1e-3 until some time and exactly from there on."""
    trajectory, points = sources(chain(2), y0=[-0.3, 1.0]), 0

    def integrand(ys: np.ndarray, hs: np.ndarray) -> np.ndarray:
        nonlocal points
        points += len(hs)
        return np.sqrt(np.abs(ys[:, :1]))

    found = integrate(trajectory, integrand, 0.0, 1.0, rounding=lambda hs: 1e-3 * (hs[:, None] < until))
    assert found == pytest.approx([2 / 3 * (0.3**1.5 + 0.7**1.5)], rel=off)
    assert points < most


def test_many_parts_at_once_agree_with_each_alone() -> None:
    trajectory = sources(chain(2), sinusoid(3.0), y0=[0.5, 2.0, 1.0, 0.0])
    basis, C = trajectory.flow.basis, trajectory.C
    h0, h1 = np.array([0.0, 0.25, 1.0]), np.array([0.25, 1.0, 9.0])
    together = integrate_forms(basis, np.stack([C] * 3), lambda x: x**2, h0, h1, np.zeros((3, len(C))))
    alone = [
        integrate(trajectory, lambda ys, _: ys**2, a, b)
        for a, b in zip(h0.tolist(), h1.tolist(), strict=True)
    ]
    assert together == pytest.approx(sum(alone), rel=1e-12)


def test_parts_that_the_first_panels_cannot_resolve_are_halved_beside_others() -> None:
    """abs(t - 0.3) has a kink in the first part alone."""
    trajectory = sources(chain(2), y0=[-0.3, 1.0])
    h0, h1 = np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 4.0])
    C = np.stack([trajectory.C[:1]] * 3)
    found = integrate_forms(trajectory.flow.basis, C, np.abs, h0, h1, np.zeros((3, 1)))
    assert found == pytest.approx([0.045 + 0.5 * 3.7**2], rel=1e-13)


def test_integrals_at_many_times_on_panels_that_halve() -> None:
    """In any order, also at the start and twice; beside a transient, with panels that are halved at a corner."""
    rate, end = 1e9, 1e-3
    trajectory = affine_flow(generator([[-rate]], [[0.0]], [[0.0]]), 1, 2e-5).start(np.array([7.0, 1.0]))
    hs = np.array([end, 3e-9, 0.0, 2e-4, 3e-9, 1e-10, 0.7 * end])
    calls: list[int] = []

    def rates(ys: np.ndarray, hs: np.ndarray) -> np.ndarray:
        calls.append(len(hs))
        return np.stack([ys[:, 0], np.abs(hs - 3.1e-4)], 1)

    value = integrals(trajectory, hs, rates, lambda hs: np.zeros((len(hs), 2)))
    assert value[:, 0] == pytest.approx(-7 / rate * np.expm1(-rate * hs), rel=1e-13)
    x = hs - 3.1e-4
    assert value[:, 1] == pytest.approx((x * np.abs(x) + 3.1e-4**2) / 2, rel=1e-12, abs=1e-19)
    assert len(calls) < 60
