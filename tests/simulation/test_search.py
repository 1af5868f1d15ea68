"""The cascade on circuits, friction and tables of modes, checked by physics and by enumeration."""

import itertools
from functools import cache

import numpy as np
import pytest

from acausal.dynamics.noise import CERTAIN, Uncertainty
from acausal.reduction.affine import AffineModel, Branch, Element, Kind
from acausal.reduction.index_reduction import reduce_mode
from acausal.simulation.instants import search as bounds
from acausal.simulation.instants.hints import Hints
from acausal.simulation.instants.search import NoConsistentMode, Search
from acausal.simulation.instants.transition import (
    CandidateTest,
    Instant,
    SearchStats,
)
from tests.simulation.switched_networks import (
    HIGH,
    LINEAR,
    LOW,
    Network,
    bodies_above_each_other,
    build,
    feedback,
    friction_stack,
    random_network,
    rows,
)

ONE = np.ones(1)


def reduction(model):
    return cache(lambda mode: reduce_mode(model, mode))


def choose(model, z, present, forced=None, xi=ONE, **more):
    search, stats = searching(model), SearchStats()
    instant = Instant(more.pop("known", CERTAIN), z, xi, forced or (-1,) * len(present), **more)
    choice = search.search(instant, search.begin(present, instant.forced), stats)
    return choice.restart.data.mode, choice, stats


def searching(model):
    return Search(model, CandidateTest(model, reduction(model)))


def random_case(seed, K):
    rng = np.random.default_rng([K, seed])
    model = random_network(rng, K)
    z = np.where(model.differentiated, rng.uniform(-5, 5, model.n), 0.0)
    return model, z, tuple(int(k) for k in rng.integers(0, 2, K))


@pytest.mark.sweep(every=9)
@pytest.mark.parametrize("K", [4, 8, 16])
def test_random_networks_take_few_candidates(K):
    for seed in range(40):
        model, z, mode = random_case(seed, K)
        found, choice, stats = choose(model, z, mode)
        assert str(dict(choice.history)[found]) == "consistent"
        assert stats.candidates <= 3 * K


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize(("K", "seeds"), [(4, 10), (8, 1)])
def test_all_consistent_modes_have_the_same_flow(K, seeds):
    for seed in range(seeds):
        model, z, mode = random_case(seed, K)
        found, choice, _ = choose(model, z, mode)
        test, instant = CandidateTest(model, reduction(model)), Instant(CERTAIN, z, ONE, (-1,) * K)
        verdicts = [test(m, instant) for m in itertools.product((0, 1), repeat=K)]
        consistent = [(v.mode, v.restart) for v in verdicts if v.restart is not None and not v.violations]
        assert found in [mode for mode, _ in consistent]
        d = model.differentiated
        for _, restart in consistent:
            np.testing.assert_allclose(restart.z[d], choice.restart.z[d], rtol=0, atol=1e-9)
            rates = [(r.data.T @ r.data.Ay @ r.y)[d] for r in (restart, choice.restart)]
            np.testing.assert_allclose(*rates, rtol=1e-9, atol=1e-9 * np.abs(rates[0]).max())


def bridge():
    """Sine source, four ideal diodes, inductive load; source states are 1, sine, cosine."""
    w = 100 * np.pi
    network = Network(
        S=[[0, 0, 0], [0, 0, w], [0, -w, 0]], xi_scale=(1.0, 1.0, 1.0), T0=0.02, u0=325.0, i0=10.0
    )
    network.V(1, 0, {1: 325.0})
    for p, q in ((1, 2), (0, 2), (3, 1), (3, 0)):
        network.D(p, q)
    i = network.L(2, 4, 0.1)
    network.R(4, 3, 10.0)
    return network.model(), i


def test_bridge_with_inductive_load_reverses_its_pairs():
    model, i = bridge()
    z = np.zeros(model.n)
    z[i] = 5.0
    mode, choice, stats = choose(
        model, z, (1, 0, 0, 1), xi=np.array([1.0, 0.0, -1.0]), known=Uncertainty.at(0.01)
    )
    assert mode == (0, 1, 1, 0)
    assert stats.candidates <= 3
    assert choice.restart.z[i] == 5.0
    assert not choice.restart.jumped
    assert choose(model, z, (0, 1, 1, 0), xi=np.array([1.0, 0.0, 1.0]), known=Uncertainty.at(0.02))[0] == (
        1,
        0,
        0,
        1,
    )


def buck(thyristor=False):
    network = Network(T0=1e-5, u0=24.0, i0=5.0)
    network.V(1, 0, {0: 24.0})
    network.SW(1, 2)
    network.D(0, 2, can_disable=thyristor)
    i, u = network.L(2, 3, 1e-4), network.C(3, 0, 1e-5)
    network.R(3, 0, 5.0)
    model = network.model()
    z = np.zeros(model.n)
    z[i], z[u] = 2.0, 12.0
    return model, z, i


def test_switch_closing_onto_a_conducting_diode_turns_it_off():
    model, z, _ = buck()
    mode, choice, stats = choose(model, z, (0, 1), (1, -1))
    assert mode == (1, 0)
    assert stats.candidates == 2
    assert choice.history[0][0] == (1, 1)
    assert choice.history[0][1].refused.reason == "contradictory sources"
    assert choose(model, z, (1, 0), (0, -1))[0] == (0, 1)


def test_current_that_reaches_zero_stops():
    model, z, i = buck()
    z[i] = 0.0
    assert choose(model, z, (0, 1), (0, -1))[0] == (0, 0)


def test_disabled_element_begins_blocked_and_conducts_when_enabled():
    model, z, i = buck(thyristor=True)
    z[i] = 0.0
    assert choose(model, z, (0, 0), (0, 2))[0] == (0, 2)
    z[i] = 2.0
    mode, choice, _ = choose(model, z, (0, 2), (0, -1))
    assert mode == (0, 1)
    assert choice.history[0][0] == (0, 0)


def test_series_elements_turn_on_together():
    network = Network()
    network.R(1, 0, 2.0, {0: 10.0})
    network.D(1, 2)
    network.D(2, 3)
    network.D(3, 0)
    mode, choice, _ = choose(network.model(), np.zeros(6), (0, 0, 0))
    assert mode == (1, 1, 1)
    assert len(choice.history) == 2


def test_capacitors_through_an_element_share_their_charge():
    for forward in (True, False):
        network = Network()
        u, w = network.C(1, 0, 1e-6), network.C(2, 0, 3e-6)
        network.D(*((1, 2) if forward else (2, 1)))
        model = network.model()
        z = np.zeros(model.n)
        z[u] = 8.0
        mode, choice, _ = choose(model, z, (0,))
        assert mode == (int(forward),)
        assert choice.restart.jumped == forward
        np.testing.assert_allclose(
            choice.restart.z[[u, w]], [2.0, 2.0] if forward else [8.0, 0.0], rtol=1e-14
        )


@pytest.mark.parametrize("K", [1, 2, 4, 8])
@pytest.mark.parametrize("coincide", [False, True])
def test_friction_stacks_obey_coulomb(K, coincide):
    """Full force against every sliding motion, also one that just begins, and nowhere more than that."""
    for seed in range(6):
        model, z, mode = friction_stack(np.random.default_rng([K, seed]), K, coincide)
        found, choice, stats = choose(model, z, mode)
        assert stats.candidates <= 4 * K
        data = choice.restart.data
        rates = (data.T @ data.Ay @ choice.restart.y)[:K]
        for k, element in enumerate(model.elements):
            speed = element.branches[0].equations.A[0][:K] @ z[:K]
            slip = element.branches[0].equations.A[0][:K] @ rates
            force = element.blocked[0].A[0] @ choice.restart.z
            capacity = element.branches[2].equations.B[0, 0]
            assert abs(force) <= capacity * (1 + 1e-12)
            direction = np.sign(speed) if speed else np.sign(slip) * (abs(slip) > 1e-9)
            if direction:
                assert force == pytest.approx(direction * capacity, rel=1e-12)
                assert found[k] == {1: 1, -1: 2}[int(direction)]


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize(
    ("impedance", "time_unit"), [(1e6, 1.0), (1e-6, 1.0), (1.0, 1e3), (1.0, 1e-3), (1e6, 1e-3)]
)
def test_scaled_circuits_choose_the_same_modes(impedance, time_unit):
    def scaled(seed, impedance, time_unit):
        rng = np.random.default_rng(seed)
        network = Network(T0=1e-3 * time_unit, i0=10.0 / impedance)
        states = [
            network.C(1, 0, 2e-6 * time_unit / impedance),
            network.L(1, 2, 1e-3 * time_unit * impedance),
        ]
        units = [1.0, 1.0 / impedance]
        for k in range(2, 6):
            network.R(
                k,
                int(rng.integers(0, k)),
                2.0 ** rng.integers(-2, 8) * impedance,
                {0: np.round(rng.uniform(-10, 10))},
            )
        for _ in range(6):
            p, q = rng.choice(6, 2, replace=False)
            network.D(int(p), int(q))
        model = network.model()
        z = np.zeros(model.n)
        z[states] = rng.uniform(-5, 5, 2) * units
        return choose(model, z, tuple(int(k) for k in rng.integers(0, 2, 6)))[1].history

    for seed in range(8):
        reference = scaled(seed, 1.0, 1.0)
        assert [mode for mode, _ in scaled(seed, impedance, time_unit)] == [mode for mode, _ in reference]


@pytest.mark.parametrize(
    ("start", "u", "end"),
    [
        (HIGH, 7.4, HIGH),
        (HIGH, 7.5, LOW),
        (HIGH, 7.6, LOW),
        (LOW, -7.4, LOW),
        (LOW, -7.5, HIGH),
        (LINEAR, 9.0, LOW),
    ],
)
def test_schmitt_trigger_jumps_over_its_unstable_branch(start, u, end):
    model = feedback(1)
    rising = 1.0 if u > 0 else -1.0
    S = np.array([[0.0, 0.0], [rising, 0.0]])
    model = build(
        model.names, [{0: 1.0, 1: -0.5, "xi": {1: 1.0}}], model.elements, S, model.scale, model.xi_scale, 1.0
    )
    y = {LOW: -15.0, LINEAR: 2 * u, HIGH: 15.0}[start]
    mode, _, stats = choose(model, np.array([0.5 * y - u, y]), (start,), xi=np.array([1.0, u]))
    assert mode == (end,)
    assert stats.candidates <= 3


def test_network_without_a_mode_says_so():
    network = Network()
    network.V(1, 0, {0: 5.0})
    network.D(1, 0)
    with pytest.raises(NoConsistentMode) as caught:
        choose(network.model(), np.zeros(3), (0,))
    assert caught.value.complete
    verdicts = dict(caught.value.history)
    assert str(verdicts[0,]) == "violated: e0 (value)"
    assert verdicts[1,].refused.reason == "contradictory sources"


def test_culprits_are_named_when_they_are_asked_for(monkeypatch):
    """Of a candidate that another one follows nobody asks."""
    named, name = [], AffineModel.name_of_row
    monkeypatch.setattr(AffineModel, "name_of_row", lambda *row: named.append(row) or name(*row))
    model, z, _ = buck()
    mode, choice, _ = choose(model, z, (0, 1), (1, -1))
    assert mode == (1, 0) and not named
    assert str(choice.history[0][1]).startswith("contradictory sources: ")
    assert {"e0", "e1"} <= set(choice.history[0][1].refused.where) and named


def test_a_search_ends_at_its_bound(monkeypatch):
    monkeypatch.setattr(bounds, "most_modes", lambda model: 1)
    network = Network()
    network.V(1, 0, {0: 5.0})
    network.D(1, 0)
    model = network.model()
    with pytest.raises(NoConsistentMode) as caught:
        choose(model, np.zeros(3), (0,))
    assert not caught.value.complete
    assert caught.value.elements == (0,)


def falling_body():
    """Unknowns height, speed, force of a unit mass over the ground."""
    free, contact = rows(3, 1, {2: 1.0}), rows(3, 1, {0: 1.0})
    branches = (Branch("free", free, contact, (1,)), Branch("contact", contact, free, (0,)))
    element = Element("ground", Kind.IMPACT, branches, (contact, free), monotone=True)
    equations = [{"der": {0: 1.0}, 1: -1.0}, {"der": {1: 1.0}, 2: -1.0, "xi": {0: 9.81}}]
    return build(["s", "v", "f"], equations, (element,), [[0.0]], [1.0, 1.0, 10.0], [1.0], 1.0)


def test_closing_contact_stops_the_body_with_an_impulse():
    mode, choice, _ = choose(falling_body(), np.array([0.0, -2.0, 0.0]), (0,))
    assert mode == (1,)
    assert choice.restart.jumped
    np.testing.assert_allclose(choice.restart.z, [0.0, 0.0, 9.81], rtol=1e-14)
    np.testing.assert_allclose(choice.restart.J1[2], 2.0, rtol=1e-14)


def inelastic(masses, speeds):
    """Speeds of bodies above each other and the ground, in contact, after the inelastic impact: each contact in turn."""
    K = len(masses)
    contacts, after, p = np.eye(K) - np.eye(K, k=-1), speeds.copy(), np.zeros(K)
    for _ in range(2000):
        for contact, k in zip(contacts, range(K), strict=True):
            wanted = max(p[k] - contact @ after / (contact**2 @ (1.0 / masses)), 0.0)
            after, p[k] = after + contact / masses * (wanted - p[k]), wanted
    return after


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("K", [2, 3, 4])
def test_bodies_that_meet_while_the_instant_is_open_have_a_mode(K):
    """Some defects of their contacts are explained by what is open of the time, others not: all impulses are told by all of them.

    Those of the others alone pulled at a contact that all of them press together.
    """
    for seed in range(60):
        rng = np.random.default_rng([K, seed])
        model, z = bodies_above_each_other(rng, np.zeros(K))
        speeds, positions = np.arange(K) + K, np.arange(K)
        z[speeds] = 1e-8 * rng.uniform(-1, 1, K)
        shift = np.zeros(model.n + 1)
        shift[positions], shift[speeds] = 1e-8 * rng.uniform(-1, 1), 1e-8 * rng.uniform(-1, 1, K)
        still = np.zeros(model.n)
        known = Uncertainty(1e-16, np.full(model.n, 1e-16), lambda still=still: still, None, shift)
        restart = choose(model, z, tuple(rng.integers(0, 2, K).tolist()), known=known)[1].restart
        masses = model.base.E[1::2][positions, speeds]
        missed = np.abs(restart.z[speeds] - inelastic(masses, z[speeds]))
        assert missed.max() <= np.abs(shift[speeds]).sum()


@pytest.mark.parametrize(("speed", "end"), [(2.0, 0), (0.0, 1)])
def test_contact_opens_when_the_body_leaves(speed, end):
    assert choose(falling_body(), np.array([0.0, speed, 0.0]), (0,))[0] == (end,)


def conditional(outputs):
    """x' = outputs[0] while x <= 1, else outputs[1]."""
    none = rows(2, 1)
    branches = tuple(Branch(f"y={value}", rows(2, 1, {1: 1.0, "xi": {0: -value}}), none) for value in outputs)
    element = Element(
        "if",
        Kind.CONDITION,
        branches,
        (rows(2, 1, {1: 1.0}),) * 2,
        relations=rows(2, 1, {0: 1.0, "xi": {0: -1.0}}),
        select=lambda signs: int(signs[0] > 0),
    )
    return build(["x", "y"], [{"der": {0: 1.0}, 1: -1.0}], (element,), [[0.0]], [1.0, 1.0], [1.0], 1.0)


def test_condition_selects_its_branch():
    model = conditional((1.0, 2.0))
    assert choose(model, np.array([0.5, 0.0]), (1,))[0] == (0,)
    assert choose(model, np.array([1.0, 0.0]), (0,))[0] == (1,)


def test_of_two_consistent_branches_the_present_one_stays():
    model = conditional((-1.0, 1.0))
    for branch in (0, 1):
        assert choose(model, np.array([1.0, 0.0]), (branch,))[0] == (branch,)


def test_condition_that_denies_itself_has_no_mode():
    with pytest.raises(NoConsistentMode, match="no mode is consistent"):
        choose(conditional((1.0, -1.0)), np.array([1.0, 0.0]), (0,))


def table():
    """Branch 0 has two guards, -1 and -2, that lead to branches 1 and 2 without guards."""
    guards = rows(1, 1, {"xi": {0: -1.0}}, {"xi": {0: -2.0}})
    none, y = rows(1, 1), rows(1, 1, {0: 1.0})
    branches = (Branch("a", y, guards, (1, 2)), Branch("b", y, none), Branch("c", y, none))
    return build(["y"], [], (Element("table", Kind.MODES, branches, (y, y, y)),), [[0.0]], [1.0], [1.0], 1.0)


def test_ties_are_decided_in_written_order_and_disabled_guards_are_ignored():
    model = table()
    assert choose(model, np.zeros(1), (0,))[0] == (1,)
    assert choose(model, np.zeros(1), (0,), disabled_guards=((0, 0, 0),))[0] == (2,)
    assert choose(model, np.zeros(1), (0,), disabled_guards=frozenset({(0, 0, 0), (0, 0, 1)}))[0] == (0,)


def test_reinit_is_part_of_every_candidate():
    model, z, i = buck()
    mode, choice, _ = choose(model, z, (0, 0), (0, -1), reinits=((i, 3.0),))
    assert mode == (0, 1)
    assert choice.restart.z[i] == 3.0


def test_hints_save_the_search_and_change_no_answer():
    model, z, _ = buck()
    search, learnt = searching(model), Hints()
    on, off = (Instant(CERTAIN, z, ONE, forced) for forced in ((1, -1), (0, -1)))
    answers = [learnt.next_mode(search, (0, 1), on, (7,)) for _ in range(3)]
    assert [a.restart.data.mode for a in answers] == [(1, 0)] * 3
    assert (learnt.stats.searches, learnt.stats.hints, learnt.stats.candidates) == (3, 2, 2)
    z[0] = -1.0
    assert learnt.next_mode(search, (0, 1), off, (7,)).history


def test_a_cause_that_leads_to_one_mode_or_another_is_searched_once_for_each():
    model, z, i = buck()
    search, learnt = searching(model), Hints()
    found = []
    for current in (1.0, 0.0, 1.0, 0.0, 1.0):
        z[i] = current
        off = Instant(CERTAIN, z.copy(), ONE, (0, -1))
        found.append(learnt.next_mode(search, (1, 0), off, (7,)).restart.data.mode)
    assert found[0] != found[1]
    assert found == [found[0], found[1]] * 2 + [found[0]]
    assert (learnt.stats.searches, learnt.stats.hints) == (5, 3)
    relations = learnt.next_mode(search, (1, 0), off, (7,), (1.0,))
    assert relations.history  # Where relations differ it is another cause.


def test_hints_are_not_used_where_dynamics_are_not_unique():
    model = feedback(1)
    search, learnt = searching(model), Hints()
    instant = Instant(CERTAIN, np.array([-0.1, 15.0]), np.array([1.0, 7.6]), (-1,))
    for _ in range(2):
        assert learnt.next_mode(search, (HIGH,), instant).restart.data.mode == (LOW,)
    assert learnt.stats.hints == 0
    assert learnt.stats.candidates == 6
