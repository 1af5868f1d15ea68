"""Rows that belong together, and rows that depend on each other, from their Jacobian, dense or sparse."""

import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array

from acausal.simulation.nonlinear.singular_points import SparseSurroundings, Surroundings, branches


def sparse(rows: np.ndarray, J: np.ndarray) -> SparseSurroundings:
    return SparseSurroundings(rows, csr_array(J))


KINDS = pytest.mark.parametrize("kind", [Surroundings, sparse])


@KINDS
def test_rows_are_coupled_through_shared_unknowns(kind: type[Surroundings]) -> None:
    J = np.array([[1.0, 0.0, 0.0, 0.0], [0.5, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]])
    near = kind(np.array([7, 3, 5, 9]), J)
    assert near.coupled(3).tolist() == [3, 7]
    assert near.coupled(9).tolist() == [5, 9]


@KINDS
def test_the_combination_that_vanishes_names_its_rows(kind: type[Surroundings]) -> None:
    """The second and the fourth row are parallel but for 1e-9."""
    J = np.array(
        [[1.0, 0.0, 0.0, 0.2], [0.0, 1.0, 0.5, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.5 + 1e-9, 0.0]]
    )
    ratio, rows = kind(np.array([4, 5, 6, 7]), J).dependent()
    assert ratio < 1e-8 and sorted(rows.tolist()) == [5, 7]


@KINDS
def test_rows_without_slope_and_surplus_rows_are_singular(kind: type[Surroundings]) -> None:
    near = kind(np.array([2, 8]), np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert near.flat.tolist() == [8]
    ratio, rows = near.dependent()
    assert ratio == 0.0 and rows.tolist() == [8]
    ratio, rows = kind(np.array([2, 8]), np.array([[1.0], [1.0]])).dependent()
    assert ratio == pytest.approx(0.0, abs=1e-15) and sorted(rows.tolist()) == [2, 8]


def test_affine_rows_take_part_without_a_name() -> None:
    J = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, -1.0]])
    near = sparse(np.array([4, -1, 6]), J)
    assert near.coupled(6).tolist() == [4, 6]
    ratio, rows = near.dependent()
    assert ratio < 1e-12 and rows.tolist() == [4, 6]


def test_a_long_chain_is_not_singular() -> None:
    """Its singular values are ``4 sin(k pi / (2 n + 2))**2``, so that their ratio is about ``(pi / (2 n))**2``."""
    n = 1000
    beside = diags_array(np.full(n - 1, -0.5), offsets=1)
    chain = diags_array(np.ones(n)) + beside + beside.T
    ratio, _ = SparseSurroundings(np.arange(n), csr_array(chain)).dependent()
    assert ratio > 0.5


def test_of_several_singular_parts_one_is_named() -> None:
    """Of equal pairs every second one is parallel but for 1e-9."""
    n = 200
    J, rows = np.zeros((2 * n, 2 * n)), np.arange(2 * n)
    for k in range(n):
        J[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = [[1.0, 1.0], [1.0, 1.0 + 1e-9 if k % 2 else -1.0]]
    ratio, found = sparse(rows, J).dependent()
    assert ratio < 1e-8
    assert len(found) == 2 and found[0] // 2 == found[1] // 2 and found[0] // 2 % 2 == 1


def crank(phi: float, s: float, w: float) -> tuple[np.ndarray, np.ndarray]:
    """Slopes of ``(s - cos(phi))**2 + sin(phi)**2 = b**2`` by ``phi`` and ``s``; driven at ``w``: by ``s``, and by time."""
    by_phi, by_s = 2 * s * np.sin(phi), 2 * (s - np.cos(phi))
    return (np.array([[by_s]]), np.array([w * by_phi])) if w else (np.array([[by_phi, by_s]]), np.zeros(1))


def parallelogram(phi: float, w: float) -> tuple[np.ndarray, np.ndarray]:
    """Slopes of how cranks of 1 at ``phi`` and a coupler of 3 close, by their angles; driven at ``w``: without the first."""
    c, s = np.cos(phi), np.sin(phi)
    by_angles = np.array([[-s, 0.0, s], [c, 3.0, -c]])
    return (by_angles[:, 1:], by_angles[:, 0] * w) if w else (by_angles, np.zeros(2))


def test_a_motion_branches_where_constraints_depend_on_each_other_and_time_does_not_matter() -> None:
    """Cranks and coupler of a parallelogram lie in one line at 0, free or driven."""
    for w in (0.0, 2.0):
        assert branches(*parallelogram(0.0, w))
        assert not branches(*parallelogram(0.5, w))


def test_a_drive_into_a_dead_centre_ends_the_motion() -> None:
    """A rod of ``b = 0.5`` on a crank of 1 stands upright at ``sin(phi) = 0.5``: the slide has no position beyond."""
    phi = np.arcsin(0.5)
    assert not branches(*crank(phi, np.cos(phi), 2.0))
    assert not branches(*crank(phi, np.cos(phi), 0.0))


def test_without_constraints_nothing_branches() -> None:
    assert not branches(np.zeros((0, 3)), np.zeros(0))
