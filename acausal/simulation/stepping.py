"""Runs that advance step by step, the state that continues a run, and results of runs at any point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dynamics.readout import Moment
from ..errors import ParameterError
from ..modeling.number_checks import shown
from ..reduction.affine import Mode, Restart
from ..results.modes import Stats
from ..results.record import Record, Segment
from ..results.result import Result
from .binding import make_feeds, mapping
from .checks import check_time
from .clocks import Clock
from .compiled import CompiledModel
from .loop import advance
from .nonlinear.numerical import still
from .sources.source_states import Feed

if TYPE_CHECKING:
    from .run import Run


@dataclass(frozen=True, eq=False)
class State:
    """Everything that decides how a run goes on from a time."""

    t: float
    mode: Mode
    z: np.ndarray
    slopes: np.ndarray
    q: np.ndarray
    D: np.ndarray
    R: np.ndarray
    memory: np.ndarray
    forced: tuple[int, ...]
    disabled: frozenset[tuple[int, int, int]]
    timed_next: float
    clocks: tuple[Clock, ...]
    feeds: tuple[Feed, ...]
    parameters: dict[str, float]


def state_of(run: Run) -> State:
    """Return the state of a run after its last instant."""
    clocks = tuple(copy(c) for c in run.clocks)
    return State(
        run.t, run.mode, run.z, run.slopes, run.q, run.D, run.R, run.instants.memory, run.forced, run.disabled,
        run.instants.timed_next, clocks, run.feeds, run.parameters,
    )  # fmt: skip


def continued(program: CompiledModel, start: Any) -> State:
    """Return the state that continues a result.

    Raises
    ------
    ParameterError
        If it is no result of a run of this model.
    """
    state = getattr(start, "state", None)
    if not isinstance(state, State) or start.names.root is not program.model:
        raise ParameterError(
            "`start` takes the result of a run of the same model object",
            hint="results loaded from files hold no state",
        )
    return state


def begin_of(program: CompiledModel, t_start: float | None, start: Any) -> float:
    """Return the time at which a run begins: as given, or the end of what it continues, or zero."""
    if start is not None:
        before = continued(program, start).t
        return before if t_start is None else t_start
    return 0.0 if t_start is None else t_start


def begin(run: Run, start: Any = None, inputs: Mapping[str, Any] | None = None) -> None:
    """Process the first instant of a run, or of the continuation of the result ``start`` with new inputs."""
    if start is None:
        try:
            run.first_instant()
        except BaseException:
            # Values that were tried for the start are none of the model.
            run.restart_record()
            raise
        return
    run.forget_bounds()
    state = continued(run.program, start)
    _assign(run, state)
    run.D = run.D.copy()
    make_feeds(run.program, inputs, run.D, run.feeds)
    for clock, before in zip(run.clocks, state.clocks, strict=True):
        if (clock.period, clock.start) == (before.period, before.start):
            clock.k, clock.next = before.k, before.next
        elif run.t == state.t:
            clock.due(run.t, run.tolerance)
    run.record.z, run.record.D = run.z, run.D
    _place(run)
    if len(state.memory) != len(run.instants.memory) or len(state.R) != len(run.values.R):
        _remember(run)
    run.instants.process("continue", ("continue",))


def _assign(run: Run, state: State) -> None:
    run.z, run.q, run.D, run.mode, run.slopes = state.z, state.q, state.D, state.mode, state.slopes
    run.forced, run.disabled = state.forced, state.disabled
    run.instants.timed_next = state.timed_next
    if len(state.memory) == len(run.instants.memory) and len(state.R) == len(run.R):
        run.instants.memory, run.R = state.memory, state.R


def _place(run: Run) -> None:
    """Put the state into the numbers in force."""
    run.refresh_core()
    run.here()
    run.xi = run.sources.states(run.t, run.D, run.R)
    run.place()


def _remember(run: Run) -> None:
    """Relations and conditions of a program with other statements, at the state as it is."""
    for _ in range(2):
        outcome = run.instants.evaluate((), False, False)
        run.R, run.instants.memory = outcome.R, outcome.memory
        _place(run)


def outcome(run: Run, status: str = "") -> Result:
    """Return what a run has computed until now; later steps of the run do not change it."""
    program = run.program
    segments = list(run.record.segments)
    if run.data is not None and (segments or run.record.steps):
        data, trajectory = still(run)
        segments.append(
            Segment(run.t, run.t, data, trajectory, Moment(run.t, run.D, run.R, run.q), run.core.readout)
        )
    record = Record(segments, list(run.record.steps), run.record.z, run.record.D, run.record.reasons)
    s, counts = run.search.stats, program.counts
    analysed = sum(core.analysed - before for core, before in run.analysed.items())
    if run.numerical:
        analysed += run.tangents.analysed
    stats = Stats(
        counts.flattenings, counts.presolves, counts.symbolic_analyses, analysed,
        s.searches, s.hints, s.flips, s.path_followings, s.enumerations, len(run.record.segments), len(record.steps),
    )  # fmt: skip
    return Result(
        program.names, record, run.t, status or _status(run), stats=stats, parameters=run.parameters,
        saved=run.options.save, grid=run.options.grid, state=state_of(run),
    )  # fmt: skip


def _status(run: Run) -> str:
    return (run.status.message or "terminated") if run.status.finished else "finished"


_numbers = count()
"""Of runs, to tell their snapshots apart."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """State of a stepped run and the length of its record."""

    run: int
    """Number of the run."""
    state: State
    data: Any
    y: np.ndarray
    core: Any
    status: Any
    segments: int
    steps: int


class Simulation:
    """A run that advances on demand; made by `Program.start`.

    Parameters
    ----------
    program : Program
    launch : callable
        Length of the run -> run before its first instant.
    span : float or None
        Expected length; None: that of the first step.
    start : Result or None
        What is continued.
    """

    def __init__(
        self,
        program: CompiledModel,
        launch: Callable[[float], Run],
        span: float | None,
        start: Any,
        inputs: Mapping[str, Any] | None,
    ) -> None:
        self._program, self._launch, self._span, self._start, self._inputs = (
            program,
            launch,
            span,
            start,
            inputs,
        )
        self._run = launch(span or 1.0)
        self._begun = False
        self._number = next(_numbers)

    @property
    def t(self) -> float:
        """Time reached, in seconds."""
        return self._run.t

    @property
    def finished(self) -> bool:
        """True after a ``terminate``; the run does not advance any more."""
        return self._run.status.finished

    @property
    def result(self) -> Result:
        """What has been computed until now; later steps do not change it."""
        self._begin(1.0)
        return outcome(self._run, "" if self.finished else "running")

    def advance(self, t: float, inputs: Mapping[str, Any] | None = None) -> None:
        """Run to time ``t``, events at ``t`` included.

        Parameters
        ----------
        t : float
            Time in seconds, not before the time reached.
        inputs : mapping, optional
            New values of inputs from the present time on; others stay as they are.

        Raises
        ------
        ParameterError
            If ``t`` is no finite time, or lies before the time reached.
        AcausalError
            Any failure of the run; its ``result`` holds what was computed.
        """
        check_time("t", t)
        if t < self._run.t:
            raise ParameterError(
                f"cannot advance to {t:g} s: the run is at {self._run.t:g} s",
                hint="restore an earlier snapshot",
            )
        self._begin(t - self._run.t)
        run = self._run
        try:
            if inputs:
                self._feed(dict(mapping("inputs", inputs, '{"u": 1.0}')))
            if t > run.t:
                advance(run, t)
        except (Exception, KeyboardInterrupt) as error:
            attach_result(error, run)
            raise

    def _begin(self, length: float) -> None:
        if self._begun:
            return
        if self._span is None and self._run.T0 == self._run.span and length > 0.0:
            self._run = self._launch(length)
        self._begun = True
        try:
            begin(self._run, self._start, self._inputs)
        except (Exception, KeyboardInterrupt) as error:
            attach_result(error, self._run)
            raise

    def _feed(self, inputs: dict[str, Any]) -> None:
        run = self._run
        D = run.D.copy()
        feeds = make_feeds(self._program, inputs, D, run.feeds)
        for feed in feeds:
            feed.measure(run.t, run.span)
        other = any(
            new.degree != old.degree or _outgrows(new, old) for new, old in zip(feeds, run.feeds, strict=True)
        )
        run.D = D
        if other:
            run.use(run.numbers(feeds))
        run.feed(feeds)
        if other:
            _place(run)
        run.instants.process("input", tuple(inputs))

    # -- going back ----------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the present state, to be restored later."""
        self._begin(1.0)
        run = self._run
        return Snapshot(
            self._number,
            state_of(run),
            run.data,
            run.y,
            run.core,
            run.status,
            len(run.record.segments),
            len(run.record.steps),
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a snapshot of this run; what came after it is forgotten.

        Raises
        ------
        ParameterError
            If it is no snapshot of this run.
        """
        if not isinstance(snapshot, Snapshot) or snapshot.run != self._number:
            what = "one of another run" if isinstance(snapshot, Snapshot) else shown(snapshot)
            raise ParameterError(
                f"`restore` takes a snapshot of this run, got {what}",
                hint="take one with `snapshot()` before; another run continues a result, program.start(start=result)",
            )
        run, state = self._run, snapshot.state
        _assign(run, state)
        run.t, run.status = state.t, snapshot.status
        run.clocks[:] = [copy(c) for c in state.clocks]
        run.use(snapshot.core)
        run.feed(state.feeds)
        run.enter(Restart(snapshot.data, snapshot.y, state.z, np.zeros(0), False))
        del run.record.segments[snapshot.segments :], run.record.steps[snapshot.steps :]


def _outgrows(new: Feed, old: Feed) -> bool:
    """The magnitudes that the numbers were scaled with no longer fit."""
    return new.size > 100.0 * old.size


def attach_result(error: BaseException, run: Run) -> None:
    """Put what was computed into the ``result`` of an error."""
    status = (
        "interrupted" if isinstance(error, KeyboardInterrupt) else f"failed: {getattr(error, 'what', error)}"
    )
    error.result = outcome(run, status)  # type: ignore[attr-defined]
