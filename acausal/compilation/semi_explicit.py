"""One mode of a residual as explicit differential equations with algebraic ones of index 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from ..structure.blocks import sort_blocks
from ..structure.incidence import Incidence
from ..structure.matching import maximum_matching
from ..values import frozen
from .residual_equations import Equation
from .residual_failures import Failures, unmatched
from .residual_reduction import Coefficient, SymbolicElimination, SymbolicRow
from .residual_variables import Quantities, Symbols

ARGUMENTS = ["t", "x", "w", "u", "p", "d"]
SAMPLES = 3
"""Generic points at which coefficients that may vanish are looked at."""
SINGULAR = 1e-12
"""A Jacobian with ones as its largest entries counts as singular below this smallest singular value."""


@frozen
class SemiExplicit:
    """The equations of one mode, ``xdot = f``, ``0 = g``, with a regular ``dg/dw``.

    Attributes
    ----------
    f, g : Function
        ``(t, x, w, u, p, d) -> derivatives of x`` and ``-> zero``.
    x, w : Quantities
        The independent states of the mode, and the algebraic unknowns that are left: those that have no closed form.
        A derivative that is only implicit counts among ``w``, as ``der(name)``.
    full : Function
        The same arguments -> ``(xdot, x, w)`` of the residual: all variables of the model.
    outputs : Function
        The same arguments -> ``y``.
    differentiations : int
        How often equations were differentiated; the index of the equations as written is one more.
    fixed : tuple of str
        Parameters and discrete variables whose values decided which terms vanish. The form is meant for these values.
    """

    f: ca.Function
    g: ca.Function
    x: Quantities
    w: Quantities
    full: ca.Function
    outputs: ca.Function
    differentiations: int
    fixed: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<SemiExplicit {len(self.x)} states, {len(self.w)} algebraic unknowns>"


class Reduction:
    """Reduces the equations of one mode; raises what `Residual.semi_explicit` describes."""

    def __init__(self, symbols: Symbols, equations: Sequence[Equation], value: Any) -> None:
        self.s, self.value = symbols, value
        s = symbols
        self.nx, self.nw = len(s.at_x), len(s.at_w)
        self.columns = ca.vertcat(s.xdot, s.w, s.x)
        self.known = [s.t, s.u, s.p, s.d]
        self.failures = Failures(s, self.columns, equations, value)
        rng = np.random.default_rng(0)
        u = s.of_u.start[:, None] + s.of_u.nominal[:, None] * rng.uniform(0.5, 1.5, (len(s.of_u), SAMPLES))
        self.points = [
            (t, u[:, k], s.of_p.start, s.of_d.start)
            for k, t in enumerate(rng.uniform(0.1, 1.0, SAMPLES).tolist())
        ]
        self.fixed: dict[str, None] = {}
        linear, self.other = self._rows()
        # Variables without given start value, deep in the model, are replaced first.
        costs = [
            10 * (not (s.given[k] or s.fixed[k])) + name.count(".")
            for k, name in zip(s.at_x, s.of_x.names, strict=True)
        ]
        kinds = self.nx, self.nx + self.nw
        self.elimination = SymbolicElimination(linear, kinds, costs, self._differentiate)
        for row in self.elimination.empty:
            if (abs(row.sample) > SINGULAR * row.size).any():
                raise self.failures.contradiction(row)

    # -- linear rows ---------------------------------------------------------------------------------------------

    def _rows(self) -> tuple[list[SymbolicRow], list[int]]:
        """Equations with coefficients of parameters and discretes alone as rows, and the numbers of the others."""
        J = ca.jacobian(self.value, self.columns)
        entries = J.nz[:]
        varying = ca.jacobian_sparsity(entries, ca.vertcat(self.columns, self.s.t, self.s.u))
        row, col = (np.array(a, np.int64) for a in J.sparsity().get_triplet())
        bad = np.zeros(self.value.numel(), bool)
        bad[row[np.array(varying.get_triplet()[0], np.int64)]] = True
        keep = np.flatnonzero(~bad[row]).tolist()
        good = np.flatnonzero(~bad).tolist()
        factors = [entries[n] for n in keep]
        numbers = self._evaluate(ca.vertcat(*factors))[:, 0] if keep else np.zeros(0)
        known = ca.substitute(self.value, self.columns, ca.SX.zeros(self.columns.numel()))
        samples = self._evaluate(known[good]) if good else np.zeros((0, SAMPLES))
        made = {
            k: SymbolicRow({}, known[k], sample, abs(sample), frozenset([k]))
            for k, sample in zip(good, samples, strict=True)
        }
        for n, number, factor in zip(keep, numbers.tolist(), factors, strict=True):
            if number != 0.0:
                made[int(row[n])].coefficients[int(col[n])] = Coefficient(number, factor)
        vanished = [f for f, number in zip(factors, numbers, strict=True) if number == 0.0]
        if vanished:
            self._fix(ca.vertcat(*vanished))
        return list(made.values()), np.flatnonzero(bad).tolist()

    def _fix(self, expression: Any) -> None:
        """Note on which parameters and discretes the structure depends."""
        for vector, quantities in ((self.s.p, self.s.of_p), (self.s.d, self.s.of_d)):
            if len(quantities):
                used = ca.jacobian_sparsity(expression, vector).get_triplet()[1]
                self.fixed.update(dict.fromkeys(quantities.names[k] for k in sorted(set(used))))

    def _evaluate(self, expression: Any) -> np.ndarray:
        """Values of an expression without unknowns at the sample points, shape (n, SAMPLES)."""
        f = ca.Function("sample", self.known, [ca.densify(expression)])
        return np.array([np.array(f(*point)).ravel() for point in self.points]).T

    def _differentiate(self, row: SymbolicRow) -> tuple[Any, np.ndarray]:
        if len(self.s.of_u) and ca.depends_on(row.remainder, self.s.u):
            used = ca.jacobian_sparsity(row.remainder, self.s.u).get_triplet()[1]
            raise self.failures.input_differentiated(row, self.s.of_u.names[used[0]])
        slope = ca.jacobian(row.remainder, self.s.t)
        return ca.densify(slope), self._evaluate(slope)[0]

    # -- what is left --------------------------------------------------------------------------------------------

    def form(self) -> SemiExplicit:
        """Return the reduced equations."""
        e, c = self.elimination, self.columns
        free = {k: c[k] for k in range(c.numel()) if k not in e.position}
        values = e.values(free)
        replaced = ca.vertcat(*(values[k] for k in range(c.numel()))) if c.numel() else c
        rest = self.value[self.other] if self.other else ca.SX(0, 1)
        rows = ca.substitute(rest, c, replaced) if self.other else rest
        unknowns = [k for k in free if k < self.nx + self.nw]
        kept, explicit, g = self._blocks(rows, unknowns)
        if explicit:
            old = ca.vertcat(*(c[k] for k in explicit))
            replaced = ca.substitute(replaced, old, ca.vertcat(*explicit.values()))
        return self._functions(replaced, [k for k in free if k >= self.nx + self.nw], kept, g)

    def _functions(self, replaced: Any, states: list[int], kept: list[int], g: list[Any]) -> SemiExplicit:
        s, c, e = self.s, self.columns, self.elimination
        first = self.nx + self.nw
        at = [k - first for k in states]
        x, w = c[states] if states else ca.SX(0, 1), c[kept] if kept else ca.SX(0, 1)
        arguments = [s.t, x, w, s.u, s.p, s.d]

        def function(name: str, results: list[Any], names: list[str]) -> ca.Function:
            return ca.Function(name, arguments, [ca.densify(r) for r in results], ARGUMENTS, names)

        full = [replaced[: self.nx], replaced[first:], replaced[self.nx : first]]
        outputs = ca.substitute(s.y, c, replaced) if c.numel() else s.y
        return SemiExplicit(
            function("f", [replaced[at] if at else ca.SX(0, 1)], ["f"]),
            function("g", [ca.vertcat(*g) if g else ca.SX(0, 1)], ["g"]),
            s.of_x.take(at),
            self._unknowns(kept),
            function("full", full, ["all_xdot", "all_x", "all_w"]),
            function("outputs", [outputs], ["y"]),
            max((e.rows[k].differentiated for k, _ in e.pivots), default=0),
            tuple(self.fixed),
        )

    def _unknowns(self, kept: list[int]) -> Quantities:
        s = self.s
        n = self.nx
        unbounded = np.full(n, np.inf)
        slopes = Quantities(
            tuple(f"der({a})" for a in s.of_x.names), tuple(f"{a}/s" for a in s.of_x.units),
            np.zeros(n), -unbounded, unbounded, s.of_x.nominal,
        )  # fmt: skip
        return slopes.join(s.of_w).take(kept)

    # -- rows that are not linear --------------------------------------------------------------------------------

    def _blocks(self, rows: Any, unknowns: list[int]) -> tuple[list[int], dict[int, Any], list[Any]]:
        """Solve in sequence what is linear in one unknown; return kept unknowns, solved ones, equations that stay."""
        z = self.columns[unknowns] if unknowns else ca.SX(0, 1)
        pattern = ca.jacobian_sparsity(rows, z) if unknowns and self.other else ca.Sparsity(0, 0)
        row, col = (np.array(a, np.int64) for a in pattern.get_triplet())
        incidence = Incidence.from_pairs(row, col, (len(self.other), len(unknowns)))
        matching = maximum_matching(incidence)
        if not matching.perfect:
            over, under = (parts.tolist() for parts in unmatched(incidence))
            if over:
                raise self.failures.constraint([self.other[k] for k in over], rows[over])
            raise self.failures.open([unknowns[k] for k in under], self.elimination.empty)
        blocks = sort_blocks(incidence, matching)
        kept: list[int] = []
        solved: dict[int, Any] = {}
        g: list[Any] = []
        for b in range(len(blocks)):
            part = slice(int(blocks.ptr[b]), int(blocks.ptr[b + 1]))
            numbers = blocks.equations[part].tolist()
            cols = [unknowns[k] for k in blocks.unknowns[part].tolist()]
            here = rows[numbers]
            if solved:
                here = ca.substitute(
                    here, ca.vertcat(*(self.columns[k] for k in solved)), ca.vertcat(*solved.values())
                )
            value = self._solved(here, cols[0]) if len(cols) == 1 else None
            if value is not None:
                solved[cols[0]] = value
                continue
            self._check_regular(here, numbers, cols)
            kept += cols
            g.append(here)
        return kept, solved, g

    def _solved(self, row: Any, col: int) -> Any:
        """The unknown from an equation that is linear in it, None if there is no safe closed form."""
        z = self.columns[col]
        slope = ca.jacobian(row, z)
        # A derivative may be divided by what depends on the state, an inertia for example; an algebraic unknown not.
        varying = (
            self.columns[: self.nx + self.nw]
            if col < self.nx
            else ca.vertcat(self.columns, self.s.t, self.s.u)
        )
        if ca.depends_on(slope, varying):
            return None
        found = self._at_points(slope)
        if not (np.isfinite(found) & (found != 0.0)).all():
            return None
        return -ca.substitute(row, z, ca.SX(0)) / slope

    def _at_points(self, expression: Any) -> np.ndarray:
        """Values at generic points near the start values, shape (SAMPLES, n)."""
        s = self.s
        rng = np.random.default_rng(1)
        start = np.concatenate([np.zeros(self.nx), s.of_w.start, s.of_x.start])
        scale = np.concatenate([s.of_x.nominal, s.of_w.nominal, s.of_x.nominal])
        f = ca.Function("values", [self.columns, *self.known], [ca.densify(expression)])
        found = [
            np.array(f(start + 0.01 * scale * rng.uniform(-1, 1, len(start)), *point)).ravel(order="F")
            for point in self.points
        ]
        return np.array(found)

    def _check_regular(self, rows: Any, numbers: list[int], cols: list[int]) -> None:
        n = len(cols)
        found = self._at_points(ca.jacobian(rows, self.columns[cols])).reshape(SAMPLES, n, n)
        if any(_regular(J) for J in found if np.isfinite(J).all()) or not np.isfinite(found).any():
            return
        raise self.failures.singular([self.other[k] for k in numbers], cols, rows)


def _regular(J: np.ndarray) -> bool:
    """True unless rows or columns depend on each other, after both are scaled."""
    for axis in (1, 0):
        size = abs(J).max(axis=axis, keepdims=True)
        if (size == 0).any():
            return False
        J = J / size
    return bool(np.linalg.svd(J, compute_uv=False)[-1] > SINGULAR)
