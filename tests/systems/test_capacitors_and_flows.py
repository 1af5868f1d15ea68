"""Charge that is shared in an instant, currents that are cut, and sources that are shorted."""

from math import asin, exp, pi, sqrt

import pytest

from acausal import Circuit, ContradictorySourcesError, FlowInterruptedError, Impulse, simulate
from acausal.components.blocks import BooleanStep, BooleanTable
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    CoupledInductors,
    IdealClosingSwitch,
    IdealDiode,
    IdealOpeningSwitch,
    Inductor,
    Resistor,
)
from tests.systems.circuits import circuit


def two_capacitors() -> Circuit:
    model = circuit(
        ("c1", Capacitor(C=1e-6), "a", "0"),
        ("switch", IdealClosingSwitch(), "a", "b"),
        ("c2", Capacitor(C=3e-6), "b", "0"),
        command=BooleanStep(startTime=1e-3),
    )
    model.connect(model.command.y, model.switch.control)
    return model


def test_joined_capacitors_share_their_charge() -> None:
    result = simulate(two_capacitors(), 2e-3, initial={"c1.v": 10.0, "c2.v": 0.0})
    assert [result["c1.v"].at(1e-3, side=side) for side in ("left", "right")] == pytest.approx(
        [10, 2.5], rel=1e-13
    )
    assert [result["c1.v"].final, result["c2.v"].final] == pytest.approx([2.5, 2.5], abs=1e-12)
    (event,) = (e for e in result.events if e.jumps)
    assert event.t == 1e-3
    assert event.impulses == (("switch.i", pytest.approx(7.5e-6, rel=1e-13), "A.s"),)
    assert event.lost == {"switch.closed": pytest.approx(37.5e-6, rel=1e-13)}
    assert {name: values for name, *values in event.jumps} == {
        "c1.v": pytest.approx([10.0, 2.5]),
        "c2.v": pytest.approx([0.0, 2.5]),
    }


def test_a_capacitor_closed_onto_a_source_takes_twice_what_it_stores() -> None:
    model = circuit(
        ("source", ConstantVoltage(V=10.0), "a", "0"),
        ("switch", IdealClosingSwitch(), "a", "b"),
        ("capacitor", Capacitor(C=2e-6), "b", "0"),
        command=BooleanStep(startTime=1e-3),
    )
    model.connect(model.command.y, model.switch.control)
    result = simulate(model, 2e-3)
    (event,) = (e for e in result.events if e.jumps)
    assert result["capacitor.v"].final == pytest.approx(10.0, rel=1e-14)
    assert event.energy_lost == pytest.approx(0.5 * 2e-6 * 10.0**2, rel=1e-13)


OPENING = 10e-3
CUT = 24 / 5 * (1 - exp(-OPENING * 5 / 20e-3))
"""Current in A at the opening."""


def coil(diode: bool, **switch: Impulse) -> Circuit:
    path = [("diode", IdealDiode(), "0", "b")] if diode else []
    model = circuit(
        ("source", ConstantVoltage(V=24.0), "a", "0"),
        ("switch", IdealOpeningSwitch(**switch), "a", "b"),
        ("resistor", Resistor(R=5.0), "b", "c"),
        ("inductor", Inductor(L=20e-3), "c", "0"),
        *path,
        command=BooleanStep(startTime=OPENING),
    )
    model.connect(model.command.y, model.switch.control)
    return model


def test_a_diode_takes_over_the_current_of_an_opening_switch() -> None:
    result = simulate(coil(diode=True), 2 * OPENING)
    current = result["inductor.i"]
    assert current.at(OPENING, side="left") == pytest.approx(CUT, rel=1e-14)
    assert current.at(OPENING) == current.at(OPENING, side="left")
    assert result["diode.i"].at(OPENING) == current.at(OPENING)
    assert current.final == pytest.approx(CUT * exp(-OPENING * 5 / 20e-3), rel=1e-13)
    assert not any(e.jumps or e.impulses or e.lost for e in result.events)


def test_a_current_without_path_is_an_error_that_tells_the_flux() -> None:
    with pytest.raises(FlowInterruptedError) as caught:
        simulate(coil(diode=False), 2 * OPENING)
    text = str(caught.value)
    for part in ("`switch`", "`inductor.i`", f"{CUT:.6g} A", f"{20e-3 * CUT:.6g} V.s", f"{OPENING:g}"):
        assert part in text
    partial = caught.value.result
    assert partial.t_end == OPENING
    assert partial["inductor.i"].at(OPENING, side="left") == pytest.approx(CUT, rel=1e-14)


def test_the_error_names_the_flow_of_the_switch_not_what_jumps_most() -> None:
    """Without leakage path the primary current, V D T / L1, is cut; the secondary one would jump from zero."""
    model = circuit(
        ("source", ConstantVoltage(V=48.0), "a", "0"),
        ("switch", IdealOpeningSwitch(), "b", "0"),
        ("load", Resistor(R=6.0), "d", "0"),
        command=BooleanStep(startTime=4e-6),
    )
    core = model.add("core", CoupledInductors(L1=100e-6, L2=25e-6, k=0.98))
    diode, capacitor = model.add("diode", IdealDiode()), model.add("capacitor", Capacitor(C=100e-6, v=12.0))
    model.connect(model.command.y, model.switch.control)
    model.connect(core.p1, model.source.p)
    model.connect(core.n1, model.switch.p)
    model.connect(core.n2, diode.p)
    model.connect(diode.n, capacitor.p, model.load.p)
    model.connect(core.p2, capacitor.n, model.source.n)
    with pytest.raises(FlowInterruptedError, match=r"interrupts `core\.i1` = 1\.92 A") as caught:
        simulate(model, 1e-5)
    assert "`core.i2` would jump 0 -> " in caught.value.why


@pytest.mark.parametrize("reverse", [False, True])
def test_the_sign_of_the_flow_is_that_of_the_variable_named(reverse: bool) -> None:
    high, low = ("0", "a") if reverse else ("a", "0")
    model = circuit(
        ("source", ConstantVoltage(V=24.0), "a", "0"),
        ("switch", IdealOpeningSwitch(), high, "b"),
        ("inductor", Inductor(L=20e-3), "b", low),
        command=BooleanStep(startTime=1e-3),
    )
    model.connect(model.command.y, model.switch.control)
    current = "-1.2" if reverse else "1.2"
    with pytest.raises(FlowInterruptedError, match=f"interrupts `inductor.i` = {current} A"):
        simulate(model, 2e-3)


def test_a_switch_in_series_with_two_branches_names_their_sum() -> None:
    model = circuit(
        ("source", ConstantVoltage(V=24.0), "a", "0"),
        ("switch", IdealOpeningSwitch(), "a", "b"),
        ("one", Inductor(L=20e-3), "b", "0"),
        ("two", Inductor(L=40e-3), "b", "0"),
        command=BooleanStep(startTime=1e-3),
    )
    model.connect(model.command.y, model.switch.control)
    with pytest.raises(FlowInterruptedError, match=r" = -?1\.8 A"):
        simulate(model, 2e-3)


@pytest.mark.parametrize("run", [{"impulses": "allow"}, {}])
def test_an_allowed_interruption_books_flux_and_energy(run: dict[str, str]) -> None:
    switch = {} if run else {"interrupt": Impulse.ALLOW}
    result = simulate(coil(False, **switch), 2 * OPENING, **run)
    (event,) = (e for e in result.events if e.jumps)
    assert result["inductor.i"].final == 0.0
    (impulse,) = (amount for name, amount, _ in event.impulses if name == "switch.v")
    assert impulse == pytest.approx(20e-3 * CUT, rel=1e-13)
    assert event.lost == {"switch.closed": pytest.approx(0.5 * 20e-3 * CUT**2, rel=1e-13)}


@pytest.mark.parametrize(("current", "interrupted"), [(1e-12, False), (1e-3, True)])
def test_what_rounding_leaves_of_a_current_is_no_interruption(current: float, interrupted: bool) -> None:
    """A resonant half-wave, 0.17 A high, is cut when the given current is left of it."""
    L, C, V = 20e-3, 1e-6, 24.0
    w, peak = 1 / sqrt(L * C), V * sqrt(C / L)
    model = circuit(
        ("source", ConstantVoltage(V=V), "a", "0"),
        ("switch", IdealOpeningSwitch(), "a", "b"),
        ("inductor", Inductor(L=L), "b", "c"),
        ("capacitor", Capacitor(C=C), "c", "0"),
        command=BooleanStep(startTime=(pi - asin(current / peak)) / w),
    )
    model.connect(model.command.y, model.switch.control)
    if interrupted:
        with pytest.raises(FlowInterruptedError, match=f"{current:g} A"):
            simulate(model, 2e-3)
    else:
        result = simulate(model, 2e-3)
        assert result["inductor.i"].final == 0.0
        assert result["capacitor.v"].final == pytest.approx(2 * V, rel=1e-12)


def test_a_switch_that_opens_in_discontinuous_conduction_cuts_nothing() -> None:
    model = circuit(
        ("source", ConstantVoltage(V=24.0), "a", "0"),
        ("switch", IdealClosingSwitch(), "a", "b"),
        ("diode", IdealDiode(), "b", "c"),
        ("inductor", Inductor(L=20e-3), "c", "d"),
        ("capacitor", Capacitor(C=1e-6), "d", "0"),
        command=BooleanTable(table=(0.0, 1e-3)),
    )
    model.connect(model.command.y, model.switch.control)
    result = simulate(model, 2e-3)
    assert result["inductor.i"].final == 0.0
    assert result["capacitor.v"].final == pytest.approx(48.0, rel=1e-13)


def test_a_shorted_source_names_source_and_switch() -> None:
    model = circuit(
        ("supply", ConstantVoltage(V=24.0), "a", "0"),
        ("breaker", IdealClosingSwitch(), "a", "0"),
        ("load", Resistor(R=1.0), "a", "0"),
        ("auxiliary", ConstantVoltage(V=5.0), "b", "0"),
        ("lamp", Resistor(R=1.0), "b", "0"),
        command=BooleanStep(startTime=1e-3),
    )
    model.connect(model.command.y, model.breaker.control)
    with pytest.raises(ContradictorySourcesError) as caught:
        simulate(model, 2e-3)
    text = str(caught.value)
    assert "breaker" in text
    assert "supply" in text
    assert not any(name in text for name in ("auxiliary", "load", "lamp"))
    assert caught.value.result.t_end == 1e-3


def test_a_leg_that_shorts_a_source_names_source_and_both_switches() -> None:
    model = circuit(
        ("supply", ConstantVoltage(V=24.0), "a", "0"),
        ("upper", IdealClosingSwitch(control=True), "a", "b"),
        ("lower", IdealClosingSwitch(), "b", "0"),
        ("load", Resistor(R=1.0), "b", "0"),
        command=BooleanStep(startTime=1e-3),
    )
    model.connect(model.command.y, model.lower.control)
    with pytest.raises(ContradictorySourcesError) as caught:
        simulate(model, 2e-3)
    assert all(name in str(caught.value) for name in ("supply", "upper", "lower"))
