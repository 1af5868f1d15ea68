"""Currents of bipolar transistors against the Ebers-Moll equations."""

import numpy as np
import pytest

from acausal import simulate
from acausal.components.electrical import NPN, PNP, ConstantVoltage, RampVoltage
from tests.components.electrical.circuits import driven

CLOSE = {"rtol": 1e-12, "atol": 1e-21}
T = np.linspace(0.0, 1.0, 101)
VALUES = {"Bf": 80.0, "Br": 2.0, "Is": 1e-15, "Vak": 0.03, "Gbe": 1e-9, "Gbc": 2e-9, "Vt": 0.026} | {
    "EMin": -50.0,
    "EMax": 25.0,
}


def exponential(x: np.ndarray, low: float, high: float) -> np.ndarray:
    """``exp(x)`` between the limits, its tangents outside."""
    below, above = np.exp(low) * (1 + x - low), np.exp(high) * (1 + x - high)
    return np.where(x < low, below, np.where(x > high, above, np.exp(np.clip(x, low, high))))


def collector_and_base(vbe: np.ndarray, vbc: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    p = VALUES
    ibe, ibc = (
        p["Is"] * (exponential(v / p["Vt"], p["EMin"], p["EMax"]) - 1) + G * v
        for v, G in ((vbe, p["Gbe"]), (vbc, p["Gbc"]))
    )
    return (ibe - ibc) * (1 - p["Vak"] * vbc) - ibc / p["Br"], ibe / p["Bf"] + ibc / p["Br"]


@pytest.mark.parametrize("collector", [5.0, 0.2, -0.7])
def test_npn_currents_over_the_base_voltage(collector: float) -> None:
    """Cut off, active, saturated and reverse, and beyond the limits of the exponent at both ends."""
    base = -2.0 + 3.0 * T
    sources = {"C": ConstantVoltage(V=collector), "B": RampVoltage(V=3.0, offset=-2.0, duration=1.0)}
    result = simulate(driven(NPN(**VALUES, useCharges=False), **sources, E=None), 1.0)
    c, b = collector_and_base(base, base - collector)
    np.testing.assert_allclose(result["device.C.i"].at(T), c, **CLOSE)
    np.testing.assert_allclose(result["device.B.i"].at(T), b, **CLOSE)
    np.testing.assert_allclose(result["device.E.i"].at(T), -(c + b), rtol=1e-11, atol=1e-20)


def test_pnp_is_the_mirror_image() -> None:
    sources = {"C": ConstantVoltage(V=-3.0), "B": RampVoltage(V=-3.0, offset=2.0, duration=1.0)}
    result = simulate(driven(PNP(**VALUES, useCharges=False), **sources, E=None), 1.0)
    veb = -(2.0 - 3.0 * T)
    c, b = collector_and_base(veb, veb - 3.0)
    np.testing.assert_allclose(result["device.C.i"].at(T), -c, **CLOSE)
    np.testing.assert_allclose(result["device.B.i"].at(T), -b, **CLOSE)


def test_forward_gain_of_the_active_region() -> None:
    """With the collector at the potential of the base the reverse junction carries nothing."""
    sources = {"C": ConstantVoltage(V=0.6), "B": ConstantVoltage(V=0.6)}
    result = simulate(driven(NPN(useCharges=False), **sources, E=None), 1.0)
    assert result["device.C.i"].final / result["device.B.i"].final == pytest.approx(50.0, rel=1e-12)
