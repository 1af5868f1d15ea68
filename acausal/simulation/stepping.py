"""Runs that advance step by step, the state that continues a run, and results of runs at any point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from ..dynamics.readout import Moment
from ..errors import ParameterError
from ..modeling.number_checks import shown
from ..results.modes import Stats
from ..results.names import Names
from ..results.objects import register
from ..results.record import Segment
from ..results.result import Result
from .binding import make_feeds, mapping
from .checks import check_time
from .clocks import Clock
from .compiled import CompiledModel
from .loop import advance
from .nonlinear.numerical import still
from .sources.source_states import Feed
from .starts.conditions import Starts
from .state import Checkpoint, State

if TYPE_CHECKING:
    from .run import Run


register(Checkpoint, State, Clock, Feed, Starts)


def checkpoint(run: Run, state: State | None) -> Checkpoint | None:
    """Return what continues a run from one of its states, None where there is no state yet."""
    return (
        None
        if state is None
        else Checkpoint(state, run.clocks, run.feeds, run.parameters, run.starts, run.T0, run.span)
    )


def continued(program: CompiledModel, start: Any) -> Checkpoint:
    """Return the checkpoint that continues a result.

    Raises
    ------
    ParameterError
        If it is no result of a run of this model.
    """
    found = getattr(start, "state", None)
    if not isinstance(found, Checkpoint) or not _same_model(program, start.names):
        raise ParameterError(
            "`start` takes the result of a run of the same model object, or a loaded one of an equal model"
        )
    return found


def _same_model(program: CompiledModel, names: Names) -> bool:
    if names.root is not None:
        return names.root is program.model
    return names.signature == program.names.signature


def begin_of(program: CompiledModel, t_start: float | None, start: Any) -> float:
    """Return the time at which a run begins: as given, or the end of what it continues, or zero."""
    if start is not None:
        before = continued(program, start).state.t
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
    _continue(run, continued(run.program, start), inputs)


def _continue(run: Run, before: Checkpoint, inputs: Mapping[str, Any] | None) -> None:
    """Take over the last state of another run; what was given anew acts in an instant of its own."""
    state, parameters = before.state, run.parameters == before.parameters
    same = len(state.memory) == len(run.instants.memory) and len(state.R) == len(run.R)
    ticks = run.ticks
    if run.t == state.t:
        kept = zip(run.clocks, before.clocks, state.ticks, run.first_after(), strict=True)
        ticks = tuple([k if new.same_as(old) else after for new, old, k, after in kept])
    D = state.D.copy()
    make_feeds(run.program, inputs, D, run.feeds)
    moved = replace(state, t=run.t, D=D, ticks=ticks)
    run.put(moved if same else replace(moved, memory=run.instants.memory, R=run.R, pending=None))
    run.record.z, run.record.D = run.z, run.D
    if not same:
        _remember(run)
    if same and parameters and run.t == state.t and not inputs:
        run.log_unchanged("continue")
    else:
        run.instants.process("continue", ("continue",))


def _remember(run: Run) -> None:
    """Relations and conditions of a program with other statements, at the state as it is."""
    for _ in range(2):
        outcome = run.instants.evaluate((), False, False)
        run.R, run.instants.memory = outcome.R, outcome.memory
        run.settle()


def outcome(run: Run, state: State | None, status: str = "") -> Result:
    """Return what a run has computed until now; later steps of the run do not change it.

    It is continued from ``state``.
    """
    program = run.program
    last: tuple[Segment, ...] = ()
    if run.data is not None and (run.record.segments or run.record.steps):
        data, trajectory = still(run)
        moment = Moment(run.t, run.D, run.R, run.q)
        last = (Segment(run.t, run.t, data, trajectory, moment, run.core.readout),)
    record = run.record.until_now(last)
    s, counts = run.search.stats, program.counts
    analysed = sum(core.analysed - before for core, before in run.analysed.items())
    if run.numerical:
        analysed += run.tangents.analysed
    stats = Stats(
        counts.flattenings, counts.presolves, counts.symbolic_analyses, analysed,
        s.searches, s.hints, s.candidates, len(run.record.segments), len(record.steps),
    )  # fmt: skip
    return Result(
        program.names, record, run.t, status or _status(run), stats=stats, parameters=run.parameters,
        saved=run.options.save, grid=run.options.grid,
        state=checkpoint(run, state),
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
    feeds: tuple[Feed, ...]
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
        return outcome(self._run, self._run.state(), "" if self.finished else "running")

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
            run.settle()
        run.instants.process("input", tuple(inputs))

    # -- going back ----------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the present state, to be restored later."""
        self._begin(1.0)
        run = self._run
        return Snapshot(
            self._number,
            run.state(),
            run.feeds,
            run.base,
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
        run = self._run
        run.status = snapshot.status
        run.use(snapshot.core)
        run.feed(snapshot.feeds)
        run.put(snapshot.state)
        run.record.cut(snapshot.segments, snapshot.steps)


def _outgrows(new: Feed, old: Feed) -> bool:
    """The magnitudes that the numbers were scaled with no longer fit."""
    return new.size > 100.0 * old.size


def attach_result(error: BaseException, run: Run) -> None:
    """Put what was computed into the ``result`` of an error."""
    status = (
        "interrupted" if isinstance(error, KeyboardInterrupt) else f"failed: {getattr(error, 'what', error)}"
    )
    if isinstance(error, KeyboardInterrupt):
        run.go_back()
    error.result = outcome(run, run.marked, status)  # type: ignore[attr-defined]
