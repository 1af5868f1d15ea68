"""Analysis of one mode of an affine switched model.

The unknowns are the derivatives ``x'`` of the differentiated variables and all other variables
``w``; given are ``x`` and the sources ``xi``. Elimination leaves rows without unknowns: these are
constraints on ``x``. One variable is solved from each, its time derivative joins the system, and
so on until nothing new appears (the shuffle algorithm of Luenberger, "Time-invariant descriptor
systems", 1978, by elimination instead of orthogonal compression, which would mix fast and slow
rows). States remain physical variables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sized
from dataclasses import replace
from functools import partial
from typing import Protocol, TypeVar

import numpy as np

from ..values import frozen
from .affine import AffineModel, Balance, Inadmissible, Mode, ModeData, Rows, stack_rows
from .columns import Begun, Columns
from .dont_care import blocked_rows, settle, settle_by_size
from .double_double import Fine, Maps, over_state
from .elimination import CANCELLED, Elimination, Remainder, product
from .identities import check_mode
from .impulses import impulse_maps, limit_map
from .redundancy import DEPENDENT
from .scales import balance_of, column_weights

MANY_STATES = 150
"""States above which a norm bounds the fastest eigenvalue: eigenvalues would take longer than all the rest."""


def reduce_mode(model: AffineModel, mode: Mode, begun: Begun | None = None) -> ModeData:
    """Selected states, their flow, and everything else that follows from one mode.

    Parameters
    ----------
    model : AffineModel
    mode : tuple of int
        One branch index per element.
    begun : Begun, optional
        The elimination of some of its rows.

    Returns
    -------
    ModeData

    Raises
    ------
    Inadmissible
        "singular": a derivative is undetermined; names its variables and rows that say nothing new.
    ConsistencyError
        What was found does not satisfy a row of the mode.

    Notes
    -----
    Cubic in the number of unknowns at worst, close to linear for sparse networks.
    """
    data = _analysed(model, mode, begun)
    check_mode(model, data)
    return data


def _analysed(model: AffineModel, mode: Mode, begun: Begun | None) -> ModeData:
    rows = model.rows(mode)
    columns = Columns.of(model)
    balance = balance_of(model, rows)
    system, rounds = _eliminated(model, columns, rows, balance, begun)
    free = columns.unknown[system.row[columns.unknown] < 0]
    directions = system.null_directions(free)[columns.unknown]
    redundant = np.flatnonzero(system.pivot < 0)
    sources = system.entries(redundant, columns.source)
    uncertain = np.any(directions, axis=1)
    if uncertain[columns.x].any():
        moving = [model.names[j] for j in columns.x[uncertain[columns.x]].tolist()]
        every = np.arange(len(redundant))
        raise Inadmissible("singular", lambda: (*moving, *_culprits(model, mode, every)))
    admissible, redundant_rows = source_conditions(model.S, balance.xi, sources)
    settled = _settle_free(model, mode, columns, system, free, balance)
    states, flow = _flow(model, columns, system)
    guards, owner, target = _guards(model, mode, states, flow)
    constraints, sizes, dependent = _constraints(model, columns, system, balance.z)
    return ModeData(
        mode=tuple(mode),
        states=states,
        T=flow.T,
        Ay=flow.Ay,
        constraints=constraints,
        admissible=admissible,
        culprits=partial(_culprits, model, mode, redundant_rows),
        undetermined=uncertain,
        index=rounds + (len(columns.x) < model.n),
        guards=guards,
        guard_element=owner,
        guard_target=target,
        Gy=_over_y(guards, flow),
        tau=_time_constant(flow.Ay[: len(states), : len(states)]),
        dependent=dependent,
        maps=partial(impulse_maps, model),
        map_of_limits=partial(limit_map, model),
        left_over=flow.fine,
        sizes_of_constraints=sizes,
        settled=settled,
        balance=balance,
    )


def _eliminated(
    model: AffineModel, columns: Columns, rows: Rows, balance: Balance, begun: Begun | None
) -> tuple[Elimination, int]:
    """The elimination of a mode, gone on with where it has begun; rounds needed.

    Where a row says nothing new, or something stays open, the order of all rows says which.
    """
    table = columns.table(rows)
    if begun is not None and begun.suits(table):
        system, rounds = _differentiate(model, table, len(rows), balance, begun)
        if not (system.pivot < 0).any() and not (system.row[columns.unknown] < 0).any():
            return system, rounds
    return _differentiate(model, table, len(rows), balance)


def _differentiate(
    model: AffineModel, table: np.ndarray, m: int, balance: Balance, begun: Begun | None = None
) -> tuple[Elimination, int]:
    """Eliminate, and differentiate constraints until there are no new ones; rounds needed."""
    rows = ModeRows(model, table, m, balance, begun=begun)
    rounds = sum(1 for _ in shuffle(rows))
    return rows.system, rounds


Constraints = TypeVar("Constraints", bound=Sized)


class Reducible(Protocol[Constraints]):
    """Rows of equations whose index is reduced: dense with bounds of their rounding, sparse, or symbolic."""

    def solve_unknowns(self) -> None:
        """Solve rows for derivatives and algebraic unknowns."""
        ...

    def solve_states(self) -> Constraints:
        """Solve rows without unknowns for differentiated variables; return these rows."""
        ...

    def differentiate(self, constraints: Constraints) -> None:
        """Let the time derivatives of constraints take part."""
        ...


def shuffle(system: Reducible[Constraints]) -> Iterator[Constraints]:
    """Reduce the index, and yield the new constraints before each round that differentiates them."""
    while True:
        system.solve_unknowns()
        new = system.solve_states()
        if not len(new):
            return
        yield new
        system.differentiate(new)


class ModeRows:
    """Rows over all columns of a mode.

    Columns behind those of the sources are labels: they move on by the ``m`` rows of the model with each
    differentiation. Unknowns in the mask ``last`` are solved for after the others.
    """

    def __init__(
        self, model: AffineModel, table: np.ndarray, m: int, balance: Balance, last: np.ndarray | None = None,
        begun: Begun | None = None,
    ) -> None:  # fmt: skip
        self.model, self.columns, self.m, self.last = model, Columns.of(model), m, last
        weight = np.ones(table.shape[1])
        weight[self.columns.unknown] = column_weights(table[:, self.columns.unknown])
        weight[self.columns.state] = model.preferred(balance.z)[self.columns.x]
        self.system = Elimination(table, weight) if begun is None else begun.followed_by(table, weight)

    def solve_unknowns(self) -> None:
        """Solve rows for derivatives and algebraic unknowns."""
        if self.last is not None:
            self.system.reduce(self.columns.unknown[~self.last])
        self.system.reduce(self.columns.unknown)

    def solve_states(self) -> np.ndarray:
        """Solve rows without unknowns for differentiated variables; return these rows."""
        return self.system.reduce(self.columns.state, ordered=True)

    def differentiate(self, constraints: np.ndarray) -> None:
        """Let the time derivatives of constraints take part."""
        columns, S = self.columns, self.model.S
        labels = len(columns.unknown) + len(columns.state) + len(columns.source)
        rows, generators = self.system.judged_rows(constraints), (S, S**2, np.abs(S))
        made = [derivative(columns, x, generator) for x, generator in zip(rows, generators, strict=True)]
        for part in made if len(self.system.row) > labels else ():
            part[:, labels:] = np.roll(part[:, labels:], self.m, axis=1)
        self.system.append(*made)


def derivative(columns: Columns, constraints: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Time derivative of rows that depend on x and xi only."""
    rate = constraints.copy()
    rate[:, columns.x] = constraints[:, columns.state]
    rate[:, columns.state] = 0.0
    rate[:, columns.source] = constraints[:, columns.source] @ S
    return rate


@frozen
class Dependencies:
    """Combinations of the rows of a mode in which all unknowns cancel, and the unknowns that nothing determines.

    Attributes
    ----------
    weights : ndarray, shape (k, r, m)
        Factors of the ``m`` equations in force, or of those asked for, differentiated 0 to ``r - 1`` times. Besides one, the
        rows of a combination are independent: none of them can be left out.
    sources : ndarray, shape (k, q)
        What each combination leaves of the sources.
    free : ndarray of bool, shape (n,)
        Core unknowns that are undetermined.
    of_stated : ndarray, shape (k, s)
        Factors of the rows that were stated beside the equations.
    """

    weights: np.ndarray
    sources: np.ndarray
    free: np.ndarray
    of_stated: np.ndarray


def dependencies(model: AffineModel, mode: Mode, first: int = 0, stated: Rows | None = None) -> Dependencies:
    """Find the dependencies of a mode: the elimination once more, with labels on the rows from the ``first`` one on.

    Rows that are ``stated`` hold at an instant: they take part after all differentiations, and are not differentiated.
    """
    rows, columns = model.rows(mode), Columns.of(model)
    rounds = _differentiate(model, columns.table(rows), len(rows), balance_of(model, rows))[1]
    count = 0 if stated is None else len(stated)
    system, labels = _labelled(model, columns, rows, rounds + 1, first, count)
    free = columns.unknown[system.row[columns.unknown] < 0]
    undetermined = np.any(system.null_directions(free)[columns.unknown], axis=1)
    if stated is not None:
        beside = np.hstack([columns.table(stated), np.zeros((count, len(labels) - count)), np.eye(count)])
        system.append(beside, beside**2)
        system.reduce(columns.unknown)
        system.reduce(columns.state, ordered=True)
    redundant = np.flatnonzero(system.pivot < 0)
    own, others = np.split(system.entries(redundant, labels), [len(labels) - count], axis=1)
    weights = own.reshape(len(redundant), rounds + 1, len(rows) - first)
    return Dependencies(weights, system.entries(redundant, columns.source), undetermined, others)


def _labelled(
    model: AffineModel, columns: Columns, rows: Rows, orders: int, first: int = 0, more: int = 0
) -> tuple[Elimination, np.ndarray]:
    """The elimination with labels on rows differentiated up to ``orders - 1`` times, and the columns of the labels.

    With one order all derivatives of a row have its label. Rows before the ``first`` one have none, and the last ``more``
    labels are for rows that are yet to come.
    """
    table, m = columns.table(rows), len(rows) - first
    labelled = np.hstack([table, np.eye(len(rows), m * orders, -first), np.zeros((len(rows), more))])
    system, _ = _differentiate(model, labelled, m, balance_of(model, rows))
    return system, np.arange(table.shape[1], labelled.shape[1])


def _culprits(
    model: AffineModel, mode: Mode, redundant: np.ndarray, some: np.ndarray | slice = slice(None)
) -> list[str]:
    """Equations and elements combined in redundant rows, or in some of them."""
    system, labels = _labelled(model, Columns.of(model), model.rows(mode), 1)
    involved = system.entries(np.flatnonzero(system.pivot < 0)[redundant[some]], labels) != 0.0
    return [model.name_of_row(mode, i) for row in involved for i in np.flatnonzero(row).tolist()]


def source_conditions(S: np.ndarray, scale: np.ndarray, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows ``d S^j`` over xi of every redundant row ``0 = d xi``, each scaled to 1; the number of each ``d``.

    Dependent ones are left out.
    """
    kept: list[np.ndarray] = []
    origin: list[int] = []
    for i, row in enumerate(sources):
        basis = np.zeros((len(S), 0))
        for _ in range(len(S)):
            size = np.max(np.abs(row) * scale, initial=0.0)
            if size == 0.0:
                break
            row = row / size
            scaled = row * scale
            rest = scaled - basis @ (basis.T @ scaled)
            length = np.linalg.norm(rest)
            if length < DEPENDENT:
                break
            basis = np.column_stack([basis, rest / length])
            kept.append(row)
            origin.append(i)
            row = product(row, S)
    return np.array(kept).reshape(len(kept), len(S)), np.array(origin, dtype=int)


def _settle_free(
    model: AffineModel, mode: Mode, columns: Columns, system: Elimination, free: np.ndarray, balance: Balance
) -> np.ndarray:
    """Give undetermined variables their least-norm values; return the rows that say so."""
    if not len(free):
        return np.zeros((0, len(system.row)))
    blocked, magnitude = blocked_rows(model, mode, balance)
    invisible, rows = settle(system, free, columns.table(blocked) / magnitude[:, None])
    _, others = settle_by_size(system, invisible, columns.unknown, balance.z)
    return np.concatenate([rows, others])


def _flow(model: AffineModel, columns: Columns, system: Elimination) -> tuple[np.ndarray, _ModeMaps]:
    """Selected states, and the maps ``z = T y`` and ``y' = Ay y`` with ``y = [z[states]; xi]``."""
    solved = system.row[columns.state] >= 0
    states = columns.x[~solved]
    given = np.concatenate([columns.state[~solved], columns.source])
    every = np.concatenate([columns.unknown, columns.state[solved]])
    found = system.solution(every, given)
    sources = np.hstack([np.zeros((model.q, len(states))), model.S])
    rest = system.remainder(every, given, found)
    return states, _ModeMaps(states, columns.x[solved], found, sources, rest)


class _ModeMaps:
    """The maps of a mode, made of derivatives and unknowns and of dependent variables that the elimination has solved."""

    def __init__(
        self, states: np.ndarray, dependent: np.ndarray, found: np.ndarray, S: np.ndarray, rest: Remainder
    ) -> None:
        self._states, self._dependent, self._rest = states, dependent, rest
        self.T, self.Ay = self._maps(found, np.eye(len(states), found.shape[1]), S)

    def _maps(
        self, found: np.ndarray, of_states: np.ndarray | float, S: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        n = len(found) - len(self._dependent)
        T = found[:n].copy()
        T[self._states], T[self._dependent] = of_states, found[n:]
        return T, np.vstack([found[self._states], S])

    def fine(self) -> Fine:
        """What rounding has left of both maps."""
        none = np.zeros((len(self.Ay) - len(self._states), len(self.Ay)))
        (low_T, low_Ay), (doubt_T, doubt_Ay) = (self._maps(part, 0.0, none) for part in self._rest.parts)
        return low_T, low_Ay, doubt_T, doubt_Ay


def _over_y(rows: np.ndarray, maps: Maps) -> np.ndarray:
    """Rows over ``[z; xi]`` as rows over ``y``, with exact zeros where they cancel."""
    n = len(maps.T)
    return over_state(maps, rows[:, :n], rows[:, n:], least=CANCELLED)


def _time_constant(A: np.ndarray) -> float:
    """Shortest time constant of the states, infinite without any."""
    if len(A) > MANY_STATES:
        fastest = float(min(np.linalg.norm(A, 1), np.linalg.norm(A, np.inf)))
    else:
        fastest = float(np.max(np.abs(np.linalg.eigvals(A)), initial=0.0))
    return 1.0 / fastest if fastest > 0.0 else math.inf


def _constraints(
    model: AffineModel, columns: Columns, system: Elimination, scale: np.ndarray
) -> tuple[np.ndarray, Callable[[], np.ndarray], np.ndarray]:
    """Constraints over [z; xi], what computes their magnitudes, and the unknowns solved from them."""
    solved = system.row[columns.state] >= 0
    rows = system.row[columns.state[solved]]
    constraints = np.zeros((len(rows), model.n + model.q))
    constraints[:, columns.x] = system.entries(rows, columns.state)
    constraints[:, model.n :] = system.entries(rows, columns.source)
    size = np.max(np.abs(constraints[:, : model.n]) * scale, axis=1, initial=0.0)
    of_unknowns = columns.unknown.copy()
    of_unknowns[columns.x] = columns.state
    size = np.exp2(np.floor(np.log2(size)))[:, None]
    constraints /= size
    order = np.concatenate([of_unknowns, columns.source])
    sizes = partial(_with_what_cancels, constraints, system.combined(rows), order, size)
    return constraints, sizes, columns.x[solved]


def _with_what_cancels(
    constraints: np.ndarray, given: Callable[[], np.ndarray], order: np.ndarray, size: np.ndarray
) -> np.ndarray:
    return np.abs(constraints) + given()[:, order] / size


def with_guards(model: AffineModel, data: ModeData) -> ModeData:
    """An analysed mode with the guards of a model that has the same equations; what is blocked must settle nothing.

    Raises
    ------
    ConsistencyError
    """
    guards = _guards(model, data.mode, data.states, data)[0]
    Gy = _over_y(guards, data)
    maps, of_limits = partial(impulse_maps, model), partial(limit_map, model)
    found = replace(data, guards=guards, Gy=Gy, maps=maps, map_of_limits=of_limits)
    check_mode(model, found)
    return found


def _guards(
    model: AffineModel, mode: Mode, states: np.ndarray, maps: Maps
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Guards in force over [z; xi], derivatives replaced by the flow; owner and target of each."""
    branches = [element.branches[branch] for element, branch in zip(model.elements, mode, strict=True)]
    rows = stack_rows([branch.guards for branch in branches], model)
    guards = np.hstack([rows.A, rows.B])
    if rows.E.any():
        x = np.flatnonzero(model.differentiated)
        over_y = product(rows.E[:, x], product(maps.T[x], maps.Ay))
        guards[:, np.concatenate([states, model.n + np.arange(model.q)])] += over_y
    owner = np.repeat(np.arange(len(branches)), [len(branch.guards) for branch in branches])
    target = np.array([k for branch in branches for k in branch.targets], dtype=int)
    return guards, owner, target
