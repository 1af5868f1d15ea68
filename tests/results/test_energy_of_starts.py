"""Energies of starts that contradict each other: parts are joined as by an ideal switch, and what is open is said."""

import warnings
from collections.abc import Callable, Iterator
from math import sin
from pathlib import Path

import numpy as np
import pytest

from acausal import Circuit, Component, Eq, Parameter, Result, Statement, Variable, der, simulate, time
from acausal.components import electrical as el
from acausal.components import rotational as rot
from acausal.components import translational as tr
from acausal.results.record import STARTS
from tests.systems.circuits import circuit
from tests.systems.test_pendulum import CartesianPendulum

pytestmark = pytest.mark.filterwarnings("ignore:given starts contradict")
END = 2.0
WITH_GEAR = 22.0 / 3.0
"""(J_a + J_b / 4) w_a = J_a 10 + J_b 1 / 2."""
WITH_TURNS = 43.0 / 11.0
"""(4 C_a + C_b) v_b = 2 C_a 10 + C_b 1."""
BENT = 1.9262703142967945
"""Charge of which q + q^3 is 11 - q."""


class Quadratic(el.OnePort):
    """A nonlinear resistor."""

    R: Parameter = Parameter(default=1.0, unit="Ohm")
    k: Parameter = Parameter(default=0.1, unit="Ohm/A")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.v, self.k * self.i * abs(self.i) + self.R * self.i)


class Bent(el.OnePort):
    """A capacitor whose voltage rises with the cube of its charge too."""

    q: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.v, self.q + self.q**3)
        yield Eq(self.i, der(self.q))


def parallel() -> Circuit:
    return circuit(("a", el.Capacitor(C=1.0, v=10.0), "n", "0"), ("b", el.Capacitor(C=1.0, v=0.0), "n", "0"))


def series() -> Circuit:
    return circuit(
        ("s", el.ConstantVoltage(V=10.0), "n", "0"),
        ("a", el.Capacitor(C=1.0, v=0.0), "n", "m"),
        ("b", el.Capacitor(C=4.0, v=0.0), "m", "0"),
    )


def on_a_source() -> Circuit:
    return circuit(("a", el.ConstantVoltage(V=10.0), "n", "0"), ("b", el.Capacitor(C=1.0, v=4.0), "n", "0"))


def masses() -> Circuit:
    made = Circuit()
    a, b = made.add("a", tr.Mass(m=1.0, v=10.0)), made.add("b", tr.Mass(m=3.0, v=0.0))
    made.connect(a.flange_b, b.flange_a)
    return made


def coils(load: Callable[[], Component] = lambda: el.Resistor(R=1.0)) -> Circuit:
    return circuit(
        ("a", el.Inductor(L=1.0, i=10.0), "n", "m"),
        ("b", el.Inductor(L=3.0, i=0.0), "m", "0"),
        ("r", load(), "0", "n"),
    )


def nonlinear() -> Circuit:
    return coils(Quadratic)


def beside_a_rectifier() -> Circuit:
    return circuit(
        ("a", el.Capacitor(C=1.0, v=10.0), "n", "0"),
        ("b", el.Capacitor(C=1.0, v=0.0), "n", "0"),
        ("d", el.IdealDiode(), "n", "k"),
        ("r", el.Resistor(R=1.0), "k", "0"),
    )


def three() -> Circuit:
    """The mean of both others is no contradiction to either, and is missed as they are."""
    return circuit(*[(f"{n}", el.Capacitor(C=1.0, v=5.0 * k), "n", "0") for k, n in enumerate("abc")])


def tiny() -> Circuit:
    return circuit(
        ("a", el.Capacitor(C=1e-12, v=1e3), "n", "m"),
        ("b", el.Capacitor(C=2e-12, v=0.0), "n", "m"),
        ("r", el.Resistor(R=1e3), "n", "m"),
        ("to", el.Resistor(R=1.0), "m", "0"),
    )


def waving() -> Circuit:
    return circuit(
        ("a", el.SineVoltage(V=10.0, f=1.0, phase=1.0), "n", "0"), ("b", el.Capacitor(C=2.0, v=1.0), "n", "0")
    )


def geared() -> Circuit:
    made = Circuit()
    a, b = made.add("a", rot.Inertia(J=1.0, w=10.0)), made.add("b", rot.Inertia(J=2.0, w=1.0))
    gear = made.add("g", rot.IdealGear(ratio=2.0))
    made.connect(a.flange_b, gear.flange_a)
    made.connect(gear.flange_b, b.flange_a)
    return made


def masses_at_a_rod() -> Circuit:
    made = Circuit()
    a, b = made.add("a", tr.Mass(m=1.0, v=10.0)), made.add("b", tr.Mass(m=3.0, v=0.0, s=0.5))
    rod = made.add("rod", tr.Rod(L=0.5))
    made.connect(a.flange_b, rod.flange_a)
    made.connect(rod.flange_b, b.flange_a)
    return made


def transformed() -> Circuit:
    made = Circuit()
    a, b = made.add("a", el.Capacitor(C=2.0, v=10.0)), made.add("b", el.Capacitor(C=3.0, v=1.0))
    t, ground = made.add("t", el.IdealTransformer(n=2.0)), made.add("ground", el.Ground())
    made.connect(a.p, t.p1)
    made.connect(b.p, t.p2)
    made.connect(a.n, t.n1, b.n, t.n2, ground.p)
    return made


def amplified(*more: float) -> Circuit:
    """Half of the charge that two capacitors exchange is drawn from others."""
    made = Circuit()
    a, b = made.add("a", el.Capacitor(C=1.0, v=10.0)), made.add("b", el.Capacitor(C=1.0, v=0.0))
    g, ground = made.add("g", el.CCC(gain=0.5)), made.add("ground", el.Ground())
    driven = [made.add(f"c{k}", el.Capacitor(C=1.0, v=v)) for k, v in enumerate((2.0, *more))]
    made.connect(a.p, g.p1)
    made.connect(g.n1, b.p)
    made.connect(g.p2, *[c.p for c in driven])
    made.connect(a.n, b.n, g.n2, ground.p, *[c.n for c in driven])
    return made


def uncharged() -> Circuit:
    """No start is given: the default is the charge before the first instant."""
    return circuit(("a", el.ConstantVoltage(V=5.0), "n", "0"), ("b", el.Capacitor(C=2.0), "n", "0"))


def uncharged_behind_a_switch() -> Circuit:
    return circuit(
        ("a", el.ConstantVoltage(V=5.0), "n", "m"),
        ("s", el.IdealClosingSwitch(control=True), "n", "k"),
        ("b", el.Capacitor(C=2.0), "k", "m"),
        ("to", el.Resistor(R=1.0), "m", "0"),
    )


def without_flux() -> Circuit:
    return circuit(("a", el.ConstantCurrent(I=4.0), "0", "n"), ("b", el.Inductor(L=2.0), "n", "0"))


def beside_a_given_one() -> Circuit:
    """A given start that holds goes on to hold, and the default that follows it does not jump."""
    return circuit(
        ("a", el.ConstantVoltage(V=5.0), "n", "0"),
        ("b", el.Capacitor(C=2.0), "n", "0"),
        ("c", el.Capacitor(C=1.0, v=2.0), "n", "m"),
        ("d", el.Capacitor(C=1.0), "m", "0"),
    )


def driven() -> Circuit:
    made = Circuit()
    a, b = made.add("a", rot.ConstantSpeed(w_fixed=3.0)), made.add("b", rot.Inertia(J=2.0))
    made.connect(a.flange, b.flange_a)
    return made


CLOSED_FORMS = {
    uncharged: ({"a": -50.0, "b": 25.0}, 25.0),
    uncharged_behind_a_switch: ({"a": -50.0, "b": 25.0, "s": 25.0, "to": 0.0}, 25.0),
    without_flux: ({"a": -32.0, "b": 16.0}, 16.0),
    beside_a_given_one: ({"a": -50.0, "b": 25.0, "c": 0.0, "d": 0.0}, 25.0),
    driven: ({"a": -18.0, "b": 9.0}, 9.0),
    parallel: ({"a": -37.5, "b": 12.5}, 25.0),
    series: ({"s": -80.0, "a": 32.0, "b": 8.0}, 40.0),
    on_a_source: ({"a": -60.0, "b": 42.0}, 18.0),
    masses: ({"a": -46.875, "b": 9.375}, 37.5),
    coils: ({"a": -46.875, "b": 9.375, "r": 0.0}, 37.5),
    nonlinear: ({"a": -46.875, "b": 9.375, "r": 0.0}, 37.5),
    beside_a_rectifier: ({"a": -37.5, "b": 12.5, "d": 0.0}, 25.0),
    three: ({"a": 12.5, "b": 0.0, "c": -37.5}, 25.0),
    tiny: ({"a": -4e-6 / 9.0, "b": 1e-6 / 9.0}, 1e-6 / 3.0),
    # The charge that it takes, at the voltage of the source.
    waving: (
        {"a": -20.0 * sin(1.0) * (10.0 * sin(1.0) - 1.0), "b": 100.0 * sin(1.0) ** 2 - 1.0},
        (10.0 * sin(1.0) - 1.0) ** 2,
    ),
    geared: ({"a": 0.5 * (WITH_GEAR**2 - 100.0), "b": 0.25 * WITH_GEAR**2 - 1.0, "g": 0.0}, None),
    masses_at_a_rod: ({"a": -46.875, "b": 9.375, "rod": 0.0}, 37.5),
    transformed: ({"a": WITH_TURNS**2 * 4.0 - 100.0, "b": 1.5 * (WITH_TURNS**2 - 1.0), "t": 0.0}, None),
    amplified: ({"a": -37.5, "b": 12.5, "g": 1.875, "c0": -1.875}, 25.0),
}


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("method", ["auto", "explicit", "implicit"])
@pytest.mark.parametrize("build", CLOSED_FORMS, ids=lambda b: b.__name__)
def test_parts_are_joined_as_by_an_ideal_switch(build: Callable[[], Circuit], method: str) -> None:
    result = simulate(build(), 1e-8 if build is tiny else END, method=method)
    into, lost = CLOSED_FORMS[build]
    lost = -sum(into.values()) if lost is None else lost
    audit = result.audit()
    carried = {part.path: part.impulsive for part in audit}
    scale = max(map(abs, into.values()))
    assert {path: carried[path] for path in into} == pytest.approx(into, rel=1e-11, abs=1e-13 * scale)
    assert result.events[0].energy_lost == pytest.approx(lost, rel=1e-11) == audit.energy_lost
    assert abs(audit.balance) <= 1e-6 * scale
    result.check().require()
    assert not result.check().unchecked


def joined_and_switched() -> Circuit:
    """What lies at a switch before a contradiction at its end is anybody's guess."""
    return circuit(
        ("a", el.Capacitor(C=1.0, v=10.0), "n", "0"),
        ("b", el.Capacitor(C=1.0, v=0.0), "n", "0"),
        ("s", el.IdealClosingSwitch(control=time >= 0.0), "n", "m"),
        ("c", el.Capacitor(C=1.0, v=3.0), "m", "0"),
    )


def bent() -> Circuit:
    """How the voltage rises on the way is open: the charge of the other one is taken at its own."""
    return circuit(
        ("a", el.Capacitor(C=1.0, v=10.0), "n", "0"),
        ("b", Bent(q=1.0), "n", "0"),
        ("r", el.Resistor(R=1.0), "n", "0"),
    )


OPEN = {
    joined_and_switched: {"a": -365.5 / 9.0, "b": 84.5 / 9.0, "c": 44.0 / 9.0, "s": np.nan},
    bent: {"a": 0.5 * ((11.0 - BENT) ** 2 - 100.0), "b": np.nan},
    lambda: amplified(1.0): {"a": -37.5, "b": 12.5, "g": np.nan, "c0": -1.96875, "c1": -0.46875},
}


@pytest.mark.parametrize("build", OPEN, ids=["switch", "bent", "amplifier"])
def test_what_nothing_determines_is_said(build: Callable[[], Circuit]) -> None:
    result = simulate(build(), END)
    carried = {part.path: part.impulsive for part in result.audit()}
    assert {path: carried[path] for path in OPEN[build]} == pytest.approx(OPEN[build], rel=1e-11, nan_ok=True)
    (path,) = [p for p, e in OPEN[build].items() if np.isnan(e)]
    assert np.isnan(result.energy(path)) and np.isnan(result.events[0].energy_lost)
    found = result.check()
    assert found.ok
    assert [f"`{path}`" in text for text in found.unchecked] == [True]
    assert f"not checked: the energy into `{path}` at the start" in repr(found)
    after = result.audit(1e-300, END)
    assert abs(after.balance) <= 1e-9 * (1.0 + sum(abs(part.energy) for part in after))


def test_what_is_switched_beside_a_contradiction_is_known() -> None:
    model = circuit(
        ("a", el.Capacitor(C=1.0, v=10.0), "n", "0"),
        ("b", el.Capacitor(C=1.0, v=0.0), "n", "0"),
        ("d", el.Capacitor(C=1.0, v=7.0), "k", "0"),
        ("s", el.IdealClosingSwitch(control=time >= 0.0), "k", "m"),
        ("c", el.Capacitor(C=1.0, v=3.0), "m", "0"),
    )
    assert simulate(model, END).audit().lost == pytest.approx({"s.closed": 4.0, STARTS: 25.0}, rel=1e-11)


def test_the_energy_of_what_carries_no_impulse_is_known() -> None:
    """The momentum of 10 V.s drives 2.5 A through both coils, 12.5 J, all of which the resistor takes."""
    assert simulate(coils(), 100.0).energy("r") == pytest.approx(12.5, rel=1e-12)
    known = simulate(beside_a_rectifier(), 100.0).energy("r")
    assert known == pytest.approx(25.0, rel=1e-12)


@pytest.mark.parametrize("at", [-1.0, 0.0, 1.0], ids=["closed", "start", "later"])
def test_switches_around_empty_capacitors_in_series_take_what_they_held(at: float) -> None:
    """One of the capacitors is bridged: the other one takes all of the voltage, which one of the switches held alone."""
    model = circuit(
        ("s", el.ConstantVoltage(V=5.0), "n", "0"),
        ("k", el.IdealClosingSwitch(control=time >= at), "n", "a"),
        ("c", el.Capacitor(C=2.0), "a", "b"),
        ("across", el.IdealClosingSwitch(control=time >= at), "a", "b"),
        ("d", el.Capacitor(C=3.0), "b", "0"),
    )
    result = simulate(model, END)
    found = {part.path: part.energy for part in result.audit()}
    expected = {"s": -75.0, "k": 37.5, "c": 0.0, "across": 0.0, "d": 37.5, "ground": 0.0}
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert result.audit().energy_lost == pytest.approx(37.5, rel=1e-12)
    assert result.check().ok and not result.check().unchecked


@pytest.mark.parametrize("at", [0.0, 1.0])
def test_what_a_switch_joins_is_known_at_the_start_too(at: float) -> None:
    model = circuit(
        ("a", el.Capacitor(C=1.0, v=10.0), "n", "0"),
        ("s", el.IdealClosingSwitch(control=time >= at), "n", "m"),
        ("b", el.Capacitor(C=1.0, v=0.0), "m", "0"),
    )
    result = simulate(model, END)
    found = [result.energy(part) for part in ("a", "b", "s")]
    assert found == pytest.approx([-37.5, 12.5, 25.0], rel=1e-12)
    assert result.audit().lost == pytest.approx({"s.closed": 25.0}, rel=1e-12)


def test_angles_that_are_integrals_are_read_at_the_start() -> None:
    """Beside wheels that a gear with losses joins, whose starts contradict each other, one turns by 7 rad."""
    losses = ((0.0, 0.9, 0.85, 0.0, 0.0), (3.0, 0.95, 0.9, 0.2, 0.1))
    model = Circuit()
    a, b = model.add("a", rot.Inertia(J=1.0, w=3.0)), model.add("b", rot.Inertia(J=2.0, w=0.0))
    gear = model.add("gear", rot.LossyGear(ratio=1.0, lossTable=losses))
    model.add("free", rot.Inertia(J=5.0, w=7.0))
    model.connect(a.flange_b, gear.flange_a)
    model.connect(gear.flange_b, b.flange_a)
    result = simulate(model, 1.0)
    assert result["free.phi"].final == pytest.approx(7.0, rel=1e-12)
    assert result.energy("free") == pytest.approx(0.0, abs=1e-12)
    assert result["a.w"].at(0.0) == pytest.approx(result["b.w"].at(0.0), rel=1e-12)


def test_starts_that_agree_lose_nothing() -> None:
    model = circuit(
        ("a", el.Capacitor(C=1.0, v=5.0), "n", "0"),
        ("b", el.Capacitor(C=1.0, v=5.0), "n", "0"),
        ("r", el.Resistor(R=1.0), "n", "0"),
    )
    result = simulate(model, 100.0)
    assert [result.energy(p) for p in ("a", "b", "r")] == pytest.approx([-12.5, -12.5, 25.0], rel=1e-12)
    assert result.audit().lost == {}


JUMPS = {
    uncharged: (("b.v", 0.0, 5.0), ("a.p.i", -10.0, "A.s")),
    uncharged_behind_a_switch: (("b.v", 0.0, 5.0), ("s.i", 10.0, "A.s")),
    without_flux: (("b.i", 0.0, 4.0), ("a.n.v", 8.0, "V.s")),
    beside_a_given_one: (("b.v", 0.0, 5.0), ("b.p.i", 10.0, "A.s")),
    driven: (("b.w", 0.0, 3.0), ("a.flange.tau", -6.0, "N.m.s")),
}


@pytest.mark.parametrize("build", JUMPS, ids=lambda b: b.__name__)
def test_a_default_that_the_equations_contradict_jumps_without_a_warning(
    build: Callable[[], Circuit],
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = simulate(build(), END)
    first, (jump, impulse) = result.events[0], JUMPS[build]
    assert len(first.jumps) == 1
    assert first.jumps[0] == (*jump[:2], pytest.approx(jump[2], rel=1e-12))
    assert first.impulses[0] == (impulse[0], pytest.approx(impulse[1], rel=1e-12), impulse[2])
    assert f"jumps from {jump[1]:g}" in str(result.initial)


@pytest.mark.parametrize("build", [uncharged, without_flux, driven, parallel, series])
def test_what_stands_beside_changes_no_jump(build: Callable[[], Circuit]) -> None:
    """Beside curves defaults follow; a pendulum that is connected to nothing is beside nothing else."""
    alone, made = simulate(build(), END), build()
    made.add("pendulum", CartesianPendulum(x=0.6, y=-0.8))
    beside = simulate(made, END)
    for name in ("jumps", "impulses"):
        given, found = getattr(alone.events[0], name), getattr(beside.events[0], name)
        assert [x[0] for x in found] == [x[0] for x in given]
        assert [x[1] for x in found] == pytest.approx([x[1] for x in given], abs=1e-12)
    assert sum(beside.audit().lost.values()) == pytest.approx(sum(alone.audit().lost.values()), rel=1e-9)


def at_a_wall() -> Circuit:
    made = Circuit()
    wall, rod, mass = (
        made.add("wall", tr.Fixed(s0=0.3)),
        made.add("rod", tr.Rod(L=0.5)),
        made.add("a", tr.Mass(m=1.0)),
    )
    made.connect(wall.flange, rod.flange_a)
    made.connect(rod.flange_b, mass.flange_a)
    return made


def between_walls() -> Circuit:
    made = Circuit()
    walls, damper = (
        [made.add(f"w{k}", tr.Fixed(s0=0.3 + k)) for k in range(2)],
        made.add("d", tr.Damper(d=1.0)),
    )
    made.connect(walls[0].flange, damper.flange_a)
    made.connect(walls[1].flange, damper.flange_b)
    return made


@pytest.mark.parametrize("build", [at_a_wall, between_walls])
def test_default_positions_only_say_where_to_look(build: Callable[[], Circuit]) -> None:
    result = simulate(build(), END)
    assert not result.events[0].jumps and not result.audit().lost
    assert not result.check().unchecked


def test_defaults_follow_given_starts() -> None:
    """Of two masses in one piece the speed of one is given: that of the other was the same before."""
    model = Circuit()
    a, b = model.add("a", tr.Mass(m=1.0, v=3.0)), model.add("b", tr.Mass(m=3.0))
    model.connect(a.flange_b, b.flange_a)
    result = simulate(model, END)
    assert result["b.v"].at(0.0) == pytest.approx(3.0, rel=1e-12)
    assert not result.events[0].jumps and not result.audit().lost


@pytest.mark.parametrize("build", [parallel, masses, joined_and_switched])
def test_files_keep_energies_of_starts(build: Callable[[], Circuit], tmp_path: Path) -> None:
    result = simulate(build(), END)
    result.save(tmp_path / "run")
    saved = Result.load(next(tmp_path.iterdir()))
    assert [p.energy for p in saved.audit()] == pytest.approx(
        [p.energy for p in result.audit()], rel=0.0, nan_ok=True
    )
    assert saved.audit().lost == pytest.approx(result.audit().lost, rel=0.0, nan_ok=True)
    assert saved.check().unchecked == result.check().unchecked
