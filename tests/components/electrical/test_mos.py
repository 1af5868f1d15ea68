"""Characteristics of field-effect transistors against the three ranges of the level-1 model, both ways round."""

from typing import Any

import numpy as np
import pytest

from acausal import simulate
from acausal.components.electrical import NMOS, PMOS, ConstantVoltage, RampVoltage
from acausal.errors import AcausalError
from tests.components.electrical.circuits import driven

CLOSE = {"rtol": 1e-12, "atol": 1e-18}
T = np.linspace(0.0, 1.0, 201)
NMOS_VALUES = {"Beta": 0.041e-3, "Vt": 0.8, "K2": 1.144, "K5": 0.7311, "dW": -2.5e-6, "dL": -1.5e-6}
PMOS_VALUES = {"Beta": 0.0085e-3, "Vt": -0.15, "K2": 0.41, "K5": 0.839, "dW": -2.5e-6, "dL": -2.1e-6}
W, L, RDS = 20e-6, 6e-6, 1e7


def forward_current(uds: float, ugs: float, ubs: float, p: dict[str, float]) -> float:
    """Level-1 channel with ``uds >= 0``: cut off, linear or saturated."""
    beta = p["Beta"] * (W + p["dW"]) / (L + p["dL"])
    ugst = (ugs - p["Vt"] + p["K2"] * (ubs if ubs < 0 else 0.0)) * p["K5"]
    if ugst <= 0:
        return uds / RDS
    if ugst > uds:
        return beta * uds * (ugst - uds / 2) + uds / RDS
    return beta * ugst**2 / 2 + uds / RDS


def drain_current(d: float, g: float, s: float, b: float, p: dict[str, float]) -> float:
    if d >= s:
        return forward_current(d - s, g - s, b - s, p)
    return -forward_current(s - d, g - d, b - d, p)


def ramp(low: float, high: float) -> Any:
    return RampVoltage(V=high - low, offset=low, duration=1.0) if low != high else ConstantVoltage(V=low)


@pytest.mark.parametrize("gate", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("body", [0.0, -1.5, 0.4])
def test_nmos_output_characteristic(gate: float, body: float) -> None:
    result = simulate(driven(NMOS(), D=ramp(-5.0, 5.0), G=ramp(gate, gate), S=None, B=ramp(body, body)), 1.0)
    expected = [drain_current(d, gate, 0.0, body, NMOS_VALUES) for d in -5 + 10 * T]
    np.testing.assert_allclose(result["device.D.i"].at(T), expected, **CLOSE)
    np.testing.assert_allclose(result["device.S.i"].at(T), -np.array(expected), **CLOSE)
    assert np.all(result["device.G.i"].at(T) == 0)
    assert np.all(result["device.B.i"].at(T) == 0)


def test_nmos_transfer_characteristic() -> None:
    result = simulate(driven(NMOS(), D=ramp(3.0, 3.0), G=ramp(-1.0, 8.0), S=None, B=ramp(-0.5, -0.5)), 1.0)
    expected = [drain_current(3.0, g, 0.0, -0.5, NMOS_VALUES) for g in -1 + 9 * T]
    np.testing.assert_allclose(result["device.D.i"].at(T), expected, **CLOSE)


@pytest.mark.parametrize("gate", [0.0, -2.0, -6.0])
@pytest.mark.parametrize("body", [0.0, 1.5, -0.4])
def test_pmos_is_the_mirror_image(gate: float, body: float) -> None:
    """All voltages and currents, and the threshold, of opposite sign."""
    mirrored = {**PMOS_VALUES, "Vt": 0.15}
    result = simulate(driven(PMOS(), D=ramp(-5.0, 5.0), G=ramp(gate, gate), S=None, B=ramp(body, body)), 1.0)
    expected = [-drain_current(-d, -gate, 0.0, -body, mirrored) for d in -5 + 10 * T]
    np.testing.assert_allclose(result["device.D.i"].at(T), expected, **CLOSE)


def test_the_ranges_meet_with_equal_slopes() -> None:
    """At pinch-off and where drain and source change roles: second-order one-sided differences."""
    p = NMOS_VALUES
    pinch_off, h = (4.0 - p["Vt"]) * p["K5"], 1e-4
    for at in (pinch_off, 0.0):
        sweep = driven(NMOS(), D=ramp(at - 2 * h, at + 2 * h), G=ramp(4.0, 4.0), S=None, B=None)
        i = simulate(sweep, 1.0)["device.D.i"].at(np.linspace(0, 1, 5))
        left = (3 * i[2] - 4 * i[1] + i[0]) / (2 * h)
        right = (-3 * i[2] + 4 * i[3] - i[4]) / (2 * h)
        beta = p["Beta"] * (W + p["dW"]) / (L + p["dL"])
        slope = beta * (pinch_off - at) + 1 / RDS
        # What second differences leave of values of 1e-4 A, rounded in the last place.
        assert [left, right] == pytest.approx([slope, slope], rel=1e-6, abs=1e-11)


@pytest.mark.parametrize(
    ("values", "text"), [({"W": 2e-6}, "effective width"), ({"L": 1e-6}, "effective length")]
)
def test_a_channel_without_extent_is_refused(values: dict[str, float], text: str) -> None:
    with pytest.raises(AcausalError, match=text):
        simulate(driven(NMOS(**values), D=ramp(1.0, 1.0), G=ramp(2.0, 2.0), S=None, B=None), 1.0)
