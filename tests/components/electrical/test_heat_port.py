"""Losses that leave through a heat port, and resistances that depend on temperature."""

import numpy as np
import pytest

from acausal import Circuit, Component, Result, simulate
from acausal.components.electrical import (
    Conductor,
    ConstantCurrent,
    ConstantVoltage,
    Diode,
    IdealClosingSwitch,
    IdealDiode,
    Resistor,
)
from acausal.components.thermal import FixedTemperature, HeatCapacitor, HeatFlowSensor, ThermalConductor
from acausal.errors import SingularModelError, UnknownNameError
from tests.systems.circuits import circuit

COPPER = 3.93e-3


def heated(source: Component, part, C: float, T: float) -> Circuit:
    """A part on a source, and the body that it heats."""
    model = circuit(("source", source, "a", "0"), ("part", part, "a", "0"))
    model.add("body", HeatCapacitor(C=C, T=T))
    model.connect(part.heatPort, model.body.port)
    return model


def balanced(result: Result) -> bool:
    audit = result.audit()
    return abs(audit.balance) <= 1e-6 * max(abs(part.energy) for part in audit)


@pytest.mark.parametrize("part", [Resistor, Conductor])
def test_winding_at_constant_voltage_heats_ever_more_slowly(part) -> None:
    """``C * T' = V**2 / (R * (1 + alpha * (T - T_ref)))``: a square root in time."""
    value = {"R": 2.0} if part is Resistor else {"G": 0.5}
    model = heated(ConstantVoltage(V=10.0), part(useHeatPort=True, alpha=COPPER, **value), C=5.0, T=300.15)
    result = simulate(model, 100.0)
    t = np.linspace(0.0, 100.0, 21)
    rise = (np.sqrt(1.0 + 2.0 * COPPER * 10.0 * t) - 1.0) / COPPER
    assert result["body.T"].at(t) == pytest.approx(300.15 + rise, rel=1e-6)
    assert result["part.i"].at(t) == pytest.approx(5.0 / (1.0 + COPPER * rise), rel=1e-6)
    assert result["part.heatPort.Q_flow"].at(t) == pytest.approx(-50.0 / (1.0 + COPPER * rise), rel=1e-6)
    assert balanced(result)
    assert result.energy("part") == pytest.approx(0.0, abs=1e-6 * 5.0 * rise[-1])


def test_winding_at_constant_current_runs_away() -> None:
    """``C * T' = R * I**2 * (1 + alpha * (T - T_ref))``: exponential in time."""
    part = Resistor(R=2.0, useHeatPort=True, alpha=COPPER, T_ref=293.15)
    result = simulate(heated(ConstantCurrent(I=-5.0), part, C=5.0, T=293.15), 50.0)
    t = np.linspace(0.0, 50.0, 11)
    assert result["body.T"].at(t) == pytest.approx(293.15 + np.expm1(COPPER * 10.0 * t) / COPPER, rel=1e-5)


@pytest.mark.parametrize(
    "part",
    [
        IdealDiode(Vknee=0.7, Ron=0.1, useHeatPort=True),
        IdealClosingSwitch(Ron=0.3, control=True, useHeatPort=True),
    ],
    ids=["diode", "switch"],
)
def test_conduction_losses_heat_a_sink(part) -> None:
    """Steady state: the heat flow through the sink is the loss, its temperature the loss by the conductance."""
    model = circuit(
        ("source", ConstantVoltage(V=10.0), "a", "0"),
        ("R", Resistor(R=2.0), "a", "b"),
        ("part", part, "b", "0"),
    )
    for name, component in (
        ("junction", HeatCapacitor(C=0.1, T=293.15)),
        ("flow", HeatFlowSensor()),
        ("sink", ThermalConductor(G=0.5)),
        ("ambient", FixedTemperature(T=293.15)),
    ):
        model.add(name, component)
    model.connect(part.heatPort, model.junction.port, model.flow.port_a)
    model.connect(model.flow.port_b, model.sink.port_a)
    model.connect(model.sink.port_b, model.ambient.port)
    result = simulate(model, 10.0)
    diode = isinstance(part, IdealDiode)
    i = 9.3 / 2.1 if diode else 10.0 / 2.3
    loss = i * (0.7 + 0.1 * i) if diode else 0.3 * i**2
    t = np.linspace(0.0, 10.0, 11)
    rise = loss / 0.5 * -np.expm1(-5.0 * t)
    assert result["junction.T"].at(t) == pytest.approx(293.15 + rise, rel=1e-6)
    assert result["flow.Q_flow"].final == pytest.approx(loss, rel=1e-5)
    assert balanced(result)


def test_junction_diode_with_a_heat_port() -> None:
    model = heated(ConstantVoltage(V=0.5), Diode(useHeatPort=True), C=2.0, T=300.0)
    result = simulate(model, 4.0)
    loss = 0.5 * (1e-6 * np.expm1(12.5) + 0.5e-8)
    assert result["body.T"].final == pytest.approx(300.0 + 2.0 * loss, rel=1e-9)


def test_without_a_heat_port_nothing_changes() -> None:
    plain = circuit(
        ("source", ConstantVoltage(V=10.0), "a", "0"), ("R", Resistor(R=2.0, alpha=COPPER), "a", "0")
    )
    result = simulate(plain, 1.0)
    assert result["R.i"].final == 5.0 and result.modes[0].path == "exact"
    with pytest.raises(UnknownNameError, match="heatPort"):
        _ = Resistor(R=1.0).heatPort


def test_a_heat_port_that_leads_nowhere_is_refused() -> None:
    """Its heat flow would have to be zero, and the loss is not."""
    model = circuit(
        ("source", ConstantVoltage(V=1.0), "a", "0"), ("R", Resistor(R=2.0, useHeatPort=True), "a", "0")
    )
    with pytest.raises(SingularModelError, match="heatPort.Q_flow"):
        simulate(model, 1.0)
