"""S15: what may be interrupted, from where the policy comes, what counts as rounding, and the energy of an impulse."""

import math

import pytest

from acausal import Circuit, FlowInterruptedError, Impulse, simulate, time
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Ground,
    IdealClosingSwitch,
    Inductor,
    Resistor,
)


def coil(interrupt: Impulse = Impulse.DEFAULT, opening: float = 1.0) -> Circuit:
    """2 V on 1 ohm and 1 H through a switch."""
    circuit = Circuit()
    source, ground = circuit.add("source", ConstantVoltage(V=2.0)), circuit.add("ground", Ground())
    switch = circuit.add("switch", IdealClosingSwitch(control=time < opening, interrupt=interrupt))
    inductor, load = circuit.add("coil", Inductor(L=1.0)), circuit.add("load", Resistor(R=1.0))
    circuit.connect(source.p, switch.p)
    circuit.connect(switch.n, inductor.p)
    circuit.connect(inductor.n, load.p)
    circuit.connect(load.n, source.n, ground.p)
    return circuit


def test_an_interruption_is_an_error_unless_the_run_allows_it() -> None:
    with pytest.raises(FlowInterruptedError, match="interrupts `coil.i`"):
        simulate(coil(), 2.0)
    result = simulate(coil(), 2.0, impulses="allow")
    assert result["coil.i"].at([1.0, 2.0]) == pytest.approx([0.0, 0.0], abs=1e-14)


def test_the_element_overrules_the_run() -> None:
    assert simulate(coil(Impulse.ALLOW), 2.0)["coil.i"].final == pytest.approx(0.0, abs=1e-14)
    with pytest.raises(FlowInterruptedError):
        simulate(coil(Impulse.ERROR), 2.0, impulses="allow")


def test_the_impulse_is_the_flux_and_its_energy_is_booked() -> None:
    result = simulate(coil(), 2.0, impulses="allow")
    current = 2.0 * (1.0 - math.exp(-1.0))
    (event,) = [e for e in result.events if e.t == 1.0]
    assert event.energy_lost == pytest.approx(0.5 * current**2, rel=1e-12)
    assert event.lost.keys() == {"switch.closed"}
    assert max(abs(size) for _, size, _ in event.impulses) == pytest.approx(current, rel=1e-12)


def test_below_a_millionth_of_the_scale_it_is_rounding() -> None:
    """The current at the opening is 2e-9 A where the circuit carries 2 A."""
    result = simulate(coil(opening=1e-9), 1.0)
    assert result["coil.i"].final == pytest.approx(0.0, abs=1e-14)


def test_charge_taken_from_an_ideal_source_costs_as_much_as_it_stores() -> None:
    """A capacitor of 3 F put on 2 V stores 6 J, the source gives 12 J: 6 J are lost in the switch."""
    circuit = Circuit()
    source, ground = circuit.add("source", ConstantVoltage(V=2.0)), circuit.add("ground", Ground())
    switch = circuit.add("switch", IdealClosingSwitch(control=time > 1.0))
    capacitor = circuit.add("capacitor", Capacitor(C=3.0))
    circuit.connect(source.p, switch.p)
    circuit.connect(switch.n, capacitor.p)
    circuit.connect(capacitor.n, source.n, ground.p)
    result = simulate(circuit, 2.0)
    (event,) = [e for e in result.events if e.t == 1.0]
    assert result["capacitor.v"].at([0.5, 1.0]) == pytest.approx([0.0, 2.0], abs=1e-14)
    assert event.energy_lost == pytest.approx(6.0, rel=1e-12)
