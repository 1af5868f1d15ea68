"""Magnitudes of known expressions, and of variables in rows that are not affine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..flattening.flat_model import kind_of
from ..modeling.expressions import RELATIONS, Expr, Symbol, fold, walk
from .core import Values, evaluate
from .reduced_model import ReducedModel

_MAGNITUDE: dict[str, Any] = {
    "+": np.add, "-": np.add, "*": np.multiply, "neg": lambda a: a, "min": np.maximum, "max": np.maximum,
    "if_else": lambda c, a, b: np.maximum(a, b), "/": lambda a, b: np.divide(a, b, out=np.zeros_like(a + b), where=b > 0),
}  # fmt: skip


def magnitude(model: ReducedModel, stamp: int, expr: Expr, values: Values, span: float) -> np.ndarray:
    """Bound of a known expression over the run: sums of magnitudes, choices at their larger side."""
    forms, s = model.forms[stamp], model.flat.stamps[stamp]
    ones = np.ones(len(s.vb))

    def leaf(node: Expr) -> np.ndarray:
        if isinstance(node, Symbol) and kind_of(node) == "v":
            return 0.0 * ones  # constants alone tell
        if isinstance(node, Symbol) or node.op in ("const", "true"):
            return np.abs(evaluate(model, stamp, node, values))
        return ones * span if node.op == "time" else ones

    def apply(node: Expr, args: list[Any]) -> Any:
        if node.op in ("sin", "cos", "exp", "tanh"):
            return ones
        if node.op in _MAGNITUDE:
            return _MAGNITUDE[node.op](*args)
        if forms.is_static(node):
            return np.abs(evaluate(model, stamp, node, values))
        return args[0]

    return fold(expr, leaf, apply, lambda node: ones if node.op in RELATIONS else None)


def nonlinear_magnitudes(model: ReducedModel, values: Values, span: float) -> np.ndarray:
    """Magnitudes (nv,) that constants of nonlinear rows give to the variables beside them, 0 elsewhere.

    The row ``dx = r*cos(phi)`` gives that of ``r`` to ``dx``, at any angle, and 1 to ``phi``.
    """
    found = np.zeros(model.flat.nv)
    for rows in model.nonlinear:
        forms, s = model.forms[rows.stamp], model.flat.stamps[rows.stamp]
        for node in walk(rows.form.expr):
            angle = node.args[0] if node.op in ("sin", "cos") else None
            local = forms.classify(angle) if isinstance(angle, Symbol) else None
            if local is not None:
                np.maximum.at(found, s.vb[rows.instances] + local, 1.0)
        terms = list(_terms(rows.form.expr))
        alone = [t for t in terms if isinstance(t, Symbol) and kind_of(t) == "v"]
        if not alone:
            continue
        sizes = [magnitude(model, rows.stamp, t, values, span)[rows.instances] for t in terms]
        largest = np.max(sizes, axis=0)
        for term in alone:
            local = forms.classify(term)
            if local is not None:
                np.maximum.at(found, s.vb[rows.instances] + local, largest)
    return np.where(np.isfinite(found), found, 0.0)


def bounded_magnitudes(model: ReducedModel, values: Values) -> np.ndarray:
    """Magnitudes (nv,) that variables do not exceed whatever moves, and 1 for angles; 0 elsewhere.

    ``dx = r*cos(phi)`` bounds ``dx`` by ``r``. No start next to zero and no length of a run makes it larger or smaller.
    """
    found = np.zeros(model.flat.nv)
    for rows in model.nonlinear:
        forms, first = model.forms[rows.stamp], model.flat.stamps[rows.stamp].vb[rows.instances]
        for node in walk(rows.form.expr):
            angle = node.args[0] if node.op in ("sin", "cos") else None
            local = forms.classify(angle) if isinstance(angle, Symbol) else None
            if local is not None:
                np.maximum.at(found, first + local, 1.0)
        terms = list(_terms(rows.form.expr))
        alone = [t for t in terms if isinstance(t, Symbol) and kind_of(t) == "v"]
        rest = [t for t in terms if not (isinstance(t, Symbol) and kind_of(t) == "v")]
        local = forms.classify(alone[0]) if len(alone) == 1 and all(map(_bounded, rest)) else None
        if local is not None and rest:
            sizes = [magnitude(model, rows.stamp, t, values, 0.0)[rows.instances] for t in rest]
            np.maximum.at(found, first + local, np.max(sizes, axis=0))
    return np.where(np.isfinite(found), found, 0.0)


def _bounded(expr: Expr) -> bool:
    """Whether variables occur in sines and cosines only, and time nowhere."""
    if expr.op in ("sin", "cos"):
        return True
    if isinstance(expr, Symbol):
        return kind_of(expr) == "p"
    return expr.op in ("const", "+", "-", "*", "neg", "/") and all(map(_bounded, expr.args))


def _terms(expr: Expr) -> Iterator[Expr]:
    """The terms of a sum."""
    left = [expr]
    while left:
        node = left.pop()
        if node.op in ("+", "-", "neg"):
            left.extend(node.args)
        else:
            yield node
