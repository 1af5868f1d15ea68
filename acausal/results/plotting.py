"""Pictures of signals: one axis per unit, events as thin marks, a readable time axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..errors import ParameterError
from ..modeling.number_checks import is_number, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
FREQUENCIES = ((1e6, "MHz"), (1e3, "kHz"), (1.0, "Hz"))
DECADES = 1e-6
"""Amplitude, relative to the largest, at which a logarithmic axis ends."""
MOST_MARKS = 200
"""Events in the window beyond which marks would cover the signals."""
POINTS = 801
"""Least number of points in a window."""


class Curve(Protocol):
    """What a picture needs of a signal."""

    path: str
    unit: str
    names: dict[int, str]

    @property
    def t(self) -> np.ndarray:
        """Points in seconds."""
        ...

    @property
    def values(self) -> np.ndarray:
        """Values at ``t``."""
        ...

    @property
    def is_discrete(self) -> bool:
        """True for variables that change only at events."""
        ...

    def at(self, t: Any, side: str = "right") -> Any:
        """Values at times."""
        ...


def plot_signals(
    signals: Sequence[Curve | Sequence[Curve]],
    window: tuple[float, float] | None = None,
    events: Sequence[float] = (),
) -> Figure:
    """Draw signals in one figure.

    Parameters
    ----------
    signals : sequence of Signal, or of Signal and sequences of Signal
        Signals alone share one axis per unit. With sequences among them there is one axis per item.
    window : (float, float), optional
        Begin and end in seconds.
    events : sequence of float
        Times marked by thin vertical lines, unless they are too many to be seen.

    Returns
    -------
    matplotlib.figure.Figure
        Made by pyplot, so that ``matplotlib.pyplot.show()`` shows it.

    Raises
    ------
    ParameterError
        If there is nothing to draw.
    """
    if not signals:
        raise ParameterError("there is nothing to plot", hint='name signals: result.plot("load.v")')
    import matplotlib.pyplot as plt

    groups, window = _axes(signals), None if window is None else two_times(window)
    times = [s.t for group in groups for s in group if len(s.t)]
    a, b = window or (float(times[0][0]), float(times[0][-1])) if times else (0.0, 1.0)
    scale, unit = time_scale(a, b)
    figure, axes = plt.subplots(
        len(groups),
        1,
        sharex=True,
        squeeze=False,
        figsize=(8.0, 1.2 + 2.2 * len(groups)),
        layout="constrained",
    )
    for ax, group in zip(axes[:, 0], groups, strict=True):
        _draw(ax, [(s, *_points(s, window)) for s in group], scale)
        _mark(ax, [t for t in events if a <= t <= b], scale)
    axes[-1, 0].set_xlabel(f"time [{unit}]")
    axes[-1, 0].set_xlim(a / scale, b / scale)
    return figure


def two_times(window: Any) -> tuple[float, float]:
    """Return the begin and end of a window, or raise ParameterError."""
    found = tuple(window) if isinstance(window, (tuple, list, np.ndarray)) else ()
    if len(found) != 2 or not all(is_number(t) for t in found) or not found[0] < found[1]:
        raise ParameterError(
            f"a window is two ascending times in seconds, got {shown(window)}", hint="t=(0.0, 1e-3)"
        )
    return float(found[0]), float(found[1])


def _axes(signals: Sequence[Curve | Sequence[Curve]]) -> list[list[Curve]]:
    """Signals of every axis."""
    if any(isinstance(s, Sequence) for s in signals):
        panels = [list(s) if isinstance(s, Sequence) else [s] for s in signals]
        if not all(panels):
            raise ParameterError("a panel of the plot is empty", hint='name its signals: ["a.v", "b.v"]')
        return panels
    groups: dict[tuple[str, bool], list[Curve]] = {}
    for s in signals:
        if not isinstance(s, Sequence):
            groups.setdefault((s.unit, s.is_discrete), []).append(s)
    return list(groups.values())


def time_scale(a: float, b: float) -> tuple[float, str]:
    """Return the factor and name of the unit in which a window reads well."""
    longest = max(abs(a), abs(b))
    return next(((f, name) for f, name in SCALES if longest >= f), SCALES[-1] if longest > 0 else SCALES[0])


def _points(s: Curve, window: tuple[float, float] | None) -> tuple[np.ndarray, np.ndarray]:
    """Points of the window, its ends and some between: those of the run are as dense as its whole range needs."""
    t, values = np.asarray(s.t), np.asarray(s.values, float)
    if window is None or not len(t):
        return t, values
    a, b = max(window[0], t[0]), min(window[1], t[-1])
    inside, more = (t > a) & (t < b), np.linspace(a, b, POINTS)
    times = np.concatenate([t[inside], more])
    # The order of equal times is kept: both limits of an event, then the right one again.
    order = np.argsort(times, kind="stable")
    added = [*s.at(more[:-1]), s.at(b, side="left")]
    return times[order], np.concatenate([values[inside], added])[order]


def plot_lines(
    path: str, unit: str, frequencies: np.ndarray, amplitudes: np.ndarray, log: bool = False
) -> Figure:
    """Draw the lines of a spectrum.

    Parameters
    ----------
    path, unit : str
        Of the signal.
    frequencies, amplitudes : (k,) arrays
    log : bool
        True for a logarithmic axis of amplitudes, over six decades at most.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt

    highest, largest = float(frequencies[-1]), float(amplitudes.max())
    scale, name = next(((f, n) for f, n in FREQUENCIES if highest >= 10.0 * f), FREQUENCIES[-1])
    figure, ax = plt.subplots(figsize=(8.0, 3.4), layout="constrained")
    lowest = DECADES * largest if log else 0.0
    ax.vlines(frequencies / scale, lowest, np.maximum(amplitudes, lowest), linewidth=1.6)
    if log and largest > 0.0:
        ax.set_yscale("log")
    ax.set_ylim(bottom=lowest)
    ax.set_xlim(-0.01 * highest / scale, 1.01 * highest / scale)
    ax.set_xlabel(f"frequency [{name}]")
    ax.set_ylabel(f"{path}, amplitude [{unit}]" if unit else f"{path}, amplitude")
    ax.grid(True, linewidth=0.3)
    ax.set_axisbelow(True)
    return figure


def _draw(ax: Axes, drawn: Sequence[tuple[Curve, np.ndarray, np.ndarray]], scale: float) -> None:
    group = [s for s, _, _ in drawn]
    units = {s.unit for s in group}
    for s, t, values in drawn:
        # Several units on one axis stand beside the names.
        label = f"{s.path} [{s.unit}]" if len(units) > 1 and s.unit else s.path
        ax.plot(t / scale, values, linewidth=1.2, label=label)
    unit = group[0].unit if len(units) == 1 else ""
    if len(group) == 1:
        ax.set_ylabel(f"{group[0].path} [{unit}]" if unit else group[0].path)
    else:
        ax.set_ylabel(f"[{unit}]" if unit else "")
        ax.legend(loc="best", fontsize="small")
    names = group[0].names if all(s.names == group[0].names for s in group) else {}
    if names:
        ax.set_yticks(list(names), list(names.values()))
    elif all(s.values.dtype == bool for s in group):
        ax.set_yticks([0, 1], ["false", "true"])
    ax.grid(True, linewidth=0.3)


def _mark(ax: Axes, times: Sequence[float], scale: float) -> None:
    if len(times) <= MOST_MARKS:
        for t in times:
            ax.axvline(t / scale, color="0.6", linewidth=0.4, zorder=0)
