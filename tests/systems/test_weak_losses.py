"""Losses far below those of parts that exist: right in proportion to the loss, or refused with the way out."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from acausal import (
    Component,
    ConsistencyError,
    Parameter,
    Result,
    Statement,
    compile_model,
    connect,
    simulate,
)
from acausal.components import blocks, electrical
from benchmarks.circuits import SinglePhaseBridge
from tests.systems.campaign_families import FAMILIES, LossyCircuit, departure
from tests.systems.circuits import circuit, diode_bridge
from tests.systems.general_path_cases import CASES
from tests.systems.general_path_models import bridge_at_capacitor
from tests.systems.test_multiplier import multiplier

T = 0.02


def lossy(model: Component, span: float, Ron: float, Goff: float, method: str = "exact") -> Result:
    program = compile_model(model)
    size = {"Ron": Ron, "Goff": Goff}
    paths = [program.flat.parameter(k) for k in range(program.flat.npar)]
    losses = {p: size[p.rsplit(".", 1)[1]] for p in paths if p.endswith((".Ron", ".Goff"))}
    assert losses
    return program.simulate(span, method=method, parameters=losses)


def test_the_small_current_of_a_valve_is_known_as_well_as_the_slow_motion_gives_it() -> None:
    """v / Ron with rounding of 325 V exceeds the current at the end of conduction by decades."""
    ideal = lossy(bridge_at_capacitor(), 2 * T, 0.0, 0.0)
    strong = departure(ideal, lossy(bridge_at_capacitor(), 2 * T, 1e-5, 0.0))["capacitor.v"]
    weak = departure(ideal, lossy(bridge_at_capacitor(), 2 * T, 1e-9, 1e-9))["capacitor.v"]
    assert weak < 1e-3 * strong + 1e-8


def test_a_guard_that_was_seen_to_cross_switches_once() -> None:
    """Otherwise diodes at rest turn on and off every nanosecond: 30 fV at Ron are not told from rounding of the start."""
    end = T / 40
    result = lossy(multiplier(0.0, 1e6), end, 1e-5, 1e-6)
    assert len(result.events) < 20
    ideal = lossy(multiplier(0.0, 1e6), end, 0.0, 0.0)
    off = [abs(ideal[f"c{k}.v"].final - result[f"c{k}.v"].final) for k in range(1, 9)]
    assert max(off) < 1e-3


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("Goff", [1e-9, 1e-10, 1e-11, 1e-12, 1e-13])
def test_a_tiny_leakage_is_no_depth_of_a_guard(Goff: float) -> None:
    """A part of a scale over Goff was 0.65 V at 1e-11: a diode that turns on at 23.8303 ms did so 15 us late."""
    ideal, leaky = lossy(SinglePhaseBridge(), 2 * T, 0.0, 0.0), lossy(SinglePhaseBridge(), 2 * T, 0.0, Goff)
    assert max(departure(ideal, leaky).values()) < 10.0 * Goff
    times = [event.t for event in leaky.events]
    assert all(min(abs(event.t - t) for t in times) < 1e-9 + 10.0 * T * Goff for event in ideal.events)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize(
    ("Ron", "Goff"),
    [
        *(
            (1e-9, 1e-3),
            (1e-9, 1e-6),
            (1e-10, 0.0),
            (1e-10, 1e-10),
            (3e-11, 0.0),
            (1e-11, 0.0),
            (1e-11, 1e-9),
        ),
        *((3e-12, 0.0), (3e-12, 1e-9)),
    ],
)
def test_what_follows_a_crossing_is_known_as_well_as_its_time(Ron: float, Goff: float) -> None:
    """At 0.1 nOhm rounding of 325 V is a milliampere: the current ends 30 ns early or late, and slopes turn their signs then."""
    given = LossyCircuit("circuit", "bridge at a capacitor", Ron, Goff, 0.0)
    verdict = FAMILIES["weak losses"].run([given], "exact")
    assert verdict.outcome == "right", verdict.why


@pytest.mark.parametrize("Goff", [0.0, 1e-9])
@pytest.mark.parametrize("Ron", [2e-12, 1e-12, 3e-13])
def test_a_crossing_whose_time_is_lost_is_refused_with_the_way_out(Ron: float, Goff: float) -> None:
    """v / Ron of source and capacitor are 3e14 A each: what moves both alike leaves their difference, which is rounded."""
    with pytest.raises(
        ConsistencyError, match="hides the time of a crossing, and with it `capacitor.v`"
    ) as info:
        lossy(bridge_at_capacitor(), 2 * T, Ron, Goff)
    assert "zero, which is exact" in info.value.hint


@pytest.mark.parametrize("Ron", [1e-13, 1e-15, 1e-16])
def test_a_current_that_rounding_hides_is_refused(Ron: float) -> None:
    """Rounding of v / Ron is 600 A at 1 fOhm: the guard of a diode that has to turn off never leaves it."""
    with pytest.raises(ConsistencyError, match="hides whether a guard of") as info:
        lossy(bridge_at_capacitor(), 2 * T, Ron, 0.0)
    assert info.value.t == 0.0
    assert "zero, which is exact" in info.value.hint


def six_pulse(Goff: float) -> Result:
    return lossy(CASES["six pulse"].build(), CASES["six pulse"].span, 0.0, Goff)


def test_rates_that_cancel_are_resolved_in_proportion_to_the_leakage() -> None:
    """Rates of 1e12 per second cancel in motions of milliseconds at 1 nS: half the digits are left, and these are right."""
    ideal, strong, weak = (six_pulse(Goff) for Goff in (0.0, 1e-6, 1e-9))
    expected = departure(ideal, strong)
    for path, off in departure(ideal, weak).items():
        assert off < 2e-3 * expected[path] + 1e-8


@pytest.mark.parametrize("Goff", [1e-10, 1e-12])
def test_rates_that_cancel_too_far_are_refused_with_the_way_out(Goff: float) -> None:
    """At 0.1 nS events are half a nanosecond off, fifty times what the leakage changes."""
    with pytest.raises(ConsistencyError, match="rates that cancel exceed the motion of") as info:
        six_pulse(Goff)
    assert "zero, which is exact" in info.value.hint
    assert info.value.relative < 10.0 * 2.0**-24 * 1e-10 / Goff


class Pump(Component):
    """Three stages that a half bridge each pumps up, and a store, without a load."""

    Ron: Parameter = Parameter(default=0.0, unit="Ohm")
    Goff: Parameter = Parameter(default=0.0, unit="S")

    def build(self) -> None:
        self.supply, self.ground = electrical.ConstantVoltage(V=5.0), electrical.Ground()
        self.clock = blocks.ComplementaryPWM(frequency=1e5, duty=0.5)
        losses: dict[str, Any] = {"Ron": self.Ron, "Goff": self.Goff}
        self.switch = [electrical.IdealClosingSwitch(**losses) for _ in range(4)]
        self.diode = [electrical.IdealDiode(**losses) for _ in range(4)]
        self.capacitor = [electrical.Capacitor(C=1e-7) for _ in range(4)]

    def equations(self) -> Iterator[Statement]:
        s, d, c, supply = self.switch, self.diode, self.capacitor, self.supply
        yield connect(self.clock.high, s[0].control, s[3].control)
        yield connect(self.clock.low, s[1].control, s[2].control)
        yield connect(supply.p, s[0].p, s[2].p, d[0].p)
        yield connect(supply.n, self.ground.p, s[1].n, s[3].n, c[3].n)
        yield connect(s[0].n, s[1].p, c[0].n, c[2].n)
        yield connect(s[2].n, s[3].p, c[1].n)
        for k in range(3):
            yield connect(d[k].n, c[k].p, d[k + 1].p)
        yield connect(d[3].n, c[3].p)


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("Ron", [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("Goff", [1e-8, 1e-9])
def test_a_rate_that_died_away_hides_no_crossing(Ron: float, Goff: float) -> None:
    """Time constants of 1e-7 Ron end long before a clock period does, so that only leakage counts: in proportion."""

    def reached(Ron: float, Goff: float) -> float:
        return simulate(Pump(Ron=Ron, Goff=Goff), 1e-4)["capacitor[3].v"].final

    tight = reached(1e-2, 0.0)
    expected = (tight - reached(1e-2, 1e-6)) * Goff / 1e-6
    assert tight - reached(Ron, Goff) == pytest.approx(expected, rel=0.5)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("Goff", [0.0, 1e-11, 1e-6])
def test_one_crossing_within_rounding_is_no_two(Goff: float) -> None:
    """Two valves without a current that rounding of 1e-9 Ohm would not hide switched in turn every 2e-14 s, without an end.

    Rounding, which differs between processors, tells how many events there are before the refusal: 3 to 96 have been seen.
    """
    with pytest.raises(ConsistencyError, match="set losses") as refused:
        lossy(CASES["multiplier"].build(), 1e-5, 1e-9, Goff)
    result = refused.value.result
    assert result is not None
    assert len(result.events) < 10.0 + 1e10 * result.events[-1].t


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("Goff", [0.0, 1e-12, 1e-10])
@pytest.mark.parametrize("Ron", [1e-4, 1e-5])
def test_a_flow_that_begins_at_zero_and_dies_away_is_seen(Ron: float, Goff: float) -> None:
    """A valve that turns on within 1e-12 s was taken for one that rounding hides: 1e5 A between two points without any."""
    result = simulate(Pump(Ron=Ron, Goff=Goff), 1e-4)
    assert result["capacitor[3].v"].final == pytest.approx(16.503482136 - 242.0 * Goff, rel=1e-8)


def resonant_converter() -> Component:
    """An LLC converter with a full bridge: between half periods all its valves may block, and leak."""
    switch = electrical.IdealTwoWaySwitch()
    model = circuit(
        ("source", electrical.ConstantVoltage(V=400.0), "P", "0"),
        ("Cr", electrical.Capacitor(C=33e-9), "h", "r"),
        ("Lr", electrical.Inductor(L=60e-6), "r", "m"),
        ("Lm", electrical.Inductor(L=300e-6), "m", "0"),
        *diode_bridge(("a", "b"), "o", "q"),
        ("Co", electrical.Capacitor(C=200e-6, v=20.0), "o", "q"),
        ("R", electrical.Resistor(R=2.0), "o", "q"),
    )
    clock = model.add("clock", blocks.BooleanPulse(period=10e-6, width=50.0))
    transformer = model.add("X", electrical.IdealTransformer(n=8.0))
    model.add("S", switch)
    model.connect(clock.y, switch.control)
    model.connect(switch.p, model.Cr.p)
    model.connect(switch.n2, model.source.p)
    model.connect(switch.n1, model.ground.p)
    model.connect(transformer.p1, model.Lm.p)
    model.connect(transformer.n1, model.ground.p)
    model.connect(transformer.p2, model.t0.p)
    model.connect(transformer.n2, model.t1.p)
    return model


@pytest.mark.filterwarnings("ignore:no reference in the island")
@pytest.mark.parametrize("method", ["exact", "implicit"])
def test_losses_too_small_for_one_path_are_refused_by_both(method: str) -> None:
    """Of Lm.i, 1.6 A, steps missed 8 mA; with a hundred times these losses both paths tell it alike."""
    with pytest.raises(ConsistencyError, match="rates that cancel exceed the motion of") as info:
        lossy(resonant_converter(), 60e-6, 1e-9, 1e-12, method)
    assert "zero, which is exact" in info.value.hint
    weak = lossy(resonant_converter(), 60e-6, 1e-7, 1e-9, method)
    assert weak["Co.v"].final == pytest.approx(30.912262, abs=1e-5)
    assert weak["Lm.i"].final == pytest.approx(-1.604686, abs=1e-6)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("load", [False, True])
@pytest.mark.parametrize("Ron", [1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize("C", [1e-13, 1e-11, 1e-9, 1e-7])
def test_a_small_capacitor_behind_a_small_loss_is_right_or_refused(C: float, Ron: float, load: bool) -> None:
    """Where rounding of 10 V over the loss exceeds what flows, the diode would conduct backwards, and no one would know.

    It turns off near the peak: what is held then, or decays with 10 ms, is known to the loss.
    """
    parts = [("r", electrical.Resistor(R=0.01 / C), "n", "0")] if load else []
    model = circuit(
        ("s", electrical.SineVoltage(V=10.0, f=50.0, phase=0.3), "m", "0"),
        ("d", electrical.IdealDiode(Ron=Ron), "m", "n"),
        ("c", electrical.Capacitor(C=C, v=0.0), "n", "0"),
        *parts,
    )
    w, tau = 100.0 * np.pi, 0.01 if load else np.inf
    off = (np.pi - np.arctan(w * tau) - 0.3) / w if load else (np.pi / 2 - 0.3) / w
    expected = 10.0 * np.sin(w * off + 0.3) * np.exp(-(0.015 - off) / tau)
    try:
        found = simulate(model, 0.015)["c.v"].final
    except ConsistencyError as error:
        assert "set losses and leakages" in str(error)
        return
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("Ron", "C"), [(1e-9, 1e-9), (1e-6, 1e-12)])
def test_a_guard_that_rounding_hides_along_steps_is_refused(Ron: float, C: float) -> None:
    """The run went on to -3 V: seen at the start, the current of the diode is rounding of 10 V over the loss after that."""
    model = circuit(
        ("s", electrical.SineVoltage(V=10.0, f=50.0, phase=0.3), "m", "0"),
        ("d", electrical.IdealDiode(Ron=Ron), "m", "n"),
        ("c", electrical.Capacitor(C=C, v=0.0), "n", "0"),
    )
    with pytest.raises(ConsistencyError, match="hides whether a guard of `d` has been left") as info:
        simulate(model, 0.05, method="implicit")
    assert "zero, which is exact" in info.value.hint
