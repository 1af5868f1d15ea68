"""What is demanded of the start of a large model: fixed values, initial equations, derivatives that are to be zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import Location
from ...values import frozen
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

    def of_states(self, nx: int) -> bool:
        """Whether each of them is the value of one state."""
        alone = np.diff(self.rows.indptr) == 1
        return not (self.nonlinear >= 0).any() and bool(alone.all()) and bool((self.rows.indices < nx).all())

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


def demands(conditions: Conditions, system: LargeSystem) -> tuple[Demand, Demand | None]:
    """Return what must hold at the start, and that with the wishes that are met if they agree with it.

    Wishes are derivatives of fixed variables that are to be zero; None where there are none.
    """
    counts = binding(conditions, system)
    stated = np.flatnonzero(counts & (conditions.rank <= Rank.STEADY))
    wished = np.flatnonzero(counts & (conditions.rank == Rank.STEADY_FIXED))
    found = Demand.of(conditions, stated, system)
    return found, Demand.of(conditions, np.append(stated, wished), system) if len(wished) else None


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
