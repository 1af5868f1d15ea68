"""Damped Newton iteration with a clear account of failure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dynamics.work import Work
from ..large.sparse_matrices import Factors

Linearized = tuple[np.ndarray, Any]
"""Residual (m,) and Jacobian (m, m), an array or a sparse matrix by columns."""

ACCURATE = 1e-10
"""Scaled correction after which the next one would be rounding: convergence is quadratic."""
STALLED = 1e-8
"""Scaled correction at which an iteration that does not go on has reached rounding."""
CONTRACTS = 0.25
"""Ratio of successive corrections up to which full steps are trusted."""
MOST_ITERATIONS = 300
"""An exponential is descended by its width an iteration."""
SMALLEST_STEP = 2.0**-24
FIRST_STEP, SHORTEST_STEP = 0.1, 1e-5
"""Of the parameter of a continuation."""


@dataclass(eq=False)
class NewtonFailure(Exception):
    """No solution was found.

    ``reason`` is "singular", "not finite" or "no convergence"; ``x`` the last iterate, ``residual`` its defect.
    """

    reason: str
    x: np.ndarray
    residual: np.ndarray
    rows: np.ndarray | None = None
    """What each residual belongs to, as the caller numbers them."""


def solve_linear(J: Any, r: np.ndarray) -> np.ndarray:
    """Solution of ``J d = r``; raises LinAlgError when a matrix is singular, not finite values give such."""
    if not isinstance(J, np.ndarray):
        return Factors(J).solve(r)
    if len(J) == 1:
        if J[0, 0] == 0.0:
            raise np.linalg.LinAlgError
        return r / J[0, 0]
    return np.linalg.solve(J, r)


def newton(
    f: Callable[[np.ndarray], Linearized],
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
    x : (m,) array
    scale : (m,) array
        Magnitudes of the unknowns.
    bounds : pair of (m,) arrays, optional
        Where the iteration is to stay: steps that lead out end at the bound.
    work : Work, optional
        Counts the iterations.

    Raises
    ------
    NewtonFailure

    Notes
    -----
    The step is shortened until the simplified correction with the old Jacobian decreases (natural
    monotonicity test: Deuflhard, "Newton Methods for Nonlinear Problems", Springer 2004, section 3.3).
    That test does not depend on how equations are scaled.
    """
    work = work or Work()
    with np.errstate(all="ignore"):
        if bounds is not None:
            return _damped(f, np.clip(x, *bounds), scale, bounds, work)
        found = _undamped(f, x, scale, work)
        return _damped(f, x, scale, None, work) if found is None else found


def _undamped(
    f: Callable[[np.ndarray], Linearized], x: np.ndarray, scale: np.ndarray, work: Work
) -> np.ndarray | None:
    """Full steps as long as corrections shrink quickly, which near a solution they do; None when they do not."""
    before = np.inf
    while True:
        work.iterated()
        r, J = f(x)
        try:
            d = solve_linear(J, -r)
        except np.linalg.LinAlgError:
            return None
        size = _norm(d, x, scale)
        if size <= ACCURATE:
            return x + d
        if not size <= CONTRACTS * before:
            return x + d if max(size, before) <= STALLED else None
        x, before = x + d, min(size, 1.0)


def _damped(
    f: Callable[[np.ndarray], Linearized],
    x: np.ndarray,
    scale: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray] | None,
    work: Work,
) -> np.ndarray:
    r, J = _kept(f(x))
    length = 1.0
    for _ in range(MOST_ITERATIONS):
        work.iterated()
        d = _correction(J, r, x)
        size = _norm(d, x, scale)
        if size <= ACCURATE:
            return x + d
        length = min(1.0, 2.0 * length)
        while True:
            trial = x + length * d
            if bounds is not None:
                trial = np.clip(trial, *bounds)
            r_new, J_new = f(trial)
            if np.isfinite(r_new).all():
                simplified = _norm(_correction(J, r_new, x), x, scale)
                if simplified <= (1.0 - 0.25 * length) * size or simplified <= ACCURATE:
                    break
            length *= 0.5
            if length < SMALLEST_STEP:
                if size <= STALLED:
                    return x
                raise NewtonFailure("no convergence", x, r)
        x, (r, J) = trial, _kept((r_new, J_new))
    raise NewtonFailure("no convergence", x, r)


def _kept(found: Linearized) -> Linearized:
    """Copies: a function may overwrite what it returned."""
    return found[0].copy(), found[1].copy()


def _correction(J: Any, r: np.ndarray, x: np.ndarray) -> np.ndarray:
    if not (np.isfinite(r).all() and np.isfinite(J if isinstance(J, np.ndarray) else J.data).all()):
        raise NewtonFailure("not finite", x, r.copy())
    try:
        d = solve_linear(J, -r)
    except np.linalg.LinAlgError:
        raise NewtonFailure("singular", x, r.copy()) from None
    if not np.isfinite(d).all():
        raise NewtonFailure("singular", x, r.copy())
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
