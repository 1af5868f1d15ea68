"""Life of a component object: values, parts, overrides, copies, starts, structural parameters."""

import copy
import pickle
from enum import Enum

import numpy as np
import pytest

from acausal import (
    Component,
    DeclarationError,
    Discrete,
    Eq,
    Parameter,
    ParameterError,
    Port,
    Start,
    Structural,
    Variable,
    connect,
    der,
    simulate,
)
from acausal.components.electrical import Capacitor, ConstantVoltage, Ground, Pin, Resistor
from acausal.modeling.component import resolve


class Kind(Enum):
    FIRST = 0
    SECOND = 1


class Ladder(Component):
    """n resistors in series on a source, each of R / n."""

    n: Structural[int] = Structural(int, default=2)
    R: Parameter = Parameter(default=6.0, unit="Ohm")

    def build(self) -> None:
        self.source, self.ground = ConstantVoltage(V=12.0), Ground()
        self.cells = [Resistor(R=self.R / self.n) for _ in range(self.n)]

    def equations(self):
        node = self.source.p
        for cell in self.cells:
            yield connect(node, cell.p)
            node = cell.n
        yield connect(node, self.source.n, self.ground.p)


def test_a_parameter_reads_as_its_number() -> None:
    assert Resistor(R=3).R == 3
    assert Ladder().cells[1].R == 3.0
    assert Ladder(n=3).cells[2].R == 2.0


RESERVED = [n for n in vars(Component) if not n.startswith("_")]


@pytest.mark.parametrize("name", RESERVED)
@pytest.mark.parametrize(
    "made", [lambda: Parameter(default=1.0), Variable, lambda: Structural(int, default=1), Pin]
)
def test_a_field_must_not_hide_what_components_have(name: str, made) -> None:
    with pytest.raises(DeclarationError, match=f"`{name}` of Model: the name is reserved"):
        type("Model", (Component,), {name: made()})


@pytest.mark.parametrize(
    "made", [lambda: Parameter(default=1.0), Variable, lambda: Structural(int, default=1)]
)
def test_a_field_must_not_hide_an_inherited_port(made) -> None:
    with pytest.raises(DeclarationError, match="`n` of Sheet hides the port `n` of TwoPin"):
        type("Sheet", (Resistor,), {"n": made()})


def test_a_port_must_not_hide_an_inherited_field() -> None:
    with pytest.raises(DeclarationError, match="the port `R` of Tap hides the parameter `R` of Resistor"):
        type("Tap", (Resistor,), {"R": Pin()})
    with pytest.raises(
        DeclarationError, match="the parameter `p` of Mixin hides the port `p` of TwoPin"
    ) as info:
        type("Both", (type("Mixin", (Component,), {"p": Parameter(default=1.0)}), Resistor), {})
    assert info.value.where[0].path == "Both"


def test_a_part_must_not_hide_what_components_have() -> None:
    class Model(Component):
        def build(self) -> None:
            self.parts = [Ground()]

    with pytest.raises(DeclarationError, match="`parts` of Model: the name is reserved") as info:
        simulate(Model(), 1.0)
    assert info.value.where[0].path == "Model"


def test_a_class_may_choose_one_trace_per_instance() -> None:
    class Model(Component):
        share = False

    assert not Model.share


def test_parts_come_into_being_when_first_touched() -> None:
    model = Ladder()
    assert "_parts" not in vars(model)
    assert [path for path, _ in model.parts()] == ["source", "ground", "cells[0]", "cells[1]"]
    assert model.cells[0] is model.cells[0]


def test_values_change_by_attribute_and_by_path() -> None:
    model = Ladder()
    model.R = 12.0
    assert model.cells[0].R == 6.0
    assert simulate(model, 1.0)["source.i"].final == pytest.approx(-1.0, rel=1e-14)
    model.cells[1].R = 2.0
    assert simulate(model, 1.0)["source.i"].final == pytest.approx(-1.5, rel=1e-14)
    result = simulate(model, 1.0, parameters={"cells[0].R": 1.0})
    assert result["source.i"].final == pytest.approx(-4.0, rel=1e-14)
    assert simulate(model, 1.0)["source.i"].final == pytest.approx(-1.5, rel=1e-14)


def test_an_assigned_value_is_checked() -> None:
    model = Ladder()
    with pytest.raises(ParameterError, match="`R` of Resistor must be at least 0 Ohm, got -1"):
        model.cells[0].R = -1.0
    with pytest.raises(DeclarationError, match="`v` of Resistor is a variable"):
        model.cells[0].v = 1.0


def test_a_structural_parameter_rebuilds_the_parts() -> None:
    model = Ladder()
    first = model.cells[0]
    model.n = 4
    assert len(model.cells) == 4 and model.cells[0] is not first
    assert simulate(model, 1.0)["cells[3].v"].final == pytest.approx(3.0, rel=1e-14)


@pytest.mark.parametrize("wrong", [2.0, True, "2", None])
def test_a_structural_parameter_has_one_type(wrong: object) -> None:
    with pytest.raises(ParameterError, match="`n` of Ladder must be of type int"):
        Ladder(n=wrong)


def test_tables_become_tuples() -> None:
    class Curve(Component):
        points: Structural[tuple] = Structural(tuple)
        kind: Structural[Kind] = Structural(Kind, default=Kind.FIRST)

    curve = Curve(points=np.array([[0.0, 1.0], [2.0, 3.0]]))
    assert curve.points == ((0.0, 1.0), (2.0, 3.0))
    assert Curve(points=[1, [2, 3]]).points == (1, (2, 3))
    assert curve.kind is Kind.FIRST


class Pair(Component):
    k: Parameter = Parameter(default=(1.0, 2.0), shape=(2,))
    x: Variable = Variable(shape=(2,), start=1.0)

    def equations(self):
        for factor, x in zip(self.k, self.x, strict=True):
            yield Eq(der(x), -factor * x)


def test_arrays_are_tuples_of_scalars() -> None:
    assert Pair().k == (1.0, 2.0)
    result = simulate(Pair(k=[0.0, 0.5], x=[3.0, 4.0]), 2.0)
    assert result["x[0]"].final == pytest.approx(3.0)
    assert result["x[1]"].final == pytest.approx(4.0 * np.exp(-1.0), rel=1e-12)
    with pytest.raises(ParameterError, match="needs 2 values"):
        Pair(k=[1.0, 2.0, 3.0])
    with pytest.raises(ParameterError, match="needs 2 values"):
        Pair(k="ab")


def test_starts_of_one_instance() -> None:
    capacitor = Capacitor(C=1.0, v=Start(2.0, fixed=True))
    assert repr(capacitor) == "Capacitor(v=Start(2.0, fixed=True), C=1.0)"
    assert capacitor.start_of("v", Capacitor.v) == (2.0, True, True)
    assert Capacitor(C=1.0, v=3.0).start_of("v", Capacitor.v) == (3.0, False, True)
    assert Capacitor(C=1.0).start_of("v", Capacitor.v) == (0.0, False, False)


def test_pickle_keeps_values_and_changes_by_path() -> None:
    model = Ladder(n=3, R=9.0)
    model.cells[1].R = 1.0
    again = pickle.loads(pickle.dumps(model))
    assert (again.n, again.R) == (3, 9.0)
    assert [cell.R for cell in again.cells] == [3.0, 1.0, 3.0]
    assert simulate(again, 1.0)["source.i"].final == pytest.approx(-12.0 / 7.0, rel=1e-14)


def test_copies_are_independent() -> None:
    model = Ladder()
    other = copy.deepcopy(model)
    other.cells[0].R = 1.0
    assert (model.cells[0].R, other.cells[0].R) == (3.0, 1.0)
    assert copy.copy(model).R == 6.0


def test_a_bound_part_cannot_be_pickled_alone() -> None:
    with pytest.raises(DeclarationError, match="`R` is bound to a parameter of the enclosing component"):
        pickle.dumps(Ladder().cells[0])


def test_copies_of_a_cell_may_be_parts() -> None:
    class Row(Component):
        def build(self) -> None:
            cell = Resistor(R=2.0)
            self.cells = [copy.deepcopy(cell) for _ in range(3)]

    assert [path for path, _ in Row().parts()] == ["cells[0]", "cells[1]", "cells[2]"]


def test_paths_lead_to_objects() -> None:
    model = Ladder()
    assert resolve(model, "cells[1]") is model.cells[1]
    assert resolve(model, "source.p").owner is model.source


def test_ports_made_in_build_have_the_names_of_their_attributes() -> None:
    class Star(Component):
        n: Structural[int] = Structural(int, default=3)

        def build(self) -> None:
            self.pins = [Pin() for _ in range(self.n)]

    star = Star()
    assert [ref.name for ref in star.port_refs()] == ["pins[0]", "pins[1]", "pins[2]"]
    assert str(star.pins[2].v) == "pins[2].v"


def test_fields_are_inherited_base_first() -> None:
    class Base(Component):
        a: Parameter = Parameter(default=1.0)

    class Derived(Base):
        b: Parameter = Parameter(default=2.0)

    assert list(Derived._fields) == ["a", "b"]
    assert (Derived(a=3.0).a, Derived(a=3.0).b) == (3.0, 2.0)


def test_declarations_are_checked_when_the_class_is_made() -> None:
    with pytest.raises(DeclarationError, match="bool, int, float or an enum"):
        Discrete(str)
    with pytest.raises(DeclarationError, match="may declare Variable and Flow only"):

        class Wrong(Port):
            k = Parameter(default=1.0)


def test_attributes_that_are_no_fields_are_refused_outside_build() -> None:
    with pytest.raises(DeclarationError, match="Resistor has no field `r`") as info:
        Resistor(R=1.0).r = 2.0
    assert info.value.hint == "did you mean `R`?"
