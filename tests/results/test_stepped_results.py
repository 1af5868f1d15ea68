"""Results of a stepping loop cost what is new, and keep what they had."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from acausal import Result, compile_model
from tests.results.models import Buck


def calls(work: Callable[[], Any]) -> int:
    """Function calls, C functions included, that some work takes."""
    count = 0

    def counted(*_: Any) -> None:
        nonlocal count
        count += 1

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize(
    "read",
    [
        lambda r: None,
        lambda r: r["load.v"].final,
        lambda r: r["diode.on"].final,
        lambda r: r["load.v"].at([r.t_end - 3e-6, r.t_end - 1e-6]),
        lambda r: r.final,
        lambda r: (len(r.events), r.events[-1]),
    ],
)
def test_a_result_costs_what_is_new(read: Callable[[Result], Any]) -> None:
    sim = compile_model(Buck()).start()
    found = []
    for k in range(1, 201):
        sim.advance(k * 1e-5)
        cost = calls(lambda: read(sim.result))
        if k in (25, 50, 100, 200):
            found.append(cost)
    # What is searched for by halving takes a few comparisons more in a longer run.
    assert found[-1] < 1.15 * found[0] + 20


def test_results_keep_what_they_had() -> None:
    program = compile_model(Buck())
    sim = program.start()
    taken, events = [], []
    for k in range(1, 9):
        sim.advance(k * 1e-5)
        taken.append(sim.result)
        events.append(len(taken[-1].events))
    for k, result in enumerate(taken, 1):
        assert result.t_end == pytest.approx(k * 1e-5)
        assert len(result.events) == len(list(result.events)) == events[k - 1]
        assert result["load.v"].t[-1] == result.t_end
    whole = taken[-1]
    for result in taken:
        t = np.linspace(0.0, result.t_end, 7)[:-1]
        np.testing.assert_array_equal(result["load.v"].at(t), whole["load.v"].at(t))
        assert [e.t for e in result.events] == [e.t for e in whole.events if e.t <= result.t_end]


def test_few_times_read_as_many_do() -> None:
    result = compile_model(Buck()).simulate(2e-4)
    times = np.concatenate([result.events.times, np.linspace(0.0, 2e-4, 50)])
    for path in ("load.v", "inductor.i", "diode.on", "diode.v"):
        for side in ("left", "right"):
            fresh = compile_model(Buck()).simulate(2e-4)
            few = [fresh[path].at(t, side) for t in times]
            assert "segments" not in fresh.__dict__
            np.testing.assert_array_equal(few, result[path].at(times, side))


def test_restoring_forgets_for_the_run_alone() -> None:
    sim = compile_model(Buck()).start()
    sim.advance(3e-5)
    kept = sim.snapshot()
    sim.advance(6e-5)
    longer, count = sim.result, len(sim.result.events)
    sim.restore(kept)
    sim.advance(4e-5)
    shorter = sim.result
    assert (len(longer.events), longer.t_end) == (count, 6e-5)
    assert shorter.events[-1].t <= 4e-5
    assert longer["load.v"].at(3.5e-5) == shorter["load.v"].at(3.5e-5)
