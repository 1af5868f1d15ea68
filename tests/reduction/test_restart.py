"""Consistent restart: conserved quantities, impulses, reinitialisation."""

import math
from fractions import Fraction

import numpy as np
import pytest

from acausal.dynamics.noise import Uncertainty
from acausal.reduction.affine import AffineModel, Inadmissible
from acausal.reduction.index_reduction import reduce_mode
from acausal.simulation.instants.restart import LeftLimits, restart
from acausal.simulation.instants.transition import CandidateTest, Instant
from tests.reduction.circuits import Builder, Circuit, at, value

ONE = np.array([1.0])


def index(model: AffineModel, name: str) -> int:
    return model.names.index(name)


def consistent(model: AffineModel, mode: tuple[int, ...], **values: float) -> np.ndarray:
    return restart(model, LeftLimits(reduce_mode(model, mode), at(model, **values), ONE)).z


def two_capacitors() -> AffineModel:
    circuit = Circuit(u0=10.0)
    circuit.C("c1", "a", "0", 1e-6)
    circuit.C("c2", "b", "0", 3e-6)
    circuit.SW("s", "a", "b")
    return circuit.build()


def test_two_capacitors_share_their_charge() -> None:
    model = two_capacitors()
    left = consistent(model, (0,), u_c1=10.0)
    after = restart(model, LeftLimits(reduce_mode(model, (1,)), left, ONE))
    assert after.jumped
    for name in ("u.c1", "u.c2", "v.a", "v.b"):
        assert value(model, after.z, name) == pytest.approx(2.5, abs=1e-14)
    assert value(model, after.J1, "i.s") == pytest.approx(7.5e-6, rel=1e-14)
    assert value(model, after.J1, "i.c1") == pytest.approx(-7.5e-6, rel=1e-14)
    assert value(model, after.J1, "u.s") == 0.0


def test_equal_capacitors_are_joined_without_a_jump() -> None:
    model = two_capacitors()
    left = consistent(model, (0,), u_c1=10.0 / 3.0, u_c2=10.0 / 3.0)
    after = restart(model, LeftLimits(reduce_mode(model, (1,)), left, ONE))
    assert not after.jumped
    assert not after.J1.any()
    assert value(model, after.z, "u.c1") == value(model, after.z, "u.c2") == 10.0 / 3.0


@pytest.mark.parametrize(
    ("error", "moved", "largest"),
    [
        ((0.0, 0.0), (0.0, 0.0), 6e-13),
        ((4e-9, 3e-9), (0.0, 0.0), 7e-9),
        ((0.0, 0.0), (8e-9, 1e-9), 7e-9),
        ((0.0, 0.0), (1e-3, 1e-3), 6e-13),
    ],
)
def test_a_jump_within_what_is_uncertain_is_no_impulse_but_keeps_the_charge(
    error: tuple[float, float], moved: tuple[float, float], largest: float
) -> None:
    """The last digits always are; what moves both voltages alike makes their difference no less certain."""
    model = two_capacitors()
    closed, at_voltages = reduce_mode(model, (1,)), [index(model, "u.c1"), index(model, "u.c2")]
    rounding, way = np.zeros((2, model.n))
    rounding[at_voltages], way[at_voltages] = error, moved
    for part, jumped in ((0.2, False), (0.5, False), (2.5, True)):
        left = consistent(model, (0,), u_c1=10.0 + part * largest, u_c2=10.0)
        after = restart(model, LeftLimits(closed, left, ONE, Uncertainty(0.5, rounding, lambda: 2.0 * way)))
        assert (after.jumped, bool(after.J1.any())) == (jumped, jumped)
        first = left[index(model, "u.c1")]
        if first - 10.0 > 2e-13:
            assert after.y[0] == pytest.approx(0.25 * first + 7.5, abs=4e-15)
        else:  # The last digits stay as they are.
            assert after.y[0] == left[closed.states[0]]


@pytest.mark.parametrize("far", [1e-17, -1e-17, 1e-12, -1e-12])
@pytest.mark.parametrize("rounded", ["u.c1", "u.c2"])
def test_what_closing_removes_is_as_little_known_as_the_defect_was(far: float, rounded: str) -> None:
    """One voltage is zero and exact, the other is rounding. A diode at both has no sign from what they share."""
    circuit = Circuit(u0=10.0)
    circuit.C("c1", "a", "0", 1e-6)
    circuit.C("c2", "b", "0", 3e-6)
    circuit.SW("s", "a", "b")
    circuit.D("d", "a", "0")
    model = circuit.build()
    test, error = CandidateTest(model, lambda mode: reduce_mode(model, mode)), np.zeros(model.n)
    error[index(model, rounded)] = 2.0 * abs(far)
    known = Uncertainty(0.0, error, lambda: np.zeros(model.n))
    left = at(model)
    left[index(model, rounded)] = far
    found = test((1, 0), Instant(known, left, ONE, (-1, -1)))
    assert found.restart is not None
    assert not found.restart.jumped
    assert value(model, found.restart.z, "v.a") == pytest.approx(
        {"u.c1": 0.25, "u.c2": 0.75}[rounded] * far, rel=1e-12
    )
    assert found.consistent


def behind_a_source(far: float, first: str) -> AffineModel:
    """Two capacitors with a source between them, and a diode at the other one that another source bars at the same voltage."""
    circuit = Circuit(u0=1.0)
    for name in (first, "21".replace(first, "")):
        circuit.C(name, name, "0", {"1": 2e-6, "2": 3e-6}[name])
    circuit.V("between", "1", "2", {0: far})
    circuit.V("at", "3", "0", {0: far})
    circuit.D("d", "1", "3")
    return circuit.build()


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("far", [0.5, 1e3, 1e9])
@pytest.mark.parametrize("first", ["1", "2"])
@pytest.mark.parametrize("error", [0.0, 1e-10])
def test_what_a_sign_test_cannot_tell_from_zero_closes_without_an_impulse(
    far: float, first: str, error: float
) -> None:
    """The capacitor at the diode has ``far`` volts as it closes, the other one none: its own rounding says nothing of the gap."""
    model = behind_a_source(far, first)
    test = CandidateTest(model, lambda mode: reduce_mode(model, mode))
    known = Uncertainty(0.0, np.full(model.n, error * far), lambda: np.zeros(model.n))
    decided, jumped = [], []
    for gap in (0.0, *(far * 10.0**k for k in range(-18, 0))):
        left = consistent(model, (0,), u_1=far + gap, u_2=gap)
        decided.append(test((0,), Instant(known, left, ONE, (-1,))).violations == ((1, 0, 1),))
        closed = restart(model, LeftLimits(reduce_mode(model, (1,)), left, ONE, known))
        jumped.append(closed.jumped)
        assert abs(value(model, closed.z, "u.2")) <= 1e-15 * far or not gap
    assert all(sure or not sudden for sure, sudden in zip(decided, jumped, strict=True))
    assert decided == sorted(decided)
    assert jumped == sorted(jumped)
    assert (decided[0], jumped[-1]) == (False, True)


def test_the_threshold_of_a_jump_follows_the_values() -> None:
    model = two_capacitors()
    left = at(model, u_c1=1e9 * (1.0 + 1e-15), u_c2=1e9)
    assert not restart(model, LeftLimits(reduce_mode(model, (1,)), left, ONE)).jumped


def test_cut_set_of_inductors_conserves_its_flux() -> None:
    circuit = Circuit()
    circuit.V("v", "a", "0", {0: 6.0})
    circuit.L("l1", "a", "b", 1e-3)
    circuit.L("l2", "b", "c", 3e-3)
    circuit.R("r", "c", "0", 10.0)
    circuit.SW("s", "b", "0")
    model = circuit.build()
    left = consistent(model, (1,), i_l1=8.0, i_l2=0.0)
    after = restart(model, LeftLimits(reduce_mode(model, (0,)), left, ONE))
    for name in ("i.l1", "i.l2"):
        assert value(model, after.z, name) == pytest.approx(2.0, rel=1e-15)
    assert value(model, after.J1, "u.l1") == pytest.approx(-6e-3, rel=1e-15)
    assert value(model, after.J1, "u.s") == pytest.approx(6e-3, rel=1e-15)


def test_an_interrupted_inductor_hands_its_flux_to_the_switch() -> None:
    circuit = Circuit()
    circuit.V("v", "a", "0", {0: 6.0})
    circuit.L("l", "a", "b", 1e-3)
    circuit.SW("s", "b", "0")
    model = circuit.build()
    left = consistent(model, (1,), i_l=4.32)
    after = restart(model, LeftLimits(reduce_mode(model, (0,)), left, ONE))
    assert value(model, after.z, "i.l") == 0.0
    assert value(model, after.J1, "u.s") == pytest.approx(4.32e-3, rel=1e-15)


def test_parallel_switches_share_the_impulse() -> None:
    circuit = Circuit()
    circuit.C("c1", "a", "0", 1.0)
    circuit.C("c2", "b", "0", 1.0)
    circuit.SW("s1", "a", "b")
    circuit.SW("s2", "a", "b")
    model = circuit.build()
    left = consistent(model, (0, 0), u_c1=8.0)
    after = restart(model, LeftLimits(reduce_mode(model, (1, 1)), left, ONE))
    assert [value(model, after.J1, f"i.s{k}") for k in (1, 2)] == [2.0, 2.0]


def test_capacitor_follows_the_source_it_is_switched_to() -> None:
    circuit = Circuit()
    k = circuit.sine(100.0)
    circuit.V("v", "a", "0", {k: 3.0})
    circuit.SW("s", "a", "b")
    circuit.C("c", "b", "0", 2e-3)
    model = circuit.build()
    xi = np.array([1.0, 0.6, 0.8])
    left = restart(model, LeftLimits(reduce_mode(model, (0,)), at(model, u_c=-1.0), xi)).z
    after = restart(model, LeftLimits(reduce_mode(model, (1,)), left, xi))
    assert value(model, after.z, "u.c") == pytest.approx(1.8, rel=1e-15)
    assert value(model, after.z, "i.c") == pytest.approx(2e-3 * 3.0 * 80.0, rel=1e-15)
    assert value(model, after.J1, "i.s") == pytest.approx(2e-3 * 2.8, rel=1e-15)


def test_contradictory_sources_are_refused_by_name() -> None:
    circuit = Circuit()
    k = circuit.sine(314.0)
    circuit.V("v", "a", "0", {k: 10.0})
    circuit.SW("s", "a", "0")
    model = circuit.build()
    data = reduce_mode(model, (1,))
    with pytest.raises(Inadmissible, match=r"contradictory sources: .*s"):
        restart(model, LeftLimits(data, np.zeros(model.n), np.array([1.0, 0.0, 1.0])))
    assert not restart(model, LeftLimits(data, np.zeros(model.n), np.array([1.0, 0.0, 0.0]))).jumped


def joined(m1: float, m2: float, written: tuple[str, str] = ("w1", "w2")) -> AffineModel:
    builder = Builder()
    for name in (*written, "t"):
        builder.var(name, 10.0)
    builder.eq({"t": 1.0}, {"w1": m1})
    builder.eq({"t": -1.0}, {"w2": m2})
    builder.switch("lock", {"w1": 1.0, "w2": -1.0}, "t")
    return builder.build()


def test_a_dog_clutch_conserves_angular_momentum() -> None:
    model = joined(2.0, 1.0)
    after = restart(model, LeftLimits(reduce_mode(model, (1,)), at(model, w1=10.0, w2=1.0), ONE))
    assert after.z[:2].tolist() == [7.0, 7.0]
    assert after.J1[:2].tolist() == [0.0, 0.0]
    assert after.J1[2] == pytest.approx(6.0, rel=1e-15)


def test_reinit_moves_joined_masses_together() -> None:
    model = joined(2.0, 1.0)
    after = restart(model, LeftLimits(reduce_mode(model, (1,)), at(model, w1=4.0, w2=4.0), ONE), [(0, 5.0)])
    np.testing.assert_allclose(after.z[:2], 5.0, rtol=1e-15)
    assert after.jumped
    # The external impulse of 3 acts on the first mass; the clutch hands 1 on to the second.
    assert after.J1[2] == pytest.approx(1.0, rel=1e-14)


def test_reinit_of_two_joined_masses_must_agree() -> None:
    model = joined(2.0, 1.0)
    closed = reduce_mode(model, (1,))
    start = at(model, w1=4.0, w2=4.0)
    with pytest.raises(Inadmissible, match="reinit: w"):
        restart(model, LeftLimits(closed, start, ONE), [(0, 5.0), (1, 6.0)])
    np.testing.assert_allclose(
        restart(model, LeftLimits(closed, start, ONE), [(0, 5.0), (1, 5.0)]).z[:2], 5.0, rtol=1e-15
    )
    free = restart(model, LeftLimits(reduce_mode(model, (0,)), start, ONE), [(0, 5.0), (1, 6.0)])
    assert free.z[:2].tolist() == [5.0, 6.0]
    assert not free.J1.any()


def test_reinit_with_mutual_inductance_leaves_the_partner_alone() -> None:
    builder = Builder()
    for name in ("i1", "i2", "u1", "u2"):
        builder.var(name)
    builder.eq({"u1": -1.0}, {"i1": 1.0, "i2": 0.9})
    builder.eq({"u2": -1.0}, {"i1": 0.9, "i2": 1.0})
    builder.eq({"u1": 1.0, "i1": 1.0})
    builder.eq({"u2": 1.0, "i2": 1.0})
    model = builder.build()
    after = restart(model, LeftLimits(reduce_mode(model, ()), at(model, i1=1.0, i2=-2.0), ONE), [(0, 5.0)])
    assert after.z.tolist() == [5.0, -2.0, -5.0, 2.0]
    assert not after.J1.any()


def test_reinit_against_a_constraint_is_refused() -> None:
    circuit = Circuit()
    circuit.V("v", "a", "0", {0: 3.0})
    circuit.C("c", "a", "0", 1e-3)
    model = circuit.build()
    data = reduce_mode(model, ())
    with pytest.raises(Inadmissible, match=r"reinit: u\.c"):
        restart(model, LeftLimits(data, at(model, u_c=3.0), ONE), [(index(model, "u.c"), 1.0)])
    kept = restart(model, LeftLimits(data, at(model, u_c=3.0), ONE), [(index(model, "u.c"), 3.0)])
    assert not kept.jumped


def test_fully_coupled_inductors_hand_the_flux_over() -> None:
    L1, L2 = 1e-3, 9e-3
    ratio = math.sqrt(L2 / L1)
    circuit = Builder()
    for name in ("i1", "i2", "im", "u1", "u2", "us"):
        circuit.var(name)
    circuit.eq({"im": 1.0, "i1": -1.0, "i2": -ratio})
    circuit.eq({"u1": -1.0}, {"im": L1})
    circuit.eq({"u2": -1.0}, {"im": ratio * L1})
    circuit.eq({"u1": 1.0, "us": 1.0}, source={0: -10.0})
    circuit.eq({"u2": 1.0, "i2": 7.0})
    circuit.switch("s", "us", "i1")
    model = circuit.build()
    left = consistent(model, (1,), im=2.0)
    after = restart(model, LeftLimits(reduce_mode(model, (0,)), left, ONE))
    assert not after.jumped
    assert value(model, after.z, "im") == 2.0
    assert value(model, after.z, "i2") == pytest.approx(2.0 / ratio, rel=1e-15)


def test_a_hard_stop_projects_position_and_speed() -> None:
    builder = Builder()
    for name in ("h", "v", "f"):
        builder.var(name)
    builder.eq({"v": -1.0}, {"h": 1.0})
    builder.eq({"f": -1.0}, {"v": 2.0}, {0: 19.62})
    builder.impact("floor", "h", "f", e=0.0)
    model = builder.build()
    contact = reduce_mode(model, (1,))
    after = restart(model, LeftLimits(contact, at(model, h=0.0, v=-3.0), ONE))
    assert after.z.tolist() == [0.0, 0.0, 19.62]
    assert after.J1.tolist() == [0.0, 0.0, 6.0]
    pushed = restart(model, LeftLimits(contact, at(model, h=-1e-3, v=-3.0), ONE))
    assert pushed.z.tolist() == [0.0, 0.0, 19.62]
    assert pushed.J1[0] == 0.0
    assert pushed.J1[1] == pytest.approx(1e-3, rel=1e-15)


def network(seed: int) -> tuple[AffineModel, int]:
    """Random meshed network: a spanning tree of passive branches, then switches, inductors and capacitors."""
    random = np.random.default_rng(seed)
    circuit = Circuit()
    nodes = 6
    for k in range(1, nodes):
        kind = random.choice(["R", "L", "C"])
        getattr(circuit, kind)(f"{kind}t{k}", str(random.integers(k)), str(k), random.uniform(0.5, 2.0))
    switches = 4
    for k in range(8):
        a, b = (str(node) for node in random.choice(nodes, 2, replace=False))
        kind = random.choice(["R", "L", "C"])
        if k < switches:
            circuit.SW(f"s{k}", a, b)
        else:
            getattr(circuit, kind)(f"{kind}m{k}", a, b, random.uniform(0.5, 2.0))
    circuit.V("v", "0", "src", {0: random.uniform(1.0, 5.0)})
    circuit.R("rv", "src", "1", 1.0)
    return circuit.build(), switches


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("seed", range(25))
def test_random_networks_obey_their_equations_and_conserve(seed: int) -> None:
    model, switches = network(seed)
    random = np.random.default_rng(1000 + seed)
    for mode in random.integers(0, 2, (4, switches)).tolist():
        rows, data = model.rows(tuple(mode)), reduce_mode(model, tuple(mode))
        k = len(data.states)
        residual = rows.E @ data.T @ data.Ay + rows.A @ data.T
        residual[:, k:] += rows.B
        np.testing.assert_allclose(residual, 0.0, atol=1e-12 * (1.0 + np.abs(data.Ay).max()))
        left = np.where(model.differentiated, random.normal(size=model.n), 0.0)
        after = restart(model, LeftLimits(data, left, ONE))
        np.testing.assert_allclose(rows.E @ (after.z - left) + rows.A @ after.J1, 0.0, atol=1e-11)
        np.testing.assert_allclose(rows.E @ after.J1, 0.0, atol=1e-11)
        np.testing.assert_allclose(data.constraints @ np.concatenate([after.z, ONE]), 0.0, atol=1e-12)


@pytest.mark.parametrize("seed", range(25))
def test_random_networks_have_the_degree_of_their_pencil_as_number_of_states(seed: int) -> None:
    model, switches = network(seed)
    random = np.random.default_rng(2000 + seed)
    for mode in random.integers(0, 2, (4, switches)).tolist():
        rows, data = model.rows(tuple(mode)), reduce_mode(model, tuple(mode))
        if data.undetermined.any():
            continue
        # det(sE + A) winds around zero once per finite eigenvalue on a circle that holds them all.
        eigenvalues = np.linalg.eigvals(data.Ay[: len(data.states), : len(data.states)])
        radius = 4.0 * (1.0 + np.abs(eigenvalues).max(initial=0.0))
        circle = radius * np.exp(2j * np.pi * np.arange(256) / 256)
        phase = [np.linalg.slogdet(s * rows.E + rows.A)[0] for s in circle]
        turns = np.angle(np.roll(phase, -1) / phase).sum() / (2 * np.pi)
        assert round(turns) == len(data.states)


@pytest.mark.parametrize("written", [("w1", "w2"), ("w2", "w1")])
@pytest.mark.parametrize(("m", "w"), [((1e6, 1e-6), (0.0, 1e9)), ((1e-6, 1e6), (1e9, -3e-5))])
def test_a_light_part_that_a_heavy_one_takes_along(
    m: tuple[float, float], w: tuple[float, float], written: tuple[str, str]
) -> None:
    model = joined(*m, written)
    after = restart(model, LeftLimits(reduce_mode(model, (1,)), at(model, w1=w[0], w2=w[1]), ONE))
    M, W = [Fraction(x) for x in m], [Fraction(x) for x in w]
    exact = (M[0] * W[0] + M[1] * W[1]) / (M[0] + M[1])
    for name in ("w1", "w2"):
        assert value(model, after.z, name) == pytest.approx(float(exact), rel=1e-15)
    assert value(model, after.J1, "t") == pytest.approx(float(M[0] * (W[0] - exact)), rel=1e-15)


def test_states_after_a_jump_over_left_limits() -> None:
    """The same as by the defects of the constraints."""
    circuit = Circuit(u0=10.0)
    for k, C in enumerate((1e-6, 3e-6, 5e-6)):
        circuit.C(f"c{k}", f"n{k}", "0", C)
    circuit.SW("s1", "n0", "n1")
    circuit.SW("s2", "n1", "n2")
    model = circuit.build()
    data = reduce_mode(model, (1, 1))
    limits = LeftLimits(data, at(model, u_c0=2.0, u_c1=-3.0, u_c2=7.0), ONE)
    found = data.of_limits @ np.concatenate([limits.z_minus, ONE])
    k = len(data.states)
    moved = limits.z_minus[data.states] + data.jump @ limits.residual
    np.testing.assert_allclose(found[:k], moved, rtol=1e-14)
    np.testing.assert_allclose(found[k:], data.impulse @ limits.residual, rtol=1e-13, atol=1e-20)
