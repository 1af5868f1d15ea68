"""Signs with known answers, and verdicts against a step of vanishing length in 200 digits."""

import itertools
from functools import cache

import numpy as np
import pytest

from acausal.dynamics.noise import CERTAIN, Uncertainty
from acausal.reduction.affine import Inadmissible, Kind
from acausal.reduction.index_reduction import reduce_mode
from acausal.simulation.instants.transition import (
    LEVELS,
    CandidateTest,
    Instant,
    SignTable,
    Verdict,
)
from tests.oracles.small_step import is_consistent
from tests.simulation.switched_networks import (
    bodies_above_each_other,
    build,
    friction_stack,
    random_network,
)

ONE = np.ones(1)
ZERO = LEVELS.index("zero")


def chain(order, T0=1.0):
    """x' of the last of a chain of integrators is zero; y is the chain itself and the constant 1."""
    equations = [{"der": {k: 1.0}, **({k + 1: -1.0} if k + 1 < order else {})} for k in range(order)]
    model = build([f"x{k}" for k in range(order)], equations, (), [[0.0]], [1.0] * order, [1.0], T0)
    return reduce_mode(model, ())


@pytest.mark.parametrize(
    ("y", "sign"),
    [
        ((1, -1, -1, -1), 1),
        ((0, -1, 1, 1), -1),
        ((0, 0, 1, -1), 1),
        ((0, 0, 0, -1), 0),
        ((0, 0, 0, 0), 0),
        ((1e-17, -1, 1, 0), 1),
        ((-1e-17, 0, 1e-17, 0), -1),
        ((1e-11, -1, 0, 0), 1),
    ],
)
def test_first_entry_above_noise_decides(y, sign):
    data = chain(4)
    form = np.array([[1.0, 0, 0, 0, 0]])
    assert SignTable(form, data, 1.0).signs(np.array([*y, 1.0]), CERTAIN)[0] == [sign]


@pytest.mark.parametrize(
    ("y", "found"),
    [
        ((0, 0, 0, -1), (-1, 4)),
        ((0, 0, 1, -1), (1, 3)),
        ((0, 0, 0, 0), (0, ZERO)),
        ((1e-13, 0, 0, -1), (1, 1)),
    ],
)
def test_the_third_derivative_decides_of_deep_forms_alone(
    y: tuple[float, ...], found: tuple[int, int]
) -> None:
    data, forms, y = chain(4), np.eye(2, 5), np.array([*y, 1.0])
    sign, level = SignTable(forms, data, 1.0, deep=[True, False]).signs(y, CERTAIN)
    assert (sign[0], level[0]) == found
    assert (sign[1], level[1]) == tuple(x[0] for x in SignTable(forms[1:], data, 1.0).signs(y, CERTAIN))


def test_crossing_located_to_the_last_bit_has_its_value_after_the_crossing():
    data = chain(2)
    t = 1e6
    y = np.array([-2 * np.spacing(t), 1.0, 1.0])
    table = SignTable(np.array([[1.0, 0, 0]]), data, 1.0)
    assert table.signs(y, Uncertainty.at(t)) == ([1], [2])
    assert table.signs(10 * y * [1, 0.1, 1], Uncertainty.at(t)) == ([-1], [1])


def test_impulse_overrules_value():
    data = chain(1)
    over_z = np.array([[1.0], [2.0], [0.0]])
    table = SignTable(np.hstack([over_z, np.zeros((3, 1))]), data, 1.0, over_z, ONE)
    assert table.signs(np.array([1.0, 1.0]), CERTAIN, np.array([-1e-3])) == ([-1, -1, 0], [0, 0, ZERO])
    assert table.signs(np.array([1.0, 1.0]), CERTAIN) == ([1, 1, 0], [1, 1, ZERO])


@pytest.mark.parametrize(
    ("y", "sign", "level"), [((1e-17, -1, 1), -1, 2), ((-1e-17, 0, 1e-17), 0, ZERO), ((3e-16, -1, 1), 1, 1)]
)
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("time", [1e-6, 1.0, 1e6])
def test_an_error_of_the_states_decides_what_is_zero_in_all_units(
    y: tuple[float, ...], sign: int, level: int, scale: float, time: float
) -> None:
    """What a value may be off by is told with the point; values without an error are exact, however small beside others."""
    data = chain(3, T0=time)
    units = scale / time ** np.arange(3)
    values, table = np.append(units * y, 1.0), SignTable(np.array([[1.0, 0, 0, 0]]), data, time)
    assert table.signs(values, Uncertainty(0.0, 1e-16 * units)) == ([sign], [level])
    assert table.signs(values, CERTAIN) == ([int(np.sign(y[0]))], [1])


def oracle(model, mode, z, xi):
    square = model.rows(mode)
    leak, guards = np.zeros_like(square.A), []
    i = len(model.base)
    for element, k in zip(model.elements, mode, strict=True):
        leak[i] = element.blocked[k].A[0] * (1.0 if element.kind is Kind.COMPLEMENTARITY else -1.0)
        i += 1
        guard = element.branches[k].guards
        guards.append(np.hstack([guard.A, guard.B]))
    guards = np.vstack(guards)
    size = np.max(np.abs(guards) * np.concatenate([model.scale, model.xi_scale]), axis=1)
    return is_consistent(square.E, square.A, square.B, model.S, leak, guards, z, xi, model.T0, size)


def consistent(verdict: Verdict) -> bool:
    return verdict.restart is not None and not verdict.violations


def verdicts(model, z, xi, modes, reinits=()):
    test = CandidateTest(model, cache(lambda mode: reduce_mode(model, mode)))
    instant = Instant(CERTAIN, z, xi, (-1,) * len(model.elements), reinits=reinits)
    return {mode: test(mode, instant) for mode in modes}


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("least", [1e-9, 2.0**-20, 0.25])
@pytest.mark.parametrize("seed", range(8))
def test_no_contact_closes_an_open_gap_at_once(seed, least):
    """Positions would jump: forces of second order pull there, however the speeds are. Touching contacts close as speeds say."""
    rng = np.random.default_rng(seed)
    model, z = bodies_above_each_other(rng, least * rng.integers(0, 3, 3))
    modes = list(itertools.product((0, 1), repeat=3))
    found = verdicts(model, z, ONE, modes)
    assert [consistent(found[mode]) for mode in modes] == [oracle(model, mode, z, ONE) for mode in modes]
    assert any(map(consistent, found.values()))


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("name", ["s2", "v0", "v1", "v2"])
@pytest.mark.parametrize("least", [1e-9, 0.25])
@pytest.mark.parametrize("seed", range(3))
def test_no_contact_closes_an_open_gap_where_a_value_is_put_in(seed, least, name):
    """An impulse from outside gives a body its speed or lifts it; others stay, and forces of second order as between them."""
    rng = np.random.default_rng(seed)
    model, z = bodies_above_each_other(rng, least * rng.integers(0, 3, 3))
    j = next(k for k in range(model.n) if model.names[k] == name)
    value = float(z[j] + rng.uniform(0.0, least)) if name == "s2" else float(rng.uniform(-1.0, 1.0))
    modes = list(itertools.product((0, 1), repeat=3))
    found = verdicts(model, z, ONE, modes, ((j, value),))
    z[j] = value
    open_ = np.diff(z[:3], prepend=0.0) > 0.0
    closed = [open_ & (np.array(mode) == 1) for mode in modes if consistent(found[mode])]
    assert closed
    assert not np.any(closed)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("seed", range(20))
def test_every_mode_of_random_diode_networks(seed):
    rng = np.random.default_rng(seed)
    model = random_network(rng, 4)
    z = np.where(model.differentiated, rng.uniform(-5, 5, model.n), 0.0)
    modes = list(itertools.product((0, 1), repeat=4))
    found = verdicts(model, z, ONE, modes)
    assert [consistent(found[mode]) for mode in modes] == [oracle(model, mode, z, ONE) for mode in modes]
    assert any(map(consistent, found.values()))


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("seed", range(10))
def test_every_mode_of_friction_stacks(seed):
    model, z, _ = friction_stack(np.random.default_rng(seed), 2, seed % 2)
    modes = list(itertools.product(range(3), repeat=4))
    found = verdicts(model, z, ONE, modes)
    assert {mode for mode in modes if consistent(found[mode])} == {
        mode for mode in modes if oracle(model, mode, z, ONE)
    }


def test_verdict_of_an_inadmissible_mode_gives_the_reason():
    def refuse(mode):
        raise Inadmissible("singular", lambda: ("x",))

    model, z, mode = friction_stack(np.random.default_rng(0), 1, False)
    verdict = CandidateTest(model, refuse)(mode, Instant(CERTAIN, z, ONE, (-1, -1)))
    assert not consistent(verdict)
    assert str(verdict.tried(model.elements)) == "singular: x"
