"""`Result.check` of circuits with time constants far below their periods: slopes amplify what a run may miss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from acausal import Circuit, simulate
from acausal.components.blocks import PWM
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    IdealClosingSwitch,
    IdealDiode,
    Inductor,
    Resistor,
    SineVoltage,
)
from acausal.results.segments import Affine
from tests.systems.circuits import circuit


def charger() -> Circuit:
    """Of a battery through 1 Ohm and 1 uH: the current follows the voltage within 1 us of 20 ms."""
    return circuit(
        ("source", SineVoltage(V=100.0, f=50.0), "in", "0"),
        ("diode", IdealDiode(), "in", "a"),
        ("line", Resistor(R=1.0), "a", "b"),
        ("coil", Inductor(L=1e-6), "b", "c"),
        ("battery", ConstantVoltage(V=30.0), "c", "0"),
    )


def damped(R: float, L: float, C: float, load: float, Rs: float, Cs: float) -> Circuit:
    """A rectifier whose diode has a snubber beside it, which rings with the coil for a small part of the time it blocks."""
    return circuit(
        ("source", SineVoltage(V=100.0, f=50.0), "in", "0"),
        ("line", Resistor(R=R), "in", "a"),
        ("coil", Inductor(L=L), "a", "b"),
        ("diode", IdealDiode(), "b", "out"),
        ("loss", Resistor(R=Rs), "b", "s"),
        ("snubber", Capacitor(C=Cs), "s", "out"),
        ("store", Capacitor(C=C), "out", "0"),
        ("load", Resistor(R=load), "out", "0"),
    )


RINGING = {
    "stiff": (0.08, 1.3e-6, 390e-6, 88.0, 140.0, 43e-9),
    "small store": (4.3, 2.5e-6, 2.6e-6, 27.0, 790.0, 2e-9),
    "long ringing": (0.052, 150e-6, 13e-6, 160.0, 75.0, 0.16e-9),
}


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_a_current_that_follows_its_voltage_at_once_passes_where_it_is_integrated(rtol: float) -> None:
    result = simulate(charger(), 0.02, method="implicit", rtol=rtol)
    assert result.check().ok, result.check()


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
@pytest.mark.parametrize("case", RINGING)
def test_rings_that_are_integrated_pass(case: str, rtol: float) -> None:
    found = simulate(damped(*RINGING[case]), 0.03, method="implicit", rtol=rtol).check()
    assert found.ok, found


CHANCE = [
    (0.37114501449430376, 0.0009225871997990667, 0.00010333190264595289, 13.4295937855, 188.230822027729, 5.933333349792227e-09),
    (1.3879967551642756, 0.00483497987064999, 1.5307004574977107e-05, 399.7767582087, 21.57064682238966, 6.408555726149744e-08),
    (0.370948, 923.133e-6, 103.046e-6, 13.3838, 187.937, 5.92998e-9),
    (1.3925, 4.82925e-3, 15.2768e-6, 400.0, 21.6, 64.1e-9),
]  # fmt: skip


@pytest.mark.parametrize("numbers", CHANCE)
def test_two_quadratures_that_agree_by_chance_over_many_periods_are_no_defect(numbers: Any) -> None:
    found = simulate(damped(*numbers), 0.03).check()
    assert found.ok, found


def snubbed(stray: float) -> Circuit:
    """A buck converter with a stray coil in its feed, and snubbers beside its switch and its diode."""
    made = circuit(
        ("source", ConstantVoltage(V=48.0), "in", "0"),
        ("ls", Inductor(L=stray), "in", "a"),
        ("switch", IdealClosingSwitch(Ron=5e-3), "a", "b"),
        ("c2", Capacitor(C=470e-12), "a", "s"),
        ("r2", Resistor(R=10.0), "s", "b"),
        ("diode", IdealDiode(Vknee=0.7, Ron=1e-2), "0", "b"),
        ("rs", Resistor(R=5.0), "b", "d"),
        ("cs", Capacitor(C=1e-9), "d", "0"),
        ("coil", Inductor(L=10e-6), "b", "out"),
        ("store", Capacitor(C=22e-6, v=10.0), "out", "0"),
        ("load", Resistor(R=2.0), "out", "0"),
        pwm=PWM(frequency=200e3, duty=0.25),
    )
    made.connect(made.pwm.y, made.switch.control)
    return made


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("stray", [2e-9, 20e-9, 100e-9])
@pytest.mark.parametrize("end", [1e-4, 7e-5])
def test_a_ring_that_is_over_before_the_first_nodes_is_no_defect(stray: float, end: float) -> None:
    """All equal parts miss it alike where a point lies at a crossing of its slope through zero."""
    found = simulate(snubbed(stray), end).check()
    assert found.ok, found


@pytest.mark.parametrize("method", ["auto", "implicit"])
def test_a_wrong_slope_of_such_a_current_is_found(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a hundredth of what the slope is, which is a hundred millionth of its terms."""
    result = simulate(charger(), 0.02, method=method, rtol=1e-6)
    assert result.check().ok
    row = Affine.row

    def wrong(self: Affine, group: Any) -> np.ndarray:
        return row(self, group) * (1.01 if any(slope for _, slope in self.terms) else 1.0)

    monkeypatch.setattr(Affine, "row", wrong)
    assert [d.ok for d in result.check() if d.kind == "motion" and "coil" in d.name] == [False]
