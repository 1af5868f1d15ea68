"""The work of runs, counted: what takes long shows here on every machine, and seconds on none.

Limits are what was counted, the most of several kinds of processors, with a tenth more for what depends on rounding. A run
that needs less is an occasion to lower them.
"""

from __future__ import annotations

import tracemalloc
from collections import Counter
from importlib import import_module
from typing import Any

import pytest

from acausal import Result, compile_model
from acausal.kernels.loading import compiled_function
from acausal.simulation import self_check
from acausal.simulation.loop import Loop

Case = tuple[str, str, float]
"""Example, its class, and the time it runs."""
SWITCHED: dict[Case, tuple[int, int, int]] = {
    ("boost", "Boost", 10e-3): (2099, 40, 4),
    ("buck_control", "Regulated", 4e-3): (1579, 33, 4),
    ("class_d_amplifier", "ClassD", 1.2e-3): (961, 35, 2),
    ("elevator", "Elevator", 8.0): (5, 6, 3),
    ("forward_converter", "Forward", 2e-3): (608, 42, 8),
    ("h_bridge", "Bridge", 4e-3): (722, 48, 16),
    ("resonant_converter", "Resonant", 2e-3): (743, 112, 7),
    ("six_pulse_rectifier", "SixPulse", 0.2): (124, 58, 15),
    ("voltage_multiplier", "Multiplier", 20e-3): (1785, 216, 8),
}
"""Events, and at most so many instants outside of kernels and analyses of modes."""
INTEGRATED: dict[Case, tuple[int, int, int, int]] = {
    ("colpitts", "Colpitts", 20e-6): (1104, 8330, 16700, 5),
    ("pv_mppt", "Converter", 2e-3): (286, 2100, 8400, 62),
    ("slider_crank", "Engine", 0.05): (40, 326, 1085, 6),
}
"""At most so many steps, evaluations, iterations of Newton's method, and analyses of modes."""


@pytest.fixture
def instants(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts instants that no kernel has followed."""
    monkeypatch.setattr(self_check, "EVERY_VISIT", False)
    found, process = Counter[str](), Loop.process

    def counted(self: Loop, *arguments: Any) -> Any:
        found["instants"] += 1
        return process(self, *arguments)

    monkeypatch.setattr(Loop, "process", counted)
    return found


def simulated(case: Case, **options: Any) -> Result:
    """A first run."""
    module, name, stop = case
    return compile_model(getattr(import_module(f"examples.{module}"), name)()).simulate(stop, **options)


@pytest.mark.skipif(compiled_function("follow_events") is None, reason="kernels are interpreted")
@pytest.mark.parametrize("case", SWITCHED, ids=lambda case: case[0])
def test_events_seen_before_are_left_to_the_kernel(case: Case, instants: Counter[str]) -> None:
    events, outside, analyses = SWITCHED[case]
    result = simulated(case)
    assert len(result.events) == events
    assert instants["instants"] <= outside
    assert result.stats.mode_analyses <= analyses


@pytest.mark.parametrize("case", INTEGRATED, ids=lambda case: case[0])
def test_integration_needs_no_more_work_than_it_did(case: Case) -> None:
    start = {"C.v": 27.0, "L.i": 4.0} if case[0] == "pv_mppt" else None
    stats = simulated(case, initial=start, rtol=1e-6).stats
    found = stats.steps, stats.evaluations, stats.newton_iterations, stats.mode_analyses
    assert all(n <= most for n, most in zip(found, INTEGRATED[case], strict=True)), found


@pytest.mark.skipif(compiled_function("follow_events") is None, reason="kernels are interpreted")
def test_a_run_keeps_some_hundred_bytes_of_an_event(instants: Counter[str]) -> None:
    program = compile_model(import_module("examples.boost").Boost())
    program.simulate(1e-3)
    tracemalloc.start()
    result = program.simulate(50e-3)
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 400 * len(result.events)
    assert most < 700 * len(result.events)
