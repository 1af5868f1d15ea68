"""Damped Newton iteration with a clear account of failure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...compilation.correction import ACCURATE, CONTRACTS
from ...compilation.rounding import missed, solved
from ...dynamics.work import Work
from ...reduction.rounding import UNIT
from ..large.sparse_matrices import Factors

Linearized = tuple[np.ndarray, Any]
"""Residual (m,) and Jacobian (m, m): an array, a sparse matrix by columns or the factors of one."""
Rounding = Callable[[np.ndarray], np.ndarray]
"""How far rounding may move the residual (m,) at a point."""

STALLED = 1e-8
"""Scaled correction at which an iteration whose residuals are rounding, and that does not go on, ends."""
LINEAR, ALIKE = 0.9, UNIT**0.5
"""Ratio of successive corrections up to which they are those of a multiple zero, ``1 - 1 / p`` for one of order ``p``, and how
nearly two of these are the same: zeros next to each other, farther apart than the square root of this in units of the way to
them, are told from a multiple one, and so are exponentials, which are descended in equal steps and then ever faster."""
MOST_ITERATIONS = 300
"""An exponential is descended by its width an iteration."""
SMALLEST_STEP = 2.0**-24
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
            return _damped(f, rounding, np.clip(x, *bounds), scale, bounds, work)
        found = undamped(f, rounding, x, scale, work)
        return _damped(f, rounding, x, scale, None, work) if found is None else found


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
        for i, rounded in zip(near.tolist(), rounding(left[near]), strict=True):
            done[i] = solved(r[i], rounded, J[i], step[i], scale)
        moved, found[left[done]] = left[shrinks | done], True
        x[moved] += d[moved]
        before[left] = np.minimum(size, 1.0)
        left = left[shrinks & ~done]
    return found


def solutions(matrices: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solutions of many small systems; not a number where a matrix is singular."""
    try:
        return np.linalg.solve(matrices, right[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        found = np.full(right.shape, np.nan)
        for i, (matrix, b) in enumerate(zip(matrices, right, strict=True)):
            if np.isfinite(matrix).all() and np.linalg.matrix_rank(matrix) == len(b):
                found[i] = np.linalg.solve(matrix, b)
        return found


def _damped(
    f: Callable[[np.ndarray], Linearized],
    rounding: Rounding,
    x: np.ndarray,
    scale: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray] | None,
    work: Work,
) -> np.ndarray:
    r, J = _kept(f(x))
    length, before, ratio, beside, d = 1.0, np.inf, np.inf, None, np.zeros_like(x)
    for _ in range(MOST_ITERATIONS):
        work.iterated()
        step, d = length * d, _correction(J, r, x, rounding)
        size = _norm(d, x, scale)
        if size <= ACCURATE and solved(r, rounding(x), J, step, scale):
            return x + d
        last, ratio = ratio, size / before
        length, before = min(1.0, 2.0 * length), size
        if beside is None and size <= ACCURATE:
            beside = x + d
        if beside is not None and CONTRACTS < ratio <= LINEAR and abs(ratio - last) <= ALIKE:
            return beside
        while True:
            trial = x + length * d
            if bounds is not None:
                trial = np.clip(trial, *bounds)
            found = f(trial)
            if np.isfinite(found[0]).all():
                simplified = _norm(_correction(J, found[0], x, rounding), x, scale)
                if simplified <= (1.0 - 0.25 * length) * size:
                    break
            length *= 0.5
            if length < SMALLEST_STEP:
                # No step leads nearer: so far the unknowns themselves are rounded.
                if solved(r, rounding(x), J, x if size <= STALLED else step, scale):
                    return x
                raise NewtonFailure("no convergence", x, missed(r, rounding(x)))
        x, (r, J) = trial, _kept(found)
    raise NewtonFailure("no convergence", x, missed(r, rounding(x)))


def _kept(found: Linearized) -> Linearized:
    """Copies: a function may overwrite what it returned."""
    return found[0].copy(), found[1].copy()


def _correction(J: Any, r: np.ndarray, x: np.ndarray, rounding: Rounding) -> np.ndarray:
    if not (np.isfinite(r).all() and np.isfinite(J if isinstance(J, np.ndarray) else J.data).all()):
        raise NewtonFailure("not finite", x, r.copy())
    try:
        d = solve_linear(J, -r)
    except np.linalg.LinAlgError:
        raise NewtonFailure("singular", x, missed(r, rounding(x))) from None
    if not np.isfinite(d).all():
        raise NewtonFailure("singular", x, missed(r, rounding(x)))
    return d


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
