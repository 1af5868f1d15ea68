import mpmath
import numpy as np
import pytest
from scipy.linalg import expm

from tests.oracles.piecewise import AffineFlow, Guard, Mode, MpAffineFlow, advance, phi1, phi2, sample


def test_phi_functions_match_extended_precision_near_and_away_from_zero():
    for z in (0.0, 1e-12, -3e-5, 0.3j, 0.49, -0.51, 2 - 3j, -40.0):
        value = mpmath.mpmathify(z)
        first = mpmath.mpf(1) if z == 0 else mpmath.fdiv(mpmath.expm1(value), value)
        with mpmath.workdps(60):
            second = mpmath.mpf(1) / 2 if z == 0 else (mpmath.exp(value) - 1 - value) / value**2
        assert complex(phi1(np.array(z))) == pytest.approx(complex(first), rel=1e-14)
        assert complex(phi2(np.array(z))) == pytest.approx(complex(second), rel=1e-14)


def test_affine_flow_matches_augmented_exponential():
    A, b, x = np.array([[0.0, -2.0], [3.0, -1.0]]), np.array([1.0, 0.5]), np.array([0.3, -0.7])
    E = expm(np.block([[A, b[:, None]], [np.zeros((1, 3))]]) * 0.8)
    np.testing.assert_allclose(AffineFlow(A, b).at(x, 0.8), (E @ [*x, 1.0])[:2], rtol=1e-14)


def test_integral_of_singular_affine_flow_is_exact():
    flow = AffineFlow([[0.0, 0.0], [0.0, -2.0]], [3.0, 0.0])
    decay = (1 - np.exp(-3.0)) / 2 * 5.0
    np.testing.assert_allclose(flow.integral([1.0, 5.0], 1.5), [1.5 + 3 * 1.5**2 / 2, decay], rtol=1e-15)


def test_defective_matrix_is_rejected():
    with pytest.raises(ValueError, match="eigenvectors"):
        AffineFlow([[0.0, 1.0], [0.0, 0.0]], [0.0, 0.0])


def test_crossing_of_a_cosine_is_a_quarter_period():
    flow = AffineFlow([[0.0, 1.0], [-1.0, 0.0]], [0.0, 0.0])
    assert flow.first_crossing((1.0, 0.0), 0.0, np.array([1.0, 0.0]), 3.0) == pytest.approx(
        np.pi / 2, rel=2e-16
    )


def test_guard_that_starts_at_zero_and_rises_is_found_at_its_return():
    flow = AffineFlow([[0.0, 1.0], [-1.0, 0.0]], [0.0, 0.0])
    assert flow.first_crossing((1.0, 0.0), 0.0, np.array([0.0, 1.0]), 4.0) == pytest.approx(np.pi, rel=2e-16)


def test_extended_precision_crossing_keeps_its_digits_in_a_stiff_mode():
    with mpmath.workdps(40):
        fast = mpmath.mpf(10) ** 13
        flow = MpAffineFlow([[-fast, 0], [0, -1]], [fast, 0])
        start = np.array([mpmath.mpf(0), mpmath.mpf(2)], dtype=object)
        root = flow.first_crossing((0, 1), mpmath.mpf(-1), start, mpmath.mpf(5))
        assert abs(root - mpmath.log(2)) < mpmath.mpf(10) ** -38


def test_advance_alternates_between_two_modes_exactly():
    up, down = AffineFlow([[-1.0]], [2.0]), AffineFlow([[-1.0]], [0.0])
    modes = {
        "up": Mode(up, (Guard((-1.0,), 1.5, lambda x: ("down", x)),)),
        "down": Mode(down, (Guard((1.0,), -0.5, lambda x: ("up", x)),)),
    }
    _, _, segments = advance(modes, "up", np.array([0.5]), 10.0)
    durations = [s.duration for s in segments[:-1]]
    np.testing.assert_allclose(durations, np.log(3.0), rtol=1e-15)
    assert sample(modes, segments, [1.5 * np.log(3.0)])[0, 0] == pytest.approx(1.5 * 3**-0.5, rel=1e-14)
