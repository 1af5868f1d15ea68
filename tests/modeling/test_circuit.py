"""Models made by a script."""

import copy
import inspect
import pickle

import pytest

from acausal import BalanceError, Circuit, Component, DeclarationError, Eq, UnitError, Variable, simulate
from acausal.components.electrical import ConstantVoltage, Ground, Resistor


def divider() -> Circuit:
    circuit = Circuit()
    source, load = circuit.add("source", ConstantVoltage(V=2.0)), circuit.add("load", Resistor(R=4.0))
    ground = circuit.add("ground", Ground())
    circuit.connect(source.p, load.p)
    circuit.connect(source.n, load.n, ground.p)
    return circuit


def test_parts_keep_their_type_and_name() -> None:
    circuit = divider()
    assert isinstance(circuit.load, Resistor)
    assert [path for path, _ in circuit.parts()] == ["source", "load", "ground"]
    assert simulate(circuit, 1.0)["load.i"].final == pytest.approx(0.5, rel=1e-14)


def test_a_circuit_can_grow_after_a_run() -> None:
    circuit = divider()
    simulate(circuit, 1.0)
    extra = circuit.add("extra", Resistor(R=4.0))
    circuit.connect(extra.p, circuit.load.p)
    circuit.connect(extra.n, circuit.load.n)
    assert simulate(circuit, 1.0)["source.i"].final == pytest.approx(-1.0, rel=1e-14)


def test_values_change_by_attribute() -> None:
    circuit = divider()
    circuit.load.R = 1.0
    assert simulate(circuit, 1.0)["load.i"].final == pytest.approx(2.0, rel=1e-14)


def test_two_circuits_are_not_mixed_up() -> None:
    first, second = divider(), divider()
    second.load.R = 8.0
    assert simulate(first, 1.0)["load.i"].final == pytest.approx(0.5, rel=1e-14)
    assert simulate(second, 1.0)["load.i"].final == pytest.approx(0.25, rel=1e-14)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))])
def test_copies_run(duplicate) -> None:
    circuit = divider()
    other = duplicate(circuit)
    other.load.R = 1.0
    assert simulate(other, 1.0)["load.i"].final == pytest.approx(2.0, rel=1e-14)
    assert simulate(circuit, 1.0)["load.i"].final == pytest.approx(0.5, rel=1e-14)


class Free(Component):
    x: Variable = Variable(unit="m")


def test_statements_may_be_added() -> None:
    class Open(Circuit):
        x: Variable = Variable()

    circuit = Open()
    circuit.state(Eq(circuit.x, 3.0))
    assert simulate(circuit, 1.0)["x"].final == pytest.approx(3.0)


def test_errors_point_to_the_line_of_the_script() -> None:
    class Open(Circuit):
        x: Variable = Variable(unit="m")
        y: Variable = Variable(unit="s")

    circuit = Open()
    circuit.state(Eq(circuit.x, 1))
    line = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]
    circuit.state(Eq(circuit.x, circuit.y))
    with pytest.raises(UnitError) as info:
        simulate(circuit, 1.0)
    assert (info.value.where[0].file, info.value.where[0].line) == (__file__, line)


def test_names_are_checked() -> None:
    circuit = divider()
    with pytest.raises(DeclarationError, match="`load` exists already in Circuit"):
        circuit.add("load", Resistor(R=1.0))
    with pytest.raises(DeclarationError, match="`connect` exists already in Circuit"):
        circuit.add("connect", Resistor(R=1.0))
    with pytest.raises(DeclarationError, match="`my load` cannot name a part"):
        circuit.add("my load", Resistor(R=1.0))
    with pytest.raises(DeclarationError, match="takes a component object"):
        circuit.add("other", Resistor)
    with pytest.raises(DeclarationError, match="`twin` of Circuit is the same object as `load`"):
        circuit.add("twin", circuit.load)
        simulate(circuit, 1.0)


def test_a_part_that_nothing_determines_is_refused() -> None:
    circuit = divider()
    circuit.add("free", Free())
    with pytest.raises(BalanceError, match="Free has 1 unknown to determine but yields 0"):
        simulate(circuit, 1.0)
