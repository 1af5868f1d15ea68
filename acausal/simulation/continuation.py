"""How a run begins: from start values, or from the last state of another run of the same model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..errors import ParameterError
from ..results.names import Names
from ..results.objects import register
from ..results.record import MicroStep
from .binding import bind_inputs
from .clocks import Clock
from .compiled import CompiledModel
from .loop import Loop
from .numeric import analysed_since
from .run import Run
from .sources.source_states import OpenInput
from .starts.starting import start as begin_run
from .starts.stated import Starts
from .state import NOT_REDUNDANT, Checkpoint, State

register(Checkpoint, State, Clock, OpenInput, Starts)


def checkpoint(run: Run, state: State | None) -> Checkpoint | None:
    """Return what continues a run from one of its states, None where there is no state yet."""
    if state is None:
        return None
    redundant = run.tangents.redundant if run.numerical else NOT_REDUNDANT
    return Checkpoint(
        state, run.clocks, run.open_inputs, run.parameters, run.starts, run.T0, run.span, redundant
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


def begin(run: Loop, start: Any = None, inputs: Mapping[str, Any] | None = None) -> None:
    """Process the first instant of a run, or of the continuation of the result ``start`` with new inputs."""
    run.work.enter("start")
    try:
        _begin(run, start, inputs)
    finally:
        run.work.enter("")
    run.work.analysed(analysed_since(run.analysed)[1], "start")


def _begin(run: Loop, start: Any, inputs: Mapping[str, Any] | None) -> None:
    if start is None:
        before = run.snapshot()
        try:
            begin_run(run)
        except BaseException:
            # Values that were tried for the start are none of the model.
            run.begin_anew(before)
            raise
    run.forget_bounds()
    if start is not None:
        _continue(run, continued(run.program, start), inputs)


def _continue(run: Loop, before: Checkpoint, inputs: Mapping[str, Any] | None) -> None:
    """Take over the last state of another run; what was given anew acts in an instant of its own."""
    state, parameters = before.state, run.parameters == before.parameters
    same = len(state.memory) == len(run.state.memory) and len(state.R) == len(run.state.R)
    ticks = run.state.ticks
    if run.state.t == state.t:
        kept = zip(run.clocks, before.clocks, state.ticks, run.schedule.after(run.state.t), strict=True)
        ticks = tuple([k if new.same_as(old) else after for new, old, k, after in kept])
    D = state.D.copy()
    bind_inputs(run.program, inputs, D, run.open_inputs)
    present = run.state
    moved = replace(state, t=present.t, D=D, ticks=ticks)
    if run.numerical:
        run.tangents.leave(before.redundant)
    run.put(moved if same else replace(moved, memory=present.memory, R=present.R, pending=None))
    now = run.state
    run.record.begin(now.z, now.D)
    if not same:
        _remember(run)
    if same and parameters and now.t == state.t and not inputs:
        step = MicroStep(now.t, 0, "continue", ("continue",), now.mode, now.mode, D=now.D, R=now.R)
        run.record.steps.append(step)
    else:
        run.process("continue", ("continue",))


def _remember(run: Loop) -> None:
    """Relations and conditions of a program with other statements, at the state as it is."""
    for _ in range(2):
        run.remember(run.evaluate())
        run.settle()
