"""The mode vector of a residual: its entries, their branches, the guards that end a branch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..errors import Location, ParameterError, nearest
from ..flattening.flat_model import FlatModel
from ..modeling.expressions import Expr
from ..modeling.operations import MARKS
from .residual_scope import Entries, Entry, Scope


@dataclass(frozen=True)
class Guard:
    """A branch is left for another one when a number becomes negative: one row of ``Residual.guards``.

    Attributes
    ----------
    entry : int
        Entry of the mode vector.
    branch, target : int
        Branch that the guard keeps, and the one that follows.
    text : str
        The number as written; a condition stands for a number that is positive while it holds.
    """

    entry: int
    branch: int
    target: int
    text: str


@dataclass(frozen=True)
class ModeEntry:
    """One entry of the mode vector: a statement with branches, or a relation that equations read.

    Attributes
    ----------
    name : str
        Path of the mode variable; for a relation the path of the component and the relation as written.
    kind : str
        "if", "complementarity", "friction", "impact", "modes" or "relation".
    branches : tuple of str
        Names of the branches; the value of the entry is the position of the one in force.
    place : Location
        Path, file and line.
    true_branch : int or None
        Branch in which a Boolean mode variable is true; None if the mode variable is the branch itself.
    """

    name: str
    kind: str
    branches: tuple[str, ...]
    place: Location
    true_branch: int | None


def mode_entries(flat: FlatModel, entries: Entries) -> tuple[ModeEntry, ...]:
    """Return all entries, names made unique."""
    found = []
    for p in entries.elements:
        statement = entries.element(p).statement
        table, place = statement.table, flat.location(p.batch, p.instance, statement.origin)
        name, branches = (
            flat.name_in(p.batch, p.instance, statement.name),
            tuple(b.name for b in table.branches),
        )
        found.append(ModeEntry(name, table.kind, branches, place, table.true_branch))
    taken: dict[str, int] = {}
    for p in entries.relations:
        node, t = entries.relation(p), flat.batches[p.batch].template
        place = flat.location(p.batch, p.instance, t.origin_of(node))
        path = flat.path(p.batch, p.instance)
        name = f"{path}: {node}" if path else str(node)
        taken[name] = taken.get(name, 0) + 1
        name = name if taken[name] == 1 else f"{name} ({taken[name]})"
        found.append(ModeEntry(name, "relation", ("false", "true"), place, 1))
    return tuple(found)


def branch_number(entry: ModeEntry, value: Any) -> int:
    """Return the position of a branch that is given by name, position, or the value of a Boolean mode variable.

    Raises
    ------
    ParameterError
        For a branch that the entry does not have.
    """
    count = len(entry.branches)
    if isinstance(value, str) and value in entry.branches:
        return entry.branches.index(value)
    if isinstance(value, (bool, np.bool_)) and entry.true_branch is not None:
        return entry.true_branch if value else 1 - entry.true_branch
    if isinstance(value, (int, float, np.number)) and int(value) == value and 0 <= value < count:
        return int(value)
    raise ParameterError(f"`{entry.name}` has no branch {value!r}", hint=nearest(str(value), entry.branches))


def mode_guards(scope: Scope) -> tuple[tuple[Guard, ...], list[Any]]:
    """Return the guards and their numbers."""
    table: list[Guard] = []
    values: list[Any] = []

    def add(entry: int, branch: int, target: int, text: str, value: Any) -> None:
        table.append(Guard(entry, branch, target, text))
        values.append(value)

    for n, p in enumerate(scope.entries.elements):
        for guard in _element_guards(scope, p):
            add(n, *guard)
    for n, p in enumerate(scope.entries.relations, len(scope.entries.elements)):
        node = scope.entries.relation(p)
        value = scope.signed(p.batch, p.instance, node)
        add(n, 1, 0, str(node), value)
        add(n, 0, 1, f"not({node})", -value)
    return tuple(table), values


_Row = tuple[int, int, str, Any]
"""(branch, target, text, value)."""


def _element_guards(scope: Scope, p: Entry) -> list[_Row]:
    element = scope.entries.element(p)
    table = element.statement.table

    def signed(condition: Expr) -> Any:
        return scope.signed(p.batch, p.instance, condition)

    if table.control is not None:
        value = signed(table.control)
        return [(0, 1, str(table.control), value), (1, 0, f"not({table.control})", -value)]
    rows: list[_Row] = []
    for b, (branch, made) in enumerate(zip(table.branches, element.branches, strict=True)):
        for leave, g in zip(branch.guards, made.guards, strict=True):
            value, text = scope.lower(p.batch, p.instance, g), str(leave.g)
            if leave.enabled is not None:
                value, text = ca.fmax(value, -signed(leave.enabled)), f"{text} unless not({leave.enabled})"
            rows.append((b, leave.target, text, value))
    return rows + _enabling(scope, p)


def _enabling(scope: Scope, p: Entry) -> list[_Row]:
    """Ways to and from the branch in which an element does nothing: disabled, disengaged, without capacity."""
    table = scope.entries.element(p).statement.table
    conditions, texts = [], []
    if table.enabled is not None:
        conditions.append(scope.signed(p.batch, p.instance, table.enabled))
        texts.append(str(table.enabled))
    # One that follows variables, as a cone does, says nothing where it vanishes with them.
    if table.breakaway is not None and not table.breakaway.marks & MARKS["v"]:
        capacity = scope.lower(p.batch, p.instance, table.breakaway)
        conditions.append(2 * ca.ne(capacity, 0) - 1)
        texts.append(f"{table.breakaway} != 0")
    if not conditions:
        return []
    value, text = conditions[0], " & ".join(texts)
    for c in conditions[1:]:
        value = ca.fmin(value, c)
    idle = len(table.branches) - 1
    # A latched element stays enabled while it is on.
    left = [0] if table.latch else list(range(idle))
    rows: list[_Row] = [(b, idle, text, value) for b in left]
    return [*rows, (idle, 0, f"not({text})", -value)]
