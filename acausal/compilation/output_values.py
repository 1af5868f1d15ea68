"""Variables that output equations give, as expressions of what the core determines: a discrete part reads these instead."""

from __future__ import annotations

from typing import Any

import casadi as ca

from ..flattening.forms import literal
from ..modeling.expressions import Expr, Symbol, walk
from ..modeling.operations import RELATIONS
from ..reduction.output_equations import OutputEquation
from .context import Arguments, Context

_AT_ONCE = frozenset({"sample", "pre", "edge", "change", "initial", "terminal", "der", "slope"})
"""What is not the same function of its arguments at every moment."""


class OutputValues:
    """Values of such variables after the micro-step before, in terms of the arguments of a discrete part.

    Parameters
    ----------
    arguments : Arguments
    """

    def __init__(self, arguments: Arguments) -> None:
        self._model = arguments.model
        self._context = Context(arguments, self)
        self._equation_of = {o.unknown: o for o in self._model.output_equations}
        self._found: dict[int, Any] = {}

    def __call__(self, k: int) -> Any:
        """The value of variable ``k``; None where it is read as it is."""
        if not self._equation_of:
            return None
        if k not in self._found:
            self._found[k] = None  # What reads itself is no output.
            self._found[k] = self._value(k)
        return self._found[k]

    def _value(self, k: int) -> Any:
        o, factor = self._alone(k)
        if o is None or o.integral or self._alone(o.variable)[0] is not o:
            return None
        parts = o.rest, o.factor
        if not all(self._is_function(o.batch, o.instance, part) for part in parts):
            return None
        rest, own = (ca.SX(self._context.lower(o.batch, o.instance, part)) for part in parts)
        return -factor * o.sign * rest / own

    def _alone(self, k: int) -> tuple[OutputEquation | None, int]:
        """The output equation that alone gives a variable, and with which sign."""
        W, V = self._model.W, self._model.V_known
        columns = W.indices[W.indptr[k] : W.indptr[k + 1]].tolist()
        if len(columns) != 1 or V.indptr[k] != V.indptr[k + 1]:
            return None, 0
        return self._equation_of.get(columns[0]), int(W.data[W.indptr[k]])

    def _is_function(self, batch: int, instance: int, expr: Expr) -> bool:
        """Whether an expression is a continuous function of variables and time, with discretes and parameters.

        A relation that makes an event has been what it was until the micro-step before, and is read as it is now.
        """
        nodes = [n for n in walk(expr) if not isinstance(n, Symbol)]
        continuous = {id(n.args[0]) for n in nodes if n.op == "if_else" and _joins(n)}
        return not any(
            n.op in _AT_ONCE
            or (
                n.op in RELATIONS
                and id(n) not in continuous
                and self._context.relation_number(batch, instance, n) is not None
            )
            for n in nodes
        )


def _joins(choice: Expr) -> bool:
    """Whether both branches of a choice are the same where its relation changes: of a magnitude, of the larger of two."""
    relation, then, otherwise = choice.args
    if relation.op not in RELATIONS:
        return False
    a, b = relation.args
    if {id(then), id(otherwise)} == {id(a), id(b)}:
        return True
    turned, kept = (then, otherwise) if then.op == "neg" else (otherwise, then)
    return turned.op == "neg" and turned.args[0] is kept and kept is a and literal(b) == 0.0
