"""The battery against the closed form of its circuit, and against its table."""

import numpy as np
import pytest

from acausal import simulate
from acausal.components.electrical import Battery, ConstantCurrent, Resistor, StepCurrent
from acausal.errors import ParameterError
from tests.components.electrical.circuits import parallel

CLOSE = {"rtol": 1e-11, "atol": 1e-12}
OCV = ((0.0, 3.0), (0.1, 3.4), (0.9, 3.8), (1.0, 4.2))
Q, R0, R1, C1 = 7200.0, 0.05, 0.02, 1500.0


def test_pulse_of_current() -> None:
    """Discharge with 2 A from 100 s on: ohmic drop at once, polarisation with ``R1 * C1``, charge linear in time."""
    battery = Battery(Q=Q, ocv=OCV, R0=R0, R1=R1, C1=C1, soc=0.8)
    result = simulate(parallel(load=StepCurrent(I=2.0, startTime=100.0), battery=battery), 400.0)
    t = np.linspace(100.0, 400.0, 61)
    soc = 0.8 - 2.0 * (t - 100) / Q
    drop = 2.0 * R0 + 2.0 * R1 * (1 - np.exp(-(t - 100) / (R1 * C1)))
    np.testing.assert_allclose(result["battery.soc"].at(t), soc, **CLOSE)
    np.testing.assert_allclose(result["battery.v"].at(t), np.interp(soc, *np.transpose(OCV)) - drop, **CLOSE)
    assert result["battery.v"].at(100.0, side="left") == pytest.approx(np.interp(0.8, *np.transpose(OCV)))


def test_a_cycle_passes_all_pieces_of_the_table() -> None:
    battery = Battery(Q=Q, ocv=OCV, R1=R1, C1=0.0, soc=1.0)
    result = simulate(parallel(load=ConstantCurrent(I=2.0), battery=battery), 3600.0)
    t = np.linspace(0, 3600, 101)
    soc = 1 - 2.0 * t / Q
    np.testing.assert_allclose(
        result["battery.v"].at(t), np.interp(soc, *np.transpose(OCV)) - 2 * R1, **CLOSE
    )
    assert result["battery.soc"].final == pytest.approx(0.0, abs=1e-12)


def test_what_a_load_draws_is_what_the_battery_loses() -> None:
    battery = Battery(Q=Q, ocv=OCV, R0=R0, R1=R1, C1=C1, soc=0.5)
    result = simulate(parallel(load=Resistor(R=1.5), battery=battery), 1800.0)
    drawn = result["load.i"].mean(0.0, 1800.0) * 1800.0
    assert Q * (0.5 - result["battery.soc"].final) == pytest.approx(drawn, rel=1e-9)


def test_a_table_with_two_voltages_at_one_charge_is_refused() -> None:
    with pytest.raises(ParameterError, match="`ocv` of Battery must ascend strictly, but 0.5 occurs twice"):
        Battery(Q=Q, ocv=((0.0, 3.0), (0.5, 3.5), (0.5, 3.6)), R1=R1, C1=C1)
