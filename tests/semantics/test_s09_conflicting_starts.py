"""S9: fixed starts must hold; others are left limits that the restart moves with conserved quantities."""

from fractions import Fraction as F
from itertools import permutations

import numpy as np
import pytest

from acausal import (
    Circuit,
    Component,
    Eq,
    InitializationError,
    NonFiniteError,
    Parameter,
    ParameterError,
    Start,
    Variable,
    connect,
    der,
    exp,
    simulate,
    sin,
)
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Diode,
    Ground,
    IdealClosingSwitch,
    IdealDiode,
    Inductor,
    Resistor,
)
from acausal.components.rotational import IdealGear, IdealPlanetary, Inertia
from tests.oracles.networks import Element
from tests.systems.network_models import model


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


ORDERS = [tuple(order) for order in permutations(("source", "c0", "c1", "c2"))]


def in_series(order: tuple[str, ...], V: float, C: tuple[float, ...], **starts: float | Start) -> Circuit:
    """Capacitors in series on a source, declared in an order."""
    circuit = Circuit()
    ground = circuit.add("ground", Ground())
    given = {name: {"v": start} for name, start in starts.items()}
    made = {f"c{k}": Capacitor(C=C[k], **given.get(f"c{k}", {})) for k in range(3)}
    part = {n: circuit.add(n, ConstantVoltage(V=V) if n == "source" else made[n]) for n in order}
    circuit.connect(part["source"].p, part["c0"].p)
    circuit.connect(part["c0"].n, part["c1"].p)
    circuit.connect(part["c1"].n, part["c2"].p)
    circuit.connect(part["c2"].n, part["source"].n, ground.p)
    return circuit


@pytest.mark.parametrize("order", ORDERS[::5])
@pytest.mark.parametrize("fixed", [False, True])
def test_defaults_beside_a_start_that_holds_move_with_the_charge_conserved(
    order: tuple[str, ...], fixed: bool
) -> None:
    """3 V of 10 V are taken: 1 F and 2 F, whose common node keeps its charge, share 7 V as 14/3 and 7/3."""
    result = simulate(in_series(order, 10.0, (1.0, 1.0, 2.0), c0=Start(3.0, fixed=fixed)), 1.0)
    assert result["c0.v"].at(0.0) == pytest.approx(3.0, rel=1e-12)
    assert result["c1.v"].at(0.0) == pytest.approx(14.0 / 3.0, rel=1e-12)
    assert result["c2.v"].at(0.0) == pytest.approx(7.0 / 3.0, rel=1e-12)
    moved = {name: (before, after) for name, before, after in result.events[0].jumps}
    assert moved["c1.v"] == pytest.approx((0.0, 14.0 / 3.0))
    assert moved["c2.v"] == pytest.approx((0.0, 7.0 / 3.0))


@pytest.mark.parametrize("order", ORDERS[::5])
def test_small_voltages_of_defaults_do_not_depend_on_the_order(order: tuple[str, ...]) -> None:
    result = simulate(in_series(order, 0.5, (1.0, 1.0, 1.0), c0=0.53), 1.0)
    assert [result[f"{c}.v"].at(0.0) for c in ("c0", "c1", "c2")] == pytest.approx(
        [0.53, -0.015, -0.015], rel=1e-12
    )


def test_defaults_beside_a_value_of_the_run_move_with_the_charge_conserved() -> None:
    model = in_series(ORDERS[0], 10.0, (1.0, 1.0, 2.0))
    result = simulate(model, 1.0, initial={"c0.v": 3.0})
    assert [result[f"{c}.v"].at(0.0) for c in ("c0", "c1", "c2")] == pytest.approx(
        [3.0, 14.0 / 3.0, 7.0 / 3.0], rel=1e-12
    )
    both = simulate(model, 1.0, initial={"c0.v": 3.0, "c1.v": 3.0})
    assert [both[f"{c}.v"].at(0.0) for c in ("c0", "c1", "c2")] == pytest.approx([3.0, 3.0, 4.0], rel=1e-12)


def test_defaults_move_with_the_charge_conserved_beside_nonlinear_elements() -> None:
    circuit = in_series(ORDERS[0], 10.0, (1.0, 1.0, 2.0), c0=Start(3.0, fixed=True))
    diode, r = circuit.add("diode", Diode()), circuit.add("r", Resistor(R=1.0))
    circuit.connect(circuit.source.p, r.p)
    circuit.connect(r.n, diode.p)
    circuit.connect(diode.n, circuit.ground.p)
    result = simulate(circuit, 1e-3)
    assert [result[f"{c}.v"].at(0.0) for c in ("c0", "c1", "c2")] == pytest.approx(
        [3.0, 14.0 / 3.0, 7.0 / 3.0], rel=1e-9
    )


@pytest.mark.parametrize("fixed", [False, True])
def test_speeds_beside_one_that_holds_move_with_the_momentum_conserved(fixed: bool) -> None:
    """Wheel with 10 rad/s on the carrier: a blow (1, ratio) * h of the planets starts sun and ring.

    J_s w_s = h and J_r w_r = ratio * h, with w_s + ratio * w_r = (1 + ratio) * 10.
    """
    ratio, J_s, J_r = 2.0, 0.5, 4.0
    circuit = Circuit()
    gear = circuit.add("gear", IdealPlanetary(ratio=ratio))
    sun, ring = circuit.add("sun", Inertia(J=J_s)), circuit.add("ring", Inertia(J=J_r))
    carrier = circuit.add("carrier", Inertia(J=1.0, w=Start(10.0, fixed=fixed)))
    circuit.connect(sun.flange_a, gear.sun)
    circuit.connect(ring.flange_a, gear.ring)
    circuit.connect(carrier.flange_a, gear.carrier)
    result = simulate(circuit, 0.1)
    h = (1.0 + ratio) * 10.0 / (1.0 / J_s + ratio**2 / J_r)
    assert result["carrier.w"].at(0.0) == pytest.approx(10.0, rel=1e-12)
    assert result["sun.w"].at(0.0) == pytest.approx(h / J_s, rel=1e-12)
    assert result["ring.w"].at(0.0) == pytest.approx(ratio * h / J_r, rel=1e-12)


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_a_fixed_speed_turns_what_is_geared_to_it(order: tuple[str, ...]) -> None:
    circuit = Circuit()
    made = {"a": Inertia(J=1.0, w=Start(6.0, fixed=True)), "b": Inertia(J=5.0)}
    part = {name: circuit.add(name, made[name]) for name in order}
    gear = circuit.add("gear", IdealGear(ratio=3.0))
    circuit.connect(part["a"].flange_b, gear.flange_a)
    circuit.connect(gear.flange_b, part["b"].flange_a)
    result = simulate(circuit, 1.0)
    assert result["a.w"].at(0.5) == pytest.approx(6.0, rel=1e-12)
    assert result["b.w"].at(0.5) == pytest.approx(2.0, rel=1e-12)


@pytest.mark.filterwarnings("ignore:given starts contradict:UserWarning")
@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("volts", [1e-6, 1.0])
@pytest.mark.parametrize("order", list(permutations("abde"))[::5])
def test_a_default_beside_contradicting_starts_does_not_depend_on_the_order(
    order: tuple[str, ...], volts: float, beside: bool
) -> None:
    """1 F at 1 V and 2 F at 0.1 V in parallel, with 3 F at 1 V behind them: 4 F around all three begin at 0.55 V + 1 V.

    The charges of both nodes are kept, in units of ``volts``: 7 e - 3 d = 1.2 + 4 * 1.55 and 6 d - 3 e = 3 - 1.2. A diode in a
    circuit of its own changes nothing.
    """
    farads, starts = {"a": 1.0, "b": 2.0, "d": 3.0, "e": 4.0}, {"a": 1.0, "b": 0.1, "d": 1.0}
    circuit = Circuit()
    ground = circuit.add("ground", Ground())
    c = {
        k: circuit.add(k, Capacitor(C=farads[k], **({"v": volts * starts[k]} if k in starts else {})))
        for k in order
    }
    circuit.connect(c["a"].p, c["b"].p, c["e"].p)
    circuit.connect(c["a"].n, c["b"].n, c["d"].p)
    circuit.connect(c["d"].n, c["e"].n, ground.p)
    if beside:
        source, diode = circuit.add("source", ConstantVoltage(V=-1.0)), circuit.add("diode", IdealDiode())
        circuit.connect(source.p, diode.p)
        circuit.connect(source.n, diode.n, circuit.add("other", Ground()).p)
    result = simulate(circuit, 1.0)
    e, d = np.linalg.solve([[7.0, -3.0], [-3.0, 6.0]], [1.2 + 4.0 * 1.55, 3.0 - 1.2])
    found = [result[f"{k}.v"].at(0.0) / volts for k in "abde"]
    assert found == pytest.approx([e - d, e - d, d, e], rel=1e-12)


class Watched(Component):
    """Capacitors in series on 10 V; a switch across the first closes above a level of its voltage."""

    level: Parameter = Parameter(default=5.0)

    def build(self) -> None:
        self.ground, self.source, self.switch = Ground(), ConstantVoltage(V=10.0), IdealClosingSwitch()
        self.c0, self.c1, self.c2 = Capacitor(C=1.0, v=3.0), Capacitor(C=1.0), Capacitor(C=2.0)

    def equations(self):
        yield connect(self.ground.p, self.source.n, self.c2.n)
        yield connect(self.source.p, self.c0.p, self.switch.p)
        yield connect(self.c0.n, self.c1.p, self.switch.n)
        yield connect(self.c1.n, self.c2.p)
        yield Eq(self.switch.control, self.c0.v > self.level)


def test_comparisons_of_the_first_instant_see_the_start_that_holds() -> None:
    """The charge that all three would share if none held, 5.8 V on the first, closes no switch."""
    result = simulate(Watched(), 1.0)
    assert [result[f"{c}.v"].at(0.0) for c in ("c0", "c1", "c2")] == pytest.approx(
        [3.0, 14.0 / 3.0, 7.0 / 3.0]
    )


def test_a_start_that_a_switch_undoes_is_a_left_limit_only() -> None:
    """Shorted from 3 V: the charge of the node between the others is kept, 20/3 V and 10/3 V."""
    with pytest.warns(UserWarning, match=r"c0\.v"):
        result = simulate(Watched(level=2.0), 1.0)
    assert [result[f"{c}.v"].at(0.0) for c in ("c0", "c1", "c2")] == pytest.approx(
        [0.0, 20.0 / 3.0, 10.0 / 3.0]
    )


@pytest.mark.sweep(every=4)
@pytest.mark.filterwarnings("ignore:given starts contradict:UserWarning")
@pytest.mark.parametrize("volts", [1e-6, 1.0, 1e4])
@pytest.mark.parametrize("farads", [1e-9, 1.0])
@pytest.mark.parametrize("load", ["R", "N"])
@pytest.mark.parametrize("shorted", ["X", ""])
def test_the_charge_of_a_node_is_kept_where_a_constraint_fixes_another(
    shorted: str, load: str, farads: float, volts: float
) -> None:
    """Three capacitors in a loop share the charges of its nodes whether the load is linear or cubic.

    A transformer whose sides face each other leaves one of the nodes no voltage; the other keeps its charge.
    """
    C1, C2, C3 = (farads * c for c in (2.0, 0.25, 0.5))
    v1, v2, v3 = (volts * v for v in (0.5, 4.5, -1.5))
    network = [
        Element("C", "C1", "n1", "0", F(C1), F(v1)),
        Element(load, "L", "n2", "0", F(4.0 / farads if load == "R" else farads / 4.0)),
        Element("C", "C2", "n2", "n1", F(C2), F(v2)),
        Element("C", "C3", "n2", "0", F(C3), F(v3)),
    ]
    if shorted == "X":
        network.append(Element("X", "X1", "0", "n1", F(3), ("n1", "0")))
    result = simulate(model(network, 1.0), 1e-3, impulses="allow")
    # Charges of the nodes over their voltages (n2, n1).
    charges = np.array([[C2 + C3, -C2], [-C2, C1 + C2]]) / farads
    kept = np.array([C2 * v2 + C3 * v3, C1 * v1 - C2 * v2]) / farads
    if shorted == "X":
        charges[1], kept[1] = [0.0, 1.0], 0.0
    n2, n1 = np.linalg.solve(charges, kept)
    found = [result[f"{c}.v"].at(0.0) for c in ("C1", "C2", "C3")]
    assert found == pytest.approx([n1, n2 - n1, n2], rel=1e-9, abs=1e-9 * volts)


class Pair(Component):
    """Two equal diodes at one capacitor."""

    def build(self) -> None:
        self.source, self.ground, self.resistor = ConstantVoltage(V=10.0), Ground(), Resistor(R=1e3)
        self.capacitor, self.a, self.b = Capacitor(C=1e-6), Diode(), Diode()

    def equations(self):
        yield connect(self.ground.p, self.source.n, self.capacitor.n, self.a.n, self.b.n)
        yield connect(self.source.p, self.resistor.p)
        yield connect(self.resistor.n, self.capacitor.p, self.a.p, self.b.p)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("i", [1e-3, 1e-6, 1e-9, 1e-12, 1e-14])
def test_fixed_currents_contradict_each_other_however_small_they_are(i: float) -> None:
    """The network carries 10 mA: what exceeds the rounding of that is still a current."""
    with pytest.raises(InitializationError, match=r"a\.i"):
        simulate(Pair(), 1e-6, initial={"a.i": i, "b.i": 2.0 * i})
    result = simulate(Pair(), 1e-6, initial={"a.i": i})
    # The law takes 1 uA from a sum of that size, which leaves its last digit.
    rounding = 1e-6 * np.finfo(float).eps
    assert [result[f"{d}.i"].at(0.0) for d in "ab"] == pytest.approx([i, i], rel=1e-9, abs=rounding)


class Alike(Component):
    """Two capacitors in parallel and two inductors in series, behind a resistor."""

    def build(self) -> None:
        self.source, self.ground, self.resistor = ConstantVoltage(V=10.0), Ground(), Resistor(R=1e3)
        self.c, self.d, self.k, self.l = (
            Capacitor(C=1e-6),
            Capacitor(C=3e-6),
            Inductor(L=1e-6),
            Inductor(L=3e-6),
        )

    def equations(self):
        yield connect(self.source.p, self.resistor.p)
        yield connect(self.resistor.n, self.c.p, self.d.p, self.k.p)
        yield connect(self.k.n, self.l.p)
        yield connect(self.l.n, self.source.n, self.c.n, self.d.n, self.ground.p)


@pytest.mark.parametrize(("a", "b"), [("c.v", "d.v"), ("k.i", "l.i")])
@pytest.mark.parametrize("value", [0.0, 1e-17, 1e-11])
def test_equal_states_are_told_from_different_ones_near_zero(a: str, b: str, value: float) -> None:
    """Beside 10 V and 10 mA."""
    result = simulate(Alike(), 1e-3, initial={a: value, b: value})
    assert [result[a].at(0.0), result[b].at(0.0)] == [value, value]
    with pytest.raises(InitializationError, match=f"{a}|{b}"):
        simulate(Alike(), 1e-3, initial={a: value, b: value + 5e-12})


class Led(Component):
    """States that fixed values of what follows from them lead to 26 000 times their scale."""

    x: Variable = Variable(start=1.0)
    z: Variable = Variable(start=1.0)
    y: Variable = Variable()
    u: Variable = Variable()

    def equations(self):
        yield Eq(der(self.x), -2755.0 * self.y)
        yield Eq(der(self.z), -2755.0 * self.u)
        yield Eq(self.y + 296078.0 * self.y**3 + 0.1 * sin(self.u), self.x - 26372.656)
        yield Eq(self.u + 2754.631 * self.u * exp(-(self.y**2)), self.z - 26372.656 * self.y)


def test_fixed_values_hold_as_exactly_as_the_states_that_they_follow_from_round() -> None:
    """A last digit of ``x`` is 4e-12, of which ``y`` takes about as much, and ``u`` ten times that."""
    result = simulate(Led(), 1e-6, initial={"y": 1e-13, "u": 0.3})
    assert result["x"].at(0.0) == pytest.approx(26372.656 + 0.1 * np.sin(0.3), rel=1e-14)
    assert result["y"].at(0.0) == pytest.approx(1e-13, abs=1e-10)
    assert result["u"].at(0.0) == pytest.approx(0.3, abs=1e-9)


def test_one_variable_has_one_start() -> None:
    circuit = Circuit()
    a, ground = circuit.add("a", Capacitor(C=1e-6)), circuit.add("ground", Ground())
    load = circuit.add("load", Resistor(R=1e3))
    circuit.connect(a.p, load.p)
    circuit.connect(a.n, load.n, ground.p)
    with pytest.raises(ParameterError, match=r"`initial` gives `a\.v` twice"):
        simulate(circuit, 1e-3, initial={a.v: 5.0, "a.v": 6.0})


def test_a_start_beyond_the_range_of_numbers_is_named_without_warnings() -> None:
    circuit = Circuit()
    source, ground = circuit.add("source", ConstantVoltage(V=10.0)), circuit.add("ground", Ground())
    load, a = circuit.add("load", Resistor(R=1e3)), circuit.add("a", Capacitor(C=1e-6))
    circuit.connect(source.p, load.p)
    circuit.connect(load.n, a.p)
    circuit.connect(source.n, a.n, ground.p)
    with pytest.raises(NonFiniteError, match="beyond the range of doubles"):
        simulate(circuit, 1e-3, initial={"a.v": 1e308})
