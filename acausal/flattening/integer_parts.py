"""Integers that change at events: integer parts of what moves, and the pieces of tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..modeling.elements import BranchTable, ElementTable
from ..modeling.expressions import Expr, Symbol, fold, time, walk, wrap
from ..modeling.functions import absolute, and_, change, if_else, maximum, minimum, or_, pre, sign
from ..modeling.operations import MARKS, marks
from ..modeling.typed_fields import Discrete
from .forms import Classify, depends, number_of
from .template import Assignment, Origin, Template, WhenChain

_JUMPING = marks("floor", "mod", "table")
_WALK = (("step", int), ("turns", int), ("since", float))


class HeldPart(Discrete):
    """A discrete variable that equations are given beside those of the user.

    ``of`` is what it is a part of, as written; ``searched`` whether it tells no more than how the piece of a table was searched.
    """

    def __init__(self, type: type, *, start: Any, of: str, searched: bool) -> None:
        super().__init__(type, start=start, doc=f"held part of {of}")
        self.of, self.searched = of, searched


class IntegerParts:
    """Replaces ``floor(u)``, ``mod(u, m)`` and tables of time and of continuous unknowns by held integers.

    ``floor(u)`` is an integer k that is constant between instants and is left when ``u >= k + 1`` or ``u < k``;
    ``mod(u, m)`` is ``u - m * floor(u / m)``. Left as functions they would jump inside an equation without an event.
    Equal arguments share one integer.

    A table is ``y + slope * (u - low)``. Its piece k is left when ``u >= high`` or ``u < low``; these four numbers are
    discrete variables beside k, so that what happens at a breakpoint does not grow with the number of points.

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
        self._tables: dict[Any, Expr] = {}
        self._numbers: dict[Any, int] = {}

    def held(self, expr: Expr, origin: Origin) -> Expr:
        """Return an expression of a statement with held integers; what stands in ``no_event`` stays."""
        if not expr.marks & _JUMPING:
            return expr
        eventless = {id(n) for top in walk(expr) if top.op == "no_event" for n in walk(top)}

        def apply(node: Expr, args: list[Expr]) -> Expr:
            jumps = node.op in ("floor", "mod", "table") and id(node) not in eventless
            if jumps and any(self._moves(a) for a in args):
                if node.op == "table":
                    xs, ys = node.data
                    return self._table(args[0], xs, ys, origin)
                k = self._integer(args[0] if node.op == "floor" else args[0] / args[1], origin)
                return k if node.op == "floor" else args[0] - args[1] * k
            same = all(a is b for a, b in zip(args, node.args, strict=True))
            return node if same else Expr(node.op, tuple(args), node.data)

        return fold(expr, lambda n: n, apply, lambda n: None if n.marks & _JUMPING else n)

    def held_in_table(self, table: ElementTable, origin: Origin) -> ElementTable:
        """Return the table of an element with held integers."""

        def held(expr: Expr | None) -> Any:
            return None if expr is None else self.held(expr, origin)

        def branch(b: BranchTable) -> BranchTable:
            guards = tuple(replace(g, g=held(g.g), enabled=held(g.enabled)) for g in b.guards)
            return BranchTable(b.name, tuple(map(held, b.residuals)), guards, tuple(map(held, b.blocked)))

        changed: dict[str, Any] = {n: held(getattr(table, n)) for n in ElementTable.BESIDE}
        return replace(table, branches=tuple(map(branch, table.branches)), **changed)

    def held_in_chain(self, chain: WhenChain) -> WhenChain:
        """Return a chain with held integers in its conditions; actions take the values of their instant."""
        branches = [
            (tuple(self.held(c, chain.origin) for c in conditions), actions)
            for conditions, actions in chain.branches
        ]
        return replace(chain, branches=tuple(branches))

    def _moves(self, u: Expr) -> bool:
        return bool(u.marks & MARKS["time"]) or depends(u, self._classify)

    def _integer(self, u: Expr, origin: Origin) -> Symbol:
        key = number_of(u, self._numbers)
        if key not in self._found:
            k = self._found[key] = self._held(int, self._free_name("floor"), 0, f"floor({u})")
            whole = Expr("floor", (u,))
            self._assign(k, _changed(k, u < pre(k), u >= pre(k) + 1, whole, whole), origin)
        return self._found[key]

    def _table(self, u: Expr, xs: tuple[float, ...], ys: tuple[float, ...], origin: Origin) -> Expr:
        key = (number_of(u, self._numbers), xs, ys)
        if key not in self._tables:
            columns = _pieces(xs, ys)
            name = self._free_name("table")
            k = self._held(int, name, 0, f"table({u})")
            low, high, y, slope = (
                self._held(float, f"{name}_{column}", values[0], f"table({u})")
                for column, values in columns.items()
            )
            last, piece = len(xs), Expr("piece", (u,), xs)
            bounds = and_(pre(k) > 0, u < pre(low)), and_(pre(k) < last, u >= pre(high))
            if depends(u, self._classify):
                step, turns, since = (
                    self._held(kind, f"{name}_{n}", kind(), f"table({u})", searched=True) for n, kind in _WALK
                )
                self._walk(k, (step, turns, since), bounds, piece, last, origin)
            else:
                self._assign(k, _changed(k, *bounds, piece, piece), origin)
            for symbol, values in zip((low, high, y, slope), columns.values(), strict=True):
                self._assign(symbol, Expr("lookup", (k,), values), origin)
            self._tables[key] = y + slope * (u - low)
        return self._tables[key]

    def _walk(
        self, k: Symbol, kept: tuple[Symbol, Symbol, Symbol], bounds: tuple[Expr, Expr], piece: Expr, last: int,
        origin: Origin,
    ) -> None:  # fmt: skip
        """State how the piece of a table changes whose argument may follow from the table.

        Where it does this is Newton's method, which may go to and fro between two pieces for ever: a step back is half of the
        last one at most. Two neighbours that send the argument to each other incline oppositely to what else decides it: the
        way on leads over the fold between them. From there all pieces are tried, one after the other, in the direction in
        which the first of the two was left, and then back: ``turns`` counts two turns by one piece, and the ends.
        """
        (step, turns, since), (falls, rises), before = kept, bounds, pre(k)
        way, turned = pre(step), pre(turns)
        room = maximum(1, Expr("floor", (absolute(way) / 2,)))
        up = if_else(way < 0, minimum(piece, before + room), piece)
        down = if_else(way > 0, maximum(piece, before - room), piece)
        turning = or_(and_(way >= -1, way < 0, rises), and_(way <= 1, way > 0, falls))
        fold = and_(turned > 0, turned < 2, turning)
        trying = and_(turned > 1, turned < 4, or_(falls, rises))
        back = or_(and_(way < 0, before <= 0), and_(way > 0, before >= last))
        over = maximum(0, minimum(last, before + if_else(rises, 2, -2)))
        along = before + if_else(back, -1, 1) * if_else(way < 0, -1, 1)
        again = if_else(fold, over, if_else(trying, along, _changed(k, falls, rises, up, down)))
        counted = if_else(
            turned > 1, turned + if_else(and_(trying, back), 1, 0), if_else(turning, turned + 1, 0)
        )
        # Of an earlier instant nothing counts. A comparison of times would make an event of its own.
        elsewhen = sign(absolute(time - pre(since)))

        def by_instant(first: Expr | int, later: Expr) -> Expr:
            return Expr("if_else", (elsewhen, wrap(first), later))

        self._assign(k, by_instant(_changed(k, falls, rises, piece, piece), again), origin)
        self._assign(step, if_else(change(k), k - before, way), origin)
        self._assign(since, if_else(change(k), time, pre(since)), origin)
        self._assign(turns, if_else(or_(falls, rises), by_instant(0, counted), turned), origin)

    def _held(self, kind: type, name: str, start: Any, of: str, searched: bool = False) -> Symbol:
        field = HeldPart(kind, start=start, of=of, searched=searched)
        field.__set_name__(type(self._owner), name)
        self._template.discretes[name] = field
        return Symbol(self._owner, name, field)

    def _assign(self, symbol: Symbol, value: Expr, origin: Origin) -> None:
        self._template.assignments.append(Assignment(symbol, value, origin))

    def _free_name(self, of: str) -> str:
        taken = (*self._template.discretes, *self._template.variables, *self._template.parameters)
        number = 1
        while f"{of}_{number}" in taken:
            number += 1
        return f"{of}_{number}"


def _changed(k: Symbol, falls: Expr, rises: Expr, up: Expr, down: Expr) -> Expr:
    """Right side of the discrete equation of an integer k that keeps its value unless it ``falls`` or ``rises``.

    The relations decide that k changes and in which direction, as at an instant they include where their argument is going;
    ``up`` and ``down`` tell how far, as at the start.
    """
    before = pre(k)
    return if_else(rises, maximum(before + 1, up), if_else(falls, minimum(before - 1, down), before))


def _pieces(xs: tuple[float, ...], ys: tuple[float, ...]) -> dict[str, tuple[float, ...]]:
    """Ends, values at the begin and slopes of the pieces of a table, the constant ones before and after it included."""
    x, y = np.array(xs), np.array(ys)
    width = np.diff(x)
    slope = np.divide(np.diff(y), width, out=np.zeros(len(width)), where=width > 0.0)
    columns = {
        "low": [x[:1], x],
        "high": [x, x[-1:]],
        "value": [y[:1], y],
        "slope": [[0.0], slope, [0.0]],
    }
    return {name: tuple(np.concatenate(parts).tolist()) for name, parts in columns.items()}
