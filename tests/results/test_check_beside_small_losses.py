"""`Result.check` beside small losses: motion within the resolution of time, and values read from terms that cancel."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from acausal import Circuit, Result, compile_model, simulate
from acausal.components.blocks import PWM
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    CoupledInductors,
    IdealClosingSwitch,
    IdealDiode,
    Inductor,
    PulseVoltage,
    Resistor,
    StepVoltage,
)
from acausal.results.power import Powers
from acausal.results.segments import Affine
from tests.systems.circuits import circuit
from tests.systems.general_path_models import bridge_at_capacitor

LOSSES = [10.0**-k for k in range(2, 10)]


def driven(model: Circuit, frequency: float, duty: float) -> Circuit:
    """The same with its switch driven by pulses."""
    pwm = model.add("pwm", PWM(frequency=frequency, duty=duty))
    model.connect(pwm.y, model.switch.control)
    return model


def cuk() -> Circuit:
    """Its switch and its diode cut currents of inductors, so that ``v = i / Goff`` is read from currents that cancel."""
    model = circuit(
        ("source", ConstantVoltage(V=24.0), "in", "0"),
        ("first", Inductor(L=100e-6), "in", "a"),
        ("switch", IdealClosingSwitch(), "a", "0"),
        ("between", Capacitor(C=10e-6, v=24.0), "a", "b"),
        ("diode", IdealDiode(), "b", "0"),
        ("second", Inductor(L=60e-6), "b", "o"),
        ("output", Capacitor(C=47e-6), "o", "0"),
        ("load", Resistor(R=8.0), "o", "0"),
    )
    return driven(model, 50e3, 0.42)


def flyback() -> Circuit:
    """Blocking voltages of its leakage inductance move by tens of volts within 1e4 floats of time."""
    model = circuit(
        ("source", ConstantVoltage(V=48.0), "in", "0"),
        ("clamp", IdealDiode(), "s", "k"),
        ("snubber", Capacitor(C=100e-9, v=100.0), "k", "in"),
        ("loss", Resistor(R=5e3), "k", "in"),
        ("switch", IdealClosingSwitch(), "s", "0"),
        ("diode", IdealDiode(), "y", "o"),
        ("output", Capacitor(C=100e-6, v=10.0), "o", "0"),
        ("load", Resistor(R=5.0), "o", "0"),
    )
    coil = model.add("coil", CoupledInductors(L1=200e-6, L2=50e-6, k=0.97))
    model.connect(coil.p1, model.source.p)
    model.connect(coil.n1, model.switch.p)
    model.connect(coil.p2, model.source.n)
    model.connect(coil.n2, model.diode.p)
    return driven(model, 100e3, 0.35)


def lossy(model: Circuit, t_end: float, names: str, Ron: float, Goff: float) -> Result:
    losses = {f"{name}.{p}": v for name in names.split() for p, v in (("Ron", Ron), ("Goff", Goff))}
    return compile_model(model).simulate(t_end, parameters=losses)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize(
    ("Ron", "Goff"), [*product([0.0], LOSSES), *product([1e-2, 1e-4, 1e-6], [1e-2, 1e-5, 1e-9])]
)
def test_cut_currents_of_inductors_pass(Ron: float, Goff: float) -> None:
    found = lossy(cuk(), 3e-4, "switch diode", Ron, Goff).check(60)
    assert found.ok, found


@pytest.mark.parametrize(
    ("Ron", "Goff"), [(1e-6, 1e-9), (1e-2, 1e-9), (1e-4, 1e-8), (1e-2, 1e-6), (1e-2, 1e-4)]
)
def test_blocking_voltages_that_move_within_floats_of_time_pass(Ron: float, Goff: float) -> None:
    found = lossy(flyback(), 1e-4, "switch diode clamp", Ron, Goff).check(60)
    assert found.ok, found


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("Ron", [1e-6, 1e-8, 1e-9, 1e-10])
def test_energies_with_a_current_that_cancels_pass(Ron: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """``v / Ron`` of a bridge at 325 V is known to some 1e-14 V / Ron, and so are the energies that it carries."""
    valves = "t0 t1 b0 b1"
    result = lossy(bridge_at_capacitor(), 0.05, valves, Ron, 1e-9)
    assert result.check().ok, result.check()
    # A loss of more than that is found.
    known = Powers.integral
    missed = max(1e-8, 1e2 * 1e-14 / Ron)

    def off(self: Powers, *window: Any) -> np.ndarray:
        found = known(self, *window)
        found[np.argmax(np.abs(found))] *= 1.0 - missed
        return found

    monkeypatch.setattr(Powers, "integral", off)
    assert not result.check().ok


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("R", [1e-1, *LOSSES, 1e-10, 1e-11])
def test_motion_that_is_over_within_a_small_part_of_its_segment(
    R: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``v = 10 (1 - exp(-t / (R C)))`` passes however short ``R C`` is; a slope that is 1e-6 off is found where it moves."""
    model = circuit(
        ("source", PulseVoltage(V=10.0, width=50.0, period=1e-5), "a", "0"),
        ("wire", Resistor(R=R), "a", "b"),
        ("capacitor", Capacitor(C=1e-7), "b", "0"),
    )
    result = simulate(model, 4e-5)
    times = 1e-5 + R * 1e-7 * np.arange(1, 40)
    for points in (100, times):
        assert result.check(points).ok, result.check(points)
    right = Affine.row

    def off(self: Affine, group: Any) -> np.ndarray:
        return right(self, group) * (1.0 + 1e-6 * any(slope for _, slope in self.terms))

    monkeypatch.setattr(Affine, "row", off)
    motion = [d for d in simulate(model, 4e-5).check(times) if d.kind == "motion"]
    assert [d.ok for d in motion] == [False]


@pytest.mark.parametrize("R", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("V", [10.0, 1e-3, 325.0])
def test_a_charge_that_is_over_at_once_leaves_no_flow_of_rounding(R: float, V: float) -> None:
    """``(V - v) / R`` of one rounding of ``v`` went on for as long as the segment lasted: 6 nJ of 50 uJ at 1 nOhm."""
    model = circuit(
        ("source", StepVoltage(V=V, startTime=1.1e-3), "a", "0"),
        ("wire", Resistor(R=R), "a", "b"),
        ("capacitor", Capacitor(C=1e-6), "b", "0"),
    )
    result = simulate(model, 2e-3)
    half = 1e-6 * V**2 / 2
    found = [result.energy(name) for name in ("capacitor", "wire", "source")]
    assert found == pytest.approx([half, half, -2.0 * half], rel=1e-13)


@pytest.mark.parametrize("R", [1e-3, 1e-6, 1e-9, 1e-10])
def test_a_loss_beside_currents_that_flow_from_one_part_to_the_next(
    R: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The source gives ``C V**2``, of which 1e-8 is missed: rounding of the current is the same in all parts, and cancels."""
    model = circuit(
        ("source", StepVoltage(V=10.0, startTime=1.1e-3), "a", "0"),
        ("wire", Resistor(R=R), "a", "b"),
        ("capacitor", Capacitor(C=1e-6), "b", "0"),
    )
    result = simulate(model, 2e-3)
    assert result.check().ok, result.check()
    known = Powers.integral

    def off(self: Powers, *window: Any) -> np.ndarray:
        found = known(self, *window)
        found[np.argmax(np.abs(found))] *= 1.0 - 1e-8
        return found

    monkeypatch.setattr(Powers, "integral", off)
    assert [d.kind for d in result.check() if not d.ok] == ["energy"]
