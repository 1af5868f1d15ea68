"""States of the exosystem at an instant, from closed forms: no phase drift, whatever the run length."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ..reduction.exosystem import Term
from ..reduction.reduced_model import ReducedModel
from ..values import frozen
from .context import Arguments, Context
from .lowering import Buffered


@frozen
class SourceProgram:
    """``states``: (parameters, discretes, relations, t) -> all chains but general functions, in order of the knowns."""

    states: Buffered
    p: np.ndarray
    d: np.ndarray
    r: np.ndarray
    widths: tuple[int, ...]
    """States per term instance; 0 for general functions, which ``general`` evaluates."""
    general: tuple[tuple[int, ca.Function], ...]
    """(position among the term instances, value from the same arguments)."""


def source_program(model: ReducedModel) -> SourceProgram:
    """Build the function that gives values and derivatives of all known terms."""
    a = Arguments(model)
    context = Context(a)
    chains: list[Any] = []
    widths: list[int] = []
    general: list[tuple[int, Any]] = []
    for known in model.knowns:
        for term in known.terms:
            for i in range(known.count):
                value = context.lower(known.batch, i, term.expr)
                if term.kind == "pieces":
                    general.append((len(widths), value))
                    widths.append(0)
                else:
                    chain = _chain(value, a.t, term)
                    chains += chain
                    widths.append(len(chain))
    arguments = [a.vector("p"), a.vector("d"), a.vector("r"), a.t]
    states = ca.Function("sources", arguments, [ca.vertcat(*chains) if chains else ca.SX.zeros(0)])
    functions = tuple((k, ca.Function("source", arguments, [value])) for k, value in general)
    p, d, r = (np.array(a.numbers(kind), np.int64) for kind in "pdr")
    return SourceProgram(Buffered(states), p, d, r, tuple(widths), functions)


def _chain(value: Any, t: Any, term: Term) -> list[Any]:
    """The value and its time derivatives, as many as the term has states."""
    chain = [value]
    for _ in range(term.states - 1):
        chain.append(ca.jacobian(chain[-1], t))
    return chain
