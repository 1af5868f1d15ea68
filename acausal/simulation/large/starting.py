"""Starts of large models that more than the values of states determines: all equations and conditions at once, sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InitializationError, Location
from ...flattening.template import place_of
from ...modes.reduced_model import CurveRows
from ...structure.incidence import Incidence
from ...structure.matching import alternating_reach, maximum_matching
from ..curved.newton import NewtonFailure, newton
from .system import LargeSystem

if TYPE_CHECKING:
    from .run import LargeRun

VIOLATED = 1e-6
"""Defect, relative to its terms, of a condition that does not hold."""
WISH = 1e-6
"""Weight of the distances from the start values: with that of one the matrix has the square of the condition of the equations
(A. Bjorck, Numerical Methods for Least Squares Problems, SIAM 1996, section 2.5)."""
HOLDS = 1e-12
"""The same for one that needs no solution."""
NAMED = 4
"""Conditions in one message."""


@dataclass(frozen=True, eq=False)
class Demands:
    """What must hold at the start: rows over ``v = [X; u; xi]`` and constants, some of them plus a curved row."""

    rows: Any
    constant: np.ndarray
    curve: np.ndarray
    """Curved row of every condition, -1 for affine ones."""
    texts: list[str]
    places: list[tuple[Location, ...]]

    def of_states(self, nx: int) -> bool:
        """Whether each of them is the value of one state."""
        alone = np.diff(self.rows.indptr) == 1
        return not (self.curve >= 0).any() and bool(alone.all()) and bool((self.rows.indices < nx).all())

    def hold(self, v: np.ndarray) -> bool:
        """Whether all of them are affine and hold at a point to rounding."""
        terms = abs(self.rows) @ np.abs(v) + np.abs(self.constant)
        defect = np.abs(self.rows @ v + self.constant)
        return not (self.curve >= 0).any() and bool((defect <= HOLDS * terms).all())

    def named(self, which: np.ndarray) -> tuple[str, tuple[Location, ...]]:
        """Some conditions in words, and where they stand."""
        some = which[:NAMED].tolist()
        more = f" and {len(which) - NAMED} more" if len(which) > NAMED else ""
        return "; ".join(self.texts[k] for k in some) + more, tuple(p for k in some for p in self.places[k])


def demands(run: LargeRun) -> Demands:
    """Fixed values, initial equations, and derivatives that are to be zero, beside those of fixed variables."""
    from scipy.sparse import csr_array, vstack

    system, starts, flat = run.system, run.starts, run.flat
    mode, q, width = system.mode, system.q, system.nx + system.n + system.q
    slope_of: Any = mode.slope_of
    parts, constants, curves, texts, places = [csr_array((0, width))], [], [], [], []

    def own(rows: Any) -> Any:
        return csr_array(rows) @ mode.z_of + _over_sources(run.core.readout.VK[fixed][:, :q], width)

    targets = {x: run.program.unknowns.settable(x) for x in np.flatnonzero(starts.fixed).tolist()}
    # That equal values are fixed for several names of one unknown is checked elsewhere.
    kept = {(t[:2] if t else x): x for x, t in reversed(targets.items()) if not run.core.readout.observed(x)}
    fixed = sorted(x for x in kept.values() if not ((t := targets[x]) and t[0] == "integral"))
    if fixed:
        parts.append(own(run.reduced.W_core[fixed]))
        constants += (-starts.value[fixed]).tolist()
        curves += [-1] * len(fixed)
        texts += [f"`{flat.variable(x)}` = {starts.value[x]:.9g}" for x in fixed]
        places += [place_of(flat.root, flat.variable(x)) for x in fixed]
    held = {t[1] for t in targets.values() if t and t[0] == "core"}
    still = _still(run, held)
    if still:
        parts.append(slope_of[list(still)])
        constants += [0.0] * len(still)
        curves += [-1] * len(still)
        texts += [f"der(`{flat.variable(x)}`) = 0" for x in still.values()]
        places += [place_of(flat.root, flat.variable(x)) for x in still.values()]
    for rows, form in run.reduced.initials:
        over, count = (
            run.core.form_rows(rows.first, len(flat.stamps[rows.stamp].vb)),
            len(flat.stamps[rows.stamp].vb),
        )
        affine = csr_array(over.E) @ slope_of + csr_array(over.A) @ mode.z_of
        parts.append(affine + _over_sources(over.B[:, :q], width))
        constants += [0.0] * count
        bent = isinstance(rows, CurveRows)
        curves += [run.program.curves.position[rows.first + i] if bent else -1 for i in range(count)]
        texts += [form.statement.text] * count
        places += [(flat.location(rows.stamp, i, form.statement.origin),) for i in range(count)]
    found: Any = vstack(parts, format="csr")
    found.eliminate_zeros()
    return Demands(found, np.array(constants), np.array(curves, np.int64), texts, places)


def _over_sources(rows: Any, width: int) -> Any:
    from scipy.sparse import csr_array, hstack

    return hstack([csr_array((rows.shape[0], width - rows.shape[1])), csr_array(rows)], format="csr")


def _still(run: LargeRun, held: set[int]) -> dict[int, int]:
    """Core unknowns whose derivatives are to be zero, and a variable of each; those that sources alone drive are not."""
    system, found = run.system, {}
    slope_of: Any = system.mode.slope_of
    moves = np.diff(slope_of[:, : system.nx + system.n].indptr) > 0
    wanted = np.setdiff1d(np.flatnonzero(run.starts.steady), run.flat.computed)
    for x in wanted.tolist():
        target = run.program.unknowns.settable(x)
        if target is not None and target[0] == "core" and target[1] not in held and moves[target[1]]:
            found.setdefault(target[1], x)
    return found


class SparseStart:
    """Newton's method on the equations and demands of a start; what they leave open stays next to the start values.

    States with given starts move only where the demands cannot be met otherwise. With defects ``G`` and the free states
    ``x`` the step is that with the least ``|x - x0|`` in units of the scales: rows ``x + G_x' l = x0``, ``G_u' l = 0``
    stand beside those of ``G`` (J. Nocedal, S. J. Wright, Numerical Optimization, 2nd ed., Springer 2006, section 16.1).

    Parameters
    ----------
    system : LargeSystem
    stated : Demands
    given : (nx,) array of bool
        States with given starts.
    where : str
        Activity and time, for messages.

    Raises
    ------
    InitializationError
        More demands than what they depend on has unknowns.
    """

    def __init__(self, system: LargeSystem, stated: Demands, given: np.ndarray, where: str) -> None:
        self.system, self.demands, self._where = system, stated, where
        owner, self._bent = system.curves.owner, np.flatnonzero(stated.curve >= 0)
        found = [np.flatnonzero(owner == r) for r in stated.curve[self._bent].tolist()]
        self._demand = np.repeat(self._bent, [len(at) for at in found])
        self._argument = np.concatenate([np.zeros(0, np.int64), *found])
        self.free = self._free(given)
        """States that the start may move."""

    # -- what is free --------------------------------------------------------------------------------------------

    def _free(self, given: np.ndarray) -> np.ndarray:
        nx, structure = self.system.nx, self._structure()
        some = np.concatenate([~given, np.ones(self.system.n, bool)])
        if (maximum_matching(_incidence(structure[:, some])).unknown >= 0).all():
            return np.flatnonzero(~given)
        all_of = _incidence(structure)
        found = maximum_matching(all_of)
        if (found.unknown < 0).any():
            raise self._contradiction(np.flatnonzero(alternating_reach(all_of, found)[self.system.n :]))
        from scipy.sparse.csgraph import min_weight_full_bipartite_matching

        structure.data[:] = 1.0 + ~some[structure.indices]
        column = min_weight_full_bipartite_matching(structure)[1]
        needed = ~given
        needed[column[column < nx]] = True
        return np.flatnonzero(needed)

    def _structure(self) -> Any:
        """Entries of `_slopes`, whatever their values."""
        pattern, ones = self.system.pattern, np.ones(len(self.system.curves.owner))
        slopes = abs(pattern.slopes) + abs(pattern.of_slopes) @ ones
        values = abs(pattern.values) + abs(pattern.of_values) @ ones
        found = self._joined(
            slopes, values, abs(self.demands.rows), self._bends(ones, abs(self.system.arguments))
        )
        found.eliminate_zeros()
        return found

    def _contradiction(self, which: np.ndarray) -> InitializationError:
        text, places = self.demands.named(which)
        return InitializationError(
            f"{self._where}: {text} cannot all hold",
            where=places,
            why="there are more conditions than unknowns that they depend on, beside the equations of the model",
            hint="drop one of them; conditions that follow from others are refused in models of this size",
        )

    # -- equations -----------------------------------------------------------------------------------------------

    def solve(
        self, X0: np.ndarray, u: np.ndarray, xi: np.ndarray, constants: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """States and unknowns of the start next to ``X0`` and a guess ``u``.

        Raises
        ------
        InitializationError
        """
        from scipy.sparse import block_array, csc_array, eye_array

        system, free = self.system, self.free
        f, n, nx = len(free), system.n, system.nx
        kept = np.concatenate([free, nx + np.arange(n)])
        scale = np.concatenate([system.scale, system.open_scale])
        first = np.concatenate([X0, u])
        size = abs(self._slopes(first, xi, constants)[:, kept] * scale[kept]).max(axis=1).toarray().ravel()
        size[~(np.isfinite(size) & (size > 0.0))] = 1.0
        wanted: Any = block_array([[WISH * eye_array(f), None], [None, csc_array((n, n))]])

        def point(w: np.ndarray) -> np.ndarray:
            y = first.copy()
            y[kept] += scale[kept] * w[: f + n]
            return y

        def defect(w: np.ndarray) -> tuple[np.ndarray, Any]:
            y = point(w)
            G = (self._slopes(y, xi, constants)[:, kept] * scale[kept] / size[:, None]).tocsr()
            r = np.concatenate([WISH * w[:f], np.zeros(n), self._defects(y, xi, constants) / size])
            return r, block_array([[wanted, G.T], [G, None]], format="csc")

        # Multipliers enter linearly and are found anew in every step: no iteration waits for them.
        units = np.concatenate([np.ones(f + n), np.full(len(size), np.inf)])
        try:
            y = point(newton(defect, np.zeros(len(units)), units))
        except NewtonFailure as failure:
            raise self._not_met(failure) from None
        return y[:nx], y[nx:]

    def _not_met(self, failure: NewtonFailure) -> InitializationError:
        missed = np.abs(failure.residual[-len(self.demands.texts) :])
        text, places = self.demands.named(np.argsort(-missed, kind="stable")[:NAMED])
        return InitializationError(
            f"{self._where}: no point was found at which {text} hold: {failure.reason}",
            where=places,
            why="they depend on each other or on the equations of the model"
            if failure.reason == "singular"
            else "",
            hint="give start values near the point that you mean, or drop a condition",
        )

    def _slopes(self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray) -> Any:
        """Derivatives of all defects by states and unknowns."""
        gradient = self._gradient(np.concatenate([y, xi]), constants)
        slopes, values = self.system.pattern.parts(gradient)
        return self._joined(slopes, values, self.demands.rows, self._bends(gradient, self.system.arguments))

    def _gradient(self, v: np.ndarray, constants: np.ndarray) -> np.ndarray:
        """Derivatives of all curved rows, those of demands included, by their arguments."""
        system = self.system
        if not len(system.curves):
            return np.zeros(0)
        return system.evaluate(0, [system.arguments @ v], constants)[1].copy()

    def _bends(self, gradient: np.ndarray, arguments: Any) -> Any:
        """Derivatives of the curved demands by ``v``."""
        from scipy.sparse import csr_array

        shape = (len(self.demands.texts), arguments.shape[0])
        return csr_array((gradient[self._argument], (self._demand, self._argument)), shape=shape) @ arguments

    def _joined(self, slopes: np.ndarray, values: np.ndarray, rows: Any, bends: Any) -> Any:
        from scipy.sparse import block_array

        system, count = self.system, self.system.nx + self.system.n
        over_states = system.pattern.matrix(values)[:, system.x]
        over_unknowns = system.pattern.matrix(np.where(system.pattern.differentiated, slopes, values))
        stated = (rows + bends)[:, :count]
        return block_array(
            [[over_states, over_unknowns], [stated[:, : system.nx], stated[:, system.nx :]]], format="csr"
        )

    def _defects(self, y: np.ndarray, xi: np.ndarray, constants: np.ndarray) -> np.ndarray:
        nx = self.system.nx
        return np.concatenate(
            [
                self.system.residual(y[:nx], y[nx:], xi, constants),
                self._missing(np.concatenate([y, xi]), constants),
            ]
        )

    def _missing(self, v: np.ndarray, constants: np.ndarray) -> np.ndarray:
        """Defects of the demands."""
        found = self.demands.rows @ v + self.demands.constant
        if len(self._bent):
            curved = self.system.evaluate(0, [self.system.arguments @ v], constants)[0]
            found[self._bent] += curved[self.demands.curve[self._bent]]
        return found

    def check(self, v: np.ndarray, constants: np.ndarray) -> None:
        """Raise InitializationError unless the demands hold at a point."""
        demands = self.demands
        terms = abs(demands.rows) @ np.abs(v) + np.abs(demands.constant)
        system = self.system
        scale = np.concatenate([system.scale, system.open_scale, np.zeros(system.q)])
        bends = self._bends(self._gradient(v, constants), system.arguments)
        terms += abs(bends) @ np.abs(v) + abs(demands.rows) @ scale
        wrong = np.flatnonzero(np.abs(self._missing(v, constants)) > VIOLATED * terms)
        if len(wrong):
            text, places = demands.named(wrong)
            raise InitializationError(
                f"{text} does not hold after the {self._where}",
                where=places,
                why="what happens at the first instant undoes it",
                hint="drop the condition, or what sets variables at the start",
            )


def _incidence(matrix: Any) -> Incidence:
    row, column = matrix.nonzero()
    return Incidence.from_pairs(row.astype(np.int64), column.astype(np.int64), matrix.shape)
