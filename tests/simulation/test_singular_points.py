"""Rows that belong together, and rows that depend on each other, from their Jacobian."""

import numpy as np

from acausal.simulation.singular_points import Surroundings


def test_rows_are_coupled_through_shared_unknowns() -> None:
    J = np.array([[1.0, 0.0, 0.0, 0.0], [0.5, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]])
    near = Surroundings(np.array([7, 3, 5, 9]), J)
    assert near.coupled(3).tolist() == [3, 7]
    assert near.coupled(9).tolist() == [5, 9]


def test_the_combination_that_vanishes_names_its_rows() -> None:
    """The second and the fourth row are parallel but for 1e-9."""
    J = np.array(
        [[1.0, 0.0, 0.0, 0.2], [0.0, 1.0, 0.5, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.5 + 1e-9, 0.0]]
    )
    ratio, rows = Surroundings(np.array([4, 5, 6, 7]), J).dependent()
    assert ratio < 1e-8 and sorted(rows.tolist()) == [5, 7]


def test_rows_without_slope_and_surplus_rows_are_singular() -> None:
    near = Surroundings(np.array([2, 8]), np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert near.flat.tolist() == [8]
    ratio, rows = near.dependent()
    assert ratio == 0.0 and rows.tolist() == [8]
    ratio, rows = Surroundings(np.array([2, 8]), np.array([[1.0], [1.0]])).dependent()
    assert ratio == 0.0 and sorted(rows.tolist()) == [2, 8]
