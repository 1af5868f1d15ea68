"""Numbers and names of small models against hand-made tables."""

import numpy as np
import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    Flow,
    If,
    Input,
    Parameter,
    Port,
    Structural,
    UnknownPathError,
    Variable,
    connect,
    der,
    time,
)
from acausal.flattening import flatten


class Node(Port):
    e: Variable = Variable()
    f: Flow = Flow()


class Store(Component):
    """Own variables: n.e, n.f, q; parameter C."""

    n = Node()
    C: Parameter = Parameter(default=1.0)
    q: Variable = Variable()

    def equations(self):
        yield Eq(self.q, self.C * self.n.e)
        yield Eq(der(self.q), self.n.f)


class Leak(Component):
    """Own variables: n.e, n.f; discrete: branch of the If."""

    n = Node()
    G: Parameter = Parameter()

    def equations(self):
        yield If(time > 1, [Eq(self.n.f, self.G * self.n.e)], [Eq(self.n.f, 0)], name="open")


class Tank(Component):
    """A composite: a variable of its own, then its parts."""

    level: Variable = Variable()
    k: Parameter = Parameter(default=3.0)

    def build(self) -> None:
        self.store = Store(C=2 * self.k)
        self.leaks = [Leak(G=self.k), Leak(G=7.0)]

    def equations(self):
        yield connect(self.store.n, self.leaks[0].n, self.leaks[1].n)
        yield Eq(self.level, self.store.q)


class Plant(Component):
    running: Discrete = Discrete(bool)

    def build(self) -> None:
        self.a, self.b = Tank(), Tank(k=5.0)

    def equations(self):
        yield Eq(self.running, time > 0)


TANK = [
    "level",
    "store.n.e",
    "store.n.f",
    "store.q",
    "leaks[0].n.e",
    "leaks[0].n.f",
    "leaks[1].n.e",
    "leaks[1].n.f",
]


def test_variables_are_numbered_own_first_then_parts_in_written_order() -> None:
    flat = flatten(Plant())
    assert flat.nv == 16
    assert [flat.variable(k) for k in range(16)] == [f"a.{n}" for n in TANK] + [f"b.{n}" for n in TANK]


def test_parameters_and_discretes_are_numbered_the_same_way() -> None:
    flat = flatten(Plant())
    parameters = ["k", "store.C", "leaks[0].G", "leaks[1].G"]
    assert [flat.parameter(k) for k in range(flat.npar)] == [f"{t}.{n}" for t in "ab" for n in parameters]
    discretes = ["running", "a.leaks[0].open", "a.leaks[1].open", "b.leaks[0].open", "b.leaks[1].open"]
    assert [flat.discrete(k) for k in range(flat.nd)] == discretes


def test_paths_lead_back_to_numbers() -> None:
    flat = flatten(Plant())
    for kind, count, name in (
        ("v", flat.nv, flat.variable),
        ("p", flat.npar, flat.parameter),
        ("d", flat.nd, flat.discrete),
    ):
        assert [flat.find(kind, name(k))[0] for k in range(count)] == list(range(count))
    assert flat.find("v", "b.store.q")[1] is Store.q


def test_instances_know_their_path() -> None:
    flat = flatten(Plant())
    paths = [[flat.path(s, i) for i in range(len(batch))] for s, batch in enumerate(flat.batches)]
    assert paths[0] == [""]
    assert sorted(p for group in paths for p in group) == sorted(
        ["", "a", "b", *(f"{t}.{n}" for t in "ab" for n in ("store", "leaks[0]", "leaks[1]"))]
    )


def test_arrays_are_numbered_element_by_element() -> None:
    class Grid(Component):
        x: Variable = Variable(shape=(2, 2))
        k: Parameter = Parameter(default=(1.0, 2.0), shape=(2,))

        def equations(self):
            for row, k in zip(self.x, self.k, strict=True):
                for x in row:
                    yield Eq(der(x), k)

    flat = flatten(Grid())
    assert [flat.variable(k) for k in range(4)] == ["x[0][0]", "x[0][1]", "x[1][0]", "x[1][1]"]
    assert [flat.parameter(k) for k in range(2)] == ["k[0]", "k[1]"]


def test_unknown_paths_name_the_nearest_with_their_full_path() -> None:
    flat = flatten(Plant())
    with pytest.raises(UnknownPathError, match="no variable is named `b.store.p`") as info:
        flat.find("v", "b.store.p")
    assert "`b.store.q`" in info.value.hint
    with pytest.raises(UnknownPathError) as info:
        flat.find("p", "a.store.q")
    assert "is a variable" in info.value.hint


def test_inputs_count_as_variables_or_discretes_by_their_type() -> None:
    class Sink(Component):
        u: Input = Input(float)
        on: Input = Input(bool)
        n: Structural[int] = Structural(int, default=1)
        y: Variable = Variable()

        def equations(self):
            yield Eq(self.y, self.u)

    flat = flatten(Sink())
    assert (flat.root.inputs, list(flat.root.variables), list(flat.root.discretes)) == (
        ["u", "on"],
        ["u", "y"],
        ["on"],
    )


def test_statements_are_sorted_by_kind() -> None:
    tank = flatten(Plant()).batches
    by_class = {batch.template.cls: batch.template for batch in tank}
    store, leak = by_class[Store], by_class[Leak]
    assert [r.text for r in store.residuals] == ["Eq(q, C*n.e)", "Eq(der(q), n.f)"]
    assert (len(leak.residuals), [e.name for e in leak.elements]) == (0, ["open"])
    assert np.array_equal(by_class[Tank].ptr[:2], [0, 2])  # level - store.q is an integer row
