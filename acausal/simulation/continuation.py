"""How a run begins: from start values, or from the last state of another run of the same model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..reduction.reduced_model import ReducedModel
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
from .state import NOT_REDUNDANT, Checkpoint, Given, State

UNKNOWN = -math.inf
"""Next time of a relation of time, which the next evaluation tells."""

register(Checkpoint, State, Clock, OpenInput, Starts)


def checkpoint(run: Run, state: State | None) -> Checkpoint | None:
    """Return what continues a run from one of its states, None where there is no state yet.

    What has ended the run is no part of it.
    """
    if state is None:
        return None
    redundant = run.tangents.redundant if run.numerical else NOT_REDUNDANT
    stop, clocks = run.program.discrete.stop, run.clocks
    if len(stop.memory):
        memory, R = np.delete(state.memory, stop.memory), np.delete(state.R, stop.relations)
        own = _own(len(clocks), stop.samples)
        clocks, ticks = tuple([clocks[k] for k in own]), tuple([state.ticks[k] for k in own])
        state = replace(state, memory=memory, R=R, ticks=ticks, timed_next=UNKNOWN, pending=None)
    return Checkpoint(state, clocks, run.open_inputs, run.parameters, run.starts, run.T0, run.span, redundant)


def continued(program: CompiledModel, start: Any) -> Checkpoint:
    """Return the checkpoint that continues a result.

    Raises
    ------
    ParameterError
        If it is no result of a run of this model.
    """
    found = getattr(start, "state", None)
    if not isinstance(found, Checkpoint) or not program.names.continues(start.names):
        raise ParameterError(
            "`start` takes the result of a run of the same model object, or a loaded one of an equal model"
        )
    return found


def begin_of(program: CompiledModel, t_start: float | None, start: Any) -> float:
    """Return the time at which a run begins: as given, or the end of what it continues, or zero."""
    if start is not None:
        before = continued(program, start).state.t
        return before if t_start is None else t_start
    return 0.0 if t_start is None else t_start


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # as in `Loop.advance`
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
        _continue(run, start, inputs)


def _continue(run: Loop, start: Any, inputs: Mapping[str, Any] | None) -> None:
    """Take over the last state of another run; what was given anew acts in an instant of its own."""
    before = continued(run.program, start)
    state, present, stop = _in_core(run.reduced, start, before.state), run.state, run.program.discrete.stop
    ticks = list(present.ticks)
    if present.t == state.t:
        ticks, own = list(run.schedule.after(present.t)), _own(len(ticks), stop.samples)
        for k, old, tick in zip(own, before.clocks, state.ticks, strict=True):
            ticks[k] = tick if run.clocks[k].same_as(old) else ticks[k]
    memory, R = present.memory.copy(), np.zeros(len(present.R))
    kept, held = _own(len(memory), stop.memory), _own(len(R), stop.relations)
    known = len(kept) == len(state.memory) and len(held) == len(state.R)
    if known:
        memory[kept], memory[stop.memory], R[held] = state.memory, 0.0, state.R
    pending = state.pending if known and not len(stop.memory) else None
    if run.numerical:
        run.tangents.leave(before.redundant)
    run.put(replace(state, t=present.t, memory=memory, R=R, ticks=tuple(ticks), pending=pending))
    now = run.state
    run.record.begin(now.z, now.D)
    if not known:  # A former version kept the conditions that ended its runs too.
        for _ in range(2):
            run.remember(run.evaluate())
            run.settle()
    D, given = now.D.copy(), None
    if inputs:
        given = Given(D, bind_inputs(run.program, inputs, D, before.open_inputs))
    unchanged = run.parameters == before.parameters and now.t == state.t and given is None
    if unchanged and known and now.timed_next != UNKNOWN and not len(stop.memory):
        step = MicroStep(now.t, 0, "continue", ("continue",), now.mode, now.mode, D=now.D, R=now.R)
        run.record.steps.append(step)
    else:
        run.process("continue", ("continue",), given=given)


def _in_core(model: ReducedModel, start: Any, state: State) -> State:
    """The state of a run whose core may be another one: what only the condition reads that ends a run is in its core alone."""
    own, earlier = _moving(model), _moving(start.names.model)
    if (list(own), len(model.core)) == (list(earlier), len(state.z)):
        return state
    values = np.concatenate([state.z, state.q]) * list(earlier.values())
    known = dict(zip(earlier, values.tolist(), strict=True))
    missing = {x: start[model.flat.variable(x)].final for x in own if x not in known}
    z, q = np.split([sign * (known | missing)[x] for x, sign in own.items()], [len(model.core)])
    slopes, second = (
        np.array([dict(zip(earlier, part, strict=False)).get(x, 0.0) for x in list(own)[: len(z)]])
        for part in (state.slopes, state.second)
    )
    return replace(
        state,
        z=z,
        q=q,
        slopes=slopes,
        second=second,
        timed_next=UNKNOWN,
        pending=None,
        error=None,
        shift=None,
        late=0.0,
    )


def _moving(model: ReducedModel) -> dict[int, float]:
    """Variables that are the core unknowns, then those that are integrals, with their signs."""
    found = dict.fromkeys(model.presolved.y[model.core].tolist(), 1.0)
    integrals = [o for o in model.output_equations if o.integral]
    return found | {int(model.presolved.y[o.unknown]): float(o.sign) for o in integrals}


def _own(count: int, stop: np.ndarray) -> list[int]:
    """The numbers that are not those of what ends a run."""
    return np.delete(np.arange(count), stop).tolist()
