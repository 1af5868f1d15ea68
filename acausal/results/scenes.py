"""Drawings on axes: limits that hold for all times, artists of shapes, and stroboscopic pictures for paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ParameterError
from .drawing import Drawing, Shape, Signals
from .plotting import two_times
from .segments import window

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MARGIN = 0.06
"""Free space about the drawing, relative to its larger extent."""
FLATTEST = 0.3
"""Smaller extent at least, relative to the larger one."""
INCHES = 5.0
"""Larger extent of a picture, without labels."""
LABELS = 0.8
TRACE = 600
"""Points of a trace in a stroboscopic picture."""
FAINTEST = 0.25
"""Opacity of the first position in a stroboscopic picture."""


def shapes_of(drawing: Any) -> list[Shape]:
    """Return the shapes of a drawing.

    Raises
    ------
    ParameterError
        If it has none, or is no drawing.
    """
    if not isinstance(drawing, Drawing):
        raise ParameterError(f"{drawing!r} is no drawing", hint='begin with Drawing().line("a.frame_a", ...)')
    if not drawing.shapes:
        raise ParameterError("the drawing is empty", hint="add what shall be seen: drawing.line(...)")
    return drawing.shapes


def limits_of(corners: Sequence[np.ndarray]) -> np.ndarray:
    """Return lower left and upper right corner of all that is drawn at any time, with a margin."""
    points = np.concatenate([c.reshape(-1, 2) for c in corners])
    low, high = points.min(axis=0), points.max(axis=0)
    extent = float((high - low).max()) or 1.0
    # A picture must not be too flat: the smaller extent is made larger about its middle.
    missing = np.maximum(FLATTEST * extent - (high - low), 0.0) / 2.0
    return np.array([low - missing - MARGIN * extent, high + missing + MARGIN * extent])


def size_in_inches(limits: np.ndarray) -> tuple[float, float]:
    """Return width and height of a figure in inches."""
    extent = limits[1] - limits[0]
    width, height = INCHES * extent / extent.max() + LABELS
    return float(width), float(height)


def prepare(ax: Axes, result: Signals, shapes: Sequence[Shape], limits: np.ndarray) -> None:
    """Set limits, labels and equal scales of both axes."""
    ax.set_aspect("equal", adjustable="box")
    ax.set(xlim=limits[:, 0], ylim=limits[:, 1])
    unit = next(filter(None, (_unit(result, p) for s in shapes for p in s.points)), "")
    if unit:
        ax.set(xlabel=f"x [{unit}]", ylabel=f"y [{unit}]")
    ax.grid(True, linewidth=0.3)
    ax.set_axisbelow(True)


def _unit(result: Signals, point: Any) -> str:
    """Unit of a coordinate of a point, empty if both are numbers or functions."""
    if isinstance(point, str):
        return result[f"{point}.x"].unit
    items = point if isinstance(point, (tuple, list)) else (point.x, point.y)
    named = [x for x in items if not isinstance(x, (int, float, np.number)) and not callable(x)]
    return getattr(named[0], "unit", None) or result[named[0]].unit if named else ""


def artist_of(ax: Axes, shape: Shape) -> Any:
    """Return a line or polygon of matplotlib, still without place.

    Raises
    ------
    ParameterError
        For a colour, width or marker that matplotlib does not know.
    """
    try:
        if shape.kind == "area":
            return ax.fill([0.0], [0.0], **shape.style)[0]
        return ax.plot([], [], **shape.style)[0]
    except (ValueError, TypeError) as error:
        raise ParameterError(f"a shape cannot be drawn: {error}") from error


def move(artist: Any, corners: np.ndarray) -> None:
    """Put a line or polygon where its corners are."""
    if hasattr(artist, "set_xy"):
        artist.set_xy(corners)
    else:
        artist.set_data(corners[:, 0], corners[:, 1])


# -- several positions in one picture ------------------------------------------------------------------------------


def strobe(
    result: Signals,
    drawing: Drawing,
    times: int | Sequence[float],
    t: tuple[float, float] | None,
    ax: Axes | None,
) -> Figure:
    """Draw several positions in one picture; see `Result.strobe`."""
    shapes = shapes_of(drawing)
    a, b = window(*((None, None) if t is None else two_times(t)), result.t_start, result.t_end)
    shown, fine = _positions(times, a, b), np.linspace(a, b, TRACE)
    corners = [s.corners(result, fine if s.kind == "trace" else shown) for s in shapes]
    limits = limits_of(corners)
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.figure(figsize=size_in_inches(limits), layout="constrained").subplots()
    prepare(ax, result, shapes, limits)
    alphas = np.linspace(FAINTEST, 1.0, len(shown)) if len(shown) > 1 else np.ones(1)
    for n, (shape, found) in enumerate(zip(shapes, corners, strict=True)):
        if shape.kind == "trace":
            move(artist_of(ax, shape), found[:, 0])
            continue
        for k, alpha in enumerate(alphas):
            artist = artist_of(ax, shape)
            move(artist, found[k])
            # A position covers the earlier ones, and in it a shape those before it.
            artist.set(alpha=float(alpha), zorder=3 + k + n / len(shapes))
    return ax.get_figure(root=True)  # pyright: ignore[reportReturnType]


def _positions(times: int | Sequence[float], a: float, b: float) -> np.ndarray:
    """Times of the positions."""
    try:
        shown = (
            np.linspace(a, b, int(times)) if isinstance(times, (int, np.integer)) else np.array(times, float)
        )
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"positions are a number or a list of times in seconds, got {times!r}"
        ) from error
    if shown.ndim != 1 or not len(shown):
        raise ParameterError(f"there is at least one position to draw, got {times!r}")
    return shown
