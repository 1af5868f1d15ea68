"""Modes of a residual in semi-explicit form: states, elimination, hidden constraints, and why some have none."""

from collections.abc import Iterator

import numpy as np
import pytest

from acausal import (
    Circuit,
    Component,
    Eq,
    Input,
    Parameter,
    Residual,
    SingularModelError,
    Statement,
    StructuralError,
    Variable,
    compile_model,
    connect,
    cos,
    der,
    sin,
    time,
)
from acausal.compilation.semi_explicit import SemiExplicit
from acausal.components.blocks import Step
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    CoupledInductors,
    Ground,
    IdealClosingSwitch,
    Inductor,
    Resistor,
    SignalVoltage,
    SineVoltage,
)
from acausal.components.rotational import Clutch, IdealGear, Inertia, Torque
from acausal.components.translational import ConstantForce, Fixed, ImpactStop, Mass
from examples.buck_converter import Buck

Statements = Iterator[Statement]


def slopes(form: SemiExplicit, r: Residual, x: list[float], t: float = 0.0) -> np.ndarray:
    """Derivatives of the states of a mode without algebraic unknowns, at the parameters of the model."""
    assert len(form.w) == 0
    return np.array(form.f(t, x, [], r.u.start, r.p.start, r.d.start)).ravel()


def worst(form: SemiExplicit, r: Residual, m: np.ndarray, seed: int = 0) -> float:
    """Largest residual of the equations as written, at random states with the values that the form gives, of unit size."""
    rng = np.random.default_rng(seed)
    x, u = rng.normal(size=len(form.x)), rng.normal(size=len(r.u))
    xdot, at_x, at_w = form.full(0.3, x, [], u, r.p.start, r.d.start)
    values = [np.array(a).ravel() for a in (xdot, at_x, at_w)]
    size = max(1.0, *(float(np.abs(v).max()) for v in values if len(v)))
    F = np.array(r.F(0.3, *values, u, r.p.start, r.d.start, m)[0])
    return float(np.abs(F).max()) / size


# -- states of modes ---------------------------------------------------------------------------------------------


def test_a_converter_in_continuous_conduction() -> None:
    """L i' = Vin - v while closed, -v while the diode conducts; C v' = i - v / R."""
    r = Residual.of(Buck())
    i, v, L, C, R = 2.0, 9.0, 47e-6, 100e-6, 5.0
    for closed, diode, source in ((True, "off", 24.0), (False, "on", 0.0)):
        form = r.semi_explicit({"switch.closed": closed, "diode.on": diode})
        assert form.x.names == ("inductor.i", "capacitor.v")
        np.testing.assert_allclose(slopes(form, r, [i, v]), [(source - v) / L, (i - v / R) / C], rtol=1e-14)


def test_a_mode_may_have_fewer_states() -> None:
    r = Residual.of(Buck())
    form = r.semi_explicit({"switch.closed": False, "diode.on": "off"})
    assert (form.x.names, form.differentiations) == (("capacitor.v",), 1)
    np.testing.assert_allclose(slopes(form, r, [9.0]), [-9.0 / 5e-4], rtol=1e-14)
    xdot, x, _ = form.full(0, 9.0, [], [], r.p.start, r.d.start)
    assert (float(x[0]), float(xdot[0])) == (0.0, 0.0)


def test_parameters_that_are_zero_are_part_of_the_structure() -> None:
    form = Residual.of(Buck()).semi_explicit({"switch.closed": True, "diode.on": "off"})
    assert form.fixed == ("switch.Ron", "diode.Goff")


def test_other_parameters_stay_free() -> None:
    r = Residual.of(Buck())
    form = r.semi_explicit({"switch.closed": False, "diode.on": "on"})
    p = r.p.values({"load.R": 2.0, "inductor.L": 1.0})
    found = np.array(form.f(0, [1.0, 4.0], [], [], p, r.d.start)).ravel()
    np.testing.assert_allclose(found, [-4.0, (1.0 - 2.0) / 1e-4], rtol=1e-14)


def ball() -> Component:
    model = Circuit()
    floor, stop = model.add("floor", Fixed()), model.add("stop", ImpactStop())
    mass, weight = (
        model.add("ball", Mass(m=2.0, s=1.0)),
        model.add("weight", ConstantForce(f_constant=-19.62)),
    )
    model.connect(floor.flange, stop.flange_a)
    model.connect(stop.flange_b, mass.flange_a, weight.flange)
    return model


def test_a_body_at_rest_in_contact() -> None:
    """Position, speed and acceleration are constrained: index 3."""
    r = Residual.of(ball())
    free, contact = (r.semi_explicit({"stop.contact": b}) for b in (False, True))
    np.testing.assert_allclose(slopes(free, r, [1.0, 0.5]), [0.5, -9.81], rtol=1e-14)
    assert (len(contact.x), contact.differentiations) == (0, 2)
    w = contact.full(0, [], [], [], r.p.start, [])[2]
    assert float(w[r.w.index("stop.f")]) == pytest.approx(-19.62, rel=1e-14)


def drive() -> Component:
    """Two inertias on a gear of ratio 10 behind a clutch."""
    model = Circuit()
    push, torque = model.add("push", Step(startTime=0.0)), model.add("torque", Torque())
    motor, gear = model.add("motor", Inertia(J=1e-3)), model.add("gear", IdealGear(ratio=10.0))
    clutch, load = (
        model.add("clutch", Clutch(fn_max=5.0, f_normalized=1.0)),
        model.add("load", Inertia(J=2.0)),
    )
    model.connect(push.y, torque.tau)
    model.connect(torque.flange, motor.flange_a)
    model.connect(motor.flange_b, gear.flange_a)
    model.connect(gear.flange_b, clutch.flange_a)
    model.connect(clutch.flange_b, load.flange_a)
    return model


def test_a_locked_clutch_and_a_gear_couple_inertias() -> None:
    """1 N.m at the motor: 10 N.m against J = 2 + 10^2 * 1e-3 at the load."""
    r = Residual.of(drive())
    form = r.semi_explicit({"clutch.state": "stick"})
    assert len(form.x) == 3  # two angles: a locked clutch holds its slip, not its angle
    xdot, x, _ = form.full(1.0, np.zeros(len(form.x)), [], [], r.p.start, r.d.start)
    assert float(xdot[r.x.index("load.w")]) == pytest.approx(10.0 / 2.1, rel=1e-13)
    assert worst(form, r, r.mode({"clutch.state": "stick"})) < 1e-13


def transformer() -> Component:
    model = Circuit()
    source, ground = model.add("source", SineVoltage(V=10.0, f=50.0)), model.add("ground", Ground())
    coils = model.add("coils", CoupledInductors(L1=1.0, L2=4.0, k=0.9))
    load, filter = model.add("load", Resistor(R=3.0)), model.add("filter", Inductor(L=0.5))
    model.connect(source.p, coils.p1)
    model.connect(source.n, coils.n1, coils.n2, load.n, ground.p)
    model.connect(coils.p2, filter.p)
    model.connect(filter.n, load.p)
    return model


MODELS = [
    (Buck(), {"switch.closed": True}), (Buck(), {"switch.closed": False, "diode.on": "on"}), (Buck(), {"diode.on": "off"}),
    (ball(), {}), (ball(), {"stop.contact": True}), (drive(), {}), (drive(), {"clutch.state": "forward"}),
    (drive(), {"clutch.state": "free"}), (transformer(), {}),
]  # fmt: skip


@pytest.mark.parametrize(("model", "mode"), MODELS)
def test_all_values_satisfy_the_equations_as_written(model: Component, mode: dict[str, object]) -> None:
    r = Residual.of(model)
    assert worst(r.semi_explicit(mode), r, r.mode(mode)) < 1e-12


@pytest.mark.parametrize(
    ("model", "stop"), [(Buck(), 50e-6), (Buck(duty=0.02), 50e-6), (transformer(), 0.05)]
)
def test_modes_of_a_run_have_as_many_states(model: Component, stop: float) -> None:
    program = compile_model(model)
    r = program.residual()
    for visit in program.simulate(stop).modes:
        assert len(r.semi_explicit(visit.branches).x) == visit.states


def test_capacitors_in_parallel_are_one_state() -> None:
    model = Circuit()
    source, ground = model.add("source", ConstantVoltage(V=6.0)), model.add("ground", Ground())
    line = model.add("line", Resistor(R=2.0))
    a, b = model.add("a", Capacitor(C=1.0)), model.add("b", Capacitor(C=2.0, v=1.0))
    model.connect(source.p, line.p)
    model.connect(line.n, a.p, b.p)
    model.connect(source.n, a.n, b.n, ground.p)
    r = Residual.of(model)
    form = r.semi_explicit()
    assert form.x.names == ("b.v",)  # the one whose start value was given
    np.testing.assert_allclose(slopes(form, r, [3.0]), [(6.0 - 3.0) / 2.0 / 3.0], rtol=1e-14)


# -- what is not linear ------------------------------------------------------------------------------------------


class Crank(Component):
    """An inertia that depends on the angle, and a speed that follows explicitly."""

    a: Parameter = Parameter(default=0.5)
    phi: Variable = Variable(start=0.2)
    w: Variable = Variable()
    speed: Variable = Variable()
    power: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.phi), self.w)
        yield Eq((1 + self.a * sin(self.phi)) * der(self.w), 1.0)
        yield Eq(self.speed, self.w * cos(self.phi))
        yield Eq(self.power, self.speed * self.w)


def test_what_is_linear_in_one_unknown_is_solved() -> None:
    r = Residual.of(Crank())
    form = r.semi_explicit()
    np.testing.assert_allclose(slopes(form, r, [0.7, 3.0]), [3.0, 1 / (1 + 0.5 * np.sin(0.7))], rtol=1e-14)
    assert worst(form, r, r.m.start) < 1e-14


class Implicit(Component):
    """A derivative and an unknown that have no closed form."""

    x: Variable = Variable()
    y: Variable = Variable(start=1.0, nominal=2.0)

    def equations(self) -> Statements:
        yield Eq(der(self.x) + 0.1 * sin(der(self.x)), self.y)
        yield Eq(self.y + sin(self.y), self.x + 1.0)


def test_implicit_derivatives_and_unknowns_stay_algebraic() -> None:
    r = Residual.of(Implicit())
    form = r.semi_explicit()
    assert sorted(form.w.names) == ["der(x)", "y"]
    w = form.w.values({"der(x)": 0.8, "y": 0.5})
    found = sorted(np.array(form.g(0, 2.0, w, [], [], [])).ravel())
    expected = sorted([0.8 + 0.1 * np.sin(0.8) - 0.5, 0.5 + np.sin(0.5) - 3.0])
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert float(form.f(0, 2.0, w, [], [], [])) == 0.8


# -- modes without such a form -----------------------------------------------------------------------------------


class Pendulum(Component):
    L: Parameter = Parameter(default=1.0)
    x: Variable = Variable(start=0.6)
    y: Variable = Variable(start=-0.8)
    vx: Variable = Variable()
    vy: Variable = Variable()
    pull: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.x), self.vx)
        yield Eq(der(self.y), self.vy)
        yield Eq(der(self.vx), -self.pull * self.x)
        yield Eq(der(self.vy), -self.pull * self.y - 9.81)
        yield Eq(self.x**2 + self.y**2, self.L**2)


def test_a_nonlinear_constraint_is_named_with_what_it_ties() -> None:
    with pytest.raises(
        StructuralError, match="`x`, `y` are tied by a constraint: this mode has index 3"
    ) as info:
        Residual.of(Pendulum()).semi_explicit()
    assert r"`Pendulum: Eq(x**2 + y**2, L**2)`" in info.value.why
    assert info.value.where[0].path == "Pendulum"


class Singular(Component):
    """Two equations that hold the algebraic unknowns in one combination only."""

    x: Variable = Variable(start=1.0)
    a: Variable = Variable()
    b: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.x), self.a)
        yield Eq(sin(self.a + self.b), self.x)
        yield Eq((self.a + self.b) ** 2, 2 * self.x)


def test_a_singular_jacobian_is_named() -> None:
    with pytest.raises(StructuralError, match="do not determine `a`, `b`: its index is above 1") as info:
        Residual.of(Singular()).semi_explicit()
    assert "they tie `x`" in info.value.why


def test_a_short_circuit_is_a_contradiction() -> None:
    with pytest.raises(StructuralError, match="contradict each other") as info:
        Residual.of(Buck()).semi_explicit({"switch.closed": True, "diode.on": "on"})
    assert info.value.why.endswith("say 0 = 24")


class Loaded(Component):
    """An open input across a capacitor."""

    u: Input = Input(unit="V")

    def build(self) -> None:
        self.source, self.store, self.ground = SignalVoltage(v=self.u), Capacitor(C=1.0), Ground()

    def equations(self) -> Statements:
        yield connect(self.source.p, self.store.p)
        yield connect(self.source.n, self.store.n, self.ground.p)


def test_a_state_that_must_follow_an_input_is_named() -> None:
    with pytest.raises(StructuralError, match="`store.v` must follow the input `u`"):
        Residual.of(Loaded()).semi_explicit()


def test_a_state_that_must_follow_a_source_has_its_derivative() -> None:
    model = Circuit()
    source, store, ground = (
        model.add("s", SineVoltage(V=2.0, f=1.0)),
        model.add("c", Capacitor(C=3.0)),
        model.add("g", Ground()),
    )
    model.connect(source.p, store.p)
    model.connect(source.n, store.n, ground.p)
    r = Residual.of(model)
    form = r.semi_explicit()
    w = form.full(0.1, [], [], [], r.p.start, [])[2]
    expected = 3.0 * 2.0 * 2 * np.pi * np.cos(0.2 * np.pi)
    assert float(w[r.w.index("c.i")]) == pytest.approx(expected, rel=1e-14)


def test_what_nothing_determines_is_named() -> None:
    model = Circuit()
    source, ground = model.add("source", ConstantVoltage(V=1.0)), model.add("ground", Ground())
    a, b = (model.add(n, IdealClosingSwitch(control=time > 1.0)) for n in "ab")
    model.connect(source.p, a.p)
    model.connect(a.n, b.p)
    model.connect(b.n, source.n, ground.p)
    with pytest.raises(SingularModelError, match="leave `b.v` open"):
        Residual.of(model).semi_explicit({"a.closed": False, "b.closed": False})
