"""Segments whose steps a kernel has written down, made into steps when they are read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ...dynamics.closed_form import AffineFlow
from ...dynamics.step import Step
from ...dynamics.work import Work
from ...kernels.step_records import StepLog
from ...values import frozen
from .accepted_steps import Accepted, AcceptedSteps
from .accuracy import Tolerances
from .forms import Forms
from .integration import SampledMotion
from .motion import Motion, Place
from .state_selection import Selection
from .system import NonlinearSystem


@frozen
class LoggedMode:
    """What all segments of one mode have in common."""

    system: NonlinearSystem
    selection: Selection
    flow: AffineFlow
    """Of the sources."""
    forms: Forms
    tolerances: Tolerances
    hidden: int
    """Number of sources in states of the record that the motion does without."""

    def place(self, log: StepLog, row: int) -> Place:
        """The point in a row of a log."""
        y, xi, rates = log.points[row], log.sources[row], log.rates[row]
        return Place(float(log.times[row]), y, self.system.nx, xi, rates, y_t=log.slopes[row])


@dataclass(slots=True, eq=False)
class LoggedSegment:
    """Rows of a log in which a segment stands: the point at its begin, then its steps."""

    log: StepLog
    first: int
    last: int
    started: float
    size: np.ndarray
    """Largest magnitudes (nX,) of the coordinates at its end."""
    constants: np.ndarray
    """Constants of the nonlinear rows in it."""

    @property
    def length(self) -> float:
        """Length of the segment."""
        return float(self.log.times[self.last])


class LoggedSteps(AcceptedSteps):
    """The steps of one segment."""

    def __init__(self, mode: LoggedMode, rows: LoggedSegment) -> None:
        log, begin, nx = rows.log, mode.place(rows.log, rows.first), mode.system.nx
        sources = mode.flow.start(begin.xi)
        motion = Motion(mode.system, sources, rows.constants, begin.y[:nx], begin.y[nx:], Work())
        motion.take(mode.selection)
        motion.accept(begin)
        super().__init__(motion, mode.forms)
        self.started, self.length, self.size, self.tolerances = (
            rows.started,
            rows.length,
            rows.size,
            mode.tolerances,
        )
        for j in range(rows.first + 1, rows.last + 1):
            end = mode.place(log, j)
            step = Step(begin.h, end.h, log.states[j - 1], log.states[j], log.dense[j], log.errors[j])
            self.accepted.append(Accepted(step, mode.selection, begin, end))
            begin = end


class LoggedMotion(SampledMotion):
    """What a record keeps of such a segment."""

    def __init__(self, mode: LoggedMode, rows: LoggedSegment) -> None:
        self._mode, self._rows = mode, rows
        super().__init__(partial(LoggedSteps, mode, rows), mode.selection, mode.tolerances, mode.hidden)

    @property
    def breaks(self) -> list[float]:
        """Ends of the steps."""
        return self._rows.log.times[self._rows.first + 1 : self._rows.last + 1].tolist()
