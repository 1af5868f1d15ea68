"""Principal pivoting against the test of every mode; certificates; parts; sizes."""

import itertools
from functools import cache

import numpy as np
import pytest

from acausal.dynamics.noise import CERTAIN
from acausal.reduction.index_reduction import dependencies, reduce_mode
from acausal.reduction.parts import independent_parts
from acausal.simulation.instants.pivoting import cancelling_rows, free_branches, is_free
from acausal.simulation.instants.search import NoConsistentMode, Search
from acausal.simulation.instants.transition import CandidateTest, Instant, SearchStats
from tests.simulation.random_families import Case, hard_network, mechanism
from tests.simulation.searched import searched
from tests.simulation.switched_networks import Network, build, complementarity, friction

ONE = np.ones(1)


def search(case: Case):
    """Choice, or the failure, and the counters."""
    model, z, mode, forced = case
    made, stats = Search(model, CandidateTest(model, cache(lambda m: reduce_mode(model, m)))), SearchStats()
    try:
        return made.search(Instant(CERTAIN, z, ONE, forced), made.begin(mode, forced), stats), stats
    except NoConsistentMode as failure:
        return failure, stats


def any_mode(case: Case) -> bool:
    """Whether any mode at all passes the exact test."""
    model, z, present, forced = case
    test, instant = (
        CandidateTest(model, cache(lambda m: reduce_mode(model, m))),
        Instant(CERTAIN, z, ONE, forced),
    )
    choices = [
        free_branches(e) if is_free(e, f) else (b,)
        for e, f, b in zip(model.elements, forced, present, strict=True)
    ]
    return any(test(mode, instant).consistent for mode in itertools.product(*choices))


def combinations(case: Case) -> int:
    model, _, _, forced = case
    free = [len(free_branches(e)) for e, f in zip(model.elements, forced, strict=True) if is_free(e, f)]
    return int(np.prod(free))


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize(("family", "most"), [(hard_network, 22), (mechanism, 5)])
def test_random_cases_are_decided_and_refused_only_where_no_mode_exists(family, most):
    decided = checked = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, most])
        case = family(rng, int(rng.integers(2 if family is mechanism else 5, most)))
        found, stats = search(case)
        assert stats.candidates <= 20 + 5 * len(case[2])
        if not isinstance(found, NoConsistentMode):
            decided += 1
            continue
        assert found.complete
        if combinations(case) <= 600:
            checked += 1
            assert not any_mode(case)
    assert decided >= 40
    assert checked >= 2


def test_a_row_in_which_all_unknowns_cancel_names_who_can_give_way():
    network = Network()
    network.V(1, 0, {0: 5.0})
    network.D(1, 2)
    network.D(0, 2)
    network.D(0, 3)
    network.R(3, 0, 1.0)
    model = network.model()
    instant = Instant(CERTAIN, np.zeros(model.n), ONE, (-1, -1, -1))
    mode = (1, 1, 1)
    (row,) = cancelling_rows(model, mode, dependencies(model, mode, len(model.base)), instant)
    assert row.contradicts
    assert row.moves == ((1, 0),)
    assert row.elements == (0, 1)


def test_a_branch_that_reads_no_unknown_bounds_nothing():
    """The speed between the faces is prescribed: the equation of sticking is a condition on sources."""
    element = friction("f", 2, 1, {"xi": {0: 1.0}}, {1: 1.0}, 3.0, 3.0)
    model = build(["v", "f"], [{"der": {0: 1.0}, 1: 1.0}], (element,), [[0.0]], [1.0, 5.0], [1.0], 1.0)
    found, _ = search((model, np.zeros(2), (0,), (-1,)))
    assert found.restart.data.mode == (1,)


@pytest.mark.parametrize("others", [0, 3])
def test_a_certificate_names_its_elements(others):
    network = Network()
    for k in range(others):
        network.R(10 + k, 0, 1.0, {0: 1.0})
        network.D(10 + k, 0)
    network.V(1, 0, {0: 5.0})
    network.D(1, 2)
    network.D(2, 0)
    model = network.model()
    found, _ = search((model, np.zeros(model.n), (0,) * (others + 2), (-1,) * (others + 2)))
    assert isinstance(found, NoConsistentMode)
    assert found.complete
    assert found.elements == (others, others + 1)


@pytest.mark.parametrize(("pull", "possible"), [(0.9, True), (1.1, False)])
def test_a_massless_flange_is_refused_only_beyond_what_holds_it(pull, possible):
    """A flange without mass between a pull and a friction of breakaway 1 and sliding level 0.5."""
    element = friction("f", 3, 1, {1: 1.0}, {2: 1.0}, 0.5, 1.0)
    equations = [{"der": {0: 1.0}, 1: -1.0}, {2: 1.0, "xi": {0: -pull}}]
    model = build(["s", "v", "f"], equations, (element,), [[0.0]], [1.0, 1.0, 1.0], [1.0], 1.0)
    found, stats = search((model, np.zeros(3), (0,), (-1,)))
    assert isinstance(found, NoConsistentMode) is not possible
    assert stats.candidates <= 2


def carriages(count: int, pulls: tuple[float, ...], gap: float) -> Case:
    """Bodies at rest, unconnected, each with friction and a stop."""
    names = [f"{letter}{k}" for k in range(count) for letter in "svfn"]
    equations, elements = [], []
    for k in range(count):
        s, v, f, n = range(4 * k, 4 * k + 4)
        equations.append({"der": {s: 1.0}, v: -1.0})
        equations.append({"der": {v: 1.0}, f: 1.0, n: 1.0, "xi": {0: -pulls[k % len(pulls)]}})
        elements.append(friction(f"friction{k}", 4 * count, 1, {v: 1.0}, {f: 1.0}, 1.0, 1.5))
        elements.append(complementarity(f"stop{k}", 4 * count, 1, {s: -1.0, "xi": {0: gap}}, {n: 1.0}))
    model = build(names, equations, tuple(elements), [[0.0]], [1.0, 1.0, 5.0, 5.0] * count, [1.0], 1.0)
    return model, np.zeros(model.n), (0,) * (2 * count), (-1,) * (2 * count)


@pytest.mark.parametrize("gap", [0.0, 1.0])
def test_four_carriages_at_rest_each_with_friction_and_a_stop(gap):
    found, _ = search(carriages(4, (4.0, -4.0, 1.2, 0.0), gap))
    restart = found.restart
    rates = restart.data.T @ restart.data.Ay @ restart.y
    np.testing.assert_allclose(rates[1::4], [3.0 if gap else 0.0, -3.0, 0.0, 0.0], atol=1e-12)
    assert restart.data.mode[2:] == (2, 0, 0, 0, 0, 0)


def test_parts_share_no_unknown_and_all_elements_belong_to_one():
    model = carriages(5, (4.0,), 1.0)[0]
    parts = independent_parts(model)
    assert [part.elements for part in parts] == [(2 * k, 2 * k + 1) for k in range(5)]
    assert sorted(j for part in parts for j in part.columns.tolist()) == list(range(model.n))
    for part in parts:
        assert len(part.model.base) + 2 == part.model.n == 4


def independent(count: int) -> Case:
    network = Network()
    for k in range(count):
        network.R(k + 1, 0, 1.0 + k % 7, {0: 10.0 if k % 3 else -10.0})
        network.D(k + 1, 0)
    model = network.model()
    return model, np.zeros(model.n), (0,) * count, (-1,) * count


@pytest.mark.parametrize("case", [independent(200), carriages(60, (4.0, -4.0, 1.2), 1.0)])
def test_many_at_once_are_decided_in_under_a_second(case):
    """Besides two analyses of the whole mode, the first candidate and the last."""
    found, candidates, seconds = searched(case)
    assert found != case[2]
    assert seconds < 1.0
    assert candidates <= len(found) * 1.5 + 2
