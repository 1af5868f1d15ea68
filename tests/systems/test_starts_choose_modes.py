"""A start begins in a mode in which given values hold, whichever variables they are given for."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import acausal as ac
import acausal.components.electrical as el
import acausal.components.planar as pl
import acausal.components.rotational as ro
import acausal.components.translational as tr

METHODS = ("exact", "implicit")


def stated(how: str, value: float) -> Any:
    return ac.Start(value, fixed=True) if how == "fixed" else value


def run(model: ac.Component, t: float, **settings: Any) -> ac.Result:
    """A run without any warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return ac.simulate(model, t, **settings)


def braked(m: dict[str, Any] | None = None, fr: Any = None, **damper: Any) -> ac.Circuit:
    """A mass of 1 kg with dry friction and a damper of 1 N s/m to the ground."""
    c = ac.Circuit()
    mass, ground = c.add("m", tr.Mass(m=1.0, **(m or {}))), c.add("x", tr.Fixed())
    friction = c.add("f", tr.CoulombFriction(f_coulomb=10.0, **({} if fr is None else {"v_rel": fr})))
    damper_ = c.add("d", tr.Damper(d=1.0, **damper))
    c.connect(ground.flange, friction.flange_a, damper_.flange_a)
    c.connect(mass.flange_a, friction.flange_b, damper_.flange_b)
    return c


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("how", ["given", "fixed"])
@pytest.mark.parametrize("v", [-3.0, 2e-3, 500.0])
@pytest.mark.parametrize("of", ["v_rel", "f", "friction"])
def test_a_value_of_a_damper_or_friction_makes_a_mass_slide(of: str, v: float, how: str, method: str) -> None:
    """v' = -v - F sgn(v) while it slides, so that v = (|v0| + F) exp(-t) - F."""
    value = stated(how, v)
    model = braked(fr=value) if of == "friction" else braked(**{of: value})
    result = run(model, 1e-4, method=method)
    assert result["m.v"].at(0.0) == pytest.approx(v, rel=1e-12)
    t = 5e-5
    assert result["m.v"].at(t) == pytest.approx(
        math.copysign((abs(v) + 10.0) * math.exp(-t) - 10.0, v), rel=1e-6
    )


def test_a_value_of_the_run_makes_a_mass_slide_too() -> None:
    result = run(braked(), 1e-4, initial={"d.f": -3.0})
    assert (result["m.v"].at(0.0), result["f.state"].at(0.0)) == (pytest.approx(-3.0), 2)


def test_without_a_value_friction_holds() -> None:
    assert run(braked(), 1e-4)["m.v"].at(0.0) == 0.0


def test_what_a_state_is_given_wins_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="moves `d.v_rel` from -3 to 2 "):
        result = ac.simulate(braked(m={"v": 2.0}, v_rel=-3.0), 1e-4)
    assert result["m.v"].at(0.0) == 2.0


def test_fixed_values_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ac.InitializationError, match="v_rel"):
        ac.simulate(braked(v_rel=ac.Start(-3.0, fixed=True)), 1e-4, initial={"m.v": 2.0})


def test_only_what_a_value_moves_slides() -> None:
    """Two masses on dry friction with a spring that is too weak to move the one at rest."""
    c = ac.Circuit()
    x, spring = c.add("x", tr.Fixed()), c.add("s", tr.Spring(c=1.0))
    starts: dict[str, dict[str, Any]] = {"1": {"v_rel": 4.0}, "2": {}}
    for k, start in starts.items():
        m, f, d = (
            c.add("m" + k, tr.Mass(m=1.0)),
            c.add("f" + k, tr.CoulombFriction(f_coulomb=10.0)),
            c.add("d" + k, tr.Damper(d=1.0, **start)),
        )
        c.connect(x.flange, f.flange_a, d.flange_a)
        c.connect(m.flange_a, f.flange_b, d.flange_b, spring.flange_a if k == "1" else spring.flange_b)
    result = run(c, 1e-3)
    assert [result[f"m{k}.v"].at(0.0) for k in "12"] == [pytest.approx(4.0), 0.0]
    assert [result[f"f{k}.state"].at(0.0) for k in "12"] == [1, 0]


def coil(R: dict[str, Any] | None = None, L: dict[str, Any] | None = None) -> ac.Circuit:
    """A coil of 1 H that drives a current through a diode and 1 Ohm against 5 V."""
    c = ac.Circuit()
    V, r, D, L_, g = (
        c.add("V", el.ConstantVoltage(V=-5.0)),
        c.add("R", el.Resistor(R=1.0, **(R or {}))),
        c.add("D", el.IdealDiode()),
        c.add("L", el.Inductor(L=1.0, **(L or {}))),
        c.add("g", el.Ground()),
    )
    c.connect(V.p, r.p)
    c.connect(r.n, D.p)
    c.connect(D.n, L_.p)
    c.connect(L_.n, V.n, g.p)
    return c


def with_condition(of: Callable[[ac.Circuit], Any]) -> ac.Circuit:
    c = coil()
    c.state(ac.initially(of(c)))
    return c


COILS: dict[str, Callable[[], ac.Circuit]] = {
    "voltage of the resistor": lambda: coil(R={"v": 2.0}),
    "fixed voltage of the resistor": lambda: coil(R={"v": ac.Start(2.0, fixed=True)}),
    "voltage of the coil": lambda: coil(L={"v": -7.0}),
    "fixed voltage of the coil": lambda: coil(L={"v": ac.Start(-7.0, fixed=True)}),
    "initial equation": lambda: with_condition(lambda c: ac.Eq(c.R.v, 2.0)),
    "initial equation of the rate": lambda: with_condition(lambda c: ac.Eq(ac.der(c.L.i), -7.0)),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", COILS)
def test_a_value_lets_a_diode_conduct(name: str, method: str) -> None:
    """i' = -5 - i from 2 A."""
    result = run(COILS[name](), 0.1, method=method)
    for t in (0.0, 0.1):
        assert result["L.i"].at(t) == pytest.approx(7.0 * math.exp(-t) - 5.0, rel=1e-6)


@pytest.mark.parametrize("how", ["given", "fixed"])
@pytest.mark.parametrize("of", ["v", "i"])
def test_a_value_lets_a_diode_block(of: str, how: str) -> None:
    """A capacitor of 1 F above the voltage of its rectifier, discharged by 2 Ohm."""
    c = ac.Circuit()
    value = stated(how, 7.0 if of == "v" else 3.5)
    V, D, C, R, g = (
        c.add("V", el.ConstantVoltage(V=5.0)),
        c.add("D", el.IdealDiode()),
        c.add("C", el.Capacitor(C=1.0)),
        c.add("R", el.Resistor(R=2.0, **{of: value})),
        c.add("g", el.Ground()),
    )
    c.connect(V.p, D.p)
    c.connect(D.n, C.p, R.p)
    c.connect(R.n, C.n, V.n, g.p)
    result = run(c, 0.1)
    assert [result["C.v"].at(t) for t in (0.0, 0.1)] == pytest.approx([7.0, 7.0 * math.exp(-0.05)], rel=1e-9)


def test_the_start_of_a_flange_beside_friction() -> None:
    c = ac.Circuit()
    m, f, x = (
        c.add("m", tr.Mass(m=1.0)),
        c.add("f", tr.CoulombFriction(f_coulomb=10.0)),
        c.add("x", tr.Fixed()),
    )
    i = c.add("i", tr.InitializeFlange(s_start=0.5, v_start=-3.0, use_a_start=False))
    c.connect(x.flange, f.flange_a)
    c.connect(m.flange_a, f.flange_b, i.flange)
    result = run(c, 0.2)
    # v = -3 + 10 t, s = 0.5 - 3 t + 5 t^2
    assert [result["m.s"].at(0.0), result["m.v"].at(0.0)] == pytest.approx([0.5, -3.0], abs=1e-12)
    assert [result["m.s"].at(0.2), result["m.v"].at(0.2)] == pytest.approx([0.1, -1.0], abs=1e-9)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("tau", [0.3, 10.0])
@pytest.mark.parametrize(("phi", "w"), [(1.4, -0.12), (0.3, 0.5), (-2.0, 3.0), (3.0, -20.0)])
def test_a_pendulum_with_dry_friction_begins_with_its_speed(phi: float, w: float, tau: float) -> None:
    """(J + m r^2) w' = -m g r cos(phi) - tau sgn(w)"""
    m, r, J, g = 0.68, 0.35, 0.05, 9.80665
    c = ac.Circuit()
    world, joint = c.add("world", pl.World()), c.add("j", pl.Revolute(phi=phi, w=w, useAxisFlange=True))
    arm, body = c.add("arm", pl.FixedTranslation(r=(r, 0.0))), c.add("b", pl.Body(m=m, I=J))
    friction, ground = c.add("f", ro.CoulombFriction(tau_coulomb=tau)), c.add("x", ro.Fixed())
    c.connect(world.frame_b, joint.frame_a)
    c.connect(joint.frame_b, arm.frame_a)
    c.connect(arm.frame_b, body.frame_a)
    c.connect(ground.flange, friction.flange_a)
    c.connect(friction.flange_b, joint.axis)
    t = 1e-5
    result = run(c, t)
    rate = (-m * g * r * math.cos(phi) - math.copysign(tau, w)) / (J + m * r**2)
    assert [result["j.phi"].at(0.0), result["j.w"].at(0.0)] == pytest.approx([phi, w], rel=1e-12)
    assert result["j.w"].at(t) - w == pytest.approx(rate * t, rel=1e-3)


@pytest.mark.parametrize("friction", ["bearing", "brake"])
def test_a_slider_crank_with_friction_begins_with_its_speed(friction: str) -> None:
    """x = r cos(phi) + sqrt(1 - r^2 sin(phi)^2), and its rate."""
    r, phi, w = 0.3, 1.0, 8.0
    c = ac.Circuit()
    world, hinge = c.add("world", pl.World()), c.add("h", pl.Revolute(useAxisFlange=True, phi=phi, w=w))
    arm, near = c.add("arm", pl.FixedTranslation(r=(r, 0.0))), c.add("near", pl.Body(m=1.0, I=0.02))
    rod, slide, far = c.add("rod", pl.Rod(L=1.0)), c.add("p", pl.Prismatic()), c.add("far", pl.Body(m=2.0))
    held = (
        ro.BearingFriction(tau_coulomb=0.8, tau_breakaway=1.0)
        if friction == "bearing"
        else ro.Brake(fn_max=1.0, f_normalized=1.0)
    )
    axis = c.add("f", held)
    c.connect(world.frame_b, hinge.frame_a, slide.frame_a)
    c.connect(hinge.frame_b, arm.frame_a)
    c.connect(arm.frame_b, near.frame_a, rod.frame_a)
    c.connect(rod.frame_b, slide.frame_b, far.frame_a)
    c.connect(hinge.axis, axis.flange_a)
    result = run(c, 1e-4)
    b = math.sqrt(1.0 - (r * math.sin(phi)) ** 2)
    x = r * math.cos(phi) + b
    v = w * (-r * math.sin(phi) - r**2 * math.sin(phi) * math.cos(phi) / b)
    found = [result[path].at(0.0) for path in ("h.phi", "h.w", "p.s", "far.vx")]
    assert found == pytest.approx([phi, w, x, v], rel=1e-9)


def test_the_speed_of_a_body_at_a_closed_stop_is_a_left_limit() -> None:
    """It rebounds with half the speed and loses 3/4 of m v^2 / 2."""
    c = ac.Circuit()
    world, joint = c.add("world", pl.World()), c.add("j", pl.Prismatic(s=0.0, useAxisFlange=True))
    body = c.add("b", pl.Body(m=1.0, I=0.1, vx=-2.0))
    stop = c.add("f", tr.HardStop(s_min=0.0, s_max=1.0, restitution=0.5))
    c.connect(world.frame_b, joint.frame_a)
    c.connect(joint.frame_b, body.frame_a)
    c.connect(stop.flange, joint.axis)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the rebound
        result = ac.simulate(c, 1e-3)
    assert [result["b.vx"].at(0.0, side=side) for side in ("left", "right")] == pytest.approx([-2.0, 1.0])
    assert result.events[0].energy_lost == pytest.approx(1.5)


@pytest.mark.parametrize("method", METHODS)
def test_a_value_that_no_mode_can_hold_is_told(method: str) -> None:
    """What the equations fix whatever the states are is no guess of anything where nothing is solved by iteration."""
    c = ac.Circuit()
    source, diode = c.add("source", el.ConstantVoltage(V=3.0)), c.add("diode", el.IdealDiode())
    r, ground = c.add("r", el.Resistor(R=2.0, v=-5.0)), c.add("ground", el.Ground())
    c.connect(source.p, diode.p)
    c.connect(diode.n, r.p)
    c.connect(source.n, r.n, ground.p)
    with pytest.warns(UserWarning, match=r"moves `r\.v` from -5 to 3"):
        result = ac.simulate(c, 1e-3, method=method)
    assert result["r.i"].at(0.0) == pytest.approx(1.5)


Part = tuple[str, int, int, float]
Values = dict[tuple[int, str], float]


def network(parts: list[Part], given: dict[tuple[int, str], Any]) -> ac.Circuit:
    """Parts between numbered nodes, the first of which is the ground; a source has 0.1 Ohm in series."""
    c = ac.Circuit()
    pins: list[list[Any]] = [[] for _ in range(1 + max(max(p, n) for _, p, n, _ in parts))]
    for k, (kind, p, n, value) in enumerate(parts):
        own = {name: start for (j, name), start in given.items() if j == k}
        made: Any
        if kind == "V":
            made, inner = c.add(f"V{k}", el.ConstantVoltage(V=value)), c.add(f"e{k}", el.Resistor(R=0.1))
            c.connect(made.n, inner.p)
            pins[p].append(made.p)
            pins[n].append(inner.n)
            continue
        if kind == "D":
            made = el.IdealDiode(**own)
        else:
            class_, name = {"R": (el.Resistor, "R"), "L": (el.Inductor, "L"), "C": (el.Capacitor, "C")}[kind]
            made = class_(**{name: value}, **own)
        c.add(f"e{k}", made)
        pins[p].append(made.p)
        pins[n].append(made.n)
    pins[0].append(c.add("ground", el.Ground()).p)
    for node in pins:
        c.connect(*node)
    return c


RESTATED: dict[str, tuple[list[Part], Values, list[tuple[int, str]]]] = {
    "a diode carries the current of a coil": (
        [("D", 0, 1, 0.0), ("R", 1, 0, 2.0), ("L", 0, 1, 0.01)], {(2, "i"): -3.0}, [(0, "i")],
    ),
    "two diodes share the current of a coil": (
        [("D", 1, 0, 0.0), ("L", 1, 0, 0.02), ("D", 1, 0, 0.0)], {(1, "i"): -3.0}, [(2, "i")],
    ),
    "a diode blocks and another conducts": (
        [("C", 1, 0, 5e-4), ("R", 2, 0, 1.0), ("V", 1, 2, 5.0), ("D", 0, 2, 0.0), ("L", 0, 1, 0.05), ("D", 2, 1, 0.0)],
        {(0, "v"): 2.0, (4, "i"): 4.0}, [(3, "v"), (0, "i")],
    ),
    "four diodes": (
        [("D", 1, 0, 0.0), ("R", 1, 2, 1.0), ("C", 3, 2, 1e-3), ("D", 4, 1, 0.0), ("V", 3, 4, -5.0), ("D", 2, 4, 0.0),
         ("L", 3, 1, 0.02), ("D", 3, 0, 0.0), ("L", 1, 2, 0.005)],
        {(2, "v"): -1.0, (6, "i"): 2.0, (8, "i"): -3.0}, [(3, "v")],
    ),
    "the current of a capacitor beside its diode": (
        [("L", 1, 0, 0.02), ("V", 1, 2, 10.0), ("V", 2, 0, -10.0), ("D", 0, 1, 0.0), ("D", 1, 2, 0.0), ("R", 2, 0, 5.0),
         ("D", 0, 2, 0.0), ("L", 2, 1, 0.005)],
        {(0, "i"): 1.0, (7, "i"): -2.0}, [(3, "i")],
    ),
    "two resistors that say what flows in their branches": (
        [("R", 1, 0, 0.5), ("R", 0, 2, 0.5), ("R", 3, 2, 1.0), ("D", 1, 4, 0.0), ("D", 0, 2, 0.0), ("C", 1, 4, 5e-3),
         ("D", 4, 2, 0.0), ("R", 1, 0, 0.5), ("L", 3, 4, 0.05)],
        {(5, "v"): -2.0, (8, "i"): -1.0}, [(1, "i"), (2, "i")],
    ),
}  # fmt: skip


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("how", ["given", "fixed"])
@pytest.mark.parametrize("name", RESTATED)
def test_values_of_a_point_that_its_states_lead_to_hold(name: str, how: str, method: str) -> None:
    """What a start in the states gives for other variables is the start of a run without these states."""
    parts, states, restated = RESTATED[name]
    point = ac.simulate(network(parts, states), 1e-9)
    values: Values = {(k, of): point[f"e{k}.{of}"].at(1e-9) for k, of in restated}
    result = run(network(parts, {at: stated(how, v) for at, v in values.items()}), 1e-9, method=method)
    for (k, of), value in values.items():
        assert result[f"e{k}.{of}"].at(0.0) == pytest.approx(value, rel=1e-6, abs=1e-9)


def test_values_that_no_mode_has_are_told_and_the_others_hold() -> None:
    c = coil(R={"v": 2.0})
    V, r, D, g = (
        c.add("V2", el.ConstantVoltage(V=-5.0)),
        c.add("R2", el.Resistor(R=1.0, v=2.0)),
        c.add("D2", el.IdealDiode()),
        c.add("g2", el.Ground()),
    )
    c.connect(V.p, r.p)
    c.connect(r.n, D.p)
    c.connect(D.n, V.n, g.p)
    with pytest.warns(UserWarning, match=r"moves `R2\.v` from 2 to 0"):
        result = ac.simulate(c, 1e-3)
    assert [result[path].at(0.0) for path in ("R.v", "R2.v")] == pytest.approx([2.0, 0.0], abs=1e-12)


def test_as_many_analyses_as_for_one_element() -> None:
    """All that have to move do so together: frictions in a row of masses with a speed each."""
    count, c = 12, ac.Circuit()
    x = c.add("x", tr.Fixed())
    masses = [c.add(f"m{k}", tr.Mass(m=1.0)) for k in range(count)]
    for k, mass in enumerate(masses):
        friction = c.add(f"f{k}", tr.CoulombFriction(f_coulomb=10.0))
        damper = c.add(f"d{k}", tr.Damper(d=1.0, v_rel=-1.0 - k))
        c.connect(x.flange, friction.flange_a, damper.flange_a)
        c.connect(mass.flange_a, friction.flange_b, damper.flange_b)
        if k:
            spring = c.add(f"s{k}", tr.Spring(c=1.0))
            c.connect(masses[k - 1].flange_b, spring.flange_a)
            c.connect(spring.flange_b, mass.flange_b)
    result = run(c, 1e-4)
    speeds = [result[f"m{k}.v"].at(0.0) for k in range(count)]
    assert speeds == pytest.approx([-1.0 - k for k in range(count)])
    assert result.stats.mode_analyses <= 3
