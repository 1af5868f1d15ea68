"""Circuits whose blocking elements leak, integrated numerically, against their closed forms.

The voltage across such an element is its small current times 1e5 and more: the current has to be as exact as that needs.
"""

import warnings
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from acausal import Component, Parameter, Result, Structural, compile_model, connect, simulate
from acausal.components.blocks import BooleanPulse
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Diode,
    Ground,
    IdealDiode,
    IdealTransformer,
    IdealTwoWaySwitch,
    Inductor,
    Resistor,
    SineVoltage,
    ThreePhaseVoltage,
)
from acausal.dynamics.noise import StepNoise
from tests.oracles.networks import GROUND, Element
from tests.systems.campaign_cases import network_case
from tests.systems.campaign_families import FAMILIES
from tests.systems.campaign_judge import attempt
from tests.systems.general_path_cases import CASES

SPAN = 0.1


class Rectifier(Component):
    """Sine source behind a line inductance, one diode or four, capacitor and load."""

    f: Parameter = Parameter(default=50.0, unit="Hz")
    Ron: Parameter = Parameter(default=0.0, unit="Ohm")
    Goff: Parameter = Parameter(default=1e-5, unit="S")
    diodes: Structural[int] = Structural(int, default=1)
    junction: Structural[bool] = Structural(bool, default=False)

    def build(self) -> None:
        self.source, self.line = SineVoltage(V=325.0, f=self.f), Inductor(L=60e-6)
        self.d = [IdealDiode(Ron=self.Ron, Goff=self.Goff) for _ in range(self.diodes)]
        self.capacitor, self.load, self.ground = Capacitor(C=30e-3), Resistor(R=1.0), Ground()
        if self.junction:
            self.bleeder, self.j = Resistor(R=1e4), Diode()

    def equations(self) -> Any:
        d = self.d
        yield connect(self.source.p, self.line.p)
        if self.diodes == 1:
            yield connect(self.line.n, d[0].p)
            plus, minus = [d[0].n], [self.source.n]
        else:
            yield connect(self.line.n, d[0].p, d[1].n)
            yield connect(self.source.n, d[2].p, d[3].n)
            plus, minus = [d[0].n, d[2].n], [d[1].p, d[3].p]
        if self.junction:
            yield connect(self.bleeder.n, self.j.p)
            plus, minus = [*plus, self.bleeder.p], [*minus, self.j.n]
        yield connect(*plus, self.capacitor.p, self.load.p)
        yield connect(*minus, self.capacitor.n, self.load.n, self.ground.p)


class SixPulse(Component):
    """Three phases with line inductances, six diodes, load with a choke."""

    loss: Parameter = Parameter(default=1e-5, doc="Ron in Ohm and Goff in S")

    def build(self) -> None:
        self.source, self.ground = ThreePhaseVoltage(V=325.0, f=50.0), Ground()
        self.lines = [Inductor(L=1e-3) for _ in range(3)]
        self.upper = [IdealDiode(Ron=self.loss, Goff=self.loss) for _ in range(3)]
        self.lower = [IdealDiode(Ron=self.loss, Goff=self.loss) for _ in range(3)]
        self.load, self.choke = Resistor(R=10.0), Inductor(L=10e-3)

    def equations(self) -> Any:
        pins = (self.source.p1, self.source.p2, self.source.p3)
        for pin, line, upper, lower in zip(pins, self.lines, self.upper, self.lower, strict=True):
            yield connect(pin, line.p)
            yield connect(line.n, upper.p, lower.n)
        yield connect(*(d.n for d in self.upper), self.load.p)
        yield connect(self.load.n, self.choke.p)
        yield connect(*(d.p for d in self.lower), self.choke.n, self.ground.p)


def changes(result: Result) -> np.ndarray:
    """Times at which the mode is another than before."""
    times = [e.t for e in result.events if e.modes]
    return np.array([t for k, t in enumerate(times) if not k or t - times[k - 1] > 1e-7])


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize(
    ("f", "diodes", "Ron"),
    [(50.0, 1, 0.0), (60.0, 1, 0.0), (50.0, 4, 0.0), (60.0, 4, 0.0), (60.0, 1, 1e-3), (50.0, 4, 1e-3)],
)
def test_rectifier_as_in_closed_form(f: float, diodes: int, Ron: float) -> None:
    model = Rectifier(f=f, diodes=diodes, Ron=Ron)
    exact = simulate(model, SPAN)
    mean, highest = exact["load.v"].mean(), exact["load.v"].max()
    errors = []
    for rtol in (1e-4, 1e-6, 1e-8):
        result = simulate(model, SPAN, method="implicit", rtol=rtol)
        errors.append(abs(result["load.v"].mean() / mean - 1.0))
        assert result["load.v"].max() == pytest.approx(highest, rel=max(1e-8, rtol))
        if rtol < 1e-4:
            np.testing.assert_allclose(changes(result), changes(exact), rtol=0, atol=rtol * SPAN)
    assert errors[1] <= 1e-6
    assert errors[2] <= 1e-8


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("diodes", [1, 4])
def test_a_junction_beside_it_changes_nothing_but_its_own_current(diodes: int) -> None:
    """30 mA of some 300 A: the mean falls by less than 1e-4, and the element blocks where it has to."""
    exact = simulate(Rectifier(diodes=diodes), SPAN)
    result = simulate(Rectifier(diodes=diodes, junction=True), SPAN)
    assert result["load.v"].mean() == pytest.approx(exact["load.v"].mean(), rel=1e-4)
    assert result["load.v"].max() == pytest.approx(exact["load.v"].max(), rel=1e-4)
    assert result["d[0].v"].max() <= 1e-2  # no forward voltage
    np.testing.assert_allclose(changes(result), changes(exact), rtol=0, atol=1e-6)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("loss", [1e-5, 1e-6, 1e-8])
def test_six_pulse_bridge_with_tiny_losses(loss: float) -> None:
    model = SixPulse(loss=loss)
    exact = simulate(model, 0.04)
    for rtol in (1e-4, 1e-6):
        result = simulate(model, 0.04, method="implicit", rtol=rtol)
        assert result["load.v"].mean() == pytest.approx(exact["load.v"].mean(), rel=max(1e-7, 0.1 * rtol))
        assert result["load.v"].max() == pytest.approx(exact["load.v"].max(), rel=max(1e-7, 0.1 * rtol))


def test_capacitor_filter_with_tiny_leakage() -> None:
    model = Rectifier(diodes=4, Ron=1e-3, Goff=1e-9)
    exact, result = simulate(model, 0.05), simulate(model, 0.05, method="implicit")
    assert result["load.v"].mean() == pytest.approx(exact["load.v"].mean(), rel=1e-6)
    assert result["load.v"].max() == pytest.approx(exact["load.v"].max(), rel=1e-6)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
def test_a_stiff_current_is_measured_by_what_it_is_at_the_ends_of_a_step(rtol: float) -> None:
    """The source moves with the capacitor: what the change of its voltage alone would drive through Ron is no magnitude."""
    (found,) = FAMILIES["general path"].describe(62)
    given = found._replace(rtol=rtol)
    assert (given.name, given.Ron, given.Goff) == ("bridge at a capacitor", 1e-7, 1e-4)
    verdict = FAMILIES["general path"].run([given], "implicit")
    assert verdict.outcome == "right", verdict.why
    assert verdict.off <= rtol


def test_what_counts_as_zero_does_not_grow_with_the_steps() -> None:
    """Errors of all steps added up exceed whatever a damped form was."""
    noise, error = StepNoise(np.full(1, 1e-9), np.zeros(1)), np.full(1, 1e-3)
    depths = []
    for _ in range(1000):
        noise.follow(1e-3, np.zeros(1), error)
        depths.append((noise.floor.item(), noise.touch.item()))
    assert depths[-1] == depths[0]
    # The value at the begin of a step has the error of the step before, and no more.
    noise.follow(1e-3, np.zeros(1), np.zeros(1))
    assert (noise.floor.item(), noise.touch.item()) == depths[0]
    noise.follow(1e-3, np.zeros(1), np.zeros(1))
    assert noise.floor.item() == 1e-9


def test_a_state_that_is_small_because_large_rates_cancel_takes_no_endless_steps() -> None:
    """8.5e-9 V across capacitors whose rates are 4.3 V / 1e-3 Ohm that cancel: no step is as exact as rtol of that."""
    case = CASES["multiplier"]
    program = compile_model(case.build())
    paths = [program.flat.parameter(k) for k in range(program.flat.npar)]
    losses = {path: 1e-3 for path in paths if path.endswith(".Ron")} | {
        path: 1e-5 for path in paths if path.endswith(".Goff")
    }
    exact = program.simulate(4e-3, method="exact", parameters=losses, **case.options)
    result = program.simulate(4e-3, method="implicit", rtol=1e-6, parameters=losses, **case.options)
    assert result.stats.steps < 1000
    for path in exact.states:
        assert result[path].final == pytest.approx(exact[path].final, rel=1e-6, abs=1e-6)


def test_a_valve_with_tiny_losses_turns_off_when_its_current_does() -> None:
    """Terms of 3.2e11 A cancel to 0.1 A: what counts as zero is their rounding, 1e-14 of them."""
    family = FAMILIES["general path"]
    (given,) = family.describe(62)
    verdict = family.run([given._replace(Ron=1e-9, Goff=1e-9, rtol=1e-9)], "implicit")
    assert given.name == "bridge at a capacitor"
    assert verdict.outcome == "right", verdict.why
    assert verdict.off <= 30e-9


def test_guards_are_as_exact_as_rounding_while_their_source_begins() -> None:
    """30 ns after its begin the source of 10 V has 0.1 mV; 1e-12 of 10 V across 1e-3 Ohm hid a crossing for 2e-6 s."""
    case = CASES["multiplier"]
    program = compile_model(case.build())
    paths = [program.flat.parameter(k) for k in range(program.flat.npar)]
    losses = {path: 1e-3 for path in paths if path.endswith((".Ron", ".Goff"))}
    rough, fine = (
        program.simulate(1e-5, method="implicit", rtol=rtol, parameters=losses, **case.options)
        for rtol in (1e-6, 1e-9)
    )
    for path in fine.states:
        assert rough[path].final == pytest.approx(fine[path].final, rel=1e-4, abs=1e-10)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_a_valve_takes_over_from_one_with_a_small_resistance(method: str, rtol: float) -> None:
    """The crossing is 0.2 us late, and 1e-6 Ohm make 8 A of what a capacitor moves in that time: its voltage is known there."""
    network = [
        Element("L", "L1", "n1", "n2", Fraction(1, 2), Fraction(-5)),
        Element("D", "D1", "0", "n3"),
        Element("C", "C1", "n2", "n3", Fraction(1), Fraction(-2)),
        Element("D", "D2", "n2", "0"),
        Element("D", "D3", "n1", "0", None, (Fraction(1, 10**6), Fraction(1, 1000))),
        Element("L", "L2", "n2", "0", Fraction(1), Fraction(11, 2)),
        Element("L", "L3", "0", "n2", Fraction(1, 4), Fraction(-11, 2)),
        Element("C", "C2", "n2", "n1", Fraction(1, 4), Fraction(7, 2)),
        Element("S", "S1", "n1", "n3", True),
    ]
    case = network_case(network, 0.7)
    exact, result = attempt(case, 1.5, method="exact"), attempt(case, 1.5, method=method, rtol=rtol)
    assert isinstance(exact, Result), exact
    assert isinstance(result, Result), result
    assert len(result.events) == len(exact.events)
    for path in exact.states:
        assert result[path].final == pytest.approx(exact[path].final, rel=0.0, abs=30.0 * rtol * 5.5)


class Resonant(Component):
    """A half bridge, a resonant tank, a transformer, and four leaky valves at a capacitor."""

    def build(self) -> None:
        self.source, self.switch = ConstantVoltage(V=400.0), IdealTwoWaySwitch()
        self.tank, self.line, self.main = Capacitor(C=33e-9), Inductor(L=60e-6), Inductor(L=300e-6)
        self.transformer, self.d = IdealTransformer(n=8.0), [IdealDiode() for _ in range(4)]
        self.output, self.load = Capacitor(C=200e-6, v=20.0), Resistor(R=2.0)
        self.ground, self.clock = Ground(), BooleanPulse(period=10e-6, width=50.0)

    def equations(self) -> Any:
        d, x = self.d, self.transformer
        yield connect(self.clock.y, self.switch.control)
        yield connect(self.source.p, self.switch.n2)
        yield connect(self.source.n, self.switch.n1, self.main.n, x.n1, self.ground.p)
        yield connect(self.switch.p, self.tank.p)
        yield connect(self.tank.n, self.line.p)
        yield connect(self.line.n, self.main.p, x.p1)
        yield connect(x.p2, d[0].p, d[2].n)
        yield connect(x.n2, d[1].p, d[3].n)
        yield connect(d[0].n, d[1].n, self.output.p, self.load.p)
        yield connect(d[2].p, d[3].p, self.output.n, self.load.n)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("Goff", [1e-4, 1e-6, 1e-8])
def test_a_valve_that_turns_off_tells_nothing_of_others(Goff: float) -> None:
    """A current that is 2e-5 A off in the time by which the crossing is late is 20 V across a leakage of 1e-6 S."""
    program = compile_model(Resonant())
    losses = {f"d[{k}].{name}": loss for k in range(4) for name, loss in (("Ron", 1e-3), ("Goff", Goff))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # The secondary side floats.
        exact, result = (program.simulate(20e-6, method=m, parameters=losses) for m in ("exact", "implicit"))
    for path, size in (("output.v", 20.0), ("line.i", 1.0), ("main.i", 1.0), ("tank.v", 400.0)):
        assert result[path].final == pytest.approx(exact[path].final, rel=0.0, abs=1e-5 * size), path


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["explicit", "implicit"])
@pytest.mark.parametrize("level", [Fraction(1, 10), Fraction(1), Fraction(199, 100)])
@pytest.mark.parametrize("drive", [Fraction(1, 100), Fraction(1)])
def test_a_late_crossing_allows_the_steps_after_it_no_error(
    method: str, level: Fraction, drive: Fraction
) -> None:
    """One diode turns off while 1e6 A die away in another one, where a last place of its time is amperes.

    That instant is as uncertain as the steps before it. Those after it were allowed to miss as much for ever.
    """
    Ron, R = Fraction(1, 10**6), Fraction(1, 1000)
    network = [
        Element("C", "C1", "a", GROUND, Fraction(1), Fraction(4)),
        Element("C", "C2", "b", GROUND, Fraction(1), Fraction(0)),
        Element("D", "D", "a", "b", None, (Ron, Fraction(0))),
        Element("I", "I", GROUND, "b", drive),
        Element("V", "V", "c", GROUND, level),
        Element("R", "R", "c", "d", R),
        Element("D", "D3", "d", "b"),
    ]
    result = attempt(network_case(network, 1.0), 3e-5, method=method)
    assert isinstance(result, Result), result
    with mp.workdps(40):
        # Both conduct: a' = -(a - b) / Ron, b' = (a - b) / Ron + I + (V - b) / R.
        g, h, v, i = (mp.mpf(x.numerator) / x.denominator for x in (1 / Ron, 1 / R, level, drive))
        flow = mp.matrix([[-g, g, 0], [g, -g - h, i + h * v], [0, 0, 0]])
        start = mp.matrix([4, 0, 1])
        first = mp.findroot(lambda t: (mp.expm(flow * t / g) * start)[1] - v, (0, 4), "anderson") / g
        # D alone: (a - b)' = -2 (a - b) / Ron - I.
        reached = mp.expm(flow * first) * start
        rest = i / (2 * g)
        second = first + mp.log((reached[0] - reached[1] + rest) / rest) / (2 * g)
    assert [float(e.t) for e in result.events][1:] == pytest.approx([float(first), float(second)], rel=1e-6)
