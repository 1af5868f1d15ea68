"""Drawings that move with signals: shapes between points of a plane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Any, Protocol

import numpy as np

from ..errors import ParameterError
from .signal import Signal

ROUND = 48
"""Corners of a circle."""
ENDS = 0.15
"""Straight part at either end of a spring, relative to its length."""

Outline = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Points (k, p, 2) and angles (k,) at k times to the corners (k, n, 2) at these times."""


class Signals(Protocol):
    """What a picture reads of a result."""

    t_start: float
    t_end: float

    def __getitem__(self, path: Any) -> Signal:
        """Return a signal by its path or handle."""
        ...


@dataclass(frozen=True)
class Shape:
    """A line or an area whose corners follow from points and an angle.

    Attributes
    ----------
    kind : str
        "line", "area" or "trace".
    points : tuple
        As they were given.
    angle : Any
        As it was given.
    outline : callable
    style : dict
        Properties of the line or polygon of matplotlib.
    seconds : float
        Of a trace, how long it lasts.
    """

    kind: str
    points: tuple[Any, ...]
    outline: Outline
    style: dict[str, Any] = field(default_factory=dict)
    angle: Any = 0.0
    seconds: float = inf

    def corners(self, result: Signals, times: np.ndarray) -> np.ndarray:
        """Return the corners at some times, (k, n, 2)."""
        points = np.stack([position(result, p, times) for p in self.points], axis=1)
        return self.outline(points, coordinate(result, self.angle, times))


class Drawing:
    """Shapes that move with the signals of a result, for `Result.animate` and `Result.strobe`.

    A point is the path or handle of a port with coordinates ``x`` and ``y``, or a pair ``(x, y)``. Of a pair each item
    is a number, the path or handle of a variable, a signal, or a function that takes an array of times in seconds.
    Angles in rad, counterclockwise, are given as an item of a pair is. Colours are those of matplotlib. Later shapes
    cover earlier ones. Every method returns the drawing itself, so that calls can be chained.

    Raises
    ------
    ParameterError
        If a point is no point, or a size is not positive.
    """

    def __init__(self) -> None:
        self.shapes: list[Shape] = []

    def line(
        self, *points: Any, color: str = "C0", width: float = 3.0, marker: str = "", closed: bool = False
    ) -> Drawing:
        """Add straight lines from point to point; ``closed`` also from the last to the first.

        Parameters
        ----------
        *points : point
            At least two.
        width : float
            In points of 1/72 inch.
        marker : str
            Marker of matplotlib at the points, "o" for hinges.
        """
        if len(points) < 2:
            raise ParameterError(f"a line joins at least two points, got {len(points)}")
        order = [*range(len(points)), *([0] if closed else [])]
        style = {"color": color, "linewidth": width, "marker": marker, "solid_capstyle": "round"}
        return self._add("line", points, lambda p, _: p[:, order], style)

    def dot(self, point: Any, *, color: str = "C0", size: float = 8.0) -> Drawing:
        """Add a dot, of a diameter in points of 1/72 inch."""
        style = {"color": color, "marker": "o", "markersize": size, "linestyle": ""}
        return self._add("line", (point,), lambda p, _: p, style)

    def trace(
        self, point: Any, *, color: str = "C1", width: float = 1.0, seconds: float | None = None
    ) -> Drawing:
        """Add the way of a point up to the present, or its last ``seconds``."""
        lasts = inf if seconds is None else positive(seconds, "seconds")
        style = {"color": color, "linewidth": width}
        return self._add("trace", (point,), lambda p, _: p, style, seconds=lasts)

    def spring(
        self,
        a: Any,
        b: Any,
        *,
        radius: float,
        coils: int = 6,
        color: str = "0.4",
        width: float = 1.2,
    ) -> Drawing:
        """Add a zigzag of ``radius`` in metres between two points."""
        radius, coils = positive(radius, "radius"), int(positive(coils, "coils"))
        along = np.concatenate(
            [[0.0, ENDS], ENDS + (1 - 2 * ENDS) * (np.arange(2 * coils) + 0.5) / (2 * coils), [1 - ENDS, 1.0]]
        )
        across = np.concatenate([[0.0, 0.0], radius * (-1.0) ** np.arange(2 * coils), [0.0, 0.0]])

        def outline(p: np.ndarray, _: np.ndarray) -> np.ndarray:
            d = p[:, 1] - p[:, 0]
            length = np.maximum(np.hypot(d[:, 0], d[:, 1]), np.finfo(float).tiny)
            normal = np.stack([-d[:, 1], d[:, 0]], axis=1) / length[:, None]
            return p[:, :1] + d[:, None] * along[:, None] + normal[:, None] * across[:, None]

        return self._add("line", (a, b), outline, {"color": color, "linewidth": width})

    def box(
        self, center: Any, width: float, height: float, *, angle: Any = 0.0, color: str = "C0"
    ) -> Drawing:
        """Add a rectangle of ``width`` and ``height`` in metres about a point, turned by ``angle``."""
        w, h = 0.5 * positive(width, "width"), 0.5 * positive(height, "height")
        return self._area(center, np.array([[-w, -h], [w, -h], [w, h], [-w, h]]), angle, color)

    def circle(self, center: Any, radius: float, *, angle: Any = None, color: str = "C0") -> Drawing:
        """Add a disc of ``radius`` in metres about a point; with an ``angle`` a spoke shows how it turns."""
        radius, turn = positive(radius, "radius"), np.linspace(0.0, 2.0 * np.pi, ROUND, endpoint=False)
        self._area(center, radius * np.stack([np.cos(turn), np.sin(turn)], axis=1), 0.0, color)
        if angle is None:
            return self
        spoke = turned(np.array([[0.0, 0.0], [radius, 0.0]]))
        return self._add("line", (center,), spoke, {"color": "black", "linewidth": 1.0}, angle)

    def _area(self, center: Any, corners: np.ndarray, angle: Any, color: str) -> Drawing:
        style = {"facecolor": color, "edgecolor": "black", "linewidth": 0.8}
        return self._add("area", (center,), turned(corners), style, angle)

    def _add(
        self,
        kind: str,
        points: tuple[Any, ...],
        outline: Outline,
        style: dict[str, Any],
        angle: Any = 0.0,
        seconds: float = inf,
    ) -> Drawing:
        for point in points:
            if isinstance(point, (tuple, list)) and len(point) != 2:
                raise ParameterError(f"a point is a pair (x, y), got {point!r}")
        self.shapes.append(Shape(kind, points, outline, style, angle, seconds))
        return self


def turned(corners: np.ndarray) -> Outline:
    """Return the outline of fixed corners (n, 2) that move and turn with one point."""

    def outline(p: np.ndarray, angle: np.ndarray) -> np.ndarray:
        c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
        x, y = corners[:, 0], corners[:, 1]
        return p + np.stack([c * x - s * y, s * x + c * y], axis=2)

    return outline


def positive(value: Any, name: str) -> float:
    """Return a positive number.

    Raises
    ------
    ParameterError
        If it is none.
    """
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(f"`{name}` is a positive number, got {value!r}") from error
    if not (number > 0 and isfinite(number)):
        raise ParameterError(f"`{name}` is a positive number, got {value!r}")
    return number


def position(result: Signals, point: Any, times: np.ndarray) -> np.ndarray:
    """Return the coordinates of a point at some times, (k, 2)."""
    if isinstance(point, str):
        x, y = f"{point}.x", f"{point}.y"
    elif isinstance(point, (tuple, list)):
        x, y = point
    elif hasattr(point, "x") and hasattr(point, "y"):
        x, y = point.x, point.y
    else:
        raise ParameterError(
            f"{point!r} is no point: it has no coordinates `x` and `y`",
            hint='give the path of a port with both, such as "arm.frame_b", or a pair such as (0.0, "mass.s")',
        )
    return np.stack([coordinate(result, x, times), coordinate(result, y, times)], axis=1)


def coordinate(result: Signals, what: Any, times: np.ndarray) -> np.ndarray:
    """Return a number, signal, path, handle or function at some times, (k,).

    Raises
    ------
    ParameterError
        If a value is not finite, or a function gives no array of the right length.
    """
    if isinstance(what, (int, float, np.number)):
        values = np.full(len(times), float(what))
    elif isinstance(what, Signal):
        values = what.at(times)
    elif callable(what):
        values = np.asarray(what(times), float)
        if values.shape not in {(), times.shape}:
            raise ParameterError(
                f"a coordinate that is a function returns one value per time: {times.shape}, not {values.shape}"
            )
        values = np.broadcast_to(values, times.shape)
    else:
        values = result[what].at(times)
    values = np.asarray(values, float)
    if not np.isfinite(values).all():
        t = float(times[~np.isfinite(values)][0])
        raise ParameterError(f"a coordinate of the drawing, {what!r}, is not finite at t = {t:g} s")
    return values
