"""Parameters and start values of all instances: bindings, changes by path, arrays."""

import numpy as np
import pytest

from acausal import Component, Discrete, Eq, Parameter, ParameterError, Start, Variable, der, sqrt
from acausal.flattening import flatten, overrides, parameter_vector, start_values


class Cell(Component):
    R: Parameter = Parameter(min=0)
    x: Variable = Variable(start=1.0)
    n: Discrete = Discrete(int, start=4)

    def equations(self):
        yield Eq(der(self.x), -self.R * self.x)


class Row(Component):
    R: Parameter = Parameter(default=8.0)
    x0: Parameter = Parameter(default=5.0)

    def build(self) -> None:
        self.plain = Cell(R=2.0)
        self.half = Cell(R=self.R / 2, x=3.0)
        self.root = Cell(R=sqrt(self.R * 2), x=Start(self.x0 + 1, fixed=True), n=9)


class Block(Component):
    R: Parameter = Parameter(default=1.0)

    def build(self) -> None:
        self.rows = [Row(), Row(R=10 * self.R)]


def values(model: Component, **changes: float) -> dict[str, float]:
    flat = flatten(model)
    P = parameter_vector(flat, {k.replace("__", "."): v for k, v in changes.items()})
    return {flat.parameter(k): float(P[k]) for k in range(flat.npar)}


def test_bindings_are_evaluated_parents_first() -> None:
    found = values(Block(R=2.0))
    assert found["rows[0].R"] == 8.0 and found["rows[1].R"] == 20.0
    assert [found[f"rows[1].{n}.R"] for n in ("plain", "half", "root")] == pytest.approx(
        [2.0, 10.0, np.sqrt(40.0)]
    )


def test_a_change_wins_over_a_binding_and_reaches_what_is_bound_to_it() -> None:
    found = values(Row(), half__R=7.0)
    assert (found["half.R"], found["root.R"]) == (7.0, 4.0)
    found = values(Row(), R=32.0)
    assert (found["half.R"], found["root.R"]) == (16.0, 8.0)


def test_changes_are_checked() -> None:
    with pytest.raises(ParameterError, match="`half.R` must be at least 0, got -1"):
        values(Row(), half__R=-1.0)
    with pytest.raises(ParameterError, match=r"`half.R` must be at least 0, got -4(.|\n)*bound to `R/2`"):
        values(Row(), R=-8.0)


def test_values_set_after_construction_are_listed_by_path() -> None:
    block = Block()
    block.rows[1].half.R = 3.0
    assert overrides(block) == {"rows[1].half.R": 3.0}
    flat = flatten(block)
    P = parameter_vector(flat, overrides(block))
    assert P[flat.find("p", "rows[1].half.R")[0]] == 3.0
    assert P[flat.find("p", "rows[0].half.R")[0]] == 4.0


def test_start_values_of_each_instance() -> None:
    flat = flatten(Block())
    P = parameter_vector(flat, {"rows[1].x0": 7.0})
    start, fixed, given, D = start_values(flat, P)
    names = [f"rows[{k}].{cell}" for k in (0, 1) for cell in ("plain", "half", "root")]
    at = [flat.find("v", f"{n}.x")[0] for n in names]
    assert start[at].tolist() == [1.0, 3.0, 6.0, 1.0, 3.0, 8.0]
    assert fixed[at].tolist() == [False, False, True] * 2
    assert given[at].tolist() == [False, True, True] * 2
    assert D[[flat.find("d", f"{n}.n")[0] for n in names]].tolist() == [4.0, 4.0, 9.0] * 2


def test_array_parameters_are_bound_element_by_element() -> None:
    class Inner(Component):
        k: Parameter = Parameter(shape=(2,))

    class Outer(Component):
        a: Parameter = Parameter(default=3.0)

        def build(self) -> None:
            self.inner = Inner(k=[self.a, 2 * self.a])

    assert values(Outer()) == {"a": 3.0, "inner.k[0]": 3.0, "inner.k[1]": 6.0}


class Data(Component):
    """A record: numbers that several parts share."""

    R: Parameter = Parameter(default=2.0)
    L: Parameter = Parameter(default=1.0)


class Pair(Component):
    scale: Parameter = Parameter(default=1.0)

    def build(self) -> None:
        self.first = Cell(R=self.scale * 2.0)
        self.second = Cell(R=2 * self.first.R)
        self.third = Cell(R=self.second.R + 1)


class Recorded(Component):
    """Parts bound to a record, to a part of the same class, and to a part of a brother that comes later."""

    a: Parameter = Parameter(default=3.0)

    def build(self) -> None:
        self.data = Data(R=2 * self.a)
        self.cell = Cell(R=self.data.R * self.data.L)
        self.pair = Pair(scale=self.cell.R)
        self.last = Cell(R=self.pair.third.R)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, (6.0, 6.0, 12.0, 24.0, 25.0, 25.0)),
        ({"a": 5.0}, (10.0, 10.0, 20.0, 40.0, 41.0, 41.0)),
        ({"data__R": 1.0}, (1.0, 1.0, 2.0, 4.0, 5.0, 5.0)),
        ({"data__L": 0.5}, (6.0, 3.0, 6.0, 12.0, 13.0, 13.0)),
        ({"pair__second__R": 7.0}, (6.0, 6.0, 12.0, 7.0, 8.0, 8.0)),
        ({"pair__first__R": 0.0}, (6.0, 6.0, 0.0, 0.0, 1.0, 1.0)),
    ],
)
def test_bindings_to_brothers_follow_their_changes(
    changes: dict[str, float], expected: tuple[float, ...]
) -> None:
    found = values(Recorded(), **changes)
    paths = ("data.R", "cell.R", "pair.first.R", "pair.second.R", "pair.third.R", "last.R")
    assert tuple(found[path] for path in paths) == expected


def test_a_brother_that_is_set_before_the_run_reaches_what_is_bound_to_it() -> None:
    model = Recorded()
    model.data.R = 1.0
    P = parameter_vector(flat := flatten(model), overrides(model))
    assert P[flat.find("p", "last.R")[0]] == 5.0
    assert model.last.R == 5.0


def test_bindings_in_a_circle_are_refused() -> None:
    class Circle(Component):
        def build(self) -> None:
            self.one = Cell(R=1.0)
            self.two = Cell(R=self.one.R)
            self.one.R = self.two.R

    with pytest.raises(ParameterError, match=r"`one.R` must be"):
        values(Circle())
