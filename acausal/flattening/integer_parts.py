"""Integer parts of continuous unknowns: discrete variables that change where their argument passes an integer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..modeling.elements import BranchTable, ElementTable
from ..modeling.expressions import Expr, Symbol, fold, number_of, walk
from ..modeling.functions import if_else, maximum, minimum, pre
from ..modeling.typed_fields import Discrete
from .forms import Classify, depends
from .template import Assignment, Origin, Template, WhenChain


class IntegerParts:
    """Replaces ``floor(u)`` and ``mod(u, m)`` of continuous unknowns by held integers.

    ``floor(u)`` is an integer k that is constant between instants and is left when ``u >= k + 1`` or ``u < k``;
    ``mod(u, m)`` is ``u - m * floor(u / m)``. Left as functions they would jump inside an equation without an event.
    Equal arguments share one integer.

    Parameters
    ----------
    template : Template
        Takes the integers, as discrete variables with their equations.
    owner : component
        The traced object.
    classify : callable
        Local index of a continuous variable, None for everything else.
    """

    def __init__(self, template: Template, owner: Any, classify: Classify) -> None:
        self._template, self._owner, self._classify = template, owner, classify
        self._found: dict[int, Symbol] = {}
        self._numbers: dict[Any, int] = {}

    def held(self, expr: Expr, origin: Origin) -> Expr:
        """Return an expression of a statement with held integers; what stands in ``no_event`` stays."""
        nodes = walk(expr)
        if not any(n.op in ("floor", "mod") for n in nodes):
            return expr
        eventless = {id(n) for top in nodes if top.op == "no_event" for n in walk(top)}

        def apply(node: Expr, args: list[Expr]) -> Expr:
            jumps = node.op in ("floor", "mod") and id(node) not in eventless
            if jumps and any(depends(a, self._classify) for a in args):
                k = self._integer(args[0] if node.op == "floor" else args[0] / args[1], origin)
                return k if node.op == "floor" else args[0] - args[1] * k
            same = all(a is b for a, b in zip(args, node.args, strict=True))
            return node if same else Expr(node.op, tuple(args), node.data)

        return fold(expr, lambda n: n, apply)

    def held_in_table(self, table: ElementTable, origin: Origin) -> ElementTable:
        """Return the table of an element with held integers."""

        def held(expr: Expr | None) -> Any:
            return None if expr is None else self.held(expr, origin)

        def branch(b: BranchTable) -> BranchTable:
            guards = tuple(replace(g, g=held(g.g), enabled=held(g.enabled)) for g in b.guards)
            return BranchTable(b.name, tuple(map(held, b.residuals)), guards, tuple(map(held, b.blocked)))

        names = ("control", "enabled", "breakaway", "restitution", "rest_speed")
        changed: dict[str, Any] = {n: held(getattr(table, n)) for n in names}
        return replace(table, branches=tuple(map(branch, table.branches)), **changed)

    def held_in_chain(self, chain: WhenChain) -> WhenChain:
        """Return a chain with held integers in its conditions; actions take the values of their instant."""
        branches = [
            (tuple(self.held(c, chain.origin) for c in conditions), actions)
            for conditions, actions in chain.branches
        ]
        return replace(chain, branches=tuple(branches))

    def _integer(self, u: Expr, origin: Origin) -> Symbol:
        key = number_of(u, self._numbers)
        if key not in self._found:
            field = Discrete(int, doc=f"floor({u})")
            field.name = self._free_name()
            self._template.discretes[field.name] = field
            k = self._found[key] = Symbol(self._owner, field.name, field)
            self._template.assignments.append(Assignment(k, _equation(k, u), origin))
        return self._found[key]

    def _free_name(self) -> str:
        taken = (*self._template.discretes, *self._template.variables, *self._template.parameters)
        number = 1
        while f"floor_{number}" in taken:
            number += 1
        return f"floor_{number}"


def _equation(k: Symbol, u: Expr) -> Expr:
    """Right side of the discrete equation of ``k = floor(u)``.

    The relations decide that k changes and in which direction, as at an instant they include where u is going;
    the value of u tells how far, as at the start.
    """
    before, value = pre(k), Expr("floor", (u,))
    down = if_else(u < before, minimum(before - 1, value), before)
    return if_else(u >= before + 1, maximum(before + 1, value), down)
