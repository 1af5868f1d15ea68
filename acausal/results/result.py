"""Result of a run: every variable at any time, computed from the stored segments on demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..compilation.residual import Residual
from ..errors import DeclarationError, ParameterError, UnknownPathError, nearest
from ..flattening.template import look_up
from ..modeling.expressions import Expr
from .animation import animate
from .check import Consistency, check
from .drawing import Drawing
from .energy import Audit, audit, energy_into
from .events import Events
from .grid import shown_points
from .initial import InitialValues, initial_values
from .modes import VisitedModes, visited_modes
from .names import Names
from .plotting import plot_signals
from .record import Ending, Recorded
from .scenes import strobe
from .segments import Segments, few
from .signal import Signal
from .sources import HeldSource, VariableSource
from .statistics import Statistics, completed
from .tables import columns, data_frame, html, write_csv

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FEW = 8
"""Times that are read without all segments."""
MOST_PLOTTED = 8
"""Signals drawn when none are named."""


class Result:
    """What a run computed.

    ``result["load.v"]``, ``result[model.load.v]`` and ``result["der(coil.i)"]`` are signals.

    Attributes
    ----------
    t_start, t_end : float
        Begin and end in seconds.
    status : str
        "finished", the message of the ``terminate`` or ``until`` that ended the run, or what went wrong.
    saved : tuple of str or None
        Paths chosen with ``save=``; None for all.
    parameters : dict
        Parameters that were given for the run, or changed after construction, by path.
    """

    def __init__(
        self,
        names: Names,
        record: Recorded,
        ending: Ending,
        *,
        stats: Statistics,
        parameters: dict[str, float],
        saved: tuple[str, ...] | None = None,
        grid: Any = None,
        only: tuple[str, ...] | None = None,
    ) -> None:
        self.names, self.steps = names, record.steps
        self.t_end, self.status, self.state = ending
        self.label, self.parameters, self.saved = names.flat.label, parameters, saved
        self.record, self.grid, self._counts = record, grid, stats
        self.only = only
        """Paths that can be read, None for all: those chosen when it was saved."""
        self.t_start = float(record.segments[0].start) if len(record.segments) else ending.t

    def __copy__(self) -> Result:
        return self

    def __deepcopy__(self, memo: Any) -> Result:
        return self

    def __reduce__(self) -> Any:
        files = _files()
        return files.from_bytes, (files.as_bytes(self), Result)

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
        return list(self.saved) if self.only is None and self.saved is not None else self.keys()

    @property
    def states(self) -> list[str]:
        """Paths of the differentiated variables."""
        found = self.names.states
        return found if self.only is None else [p for p in found if p in self.only]

    @cached_property
    def initial(self) -> InitialValues:
        """Values of the differentiated variables after the first instant, and what each follows from."""
        return initial_values(self.record, self.names.states, self._read)

    @property
    def final(self) -> dict[str, float]:
        """The same at the end: ``initial=result.final`` begins another run there, at time zero."""
        return {p: float(self._read(p).final) for p in self.names.states} if len(self.record.segments) else {}

    # -- mapping -------------------------------------------------------------------------------------------------

    def keys(self) -> list[str]:
        """Return the paths of all variables: a result is a mapping from them to signals.

        ``in`` also knows ``der(...)``, parameters and handles; several names at once give a tuple of signals.
        """
        return list(self.only) if self.only is not None else self.names.declared

    def values(self) -> Iterator[Signal]:
        """Return the signals of all variables, one after the other."""
        return (self[p] for p in self.keys())

    def items(self) -> Iterator[tuple[str, Signal]]:
        """Return paths and signals of all variables, one after the other."""
        return ((p, self[p]) for p in self.keys())

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __bool__(self) -> bool:
        return True

    def __contains__(self, path: Any) -> bool:
        try:
            self[path]
        except (UnknownPathError, DeclarationError):
            return False
        return True

    _ipython_key_completions_ = keys

    # -- points --------------------------------------------------------------------------------------------------

    @cached_property
    def segments(self) -> Segments:
        """All segments, in order of time."""
        return Segments(self.record.segments)

    def located(self, t: np.ndarray, side: str) -> tuple[Segments, np.ndarray, np.ndarray]:
        """Return segments, those of them in which some times lie, and the times since their starts.

        For few times they are those few segments alone: a run that is read while it advances is not sorted anew.
        """
        if not len(self.record.segments):
            raise self._no_values()
        if len(t) > FEW or "segments" in self.__dict__:
            return self.segments, *self.segments.locate(t, side)
        return few(self.record.segments, t, side)

    @cached_property
    @np.errstate(all="ignore")
    def points(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times, segments and times since their starts of all points."""
        if not len(self.segments):
            return np.zeros(0), np.zeros(0, np.int64), np.zeros(0)
        events = np.isin(self.segments.start, self.events.times)
        chosen = None if self.saved is None else [self.names.find(p) for p in self.saved]
        found = shown_points(self.segments, self.grid, events, chosen, self.events.moved_at_start)
        for array in found:
            array.setflags(write=False)
        return found

    @property
    def t(self) -> np.ndarray:
        """Points in seconds; equal times are left and right limit of an event.

        By default so many that straight lines between them follow all signals, two million at most; a warning says
        where that is too few.
        """
        return self.points[0]

    def undetermined(self, path: Any) -> np.ndarray:
        """Return a mask over ``t``: where the model leaves the value of a variable open."""
        return self[path].undetermined

    # -- events, modes, work -------------------------------------------------------------------------------------

    @cached_property
    def events(self) -> Events:
        """Events in order of time."""
        return Events(self.names, self.record)

    @cached_property
    def modes(self) -> VisitedModes:
        """Distinct modes in the order of their first visit."""
        return visited_modes(self.names, self.segments)

    @property
    def stats(self) -> Statistics:
        """Work of the run."""
        return completed(self._counts, self.record.segments, self.events, self.modes)

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
        The power of the ports is integrated along the closed form of every segment; an impulse contributes the mean of both
        limits of the one factor times the impulse of the other, which is exact for linear models. Elements that lose energy
        together share it in this way too. Where that gives one of them less than nothing, no share is determined, and
        `Audit.lost` has the sum. Where starts contradict each other, parts are joined at the first instant as by an ideal
        switch: each takes what its own equations say, and connections lose the rest. It is NaN for parts whose limits before
        that nothing determines: a nonlinear storage, or a controlled source at such a connection.
        """
        return energy_into(self, self.names.component(path), t0, t1)

    def audit(self, t0: float | None = None, t1: float | None = None) -> Audit:
        """Return the energy that every part without sub-components took up; the sum closes to zero.

        The window is that of `energy`. Along numerically integrated segments powers are integrated to the
        tolerance of the run; those below a millionth of the largest one, to what that leaves of it.
        """
        return audit(self, t0, t1)

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
        return Residual(self.names.flat, self.parameters)

    # -- pictures and tables -------------------------------------------------------------------------------------

    def plot(self, *paths: Any, t: tuple[float, float] | None = None) -> Figure:
        """Draw signals over time, one axis per unit, events as thin marks.

        Parameters
        ----------
        *paths : str, handle, Signal or list of them
            By default the saved paths, else the differentiated variables. With a list among them there is one
            axis per argument: ``plot(["a.v", "b.v"], "c.i")`` has two.
        t : (float, float), optional
            Window in seconds.

        Returns
        -------
        matplotlib.figure.Figure
        """
        chosen = paths or (self.saved or self.states or self.paths)[:MOST_PLOTTED]

        def signal(what: Any) -> Any:
            if isinstance(what, (list, tuple)):
                return [signal(p) for p in what]
            return what if isinstance(what, Signal) else self[what]

        return plot_signals([signal(panel) for panel in chosen], window=t, events=self.events.after_start)

    def animate(
        self,
        drawing: Drawing,
        file: Any,
        *,
        t: tuple[float, float] | None = None,
        fps: float = 25.0,
        speed: float = 1.0,
    ) -> None:
        """Write a moving picture of a mechanism.

        Parameters
        ----------
        drawing : Drawing
        file : path
            Ends with ".gif", or with ".html" for a page with a button and a slider that needs no other file.
        t : (float, float), optional
            Window in seconds.
        fps : float
            Frames per second, 50 at most. The time between frames is rounded to 0.01 s, as GIF demands.
        speed : float
            Seconds of the run per second of the animation; 0.1 is slow motion.

        Raises
        ------
        ParameterError
            If the ending is another one, the drawing is empty, or there were more than 2000 frames.
        """
        animate(self, drawing, file, t, fps, speed)

    def strobe(
        self,
        drawing: Drawing,
        times: int | Sequence[float] = 8,
        *,
        t: tuple[float, float] | None = None,
        ax: Axes | None = None,
    ) -> Figure:
        """Draw several positions of a mechanism in one picture, the latest one strongest.

        Parameters
        ----------
        drawing : Drawing
        times : int or sequence of float
            How many positions at equal distances of time, or their times in seconds.
        t : (float, float), optional
            Window in seconds of equal distances and of traces.
        ax : matplotlib.axes.Axes, optional
            Axes of a figure of your own.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return strobe(self, drawing, times, t, ax)

    def table(self, paths: Sequence[Any] | None = None, grid: Any = None) -> dict[str, np.ndarray]:
        """Return columns "time" and one per path.

        Parameters
        ----------
        paths : sequence of str or handle, optional
            By default the saved paths, else all variables.
        grid : float or array, optional
            Step in seconds or ascending times, with right limits; by default the points of ``t``.
        """
        return columns(self, paths, grid)

    def to_csv(self, file: Any, paths: Sequence[Any] | None = None, grid: Any = None) -> None:
        """Write a table with units in the header; see `table`."""
        write_csv(self, file, paths, grid)

    def to_pandas(self, paths: Sequence[Any] | None = None, grid: Any = None) -> Any:
        """Return a pandas DataFrame indexed by time; see `table`.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return data_frame(self, paths, grid)

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
        _files().write(self, file, paths)

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
        return _files().read(file, cls)

    def __repr__(self) -> str:
        return f"<Result of {self.label}: {self.t_start:g} .. {self.t_end:g} s, {len(self.events)} events, {self.status}>"

    def _repr_html_(self) -> str:
        return html(self)

    def _no_values(self) -> ParameterError:
        return ParameterError(f"nothing was computed: the run failed at its start ({self.status})")


def _files() -> Any:
    from . import files  # archives take long to import

    return files
