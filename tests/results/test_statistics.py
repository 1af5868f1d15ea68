"""Statistics of a run: counts against problems whose work is known, times apart from counts, files, threads."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from threading import Barrier, Thread

import numpy as np
import pytest

from acausal import Component, Eq, Result, Statement, Variable, compile_model, der, exp, if_else, simulate
from acausal.dynamics.work import STAGES, Work
from acausal.reduction.affine import AffineModel, Mode, ModeData
from acausal.reduction.columns import Begun
from acausal.reduction.index_reduction import reduce_mode
from acausal.simulation import analysed_modes
from tests.results.models import Buck


class Falling(Component):
    """dx/dt = -x |x| with a switch at x = 1/2: x = 1 / (1 + t) until t = 1, afterwards -x."""

    x: Variable = Variable(start=1.0)
    y: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), if_else(self.x > 0.5, -self.x * self.x, -self.x))
        yield Eq(self.y + exp(self.y) - 1.0, self.x)


LENGTH: dict[type[Component], float] = {Falling: 2.0, Buck: 1e-4}


def test_counts_of_an_integrated_run() -> None:
    stats = simulate(Falling(), 2.0, method="implicit").stats
    assert stats.events == {"start": 1, "state": 1}
    assert stats.paths == {"general": 1}
    # Rodas5P: one Jacobian for an accepted step, one matrix for a trial, eight evaluations for a matrix.
    assert stats.factorisations == stats.steps + stats.rejections
    assert stats.jacobians == stats.steps
    assert stats.evaluations >= 8 * stats.factorisations
    assert stats.newton_iterations > stats.steps


def test_the_history_of_steps_covers_the_run() -> None:
    result = simulate(Falling(), 2.0, method="explicit")
    history = result.stats.history
    assert history.shape == (result.stats.steps, 2)
    assert (history[0, 0], history[-1, 1]) == (0.0, 2.0)
    assert (history[1:, 0] == history[:-1, 1]).all()
    assert (np.diff(history) > 0.0).all()
    event = result.events[1].t
    assert event in history[:, 1]


def test_an_exact_run_takes_no_steps() -> None:
    stats = simulate(Buck(), 1e-4).stats
    assert (stats.steps, stats.rejections, stats.evaluations) == (0, 0, 0)
    # The start of an affine model is one linear solution.
    assert stats.newton_iterations == 0
    assert stats.history.shape == (0, 2)
    assert stats.mode_analyses >= 2


def test_analyses_with_the_slopes_of_nonlinear_equations_count(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Mode] = []

    def counted(model: AffineModel, mode: Mode, begun: Begun | None) -> ModeData:
        made.append(mode)
        return reduce_mode(model, mode, begun)

    monkeypatch.setattr(analysed_modes, "reduce_mode", counted)
    stats = simulate(Falling(), 2.0).stats
    # Two instants, each with slopes of its own.
    assert len(made) > 2
    # And once for the structure of the only mode.
    assert stats.mode_analyses == len(made) + 1


@pytest.mark.parametrize("model", [Falling, Buck])
def test_times_are_kept_apart_from_counts(model: type[Component]) -> None:
    begin = time.perf_counter()
    first = simulate(model(), LENGTH[model]).stats
    passed = time.perf_counter() - begin
    second = simulate(model(), LENGTH[model]).stats
    assert first == second
    assert first.seconds != second.seconds
    assert tuple(first.seconds) == STAGES
    assert all(value > 0.0 for value in first.seconds.values())
    assert sum(first.seconds.values()) <= passed
    assert 1e7 < first.peak_memory < 1e12


def test_looking_at_a_run_does_not_change_its_counts() -> None:
    program = compile_model(Falling())
    stepped = program.start(span=2.0)
    for t in (0.5, 1.2, 2.0):
        stepped.advance(t)
        before = stepped.result.stats.newton_iterations
        stepped.result["y"].at(np.linspace(0.0, t, 50))
        assert stepped.result.stats.newton_iterations == before
    result = simulate(Falling(), 2.0)
    before = result.stats
    result["y"].mean()
    assert result.stats == before


def test_a_saved_result_keeps_its_statistics() -> None:
    first = simulate(Falling(), 2.0).stats
    file = io.BytesIO()
    simulate(Falling(), 2.0).save(file)
    file.seek(0)
    stats = Result.load(file).stats
    assert stats == first
    assert (stats.history == first.history).all()
    assert sum(stats.seconds.values()) > 0.0
    assert stats.peak_memory > 0


def test_time_of_analyses_is_taken_from_the_stage_in_which_they_were_made() -> None:
    work = Work(seconds={"analyse": 1.0, "start": 5.0, "instants": 2.0})
    work.analysed(3.0, "start")
    assert work.seconds == {"analyse": 4.0, "start": 2.0, "instants": 2.0}
    work.analysed(3.5, "instants")
    assert work.seconds == {"analyse": 4.5, "start": 2.0, "instants": 1.5}


@pytest.mark.parametrize("model", [Falling, Buck])
def test_threads_that_run_one_program_get_the_bits_of_one(model: type[Component]) -> None:
    program = compile_model(model())
    alone = program.simulate(LENGTH[model])
    together, barrier = [], Barrier(2)

    def work() -> None:
        barrier.wait()
        together.append(compiled.simulate(LENGTH[model]))

    compiled = compile_model(model())
    threads = [Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert len(together) == 2
    for result in together:
        assert (result.t == alone.t).all()
        for path in alone.paths:
            assert (result[path].values == alone[path].values).all(), path
        assert result.stats.newton_iterations == alone.stats.newton_iterations
        assert (result.stats.history == alone.stats.history).all()
        assert (result.stats.events, result.stats.searches) == (alone.stats.events, alone.stats.searches)


def test_the_time_of_a_segment_that_ends_with_the_run_is_booked() -> None:
    """A run without events is one such segment."""
    assert simulate(Falling(), 0.5).stats.seconds["flow"] > 0.0
