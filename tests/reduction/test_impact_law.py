"""The law of impact, on arrays."""

import numpy as np
import pytest

from acausal.reduction.complementarity import NoComplementarySolution, solve_complementarity
from acausal.reduction.impact_law import MOST_ROUNDS, Impacts, collide
from tests.oracles.impacts import row_with_gaps, settle


def bodies(
    mass: list[float], G: np.ndarray, u: list[float], e: object, rest: float = 0.0
) -> tuple[np.ndarray, Impacts]:
    """Speeds of bodies after an instant in which contacts with the directions ``G`` touch."""
    m, start, G = np.array(mass, float), np.array(u, float), np.array(G, float)
    ratio = np.broadcast_to(np.array(e, float), len(G))
    found = collide(G / m @ G.T, G @ start, ratio, np.full(len(G), rest))
    after = start + G.T @ found.rounds.sum(axis=0) / m
    energies = (m * after**2).sum() / 2 - (m * start**2).sum() / 2
    assert found.energy == pytest.approx(energies, abs=1e-14 * (1 + len(found.rounds)) * (m * start**2).sum())
    assert (found.rounds >= 0.0).all()
    return after, found


def row(n: int) -> np.ndarray:
    return np.eye(n - 1, n, 1) - np.eye(n - 1, n)


@pytest.mark.parametrize("e", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("mass", [[1.0, 1.0], [1.0, 3.0], [1e-6, 1e6]])
def test_two_balls(mass: list[float], e: float) -> None:
    """Newton: the speed of the centre of mass stays, the relative one turns into -e times itself."""
    after, found = bodies(mass, row(2), [3.0, -1.0], e)
    m1, m2 = mass
    centre = (3.0 * m1 - m2) / (m1 + m2)
    assert after == pytest.approx(
        [centre - 4.0 * e * m2 / (m1 + m2), centre + 4.0 * e * m1 / (m1 + m2)], rel=1e-12
    )
    assert found.response == pytest.approx(-(1.0 + e) * m1 * m2 / (m1 + m2), rel=1e-12)


def test_a_ball_on_a_moving_wall() -> None:
    """The wall comes with 2 m/s and has no mass of its own in the problem: v+ = 2 + e (2 + 3)."""
    found = collide(np.array([[1 / 0.5]]), np.array([-3.0 - 2.0]), np.array([0.4]), np.zeros(1))
    assert found.v == pytest.approx([2.0], rel=1e-15)
    assert found.rounds == pytest.approx(np.array([[0.5 * 7.0]]), rel=1e-15)


@pytest.mark.parametrize("n", range(3, 8))
def test_newtons_cradle(n: int) -> None:
    for moving in range(1, n):
        after, found = bodies([2.0] * n, row(n), [1.5] * moving + [0.0] * (n - moving), 1.0)
        assert after == pytest.approx([0.0] * (n - moving) + [1.5] * moving, abs=1e-14)
        assert found.energy == pytest.approx(0.0, abs=1e-14)
        assert not found.plastic.any()


def test_three_balls_are_those_with_small_gaps_between_them() -> None:
    """With one contact at a time rounds are impacts of two balls; where several close together gaps would decide the order."""
    for mass in ([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [1.0, 20.0, 1.0], [5.0, 1.0, 5.0]):
        for e in (0.1, 0.4, 0.9, 1.0):
            u = [2.0, 0.0, 0.0]
            after, _ = bodies(mass, row(3), u, e, rest=1e-12)
            assert after == pytest.approx(row_with_gaps(np.array(mass), np.array(u), e), abs=1e-10)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_contacts_that_close_symmetrically_act_together(e: float) -> None:
    after, found = bodies([1.0, 4.0, 1.0], row(3), [2.0, 0.0, -2.0], e)
    assert after == pytest.approx([-2.0 * e, 0.0, 2.0 * e], abs=1e-14)
    assert len(found.rounds) == 1


def test_coefficients_belong_to_contacts() -> None:
    after, _ = bodies(
        [1.0, 2.0, 1.0, 3.0], np.array([[-1, 1, 0, 0], [0, 0, -1, 1.0]]), [1, 0, 1, 0], [0.2, 0.9]
    )
    assert after == pytest.approx([(1 - 0.4) / 3, 1.2 / 3, (1 - 2.7) / 4, 1.9 / 4], rel=1e-14)
    # Two coefficients on one body: the floor throws back with the larger one.
    after, _ = bodies([1.0], np.array([[1.0], [1.0]]), [-2.0], [0.3, 0.7])
    assert after == pytest.approx([1.4], rel=1e-14)


def test_bodies_that_meet_in_two_points_share_the_impulse() -> None:
    _, found = bodies([1.0], np.array([[1.0], [1.0]]), [-2.0], 0.5)
    assert found.rounds == pytest.approx(np.array([[1.5, 1.5]]), rel=1e-14)


def test_contacts_without_restitution_move_on_together() -> None:
    after, found = bodies([1.0] * 5, row(5), [1.0, 0, 0, 0, 0], 0.0)
    assert after == pytest.approx([0.2] * 5, rel=1e-13)
    assert len(found.rounds) == 1


def test_a_rigid_gear_between_the_bodies() -> None:
    """Two discs geared 1:2 move as one, x2 = 2 x1; the ball hits the second: effective mass 1 / (4 / (m1 + 4 m2))."""
    m1, m2, ball = 3.0, 0.5, 1.0
    geared = 4.0 / (m1 + 4.0 * m2)
    found = collide(np.array([[geared + 1.0 / ball]]), np.array([-2.0]), np.array([0.5]), np.zeros(1))
    assert found.rounds == pytest.approx(np.array([[3.0 / (geared + 1.0)]]), rel=1e-14)


def test_an_impact_of_a_rod_turns_it() -> None:
    """A free rod (m, L) falls flat with v and its end hits a step: p = (1 + e) v m / 4, w = 6 p / (m L)."""
    m, length, v, e = 2.0, 1.5, 3.0, 0.6
    inverse = 1 / m + (length / 2) ** 2 / (m * length**2 / 12)
    found = collide(np.array([[inverse]]), np.array([-v]), np.array([e]), np.zeros(1))
    assert found.rounds == pytest.approx(np.array([[(1 + e) * v * m / 4]]), rel=1e-14)
    # Both ends at once: no rotation, the whole mass on each of them together.
    arm = np.array([-length / 2, length / 2])
    W = 1 / m + np.outer(arm, arm) / (m * length**2 / 12)
    found = collide(W, np.array([-v, -v]), np.array([e, e]), np.zeros(2))
    assert found.rounds == pytest.approx(np.full((1, 2), (1 + e) * v * m / 2), rel=1e-13)


def test_a_light_ball_between_a_wall_and_a_heavy_one_counts_digits_of_pi() -> None:
    """Galperin 2003: with the ratio 100**k of the masses there are floor(pi 10**k) impacts."""
    G = np.array([[1.0, 0.0], [-1.0, 1.0]])
    for ratio, count in ((1.0, 3), (100.0, 31), (1e4, 314)):
        _, found = bodies([1.0, ratio], G, [0.0, -1.0], 1.0)
        assert np.count_nonzero(found.rounds) == count
        assert abs(found.energy) <= 1e-12 * ratio


def test_a_ball_that_fits_between_two_walls_comes_to_rest_after_a_bound() -> None:
    G = np.array([[1.0], [-1.0]])
    after, found = bodies([1.0], G, [1.0], 1.0)
    assert after == pytest.approx([0.0], abs=1e-15)
    assert found.plastic.all()
    assert len(found.rounds) == MOST_ROUNDS + 1
    after, found = bodies([1.0], G, [1.0], 0.5, rest=1e-6)
    assert abs(after[0]) <= 1e-6
    assert not found.plastic.any()


def test_a_slow_approach_is_no_impact() -> None:
    found = collide(np.eye(1), np.array([-1e-7]), np.ones(1), np.array([1e-6]))
    assert len(found.rounds) == 0
    assert found.v == [-1e-7]


def test_groups_do_not_wait_for_each_other() -> None:
    """A pair that is done after one round keeps its speeds while another group goes on."""
    G = np.zeros((4, 6))
    G[0, :2], G[1:, 2:] = [-1.0, 1.0], row(4)
    after, found = bodies([1.0] * 6, G, [1.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.5, 1.0, 1.0, 1.0])
    assert after == pytest.approx([0.25, 0.75, 0.0, 0.0, 0.0, 1.0], abs=1e-15)
    assert len(found.rounds) == 3


def test_random_bodies_agree_with_projections() -> None:
    rng = np.random.default_rng(1)
    for _ in range(150):
        n, c = int(rng.integers(1, 6)), int(rng.integers(1, 6))
        mass = 10.0 ** rng.uniform(-1, 1, n)
        G = rng.integers(-1, 2, (c, n)).astype(float)
        G[(G == 0).all(axis=1), 0] = 1.0
        u, e = rng.uniform(-1, 1, n), np.where(rng.random(c) < 0.3, 0.0, rng.uniform(0, 0.9, c))
        after, found = bodies(mass.tolist(), G, u.tolist(), e, rest=1e-6)
        assert found.energy <= 1e-14
        # The law is homogeneous: impulses are those of the speeds times what they change by.
        assert found.response @ G @ u == pytest.approx(found.rounds.sum(axis=0), abs=1e-5)
        assert (G @ after >= -1.1e-6).all()
        assert after == pytest.approx(settle(mass, G, u, e, 1e-6), abs=1e-5)


def test_complementarity() -> None:
    M = np.array([[2.0, 1.0], [1.0, 2.0]])
    assert solve_complementarity(M, np.array([1.0, 2.0])).tolist() == [0.0, 0.0]
    assert solve_complementarity(M, np.array([-3.0, 0.0])) == pytest.approx([1.5, 0.0], rel=1e-15)
    assert solve_complementarity(M, np.array([-3.0, -3.0])) == pytest.approx([1.0, 1.0], rel=1e-15)
    with pytest.raises(NoComplementarySolution) as info:
        solve_complementarity(np.zeros((1, 1)), np.array([-1.0]))
    assert info.value.ray.tolist() == [1.0]


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_the_ray_of_a_problem_without_solution_moves_nothing(unit: float) -> None:
    """Bodies between walls that close: all contacts of the row press, the one beside it does not."""
    G = np.array([[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]])
    M, q = G / (unit * np.array([1.0, 3.0, 7.0])) @ G.T, np.array([-2.0, 0.0, 0.0, -1.0])
    with pytest.raises(NoComplementarySolution) as info:
        solve_complementarity(M, q)
    ray = info.value.ray
    assert ray[:3] == pytest.approx(np.full(3, ray[0]), rel=1e-12)
    assert ray[0] > 0.0
    assert ray[3] == 0.0
    assert q @ ray < 0.0


def test_contacts_that_nothing_yields_to_are_told() -> None:
    """A ball is thrown between a wall that comes and one that stands, and beside it two balls collide."""
    G, mass = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 1.0]]), np.array([1.0, 1.0, 3.0])
    found = collide(G / mass @ G.T, np.array([-2.0, 0.0, -1.0]), np.array([0.5, 0.0, 1.0]), np.zeros(3))
    assert found.unyielding.tolist() == [True, True, False]
    assert found.v[2] == 1.0
    assert (G / mass @ G.T @ found.rounds[-1])[:2] == pytest.approx([0.0, 0.0], abs=1e-15)
    alone = collide(np.zeros((1, 1)), np.array([-2.0]), np.ones(1), np.zeros(1))
    assert alone.unyielding.all()
    assert len(alone.rounds) == 1
    assert not collide(np.eye(1), np.array([-2.0]), np.ones(1), np.zeros(1)).unyielding.any()


def test_no_round_follows_one_that_something_else_does_not_transmit() -> None:
    """Between two walls a ball is stopped by hundreds of rounds; what holds the second one lets go at the second of them."""
    W, v, e = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-2.0, 2.0]), np.array([0.9, 0.9])
    whole = collide(W, v, e, np.zeros(2))
    found = collide(W, v, e, np.zeros(2), lambda p: p[1] > 0.0)
    assert found.refused and not whole.refused
    assert len(whole.rounds) > 200
    np.testing.assert_array_equal(found.rounds, whole.rounds[:2])
    assert found.v == pytest.approx([-1.62, 1.62])
    assert not found.plastic.any()
