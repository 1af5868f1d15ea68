"""Operational amplifiers in their textbook circuits: inverting, integrating, with hysteresis, at the limits."""

from typing import Any

import numpy as np
import pytest

from acausal import Circuit, simulate
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Ground,
    IdealOpAmp,
    IdealOpAmp3Pin,
    IdealOpAmpLimited,
    OpAmp,
    RampVoltage,
    Resistor,
    SineVoltage,
)
from tests.components.electrical.circuits import driven

CLOSE = {"rtol": 1e-12, "atol": 1e-12}
T = np.linspace(0.0, 1.0, 401)
R1, R2 = 1e3, 5e3


def amplifier(source: Any, amplifier: Any, feedback: Any, positive: bool = False) -> Circuit:
    """Resistor ``R1`` from the source to an input, ``feedback`` from there to the output, the other input at ground."""
    c = Circuit()
    c.add("source", source)
    c.add("amplifier", amplifier)
    c.add("resistor", Resistor(R=R1))
    c.add("feedback", feedback)
    ground = c.add("ground", Ground())
    node, other = (amplifier.in_p, amplifier.in_n) if positive else (amplifier.in_n, amplifier.in_p)
    c.connect(source.p, c.resistor.p)
    c.connect(c.resistor.n, node, feedback.p)
    c.connect(other, source.n, ground.p)
    c.connect(feedback.n, amplifier.out)
    return c


SINE, COURSE = SineVoltage(V=2.0, f=3.0), 2.0 * np.sin(2 * np.pi * 3.0 * T)


def test_inverting_amplifier() -> None:
    result = simulate(amplifier(SINE, IdealOpAmp3Pin(), Resistor(R=R2)), 1.0)
    np.testing.assert_allclose(result["amplifier.out.v"].at(T), -R2 / R1 * COURSE, **CLOSE)
    np.testing.assert_allclose(result["amplifier.out.i"].at(T), COURSE / R1, **CLOSE)


def test_floating_output() -> None:
    """A nullor with its output on a pedestal of 3 V: the feedback sets the voltage against ground all the same."""
    c = Circuit()
    part, pedestal = c.add("amplifier", IdealOpAmp()), c.add("pedestal", ConstantVoltage(V=3.0))
    source, ground = c.add("source", ConstantVoltage(V=1.0)), c.add("ground", Ground())
    c.connect(source.p, part.in_p)
    c.connect(part.in_n, part.out_p)
    c.connect(part.out_n, pedestal.p)
    c.connect(source.n, pedestal.n, ground.p)
    load = c.add("load", Resistor(R=4.0))
    c.connect(load.p, part.out_p)
    c.connect(load.n, ground.p)
    result = simulate(c, 1.0)
    assert result["load.v"].final == pytest.approx(1.0, rel=1e-14)
    assert result["pedestal.i"].final == pytest.approx(-0.25, rel=1e-14)


@pytest.mark.parametrize(
    ("values", "low", "high"), [({}, -15.0, 15.0), ({"Vps": 4.0, "Vns": -9.0}, -9.0, 4.0)]
)
def test_output_is_cut_at_the_limits(values: dict[str, float], low: float, high: float) -> None:
    source = SineVoltage(V=4.0, f=3.0)
    result = simulate(amplifier(source, IdealOpAmpLimited(**values), Resistor(R=R2)), 1.0)
    np.testing.assert_allclose(
        result["amplifier.out.v"].at(T), np.clip(-R2 / R1 * 2 * COURSE, low, high), **CLOSE
    )
    vin = result["amplifier.vin"].at(T) * (result["amplifier.out.v"].at(T) - (low + high) / 2)
    assert np.all(vin >= -1e-12)


def test_integrator_stays_at_its_limit_and_leaves_it_at_once() -> None:
    """-1 V for a second, then rising: the capacitor charges on while the output rests at its limit."""
    source = RampVoltage(V=4.0, offset=-1.0, duration=4.0)
    C = 1.0 / (R1 * 1.0)
    model = amplifier(source, IdealOpAmpLimited(Vps=0.375), Capacitor(C=C))
    result = simulate(model, 4.0)
    t = np.linspace(0, 4, 161)
    # v = t - t**2 / 2 until it meets the limit at t = 1/2; from then on the node in_n moves towards the source
    # with the time constant R1 * C = 1 s: vin = out - capacitor, in_n = source + capacitor current * R1.
    assert result["amplifier.state"].at(0.6) != result["amplifier.state"].at(0.4)
    before = t <= 0.5
    np.testing.assert_allclose(result["amplifier.out.v"].at(t[before]), (t - t**2 / 2)[before], **CLOSE)
    # in_n obeys der(x) = (u - x) / 1 s with u = t - 1 from x(1/2) = 0: x = t - 2 + 1.5 * exp(1/2 - t) > 0 first at:
    x = t - 2 + 1.5 * np.exp(0.5 - t)
    held = (t > 0.5) & (x < 0)
    np.testing.assert_allclose(result["amplifier.out.v"].at(t[held]), 0.375, **CLOSE)
    np.testing.assert_allclose(result["amplifier.in_n.v"].at(t[held]), x[held], **CLOSE)


def test_schmitt_trigger() -> None:
    """Positive feedback: thresholds of the input at ``-R1 / R2`` times the output that is left."""
    result = simulate(amplifier(SineVoltage(V=8.0, f=1.0), IdealOpAmpLimited(), Resistor(R=R2), True), 2.0)
    changes = [e.t for e in result.events if e.modes and e.t > 0.01]
    first = np.arcsin(3.0 / 8.0) / (2 * np.pi)
    # The balance of the start lasts until the output meets a limit; then the input has to reach -3 V and 3 V in turn.
    assert changes == pytest.approx([first, first + 0.5, first + 1.0, first + 1.5], rel=1e-12)
    saturated = result["amplifier.out.v"].at(np.linspace(first, 2, 100))
    assert set(np.round(saturated, 9)) == {-15.0, 15.0}


def test_supply_pins_set_the_limits() -> None:
    part = IdealOpAmpLimited(useSupply=True)
    model = amplifier(SineVoltage(V=4.0, f=3.0), part, Resistor(R=R2))
    plus, minus = (
        model.add("plus", RampVoltage(V=10.0, duration=1.0)),
        model.add("minus", ConstantVoltage(V=-5.0)),
    )
    model.connect(plus.p, part.s_p)
    model.connect(minus.p, part.s_n)
    model.connect(plus.n, minus.n, model.ground.p)
    result = simulate(model, 1.0)
    expected = np.clip(-R2 / R1 * 2 * COURSE, -5.0, 10.0 * T)
    np.testing.assert_allclose(result["amplifier.out.v"].at(T), expected, **CLOSE)
    assert np.all(result["plus.i"].at(T) == 0)


def test_finite_gain_tends_to_the_limits() -> None:
    source = RampVoltage(V=0.04, offset=-0.02, duration=1.0)
    result = simulate(driven(OpAmp(Slope=2e3, Vps=12.0, Vns=-6.0), in_p=source, in_n=None), 1.0)
    vin = -0.02 + 0.04 * T
    expected = 3.0 + 9.0 * (2e3 * vin / 9.0) / (1 + np.abs(2e3 * vin / 9.0))
    np.testing.assert_allclose(result["device.out.v"].at(T), expected, **CLOSE)
