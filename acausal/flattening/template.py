"""What one trace of a class yields: a template that serves all instances.

A template numbers the variables, parameters and discretes of its subtree
locally: its own first (ports, then fields in written order), then children in
order of creation. An instance is three base offsets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import numpy as np

from ..errors import Location, UnknownPathError, nearest
from ..modeling.component import line_of
from ..modeling.elements import ElementTable
from ..modeling.expressions import Expr, Symbol, walk, wrap
from ..modeling.fields import Field
from ..modeling.ports import Port
from ..modeling.statements import Action, Assign, Transitions
from ..values import frozen

Index = np.int64
Origin = tuple[CodeType | str, int]
"""Code object and instruction of a statement, decoded to a line when an error is printed; or file and line."""


@frozen
class ResidualStatement:
    """An equation that is not an integer row."""

    expr: Expr
    origin: Origin
    text: str


@frozen
class ElementStatement:
    """A statement with branches."""

    name: str
    """Its mode variable is the own discrete of this name."""
    table: ElementTable
    origin: Origin


@frozen
class Assignment:
    """A discrete equation."""

    target: Symbol
    value: Expr
    origin: Origin


@frozen
class WhenChain:
    """Branches of (conditions, actions); ``edge`` false: fires as long as the condition holds (state machines)."""

    branches: tuple[tuple[tuple[Expr, ...], tuple[Action, ...]], ...]
    origin: Origin
    edge: bool = True


def state_machine(statement: Transitions, origin: Origin) -> WhenChain:
    """Return a state machine as a chain that fires while its state and condition hold, in written order."""
    branches = []
    for state, moves in statement.table.items():
        here = Expr("==", (Expr("pre", (statement.state,)), wrap(state)))
        for move in moves:
            actions = (Assign(statement.state, wrap(move.target)), *move.actions)
            branches.append(((here & move.condition,), actions))
    return WhenChain(tuple(branches), origin, edge=False)


@frozen
class Check:
    """A ``require`` statement."""

    condition: Expr
    message: str
    origin: Origin


@dataclass(eq=False)
class Group:
    """Children of one parent that share a template."""

    template: Template
    kids: np.ndarray
    voff: np.ndarray
    poff: np.ndarray
    doff: np.ndarray
    values: np.ndarray
    """(children, own parameters), NaN where bound."""
    bound: tuple[tuple[int, int, Expr], ...]
    starts: tuple[tuple[int, str, object, bool], ...]
    """(child, variable name, number or expression, fixed) for given start values."""


@dataclass(eq=False)
class Template:
    """Layout and statements of one traced class."""

    cls: type
    variables: dict[str, Field] = field(default_factory=dict)
    parameters: dict[str, Field] = field(default_factory=dict)
    discretes: dict[str, Field] = field(default_factory=dict)
    ports: dict[str, tuple[type[Port], int]] = field(default_factory=dict)
    """Name -> (port type, local index of its first variable)."""
    powers: list[Expr] = field(default_factory=list)
    nv: int = 0
    npar: int = 0
    nd: int = 0
    groups: list[Group] = field(default_factory=list)
    runs: list[tuple[str, int]] = field(default_factory=list)
    """(attribute path, child position)."""
    ptr: np.ndarray = field(default_factory=lambda: np.zeros(1, Index))
    col: np.ndarray = field(default_factory=lambda: np.zeros(0, Index))
    val: np.ndarray = field(default_factory=lambda: np.zeros(0, Index))
    remainders: dict[int, Expr] = field(default_factory=dict)
    """Local integer row -> its known part."""
    row_origins: list[Origin] = field(default_factory=list)
    row_texts: dict[int, str] = field(default_factory=dict)
    residuals: list[ResidualStatement] = field(default_factory=list)
    elements: list[ElementStatement] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    whens: list[WhenChain] = field(default_factory=list)
    initials: list[ResidualStatement] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    """Own inputs, which only the root may leave open."""
    resolve: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """id of a component object of the trace -> (voff, poff, doff)."""
    layouts: dict[int, Template] = field(default_factory=dict)
    direct: dict[int, str] = field(default_factory=dict)
    """id of a child -> its attribute path."""
    keep: list[object] = field(default_factory=list)
    """Objects of the trace, so that their ids stay theirs."""

    def count(self, variables: int, parameters: int) -> None:
        """Count those of the children behind the own ones."""
        self.nv, self.npar = len(self.variables) + variables, len(self.parameters) + parameters

    def number_discretes(self) -> None:
        """Give the children their discrete offsets, now that the own modes are known."""
        count = max((int(g.kids.max()) for g in self.groups), default=-1) + 1
        nd = np.zeros(count, Index)
        for g in self.groups:
            nd[g.kids] = g.template.nd
        doff = len(self.discretes) + np.cumsum(nd) - nd
        for g in self.groups:
            g.doff = doff[g.kids]
        self.nd = len(self.discretes) + int(nd.sum())
        for k, kid in enumerate(self.keep[1 : 1 + count]):
            v, p, _ = self.resolve[id(kid)]
            self.resolve[id(kid)] = (v, p, int(doff[k]))

    def relate(self, lengths: list[int], col: list[int], val: list[int]) -> None:
        """Take the integer rows: their lengths, local variables and coefficients."""
        self.ptr = np.concatenate([[0], np.cumsum(np.array(lengths, Index))]).astype(Index)
        self.col, self.val = np.array(col, Index), np.array(val, Index)

    def fields(self, kind: str) -> dict[str, Field]:
        """Return the own variables ("v"), parameters ("p") or discretes ("d") by name."""
        return {"v": self.variables, "p": self.parameters, "d": self.discretes}[kind]

    def index(self, kind: str, name: str) -> int | None:
        """Return the local number of an own variable ("v"), parameter ("p") or discrete ("d")."""
        table = self.fields(kind)
        cache = self.__dict__.setdefault("_cache_" + kind, {})
        if len(cache) != len(table):
            cache.update({n: k for k, n in enumerate(table)})
        return cache.get(name)

    def port_first(self, name: str) -> int:
        """Return the local index of the first variable of a port."""
        return self.ports[name][1]

    @property
    def port_kinds(self) -> list[tuple[type[Port], int]]:
        """Port types with the local index of their first variable."""
        return list(self.ports.values())

    def line(self, origin: Origin, path: str) -> Location:
        """Return the place of a statement."""
        code, number = origin
        if isinstance(code, str):
            return Location(path, code, number)
        return Location(path, code.co_filename, line_of(code, number))

    def children(self) -> Iterator[tuple[str, Group, int]]:
        """Yield (attribute path, group, row in the group) in the order of creation."""
        where = {int(kid): (g, r) for g in self.groups for r, kid in enumerate(g.kids)}
        for path, kid in self.runs:
            yield path, *where[kid]

    def origin_of(self, expr: Expr) -> Origin:
        """Return the origin of the first statement that shares a symbol or operation with an expression."""
        nodes = {id(n) for n in walk(expr) if n.args or isinstance(n, Symbol)}
        for local, known in self.remainders.items():
            if any(id(n) in nodes for n in walk(known)):
                return self.row_origins[local]
        for statement in (
            *self.residuals,
            *self.assignments,
            *self.whens,
            *self.elements,
            *self.initials,
            *self.checks,
        ):
            if any(id(n) in nodes for e in expressions_of(statement) for n in walk(e)):
                return statement.origin
        return (self.cls.equations.__code__, 0)

    def child(self, step: str) -> tuple[Group, int] | None:
        """Return the group and row of the child at an attribute path such as ``cells[3]``."""
        cache = self.__dict__.setdefault("_children", {})
        if not cache:
            cache.update({p: (g, r) for p, g, r in self.children()})
        return cache.get(step)


def expressions_of(statement: Any) -> Iterator[Expr]:
    """Return all expressions of a statement."""
    for name in ("expr", "value", "condition"):
        if hasattr(statement, name):
            yield getattr(statement, name)
    for conditions, actions in getattr(statement, "branches", ()):
        yield from conditions
        yield from (a.value for a in actions if hasattr(a, "value"))
    table = getattr(statement, "table", None)
    if table is not None:
        yield from table.beside
        for branch in table.branches:
            yield from (*branch.residuals, *branch.blocked)
            yield from (e for g in branch.guards for e in (g.g, g.enabled) if e is not None)


MOST_CANDIDATES = 5000
"""Names compared with an unknown one at most."""


@dataclass(frozen=True)
class Located:
    """What a path names: kind "v" (variable), "slope" (its time derivative), "d" (discrete) or "p" (parameter)."""

    path: str
    kind: str
    index: int
    field: Field


def look_up(root: Template, path: str) -> Located:
    """Return what a path, or ``der(path)``, names.

    Raises
    ------
    UnknownPathError
        With the nearest paths of the model.
    """
    if path.startswith("der(") and path.endswith(")"):
        inner = look_up(root, path[4:-1])
        if inner.kind != "v":
            raise UnknownPathError(f"`{inner.path}` is no continuous variable: it has no time derivative")
        return Located(path, "slope", inner.index, inner.field)
    for kind in "vdp":
        found, _, _ = _locate(root, kind, path)
        if found is not None:
            k, template, name = found
            return Located(path, kind, k, template.fields(kind)[name])
    names = (name for name, _ in zip(_walk(root, ""), range(MOST_CANDIDATES), strict=False))
    hint = component_hint(root, path, "vd") or nearest(path, names)
    raise UnknownPathError(f"nothing is named `{path}`", hint=hint)


def _walk(t: Template, path: str) -> Iterator[str]:
    """All paths of variables, discretes and parameters."""
    prefix = f"{path}." if path else ""
    for kind in "vdp":
        yield from (prefix + name for name in t.fields(kind))
    for step, group, _ in t.children():
        yield from _walk(group.template, prefix + step)


def find(root: Template, kind: str, path: str) -> tuple[int, Template, str]:
    """Return (index, template, own name) of a variable, parameter or discrete by its path.

    Raises
    ------
    UnknownPathError
        With the nearest names.
    """
    found, template, prefix = _locate(root, kind, path)
    if found is not None:
        return found
    other = next((k for k in "vpd" if k != kind and _locate(root, k, path)[0] is not None), "")
    hint = f"`{path}` is a {WORDS[other]}" if other else component_hint(root, path, kind)
    parts = [prefix + p for p, _ in template.runs[:50]]
    hint = hint or nearest(path, _candidates(template, prefix, kind), parts)
    if kind == "p" and other:
        hint += f': give its value at the start with initial={{"{path}": ...}}'
    raise UnknownPathError(f"no {WORDS[kind]} is named `{path}`", hint=hint)


def component_hint(root: Template, path: str, kinds: str) -> str:
    """Return a hint that names what a component and its parts have when ``path`` is a component, else ""."""
    template = root
    for step in path.split("."):
        found = template.child(step)
        if found is None:
            return ""
        template = found[0].template
    words = " and ".join(f"{WORDS[kind]}s" for kind in kinds)
    names = [n for kind in kinds for n in _candidates(template, f"{path}.", kind)]
    if not names:
        return f"`{path}` is a component without {words}"
    more = ", ..." if len(names) > 8 else ""
    return f"`{path}` is a component; its {words}: " + ", ".join(f"`{n}`" for n in names[:8]) + more


WORDS = {"v": "variable", "p": "parameter", "d": "discrete variable"}


def _locate(root: Template, kind: str, path: str) -> tuple[tuple[int, Template, str] | None, Template, str]:
    """What a path names, or None; the deepest template on the way and the path to it."""
    template, base, rest = root, 0, path
    while True:
        index = template.index(kind, rest)
        if index is not None:
            return (base + index, template, rest), template, path[: len(path) - len(rest)]
        step, template_, base_ = _descend(template, rest, kind)
        if template_ is None:
            return None, template, path[: len(path) - len(rest)]
        rest, template, base = rest[len(step) + 1 :], template_, base + base_


def _descend(template: Template, rest: str, kind: str) -> tuple[str, Template | None, int]:
    parts = rest.split(".")
    found = template.child(parts[0])
    if found is None or len(parts) < 2:
        return "", None, 0
    group, row = found
    offset = {"v": group.voff, "p": group.poff, "d": group.doff}[kind][row]
    return parts[0], group.template, int(offset)


def place_of(root: Template, path: str) -> tuple[Location, ...]:
    """Return where the component that has the variable or parameter ``path`` was created; empty for the root."""
    template, steps = root, path.split(".")
    place: tuple[Location, ...] = ()
    for n, step in enumerate(steps[:-1], 1):
        found = template.child(step)
        if found is None:
            break
        group, row = found
        made: Any = template.keep[1 + int(group.kids[row])]
        place = tuple(Location(".".join(steps[:n]), p.file, p.line) for p in made.location())
        template = group.template
    return place


def _candidates(template: Template, prefix: str, kind: str) -> list[str]:
    own = list(template.fields(kind))
    deeper = []
    for path, group, _ in list(template.children())[:50]:
        deeper += [f"{path}.{n}" for n in group.template.fields(kind)]
    return [prefix + n for n in own + deeper]


def name_of(root: Template, kind: str, k: int) -> str:
    """Return the path of variable, parameter or discrete number ``k``."""
    template, parts = root, []
    attribute = {"v": "voff", "p": "poff", "d": "doff"}[kind]
    while k >= len(template.fields(kind)):
        best: tuple[Group, int] | None = None
        for g in template.groups:
            offsets = getattr(g, attribute)
            size = {"v": g.template.nv, "p": g.template.npar, "d": g.template.nd}[kind]
            r = int(np.searchsorted(offsets, k, "right")) - 1
            if r >= 0 and size and k < offsets[r] + size:
                best = (g, r)
        assert best is not None
        group, row = best
        parts.append(_attribute(template, int(group.kids[row])))
        k -= int(getattr(group, attribute)[row])
        template = group.template
    return ".".join([*parts, list(template.fields(kind))[k]])


def _attribute(template: Template, kid: int) -> str:
    return template.runs[kid][0]
