"""Energies through ports against closed forms; the audit closes."""

import numpy as np
import pytest

from acausal import Circuit, Component, UnknownPathError, simulate
from acausal.components.electrical import Capacitor, Ground, Inductor, Resistor
from acausal.components.translational import Fixed, ImpactStop, Mass, Spring
from tests.results.models import Buck, Discharge, sharing


def oscillator(**parts: Component) -> Circuit:
    c = Circuit()
    made = [c.add(name, part) for name, part in parts.items()]
    ground = c.add("ground", Ground())
    for a, b in zip(made[:-1], made[1:], strict=True):
        c.connect(a.n, b.p)
    c.connect(made[-1].n, made[0].p, ground.p)
    return c


def test_a_discharge_heats_the_resistor() -> None:
    result = simulate(Discharge(), 1e-3)
    expected = 0.5 * 1e-6 * 100 * (1 - np.exp(-2))
    assert result.energy("load") == pytest.approx(expected, rel=1e-13)
    assert result.energy("capacitor") == pytest.approx(-expected, rel=1e-13)
    assert result.energy("load", 0.0, 0.5e-3) == pytest.approx(50e-6 * (1 - np.exp(-1)), rel=1e-13)
    assert result.energy() == 0.0


def test_an_oscillation_exchanges_its_energy() -> None:
    L, C = 1e-3, 1e-6
    result = simulate(oscillator(l=Inductor(L=L), c=Capacitor(C=C, v=5.0)), 0.5 * np.pi * np.sqrt(L * C))
    assert result.energy("l") == pytest.approx(12.5e-6, rel=1e-12)
    assert result.energy("c") == pytest.approx(-12.5e-6, rel=1e-12)


def test_the_audit_of_a_damped_circuit_closes() -> None:
    result = simulate(oscillator(l=Inductor(L=1e-3), r=Resistor(R=5.0), c=Capacitor(C=1e-6, v=5.0)), 1e-3)
    audit = result.audit()
    assert abs(audit.balance) <= 1e-13 * 12.5e-6
    assert audit.lost == pytest.approx(-audit.stored, rel=1e-12)
    assert audit.lost == pytest.approx(result.energy("r"), rel=1e-13)
    assert "r " in repr(audit)


def test_joined_capacitors_lose_energy_in_the_switch() -> None:
    result = simulate(sharing(), 2e-3)
    audit = {p.path: p for p in result.audit()}
    assert audit["switch"].energy == pytest.approx(37.5e-6, rel=1e-13)
    assert audit["switch"].impulsive == pytest.approx(37.5e-6, rel=1e-13)
    assert audit["a"].energy == pytest.approx(0.5e-6 * (2.5**2 - 100), rel=1e-13)
    assert audit["b"].energy == pytest.approx(1.5e-6 * 2.5**2, rel=1e-13)
    assert abs(result.audit().balance) <= 1e-13 * 50e-6
    assert result.energy("switch", 1.1e-3, 2e-3) == 0.0


def test_the_audit_of_a_converter_closes() -> None:
    result = simulate(Buck(), 2e-4)
    audit = result.audit()
    assert abs(audit.balance) <= 1e-12 * audit.supplied
    assert audit.supplied == pytest.approx(-result.energy("source"), rel=1e-13)
    assert result.energy("inductor") == pytest.approx(
        0.5 * 47e-6 * result["inductor.i"].final ** 2, rel=1e-10
    )


def test_an_impact_loses_energy_in_the_stop() -> None:
    c = Circuit()
    wall = c.add("wall", Fixed())
    stop = c.add("stop", ImpactStop(restitution=0.5))
    mass = c.add("mass", Mass(m=2.0, s=1.0, v=-1.0))
    c.connect(wall.flange, stop.flange_a)
    c.connect(stop.flange_b, mass.flange_a)
    result = simulate(c, 2.0)
    assert result["mass.v"].final == pytest.approx(0.5, rel=1e-12)
    assert result.energy("mass") == pytest.approx(0.25 - 1.0, rel=1e-12)
    assert result.energy("stop") == pytest.approx(0.75, rel=1e-12)
    assert abs(result.audit().balance) <= 1e-12


def test_a_spring_gives_its_energy_to_the_mass() -> None:
    c = Circuit()
    wall, spring, mass = (
        c.add("wall", Fixed()),
        c.add("spring", Spring(c=100.0)),
        c.add("mass", Mass(m=2.0, s=1.0)),
    )
    c.connect(wall.flange, spring.flange_a)
    c.connect(spring.flange_b, mass.flange_a)
    result = simulate(c, 0.1)
    w = np.sqrt(50.0)
    assert result.energy(mass) == pytest.approx((w * np.sin(w * 0.1)) ** 2, rel=1e-12)
    assert abs(result.audit().balance) <= 1e-12


def test_an_unknown_component_is_named() -> None:
    with pytest.raises(UnknownPathError, match="no component is named `lod`"):
        simulate(Discharge(), 1e-3).energy("lod")
