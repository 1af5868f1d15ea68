"""Energies and flows of integrated runs where states follow within time constants far below a step, against closed forms."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest

from acausal import Circuit, Result, simulate
from acausal.components.electrical import Capacitor, Inductor, Resistor, SineVoltage, StepVoltage
from tests.systems.circuits import circuit

C, V, F = 1e-6, 10.0, 1e3
END = 0.6e-3


def driven(R: float) -> Circuit:
    """A sine source charges a capacitor through a small resistance."""
    return circuit(
        ("source", SineVoltage(V=V, f=F), "a", "0"),
        ("wire", Resistor(R=R), "a", "b"),
        ("capacitor", Capacitor(C=C), "b", "0"),
    )


def along_sine(R: float, method: str, rtol: float) -> Result:
    return simulate(driven(R), END, initial={"capacitor.v": 0.0}, method=method, rtol=rtol)


@pytest.mark.parametrize("rtol", [1e-5, 1e-8])
@pytest.mark.parametrize("R", [1e-3, 1e-6, 1e-8, 1e-9, 1e-10])
def test_energies_and_flows_behind_a_small_resistance(R: float, rtol: float) -> None:
    """``(V - v) / R`` read ``v`` at its tolerance: 11000 times the energy at 1 nOhm and 1e-5."""
    result = along_sine(R, "implicit", rtol)
    w = 2.0 * math.pi * F
    current = V / (R + 1.0 / (1j * w * C))
    voltage = current / (1j * w * C)
    stored = 0.5 * C * (voltage * cmath.exp(1j * w * END)).imag ** 2
    assert result.energy("capacitor") == pytest.approx(stored, abs=rtol * 0.5 * C * V**2)
    assert result.energy("source") == pytest.approx(-stored, abs=2.0 * rtol * 0.5 * C * V**2 + 1e-3 * R)
    t = np.linspace(0.1 * END, END, 101)[:-1]
    exact = (current * np.exp(1j * w * t)).imag
    assert result["wire.i"].at(t) == pytest.approx(exact, abs=300.0 * rtol * abs(current))
    assert result.check(points=20).ok


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("rtol", [1e-5, 1e-8])
@pytest.mark.parametrize("R", [1e-3, 1e-6, 1e-8, 1e-9, 1e-10])
def test_energies_of_charges_that_are_over_at_once(R: float, rtol: float) -> None:
    """Rounding of the voltage over the resistance went on as a current: 1e-4 of the energy at 1 nOhm."""
    model = circuit(
        ("source", StepVoltage(V=V, startTime=1.1e-3), "a", "0"),
        ("first", Resistor(R=R), "a", "b"),
        ("one", Capacitor(C=C), "b", "0"),
        ("second", Resistor(R=R), "b", "c"),
        ("other", Capacitor(C=2.0 * C), "c", "0"),
    )
    result = simulate(model, 2e-3, method="implicit", rtol=rtol)
    half = 0.5 * C * V**2
    found = [result.energy(name) for name in ("one", "other", "source")]
    assert found == pytest.approx([half, 2.0 * half, -6.0 * half], rel=rtol)
    assert result.check(points=20).ok


def test_energies_along_steps_that_stability_holds() -> None:
    """Where the explicit method is at the limit of its stability its states swing within the tolerance about those at rest."""
    R = 1e-3
    model = circuit(
        ("source", StepVoltage(V=V, startTime=1e-6), "a", "0"),
        ("wire", Resistor(R=R), "a", "b"),
        ("capacitor", Capacitor(C=C), "b", "0"),
    )
    result = simulate(model, 4e-6, method="explicit", rtol=1e-8)
    half = 0.5 * C * V**2
    found = [result.energy(name) for name in ("capacitor", "wire", "source")]
    assert found == pytest.approx([half, half, -2.0 * half], rel=1e-8)


@pytest.mark.parametrize("rtol", [1e-5, 1e-8])
def test_voltage_across_a_small_leak_of_an_inductor(rtol: float) -> None:
    """A current through 1 nS: its voltage is the current times 1e9."""
    model = circuit(
        ("source", SineVoltage(V=V, f=F), "a", "0"),
        ("leak", Resistor(R=1e9), "a", "b"),
        ("coil", Inductor(L=1e-3), "b", "0"),
    )
    result = simulate(model, END, initial={"coil.i": 2.0}, method="implicit", rtol=rtol)
    w, t = 2.0 * math.pi * F, np.linspace(0.1 * END, END, 101)[:-1]
    voltage = V / (1e9 + 1e-3j * w) * 1e9
    assert result.energy("coil") == pytest.approx(-2e-3, rel=10.0 * rtol)
    assert result["leak.v"].at(t) == pytest.approx((voltage * np.exp(1j * w * t)).imag, abs=300.0 * rtol * V)
