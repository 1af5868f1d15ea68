"""Exact mode-independent elimination of the integer rows of a whole model."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..structure.elimination import echelon, null_space
from ..structure.incidence import INT, IntegerRows, stack
from ..structure.merging import Merged, merge
from ..structure.peeling import Peeled, peel
from ..values import frozen


@frozen
class Presolved:
    """The model ``A x + r = 0`` as ``x = W y + V r`` with ``K y + U r = 0``; r is known, one value per original row.

    Both forms have the same solutions if ``R r = 0``, apart from the freedoms that are pinned. The balance of unknowns
    and equations is kept: ``n - m == (ny + g) - (mk + dependent)``.

    Attributes
    ----------
    y : ndarray of int64, shape (ny,)
        Ids of the unknowns that are kept, ascending.
    W : IntegerRows, shape (n, ny)
        Variables from the kept unknowns.
    V : IntegerRows, shape (n, m)
        Variables from the remainders of the original rows.
    K, U : IntegerRows, shapes (mk, ny) and (mk, m)
        Rows that stay equations.
    kept_row_origin : ndarray of int64, shape (mk,)
        Original row each of them stands for.
    R : IntegerRows, shape (k, m)
        Combinations of original rows in which all variables cancel but remainders do not. ``R r != 0`` at run time means
        that equations contradict each other; every row that takes part has an entry, those without remainder too.
    dependent : ndarray of int64
        Original rows that were dropped because they follow from others, those of `R` and those that hold identically.
    pinned : ndarray of int64, shape (g,)
        Variables that no integer row determines and that nothing else depends on (no reference in an island), set to
        zero; ascending, at most one per dependent row.
    loose : ndarray of int64
        Further such variables for which no dependent row is left; they stay unknowns. Empty without dependent rows.
    islands : tuple of ndarray of int64
        For every pinned, then every loose variable all variables that move with it, itself included.
    """

    y: np.ndarray
    W: IntegerRows
    V: IntegerRows
    K: IntegerRows
    U: IntegerRows
    kept_row_origin: np.ndarray
    R: IntegerRows
    dependent: np.ndarray
    pinned: np.ndarray
    loose: np.ndarray
    islands: tuple[np.ndarray, ...]

    @cached_property
    def relative(self) -> frozenset[int]:
        """Variables whose values are relative to one that is pinned, itself included."""
        return frozenset(v for island in self.islands[: len(self.pinned)] for v in island.tolist())


def presolve(
    rows: IntegerRows,
    *,
    differentiated: np.ndarray,
    protected: np.ndarray,
    uses: np.ndarray,
    has_remainder: np.ndarray,
    max_terms: int = 8,
) -> Presolved:
    """Eliminate aliases, known values and short sums; drop dependent rows; pin variables without a reference.

    Parameters
    ----------
    rows : IntegerRows, shape (m, n)
        Equations ``sum_j val_j x_j + r_i = 0``.
    differentiated : ndarray of bool, shape (n,)
        Variables whose derivative occurs. They stay unknowns: the second one of an alias class, or one that is zero or
        known, keeps its equation, because it may hide a constraint.
    protected : ndarray of bool, shape (n,)
        Variables in an element, guard or relation. They stay unknowns, become signed aliases of one, or known.
    uses : ndarray of int, shape (n,)
        Occurrences in equations that are not integer rows.
    has_remainder : ndarray of bool, shape (m,)
        Rows with ``r_i`` not identically zero.
    max_terms : int
        Longest definition, remainders included, of a variable that is used elsewhere.

    Notes
    -----
    Remainders are extra columns that are never eliminated. Signed alias classes and known values in rounds, then columns
    that occur in one row only, then an exact echelon form of what is left, which finds the dependent rows: never a
    reduced form, whose definitions are long. All arithmetic is on integers; close to linear in the number of entries.
    """
    visible = protected | differentiated | (uses > 0)
    problem = _with_remainders(rows, np.flatnonzero(has_remainder))
    n, none = rows.n, np.zeros(problem.n - rows.n, bool)
    given = np.arange(problem.n) >= n
    stays, apart = (np.concatenate((mask, none)) for mask in (protected | differentiated, differentiated))
    priority = np.where(given, 0, 2 - stays.astype(INT) - apart)
    merged = merge(problem, apart, priority, given, max_terms)
    counted, fixed = np.zeros(problem.n, INT), given.copy()
    np.add.at(counted, merged.root[:n], uses * (merged.sign[:n] != 0))
    fixed[merged.root[stays]] = True
    return _assemble(rows, merged, peel(merged.live, ~fixed, counted, max_terms), visible, has_remainder)


def _assemble(
    rows: IntegerRows, merged: Merged, peeled: Peeled, visible: np.ndarray, has_remainder: np.ndarray
) -> Presolved:
    # Rows that are neither aliases nor definitions, without those that follow from others.
    left = stack(merged.live.take(peeled.rest), merged.links)
    origin = np.concatenate((merged.origin[peeled.rest], merged.link_origin))
    form, known = echelon(left.where(left.col < rows.n)), left.where(left.col >= rows.n)
    independent = np.ones(left.m, bool)
    independent[form.redundant] = False
    core = left.take(independent)
    dependent = np.sort(np.concatenate((merged.dependent, origin[form.redundant])))
    expansion, kept = _expansion(merged, peeled, rows.n)
    free, islands = np.zeros(0, INT), IntegerRows.empty(rows.n)
    if len(dependent):
        free, islands = _freedoms(expansion, kept, core, visible)
    pinned, loose = free[: len(dependent)], free[len(dependent) :]
    y = np.setdiff1d(kept, pinned, assume_unique=True)
    remainder = np.flatnonzero(has_remainder)
    contradictable = merged.leftover or (len(form.redundant) and len(form.combinations.times(known).col))
    return Presolved(
        y=y,
        W=expansion.columns(y),
        V=_known_part(expansion, remainder, rows),
        K=core.columns(y),
        U=_known_part(core, remainder, rows),
        kept_row_origin=origin[independent],
        R=_contradictions(rows, has_remainder) if contradictable else IntegerRows.empty(rows.m),
        dependent=dependent,
        pinned=pinned,
        loose=loose,
        islands=tuple(np.split(islands.col, islands.ptr[1:-1])) if len(free) else (),
    )


def _with_remainders(rows: IntegerRows, remainder: np.ndarray) -> IntegerRows:
    """Append one column for every row that has a remainder."""
    row = np.concatenate((rows.row, remainder))
    col = np.concatenate((rows.col, rows.n + np.arange(len(remainder))))
    val = np.concatenate((rows.val, np.ones(len(remainder), INT)))
    return IntegerRows.from_triplets(row, col, val, (rows.m, rows.n + len(remainder))).primitive()


def _known_part(extended: IntegerRows, remainder: np.ndarray, rows: IntegerRows) -> IntegerRows:
    """Coefficients of the remainders, over the original rows."""
    known = extended.where(extended.col >= rows.n)
    return IntegerRows(known.ptr, remainder[known.col - rows.n], known.val, rows.m)


def _expansion(merged: Merged, peeled: Peeled, n: int) -> tuple[IntegerRows, np.ndarray]:
    """All variables over the kept ones and the remainders, and the ids of the kept ones."""
    defined = np.concatenate((merged.known, peeled.pivot))
    signed = merged.sign[:n] != 0
    row = np.flatnonzero(signed)
    total = len(merged.root)
    alias = IntegerRows(np.concatenate(([0], np.cumsum(signed))), merged.root[row], merged.sign[row], total)
    is_kept = (merged.root[:n] == np.arange(n)) & signed
    is_kept[defined] = False
    return alias.substitute(defined, stack(merged.values, peeled.definitions)), np.flatnonzero(is_kept)


def _freedoms(
    expansion: IntegerRows, kept: np.ndarray, core: IntegerRows, visible: np.ndarray
) -> tuple[np.ndarray, IntegerRows]:
    """Directions in the kept unknowns that no row and no visible variable sees.

    Returns one kept unknown per direction, ascending, and the directions over all variables.
    """
    seen = stack(expansion.take(visible), core).columns(kept)
    single = seen.lengths == 1
    hidden = np.ones(len(kept), bool)
    hidden[seen.col[np.repeat(single, seen.lengths)]] = False
    candidates = kept[hidden]
    seen = seen.take(~single).columns(np.flatnonzero(hidden))
    space = null_space(seen.take(seen.lengths > 0))
    directions = space.basis.over(expansion.n, candidates)
    return candidates[space.free], directions.times(expansion.transpose())


def _contradictions(rows: IntegerRows, has_remainder: np.ndarray) -> IntegerRows:
    """Vanishing combinations of the original rows in which a remainder takes part."""
    combinations = echelon(rows.compress()).combinations
    return combinations.take(combinations.count(has_remainder) > 0)
