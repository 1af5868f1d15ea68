"""Energies of starts beside switches that are open or closed all the time."""

import pytest

from acausal import simulate
from acausal.components import electrical as el
from acausal.results.record import STARTS
from tests.systems.circuits import circuit

END = 2.0


@pytest.mark.parametrize("beside", [False, True])
def test_switches_that_charge_a_floating_capacitor_at_the_start_contradict_nothing(beside: bool) -> None:
    """The stroke of a charge pump: the source gives 25 J, of which its switches take half and the capacitor half."""
    held = ("co", el.Capacitor(C=1.0, v=1.0), "o", "0")
    model = circuit(
        ("v", el.ConstantVoltage(V=5.0), "a", "0"),
        ("c1", el.Capacitor(C=1.0), "b", "k"),
        ("c2", el.Capacitor(C=2.0), "o", "m"),
        *((held,) if beside else ()),
        ("s1", el.IdealClosingSwitch(control=True), "a", "b"),
        ("s2", el.IdealClosingSwitch(control=True), "k", "0"),
        ("s3", el.IdealClosingSwitch(control=False), "a", "k"),
        ("s4", el.IdealClosingSwitch(control=False), "b", "o"),
        ("s5", el.IdealClosingSwitch(control=False), "m", "0"),
    )
    result = simulate(model, END)
    audit = result.audit()
    assert [audit.into(part) for part in ("v", "c1", "c2")] == pytest.approx([-25.0, 12.5, 0.0], abs=1e-12)
    assert audit.into("s1") + audit.into("s2") == pytest.approx(12.5) == audit.energy_lost
    assert STARTS not in audit.lost and min(audit.lost.values()) > 0.0
    assert result.check().ok and not result.check().unchecked


@pytest.mark.parametrize(
    "switch", [el.IdealClosingSwitch(control=False), el.IdealOpeningSwitch(control=True)]
)
def test_what_stays_open_beside_a_contradiction_takes_nothing(switch: el.IdealClosingSwitch) -> None:
    """2 A begin to flow through coils of 1 H and 2 H: they take 2 J and 4 J, and the impulse of 6 V.s gives 12 J."""
    model = circuit(
        ("i", el.ConstantCurrent(I=2.0), "0", "a"),
        ("l1", el.Inductor(L=1.0), "a", "b"),
        ("l2", el.Inductor(L=2.0), "b", "0"),
        ("s", switch, "a", "b"),
    )
    result = simulate(model, END)
    found = {part.path: part.energy for part in result.audit()}
    expected = {"i": -12.0, "l1": 2.0, "l2": 4.0, "s": 0.0, "ground": 0.0}
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert result.audit().lost == pytest.approx({STARTS: 6.0}, rel=1e-12)
    assert result.check().ok and not result.check().unchecked
