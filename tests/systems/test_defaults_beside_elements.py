"""A default follows no given start through an element that only conducts, blocks or locks one way: its impulse acts instead."""

from typing import Any

import pytest

import acausal.components.electrical as el
import acausal.components.rotational as rot
from acausal import Circuit, Component, Result, Start, simulate

METHODS = ["exact", "explicit", "implicit"]
FIXED = Start(10.0, fixed=True)
pytestmark = pytest.mark.filterwarnings("ignore:given starts contradict")


def chain(elements: list[Component], starts: list[dict[str, Any]], reverse: bool = False) -> Circuit:
    """Capacitors of 1 F against ground, with elements between them."""
    c = Circuit()
    ground = c.add("ground", el.Ground())
    nodes: list[Any] = [c.add(f"c{k}", el.Capacitor(C=1.0, **start)) for k, start in enumerate(starts)]
    for node in nodes:
        c.connect(node.n, ground.p)
    for k, element in enumerate(elements):
        d: Any = c.add(f"d{k}", element)
        c.connect(nodes[k].p, d.n if reverse else d.p)
        c.connect(nodes[k + 1].p, d.p if reverse else d.n)
    return c


def voltages(result: Result, count: int) -> list[float]:
    return [result[f"c{k}.v"].at(0.0) for k in range(count)]


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rest", [{}, {"v": 0.0}], ids=["default", "given"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("count", [2, 4])
def test_diodes_share_the_charge_of_the_first_capacitor(
    count: int, reverse: bool, rest: dict[str, float], method: str
) -> None:
    v = -10.0 if reverse else 10.0
    diodes: list[Component] = [el.IdealDiode() for _ in range(count - 1)]
    result = simulate(chain(diodes, [{"v": v}] + (count - 1) * [rest], reverse), 1.0, method=method)
    assert voltages(result, count) == pytest.approx(count * [v / count], rel=1e-12)
    audit = result.audit()
    assert audit.energy_lost == pytest.approx(50.0 * (1 - 1 / count), rel=1e-12)
    assert abs(audit.balance) <= 1e-12 * 50.0
    assert result.check().ok


@pytest.mark.parametrize("reverse", [False, True])
def test_a_diode_that_blocks_leaves_both_capacitors(reverse: bool) -> None:
    v = 10.0 if reverse else -10.0
    result = simulate(chain([el.IdealDiode()], [{"v": v}, {}], reverse), 1.0)
    assert voltages(result, 2) == [v, 0.0]


@pytest.mark.parametrize("kind", [el.IdealThyristor, el.IdealGTOThyristor])
def test_a_fired_thyristor_is_a_diode(kind: type[Any]) -> None:
    assert voltages(simulate(chain([kind(fire=True)], [{"v": 10.0}, {}]), 1.0), 2) == pytest.approx([5, 5])
    assert voltages(simulate(chain([kind(fire=False)], [{"v": 10.0}, {}]), 1.0), 2) == [10.0, 0.0]


def test_the_threshold_of_a_diode_stays_between_the_capacitors() -> None:
    result = simulate(chain([el.IdealDiode(Vknee=1.0)], [{"v": 10.0}, {}]), 1.0)
    assert voltages(result, 2) == pytest.approx([5.5, 4.5], rel=1e-12)
    assert result.audit().energy_lost == pytest.approx(5.5 * 4.5, rel=1e-12)


def test_a_loaded_capacitor_begins_like_one_without_load() -> None:
    model = chain([el.IdealDiode()], [{"v": 10.0}, {}])
    load = model.add("load", el.Resistor(R=5.0))
    model.connect(model.c1.p, load.p)
    model.connect(load.n, model.ground.p)
    result = simulate(model, 1.0)
    assert voltages(result, 2) == pytest.approx([5.0, 5.0], rel=1e-12)


def test_the_diodes_of_a_bridge_share_what_they_lose() -> None:
    """All four blocking leave the source on no potential."""
    c = Circuit()
    ground, source = c.add("ground", el.Ground()), c.add("source", el.ConstantVoltage(V=10.0))
    d, store = [c.add(f"d{k}", el.IdealDiode()) for k in range(4)], c.add("store", el.Capacitor(C=1.0))
    c.connect(source.p, d[0].p, d[1].n)
    c.connect(source.n, d[2].p, d[3].n)
    c.connect(d[0].n, d[2].n, store.p)
    c.connect(d[1].p, d[3].p, store.n, ground.p)
    result = simulate(c, 1.0)
    assert result["store.v"].at(0.0) == pytest.approx(10.0, rel=1e-12)
    assert result.audit().energy_lost == pytest.approx(50.0, rel=1e-12)


@pytest.mark.parametrize("rest", [{}, {"i": 0.0}], ids=["default", "given"])
@pytest.mark.parametrize("blocks", [False, True])
def test_coils_in_series_beside_a_diode(blocks: bool, rest: dict[str, float]) -> None:
    """Blocking, it takes the difference of the voltage impulses; conducting, the difference of the currents."""
    c = Circuit()
    ground, d = c.add("ground", el.Ground()), c.add("d", el.IdealDiode())
    a, b = c.add("a", el.Inductor(L=1.0, i=1.0)), c.add("b", el.Inductor(L=1.0, **rest))
    c.connect(a.n, b.p, d.n if blocks else d.p)
    c.connect(a.p, b.n, d.p if blocks else d.n, ground.p)
    result = simulate(c, 1.0)
    expected = [0.5, 0.5] if blocks else [1.0, 0.0]
    assert [result["a.i"].at(0.0), result["b.i"].at(0.0)] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("rest", [{}, {"w": 0.0}], ids=["default", "given"])
@pytest.mark.parametrize("w", [1.0, -1.0])
def test_a_freewheel_takes_a_shaft_along_by_its_impulse(w: float, rest: dict[str, float]) -> None:
    c = Circuit()
    a, b = c.add("a", rot.Inertia(J=1.0, w=w)), c.add("b", rot.Inertia(J=3.0, **rest))
    k = c.add("k", rot.OneWayClutch(fn_max=1.0, f_normalized=0.0))
    c.connect(a.flange_b, k.flange_a)
    c.connect(k.flange_b, b.flange_a)
    result = simulate(c, 1.0)
    expected = [0.25, 0.25] if w > 0.0 else [-1.0, 0.0]
    assert [result["a.w"].at(0.0), result["b.w"].at(0.0)] == pytest.approx(expected, rel=1e-12)


def test_a_steady_state_holds_after_the_instant() -> None:
    """What it says of a default is met without an impulse."""
    model = Circuit()
    ground, source = model.add("ground", el.Ground()), model.add("source", el.ConstantVoltage(V=10.0))
    d, store = model.add("d", el.IdealDiode()), model.add("store", el.Capacitor(C=1.0))
    load = model.add("load", el.Resistor(R=5.0))
    model.connect(source.p, d.p)
    model.connect(d.n, store.p, load.p)
    model.connect(source.n, store.n, load.n, ground.p)
    result = simulate(model, 1.0, initial="steady state")
    assert result["store.v"].at(0.0) == pytest.approx(10.0, rel=1e-12)
    assert result.audit().lost == {}


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rest", [{}, {"v": 0.0}], ids=["default", "given"])
def test_what_is_held_takes_nothing_where_a_diode_closes_the_loop(
    rest: dict[str, float], method: str
) -> None:
    """10 V held, 5 A.s through two empty capacitors and the diode: 12.5 J each, 25 J in the diode, all from what holds it."""
    c = Circuit()
    ground, d = c.add("ground", el.Ground()), c.add("d", el.IdealDiode())
    a, b = c.add("a", el.Capacitor(C=1.0, v=FIXED)), c.add("b", el.Capacitor(C=1.0, **rest))
    e = c.add("e", el.Capacitor(C=1.0, **rest))
    c.connect(ground.p, a.n, e.n)
    c.connect(a.p, b.n)
    c.connect(b.p, d.p)
    c.connect(d.n, e.p)
    result = simulate(c, 1.0, method=method)
    audit = result.audit()
    into = [audit.into(name) for name in ("a", "b", "d", "e")]
    assert into == pytest.approx([0.0, 12.5, 25.0, 12.5], abs=1e-10)
    assert audit.lost == pytest.approx({"d.on": 25.0, "contradicting start values": -50.0}, rel=1e-10)
    assert abs(audit.balance) <= 1e-10
    assert result.check().ok


@pytest.mark.parametrize("rest", [{}, {"v": 0.0}], ids=["default", "given"])
def test_a_held_voltage_charges_through_a_diode(rest: dict[str, float]) -> None:
    result = simulate(chain([el.IdealDiode()], [{"v": FIXED}, rest]), 1.0)
    assert voltages(result, 2) == pytest.approx([10.0, 10.0], rel=1e-12)
    audit = result.audit()
    assert [audit.into(name) for name in ("c0", "d0", "c1")] == pytest.approx([0.0, 50.0, 50.0], abs=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_blocking_diodes_that_would_short_a_source_stay_open_under_the_impulse_of_a_coil(method: str) -> None:
    c = Circuit()
    ground = c.add("ground", el.Ground())
    source = c.add("source", el.ConstantVoltage(V=-4.5))
    push = c.add("push", el.ConstantCurrent(I=5.0))
    coil = c.add("coil", el.Inductor(L=3.0))
    below, beside = c.add("below", el.IdealDiode()), c.add("beside", el.IdealDiode())
    c.connect(source.n, push.p, coil.n, below.p, ground.p)
    c.connect(source.p, beside.p)
    c.connect(push.n, coil.p, below.n, beside.n)
    result = simulate(c, 1.0, method=method)
    assert result["coil.i"].at(0.0) == 5.0
    assert result["below.v"].at(0.0) == 0.0
    assert result["beside.v"].at(0.0) == -4.5
