"""Guards that hardly reach their threshold: short conduction is never missed, a touch is none."""

import numpy as np
import pytest

from acausal import Circuit, Result, simulate
from acausal.components.electrical import ConstantVoltage, IdealDiode, Inductor, Resistor, SineVoltage
from tests.systems.circuits import circuit, falls, rises

F = 50.0
T = 1 / F
W = 2 * np.pi * F


def charger(amplitude: float, level: float = 1.0, phase: float = 0.0, L: float = 0.0) -> Circuit:
    """A sine source charges a battery of ``level`` through a diode and a resistor."""
    return circuit(
        ("source", SineVoltage(V=amplitude, f=F, phase=phase), "a", "0"),
        ("diode", IdealDiode(), "a", "b"),
        ("resistor", Resistor(R=1.0), "b", "c"),
        ("inductor", Inductor(L=L), "c", "d"),
        ("battery", ConstantVoltage(V=level), "d", "0"),
    )


def conduction(result: Result) -> tuple[np.ndarray, np.ndarray]:
    return rises(result, "diode.on"), falls(result, "diode.on")


def crests(phase: float, periods: int) -> np.ndarray:
    return (np.pi / 2 - phase) / W + np.arange(periods) * T


@pytest.mark.parametrize("k", range(1, 10))
@pytest.mark.parametrize("phase", [0.0, 0.3, -1.1])
def test_every_pair_of_crossings_above_the_threshold(k: int, phase: float) -> None:
    excess, periods = 10.0**-k, 20
    begin, end = conduction(simulate(charger(1 + excess, phase=phase), periods * T))
    half = np.arctan2(np.sqrt(excess * (2 + excess)), 1.0) / W
    np.testing.assert_allclose(begin, crests(phase, periods) - half, rtol=1e-9)
    np.testing.assert_allclose(end, crests(phase, periods) + half, rtol=1e-9)
    # The crossings are located to the last bits of the sine, whose slope there is small.
    resolution = 1e-15 / np.sqrt(excess) / W + 8 * np.spacing(periods * T)
    np.testing.assert_allclose((end - begin) / 2, half, rtol=0, atol=resolution)


@pytest.mark.parametrize("k", range(1, 10))
def test_below_the_threshold_nothing_conducts(k: int) -> None:
    begin, _ = conduction(simulate(charger(1 - 10.0**-k), 20 * T))
    assert len(begin) == 0


def test_a_touch_is_no_crossing() -> None:
    result = simulate(charger(1.0), 20 * T)
    assert len(conduction(result)[0]) == 0
    np.testing.assert_array_equal(result["resistor.i"].values, 0.0)


@pytest.mark.parametrize("k", [2, 5, 8])
def test_crossings_with_an_inductive_load(k: int) -> None:
    """The crossing that begins the conduction does not depend on the load."""
    excess, periods = 10.0**-k, 10
    begin, end = conduction(simulate(charger(1 + excess, phase=0.2, L=1e-5), periods * T))
    half = np.arctan2(np.sqrt(excess * (2 + excess)), 1.0) / W
    np.testing.assert_allclose(begin, crests(0.2, periods) - half, rtol=1e-9)
    assert np.all(end > crests(0.2, periods))


@pytest.mark.parametrize("phase", [0.0, 0.7, 2.9, -2.0])
@pytest.mark.parametrize("L", [0.0, 1e-6])
def test_conduction_of_a_fraction_of_a_millisecond_is_never_missed(phase: float, L: float) -> None:
    """0.3 ms in every period of 20 ms, over a hundred periods."""
    level, periods = 325.0, 100
    amplitude = level / np.cos(W * 0.15e-3)
    begin, end = conduction(simulate(charger(amplitude, level, phase, L), periods * T))
    expected = crests(phase, periods + 2) - T - 0.15e-3
    expected = expected[(expected > 0) & (expected < periods * T)]
    np.testing.assert_allclose(begin, expected, rtol=1e-9)
    assert len(end) == len(begin)
    np.testing.assert_allclose(end - begin, 0.3e-3, rtol=1e-9 if L == 0 else 5e-2)
