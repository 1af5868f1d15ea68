from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.oracles import dc_dc
from tests.oracles.dc_dc import Converter, ConverterRun, simulate, simulate_buck_with_leakage

NAMES = ("BUCK_CCM", "BUCK_DCM", "BOOST_CCM", "BOOST_DCM", "BUCK_BOOST_CCM", "BUCK_BOOST_DCM")


@cache
def run_of(name: str) -> ConverterRun:
    return simulate(getattr(dc_dc, name))


@pytest.mark.parametrize(("name", "ratio"), [("BUCK_CCM", 0.5), ("BOOST_CCM", 2.0), ("BUCK_BOOST_CCM", -1.0)])
def test_continuous_conduction_reaches_the_duty_ratio(name, ratio):
    assert run_of(name).mean_voltage == pytest.approx(24.0 * ratio, rel=3e-4)


def test_buck_inductor_carries_no_mean_voltage_in_periodic_operation():
    run = simulate(replace(dc_dc.BUCK_CCM, periods=3600))
    assert run.mean_voltage == pytest.approx(12.0, rel=1e-13)


@pytest.mark.parametrize("name", ["BUCK_DCM", "BOOST_DCM", "BUCK_BOOST_DCM"])
def test_discontinuous_conduction_matches_theory_without_ripple(name):
    c = getattr(dc_dc, name)
    K = 2 * c.L * c.f / c.R
    ratio = {
        "buck": 2 / (1 + np.sqrt(1 + 4 * K / c.duty**2)),
        "boost": (1 + np.sqrt(1 + 4 * c.duty**2 / K)) / 2,
        "buck-boost": -c.duty / np.sqrt(K),
    }[c.kind]
    assert run_of(name).mean_voltage == pytest.approx(24.0 * ratio, rel=2e-3)
    assert run_of(name).conduction_modes == ("idle", "off", "on")
    assert run_of(name).current == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_crests_bound_a_dense_sample_and_are_reached(name):
    run = run_of(name)
    states = np.abs(run.states(np.linspace(0, 1e-2, 4001)))
    assert np.all(states.max(axis=0) <= np.array([run.max_current, run.max_voltage]) * (1 + 1e-14))
    np.testing.assert_allclose(states.max(axis=0), [run.max_current, run.max_voltage], rtol=1e-2)


@pytest.mark.parametrize("name", NAMES)
def test_current_never_reverses_and_is_zero_at_every_blocking_instant(name):
    run = run_of(name)
    currents = run.states(run.dcm_instants)[:, 0]
    assert np.all(currents == 0.0)
    assert min(s.x[0] for s in run.segments) >= 0.0


def test_leakage_changes_the_buck_by_its_own_size_and_tends_to_the_ideal():
    ideal = run_of("BUCK_DCM")
    errors = []
    for Goff in (1e-7, 1e-9):
        run = simulate_buck_with_leakage(replace(dc_dc.BUCK_DCM, periods=40), Goff)
        errors.append(abs(run.voltage - ideal.states([40 / 1e5])[0, 1]))
    assert errors[0] / errors[1] == pytest.approx(100.0, rel=0.05)


def test_leaking_idle_buck_settles_at_the_quasi_steady_leakage_current():
    run = simulate_buck_with_leakage(replace(dc_dc.BUCK_DCM, periods=60), 1e-9)
    assert run.current == pytest.approx(1e-9 * (24.0 - 2 * run.voltage), rel=1e-6)


def test_extended_precision_confirms_the_double_precision_reference():
    converter = Converter("buck", 24.0, 0.5, 47e-6, 100e-6, 5.0, 100e3, 200)
    a, b = simulate(converter), simulate_buck_with_leakage(converter, 1e-18)
    np.testing.assert_allclose([a.current, a.voltage], [b.current, b.voltage], rtol=1e-12)
