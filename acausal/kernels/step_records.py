"""What steps of integration in a row read and write."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .constraints import ConstraintSlopes
from .functions import Functions
from .newton import PointChanges, PointEquations, PointRoom
from .stages import StagePoints, Stages
from .step_forms import StepForms

# Numbers of the steps.
(
    NOW, SIZE, LAST_ERROR, LIMIT, MOST, RTOL, ATOL, SOURCES_FROM, SOURCES_UNTIL, LONGEST, USUAL, VOLUME, LARGEST, AHEAD,
    SPEED, BEFORE,
) = range(16)  # fmt: skip
NUMBERS = 16
# Counts of the steps.
(
    MADE, REJECTED, EVALUATED, JACOBIANS, FACTORISED, CHOOSES, NEAR_BOUNDARY, INSIDE, SINCE_LOOK, HELD_STEPS, HELD_OWN, LEAD,
    RESOLVES, READS_RATES, CHANGES,
) = range(15)  # fmt: skip
COUNTS = 15
ORDER = 1


class StepMethod(NamedTuple):
    """A one-step method of s stages: `Stages` says what is made of its weights."""

    layout = "i1 f1 f1 f2 f2 f1 f2 f2 f1"
    kind: np.ndarray
    """Whether it is implicit, and the order of its estimated error."""
    gamma: np.ndarray
    """One number; zero for an explicit one."""
    times: np.ndarray
    arguments: np.ndarray
    coupling: np.ndarray
    drifts: np.ndarray
    errors: np.ndarray
    """Weights (2, s) of the parts in both estimates of the error."""
    dense: np.ndarray
    """The same (3, s) in the coefficients of the solution inside of the step."""
    stiff: np.ndarray
    """What an error of a stiff component inside of the step makes of each of these."""


class SourcesAlong(NamedTuple):
    """The sources along a segment."""

    layout = "f2 f1 f2 f1"
    C: np.ndarray
    """Coefficients (q, functions) of the functions."""
    phi: np.ndarray
    S: np.ndarray
    """Their generator (q, q)."""
    moved: np.ndarray


class StepState(NamedTuple):
    """Where the steps stand; arrays (n,) of the states and (nx,) of the coordinates."""

    layout = "f1 i1 f1 f1 f1 f1 f1 f1 f1 f1 f1 f1 f1 f1"
    numbers: np.ndarray
    counts: np.ndarray
    y: np.ndarray
    rate: np.ndarray
    size: np.ndarray
    """Magnitudes of the states."""
    atol: np.ndarray
    """Their absolute tolerances."""
    least: np.ndarray
    """Least ones, whatever their magnitudes are."""
    largest: np.ndarray
    """Largest magnitudes of the coordinates so far."""
    scale: np.ndarray
    """Of coordinates and open unknowns (ny,)."""
    bends: np.ndarray
    """Lengths over which constraints bend."""
    units: np.ndarray
    """Magnitudes of the coordinates, or these lengths where they are shorter."""
    moved: np.ndarray
    """Largest changes of coordinates and open unknowns (ny,) over a step."""
    y1: np.ndarray
    """Solution at the end of a trial."""
    allowed: np.ndarray
    """How far what is solved for may depart from a cubic."""


class StepPlaces(NamedTuple):
    """Places at both ends of a step (2, ...), and what the step is made of."""

    layout = "f2 f2 f2 f2 f2 f2 f2 f2 f1 f2 f1 f1 f1"
    points: np.ndarray
    """Coordinates and open unknowns (2, ny)."""
    sources: np.ndarray
    rates: np.ndarray
    """Rates (2, nx) of the coordinates."""
    slopes: np.ndarray
    """Time derivatives (2, ny)."""
    errors: np.ndarray
    """Estimates (2, n)."""
    dense: np.ndarray
    """(3, n)."""
    jacobian: np.ndarray
    """(n, n)."""
    square: np.ndarray
    """Room (n, n)."""
    drift: np.ndarray
    """Derivatives (n,) of the rates by time."""
    of_rates: np.ndarray
    """Changes (m, n) of the open unknowns with those of the rates, where these tell them."""
    probe: np.ndarray
    """One more point (ny,) inside of the step."""
    probe_rates: np.ndarray
    probe_sources: np.ndarray


class StepLog(NamedTuple):
    """Steps that were made, with the places at their ends."""

    layout = "f1 f2 f3 f3 f2 f2 f2 f2"
    times: np.ndarray
    states: np.ndarray
    dense: np.ndarray
    errors: np.ndarray
    points: np.ndarray
    sources: np.ndarray
    rates: np.ndarray
    slopes: np.ndarray


class StepRecords(NamedTuple):
    """All that steps need."""

    layout = "r r r r r r r r r r r r r"
    of = (
        Functions, PointEquations, PointRoom, PointChanges, Stages, StagePoints, StepMethod, SourcesAlong, ConstraintSlopes,
        StepForms, StepState, StepPlaces, StepLog,
    )  # fmt: skip
    functions: Functions
    equations: PointEquations
    room: PointRoom
    changes: PointChanges
    stages: Stages
    points: StagePoints
    method: StepMethod
    sources: SourcesAlong
    constraints: ConstraintSlopes
    forms: StepForms
    state: StepState
    places: StepPlaces
    log: StepLog
