"""Legendre series on panels and their Fourier integrals."""

import mpmath
import numpy as np
import pytest

from acausal.results.panels import DEGREE, Panels, equal_parts, fit, moments


@pytest.mark.parametrize("q", [1e-3, 0.5, 9.0, 15.9, 16.1, 40.0, 1e3])
def test_moments_are_spherical_bessel_functions(q: float) -> None:
    with mpmath.workdps(30):
        bessel = [mpmath.sqrt(mpmath.pi / (2 * q)) * mpmath.besselj(k + 0.5, q) for k in range(DEGREE + 1)]
        expected = [complex(2 * mpmath.mpc(0, -1) ** k * j) for k, j in enumerate(bessel)]
    np.testing.assert_allclose(moments(np.array([q]), DEGREE + 1)[0], expected, atol=2e-14)


def fitted(f: object, length: float = 1.0) -> Panels:
    zero = np.zeros(1)
    return fit(lambda which, hs: f(hs), zero, np.zeros(1, np.int64), zero, np.array([length]))  # type: ignore[operator]


def test_panels_are_finer_where_the_function_is_fast() -> None:
    panels = fitted(lambda h: np.exp(-h / 1e-9))
    assert panels.integral(panels.values) == pytest.approx(1e-9, rel=1e-12)
    assert len(panels.half) < 50
    at = panels.fourier(np.array([0.0, 1e9]), 0.0)
    np.testing.assert_allclose(at, [1e-9, 1e-9 / (1 + 1j)], rtol=1e-12)


def test_the_total_length_is_covered_once() -> None:
    panels = fitted(lambda h: np.sin(300.0 * h), 2.0)
    assert 2.0 * panels.half.sum() == pytest.approx(2.0, rel=1e-15)
    assert panels.integral(panels.values) == pytest.approx((1 - np.cos(600.0)) / 300.0, abs=1e-14)


def test_values_that_are_rounding_are_not_resolved() -> None:
    noise = np.random.default_rng(3)
    panels = fitted(lambda h: 1.0 + 1e-11 * noise.standard_normal(len(h)))
    assert len(panels.half) < 100
    assert panels.integral(panels.values) == pytest.approx(1.0, abs=1e-10)


def test_values_that_are_no_numbers_end_the_search() -> None:
    panels = fitted(lambda h: np.full(len(h), np.nan))
    assert len(panels.half) == 1
    assert np.isnan(panels.fourier(np.array([1.0]), 0.0)).all()


def test_intervals_are_cut_into_equal_parts() -> None:
    left, right, of = equal_parts(np.array([0.0, 1.0]), np.array([0.3, 3.0]), 0.5)
    np.testing.assert_allclose(left, [0.0, 1.0, 1.5, 2.0, 2.5])
    np.testing.assert_allclose(right, [0.3, 1.5, 2.0, 2.5, 3.0])
    assert of.tolist() == [0, 1, 1, 1, 1]
