"""Connections as integer rows: potentials equal, flows sum to zero, seen from inside and outside."""

from time import process_time

import pytest

from acausal import (
    Component,
    Eq,
    Flow,
    Input,
    Output,
    Parameter,
    Port,
    PortMismatchError,
    Variable,
    connect,
    simulate,
)
from acausal.components.electrical import Ground
from acausal.flattening import FlatModel, flatten


class Node(Port):
    e: Variable = Variable()
    f: Flow = Flow()


class Load(Component):
    n = Node()
    G: Parameter = Parameter(default=1.0)

    def equations(self):
        yield Eq(self.n.f, self.G * self.n.e)


class Source(Component):
    n = Node()

    def equations(self):
        yield Eq(self.n.e, 6)


def rows(flat: FlatModel) -> list[dict[str, int]]:
    """Integer rows as {variable: factor}."""
    found = []
    for a, b in zip(flat.ptr, flat.ptr[1:], strict=False):
        pairs = zip(flat.col[a:b].tolist(), flat.val[a:b].tolist(), strict=True)
        found.append({flat.variable(k): v for k, v in pairs})
    return found


def same(row: dict[str, int], wanted: dict[str, int]) -> bool:
    return row in (wanted, {k: -v for k, v in wanted.items()})


def test_a_set_of_three_has_two_equal_potentials_and_one_sum() -> None:
    class Model(Component):
        def build(self) -> None:
            self.s, self.a, self.b = Source(), Load(), Load()

        def equations(self):
            yield connect(self.s.n, self.a.n, self.b.n)

    found = rows(flatten(Model()))
    wanted = [
        {"s.n.e": 1, "a.n.e": -1},
        {"s.n.e": 1, "b.n.e": -1},
        {"s.n.f": 1, "a.n.f": 1, "b.n.f": 1},
    ]
    assert all(any(same(row, w) for row in found) for w in wanted)


def test_sets_that_share_a_port_are_one_set() -> None:
    class Model(Component):
        def build(self) -> None:
            self.s, self.a, self.b = Source(), Load(), Load()

        def equations(self):
            yield connect(self.a.n, self.b.n)
            yield connect(self.s.n, self.b.n)

    sums = [row for row in rows(flatten(Model())) if "a.n.f" in row and "s.n.f" in row]
    assert [set(row) for row in sums] == [{"s.n.f", "a.n.f", "b.n.f"}]


def test_an_open_port_has_no_flow() -> None:
    class Model(Component):
        def build(self) -> None:
            self.s = Source()

    assert {"s.n.f": 1} in rows(flatten(Model()))


class Box(Component):
    """Two loads behind a port: its own flow enters the sum from inside with a minus."""

    n = Node()

    def build(self) -> None:
        self.a, self.b = Load(), Load(G=2.0)

    def equations(self):
        yield connect(self.n, self.a.n, self.b.n)


def test_the_own_port_of_a_composite_is_seen_from_inside() -> None:
    class Model(Component):
        def build(self) -> None:
            self.s, self.box = Source(), Box()

        def equations(self):
            yield connect(self.s.n, self.box.n)

    found = rows(flatten(Model()))
    assert any(same(row, {"box.n.f": 1, "box.a.n.f": -1, "box.b.n.f": -1}) for row in found)
    assert any(same(row, {"s.n.f": 1, "box.n.f": 1}) for row in found)
    assert simulate(Model(), 1.0)["s.n.f"].final == pytest.approx(-18.0, rel=1e-14)


class Gain(Component):
    u: Input = Input(float)
    y: Output = Output(float)
    k: Parameter = Parameter(default=2.0)

    def equations(self):
        yield Eq(self.y, self.k * self.u)


def test_signals_flow_from_one_source_to_many_inputs() -> None:
    class Model(Component):
        u: Input = Input(float)
        y: Output = Output(float)

        def build(self) -> None:
            self.a, self.b, self.c = Gain(), Gain(k=3.0), Gain(k=5.0)

        def equations(self):
            yield connect(self.u, self.a.u)
            yield connect(self.a.y, self.b.u, self.c.u)
            yield connect(self.c.y, self.y)

    result = simulate(Model(u=1.0), 1.0)
    assert [result[n].final for n in ("a.y", "b.y", "y")] == pytest.approx([2.0, 6.0, 10.0])


def test_an_equation_may_feed_an_input() -> None:
    class Model(Component):
        def build(self) -> None:
            self.a, self.b = Gain(u=3.0), Gain()

        def equations(self):
            yield Eq(self.b.u, self.a.y + 1)

    assert simulate(Model(), 1.0)["b.y"].final == pytest.approx(14.0)


def test_inputs_without_a_source() -> None:
    class Model(Component):
        def build(self) -> None:
            self.a, self.b = Gain(), Gain()

        def equations(self):
            yield connect(self.a.u, self.b.u)

    with pytest.raises(PortMismatchError, match="`a.u`, `b.u` are joined, but no output feeds them"):
        flatten(Model())


def test_a_node_of_many_ports_is_connected_in_proportion() -> None:
    """Comparing every port with every other one takes several seconds."""
    grounds = [Ground() for _ in range(20_000)]
    before = process_time()
    connect(*(g.p for g in grounds))
    assert process_time() - before < 1.0  # some hundredths where nothing else runs
