"""Energies through ports against closed forms; the audit closes."""

import pickle
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from acausal import (
    Circuit,
    Component,
    DeclarationError,
    Eq,
    Expr,
    Flow,
    Parameter,
    Port,
    Statement,
    UnknownPathError,
    Variable,
    connect,
    der,
    if_else,
    simulate,
)
from acausal.components.blocks import BooleanPulse, Sine
from acausal.components.electrical import (
    Capacitor,
    Ground,
    IdealDiode,
    Inductor,
    OnePort,
    PulseVoltage,
    Resistor,
    SineVoltage,
)
from acausal.components.rotational import BearingFriction, Clutch, Inertia
from acausal.components.translational import (
    CoulombFriction,
    Damper,
    Fixed,
    ImpactStop,
    Mass,
    Position,
    Speed,
    Spring,
)
from acausal.dynamics import quadrature
from acausal.results.energy import Audit, Part
from acausal.results.power import powers_of
from tests.results.models import Buck, Discharge, sharing
from tests.systems.ladder import Section


def oscillator(**parts: Component) -> Circuit:
    c = Circuit()
    made = [c.add(name, part) for name, part in parts.items()]
    ground = c.add("ground", Ground())
    for a, b in zip(made[:-1], made[1:], strict=True):
        c.connect(a.n, b.p)
    c.connect(made[-1].n, made[0].p, ground.p)
    return c


def test_a_discharge_heats_the_resistor() -> None:
    result = simulate(Discharge(), 1e-3)
    expected = 0.5 * 1e-6 * 100 * (1 - np.exp(-2))
    assert result.energy("load") == pytest.approx(expected, rel=1e-13)
    assert result.energy("capacitor") == pytest.approx(-expected, rel=1e-13)
    assert result.energy("load", 0.0, 0.5e-3) == pytest.approx(50e-6 * (1 - np.exp(-1)), rel=1e-13)
    assert result.energy() == 0.0


def test_an_oscillation_exchanges_its_energy() -> None:
    L, C = 1e-3, 1e-6
    result = simulate(oscillator(l=Inductor(L=L), c=Capacitor(C=C, v=5.0)), 0.5 * np.pi * np.sqrt(L * C))
    assert result.energy("l") == pytest.approx(12.5e-6, rel=1e-12)
    assert result.energy("c") == pytest.approx(-12.5e-6, rel=1e-12)


def test_the_audit_of_a_damped_circuit_closes() -> None:
    result = simulate(oscillator(l=Inductor(L=1e-3), r=Resistor(R=5.0), c=Capacitor(C=1e-6, v=5.0)), 1e-3)
    audit = result.audit()
    assert abs(audit.balance) <= 1e-13 * 12.5e-6
    assert audit.into("r") == pytest.approx(result.energy("r"), rel=1e-13)
    stored = 0.5e-3 * result["l.i"].final ** 2 + 0.5e-6 * result["c.v"].final ** 2 - 12.5e-6
    assert audit.into("l") + audit.into("c") == pytest.approx(stored, rel=1e-12)
    assert audit.lost == {}
    assert "r " in repr(audit)


def test_the_text_of_an_audit_names_the_largest_parts() -> None:
    audit = Audit(Part(f"p{k:02d}", (-1.0) ** k * k, 0.0) for k in range(60))
    lines = repr(audit).splitlines()
    assert [line.split()[0] for line in lines[1:41]] == [f"p{k}" for k in range(20, 60)]
    assert lines[41].split() == ["and", "20", "more"]
    assert len(audit) == 60
    assert audit.into("p03") == -3.0


def test_joined_capacitors_lose_energy_in_the_switch() -> None:
    result = simulate(sharing(), 2e-3)
    audit = {p.path: p for p in result.audit()}
    assert audit["switch"].energy == pytest.approx(37.5e-6, rel=1e-13)
    assert audit["switch"].impulsive == pytest.approx(37.5e-6, rel=1e-13)
    assert audit["a"].energy == pytest.approx(0.5e-6 * (2.5**2 - 100), rel=1e-13)
    assert audit["b"].energy == pytest.approx(1.5e-6 * 2.5**2, rel=1e-13)
    assert abs(result.audit().balance) <= 1e-13 * 50e-6
    assert result.energy("switch", 1.1e-3, 2e-3) == 0.0
    assert result.audit().lost == {"switch.closed": pytest.approx(37.5e-6, rel=1e-13)}
    assert result.audit().energy_lost == pytest.approx(37.5e-6, rel=1e-13)
    assert result.audit(1.1e-3, 2e-3).lost == {}


def test_the_audit_of_a_converter_closes() -> None:
    result = simulate(Buck(), 2e-4)
    audit = result.audit()
    assert abs(audit.balance) <= 1e-12 * -audit.into("source")
    assert audit.into("source") == pytest.approx(result.energy("source"), rel=1e-13)
    assert result.energy("inductor") == pytest.approx(
        0.5 * 47e-6 * result["inductor.i"].final ** 2, rel=1e-10
    )


def test_an_impact_loses_energy_in_the_stop() -> None:
    c = Circuit()
    wall = c.add("wall", Fixed())
    stop = c.add("stop", ImpactStop(restitution=0.5))
    mass = c.add("mass", Mass(m=2.0, s=1.0, v=-1.0))
    c.connect(wall.flange, stop.flange_a)
    c.connect(stop.flange_b, mass.flange_a)
    result = simulate(c, 2.0)
    assert result["mass.v"].final == pytest.approx(0.5, rel=1e-12)
    assert result.energy("mass") == pytest.approx(0.25 - 1.0, rel=1e-12)
    assert result.energy("stop") == pytest.approx(0.75, rel=1e-12)
    assert abs(result.audit().balance) <= 1e-12


def test_a_spring_gives_its_energy_to_the_mass() -> None:
    c = Circuit()
    wall, spring, mass = (
        c.add("wall", Fixed()),
        c.add("spring", Spring(c=100.0)),
        c.add("mass", Mass(m=2.0, s=1.0)),
    )
    c.connect(wall.flange, spring.flange_a)
    c.connect(spring.flange_b, mass.flange_a)
    result = simulate(c, 0.1)
    w = np.sqrt(50.0)
    assert result.energy(mass) == pytest.approx((w * np.sin(w * 0.1)) ** 2, rel=1e-12)
    assert abs(result.audit().balance) <= 1e-12


def test_an_unknown_component_is_named() -> None:
    with pytest.raises(UnknownPathError, match="no component is named `lod`"):
        simulate(Discharge(), 1e-3).energy("lod")


def against_the_wall(part: Component, mass: Mass) -> Circuit:
    c = Circuit()
    wall, body = c.add("wall", Fixed()), c.add("mass", mass)
    c.add("part", part)
    c.connect(wall.flange, part.flange_a)
    c.connect(part.flange_b, body.flange_a)
    return c


@pytest.mark.parametrize(
    ("part", "mass", "until", "energy"),
    [
        (CoulombFriction(f_coulomb=1.0), Mass(m=2.0, v=3.0), 20.0, 9.0),
        (Damper(d=1.0), Mass(m=1.0, v=1.0), 15.0, 0.5 * (1 - np.exp(-30))),
        (Spring(c=1.0), Mass(m=1.0, v=1.0), 0.5 * np.pi, 0.5),
    ],
)
def test_the_audit_of_a_stopping_mass(part: Component, mass: Mass, until: float, energy: float) -> None:
    audit = simulate(against_the_wall(part, mass), until).audit()
    assert audit.into("part") == pytest.approx(energy, rel=1e-12)
    assert audit.into("mass") == pytest.approx(-energy, rel=1e-12)
    assert audit.into("wall") == 0.0
    assert audit.lost == {}


def test_a_slipping_clutch_takes_what_the_inertias_give() -> None:
    """J1 = 1 at 10 rad/s is joined with J2 = 2 at rest by 5 N.m: a common 10/3 rad/s, 33.3 J lost."""
    c = Circuit()
    one, two = c.add("one", Inertia(J=1.0, w=10.0)), c.add("two", Inertia(J=2.0))
    clutch = c.add("clutch", Clutch(fn_max=5.0, f_normalized=1.0))
    c.connect(one.flange_b, clutch.flange_a)
    c.connect(clutch.flange_b, two.flange_a)
    audit = simulate(c, 4.0).audit()
    w = 10 / 3
    assert audit.into("clutch") == pytest.approx(50.0 - 1.5 * w**2, rel=1e-12)
    assert audit.into("one") == pytest.approx(0.5 * w**2 - 50.0, rel=1e-12)
    assert audit.into("two") == pytest.approx(w**2, rel=1e-12)


def test_a_bearing_takes_what_the_inertia_gives() -> None:
    """5 N.m stop J = 1 from 10 rad/s after 2 s."""
    c = Circuit()
    rotor = c.add("rotor", Inertia(J=1.0, w=10.0))
    bearing = c.add("bearing", BearingFriction(tau_coulomb=5.0, tau_breakaway=6.0))
    c.connect(rotor.flange_b, bearing.flange_a)
    audit = simulate(c, 4.0).audit()
    assert audit.into("bearing") == pytest.approx(50.0, rel=1e-12)
    assert audit.into("rotor") == pytest.approx(-50.0, rel=1e-12)


def test_the_energy_into_a_component_is_that_into_its_parts() -> None:
    class House(Component):
        def build(self) -> None:
            self.inner = Buck()

    result = simulate(House(), 2e-4)
    audit = result.audit()
    assert abs(audit.into("inner")) <= 1e-12 * -audit.into("inner.source")
    with pytest.raises(UnknownPathError, match="the audit has no part `inner.sourc`") as info:
        audit.into("inner.sourc")
    assert info.value.hint.startswith("did you mean `inner.source`")


class Chopped(OnePort):
    """Resistor that is there half of the time; a block inside tells when."""

    R: Parameter = Parameter(default=5.0, unit="Ohm")

    def build(self) -> None:
        self.pulse = BooleanPulse(width=50.0, period=1e-4)

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.i, if_else(self.pulse.y, self.v / self.R, 0))


def test_a_component_with_a_block_inside_counts_itself() -> None:
    audit = simulate(oscillator(r=Chopped(), c=Capacitor(C=1e-4, v=5.0)), 1e-3).audit()
    assert [p.path for p in audit] == ["c", "ground", "r"]
    assert audit.into("r") == pytest.approx(1.25e-3 * (1 - np.exp(-2)), rel=1e-12)
    assert abs(audit.balance) <= 1e-15


def test_an_audit_is_copied_with_what_was_lost() -> None:
    audit = simulate(sharing(), 2e-3).audit()
    again = pickle.loads(pickle.dumps(audit))
    assert tuple(again) == tuple(audit)
    assert again.lost == audit.lost


class Pump(Port):
    """A port with a power that is no product of two variables."""

    p: Variable = Variable(unit="1")
    q: Flow = Flow(unit="1")

    def power(self) -> Expr:
        return self.p * self.q * self.q


class Leak(Component):
    port = Pump()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.port.q, 2.0)


class Store(Component):
    port = Pump()
    p: Variable = Variable(start=1.0)

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.port.p, self.p)
        yield Eq(der(self.p), self.port.q)


def test_a_power_that_is_no_product_of_two_variables() -> None:
    """p = 1 - 2 t, power 4 p: 4 (t - t^2)."""
    c = Circuit()
    leak, store = c.add("leak", Leak()), c.add("store", Store())
    c.connect(leak.port, store.port)
    result = simulate(c, 2.0)
    assert result.energy("leak", 0.0, 0.5) == pytest.approx(1.0, rel=1e-13)
    assert result.audit().into("store") == pytest.approx(-8.0, rel=1e-13)
    assert result.audit().into("leak") == pytest.approx(-8.0, rel=1e-13)


@pytest.mark.parametrize("make", [sharing, Buck])
def test_integrals_of_products_agree_with_those_of_the_powers_along_the_motion(make) -> None:
    result = simulate(make(), 2e-3 if make is sharing else 5e-5)
    flat, segments = result.names.flat, result.segments
    leaves = [(k, s.instances) for k, s in enumerate(flat.batches) if s.template.powers]
    (powers,) = powers_of(segments.groups[0].readout, leaves)
    assert powers.exact
    found = powers.integral(segments, result.t_start, result.t_end)
    along = replace(powers, exact=False).integral(segments, result.t_start, result.t_end)
    assert found == pytest.approx(along, abs=1e-13 * np.abs(found).max())


class Curious(Port):
    """A port whose power is no sum of products."""

    p: Variable = Variable(unit="1")
    q: Flow = Flow(unit="1")

    def power(self) -> Expr:
        return self.q / self.p


class Tap(Component):
    port = Curious()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.port.p, 1.0)


def test_a_power_that_is_no_sum_of_products_is_named() -> None:
    c = Circuit()
    c.add("tap", Tap())
    with pytest.raises(DeclarationError, match="the power of a port is a sum of products"):
        simulate(c, 1.0).audit()


def test_an_audit_takes_the_memory_of_a_few_segments() -> None:
    """Every segment of a ladder has its own time constants, and many panels to resolve them."""
    c = Circuit()
    source, ground = c.add("source", PulseVoltage(V=1.0, period=1.0)), c.add("ground", Ground())
    ladder = [c.add(f"s{k}", Section(R=1 / 40, C=1 / 40)) for k in range(40)]
    c.connect(source.p, ladder[0].a)
    c.connect(source.n, ground.p, *(s.g for s in ladder))
    for left, right in zip(ladder[:-1], ladder[1:], strict=True):
        c.connect(left.b, right.a)
    result = simulate(c, 20.0)
    assert len(result.segments) > 40
    tracemalloc.start()
    audit = result.audit()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6
    assert abs(audit.balance) < 1e-13 * sum(abs(p.energy) for p in audit)


class MeteredRectifier(Component):
    """A valve with losses at a capacitor with a load, whose work is an integral."""

    work: Variable = Variable(start=0.0, fixed=True)

    def build(self) -> None:
        self.source, self.ground = SineVoltage(V=10.0, f=50.0), Ground()
        self.valve, self.load = IdealDiode(Ron=1e-3, Goff=1e-3), Resistor(R=100.0)
        self.capacitor = Capacitor(C=1e-4, v=0.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.valve.p)
        yield connect(self.valve.n, self.capacitor.p, self.load.p)
        yield connect(self.source.n, self.capacitor.n, self.load.n, self.ground.p)
        yield Eq(der(self.work), self.load.v * self.load.i)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("method", ["exact", "implicit"])
def test_reading_an_integral_costs_a_quadrature_a_segment(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its mean and extremes ask for it at hundreds of times in every segment."""
    calls, original = 0, quadrature.integrate_intervals

    def counted(parts: Any, *others: Any) -> Any:
        nonlocal calls
        calls += 1
        return original(parts, *others)

    result = simulate(MeteredRectifier(), 0.1, method=method, rtol=1e-9, progress=False)
    monkeypatch.setattr(quadrature, "integrate_intervals", counted)
    work = result["work"]
    mean, most, last = work.mean(), work.max(), work.at(np.linspace(0.0, 0.1, 50))[-1]
    assert calls < 20 * len(result.segments)
    # The mean by parts: that of the power times the time that is left.
    t = np.linspace(0.0, 0.1, 200_001)
    power = result["load.v"].at(t) ** 2 / 100.0
    assert mean == pytest.approx(np.trapezoid(power * (0.1 - t), t) / 0.1, rel=1e-8)
    assert most == pytest.approx(np.trapezoid(power, t), rel=1e-8)
    assert last == pytest.approx(most, rel=1e-13)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("given", ["position", "speed"])
def test_a_table_whose_motion_is_given_works_on_what_hits_it(given: str, restitution: float) -> None:
    """Whether its position or its speed is given, the impulse that holds its motion moves with it."""
    m, rate, amplitude, v0 = 2.0, 0.4 * np.pi, 0.3, -0.1
    c = Circuit()
    if given == "position":
        signal = c.add("signal", Sine(amplitude=amplitude, f=0.2))
        table: Any = c.add("table", Position(s_ref=signal.y))
    else:
        signal = c.add("signal", Sine(amplitude=amplitude * rate, f=0.2, phase=0.5 * np.pi))
        table = c.add("table", Speed(v_ref=signal.y))
    stop, mass = c.add("stop", ImpactStop(restitution=restitution)), c.add("mass", Mass(m=m, s=0.2, v=v0))
    c.connect(table.flange, stop.flange_a)
    c.connect(stop.flange_b, mass.flange_a)
    result = simulate(c, 0.5)
    (t,) = result.events.after_start[:1]
    assert amplitude * np.sin(rate * t) == pytest.approx(0.2 + v0 * t, rel=1e-13)
    speed = amplitude * rate * np.cos(rate * t)
    impulse = m * (1.0 + restitution) * (speed - v0)
    after = v0 + impulse / m
    lost = 0.5 * m * (1.0 - restitution**2) * (speed - v0) ** 2
    carried = {part.path: part.impulsive for part in result.audit()}
    assert carried["mass"] == pytest.approx(0.5 * m * (after**2 - v0**2), rel=1e-12)
    assert carried["table"] == pytest.approx(-impulse * speed, rel=1e-12)
    assert carried["stop"] == pytest.approx(lost, rel=1e-12, abs=1e-14)
    assert result.events[1].energy_lost == pytest.approx(lost, rel=1e-12, abs=1e-14)
    result.check().require()
