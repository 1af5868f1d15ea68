"""Expressions of one instance as CasADi SX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ..modeling.array_forms import Algebra, ArrayForm
from ..modeling.expressions import Expr
from ..modeling.operations import ARITHMETIC

_SX: dict[str, Any] = {
    **ARITHMETIC,
    "sin": ca.sin, "cos": ca.cos, "tan": ca.tan, "asin": ca.asin, "acos": ca.acos, "atan": ca.atan, "atan2": ca.atan2,
    "sinh": ca.sinh, "cosh": ca.cosh, "tanh": ca.tanh, "exp": ca.exp, "log": ca.log, "sqrt": ca.sqrt, "abs": ca.fabs,
    "sign": ca.sign, "floor": ca.floor, "min": ca.fmin, "max": ca.fmax, "mod": lambda x, y: x - y * ca.floor(x / y),
    "<": ca.lt, "<=": ca.le, ">": ca.gt, ">=": ca.ge, "==": ca.eq, "!=": ca.ne,
    "and": ca.logic_and, "or": ca.logic_or, "not": ca.logic_not, "xor": ca.ne,
    "if_else": ca.if_else, "no_event": lambda x: x, "homotopy": lambda x: x,
}  # fmt: skip


def apply(op: str, *arguments: Any) -> Any:
    """Return the SX of an operation."""
    return _SX[op](*arguments)


def lower(
    expr: Expr,
    leaf: Callable[[Expr], Any],
    special: Callable[[Expr], Any],
    tables: dict[int, Any] | None = None,
) -> Any:
    """Return the SX of an expression.

    Parameters
    ----------
    leaf : callable
        SX of a symbol, of time and of conditions without arguments.
    special : callable
        SX of a node that does not follow from its arguments (frozen relations, ``pre``, ``sample``, ...), else None.
    tables : dict, optional
        Functions that hold the data of nodes by identity, which are taken from here and added; the caller keeps the nodes alive.
    """
    known: dict[int, Any] = {} if tables is None else tables
    given: dict[int, Any] = {}

    def apart(node: Expr) -> bool:
        made = special(node)
        if made is not None:
            given[id(node)] = made
        return made is not None

    def at_leaf(node: Expr) -> Any:
        if node.op in ("const", "true"):
            return ca.SX(float(node.data))
        return given[id(node)] if node.args else leaf(node)

    def apply(node: Expr, args: list[Any]) -> Any:
        if node.op not in ("lookup", "piece"):
            return _SX[node.op](*args)
        if id(node) not in known:
            known[id(node)] = _table(node)
        (at,) = args
        return ca.vertcat(*[known[id(node)](x) for x in ca.vertsplit(ca.SX(at))])

    return ArrayForm(expr, apart).value(at_leaf, Algebra(_stacked, _total, apply))


def _stacked(values: Sequence[Any]) -> Any:
    return ca.vertcat(*values)


def _total(value: Any, rows: Any) -> Any:
    return ca.sum1(ca.vertcat(value, rows))


def _table(node: Expr) -> Any:
    """For a lookup ``data[at]``; for a piece the count of points in the data that are not above the argument.

    A function that holds the data, so that neither the expressions that call it nor their evaluation grow with them.
    """
    data, x = np.array(node.data), ca.MX.sym("x")
    if node.op == "lookup":
        found = _lookup(data, x)
    else:
        points, counts = np.unique(data, return_counts=True)
        place = ca.fmax(
            0.0, ca.fmin(ca.floor(_linear(points, np.arange(len(points), dtype=float))(x)), len(points) - 1.0)
        )
        found = ca.if_else(x < points[0], 0.0, _lookup(np.cumsum(counts).astype(float), place))
    return ca.Function(node.op, [x], [found], {"never_inline": True})


def _lookup(values: np.ndarray, at: Any) -> Any:
    return _linear(np.arange(len(values), dtype=float), values)(at)


def _linear(x: np.ndarray, y: np.ndarray) -> Any:
    """Linear interpolation as a function of MX."""
    if len(x) == 1:
        return lambda at: ca.MX(float(y[0]))
    return ca.interpolant("table", "linear", [x], y)


BATCH = 64
"""Points evaluated by one call."""
FEW = 16
"""Points up to which calls of one each are faster than one of a whole batch."""


class Buffered:
    """A CasADi function called through its buffer: no conversion of arguments.

    ``inputs`` and ``outputs`` are arrays that the caller fills and reads. A buffer holds entries that may differ from zero
    alone; so outputs in which some never do are made dense.
    """

    def __init__(self, f: ca.Function) -> None:
        if not all(f.sparsity_out(k).is_dense() for k in range(f.n_out())):
            given = f.mx_in()
            f = ca.Function(f.name(), given, [ca.densify(part) for part in f.call(given)])
        self.function = f
        self.inputs = [np.zeros(f.numel_in(k)) for k in range(f.n_in())]
        self.outputs = [np.zeros(f.numel_out(k)) for k in range(f.n_out())]
        buffer: Any
        buffer, self.evaluate = f.buffer()
        self._buffer = buffer  # the function writes through it
        a: Any
        for k, a in enumerate(self.inputs):
            buffer.set_arg(k, memoryview(a))
        for k, a in enumerate(self.outputs):
            buffer.set_res(k, memoryview(a))

    def __call__(self) -> None:
        """Evaluate ``outputs`` from ``inputs``."""
        self.evaluate()

    def copy(self) -> Buffered:
        """Return the same function with arrays of its own: runs in several threads share no buffer."""
        return Buffered(self.function)


class Many:
    """A CasADi function of vectors at many points.

    Parameters
    ----------
    single : Buffered
    mapped : callable
        Makes the function mapped over `BATCH` points, when it is first needed.
    """

    def __init__(self, single: Buffered, mapped: Callable[[], ca.Function]) -> None:
        self._single, self._mapped = single, mapped
        self._batch: Buffered | None = None

    def __call__(self, inputs: list[Any], common: dict[int, Any]) -> list[Any]:
        """Outputs (k, ...) at points (k, ...), one array for each input that is not ``common``, in order."""
        k, f = len(inputs[0]), self._single
        outputs = [np.empty((k, x.size)) for x in f.outputs]
        own = [i for i in range(len(f.inputs)) if i not in common]
        few = k < FEW
        if not few and self._batch is None:
            self._batch = Buffered(self._mapped())
        if not few and self._batch is not None:
            f = self._batch
        held = 1 if few else BATCH
        for i, values in common.items():
            f.inputs[i].reshape(held, -1)[:] = values
        for begin in range(0, k, held):
            count = min(held, k - begin)
            for i, values in zip(own, inputs, strict=True):
                f.inputs[i].reshape(held, -1)[:count] = values[begin : begin + count]
            # Nothing is written where a matrix is exactly singular.
            for part in f.outputs:
                part.fill(np.nan)
            f()
            for found, part in zip(outputs, f.outputs, strict=True):
                found[begin : begin + count] = part.reshape(held, -1)[:count]
        return outputs
