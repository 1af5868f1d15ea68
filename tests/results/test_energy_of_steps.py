"""Energies of instants in which sources step: what flows then flows from their new values."""

import pytest

from acausal import Circuit, if_else, simulate, time
from acausal.components.electrical import Capacitor, IdealClosingSwitch, IdealDiode, PulseVoltage, StepVoltage
from acausal.components.translational import ImpactStop, Mass, Speed
from tests.systems.circuits import circuit

STEPS = {
    # Source steps to 10 V, and 5 C flow from it: it gives 50 J, the capacitor takes 37.5 J.
    "diode": (lambda: IdealDiode(), [(1.0, 12.5)], {"s": -50.0, "c": 37.5, "d": 12.5}),
    "switch": (lambda: IdealClosingSwitch(control=time >= 1.0), [(1.0, 12.5)], {"s": -50.0, "c": 37.5, "d": 12.5}),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_sources_step_before_what_flows_from_them(name: str) -> None:
    """Along a straight line from the source before its step the diode gave 12.5 J."""
    make, losses, energies = STEPS[name]
    model = circuit(
        ("s", StepVoltage(V=10.0, startTime=1.0), "n", "0"),
        ("d", make(), "n", "k"),
        ("c", Capacitor(C=1.0, v=5.0), "k", "0"),
    )
    result = simulate(model, 2.0)
    lost = [(event.t, sum(event.lost.values())) for event in result.events if event.lost]
    assert lost == [pytest.approx(x) for x in losses]
    assert {part: result.energy(part) for part in energies} == pytest.approx(energies)
    assert result.audit().balance == pytest.approx(0.0, abs=1e-12)


def test_a_charge_pump_loses_half_of_what_it_moves() -> None:
    """In every stroke 5, 5, 2.5, 2.5, ... C flow, and a diode takes half of each square: the source gives all of it."""
    model = circuit(
        ("s", PulseVoltage(V=10.0, period=1.0, startTime=0.5), "n", "0"),
        ("c1", Capacitor(C=1.0, v=0.0), "n", "m"),
        ("d1", IdealDiode(), "0", "m"),
        ("d2", IdealDiode(), "m", "k"),
        ("c2", Capacitor(C=1.0, v=0.0), "k", "0"),
    )
    result = simulate(model, 3.2)
    lost = [sum(event.lost.values()) for event in result.events if event.lost]
    assert lost == pytest.approx([25.0, 12.5, 6.25, 3.125, 1.5625, 0.78125])
    # After n strokes the second capacitor holds 10 (2 - 2^(1 - n)) / 2 V of the 20 V that it tends to.
    assert result.energy("c2") == pytest.approx(0.5 * 8.75**2)
    assert result.energy("s") == pytest.approx(-(sum(lost) + 0.5 * 8.75**2))


def test_a_pusher_that_starts_at_once_works_on_what_it_hits() -> None:
    """A mass of 1 kg is hit plastically with 10 m/s: the pusher gives 100 J, 50 J stay in the stop."""
    model = Circuit()
    pusher = model.add("s", Speed(v_ref=if_else(time >= 1.0, 10.0, 0.0)))
    stop, mass = model.add("k", ImpactStop(restitution=0.0)), model.add("m", Mass(m=1.0, s=0.0, v=0.0))
    model.connect(pusher.flange, stop.flange_a)
    model.connect(stop.flange_b, mass.flange_a)
    result = simulate(model, 2.0)
    assert result.events[-1].lost == {"k.contact": pytest.approx(50.0)}
    assert [result.energy(part) for part in "skm"] == pytest.approx([-100.0, 50.0, 50.0])
