"""Change points, where a motion may go on as another one: how it passes them on the branch that it has come on.

The constraints depend on each other there. What is solved from them is rounded the more the nearer it lies, while the motion
itself goes on smoothly: next to the point it is interpolated.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from ...dynamics.step import Step
from ...kernels.newton import REACHED
from ...kernels.step_doubts import DEPARTS
from ...reduction.rounding import UNIT
from ...values import frozen
from .accuracy import balancing, cubic, uncertainty
from .motion import Motion, Place
from .newton import NewtonFailure
from .singular_points import NEARLY_SINGULAR, crossing
from .state_selection import BESIDE, Selection

MOST_ITERATIONS = 10
"""Of Newton's method for a change point, which doubles the digits in each."""
HALVINGS = 26
"""Of a step on the way to a change point: nearer to it rounding decides on which side of it a point lies."""

CORRECTIONS = 2
"""Of an interpolated point by Newton's method: from the tolerance to its fourth power."""
BENT = 0.5
"""Distance of slopes inside a step from a straight line, in units of them, from which they may have turned about unseen."""
NEARER = 0.5
"""Distance of a tangent from the plane of its branch, in units of that from the other one, up to which the two are told apart."""

Rows = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""Point -> constraints (m,), their slopes (m, n) and how far rounding may move them (m,)."""


@frozen
class Bridge:
    """The part of a step over a change point where what is solved for would be rounded by more than the tolerance.

    Attributes
    ----------
    step : Step
        Of the states ``selection``.
    course : Step
        Cubics of coordinates and open unknowns over that part.
    edges : (Place, Place)
        The points at its ends.
    passed : float
        Time of the change point.
    may_be : (nX + m,) array
        Errors that the tolerance allows.
    """

    step: Step
    selection: Selection
    course: Step
    edges: tuple[Place, Place]
    passed: float
    may_be: np.ndarray

    def holds(self, h: float | np.ndarray) -> np.ndarray:
        """Whether a time, or each of several, lies within it."""
        return np.logical_and(self.course.t0 < h, h < self.course.t1)

    def place(self, motion: Motion, h: float) -> Place:
        """The point at a time within it."""
        (y,), (y_t,) = self.sample(motion, np.array([h]))
        xi = motion.sources.at(h)
        return Place(h, y, motion.system.nx, xi, motion.system.rate(y, xi), y_t=y_t, bridged=True)

    def sample(self, motion: Motion, hs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and open unknowns at times ``hs`` (k,) within it and their slopes, (k, nX + m) each.

        They are solved for, and interpolated in directions in which rounding hides the tolerance.
        """
        system, course, step = motion.system, self.course, self.step
        theta, xi = (hs - course.t0) / (course.t1 - course.t0), motion.sources.sample(hs)
        y, solved = course.at(theta), motion.solved_of(self.selection)
        y[:, self.selection.states] = step.at((hs - step.t0) / (step.t1 - step.t0))
        units = self.may_be[solved]
        for _ in range(CORRECTIONS):
            defect, J, _ = system.many(y, xi, motion.constants)
            size = system.rounding_many(y, xi, motion.constants) + np.finfo(float).tiny
            left, values, right = np.linalg.svd(J[:, :, solved] * units / size[:, :, None])
            share = np.einsum("ki,kij->kj", defect / size, left) * values / (1.0 + values**2)
            y[:, solved] -= units * np.einsum("kj,kji->ki", share, right)
        return y, course.slope(theta)


def bridge(motion: Motion, begin: Place, end: Place, step: Step, rtol: float) -> Bridge | None:
    """What leads over a change point that a step passes along one of its branches; None where it does not."""
    course, length, selection = cubic(motion, begin, end), end.h - begin.h, motion.selection
    scale = np.concatenate([motion.system.scale, motion.system.open_scale])
    may_be = rtol * np.maximum(np.maximum(np.abs(begin.y), np.abs(end.y)), scale)

    def at(theta: float) -> Place:
        guess = motion.guessed(course.at(theta), begin.h + theta * length)
        return motion.solve(guess.h, step.at(theta), guess, selection)

    low, high, sides = 0.0, 1.0, [motion.scaled_slopes(begin), motion.scaled_slopes(end)]
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        try:
            slopes = motion.scaled_slopes(at(middle))
        except NewtonFailure:
            break
        beyond = motion.selections.nearer(slopes, *sides)
        sides[beyond] = slopes
        low, high = (low, middle) if beyond else (middle, high)
    middle = _passed(motion, course, 0.5 * (low + high))
    if middle is None:
        return None
    edges, inner = [begin, end], [at(0.5 * middle), at(0.5 * (1.0 + middle))]
    for side, way in enumerate((-middle, 1.0 - middle)):
        nearer = inner[side]
        for halvings in range(2, HALVINGS):
            if not (uncertainty(motion, nearer) <= may_be[motion.solved]).all():
                break
            edges[side] = inner[side] = nearer
            try:
                nearer = at(middle + way * 0.5**halvings)
            except NewtonFailure:
                break
    passed = begin.h + middle * length
    if motion.system.m and _unbounded(motion, [begin, *inner, end], passed, may_be[motion.system.nx :]):
        return None
    return Bridge(step, selection, cubic(motion, *edges), (edges[0], edges[1]), passed, may_be)


def _unbounded(motion: Motion, places: list[Place], passed: float, may_be: np.ndarray) -> bool:
    """Whether open unknowns have a pole at a time in the middle of four points.

    It is what a polynomial through their values and slopes leaves of them, and compared at the nearest point. Rounding hides no
    more of it than a step may leave unresolved. Farther off less rounds: it is no larger than the values at both ends let it be.
    """
    length, k = places[-1].h - places[0].h, np.arange(2 * len(places) - 1)
    x = np.array([p.h - passed for p in places])[:, None] / length
    nearest = np.abs(x).min()
    rows = np.vstack((
        np.column_stack((x**k, nearest / x)),
        np.column_stack((k * x ** np.maximum(k - 1, 0), -nearest / x**2)),
    ))  # fmt: skip
    given = np.vstack(([p.H for p in places], [length * motion.slopes(p)[len(p.X) :] for p in places]))
    rounded = np.max([uncertainty(motion, p)[-len(may_be) :] for p in places[1:-1]], axis=0)
    size = np.max([balancing(motion, p) for p in places[1:-1]], axis=0)
    ends = np.abs(given[: len(places)] * x)[[0, -1]].max(axis=0) / nearest
    pole = np.minimum(np.abs(np.linalg.solve(rows, given)[-1]), ends)
    return not (pole <= may_be + np.minimum(rounded, DEPARTS * size)).all()


def singular_between(motion: Motion, begin: Place, end: Place) -> int:
    """How often constraints were singular along the points found last between the ends of a step.

    Where they turn too far to tell it is said to be more often than once.
    """
    if not motion.system.constraints:
        return 0
    overturned, A, B = motion.selections.overturned, motion.scaled_slopes(begin), motion.scaled_slopes(end)
    if (np.abs(end.X - begin.X) <= motion.units).all():
        return int(overturned(A, B))
    inner = sorted((p for p in motion.recent if begin.h < p.h < end.h), key=lambda p: p.h)
    slopes = [A, *(motion.scaled_slopes(p) for p in inner), B]
    size = np.max([np.linalg.norm(J, axis=1) for J in slopes], axis=0)
    for place, J in zip(inner, slopes[1:-1], strict=True):
        part = (place.h - begin.h) / (end.h - begin.h)
        bent = J - (1.0 - part) * A - part * B
        if (np.linalg.norm(bent, axis=1) > BENT * size).any():
            return len(slopes)
    return sum(overturned(a, b) for a, b in pairwise(slopes)) or int(overturned(A, B))


def _passed(motion: Motion, course: Step, near: float) -> float | None:
    """Part of a step, next to another one, after which it passes a change point along one branch; None where it does not."""
    system, nx, length = motion.system, motion.system.nx, course.t1 - course.t0
    first, units = system.constraint_levels == 0, np.append(motion.units, length)

    def rows(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Constraints at coordinates and, the last one, a time in their units."""
        y, xi = np.append(x[:nx] * units[:nx], course.y0[nx:]), motion.sources.at(course.t0 + x[nx] * length)
        lin = system.linear(y, xi, motion.constants, True)
        slopes = np.column_stack((lin.C_y[first, :nx], lin.C_t[first])) * units
        value = lin.C[first]
        return value, slopes, system.rounding(y, xi, motion.constants)[: system.constraints][first]

    def at(theta: float) -> np.ndarray:
        return np.append(course.at(theta)[:nx] / units[:nx], theta)

    def slope(theta: float) -> np.ndarray:
        return np.append(course.slope(theta)[:nx] * length / units[:nx], 1.0)

    found = change_point(rows, at(near))
    if found is None:
        return None
    point, normals = found
    far = np.abs(normals @ np.transpose([slope(0.0), slope(1.0)]))
    own = far.argmin(axis=0)
    if own[0] != own[1] or (far.min(axis=0) >= NEARER * far.max(axis=0)).any():
        return None
    other = normals[1 - own[0]]
    part = near + float(other @ (point - at(near)) / (other @ slope(near)))
    return part if 0.0 < part < 1.0 else None


def change_point(rows: Rows, x: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The change point next to a point, with the normals (2, n) of the planes in which the motions through it lie.

    There a combination of constraints has no slope, and up to rounding no value. Where one has a value without any slope, as
    in mechanisms that are nearly such, motions turn away from each other.
    """
    value, J, _ = rows(x)
    m, n = J.shape
    u = np.linalg.svd(J)[0][:, -1]
    c = float(u @ value)
    for _ in range(MOST_ITERATIONS):
        moved = np.array([rows(x + d)[1] - rows(x - d)[1] for d in BESIDE * np.eye(n)]) / (2.0 * BESIDE)
        K = np.block(
            [
                [J, -c * np.eye(m), -u[:, None]],
                [np.einsum("i,jik->jk", u, moved), J.T, np.zeros((n, 1))],
                [np.zeros((1, n)), u[None], np.zeros((1, 1))],
            ]
        )
        defect = np.concatenate((value - c * u, J.T @ u, [0.5 * (u @ u - 1.0)]))
        d = np.linalg.lstsq(K, -defect, rcond=NEARLY_SINGULAR)[0]
        x, u, c = x + d[:n], u + d[n:-1], c + float(d[-1])
        value, J, rounded = rows(x)
        if np.abs(d[:n]).max() <= UNIT**0.5:
            columns = np.flatnonzero(J.any(axis=0) | moved.any(axis=(0, 1)))
            exact = abs(c) <= REACHED * float(np.abs(u) @ rounded)
            normals = crossing(J, moved, columns)[1]
            return (x, normals) if exact and len(normals) else None
    return None
