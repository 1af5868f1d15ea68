"""Analysis of one mode against closed forms."""

import math
from dataclasses import replace

import numpy as np
import pytest

from acausal.reduction.affine import AffineModel, Inadmissible, Kind, ModeData
from acausal.reduction.columns import Begun
from acausal.reduction.index_reduction import reduce_mode
from tests.reduction.circuits import Builder, Circuit


def over(model: AffineModel, data: ModeData, name: str) -> np.ndarray:
    """Row of T of a variable."""
    return data.T[model.names.index(name)]


def state_names(model: AffineModel, data: ModeData) -> list[str]:
    return [model.names[j] for j in data.states]


def undetermined(model: AffineModel, data: ModeData) -> list[str]:
    return [name for name, free in zip(model.names, data.undetermined, strict=True) if free]


def test_series_rlc_is_exact() -> None:
    circuit = Circuit()
    circuit.V("v", "a", "0", {0: 5.0})
    circuit.R("r", "a", "b", 2.0)
    circuit.L("l", "b", "c", 0.5)
    circuit.C("c", "c", "0", 0.25)
    model = circuit.build()
    data = reduce_mode(model, ())
    assert (state_names(model, data), data.index, len(data.constraints)) == (["i.l", "u.c"], 1, 0)
    assert data.Ay.tolist() == [[-4.0, -2.0, 10.0], [4.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert over(model, data, "u.l").tolist() == [-2.0, -1.0, 5.0]
    assert over(model, data, "i.v").tolist() == [-1.0, 0.0, 0.0]
    assert not data.undetermined.any()
    assert data.tau == pytest.approx(1.0 / math.sqrt(8.0), rel=1e-14)


def test_an_ordinary_differential_equation_has_index_zero() -> None:
    builder = Builder()
    builder.var("x")
    builder.eq({"x": 3.0}, {"x": 1.0})
    data = reduce_mode(builder.build(), ())
    assert (data.index, data.Ay[0, 0]) == (0, -3.0)


def test_two_joined_capacitors_have_one_state() -> None:
    circuit = Circuit()
    circuit.C("c1", "a", "0", 1e-6)
    circuit.C("c2", "b", "0", 3e-6)
    circuit.R("r", "b", "0", 1e3)
    circuit.SW("s", "a", "b")
    model = circuit.build()
    open_, closed = reduce_mode(model, (0,)), reduce_mode(model, (1,))
    assert (len(open_.states), open_.index, len(closed.states), closed.index) == (2, 1, 1, 2)
    assert closed.Ay[0, 0] == pytest.approx(-1.0 / 4e-3, rel=1e-15)
    assert over(model, closed, "i.s")[0] == pytest.approx(1.0 / 4e3, rel=1e-15)


def begun_with(model: AffineModel, mode: tuple[int, ...], left: int) -> Begun:
    """The elimination of a mode without one of its rows."""
    return Begun.of(model, mode, np.delete(np.arange(len(model.rows(mode))), left))


def test_a_mode_follows_from_some_of_its_rows_and_then_the_others() -> None:
    circuit = Circuit()
    circuit.C("c1", "a", "0", 1e-6)
    circuit.C("c2", "b", "0", 3e-6)
    circuit.R("r", "b", "0", 1e3)
    circuit.SW("s", "a", "b")
    model = circuit.build()
    for mode in ((0,), (1,)):
        whole = reduce_mode(model, mode)
        for left in range(len(model.rows(mode))):
            data = reduce_mode(model, mode, begun_with(model, mode, left))
            assert (data.states.tolist(), data.index) == (whole.states.tolist(), whole.index)
            np.testing.assert_allclose(data.T, whole.T, rtol=1e-15, atol=0.0)
            np.testing.assert_allclose(data.Ay, whole.Ay, rtol=1e-15, atol=0.0)


def test_rows_of_another_mode_begin_nothing() -> None:
    circuit = Circuit()
    circuit.V("v", "a", "0", {0: 6.0})
    circuit.R("r", "a", "b", 2.0)
    circuit.L("l", "b", "0", 1e-3)
    circuit.SW("s", "b", "0")
    model = circuit.build()
    last = len(model.rows((0,))) - 1
    data = reduce_mode(model, (1,), Begun.of(model, (0,), np.array([0, last])))
    np.testing.assert_array_equal(data.T, reduce_mode(model, (1,)).T)


def test_a_row_that_says_nothing_new_is_named_however_an_analysis_begins() -> None:
    circuit = Circuit()
    circuit.V("v1", "a", "0", {0: 5.0})
    circuit.V("v2", "a", "0", {0: 4.0})
    circuit.R("r", "a", "0", 2.0)
    model = circuit.build()
    whole = reduce_mode(model, ())
    for left in range(len(model.rows(()))):
        data = reduce_mode(model, (), begun_with(model, (), left))
        np.testing.assert_array_equal(data.admissible, whole.admissible)
        assert data.culprits(np.ones(1, bool)) == whole.culprits(np.ones(1, bool))


def test_cut_set_of_inductors_has_one_state() -> None:
    circuit = Circuit()
    circuit.V("v", "a", "0", {0: 6.0})
    circuit.L("l1", "a", "b", 1e-3)
    circuit.L("l2", "b", "c", 2e-3)
    circuit.R("r", "c", "0", 10.0)
    circuit.SW("s", "b", "0")
    model = circuit.build()
    data = reduce_mode(model, (0,))
    assert (len(data.states), data.index) == (1, 2)
    np.testing.assert_allclose(data.Ay[0], [-10.0 / 3e-3, 6.0 / 3e-3], rtol=1e-15)
    np.testing.assert_allclose(over(model, data, "v.b"), [10.0 / 3.0, 4.0], rtol=1e-15)
    assert len(reduce_mode(model, (1,)).states) == 2


def test_capacitor_across_a_sine_source_differentiates_the_source() -> None:
    circuit = Circuit()
    k = circuit.sine(100.0)
    circuit.V("v", "a", "0", {k: 3.0})
    circuit.C("c", "a", "0", 2e-3)
    model = circuit.build()
    data = reduce_mode(model, ())
    assert (len(data.states), data.index) == (0, 2)
    assert over(model, data, "u.c").tolist() == [0.0, 3.0, 0.0]
    assert over(model, data, "i.c") == pytest.approx([0.0, 0.0, 2e-3 * 3.0 * 100.0], rel=1e-15)
    residual = data.constraints[0] @ np.concatenate([data.T @ [1.0, 0.3, 0.4], [1.0, 0.3, 0.4]])
    assert abs(residual) < 1e-16


def test_half_wave_rectifier_changes_its_number_of_states() -> None:
    circuit = Circuit()
    k = circuit.sine(314.0)
    circuit.V("v", "a", "0", {k: 10.0})
    circuit.D("d", "a", "b")
    circuit.R("r", "b", "c", 2.0)
    circuit.L("l", "c", "0", 1e-3)
    model = circuit.build()
    off, on = reduce_mode(model, (0,)), reduce_mode(model, (1,))
    assert (len(off.states), off.index, len(on.states), on.index) == (0, 2, 1, 1)
    # Off: the guard is minus the source; on: the flow itself, whose derivative is (v - R i) / L.
    assert off.Gy.tolist() == [[0.0, -10.0, 0.0]]
    assert on.Gy.tolist() == [[1.0, 0.0, 0.0, 0.0]]
    np.testing.assert_allclose((on.Gy @ on.Ay)[0], [-2e3, 0.0, 1e4, 0.0], rtol=1e-15)
    assert (off.guard_element.tolist(), off.guard_target.tolist()) == ([0], [1])


@pytest.mark.parametrize("magnetising", [True, False])
def test_fully_coupled_inductors_have_one_state(magnetising: bool) -> None:
    L1, L2, R1, R2 = 1e-3, 9e-3, 0.5, 7.0
    ratio = math.sqrt(L2 / L1)
    builder = Builder()
    for name in ("i1", "i2", "u1", "u2"):
        builder.var(name)
    builder.eq({"u1": 1.0, "i1": R1}, source={0: -10.0})
    builder.eq({"u2": 1.0, "i2": R2})
    if magnetising:
        builder.var("im")
        builder.eq({"im": 1.0, "i1": -1.0, "i2": -ratio})
        builder.eq({"u1": -1.0}, {"im": L1})
        builder.eq({"u2": -1.0}, {"im": ratio * L1})
    else:
        mutual = math.sqrt(L1 * L2)
        builder.eq({"u1": -1.0}, {"i1": L1, "i2": mutual})
        builder.eq({"u2": -1.0}, {"i1": mutual, "i2": L2})
    model = builder.build()
    data = reduce_mode(model, ())
    assert len(data.states) == 1
    u1, u2 = over(model, data, "u1"), over(model, data, "u2")
    np.testing.assert_allclose(u2, ratio * u1, rtol=1e-14)
    rate = -1.0 / (L1 * (1.0 / R1 + ratio**2 / R2))
    assert data.Ay[0, 0] == pytest.approx(rate, rel=1e-14)


def series_switches(count: int) -> AffineModel:
    circuit = Circuit()
    circuit.V("v", "n0", "0", {0: 9.0})
    for k in range(count):
        circuit.SW(f"s{k}", f"n{k}", f"n{k + 1}")
    circuit.R("r", f"n{count}", "0", 1.0)
    return circuit.build()


@pytest.mark.parametrize("count", [2, 3])
def test_open_switches_in_series_share(count: int) -> None:
    model = series_switches(count)
    data = reduce_mode(model, (0,) * count)
    for k in range(count):
        assert over(model, data, f"u.s{k}")[0] == pytest.approx(9.0 / count, rel=1e-15)
    assert undetermined(model, data) == [
        n for k in range(count) for n in (f"u.s{k}", f"v.n{k + 1}") if n != f"v.n{count}"
    ]


def test_open_switches_share_whatever_their_own_magnitudes() -> None:
    model = series_switches(3)
    units = np.array(["A" if name.startswith("i") else "V" for name in model.names])
    model = replace(model, units=units, scale=model.scale * (1.0 + np.arange(model.n)))
    data = reduce_mode(model, (0, 0, 0))
    for k in range(3):
        assert over(model, data, f"u.s{k}")[0] == pytest.approx(3.0, rel=1e-15)


def test_closed_switches_in_parallel_share() -> None:
    circuit = Circuit()
    circuit.V("v", "a", "0", {0: 10.0})
    circuit.SW("s1", "a", "b")
    circuit.SW("s2", "a", "b")
    circuit.R("r", "b", "0", 2.0)
    model = circuit.build()
    data = reduce_mode(model, (1, 1))
    assert [over(model, data, f"i.s{k}")[0] for k in (1, 2)] == [2.5, 2.5]
    assert undetermined(model, data) == ["i.s1", "i.s2"]
    assert data.admissible.shape == (0, 1)


def test_a_floating_island_floats_in_the_middle() -> None:
    circuit = Circuit()
    circuit.V("v", "a", "0", {0: 10.0})
    circuit.SW("s1", "a", "b")
    circuit.C("c", "b", "d", 1e-6)
    circuit.R("r", "b", "d", 1e3)
    circuit.SW("s2", "d", "0")
    model = circuit.build()
    data = reduce_mode(model, (0, 0))
    assert state_names(model, data) == ["u.c"]
    assert data.Ay[0, 0] == pytest.approx(-1e3, rel=1e-15)
    assert over(model, data, "u.s1").tolist() == [-0.5, 5.0]
    assert over(model, data, "u.s2").tolist() == [-0.5, 5.0]


def test_an_island_no_element_sees_is_least_norm_in_its_own_variables() -> None:
    builder = Builder()
    for name in ("a", "b", "x"):
        builder.var(name)
    builder.eq({"x": 1.0}, {"x": 1.0})
    builder.eq({"a": 1.0, "b": -1.0, "x": -2.0})
    builder.eq({"a": -2.0, "b": 2.0, "x": 4.0})
    model = builder.build()
    data = reduce_mode(model, ())
    assert over(model, data, "a").tolist() == [1.0, 0.0]
    assert over(model, data, "b").tolist() == [-1.0, 0.0]
    assert undetermined(model, data) == ["a", "b"]


def test_gigaohm_and_nanofarad() -> None:
    circuit = Circuit()
    circuit.V("v", "a", "0", {0: 1.0})
    circuit.SW("s", "a", "b")
    circuit.R("r", "b", "c", 1e9)
    circuit.C("c", "c", "0", 1e-9)
    circuit.R("load", "a", "0", 1e-3)
    model = circuit.build()
    for mode, rate in (((1,), -1.0), ((0,), 0.0)):
        data = reduce_mode(model, mode)
        assert state_names(model, data) == ["u.c"]
        assert data.Ay[0, 0] == pytest.approx(rate, rel=1e-15)
        assert not data.undetermined.any()


@pytest.mark.parametrize("G", [1e-5, 1e-9, 1e-12])
def test_leakage_is_not_an_open_circuit(G: float) -> None:
    V, L, C, R = 24.0, 1e-4, 1e-5, 5.0
    circuit = Circuit()
    circuit.V("v", "in", "0", {0: V})
    circuit.R("s", "in", "x", 1.0 / G)
    circuit.R("d", "0", "x", 1.0 / G)
    circuit.L("l", "x", "out", L)
    circuit.C("c", "out", "0", C)
    circuit.R("r", "out", "0", R)
    model = circuit.build()
    data = reduce_mode(model, ())
    assert state_names(model, data) == ["i.l", "u.c"]
    exact = [[-0.5 / G / L, -1.0 / L, V / 2.0 / L], [1.0 / C, -1.0 / (R * C), 0.0]]
    np.testing.assert_allclose(data.Ay[:2], exact, rtol=4e-15)


def test_rigidly_joined_masses_move_as_one() -> None:
    builder = Builder()
    for name in ("v1", "v2", "f"):
        builder.var(name)
    builder.eq({"f": 1.0}, {"v1": 2.0}, {0: -6.0})
    builder.eq({"f": -1.0}, {"v2": 1.0})
    builder.friction("clutch", {"v1": 1.0, "v2": -1.0}, "f", sliding=4.0, breakaway=5.0)
    model = builder.build()
    stick, slip = reduce_mode(model, (0,)), reduce_mode(model, (1,))
    assert (len(stick.states), stick.index, len(slip.states), slip.index) == (1, 2, 2, 1)
    assert stick.Ay[0].tolist() == [0.0, 2.0]
    assert over(model, stick, "f").tolist() == [0.0, 2.0]
    assert stick.Gy.tolist() == [[0.0, 3.0], [0.0, 7.0]]
    assert stick.guard_target.tolist() == [1, 2]
    assert slip.Ay[:2, 2].tolist() == [1.0, 4.0]


def shorted(source: str) -> AffineModel:
    circuit = Circuit()
    k = circuit.sine(314.0)
    circuit.V("v", "a", "0", {k if source == "sine" else 0: 10.0})
    circuit.R("r", "a", "0", 1.0)
    circuit.SW("s1", "a", "b")
    circuit.SW("s2", "b", "0")
    circuit.R("other", "c", "0", 1.0)
    circuit.V("w", "c", "0", {0: 1.0})
    return circuit.build()


def test_a_shorted_source_is_named() -> None:
    data = reduce_mode(shorted("constant"), (1, 1))
    assert data.admissible.tolist() == [[1.0, 0.0, 0.0]]
    names = data.culprits(np.ones(1, bool))
    assert {"s1", "s2", "law of v"} <= set(names)
    assert not {"law of w", "law of r", "law of other"} & set(names)


def test_a_shorted_sine_is_inadmissible_also_where_it_crosses_zero() -> None:
    data = reduce_mode(shorted("sine"), (1, 1))
    assert len(data.admissible) == 2
    assert np.abs(data.admissible @ [1.0, 0.0, 1.0]).max() == 1.0


def test_equal_sources_in_parallel_are_admissible() -> None:
    circuit = Circuit()
    k = circuit.sine(314.0)
    circuit.V("v", "a", "0", {k: 0.1})
    circuit.V("w", "a", "0", {k: 0.1})
    circuit.R("r", "a", "0", 1.0)
    data = reduce_mode(circuit.build(), ())
    assert len(data.admissible) == 0
    assert data.undetermined.sum() == 2


def test_an_undetermined_derivative_is_singular() -> None:
    builder = Builder()
    for name in ("x", "y"):
        builder.var(name)
    builder.eq({}, {"x": 1.0, "y": 1.0}, label="first")
    builder.eq({}, {"x": 2.0, "y": 2.0}, label="second")
    with pytest.raises(Inadmissible, match="singular") as error:
        reduce_mode(builder.build(), ())
    assert error.value.where == ("x", "y", "first", "second")


def test_contact_on_position_level_has_index_three() -> None:
    builder = Builder()
    for name in ("h", "v", "f"):
        builder.var(name)
    builder.eq({"v": -1.0}, {"h": 1.0})
    builder.eq({"f": -1.0}, {"v": 2.0}, {0: 19.62})
    builder.impact("floor", "h", "f", e=0.5)
    model = builder.build()
    free, contact = reduce_mode(model, (0,)), reduce_mode(model, (1,))
    assert (len(free.states), free.index, len(contact.states), contact.index) == (2, 1, 0, 3)
    assert over(model, contact, "f").tolist() == [19.62]
    assert [model.names[j] for j in contact.dependent] == ["h", "v"]


def test_a_guard_with_a_derivative_is_expressed_by_the_flow() -> None:
    builder = Builder()
    builder.var("x")
    builder.var("y")
    builder.eq({"x": 3.0}, {"x": 2.0}, {0: -4.0})
    rate = ({"x": 1.0}, {"x": 1.0}, {})
    builder.element("e", Kind.MODES, [([({"y": 1.0}, {}, {})], [(rate, 0)])], [[({"y": 1.0}, {}, {})]])
    data = reduce_mode(builder.build(), (0,))
    assert data.Gy.tolist() == [[-0.5, 2.0]]
    assert data.guards.tolist() == [[-0.5, 0.0, 2.0]]


def converter(impedance: float, span: float) -> AffineModel:
    circuit = Circuit(T0=1e-4 * span, u0=24.0, i0=24.0 / impedance)
    k = circuit.sine(2e4 / span)
    circuit.V("v", "in", "0", {0: 24.0, k: 3.0})
    circuit.L("lin", "in", "p", 3e-6 * impedance * span)
    circuit.SW("s", "p", "x")
    circuit.SW("s2", "x", "y")
    circuit.D("d", "0", "y")
    circuit.L("l", "y", "out", 1e-4 * impedance * span)
    circuit.C("c", "out", "0", 1e-5 / impedance * span)
    circuit.SW("s3", "out", "z")
    circuit.C("c3", "z", "0", 7e-6 / impedance * span)
    circuit.R("r", "out", "0", 5.0 * impedance)
    return circuit.build()


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("impedance", [1e-6, 1e6])
@pytest.mark.parametrize("span", [1e-3, 1e3])
def test_scaling_impedances_and_time_changes_nothing_but_scales(impedance: float, span: float) -> None:
    plain, scaled = converter(1.0, 1.0), converter(impedance, span)
    size = scaled.scale / plain.scale
    xi = np.array([1.0, 1.0, 1.0])
    for mode in np.ndindex(2, 2, 2, 2):
        a, b = reduce_mode(plain, mode), reduce_mode(scaled, mode)
        assert a.states.tolist() == b.states.tolist()
        assert (a.index, a.undetermined.tolist()) == (b.index, b.undetermined.tolist())
        assert (len(a.admissible), len(a.constraints)) == (len(b.admissible), len(b.constraints))
        y = np.concatenate([size[a.states], xi])
        terms = np.abs(a.T).max()
        np.testing.assert_allclose(b.T / size[:, None] * y, a.T, rtol=1e-13, atol=1e-13 * terms)
        np.testing.assert_allclose(b.Ay / y[:, None] * y * span, a.Ay, rtol=1e-13)
        np.testing.assert_allclose(b.tau / span, a.tau, rtol=1e-9)
        if not len(a.admissible):
            assert b.jump.shape == a.jump.shape


def ladder(sections: int) -> AffineModel:
    builder = Builder()
    for k in range(sections):
        for name in (f"i{k}", f"us{k}", f"uc{k}"):
            builder.var(name)
    for k in range(sections):
        before = {f"uc{k - 1}": -1.0} if k else {}
        after = {f"i{k + 1}": 1.0} if k + 1 < sections else {}
        mesh = {f"i{k}": 1.0, f"us{k}": 1.0, f"uc{k}": 1.0, **before}
        builder.eq(mesh, {f"i{k}": 1e-3}, {} if k else {0: -10.0})
        builder.eq({f"i{k}": -1.0, f"uc{k}": 0.02, **after}, {f"uc{k}": 1e-4})
        builder.switch(f"s{k}", f"us{k}", f"i{k}")
    return builder.build()


def test_ladder_of_a_hundred_sections() -> None:
    model = ladder(100)
    closed, open_ = (1,) * 100, (0,) * 100
    assert len(reduce_mode(model, closed).states) == 200
    data = reduce_mode(model, open_)
    assert (len(data.states), data.index) == (100, 2)
    np.testing.assert_allclose(np.diag(data.Ay[:100, :100]), -200.0, rtol=1e-15)
