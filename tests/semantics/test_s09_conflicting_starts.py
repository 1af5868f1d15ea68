"""S9: fixed starts must hold; others are left limits that the restart moves with conserved quantities."""

import pytest

from acausal import Circuit, Component, InitializationError, Start, simulate
from acausal.components.electrical import Capacitor, ConstantVoltage, Ground, Inductor, Resistor


def parallel(a: Component, b: Component) -> Circuit:
    circuit = Circuit()
    circuit.add("a", a)
    circuit.add("b", b)
    ground = circuit.add("ground", Ground())
    circuit.connect(a.p, b.p)
    circuit.connect(a.n, b.n, ground.p)
    return circuit


def test_two_fixed_starts_in_conflict_are_both_named() -> None:
    model = parallel(Capacitor(C=1.0, v=Start(1.0, fixed=True)), Capacitor(C=3.0, v=Start(2.0, fixed=True)))
    with pytest.raises(InitializationError, match="`a.v` = 1.*`b.v` = 2"):
        simulate(model, 1.0)


def test_an_initial_value_against_a_constraint_is_an_error() -> None:
    model = parallel(ConstantVoltage(V=1.0), Capacitor(C=1.0))
    with pytest.raises(InitializationError, match="`b.v` = 3"):
        simulate(model, 1.0, initial={"b.v": 3.0})
    assert simulate(model, 1.0, initial={"b.v": 1.0})["b.v"].at(0.0) == pytest.approx(1.0)


def test_given_starts_move_with_the_charge_conserved() -> None:
    """1 F at 4 V joined with 3 F at 0 V: 1 V on both; a warning, since the starts were given."""
    model = parallel(Capacitor(C=1.0, v=4.0), Capacitor(C=3.0, v=0.0))
    with pytest.warns(UserWarning, match=r"a\.v"):
        result = simulate(model, 1.0)
    assert result["a.v"].at(0.0) == pytest.approx(1.0, rel=1e-12)
    start = result.events[0]
    assert start.kind == "start"
    moved = {name: (before, after) for name, before, after in start.jumps}
    assert all(after == pytest.approx(1.0) for _, after in moved.values())
    assert sorted(before for before, _ in moved.values()) == pytest.approx([0.0, 4.0])


def test_given_starts_move_with_the_flux_conserved() -> None:
    """Two coils in a loop share one current: 2 H * 3 A = 3 H * 2 A."""
    circuit = Circuit()
    a, b = circuit.add("a", Inductor(L=2.0, i=3.0)), circuit.add("b", Inductor(L=1.0, i=0.0))
    r, ground = circuit.add("r", Resistor(R=1.0)), circuit.add("ground", Ground())
    circuit.connect(a.n, b.p)
    circuit.connect(b.n, r.p)
    circuit.connect(r.n, a.p, ground.p)
    with pytest.warns(UserWarning, match=r"a\.i"):
        result = simulate(circuit, 1.0)
    assert result["a.i"].at(0.0) == pytest.approx(2.0, rel=1e-12)


def test_default_starts_move_without_a_warning() -> None:
    """Two capacitors without charge in series on 10 V: equal charges flow in."""
    circuit = Circuit()
    source, ground = circuit.add("source", ConstantVoltage(V=10.0)), circuit.add("ground", Ground())
    a, b = circuit.add("a", Capacitor(C=1.0)), circuit.add("b", Capacitor(C=4.0))
    circuit.connect(source.p, a.p)
    circuit.connect(a.n, b.p)
    circuit.connect(b.n, source.n, ground.p)
    result = simulate(circuit, 1.0)
    assert result["a.v"].at(0.0) == pytest.approx(8.0, rel=1e-12)
    assert result["b.v"].at(0.0) == pytest.approx(2.0, rel=1e-12)
