"""Functions for equations and conditions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..errors import ExpressionError
from .expressions import Expr, Symbol, condition, fold, walk, wrap
from .fields import Computed, Parameter, Variable
from .number_checks import is_finite, shown
from .operations import MARKS
from .tables import order_problem
from .typed_fields import Input, Output


def _unary(name: str, doc: str) -> Any:
    def function(x: Any) -> Expr:
        return Expr(name, (wrap(x),))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


sin = _unary("sin", "Return the sine; argument in rad.")
cos = _unary("cos", "Return the cosine; argument in rad.")
tan = _unary("tan", "Return the tangent; argument in rad.")
asin = _unary("asin", "Return the inverse sine in rad.")
acos = _unary("acos", "Return the inverse cosine in rad.")
atan = _unary("atan", "Return the inverse tangent in rad.")
sinh = _unary("sinh", "Return the hyperbolic sine.")
cosh = _unary("cosh", "Return the hyperbolic cosine.")
tanh = _unary("tanh", "Return the hyperbolic tangent.")
exp = _unary("exp", "Return the exponential.")
log = _unary("log", "Return the natural logarithm.")
sqrt = _unary("sqrt", "Return the square root.")
sign = _unary("sign", "Return -1, 0 or 1.")
floor = _unary(
    "floor",
    "Return the largest integer not above the argument; of time and of unknowns it changes at events.",
)
absolute = _unary("abs", "Return the absolute value.")


def atan2(y: Any, x: Any) -> Expr:
    """Return the angle of the point (x, y) in rad."""
    return Expr("atan2", (wrap(y), wrap(x)))


def minimum(*args: Any) -> Expr:
    """Return the smallest argument."""
    return _chain("min", args)


def maximum(*args: Any) -> Expr:
    """Return the largest argument."""
    return _chain("max", args)


def mod(x: Any, y: Any) -> Expr:
    """Return ``x - y * floor(x / y)``; of time and of unknowns every wrap is an event."""
    return Expr("mod", (wrap(x), wrap(y)))


def and_(*args: Any) -> Expr:
    """Return the condition that all arguments hold."""
    return _chain("and", [condition(a) for a in args])


def or_(*args: Any) -> Expr:
    """Return the condition that at least one argument holds."""
    return _chain("or", [condition(a) for a in args])


def xor_(a: Any, b: Any) -> Expr:
    """Return the condition that exactly one argument holds."""
    return Expr("xor", (condition(a), condition(b)))


def not_(a: Any) -> Expr:
    """Return the condition that the argument does not hold."""
    return Expr("not", (condition(a),))


def if_else(cond: Any, a: Any, b: Any) -> Expr:
    """Return ``a`` while ``cond`` holds, else ``b``; relations in ``cond`` make events."""
    return Expr("if_else", (condition(cond), wrap(a), wrap(b)))


def der(x: Any) -> Expr:
    """Return the time derivative of a variable, or of a sum of variables with constant factors."""
    _, slope = fold(wrap(x), _slope_of_leaf, _slope_of_operation)
    if isinstance(slope, ExpressionError):
        raise slope
    return slope


_Slope = tuple[bool, Expr | ExpressionError]
"""Whether a part holds numbers and parameters only, and its derivative or why it has none."""


def _slope_of_leaf(node: Expr) -> _Slope:
    if not isinstance(node, Symbol):
        known = node.op in ("const", "true")
        return node.op == "const", wrap(0) if known else _underivable(node)
    f = node.field
    if isinstance(f, Variable) or (isinstance(f, (Input, Output)) and f.type is float):
        return False, Expr("der", (node,))
    error = ExpressionError(
        f"der({node}): `{node}` is a {type(f).__name__}, which does not move", hint="differentiate a Variable"
    )
    return isinstance(f, Parameter), error


def _slope_of_operation(node: Expr, args: list[_Slope]) -> _Slope:
    op, factor = node.op, all(known for known, _ in args)
    needed = [slope for _, slope in args] if op in ("+", "-", "neg") else []
    if op == "*" and args[0][0]:
        needed = [args[1][1]]
    elif op in ("*", "/") and args[1][0]:
        needed = [args[0][1]]
    slopes = [s for s in needed if isinstance(s, Expr)]
    if not needed:
        return factor, _underivable(node)
    if len(slopes) < len(needed):
        return factor, next(s for s in needed if not isinstance(s, Expr))
    if op == "*" and args[0][0]:
        return factor, Expr("*", (node.args[0], slopes[0]))
    return factor, Expr(op, (slopes[0], node.args[1]) if op in ("*", "/") else tuple(slopes))


def _underivable(node: Expr) -> ExpressionError:
    return ExpressionError(
        f"der({node}) is not a derivative of a variable",
        hint="declare a Variable for the expression, state it with Eq, and differentiate the variable",
    )


def _is_computed(expr: Expr) -> bool:
    variables = [n for n in walk(expr) if isinstance(n, Symbol)]
    return any(isinstance(n.field, Computed) for n in variables)


def pre(x: Symbol | Expr) -> Expr:
    """Return the value of a variable in the previous micro-step, which at first is that before the instant.

    Raises
    ------
    ExpressionError
        If ``x`` is an expression, not a variable.
    """
    if not isinstance(x, Symbol):
        raise ExpressionError(f"pre({x}) needs a variable, not an expression")
    return Expr("pre", (x,))


def edge(b: Any) -> Expr:
    """Return the condition that a discrete condition just became true: ``b & ~pre(b)``."""
    return Expr("edge", (_discrete(condition(b), "edge"),))


def change(d: Any) -> Expr:
    """Return the condition that a discrete variable differs from its previous value."""
    return Expr("change", (_discrete(wrap(d), "change"),))


def _discrete(expr: Expr, name: str) -> Expr:
    if not isinstance(expr, Symbol) or not expr.marks & MARKS["d"]:
        raise ExpressionError(
            f"{name}({expr}) needs a discrete variable", hint="declare a Discrete and state it with Eq"
        )
    return expr


def sample(*positional: Any, period: Any = None, start: Any = 0.0) -> Expr:
    """Return the condition that is true at ``start + k * period``, k = 0, 1, ..., for one micro-step.

    Both are in seconds and depend on parameters only.
    """
    if positional or period is None:
        got = f", got sample({', '.join(map(shown, positional))})" if positional else ""
        raise ExpressionError(
            f"sample() needs the keyword `period`{got}", hint="sample(period=1e-3, start=0.0)"
        )
    for name, value in (("period", wrap(period)), ("start", wrap(start))):
        if not fold(value, _slope_of_leaf, _slope_of_operation)[0]:
            when = "is computed at the start" if _is_computed(value) else "changes during a run"
            raise ExpressionError(
                f"the {name} of sample() is `{value}`, which {when}",
                hint="let it depend on parameters only; for irregular times compare: `when(time >= self.next, ...)`",
            )
    if isinstance(period, (int, float)) and not 0 < period < math.inf:
        raise ExpressionError(f"the period of sample() must be positive, got {period:g}")
    return Expr("sample", (wrap(period), wrap(start)))


def initial() -> Expr:
    """Return the condition that is true during the first micro-step of a run."""
    return Expr("initial")


def terminal() -> Expr:
    """Return the condition that is true after the last instant of a run."""
    return Expr("terminal")


def no_event(x: Any) -> Expr:
    """Return the expression with its relations evaluated as they come, without events."""
    # A copy: a relation that the model uses elsewhere too makes its events there, and none in here.
    inner = fold(wrap(x), lambda leaf: leaf, lambda node, args: Expr(node.op, tuple(args), node.data))
    return Expr("no_event", (inner,))


_NOT_SIMPLIFIED = frozenset(
    {"time", "der", "pre", "edge", "change", "sample", "initial", "terminal", "table", "homotopy"}
)


def homotopy(actual: Any, simplified: Any) -> Expr:
    """Return ``actual``; ``simplified`` helps to find the start where ``actual`` alone does not lead to it.

    The model means ``actual``, at the start too. Where the nonlinear equations of the start are not solved from the
    start values, they are solved with ``simplified``, and the solution is followed while ``actual`` takes its place
    step by step: ``lambda * actual + (1 - lambda) * simplified``, ``lambda`` from 0 to 1, in all homotopies of the model
    together. Where they are solved at once, or are affine, ``simplified`` does nothing.

    Parameters
    ----------
    actual : expression
    simplified : expression
        Of the same unit, over variables and parameters: the law without its strong nonlinearity, such as a pressure loss
        that is proportional to the flow.

    Raises
    ------
    ExpressionError
        If ``simplified`` contains time, derivatives, tables, events or another homotopy.

    Notes
    -----
    The operator of that name of Modelica (Language Specification 3.6, section 3.7.4.3; Sielemann et al., "Robust
    Initialization of Differential-Algebraic Equations Using Homotopy", Proceedings of the 8th International Modelica
    Conference, 2011).
    """
    simple = wrap(simplified)
    for node in walk(simple):
        if node.op in _NOT_SIMPLIFIED:
            raise ExpressionError(
                f"the simplified part of homotopy() contains `{node}`",
                hint="write it over variables and parameters; time and derivatives belong into the actual part",
            )
    # Beside the arguments: what an expression depends on, its events included, is what `actual` does.
    return Expr("homotopy", (wrap(actual),), (simple,))


def table(x: Any, xs: Sequence[float], ys: Sequence[float]) -> Expr:
    """Return the piecewise-linear interpolation of (xs, ys) at ``x``, constant outside.

    The points ascend, strictly unless ``x`` contains time: over time two equal points make a step.
    A table has an event at every breakpoint, unless it stands in ``no_event``.

    Raises
    ------
    ExpressionError
        If points or values are not numbers, not finite, not equally many, or do not ascend.
    """
    at = wrap(x)
    points, values = _numbers("points", xs), _numbers("values", ys)
    if len(points) != len(values) or not points:
        raise ExpressionError(
            f"table() needs as many values as points, got {len(values)} values for {len(points)} points"
        )
    over_time = any(n.op == "time" for n in walk(at))
    problem = order_problem(points, steps=over_time)
    if problem:
        hint = "sort the points; equal ones make a step" if over_time else "sort the points, each once"
        raise ExpressionError(f"the points of table() {problem}", hint=hint)
    return Expr("table", (at,), (points, values))


def _numbers(what: str, given: Any) -> tuple[float, ...]:
    """Return a sequence of finite numbers as floats, or raise ExpressionError."""
    flat = not isinstance(given, (str, bytes, Expr)) and hasattr(given, "__len__")
    if not flat or any(not hasattr(v, "__float__") or getattr(v, "ndim", 0) for v in given):
        raise ExpressionError(f"table() needs a sequence of numbers as {what}, got {shown(given)}")
    if not all(map(is_finite, given)):
        raise ExpressionError(f"table() needs finite {what}, got {shown(given)}")
    return tuple(map(float, given))


def _chain(op: str, args: Sequence[Any]) -> Expr:
    if not args:
        raise ExpressionError(f"{op}() needs at least one argument")
    result = wrap(args[0])
    for a in args[1:]:
        result = Expr(op, (result, wrap(a)))
    return result
