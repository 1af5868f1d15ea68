"""Signals: limits, values at any time, means, arithmetic, handles."""

from pathlib import Path

import numpy as np
import pytest

from acausal import Circuit, ParameterError, Result, Signal, UnknownPathError, der, simulate
from acausal.components.blocks import BooleanStep
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Ground,
    IdealClosingSwitch,
    Inductor,
    Resistor,
)
from tests.results.models import Buck, Discharge, sharing

TAU = 1e-3


@pytest.fixture(scope="module")
def discharge() -> tuple[Discharge, Result]:
    model = Discharge()
    return model, simulate(model, 5 * TAU)


@pytest.fixture(scope="module")
def shared() -> Result:
    return simulate(sharing(), 2e-3)


def test_values_follow_the_closed_form(discharge: tuple[Discharge, Result]) -> None:
    _, result = discharge
    v = result["capacitor.v"]
    np.testing.assert_allclose(v.values, 10 * np.exp(-v.t / TAU), rtol=1e-13)
    assert v.unit == "V"
    assert len(v) == len(result.t)
    assert v.final == pytest.approx(10 * np.exp(-5), rel=1e-13)


def test_the_derivative_has_its_own_unit(discharge: tuple[Discharge, Result]) -> None:
    _, result = discharge
    slope = result["der(capacitor.v)"]
    assert slope.unit == "V/s"
    np.testing.assert_allclose(slope.at([0.0, TAU]), [-1e4, -1e4 / np.e], rtol=1e-13)


def test_handles_are_resolved_by_identity(discharge: tuple[Discharge, Result]) -> None:
    model, result = discharge
    assert result[model.load.v].path == "load.v"
    assert result[model.load.p.i].path == "load.p.i"
    assert result[der(model.capacitor.v)].path == "der(capacitor.v)"
    with pytest.raises(UnknownPathError, match="no part of the compiled Discharge"):
        result[Discharge().load.v]


def test_an_unknown_path_names_the_nearest(discharge: tuple[Discharge, Result]) -> None:
    _, result = discharge
    with pytest.raises(UnknownPathError, match=r"`load\.w`(.|\n)*`load\.v`"):
        result["load.w"]
    with pytest.raises(UnknownPathError, match="no time derivative"):
        result["der(load.R)"]


def test_parameters_read_as_constants(discharge: tuple[Discharge, Result]) -> None:
    _, result = discharge
    assert set(result["load.R"].values) == {1e3}


def test_mean_and_rms_are_over_time(discharge: tuple[Discharge, Result]) -> None:
    _, result = discharge
    v = result["load.v"]
    assert v.mean(0.0, TAU) == pytest.approx(10 * (1 - np.exp(-1)), rel=1e-13)
    assert v.rms(0.0, TAU) == pytest.approx(10 * np.sqrt((1 - np.exp(-2)) / 2), rel=1e-13)
    with pytest.raises(ParameterError, match="window"):
        v.mean(TAU, 9.0)


def ringing() -> Circuit:
    """``i'' + 2 z i' + 1e9 i = 0`` with z = 500 / s: 10 V on 1 uF, through 1 mH and 1 Ohm."""
    c = Circuit()
    coil, capacitor = c.add("coil", Inductor(L=1e-3)), c.add("capacitor", Capacitor(C=1e-6, v=10.0))
    load, ground = c.add("load", Resistor(R=1.0)), c.add("ground", Ground())
    c.connect(coil.p, capacitor.p)
    c.connect(coil.n, load.p)
    c.connect(load.n, capacitor.n, ground.p)
    return c


def test_extreme_values_lie_between_the_points(tmp_path: Path) -> None:
    result = simulate(ringing(), 1e-2)
    i = result["coil.i"]
    z, w = 500.0, np.sqrt(1e9 - 500.0**2)
    tops = (np.arctan2(w, z) + np.pi * np.arange(6)) / w
    exact = 10.0 / (1e-3 * w) * np.exp(-z * tops) * np.sin(w * tops)
    assert i.max() == pytest.approx(exact[0], rel=1e-13)
    assert i.min() == pytest.approx(exact[1], rel=1e-13)
    assert i.ptp() == pytest.approx(exact[0] - exact[1], rel=1e-13)
    assert i.max(tops[1], tops[5]) == pytest.approx(exact[2], rel=1e-13)
    assert i.max(tops[0], tops[1]) == pytest.approx(exact[0], rel=1e-13)
    assert i.values.max() < i.max() * (1 - 1e-9)
    result.save(tmp_path / "ringing.npz")
    stored = Result.load(tmp_path / "ringing.npz")["coil.i"]
    assert stored.max() == i.max()


def test_extreme_values_count_both_limits_of_a_jump(shared: Result) -> None:
    a = shared["a.v"]
    assert a.max(0.5e-3, 1e-3) == pytest.approx(10.0, rel=1e-14)
    assert a.min(0.5e-3, 1.5e-3) == pytest.approx(2.5, rel=1e-14)
    assert shared["b.v"].ptp() == pytest.approx(2.5, rel=1e-14)
    assert shared["switch.closed"].max() is True
    assert shared["switch.closed"].max(0.0, 1e-3) is False


def test_extreme_values_of_a_constant_are_itself() -> None:
    v = simulate(Buck(), 1e-4)["source.v"]
    assert (v.min(), v.max(), v.ptp()) == (24.0, 24.0, 0.0)


def test_extreme_values_in_a_pulsed_circuit_bound_all_values() -> None:
    result = simulate(Buck(), 3e-4)
    for path in ("load.v", "inductor.i", "der(inductor.i)"):
        x, t = result[path], np.linspace(0.0, 3e-4, 60001)
        seen = np.concatenate([x.at(t), x.at(t, "left")[1:], x.values])
        assert x.max() >= seen.max()
        assert x.min() <= seen.min()
        assert x.max() == pytest.approx(seen.max(), rel=1e-5)
        assert x.min() == pytest.approx(seen.min(), rel=1e-5, abs=1e-12)


def test_a_window_may_exceed_the_run_by_rounding() -> None:
    v = simulate(Discharge(), 0.3 * TAU)["load.v"]
    beyond = float(np.nextafter(v.t[-1], np.inf))
    assert v.mean(-0.0, beyond) == v.mean()
    with pytest.raises(ParameterError, match="window"):
        v.mean(0.0, 0.3 * TAU * (1 + 1e-12))


def test_times_outside_the_run_are_refused(discharge: tuple[Discharge, Result]) -> None:
    _, result = discharge
    with pytest.raises(ParameterError, match="known from 0 to 0.005 s only"):
        result["load.v"].at(1.0)
    with pytest.raises(ParameterError, match="side"):
        result["load.v"].at(0.0, "both")


def test_signals_are_arrays(discharge: tuple[Discharge, Result]) -> None:
    _, result = discharge
    v, i = result["load.v"], result["load.i"]
    np.testing.assert_allclose(v * i, v.values**2 / 1e3, rtol=1e-13)
    np.testing.assert_allclose(2.0 - v, 2.0 - v.values)
    assert np.max(v) == v.values.max()
    assert np.mean(v) == v.values.mean()
    assert np.concatenate([v, i]).shape == (2 * len(v),)
    assert isinstance(np.sqrt(v * v), Signal)
    assert isinstance(v + np.ones(len(v)), np.ndarray)
    assert v[0] == 10.0


@pytest.mark.parametrize("loaded", [False, True])
def test_linear_combinations_are_signals(loaded: bool, tmp_path: Path) -> None:
    result = simulate(Buck(), 3e-4)
    if loaded:
        result.save(tmp_path / "buck.npz")
        result = Result.load(tmp_path / "buck.npz")
    v, one = result["inductor.p.v"] - result["inductor.n.v"], result["inductor.v"]
    window = (1.3e-4, 2.5e-4)
    assert isinstance(v, Signal)
    assert (v.path, v.unit) == ("inductor.p.v - inductor.n.v", "V")
    assert v.mean(*window) == pytest.approx(one.mean(*window), rel=1e-12)
    assert v.rms(*window) == pytest.approx(one.rms(*window), rel=1e-12)
    assert (v.min(*window), v.max(*window)) == pytest.approx((one.min(*window), one.max(*window)), rel=1e-12)
    np.testing.assert_allclose(v.harmonics(1e5, 9), one.harmonics(1e5, 9), rtol=0.0, atol=1e-11)
    for side in ("left", "right"):
        np.testing.assert_allclose(v.at([0.4e-5, 1e-4], side), one.at([0.4e-5, 1e-4], side), rtol=1e-12)
    np.testing.assert_allclose(v.values, one.values, atol=1e-12)


def test_combinations_have_names_and_units() -> None:
    result = simulate(Buck(), 1e-4)
    a, b, i = result["source.v"], result["load.v"], result["inductor.i"]
    mixed = 2.0 - (a - 3 * b) / 4
    assert mixed.path == "2 - (source.v - 3*load.v)/4"
    assert mixed.mean() == pytest.approx(2.0 - (a.mean() - 3 * b.mean()) / 4, rel=1e-13)
    assert mixed.at(5e-5) == pytest.approx(2.0 - (24.0 - 3 * b.at(5e-5)) / 4, rel=1e-14)
    assert (-(a - b)).path == "-(source.v - load.v)"
    assert (a + i).unit == ""
    assert (+a).path == "source.v"
    assert isinstance(a + result["diode.on"], Signal)
    with pytest.raises(ParameterError, match="different results"):
        _ = a + simulate(Buck(), 1e-4)["load.v"]


def test_both_limits_of_a_jump(shared: Result) -> None:
    b = shared["b.v"]
    assert b.at(1e-3, "left") == 0.0
    assert b.at(1e-3) == pytest.approx(2.5, rel=1e-14)
    np.testing.assert_allclose(b.values[b.t == 1e-3], [0.0, 2.5], rtol=1e-14)


def test_an_event_at_the_end_has_both_limits() -> None:
    result = simulate(sharing(), 1e-3)
    b = result["b.v"]
    assert b.at(1e-3, "left") == 0.0
    assert b.final == pytest.approx(2.5, rel=1e-14)
    assert b.values[-1] == b.final
    assert b.values[-2] == 0.0


@pytest.mark.filterwarnings("ignore:given starts contradict")
def test_the_left_limit_at_the_start_is_the_start_value() -> None:
    result = simulate(sharing(t_close=0.0), 1e-3)
    assert result["a.v"].at(0.0, "left") == 10.0
    assert result["a.v"].at(0.0) == pytest.approx(2.5, rel=1e-14)
    np.testing.assert_allclose(result["a.v"].values[:2], [10.0, 2.5], rtol=1e-14)
    assert list(result.t[:2]) == [0.0, 0.0]


def test_modes_and_discretes_keep_their_type(shared: Result) -> None:
    closed = shared["switch.closed"]
    assert closed.values.dtype == bool
    assert closed.at(0.5e-3) is False
    assert closed.at(1e-3) is True
    assert closed.at(1e-3, "left") is False
    assert closed.mean() == pytest.approx(0.5)


def test_a_floating_potential_is_flagged() -> None:
    c = Circuit()
    source, ground = c.add("source", ConstantVoltage(V=8.0)), c.add("ground", Ground())
    upper, lower = c.add("upper", IdealClosingSwitch(control=False)), c.add("lower", IdealClosingSwitch())
    step = c.add("step", BooleanStep(startTime=1e-3))
    c.connect(source.p, upper.p)
    c.connect(upper.n, lower.p)
    c.connect(source.n, lower.n, ground.p)
    c.connect(step.y, lower.control)
    result = simulate(c, 2e-3)
    before = (result.t < 1e-3) | (np.append(np.diff(result.t), 1.0) == 0.0)
    np.testing.assert_array_equal(result.undetermined("lower.v"), before)
    assert not result["source.v"].undetermined.any()
    assert result["lower.v"].at(0.5e-3) == pytest.approx(4.0)


def test_points_are_straight_to_a_thousandth() -> None:
    result = simulate(Buck(), 1e-3)
    t = np.random.default_rng(4).uniform(0.0, 1e-3, 3000)
    for path in ("inductor.i", "capacitor.v", "switch.v", "capacitor.i"):
        s = result[path]
        assert np.abs(np.interp(t, s.t, s.values) - s.at(t)).max() <= 1e-3 * np.ptp(s.values)
    assert len(result.t) < 12 * len(result.events)


def test_a_fast_transient_before_a_long_rest_is_resolved() -> None:
    result = simulate(Discharge(), 1e6 * TAU)
    v = result["capacitor.v"]
    t = np.geomspace(1e-8, 1e3, 500)
    assert np.abs(np.interp(t, v.t, v.values) - 10 * np.exp(-t / TAU)).max() <= 1e-2
    assert len(v.t) < 100


def test_a_given_grid_is_taken_as_it_is() -> None:
    result = simulate(sharing(), 2e-3, grid=0.5e-3)
    np.testing.assert_array_equal(result.t, [0.0, 0.5e-3, 1e-3, 1e-3, 1.5e-3, 2e-3])
    result = simulate(sharing(), 2e-3, grid=[0.3e-3, 1.7e-3])
    np.testing.assert_array_equal(result.t, [0.3e-3, 1e-3, 1e-3, 1.7e-3])
    with pytest.raises(ParameterError, match="grid"):
        simulate(sharing(), 2e-3, grid=-1.0)
    with pytest.raises(ParameterError, match="ascending"):
        simulate(sharing(), 2e-3, grid=[2.0, 1.0])


def test_saved_paths_are_the_default() -> None:
    model = Buck()
    result = simulate(model, 1e-4, save=["load.v", model.inductor.i])
    assert result.paths == ["load.v", "inductor.i"]
    assert list(result.table()) == ["time", "load.v", "inductor.i"]
    with pytest.raises(UnknownPathError, match="load.w"):
        simulate(model, 1e-4, save=["load.w"])
    with pytest.raises(ParameterError, match="list of paths"):
        simulate(model, 1e-4, save="load.v")


def test_mean_and_rms_over_many_segments_agree_with_those_of_their_parts() -> None:
    result = simulate(Buck(), 2e-4)
    i = result["inductor.i"]
    edges = np.unique([0.0, *(e.t for e in result.events), 2e-4])
    spans = np.diff(edges)
    parts = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
    means = np.array([i.mean(a, b) for a, b in parts])
    squares = np.array([i.rms(a, b) ** 2 for a, b in parts])
    assert i.mean() == pytest.approx(means @ spans / 2e-4, rel=1e-13)
    assert i.rms() == pytest.approx(np.sqrt(squares @ spans / 2e-4), rel=1e-13)
    slope = result["der(inductor.i)"]
    assert slope.mean() == pytest.approx((i.final - i.at(0.0)) / 2e-4, rel=1e-11)


def test_mean_of_a_decay_that_is_fast_against_the_run() -> None:
    result = simulate(Discharge(R=1e-3), 1.0)
    assert result["capacitor.v"].mean() == pytest.approx(10 * 1e-9, rel=1e-12)
    assert result["capacitor.v"].rms() == pytest.approx(10 * np.sqrt(0.5e-9), rel=1e-12)


def test_points_of_one_long_segment_follow_what_happens_between_its_ends() -> None:
    """A current that flows for a part of the span only is no constant: its range lies between the first points."""
    from acausal import Circuit, simulate
    from acausal.components.electrical import Capacitor, Diode, Ground, Resistor, SineVoltage

    c = Circuit()
    source, series = c.add("source", SineVoltage(V=10.0, f=50.0)), c.add("series", Resistor(R=1.0))
    diode, store = c.add("diode", Diode()), c.add("store", Capacitor(C=1e-3))
    load, ground = c.add("load", Resistor(R=100.0)), c.add("ground", Ground())
    c.connect(source.p, series.p)
    c.connect(series.n, diode.p)
    c.connect(diode.n, store.p, load.p)
    c.connect(source.n, store.n, load.n, ground.p)
    i = simulate(c, 0.02, save=["diode.i"])["diode.i"]
    assert 50 < len(i.t) < 500
    t = np.linspace(0.0, 0.02, 2001)
    straight = np.interp(t, i.t, i.values)
    assert np.max(np.abs(straight - i.at(t))) <= 1e-3 * np.ptp(i.values)


def test_mean_of_a_product_is_one_over_time() -> None:
    """Power of a resistor in series with a coil at a sine: from phasors, and at the begin its transient."""
    from acausal import Circuit, simulate
    from acausal.components.electrical import Ground, Inductor, Resistor, SineVoltage

    c = Circuit()
    source, load = c.add("source", SineVoltage(V=10.0, f=50.0)), c.add("load", Resistor(R=2.0))
    coil, ground = c.add("coil", Inductor(L=1e-3)), c.add("ground", Ground())
    c.connect(source.p, load.p)
    c.connect(load.n, coil.p)
    c.connect(coil.n, source.n, ground.p)
    result = simulate(c, 0.2)
    v, i = result["load.v"], result["load.i"]
    power = 0.5 * 2.0 * 100.0 / (4.0 + (2.0 * np.pi * 50.0 * 1e-3) ** 2)
    assert (v * i).mean(0.18, 0.2) == pytest.approx(power, rel=1e-12)
    assert (2.0 * i**2).mean(0.18, 0.2) == pytest.approx(power, rel=1e-12)
    assert (v * i).mean() == pytest.approx(result.energy("load") / 0.2, rel=1e-12)
    assert (v * i).unit == "V.A"


def test_circulating_flows_and_potentials_without_reference_are_flagged() -> None:
    c = Circuit()
    for name, part in (
        ("a", ConstantVoltage(V=1.0)),
        ("b", ConstantVoltage(V=1.0)),
        ("load", Resistor(R=0.5)),
    ):
        c.add(name, part)
    c.add("ground", Ground())
    c.connect(c.a.p, c.b.p, c.load.p)
    c.connect(c.a.n, c.b.n, c.load.n, c.ground.p)
    with pytest.warns(UserWarning, match="undetermined circulating flow"):
        result = simulate(c, 1.0)
    open_flows = {
        path for path in ("a.i", "b.i", "a.p.i", "b.n.i", "load.i", "a.v", "load.p.v") if marked(result, path)
    }
    assert open_flows == {"a.i", "b.i", "a.p.i", "b.n.i"}
    assert result["a.i"].final + result["b.i"].final == pytest.approx(-2.0, rel=1e-12)
    c = Circuit()
    c.add("store", Capacitor(C=1.0, v=1.0))
    c.add("load", Resistor(R=0.5))
    c.connect(c.store.p, c.load.p)
    c.connect(c.store.n, c.load.n)
    with pytest.warns(UserWarning, match="no reference in the island"):
        result = simulate(c, 1.0)
    assert marked(result, "store.p.v")
    assert marked(result, "load.n.v")
    assert not marked(result, "store.v")
    assert not marked(result, "load.i")
    assert (result["store.p.v"] - result["store.n.v"])[-1] == pytest.approx(np.exp(-2.0), rel=1e-12)


def marked(result: Result, path: str) -> bool:
    return bool(result[path].undetermined.all())
