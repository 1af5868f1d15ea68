"""Parameter expressions as numbers."""

from __future__ import annotations

import math
import operator as o
from typing import Any

import numpy as np

from ..errors import ParameterError
from .expressions import Expr, Symbol, fold
from .fields import MISSING, Computed
from .operations import ARITHMETIC


def evaluate(expr: Expr) -> float:
    """Return the number of a parameter expression.

    Raises
    ------
    ParameterError
        If it has no value: a division by zero, a root of a negative number, ...
    """

    def leaf(node: Expr) -> float:
        if isinstance(node, Symbol):
            if isinstance(node.field, Computed):
                raise ParameterError(f"`{node}` has no number before the start, at which it is computed")
            value = given(node.owner, node.field)
            for index in node.name[len(node.field.name) :].replace("]", "").split("[")[1:]:
                value = value[int(index)]
            return number_of(value)
        return node.data

    try:
        return fold(expr, leaf, lambda node, args: FUNCTIONS[node.op](*args, *(node.data or ())))
    except ParameterError:
        raise
    except (ArithmeticError, ValueError) as error:
        raise ParameterError(f"the binding `{expr}` has no value: {error}") from None


def interpolate(x: Any, xs: tuple[float, ...], ys: tuple[float, ...]) -> Any:
    """Return the piecewise-linear interpolation, constant outside."""
    return np.interp(x, xs, ys)


def _functions() -> dict[str, Any]:
    unary = {
        n: getattr(math, n)
        for n in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log")
    }
    return {
        "table": interpolate, **ARITHMETIC, **unary, "sqrt": math.sqrt, "abs": abs, "floor": math.floor, "atan2": math.atan2,
        "sign": lambda x: (x > 0) - (x < 0), "min": min, "max": max, "mod": lambda x, y: x - y * math.floor(x / y),
        "<": o.lt, "<=": o.le, ">": o.gt, ">=": o.ge, "==": o.eq, "!=": o.ne, "if_else": lambda c, a, b: a if c else b,
        "and": lambda a, b: a and b, "or": lambda a, b: a or b, "not": o.not_, "xor": o.xor, "no_event": lambda a: a,
        "homotopy": lambda actual, *_: actual,
    }  # fmt: skip


FUNCTIONS = _functions()
"""Operation -> function of numbers."""


def given(owner: Any, field: Any) -> Any:
    """Return what a parameter of a component object is set or bound to.

    Raises
    ------
    ParameterError
        If it is left to the run.
    """
    value = owner.__dict__.get(field.name, field.default)
    if value is MISSING:
        raise ParameterError(
            f"`{field.name}` of {type(owner).__name__} has no value",
            where=owner.location(),
            hint=f"give it as keyword, {type(owner).__name__}({field.name}=...), or set it",
        )
    return value


def number_of(value: Any) -> Any:
    """Return the number (nested tuple for an array) of a value or binding."""
    if isinstance(value, Expr):
        return evaluate(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return tuple(number_of(v) for v in value)
    return value
