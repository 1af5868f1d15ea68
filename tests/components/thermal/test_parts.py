"""Storage, conduction, convection, radiation, sources and sensors against closed forms."""

import numpy as np
import pytest

from acausal.components.blocks import Ramp, Sine, Step
from acausal.components.thermal import (
    BodyRadiation,
    Convection,
    ConvectiveResistor,
    FixedHeatFlow,
    FixedTemperature,
    HeatCapacitor,
    HeatFlowSensor,
    PrescribedHeatFlow,
    PrescribedTemperature,
    RelTemperatureSensor,
    TemperatureSensor,
    ThermalCollector,
    ThermalConductor,
    ThermalResistor,
)
from acausal.errors import ParameterError
from tests.components.signals import run

T = np.linspace(0.0, 4.0, 41)
SIGMA = 5.670374419e-8


@pytest.mark.parametrize("element", [ThermalConductor(G=2.0), ThermalResistor(R=0.5)], ids=["G", "R"])
def test_a_body_cools_to_its_surroundings(element) -> None:
    result = run(
        4.0,
        ("body.port", "element.port_a"),
        ("element.port_b", "room.port"),
        body=HeatCapacitor(C=4.0, T=400.0),
        element=element,
        room=FixedTemperature(T=300.0),
    )
    assert result["body.T"].at(T) == pytest.approx(300.0 + 100.0 * np.exp(-0.5 * T), rel=1e-13)
    assert result["element.Q_flow"].at(T) == pytest.approx(200.0 * np.exp(-0.5 * T), rel=1e-12)
    assert result.energy("body") == pytest.approx(-400.0 * (1 - np.exp(-2.0)), rel=1e-12)
    assert result.audit().balance == pytest.approx(0.0, abs=1e-10)


def test_bodies_in_contact_take_their_mean_temperature_at_once() -> None:
    with pytest.warns(UserWarning, match="moves"):
        result = run(
            1.0,
            ("a.port", "b.port"),
            a=HeatCapacitor(C=1.0, T=300.0),
            b=HeatCapacitor(C=3.0, T=400.0),
        )
    assert result["a.T"].at(T[:10]) == pytest.approx(np.full(10, 375.0), rel=1e-14)


def test_heat_capacity_integrates_a_heat_flow() -> None:
    result = run(
        4.0,
        ("source.y", "heat.Q_flow"),
        ("heat.port", "flow.port_a"),
        ("flow.port_b", "body.port", "sensor.port"),
        source=Ramp(height=8.0, duration=4.0),
        heat=PrescribedHeatFlow(),
        flow=HeatFlowSensor(),
        body=HeatCapacitor(C=2.0),
        sensor=TemperatureSensor(),
    )
    assert result["sensor.T"].at(T) == pytest.approx(293.15 + T**2 / 2, rel=1e-14)
    assert result["flow.Q_flow"].at(T) == pytest.approx(2.0 * T, abs=1e-12)
    assert result.energy("body") == pytest.approx(16.0, rel=1e-12)


def test_heat_flow_that_grows_with_temperature_runs_away() -> None:
    """``C * T' = P * (1 + alpha * (T - T_ref))`` grows exponentially."""
    result = run(
        4.0,
        ("heat.port", "body.port"),
        heat=FixedHeatFlow(T_ref=300.0, alpha=0.01, Q_flow=50.0),
        body=HeatCapacitor(C=2.0, T=300.0),
    )
    assert result["body.T"].at(T) == pytest.approx(200.0 + 100.0 * np.exp(0.25 * T), rel=1e-13)


def test_a_body_follows_a_prescribed_temperature_through_a_resistance() -> None:
    """First-order response to a sine, ``y' = (u - y) / 2``."""
    result = run(
        4.0,
        ("source.y", "given.T"),
        ("given.port", "element.port_a", "difference.port_a"),
        ("element.port_b", "body.port", "difference.port_b"),
        source=Sine(amplitude=10.0, f=0.5 / np.pi, offset=300.0),
        given=PrescribedTemperature(),
        element=ThermalResistor(R=0.5),
        body=HeatCapacitor(C=4.0, T=300.0),
        difference=RelTemperatureSensor(),
    )
    y = 300.0 + 2.0 * (np.sin(T) - 2.0 * np.cos(T)) + 4.0 * np.exp(-0.5 * T)
    assert result["body.T"].at(T) == pytest.approx(y, rel=1e-13)
    assert result["difference.T_rel"].at(T) == pytest.approx(300.0 + 10.0 * np.sin(T) - y, abs=1e-10)


@pytest.mark.parametrize("law", [Convection(Gc=2.0), ConvectiveResistor(Rc=0.5)], ids=["Gc", "Rc"])
def test_convection_with_a_constant_coefficient(law) -> None:
    result = run(
        4.0,
        ("body.port", "law.solid"),
        ("law.fluid", "air.port"),
        body=HeatCapacitor(C=4.0, T=400.0),
        law=law,
        air=FixedTemperature(T=300.0),
    )
    assert result["law.dT"].at(T) == pytest.approx(100.0 * np.exp(-0.5 * T), rel=1e-5)
    assert result["law.fluid.Q_flow"].at(T) == pytest.approx(-200.0 * np.exp(-0.5 * T), rel=1e-5)


@pytest.mark.parametrize("law", [Convection(), ConvectiveResistor()], ids=["Gc", "Rc"])
def test_convection_with_a_fan_that_starts(law) -> None:
    """The coefficient steps from 1 to 3 W/K at 1 s, the resistance likewise."""
    high, low = (3.0, 1.0) if isinstance(law, Convection) else (1 / 3.0, 1.0)
    result = run(
        4.0,
        ("source.y", "law.Gc" if isinstance(law, Convection) else "law.Rc"),
        ("body.port", "law.solid"),
        ("law.fluid", "air.port"),
        source=Step(height=high - low, offset=low, startTime=1.0),
        body=HeatCapacitor(C=4.0, T=400.0),
        law=law,
        air=FixedTemperature(T=300.0),
    )
    exponent = 0.25 * np.minimum(T, 1.0) + 0.75 * np.maximum(T - 1.0, 0.0)
    assert result["law.dT"].at(T) == pytest.approx(100.0 * np.exp(-exponent), rel=1e-5)


def test_a_body_radiates_into_cold_space() -> None:
    """``C * T' = -Gr * sigma * T**4``: ``T**-3`` grows linearly."""
    result = run(
        3600.0,
        ("body.port", "radiation.port_a"),
        ("radiation.port_b", "space.port"),
        body=HeatCapacitor(C=500.0, T=1200.0),
        radiation=BodyRadiation(Gr=0.02),
        space=FixedTemperature(T=0.0),
    )
    t = np.linspace(0.0, 3600.0, 37)
    expected = (1200.0**-3 + 3.0 * 0.02 * SIGMA / 500.0 * t) ** (-1 / 3)
    assert result["body.T"].at(t) == pytest.approx(expected, rel=1e-5)
    assert result["radiation.Q_flow"].at(t) == pytest.approx(0.02 * SIGMA * expected**4, rel=4e-5)
    assert result.energy("body") == pytest.approx(-500.0 * (1200.0 - expected[-1]), rel=1e-5)
    assert result.audit().balance == pytest.approx(0.0, abs=1e-6 * 500.0 * 1200.0)


def test_a_collector_sums_heat_flows() -> None:
    result = run(
        4.0,
        ("p0.port", "collector.port_a[0]"),
        ("p1.port", "collector.port_a[1]"),
        ("collector.port_b", "body.port"),
        p0=FixedHeatFlow(Q_flow=3.0),
        p1=FixedHeatFlow(Q_flow=5.0),
        collector=ThermalCollector(m=2),
        body=HeatCapacitor(C=2.0, T=300.0),
    )
    assert result["body.T"].at(T) == pytest.approx(300.0 + 4.0 * T, rel=1e-14)
    assert result["collector.port_a[1].Q_flow"].at(T) == pytest.approx(np.full_like(T, 5.0), rel=1e-14)
    assert result.energy("collector") == pytest.approx(0.0, abs=1e-10)


def test_a_collector_without_ports_is_refused() -> None:
    with pytest.raises(ParameterError, match="at least 1"):
        ThermalCollector(m=0)
