"""Two-pulse thyristor bridge: firing angle, gates that come to nothing, commutation in one instant."""

from typing import Any

import numpy as np
import pytest

from acausal import Component, Expr, Parameter, Result, and_, connect, simulate, time
from acausal.components.blocks import PhaseAngle
from acausal.components.electrical import (
    ConstantVoltage,
    Ground,
    IdealThyristor,
    Inductor,
    Resistor,
    SineVoltage,
)
from tests.oracles.rectifiers import two_pulse_mean
from tests.systems.circuits import circuit, commutations, falls, rises

F, V = 50.0, 325.0
T = 1 / F


class ThyristorBridge(Component):
    """Four thyristors between a sine source and an R-L load."""

    alpha: Parameter = Parameter(unit="rad", doc="Firing angle")
    R: Parameter = Parameter(default=10.0, unit="Ohm")
    L: Parameter = Parameter(default=0.1, unit="H")

    def build(self) -> None:
        self.source = SineVoltage(V=V, f=F)
        self.firing = PhaseAngle(alpha=self.alpha, frequency=F)
        self.t1 = IdealThyristor(fire=self.firing.fire_p)
        self.t2 = IdealThyristor(fire=self.firing.fire_n)
        self.t3 = IdealThyristor(fire=self.firing.fire_n)
        self.t4 = IdealThyristor(fire=self.firing.fire_p)
        self.load = Resistor(R=self.R)
        self.choke = Inductor(L=self.L)
        self.ground = Ground()

    def equations(self) -> Any:
        yield connect(self.source.p, self.t1.p, self.t3.n)
        yield connect(self.source.n, self.t2.p, self.t4.n)
        yield connect(self.t1.n, self.t2.n, self.load.p)
        yield connect(self.load.n, self.choke.p)
        yield connect(self.t3.p, self.t4.p, self.choke.n, self.ground.p)


def load_voltage_mean(result: Result, t0: float, t1: float) -> float:
    return result["load.v"].mean(t0, t1) + result["choke.v"].mean(t0, t1)


@pytest.mark.parametrize("degrees", [10, 30, 60])
def test_mean_in_continuous_conduction(degrees: float) -> None:
    alpha = np.deg2rad(degrees)
    first = alpha / (2 * np.pi) * T
    result = simulate(ThyristorBridge(alpha=alpha), 12 * T + first)
    assert result["load.i"].at(np.linspace(6 * T, 12 * T, 600)).min() > 0
    expected = two_pulse_mean(V, alpha, continuous=True)
    begin = first + 6 * T
    for halves in (1, 2, 7):
        mean = load_voltage_mean(result, begin, begin + halves * T / 2)
        assert mean == pytest.approx(expected, rel=1e-9)


def test_mean_with_resistive_load() -> None:
    alpha = np.deg2rad(75)
    result = simulate(ThyristorBridge(alpha=alpha, L=0.0), 2 * T)
    assert result["load.v"].mean(0, 2 * T) == pytest.approx(two_pulse_mean(V, alpha), rel=1e-9)
    np.testing.assert_allclose(falls(result, "t1.on"), [T / 2, 3 * T / 2], rtol=1e-9)


def test_two_thyristors_take_over_in_one_instant() -> None:
    alpha = np.deg2rad(40)
    delay = alpha / (2 * np.pi) * T
    result = simulate(ThyristorBridge(alpha=alpha), 6 * T)
    instants = commutations(result)
    np.testing.assert_allclose(instants, delay + np.arange(12) * T / 2, rtol=1e-9)
    for path in ("t1.on", "t4.on"):
        np.testing.assert_array_equal(rises(result, path), instants[0::2])
        np.testing.assert_array_equal(falls(result, path), instants[1::2])
    for path in ("t2.on", "t3.on"):
        np.testing.assert_array_equal(rises(result, path), instants[1::2])
    current = result["choke.i"]
    np.testing.assert_allclose(current.at(instants), current.at(instants, side="left"), atol=1e-12 * V / 10)


def test_blocked_thyristors_share_the_voltage_equally() -> None:
    result = simulate(ThyristorBridge(alpha=np.deg2rad(90), L=0.0), T)
    t = np.array([0.1, 0.2, 0.55, 0.7]) * T
    half = V * np.sin(2 * np.pi * F * t) / 2
    for path, sign in (("t1", 1), ("t2", -1), ("t3", -1), ("t4", 1)):
        np.testing.assert_allclose(result[f"{path}.v"].at(t), sign * half, rtol=1e-9)


def fired_against(emf: float, fire: Expr) -> Result:
    """A thyristor from ``V sin(w t)`` through a resistor into a battery."""
    model = circuit(
        ("source", SineVoltage(V=V, f=F), "a", "0"),
        ("thyristor", IdealThyristor(fire=fire), "a", "b"),
        ("load", Resistor(R=10.0), "b", "c"),
        ("battery", ConstantVoltage(V=emf), "c", "0"),
    )
    return simulate(model, 2 * T)


def test_a_gate_pulse_that_ends_too_early_is_lost() -> None:
    emf = 0.5 * V
    forward = T / 12
    lost = fired_against(emf, and_(time >= 0.2 * forward, time < 0.999 * forward))
    assert len(rises(lost, "thyristor.on")) == 0
    assert not lost["thyristor.on"].values.any()
    np.testing.assert_array_equal(lost["load.i"].values, 0.0)


def test_a_gate_pulse_that_lasts_fires_when_forward_biased() -> None:
    emf = 0.5 * V
    forward = T / 12
    result = fired_against(emf, and_(time >= 0.2 * forward, time < 1.001 * forward))
    np.testing.assert_allclose(rises(result, "thyristor.on"), [forward], rtol=1e-9)
    np.testing.assert_allclose(falls(result, "thyristor.on"), [5 * T / 12], rtol=1e-9)
    charge = 2 * emf * (np.sqrt(3) - np.pi / 3) / 10 / (2 * np.pi * F)
    assert result["load.i"].mean(0, 2 * T) * 2 * T == pytest.approx(charge, rel=1e-9)
