"""The equations of a flattened model by number: which group states each, and which unknowns it holds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..flattening.flat_model import FlatModel, locate_variable
from ..flattening.forms import Key, affine_form, choices, incidence, literal
from ..flattening.template import Origin, Template
from ..modeling.expressions import Expr
from ..structure.incidence import IntegerRows
from ..values import frozen
from .algebra import without_idle_parts
from .named import NamedExpressions


@frozen
class EquationGroup:
    """Rows that say the same for all instances of a batch: row ``first + step * i`` of instance i.

    Attributes
    ----------
    batch, first, step : int
    element : int
        Number of the element of instance 0 among all elements; -1 for an equation without branches.
    branches : tuple of (str, Expr)
        Names of the branches, and left minus right side in each; an equation without branches has one.
    origin : Origin
        Where it was written.
    text : str
        As it was written; "" for an equation of an element.
    statement : Residual or ElementStatement
        Of the template.
    """

    batch: int
    first: int
    step: int
    element: int
    branches: tuple[tuple[str, Expr], ...]
    origin: Origin
    text: str
    statement: Any


class EquationRows(NamedExpressions):
    """Numbers of the equations as written, and the variables in each; see `Equations` for parameters and attributes."""

    def __init__(
        self,
        flat: FlatModel,
        branches: Mapping[int, int] | None = None,
        aliases: tuple[np.ndarray, np.ndarray] | None = None,
        parameters: np.ndarray | None = None,
        numeric: bool = False,
    ) -> None:
        super().__init__(flat, aliases, parameters, numeric)
        self.branches = dict(branches or {})
        self.integer_rows = len(flat.ptr) - 1
        self.groups = tuple(self._groups())
        last = self.groups[-1] if self.groups else None
        self._length = (
            self.integer_rows if last is None else last.first + last.step * (self._count(last) - 1) + 1
        )
        self.row, self.col, self.order = self._incidence()

    def __len__(self) -> int:
        return self._length

    # -- numbering -----------------------------------------------------------------------------------------------

    def _count(self, group: EquationGroup) -> int:
        return len(self.flat.batches[group.batch])

    def _groups(self) -> list[EquationGroup]:
        found, at = [], self.integer_rows
        for k, s in enumerate(self.flat.batches):
            for r in s.template.residuals:
                found.append(EquationGroup(k, at, 1, -1, (("", r.expr),), r.origin, r.text, r))
                at += len(s)
        element = 0
        for k, s in enumerate(self.flat.batches):
            for e in s.template.elements:
                width = len(e.table.branches[0].residuals)
                for j in range(width):
                    forms = tuple((b.name, choices(b.residuals[j])) for b in e.table.branches)
                    found.append(EquationGroup(k, at + j, width, element, forms, e.origin, "", e))
                at += width * len(s)
                element += len(s)
        return found

    @cached_property
    def _group_of(self) -> np.ndarray:
        """Group of every row behind the integer rows."""
        found = np.zeros(len(self) - self.integer_rows, np.int64)
        for k, g in enumerate(self.groups):
            found[g.first - self.integer_rows + g.step * np.arange(self._count(g))] = k
        return found

    @cached_property
    def group_of(self) -> dict[tuple[int, int], EquationGroup]:
        """(id of a statement, number of its equation) -> group."""
        found: dict[tuple[int, int], EquationGroup] = {}
        for g in self.groups:
            known = (j for j in range(g.step + 1) if (id(g.statement), j) not in found)
            found[id(g.statement), next(known)] = g
        return found

    def locate(self, k: int) -> tuple[EquationGroup, int]:
        """Return group and instance of an equation that is no integer row."""
        g = self.groups[int(self._group_of[k - self.integer_rows])]
        return g, (k - g.first) // g.step

    def chosen(self, group: EquationGroup, instance: int) -> tuple[tuple[str, Expr], ...]:
        """Return the branches of an equation that may be in force."""
        branch = self.branches.get(group.element + instance) if group.element >= 0 else None
        return group.branches if branch is None else (group.branches[branch],)

    # -- incidence -----------------------------------------------------------------------------------------------

    def _incidence(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        flat = self.flat
        lengths = np.diff(flat.ptr)
        parts = [(np.repeat(np.arange(len(lengths)), lengths), flat.col, np.zeros(len(flat.col), np.int64))]
        for g in self.groups:
            s = flat.batches[g.batch]
            for b, (_, expr) in enumerate(g.branches):
                at = s.instances
                if g.element >= 0:
                    at = at[[self.branches.get(g.element + i, b) == b for i in at.tolist()]]
                for local, derivative in self._keys(s.template, expr):
                    row = g.first + g.step * at
                    parts.append((row, s.vb[at] + local, np.full(len(at), int(derivative))))
        row, col, order = (np.concatenate([p[k] for p in parts]).astype(np.int64) for k in range(3))
        if self.aliases is not None:
            row, col, order = self._merged(row, col, order)
        unique = np.unique(np.stack([row, col, order]), axis=1)
        return unique[0], unique[1], unique[2]

    def _merged(
        self, row: np.ndarray, col: np.ndarray, order: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Incidence of the representatives; integer rows in which they cancel have none of them."""
        assert self.aliases is not None
        representative, sign = self.aliases
        integer = row < self.integer_rows
        total = IntegerRows.from_triplets(
            row[integer], representative[col[integer]], self.flat.val * sign[col[integer]],
            (self.integer_rows, self.flat.nv),
        )  # fmt: skip
        other = ~integer & (sign[col] != 0)
        return (
            np.concatenate([total.row, row[other]]),
            np.concatenate([total.col, representative[col[other]]]),
            np.concatenate([np.zeros(len(total.col), np.int64), order[other]]),
        )

    @staticmethod
    def _keys(template: Template, expr: Expr) -> list[Key]:
        # In 0*x or x - x the unknown stands in the text, not in the equation.
        said, classify = without_idle_parts(expr), partial(locate_variable, template)
        form = affine_form(said, classify)
        return (
            incidence(said, classify)
            if form is None
            else [k for k, f in form.factors.items() if literal(f) != 0]
        )

    def unknowns(self, k: int) -> tuple[tuple[int, int], ...]:
        """Return (variable, order of its derivative) for all that occur in an equation, ascending."""
        first, end = np.searchsorted(self.row, (k, k + 1))
        return tuple(zip(self.col[first:end].tolist(), self.order[first:end].tolist(), strict=True))

    @cached_property
    def rank(self) -> np.ndarray:
        """Position of every equation in written order: component by component, the model itself first."""
        flat = self.flat
        keys = np.zeros((3, len(self)), np.int64)
        tables = [_written_positions(s.template) for s in flat.batches]
        for k, table in enumerate(tables):
            at = np.flatnonzero(flat.row_batch == k)
            places = np.array([table[o] for o in flat.batches[k].template.row_origins], np.int64)
            keys[1, at] = places[flat.row_local[at]]
            keys[0, at] = flat.batches[k].vb[flat.row_instance[at]]
            keys[2, at] = flat.row_local[at]
        for g in self.groups:
            at = g.first + g.step * np.arange(self._count(g))
            keys[0, at], keys[1, at], keys[2, at] = flat.batches[g.batch].vb, tables[g.batch][g.origin], at
        found = np.empty(len(self), np.int64)
        found[np.lexsort(keys[::-1])] = np.arange(len(self))
        return found


def _written_positions(template: Template) -> dict[Origin, int]:
    """Origins of the equations of a template in written order: methods as they first occur, then instructions."""
    origins = [*template.row_origins, *(r.origin for r in template.residuals)]
    origins += [e.origin for e in template.elements]
    methods: dict[Any, int] = {}
    for code, _ in origins:
        methods.setdefault(code, len(methods))
    ordered = sorted(dict.fromkeys(origins), key=lambda o: (methods[o[0]], o[1]))
    return {origin: k for k, origin in enumerate(ordered)}
