"""Damped Newton iteration with a clear account of failure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ...compilation.rounding import missed, solved
from ...dynamics.work import Work
from ...kernels.newton import (
    ACCURATE,
    ALIKE,
    CONTRACTS,
    DECREASE,
    LINEAR,
    MOST_ITERATIONS,
    REACHED,
    SMALLEST_STEP,
    STALLED,
)
from ..large.sparse_matrices import Factors

Linearized = tuple[np.ndarray, Any]
"""Residual (m,) and Jacobian (m, m): an array, a sparse matrix by columns or the factors of one."""
Rounding = Callable[[np.ndarray], np.ndarray]
"""How far rounding may move the residual (m,) at a point."""

FIRST_STEP, SHORTEST_STEP = 0.1, 1e-5
"""Of the parameter of a continuation."""


@dataclass(eq=False)
class NewtonFailure(Exception):
    """No solution was found.

    ``reason`` is "singular", "not finite" or "no convergence"; ``x`` the last iterate, ``residual`` its defect, in units of its
    rounding where it is more than that.
    """

    reason: str
    x: np.ndarray
    residual: np.ndarray
    rows: np.ndarray | None = None
    """What each residual belongs to, as the caller numbers them."""


def solve_linear(J: Any, r: np.ndarray) -> np.ndarray:
    """Solution of ``J d = r``; raises LinAlgError when a matrix is singular, not finite values give such."""
    if isinstance(J, Factors):
        return J.solve(r)
    if not isinstance(J, np.ndarray):
        return Factors(J).solve(r)
    if len(J) == 1:
        if J[0, 0] == 0.0:
            raise np.linalg.LinAlgError
        return r / J[0, 0]
    return np.linalg.solve(J, r)


def newton(
    f: Callable[[np.ndarray], Linearized],
    rounding: Rounding,
    x: np.ndarray,
    scale: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray] | None = None,
    work: Work | None = None,
) -> np.ndarray:
    """Solve ``f(x) = 0`` from a guess.

    Parameters
    ----------
    f : callable
        Residual and Jacobian.
    rounding : callable
        How far rounding may move the residual, asked where corrections are small.
    x : (m,) array
    scale : (m,) array
        Magnitudes of the unknowns: these compare corrections with each other and decide no accuracy.
    bounds : pair of (m,) arrays, optional
        Where the iteration is to stay: steps that lead out end at the bound.
    work : Work, optional
        Counts the iterations.

    Raises
    ------
    NewtonFailure

    Notes
    -----
    A point is a solution when its residuals are evaluated there and are rounding. However small a correction is, it does not
    tell the next one, least of all in units of a scale: an exponential is descended in steps of its width.

    The step is shortened until the simplified correction with the old Jacobian decreases (natural
    monotonicity test: Deuflhard, "Newton Methods for Nonlinear Problems", Springer 2004, section 3.3).
    That test does not depend on how equations are scaled.
    """
    work = work or Work()
    with np.errstate(all="ignore"):
        if bounds is not None:
            x = np.clip(x, *bounds)
        elif (found := undamped(f, rounding, x, scale, work)) is not None:
            return found
        return damped(_Square(f, rounding, x, scale, bounds, work), (x, f(x)))


def undamped(
    f: Callable[[np.ndarray], Linearized], rounding: Rounding, x: np.ndarray, scale: np.ndarray, work: Work
) -> np.ndarray | None:
    """Full steps as long as corrections shrink quickly, which near a solution they do; None when they do not.

    At a solution the last correction is made still, for it costs no evaluation. One at which the matrix is singular is none:
    nothing can go on from it.
    """
    before, d = np.inf, np.zeros_like(x)
    while True:
        work.iterated()
        r, J = f(x)
        step = d
        try:
            d = solve_linear(J, -r)
        except np.linalg.LinAlgError:
            return None
        size = _norm(d, x, scale)
        shrinks = size < CONTRACTS * before
        if size <= (ACCURATE if shrinks else STALLED) and solved(r, rounding(x), J, step, scale):
            return x + d
        if not shrinks:
            return None
        x, before = x + d, min(size, 1.0)


def undamped_many(
    f: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    rounding: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    scale: np.ndarray,
) -> np.ndarray:
    """The same at many points: corrects ``x`` (k, n) and returns a mask of the points (k,) that were found.

    ``f`` gives residuals and Jacobians at the points with some numbers, ``rounding`` that of the residuals.
    """
    found, left = np.zeros(len(x), bool), np.arange(len(x))
    before, d = np.full(len(x), np.inf), np.zeros_like(x)
    while len(left):
        (r, J), step = f(left), d[left]
        d[left] = solutions(J, -r)
        size = (np.abs(d[left]) / (scale + np.abs(x[left]))).max(axis=1, initial=0.0)
        shrinks = size < CONTRACTS * before[left]
        done = size <= np.where(shrinks, ACCURATE, STALLED)
        near = np.flatnonzero(done)
        done[near] = solved(r[near], rounding(left[near]), J[near], step[near], scale)
        moved, found[left[done]] = left[shrinks | done], True
        x[moved] += d[moved]
        before[left] = np.minimum(size, 1.0)
        left = left[shrinks & ~done]
    return found


def solutions(matrices: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solutions of many small systems for right sides (k, n) or (k, n, c); not a number where a matrix is singular."""
    sides = right if right.ndim > 2 else right[:, :, None]
    try:
        found = np.linalg.solve(matrices, sides)
    except np.linalg.LinAlgError:
        found = np.full(sides.shape, np.nan)
        for i, (matrix, b) in enumerate(zip(matrices, sides, strict=True)):
            if np.isfinite(matrix).all() and np.linalg.matrix_rank(matrix) == len(b):
                found[i] = np.linalg.solve(matrix, b)
    return found.reshape(right.shape)


Point = TypeVar("Point", contravariant=True)
Found = TypeVar("Found", covariant=True)


class Trial(NamedTuple):
    """Where a step leads, by how much what is missed decreases, and by how much the tangent promised that it would."""

    point: Any
    gained: float = 0.0
    promised: float = 0.0


class Iteration(Protocol[Point, Found]):
    """What is solved by damped steps of Newton's method."""

    def linearise(self, at: Point, /) -> Found | None:
        """Take a point for the present one; what is found, where the iteration ends there."""

    def tried(self, length: float, /) -> Trial | None:
        """Where the step from the present point leads, shortened to a part of it; None where that is no point."""

    def ended(self, slow: bool, /) -> Found:
        """What is found where no step leads nearer, or, ``slow``, where steps are used up; or raise."""
        ...


def damped(problem: Iteration[Point, Found], at: Point, most: int = MOST_ITERATIONS) -> Found:
    """Iterate from a point in ``most`` steps that are shortened until they bring what their tangents promise."""
    length = 1.0
    for _ in range(most):
        found = problem.linearise(at)
        if found is not None:
            return found
        length = min(1.0, 2.0 * length)
        while not ((trial := problem.tried(length)) and trial.gained >= DECREASE * trial.promised):
            length *= 0.5
            if length < SMALLEST_STEP:
                return problem.ended(False)
        at = trial.point
    return problem.ended(True)


@dataclass(eq=False)
class _Square:
    """As many equations as unknowns, at points with their residuals and Jacobians; arguments as those of `newton`."""

    f: Callable[[np.ndarray], Linearized]
    rounding: Rounding
    x: np.ndarray
    scale: np.ndarray
    bounds: tuple[np.ndarray, np.ndarray] | None
    work: Work
    size: float = np.inf
    ratio: float = np.inf
    beside: np.ndarray | None = None
    _left: float = np.inf
    """Size of the correction of what is missed."""
    _rounds: bool = False
    """Whether residuals that are rounding count as none."""

    def linearise(self, at: tuple[np.ndarray, Linearized], /) -> np.ndarray | None:
        self.work.iterated()
        x, self._step = at[0], at[0] - self.x
        # Copies: a function may overwrite what it returned.
        self.x, self._r, self._J = x, at[1][0].copy(), at[1][1].copy()
        self._d = self._correction(self._r)
        size, before, last = _norm(self._d, x, self.scale), self.size, self.ratio
        if size <= ACCURATE and solved(self._r, self.rounding(x), self._J, self._step, self.scale):
            return x + self._d
        self.size, self.ratio = size, size / before
        if self.beside is None and size <= ACCURATE:
            self.beside = x + self._d
        # Rounding that stays in one unknown would hide that others come nearer.
        self._rounds, self._left = size <= STALLED, size
        if self._rounds:
            self._left = self._measured(self._r, x) or size
            self._rounds = self._left != size
        alike = CONTRACTS < self.ratio <= LINEAR and abs(self.ratio - last) <= ALIKE
        return self.beside if alike else None

    def tried(self, length: float, /) -> Trial | None:
        x = self.x + length * self._d
        if self.bounds is not None:
            x = np.clip(x, *self.bounds)
        found = self.f(x)
        if not _finite(found[0]):
            return None
        return Trial((x, found), self._left - self._measured(found[0], x), length * self._left)

    def ended(self, slow: bool, /) -> np.ndarray:
        # Where no step leads nearer the unknowns themselves are rounded so far.
        step = self.x if self.size <= STALLED else self._step
        if not slow and solved(self._r, self.rounding(self.x), self._J, step, self.scale):
            return self.x
        raise self._failure("no convergence")

    def _measured(self, r: np.ndarray, x: np.ndarray) -> float:
        """Scaled size of the correction of residuals at a point by the present matrix."""
        if self._rounds:
            r = np.where(np.abs(r) <= REACHED * self.rounding(x), 0.0, r)
        return _norm(self._correction(r), self.x, self.scale)

    def _correction(self, r: np.ndarray) -> np.ndarray:
        J = self._J
        if not (_finite(r) and _finite(J if isinstance(J, np.ndarray) else J.data)):
            raise NewtonFailure("not finite", self.x, r.copy())
        try:
            d = solve_linear(J, -r)
        except np.linalg.LinAlgError:
            d = np.full(len(r), np.nan)
        if not _finite(d):
            raise self._failure("singular")
        return d

    def _failure(self, reason: str) -> NewtonFailure:
        return NewtonFailure(reason, self.x, missed(self._r, self.rounding(self.x)))


def _finite(values: np.ndarray) -> bool:
    """Whether all values are finite: where their sum is, which is the cheaper question, they are."""
    return math.isfinite(values.sum()) or bool(np.isfinite(values).all())


def _norm(d: np.ndarray, x: np.ndarray, scale: np.ndarray) -> float:
    if len(d) == 1:
        return abs(float(d[0])) / (float(scale[0]) + abs(float(x[0])))
    return float((np.abs(d) / (scale + np.abs(x))).max(initial=0.0))


def continued(solve: Callable[[float, np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    """Follow the solution of a family of problems from 0 to 1.

    Parameters
    ----------
    solve : callable
        (parameter, guess) to solution; raises NewtonFailure.
    x : (m,) array
        A guess at parameter 0.

    Raises
    ------
    NewtonFailure
        The last one, when steps of the parameter become too short.
    """
    x, s, step = solve(0.0, x), 0.0, FIRST_STEP
    while s < 1.0:
        target = min(1.0, s + step)
        try:
            x = solve(target, x)
        except NewtonFailure:
            step *= 0.25
            if step < SHORTEST_STEP:
                raise
        else:
            s, step = target, 2.0 * step
    return x
