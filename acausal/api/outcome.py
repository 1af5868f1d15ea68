"""What a run leaves: its result, also where it fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ..errors import AcausalError
from ..reduction.elimination import OutOfRange
from ..results.record import Ending, Segment
from ..results.result import Result
from ..results.statistics import Statistics, peak_memory
from ..simulation.checks import beyond_doubles
from ..simulation.continuation import checkpoint
from ..simulation.loop import Loop
from ..simulation.numeric import analysed_since
from ..simulation.state import State


@np.errstate(all="ignore")  # what is not finite was an error of its own
def outcome(run: Loop, state: State | None, status: str = "") -> Result:
    """Return what a run has computed until now; later steps of the run do not change it.

    It is continued from ``state``.
    """
    program, before = run.program, run.work.enter("record")
    last: tuple[Segment, ...] = ()
    # Only asked for, so that no mode is analysed: it is None before the first instant.
    if vars(run).get("data", run) is not None and (run.record.segments or run.record.steps):
        data, trajectory = run.propagator().dense()
        moment = run.moment()
        last = (Segment(moment.t, moment.t, data, trajectory, moment, run.core.readout),)
    record = run.record.until_now(last)
    run.work.enter(before)
    return Result(
        program.names, record, Ending(run.state.t, status or _status(run), checkpoint(run, state)),
        stats=_statistics(run), parameters=run.parameters, saved=run.options.save, grid=run.options.grid,
    )  # fmt: skip


def _statistics(run: Loop) -> Statistics:
    """What the run has taken until now; the result adds what its record shows."""
    search, counts, work = run.hints.stats, run.program.counts, run.work
    analysed, seconds = analysed_since(run.analysed)
    if run.numerical:
        analysed += run.tangents.analysed
    work.analysed(seconds, "instants")
    return Statistics(
        counts.flattenings, counts.presolves, counts.symbolic_analyses, analysed,
        search.searches, search.hints, search.candidates, len(run.record.segments), len(run.record.steps),
        rejections=work.rejections, held=work.held, evaluations=work.evaluations, jacobians=work.jacobians,
        factorisations=work.factorisations, newton_iterations=work.iterations,
        seconds={**work.seconds, "compile": counts.seconds}, peak_memory=peak_memory(),
    )  # fmt: skip


def _status(run: Loop) -> str:
    return (run.status.message or "terminated") if run.status.finished else "finished"


@contextmanager
def kept(run: Loop) -> Iterator[None]:
    """Put what was computed into the ``result`` of whatever ends the run."""
    try:
        with _ranges_explained(run):
            yield
    except (Exception, KeyboardInterrupt) as error:
        _attach_result(error, run)
        raise


@contextmanager
def _ranges_explained(run: Loop) -> Iterator[None]:
    try:
        yield
    except OutOfRange as error:
        raise beyond_doubles(run.flat, run.values.P, run.state.t, "the equations") from error


def _attach_result(error: BaseException, run: Loop) -> None:
    """Put what was computed into the ``result`` of an error."""
    status = (
        "interrupted" if isinstance(error, KeyboardInterrupt) else f"failed: {getattr(error, 'what', error)}"
    )
    if not isinstance(error, AcausalError):
        run.go_back()
    error.result = outcome(run, run.marked, status)  # type: ignore[attr-defined]
