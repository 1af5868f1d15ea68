"""Power transistors: channel and junctions in parallel and in series, solved by hand at each current."""

import numpy as np
import pytest
from scipy.optimize import brentq

from acausal import simulate
from acausal.components.electrical import IGBT, ConstantVoltage, PowerMOSFET, RampVoltage
from tests.components.electrical.circuits import driven

CLOSE = {"rtol": 1e-7, "atol": 1e-10}
T = np.linspace(0.0, 1.0, 81)
BETA, VTH, ROFF = 2.0, 3.0, 1e6
CHANNEL = {"Beta": BETA, "Vth": VTH, "Roff": ROFF}
WIDTH = 1.1 * 0.02585
"""Emission coefficient times thermal voltage of the diode."""


def channel(v: float, gate: float) -> float:
    """Current of the channel, body at the source, ``v >= 0``."""
    drive = max(gate - VTH, 0.0)
    return BETA * (drive * v - v * v / 2 if v < drive else drive * drive / 2) + v / ROFF


def junction(v: float, Ids: float, width: float, Rs: float, Vf: float) -> float:
    """Current of a junction in series with ``Rs``, forward or blocking, far from its breakdown."""

    def current(vd: float) -> float:
        knee = Vf + width
        if vd > knee:
            return Ids * (np.exp(knee / width) * (1 + (vd - knee) / width) - 1)
        return Ids * np.expm1(vd / width)

    return current(brentq(lambda vd: vd + Rs * current(vd) - v, min(v, 0) - 1, max(v, 0), xtol=1e-16))


def diode(v: float) -> float:
    """The diode of both transistors with the values of their defaults."""
    return junction(v, 1e-12, WIDTH, 5e-3, 1.0)


@pytest.mark.parametrize("gate", [0.0, 5.0])
def test_mosfet_with_its_body_diode(gate: float) -> None:
    part = PowerMOSFET(**CHANNEL)
    sources = {"D": RampVoltage(V=5.0, offset=-1.0, duration=1.0), "G": ConstantVoltage(V=gate)}
    result = simulate(driven(part, **sources, S=None), 1.0)
    # Backward the drain acts as source, so the gate stands higher above it.
    expected = [channel(v, gate) if v >= 0 else -channel(-v, gate - v) - diode(-v) for v in -1 + 5 * T]
    np.testing.assert_allclose(result["device.D.i"].at(T), expected, **CLOSE)
    np.testing.assert_allclose(result["device.S.i"].at(T), -np.array(expected), **CLOSE)
    assert np.all(result["device.G.i"].at(T) == 0)


def test_mosfet_breaks_down_at_its_rated_voltage() -> None:
    sources = {"D": RampVoltage(V=2.0, offset=99.0, duration=1.0), "G": None, "S": None}
    i = simulate(driven(PowerMOSFET(Bv=100.0), **sources), 1.0)["device.D.i"].at([0.25, 1.0])
    assert i[0] < 1e-4
    # One volt above, the breakdown carries what the diode does at one volt forward.
    assert i[1] == pytest.approx(diode(1.0) + 101.0 / 1e7, rel=1e-3)


@pytest.mark.parametrize("antiparallel", [True, False])
def test_igbt_has_a_knee_saturates_and_blocks(antiparallel: bool) -> None:
    gate, width = 6.0, 1.2 * 0.02585
    part = IGBT(**CHANNEL, Rs=0.01, antiparallel=antiparallel)
    sources = {"C": RampVoltage(V=9.0, offset=-1.0, duration=1.0), "G": ConstantVoltage(V=gate)}
    i = simulate(driven(part, **sources, E=None), 1.0)["device.C.i"].at(T)

    def collector(v: float) -> float:
        """Split of the voltage between the junction and the channel at which both carry the same current."""
        if v <= 0:
            return 0.0
        inner = brentq(
            lambda u: junction(v - u, 1e-12, width, 0.01, 1.0) - channel(u, gate), 0, v, xtol=1e-15
        )
        return channel(inner, gate)

    expected = [collector(v) - (diode(-v) if antiparallel and v < 0 else 0.0) for v in -1 + 9 * T]
    # In reverse the junction passes its saturation current, of the diode as well 1e-12 A.
    np.testing.assert_allclose(i, expected, rtol=1e-7, atol=3e-12)
    assert i[-1] == pytest.approx(BETA / 2 * (gate - VTH) ** 2, rel=1e-5)
    assert i[T < 1.4 / 9].max() < 1e-4
