"""Charges, fluxes and characteristics of nonlinear parts against their definitions."""

from math import atan, inf

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from acausal import ParameterError, RequirementError, compile_model
from acausal.components.electrical import (
    ChargeCapacitor,
    JunctionCapacitor,
    SaturatingInductor,
    SineVoltage,
    TableCapacitor,
    Varistor,
)
from tests.components.electrical.circuits import loop, sweep
from tests.components.electrical.laws import right_side

TABLE = ((-2.0, 3.0), (0.5, 2.0), (1.0, 0.25), (8.0, 0.125))


@pytest.mark.parametrize("m", [0.0, 0.333, 0.5, 0.9])
def test_charge_of_a_junction_is_the_integral_of_its_capacitance(m: float) -> None:
    Cj, Phi = 2e-9, 0.7
    v = np.array([-40.0, -3.0, -0.5, 0.0, 0.3, 2.0])

    def capacitance(u: float) -> float:
        return Cj * ((1 - u / Phi) ** -m if u <= 0 else 1 + m * u / Phi)

    expected = [quad(capacitance, 0, u, epsabs=0, epsrel=1e-12)[0] for u in v]
    charge = right_side(JunctionCapacitor(Cj=Cj, Phi=Phi, m=m), "q", v=v)
    np.testing.assert_allclose(charge, expected, rtol=1e-11, atol=1e-25)


def test_charge_of_a_table_is_the_integral_of_its_capacitance() -> None:
    """The trapezoidal rule between the points of the table is exact."""
    x, c = np.transpose(TABLE)

    def integral(u: float) -> float:
        nodes = np.unique([0.0, u, *(p for p in x if min(0, u) < p < max(0, u))])
        values = np.interp(nodes, x, c)
        return float(np.sign(u) * np.sum((values[1:] + values[:-1]) / 2 * np.diff(nodes)))

    v = np.array([-5.0, -2.0, -0.3, 0.0, 0.2, 0.7, 3.0, 8.0, 50.0])
    charge = right_side(TableCapacitor(table=TABLE, C=1e-9, V=2.0), "q", v=v)
    np.testing.assert_allclose(charge, [2e-9 * integral(u / 2) for u in v], rtol=1e-14, atol=1e-25)


def test_a_table_that_does_not_begin_below_zero_has_no_charge_at_zero() -> None:
    rows = ((1.0, 4.0), (3.0, 2.0))
    charge = right_side(TableCapacitor(table=rows), "q", v=np.array([-1.0, 0.0, 1.0, 3.0, 4.0]))
    np.testing.assert_allclose(charge, [-4.0, 0.0, 4.0, 10.0, 12.0], rtol=1e-15)


def test_a_table_of_one_row_is_a_linear_capacitor() -> None:
    charge = right_side(TableCapacitor(table=((2.0, 3.0),)), "q", v=np.array([-1.0, 0.0, 5.0]))
    np.testing.assert_allclose(charge, [-3.0, 0.0, 15.0], rtol=1e-15)


def test_tables_that_are_no_function_are_refused() -> None:
    with pytest.raises(ParameterError, match="must ascend strictly, but 1 occurs twice"):
        TableCapacitor(table=((0.0, 1.0), (1.0, 2.0), (1.0, 3.0)))
    with pytest.raises(ParameterError, match="two finite numbers"):
        TableCapacitor(table=((0.0, 1.0), (1.0, inf)))


def test_a_charge_is_to_be_given() -> None:
    with pytest.raises(NotImplementedError):
        compile_model(loop(source=SineVoltage(V=1.0, f=1.0), capacitor=ChargeCapacitor()))


@pytest.mark.parametrize("y", [1e-6, 0.01, 0.2, 1 / 3, 0.5, 0.8, 0.97, 0.9999])
@pytest.mark.parametrize("Inom", [1.0, 250.0])
def test_saturation_meets_the_nominal_point(y: float, Inom: float) -> None:
    Linf, Lzer = 0.2e-3, 1.7e-3
    Lnom = Linf + y * (Lzer - Linf)
    part = SaturatingInductor(Inom=Inom, Lnom=Lnom, Lzer=Lzer, Linf=Linf)
    x = brentq(lambda x: x * atan(1 / x) - (Lnom - Linf) / (Lzer - Linf), 1e-9, 1e3, xtol=1e-18, rtol=1e-15)
    # The ratio Lnom - Linf carries the rounding of the difference, and that is magnified near y = 1.
    assert part.scale.Ipar == pytest.approx(Inom * x, rel=1e-11)
    assert right_side(part, "Psi", i=Inom) == pytest.approx(Lnom * Inom, rel=1e-13)
    small = 1e-4 * part.scale.Ipar
    assert right_side(part, "Psi", i=small) == pytest.approx(Lzer * small, rel=1e-8)


def test_saturation_of_the_published_example() -> None:
    """Lzer = 2 H, Lnom = 1 H, Linf = 0.5 H at 1 A: Ipar = 0.251725367 A."""
    part = SaturatingInductor(Lnom=1.0, Lzer=2.0, Linf=0.5)
    assert part.scale.Ipar == pytest.approx(0.251725367, rel=2e-9)
    i = np.array([-3.0, -1.0, 0.0, 0.5, 20.0])
    expected = 0.5 * i + 1.5 * part.scale.Ipar * np.arctan(i / part.scale.Ipar)
    np.testing.assert_allclose(right_side(part, "Psi", i=i), expected, rtol=1e-15)


def test_inductances_out_of_order_are_refused() -> None:
    part = SaturatingInductor(Lnom=2.0, Lzer=1.0, Linf=0.5)
    with pytest.raises(RequirementError, match="Linf < Lnom < Lzer"):
        compile_model(loop(source=SineVoltage(V=1.0, f=1.0), inductor=part)).simulate(1.0)


def test_varistor() -> None:
    Vn, In, alpha, Imax, Gp = 300.0, 1e-3, 25.0, 50.0, 1e-8
    v, i = sweep(Varistor(Vn=Vn, In=In, alpha=alpha, Imax=Imax, Gp=Gp), -600.0, 600.0, points=801)
    x, knee = np.abs(v) / Vn, (Imax / In) ** (1 / alpha)
    power = np.where(x > knee, Imax * (1 + alpha * (x - knee) / knee), In * np.minimum(x, knee) ** alpha)
    np.testing.assert_allclose(i, np.sign(v) * power + Gp * v, rtol=1e-12, atol=1e-18)
    assert i[np.argmin(np.abs(v - Vn))] == pytest.approx(In + Gp * Vn, rel=1e-10)
