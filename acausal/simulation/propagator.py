"""What moves a run on in one mode: a closed form or steps of integration, by the same verbs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..dynamics.quadrature import Course
from ..dynamics.readout import ReadMode
from ..values import frozen


@dataclass(slots=True, eq=False)
class Arrival:
    """The point at the end of a segment.

    Attributes
    ----------
    z, slopes, second : (n,) arrays
        Core unknowns with two time derivatives; of a model without nonlinear equations nobody reads the latter.
    error, late, shift
        As in `State`.
    y : (ny,) array or None
        State vector of the mode, where it goes on to hold; None where the equations are to be linearised anew.
    xi : (q,) array or None
        Sources, where there is no ``y``.
    first : float or None
        Size of the step with which the next segment of the mode may begin.
    """

    z: np.ndarray
    slopes: np.ndarray
    second: np.ndarray
    error: np.ndarray | None
    late: float
    shift: np.ndarray | None
    y: np.ndarray | None = None
    xi: np.ndarray | None = None
    first: float | None = None


@frozen
class RangeLeft:
    """Unknowns leave the range of doubles after ``h`` seconds; ``which`` are places in the state vector."""

    h: float
    which: tuple[int, ...]


class Propagator(Protocol):
    """The motion of a run in its present mode, started at its present point."""

    def guards(self) -> Any:
        """What can end the segment."""
        ...

    def advance(self, length: float) -> tuple[float, int | None]:
        """Move on for some seconds or to the first crossing; return the seconds, and the form that crossed or None."""
        ...

    def dense(self) -> tuple[ReadMode, Course]:
        """What a record keeps: how the state is read, and the state at any time; before `advance` that of the present point."""
        ...

    def end(self, h: float, t: float) -> Arrival | RangeLeft | None:
        """The point after ``h`` seconds, at the time ``t``; None where all that is known of the present one still holds.

        Where it is beyond the range of doubles, how far the motion goes before.
        """
        ...

    def confirm(self, h: float) -> None:
        """Raise ConsistencyError unless the segment of ``h`` seconds, at whose end the run stands, is as the mode says."""
        ...
