"""Transistors with antiparallel diode: both directions, and the way of an inductive current."""

import numpy as np
import pytest

from acausal import simulate
from acausal.components.electrical import (
    ConstantVoltage,
    Ground,
    IdealIGBT,
    IdealMOSFET,
    Inductor,
    Resistor,
    SineVoltage,
)
from acausal.errors import FlowInterruptedError
from acausal.modeling import Circuit, Impulse, time
from tests.components.electrical.circuits import loop

CLOSE = {"rtol": 1e-9, "atol": 1e-9}
F, T, V, R = 50.0, 0.02, 10.0, 5.0
BLOCKED, ON = time < 0, time >= 0
INSTANTS = np.linspace(0, 2 * T, 401)
SOURCE = V * np.sin(2 * np.pi * F * INSTANTS)


def load_current(device: IdealIGBT | IdealMOSFET) -> np.ndarray:
    """Current from ``p`` to ``n`` of a device in series with R at a sine."""
    result = simulate(loop(source=SineVoltage(V=V, f=F), device=device, load=Resistor(R=R)), 2 * T)
    np.testing.assert_allclose(result["device.i"].at(INSTANTS), result["load.i"].at(INSTANTS), **CLOSE)
    assert np.all(result["device.v"].values * result["device.i"].values >= -1e-9)
    return result["load.i"].at(INSTANTS)


@pytest.mark.parametrize("kind", [IdealIGBT, IdealMOSFET])
def test_blocked_transistor_is_its_diode(kind: type[IdealIGBT | IdealMOSFET]) -> None:
    i = load_current(kind(gate=BLOCKED, RonDiode=0.5, VkneeDiode=0.7))
    np.testing.assert_allclose(i, np.minimum(SOURCE + 0.7, 0) / (R + 0.5), atol=1e-8)


@pytest.mark.parametrize("kind", [IdealIGBT, IdealMOSFET])
def test_lossless_transistor_that_is_on_conducts_both_ways(kind: type[IdealIGBT | IdealMOSFET]) -> None:
    np.testing.assert_allclose(load_current(kind(gate=ON)), SOURCE / R, atol=1e-8)


def test_igbt_forward_by_the_transistor_backward_by_the_diode() -> None:
    i = load_current(IdealIGBT(gate=ON, Ron=0.5, Vknee=1.0, RonDiode=0.25, VkneeDiode=0.7))
    expected = np.maximum(SOURCE - 1.0, 0) / (R + 0.5) + np.minimum(SOURCE + 0.7, 0) / (R + 0.25)
    np.testing.assert_allclose(i, expected, atol=1e-8)


def test_mosfet_channel_conducts_backward_until_the_body_diode_joins() -> None:
    """Backward the channel of Ron alone, from ``Ron * |i| > Vknee`` on in parallel with the diode."""
    Ron, knee, RonDiode = 0.5, 0.4, 0.5
    i = load_current(IdealMOSFET(gate=ON, Ron=Ron, VkneeDiode=knee, RonDiode=RonDiode))
    alone = SOURCE / (R + Ron)
    # Both: v = Ron * ic = -knee + RonDiode * id with ic + id = i, v = SOURCE - R * i.
    G = 1 / Ron + 1 / RonDiode
    both = (SOURCE * G + knee / RonDiode) / (1 + R * G)
    np.testing.assert_allclose(i, np.where(Ron * alone < -knee, both, alone), atol=1e-8)


def test_open_transistor_leaks() -> None:
    i = load_current(IdealMOSFET(gate=BLOCKED, Goff=0.1, GoffDiode=0.1, VkneeDiode=100.0))
    np.testing.assert_allclose(i, SOURCE * 0.2 / (1 + R * 0.2), atol=1e-8)


def half_bridge(kind: type[IdealIGBT | IdealMOSFET]) -> Circuit:
    """Two devices across 24 V, an inductor from the midpoint to ground; the upper one conducts for 1 s, then none."""
    c = Circuit()
    source, ground = c.add("source", ConstantVoltage(V=24.0)), c.add("ground", Ground())
    high, low = c.add("high", kind(gate=time < 1.0)), c.add("low", kind(gate=BLOCKED))
    inductor, load = c.add("inductor", Inductor(L=4.0)), c.add("load", ConstantVoltage(V=4.0))
    c.connect(source.p, high.p)
    c.connect(high.n, low.p, inductor.p)
    c.connect(inductor.n, load.p)
    c.connect(ground.p, source.n, low.n, load.n)
    return c


@pytest.mark.parametrize("kind", [IdealIGBT, IdealMOSFET])
def test_the_antiparallel_diode_takes_over_an_inductive_current(kind: type[IdealIGBT | IdealMOSFET]) -> None:
    """Up with (24 - 4) / 4 per second, down with 4 / 4 through the lower diode until 6 s, then zero."""
    result = simulate(half_bridge(kind), 8.0)
    t = np.array([0.5, 1.0, 3.0, 6.0, 7.0])
    np.testing.assert_allclose(result["inductor.i"].at(t), [2.5, 5.0, 3.0, 0.0, 0.0], **CLOSE)
    assert result["low.diode.i"].at(2.0) == pytest.approx(4)
    assert result["low.i"].at(2.0) == pytest.approx(-4)
    assert result["low.diode.i"].at(1.0, side="left") == pytest.approx(0, abs=1e-9)
    assert result["low.v"].at(2.0) == pytest.approx(0, abs=1e-9)


def chopped(interrupt: Impulse) -> Circuit:
    device = IdealMOSFET(gate=time < 0.5, interrupt=interrupt)
    return loop(source=ConstantVoltage(V=V), device=device, inductor=Inductor(L=2.0))


def test_mosfet_hands_its_impulse_policy_to_the_channel() -> None:
    with pytest.raises(FlowInterruptedError, match="device.channel"):
        simulate(chopped(Impulse.ERROR), 1.0)
    result = simulate(chopped(Impulse.ALLOW), 1.0)
    assert result["inductor.i"].at(0.5, side="left") == pytest.approx(2.5)
    assert result["inductor.i"].final == pytest.approx(0, abs=1e-9)
