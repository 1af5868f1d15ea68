"""The single-diode equation at other temperatures and irradiances, and its fit to a data sheet."""

from math import exp

import numpy as np
import pytest
from scipy.constants import Boltzmann, elementary_charge
from scipy.optimize import brentq

from acausal.components.electrical import PhotovoltaicModule, single_diode_parameters
from tests.components.electrical.circuits import sweep
from tests.components.electrical.laws import right_side

DATA = {"Isc": 8.21, "Voc": 32.9, "Imp": 7.61, "Vmp": 26.3, "ns": 54.0}
"""Data sheet of a module of 54 cells and 200 W (Kyocera KC200GT), at 1000 W/m2 and 25 degC."""


def current(v: float, p: dict[str, float]) -> float:
    """Current that a module delivers at reference conditions, by bisection on the single-diode equation."""
    a = p["N"] * p["ns"] * p["Vt"]

    def excess(i: float) -> float:
        vd = v + p["Rs"] * i
        return p["IphRef"] - p["I0Ref"] * (exp(vd / a) - 1) - vd / p["RpRef"] - i

    return brentq(excess, -100.0, 20.0, xtol=1e-14, rtol=1e-14)


@pytest.mark.parametrize("N", [1.0, 1.15, 1.3])
def test_fit_passes_the_points_of_the_data_sheet(N: float) -> None:
    p = single_diode_parameters(**DATA, N=N)
    assert current(0.0, p) == pytest.approx(DATA["Isc"], rel=1e-12)
    assert current(DATA["Voc"], p) == pytest.approx(0.0, abs=1e-11)
    assert current(DATA["Vmp"], p) == pytest.approx(DATA["Imp"], rel=1e-12)
    h = 1e-3
    powers = [(DATA["Vmp"] + k * h) * current(DATA["Vmp"] + k * h, p) for k in (-1, 0, 1)]
    # Central difference of the power, error of third order in h.
    assert (powers[2] - powers[0]) / (2 * h) == pytest.approx(0.0, abs=1e-6)
    assert powers[1] == max(powers)
    assert min(p.values()) > 0


def test_thermal_voltage_is_that_of_the_constants() -> None:
    p = single_diode_parameters(**DATA)
    assert p["Vt"] == pytest.approx(Boltzmann * 298.15 / elementary_charge, rel=1e-8)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"N": 2.5}, "choose a smaller ideality factor"),
        ({"Imp": 9.0}, "0 < Imp < Isc"),
        ({"Vmp": 40.0}, "0 < Vmp < Voc"),
        ({"N": 0.0}, "N > 0"),
    ],
)
def test_data_that_fit_no_curve_are_refused(changes: dict[str, float], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        single_diode_parameters(**{**DATA, **changes})


@pytest.mark.parametrize(("S", "T"), [(1000.0, 298.15), (250.0, 298.15), (1000.0, 340.0), (600.0, 270.0)])
def test_parameters_at_other_conditions(S: float, T: float) -> None:
    """Relations of De Soto, Klein and Beckman (2006), with Boltzmann's constant and the charge of the electron."""
    reference, muI, k = 298.15, 3.18e-3, Boltzmann / elementary_charge
    p = single_diode_parameters(**DATA)
    module = PhotovoltaicModule(**p, muI=muI, S=S, T=T)
    iph = S / 1000 * (p["IphRef"] + muI * (T - reference))
    gap = 1.121 * (1 - 2.677e-4 * (T - reference))
    i0 = p["I0Ref"] * (T / reference) ** 3 * exp((1.121 / reference - gap / T) / k)
    assert right_side(module, "iph", S=S, T=T) == pytest.approx(iph, rel=1e-14)
    # Eg / (k T) is about 43: an error of 1e-8 of the thermal voltage counts 43 times.
    assert right_side(module, "i0", S=S, T=T) == pytest.approx(i0, rel=1e-6)
    vd = np.array([-5.0, 0.0, 15.0, 28.0, 33.0])
    i = right_side(module, "i", S=S, T=T, vd=vd, iph=iph, i0=i0)
    a = p["N"] * p["ns"] * p["Vt"] * T / reference
    np.testing.assert_allclose(-i, iph - i0 * np.expm1(vd / a) - vd * S / 1000 / p["RpRef"], rtol=1e-11)
    assert right_side(module, "v", vd=1.0, i=-2.0) == pytest.approx(1.0 - 2.0 * p["Rs"], rel=1e-15)


def test_curve_of_a_module_in_a_circuit() -> None:
    p = single_diode_parameters(**DATA)
    v, i = sweep(PhotovoltaicModule(**p, S=1000.0, T=298.15), 0.0, 34.0, points=69)
    np.testing.assert_allclose(-i, [current(u, p) for u in v], rtol=1e-8, atol=1e-8)


def test_without_light_a_module_is_a_diode() -> None:
    p = single_diode_parameters(**DATA)
    v, i = sweep(PhotovoltaicModule(**p, S=0.0, T=298.15), -5.0, 34.0, points=40)
    dark = {**p, "IphRef": 0.0, "RpRef": np.inf}
    np.testing.assert_allclose(-i, [current(u, dark) for u in v], rtol=1e-8, atol=1e-8)
