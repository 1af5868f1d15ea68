"""The kernels that are called from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .crossing import Guards, Noise, SearchRoom, first_crossing
from .elimination import EchelonRows, PivotSearch, reduce_rows
from .events import follow_events
from .functions import Functions
from .linear_systems import RightSide, SmallSystem, factorise, solve
from .motion import FlowRecords, FlowTerms, MatrixProduct, follow_flow, multiply, start_flow
from .newton import PointChanges, PointEquations, PointRoom, find_changes, find_point
from .quiet_instants import QuietMode, QuietPlaces, follow_quiet_instants
from .situations import DiscreteRecords, EventLog, EventRoom, EventState, SituationRecords
from .stages import PointsAlong, StagePoints, Stages, follow_points, follow_stages
from .step_records import StepRecords
from .steps import follow_steps


class ManyRecords(NamedTuple):
    """Several records of one class, which may be of different sizes."""

    record: Any


class KernelEntry(NamedTuple):
    """A kernel, and the classes of the records that it takes."""

    function: Callable[..., int]
    records: tuple[Any, ...]


ENTRIES = {
    "first_crossing": KernelEntry(first_crossing, (Functions, Guards, Noise, SearchRoom)),
    "start_flow": KernelEntry(start_flow, (FlowTerms,)),
    "follow_flow": KernelEntry(follow_flow, (Functions, FlowTerms)),
    "multiply": KernelEntry(multiply, (MatrixProduct,)),
    "reduce_rows": KernelEntry(reduce_rows, (EchelonRows, PivotSearch)),
    "factorise": KernelEntry(factorise, (SmallSystem,)),
    "solve": KernelEntry(solve, (SmallSystem, RightSide)),
    "find_point": KernelEntry(find_point, (PointEquations, PointRoom)),
    "find_changes": KernelEntry(find_changes, (PointChanges, PointRoom)),
    "follow_stages": KernelEntry(follow_stages, (PointEquations, PointRoom, Stages, StagePoints)),
    "follow_points": KernelEntry(follow_points, (PointEquations, PointRoom, PointChanges, PointsAlong)),
    "follow_steps": KernelEntry(follow_steps, (StepRecords,)),
    "follow_events": KernelEntry(
        follow_events,
        (
            ManyRecords(FlowRecords), ManyRecords(SituationRecords), DiscreteRecords, EventState, EventState, EventLog,
            EventRoom,
        ),
    ),
    "follow_quiet_instants": KernelEntry(
        follow_quiet_instants,
        (
            ManyRecords(StepRecords), ManyRecords(QuietMode), QuietPlaces, DiscreteRecords, EventState, EventState, EventLog,
            EventRoom,
        ),
    ),
}  # fmt: skip
