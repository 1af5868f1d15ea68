"""One mode of a nonlinear model: all affine rows eliminated, nonlinear rows left open.

Affine rows solve every unknown but as many as there are nonlinear rows. These *open* unknowns ``h`` and the
selected states ``s`` give everything else by matrices, which do not depend on the point. What the nonlinear rows
say about ``h`` follows from their structure: a row that has no open unknown of its own constrains the states
and is differentiated (Sigma method), and open unknowns it ties to others are differentiated with it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..structure.offsets import sigma_offsets
from ..values import frozen
from .affine import AffineModel, Mode, ModeData
from .columns import Columns
from .elimination import product
from .identities import MapCheck
from .index_reduction import ModeRows, shuffle

DEEPEST = 8
"""Differentiations after which no unknown is looked for in a row."""
AFFINE, LEFT_OUT = -1, -2
"""In the place of the number of a nonlinear row: an affine equation, and one that follows from others."""
MOST_DERIVATIVES = 2
"""Differentiations of a nonlinear row: index 3 altogether."""


class StructurallySingular(Exception):
    """Nonlinear rows do not determine the open unknowns; ``rows`` and ``unknowns`` are the part that fails."""

    def __init__(self, reason: str, rows: np.ndarray, unknowns: np.ndarray) -> None:
        super().__init__(reason)
        self.reason, self.rows, self.unknowns = reason, rows, unknowns


@frozen
class OpenMode:
    """Matrices of one mode over ``v = [s; h; xi]``.

    ``z = z_of v``, ``z' = slope_of v`` (differentiated variables only), ``s' = rate v``.
    """

    mode: Mode
    states: np.ndarray
    """Core unknowns selected as ``s``."""
    open: np.ndarray
    """Core unknowns ``h``: a non-differentiated variable itself, the derivative of a differentiated one."""
    slopes: np.ndarray
    """Mask over ``h``: it is a derivative."""
    z_of: np.ndarray
    slope_of: np.ndarray
    rate: np.ndarray
    nonlinear: np.ndarray
    """Nonlinear rows in force, by their number among all nonlinear rows."""
    index: int
    """Differentiations of affine constraints, plus one if anything is algebraic."""

    def arranged(self, order: Arrangement, sources: int) -> OpenMode:
        """The same in this order, over the first sources alone."""
        which, states = order.of_columns(sources), self.states[order.states]
        z_of, slope_of, rate = (
            self.z_of[:, which],
            self.slope_of[:, which],
            self.rate[order.states[:, None], which],
        )
        return OpenMode(
            self.mode, states, self.open[order.unknowns], self.slopes[order.unknowns], z_of, slope_of, rate,
            self.nonlinear[order.rows], self.index,
        )  # fmt: skip


class Arrangement(NamedTuple):
    """Orders of states, nonlinear rows and open unknowns: what reads more, over whatever way, comes first.

    Matrices are block upper triangular then. An elimination takes no pivot from a row that reads more, and what is exactly zero
    by itself stays that.
    """

    states: np.ndarray
    rows: np.ndarray
    unknowns: np.ndarray

    def of_columns(self, sources: int) -> np.ndarray:
        """Columns over ``v`` in this order."""
        ns, m = len(self.states), len(self.unknowns)
        return np.concatenate([self.states, ns + self.unknowns, ns + m + np.arange(sources)])


@frozen
class Orders:
    """How often nonlinear rows are differentiated (m,), and the highest derivative of every open unknown (m,)."""

    rows: np.ndarray
    unknowns: np.ndarray

    @property
    def highest(self) -> int:
        """Largest number of differentiations."""
        return int(max(self.rows.max(initial=0), self.unknowns.max(initial=0)))


def open_mode(
    model: AffineModel, mode: Mode, data: ModeData, nonlinear_row: np.ndarray, read: np.ndarray
) -> OpenMode:
    """Eliminate the affine rows of a mode.

    Parameters
    ----------
    model : AffineModel
        Linearising the nonlinear model somewhere.
    data : ModeData
        Its reduction in this mode: gives the rows that settle what is undetermined.
    nonlinear_row : (rows,) array
        Per equation in force the number of its nonlinear row, `AFFINE`, or `LEFT_OUT`.
    read : (n,) array of bool
        Core unknowns in nonlinear rows; they stay open before others.

    Raises
    ------
    StructurallySingular
    ConsistencyError
        What was found does not satisfy an affine row.
    """
    rows, columns = model.rows(mode), Columns.of(model)
    affine = np.flatnonzero(nonlinear_row == AFFINE)
    table = np.vstack([columns.table(rows)[affine], data.settled])
    reduced = ModeRows(model, table, len(rows), data.balance, read)
    rounds, system = sum(1 for _ in shuffle(reduced)), reduced.system
    solved = system.row[columns.state] >= 0
    states = columns.x[~solved]
    open_unknowns = np.flatnonzero(system.row[columns.unknown] < 0)
    given = np.concatenate([columns.state[~solved], open_unknowns, columns.source])
    found = system.solution(columns.unknown, given)
    ns, m = len(states), len(open_unknowns)
    found[open_unknowns, ns + np.arange(m)] = 1.0
    z_of, slope_of = found.copy(), np.zeros_like(found)
    slope_of[columns.x] = found[columns.x]
    z_of[states] = np.eye(ns, len(given))
    z_of[columns.x[solved]] = system.solution(columns.state[solved], given)
    slopes = model.differentiated[open_unknowns]
    nonlinear = nonlinear_row[nonlinear_row >= 0]
    if len(nonlinear) + np.count_nonzero(nonlinear_row == LEFT_OUT) != m:
        raise StructurallySingular("count", nonlinear, open_unknowns)
    index = rounds + (len(columns.x) < model.n)
    motion = np.zeros((len(given), len(given)))
    motion[:ns], motion[ns + m :, ns + m :] = found[states], model.S
    z, T0 = data.balance.z, data.balance.T0
    scale = np.concatenate([z[states], z[open_unknowns] / np.where(slopes, T0, 1.0), data.balance.xi])
    MapCheck(data.balance, z_of, motion, scale, data.admissible).require(
        rows.take(affine), lambda k: model.name_of_row(mode, int(affine[k]))
    )
    return OpenMode(mode, states, open_unknowns, slopes, z_of, slope_of, found[states], nonlinear, index)


def orders(
    mode: OpenMode, owner: np.ndarray, arguments: Any, gradients: list[np.ndarray], shared: np.ndarray
) -> tuple[Orders, Arrangement]:
    """Differentiations that the nonlinear rows of a mode need, and the order in which it is solved best.

    Parameters
    ----------
    owner : (na,) array
        Nonlinear row of every argument.
    arguments : (na, nv) array
        Arguments over ``v``.
    gradients : list of (na,) arrays
        Derivatives of the rows with respect to their arguments at some points; an entry that is
        zero at all of them is none.
    shared : (k, m) array of bool
        Open unknowns that are chosen together in the place of each row that is left out.

    Raises
    ------
    StructurallySingular
        The rows do not determine the open unknowns, however often they are differentiated, or more
        than twice would be needed.
    """
    ns, m = len(mode.states), len(mode.open)
    incidence = np.zeros((m, ns + m), bool)
    for gradient in gradients:
        for k, row in enumerate(mode.nonlinear.tolist()):
            at = np.flatnonzero(owner == row)
            found = product(gradient[None, at], arguments[at, : ns + m])
            incidence[k] |= (found[0] != 0.0) | np.isnan(found[0])
    incidence[len(mode.nonlinear) :, ns:] = shared
    depth = _depths(mode.rate[:, :ns] != 0.0, mode.rate[:, ns : ns + m] != 0.0)
    sigma = np.full((m, m), -DEEPEST - 1)
    for k in range(m):
        through = -depth[incidence[k, :ns]].min(axis=0, initial=DEEPEST + 1)
        sigma[k] = np.where(incidence[k, ns:], 0, through)
    row, col = np.nonzero(sigma >= -DEEPEST)
    offsets = sigma_offsets(row, col, sigma[row, col], (m, m))
    if offsets.singular is not None:
        unmatched = np.flatnonzero(offsets.matching.unknown[: len(mode.nonlinear)] < 0)
        missing = np.flatnonzero(offsets.matching.equation < 0)
        raise StructurallySingular("undetermined", mode.nonlinear[unmatched], mode.open[missing])
    found = Orders(offsets.c[: len(mode.nonlinear)], offsets.d)
    if found.highest > MOST_DERIVATIVES:
        deep = np.flatnonzero(found.rows > MOST_DERIVATIVES)
        raise StructurallySingular("index", mode.nonlinear[deep], mode.open[:0])
    if len(shared):
        return found, Arrangement(np.arange(ns), np.arange(len(found.rows)), np.arange(m))
    tight = sigma[row, col] == offsets.d[col] - offsets.c[row]
    order = _arrangement(mode, incidence, offsets.matching.equation, (row[tight], col[tight]))
    return Orders(found.rows[order.rows], found.unknowns[order.unknowns]), order


def _arrangement(
    mode: OpenMode, incidence: np.ndarray, row_of: np.ndarray, solved: tuple[np.ndarray, np.ndarray]
) -> Arrangement:
    """The order of a mode.

    Parameters
    ----------
    incidence : (m, ns + m) array of bool
        What the nonlinear rows read.
    row_of : (m,) array
        Row that gives each open unknown.
    solved : pair of arrays
        Rows and open unknowns, entries of the matrix by which these are solved at given states.
    """
    m, ns = incidence.shape[0], len(mode.states)
    rows, whole = np.zeros((m, m)), np.zeros((ns + m, ns + m))
    rows[solved[0], row_of[solved[1]]] = 1.0
    whole[:ns, :ns], whole[:ns, ns + row_of] = mode.rate[:, :ns] != 0.0, mode.rate[:, ns : ns + m] != 0.0
    whole[ns:, :ns], whole[ns:, ns + row_of] = incidence[:, :ns], incidence[:, ns:]
    of_rows, of_states = -_reached(rows), -_reached(whole)[:ns]
    return Arrangement(*(np.argsort(x, kind="stable") for x in (of_states, of_rows, of_rows[row_of])))


def _reached(reads: np.ndarray) -> np.ndarray:
    """How many nodes each one reads, over whatever way, itself included; entries are zero or one."""
    found = np.maximum(reads, np.eye(len(reads)))
    for _ in range(len(reads).bit_length()):
        found = np.minimum(found @ found, 1.0)
    return found.sum(axis=1)


def _depths(states: np.ndarray, unknowns: np.ndarray) -> np.ndarray:
    """How often each state is differentiated until an open unknown appears, (n_s, m); ``DEEPEST + 1`` for never.

    Parameters
    ----------
    states, unknowns : (n_s, n_s) and (n_s, m) arrays of bool
        What the rates of the states read. States give way to them: a state has no derivatives of its own beside those.
    """
    depth = np.where(unknowns, 1, DEEPEST + 1)
    for _ in range(DEEPEST):
        for k in range(len(states)):
            depth[k] = np.minimum(depth[k], 1 + depth[states[k]].min(axis=0, initial=DEEPEST))
    return depth
