"""Steady states as starts: derivatives of all, or of one part, that are to be zero."""

from collections.abc import Iterator
from math import pi, sin
from math import sqrt as root

import pytest

from acausal import (
    Component,
    Eq,
    InitializationError,
    Parameter,
    ParameterError,
    Statement,
    Structural,
    UnknownPathError,
    Variable,
    connect,
    der,
    reinit,
    simulate,
    sqrt,
    when,
)
from acausal import (
    initial as at_start,
)
from acausal.components import electrical as el
from acausal.components import rotational
from acausal.components.electromechanical import RotationalEMF
from acausal.components.translational import Mass, Rod
from tests.systems.circuits import circuit
from tests.systems.test_origins_of_starts import Filter
from tests.systems.test_starts import Pendulum, state, turned


def test_steady_state_at_the_present_value_of_a_source() -> None:
    V = 10.0 + 2.0 * sin(0.5)
    result = simulate(Filter(), 1e-3, initial="steady state")
    assert dict(result.initial) == pytest.approx({"coil.i": V / 5, "capacitor.v": V * 4 / 5}, rel=1e-12)
    assert {e.reason for e in result.initial.entries} == {"steady state"}


def test_steady_state_beside_a_single_value_or_of_one_part() -> None:
    V, model = 10.0 + 2.0 * sin(0.5), Filter()
    for initial in (
        {"": "steady state", "capacitor.v": 3.0},
        {"coil": "steady state", model.capacitor.v: 3.0},
    ):
        result = simulate(model, 1e-3, initial=initial)
        assert dict(result.initial) == pytest.approx({"coil.i": V - 3.0, "capacitor.v": 3.0}, rel=1e-12)
    with pytest.raises(ParameterError, match="nothing in `line` is differentiated"):
        simulate(model, 1e-3, initial={"line": "steady state"})
    with pytest.raises(UnknownPathError, match="`lien`"):
        simulate(model, 1e-3, initial={"lien": "steady state"})
    with pytest.raises(ParameterError, match="must be a finite number, got 'steady'") as info:
        simulate(model, 1e-3, initial={"line.i": "steady"})
    assert "steady state" in info.value.hint


def test_a_part_at_rest_follows_the_starts_of_the_others() -> None:
    V = 10.0 + 2.0 * sin(0.5)
    result = simulate(Filter(), 1e-3, initial={"coil.i": "steady state"})
    assert dict(result.initial) == pytest.approx({"coil.i": V - 1.0, "capacitor.v": 1.0}, rel=1e-12)
    assert [e.reason for e in result.initial.entries] == ["steady state", "given start"]


class Tank(Component):
    """Inflow 6, outflow 3 sqrt(h); a body between sun and space."""

    h: Variable = Variable(start=1.0)
    T: Variable = Variable(start=300.0)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.h), 6 - 3 * sqrt(self.h))
        yield Eq(der(self.T), 1e-8 * (256.0**4 - self.T**4))


def test_steady_state_of_nonlinear_equations() -> None:
    assert dict(simulate(Tank(), 1.0, initial="steady state").initial) == pytest.approx(
        {"h": 4.0, "T": 256.0}, rel=1e-12
    )


@pytest.mark.parametrize("phi", [-1.0, -2.5])
def test_a_pendulum_hangs_in_the_steady_state(phi: float) -> None:
    result = simulate(Pendulum(start=(("phi", phi), ("w", 3.0))), 1e-3, initial="steady state")
    assert state(result) == turned(-pi / 2, 0.0)


class Counted(Component):
    """A quantity, and what flows out of it in all."""

    x: Variable = Variable()
    e: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), 1 - self.x)
        yield Eq(der(self.e), self.x - 1)


def test_an_integral_that_is_fixed_beside_a_steady_state_need_not_rest() -> None:
    initial = simulate(Counted(), 1.0, initial={"": "steady state", "e": 3.0}).initial
    assert dict(initial) == {"x": 1.0, "e": 3.0}
    assert [e.reason for e in initial.entries] == ["steady state", "initial="]


class Cart(Component):
    """Friction and a push; the position is free."""

    push: Parameter = Parameter(default=0.0)
    s: Variable = Variable()
    v: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.s), self.v)
        yield Eq(der(self.v), self.push - self.v)


def test_a_free_coordinate_keeps_its_start_in_the_steady_state() -> None:
    result = simulate(Cart(s=3.0, v=1.0), 1.0, initial="steady state")
    assert result["s"].at(0.0) == 3.0
    assert result["v"].at(0.0) == pytest.approx(0.0, abs=1e-12)
    assert result.initial.reason("s") == "given start"


def test_what_a_source_drives_for_ever_has_no_steady_state() -> None:
    with pytest.raises(InitializationError, match="steady state"):
        simulate(Cart(push=1.0), 1.0, initial="steady state")
    assert simulate(Cart(push=1.0), 1.0, initial={"v": "steady state"})["v"].at(0.0) == pytest.approx(1.0)


class Driven(Component):
    """A capacitor on a sine beside one that charges over a resistor, and something that jumps at the start."""

    cubic: Structural = Structural(bool, default=False)
    x: Variable = Variable()

    def build(self) -> None:
        self.ground, self.sine, self.driven = (
            el.Ground(),
            el.SineVoltage(V=10.0, f=50.0),
            el.Capacitor(C=1e-3),
        )
        self.supply, self.resistor = el.ConstantVoltage(V=7.0), el.Resistor(R=2.0)
        self.charged = el.Capacitor(C=1e-3)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.ground.p, self.sine.n, self.driven.n, self.supply.n, self.charged.n)
        yield connect(self.sine.p, self.driven.p)
        yield connect(self.supply.p, self.resistor.p)
        yield connect(self.resistor.n, self.charged.p)
        yield Eq(der(self.x), -(self.x**3) if self.cubic else -self.x)
        yield when(at_start(), reinit(self.x, 2.0))


@pytest.mark.parametrize(
    ("cubic", "method"), [(False, "exact"), (False, "explicit"), (True, "explicit"), (True, "implicit")]
)
def test_what_a_source_drives_need_not_rest_after_a_jump_of_something_else(cubic: bool, method: str) -> None:
    """Its rate, 10 V * 2 pi 50 Hz, was no condition of the start, and is none after it."""
    rest = {"driven": "steady state", "charged": "steady state"}
    result = simulate(Driven(cubic=cubic), 1e-4, initial=rest, method=method)
    found = [result[path].at(0.0) for path in ("charged.v", "driven.v", "x", "der(driven.v)")]
    assert found == pytest.approx([7.0, 0.0, 2.0, 1000.0 * pi], rel=1e-9, abs=1e-12)


def test_the_steady_state_of_a_rectifier_is_in_the_mode_that_it_has_then() -> None:
    """The capacitor begins above the source, with the diode open; at rest the diode conducts."""

    class Rectifier(Component):
        def build(self) -> None:
            self.source, self.ground = el.ConstantVoltage(V=10.0), el.Ground()
            self.line, self.coil, self.diode = el.Resistor(R=1.0), el.Inductor(L=1e-3), el.IdealDiode()
            self.capacitor, self.load = el.Capacitor(C=1e-6, v=20.0), el.Resistor(R=9.0)

        def equations(self) -> Iterator[Statement]:
            yield connect(self.source.p, self.line.p)
            yield connect(self.line.n, self.coil.p)
            yield connect(self.coil.n, self.diode.p)
            yield connect(self.diode.n, self.capacitor.p, self.load.p)
            yield connect(self.capacitor.n, self.load.n, self.source.n, self.ground.p)

    result = simulate(Rectifier(), 1e-3, initial="steady state")
    assert result["diode.on"].at(0.0)
    assert dict(result.initial) == pytest.approx({"coil.i": 1.0, "capacitor.v": 9.0}, rel=1e-12)


# -- what moves for ever ---------------------------------------------------------------------------------------------


class Drive(Component):
    """A motor on 12 V and 0.5 ohm with 0.05 N.m/A turns a load."""

    fan: Structural[bool] = Structural(bool, default=False)

    def build(self) -> None:
        self.source, self.ground, self.line = el.ConstantVoltage(V=12.0), el.Ground(), el.Resistor(R=0.5)
        self.coil, self.emf, self.rotor = (
            el.Inductor(L=1e-3),
            RotationalEMF(k=0.05),
            rotational.Inertia(J=1e-3),
        )
        if self.fan:
            self.load = rotational.QuadraticSpeedDependentTorque(tau_nominal=-0.2, w_nominal=100.0)
        else:
            self.load = rotational.ConstantTorque(tau_constant=-0.2)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.line.p)
        yield connect(self.line.n, self.coil.p)
        yield connect(self.coil.n, self.emf.p)
        yield connect(self.emf.n, self.source.n, self.ground.p)
        yield connect(self.emf.flange, self.rotor.flange_a)
        yield connect(self.rotor.flange_b, self.load.flange)


@pytest.mark.parametrize(("fan", "i", "w"), [(False, 4.0, 200.0), (True, 9.0, 150.0)])
def test_a_motor_at_constant_speed_has_no_steady_state_but_with_its_angle_given(
    fan: bool, i: float, w: float
) -> None:
    """Balances of 0.05 i and the load, 0.2 or 0.2 (w / 100)**2, and of 12 = 0.5 i + 0.05 w."""
    model = Drive(fan=fan)
    with pytest.raises(
        InitializationError, match=rf"`emf.phi` at {w:g} rad/s, `rotor.phi` at {w:g} rad/s"
    ) as info:
        simulate(model, 1.0, initial="steady state")
    assert "L.i" not in info.value.what
    assert 'initial={"": "steady state", "emf.phi": 0}' in info.value.hint
    for path in ("emf.phi", "rotor.phi"):
        result = simulate(model, 1.0, initial={"": "steady state", path: 0.3})
        assert result[path].at(0.0) == pytest.approx(0.3, rel=1e-12)
        assert result.initial["coil.i"] == pytest.approx(i, rel=1e-12)
        assert result.initial["rotor.w"] == pytest.approx(w, rel=1e-12)
        assert result["rotor.w"].final == pytest.approx(w, rel=1e-6)


def test_an_integral_that_nothing_reads_is_named_where_it_moves_for_ever() -> None:
    with pytest.raises(
        InitializationError, match=r"`angle` at 2 rad/s, `turns` at -6 per second move for ever"
    ) as info:
        simulate(Spindle(), 1.0, initial="steady state")
    assert '"angle": 0, "turns": 0' in info.value.hint
    initial = {"": "steady state", "angle": 0.0, "turns": 1.0}
    assert dict(simulate(Spindle(), 1.0, initial=initial).initial) == {"w": 2.0, "angle": 0.0, "turns": 1.0}


class Spindle(Component):
    """A speed that settles, and two counts of it."""

    w: Variable = Variable()
    angle: Variable = Variable(unit="rad")
    turns: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.w), 2 - self.w)
        yield Eq(der(self.angle), self.w)
        yield Eq(der(self.turns), -3 * self.w)


class Wound(Component):
    """A spring between a rotor with drag and a shaft that turns at 3 rad/s: at no angle does the rotor rest for long."""

    def build(self) -> None:
        self.shaft, self.spring = rotational.ConstantSpeed(w_fixed=3.0), rotational.Spring(c=1.0)
        self.rotor, self.drag, self.fixed = (
            rotational.Inertia(J=1.0),
            rotational.Damper(d=1.0),
            rotational.Fixed(),
        )

    def equations(self) -> Iterator[Statement]:
        yield connect(self.shaft.flange, self.spring.flange_a)
        yield connect(self.spring.flange_b, self.rotor.flange_a)
        yield connect(self.rotor.flange_b, self.drag.flange_a)
        yield connect(self.drag.flange_b, self.fixed.flange)


def test_what_winds_a_spring_is_not_told_to_leave_the_rest_at_rest() -> None:
    with pytest.raises(InitializationError, match=r"der\(`shaft.phi`\) = 0 cannot hold") as info:
        simulate(Wound(), 1.0, initial="steady state")
    assert info.value.why.startswith("its rate is the same whatever the states are")


class Joined(Component):
    """Two capacitors in parallel, and a leak."""

    def build(self) -> None:
        self.upper, self.lower, self.leak, self.ground = (
            el.Capacitor(C=1.0),
            el.Capacitor(C=2.0),
            el.Resistor(R=5.0),
            el.Ground(),
        )

    def equations(self) -> Iterator[Statement]:
        yield connect(self.upper.p, self.lower.p, self.leak.p)
        yield connect(self.upper.n, self.lower.n, self.leak.n, self.ground.p)


def test_what_follows_from_fixed_values_need_not_rest_either() -> None:
    initial = simulate(Joined(), 1.0, initial={"": "steady state", "upper.v": 3.0}).initial
    assert dict(initial) == {"upper.v": 3.0, "lower.v": 3.0}


# -- starts that are no more than nearly met -------------------------------------------------------------------------


class Ring(Component):
    """A point that glides on a circle of radius 1, and begins beside it."""

    x: Variable = Variable(start=1.0)
    y: Variable = Variable(start=1.0)
    u: Variable = Variable()
    v: Variable = Variable()
    T: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), self.u)
        yield Eq(der(self.y), self.v)
        yield Eq(der(self.u), -self.T * self.x)
        yield Eq(der(self.v), -self.T * self.y)
        yield Eq(self.x**2 + self.y**2, 1)


def test_the_table_of_starts_says_where_the_nearest_point_was_taken() -> None:
    initial = simulate(Ring(), 0.1).initial
    assert (initial["x"], initial["y"]) == pytest.approx((root(0.5), root(0.5)), rel=1e-9)
    assert (
        initial.reason("x") == initial.reason("y") == "nearest to its default start, which others contradict"
    )
    with pytest.warns(UserWarning, match="given starts contradict the model"):
        given = simulate(Ring(x=1.0, y=1.0), 0.1).initial
    assert given.reason("x") == "nearest to its given start, which others contradict"
    one = simulate(Ring(x=0.6), 0.1).initial
    assert (one.reason("x"), one.reason("y")) == ("given start", "follows from the equations")


class Pair(Component):
    """Two masses on a rod of 1 m."""

    def build(self) -> None:
        self.a, self.rod, self.b = Mass(m=1.0, v=2.0), Rod(L=1.0), Mass(m=5.0, v=1.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.a.flange_b, self.rod.flange_a)
        yield connect(self.rod.flange_b, self.b.flange_a)


def test_the_table_of_starts_says_where_default_positions_meet_halfway() -> None:
    with pytest.warns(UserWarning, match="given starts contradict the model"):
        initial = simulate(Pair(), 0.1).initial
    assert (initial["a.s"], initial["b.s"]) == pytest.approx((-0.5, 0.5), rel=1e-12)
    for path in ("a.s", "b.s"):
        assert initial.reason(path) == "nearest to its default start, which others contradict"
    # Speeds are left limits, from which they jump.
    assert initial.reason("a.v") == initial.reason("b.v") == "follows from the equations"
    one = simulate(Pair(), 0.1, initial={"a.s": 3.0, "a.v": 0.0, "b.v": 0.0}).initial
    assert (one["b.s"], one.reason("b.s")) == (pytest.approx(4.0, rel=1e-12), "follows from the equations")


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("start", [-3.0, 0.0, 2.5, 30.0])
@pytest.mark.parametrize("knee", [0.0, 1e-6, 0.7, 50.0])
@pytest.mark.parametrize("loss", [0.0, 1e-3])
def test_a_clamped_coil_rests_where_the_diode_at_its_start_does_not(
    start: float, knee: float, loss: float
) -> None:
    """A diode that conducts at the start keeps the voltage of the coil: no current would rest."""
    model = circuit(
        ("source", el.ConstantVoltage(V=2.8), "a", "0"),
        ("line", el.Resistor(R=1.0), "a", "b"),
        ("diode", el.IdealDiode(Vknee=knee, Ron=loss, Goff=1e-3 * loss), "b", "0"),
        ("coil", el.Inductor(L=0.2, i=start), "b", "0"),
    )
    result = simulate(model, 1.0, initial="steady state")
    if knee > 0.0 or loss > 0.0:
        assert result["coil.i"].at(0.0) == pytest.approx(2.8, rel=1e-12)
    assert result["coil.i"].ptp() <= 1e-12
    assert [event.kind for event in result.events] == ["start"]


@pytest.mark.parametrize("stages", [1, 3])
def test_clamped_capacitors_rest_where_no_diode_at_their_starts_does(stages: int) -> None:
    """Diodes are open at the start, where nothing takes the current of a source: v = Vknee + R I."""
    parts = []
    for n in range(stages):
        parts += [
            (f"source{n}", el.ConstantCurrent(I=-1.0 - n), f"c{n}", "0"),
            (f"store{n}", el.Capacitor(C=1.0), f"c{n}", "0"),
            (f"diode{n}", el.IdealDiode(Vknee=5.0), f"c{n}", f"r{n}"),
            (f"line{n}", el.Resistor(R=0.1), f"r{n}", "0"),
        ]
    result = simulate(circuit(*parts), 1.0, initial="steady state")
    for n in range(stages):
        assert abs(result[f"store{n}.v"].at(0.0)) == pytest.approx(5.1 + 0.1 * n, rel=1e-12)
        assert result[f"store{n}.v"].ptp() <= 1e-11


def test_what_rests_in_no_branch_is_still_named() -> None:
    model = circuit(
        ("source", el.ConstantVoltage(V=2.8), "a", "0"),
        ("diode", el.IdealDiode(Vknee=0.7), "a", "b"),
        ("coil", el.Inductor(L=0.2), "b", "0"),
    )
    with pytest.raises(InitializationError, match=r"there is no steady state.*`coil.i`"):
        simulate(model, 1.0, initial="steady state")
