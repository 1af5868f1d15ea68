"""Pivoting on one tableau: what the exact test of a mode after the other would find, at a fraction of its cost.

At a large number ``s`` in place of ``d/dt`` the equations of an instant are algebraic, and the signs of the guards are those
of their Laurent series. One elimination of the base equations leaves every form of every branch over a few coordinates.
These rows are the tableau: a mode is a choice of as many of them as there are coordinates, in terms of which all others are
written, and an element changes its branch by exchanges of rows. The variables count from their left limits, so that what
does not move cancels before anything is solved.

A finite ``s`` and plain doubles make this a proposal. The exact test of the mode that it leads to decides.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...reduction.affine import STICK, AffineModel, Kind, Mode, Rows, stack_rows
from ...reduction.elimination import product
from ...reduction.rounding import ROUNDING
from ...reduction.scales import column_weights
from .pivoting import NoMove, Pivoting, Row, blocking_row, most_modes
from .transition import Instant

_RATE = 2.0**14
"""``s`` in units of the fastest motion before the instant: three derivatives then are within the digits of a double."""
_STRONG = 2.0**-6
"""Part of the largest pivot from which the order of the elements decides, not the size."""
_CANCELLED = 2.0**-44
_NEGLIGIBLE = 2.0**-36
"""Part of its terms below which an entry of the tableau or a guard is rounding."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the tableau says of a mode; as a `Verdict`."""

    mode: Mode
    possible: bool
    violations: tuple[tuple[int, int, int], ...]

    @property
    def consistent(self) -> bool:
        """Whether nothing in the mode is violated."""
        return self.possible and not self.violations


class BranchTableau:
    """All forms of the elements over the coordinates that the base equations leave, at one ``s``."""

    def __init__(self, model: AffineModel, tau: float) -> None:
        from scipy.linalg import lu_factor, lu_solve

        self.model, self._s = model, _RATE / tau
        n = model.n
        base = self._laplace(model.base)
        # Powers of two: what cancels in the equations cancels in the scaled ones.
        weight = np.exp2(np.round(np.log2(column_weights(base))))
        largest = np.abs(base * weight).max(axis=1, initial=0.0)
        size = np.exp2(-np.round(np.log2(largest, out=np.zeros(len(base)), where=largest > 0.0)))
        scaled = base * weight * size[:, None]
        self._rows, self._pivots = _independent(scaled)
        solved, free = self._pivots, np.setdiff1d(np.arange(n), self._pivots)
        self._base = (
            lu_factor(scaled[np.ix_(self._rows, solved)], check_finite=False) if len(solved) else None
        )
        self._weights = size[self._rows], weight[solved]
        self._told = _told(model)
        null = np.zeros((n, len(free)))
        null[free, np.arange(len(free))] = 1.0
        if self._base is not None:
            found = -lu_solve(self._base, scaled[np.ix_(self._rows, free)], check_finite=False)
            found[np.abs(found) <= _CANCELLED * np.abs(found).max(axis=1, keepdims=True, initial=0.0)] = 0.0
            null[solved] = found * weight[solved, None] / weight[free]
        self._forms, self.equations, self.guards, self.relations = _numbered(model)
        self.targets = [[b.targets for b in e.branches] for e in model.elements]
        self.conditions = [
            (k, e.select)
            for k, e in enumerate(model.elements)
            if e.kind is Kind.CONDITION and e.select is not None
        ]
        self._full = self._laplace(self._forms)
        over = product(self._full, null)
        columns = column_weights(over) if len(over) else np.ones(len(free))
        size = np.abs(over * columns).max(axis=1, initial=0.0)
        self._row_scale = 1.0 / np.where(size > 0.0, size, 1.0)
        self.given = np.vstack([over * columns * self._row_scale[:, None], np.eye(len(free))])

    def _sizes(self, z: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """Magnitudes (n,) of what left limits were computed from: what follows from others is as exact as what tells it."""
        base, (rows, unknowns) = self.model.base, self._told
        size, factors = np.abs(z), np.abs(base.A[rows])
        terms = np.hstack([factors * size, np.abs(base.B[rows]) * np.abs(xi)]).max(axis=1, initial=0.0)
        size[unknowns] = terms / factors[np.arange(len(rows)), unknowns]
        return size

    @property
    def bytes(self) -> int:
        """Size of its arrays."""
        return self.given.nbytes + self._full.nbytes + sum(a.nbytes for a in self._base or ())

    def _laplace(self, rows: Rows) -> np.ndarray:
        return rows.A + self._s * rows.E

    def at(self, instant: Instant) -> Position:
        """The tableau with the constants of an instant."""
        from scipy.linalg import lu_solve

        model = self.model
        z = np.zeros(model.n)
        kept = np.concatenate([np.flatnonzero(model.differentiated), self._told[1]])
        z[kept] = instant.z_minus[kept]
        for j, value in instant.reinits:
            # Right where no impulse of the model itself goes with that of the new value.
            z[j] = value
        xi = instant.xi
        error = ROUNDING * self._sizes(z, xi) + (0.0 if instant.known.error is None else instant.known.error)

        def constant(rows: Rows) -> np.ndarray:
            value = rows.A @ z + rows.B @ xi
            noise = np.abs(rows.A) @ error + ROUNDING * (np.abs(rows.B) @ np.abs(xi))
            value[np.abs(value) <= noise] = 0.0
            rate = xi
            for k in range(1, 4):
                rate = model.S @ rate
                value += rows.B @ rate / self._s**k
            return value

        start = np.zeros(model.n)
        if self._base is not None:
            of_rows, of_columns = self._weights
            given = of_rows * constant(model.base)[self._rows]
            start[self._pivots] = -of_columns * lu_solve(self._base, given, check_finite=False)
        own, pins = constant(self._forms), np.zeros(self.given.shape[1])
        values = self._row_scale * (own + self._full @ start)
        terms = self._row_scale * (np.abs(own) + np.abs(self._full) @ np.abs(start))
        return Position(self, instant, np.concatenate([values, pins]), np.concatenate([terms, pins]))


def propose(
    tableau: BranchTableau, instant: Instant, start: Mode, released: Collection[int] = ()
) -> tuple[Mode, ...]:
    """Modes at the present levels that pivoting on the tableau leads to, the first choice first; none where it leads nowhere.

    Where branches follow from each other, as flows around a loop of closed elements do, the first mode has them all, with
    the least-norm point; the second one has as many as the solution that the tableau found.
    """
    position = tableau.at(instant)
    try:
        found = _pivoting(position, instant).settled(start, released)
    except NoMove:
        return ()
    return () if found is None else tuple(dict.fromkeys((found, position.without_dependent(found))))


def held_back(position: Position, instant: Instant, mode: Mode, friction: int) -> Mode | None:
    """The mode that pivoting leads to from one in which a friction stays at rest that slides in ``mode``.

    From wherever the position is: modes that follow each other have most rows in common.
    """
    try:
        start = (*mode[:friction], STICK, *mode[friction + 1 :])
        return _pivoting(position, instant).pivot(start, held=(friction,))
    except NoMove:
        return None


def _pivoting(position: Position, instant: Instant) -> Pivoting:
    model = position.model
    return Pivoting(model, instant.forced, position.examine, position.blocking, most_modes(model))


def _told(model: AffineModel) -> tuple[np.ndarray, np.ndarray]:
    """Base equations without derivatives and the unknowns they tell, one each, by the differentiated ones and sources alone."""
    known, static = model.differentiated.copy(), ~model.base.E.any(axis=1)
    rows, unknowns = np.zeros(0, int), np.zeros(0, int)
    while True:
        open_ = (model.base.A != 0.0) & ~known
        more = np.flatnonzero(static & (open_.sum(axis=1) == 1))
        if not len(more):
            return rows, unknowns
        found, first = np.unique(open_[more].argmax(axis=1), return_index=True)
        rows, unknowns = np.append(rows, more[first]), np.append(unknowns, found)
        known[found] = True


def _independent(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of a well conditioned square block of full rank."""
    from scipy.linalg import qr

    if not matrix.size:
        return np.zeros(0, int), np.zeros(0, int)
    found: Any = qr(matrix, mode="r", pivoting=True, check_finite=False)
    R, columns = found
    diagonal = np.abs(np.diag(R))
    rank = int(np.count_nonzero(diagonal > _NEGLIGIBLE * diagonal[0]))
    columns = columns[:rank]
    if rank == len(matrix):
        return np.arange(rank), columns
    found = qr(matrix[:, columns].T, mode="r", pivoting=True, check_finite=False)
    return found[1][:rank], columns


def _numbered(
    model: AffineModel,
) -> tuple[Rows, list[list[list[int]]], list[list[list[int]]], list[list[int]]]:
    """All forms of all elements, and the numbers of the equations and guards of each branch, and of the relations."""
    parts: list[Rows] = []
    count = 0

    def take(rows: Rows) -> list[int]:
        nonlocal count
        parts.append(rows)
        count += len(rows)
        return list(range(count - len(rows), count))

    equations = [[take(b.equations) for b in e.branches] for e in model.elements]
    guards = [[take(b.guards) for b in e.branches] for e in model.elements]
    relations = [[] if e.relations is None else take(e.relations) for e in model.elements]
    return stack_rows(parts, model), equations, guards, relations


class Exchanged:
    """The tableau in terms of the rows of one mode, whatever the instant."""

    def __init__(self, tableau: BranchTableau) -> None:
        self._tableau = tableau
        self.table = tableau.given.copy()
        k = self.table.shape[1]
        self.slots = np.arange(len(self.table) - k, len(self.table))
        self.dependent: list[int] = []

    def enter(self, mode: Mode) -> None:
        """Exchange rows until those of a mode are the terms of the others; rows that depend on them are left over."""
        wanted = [i for rows, b in zip(self._tableau.equations, mode, strict=True) for i in rows[b]]
        slot = {row: j for j, row in enumerate(self.slots.tolist())}
        incoming = [row for row in wanted if row not in slot]
        outgoing = [slot[row] for row in sorted(slot.keys() - wanted)]
        while incoming and outgoing:
            block = np.abs(self.table[np.array(incoming)[:, None], outgoing])
            i, j = divmod(int(np.argmax(block >= _STRONG * block.max())), len(outgoing))
            if block[i, j] <= _NEGLIGIBLE * np.abs(self.table[incoming[i]]).max():
                break
            self._exchange(incoming.pop(i), outgoing.pop(j))
        self.dependent = incoming

    def _exchange(self, row: int, slot: int) -> None:
        """Write all rows in terms of ``row`` instead of the one in a slot."""
        factors = self.table[row].copy()
        column = self.table[:, slot] / factors[slot]
        factors[slot] = 0.0
        (rows,), (used,) = column.nonzero(), factors.nonzero()
        rows = rows[:, None]
        # Flat, as in `Elimination`.
        table, at = self.table.reshape(-1), rows * len(factors) + used
        change = column[rows] * factors[used]
        new = table.take(at) - change
        new[np.abs(new) <= _CANCELLED * np.abs(change)] = 0.0
        table[at] = new
        self.table[:, slot] = column
        self.table[row] = 0.0
        self.table[row, slot] = 1.0
        self.slots[slot] = row


class Position(Exchanged):
    """The tableau in terms of the rows of one mode at one instant."""

    def __init__(
        self, tableau: BranchTableau, instant: Instant, values: np.ndarray, terms: np.ndarray
    ) -> None:
        super().__init__(tableau)
        self.model, self._instant = tableau.model, instant
        self._values, self._terms = values, terms
        # Guards in force of every branch: their rows, and what a negative one asks for.
        off, forced = instant.disabled_guards, instant.forced
        self._asked = [
            [
                [
                    (row, (1, k, target))
                    for g, (row, target) in enumerate(zip(rows, tableau.targets[k][b], strict=True))
                    if forced[k] < 0 and (k, b, g) not in off
                ]
                for b, rows in enumerate(branches)
            ]
            for k, branches in enumerate(tableau.guards)
        ]

    def constants(self, rows: list[int]) -> np.ndarray:
        """Values of rows where those in the slots vanish; rounding is zero."""
        table = self.table[rows]
        found = self._values[rows] - table @ self._values[self.slots]
        size, terms = np.abs(table), self._terms[self.slots]
        noise = (
            _NEGLIGIBLE * (self._terms[rows] + size @ terms)
            + _CANCELLED * size.max(axis=1, initial=0.0) * terms.sum()
        )
        return np.where(np.abs(found) <= noise, 0.0, found)

    def examine(self, mode: Mode) -> Judged:
        """Whether rows contradict each other in a mode, and which guards are violated."""
        self.enter(mode)
        if self.dependent and self.constants(self.dependent).any():
            return Judged(mode, False, ())
        tableau, instant = self._tableau, self._instant
        asked = [guard for k, b in enumerate(mode) for guard in self._asked[k][b]]
        negative = np.flatnonzero(self.constants([row for row, _ in asked]) < 0.0).tolist()
        violated = {asked[i][1][1]: asked[i][1] for i in reversed(negative)}
        for k, select in tableau.conditions:
            if instant.forced[k] < 0:
                target = select(np.sign(self.constants(tableau.relations[k])).astype(int))
                if target != mode[k]:
                    violated[k] = (1, k, target)
        return Judged(mode, True, tuple(sorted(violated.values(), key=lambda v: v[1])))

    def without_dependent(self, mode: Mode) -> Mode:
        """The mode in whose rows the solution was written: elements with rows that follow from others keep their former ones."""
        self.enter(mode)
        inside, left = set(self.slots.tolist()), set(self.dependent)
        found = list(mode)
        for k, branches in enumerate(self._tableau.equations):
            if not left.isdisjoint(branches[mode[k]]):
                found[k] = next(
                    (b for b, rows in enumerate(branches) if rows and inside.issuperset(rows)), mode[k]
                )
        return tuple(found)

    def blocking(self, mode: Mode) -> list[Row]:
        """The rows of a mode that are combinations of its other rows, and which elements can satisfy them."""
        self.enter(mode)
        owner = {row: k for k, b in enumerate(mode) for row in self._tableau.equations[k][b]}
        found = []
        for row, value in zip(self.dependent, self.constants(self.dependent).tolist(), strict=True):
            factors = np.where(np.abs(self.table[row]) > _NEGLIGIBLE, -self.table[row], 0.0)
            weights = [(owner[row], np.ones(1))]
            weights += [
                (owner[i], w)
                for i, w in zip(self.slots.tolist(), factors[:, None], strict=True)
                if i in owner
            ]
            found.append(blocking_row(self.model, mode, self._instant, weights, int(np.sign(value)), -1.0))
        return found
