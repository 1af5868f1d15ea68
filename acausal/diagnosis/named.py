"""Expressions of instances with the whole paths of their variables, as formulas are shown and evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..flattening.flat_model import VECTOR, FlatModel, kind_of
from ..modeling.expressions import Expr, Symbol, constant, fold, walk
from .algebra import simplified_product, tidied, total, with_numbers
from .differentiation import time_derivative

TIME = Symbol(None, "time", None)
"""Stands for time in named expressions, so that it counts as a known quantity among others."""


Slope = Callable[[int, int], "dict[tuple[int, int], float] | None"]


class NamedExpressions:
    """The variables of a flattened model as symbols with whole paths.

    Parameters
    ----------
    flat : FlatModel
    aliases : (representative, sign), optional
        Variables that are replaced: ``x[j] = sign[j] * x[representative[j]]``, zero where the sign is 0.
    parameters : ndarray, optional
        Values of all parameters, for numbers beside formulas.
    numeric : bool
        Leave out what is zero, or a factor of one, by the values of the parameters.
    """

    def __init__(
        self,
        flat: FlatModel,
        aliases: tuple[np.ndarray, np.ndarray] | None = None,
        parameters: np.ndarray | None = None,
        numeric: bool = False,
    ) -> None:
        self.flat, self.aliases, self.parameters, self.numeric = flat, aliases, parameters, numeric
        self._symbols: dict[tuple[str, int, int], Symbol] = {}
        self._meaning: dict[int, tuple[str, int, int]] = {}

    def variable(self, v: int, order: int = 0) -> str:
        """Return the path of a variable, or of its derivative as ``der(path)``."""
        name = self.flat.variable(v)
        return name if order == 0 else f"der({name})" if order == 1 else f"der({name}, {order})"

    @cached_property
    def _fields(self) -> dict[int, Any]:
        return self.flat.field_of("v")

    def field(self, v: int) -> Any:
        """Return what is declared about a variable."""
        return self._fields[v]

    def unit(self, v: int) -> str:
        """Return the unit of a variable."""
        return self._fields[v].unit

    @cached_property
    def inputs(self) -> frozenset[int]:
        """Open inputs of the model: variables that are given."""
        root = self.flat.root
        return frozenset(int(root.index("v", n) or 0) for n in root.inputs if n in root.variables)

    def symbol(self, v: int, order: int = 0) -> Symbol:
        """Return the symbol that stands for a variable, or its derivative, in `expressions`; always the same object."""
        return self._symbol("v", v, order)

    def _symbol(self, kind: str, k: int, order: int = 0) -> Symbol:
        found = self._symbols.get((kind, k, order))
        if found is None:
            names = {"v": self.flat.variable, "p": self.flat.parameter, "d": self.flat.discrete}
            name = self.variable(k, order) if kind == "v" else names[kind](k)
            found = self._symbols[kind, k, order] = Symbol(None, name, None)
            self._meaning[id(found)] = (kind, k, order)
        return found

    def named(self, batch: int, instance: int, expr: Expr) -> Expr:
        """Return an expression of one instance with whole paths; time and derivatives become symbols."""
        flat = self.flat
        known: dict[int, float] = {}

        def leaf(node: Expr) -> Expr:
            if isinstance(node, Symbol):
                kind = kind_of(node)
                k = flat.symbol(batch, instance, kind, node)
                made = self._variable(k) if kind == "v" else self._symbol(kind, k)
                if kind == "p" and self.parameters is not None:
                    known[id(made)] = float(self.parameters[k])
                return made
            return TIME if node.op == "time" else node

        def apply(node: Expr, args: list[Expr]) -> Expr:
            if node.op == "der":
                return self._raised(args[0])
            values = [a.data if a.op == "const" else known.get(id(a)) for a in args]
            if not self.numeric or all(v is None for v in values):
                return tidied(node.op, args, node.data)
            if any(v is None for v in values):
                return tidied(node.op, with_numbers(node.op, args, values), node.data)
            made = tidied(node.op, args, node.data)
            value = _value(node, values)
            if value is not None:
                known[id(made)] = value
            return made

        return fold(expr, leaf, apply)

    def _variable(self, v: int) -> Expr:
        """A variable, in terms of its representative."""
        if self.aliases is None:
            return self._symbol("v", v)
        representative, sign = self.aliases
        symbol = self._symbol("v", int(representative[v]))
        return constant(0.0) if sign[v] == 0 else symbol if sign[v] > 0 else -symbol

    def derivative(self, expr: Expr, order: int, slope: Slope | None = None) -> Expr | None:
        """Return a named expression differentiated with respect to time, None where that has no formula here.

        Parameters
        ----------
        order : int
        slope : callable, optional
            (variable, order) -> factors of other variables and derivatives that make up its time derivative, None if it
            has another part. By default every derivative is a symbol of its own.
        """
        found: Expr | None = expr
        for _ in range(order):
            missing: list[Symbol] = []

            def of(symbol: Symbol, missing: list[Symbol] = missing) -> Expr:
                made = self._slope_of(symbol) if slope is None else self._combined_slope(symbol, slope)
                if made is None:
                    missing.append(symbol)
                return constant(0.0) if made is None else made

            found = None if found is None else time_derivative(found, of)
            found = None if missing else found
        return found

    def _combined_slope(self, symbol: Symbol, slope: Slope) -> Expr | None:
        kind, v, order = self._meaning.get(id(symbol), ("time", 0, 0))
        if kind != "v":
            return self._slope_of(symbol)
        terms = slope(v, order)
        if terms is None:
            return None
        return total(
            (1 if c > 0 else -1, simplified_product(constant(float(f"{abs(c):.9g}")), self._oriented(k)))
            for k, c in terms.items()
        )

    def _oriented(self, key: tuple[int, int]) -> Expr:
        """A variable, or a derivative, in terms of its representative."""
        inner = self._variable(key[0])
        for _ in range(key[1]):
            inner = self._raised(inner)
        return inner

    def _raised(self, inner: Expr) -> Expr:
        """The time derivative of a variable, or of one of its derivatives, in terms of its representative."""
        if inner.op == "neg":
            return -self._raised(inner.args[0])
        if inner.op == "const":
            return inner
        _, v, order = self._meaning[id(inner)]
        return self._symbol("v", v, order + 1)

    def _slope_of(self, symbol: Symbol) -> Expr:
        kind, k, order = self._meaning.get(id(symbol), ("time", 0, 0))
        if kind == "v":
            return self._symbol("v", k, order + 1)
        return constant(1.0 if kind == "time" else 0.0)

    def keys(self, expr: Expr) -> set[tuple[int, int]]:
        """Return the variables of a named expression, with the orders of their derivatives."""
        found = (self._meaning.get(id(n), ("", 0, 0)) for n in walk(expr) if isinstance(n, Symbol))
        return {(v, order) for kind, v, order in found if kind == "v"}

    def evaluate(self, expr: Expr, known: Mapping[int, float]) -> float | None:
        """Return the value of a named expression of parameters and known symbols, None if another one occurs.

        Parameters
        ----------
        known : mapping of int to float
            id of a symbol -> value.
        """
        values: dict[int, float] = {}
        for node in walk(expr):
            if isinstance(node, Symbol):
                kind, k, _ = self._meaning.get(id(node), ("", 0, 0))
                value = known.get(id(node))
                if value is None and kind == "p" and self.parameters is not None:
                    value = float(self.parameters[k])
            elif node.args:
                value = _value(node, [values[id(a)] for a in node.args])
            else:
                value = node.data
            if value is None or not np.isfinite(value):
                return None
            values[id(node)] = value
        return float(values[id(expr)])


def _value(node: Expr, args: Sequence[float | None]) -> float | None:
    """The value of an operation on numbers, None for one that has none."""
    if node.op not in VECTOR:
        return None
    with np.errstate(all="ignore"):
        return VECTOR[node.op](*args, *(node.data or ()))
