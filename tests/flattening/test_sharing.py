"""A class with equal structural values is traced once; instances are rows of index arrays."""

import numpy as np
import pytest

from acausal import Circuit, Component, Eq, Parameter, Structural, Variable, der, simulate
from acausal.flattening import flatten


class Counting(Component):
    """Counts how often it is traced."""

    order: Structural[int] = Structural(int, default=1)
    k: Parameter = Parameter(default=1.0)
    x: Variable = Variable(start=1.0)
    traces = 0

    def equations(self):
        type(self).traces += 1
        yield Eq(der(self.x), -self.order * self.k * self.x)


def traced(model: Component) -> int:
    before = Counting.traces
    flatten(model)
    return Counting.traces - before


def test_a_thousand_instances_are_one_trace() -> None:
    class Many(Component):
        def build(self) -> None:
            self.cells = [Counting(k=float(k)) for k in range(1000)]

    model = Many()
    assert traced(model) == 1
    flat = flatten(model)
    assert (len(flat.batches), flat.nv, flat.npar) == (2, 1000, 1000)
    assert np.array_equal(flat.batches[1].vb, np.arange(1000))
    assert flat.variable(999) == "cells[999].x"


def test_other_structural_values_are_another_trace() -> None:
    class Mixed(Component):
        def build(self) -> None:
            self.cells = [Counting(order=1 + k % 3) for k in range(12)]

    assert traced(Mixed()) == 3
    result = simulate(Mixed(), 1.0)
    assert [result[f"cells[{k}].x"].final for k in range(3)] == pytest.approx(
        np.exp([-1.0, -2.0, -3.0]), rel=1e-12
    )


def test_composites_are_shared_too() -> None:
    class Pair(Component):
        def build(self) -> None:
            self.a, self.b = Counting(), Counting(order=2)

    class Pairs(Component):
        def build(self) -> None:
            self.pairs = [Pair() for _ in range(50)]

    assert traced(Pairs()) == 2
    assert len(flatten(Pairs()).batches) == 4


def test_unshared_classes_are_traced_for_each_instance() -> None:
    class Single(Counting):
        share = False

    class Two(Component):
        def build(self) -> None:
            self.a, self.b = Single(), Single()

    before = Single.traces
    flatten(Two())
    assert Single.traces - before == 2


def test_a_circuit_shares_the_classes_of_its_parts() -> None:
    circuit = Circuit()
    for k in range(20):
        circuit.add(f"c{k}", Counting())
    assert traced(circuit) == 1


def test_the_same_model_gives_the_same_numbers() -> None:
    class Mixed(Component):
        def build(self) -> None:
            self.cells = [Counting(order=1 + k % 3) for k in range(7)]

    a, b = flatten(Mixed()), flatten(Mixed())
    assert [a.variable(k) for k in range(a.nv)] == [b.variable(k) for k in range(b.nv)]
    assert all(np.array_equal(x, y) for x, y in ((a.ptr, b.ptr), (a.col, b.col), (a.val, b.val)))
