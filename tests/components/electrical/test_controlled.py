"""Controlled sources: gains, and that side 1 is open or shorted."""

import pytest

from acausal import simulate
from acausal.components.electrical import (
    CCC,
    CCV,
    VCC,
    VCV,
    ConstantCurrent,
    ConstantVoltage,
    Ground,
    Resistor,
)
from acausal.modeling import Circuit
from tests.components.electrical.circuits import coupled


def test_voltage_controlled_voltage() -> None:
    result = simulate(coupled(ConstantVoltage(V=2.0), VCV(gain=-3.0), Resistor(R=4.0)), 1.0)
    assert result["right.v"].final == pytest.approx(-6)
    assert result["right.i"].final == pytest.approx(-1.5)
    assert result["left.i"].final == 0


def test_voltage_controlled_current() -> None:
    result = simulate(coupled(ConstantVoltage(V=2.0), VCC(transConductance=0.5), Resistor(R=4.0)), 1.0)
    assert result["port.i2"].final == pytest.approx(1)
    assert result["right.v"].final == pytest.approx(-4)
    assert result["left.i"].final == 0


def test_current_controlled_voltage() -> None:
    result = simulate(coupled(ConstantCurrent(I=-2.0), CCV(transResistance=5.0), Resistor(R=4.0)), 1.0)
    assert result["port.i1"].final == pytest.approx(2)
    assert result["right.v"].final == pytest.approx(10)
    assert result["left.v"].final == 0


def test_current_controlled_current() -> None:
    result = simulate(coupled(ConstantCurrent(I=-2.0), CCC(gain=3.0), Resistor(R=4.0)), 1.0)
    assert result["port.i2"].final == pytest.approx(6)
    assert result["right.v"].final == pytest.approx(-24)
    assert result["left.v"].final == 0


def test_a_voltage_controlled_current_fed_by_its_own_output_is_a_conductance() -> None:
    """Sides in parallel: ``i = g * v`` next to a resistor and a constant current."""
    c = Circuit()
    source, port = c.add("source", ConstantCurrent(I=-3.0)), c.add("port", VCC(transConductance=0.5))
    load, ground = c.add("load", Resistor(R=1.0)), c.add("ground", Ground())
    c.connect(source.p, port.p1, port.p2, load.p)
    c.connect(ground.p, source.n, port.n1, port.n2, load.n)
    assert simulate(c, 1.0)["load.v"].final == pytest.approx(2)
