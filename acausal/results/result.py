"""Result of a run: every variable at any time, computed from the stored segments on demand."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, overload

import numpy as np

from ..compilation.residual import Residual, residual_of
from ..errors import UnknownPathError, nearest
from ..flattening.template import look_up
from ..modeling.expressions import Expr
from .check import Consistency, check
from .energy import Audit, audit, energy_into
from .events import Events
from .files import as_bytes, from_bytes, read, write
from .grid import adaptive_grid, given_grid
from .initial import InitialValue, InitialValues
from .modes import VisitedModes, count_paths, visited_modes
from .names import Names
from .record import Recorded
from .segments import Segments
from .signal import BEFORE, HeldSource, Signal, VariableSource
from .statistics import Statistics, step_history
from .view import ResultView

FEW = 8
"""Times that are read without all segments."""


class Result(ResultView):
    """What a run computed.

    ``result["load.v"]``, ``result[model.load.v]`` and ``result["der(coil.i)"]``
    are signals; everything else about the run is listed under `ResultView`.
    """

    def __init__(
        self,
        names: Names,
        record: Recorded,
        t_end: float,
        status: str,
        *,
        stats: Statistics,
        parameters: dict[str, float],
        saved: tuple[str, ...] | None = None,
        grid: Any = None,
        state: Any = None,
        only: tuple[str, ...] | None = None,
    ) -> None:
        self.names, self.steps, self.status = names, record.steps, status
        self.label, self.parameters, self.saved = names.flat.label, parameters, saved
        self.state = state
        """What continues the run: ``simulate(..., start=result)``."""
        self.record, self.grid, self._counts = record, grid, stats
        self.only = only
        """Paths that can be read, None for all: those chosen when it was saved."""
        self.t_start = float(record.segments[0].start) if len(record.segments) else t_end
        self.t_end = t_end

    # -- copies --------------------------------------------------------------------------------------------------

    def __copy__(self) -> Result:
        return self

    def __deepcopy__(self, memo: Any) -> Result:
        return self

    def __reduce__(self) -> Any:
        return _unpickled, (as_bytes(self),)

    # -- signals -------------------------------------------------------------------------------------------------

    @overload
    def __getitem__(self, path: tuple[Any, ...] | list[Any]) -> tuple[Signal, ...]: ...
    @overload
    def __getitem__(self, path: str | Expr) -> Signal: ...
    def __getitem__(self, path: Any) -> Any:
        if isinstance(path, (tuple, list)):
            return tuple(self[p] for p in path)
        signal = self._read(path)
        if self.only is not None and signal.path not in self.only:
            raise UnknownPathError(
                f"`{signal.path}` is not in the file", hint=nearest(signal.path, self.only)
            )
        return signal

    def _read(self, path: Any) -> Signal:
        """The signal of any path or handle of the model."""
        found = look_up(self.names.flat.root, path if isinstance(path, str) else self.names.path(path))
        f = found.field
        if found.kind == "d":
            codes = self.names.codes(found.index, f)
            kind = int if codes else getattr(f, "type", float)
            return Signal(HeldSource(self, found), found.path, f.unit, f.doc, kind, codes)
        if found.kind == "p":
            return Signal(HeldSource(self, found), found.path, f.unit, f.doc)
        unit = f"{f.unit}/s" if found.kind == "slope" else f.unit
        return Signal(VariableSource(self, found), found.path, unit, f.doc)

    @property
    def paths(self) -> list[str]:
        """Paths that tables and files hold by default."""
        if self.only is not None:
            return list(self.only)
        return list(self.saved) if self.saved is not None else self.names.declared

    @property
    def readable(self) -> list[str]:
        """Paths of all variables that can be read."""
        return list(self.only) if self.only is not None else self.names.declared

    @property
    def states(self) -> list[str]:
        """Paths of the differentiated variables."""
        found = self.names.states
        return found if self.only is None else [p for p in found if p in self.only]

    @property
    def initial(self) -> InitialValues:
        """Values of the differentiated variables after the first instant, and what each follows from."""
        return self._initial

    @cached_property
    def _initial(self) -> InitialValues:
        if not len(self.record.segments):
            return InitialValues({})
        values = {p: float(self._read(p).at(self.t_start)) for p in self.names.states}
        first = [step for step in self.record.steps if step.t == self.t_start]
        before = {path: value for step in reversed(first) for path, value, _ in step.jumps}
        reasons = {p: ("", "continued") for p in self.names.states} | self.record.reasons()
        entries = []
        for path, (branch, reason) in reasons.items():
            value, unit = branch, ""
            if not branch:
                value, unit = float(self._read(path).at(self.t_start)), self._read(path).unit
            entries.append(InitialValue(path, value, unit, reason, before.get(path)))
        return InitialValues(values, entries)

    @property
    def final(self) -> dict[str, float]:
        """Values of the differentiated variables at the end."""
        return {p: float(self._read(p).final) for p in self.names.states} if len(self.record.segments) else {}

    # -- points --------------------------------------------------------------------------------------------------

    @property
    def segments(self) -> Segments:
        """All segments, in order of time."""
        return self._segments

    @cached_property
    def _segments(self) -> Segments:
        """All segments, in order of time."""
        return Segments(list(self.record.segments))

    def located(self, t: np.ndarray, side: str) -> tuple[Segments, np.ndarray, np.ndarray]:
        """Return segments, those of them in which some times lie, and the times since their starts.

        For few times they are those few segments alone: a run that is read while it advances is not sorted anew.
        """
        record = self.record.segments
        if not len(record):
            raise self._no_values()
        if len(t) > FEW or "segments" in self.__dict__:
            return self.segments, *self.segments.locate(t, side)
        find = bisect_right if side == "right" else bisect_left
        numbers = [find(record, x, key=lambda s: s.start) - 1 for x in t.tolist()]
        some = sorted({max(k, 0) for k in numbers})
        parts = Segments([record[k] for k in some])
        which = np.array([BEFORE if k < 0 else some.index(k) for k in numbers], np.int64)
        inside = np.maximum(which, 0)
        return parts, which, np.clip(t - parts.start[inside], 0.0, parts.length[inside])

    @cached_property
    @np.errstate(all="ignore")
    def points(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times, segments and times since their starts of all points."""
        segments = self.segments
        if not len(segments):
            return np.zeros(0), np.zeros(0, np.int64), np.zeros(0)
        events = self.events.times
        shown = np.isin(segments.start, events)
        shown[0] = True
        if self.grid is None:
            which, hs = adaptive_grid(segments, self._shown_ids())
            keep = (hs > 0) | shown[which]
            which, hs = which[keep], hs[keep]
            t = np.where(hs == segments.length[which], segments.end[which], segments.start[which] + hs)
        else:
            t, which, hs = given_grid(segments, self.grid, np.flatnonzero(shown[1:]) + 1)
        if self.events.moved_at_start and len(t) and t[0] == self.t_start:
            return np.append(t[0], t), np.append(BEFORE, which), np.append(0.0, hs)
        return t, which, hs

    def _shown_ids(self) -> tuple[int, ...] | None:
        if self.saved is None:
            return None
        found = [self.names.find(p) for p in self.saved]
        readout = self.segments.groups[0].readout
        if any(x.kind == "slope" or (x.kind == "v" and readout.outside[x.index]) for x in found):
            return None
        return tuple(x.index for x in found if x.kind == "v")

    @property
    def t(self) -> np.ndarray:
        """Points in seconds; equal times are left and right limit of an event.

        By default so many that straight lines between them follow all signals, two million at most; a warning says
        where that is too few.
        """
        return self.points[0]

    # -- events, modes, work -------------------------------------------------------------------------------------

    @property
    def events(self) -> Events:
        """Events in order of time."""
        return self._events

    @cached_property
    def _events(self) -> Events:
        return Events(self.names, self.record)

    @property
    def modes(self) -> VisitedModes:
        """Distinct modes in the order of their first visit."""
        return self._modes

    @cached_property
    def _modes(self) -> VisitedModes:
        return visited_modes(self.names, self.segments)

    @property
    def stats(self) -> Statistics:
        """Work of the run."""
        kinds = [e.kind for e in self.events]
        events = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
        # Files hold polynomials in place of steps, and the history of these.
        history = self._counts.history if len(self._counts.history) else step_history(self.record.segments)
        return replace(
            self._counts, paths=count_paths(self.modes), steps=len(history), history=history, events=events
        )

    # -- energy --------------------------------------------------------------------------------------------------

    def energy(self, path: Any = "", t0: float | None = None, t1: float | None = None) -> float:
        """Return the energy in J that flowed into a component through its ports.

        Parameters
        ----------
        path : str or component
            By default the model itself.
        t0, t1 : float, optional
            Window in seconds, by default the whole run. Impulses count if t0 < t <= t1.

        Notes
        -----
        The power of the ports is integrated along the closed form of every segment; an impulse
        contributes the mean of both limits of the one factor times the impulse of the other,
        which is exact for linear models.
        """
        return energy_into(self, self.names.component(path), t0, t1)

    def audit(self, t0: float | None = None, t1: float | None = None) -> Audit:
        """Return the energy that every part without sub-components took up; the sum closes to zero.

        The window is that of `energy`. Along numerically integrated segments powers are integrated to the
        tolerance of the run; those below a millionth of the largest one, to what that leaves of it.
        """
        return audit(self, t0, t1)

    # -- truth ---------------------------------------------------------------------------------------------------

    def check(self, points: Any = 200) -> Consistency:
        """Compare the values of this result with the model as it is written.

        Parameters
        ----------
        points : int or array
            How many points inside the segments, or their times in seconds. Both limits of as many events are
            looked at too, and the middle of the first visit of every mode.

        Returns
        -------
        Consistency
            Printed, a table of the largest defects with component, file, line and time, and a verdict: ``ok``
            tells it. ``require()`` raises ConsistencyError unless all is well.

        Notes
        -----
        Every equation is evaluated as written, before any reduction, at the values that `Signal.at` gives, and
        measured by its largest term in the run: 1e-9 of it is allowed. Guards and relations must agree with the branch
        in force, requirements must hold, differentiated variables must move as their derivatives say, and the
        energies into all parts sum to zero: those of the whole run where it is exact, else the powers at the points, and those
        of every instant. Along integrated segments ten times the tolerance of the run is allowed for these. Nothing of this
        serves the run itself.
        """
        if not len(self.record.segments):
            raise self._no_values()
        return check(self, self._residual, self._read, points)

    @cached_property
    def _residual(self) -> Residual:
        """The equations as written, with the parameters of the run."""
        return residual_of(self.names.flat, self.parameters)

    # -- files ---------------------------------------------------------------------------------------------------

    def save(self, file: Any, paths: Sequence[Any] | None = None) -> None:
        """Write the run to a file that `Result.load` reads and that answers as this result does.

        The file is written beside its place and renamed: one that was there before is replaced only when all is written.

        Parameters
        ----------
        file : path or binary file
        paths : sequence of str or handle, optional
            What can be read from the file by name, by default everything.
        """
        write(self, file, paths)

    @classmethod
    def load(cls, file: Any) -> Result:
        """Read a file written by `save`: it answers as the result that was saved. No code from it is run.

        Paths name its signals, not handles. Values of numerically integrated segments are those of polynomials that
        meet the solution to about 1e-12.

        Raises
        ------
        ParameterError
            If the file is no saved result, was damaged or edited, or has another format.
        """
        return read(file, cls)


def _unpickled(data: bytes) -> Result:
    return from_bytes(data, Result)
