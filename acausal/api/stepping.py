"""Runs that advance step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from ..errors import ParameterError
from ..modeling.number_checks import shown
from ..results.result import Result
from ..simulation.binding import bind_inputs, mapping
from ..simulation.checks import check_time
from ..simulation.compiled import CompiledModel
from ..simulation.continuation import begin
from ..simulation.loop import Loop
from ..simulation.sources.source_states import OpenInput
from ..simulation.state import Given, State
from ..values import frozen
from .outcome import kept, outcome

_numbers = count()
"""Of runs, to tell their snapshots apart."""


@frozen
class Snapshot:
    """State of a stepped run and the length of its record."""

    run: int
    """Number of the run."""
    state: State
    open_inputs: tuple[OpenInput, ...]
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
        launch: Callable[[float], Loop],
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
        return self._run.state.t

    @property
    def finished(self) -> bool:
        """True after a ``terminate``; the run does not advance any more."""
        return self._run.status.finished

    @property
    def result(self) -> Result:
        """What has been computed until now; later steps do not change it."""
        self._begin(1.0)
        return outcome(self._run, self._run.snapshot(), "" if self.finished else "running")

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
        if t < self._run.state.t:
            raise ParameterError(
                f"cannot advance to {t:g} s: the run is at {self._run.state.t:g} s",
                hint="restore an earlier snapshot",
            )
        self._begin(t - self._run.state.t)
        run = self._run
        with kept(run):
            if inputs and not self.finished:
                self._change_inputs(dict(mapping("inputs", inputs, '{"u": 1.0}')))
            if t > run.state.t:
                run.advance(t)

    def _begin(self, length: float) -> None:
        if self._begun:
            return
        if self._span is None and self._run.T0 == self._run.span and length > 0.0:
            self._run = self._launch(length)
        self._begun = True
        with kept(self._run):
            begin(self._run, self._start, self._inputs)

    def _change_inputs(self, inputs: dict[str, Any]) -> None:
        run = self._run
        run.mark()
        D = run.state.D.copy()
        given = Given(D, bind_inputs(self._program, inputs, D, run.open_inputs))
        run.process("input", tuple(inputs), given=given)

    # -- going back ----------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the present state, to be restored later."""
        self._begin(1.0)
        run = self._run
        return Snapshot(
            self._number,
            run.snapshot(),
            run.open_inputs,
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
        run.take_inputs(snapshot.open_inputs)
        run.put(snapshot.state)
        run.record.cut(snapshot.segments, snapshot.steps)
