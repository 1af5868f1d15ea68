"""Pivoting on one tableau: chains in which one element moves after the other, and random networks against the exact test."""

import numpy as np
import pytest

from acausal import Circuit, simulate
from acausal.components.translational import ConstantForce, Fixed, Friction, ImpactStop, Mass
from acausal.dynamics.noise import CERTAIN
from acausal.reduction.index_reduction import reduce_mode
from acausal.simulation.instants.tableau import BranchTableau, propose
from acausal.simulation.instants.transition import CandidateTest, Instant
from tests.simulation.random_families import Case
from tests.simulation.searched import searched
from tests.simulation.switched_networks import Network, build, complementarity, friction, random_network

ONE = np.ones(1)


def diodes(count: int) -> Case:
    """Every diode conducts only after the one before it."""
    network = Network()
    network.R(1, 0, 1.0, {0: 10.0})
    for k in range(1, count + 1):
        network.D(k, k + 1)
        network.R(k + 1, 0, 100.0 * count)
    model = network.model()
    return model, np.zeros(model.n), (0,) * count, (-1,) * count


def multiplier(count: int) -> Case:
    """A charged Cockcroft-Walton multiplier."""
    network, rng = Network(), np.random.default_rng(1)
    network.R(1, 0, 1.0, {0: 10.0})
    network.C(1, 2, 1e-6)
    network.D(0, 2)
    nodes = [0, 2]
    for k in range(3, count + 2):
        network.D(nodes[-1], k)
        network.C(k, nodes[-2], 1e-6)
        nodes.append(k)
    model = network.model()
    z = np.where(model.differentiated, rng.uniform(0.0, 2.0, model.n), 0.0)
    return model, z, (0,) * count, (-1,) * count


def carriages(count: int, breakaway: float = 2.0) -> Case:
    """Carriages that touch, at rest, each with friction; the first is pushed: they begin to move one after the other."""
    names, equations, elements, n = [], [], [], 4 * count
    for k in range(count):
        s, v, f, c = range(4 * k, 4 * k + 4)
        names += [f"{letter}{k}" for letter in "svfc"]
        balance = {"der": {v: 1.0}, f: 1.0, c: -1.0}
        if k == 0:
            balance["xi"] = {0: -10.0 * count}
        if k + 1 < count:
            balance[c + 4] = 1.0
        gap = {s: 1.0, s - 4: -1.0} if k else {s: 1.0, "xi": {0: 1.0}}
        equations += [{"der": {s: 1.0}, v: -1.0}, balance]
        elements.append(friction(f"friction{k}", n, 1, {v: 1.0}, {f: 1.0}, 2.0, breakaway))
        elements.append(complementarity(f"contact{k}", n, 1, gap, {c: 1.0}))
    model = build(names, equations, tuple(elements), [[0.0]], [1.0, 1.0, 5.0, 5.0] * count, [1.0], 1.0)
    return model, np.zeros(model.n), (0,) * (2 * count), (-1,) * (2 * count)


@pytest.mark.parametrize(
    ("case", "most"),
    [(diodes(200), 2), (multiplier(100), 3), (carriages(60), 2)],
    ids=["diodes", "multiplier", "carriages"],
)
def test_elements_that_move_one_after_the_other_take_two_analyses(case, most):
    """Diodes of the multiplier that close without being able to carry anything take one more, in which they stay open."""
    found, candidates, seconds = searched(case)
    assert seconds < 1.0
    assert candidates <= most
    assert sum(a != b for a, b in zip(found, case[2], strict=True)) >= 15


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize(("breakaway", "moves"), [(3.0, True), (9.9, True), (10.1, False), (100.0, False)])
def test_what_breaks_away_is_found_at_the_upper_level_and_slides_at_the_lower(breakaway, moves):
    """600 N push a row of 60 carriages, all of which have to move if one does."""
    found, candidates, seconds = searched(carriages(60, breakaway))
    assert seconds < 1.0
    assert candidates <= 3
    assert found[0::2] == (1,) * 60 if moves else not {1, 2} & set(found[0::2])


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("breakaway", [2.0, 3.0])
def test_a_row_of_carriages_with_friction_and_stops_starts_at_once(breakaway):
    """All 60 of 1 kg slide together: ``60 a = 600 - 60 * 2``."""
    row = Circuit()
    ground = row.add("ground", Fixed())
    push = row.add("push", ConstantForce(f_constant=600.0))
    before = push.flange
    for k in range(60):
        mass = row.add(f"mass{k}", Mass(m=1.0, s=float(k)))
        friction = row.add(f"friction{k}", Friction(f_coulomb=2.0, f_breakaway=breakaway))
        row.connect(ground.flange, friction.flange_a)
        row.connect(mass.flange_a, friction.flange_b)
        if k:
            stop = row.add(f"stop{k}", ImpactStop(s_rel0=1.0))
            row.connect(before, stop.flange_a)
            row.connect(stop.flange_b, mass.flange_a)
        else:
            row.connect(before, mass.flange_a)
        before = mass.flange_b
    result = simulate(row, 1e-3)
    assert result.stats.candidates <= 8
    for k in (0, 30, 59):
        assert result[f"mass{k}.v"].final == pytest.approx(8e-3, rel=1e-9)


def test_proposals_are_what_the_exact_test_confirms():
    confirmed = tried = 0
    for seed in range(30):
        rng = np.random.default_rng([seed, 7])
        model = random_network(rng, int(rng.integers(4, 24)))
        count = len(model.elements)
        z = np.where(model.differentiated, rng.uniform(-5, 5, model.n), 0.0)
        mode, forced = tuple(int(b) for b in rng.integers(0, 2, count)), (-1,) * count
        test, instant = (
            CandidateTest(model, lambda m, of=model: reduce_mode(of, m)),
            Instant(CERTAIN, z, ONE, forced),
        )
        verdict = test(mode, instant)
        if verdict.consistent:
            continue
        tried += 1
        tau = model.T0 if verdict.restart is None else min(model.T0, verdict.restart.data.tau)
        proposals = propose(BranchTableau(model, tau), instant, mode)
        confirmed += any(test(proposal, instant).consistent for proposal in proposals)
    assert tried >= 25
    assert confirmed >= 0.8 * tried
