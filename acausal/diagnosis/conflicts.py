"""Equations that depend on each other: the smallest sets, written out with all that presolve has put into them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..errors import Location
from ..flattening.open_ports import open_flow
from ..flattening.template import ElementStatement
from ..modeling.expressions import Expr, Symbol, walk
from ..reduction.affine import CONTRADICTING, AffineModel, Mode, Rows, stack_rows
from ..reduction.core import Exosystem, Values, evaluate
from ..reduction.index_reduction import dependencies
from ..reduction.labels import integer_row_name
from ..reduction.reduced_model import ElementRows, FormRows, NonlinearFormRows, ReducedModel
from ..reduction.scales import column_weights
from ..structure.elimination import Number, combine
from ..structure.incidence import INT, IntegerRows, stack
from ..values import frozen
from .conflict import Conflict, Participant, conflict_of

_CANCELLED = 1e-9
"""Weights below this fraction of their contributions are rounding."""


class Conflicts:
    """Finds the conflicts of a model with numbers.

    Parameters
    ----------
    model : ReducedModel
    values : Values
    exosystem : Exosystem
    """

    def __init__(self, model: ReducedModel, values: Values, exosystem: Exosystem) -> None:
        self.model, self.values = model, values
        self._given = np.asarray(abs(exosystem.K).sum(axis=1)).ravel() > 0.0

    # -- among integer rows --------------------------------------------------------------------------------------

    def of_integer_rows(self, weights: dict[int, Number], defect: float) -> Conflict:
        """The conflict of integer rows with some weights."""
        return conflict_of([self._integer_member(r, float(w)) for r, w in weights.items()], defect)

    def _integer_member(self, row: int, weight: float) -> Participant:
        model = self.model
        name = integer_row_name(model, row)
        if row >= len(model.flat.row_batch):
            return Participant("given", name, Location(), weight)
        place = model.flat.row_location(row)
        text = name.removesuffix(f" at {place}")
        if open_flow(model.flat, row):
            return Participant("open", text, Location(), weight)
        known = int(model.row_known[row])
        single = model.flat.ptr[row + 1] - model.flat.ptr[row] == 1
        given = known >= 0 and (single or bool(self._given[known]))
        return Participant(
            "given" if given else "law" if model.flat.row_text(row) else "connection", text, place, weight
        )

    @cached_property
    def _integer_rows(self) -> IntegerRows:
        """Integer rows, open inputs, and the values of what is pinned."""
        flat, single = self.model.flat, [v for _, v, _ in self.model.inputs]
        single += self.model.presolved.pinned.tolist()
        extra = IntegerRows.from_dicts([{v: 1} for v in single], flat.nv)
        return stack(IntegerRows(flat.ptr, flat.col, flat.val, flat.nv), extra)

    def _behind(self, variables: list[int]) -> list[dict[int, Number]]:
        """Combinations of integer rows that express variables by those that presolve kept."""
        presolved = self.model.presolved
        W = presolved.W.take(np.array(variables, INT))
        over = W.over(self.model.flat.nv, presolved.y)
        unit = IntegerRows.from_dicts([{v: 1} for v in variables], over.n)
        row = np.concatenate([unit.row, over.row])
        col, val = np.concatenate([unit.col, over.col]), np.concatenate([unit.val, -over.val])
        return combine(
            self._integer_rows.compress(), IntegerRows.from_triplets(row, col, val, (len(variables), over.n))
        )

    # -- of a mode -----------------------------------------------------------------------------------------------

    def of_mode(
        self, affine: AffineModel, mode: Mode, xi: np.ndarray, held: Sequence[tuple[int, float]] = ()
    ) -> tuple[list[Conflict], np.ndarray]:
        """All conflicts of a mode with the sources at ``xi``, and the mask of the core unknowns that are undetermined.

        Core unknowns ``held`` at values count as given.
        """
        affine = replace(affine, base=_with_held(affine, held))
        found = dependencies(affine, mode)
        rows = self._core_rows(mode)
        own = sum(len(i) for i in self.model.base_instances) + len(self.model.core_rows)
        rows[own:own] = [_CoreRow(None, -1, "", None)] * len(held)
        conflicts = []
        for weights, sources in zip(found.weights, found.sources, strict=True):
            defect = first_defect(sources, affine, xi)
            conflicts.append(self._expanded(weights, rows, affine, mode, defect))
        return conflicts, found.free

    def _core_rows(self, mode: Mode) -> list[_CoreRow]:
        """The rows of a mode, in their order."""
        model = self.model
        rows: list[_CoreRow] = []
        for base, instances, text in zip(model.base, model.base_instances, model.base_texts, strict=True):
            rows += [
                _CoreRow(base, i, text.statement.text, text.statement.origin) for i in instances.tolist()
            ]
        rows += [_CoreRow(None, int(r), "", None) for r in model.presolved.kept_row_origin[model.core_rows]]
        forms = {f.first: f for f in (*model.rows, *model.nonlinear)}
        for (element, i), branch in zip(model.flat.each(model.elements), mode, strict=True):
            for first in element.branches[branch][0]:
                text = _element_name(model, element, i, branch)
                rows.append(_CoreRow(forms[first], i, text, element.forms.statement.origin, True))
        return rows

    def _expanded(
        self, weights: np.ndarray, rows: list[_CoreRow], affine: AffineModel, mode: Mode, defect: float
    ) -> Conflict:
        """The conflict of core rows with the integer rows that stand behind their variables."""
        model = self.model
        members: list[Participant] = []
        sums: list[dict[int, list[float]]] = [{} for _ in range(len(weights) + 1)]
        kept: dict[tuple[int, int], float] = {}
        first_kept = sum(len(i) for i in model.base_instances)
        for k in np.flatnonzero(weights.any(axis=0)).tolist():
            row = rows[k]
            if row.form is None and row.instance < 0:
                held = Participant(
                    "held", affine.names[int(np.flatnonzero(affine.base.A[k])[0])], Location(), 1.0
                )
                members.append(held)
                continue
            if row.form is None:
                kept.update({(d, k - first_kept): w for d, w in enumerate(weights[:, k].tolist()) if w})
                continue
            factors = self._factors(row)
            members.append(self._member(row, factors, weights[:, k]))
            for d, w in enumerate(weights[:, k].tolist()):
                for (x, derivative), value in factors.items() if w else ():
                    sums[d + derivative].setdefault(x, []).append(w * value)
        behind = self._integer_weights(sums, kept)
        members += [self._integer_member(r, w) for r, w in behind.items()]
        laws = np.array([not self._is_given(row) for row in rows]) & weights.any(axis=0)
        return conflict_of(members, defect, _gap(affine, mode, laws))

    def _is_given(self, row: _CoreRow) -> bool:
        form = row.form
        if not isinstance(form, FormRows) or form.known < 0:
            return False
        return len(form.form.factors) == 1 or bool(self._given[form.known + row.instance])

    def _factors(self, row: _CoreRow) -> dict[tuple[int, bool], float]:
        """Numbers of a form over the variables of the flat model; none for a nonlinear row."""
        form = row.form
        assert form is not None
        if isinstance(form, NonlinearFormRows):
            return {}
        base, one = int(self.model.flat.batches[form.batch].vb[row.instance]), np.array([row.instance])
        return {
            (base + x, derivative): float(evaluate(self.model, form.batch, factor, self.values, one)[0])
            for (x, derivative), factor in form.form.factors.items()
        }

    def _member(
        self, row: _CoreRow, factors: dict[tuple[int, bool], float], weights: np.ndarray
    ) -> Participant:
        form, model = row.form, self.model
        assert form is not None
        place = model.flat.location(form.batch, row.instance, row.origin)
        weight = float(weights[np.flatnonzero(weights)[0]])
        if isinstance(form, NonlinearFormRows):
            return Participant("element" if row.element else "law", row.text, place, weight, nonlinear=True)
        written = list(form.form.factors.values())
        zeros = self._telling_zeros(form, factors, row.instance)
        parameters = dict.fromkeys(s for f in written for s in _symbols(f))
        role = "element" if row.element else "given" if self._is_given(row) else "law"
        return Participant(role, row.text, place, weight, tuple(zeros), tuple(parameters))

    def _telling_zeros(
        self, form: FormRows, factors: dict[tuple[int, bool], float], instance: int
    ) -> list[str]:
        """Factors that are zero by their parameters.

        Without those of an effect that is left out: a parameter is zero as its class declares it, and no slope gets lost.
        """
        one = np.array([instance])

        def left_out(node: Expr) -> bool:
            declared = isinstance(node, Symbol) and getattr(node.field, "default", None) == 0.0
            return declared and evaluate(self.model, form.batch, node, self.values, one)[0] == 0.0

        return [
            str(factor)
            for (key, factor), value in zip(form.form.factors.items(), factors.values(), strict=True)
            if value == 0.0 and _symbols(factor) and (key[1] or not any(map(left_out, walk(factor))))
        ]

    def _integer_weights(
        self, sums: list[dict[int, list[float]]], kept: dict[tuple[int, int], float]
    ) -> dict[int, float]:
        """Weights of the integer rows that cancel what is left of the variables, largest of all derivatives."""
        presolved = self.model.presolved
        variables = list(dict.fromkeys(x for level in sums for x in level))
        behind = dict(zip(variables, self._behind(variables), strict=True)) if variables else {}
        K = presolved.K.take(self.model.core_rows)
        over = IntegerRows(K.ptr, presolved.y[K.col], K.val, self.model.flat.nv)
        rows = sorted({k for _, k in kept})
        integer = combine(self._integer_rows.compress(), over.take(np.array(rows, INT))) if rows else []
        by_row = dict(zip(rows, integer, strict=True))
        found: dict[int, float] = {}
        for level, entries in enumerate(sums):
            parts: dict[int, list[float]] = {}
            for x, values in entries.items():
                for r, c in behind[x].items():
                    parts.setdefault(r, []).extend(-v * float(c) for v in values)
            for (d, k), w in kept.items():
                for r, c in by_row[k].items() if d == level else ():
                    parts.setdefault(r, []).append(w * float(c))
            for r, values in parts.items():
                total = sum(values)
                if abs(total) > _CANCELLED * sum(map(abs, values)):
                    found[r] = max(found.get(r, 0.0), total, key=abs)
        return found


@frozen
class _CoreRow:
    """A row of a mode: a form of one instance, or a kept integer row."""

    form: FormRows | NonlinearFormRows | None
    instance: int
    text: str
    origin: object
    element: bool = False


def _with_held(affine: AffineModel, held: Sequence[tuple[int, float]]) -> Rows:
    """The base equations, and one for every unknown that is held; the first state of the sources is one."""
    if not held:
        return affine.base
    A, B = np.zeros((len(held), affine.n)), np.zeros((len(held), affine.q))
    A[np.arange(len(held)), [j for j, _ in held]] = 1.0
    B[:, 0] = [-value for _, value in held]
    return stack_rows([affine.base, Rows(np.zeros_like(A), A, B)], affine)


def _element_name(model: ReducedModel, element: ElementRows, instance: int, branch: int) -> str:
    statement: ElementStatement = element.forms.statement
    name = model.flat.name_in(element.batch, instance, statement.name)
    return f"`{name}` = {statement.table.branches[element.shown[branch]].name}"


def _symbols(expr: Expr) -> list[str]:
    return [node.name for node in walk(expr) if isinstance(node, Symbol)]


def _gap(affine: AffineModel, mode: Mode, which: np.ndarray) -> float:
    """Relative distance of some rows from dependent ones: smallest by largest singular value, columns scaled."""
    rows = affine.rows(mode)
    table = np.hstack([rows.E, rows.A])[which]
    table = table[:, table.any(axis=0)]
    if len(table) < 2 or table.shape[1] < len(table):
        return 1.0
    values = np.linalg.svd(table * column_weights(table), compute_uv=False)
    return float(values[-1] / values[0])


def first_defect(sources: np.ndarray, affine: AffineModel, xi: np.ndarray) -> float:
    """What a combination leaves of the sources, or of their first derivative that does not vanish."""
    row = sources
    for _ in range(affine.q):
        value, size = float(row @ xi), float(np.abs(row) @ np.abs(xi))
        if abs(value) > CONTRADICTING * size:
            return value
        row = row @ affine.S
    return 0.0
