"""Piecewise-linear curves of the elements, as seen by one backward-Euler step.

Every branch of an element is a line in the plane of its pair (x, y). The ranges of ``curve``
order the branches; corners are the intersections of neighbouring lines, so capacities and
thresholds that depend on the sources need no extra data. Slopes parallel to an axis are
tilted by a small fraction of the port's scale, the limit of equal leakage and equal
resistance that also fixes undetermined values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...reduction.affine import AffineModel, Branch, Element, Kind, Rows

_PARALLEL = 1e-9
_FREE_BRANCHES = {Kind.COMPLEMENTARITY: 2, Kind.FRICTION: 3}


class PathLost(Exception):
    """Path following cannot go on; another step length or another method has to decide."""


def free_branches(element: Element) -> range:
    """Branches a search may choose; those beyond are only ever forced."""
    return range(_FREE_BRANCHES.get(element.kind, len(element.branches)))


def is_free(element: Element, forced: int) -> bool:
    """Whether a search may move the element."""
    return forced < 0 and element.kind is not Kind.CONTROLLED


def has_curves(model: AffineModel, forced: Sequence[int]) -> bool:
    """Whether every free element has a curve to follow."""
    return all(
        element.curve is not None
        for element, prescribed in zip(model.elements, forced, strict=True)
        if is_free(element, prescribed)
    )


class Probe:
    """Rows of one backward-Euler step of length ``h`` over the scaled unknowns ``z / scale``."""

    def __init__(self, model: AffineModel, z_minus: np.ndarray, xi: np.ndarray, h: float) -> None:
        self.scale, self.xi_scale, self.T0 = model.scale, model.xi_scale, model.T0
        self._h, self._z_minus = h, z_minus
        # The sources take the same implicit step, so all leading terms agree with the derivatives.
        self._xi = np.linalg.solve(np.eye(model.q) - h * model.S, xi)

    def rows(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """``P, c`` with the value ``P (z / scale) + c`` at the end of the step."""
        P = (rows.A + rows.E / self._h) * self.scale
        return P, rows.B @ self._xi - rows.E @ (self._z_minus / self._h)

    def normalised(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """The rows divided by their largest coefficient."""
        P, c = self.rows(rows)
        size = np.max(np.abs(P), axis=1, initial=0.0)
        size[size == 0.0] = 1.0
        return P / size[:, None], c / size

    def magnitude(self, rows: Rows) -> float:
        """Largest term of the first row at the scales of the model."""
        terms = (np.abs(rows.A[0]) + np.abs(rows.E[0]) / self.T0) * self.scale
        return float(np.max(terms, initial=0.0)) or 1.0


@dataclass(frozen=True, eq=False)
class PortCurve:
    """Curve ``(x, y) = base + slope s`` of one element, in units of the magnitudes of the pair."""

    branches: tuple[int, ...]
    """Branches in the order of s."""
    X: np.ndarray
    Y: np.ndarray
    offset: np.ndarray
    """``x = X (z / scale) + offset[0]``, likewise y."""
    base: np.ndarray
    slope: np.ndarray
    breaks: np.ndarray
    """Segment k is ``breaks[k] <= s <= breaks[k + 1]``; the ends are infinite."""
    trend: np.ndarray
    """Signs of dx and dy along the whole curve: that of a resistance."""

    @property
    def chord(self) -> np.ndarray:
        """Direction from the far end of the first branch to that of the last one."""
        return self.slope[0] + self.slope[-1]

    def inside(self, segment: int, shift: float) -> float:
        """A value of s inside a segment, moved by ``shift`` in [0, 1] off the regular places."""
        low, high = self.breaks[segment], self.breaks[segment + 1]
        if np.isinf(low):
            return float(high - 1.0 - 0.1 * shift)
        if np.isinf(high):
            return float(low + 1.0 + 0.1 * shift)
        return float(low + (0.5 + 0.1 * shift) * (high - low))


def port_curve(element: Element, probe: Probe, tilt: float) -> PortCurve:
    """Curve of a free element at the end of the probe step."""
    if element.curve is None:
        raise PathLost(f"{element.path} has no curve")
    ranges = element.curve
    order = tuple(sorted(free_branches(element), key=lambda k: ranges[k][0]))
    if len(order) < 2 or any(len(element.branches[k].equations) != 1 for k in order):
        raise PathLost(f"{element.path} is no curve in a plane")
    plane = _Plane(element, probe)
    lines = [plane.line(element.branches[k].equations) for k in order]
    corners = np.array([_intersection(a, b, element.path) for a, b in zip(lines, lines[1:], strict=False)])
    first = -plane.away(lines[0], element.branches[order[0]])
    last = plane.away(lines[-1], element.branches[order[-1]])
    lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    middle = [
        _unit(step, line, first + last)
        for step, line in zip(np.diff(corners, axis=0), lines[1:-1], strict=True)
    ]
    slope = np.array([first, *middle, last])
    trend = np.where(np.where(np.abs(slope) > _PARALLEL, slope, 0.0).sum(axis=0) < 0.0, -1.0, 1.0)
    slope = np.where(np.abs(slope) > _PARALLEL, slope, tilt * trend)
    corners, knots = _tilted(corners, slope, lengths)
    anchor, at = corners[[0, *range(len(corners))]], knots[[0, *range(len(knots))]]
    breaks = np.concatenate([[-np.inf], knots, [np.inf]])
    return PortCurve(
        order, plane.P[0], plane.P[1], plane.c, anchor - slope * at[:, None], slope, breaks, trend
    )


class _Plane:
    """The pair (x, y) of an element: equation and blocked side of its first branch."""

    def __init__(self, element: Element, probe: Probe) -> None:
        pair = (element.branches[0].equations, element.blocked[0])
        size = np.array([probe.magnitude(rows) for rows in pair])
        P, c = zip(*(probe.rows(rows) for rows in pair), strict=True)
        self.P = np.vstack(P) / size[:, None]
        self.c = np.concatenate(c) / size
        self._inverse = np.linalg.pinv(self.P)
        self._probe, self._path = probe, element.path

    def line(self, rows: Rows) -> tuple[np.ndarray, float]:
        """Normal and constant of an affine form in the plane."""
        P, c = self._probe.rows(rows)
        normal = P[0] @ self._inverse
        size = float(np.linalg.norm(normal))
        if size == 0.0 or np.abs(normal @ self.P - P[0]).max() > _PARALLEL * np.abs(P[0]).max():
            raise PathLost(f"a branch of {self._path} depends on more than its pair")
        return normal / size, float(c[0] - normal @ self.c) / size

    def away(self, line: tuple[np.ndarray, float], branch: Branch) -> np.ndarray:
        """Direction of a line into the region its guards allow."""
        direction = np.array([-line[0][1], line[0][0]])
        P, _ = self._probe.rows(branch.guards)
        gains = P @ self._inverse @ direction
        total = np.sign(gains[np.abs(gains) > _PARALLEL * np.abs(P).max(initial=0.0)]).sum()
        if total == 0.0:
            raise PathLost(f"the guards of {self._path} do not bound its curve")
        return direction * np.sign(total)


def _intersection(a: tuple[np.ndarray, float], b: tuple[np.ndarray, float], path: str) -> np.ndarray:
    normals = np.array([a[0], b[0]])
    if abs(np.linalg.det(normals)) < _PARALLEL:
        raise PathLost(f"neighbouring branches of {path} do not meet")
    return np.linalg.solve(normals, [-a[1], -b[1]])


def _unit(step: np.ndarray, line: tuple[np.ndarray, float], trend: np.ndarray) -> np.ndarray:
    """Direction of a bounded segment; one without length follows the rest of the curve."""
    length = np.linalg.norm(step)
    if length > 0.0:
        return step / length
    direction = np.array([-line[0][1], line[0][0]])
    return direction if direction @ trend >= 0.0 else -direction


def _tilted(corners: np.ndarray, slope: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the curve with tilted slopes, and their values of s."""
    steps = slope[1:-1] * lengths[:, None]
    moved = corners[0] + np.vstack([np.zeros(2), np.cumsum(steps, axis=0)])
    knots = np.concatenate([[0.0], np.cumsum(lengths)])
    return moved - np.mean(moved - corners, axis=0), knots
