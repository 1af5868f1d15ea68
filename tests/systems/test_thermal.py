"""Thermal networks: conduction against the matrix exponential, equilibria of radiation, losses that heat their source."""

import numpy as np
import pytest

from acausal import Circuit, Component, Eq, Result, Structural, connect, der, initially, simulate
from acausal.components.blocks import PWM
from acausal.components.electrical import ConstantVoltage, Ground, IdealClosingSwitch, Resistor
from acausal.components.thermal import (
    BodyRadiation,
    FixedHeatFlow,
    FixedTemperature,
    HeatCapacitor,
    ThermalCollector,
    ThermalConductor,
)
from tests.oracles.heat import HeatNetwork, absorber_temperature, shield_temperature


class Rod(Component):
    """A rod in slices: heated at one end, cooled at the other and, in the middle, by a collector of three slices."""

    n: Structural[int] = Structural(int, default=9, doc="Number of slices")

    def build(self) -> None:
        self.slices = [HeatCapacitor(C=2.0 + k, T=300.0 + 5.0 * k) for k in range(self.n)]
        self.joints = [ThermalConductor(G=1.0 + 0.2 * k) for k in range(self.n - 1)]
        self.heater, self.end, self.room = (
            FixedHeatFlow(Q_flow=40.0),
            ThermalConductor(G=3.0),
            FixedTemperature(T=280.0),
        )
        self.fins = [ThermalConductor(G=0.5) for _ in range(3)]
        self.collector = ThermalCollector(m=3)

    def equations(self):
        yield connect(self.heater.port, self.slices[0].port)
        for a, joint, b in zip(self.slices, self.joints, self.slices[1:], strict=False):
            yield connect(a.port, joint.port_a)
            yield connect(joint.port_b, b.port)
        for k, fin in enumerate(self.fins):
            yield connect(self.slices[3 + k].port, fin.port_a)
            yield connect(fin.port_b, self.collector.port_a[k])
        yield connect(self.slices[-1].port, self.end.port_a)
        yield connect(self.end.port_b, self.collector.port_b, self.room.port)


def test_a_rod_in_slices_against_the_matrix_exponential() -> None:
    n, t = 9, np.linspace(0.0, 60.0, 25)
    result = simulate(Rod(), 60.0)
    G = np.diag(1.0 + 0.2 * np.arange(n - 1), 1)
    Ga, P = np.zeros(n), np.zeros(n)
    Ga[3:6], Ga[-1], P[0] = 0.5, 3.0, 40.0
    oracle = HeatNetwork(C=2.0 + np.arange(n), G=G + G.T, Ga=Ga, P=P, Ta=280.0)
    expected = oracle.temperatures(300.0 + 5.0 * np.arange(n), t)
    found = np.stack([result[f"slices[{k}].T"].at(t) for k in range(n)], axis=-1)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    stored = sum((2.0 + k) * (found[-1, k] - found[0, k]) for k in range(n))
    assert sum(result.energy(f"slices[{k}]") for k in range(n)) == pytest.approx(stored, rel=1e-11)
    assert result.audit().balance == pytest.approx(0.0, abs=1e-12 * 60.0 * 40.0)


def test_a_shield_between_radiating_plates_takes_the_mean_of_fourth_powers() -> None:
    """It also halves the exchange of heat."""
    model = Circuit()
    hot, cold = model.add("hot", FixedTemperature(T=900.0)), model.add("cold", FixedTemperature(T=300.0))
    inner, outer = model.add("inner", BodyRadiation(Gr=0.4)), model.add("outer", BodyRadiation(Gr=0.4))
    bare = model.add("bare", BodyRadiation(Gr=0.4))
    shield = model.add("shield", HeatCapacitor(C=20.0, T=300.0))
    model.connect(hot.port, inner.port_a, bare.port_a)
    model.connect(inner.port_b, shield.port, outer.port_a)
    model.connect(outer.port_b, cold.port, bare.port_b)
    result = simulate(model, 20.0)
    assert result["shield.T"].final == pytest.approx(shield_temperature(900.0, 300.0), rel=1e-6)
    assert result["outer.Q_flow"].final == pytest.approx(result["bare.Q_flow"].final / 2, rel=1e-5)


class Absorber(Component):
    """A plate that absorbs sunlight, radiates, and warms the air; it begins in equilibrium."""

    def build(self) -> None:
        self.sun, self.plate = FixedHeatFlow(Q_flow=900.0), HeatCapacitor(C=4e3)
        self.radiation, self.convection, self.air = (
            BodyRadiation(Gr=0.9),
            ThermalConductor(G=6.0),
            FixedTemperature(T=293.15),
        )

    def equations(self):
        yield connect(self.sun.port, self.plate.port, self.radiation.port_a, self.convection.port_a)
        yield connect(self.radiation.port_b, self.convection.port_b, self.air.port)
        yield initially(Eq(der(self.plate.T), 0))


def test_an_absorber_begins_in_equilibrium_and_stays_there() -> None:
    expected = absorber_temperature(900.0, 0.9, 6.0, 293.15)
    result = simulate(Absorber(), 3600.0)
    assert result["plate.T"].at([0.0, 1800.0, 3600.0]) == pytest.approx(np.full(3, expected), rel=1e-10)


class Heating(Component):
    """A heating wire behind a switch that is closed 30 % of the time, in a body that loses heat."""

    def build(self) -> None:
        self.source, self.ground = ConstantVoltage(V=20.0), Ground()
        self.pwm, self.switch = PWM(frequency=1.0, duty=0.3), IdealClosingSwitch()
        self.wire = Resistor(R=4.0, useHeatPort=True)
        self.body, self.wall, self.room = (
            HeatCapacitor(C=5.0, T=300.0),
            ThermalConductor(G=0.5),
            FixedTemperature(T=300.0),
        )

    def equations(self):
        yield connect(self.pwm.y, self.switch.control)
        yield connect(self.source.p, self.switch.p)
        yield connect(self.switch.n, self.wire.p)
        yield connect(self.wire.n, self.source.n, self.ground.p)
        yield connect(self.wire.heatPort, self.body.port, self.wall.port_a)
        yield connect(self.wall.port_b, self.room.port)


@pytest.fixture(scope="module")
def heating() -> Result:
    return simulate(Heating(), 20.0)


def test_a_pulsed_wire_heats_in_steps(heating: Result) -> None:
    """100 W in 30 % of each second: each period multiplies the rise and adds the same."""
    decay, on = np.exp(-0.1), np.exp(-0.03)
    rise, expected = 0.0, []
    for _ in range(20):
        expected.append(rise)
        rise = (200.0 + (rise - 200.0) * on) * decay / on
    assert heating["body.T"].at(np.arange(20.0)) == pytest.approx(300.0 + np.array(expected), rel=1e-6)


def test_the_energy_of_both_domains_closes(heating: Result) -> None:
    audit = heating.audit()
    assert audit.into("source") == pytest.approx(-100.0 * 0.3 * 20.0, rel=1e-6)
    assert audit.into("wire") == pytest.approx(0.0, abs=1e-6 * 600.0)
    assert audit.balance == pytest.approx(0.0, abs=1e-6 * 600.0)
