"""Sensors: what they show, and that they do not disturb."""

import numpy as np
import pytest

from acausal import simulate
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    CurrentSensor,
    Ground,
    PotentialSensor,
    PowerSensor,
    Resistor,
    SineVoltage,
    VoltageSensor,
)
from acausal.modeling import Circuit


def measured(source: ConstantVoltage | SineVoltage, **load: Resistor | Capacitor) -> Circuit:
    """Source with grounded ``n``, current sensor, and loads in series; power, voltage and potential of the loads."""
    c = Circuit()
    c.add("source", source)
    ampere, watt = c.add("ampere", CurrentSensor()), c.add("watt", PowerSensor())
    volt, phi, ground = (
        c.add("volt", VoltageSensor()),
        c.add("phi", PotentialSensor()),
        c.add("ground", Ground()),
    )
    parts = [c.add(name, part) for name, part in load.items()]
    c.connect(source.p, ampere.p)
    c.connect(ampere.n, watt.pc)
    c.connect(watt.nc, watt.pv, volt.p, phi.p, parts[0].p)
    for a, b in zip(parts, parts[1:], strict=False):
        c.connect(a.n, b.p)
    c.connect(ground.p, source.n, watt.nv, volt.n, parts[-1].n)
    return c


def test_sensors_of_a_constant_circuit() -> None:
    result = simulate(measured(ConstantVoltage(V=12.0), load=Resistor(R=4.0)), 1.0)
    assert result["ampere.i"].final == pytest.approx(3)
    assert result["volt.v"].final == pytest.approx(12)
    assert result["phi.phi"].final == pytest.approx(12)
    assert result["watt.power"].final == pytest.approx(36)
    assert result["source.i"].final == pytest.approx(-3)


def test_voltage_sensor_is_directed() -> None:
    c = Circuit()
    source, sensor, ground = (
        c.add("source", ConstantVoltage(V=5.0)),
        c.add("sensor", VoltageSensor()),
        c.add("ground", Ground()),
    )
    c.connect(source.p, sensor.n)
    c.connect(source.n, sensor.p, ground.p)
    result = simulate(c, 1.0)
    assert result["sensor.v"].final == pytest.approx(-5)
    assert result["source.i"].final == 0


def test_power_of_a_resistor_and_capacitor_at_a_sine() -> None:
    """Mean power ``V**2 * R / (2 * Z**2)`` in the steady state, started in it."""
    V, f, R, C = 10.0, 50.0, 20.0, 100e-6
    w = 2 * np.pi * f
    Z = R + 1 / (1j * w * C)
    current = V / Z  # phasor of i for v = Im(V exp(jwt))
    v0 = (current / (1j * w * C)).imag
    result = simulate(measured(SineVoltage(V=V, f=f), R=Resistor(R=R), C=Capacitor(C=C, v=float(v0))), 0.04)
    t = np.linspace(0, 0.04, 101)
    i = (current * np.exp(1j * w * t)).imag
    np.testing.assert_allclose(result["ampere.i"].at(t), i, atol=1e-9)
    np.testing.assert_allclose(result["watt.power"].at(t), i * V * np.sin(w * t), atol=1e-8)
    assert result["watt.power"].mean(0, 0.04) == pytest.approx(V**2 * R / (2 * abs(Z) ** 2), rel=1e-9)
