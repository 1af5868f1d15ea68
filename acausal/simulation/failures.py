"""What the engine could not do, as data. Words are made of it in `diagnosis`, and nowhere else.

A record holds what only the place of the failure knows; everything else is read from the run as it stands then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dynamics.explicit import Fastest
from ..dynamics.problem import StepSizeError
from ..errors import AcausalError, Location
from ..modeling.expressions import Expr
from ..reduction.affine import Inadmissible, Mode, Restart
from ..reduction.open_mode import StructurallySingular
from ..values import frozen
from .instants.impact_rounds import ImpactFailed
from .instants.search import NoConsistentMode
from .nonlinear.newton import NewtonFailure
from .nonlinear.state_selection import DependentConstraints
from .self_check import Violation

Micro = tuple[np.ndarray, Mode, np.ndarray, np.ndarray, np.ndarray]
"""Discretes, mode, state vector, relations and memory of conditions after a micro-step; the arrays are never written to."""


class NoConsistentPoint(Exception):
    """Modes and points of linearised models do not settle; ``modes`` are the last ones tried."""

    def __init__(self, modes: list[Mode]) -> None:
        super().__init__("no consistent point")
        self.modes = modes


UNSOLVED = (NewtonFailure, DependentConstraints, StepSizeError, StructurallySingular, NoConsistentPoint)
"""Why nonlinear equations have no solution that was found."""


class Failure:
    """Base of the records."""


@frozen
class SearchFailed(Failure):
    """No mode is consistent at an instant; ``reinits`` are (variable, value) that must hold."""

    cause: NoConsistentMode | Inadmissible
    forced: Sequence[int]
    reinits: Sequence[tuple[int, float]]
    kind: str


@frozen
class CrossingUnresolved(Failure):
    """A guard of an element crosses zero, and what follows in other modes is lost in rounding."""

    element: int


@frozen
class EquationsLost(Failure):
    """The equations of a large model no longer determine all unknowns, or constrain states as they did not before."""

    t: float


@frozen
class NotSolved(Failure):
    """Nonlinear equations were not solved; ``activity`` is start, restart, integration or structure."""

    cause: Exception
    activity: str


@frozen
class GivenContradict(Failure):
    """What is known contradicts integer row ``row`` of the presolve with the sources ``xi`` in force."""

    row: int
    xi: np.ndarray


@frozen
class FlowInterrupted(Failure):
    """Element ``element`` opens against a flow and takes up an impulse ``amount`` of it."""

    element: int
    amount: float
    restart: Restart
    z_minus: np.ndarray


@frozen
class SourceLeaps(Failure):
    """A source that steps moves core unknown ``moved`` at once; variable ``flow`` takes an impulse ``amount`` of second order."""

    moved: int
    flow: int
    amount: float
    restart: Restart
    z_minus: np.ndarray


@frozen
class NoProgress(Failure):
    """The same event at the same time again and again; ``hit`` is the guard, None for a time event."""

    hit: int | None


@frozen
class Unsettled(Failure):
    """Micro-steps without end; ``switching`` are the relations that differ at the end of the trail."""

    trail: list[Micro]
    first: int
    """Number of the first micro-step of the trail."""
    switching: list[int]


@frozen
class Sliding(Failure):
    """Comparisons within ``no_event``, of instances of batches, along which the motion slides at time ``t``."""

    t: float
    which: tuple[tuple[int, int, Expr], ...]


@frozen
class RequirementMissed(Failure):
    """A ``require`` that does not hold; ``t`` is None where parameters alone decide."""

    message: str
    place: Location
    condition: str
    t: float | None = None


@frozen
class NotFinite(Failure):
    """Values that are no finite numbers.

    ``what`` is "state" (positions in the state vector), "integral" (numbers of integrals) or "reinit" (a variable).
    """

    what: str
    which: tuple[int, ...]
    values: tuple[float, ...] = ()
    until: float = 0.0
    place: Location = Location()


@frozen
class StartNotMet(Failure):
    """Conditions of the start that cannot be met: a record of `starts.completion`."""

    conditions: Any
    cause: Any


@frozen
class MovesForEver(Failure):
    """Variables that cannot rest though no rate depends on them.

    ``rates`` are theirs where all else rests; ``fixing`` those whose values say where all of them are.
    """

    variables: list[int]
    rates: list[float]
    fixing: list[int]


@frozen
class RateUnknown(Failure):
    """Condition ``item`` of the start reads the rate of core unknown ``unknown``, which nothing gives."""

    item: Any
    unknown: int


@frozen
class StartSteep(Failure):
    """A start that failed with ``error``, perhaps because equations all but jump where it was sought."""

    error: AcausalError


@frozen
class DiscreteUnsound(Failure):
    """Some discrete variable of ``D`` has a value that is not of its type."""

    D: np.ndarray


@frozen
class ReadNotFinite(Failure):
    """Values ``values`` of the variables ``ids``, then derivatives of ``slopes``, that discrete statements read."""

    ids: Sequence[int]
    slopes: Sequence[int]
    values: np.ndarray


@frozen
class TwoReinits(Failure):
    """Two actions set one state in one instant: (variable, place) of both."""

    first: tuple[int, Location]
    second: tuple[int, Location]


@frozen
class NoMotionAfterImpact(Failure):
    """The law of impact gives no motion."""

    cause: ImpactFailed


@frozen
class Inconsistent(Failure):
    """What the run computed does not satisfy its equations at time ``t``."""

    found: Violation
    t: float


class Notice:
    """Base of what a run says while it goes on."""


@frozen
class ChangePointPassed(Notice):
    """The motion came by a change point at time ``t``; what rounding hides there is interpolated between two times."""

    t: float
    between: tuple[float, float]
    point: tuple[np.ndarray, np.ndarray, np.ndarray]
    """Coordinates, open unknowns and sources there."""


@frozen
class HeldByStability(Notice):
    """Stability alone holds the steps of an explicit method: ``count`` until time ``t``, by the motion ``fastest``."""

    t: float
    count: int
    fastest: Fastest


@frozen
class ImpactsUnending(Notice):
    """Impacts at these elements did not end within an instant."""

    elements: tuple[int, ...]


@frozen
class SeveralModes(Notice):
    """Other modes than the one that was chosen are consistent: in each a friction stays at rest that breaks away in that one."""

    chosen: Mode
    others: tuple[Mode, ...]


@frozen
class Started(Notice):
    """The first instant is complete; ``completed`` is what it was solved with, None where nothing was."""

    completed: Any
