"""What looks like trouble and must run, and rightly; nothing hangs."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from acausal import (
    Circuit,
    Component,
    Discrete,
    Eq,
    Impact,
    Input,
    Parameter,
    Variable,
    absolute,
    assign,
    connect,
    der,
    if_else,
    no_event,
    not_,
    pre,
    sample,
    sign,
    simulate,
    sqrt,
    terminal,
    time,
    when,
    xor_,
)
from acausal.components.blocks import PWM, BooleanPulse
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Ground,
    IdealClosingSwitch,
    IdealDiode,
    Inductor,
    OnePort,
    Resistor,
    SineVoltage,
)

from .refusals import Statements


@pytest.mark.parametrize(("duty", "on"), [(-0.3, False), (0.0, False), (1.0, True), (1.7, True)])
def test_duty_outside_its_range_gives_no_pulse(duty: float, on: bool) -> None:
    circuit = Circuit()
    circuit.add("pwm", PWM(frequency=10.0, duty=duty))
    result = simulate(circuit, 1.0)
    y = result["pwm.y"]
    assert bool(y.at(0.0)) is on
    assert (y.values.astype(bool)[y.t > 0.0] == on).all()
    changes = [event.t for event in result.events if "pwm.y" in event.discretes and event.t > 0.0]
    assert changes == []


class Ticks(Component):
    """Counts ticks."""

    period: Parameter = Parameter(default=0.25)
    first: Parameter = Parameter(default=0.0)
    n: Discrete = Discrete(int)

    def equations(self) -> Statements:
        yield when(sample(period=self.period, start=self.first), assign(self.n, pre(self.n) + 1))


def test_events_at_both_ends_happen() -> None:
    result = simulate(Ticks(), 1.0)
    assert result["n"].at(0.0) == 1
    assert result["n"].at(0.999) == 4
    assert result["n"].final == 5


def test_time_event_at_the_end_and_terminal() -> None:
    class Model(Component):
        reached: Discrete = Discrete(bool)
        closed: Discrete = Discrete(int)

        def equations(self) -> Statements:
            yield Eq(self.reached, time >= 1.0)
            yield when(terminal(), assign(self.closed, pre(self.closed) + 1))

    result = simulate(Model(), 1.0)
    assert not result["reached"].at(0.9999999)
    assert result["reached"].final
    assert result["closed"].final == 1


class Carriers(Component):
    """Two carriers whose periods differ by one unit in the last place."""

    def build(self) -> None:
        self.a = Ticks(period=0.1)
        self.b = Ticks(period=float(np.nextafter(0.1, 1.0)))


def test_carriers_one_ulp_apart_share_their_instants() -> None:
    result = simulate(Carriers(), 1.0)
    assert result["a.n"].final == 11
    assert result["b.n"].final == 11
    assert len({event.t for event in result.events}) == 11


class Freewheeling(Component):
    """A coil that keeps its current through a diode while the switch is open."""

    def build(self) -> None:
        self.source, self.ground = ConstantVoltage(V=10.0), Ground()
        self.switch, self.diode = IdealClosingSwitch(), IdealDiode()
        self.coil, self.load = Inductor(L=1.0), Resistor(R=1.0)

    def power(self) -> Statements:
        yield connect(self.source.p, self.switch.p)
        yield connect(self.switch.n, self.diode.n, self.coil.p)
        yield connect(self.coil.n, self.load.p)
        yield connect(self.load.n, self.source.n, self.diode.p, self.ground.p)


class Toggled(Freewheeling):
    """The switch opens and closes again within the instant 0.5."""

    late: Discrete = Discrete(bool)
    later: Discrete = Discrete(bool)
    command: Discrete = Discrete(bool, start=True)

    def equations(self) -> Statements:
        yield from self.power()
        yield Eq(self.late, time >= 0.5)
        yield Eq(self.later, pre(self.late))
        yield Eq(self.command, not_(xor_(self.late, self.later)))
        yield Eq(self.switch.control, self.command)


def test_switch_toggled_twice_in_one_instant_leaves_no_trace() -> None:
    result = simulate(Toggled(), 1.0)
    t = np.array([0.25, 0.5, 0.75, 1.0])
    assert result["coil.i"].at(t) == pytest.approx(10.0 * (1.0 - np.exp(-t)), rel=1e-12)
    assert result["switch.closed"].at([0.49, 0.51]) == pytest.approx([1.0, 1.0])
    modes = [bool(step.D[result.names.find("switch.closed").index]) for step in result.steps if step.t == 0.5]
    assert modes[:2] == [False, True]


class Fed(Component):
    """``der(x) = u``, with a condition ``on`` from outside."""

    u: Input = Input(float)
    on: Input = Input(bool)
    x: Variable = Variable()
    seen: Discrete = Discrete(bool)

    def equations(self) -> Statements:
        yield Eq(der(self.x), self.u)
        yield Eq(self.seen, self.on)


@pytest.mark.parametrize(
    ("u", "x"),
    [
        (2.0, 2.0),
        (np.float64(2.0), 2.0),
        (lambda t: 3.0 * t * t, 1.0),
        (math.cos, math.sin(1.0)),
        (([0.0, 1.0], [0.0, 2.0]), 1.0),
        ((np.array([0.0, 0.5, 0.5, 1.0]), np.array([0.0, 0.0, 4.0, 4.0])), 2.0),
        (([0.25], [3.0]), 3.0),
    ],
)
def test_inputs_as_numbers_functions_and_tables(u: object, x: float) -> None:
    result = simulate(Fed(), 1.0, inputs={"u": u, "on": True})
    assert result["x"].final == pytest.approx(x, rel=1e-12)
    assert result["seen"].final


class Ball(Component):
    """Falls from 1 with acceleration 10; restitution 1/2."""

    h: Variable = Variable(start=1.0)
    v: Variable = Variable()
    force: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.h), self.v)
        yield Eq(der(self.v), -10 + self.force)
        yield Impact(self.h, self.force, restitution=0.5)


def test_bouncing_ball_comes_to_rest_past_its_accumulation_point() -> None:
    """The bounces accumulate at sqrt(2 h / g) (1 + e) / (1 - e)."""
    end = math.sqrt(0.2) * 3.0
    result = simulate(Ball(), 3.0)
    bounces = [event.t for event in result.events if event.jumps]
    assert len(bounces) < 100
    assert bounces[-1] == pytest.approx(end, rel=1e-5)
    assert result["h"].at([end + 0.1, 3.0]) == pytest.approx([0.0, 0.0], abs=1e-12)
    assert result["force"].final == pytest.approx(10.0, rel=1e-12)


def test_a_run_of_very_many_events_can_be_interrupted() -> None:
    calls = 0

    def stop(t: float) -> None:
        nonlocal calls
        calls += 1
        if calls == 50:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as info:
        simulate(Ticks(period=1e-6), 1e5, progress=stop)
    result = info.value.result
    assert result["n"].final == 51
    assert result.t_end == pytest.approx(50e-6, rel=1e-9)


def test_a_repeated_connection_changes_nothing() -> None:
    class Model(Component):
        def build(self) -> None:
            self.source, self.load, self.ground = ConstantVoltage(V=3.0), Resistor(R=2.0), Ground()

        def equations(self) -> Statements:
            yield connect(self.source.p, self.load.p)
            yield connect(self.load.p, self.source.p)
            yield connect(self.source.n, self.load.n, self.ground.p)

    assert simulate(Model(), 1.0)["load.i"].final == pytest.approx(1.5, rel=1e-14)


class Bursting(Component):
    """A growing state beside an oscillation; a sum of both turns the growth round."""

    g: Parameter = Parameter(default=2e4, unit="1/s")
    x: Variable = Variable(start=1e-9)
    y: Variable = Variable(start=0.0)
    z: Variable = Variable(start=0.1)
    up: Discrete = Discrete(bool, start=True)

    def equations(self) -> Statements:
        yield Eq(der(self.x), if_else(self.up, self.g * self.x, -self.g * self.x))
        yield Eq(der(self.y), self.g * self.z)
        yield Eq(der(self.z), -self.g * self.y)
        yield when(self.x + self.y > 1.0, assign(self.up, False))


@pytest.mark.parametrize("span", [0.035, 0.0355, 0.5, 5.0])
def test_growth_beyond_the_range_of_doubles_before_the_end(span: float) -> None:
    """Without the event x would exceed the largest double; the event comes at 1 ms."""
    first = simulate(Bursting(), 0.01).events.times[:2]
    assert simulate(Bursting(), span).events.times[:2] == pytest.approx(first, rel=1e-12)


class Negative(OnePort):
    """A resistance below zero."""

    R: Parameter = Parameter(default=-2.0, unit="Ohm")

    def equations(self) -> Statements:
        yield from super().equations()
        yield Eq(self.v, self.R * self.i)


class Balance(Component):
    """Two equal sources that cancel, and a coil at rest where nothing damps it: rounding alone moves its current."""

    def build(self) -> None:
        self.sources = [SineVoltage(V=10.0, f=3.0) for _ in range(2)]
        self.losses = [Resistor(R=0.5) for _ in range(2)]
        self.load, self.coil, self.beside, self.drive = (
            Resistor(R=2.0),
            Inductor(L=0.1),
            Resistor(R=50.0),
            Negative(),
        )
        self.diodes = [IdealDiode() for _ in range(3)]
        self.pulse, self.ground = BooleanPulse(period=0.125, width=50.0), Ground()
        self.switch = IdealClosingSwitch(control=self.pulse.y)

    def equations(self) -> Statements:
        (first, second), (before, behind), (across, down, up) = self.sources, self.losses, self.diodes
        yield connect(first.p, before.p)
        yield connect(second.p, behind.p)
        yield connect(
            self.ground.p, behind.n, self.coil.n, self.beside.n, down.n, up.p, self.switch.p, self.drive.p
        )
        yield connect(first.n, self.load.p, up.n, self.switch.n)
        yield connect(before.n, second.n, self.load.n, across.n, down.p)
        yield connect(self.coil.p, self.beside.p, across.p, self.drive.n)


class IdleBridge(Component):
    """Two equal sources that cancel at a node, and nothing but losses, empty stores and diodes behind it."""

    def build(self) -> None:
        self.sources = [SineVoltage(V=10.0, f=3.0) for _ in range(2)]
        self.losses = [Resistor(R=R) for R in (0.5, 0.5, 2.0, 5.0, 20.0, 50.0, 50.0, 0.3)]
        self.coils, self.store = [Inductor(L=0.1) for _ in range(2)], Capacitor(C=0.1)
        self.diodes = [IdealDiode() for _ in range(2)]
        self.pulse, self.ground = BooleanPulse(period=0.05, width=50.0), Ground()
        self.switch = IdealClosingSwitch(control=self.pulse.y)

    def equations(self) -> Statements:
        (first, second), (one, other) = self.sources, self.coils
        before, behind, load, between, beside, around, about, inner = self.losses
        across, down = self.diodes
        yield connect(first.p, before.p)
        yield connect(second.p, behind.p)
        yield connect(self.store.p, inner.n)
        yield connect(
            self.ground.p, first.n, load.p, one.p, around.p, other.n, about.n, down.n, self.switch.n, beside.n,
            behind.n,
        )  # fmt: skip
        yield connect(
            before.n, load.n, between.n, one.n, around.n, other.p, about.p, inner.p, across.p, self.switch.p,
            second.n,
        )  # fmt: skip
        yield connect(between.p, self.store.n, across.n, down.p, beside.p)


@pytest.mark.parametrize(
    ("model", "end", "still"),
    [(Balance(), 0.3, ("coil.i",)), (IdleBridge(), 1.0, ("coils[0].i", "coils[1].i", "store.v"))],
)
def test_what_sources_cancel_in_stays_at_rest(model: Component, end: float, still: tuple[str, ...]) -> None:
    """Rounding of what cancels is no sign of anything: diodes that it switched to and fro at one time hung the run."""
    result = simulate(model, end)
    assert len(result.events) < 200
    assert result.check().ok
    for name in still:
        assert np.abs(result[name].values).max() < 1e-13


class Drained(Component):
    """What flows through an orifice goes with the root of the pressure, which comes to rest at zero and rises again later."""

    inflow: Parameter = Parameter(default=0.1)
    x: Variable = Variable(start=1.0, fixed=True)

    def equations(self) -> Statements:
        drained = sign(self.x) * sqrt(no_event(absolute(self.x)))
        yield Eq(der(self.x), if_else(time < 3, 0.0, self.inflow) - drained)


@pytest.mark.parametrize("method", ["auto", "explicit", "implicit"])
@pytest.mark.parametrize("rtol", [1e-4, 1e-9])
@pytest.mark.parametrize("x", [1.0, 0.16, 1e-6])
def test_a_root_whose_argument_comes_to_rest_at_zero_stays_there(x: float, rtol: float, method: str) -> None:
    """From ``x`` on it is ``(sqrt(x) - t / 2)**2`` until that is zero, where signs of rounding decide nothing."""
    result = simulate(Drained(x=x), 5.0, rtol=rtol, method=method)
    t = np.linspace(0.0, 3.0, 301)
    wanted = np.maximum(math.sqrt(x) - 0.5 * t, 0.0) ** 2
    assert result["x"].at(t) == pytest.approx(wanted, abs=100.0 * rtol * x)
    # With r for the root of it 2 r' = inflow / r - 1, so that t - 3 = -2 r - 2 inflow log(1 - r / inflow).
    filled = brentq(
        lambda r: -2.0 * r - 0.2 * math.log1p(-r / 0.1) - 2.0, 1e-6, 0.1 * (1.0 - 1e-12), xtol=1e-15
    )
    assert result["x"].final == pytest.approx(filled**2, rel=100.0 * rtol)
    assert result.check().ok
