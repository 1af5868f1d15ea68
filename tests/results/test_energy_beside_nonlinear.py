"""Energies and flows of what follows quickly in models with nonlinear parts, against closed forms and `scipy`'s integration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from acausal import Circuit, Result, simulate
from acausal.components.electrical import Capacitor, Diode, IdealDiode, Resistor, SineVoltage, StepVoltage
from tests.systems.circuits import circuit
from tests.systems.network_models import CubicConductor

C, V, F = 1e-6, 10.0, 1e3
W = 2.0 * math.pi * F
END = 0.6e-3
STORED = 0.5 * C * V**2
LOSSES = [1e-3, 1e-6, 1e-9]
TOLERANCES = [1e-3, 1e-5, 1e-7]


def beside(*parts: tuple[str, object, str, str]) -> Circuit:
    """A circuit with another one that shares nothing with it, and in which a conductor is nonlinear."""
    return circuit(
        *parts,
        ("other", SineVoltage(V=1.0, f=F), "p", "0"),
        ("cubic", CubicConductor(g=1e-3), "p", "q"),
        ("slow", Capacitor(C=1e-7, v=0.0), "q", "0"),
    )


def balance(result: Result) -> float:
    """Energies into all parts."""
    return abs(result.audit().balance)


def assert_checked(result: Result) -> None:
    report = result.check(points=20)
    assert report.ok, report


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("rtol", TOLERANCES)
@pytest.mark.parametrize("R", LOSSES)
def test_small_resistance_with_a_nonlinear_part_elsewhere(R: float, rtol: float) -> None:
    """131 J instead of 50 uJ went into the capacitor at 1 nOhm and 1e-5."""
    model = beside(
        ("source", SineVoltage(V=V, f=F), "a", "0"),
        ("wire", Resistor(R=R), "a", "b"),
        ("capacitor", Capacitor(C=C, v=0.0), "b", "0"),
    )
    result = simulate(model, END, method="implicit", rtol=rtol)
    current = V / (R + 1.0 / (1j * W * C))
    voltage = current / (1j * W * C)
    v = (voltage * np.exp(1j * W * END)).imag
    assert result.energy("capacitor") == pytest.approx(0.5 * C * v**2, abs=rtol * STORED)
    phase = float(np.angle(current))
    # The integral of the squared sine, without what dies within R C.
    squares = 0.5 * END - (math.sin(2.0 * (W * END + phase)) - math.sin(2.0 * phase)) / (4.0 * W)
    lost = R * abs(current) ** 2 * squares
    assert result.energy("wire") == pytest.approx(lost, rel=10.0 * rtol + 10.0 * R * C / END)
    t = np.linspace(0.1 * END, END, 101)[:-1]
    flow = (current * np.exp(1j * W * t)).imag
    assert result["wire.i"].at(t) == pytest.approx(flow, abs=10.0 * rtol * abs(current))
    assert balance(result) <= rtol * STORED
    assert_checked(result)


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("rtol", TOLERANCES)
@pytest.mark.parametrize("R", LOSSES)
def test_small_resistance_beside_a_junction(R: float, rtol: float) -> None:
    """The junction hangs at the capacitor itself."""
    model = circuit(
        ("source", SineVoltage(V=V, f=F), "a", "0"),
        ("wire", Resistor(R=R), "a", "b"),
        ("capacitor", Capacitor(C=C, v=0.0), "b", "0"),
        ("load", Resistor(R=1e3), "b", "d"),
        ("diode", Diode(), "d", "0"),
    )
    result = simulate(model, END, method="implicit", rtol=rtol)
    v = V * math.sin(W * END)
    # The wire takes up to R times the current of 70 mA from the voltage.
    assert result.energy("capacitor") == pytest.approx(0.5 * C * v**2, abs=rtol * STORED + 0.1 * R * C * V)
    assert balance(result) <= rtol * STORED
    assert_checked(result)


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("rtol", TOLERANCES)
@pytest.mark.parametrize("g", [1e3, 1e5])
def test_quick_through_a_nonlinear_part(g: float, rtol: float) -> None:
    """What makes the capacitor quick is the nonlinear part."""
    model = circuit(
        ("source", SineVoltage(V=V, f=F), "a", "0"),
        ("wire", CubicConductor(g=g), "a", "b"),
        ("capacitor", Capacitor(C=C, v=0.0), "b", "0"),
    )
    result = simulate(model, END, method="implicit", rtol=rtol)
    # u = i / g is below 70 uV: the conductor is linear to a part of 1e-8.
    current = V / (1.0 / g + 1.0 / (1j * W * C))
    v = (current / (1j * W * C) * np.exp(1j * W * END)).imag
    assert result.energy("capacitor") == pytest.approx(0.5 * C * v**2, abs=rtol * STORED)
    t = np.linspace(0.1 * END, END, 101)[:-1]
    flow = (current * np.exp(1j * W * t)).imag
    assert result["wire.i"].at(t) == pytest.approx(flow, abs=10.0 * rtol * abs(current))
    assert balance(result) <= rtol * STORED
    assert_checked(result)


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
@pytest.mark.parametrize("R", [1.0, 1e-3, 1e-6])
def test_layers_behind_a_step_of_the_source(R: float, rtol: float) -> None:
    """A transient that steps resolve is read as they resolved it, and what follows is at rest."""
    model = beside(
        ("source", StepVoltage(V=V, startTime=1.1e-3), "a", "0"),
        ("wire", Resistor(R=R), "a", "b"),
        ("capacitor", Capacitor(C=C, v=0.0), "b", "0"),
    )
    result = simulate(model, 2e-3, method="implicit", rtol=rtol)
    found = [result.energy(name) for name in ("capacitor", "wire", "source")]
    assert found == pytest.approx([STORED, STORED, -2.0 * STORED], rel=5.0 * rtol)
    tau = np.array([0.0, 0.1, 0.5, 1.0, 2.0, 5.0])
    exact = V / R * np.exp(-tau)
    assert result["wire.i"].at(1.1e-3 + tau * R * C) == pytest.approx(
        exact, abs=10.0 * rtol * V / R + 1e-9 * V / R
    )
    assert_checked(result)


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("rtol", [1e-6, 1e-8])
def test_along_steps_that_stability_holds(rtol: float) -> None:
    """Where the explicit method is at the limit of its stability; 4e-4 of the energy at 1e-6."""
    model = beside(
        ("source", StepVoltage(V=V, startTime=1e-6), "a", "0"),
        ("wire", Resistor(R=1e-3), "a", "b"),
        ("capacitor", Capacitor(C=C, v=0.0), "b", "0"),
    )
    result = simulate(model, 4e-6, method="explicit", rtol=rtol)
    found = [result.energy(name) for name in ("capacitor", "wire", "source")]
    assert found == pytest.approx([STORED, STORED, -2.0 * STORED], rel=rtol)
    assert_checked(result)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("method, Ron", [("implicit", 1e-3), ("implicit", 1e-6), ("explicit", 1e-1)])
def test_a_diode_that_turns_on_into_a_quick_state(method: str, Ron: float) -> None:
    """The current of the diode begins at zero, never turns back, and carries the charge."""
    rtol = 1e-6
    model = circuit(
        ("source", SineVoltage(V=V, f=F), "a", "0"),
        ("diode", IdealDiode(Ron=Ron, Goff=0.0), "a", "b"),
        ("capacitor", Capacitor(C=C, v=4.0), "b", "0"),
        ("load", CubicConductor(g=1e-6), "b", "0"),
    )
    end = 0.2e-3
    result = simulate(model, end, method=method, rtol=rtol)
    before = solve_ivp(
        lambda t, v: -1e-6 * (v + v**3) / C, (0.0, end), [4.0], rtol=1e-12, atol=1e-12,
        events=lambda t, v: v[0] - V * math.sin(W * t), dense_output=True,
    )  # fmt: skip
    on = float(before.t_events[0][0])
    v1 = float(before.sol(on)[0])
    after = solve_ivp(
        lambda t, v: ((V * math.sin(W * t) - v) / Ron - 1e-6 * (v + v**3)) / C, (on, end), [v1],
        method="Radau", rtol=1e-12, atol=1e-12,
    )  # fmt: skip
    v2 = float(after.y[0, -1])
    closed = next(event.t for event in result.events if event.t > 0.0)
    assert closed == pytest.approx(on, rel=10.0 * rtol)
    assert result.energy("capacitor") == pytest.approx(0.5 * C * (v2**2 - 16.0), rel=10.0 * rtol)
    t = np.append(closed, on + Ron * C * np.linspace(0.0, 20.0, 41)[1:])
    slope = W * V * math.cos(W * on) * C
    layer = slope * (1.0 - np.exp(-(t - on) / (Ron * C)))
    i = result["diode.i"].at(t)
    assert i == pytest.approx(layer, abs=2e-2 * slope)
    assert i.min() >= -10.0 * rtol * slope
    assert balance(result) <= 10.0 * rtol * STORED
    assert_checked(result)
