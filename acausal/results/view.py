"""Reading, plotting and exporting the signals of a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DeclarationError, ParameterError, UnknownPathError
from .drawing import Drawing
from .events import Events
from .initial import InitialValues
from .modes import ModeVisit
from .plotting import plot_signals
from .signal import Signal
from .tables import columns, data_frame, html, write_csv

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST_PLOTTED = 8
"""Signals drawn when none are named."""


class ResultView(ABC):
    """Signals over one run.

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
    initial : InitialValues
        Values of the differentiated variables after the first instant, by path.
    final : dict
        The same at the end: ``initial=result.final`` begins another run there, at time zero.
    stats : Statistics
    """

    t_start: float
    t_end: float
    status: str
    saved: tuple[str, ...] | None
    parameters: dict[str, float]
    label: str

    @abstractmethod
    def __getitem__(self, path: Any) -> Any:
        """Return a signal by its path or handle, a tuple of them for several."""

    # -- mapping -------------------------------------------------------------------------------------------------

    def keys(self) -> list[str]:
        """Return the paths of all variables: a result is a mapping from them to signals.

        ``in`` also knows ``der(...)``, parameters and handles; several names at once give a tuple of signals.
        """
        return self.readable

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

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    @property
    @abstractmethod
    def readable(self) -> list[str]:
        """Paths of all variables that can be read."""

    @property
    @abstractmethod
    def t(self) -> np.ndarray:
        """Points in seconds; equal times are left and right limit of an event."""

    @property
    @abstractmethod
    def paths(self) -> list[str]:
        """Paths that tables and files hold by default."""

    @property
    @abstractmethod
    def states(self) -> list[str]:
        """Paths of the differentiated variables."""

    @property
    @abstractmethod
    def events(self) -> Events:
        """Events in order of time."""

    @property
    @abstractmethod
    def modes(self) -> tuple[ModeVisit, ...]:
        """Distinct modes in the order of their first visit."""

    @property
    @abstractmethod
    def initial(self) -> InitialValues:
        """Values of the differentiated variables after the first instant, and what each follows from."""

    @property
    @abstractmethod
    def final(self) -> dict[str, float]:
        """Values of the differentiated variables at the end."""

    def undetermined(self, path: Any) -> np.ndarray:
        """Return a mask over ``t``: where the model leaves the value of a variable open."""
        return self[path].undetermined

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
        signals = [
            [self._signal(p) for p in panel] if isinstance(panel, (list, tuple)) else self._signal(panel)
            for panel in chosen
        ]
        return plot_signals(signals, window=t, events=self.events.after_start)

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
        from .animation import animate

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
        from .scenes import strobe

        return strobe(self, drawing, times, t, ax)

    def _signal(self, what: Any) -> Signal:
        return what if isinstance(what, Signal) else self[what]

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

    # -- text ----------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<Result of {self.label}: {self.t_start:g} .. {self.t_end:g} s, {len(self.events)} events, {self.status}>"

    def _repr_html_(self) -> str:
        return html(self)

    def _no_values(self) -> ParameterError:
        return ParameterError(f"nothing was computed: the run failed at its start ({self.status})")
