"""Buck, boost and buck-boost converters over a thousand periods from rest, ideal and with leakage."""

from dataclasses import replace
from math import sqrt
from typing import NamedTuple

import numpy as np
import pytest
from scipy.linalg import expm

from acausal import Circuit, Result, connect, simulate
from acausal.components.blocks import PWM, Mean, RootMeanSquare, SampledPI
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    CoupledInductors,
    CurrentSensor,
    IdealClosingSwitch,
    IdealDiode,
    Inductor,
    PowerSensor,
    Resistor,
    VoltageSensor,
)
from tests.oracles import dc_dc
from tests.oracles.dc_dc import Converter, ConverterRun
from tests.systems.circuits import circuit, falls

CONVERTERS = {
    "buck": dc_dc.BUCK_CCM,
    "buck, light load": dc_dc.BUCK_DCM,
    "boost": dc_dc.BOOST_CCM,
    "boost, light load": dc_dc.BOOST_DCM,
    "buck-boost": dc_dc.BUCK_BOOST_CCM,
    "buck-boost, light load": dc_dc.BUCK_BOOST_DCM,
}
NODES = {
    "buck": {"switch": ("in", "x"), "diode": ("0", "x"), "inductor": ("x", "out")},
    "boost": {"inductor": ("in", "x"), "switch": ("x", "0"), "diode": ("x", "out")},
    "buck-boost": {"switch": ("in", "x"), "inductor": ("x", "0"), "diode": ("out", "x")},
}


def converter(c: Converter, Goff: float = 0.0) -> Circuit:
    parts = {
        "switch": IdealClosingSwitch(Goff=Goff),
        "diode": IdealDiode(Goff=Goff),
        "inductor": Inductor(L=c.L),
    }
    model = circuit(
        ("source", ConstantVoltage(V=c.Vin), "in", "0"),
        *((name, part, *NODES[c.kind][name]) for name, part in parts.items()),
        ("capacitor", Capacitor(C=c.C), "out", "0"),
        ("load", Resistor(R=c.R), "out", "0"),
        pwm=PWM(frequency=c.f, duty=c.duty),
    )
    model.connect(model.pwm.y, model.switch.control)
    return model


class Runs(NamedTuple):
    case: Converter
    exact: ConverterRun
    result: Result


@pytest.fixture(scope="module", params=CONVERTERS)
def ideal(request: pytest.FixtureRequest) -> Runs:
    case = CONVERTERS[request.param]
    return Runs(case, dc_dc.simulate(case), simulate(converter(case), case.periods / case.f))


def errors(exact: ConverterRun, result: Result) -> tuple[float, float]:
    """Errors of the final states relative to their maxima over the run."""
    return (
        abs(result["inductor.i"].final - exact.current) / exact.max_current,
        abs(result["capacitor.v"].final - exact.voltage) / exact.max_voltage,
    )


@pytest.mark.sweep(every=12)
def test_states_after_a_thousand_periods(ideal: Runs) -> None:
    assert max(errors(ideal.exact, ideal.result)) <= 1e-12


def test_states_on_the_way(ideal: Runs) -> None:
    times = np.linspace(0, ideal.case.periods / ideal.case.f, 500)
    exact = ideal.exact.states(times)
    assert np.abs(ideal.result["inductor.i"].at(times) - exact[:, 0]).max() <= 1e-11 * ideal.exact.max_current
    assert (
        np.abs(ideal.result["capacitor.v"].at(times) - exact[:, 1]).max() <= 1e-11 * ideal.exact.max_voltage
    )


@pytest.mark.sweep(every=4)
def test_the_diode_blocks_when_the_current_is_exhausted(ideal: Runs) -> None:
    blocked = falls(ideal.result, "diode.on")
    # Where the diode blocks because the switch closes, the current goes on.
    exhausted = blocked[np.asarray(ideal.result["inductor.i"].at(blocked)) == 0]
    instants = ideal.exact.dcm_instants[np.diff(ideal.exact.dcm_instants, prepend=-1) > 0.5 / ideal.case.f]
    resolution = 1e-13 / ideal.case.f + 4 * np.spacing(instants)
    assert len(exhausted) == len(instants)
    assert (np.abs(exhausted - instants) <= 1e3 * resolution).all()


def test_mean_of_the_last_period(ideal: Runs) -> None:
    case, exact, result = ideal
    T = 1 / case.f
    mean = result["capacitor.v"].mean(result.t_end - T, result.t_end)
    assert mean == pytest.approx(exact.mean_voltage, rel=1e-12)
    if case.R > 100:
        K, D = 2 * case.L / (case.R * T), case.duty
        ratio = {
            "buck": 2 / (1 + sqrt(1 + 4 * K / D**2)),
            "boost": (1 + sqrt(1 + 4 * D**2 / K)) / 2,
            "buck-boost": -D / sqrt(K),
        }[case.kind]
        assert mean == pytest.approx(ratio * case.Vin, rel=1e-3)


@pytest.mark.parametrize("case", [dc_dc.BUCK_CCM, dc_dc.BUCK_DCM])
def test_leakage_of_a_gigaohm_changes_the_digits_it_must(case: Converter) -> None:
    case = replace(case, periods=200)
    exact = dc_dc.simulate_buck_with_leakage(case, 1e-9)
    result = simulate(converter(case, Goff=1e-9), case.periods / case.f)
    assert max(errors(exact, result)) <= 1e-11


F = 100e3
L, C = 47e-6, 100e-6


@pytest.fixture(scope="module")
def controlled() -> Result:
    """Buck under a sampled controller, with instruments in its leads."""
    model = circuit(
        ("source", ConstantVoltage(V=24.0), "source", "0"),
        ("switch", IdealClosingSwitch(), "in", "x"),
        ("diode", IdealDiode(), "0", "x"),
        ("ammeter", CurrentSensor(), "x", "y"),
        ("inductor", Inductor(L=L), "y", "out"),
        ("capacitor", Capacitor(C=C), "out", "0"),
        ("voltmeter", VoltageSensor(), "out", "0"),
        ("load", Resistor(R=5.0), "load", "0"),
        pwm=PWM(frequency=F),
        controller=SampledPI(reference=9.6, kp=0.01, ki=50.0, period=1 / F, yMin=0.0, yMax=0.9),
        supplied=PowerSensor(),
        delivered=PowerSensor(),
        mean=Mean(period=1 / F),
        rms=RootMeanSquare(period=1 / F),
    )
    m = model
    model.connect(m.source.p, m.supplied.pc, m.supplied.pv)
    model.connect(m.supplied.nc, m.switch.p)
    model.connect(m.inductor.n, m.delivered.pc, m.delivered.pv)
    model.connect(m.delivered.nc, m.load.p)
    model.connect(m.source.n, m.supplied.nv, m.delivered.nv)
    model.state(
        connect(m.pwm.y, m.switch.control),
        connect(m.controller.y, m.pwm.duty),
        connect(m.voltmeter.v, m.controller.measurement),
        connect(m.supplied.power, m.mean.u),
        connect(m.ammeter.i, m.rms.u),
    )
    return simulate(model, 400 / F)


def test_instruments_and_controller_stay_on_the_exact_path(controlled: Result) -> None:
    assert {mode.path for mode in controlled.modes} == {"exact"}


def stored(result: Result, t: float) -> float:
    return 0.5 * L * result["inductor.i"].at(t) ** 2 + 0.5 * C * result["capacitor.v"].at(t) ** 2


@pytest.mark.parametrize("k", [0, 1, 17, 130, 398])
def test_power_balance_of_any_period(controlled: Result, k: int) -> None:
    start, stop = k / F, (k + 1) / F
    supplied = controlled["supplied.power"].mean(start, stop)
    delivered = controlled["delivered.power"].mean(start, stop)
    charging = (stored(controlled, stop) - stored(controlled, start)) * F
    assert abs(supplied - delivered - charging) <= 1e-12 * abs(supplied)


@pytest.mark.parametrize("k", [0, 17, 398])
def test_instruments_show_what_they_measured(controlled: Result, k: int) -> None:
    start, stop = k / F, (k + 1) / F
    assert controlled["mean.y"].at(stop) == pytest.approx(
        controlled["supplied.power"].mean(start, stop), rel=1e-12
    )
    assert controlled["rms.y"].at(stop) == pytest.approx(controlled["inductor.i"].rms(start, stop), rel=1e-12)


def test_the_controller_follows_its_difference_equation(controlled: Result) -> None:
    ticks = np.arange(1, 400) / F
    error = 9.6 - np.append(0.0, controlled["capacitor.v"].at(ticks))
    integral = 0.0
    expected = []
    for e in error:
        integral = min(max(integral + 50.0 / F * e, 0.0), 0.9)
        expected.append(min(max(0.01 * e + integral, 0.0), 0.9))
    between = (np.arange(400) + 0.5) / F
    np.testing.assert_allclose(controlled["controller.y"].at(between), expected, rtol=1e-12)
    # Controller and modulator share their ticks and act at once.
    np.testing.assert_allclose(controlled["pwm.held"].at(between), expected, rtol=1e-12)


def sepic_derivatives(mode: tuple[bool, bool], leakage: float) -> np.ndarray:
    """Generator over (i1, i2, v of the coupling capacitor, v out, 1) of the SEPIC below: its nodes solved for every state."""
    L, M, C, Co, R, E, V = 22e-6, 11e-6, 1e-6, 47e-6, 10.0, 0.05, 12.0
    switch, diode = mode
    # Unknown: both nodes, the currents of capacitor, switch and diode; right sides in rows of coefficients of the states.
    laws, given = np.zeros((5, 5)), np.zeros((5, 5))
    laws[0, [2, 3]], given[0, 0] = 1.0, 1.0  # i1 = ic + is
    laws[1, [2, 4]], given[1, 1] = [-1.0, 1.0], 1.0  # ic + i2 = id
    laws[2, :3], given[2, 2] = [1.0, -1.0, -E], 1.0
    laws[3, [0, 3]] = [1.0, 0.0] if switch else [leakage, -1.0]
    laws[4, [1, 4]] = [1.0, 0.0] if diode else [leakage, -1.0]
    given[4, 3] = 1.0 if diode else leakage
    found = np.linalg.solve(laws, given)
    A = np.zeros((5, 5))
    A[:2] = np.linalg.solve([[L, M], [M, L]], np.array([[0.0, 0.0, 0.0, 0.0, V], np.zeros(5)]) - found[:2])
    A[2], A[3] = found[2] / C, found[4] / Co
    A[3, 3] -= 1.0 / (R * Co)
    return A


@pytest.mark.parametrize("leakage", [1e-9, 1e-6, 1e-4])
def test_coupled_coils_of_a_leaking_sepic_run_empty(leakage: float) -> None:
    """Their common current dies within picoseconds through what leaks; the swing with the capacitor goes on."""
    c = circuit(
        ("v", ConstantVoltage(V=12.0), "in", "0"),
        ("s", IdealClosingSwitch(Goff=leakage), "drain", "0"),
        ("cs", Capacitor(C=1e-6, v=12.0), "drain", "coupled"),
        ("esr", Resistor(R=0.05), "coupled", "anode"),
        ("d", IdealDiode(Goff=leakage), "anode", "out"),
        ("co", Capacitor(C=47e-6), "out", "0"),
        ("r", Resistor(R=10.0), "out", "0"),
        x=CoupledInductors(L1=22e-6, L2=22e-6, k=0.5),
        p=PWM(frequency=250e3, duty=0.45),
    )
    c.connect(c.v.p, c.x.p1)
    c.connect(c.x.n1, c.s.p)
    c.connect(c.x.n2, c.d.p)
    c.connect(c.x.p2, c.v.n)
    c.connect(c.p.y, c.s.control)
    result = simulate(c, 2e-4)
    names = ("x.i1", "x.i2", "cs.v", "co.v")
    y = np.array([0.0, 0.0, 12.0, 0.0, 1.0])
    edges = [0.0, *(e.t for e in result.events if e.t > 0.0), 2e-4]
    empty, through = 0, leakage / (1.0 + 0.05 * leakage)
    for a, b in zip(edges[:-1], edges[1:], strict=True):
        middle = 0.5 * (a + b)
        mode = bool(result["s.closed"].at(middle)), bool(result["d.on"].at(middle))
        empty += mode == (False, False)
        y = expm(sepic_derivatives(mode, leakage) * (b - a)) @ y
        if "d.on" in next((e.modes for e in result.events if e.t == b and e.kind == "state"), ()):
            # What flows is what the switch lets through.
            assert y[0] + y[1] == pytest.approx(through * (y[2] + y[3] + 0.05 * y[0]), abs=1e-8)
    assert empty
    assert [result[name].final for name in names] == pytest.approx(y[:4], rel=1e-7)
