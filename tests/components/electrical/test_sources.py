"""Waveforms of voltage and current sources against their formulas, at the edges and between them.

Every case runs twice: as a voltage over a resistor and as a current through one.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import acausal.components.electrical as electrical
from acausal import simulate
from acausal.components.blocks import Ramp
from acausal.components.electrical import (
    ConstantVoltage,
    PhaseSequence,
    PulseVoltage,
    Resistor,
    SignalCurrent,
    SignalVoltage,
    ThreePhaseVoltage,
    TrapezoidVoltage,
)
from acausal.errors import AcausalError, ContradictionError, ParameterError
from acausal.modeling import Circuit
from acausal.results.signal import Signal
from tests.components.electrical.circuits import loop

CLOSE = {"rtol": 1e-9, "atol": 1e-9}
QUANTITIES = ["Voltage", "Current"]
PEAK = {"Voltage": "vMax", "Current": "iMax"}
HEIGHT = {"Voltage": "V", "Current": "I"}


def waveform(kind: str, quantity: str, stop: float, **parameters: Any) -> Signal:
    """The quantity that a source of the class ``kind + quantity`` gives, over time."""
    source = getattr(electrical, kind + quantity)(**parameters)
    result = simulate(loop(source=source, load=Resistor(R=2.0)), stop)
    name = "v" if quantity == "Voltage" else "i"
    np.testing.assert_allclose(result["load.v"].at(stop / 3), -2 * result["source.i"].at(stop / 3), **CLOSE)
    return result[f"source.{name}"]


def over(formula: Callable[[float], float], t: np.ndarray) -> np.ndarray:
    return np.array([formula(x) for x in t])


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_constant(quantity: str) -> None:
    y = waveform("Constant", quantity, 1.0, **{HEIGHT[quantity]: -7.0})
    np.testing.assert_allclose(y.at(np.linspace(0, 1, 5)), -7.0)
    assert y.mean(0, 1) == pytest.approx(-7)
    assert y.rms(0, 1) == pytest.approx(7)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_step(quantity: str) -> None:
    y = waveform("Step", quantity, 1.0, **{HEIGHT[quantity]: 3.0}, offset=1.0, startTime=0.25)
    assert y.at(0.25, side="left") == pytest.approx(1)
    assert y.at(0.25) == pytest.approx(4)
    assert y.mean(0, 1) == pytest.approx(1 + 3 * 0.75)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_a_step_at_the_start_has_happened(quantity: str) -> None:
    assert waveform("Step", quantity, 1.0, **{HEIGHT[quantity]: 3.0}).at(0.0) == pytest.approx(3)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_ramp(quantity: str) -> None:
    y = waveform("Ramp", quantity, 1.0, **{HEIGHT[quantity]: 3.0}, duration=0.5, offset=-1.0, startTime=0.25)
    t = np.linspace(0, 1, 41)
    np.testing.assert_allclose(y.at(t), np.interp(t, [0.25, 0.75], [-1, 2]), **CLOSE)
    assert y.mean(0, 1) == pytest.approx(-1 + 1.5 * 0.5 + 3 * 0.25)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_a_ramp_without_duration_is_a_step(quantity: str) -> None:
    y = waveform("Ramp", quantity, 1.0, **{HEIGHT[quantity]: 3.0}, duration=0.0, startTime=0.5)
    assert y.at(0.5, side="left") == pytest.approx(0, abs=1e-12)
    assert y.at(0.5) == pytest.approx(3)
    assert y.final == pytest.approx(3)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_sine(quantity: str) -> None:
    parameters = {HEIGHT[quantity]: 3.0, "f": 50.0, "phase": 0.5, "offset": 1.0, "startTime": 0.01}
    y = waveform("Sine", quantity, 0.05, **parameters)
    t = np.linspace(0.01, 0.05, 101)
    np.testing.assert_allclose(y.at(t), 1 + 3 * np.sin(100 * np.pi * (t - 0.01) + 0.5), **CLOSE)
    np.testing.assert_allclose(y.at(np.linspace(0, 0.0099, 7)), 1.0)
    assert y.at(0.01, side="left") == pytest.approx(1)
    assert y.mean(0.01, 0.05) == pytest.approx(1)
    assert y.rms(0.01, 0.05) == pytest.approx(np.sqrt(1 + 9 / 2))


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_pulse(quantity: str) -> None:
    parameters = {HEIGHT[quantity]: 3.0, "width": 30.0, "period": 0.1, "offset": 1.0, "startTime": 0.05}
    y = waveform("Pulse", quantity, 1.05, **parameters)
    for k in range(10):
        rise, fall = 0.05 + k * 0.1, 0.08 + k * 0.1
        assert y.at(rise - 1e-6) == pytest.approx(1)
        assert y.at(rise + 1e-6) == pytest.approx(4)
        assert y.at(fall - 1e-6) == pytest.approx(4)
        assert y.at(fall + 1e-6) == pytest.approx(1)
    assert y.mean(0.05, 1.05) == pytest.approx(1 + 3 * 0.3)
    assert y.rms(0.05, 1.05) == pytest.approx(np.sqrt(0.3 * 16 + 0.7))


@pytest.mark.parametrize(("width", "mean"), [(0.0, 0.0), (100.0, 3.0)])
def test_pulses_of_no_width_and_of_full_width(width: float, mean: float) -> None:
    y = waveform("Pulse", "Voltage", 1.0, V=3.0, width=width, period=0.1)
    assert y.mean(0, 1) == pytest.approx(mean, abs=1e-12)
    np.testing.assert_allclose(y.values, mean, **CLOSE)


@pytest.mark.parametrize("nperiod", [0, 1, 3])
def test_a_number_of_pulses(nperiod: int) -> None:
    y = waveform("Pulse", "Voltage", 1.0, V=3.0, period=0.1, startTime=0.2, nperiod=nperiod)
    assert y.mean(0, 1) == pytest.approx(3 * 0.05 * nperiod, abs=1e-12)
    assert y.at(0.2 + 0.1 * nperiod + 1e-6) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("start", [-0.03, -0.17])
def test_pulses_that_began_before_the_run(start: float) -> None:
    y = waveform("Pulse", "Voltage", 1.0, V=3.0, width=50.0, period=0.1, startTime=start)
    t = np.linspace(0, 1, 200, endpoint=False) + 1e-4
    np.testing.assert_allclose(y.at(t), np.where((t - start) % 0.1 < 0.05, 3.0, 0.0), **CLOSE)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_saw_tooth(quantity: str) -> None:
    parameters = {HEIGHT[quantity]: 3.0, "period": 0.2, "offset": 1.0, "startTime": 0.1}
    y = waveform("SawTooth", quantity, 1.1, **parameters)
    t = 0.1 + 0.2 * (np.arange(50) + 0.5) / 10
    t = t[t < 1.1]
    np.testing.assert_allclose(y.at(t), 1 + 3 * ((t - 0.1) % 0.2) / 0.2, **CLOSE)
    assert y.at(0.5, side="left") == pytest.approx(4)
    assert y.at(0.5) == pytest.approx(1)
    assert y.mean(0.1, 1.1) == pytest.approx(1 + 1.5)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_trapezoid(quantity: str) -> None:
    shape = {"rising": 0.1, "width": 0.3, "falling": 0.2, "period": 1.0}
    y = waveform("Trapezoid", quantity, 4.5, **{HEIGHT[quantity]: 3.0}, **shape, offset=-1.0, startTime=0.5)
    t = 0.5 + np.linspace(0, 3.99, 400)
    cycle = np.interp((t - 0.5) % 1.0, [0, 0.1, 0.4, 0.6, 1.0], [0, 1, 1, 0, 0])
    np.testing.assert_allclose(y.at(t), -1 + 3 * cycle, rtol=1e-9, atol=1e-8)
    assert y.mean(0.5, 4.5) == pytest.approx(-1 + 3 * (0.05 + 0.3 + 0.1))


def test_a_trapezoid_without_edges_is_a_pulse() -> None:
    y = waveform("Trapezoid", "Voltage", 2.0, V=3.0, width=0.3, period=1.0)
    np.testing.assert_allclose(
        y.at(np.array([0.0, 0.29, 0.31, 0.99, 1.0, 1.29, 1.31])), [3, 3, 0, 0, 3, 3, 0], **CLOSE
    )
    assert y.mean(0, 2) == pytest.approx(0.9)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_exponentials(quantity: str) -> None:
    shape = {"riseTime": 0.4, "riseTimeConst": 0.1, "fallTimeConst": 0.2}
    parameters = {PEAK[quantity]: 3.0, "offset": 1.0, "startTime": 0.2}
    y = waveform("Exponentials", quantity, 1.5, **shape, **parameters)
    rise, fall = np.linspace(0.2, 0.6, 30), np.linspace(0.6, 1.5, 30)
    np.testing.assert_allclose(y.at(rise), 1 + 3 * (1 - np.exp(-(rise - 0.2) / 0.1)), **CLOSE)
    np.testing.assert_allclose(y.at(fall), 1 + 3 * (1 - np.exp(-4)) * np.exp(-(fall - 0.6) / 0.2), **CLOSE)
    assert y.at(0.1) == pytest.approx(1)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_table(quantity: str) -> None:
    points = [(0.0, 0.0), (0.25, 2.0), (0.5, 2.0), (0.75, 1.0)]
    y = waveform("Table", quantity, 1.2, table=points, offset=1.0, startTime=0.125)
    t = np.linspace(0, 1.2, 49)
    np.testing.assert_allclose(y.at(t), 1 + np.interp(t - 0.125, *np.transpose(points)), **CLOSE)
    assert y.mean(0.125, 0.875) == pytest.approx(1 + (0.25 + 0.5 + 0.375) / 0.75)


def test_a_table_with_a_step() -> None:
    points = [(0.0, 1.0), (0.5, 2.0), (0.5, -1.0), (1.0, -1.0)]
    y = waveform("Table", "Voltage", 1.0, table=points)
    assert y.at(0.5, side="left") == pytest.approx(2)
    assert y.at(0.5) == pytest.approx(-1)
    assert y.mean(0, 1) == pytest.approx(0.75 - 0.5)


@pytest.mark.parametrize("source", [SignalVoltage(), SignalCurrent()])
def test_signal_sources_follow_their_input(source: SignalVoltage | SignalCurrent) -> None:
    c = loop(source=source, load=Resistor(R=4.0))
    signal = c.add("signal", Ramp(height=-2.0, duration=1.0))
    name = "v" if isinstance(source, SignalVoltage) else "i"
    c.connect(signal.y, getattr(source, name))
    result = simulate(c, 1.0)
    t = np.linspace(0, 1, 5)
    np.testing.assert_allclose(result[f"source.{name}"].at(t), -2 * t, **CLOSE)
    np.testing.assert_allclose(result["load.v"].at(t), -2 * t if name == "v" else 8 * t, **CLOSE)


@pytest.mark.parametrize("sequence", PhaseSequence)
def test_three_phases(sequence: PhaseSequence) -> None:
    c = Circuit()
    grid = c.add("grid", ThreePhaseVoltage(V=325.0, f=50.0, phase=0.3, sequence=sequence))
    ground = c.add("ground", electrical.Ground())
    loads = [c.add(f"load{k}", Resistor(R=10.0)) for k in (1, 2, 3)]
    for pin, load in zip((grid.p1, grid.p2, grid.p3), loads, strict=True):
        c.connect(pin, load.p)
    c.connect(ground.p, grid.n, *(load.n for load in loads))
    result = simulate(c, 0.04)
    t = np.linspace(0, 0.04, 81)
    lag = sequence.value * 2 * np.pi / 3
    for k in range(3):
        expected = 325 * np.sin(100 * np.pi * t + 0.3 - k * lag)
        np.testing.assert_allclose(result[f"load{k + 1}.v"].at(t), expected, rtol=1e-9, atol=1e-7)
    np.testing.assert_allclose(result["grid.n.i"].at(t), 0, atol=1e-10)
    assert result["load2.v"].rms(0, 0.04) == pytest.approx(325 / np.sqrt(2))


@pytest.mark.filterwarnings("ignore:no reference in the island")  # the current between the two
def test_contradicting_voltages_are_refused() -> None:
    with pytest.raises(ContradictionError, match="contradict each other"):
        simulate(loop(a=ConstantVoltage(V=1.0), b=ConstantVoltage(V=2.0)), 1.0)


def test_impossible_shapes_are_refused() -> None:
    with pytest.raises(ParameterError, match="`width` of PulseVoltage must be at most 100"):
        PulseVoltage(V=1.0, period=1.0, width=101.0)
    too_long = TrapezoidVoltage(V=1.0, rising=0.5, width=0.5, falling=0.5, period=1.0)
    with pytest.raises(AcausalError, match="longer than the `period`"):
        simulate(loop(source=too_long, load=Resistor(R=1.0)), 1.0)
