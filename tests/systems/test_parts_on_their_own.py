"""What nothing drives stays at rest, exactly, whatever happens beside it; and a small part is what it is alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import gammainc

from acausal import Circuit, Component, Discrete, Eq, Input, Statement, assign, pre, simulate, when
from acausal.components.blocks import FirstOrder
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Ground,
    Inductor,
    Resistor,
    SignalVoltage,
    StepVoltage,
)


class SignCounter(Component):
    """How often a current became positive, and negative, and when it first did."""

    u: Input = Input(float, unit="A")
    above: Discrete = Discrete(int, start=0)
    below: Discrete = Discrete(int, start=0)

    def equations(self) -> Iterator[Statement]:
        yield when(self.u > 0, assign(self.above, pre(self.above) + 1))
        yield when(self.u < 0, assign(self.below, pre(self.below) + 1))


def beside_a_ladder(seed: int, drive: float | None, commands: bool) -> Circuit:
    """A ladder that is charged, and a capacitor, a coil and resistors at rest, which a step may drive after half a millisecond.

    With ``commands`` the capacitor's voltage commands a source of the ladder: coupled in one direction.
    """
    rng = np.random.default_rng(seed)
    circuit = Circuit()
    ground, source = circuit.add("ground", Ground()), circuit.add("source", ConstantVoltage(V=24.0))
    circuit.connect(source.n, ground.p)
    at = source.p
    for k in range(2 + seed % 3):
        r = circuit.add(f"r{k}", Resistor(R=10.0 ** rng.uniform(0, 2)))
        c = circuit.add(f"c{k}", Capacitor(C=10.0 ** rng.uniform(-6, -4)))
        circuit.connect(at, r.p)
        circuit.connect(r.n, c.p)
        circuit.connect(c.n, ground.p)
        at = r.n
    q = circuit.add("q", Capacitor(C=10.0 ** rng.uniform(-6, -4)))
    ra, rb = (circuit.add(name, Resistor(R=10.0 ** rng.uniform(0, 2))) for name in ("ra", "rb"))
    coil = circuit.add("coil", Inductor(L=10.0 ** rng.uniform(-4, -3)))
    circuit.connect(q.p, ra.p, rb.p)
    circuit.connect(rb.n, coil.p)
    circuit.connect(ground.p, q.n, coil.n)
    if drive is None:
        circuit.connect(ra.n, ground.p)
    else:
        step = circuit.add("step", StepVoltage(V=drive, startTime=5e-4))
        circuit.connect(step.p, ra.n)
        circuit.connect(step.n, ground.p)
    if commands:
        follower, r = circuit.add("follower", SignalVoltage()), circuit.add("r", Resistor(R=7.0))
        circuit.connect(follower.p, r.p)
        circuit.connect(r.n, at)
        circuit.connect(follower.n, ground.p)
        circuit.state(Eq(follower.v, q.v))
    counter = circuit.add("counter", SignCounter())
    circuit.state(Eq(counter.u, coil.i))
    return circuit


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("commands", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_what_is_at_rest_stays_at_rest(seed: int, commands: bool) -> None:
    result = simulate(beside_a_ladder(seed, None, commands), 1e-3)
    assert len(result.events.after_start) == 0
    assert [int(result[f"counter.{n}"].final) for n in ("above", "below")] == [0, 0]
    times = np.linspace(0.0, 1e-3, 50)
    assert not result["coil.i"].at(times).any()
    assert not result["q.v"].at(times).any()


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("commands", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_it_begins_to_move_when_it_is_driven(seed: int, commands: bool) -> None:
    result = simulate(beside_a_ladder(seed, 5.0, commands), 6e-4)
    assert result.events.after_start[0] == 5e-4
    assert not result["coil.i"].at(4.9e-4)
    assert result["counter.above"].at(6e-4) >= 1


def low_pass(circuit: Circuit, ground: Ground, name: str, V: float, rng: np.random.Generator) -> list[str]:
    """Add a chain of resistors, coils and capacitors behind a step, and return its voltages."""
    source = circuit.add(f"source_{name}", StepVoltage(V=V))
    circuit.connect(source.n, ground.p)
    at, found = source.p, []
    for k in range(rng.integers(1, 5)):
        r = circuit.add(f"r_{name}{k}", Resistor(R=10.0 ** rng.uniform(0, 2)))
        coil = circuit.add(f"coil_{name}{k}", Inductor(L=10.0 ** rng.uniform(-4, -3)))
        c = circuit.add(f"c_{name}{k}", Capacitor(C=10.0 ** rng.uniform(-6, -4)))
        circuit.connect(at, r.p)
        circuit.connect(r.n, coil.p)
        circuit.connect(coil.n, c.p)
        circuit.connect(c.n, ground.p)
        at = coil.n
        found.append(f"c_{name}{k}.v")
    return found


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("seed", range(20))
def test_microvolts_beside_kilovolts_are_what_they_are_alone(seed: int) -> None:
    both, alone = Circuit(), Circuit()
    rng = np.random.default_rng(seed)
    large, small = 10.0 ** rng.uniform(3, 6), 10.0 ** rng.uniform(-9, -3)
    ground = both.add("ground", Ground())
    low_pass(both, ground, "large", large, np.random.default_rng([seed, 1]))
    low_pass(both, ground, "small", small, np.random.default_rng([seed, 2]))
    names = low_pass(alone, alone.add("ground", Ground()), "small", small, np.random.default_rng([seed, 2]))
    a, b = simulate(both, 2e-4), simulate(alone, 2e-4)
    times = np.array([1e-5, 5e-5, 2e-4])
    for name in names:
        assert a[name].at(times) == pytest.approx(b[name].at(times), rel=1e-10, abs=1e-14 * small)


@pytest.mark.parametrize("span", [10.0, 1e5, 1e7])
@pytest.mark.parametrize("gap", [0.0, 1e-6, 1e-2])
def test_like_stages_one_after_the_other(gap: float, span: float) -> None:
    """Close to equal stages answer as equal ones do: by the incomplete gamma function."""
    circuit = Circuit()
    stages = [circuit.add(f"stage{k}", FirstOrder(T=1.0 + gap * ((k * 7) % 3 - 1))) for k in range(4)]
    circuit.state(Eq(stages[0].u, 1.0))
    for before, after in pairwise(stages):
        circuit.connect(before.y, after.u)
    result = simulate(circuit, span)
    times = np.array([0.3, 1.0, 3.0, 9.0])
    for k in range(4):
        error = result[f"stage{k}.y"].at(times) - gammainc(k + 1, times)
        assert np.abs(error).max() < 1e-13 + 4.0 * gap
