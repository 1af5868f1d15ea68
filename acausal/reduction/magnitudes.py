"""Magnitudes of known expressions, and of variables in rows that are not affine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..flattening.flat_model import VECTOR, kind_of
from ..modeling.expressions import Expr, Symbol, fold, walk
from ..modeling.operations import RELATIONS
from ..values import frozen
from .core import Values, evaluate
from .reduced_model import NonlinearFormRows, ReducedModel

_MAGNITUDE: dict[str, Any] = {
    "+": np.add, "-": np.add, "*": np.multiply, "neg": lambda a: a, "min": np.maximum, "max": np.maximum,
    "/": lambda a, b: np.divide(a, b, out=np.zeros_like(a + b), where=b > 0),
}  # fmt: skip
_MONOTONIC = ("+", "-", "neg", "min", "max", "and", "or", "not", *RELATIONS)


@frozen
class _Bound:
    """Magnitude of an expression, and the same of its constants alone."""

    magnitude: np.ndarray
    constant: np.ndarray


def magnitude(model: ReducedModel, batch: int, expr: Expr, values: Values, span: float) -> np.ndarray:
    """Bound of a known expression over the run: sums of magnitudes, choices at their larger side.

    A discrete counts with its present value, and not at all in the side of a choice that it keeps out of force whatever the
    time: what has not happened yet may be marked there by a value beyond all others.
    """
    discretes, _ = model.reads(batch, expr)
    read = discretes, np.zeros(0, np.int64)
    return values.still(
        ("magnitude", batch, id(expr), span), read, lambda: _magnitude(model, batch, expr, values, span)
    )


def _magnitude(model: ReducedModel, batch: int, expr: Expr, values: Values, span: float) -> np.ndarray:
    forms, s = model.forms[batch], model.flat.batches[batch]
    one, zero = _Bound(np.ones(len(s)), np.ones(len(s))), _Bound(np.zeros(len(s)), np.zeros(len(s)))
    ends = _Ends(len(s), span, lambda node: evaluate(model, batch, node, values))

    def leaf(node: Expr) -> _Bound:
        if isinstance(node, Symbol) and kind_of(node) == "v":
            return zero  # constants alone tell
        if isinstance(node, Symbol) or node.op in ("const", "true", "time"):
            size = np.abs(ends.of(node)[1])
            return _Bound(size, zero.constant if isinstance(node, Symbol) and kind_of(node) == "d" else size)
        return one

    def whole(node: Expr) -> _Bound | None:
        return one if node.op in RELATIONS or node.op in ("sin", "cos", "exp", "tanh") else None

    def apply(node: Expr, args: list[_Bound]) -> _Bound:
        if node.op == "if_else":
            condition = ends.of(node.args[0])
            return _chosen(np.where(condition[0] == condition[1], condition[0], np.nan), args[1], args[2])
        if node.op in ("min", "max"):
            a, b = map(ends.of, node.args)
            first = VECTOR["<" if node.op == "min" else ">"](a, b)
            certain = (first[0] == first[1]) & ~np.isnan(a + b).any(axis=0)
            return _chosen(np.where(certain, first[0], np.nan), args[0], args[1])
        if node.op in _MAGNITUDE:
            combine = _MAGNITUDE[node.op]
            return _Bound(combine(*(a.magnitude for a in args)), combine(*(a.constant for a in args)))
        if forms.is_static(node):
            size = np.abs(evaluate(model, batch, node, values))
            return _Bound(size, size)
        return args[0]

    return fold(expr, leaf, apply, whole).magnitude


def _chosen(first: np.ndarray, a: _Bound, b: _Bound) -> _Bound:
    """Choice of ``a`` where ``first`` is true, of ``b`` where it is false, and of any where it is NaN."""
    of_a = np.where(first == 0.0, a.constant, a.magnitude)
    of_b = np.where(first == 1.0, b.constant, b.magnitude)
    return _Bound(np.maximum(of_a, of_b), np.maximum(a.constant, b.constant))


class _Ends:
    """Values of expressions at both ends of the run (2, instances), NaN where they may not bound what lies between.

    Where both are the same time does not change the value.
    """

    def __init__(self, instances: int, span: float, value: Callable[[Expr], np.ndarray]) -> None:
        self._unknown, self._span, self._value = np.full((2, instances), np.nan), span, value
        self._found: dict[int, np.ndarray] = {}

    def of(self, expr: Expr) -> np.ndarray:
        """The values of an expression, which the caller keeps alive."""
        return fold(expr, self._leaf, self._apply, value=self._found)

    def _leaf(self, node: Expr) -> np.ndarray:
        if node.op == "time":
            return np.array([[0.0], [self._span]]) + np.zeros_like(self._unknown)
        if node.op in ("const", "true") or (isinstance(node, Symbol) and kind_of(node) != "v"):
            value = self._value(node)
            return np.stack([value, value])
        return self._unknown

    def _apply(self, node: Expr, args: list[np.ndarray]) -> np.ndarray:
        steady = [a[0] == a[1] for a in args]
        moving = sum((~s).astype(int) for s in steady)
        linear = node.op == "*" or (node.op == "/" and steady[1].all())
        bounded = np.ones_like(moving, bool) if node.op in _MONOTONIC else moving <= int(linear)
        known = bounded & ~np.isnan(sum(args)).any(axis=0)
        if not known.any() or node.op not in VECTOR:
            return self._unknown
        with np.errstate(all="ignore"):
            value = VECTOR[node.op](*args, *(node.data or ()))
        return np.where(known, np.asarray(value, float), np.nan)


def nonlinear_magnitudes(model: ReducedModel, values: Values, span: float) -> np.ndarray:
    """Magnitudes (nv,) that constants of nonlinear rows give to the variables beside them, 0 elsewhere.

    The row ``dx = r*cos(phi)`` gives that of ``r`` to ``dx``, at any angle, and 1 to ``phi``.
    """
    found = np.zeros(model.flat.nv)
    for rows in model.nonlinear:
        first, alone, rest = _variables(model, rows, found)
        sizes = [magnitude(model, rows.batch, t, values, span)[rows.instances] for t in rest if alone]
        for local in alone:
            np.maximum.at(found, first + local, np.max(sizes, axis=0, initial=0.0))
    return np.where(np.isfinite(found), found, 0.0)


def bounded_magnitudes(model: ReducedModel, values: Values) -> np.ndarray:
    """Magnitudes (nv,) that variables do not exceed whatever moves, and 1 for angles; 0 elsewhere.

    ``dx = r*cos(phi)`` bounds ``dx`` by ``r``. No start next to zero and no length of a run makes it larger or smaller.
    """
    found = np.zeros(model.flat.nv)
    for rows in model.nonlinear:
        first, alone, rest = _variables(model, rows, found)
        if len(alone) == 1 and rest and all(map(_bounded, rest)):
            sizes = [magnitude(model, rows.batch, t, values, 0.0)[rows.instances] for t in rest]
            np.maximum.at(found, first + alone[0], np.max(sizes, axis=0))
    return np.where(np.isfinite(found), found, 0.0)


def _variables(
    model: ReducedModel, rows: NonlinearFormRows, found: np.ndarray
) -> tuple[np.ndarray, list[int], list[Expr]]:
    """First variables of the instances of rows, variables that are terms by themselves, and the other terms.

    Angles get a magnitude of one in ``found``.
    """
    forms, first = model.forms[rows.batch], model.flat.batches[rows.batch].vb[rows.instances]
    for node in walk(rows.form.expr):
        angle = node.args[0] if node.op in ("sin", "cos") else None
        local = forms.classify(angle) if isinstance(angle, Symbol) else None
        if local is not None:
            np.maximum.at(found, first + local, 1.0)
    terms = list(_terms(rows.form.expr))
    alone = [forms.classify(t) if isinstance(t, Symbol) else None for t in terms]
    rest = [t for t, local in zip(terms, alone, strict=True) if local is None]
    return first, [local for local in alone if local is not None], rest


def _bounded(expr: Expr) -> bool:
    """Whether variables occur in sines and cosines only, and time nowhere."""

    def leaf(node: Expr) -> bool:
        return kind_of(node) == "p" if isinstance(node, Symbol) else node.op == "const"

    def apply(node: Expr, args: list[bool]) -> bool:
        return node.op in ("sin", "cos") or (node.op in ("+", "-", "*", "neg", "/") and all(args))

    return fold(expr, leaf, apply)


def _terms(expr: Expr) -> Iterator[Expr]:
    """The different terms of a sum."""
    seen: set[int] = set()
    left = [expr]
    while left:
        node = left.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.op in ("+", "-", "neg"):
            left.extend(node.args)
        else:
            yield node
