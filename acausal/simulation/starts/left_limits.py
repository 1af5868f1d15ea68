"""Left limits of a start: start values by priority, in agreement with each other whatever the mode."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...structure.incidence import gather
from ..compiled import CompiledModel
from ..nonlinear.bounds import Bounds, within
from ..numeric import NumericCore
from .priorities import MISSED, independent, largest_alike, least_squares, solve
from .stated import Rank, Starts

AGREES = 1e-12
"""Relative defect up to which start values agree; those that do are taken bit by bit, which leaves equations consistent."""
_DENSE = 250_000
"""Entries up to which guesses are found with dense matrices; beyond, their cost would grow with the cube of the model."""


def left_limits(program: CompiledModel, starts: Starts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Left limits of the core unknowns, their priorities (2 fixed, 1 given, 0 default, -1 none), and those of the integrals."""
    model = program.reduced
    z, rank = np.zeros(len(model.core)), np.full(len(model.core), -1)
    kept, sign = program.unknowns.aliases
    x = np.flatnonzero((model.differentiated | starts.fixed | starts.given) & (sign != 0))
    priority = 2 * starts.fixed[x] + starts.given[x]
    # What is written last stays: of several names of one unknown the first of those with the highest priority.
    order = np.lexsort((-x, priority))
    x, priority = x[order], priority[order]
    k, value = program.unknowns.core_index[kept[x]], sign[x] * starts.value[x]
    z[k[k >= 0]], rank[k[k >= 0]] = value[k >= 0], priority[k >= 0]
    integrals = [o for o in model.output_equations if o.integral]
    at, q = {o.unknown: n for n, o in enumerate(integrals)}, np.zeros(len(integrals))
    for j, given in zip(kept[x].tolist(), value.tolist(), strict=True) if integrals else ():
        if j in at:
            q[at[j]] = integrals[at[j]].sign * given
    return z, np.minimum(rank, 2), q


def agreeing(
    program: CompiledModel, base: NumericCore, starts: Starts, z: np.ndarray, xi: np.ndarray
) -> np.ndarray:
    """Left limits with the defaults moved that do not agree with fixed values and given starts, whatever the mode.

    Modes are judged at left limits: the default of a flange is no place of the mass on it. Starts of one rank that contradict
    each other stay what they are; the restart moves them with the conserved quantities kept.
    """
    model = base.model
    if not (model.elements or program.reduced.nonlinear):
        return z
    at = np.flatnonzero(model.differentiated)
    rows, scale, defect, size = disagreement(base, z, xi)
    hard = rows[:, at]
    if not (np.abs(defect) > AGREES * size).any():
        return z
    own = left_limits(program, starts)[1][at]
    preferred = np.zeros(len(at), bool) if model.priority is None else model.priority[at] > 0.0
    rank = np.select([own == 2, own == 1, preferred], [Rank.FIXED, Rank.GIVEN, Rank.PREFERRED], Rank.DEFAULT)
    A, k = hard * scale / size[:, None], len(hard)
    units = [program.unknowns.unit_of_core(j) for j in at.tolist()]
    found = solve(
        np.vstack([A, np.eye(len(at))]),
        np.concatenate([-defect / size, np.zeros(len(at))]),
        np.concatenate([np.full(k, Rank.FIXED - 1), rank]),
        weight=np.concatenate([np.ones(k), scale / largest_alike(scale, units)]),
    )
    # Of positions the default only says where to look.
    conserved = (own >= 1) | ~program.unknowns.positions[at]
    stays = (found.missed & found.room)[k:] & conserved
    jumps = found.missed[k:] & ((rank == Rank.GIVEN) | ((own < 1) & conserved))
    if jumps.any():
        # What sources prescribe jumps from its start.
        free = least_squares(A, np.zeros(k))[1]
        stays |= jumps & (np.abs(free).max(axis=1, initial=0.0) <= MISSED)
    moved, made = np.flatnonzero(found.missed[k:] & ~stays), z.copy()
    # What follows from starts that contradict each other follows from what they have in common, whichever equation gives it.
    between = stays & found.missed[k:]
    made[at[between]] += (scale * found.step)[between]
    # From the values that stay as they are, to the bit; twice, since the first solution is rounded as all of it is.
    for part, columns in 2 * list(independent(A[:, moved])):
        over, missing = moved[columns], -(rows[part] @ np.concatenate([made, xi])) / size[part]
        made[at[over]] += scale[over] * least_squares(A[np.ix_(part, over)], missing)[0]
    made[at[between]] = z[at[between]]
    return made


def disagreement(
    core: NumericCore, z: np.ndarray, xi: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Constraints (k, n + q) of all modes, scales of what is differentiated, what left limits miss of them, and units of this."""
    rows, at = core.common_constraints, core.model.differentiated
    scale = (core.model.scale + np.abs(z))[at]
    size = np.abs(rows[:, : len(z)][:, at] * scale).max(axis=1, initial=0.0)
    return rows, scale, rows @ np.concatenate([z, xi]), size


def guesses(
    program: CompiledModel,
    core: NumericCore,
    starts: Starts,
    z: np.ndarray,
    xi: np.ndarray,
    bounds: Bounds | None,
) -> np.ndarray:
    """Left limits ``z`` with the start values of all other variables as guesses for their core unknowns.

    Variables that are sums of others count as far as no start of these is given.
    """
    model, found = program.reduced, z.copy()
    W, of_sources = model.W_core, core.readout.VK @ xi
    algebraic = ~core.model.differentiated
    rest = ~model.differentiated & (np.diff(W.indptr) > 0)
    for ids in (rest & (starts.given | starts.fixed), rest & ~starts.given & (starts.value != 0.0)):
        open_ = algebraic & (found == 0.0)
        for count in (1, None):
            at = np.flatnonzero(ids if count is None else ids & (np.diff(W.indptr) == count))
            _guess(W, at, starts.value[at] - of_sources[at], found, open_)
            open_ &= found == 0.0
    return np.where(algebraic, within(found, bounds), found)


def _guess(W: Any, at: np.ndarray, wanted: np.ndarray, found: np.ndarray, open_: np.ndarray) -> None:
    """Set open unknowns so that rows of a sparse matrix take their values, in the sense of least squares."""
    start, entry = gather(W.indptr, at)
    row, column, value = np.repeat(np.arange(len(at)), np.diff(start)), W.indices[entry], W.data[entry]
    columns = np.unique(column[open_[column]])
    if not len(columns):
        return
    missing = wanted - np.bincount(row, value * found[column], len(at))
    if len(at) * len(columns) <= _DENSE:
        matrix = np.zeros((len(at), len(found)))
        matrix[row, column] = value
        found[columns] += np.linalg.lstsq(matrix[:, columns], missing, rcond=AGREES)[0]
        return
    from scipy.sparse.linalg import lsqr

    found[columns] += lsqr(W[at][:, columns], missing, atol=AGREES, btol=AGREES)[0]
