"""A long ladder: sizes after flattening and presolve from formulas, potentials from the modes of the chain."""

import numpy as np
import pytest

from acausal import simulate
from acausal.flattening.flatten import flatten
from acausal.reduction.reduced_model import reduce_model
from tests.systems.ladder import Ladder, exact_voltages


@pytest.mark.parametrize("n", [1, 7, 2000])
def test_sizes_of_a_ladder(n: int) -> None:
    flat = flatten(Ladder(n=n))
    # A one-port has v, i and two pins, a section three pins, the ground one; a pin has two variables.
    assert flat.nv == n * (6 + 6 + 6) + 6 + 2
    # A parameter per source and capacitor, three per resistor (two of its temperature), and two per section.
    assert flat.npar == 6 * n + 1
    # Components: sections with two parts each, source, ground, the ladder itself.
    assert sum(len(s) for s in flat.batches) == 3 * n + 3
    # Laws of resistors and capacitors have factors, all other equations are rows of integers.
    assert len(flat.ptr) - 1 == flat.nv - 2 * n
    reduced = reduce_model(flat)
    # One potential and one flow of every section stay, the capacitor voltages are differentiated.
    assert len(reduced.presolved.y) == 2 * n
    assert reduced.differentiated.sum() == n
    assert not len(reduced.presolved.pinned)
    assert not len(reduced.presolved.dependent)


def test_every_instance_of_a_class_shares_its_trace() -> None:
    batches = flatten(Ladder(n=300)).batches
    assert sorted(len(s) for s in batches) == [1, 1, 1, 300, 300, 300]


@pytest.mark.parametrize("t", [0.01, 0.1, 1.0])
def test_potentials_along_a_ladder(t: float) -> None:
    n = 60
    result = simulate(Ladder(n=n), t)
    found = [result[f"section[{k}].c.v"].final for k in range(n)]
    np.testing.assert_allclose(found, exact_voltages(n, t), rtol=0, atol=1e-12)
