"""What changes during a run, as one record; everything else is fixed when the run is prepared."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from operator import attrgetter

import numpy as np

from ..reduction.affine import Mode
from ..values import frozen
from .clocks import Clock
from .sources.source_states import OpenInput
from .starts.stated import Starts


@dataclass(slots=True, eq=False)
class State:
    """Everything that decides how a run goes on from a time.

    A run has one, and its loop changes it. Arrays are replaced and never written to, so that a copy of the record is a snapshot.
    """

    t: float
    mode: Mode
    """The branch of every element."""
    z: np.ndarray
    """Core unknowns."""
    slopes: np.ndarray
    """Their first time derivatives, where equations are nonlinear."""
    second: np.ndarray
    """Their second time derivatives, where they are needed."""
    q: np.ndarray
    """Integrals that nothing reads."""
    D: np.ndarray
    """Discrete variables."""
    R: np.ndarray
    """Truth of the relations."""
    memory: np.ndarray
    """What conditions of `when` and `edge` were after the last micro-step."""
    forced: tuple[int, ...] = ()
    """Branches that controls prescribe, -1 for none."""
    disabled: frozenset[tuple[int, int, int]] = frozenset()
    """Guards (element, branch, number) that are switched off."""
    timed_next: float = math.inf
    """Next time that a relation of time asks for."""
    ticks: tuple[int, ...] = ()
    """Number of the next tick of every clock."""
    error: np.ndarray | None = None
    """Rounding of ``z`` as the last segment left it."""
    pending: int | None = None
    """Number of the guard whose crossing these left limits belong to, -1 for a time; None between instants."""
    late: float = 0.0
    """Seconds by which that crossing may be late, negative where what steps have missed makes it early."""
    shift: np.ndarray | None = None
    """How far core unknowns and sources move while rounding, or what steps have missed, leaves its time open."""
    firsts: tuple[tuple[Mode, float], ...] = ()
    """Modes with the sizes of steps with which segments in them begin behind scheduled instants."""


@frozen
class Given:
    """What a run is given from outside at the present time: discretes with other inputs, and what feeds the open ones."""

    D: np.ndarray
    open_inputs: tuple[OpenInput, ...]


values_of = attrgetter(*(f.name for f in fields(State)))
"""The values of a state: copies of it are made of them, twice for each event."""
Redundant = tuple[tuple[int, ...], tuple[int, ...]]
"""Nonlinear rows that are left out because they follow from others, and all that take part."""
NOT_REDUNDANT: Redundant = ((), ())


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """A state with what was given for the run: enough to continue it as another run of the same model."""

    state: State
    clocks: tuple[Clock, ...]
    open_inputs: tuple[OpenInput, ...]
    parameters: dict[str, float]
    starts: Starts
    """Initial conditions of the first run."""
    T0: float
    span: float
    """Unit of time and length of the first run: with the same scales a continuation has the same bits."""
    redundant: Redundant = NOT_REDUNDANT
