"""Integrals of products of closed-form functions against arbitrary precision and closed forms."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from acausal.dynamics.assembly import affine_flow
from acausal.dynamics.closed_form import Basis, Trajectory
from acausal.dynamics.gram import gram
from acausal.dynamics.quadrature import integrate
from acausal.results.segments import Products

from .oracle import blocks, chain, generator, sinusoid

mpmath: Any = mp
KEYS = [
    (0.0, 0.0, 0.0, 0),
    (0.0, 0.0, 0.0, 1),
    (-3e3, 0.0, 0.0, 0),
    (-0.5, 0.0, 0.0, 0),
    (0.0, 40.0, 0.0, 0),
    (0.0, 40.0, 0.0, 1),
    (-2.0, 900.0, 0.0, 0),
]


def exact(i: int, j: int, h0: float, h1: float) -> float:
    """Integral of a product of two functions of `KEYS`, whose sines follow in the same order."""

    def terms(k: int) -> list[tuple[Any, Any, int]]:
        sigma, omega, _, power = KEYS[k] if k < len(KEYS) else KEYS[4 + k - len(KEYS)]
        if not omega:
            return [(mpmath.mpc(1), mpmath.mpc(sigma), power)]
        a = mpmath.mpc(0.5) if k < len(KEYS) else mpmath.mpc(0, -0.5)
        return [(a, mpmath.mpc(sigma, omega), power), (a.conjugate(), mpmath.mpc(sigma, -omega), power)]

    def antiderivative(mu: Any, p: int, h: Any) -> Any:
        if mu == 0:
            return h ** (p + 1) / (p + 1)
        lower = antiderivative(mu, p - 1, h) * p / mu if p else 0
        return h**p * mpmath.exp(mu * h) / mu - lower

    with mpmath.workdps(40):
        total = mpmath.mpf(0)
        for a, x, p in terms(i):
            for b, y, q in terms(j):
                ends = [antiderivative(x + y, p + q, mpmath.mpf(h)) for h in (h0, h1)]
                total += (a * b * (ends[1] - ends[0])).real
        return float(total)


@pytest.mark.parametrize(("h0", "h1"), [(0.0, 1e-3), (0.0, 2.0), (0.7, 3.1)])
def test_products_of_all_kinds_of_functions(h0: float, h1: float) -> None:
    basis = Basis(KEYS)
    found = gram(basis, h0, h1)
    size = np.sqrt(np.outer(np.diag(found), np.diag(found)))
    expected = np.array([[exact(i, j, h0, h1) for j in range(basis.size)] for i in range(basis.size)])
    assert np.all(np.abs(found - expected) <= 1e-13 * size)


def test_means_of_products_over_a_hundred_million_periods() -> None:
    omega = 2 * math.pi * 1e8
    S = blocks(chain(1), sinusoid(omega))
    flow = affine_flow(generator(np.zeros((0, 0)), np.zeros((0, 3)), S), 0, 1e-8)
    trajectory = flow.start(np.array([1.0, 0.0, omega]))
    square = Products(np.array([[1], [1]]), np.ones(1), np.zeros(1, np.int64))
    assert square.integral(flow.basis, trajectory.C, 0.0, 1.0) == pytest.approx([0.5], rel=1e-9)


def test_what_turns_too_often_for_panels_is_told() -> None:
    omega = 2 * math.pi * 1e6
    flow = affine_flow(generator(np.zeros((0, 0)), np.zeros((0, 2)), sinusoid(omega)), 0, 1e-6)
    trajectory: Trajectory = flow.start(np.array([0.0, omega]))
    with pytest.warns(UserWarning, match="a charge is not resolved(.|\n)*shorter window"):
        integrate(trajectory, lambda ys, hs: np.abs(ys[:, :1]), 0.0, 1.0, name="a charge")
    assert integrate(trajectory, lambda ys, hs: ys[:, :1] ** 2, 0.0, 2e-3) == pytest.approx([1e-3], rel=1e-12)
