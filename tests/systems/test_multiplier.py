"""Voltage multiplier of eight diodes and eight capacitors: energy to the last digit, output without load."""

from functools import cache

import numpy as np
import pytest

from acausal import Circuit, Result, simulate
from acausal.components.blocks import Integrator
from acausal.components.electrical import Capacitor, IdealDiode, Resistor, SineVoltage
from tests.systems.circuits import circuit, search_stats

V, F, C = 10.0, 50.0, 1e-6
T = 1 / F
STAGES = 8


def multiplier(supply: float, load: float | None) -> Circuit:
    """Cockcroft-Walton cascade; the even capacitors add up to the output at node ``n8``."""
    source, resistor = SineVoltage(V=V, f=F), Resistor(R=supply)
    nodes = ["0", *(f"n{k}" for k in range(1, STAGES + 1))]
    branches = [("source", source, "s", "0"), ("supply", resistor, "s", "in")]
    for k in range(1, STAGES + 1):
        branches.append((f"d{k}", IdealDiode(), nodes[k - 1], nodes[k]))
        branches.append((f"c{k}", Capacitor(C=C), nodes[k], "in" if k == 1 else nodes[k - 2]))
    dissipated = resistor.v * resistor.i
    if load is not None:
        consumer = Resistor(R=load)
        branches.append(("load", consumer, nodes[-1], "0"))
        dissipated = dissipated + consumer.v * consumer.i
    return circuit(*branches, work=Integrator(u=-source.v * source.i), heat=Integrator(u=dissipated))


@cache
def run(supply: float, load: float | None, periods: int) -> Result:
    return simulate(multiplier(supply, load), periods * T)


def stored(result: Result, t: float) -> float:
    return sum(C * result[f"c{k}.v"].at(t) ** 2 / 2 for k in range(1, STAGES + 1))


def output(result: Result, t: float) -> float:
    return sum(result[f"c{k}.v"].at(t) for k in range(2, STAGES + 1, 2))


CASES = [(0.0, None), (100.0, None), (0.0, 1e6), (100.0, 1e6)]


@pytest.mark.sweep(every=24)
@pytest.mark.parametrize(("supply", "load"), CASES)
def test_energy_closes(supply: float, load: float | None) -> None:
    result = run(supply, load, 20)
    for t in np.linspace(0.05, 1, 20) * 20 * T:
        work, heat = result["work.y"].at(t), result["heat.y"].at(t)
        assert work == pytest.approx(stored(result, t) + heat, rel=1e-9)
    assert (result["heat.y"].final > 0) == ((supply, load) != (0.0, None))


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(("supply", "load"), CASES)
def test_diodes_neither_conduct_backward_nor_block_forward(supply: float, load: float | None) -> None:
    result = run(supply, load, 20)
    current = max(result[f"d{k}.i"].values.max() for k in range(1, STAGES + 1))
    for k in range(1, STAGES + 1):
        assert result[f"d{k}.v"].values.max() <= 1e-9 * V
        assert result[f"d{k}.i"].values.min() >= -1e-9 * current


def test_few_candidates_are_examined_for_each_new_mode() -> None:
    for case in CASES:
        stats = search_stats(run(*case, 20))
        assert stats.candidates <= 4 * (stats.searches - stats.hints)


def test_output_without_load_tends_to_eight_times_the_peak() -> None:
    """From below; what is missing falls like a geometric series in the end, whose limit Aitken's rule gives."""
    result = run(0.0, None, 120)
    missing = 8 * V - np.array([output(result, n * T) for n in (40, 60, 80, 100, 120)])
    assert np.all(missing > 0)
    assert np.all(np.diff(missing) < 0)
    a, b, c = missing[-3:]
    assert (a * c - b * b) / (a - 2 * b + c) == pytest.approx(0, abs=1e-4 * 8 * V)
