"""Impacts at instants in which other things happen too: what jumps, what does not, and where the energy goes."""

import numpy as np
import pytest

from acausal import (
    Circuit,
    Component,
    Discrete,
    Eq,
    If,
    Impact,
    ImpactError,
    Parameter,
    Result,
    Variable,
    assign,
    der,
    simulate,
    sqrt,
    time,
    when,
)
from acausal.components.blocks import BooleanConstant
from acausal.components.electrical import Capacitor, Ground, IdealClosingSwitch
from acausal.components.translational import Fixed, HardStop, ImpactStop, Mass
from acausal.modeling import DryFriction
from tests.components.signals import assembled, run

METHODS = pytest.mark.parametrize("method", ["auto", "explicit"])


def balance(result: Result) -> float:
    """Sum of the energies into all parts, relative to the largest."""
    audit = result.audit()
    return abs(audit.balance) / max(abs(p.energy) for p in audit)


def row(e: float, v: list[float], **options: object) -> Result:
    """Balls of 2 kg in a row; the moving ones of them meet the others, which touch, after 1 s."""
    parts: dict[str, Component] = {}
    ties = []
    first = next((k for k, speed in enumerate(v) if speed != v[0]), len(v))
    for k, speed in enumerate(v):
        parts[f"b{k}"] = Mass(m=2.0, s=float(k) - v[0] * (k < first), v=speed)
    for k in range(len(v) - 1):
        parts[f"c{k}"] = ImpactStop(restitution=e, s_rel0=1.0)
        ties += [(f"b{k}.flange_b", f"c{k}.flange_a"), (f"c{k}.flange_b", f"b{k + 1}.flange_a")]
    return simulate(assembled(*ties, **parts), 2.0, **options)


@pytest.mark.sweep(every=4)
@METHODS
@pytest.mark.parametrize("n", [3, 5, 7])
def test_newtons_cradle(n: int, method: str) -> None:
    for moving in (1, n // 2 + 1):
        result = row(1.0, [0.5] * moving + [0.0] * (n - moving), method=method)
        last = [result[f"b{k}.v"].final for k in range(n)]
        assert last == pytest.approx([0.0] * (n - moving) + [0.5] * moving, abs=1e-9)
        assert [e.t for e in result.events] == pytest.approx([0.0, 1.0], abs=1e-9)
        assert balance(result) < 1e-9
        for k in range(n - 1):
            assert result.energy(f"c{k}") == pytest.approx(0.0, abs=1e-9)


@METHODS
def test_a_cradle_with_losses_keeps_its_momentum(method: str) -> None:
    result = row(0.6, [1.0, 0.0, 0.0, 0.0], method=method)
    v = np.array([result[f"b{k}.v"].final for k in range(4)])
    assert v.sum() == pytest.approx(1.0, rel=1e-9)
    assert (np.diff(v) >= -1e-5).all()
    lost = [result.energy(f"c{k}") for k in range(3)]
    assert min(lost) > 0.0
    assert sum(lost) == pytest.approx(1.0 - (v**2).sum(), rel=1e-8)
    assert balance(result) < 1e-9


def test_two_balls_that_close_a_row_from_both_sides_act_together() -> None:
    parts = {
        f"b{k}": Mass(m=1.0, s=s, v=v) for k, (s, v) in enumerate([(-1.0, 1.0), (1.0, 0.0), (3.0, -1.0)])
    }
    stops = {f"c{k}": ImpactStop(restitution=0.5, s_rel0=1.0) for k in range(2)}
    ties = [(f"b{k}.flange_b", f"c{k}.flange_a") for k in range(2)]
    ties += [(f"c{k}.flange_b", f"b{k + 1}.flange_a") for k in range(2)]
    result = run(2.0, *ties, **parts, **stops)
    assert [result[f"b{k}.v"].final for k in range(3)] == pytest.approx([-0.5, 0.0, 0.5], abs=1e-12)


class Ball(Component):
    """A ball without weight that meets a wall after 1 s."""

    e: Parameter = Parameter(default=0.5)
    m: Parameter = Parameter(default=1.0)
    x: Variable = Variable(start=1.0)
    v: Variable = Variable(start=-1.0)
    f: Variable = Variable()

    def equations(self):
        yield Eq(der(self.x), self.v)
        yield Eq(self.m * der(self.v), self.f)
        yield Impact(self.x, self.f, restitution=self.e)


class Pushed(Ball):
    """A ball on the wall, pressed against it by a force that grows from zero: the gap departs with its third derivative."""

    push: Parameter = Parameter(default=1.0)
    p: Variable = Variable()

    def equations(self):
        yield Eq(der(self.x), self.v)
        yield Eq(self.m * der(self.v), self.f + self.p)
        yield Eq(der(self.p), -self.push)
        yield Impact(self.x, self.f, restitution=self.e)


@pytest.mark.parametrize("push", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("e", [0.0, 0.5])
def test_a_contact_that_is_pressed_from_zero_on_is_in_force_at_once(push: float, e: float) -> None:
    result = simulate(Pushed(e=e, push=push, x=0.0, v=0.0, p=0.0), 1.0, method="exact")
    assert [event.t for event in result.events] == [0.0, 0.0]
    assert all(event.jumps == () for event in result.events)
    assert (result["x"].final, result["v"].final) == (0.0, 0.0)
    assert result["f"].final == pytest.approx(push, rel=1e-12)


@METHODS
def test_unconnected_balls_have_their_own_restitution(method: str) -> None:
    class Model(Component):
        def build(self) -> None:
            self.a, self.b, self.c = Ball(e=0.5), Ball(e=0.8, m=7.0), Ball(e=0.0)

    result = simulate(Model(), 2.0, method=method)
    assert [result[f"{k}.v"].final for k in "abc"] == pytest.approx([0.5, 0.8, 0.0], abs=1e-9)


class Coincidence(Ball):
    """With the impact two capacitors are connected, two wheels are coupled, and a block sticks on the ground."""

    u1: Variable = Variable(start=10.0)
    u2: Variable = Variable(start=2.0)
    i: Variable = Variable()
    w1: Variable = Variable(start=6.0)
    w2: Variable = Variable(start=0.0)
    tau: Variable = Variable()
    s: Variable = Variable(start=1.0)
    u: Variable = Variable(start=0.0)
    grip: Variable = Variable()
    closed: Discrete = Discrete(bool)

    def equations(self):
        yield from super().equations()
        yield Eq(self.closed, time >= 1.0)
        yield Eq(1e-6 * der(self.u1), -self.i)
        yield Eq(3e-6 * der(self.u2), self.i)
        yield If(self.closed, [Eq(self.u1, self.u2)], [Eq(self.i, 0)], name="switch")
        yield Eq(2.0 * der(self.w1), -self.tau)
        yield Eq(4.0 * der(self.w2), self.tau)
        yield If(self.closed, [Eq(self.w1, self.w2)], [Eq(self.tau, 0)], name="clutch")
        yield Eq(der(self.s), self.u)
        yield Eq(der(self.u), 3.0 - self.grip)
        yield DryFriction(self.u, self.grip, sliding=4.0, breakaway=5.0, name="ground")


@METHODS
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_bounce_touches_nothing_else(method: str, e: float) -> None:
    result = simulate(Coincidence(e=e), 2.0, method=method)
    assert result["v"].final == pytest.approx(e, abs=1e-9)
    assert (result["u1"].final, result["u2"].final) == pytest.approx((4.0, 4.0), rel=1e-9)
    assert (result["w1"].final, result["w2"].final) == pytest.approx((2.0, 2.0), rel=1e-9)
    assert (result["u"].final, result["s"].final) == pytest.approx((0.0, 1.0), abs=1e-9)
    lost: dict[str, float] = {}
    for event in result.events:
        for path, energy in event.lost.items():
            lost[path] = lost.get(path, 0.0) + energy
    assert lost.get("contact", 0.0) == pytest.approx((1.0 - e**2) / 2.0, abs=1e-9)
    assert lost["switch"] == pytest.approx(24e-6, rel=1e-8)
    assert lost["clutch"] == pytest.approx(24.0, rel=1e-8)


class Geared(Component):
    """A ball that meets a body after 1 s, which moves another one twice as fast without slip."""

    e: Parameter = Parameter(default=0.5)
    x: Variable = Variable(start=-1.0)
    v: Variable = Variable(start=1.0)
    x1: Variable = Variable(start=0.0)
    v1: Variable = Variable(start=0.0)
    x2: Variable = Variable(start=0.0)
    v2: Variable = Variable()
    f: Variable = Variable()
    g: Variable = Variable()

    def equations(self):
        yield Eq(der(self.x), self.v)
        yield Eq(der(self.x1), self.v1)
        yield Eq(der(self.x2), self.v2)
        yield Eq(self.x2, 2.0 * self.x1)
        yield Eq(1.0 * der(self.v), -self.f)
        yield Eq(3.0 * der(self.v1), self.f - 2.0 * self.g)
        yield Eq(0.5 * der(self.v2), self.g)
        yield Impact(self.x1 - self.x, self.f, restitution=self.e)


@METHODS
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_impact_on_a_body_behind_a_gear(method: str, e: float) -> None:
    """The geared body weighs 3 + 2**2 * 0.5 = 5."""
    result = simulate(Geared(e=e), 1.5, method=method)
    p = (1 + e) / (1 + 1 / 5)
    assert result["v"].final == pytest.approx(1 - p, rel=1e-8)
    assert result["v1"].final == pytest.approx(p / 5, rel=1e-8)
    assert result["v2"].final == pytest.approx(2 * p / 5, rel=1e-8)


@METHODS
def test_rigidly_coupled_masses_rebound_as_one(method: str) -> None:
    circuit = assembled(
        ("wall.flange", "stop.flange_a"),
        ("stop.flange_b", "a.flange_a"),
        ("a.flange_b", "b.flange_a"),
        wall=Fixed(),
        stop=ImpactStop(restitution=0.5),
        a=Mass(m=1.0, s=1.0, v=-2.0),
        b=Mass(m=4.0),
    )
    result = simulate(circuit, 1.0, method=method)
    assert result["b.v"].final == pytest.approx(1.0, rel=1e-9)
    assert result.energy("stop") == pytest.approx(7.5, rel=1e-9)
    assert balance(result) < 1e-9


@pytest.mark.sweep(every=4)
@METHODS
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_mass_that_starts_on_a_stop_and_moves_into_it(method: str, e: float) -> None:
    """The impulse of the first instant and its loss are booked."""
    for stop, tie in (
        (HardStop(s_min=0.0, s_max=1.0, restitution=e), "stop.flange"),
        (ImpactStop(restitution=e), ""),
    ):
        ties = (
            [("mass.flange_a", tie)]
            if tie
            else [("wall.flange", "stop.flange_a"), ("stop.flange_b", "mass.flange_a")]
        )
        parts = {"mass": Mass(m=2.0, s=0.0, v=-3.0), "stop": stop} | ({} if tie else {"wall": Fixed()})
        with pytest.warns(UserWarning, match="moves `mass.v` from -3"):
            result = simulate(assembled(*ties, **parts), 0.2, method=method)
        assert result["mass.v"].final == pytest.approx(3.0 * e, abs=1e-9)
        assert result.energy("stop") == pytest.approx(9.0 * (1 - e**2), abs=1e-9)
        assert result.energy("mass") == pytest.approx(-9.0 * (1 - e**2), abs=1e-9)
        assert result.audit().energy_lost == pytest.approx(9.0 * (1 - e**2), abs=1e-9)
        assert abs(result.audit().balance) < 1e-9


@pytest.mark.sweep(every=4)
@METHODS
@pytest.mark.parametrize("e", [0.01, 0.5, 1.0])
@pytest.mark.parametrize("begin", [0.0, 1e3, 1e6])
def test_an_impact_late_in_time(method: str, e: float, begin: float) -> None:
    """The instant is known to a unit in the last place of time, the gap to the way that the ball moves in it."""
    result = simulate(Ball(e=e), begin + 1.5, t_start=begin, method=method)
    assert result["v"].final == pytest.approx(e, rel=1e-8)
    assert len(result.events) == 2


@METHODS
def test_a_restitution_above_one_adds_energy(method: str) -> None:
    with pytest.raises(ImpactError, match="no motion follows the impact at contact") as info:
        simulate(Ball(e=1.2), 2.0, method=method)
    assert "would add energy" in info.value.why


class Sliding(Component):
    """A block that hits the ground with u downwards and v along it; the friction there is mu times the normal force."""

    e: Parameter = Parameter(default=0.5)
    mu: Parameter = Parameter(default=0.3)
    h: Variable = Variable(start=1.0)
    u: Variable = Variable(start=-1.0)
    v: Variable = Variable(start=1.0)
    n: Variable = Variable()
    t: Variable = Variable()

    def equations(self):
        yield Eq(der(self.h), self.u)
        yield Eq(2.0 * der(self.u), self.n)
        yield Eq(2.0 * der(self.v), -self.t)
        yield Impact(self.h, self.n, restitution=self.e)
        yield DryFriction(self.v, self.t, sliding=self.mu * self.n, breakaway=self.mu * self.n, name="ground")


@pytest.mark.sweep(every=4)
@METHODS
@pytest.mark.parametrize("v", [1.0, -1.0, 0.2, 0.0])
@pytest.mark.parametrize("e", [0.0, 0.5])
def test_friction_impulses_stay_within_their_cone(method: str, e: float, v: float) -> None:
    """It slides with mu p, or sticks where that is enough: |v+| = max(|v| - mu (1 + e), 0)."""
    result = simulate(Sliding(e=e), 2.0, initial={"v": v}, method=method)
    assert result["u"].final == pytest.approx(e, abs=1e-8)
    assert result["v"].final == pytest.approx(np.sign(v) * max(abs(v) - 0.3 * (1 + e), 0.0), abs=1e-8)


class Relativistic(Component):
    """A body whose momentum is no linear function of its speed meets a wall."""

    e: Parameter = Parameter(default=0.5)
    x: Variable = Variable(start=1.0)
    v: Variable = Variable(start=-0.8)
    p: Variable = Variable(start=-0.8 / 0.6)
    f: Variable = Variable()

    def equations(self):
        yield Eq(der(self.x), self.v)
        yield Eq(self.p * sqrt(1 - self.v**2), self.v)
        yield Eq(der(self.p), self.f)
        yield Impact(self.x, self.f, restitution=self.e)


def test_a_law_that_is_linear_is_not_applied_to_nonlinear_momenta() -> None:
    with pytest.raises(ImpactError, match="impact at contact") as info:
        simulate(Relativistic(), 2.5)
    assert "no linear function" in info.value.why
    assert simulate(Relativistic(e=0.0), 2.5)["v"].final == pytest.approx(0.0, abs=1e-9)


class Pendulum(Component):
    """A bob on a thread that hits a wall; a capacitor is connected to another one at the same instant."""

    e: Parameter = Parameter(default=0.5)
    x: Variable = Variable(start=0.8)
    z: Variable = Variable(start=-0.6)
    vx: Variable = Variable()
    vz: Variable = Variable()
    pull: Variable = Variable()
    push: Variable = Variable()
    u1: Variable = Variable(start=10.0)
    u2: Variable = Variable(start=2.0)
    i: Variable = Variable()
    hit: Discrete = Discrete(bool)

    def equations(self):
        yield Eq(der(self.x), self.vx)
        yield Eq(der(self.z), self.vz)
        yield Eq(2.0 * der(self.vx), -self.pull * self.x + self.push)
        yield Eq(2.0 * der(self.vz), -self.pull * self.z - 2.0 * 9.81)
        yield Eq(self.x**2 + self.z**2, 1.0)
        yield Impact(self.x + 0.3, self.push, restitution=self.e, name="wall")
        yield when(self.x + 0.3 <= 0, assign(self.hit, True))
        yield Eq(1e-6 * der(self.u1), -self.i)
        yield Eq(3e-6 * der(self.u2), self.i)
        yield If(self.hit, [Eq(self.u1, self.u2)], [Eq(self.i, 0)], name="switch")


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_charges_and_an_impact_in_one_instant_of_a_nonlinear_model(e: float) -> None:
    """The bob arrives with m v**2 / 2 = m g (z0 - z1); the wall takes its share 1 - e**2, whatever the direction."""
    result = simulate(Pendulum(e=e), 1.0)
    event = result.events[1]
    kinetic = 2.0 * 9.81 * (-0.6 + np.sqrt(1 - 0.09))
    after = result["vx"].at(event.t) ** 2 + result["vz"].at(event.t) ** 2
    assert after == pytest.approx(e**2 * kinetic, rel=1e-5, abs=1e-9)
    assert event.lost.get("wall", 0.0) == pytest.approx((1 - e**2) * kinetic, rel=1e-5, abs=1e-9)
    assert event.lost["switch"] == pytest.approx(24e-6, rel=1e-6)
    assert (result["u1"].final, result["u2"].final) == pytest.approx((4.0, 4.0), rel=1e-9)


def test_charge_that_flows_at_the_start_is_booked() -> None:
    """1 F at 10 V and 3 F at 2 V become parallel: C1 C2 / (C1 + C2) * (8 V)**2 / 2 = 24 J are lost."""
    circuit = Circuit()
    ground, switch = (
        circuit.add("ground", Ground()),
        circuit.add("switch", IdealClosingSwitch(Ron=0.0, Goff=0.0)),
    )
    a, b = circuit.add("a", Capacitor(C=1.0, v=10.0)), circuit.add("b", Capacitor(C=3.0, v=2.0))
    closed = circuit.add("closed", BooleanConstant(k=True))
    circuit.connect(a.n, b.n, ground.p)
    circuit.connect(a.p, switch.p)
    circuit.connect(switch.n, b.p)
    circuit.connect(closed.y, switch.control)
    with pytest.warns(UserWarning, match="at the start"):
        result = simulate(circuit, 1.0)
    assert (result["a.v"].final, result["b.v"].final) == pytest.approx((4.0, 4.0), rel=1e-12)
    assert result.energy("a") == pytest.approx(8.0 - 50.0, rel=1e-12)
    assert result.energy("b") == pytest.approx(24.0 - 6.0, rel=1e-12)
    assert result.energy("switch") == pytest.approx(24.0, rel=1e-12)
    assert balance(result) < 1e-12
