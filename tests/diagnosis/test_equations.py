"""The view of all equations: texts with paths, places, unknowns with the order of their derivatives."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from acausal import Component, Parameter, Statement, connect
from acausal.compilation.residual import Residual
from acausal.components.electrical import Capacitor, ConstantVoltage, Ground, IdealClosingSwitch, Resistor
from acausal.diagnosis.equations import Equations
from acausal.flattening.flatten import flatten


class Charging(Component):
    """A capacitor that is charged through a switch."""

    R: Parameter = Parameter(default=2.0, unit="Ohm")

    def build(self) -> None:
        self.source, self.ground = ConstantVoltage(V=1.0), Ground()
        self.switch, self.load, self.capacitor = (
            IdealClosingSwitch(control=True),
            Resistor(R=self.R),
            Capacitor(C=0.5),
        )

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.switch.p)
        yield connect(self.switch.n, self.load.p)
        yield connect(self.load.n, self.capacitor.p)
        yield connect(self.source.n, self.capacitor.n, self.ground.p)


@pytest.fixture(scope="module")
def view() -> Equations:
    return Equations(flatten(Charging()))


def number(view: Equations, text: str) -> int:
    return next(k for k in range(len(view)) if view.text(k) == text)


def names(view: Equations, k: int) -> set[str]:
    return {view.variable(v, order) for v, order in view.unknowns(k)}


def test_equations_are_numbered_as_those_of_the_residual(view: Equations) -> None:
    residual = Residual.of(Charging())
    assert len(view) == len(residual.equations)
    assert [view.place(k).line for k in range(len(view))] == [e.place.line for e in residual.equations]


def test_texts_carry_whole_paths_and_read_as_equations(view: Equations) -> None:
    texts = {view.text(k) for k in range(len(view))}
    assert {
        "load.v = load.R*load.i",
        "capacitor.i = capacitor.C*der(capacitor.v)",
        "load.v = load.p.v - load.n.v",
        "0 = source.p.i + switch.p.i",
        "ground.p.v = 0",
        "source.v = source.V",
    } <= texts


def test_unknowns_carry_the_order_of_their_derivative(view: Equations) -> None:
    k = number(view, "capacitor.i = capacitor.C*der(capacitor.v)")
    assert {(view.variable(v), order) for v, order in view.unknowns(k)} == {
        ("capacitor.i", 0),
        ("capacitor.v", 1),
    }
    assert view.unit(next(v for v, order in view.unknowns(k) if order)) == "V"


def test_an_equation_knows_its_component_and_line(view: Equations) -> None:
    k = number(view, "load.v = load.R*load.i")
    assert view.path(k) == "load"
    line = Path(view.place(k).file).read_text(encoding="utf-8").splitlines()[view.place(k).line - 1]
    assert "Eq(" in line and "R" in line
    assert view.written(k) == "Eq(v, R*i)"


def test_an_element_shows_its_branches_or_the_one_in_force(view: Equations) -> None:
    k = len(view) - 1
    assert view.text(k) == "true: switch.v = switch.Ron*switch.i; false: switch.i = switch.Goff*switch.v"
    chosen = Equations(flatten(Charging()), {0: 1})
    assert chosen.text(k) == "switch.i = switch.Goff*switch.v"
    assert names(chosen, k) == {"switch.v", "switch.i"}


def test_connections_are_told_from_what_is_written(view: Equations) -> None:
    connections = {view.text(k) for k in range(len(view)) if view.is_connection(k)}
    assert "source.p.v = switch.p.v" in connections
    assert "source.i = source.p.i" not in connections
