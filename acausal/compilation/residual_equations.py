"""All equations of a flat model as SX, with their names: integer rows, residuals, then those of the elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..errors import Location
from ..flattening.flat_model import FlatModel
from ..modeling.expressions import Expr
from .residual_scope import Entries, Entry, Scope


@dataclass(frozen=True)
class Equation:
    """One equation of the flattened model.

    Attributes
    ----------
    name : str
        Path of the component and the equation as written; what a connection states is written out.
    place : Location
        Path, file and line.
    """

    name: str
    place: Location

    def __str__(self) -> str:
        return f"{self.name} ({self.place})"


def residual_vector(scope: Scope) -> Any:
    """Return left minus right side of all equations."""
    flat, entries = scope.symbols.flat, scope.entries
    rows = [_integer_rows(scope)]
    rows += [scope.lower(k, i, r.expr) for k, i, r in flat.statements("residuals")]
    for n, p in enumerate(entries.elements):
        rows += _selected(scope, n, p)
    return ca.vertcat(*rows)


def _integer_rows(scope: Scope) -> Any:
    flat = scope.symbols.flat
    m = len(flat.ptr) - 1
    matrix = ca.DM(ca.Sparsity(flat.nv, m, flat.ptr.tolist(), _sorted(flat)[0]), _sorted(flat)[1]).T
    value = ca.mtimes(ca.SX(matrix), ca.vertcat(*scope.symbols.variable)) if m else ca.SX(0, 1)
    for row in range(m):
        batch, local, i = (int(a[row]) for a in (flat.row_batch, flat.row_local, flat.row_instance))
        known = flat.batches[batch].template.remainders.get(local)
        if known is not None:
            value[row] += scope.lower(batch, i, known)
    return ca.densify(value)


def _sorted(flat: FlatModel) -> tuple[list[int], list[float]]:
    """Columns ascending within every row, as a compressed pattern wants them, and their factors."""
    row = np.repeat(np.arange(len(flat.ptr) - 1), np.diff(flat.ptr))
    order = np.lexsort((flat.col, row))
    return flat.col[order].tolist(), flat.val[order].astype(float).tolist()


def _selected(scope: Scope, n: int, p: Entry) -> list[Any]:
    """The equations of an element in the branch that the mode vector selects."""
    branches, m = scope.entries.element(p).branches, scope.m[n]
    if m.is_constant():
        branch = branches[int(m)]
        return [scope.lower(p.batch, p.instance, r) for r in branch.residuals]
    value = [scope.lower(p.batch, p.instance, r) for r in branches[-1].residuals]
    for b in range(len(branches) - 2, -1, -1):
        here = (scope.lower(p.batch, p.instance, r) for r in branches[b].residuals)
        value = [ca.if_else(m == b, a, rest) for a, rest in zip(here, value, strict=True)]
    return value


def requirements(scope: Scope) -> tuple[tuple[Equation, ...], list[Any]]:
    """Return all ``require`` conditions, and numbers that are negative where they do not hold."""
    table: list[Equation] = []
    values: list[Any] = []
    for k, i, c in scope.symbols.flat.statements("checks"):
        place = scope.symbols.flat.location(k, i, c.origin)
        table.append(Equation(f"{place.path}: {c.condition}", place))
        values.append(scope.signed(k, i, c.condition))
    return tuple(table), values


# -- names -----------------------------------------------------------------------------------------------------


def equation_names(flat: FlatModel, entries: Entries) -> Iterator[Equation]:
    """Yield what the rows of `residual_vector` are."""
    for row in range(len(flat.ptr) - 1):
        place, text = flat.row_location(row), flat.row_text(row)
        yield Equation(f"{place.path}: {text}" if text else connection_text(flat, row), place)
    for k, i, r in flat.statements("residuals"):
        place = flat.location(k, i, r.origin)
        yield Equation(f"{place.path}: {r.text}", place)
    for p in entries.elements:
        statement = entries.element(p).statement
        place = flat.location(p.batch, p.instance, statement.origin)
        branches = statement.table.branches
        for j in range(len(branches[0].residuals)):
            texts = "; ".join(f"{b.name}: {_zero(b.residuals[j])}" for b in branches)
            yield Equation(f"{place.path}.{statement.name}: {texts}", place)


def connection_text(flat: FlatModel, row: int) -> str:
    """Return what an integer row of a connection says, written out."""
    part = slice(int(flat.ptr[row]), int(flat.ptr[row + 1]))
    col, val = flat.col[part].tolist(), flat.val[part].tolist()
    if len(col) == 2 and val == [1, -1]:
        return f"{flat.variable(col[0])} = {flat.variable(col[1])}"
    terms = "".join(
        f" {'-' if v < 0 else '+'} {flat.variable(c)}" for c, v in zip(col, val, strict=True)
    ).removeprefix(" + ")
    return f"0 = {terms.strip()}"


def _zero(residual: Expr) -> str:
    return f"{residual.args[0]} = {residual.args[1]}" if residual.op == "-" else f"{residual} = 0"
