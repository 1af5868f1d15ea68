"""Expressions of instances as SX in the arguments of the residual, with modes and relations as entries of one vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import casadi as ca

from ..errors import StatementError
from ..flattening.flat_model import FlatModel, kind_of, locate_variable
from ..flattening.forms import choices, has_time, incidence, inner, relations
from ..flattening.template import ElementStatement, Template
from ..modeling.expressions import Expr, Symbol
from ..values import frozen
from .lowering import lower
from .residual_variables import Symbols


@frozen
class BranchExpressions:
    """Residuals and guards of a branch, with kinks written as choices by relations."""

    residuals: tuple[Expr, ...]
    guards: tuple[Expr, ...]


@frozen
class ElementExpressions:
    """One element statement of a template."""

    statement: ElementStatement
    branches: tuple[BranchExpressions, ...]


class TemplateExpressions:
    """Elements of a template, and the relations that its equations read: those with a variable or time."""

    def __init__(self, t: Template) -> None:
        self.template = t
        self._made: dict[int, Expr] = {}
        self.elements = tuple(self._element(e) for e in t.elements)
        self.relations: list[Expr] = []
        self.at: dict[int, int] = {}
        """id of a relation -> its position."""
        for r in t.residuals:
            self._register(r.expr)
        for known in t.remainders.values():
            self._register(known)
        for e in self.elements:
            for b in e.branches:
                for expr in b.residuals:
                    self._register(expr)

    def _element(self, e: ElementStatement) -> ElementExpressions:
        branches = tuple(
            BranchExpressions(
                tuple(self.tidy(r) for r in b.residuals), tuple(self.tidy(g.g) for g in b.guards)
            )
            for b in e.table.branches
        )
        return ElementExpressions(e, branches)

    def tidy(self, expr: Expr) -> Expr:
        """Write kinks as choices; one expression is rewritten once, so that its relations stay the same."""
        if id(expr) not in self._made:
            self._made[id(expr)] = choices(expr)
        return self._made[id(expr)]

    def _register(self, expr: Expr) -> None:
        for node in relations(expr):
            difference, classify = node.args[0] - node.args[1], partial(locate_variable, self.template)
            if id(node) not in self.at and (incidence(difference, classify) or has_time(difference)):
                self.at[id(node)] = len(self.relations)
                self.relations.append(node)


@dataclass(frozen=True)
class Entry:
    """An element or relation of an instance: (batch, position in the template, instance)."""

    batch: int
    local: int
    instance: int


class Entries:
    """Numbering of the mode vector: all elements, then all relations."""

    def __init__(self, flat: FlatModel) -> None:
        self.templates = [TemplateExpressions(s.template) for s in flat.batches]
        elements = [(k, e) for k, t in enumerate(self.templates) for e in range(len(t.elements))]
        compared = [(k, r) for k, t in enumerate(self.templates) for r in range(len(t.relations))]
        self.elements, self.relations = (
            [Entry(k, local, i) for k, local in found for i in range(len(flat.batches[k]))]
            for found in (elements, compared)
        )
        self.number_of_element = {p: n for n, p in enumerate(self.elements)}
        self.number_of_relation = {p: n + len(self.elements) for n, p in enumerate(self.relations)}
        self.mode_variable: dict[int, tuple[int, int | None]] = {}
        """Discrete number of the mode variable of an element -> (entry, branch in which it is true, if it is Boolean)."""
        for p, n in self.number_of_element.items():
            s, statement = flat.batches[p.batch], self.element(p).statement
            local = s.template.index("d", statement.name) or 0
            self.mode_variable[int(s.db[p.instance]) + local] = (n, statement.table.true_branch)

    def element(self, p: Entry) -> ElementExpressions:
        """Return the element statement behind an entry."""
        return self.templates[p.batch].elements[p.local]

    def relation(self, p: Entry) -> Expr:
        """Return the relation behind an entry."""
        return self.templates[p.batch].relations[p.local]


class Scope:
    """Lowers expressions for given values of the mode vector: symbols, or numbers that select branches for good."""

    def __init__(self, symbols: Symbols, entries: Entries, m: Sequence[Any], before: Any = None) -> None:
        self.symbols, self.entries, self.m = symbols, entries, m
        self.before = before
        """Discrete variables that ``pre`` reads, by number; between instants the present ones."""

    def lower(self, batch: int, instance: int, expr: Expr) -> Any:
        """Return the SX of an expression of one instance."""
        return lower(
            expr, lambda n: self._leaf(batch, instance, n), lambda n: self._special(batch, instance, n)
        )

    def _leaf(self, batch: int, instance: int, node: Expr) -> Any:
        if isinstance(node, Symbol):
            kind = kind_of(node)
            k = self.symbols.flat.symbol(batch, instance, kind, node)
            if kind == "d":
                return self.discrete(k)
            return self.symbols.variable[k] if kind == "v" else self.symbols.parameter[k]
        return self.symbols.t if node.op == "time" else ca.SX(0)  # neither initial nor terminal

    def discrete(self, k: int) -> Any:
        """Return a discrete variable; that of an element follows from the mode vector."""
        if k not in self.entries.mode_variable:
            return self.symbols.discrete[k]
        entry, true = self.entries.mode_variable[k]
        return self.m[entry] if true is None else self.m[entry] == true

    def _special(self, batch: int, instance: int, node: Expr) -> Any:
        local = self.entries.templates[batch].at.get(id(node))
        if local is not None:
            return self.m[self.entries.number_of_relation[Entry(batch, local, instance)]]
        if node.op == "if_else":
            # A branch that is not selected must not leave 0 * inf in a derivative.
            decided = self.lower(batch, instance, node.args[0])
            return (
                self.lower(batch, instance, node.args[1 if float(decided) else 2])
                if decided.is_constant()
                else None
            )
        if node.op == "der":
            return self._slope(batch, instance, inner(node))
        if node.op == "table":
            return self.lower(batch, instance, choices(node))
        if node.op in ("pre", "edge", "change"):
            return self._before(batch, instance, node)
        return ca.SX(0) if node.op == "sample" else None

    def _slope(self, batch: int, instance: int, symbol: Symbol) -> Any:
        if kind_of(symbol) != "v":
            return ca.SX(0)
        return self.symbols.slope[self.symbols.flat.symbol(batch, instance, "v", symbol)]

    def _before(self, batch: int, instance: int, node: Expr) -> Any:
        symbol = inner(node)
        now = self._leaf(batch, instance, symbol)
        if kind_of(symbol) == "v":
            if self.before is None:
                s = self.symbols.flat.batches[batch]
                raise StatementError(
                    f"an equation reads pre({symbol}) of a continuous variable, which a residual cannot know",
                    where=(self.symbols.flat.location(batch, instance, s.template.origin_of(node)),),
                    hint="keep the value in a Discrete: when(..., assign(self.held, x))",
                )
            return now
        k = self.symbols.flat.symbol(batch, instance, "d", symbol)
        before = now if self.before is None else self.before.get(k, now)
        if node.op == "pre":
            return before
        return ca.logic_and(now, ca.logic_not(before)) if node.op == "edge" else ca.ne(now, before)

    def signed(self, batch: int, instance: int, condition: Expr) -> Any:
        """Return a number that is positive while a condition holds and negative while it does not.

        A relation counts with its difference, so that the number passes through zero where it changes;
        discrete conditions count as 1 and -1, "and" as the smaller, "or" as the larger.
        """
        op, args = condition.op, condition.args
        if op in ("<", "<=", ">", ">="):
            a, b = (self.lower(batch, instance, x) for x in args)
            return b - a if op in ("<", "<=") else a - b
        if op in ("and", "or"):
            a, b = (self.signed(batch, instance, x) for x in args)
            return ca.fmin(a, b) if op == "and" else ca.fmax(a, b)
        if op == "not":
            return -self.signed(batch, instance, args[0])
        if op == "xor":
            return -self.signed(batch, instance, args[0]) * self.signed(batch, instance, args[1])
        if op == "no_event":
            return self.signed(batch, instance, args[0])
        return 2 * self.lower(batch, instance, condition) - 1
