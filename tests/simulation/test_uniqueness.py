"""Modes that exclude each other, against a linear program that looks for a point which suits both."""

from functools import cache, partial
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from acausal.dynamics.noise import CERTAIN
from acausal.reduction.affine import AffineModel, Mode
from acausal.reduction.index_reduction import reduce_mode
from acausal.simulation.instants.search import Search
from acausal.simulation.instants.tableau import BranchTableau
from acausal.simulation.instants.transition import CandidateTest, Instant, SearchStats
from acausal.simulation.instants.uniqueness import MOST_DIFFERENCES, exclude_each_other, is_alone
from tests.simulation.switched_networks import build, complementarity


def coupled(M: np.ndarray) -> AffineModel:
    """Elements 0 <= a, 0 <= b with a = q + M b, where q are sources."""
    m = len(M)
    rows, elements = [], []
    for k in range(m):
        rows.append({k: 1.0, **{m + j: -M[k, j] for j in range(m)}, "xi": {k: -1.0}})
        elements.append(complementarity(f"element{k}", 2 * m, m, {k: 1.0}, {m + k: 1.0}))
    names = [f"{letter}{k}" for letter in "ab" for k in range(m)]
    none = np.zeros(m)
    return build(names, rows, tuple(elements), np.zeros((m, m)), np.ones(2 * m), none + 1.0, 1.0)


def overlap(M: np.ndarray, mode: Mode, other: Mode) -> float:
    """Largest margin by which one q suits both modes: q = a - M b with a = 0 or b = 0 each."""
    m = len(M)
    cones = [np.where(np.array(branches) == 0, np.eye(m), -M) for branches in (mode, other)]
    equal = np.hstack([cones[0], -cones[1], np.zeros((m, 1))])
    room = np.hstack([-np.eye(2 * m), np.ones((2 * m, 1))])
    found = linprog(
        np.append(np.zeros(2 * m), -1.0), room, np.zeros(2 * m), equal, np.zeros(m),
        [(0.0, 1.0)] * (2 * m) + [(None, None)],
    )  # fmt: skip
    return -found.fun


@pytest.mark.parametrize("seed", range(8))
def test_no_point_suits_modes_that_exclude_each_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, excluded, overlapping = int(rng.integers(2, 4)), 0, 0
    for _ in range(4):
        M = rng.normal(size=(m, m)) + 0.5 * np.eye(m)
        tableau = BranchTableau(coupled(M), 1.0)
        for mode, other in product(product((0, 1), repeat=m), repeat=2):
            if mode == other:
                continue
            both = overlap(M, mode, other) > 1e-6
            if exclude_each_other(tableau, mode, other):
                assert not both, (M, mode, other)
                excluded += 1
            overlapping += both
    assert excluded and overlapping


@pytest.mark.parametrize("seed", range(4))
def test_modes_of_passive_networks_exclude_each_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    half, turning = rng.normal(size=(2, 5, 5))
    sizes = 10.0 ** rng.uniform(-4.0, 4.0, 5)
    M = sizes * (half @ half.T + turning - turning.T) * sizes[:, None]
    tableau = BranchTableau(coupled(M), 1.0)
    for other in product((0, 1), repeat=5):
        assert other == (1, 0, 1, 0, 0) or exclude_each_other(tableau, (1, 0, 1, 0, 0), other)


def test_one_that_carries_more_the_more_it_carries_excludes_nothing() -> None:
    assert not exclude_each_other(BranchTableau(coupled(np.array([[-1.0]])), 1.0), (0,), (1,))
    assert exclude_each_other(BranchTableau(coupled(np.array([[1.0]])), 1.0), (0,), (1,))


def test_where_too_many_elements_differ_nothing_is_known() -> None:
    m = MOST_DIFFERENCES + 1
    tableau = BranchTableau(coupled(np.eye(m)), 1.0)
    assert not exclude_each_other(tableau, (0,) * m, (1,) * m)
    assert exclude_each_other(tableau, (0,) * m, (1,) * (m - 1) + (0,))


@pytest.mark.parametrize("seed", range(8))
def test_where_a_mode_is_alone_no_other_one_suits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    alone = 0
    for _ in range(6):
        M = rng.normal(size=(3, 3)) + (1.0 + rng.uniform(0.0, 2.0)) * np.eye(3)
        tableau = BranchTableau(coupled(M), 1.0)
        found = {mode: is_alone(tableau, mode, range(3)) for mode in product((0, 1), repeat=3)}
        assert len(set(found.values())) == 1  # To be a P-matrix is kept by pivoting.
        if found[0, 0, 0]:
            alone += 1
            for mode, other in product(found, repeat=2):
                assert mode == other or overlap(M, mode, other) <= 1e-6
    assert alone


def test_what_may_share_a_flow_in_many_ways_is_not_alone() -> None:
    M = np.ones((2, 2))
    tableau = BranchTableau(coupled(M), 1.0)
    assert not is_alone(tableau, (1, 0), range(2))
    assert exclude_each_other(tableau, (1, 0), (0, 0))
    assert is_alone(tableau, (1, 0), [0])


HARD = np.array(
    [
        [2.404, 2.502, 1.901, 1.307, 1.902, 1.002],
        [0.204, 2.603, 1.600, 0.307, 0.606, 2.908],
        [2.405, 0.605, 1.308, 1.000, 2.607, 2.402],
        [0.806, 0.407, 2.801, 1.103, 0.203, 1.908],
        [2.608, 1.003, 2.000, 2.508, 2.006, 0.905],
        [2.304, 1.802, 0.506, 1.104, 2.807, 0.407],
    ]
)
"""Each carries more where the others do: pivoting comes back to where it was."""


def test_few_elements_are_tried_in_all_branches() -> None:
    """From a mode that suited before the one is found that suits alone: the fifth element carries 2.797 / 2.006."""
    model, q = coupled(HARD), np.array([-0.197, -0.797, 0.803, 2.703, -2.797, 0.903])
    search = Search(model, CandidateTest(model, cache(partial(reduce_mode, model))))
    instant = Instant(CERTAIN, np.zeros(12), q, (-1,) * 6)
    found = search.search(instant, (0, 1, 0, 1, 0, 1), SearchStats())
    assert found.restart.data.mode == (0, 0, 0, 0, 1, 0)
