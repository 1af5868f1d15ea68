"""Newton's method for the point of a mode at which its nonlinear rows hold, full steps first, then damped ones.

Reference: P. Deuflhard, Newton Methods for Nonlinear Problems, Springer 2004, section 3.3 (natural monotonicity test).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .dialect import kernel
from .linear_systems import SmallSystem, factorise, substitute
from .programs import Arithmetic, execute
from .rounding import HALF, UNIT
from .signs import product

ACCURATE = 1e-10
"""Step, in units of the scale, from which on residuals that are rounding end an iteration: it goes on as long as it is of
use, for where slopes all but vanish rounding leaves unknowns wide open, and from one point to the next they would leap."""
CONTRACTS = 0.25
"""Ratio of successive steps up to which full ones are trusted."""
REACHED = 4.0
"""Residual of a solution in units of its rounding: that of the evaluation here, that of the evaluation before, which the last
step carries here, that of the point, and one for its division by the matrix."""
STALLED = HALF
"""Scaled correction at which an iteration whose residuals are rounding, and that does not go on, ends."""
LINEAR, ALIKE = 0.9, HALF
"""Ratio of successive corrections up to which they are those of a multiple zero, ``1 - 1 / p`` for one of order ``p``, and how
nearly two of these are the same: zeros next to each other, farther apart than the square root of this in units of the way to
them, are told from a multiple one, and so are exponentials, which are descended in equal steps and then ever faster."""
MOST_ITERATIONS = 300
"""An exponential is descended by its width an iteration."""
SMALLEST_STEP = 2.0**-24
DECREASE = 0.25
"""Part of the decrease a tangent promises that a step has to bring (natural monotonicity)."""
ITERATIONS, DAMPED = 0, 1
COLUMNS, PASSES = 0, 1


class PointEquations(NamedTuple):
    """The rows of a mode, which give as many of its coordinates and open unknowns, and the rates."""

    layout = "r r i1 f2"
    of = Arithmetic, Arithmetic
    rows: Arithmetic
    """(y, xi, constants) to residuals (n,) and their slopes (n, ny), these by columns."""
    rounding: Arithmetic
    """The same to residuals, and how far rounding may move them."""
    solved: np.ndarray
    """Which coordinates (n,) are solved for."""
    rates: np.ndarray
    """``dX/dt`` (nx, ny + q) over coordinates and sources."""


class PointRoom(NamedTuple):
    """Room for an iteration: arrays (n,), but for the matrices (n, n) and where another shape is given."""

    layout = "r f1 f1 f1 f1 f1 f1 f1 f1 f2 i1 f1"
    of = (SmallSystem,)
    factors: SmallSystem
    x: np.ndarray
    """The unknowns."""
    residuals: np.ndarray
    correction: np.ndarray
    made: np.ndarray
    """The step that led to the present unknowns."""
    trial: np.ndarray
    missed: np.ndarray
    """Correction of what a trial misses."""
    beside: np.ndarray
    """A solution that further iterations would not improve."""
    first: np.ndarray
    """The unknowns at the begin."""
    slopes: np.ndarray
    counts: np.ndarray
    """Iterations, and whether they may be damped."""
    rates: np.ndarray
    """``dX/dt`` (nx,) at the point."""


class PointChanges(NamedTuple):
    """Changes of coordinates and open unknowns (ny, k) with those of the states that are integrated, a column each."""

    layout = "r i1 i1 i1 f2 f2"
    of = (Arithmetic,)
    rows: Arithmetic
    """(y, xi, constants) to residuals (n,), their slopes (n, ny) by columns, and their derivatives by time (n,)."""
    solved: np.ndarray
    states: np.ndarray
    counts: np.ndarray
    """Columns in use, and whether time passes in the last one."""
    changes: np.ndarray
    """Of the states."""
    found: np.ndarray


@kernel
def place(e: PointEquations, x: np.ndarray) -> None:
    """Evaluate the rows with these unknowns."""
    for i in range(x.shape[0]):
        e.rows.inputs[e.solved[i]] = x[i]
    execute(e.rows)


@kernel
def finite(e: PointEquations) -> bool:
    """Whether the residuals are finite."""
    total = 0.0
    for i in range(e.solved.shape[0]):
        total += abs(e.rows.outputs[i])
    return total < np.inf


@kernel
def take(e: PointEquations, p: PointRoom) -> None:
    """Residuals and slopes where the rows were evaluated."""
    n = e.solved.shape[0]
    for i in range(n):
        p.residuals[i] = e.rows.outputs[i]
        for j in range(n):
            p.slopes[i, j] = e.rows.outputs[n + e.solved[j] * n + i]
            p.factors.matrix[i, j] = p.slopes[i, j]


@kernel
def distance(d: np.ndarray, x: np.ndarray, scale: np.ndarray) -> float:
    """Size of a correction in units of the unknowns; not a number where it is none."""
    found = 0.0
    for i in range(d.shape[0]):
        size = abs(d[i]) / (scale[i] + abs(x[i]))
        if not size <= found:
            found = size
    return found


@kernel
def round_rows(e: PointEquations) -> None:
    """How far rounding may move the residuals where the rows were evaluated."""
    r = e.rounding
    for i in range(r.inputs.shape[0]):
        r.inputs[i] = e.rows.inputs[i]
    execute(r)


@kernel
def corrected(e: PointEquations, p: PointRoom) -> bool:
    """Find the correction of the residuals taken; whether there is one."""
    if factorise(p.factors) == 0:
        return False
    for i in range(p.x.shape[0]):
        p.correction[i] = -p.residuals[i]
    return substitute(p.factors, p.correction)


@kernel
def solves(e: PointEquations, p: PointRoom, made: np.ndarray) -> bool:
    """Whether the residuals taken are rounding, that of the step ``made`` which led here included.

    The solution of linear equations is exact up to last places of its largest part in units of scales: N. J. Higham, Accuracy
    and Stability of Numerical Algorithms, 2nd ed., SIAM 2002, section 9.3.
    """
    n, reached, largest = p.x.shape[0], True, 0.0
    round_rows(e)
    for i in range(n):
        reached = reached and abs(p.residuals[i]) <= REACHED * e.rounding.outputs[n + i]
        largest = max(largest, abs(made[i]) / p.factors.scale[i])
    if reached:
        return True
    for i in range(n):
        moved = 0.0
        for j in range(n):
            if p.factors.scale[j] < np.inf:
                moved += abs(p.slopes[i, j]) * (p.factors.scale[j] * largest)
        if not abs(p.residuals[i]) <= REACHED * (e.rounding.outputs[n + i] + UNIT * moved):
            return False
    return True


@kernel
def step_fully(e: PointEquations, p: PointRoom) -> bool:
    """Full steps as long as corrections shrink quickly, which near a solution they do; whether they lead to one.

    At a solution the last correction is made still, for it costs no evaluation. One at which the matrix is singular is none:
    nothing can go on from it.
    """
    before, shrinks = np.inf, True
    for i in range(p.x.shape[0]):
        p.correction[i] = 0.0
    while shrinks:
        p.counts[ITERATIONS] += 1
        place(e, p.x)
        take(e, p)
        for i in range(p.x.shape[0]):
            p.made[i] = p.correction[i]
        if not corrected(e, p):
            return False
        size = distance(p.correction, p.x, p.factors.scale)
        shrinks = size < CONTRACTS * before
        found = size <= (ACCURATE if shrinks else STALLED) and solves(e, p, p.made)
        if found or shrinks:
            for i in range(p.x.shape[0]):
                p.x[i] += p.correction[i]
        if found:
            return True
        before = min(size, 1.0)
    return False


@kernel
def measured(e: PointEquations, p: PointRoom, rounds: bool) -> float:
    """Size of the correction that the last matrix makes of the residuals where the rows were evaluated.

    With ``rounds`` those that are rounding count as none.
    """
    n = p.x.shape[0]
    if rounds:
        round_rows(e)
    for i in range(n):
        p.missed[i] = -e.rows.outputs[i]
        if rounds and abs(p.missed[i]) <= REACHED * e.rounding.outputs[n + i]:
            p.missed[i] = 0.0
    return distance(p.missed, p.x, p.factors.scale) if substitute(p.factors, p.missed) else np.nan


@kernel
def shortened(e: PointEquations, p: PointRoom, length: float, left: float, rounds: bool) -> float:
    """Part of the correction that brings what its tangent promises, at most ``length``; zero where none does."""
    while length >= SMALLEST_STEP:
        for i in range(p.x.shape[0]):
            p.trial[i] = p.x[i] + length * p.correction[i]
        place(e, p.trial)
        if finite(e) and left - measured(e, p, rounds) >= DECREASE * length * left:
            return length
        length *= 0.5
    return 0.0


@kernel
def step_damped(e: PointEquations, p: PointRoom) -> bool:
    """Steps shortened until they bring what their tangents promise; whether they lead to a solution."""
    n, length, size, ratio, aside = p.x.shape[0], 1.0, np.inf, np.inf, False
    for i in range(n):
        p.made[i] = 0.0
    place(e, p.x)
    for _ in range(MOST_ITERATIONS):
        p.counts[ITERATIONS] += 1
        take(e, p)
        if not corrected(e, p):
            return False
        before, last = size, ratio
        size = distance(p.correction, p.x, p.factors.scale)
        ratio = size / before
        if size <= ACCURATE and solves(e, p, p.made):
            for i in range(n):
                p.x[i] += p.correction[i]
            return True
        if not aside and size <= ACCURATE:
            aside = True
            for i in range(n):
                p.beside[i] = p.x[i] + p.correction[i]
        if aside and CONTRACTS < ratio <= LINEAR and abs(ratio - last) <= ALIKE:
            for i in range(n):
                p.x[i] = p.beside[i]
            return True
        # Rounding that stays in one unknown would hide that others come nearer.
        left, rounds = size, size <= STALLED
        if rounds:
            left = measured(e, p, rounds)
            rounds = left > 0.0 and left != size
            left = left if rounds else size
        length = shortened(e, p, min(1.0, 2.0 * length), left, rounds)
        if length == 0.0:
            # Where no step leads nearer the unknowns themselves are rounded so far.
            place(e, p.x)
            return solves(e, p, p.x if size <= STALLED else p.made)
        for i in range(n):
            p.made[i] = p.trial[i] - p.x[i]
            p.x[i] = p.trial[i]
    return False


@kernel
def find_point(e: PointEquations, p: PointRoom) -> int:
    """Solve for the unknowns from those among the inputs of the rows, and find the rates there; 1 where they are found."""
    n = e.solved.shape[0]
    for i in range(n):
        p.x[i] = p.first[i] = e.rows.inputs[e.solved[i]]
    if n > 0 and not step_fully(e, p):
        for i in range(n):
            p.x[i] = p.first[i]
        if not (p.counts[DAMPED] > 0 and step_damped(e, p)):
            return 0
    for i in range(n):
        e.rows.inputs[e.solved[i]] = p.x[i]
    for i in range(e.rates.shape[0]):
        p.rates[i] = product(e.rates[i], e.rows.inputs)
    return 1


@kernel
def find_changes(e: PointChanges, p: PointRoom) -> int:
    """Changes of what is solved for, so that all rows go on to hold; 0 where they do not exist, else 1."""
    execute(e.rows)
    n, k, ny, slopes = e.solved.shape[0], e.counts[COLUMNS], e.found.shape[0], e.rows.outputs
    for i in range(n):
        for j in range(n):
            p.factors.matrix[i, j] = slopes[n + e.solved[j] * n + i]
    if factorise(p.factors) == 0:
        return 0
    for c in range(k):
        for j in range(e.states.shape[0]):
            e.found[e.states[j], c] = e.changes[j, c]
        for i in range(n):
            value = slopes[n + ny * n + i] if e.counts[PASSES] > 0 and c == k - 1 else 0.0
            for j in range(e.states.shape[0]):
                value += slopes[n + e.states[j] * n + i] * e.changes[j, c]
            p.missed[i] = -value
        if not substitute(p.factors, p.missed):
            return 0
        for i in range(n):
            e.found[e.solved[i], c] = p.missed[i]
    return 1
