"""Ideal switches that close together: only the sum of what they lose is known where it depends on which was first."""

from pathlib import Path

import pytest

from acausal import Circuit, Result, simulate, time
from acausal.components.electrical import Capacitor, ConstantVoltage, IdealClosingSwitch
from tests.systems.circuits import circuit


def closing(first: float, second: float) -> Circuit:
    """The first switch bridges a capacitor of 2 V, the second one joins it with another one of -3 V; both hold 2 F."""
    return circuit(
        ("c", Capacitor(C=2.0, v=2.0), "a", "0"),
        ("d", Capacitor(C=2.0, v=-3.0), "b", "0"),
        ("first", IdealClosingSwitch(control=time >= first), "a", "0"),
        ("second", IdealClosingSwitch(control=time >= second), "b", "a"),
        ("source", ConstantVoltage(V=4.0), "s", "0"),
        ("apart", IdealClosingSwitch(control=time >= 1.0), "s", "e"),
        ("e", Capacitor(C=1.0, v=1.0), "e", "0"),
    )


@pytest.mark.parametrize(("times", "lost"), [((1.0, 1.5), (4.0, 9.0)), ((1.5, 1.0), (0.5, 12.5))])
def test_the_order_decides_what_each_of_two_switches_takes(
    times: tuple[float, float], lost: tuple[float, float]
) -> None:
    result = simulate(closing(*times), 2.0)
    expected = {"first.closed": lost[0], "second.closed": lost[1], "apart.closed": 4.5}
    assert result.audit().lost == pytest.approx(expected, rel=1e-12)


def test_without_an_order_they_stand_together(tmp_path: Path) -> None:
    result = simulate(closing(1.0, 1.0), 2.0)
    result.save(tmp_path / "run")
    for found in (result, Result.load(tmp_path / "run")):
        event = found.events[-1]
        assert event.lost == pytest.approx(
            {"apart.closed": 4.5, "first.closed, second.closed": 13.0}, rel=1e-12
        )
        assert event.energy_lost == found.audit().energy_lost == pytest.approx(17.5, rel=1e-12)
        assert found.audit().lost == event.lost
        assert found.check().ok and not found.check().unchecked
        # The rows split the sum all the same, so that they sum to zero; the table says that the split means nothing.
        assert found.energy("first") < 0.0
        assert found.energy("first") + found.energy("second") == pytest.approx(13.0, rel=1e-12)
        table = str(found.audit())
        assert "only the sum is determined" in table and "\n    first.closed, second.closed: 13 J" in table
        assert "sum is determined" not in str(found.audit(t1=0.5))


def test_straight_lines_split_what_they_leave_positive() -> None:
    """Two equal switches in parallel take half of the energy each."""
    model = circuit(
        ("source", ConstantVoltage(V=4.0), "s", "0"),
        ("one", IdealClosingSwitch(control=time >= 1.0), "s", "e"),
        ("other", IdealClosingSwitch(control=time >= 1.0), "s", "e"),
        ("e", Capacitor(C=1.0, v=1.0), "e", "0"),
    )
    lost = simulate(model, 2.0).events[-1].lost
    assert lost == pytest.approx({"one.closed": 2.25, "other.closed": 2.25}, rel=1e-12)
