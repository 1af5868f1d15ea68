"""Equations that only produce outputs: evaluated on demand, never part of the dynamic core.

A row is an output equation of an unknown that occurs nowhere else; an integral if that
unknown occurs only as a derivative, and then only there. Peeling them repeats
until nothing more comes off, so that chains (sensor, square, mean) come off whole.
What is affine goes back into the core: the state of such an integral drives nothing there, and
costs less than a quadrature over every segment.
"""

from __future__ import annotations

import numpy as np

from ..flattening.flat_model import FlatModel
from ..flattening.forms import ZERO, Key, affine_form, inner, literal
from ..modeling.expressions import Expr, Symbol, fold
from ..modeling.operations import MARKS
from ..structure.incidence import IntegerRows
from ..values import frozen
from .presolve import Presolved
from .template_forms import RowForm, TemplateForms


@frozen
class OutputEquation:
    """Residual ``factor * x + rest = 0`` of one instance, solved for variable ``x`` (or its derivative)."""

    batch: int
    instance: int
    row: RowForm
    variable: int
    """Global id of x."""
    unknown: int
    """Position in ``presolved.y``."""
    sign: int
    """x = sign * y[unknown], plus a known part."""
    integral: bool
    factor: Expr
    rest: Expr


@frozen
class Split:
    """What stays in the core, and the output equations in the order of evaluation."""

    output_equations: tuple[OutputEquation, ...]
    instances: tuple[np.ndarray, ...]
    """Per base statement the instances that stay."""
    core: np.ndarray
    rows: np.ndarray


Solved = dict[tuple[int, Key], tuple[Expr, Expr] | None]
"""Statement and local variable -> factor and rest, the same for all instances."""


class _Incidence:
    """Occurrences of kept unknowns in base rows (twice: as such, and differentiated) and in kept integer rows."""

    def __init__(self, flat: FlatModel, base: list[tuple[int, RowForm]], presolved: Presolved) -> None:
        self.W = presolved.W
        self.ny = len(presolved.y)
        self.row_of: list[tuple[int, int]] = []
        rows, cols = [], []
        at = 0
        for g, (batch, r) in enumerate(base):
            vb = flat.batches[batch].vb
            for k, derivative in r.keys:
                x = vb + k
                start, end = self.W.ptr[x], self.W.ptr[x + 1]
                count = end - start
                inner = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
                rows.append(at + np.repeat(np.arange(len(vb)), count))
                cols.append(self.W.col[np.repeat(start, count) + inner] + self.ny * derivative)
            self.row_of.extend((g, i) for i in range(len(vb)))
            at += len(vb)
        K = presolved.K
        self.n_base = at
        rows.append(at + np.repeat(np.arange(len(K.ptr) - 1), np.diff(K.ptr)))
        cols.append(K.col)
        pairs = np.unique(np.column_stack([np.concatenate(rows), np.concatenate(cols)]), axis=0)
        self.row, self.column = pairs[:, 0], pairs[:, 1]
        self.n_rows = at + len(K.ptr) - 1


def peel_output_equations(
    flat: FlatModel,
    forms: tuple[TemplateForms, ...],
    base: list[tuple[int, RowForm]],
    presolved: Presolved,
    protected: np.ndarray,
) -> Split:
    """Take off rows that only serve outputs, last ones first: nonlinear ones, integrals of these, and what reads those.

    Affine outputs stay in the core: their impulses count in the energy of an instant.
    """
    inc = _Incidence(flat, base, presolved)
    visible = np.zeros(inc.ny, bool)
    visible[_columns_of(presolved.W, np.flatnonzero(protected))] = True
    peeling = _Peeling(flat, forms, base, inc, visible)
    while peeling.round():
        pass
    output_equations = peeling.outputs()
    alive, gone = peeling.alive, peeling.gone
    stays: list[list[int]] = [[] for _ in base]
    for r in np.flatnonzero(alive[: inc.n_base]).tolist():
        stays[inc.row_of[r][0]].append(inc.row_of[r][1])
    kept = np.flatnonzero(alive[inc.n_base :])
    return Split(
        tuple(output_equations), tuple(np.array(s, np.int64) for s in stays), np.flatnonzero(~gone), kept
    )


class _Peeling:
    """Rows taken off so far, last ones of the model first."""

    def __init__(
        self,
        flat: FlatModel,
        forms: tuple[TemplateForms, ...],
        base: list[tuple[int, RowForm]],
        inc: _Incidence,
        visible: np.ndarray,
    ) -> None:
        self._flat, self._forms, self._base, self._inc = flat, forms, base, inc
        self._visible = visible
        self.alive, self.gone = np.ones(inc.n_rows, bool), np.zeros(inc.ny, bool)
        self._found: list[tuple[int, OutputEquation]] = []
        self._tried: set[tuple[int, int]] = set()
        self._solved: Solved = {}

    def round(self) -> bool:
        """Take off the rows whose unknown occurs nowhere else; return whether there was one."""
        inc, ny = self._inc, self._inc.ny
        live = self.alive[inc.row]
        count = np.bincount(inc.column[live], minlength=2 * ny)
        single = ~self._visible & ~self.gone & (count[:ny] + count[ny:] == 1)
        entries = np.flatnonzero(live & single[inc.column % ny] & (inc.row < inc.n_base))
        before = len(self._found)
        for e in entries.tolist():
            self._take_off(int(inc.row[e]), int(inc.column[e]))
        return len(self._found) > before

    def _take_off(self, row: int, column: int) -> None:
        if not self.alive[row] or (row, column) in self._tried:
            return
        self._tried.add((row, column))
        found = self._solve(row, column)
        if found is not None:
            self._found.append((row, found))
            self.alive[row], self.gone[found.unknown] = False, True
            # The core keeps them: there derivatives are known.
            self._visible[self._reads(found, True)] = True

    def _solve(self, row_number: int, column: int) -> OutputEquation | None:
        """A row solved for unknown ``column``, or None if it occurs in several variables or in a factor."""
        W, ny, (g, instance) = self._inc.W, self._inc.ny, self._inc.row_of[row_number]
        (batch, row), j, integral = self._base[g], column % ny, column >= ny
        base = int(self._flat.batches[batch].vb[instance])
        users = [(k, d) for k, d in row.keys if j in W.col[W.ptr[base + k] : W.ptr[base + k + 1]]]
        if len(users) != 1 or users[0][1] != integral:
            return None
        x = base + users[0][0]
        if W.ptr[x + 1] - W.ptr[x] != 1 or abs(W.val[W.ptr[x]]) != 1:
            return None
        case = id(row), users[0]
        if case not in self._solved:
            self._solved[case] = _affine_in(row, users[0], self._forms[batch])
        solved = self._solved[case]
        if solved is None:
            return None
        return OutputEquation(batch, instance, row, x, j, int(W.val[W.ptr[x]]), integral, *solved)

    def _reads(self, o: OutputEquation, slopes: bool = False) -> np.ndarray:
        """Unknowns that an output equation reads, or only those of the derivatives among them."""
        base = int(self._flat.batches[o.batch].vb[o.instance])
        read = [base + k for k, derivative in o.row.keys if derivative or not slopes]
        return _columns_of(self._inc.W, np.array([x for x in read if x != o.variable], np.int64))

    def outputs(self) -> list[OutputEquation]:
        """Output equations in the order of evaluation; affine ones that read no other output equation go back into the core.

        Integrals do where nothing can leave them open: a parameter in a factor may be zero, as a moment of inertia, and what
        occurs as a derivative alone then is not determined, unless its factor is a number.
        """
        inc, output_equations, determined = self._inc, [], np.zeros(self._inc.ny, bool)
        values = self.alive[inc.row] & (inc.column < inc.ny)
        closed = self._visible | (np.bincount(inc.column[values], minlength=inc.ny)[: inc.ny] > 0)
        for r, o in reversed(self._found):
            may_be_open = o.integral and (literal(o.factor) is None or not closed[self._reads(o)].all())
            if o.row.form is None or may_be_open or determined[self._reads(o)].any():
                output_equations.append(o)
                determined[o.unknown] = True
            else:
                self.alive[r], self.gone[o.unknown] = True, False
                closed[o.unknown] |= literal(o.factor) is not None
        return output_equations


def _columns_of(W: IntegerRows, x: np.ndarray) -> np.ndarray:
    return np.concatenate([W.col[W.ptr[k] : W.ptr[k + 1]] for k in x.tolist()] or [np.zeros(0, np.int64)])


def _affine_in(row: RowForm, key: Key, forms: TemplateForms) -> tuple[Expr, Expr] | None:
    """Factor and rest of a residual that is affine in one variable; the factor is a number or a parameter."""

    def only(symbol: Symbol) -> int | None:
        return key[0] if forms.classify(symbol) == key[0] else None

    form = affine_form(_mask_derivatives(row, key, forms), only)
    if form is None or set(form.factors) != {key}:
        return None
    factor = form.factors[key]
    value = literal(factor)
    if value == 0 or (value is None and (row.form is not None or not forms.is_static(factor))):
        return None
    return factor, form.known if form.known is not None else ZERO


def _mask_derivatives(row: RowForm, key: Key, forms: TemplateForms) -> Expr:
    """Derivatives of other variables count as known in the solved form."""

    def apply(node: Expr, args: list[Expr]) -> Expr:
        if node.op == "der" and forms.classify(inner(node)) != key[0]:
            return Expr("slope", node.args)
        return (
            node
            if all(a is b for a, b in zip(args, node.args, strict=True))
            else Expr(node.op, tuple(args), node.data)
        )

    return fold(row.statement.expr, lambda n: n, apply, lambda n: None if n.marks & MARKS["der"] else n)
