"""What is demanded of the start of a large model: fixed values, initial equations, derivatives that are to be zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import Location
from ...values import frozen
from ..numeric import NumericCore
from ..starts.conditions import Condition, Conditions
from ..starts.left_limits import AGREES
from ..starts.stated import Rank
from .system import LargeSystem

NAMED = 4
"""Conditions in one message."""


@frozen
class Demand:
    """Conditions on the start: rows over ``v = [X; u; xi]`` and constants, some of them plus a nonlinear row."""

    rows: Any
    constant: np.ndarray
    nonlinear: np.ndarray
    """Nonlinear row of every condition, -1 for affine ones."""
    conditions: list[Condition]

    @classmethod
    def of(cls, conditions: Conditions, which: np.ndarray, system: LargeSystem) -> Demand:
        """Some of the conditions of a start, over the states and unknowns of a system."""
        from scipy.sparse import csr_array, hstack

        D, Z, X, constant = (part[which] for part in conditions.stacked)
        sources: Any = csr_array((len(which), system.nx + system.n))
        sources = hstack([sources, csr_array(X)[:, : system.q]], format="csr")
        rows: Any = csr_array(D) @ system.mode.slope_of + csr_array(Z) @ system.mode.z_of + sources
        rows.eliminate_zeros()
        nonlinear = np.full(len(conditions), -1)
        for k, row in conditions.nonlinear_rows:
            nonlinear[k] = row
        return cls(rows, constant, nonlinear[which], [conditions.items[k] for k in which.tolist()])

    @property
    def guesses(self) -> bool:
        """Whether given starts of variables that are no states are among them: those of states come before these."""
        return any(c.rank is Rank.GUESS for c in self.conditions)

    def of_states(self, states: np.ndarray) -> bool:
        """Whether each of them is the value of one state, which has it at the start values."""
        return bool(np.isin([c.unknown for c in self.conditions], states).all())

    def hold(self, v: np.ndarray) -> bool:
        """Whether all of them are affine and hold at a point to rounding."""
        terms = abs(self.rows) @ np.abs(v) + np.abs(self.constant)
        defect = np.abs(self.rows @ v + self.constant)
        return not (self.nonlinear >= 0).any() and bool((defect <= AGREES * terms).all())

    def named(self, which: np.ndarray) -> tuple[str, tuple[Location, ...]]:
        """Some conditions in words, and where they stand."""
        some = [self.conditions[k] for k in which[:NAMED].tolist()]
        more = f" and {len(which) - NAMED} more" if len(which) > NAMED else ""
        return "; ".join(c.text for c in some) + more, tuple(p for c in some for p in c.where)


def demands(conditions: Conditions, system: LargeSystem) -> list[Demand]:
    """What must hold at the start, last, and before it that with the wishes that are met if they agree with it.

    Wishes are derivatives of fixed variables that are to be zero, and before these given starts of variables that are no states,
    where no iteration computes them.
    """
    counts, found = binding(conditions, system), []
    own = conditions.rank == Rank.GUESS
    if own.any():
        counts[own] &= ~_reads_iterated(conditions, np.flatnonzero(own), system)
    for highest in (Rank.STEADY, Rank.STEADY_FIXED, Rank.GUESS):
        which = np.flatnonzero(counts & (conditions.rank <= highest) & (conditions.rank != Rank.GIVEN))
        if not found or len(which) > len(found[0].conditions):
            found.insert(0, Demand.of(conditions, which, system))
    return found


def _reads_iterated(conditions: Conditions, which: np.ndarray, system: LargeSystem) -> np.ndarray:
    """Mask over some conditions: what they are about follows from unknowns that nonlinear equations give."""
    rows = Demand.of(conditions, which, system).rows
    return abs(rows)[:, system.nx : system.nx + system.n] @ iterated(system) > 0.0


def guesses(core: NumericCore, given: np.ndarray) -> list[int]:
    """Variables of a mask whose given starts are no more than guesses of what nonlinear equations give."""
    ids, system = np.flatnonzero(given), core.system
    if not len(ids) or system is None:
        return []
    rows = abs(core.reduced.W_core[ids]) @ abs(system.mode.z_of)
    return ids[rows[:, system.nx : system.nx + system.n] @ iterated(system) > 0.0].tolist()


def iterated(system: LargeSystem) -> np.ndarray:
    """Mask (n,) of the unknowns that follow from such as nonlinear equations give: starts of these are guesses."""
    found = np.zeros(system.n, bool)
    if not len(system.nonlinear_rows):
        return found
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_bipartite_matching

    pattern = system.pattern
    read = pattern.over_unknowns(np.ones(len(system.nonlinear_rows.owner))).tocoo()
    bent = (np.diff(pattern.of_values.indptr) > 0) | (np.diff(pattern.of_slopes.indptr) > 0)
    # Every row is solved for one unknown, which follows from all others in it.
    rows = csr_array((np.ones(len(read.row)), (read.row, read.col)), shape=read.shape)
    solved = maximum_bipartite_matching(rows, perm_type="column")
    first = solved[np.unique(pattern.indices[bent])]
    begin = np.concatenate([read.col, np.full(len(first), system.n)])
    end = np.concatenate([solved[read.row], first])
    known = end >= 0
    follows = csr_array((np.ones(int(known.sum())), (begin[known], end[known])), shape=(system.n + 1,) * 2)
    reached = breadth_first_order(follows, system.n, return_predecessors=False)
    found[reached[reached < system.n]] = True
    return found


def binding(conditions: Conditions, system: LargeSystem) -> np.ndarray:
    """Mask of the conditions that say something of the equations: no derivatives that sources alone drive, no repetitions."""
    slope_of: Any = system.mode.slope_of
    moves = np.diff(slope_of[:, : system.nx + system.n].indptr) > 0
    # That equal values are fixed for several names of one unknown is checked elsewhere.
    found = (conditions.rate_of < 0) | moves[conditions.rate_of]
    found[[k for k, _ in conditions.observed]] = False
    return found & _first(conditions)


def _first(conditions: Conditions) -> np.ndarray:
    """Mask of the conditions that are not the value of an unknown of which an earlier one is."""
    first = np.ones(len(conditions), bool)
    own = np.flatnonzero(conditions.unknown >= 0)
    first[own] = False
    first[own[np.unique(conditions.unknown[own], return_index=True)[1]]] = True
    return first
