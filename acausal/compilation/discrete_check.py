"""A micro-step checked by its values: relations of time, and what actions assign after comparing, by what they compare.

Nothing of the sorting, of the relations of time that are solved for, or of the noise that decides signs in the micro-step is
used here. Where rounding or the accuracy of the run leaves a comparison open, nothing is said.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import casadi as ca

from ..modeling.expressions import Expr
from ..modeling.operations import RELATIONS
from .context import Arguments, Context
from .lowering import apply
from .ordering import DiscreteSignals

PLACES = 16.0 * 2.0**-52
"""Part of both sides within which they are equal: some units of their last places."""
LATE = 16.0
"""Resolutions of time by which a relation of time may be early or late."""
ROUNDED = 1e-11
"""Part of the terms of a value by which rounding may move it: of some thousand operations after each other."""

Written = tuple[int, int, int, Sequence[tuple[Any, Expr]]]
"""A discrete, batch and instance of its `when`, and the expressions that give its value, each with the condition for that.

Where none holds the discrete keeps its value."""


class StatementCheck(Context):
    """Expressions over the values after a micro-step; ``doubt`` collects conditions under which a value is open."""

    def __init__(self, arguments: Arguments, signals: DiscreteSignals) -> None:
        super().__init__(arguments)
        self.accuracy = ca.SX.sym("accuracy")
        """Part of a value that the run may miss."""
        self.new = {k: ca.SX.sym(f"after{k}") for k in range(arguments.model.flat.nd)}
        self.held = [ca.SX.sym(f"held{k}") for k in range(arguments.model.nr)]
        """Relations after the micro-step."""
        self.doubt: list[Any] = []
        self._of_discretes = signals

    def variable(self, k: int) -> Any:
        """A continuous variable, by its new value where discretes alone determine it."""
        knowns = self._of_discretes.knowns(k)
        return (
            super().variable(k) if knowns is None else sum(f * self.lower(s, i, e) for f, s, i, e in knowns)
        )

    def statement(self, written: Written) -> Any:
        """By how much a discrete differs from its statement."""
        k, batch, instance, ways = written
        wanted, doubt = self.arguments.symbol("d", k), ca.SX(0)
        for now, expr in ways:
            self.doubt = []
            value = self.lower(batch, instance, expr, True)
            open_ = self._any_doubt()
            wanted, doubt = ca.if_else(now, value, wanted), ca.if_else(now, open_, doubt)
        return self._beyond(self.new[k] - wanted, ca.fabs(self.new[k]) + ca.fabs(wanted), doubt)

    def relations_of_time(self, read_before: Mapping[int, Collection[int]]) -> list[Any]:
        """By how much the truth of relations of time differs from what they compare.

        ``read_before`` are the discretes that each of them reads from before the micro-step: those that a `when` determines
        which the relation itself may fire.
        """
        numbers, after = list(read_before), self.new
        nodes, sides = list[Expr](), ([], [])
        for number in numbers:
            rows, instance = self.model.relation_at(number)
            nodes.append(rows.relation.node)
            self.new = after | {k: self.arguments.symbol("d", k) for k in read_before[number]}
            for side, expr in zip(sides, nodes[-1].args, strict=True):
                side.append(self.lower(rows.batch, instance, expr))
        self.new = after
        left, right = ca.vertcat(*sides[0]), ca.vertcat(*sides[1])
        off = ca.SX(left - right)
        late = LATE * self.arguments.tolerance * ca.fabs(ca.jtimes(off, self.arguments.t, ca.SX(1)))
        open_ = ca.fabs(off) <= late + PLACES * (ca.fabs(left) + ca.fabs(right))
        return [
            self._beyond(self.held[number] - apply(node.op, off[n], ca.SX(0)), ca.SX(0), open_[n])
            for n, (number, node) in enumerate(zip(numbers, nodes, strict=True))
        ]

    def _beyond(self, off: Any, terms: Any, doubt: Any) -> Any:
        clear = ca.logic_and(ca.fabs(off) > ROUNDED * terms, ca.logic_not(doubt))
        return ca.if_else(clear, off, 0)

    def _any_doubt(self) -> Any:
        found = ca.SX(0)
        for open_ in self.doubt:
            found = ca.logic_or(found, open_)
        return found

    def _special(self, batch: int, instance: int, node: Expr, at_once: bool) -> Any:
        number = self.relation_number(batch, instance, node)
        if number is not None:
            return self.held[number]
        if node.op in RELATIONS and at_once:
            left, right = (ca.SX(self.lower(batch, instance, n, True)) for n in node.args)
            return self._by_value(node.op, left, right)
        return super()._special(batch, instance, node, at_once)

    def _by_value(self, op: str, left: Any, right: Any) -> Any:
        """A comparison by its values, or, where these are equal to the last places, by their slopes."""
        a, off = self.arguments, left - right
        own = {s.name() for s in ca.symvar(off)}
        moving = [(s, a.jet(k)[0][0]) for k, s in list(a.tables["x"].items()) if s.name() in own]
        if not moving and a.t.name() not in own:
            return apply(op, left, right)
        x, rates = (ca.vertcat(*part) for part in zip(*moving, (a.t, ca.SX(1)), strict=True))
        slopes = ca.jacobian(off, x)
        slope = slopes @ rates
        terms = ca.fabs(left) + ca.fabs(right) + ca.fabs(slopes) @ ca.fabs(x) * bool(moving)
        clear = ca.fabs(off) > self.accuracy * terms + LATE * a.tolerance * ca.fabs(slope)
        equal = ca.fabs(off) <= PLACES * (ca.fabs(left) + ca.fabs(right))
        moves = ca.fabs(slope) > self.accuracy * (ca.fabs(slopes) @ ca.fabs(rates))
        self.doubt.append(ca.logic_not(ca.logic_or(clear, ca.logic_and(equal, moves))))
        return apply(op, ca.if_else(clear, off, slope), ca.SX(0))
