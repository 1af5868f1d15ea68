"""What a run could not do, and what it has to say, in the words of the model: the only place where words are made of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import AcausalError, StiffnessWarning, warn
from ..simulation.failures import (
    ChangePointPassed,
    CrossingUnresolved,
    DiscreteUnsound,
    EquationsLost,
    Failure,
    FlowInterrupted,
    GivenContradict,
    HeldByStability,
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
    SourceLeaps,
    Started,
    StartNotMet,
    StartSteep,
    TwoReinits,
    Unsettled,
)
from ..simulation.standing import Standing
from .inconsistent import inconsistent
from .instant_failures import equations_lost, not_finite, unsettled
from .interruption import flow_interrupted, source_leaps
from .nonlinear_failures import change_point_passed, held_by_stability, nonlinear_failed
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

WORDS: dict[type[Failure], Callable[[Standing, Any], AcausalError]] = {
    CrossingUnresolved: crossing_unresolved,
    DiscreteUnsound: discrete_unsound,
    EquationsLost: lambda now, failure: equations_lost(now.flat.label, failure),
    FlowInterrupted: flow_interrupted,
    SourceLeaps: source_leaps,
    GivenContradict: given_contradict,
    Inconsistent: inconsistent,
    MovesForEver: moves_for_ever,
    NoMotionAfterImpact: impact_failed,
    NoProgress: without_progress,
    NotFinite: not_finite,
    NotSolved: nonlinear_failed,
    RateUnknown: rate_unknown,
    ReadNotFinite: read_not_finite,
    RequirementMissed: lambda now, failure: requirement_failed(failure),
    SearchFailed: search_failed,
    Sliding: lambda now, failure: sliding(now.flat, failure),
    StartNotMet: start_not_met,
    StartSteep: with_steep_rows,
    TwoReinits: two_reinits,
    Unsettled: unsettled,
}


def explain(now: Standing, failure: Failure) -> AcausalError:
    """Return the error to raise for a failure.

    What is known and contradicts itself, whatever the unknowns are, is told instead of its consequences.
    """
    if isinstance(failure, SearchFailed | NotSolved) and now.reduced.presolved.R.m:
        row = now.base.contradicting_row(now.xi)
        if row is not None:
            return given_contradict(now, GivenContradict(row, now.xi))
    return WORDS[type(failure)](now, failure)


def notify(now: Standing, notice: Notice) -> None:
    """Warn of what a run has to say."""
    if isinstance(notice, Started):
        for text in start_notices(now, notice):
            warn(text)
    elif isinstance(notice, ImpactsUnending):
        warn(unending_impacts(now, notice))
    elif isinstance(notice, ChangePointPassed):
        warn(change_point_passed(now, notice))
    elif isinstance(notice, HeldByStability):
        warn(held_by_stability(now, notice), StiffnessWarning)
    elif isinstance(notice, SeveralModes):
        warn(several_modes(now, notice))
