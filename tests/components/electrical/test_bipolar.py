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


def depletion(v: np.ndarray, C: float, phi: float, m: float) -> np.ndarray:
    """Capacitance of a junction."""
    return C * np.where(v > 0, 1 + m * v / phi, (1 - np.minimum(v, 0) / phi) ** -m)


def test_charges_move_with_the_voltage_of_the_base() -> None:
    """Collector and emitter grounded: both junctions see the ramp, and draw capacitance times its slope."""
    slope, low = 3e6, -2.0
    p = {
        "Tauf": 1e-9,
        "Taur": 7e-9,
        "Cje": 3e-12,
        "Cjc": 2e-12,
        "Me": 0.4,
        "Mc": 0.3,
        "Phie": 0.8,
        "Phic": 0.6,
    }
    source = RampVoltage(V=slope * 1e-6 - 0.3, offset=low, duration=(slope * 1e-6 - 0.3) / slope)
    t = np.linspace(0.0, 0.85e-6, 101)
    result = simulate(driven(NPN(**VALUES, **p), B=source, C=None, E=None), 0.85e-6)
    v = low + slope * t
    c, b = collector_and_base(v, v)
    transit = VALUES["Is"] / VALUES["Vt"] * exponential(v / VALUES["Vt"], VALUES["EMin"], VALUES["EMax"])
    Cbe = p["Tauf"] * transit + depletion(v, p["Cje"], p["Phie"], p["Me"])
    Cbc = p["Taur"] * transit + depletion(v, p["Cjc"], p["Phic"], p["Mc"])
    np.testing.assert_allclose(result["device.B.i"].at(t), b + (Cbe + Cbc) * slope, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(result["device.C.i"].at(t), c - Cbc * slope, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("grounded", [True, False])
def test_the_substrate_takes_its_charge_from_the_collector(grounded: bool) -> None:
    """At the pin, or unseen at ground: then currents of the pins sum up to what flows there."""
    part = PNP(Ccs=5e-12, Cje=0.0, Cjc=0.0, Tauf=0.0, Taur=0.0, useSubstrate=not grounded)
    pins = {"C": RampVoltage(V=-2.0, duration=1e-6), "B": None, "E": None}
    result = simulate(driven(part, **pins, **({} if grounded else {"S": None})), 0.5e-6)
    total = sum(result[f"device.{n}.i"].final for n in "CBE")
    assert total == pytest.approx(5e-12 * -2e6, rel=1e-6)
    if not grounded:
        assert result["device.S.i"].final == pytest.approx(5e-12 * 2e6, rel=1e-6)
