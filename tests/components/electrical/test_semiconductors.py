"""Characteristics of diodes against their formulas, piece by piece."""

import numpy as np
import pytest
from scipy.optimize import brentq

from acausal.components.electrical import Diode, Diode2, ZDiode
from acausal.errors import ParameterError
from tests.components.electrical.circuits import sweep
from tests.components.electrical.laws import right_side

CLOSE = {"rtol": 1e-12, "atol": 1e-18}


def exponential(x: np.ndarray, top: float) -> np.ndarray:
    """``exp(x)``, above ``top`` its tangent."""
    return np.where(x > top, np.exp(top) * (1 + x - top), np.exp(np.minimum(x, top)))


def shockley(v: np.ndarray, Ids: float, Vt: float, Maxexp: float) -> np.ndarray:
    return Ids * (exponential(v / Vt, Maxexp) - 1)


@pytest.mark.parametrize(
    ("Ids", "Vt", "Maxexp", "R"),
    [(1e-6, 0.04, 15.0, 1e8), (1e-14, 0.0258, 30.0, 1e9), (1e-9, 0.05, 3.0, 5.0)],
)
def test_junction_diode(Ids: float, Vt: float, Maxexp: float, R: float) -> None:
    v, i = sweep(Diode(Ids=Ids, Vt=Vt, Maxexp=Maxexp, R=R), -1.0, 2 * Maxexp * Vt)
    np.testing.assert_allclose(i, shockley(v, Ids, Vt, Maxexp) + v / R, **CLOSE)


def test_junction_diode_is_finite_at_any_voltage() -> None:
    v, i = sweep(Diode(), -1e6, 1e6, points=5)
    np.testing.assert_allclose(i, shockley(v, 1e-6, 0.04, 15.0) + v / 1e8, **CLOSE)


def test_the_tangent_continues_value_and_slope() -> None:
    """Second-order one-sided differences on both sides of ``Maxexp * Vt``."""
    knee, h = 0.6, 1e-5
    v, i = sweep(Diode(), knee - 2 * h, knee + 2 * h, points=5)
    left = (3 * i[2] - 4 * i[1] + i[0]) / (2 * h)
    right = (-3 * i[2] + 4 * i[3] - i[4]) / (2 * h)
    slope = 1e-6 * np.exp(15) / 0.04
    assert v[2] == pytest.approx(knee, rel=1e-15)
    assert left == pytest.approx(slope, rel=1e-6)
    assert right == pytest.approx(slope, rel=1e-9)


def test_zener_diode() -> None:
    Ids, Vt, R, Bv, Ibv, Nbv, Maxexp = 1e-9, 0.03, 1e7, 4.7, 0.1, 0.8, 20.0
    diode = ZDiode(Ids=Ids, Vt=Vt, R=R, Bv=Bv, Ibv=Ibv, Nbv=Nbv, Maxexp=Maxexp)
    v, i = sweep(diode, -Bv - 1.5 * Maxexp * Nbv * Vt, 1.5 * Maxexp * Vt)
    backward = Ibv * exponential(-(v + Bv) / (Nbv * Vt), Maxexp)
    np.testing.assert_allclose(i, shockley(v, Ids, Vt, Maxexp) - backward + v / R, **CLOSE)


def test_zener_diode_carries_its_nominal_current_at_breakdown() -> None:
    _, i = sweep(ZDiode(), -5.1, 0.0, points=2)
    assert i[0] == pytest.approx(-0.7 - 1e-6 - 5.1e-8, rel=1e-12)


def test_a_thermal_voltage_of_zero_is_refused() -> None:
    for kind in (Diode, ZDiode, Diode2):
        with pytest.raises(ParameterError, match="`Vt` of"):
            kind(Vt=0.0)


DIODE2 = {"Vf": 0.6, "Ids": 1e-12, "Vt": 0.026, "N": 1.4, "Bv": 6.0}


def junction(vd: np.ndarray, Vf: float, Ids: float, Vt: float, N: float, Bv: float) -> np.ndarray:
    """Three pieces of `Diode2` and the continuation of the breakdown, each from its own formula."""
    width, top = N * Vt, Vf / (N * Vt) + 1
    upper = Ids * (exponential(vd / width, top) - 1)
    lower = -Ids * (exponential(-(vd + Bv) / width, top) + 1 - 2 * np.exp(-Bv / (2 * width)))
    return np.where(vd < -Bv / 2, lower, upper)


def test_junction_with_breakdown() -> None:
    vd = np.linspace(-8.0, 2.0, 1001)
    expected = junction(vd, **DIODE2)
    np.testing.assert_allclose(right_side(Diode2(**DIODE2), "id", vd=vd), expected, rtol=1e-13)
    assert np.all(np.diff(expected) >= 0)


def test_junction_with_breakdown_meets_its_pieces() -> None:
    """Value and slope half way to the breakdown, at the forward knee and at its mirror image."""
    width, h = DIODE2["N"] * DIODE2["Vt"], 1e-5
    knee = DIODE2["Vf"] + width
    for at, exponent in ((-3.0, -3.0 / width), (knee, knee / width), (-6.0 - knee, knee / width)):
        i = right_side(Diode2(**DIODE2), "id", vd=at + h * np.arange(-2, 3))
        left = (3 * i[2] - 4 * i[1] + i[0]) / (2 * h)
        right = (-3 * i[2] + 4 * i[3] - i[4]) / (2 * h)
        slope = DIODE2["Ids"] * np.exp(exponent) / width
        # A third of (h / width)**2 is the error of the differences; currents of 1e-12 A are rounded at 1e-28 A.
        assert [left, right] == pytest.approx([slope, slope], rel=1e-6, abs=1e-22)


def test_series_resistance_and_leakage() -> None:
    part = Diode2(**DIODE2, Rs=3.0, Gp=0.25)
    assert right_side(part, "v", vd=0.5, id=2.0) == pytest.approx(6.5, rel=1e-15)
    assert right_side(part, "i", v=4.0, id=2.0) == pytest.approx(3.0, rel=1e-15)


def test_diode_with_series_resistance_in_a_circuit() -> None:
    """What a source forces on the diode is shared between junction and resistance."""
    Rs, Gp = 16.0, 1e-6
    v, i = sweep(Diode2(**DIODE2, Rs=Rs, Gp=Gp), -7.5, 5.0, points=101)

    def current(u: float) -> float:
        vd = brentq(
            lambda vd: vd + Rs * float(junction(np.array(vd), **DIODE2)) - u, -9, 6, xtol=1e-16, rtol=1e-15
        )
        return (u - vd) / Rs + Gp * u

    np.testing.assert_allclose(i, [current(u) for u in v], rtol=1e-8, atol=1e-12)
