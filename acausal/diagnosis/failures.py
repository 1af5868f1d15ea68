"""What a run could not do, and what it has to say, in the words of the model: the only place where words are made of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import AcausalError, warn
from ..simulation.failures import (
    CrossingUnresolved,
    DiscreteUnsound,
    EquationsLost,
    Failure,
    FlowInterrupted,
    GivenContradict,
    ImpactsUnending,
    Inconsistent,
    MovesForEver,
    NoMotionAfterImpact,
    NoProgress,
    NotFinite,
    Notice,
    NotSolved,
    RateUnknown,
    ReadNotFinite,
    RequirementMissed,
    SearchFailed,
    SeveralModes,
    Sliding,
    Started,
    StartNotMet,
    StartSteep,
    TwoReinits,
    Unsettled,
)
from ..simulation.run import Run
from .inconsistent import inconsistent
from .instant_failures import equations_lost, not_finite, unsettled
from .interruption import flow_interrupted
from .nonlinear_failures import nonlinear_failed
from .relation_names import sliding, without_progress
from .search_failures import (
    crossing_unresolved,
    discrete_unsound,
    given_contradict,
    impact_failed,
    read_not_finite,
    requirement_failed,
    search_failed,
    several_modes,
    two_reinits,
    unending_impacts,
)
from .start_failures import rate_unknown, start_not_met
from .start_moving import moves_for_ever
from .start_notices import start_notices
from .steep_rows import with_steep_rows

WORDS: dict[type[Failure], Callable[[Run, Any], AcausalError]] = {
    CrossingUnresolved: crossing_unresolved,
    DiscreteUnsound: discrete_unsound,
    EquationsLost: lambda run, failure: equations_lost(run.flat.label, failure),
    FlowInterrupted: flow_interrupted,
    GivenContradict: given_contradict,
    Inconsistent: inconsistent,
    MovesForEver: moves_for_ever,
    NoMotionAfterImpact: impact_failed,
    NoProgress: without_progress,
    NotFinite: not_finite,
    NotSolved: nonlinear_failed,
    RateUnknown: rate_unknown,
    ReadNotFinite: read_not_finite,
    RequirementMissed: lambda run, failure: requirement_failed(failure),
    SearchFailed: search_failed,
    Sliding: lambda run, failure: sliding(run.flat, failure),
    StartNotMet: start_not_met,
    StartSteep: with_steep_rows,
    TwoReinits: two_reinits,
    Unsettled: unsettled,
}


def explain(run: Run, failure: Failure) -> AcausalError:
    """Return the error to raise for a failure.

    What is known and contradicts itself, whatever the unknowns are, is told instead of its consequences.
    """
    row = None
    if isinstance(failure, SearchFailed | NotSolved) and run.reduced.presolved.R.m:
        xi = run.sources.states(run.state.t, run.state.D, run.state.R)
        row = run.base.contradicting_row(xi)
        if row is not None:
            return given_contradict(run, GivenContradict(row, xi))
    return WORDS[type(failure)](run, failure)


def notify(run: Run, notice: Notice) -> None:
    """Warn of what a run has to say."""
    if isinstance(notice, Started):
        for text in start_notices(run, notice):
            warn(text)
    elif isinstance(notice, ImpactsUnending):
        warn(unending_impacts(run, notice))
    elif isinstance(notice, SeveralModes):
        warn(several_modes(run, notice))
