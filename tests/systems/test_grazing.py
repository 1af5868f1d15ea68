"""Guards that hardly reach their threshold: short conduction is never missed, a touch is none."""

from collections.abc import Iterator

import numpy as np
import pytest

from acausal import Circuit, Component, Parameter, Result, Statement, connect, simulate
from acausal.components.blocks import Sine
from acausal.components.electrical import ConstantVoltage, IdealDiode, Inductor, Resistor, SineVoltage
from acausal.components.rotational import CoulombFriction, CubicSpring, Fixed, Inertia, Torque
from tests.systems.circuits import circuit, falls, rises

F = 50.0
T = 1 / F
W = 2 * np.pi * F


def charger(amplitude: float, level: float = 1.0, phase: float = 0.0, L: float = 0.0) -> Circuit:
    """A sine source charges a battery of ``level`` through a diode and a resistor."""
    return circuit(
        ("source", SineVoltage(V=amplitude, f=F, phase=phase), "a", "0"),
        ("diode", IdealDiode(), "a", "b"),
        ("resistor", Resistor(R=1.0), "b", "c"),
        ("inductor", Inductor(L=L), "c", "d"),
        ("battery", ConstantVoltage(V=level), "d", "0"),
    )


def conduction(result: Result) -> tuple[np.ndarray, np.ndarray]:
    return rises(result, "diode.on"), falls(result, "diode.on")


def crests(phase: float, periods: int) -> np.ndarray:
    return (np.pi / 2 - phase) / W + np.arange(periods) * T


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("k", range(1, 10))
@pytest.mark.parametrize("phase", [0.0, 0.3, -1.1])
def test_every_pair_of_crossings_above_the_threshold(k: int, phase: float) -> None:
    excess, periods = 10.0**-k, 20
    begin, end = conduction(simulate(charger(1 + excess, phase=phase), periods * T))
    half = np.arctan2(np.sqrt(excess * (2 + excess)), 1.0) / W
    np.testing.assert_allclose(begin, crests(phase, periods) - half, rtol=1e-9)
    np.testing.assert_allclose(end, crests(phase, periods) + half, rtol=1e-9)
    # The crossings are located to the last bits of the sine, whose slope there is small.
    resolution = 1e-15 / np.sqrt(excess) / W + 8 * np.spacing(periods * T)
    np.testing.assert_allclose((end - begin) / 2, half, rtol=0, atol=resolution)


@pytest.mark.parametrize("k", range(1, 10))
def test_below_the_threshold_nothing_conducts(k: int) -> None:
    begin, _ = conduction(simulate(charger(1 - 10.0**-k), 20 * T))
    assert len(begin) == 0


def test_a_touch_is_no_crossing() -> None:
    result = simulate(charger(1.0), 20 * T)
    assert len(conduction(result)[0]) == 0
    np.testing.assert_array_equal(result["resistor.i"].values, 0.0)


@pytest.mark.parametrize("k", [2, 5, 8])
def test_crossings_with_an_inductive_load(k: int) -> None:
    """The crossing that begins the conduction does not depend on the load."""
    excess, periods = 10.0**-k, 10
    begin, end = conduction(simulate(charger(1 + excess, phase=0.2, L=1e-5), periods * T))
    half = np.arctan2(np.sqrt(excess * (2 + excess)), 1.0) / W
    np.testing.assert_allclose(begin, crests(0.2, periods) - half, rtol=1e-9)
    assert np.all(end > crests(0.2, periods))


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("phase", [0.0, 0.7, 2.9, -2.0])
@pytest.mark.parametrize("L", [0.0, 1e-6])
def test_conduction_of_a_fraction_of_a_millisecond_is_never_missed(phase: float, L: float) -> None:
    """0.3 ms in every period of 20 ms, over a hundred periods."""
    level, periods = 325.0, 100
    amplitude = level / np.cos(W * 0.15e-3)
    begin, end = conduction(simulate(charger(amplitude, level, phase, L), periods * T))
    expected = crests(phase, periods + 2) - T - 0.15e-3
    expected = expected[(expected > 0) & (expected < periods * T)]
    np.testing.assert_allclose(begin, expected, rtol=1e-9)
    assert len(end) == len(begin)
    np.testing.assert_allclose(end - begin, 0.3e-3, rtol=1e-9 if L == 0 else 5e-2)


class Loaded(Component):
    """An inertia held by dry friction and a nonlinear spring, under a sinusoidal torque."""

    breakaway: Parameter = Parameter(default=3.0, unit="N.m")
    amplitude: Parameter = Parameter(default=3.0, unit="N.m")

    def build(self) -> None:
        self.fixed, self.inertia = Fixed(), Inertia(J=1.0)
        self.friction = CoulombFriction(tau_coulomb=self.breakaway)
        self.sine, self.spring = Sine(amplitude=self.amplitude, f=1.0), CubicSpring(c=1.0, c3=1.0)
        self.torque = Torque(tau=self.sine.y)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.fixed.flange, self.friction.flange_a, self.spring.flange_a)
        yield connect(self.friction.flange_b, self.inertia.flange_a, self.spring.flange_b)
        yield connect(self.torque.flange, self.inertia.flange_b)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["auto", "explicit", "implicit"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("below", [0.0, 1e-11])
def test_a_load_that_just_reaches_the_breakaway_value_moves_nothing(
    below: float, sign: float, method: str
) -> None:
    result = simulate(Loaded(amplitude=sign * 3.0 * (1.0 - below)), 1.0, method=method)
    assert [event.kind for event in result.events] == ["start"]
    np.testing.assert_array_equal(result["inertia.phi"].values, 0.0)


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("method", ["auto", "explicit", "implicit"])
@pytest.mark.parametrize("k", [3, 5, 8, 11])
def test_a_load_a_little_above_the_breakaway_value_slides_twice_in_a_period(k: int, method: str) -> None:
    """It slides from where the sine exceeds the breakaway value; the spring hardly matters.

    While ``s`` is the time since the crest and ``b`` half the time the load exceeds the friction, the speed is the
    integral of ``amplitude W^2 (b^2 - s^2) / 2``, which is zero again at ``s = 2 b``.
    """
    excess = 10.0**-k
    result = simulate(Loaded(amplitude=3.0 * (1.0 + excess)), 1.0, method=method)
    times = [event.t for event in result.events][1:]
    half = np.arccos(1.0 / (1.0 + excess)) / (2.0 * np.pi)
    expected = [crest + side * half for crest in (0.25, 0.75) for side in (-1.0, 2.0)]
    # The cubic neglects the next order of the cosine; where the slope is small, rounding of the load counts.
    np.testing.assert_allclose(times, expected, rtol=0, atol=half * (excess + 1e-4))


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("k", range(12, 17))
def test_loads_whose_excess_is_rounding_come_to_their_end(k: int) -> None:
    result = simulate(Loaded(amplitude=3.0 * (1.0 + 10.0**-k)), 1.0)
    assert result.status == "finished"
    assert abs(result["inertia.phi"].values).max() < 1e-14
