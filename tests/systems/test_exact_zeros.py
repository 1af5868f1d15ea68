"""What is exactly zero by itself stays that beside what moves, and is no matter of tolerances."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from acausal import Circuit, simulate
from acausal.components.electrical import (
    Capacitor,
    Ground,
    IdealDiode,
    Inductor,
    Resistor,
    SignalVoltage,
    VoltageSensor,
)
from tests.oracles.circuits import JUNCTION
from tests.oracles.networks import Element
from tests.systems.network_models import model

LOSSES = (Fraction(1, 10000), Fraction(1, 100000))


def beside_a_choke(flux: float) -> list[Element]:
    """A choke drives a junction through a diode. An empty capacitor hangs on the way with two diodes that carry nothing."""
    return [
        Element("N", "N1", "n1", "0", 2),
        Element("J", "J2", "n3", "n1", 5),
        Element("C", "C1", "n5", "n4", 1, 0),
        Element("N", "N4", "n6", "n5", Fraction(1, 5)),
        Element("Y", "Y3", "0", "n4", 2, flux),
        Element("D", "D2", "n6", "n3", None, LOSSES),
        Element("D", "D4", "n4", "n3"),
        Element("D", "D5", "n3", "n5"),
    ]


def flux_after(span: float, flux: float) -> float:
    """That of the choke, whose flow passes the junction and the cubic conductor."""
    Ids, Vt, _, R = JUNCTION.values()

    def zero(f: Callable[[float], float]) -> float:
        return float(np.asarray(brentq(f, 0.0, 10.0, xtol=1e-15)))

    def rate(_: float, psi: np.ndarray) -> list[float]:
        i = zero(lambda i: 0.5 * (i + 3.0 * np.arctan(i)) - psi[0])
        junction = zero(lambda v: Ids * (np.exp(v / Vt) - 1.0) + v / R - i)
        return [-junction - zero(lambda v: 2.0 * v * (1.0 + v * v) - i)]

    return float(solve_ivp(rate, (0.0, span), [flux], rtol=1e-9, atol=1e-12).y[0, -1])


@pytest.mark.parametrize("method", ["explicit", "implicit"])
@pytest.mark.parametrize("flux", [0.5, 1e-3, 5.0])
def test_a_capacitor_without_charge_keeps_none(flux: float, method: str) -> None:
    result = simulate(model(beside_a_choke(flux), 1.0), 0.5, method=method)
    assert not result["C1.v"].values.any()
    assert not result["D5.i"].values.any()
    assert len(result.events) <= 1
    assert result["Y3.Psi"].final == pytest.approx(flux_after(0.5, flux), rel=1e-5)
    result.check(20).require()


@pytest.mark.parametrize("resistance", [1e-1, 1e-3, 1e-6])
def test_an_empty_capacitor_that_drives_a_stiff_circuit_holds_no_steps(resistance: float) -> None:
    """Its voltage is the source of a circuit that moves: the other way round nothing comes back to it."""
    c = Circuit()
    empty, leak, diode = (
        c.add("empty", Capacitor(C=1.0)),
        c.add("leak", Resistor(R=5.0)),
        c.add("diode", IdealDiode()),
    )
    sensor, source, ground = (
        c.add("sensor", VoltageSensor()),
        c.add("source", SignalVoltage()),
        c.add("ground", Ground()),
    )
    resistor, store = c.add("resistor", Resistor(R=resistance)), c.add("store", Capacitor(C=0.3, v=1.0))
    choke = c.add("choke", Inductor(L=1.0, i=0.5))
    c.connect(empty.p, leak.p, diode.p, sensor.p)
    c.connect(empty.n, leak.n, diode.n, sensor.n, source.n, store.n, choke.n, ground.p)
    c.connect(source.p, resistor.p)
    c.connect(resistor.n, store.p, choke.p)
    c.connect(sensor.v, source.v)
    result = simulate(c, 2.0, method="implicit")
    assert not result["empty.v"].values.any()
    assert result.stats.steps <= 60
    assert result["choke.i"].final == pytest.approx(
        simulate(c, 2.0, method="exact")["choke.i"].final, rel=1e-5
    )


def bridge(kind: str, value: Fraction, unbalance: Fraction = Fraction(0)) -> list[Element]:
    """A choke drives a bridge of equal nonlinear parts. A diode and an empty capacitor lie across its balanced diagonal."""
    return [
        Element("Y", "Y1", "0", "a", 2, Fraction(3, 2)),
        Element(kind, "N1", "a", "b", value * (1 + unbalance)),
        Element(kind, "N2", "a", "c", value),
        Element(kind, "N3", "b", "0", value),
        Element(kind, "N4", "c", "0", value),
        Element("C", "C1", "b", "c", 1, 0),
        Element("D", "D1", "b", "c"),
    ]


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["explicit", "implicit"])
@pytest.mark.parametrize("part", [("N", Fraction(2)), ("N", Fraction(1, 3)), ("J", Fraction(5))], ids=str)
def test_nothing_flows_across_a_balanced_bridge(part: tuple[str, Fraction], method: str) -> None:
    """Rates cancel in what Newton's method solves for: their rounding neither turns a diode on nor holds steps."""
    result = simulate(model(bridge(*part), 1.0), 1.0, method=method)
    assert np.abs(result["C1.v"].values).max() <= 1e-16
    assert result.stats.steps < 100
    assert result.check().ok


@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_the_diode_of_a_bridge_sees_what_unbalances_it(method: str) -> None:
    """In proportion to it, and with its sign, down to a billionth."""

    def moved(unbalance: Fraction) -> tuple[float, float]:
        result = simulate(model(bridge("N", Fraction(2), unbalance), 1.0), 1.0, method=method)
        return result["C1.v"].final, result["D1.i"].final

    blocked, conducted = moved(Fraction(-1, 1000))[0], moved(Fraction(1, 1000))[1]
    for part in (1e-6, 1e-9):
        small = Fraction(part) / 1000
        assert moved(-small) == pytest.approx((part * blocked, 0.0), rel=1e-2)
        assert moved(small) == pytest.approx((0.0, part * conducted), rel=1e-2)
