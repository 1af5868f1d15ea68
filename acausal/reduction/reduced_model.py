"""The reduced model: presolve, output equations split off, and everything numbered for the numeric core.

All of this is symbolic or integer work, done once per model; numbers enter in ``core``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..flattening.flat_model import FlatModel, kind_of
from ..flattening.forms import Form
from ..flattening.locating import locate_symbol
from ..modeling.expressions import Expr, Symbol, walk
from ..modeling.operations import marks
from ..structure.incidence import IntegerRows
from ..values import frozen
from .affine import STICK
from .exosystem import Term, decompose
from .loops import resolve_loops
from .output_equations import OutputEquation, peel_output_equations
from .presolve import Presolved, presolve
from .template_forms import (
    ElementForms,
    NonlinearForm,
    Relation,
    RowForm,
    TemplateForms,
    nonlinear_form,
    template_forms,
)

Sparse = Any
"""A SciPy ``csr_array``; its stubs do not tell sparse from dense results."""


@frozen
class Known:
    """A known expression of all instances of a batch; ``static``: of parameters alone."""

    batch: int
    expr: Expr
    first: int
    count: int
    static: bool
    terms: tuple[Term, ...]


@frozen
class FormRows:
    """One affine form for all instances of a batch; ``known`` is the first number of its known part, -1 if none."""

    batch: int
    form: Form
    first: int
    known: int


Factor = tuple[FormRows, int, bool, Expr]
"""Form, local variable, whether it is its derivative, and what it is multiplied with."""


@frozen
class NonlinearFormRows:
    """One residual that is not affine, for some instances; ``first`` is the row of instance 0 of the batch."""

    batch: int
    form: NonlinearForm
    first: int
    knowns: tuple[int, ...]
    """First known numbers of ``form.knowns``."""
    instances: np.ndarray


@frozen
class ElementRows:
    """Numbers of the form rows of one element statement, per branch: equations, guards, blocked."""

    batch: int
    forms: ElementForms
    branches: tuple[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]], ...]
    """Those of the statement; of friction also sticking at the forward and at the backward breakaway level."""
    decided: tuple[int, ...] = ()
    """Numbers of the forms that `ElementForms.decided` lists."""

    @property
    def shown(self) -> tuple[int, ...]:
        """The branch of the statement that every branch is shown as."""
        own = range(len(self.forms.statement.table.branches))
        return (*own, *[STICK] * (len(self.branches) - len(own)))


@frozen
class RelationRows:
    """A registered relation; ``row`` is the first form row of a state relation, -1 for a timed one."""

    batch: int
    relation: Relation
    first: int
    row: int


@frozen
class ReducedModel:
    """A flat model after exact elimination, with output equations apart from the core."""

    flat: FlatModel
    forms: tuple[TemplateForms, ...]
    presolved: Presolved
    knowns: tuple[Known, ...]
    nk: int
    row_known: np.ndarray
    """Known part of every integer row, -1 if none."""
    rows: tuple[FormRows, ...]
    nonlinear: tuple[NonlinearFormRows, ...]
    n_rows: int
    base: tuple[FormRows | NonlinearFormRows, ...]
    """Those of the rows that are equations of the model itself."""
    base_instances: tuple[np.ndarray, ...]
    """Which instances of each stay in the core."""
    base_texts: tuple[RowForm, ...]
    elements: tuple[ElementRows, ...]
    relations: tuple[RelationRows, ...]
    nr: int
    initials: tuple[tuple[FormRows | NonlinearFormRows, RowForm], ...]
    output_equations: tuple[OutputEquation, ...]
    core: np.ndarray
    """Positions in ``presolved.y`` of the core unknowns."""
    core_rows: np.ndarray
    """Kept integer rows of the core."""
    differentiated: np.ndarray
    inputs: tuple[tuple[str, int, int], ...]
    """(name, variable, known number) of the open inputs of the root."""

    @cached_property
    def relation_first(self) -> dict[int, dict[int, int]]:
        """Per batch and local relation the number of its first instance."""
        table: dict[int, dict[int, int]] = {}
        for r in self.relations:
            local = self.forms[r.batch].relation_at[id(r.relation.node)]
            table.setdefault(r.batch, {})[local] = r.first
        return table

    def relation_at(self, number: int) -> tuple[RelationRows, int]:
        """Return the relation with a number, and its instance."""
        rows = self.relations[bisect_right(self._first_relations, number) - 1]
        return rows, number - rows.first

    def known_at(self, number: int) -> Known | None:
        """Return the known expression with a number; None for that of an open input."""
        found = self.knowns[bisect_right(self._first_knowns, number) - 1] if self.knowns else None
        return found if found is not None and found.first <= number < found.first + found.count else None

    @cached_property
    def _first_relations(self) -> list[int]:
        return [r.first for r in self.relations]

    @cached_property
    def _first_knowns(self) -> list[int]:
        return [k.first for k in self.knowns]

    @cached_property
    def W(self) -> Sparse:
        """Variables (nv, ny) from the kept unknowns."""
        return _sparse(self.presolved.W)

    @cached_property
    def W_core(self) -> Sparse:
        """Variables (nv, n) from the core unknowns."""
        return self.W[:, self.core]

    @cached_property
    def V_known(self) -> Sparse:
        """Variables (nv, nk) from the known expressions, through the integer rows."""
        return _sparse(self.presolved.V) @ self._known_of_row

    @cached_property
    def _known_of_row(self) -> Sparse:
        from scipy.sparse import csr_array

        rows = np.flatnonzero(self.row_known >= 0)
        data = np.ones(len(rows))
        return csr_array((data, (rows, self.row_known[rows])), shape=(len(self.row_known), self.nk))

    @cached_property
    def K_core(self) -> tuple[Sparse, Sparse]:
        """Kept integer rows of the core: (over its unknowns, over the known expressions)."""
        K, U = _sparse(self.presolved.K), _sparse(self.presolved.U) @ self._known_of_row
        return K[self.core_rows][:, self.core], U[self.core_rows]

    @cached_property
    def contradictions(self) -> Sparse:
        """Combinations of known expressions that must vanish, from redundant integer rows."""
        return _sparse(self.presolved.R) @ self._known_of_row

    @cached_property
    def frozen(self) -> tuple[np.ndarray, np.ndarray]:
        """Discretes and relations in what the numbers of a core depend on.

        That is rates of sources, factors, continuous conditions, and the numbers of impacts.
        """
        read = [self.rates]
        read += [self.reads(r.batch, factor) for r in self.rows for factor in r.form.factors.values()]
        for e in self.elements:
            table = e.forms.statement.table
            numbers = (table.control if e.forms.continuous else None, table.restitution, table.rest_speed)
            read += [self.reads(e.batch, number) for number in numbers if number is not None]
        return _all_of(read)

    def reads(self, batch: int, expr: Expr) -> tuple[np.ndarray, np.ndarray]:
        """Discretes and relations, of all instances, that an expression of the model reads, itself or in a relation."""
        found = self._read.get((batch, id(expr)))
        if found is not None:
            return found
        discretes: dict[int, None] = {}
        relations: dict[int, None] = {}
        s, forms = self.flat.batches[batch], self.forms[batch]
        for node in walk(expr) if expr.marks & marks("d", "<") else ():
            if isinstance(node, Symbol) and kind_of(node) == "d":
                discretes.update(dict.fromkeys((s.db + locate_symbol(s.template, "d", node)).tolist()))
            local = forms.relation_at.get(id(node))
            if local is not None:
                first = self.relation_first[batch][local]
                relations.update(dict.fromkeys(range(first, first + len(s.db))))
        found = np.array(list(discretes), np.int64), np.array(list(relations), np.int64)
        self._read[batch, id(expr)] = found
        return found

    @cached_property
    def rates(self) -> tuple[np.ndarray, np.ndarray]:
        """Discretes and relations that the rates of the sources read."""
        return _all_of(
            [self.reads(k.batch, t.rate) for k in self.knowns for t in k.terms if t.rate is not None]
        )

    @cached_property
    def staying(self) -> np.ndarray:
        """Numbers of the forms that are equations of the core."""
        stays = [r.first + i for r, i in zip(self.base, self.base_instances, strict=True)]
        return np.concatenate(stays or [np.zeros(0, np.int64)])

    @cached_property
    def factors(self) -> tuple[tuple[Factor, ...], tuple[Factor, ...]]:
        """The factors of all forms: those of parameters alone, and those that read discretes or relations."""
        every = [(r, k, d, f) for r in self.rows for (k, d), f in r.form.factors.items()]
        changes = [any(map(len, self.reads(r.batch, f))) for r, _, _, f in every]
        return (
            tuple(f for f, change in zip(every, changes, strict=True) if not change),
            tuple(f for f, change in zip(every, changes, strict=True) if change),
        )

    @cached_property
    def known_of_form(self) -> Sparse:
        """Known expressions (n_rows, nk) of all forms."""
        from scipy.sparse import csr_array

        some = [(r, self.flat.batches[r.batch].instances) for r in self.rows if r.known >= 0]
        row = np.concatenate([np.zeros(0, np.int64), *(r.first + at for r, at in some)])
        col = np.concatenate([np.zeros(0, np.int64), *(r.known + at for r, at in some)])
        return csr_array((np.ones(len(row)), (row, col)), shape=(self.n_rows, self.nk))

    @cached_property
    def _read(self) -> dict[tuple[int, int], tuple[np.ndarray, np.ndarray]]:
        return {}


def _all_of(read: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Discretes and relations that one or another of some expressions reads."""
    none = np.zeros(0, np.int64)
    discretes, relations = (np.unique(np.concatenate([none, *(r[part] for r in read)])) for part in (0, 1))
    return discretes, relations


def _sparse(rows: IntegerRows) -> Sparse:
    from scipy.sparse import csr_array

    return csr_array((rows.val.astype(float), rows.col, rows.ptr), shape=(len(rows.ptr) - 1, rows.n))


class _Builder:
    """Numbers known expressions and rows in written order."""

    def __init__(self, flat: FlatModel) -> None:
        self.flat = flat
        self.forms = resolve_loops(flat, tuple(template_forms(s.template) for s in flat.batches))
        self.knowns: list[Known] = []
        self.nk = 0
        self.rows: list[FormRows] = []
        self.nonlinear: list[NonlinearFormRows] = []
        self.n_rows = 0

    def known(self, batch: int, expr: Expr) -> int:
        forms, count = self.forms[batch], len(self.flat.batches[batch])
        static = forms.is_static(expr)
        terms = () if static else tuple(decompose(expr))
        self.knowns.append(Known(batch, expr, self.nk, count, static, terms))
        self.nk += count
        return self.nk - count

    def add(self, batch: int, form: Form | NonlinearForm) -> FormRows | NonlinearFormRows:
        """Number a form for all instances of a batch."""
        count = len(self.flat.batches[batch])
        self.n_rows += count
        first = self.n_rows - count
        if isinstance(form, NonlinearForm):
            knowns = tuple(self.known(batch, k) for k in form.knowns)
            made = NonlinearFormRows(batch, form, first, knowns, np.arange(count))
            self.nonlinear.append(made)
            return made
        known = -1 if form.known is None else self.known(batch, form.known)
        self.rows.append(FormRows(batch, form, first, known))
        return self.rows[-1]

    def statement(self, batch: int, row: RowForm) -> FormRows | NonlinearFormRows:
        """Number an equation."""
        return self.add(
            batch, nonlinear_form(self.forms[batch], row.statement.expr) if row.form is None else row.form
        )

    def integer_knowns(self) -> np.ndarray:
        flat = self.flat
        known = np.full(len(flat.ptr) - 1, -1, np.int64)
        at = 0
        for k, s in enumerate(flat.batches):
            rows = len(s.template.ptr) - 1
            for local, expr in s.template.remainders.items():
                first = self.known(k, expr)
                known[at + local + rows * s.instances] = first + s.instances
            at += rows * len(s)
        return known

    def elements(self) -> list[ElementRows]:
        def firsts(k: int, forms: Iterable[Form | NonlinearForm]) -> tuple[int, ...]:
            return tuple(self.add(k, f).first for f in forms)

        found = []
        for k, forms in enumerate(self.forms):
            for e in forms.elements:
                branches = tuple(
                    (firsts(k, b.equations), firsts(k, b.guards), firsts(k, b.blocked)) for b in e.branches
                )
                if e.statement.table.kind == "friction":
                    branches += _at_breakaway(branches)
                found.append(ElementRows(k, e, branches, firsts(k, e.decided)))
        return found

    def relations(self) -> tuple[list[RelationRows], int]:
        found, nr = [], 0
        for k, forms in enumerate(self.forms):
            for r in forms.relations:
                row = -1 if r.form is None else self.add(k, r.form).first
                found.append(RelationRows(k, r, nr, row))
                nr += len(self.flat.batches[k])
        return found, nr


def _at_breakaway(branches: Sequence[Any]) -> tuple[Any, ...]:
    """Friction that holds with all it has: where several share a force, others may decide that nothing moves.

    Its force is at the level of breaking away and its speed zero: once it is not, friction slides or is below that level.
    """
    (_, (ahead, back), _), (_, (moves,), speed), (_, (returns,), _), _ = branches
    return ((ahead,), (moves, returns), speed), ((back,), (returns, moves), speed)


def reduce_model(flat: FlatModel) -> ReducedModel:
    """Presolve the integer rows, split output equations off, number what stays."""
    b = _Builder(flat)
    row_known = b.integer_knowns()
    base = [(k, r) for k, forms in enumerate(b.forms) for r in forms.rows]
    base_rows = [b.statement(k, r) for k, r in base]
    own = len(b.rows), len(b.nonlinear)
    elements = b.elements()
    relations, nr = b.relations()
    initials = [(b.statement(k, r), r) for k, forms in enumerate(b.forms) for r in forms.initials]

    integer, row_known, inputs = _with_inputs(flat, row_known, b)
    differentiated, protected, uses = _masks(flat, base, [*b.rows[own[0] :], *b.nonlinear[own[1] :]])
    presolved = presolve(
        integer, differentiated=differentiated, protected=protected, uses=uses, has_remainder=row_known >= 0
    )
    split = peel_output_equations(flat, b.forms, base, presolved, protected)
    stays = {r.first: split.instances[g] for g, r in enumerate(base_rows)}
    nonlinear = [replace(c, instances=stays.get(c.first, c.instances)) for c in b.nonlinear]
    return ReducedModel(
        flat, b.forms, presolved, tuple(b.knowns), b.nk, row_known,
        tuple(b.rows), tuple(c for c in nonlinear if len(c.instances)), b.n_rows,
        tuple(base_rows), split.instances, tuple(r for _, r in base),
        tuple(elements), tuple(relations), nr, tuple(initials), split.output_equations, split.core, split.rows,
        differentiated, inputs,
    )  # fmt: skip


_Inputs = tuple[tuple[str, int, int], ...]


def _with_inputs(
    flat: FlatModel, row_known: np.ndarray, b: _Builder
) -> tuple[IntegerRows, np.ndarray, _Inputs]:
    """Every open input of the root is one more row ``u - known = 0``."""
    names = [n for n in flat.root.inputs if n in flat.root.variables]
    rows = IntegerRows(flat.ptr, flat.col, flat.val, flat.nv)
    if not names:
        return rows, row_known, ()
    at = [flat.root.index("v", n) for n in names]
    first = b.nk
    b.nk += len(names)
    count = len(names)
    extra = IntegerRows(
        np.concatenate([rows.ptr, rows.ptr[-1] + 1 + np.arange(count)]),
        np.concatenate([rows.col, np.array(at, np.int64)]),
        np.concatenate([rows.val, -np.ones(count, np.int64)]),
        flat.nv,
    )
    known = np.concatenate([row_known, first + np.arange(count)])
    return (
        extra,
        known,
        tuple((n, int(a or 0), first + k) for k, (n, a) in enumerate(zip(names, at, strict=True))),
    )


def _masks(
    flat: FlatModel, base: list[tuple[int, RowForm]], others: list[FormRows | NonlinearFormRows]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which variables are differentiated, which occur in elements and relations, how often in equations."""
    differentiated, protected = np.zeros(flat.nv, bool), np.zeros(flat.nv, bool)
    uses = np.zeros(flat.nv, np.int64)
    for batch, r in base:
        for k, derivative in r.keys:
            at = flat.batches[batch].vb + k
            np.add.at(uses, at, 1)
            differentiated[at] |= derivative
    for rows in others:
        for k, derivative in rows.form.factors if isinstance(rows, FormRows) else rows.form.keys:
            at = flat.batches[rows.batch].vb + k
            protected[at] = True
            differentiated[at] |= derivative
    return differentiated, protected, uses
