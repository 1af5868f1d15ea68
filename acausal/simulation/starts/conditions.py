"""What may be demanded of the start: fixed values, initial equations, a steady state, given starts, defaults."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...errors import Location
from ...flattening.flat_model import FlatModel
from ...flattening.template import place_of
from ...reduction.affine import Rows
from ...reduction.core import Values
from ...reduction.reduced_model import NonlinearFormRows
from ...structure.incidence import dense_rows
from .priorities import DENSE, RANK
from .problem import StartProblem
from .stated import Rank

VIOLATED = 1e-6
"""Relative defect of a condition that does not hold."""


class Condition(NamedTuple):
    """One equation that is to hold at the start; its words are made where they are read."""

    rank: Rank
    kind: str
    """How it was stated, as reports name it."""
    flat: FlatModel
    about: int = -1
    """Variable it is about, -1 for an initial equation."""
    unknown: int = -1
    """Core unknown whose value it prescribes, if that is differentiated, else -1."""
    value: float = 0.0
    """What is prescribed."""
    rate_of: int = -1
    """Core unknown whose derivative it wants to be zero, -1 if none."""
    stated: tuple[str, Location] | None = None
    """Text and place of an initial equation."""

    @property
    def variable(self) -> int:
        """Variable it prescribes a value of, -1 if none."""
        return self.about if self.rate_of < 0 else -1

    @property
    def name(self) -> str:
        """Name of the variable that it is about."""
        return self.flat.variable(self.about)

    @property
    def text(self) -> str:
        """The equation."""
        if self.stated is not None:
            return self.stated[0]
        return f"`{self.name}` = {self.value:.9g}" if self.rate_of < 0 else f"der(`{self.name}`) = 0"

    @property
    def where(self) -> tuple[Location, ...]:
        """Where it was stated."""
        return place_of(self.flat.root, self.name) if self.stated is None else (self.stated[1],)


def _at_places(k: int, parts: list[tuple[np.ndarray, Any, np.ndarray]], small: bool) -> Any:
    """Matrix of ``k`` rows, dense where it is ``small``, with parts (places, matrix, its rows that are there)."""
    shape = k, parts[0][1].shape[1]
    if small:
        found = np.zeros(shape)
        for at, matrix, which in parts:
            found[at] += dense_rows(matrix, which)
        return found
    from scipy.sparse import csr_array

    total: Any = csr_array(shape)
    for at, matrix, which in parts:
        places = csr_array((np.ones(len(at)), (at, np.arange(len(at)))), shape=(k, len(at)))
        total += places @ csr_array(matrix[which])
    return total


class Conditions:
    """The conditions of a start as functions of the core unknowns ``z``, their derivatives and the sources.

    Affine ones are rows ``D z' + Z z + X xi - target``; those of nonlinear equations and of variables outside the core
    have values and slopes at a point.

    Parameters
    ----------
    problem : StartProblem
    highest : Rank, optional
        With given and default starts of variables that need not hold, up to this rank.
    """

    def __init__(self, problem: StartProblem, highest: Rank = Rank.COMPUTED) -> None:
        self.problem, self.xi = problem, problem.xi
        self.items: list[Condition] = []
        self._ids: list[int] = []
        """Variable of every condition whose value it prescribes in the core, else -1."""
        self._equations: list[tuple[np.ndarray, Rows]] = []
        """Affine initial equations of all instances of a class: the conditions that they are, and their rows."""
        self.nonlinear_rows: list[tuple[int, int]] = []
        """(condition, nonlinear row) of initial equations that are not affine."""
        self.observed: list[tuple[int, int]] = []
        """(condition, variable) of the variables that are evaluated outside the core."""
        self._demands()
        if highest >= Rank.GUESS:
            self._given()
        if highest >= Rank.DEFAULT:
            self._defaults()
        self.rank = np.array([c.rank for c in self.items], np.int64)
        self.unknown = np.array([c.unknown for c in self.items], np.int64)
        self.rate_of = np.array([c.rate_of for c in self.items], np.int64)

    def __len__(self) -> int:
        return len(self.items)

    # -- collection ----------------------------------------------------------------------------------------------

    def _demands(self) -> None:
        starts = self.problem.starts
        self._variables(np.flatnonzero(starts.fixed), Rank.FIXED)
        self._initial_equations()
        if starts.steady.any():
            self._derivatives(np.setdiff1d(np.flatnonzero(starts.steady), self.problem.flat.computed))

    def _given(self) -> None:
        starts, model = self.problem.starts, self.problem.reduced
        given = starts.given & ~starts.fixed
        self._variables(np.flatnonzero(given & model.differentiated), Rank.GIVEN)
        self._variables(np.flatnonzero(given & ~model.differentiated), Rank.GUESS)

    def _defaults(self) -> None:
        starts, model = self.problem.starts, self.problem.reduced
        rest = np.flatnonzero(model.differentiated & ~starts.given & ~starts.fixed)
        targets = ((x, self.problem.program.unknowns.settable(x)) for x in rest.tolist())
        differentiated = self.problem.core.model.differentiated
        alone = [x for x, t in targets if t is not None and t[0] == "core" and differentiated[t[1]]]
        self._variables(np.array(alone, np.int64), Rank.DEFAULT)

    def _add(self, condition: Condition, x: int = -1) -> None:
        self.items.append(condition)
        self._ids.append(x)

    def _variables(self, ids: np.ndarray, rank: Rank) -> None:
        problem, starts = self.problem, self.problem.starts
        for x in ids.tolist():
            target = problem.program.unknowns.settable(x)
            if target is not None and target[0] == "integral":
                continue
            unknown = -1 if target is None else target[1]
            own = self._own_rank(x, unknown, rank)
            made = Condition(own, starts.kind(x), problem.flat, x, unknown, float(starts.value[x]))
            if problem.core.readout.observed(x):
                self.observed.append((len(self.items), x))
                self._add(made)
            else:
                self._add(made, x)

    def _own_rank(self, x: int, unknown: int, rank: Rank) -> Rank:
        steady, priority = self.problem.starts.steady, self.problem.core.model.priority
        if rank is not Rank.FIXED and x in self.problem.flat.computed:
            return Rank.COMPUTED
        if not (steady[x : x + 1].any() and rank in (Rank.GIVEN, Rank.DEFAULT)):
            preferred = rank is Rank.DEFAULT and priority is not None and priority[unknown] > 0.0
            return Rank.PREFERRED if preferred else rank
        return Rank.RESTING_GIVEN if rank is Rank.GIVEN else Rank.RESTING

    def _initial_equations(self) -> None:
        problem = self.problem
        for rows, form in problem.reduced.initials:
            count = len(problem.flat.batches[rows.batch])
            if not isinstance(rows, NonlinearFormRows):
                own = len(self.items) + np.arange(count)
                self._equations.append((own, problem.core.form_rows(rows.first, count)))
            for i in range(count):
                place = problem.flat.location(rows.batch, i, form.statement.origin)
                stated = form.statement.text, place
                made = Condition(Rank.FIXED, f"initially at {place}", problem.flat, stated=stated)
                if isinstance(rows, NonlinearFormRows):
                    row = problem.program.nonlinear_rows.position[rows.first + i]
                    self.nonlinear_rows.append((len(self.items), row))
                self._add(made)

    def _derivatives(self, ids: np.ndarray) -> None:
        problem, seen = self.problem, set()
        fixed = {c.unknown for c in self.items if c.unknown >= 0}
        for x in ids.tolist():
            target = problem.program.unknowns.settable(x)
            if target is None or target[0] != "core" or target[1] in seen:
                continue
            seen.add(target[1])
            rank = Rank.STEADY_FIXED if target[1] in fixed else Rank.STEADY
            self._add(Condition(rank, "steady state", problem.flat, x, rate_of=target[1]))

    # -- evaluation ----------------------------------------------------------------------------------------------

    @cached_property
    def stacked(self) -> tuple[Any, Any, Any, np.ndarray]:
        """``D``, ``Z`` (k, n), ``X`` (k, q), sparse unless they are small, and constants (k,) of the affine parts."""
        from scipy.sparse import csr_array

        n, k, ids = len(self.problem.reduced.core), len(self), np.array(self._ids, np.int64)
        values, rates = np.flatnonzero(ids >= 0), np.flatnonzero(self.rate_of >= 0)
        W, V = self.problem.reduced.W_core, self.problem.core.readout.VK
        ones = np.ones(len(rates)), self.rate_of[rates], np.arange(len(rates) + 1)
        units, every = csr_array(ones, shape=(len(rates), n)), np.arange(k)
        D = [
            (rates, units, every[: len(rates)]),
            *((at, rows.E, every[: len(at)]) for at, rows in self._equations),
        ]
        Z = [(values, W, ids[values]), *((at, rows.A, every[: len(at)]) for at, rows in self._equations)]
        X = [(values, V, ids[values]), *((at, rows.B, every[: len(at)]) for at, rows in self._equations)]
        small = k * n <= DENSE
        D, Z, X = (_at_places(k, parts, small) for parts in (D, Z, X))
        return D, Z, X, -np.array([c.value for c in self.items], float)

    @cached_property
    def magnitudes(self) -> np.ndarray:
        """Magnitudes (k,) of the affine conditions."""
        (D, Z, _, _), model = self.stacked, self.problem.core.model
        return abs(Z) @ model.network_scale + abs(D) @ (model.network_scale / model.T0)

    def nonlinear(
        self, arguments: np.ndarray, values: Values
    ) -> Iterator[tuple[int, float, np.ndarray, np.ndarray]]:
        """(condition, value, arguments, slopes by them) of initial equations that are not affine."""
        if not self.nonlinear_rows:
            return
        problem = self.problem
        value, gradient = problem.tangents.functions(0, [arguments], problem.tangents.constants(values))
        value, gradient = np.array(value), np.array(gradient)
        for k, row in self.nonlinear_rows:
            at = np.flatnonzero(problem.program.nonlinear_rows.owner == row)
            yield k, float(value[row]), at, gradient[at]

    def violated(self, z: np.ndarray, slopes: np.ndarray, xi: np.ndarray, values: Values) -> list[int]:
        """Conditions that must hold and do not at a point, with these discretes; observed variables are left out."""
        D, Z, X, constant = self.stacked
        defect = np.abs(D @ slopes + Z @ z + X @ xi + constant)
        size = abs(D) @ np.abs(slopes) + abs(Z) @ np.abs(z) + abs(X) @ np.abs(xi) + np.abs(constant)
        size = size + self.magnitudes
        affine = np.ones(len(self), bool)
        affine[[k for k, _ in (*self.nonlinear_rows, *self.observed)]] = False
        wrong = affine & (self.rank <= Rank.STEADY) & (defect > VIOLATED * size)
        if self.nonlinear_rows:
            tangents = self.problem.tangents
            arguments = tangents.arguments(z, slopes, xi)
            for k, value, at, gradient in self.nonlinear(arguments, values):
                reach = np.abs(gradient) * (tangents.scale[at] + np.abs(arguments[at]))
                wrong[k] = abs(value) > VIOLATED * reach.max(initial=0.0)
        return np.flatnonzero(wrong).tolist()

    def driven(self, z_x: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Mask of the derivatives that cannot be zero, as sources alone determine their variables.

        ``z_x`` are core unknowns of magnitudes ``scale`` over scaled coordinates.
        """
        moved, found = np.abs(z_x).max(axis=1, initial=0.0), self.rate_of >= 0
        of = self.rate_of[found]
        found[found] = moved[of] <= RANK * scale[of]
        return found

    def rates(self) -> list[tuple[int, int]]:
        """(condition, core unknown) of the rates that affine initial equations read."""
        found = []
        for at, rows in self._equations:
            row, unknown = np.nonzero(rows.E)
            found += zip(at[row].tolist(), unknown.tolist(), strict=True)
        return found

    def read(self, z: np.ndarray, slopes: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """Values of the observed variables at a point."""
        problem = self.problem
        ids = tuple(x for _, x in self.observed)
        y = np.concatenate([z, slopes, xi])
        frame = problem.core.frame
        return problem.core.readout.at(ids, frame, y, problem.moment)
