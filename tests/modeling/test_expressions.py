"""Expression trees: texts, refused operators, evaluation, functions."""

import math
import pickle
from enum import Enum

import numpy as np
import pytest

from acausal import (
    Component,
    Discrete,
    ExpressionError,
    Parameter,
    Variable,
    absolute,
    and_,
    change,
    cos,
    der,
    edge,
    exp,
    floor,
    if_else,
    maximum,
    minimum,
    mod,
    not_,
    or_,
    pre,
    sample,
    sin,
    sqrt,
    table,
    time,
    xor_,
)
from acausal.modeling.evaluation import evaluate
from acausal.modeling.expressions import Expr, Symbol, fold, walk, wrap


class State(Enum):
    OFF = 0
    ON = 1


class Part(Component):
    a: Parameter = Parameter(default=2.0)
    b: Parameter = Parameter(default=3.0)
    k: Parameter = Parameter(default=(1.0, 5.0), shape=(2,))
    x: Variable = Variable()
    y: Variable = Variable()
    z: Variable = Variable(shape=(2, 2))
    on: Discrete = Discrete(bool)
    state: Discrete = Discrete(State)


part = Part()
x, y, on = part.x, part.y, part.on


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (x + y * 2, "x + y*2"),
        ((x + y) * 2, "(x + y)*2"),
        (x - (y - 1), "x - (y - 1)"),
        (x - y - 1, "x - y - 1"),
        (x / (y * 2), "x/(y*2)"),
        (-x, "-x"),
        (-(x + 1), "-(x + 1)"),
        (2**x, "2**x"),
        (abs(x), "abs(x)"),
        (x % 2, "mod(x, 2)"),
        ((x > 0) & (y <= 1), "x > 0 & y <= 1"),
        (~on | (x >= y), "not(on) | x >= y"),
        (if_else(x > 0, x, -x), "if_else(x > 0, x, -x)"),
        (der(2 * x - y / 4), "2*der(x) - der(y)/4"),
        (pre(on), "pre(on)"),
        (part.z[1][0] + time, "z[1][0] + time"),
        (part.state.equals(State.ON), "state == 1"),
        (np.float64(2.0) * x, "2*x"),
        (1 - x, "1 - x"),
    ],
)
def test_text_is_what_the_author_would_write(expr: Expr, text: str) -> None:
    assert str(expr) == text


def test_a_long_text_is_cut_in_the_middle() -> None:
    names = [f"x{k}" for k in range(100)]
    terms = [Symbol(None, name, None) for name in names]
    whole = " + ".join(names)
    assert str(sum(terms[1:], terms[0])) == f"{whole[:150]} ... {whole[-150:]}"


def test_the_text_of_shared_parts_stays_short() -> None:
    nested = x
    for _ in range(200):
        nested = nested * nested + 1
    # The whole would have 2**200 parts; it begins with brackets and ends with "... + 1) + 1".
    text = str(nested)
    assert text == "(" * 150 + " ... " + (") + 1" * 50)[-150:]


def test_arrays_of_numpy_multiply_elementwise() -> None:
    assert [str(e) for e in np.array([2.0, 3.0]) * x] == ["2*x", "3*x"]
    assert [str(e) for e in np.array([x, y]) + 1] == ["x + 1", "y + 1"]


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        (lambda: x == y, "Eq(a, b)"),
        (lambda: x != y, "Eq(a, b)"),
        (lambda: bool(x > 0), "and_"),
        (lambda: x > 0 and y > 0, "and_"),
        (lambda: not x, "not_"),
        (lambda: 0 < x < 1, "chained comparisons"),
        (lambda: max(x, y), "maximum"),
        (lambda: float(x), "functions of `acausal`"),
        (lambda: math.exp(x), "functions of `acausal`"),
        (lambda: np.sqrt(x), "functions of `acausal`"),
        (lambda: [1, 2][x], "Structural(int)"),
        (lambda: x + "1", "numbers"),
        (lambda: x + (1, 2), "each element"),
        (lambda: x & (y > 0), "compare it"),
        (lambda: and_(x, y), "compare it"),
        (lambda: der(x * y), "declare a Variable"),
        (lambda: edge(x > 0), "declare a Discrete"),
        (lambda: change(x + 1), "declare a Discrete"),
    ],
)
def test_operators_without_meaning_are_refused(wrong: object, hint: str) -> None:
    with pytest.raises(ExpressionError) as info:
        wrong()
    assert hint in info.value.hint


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: pre(x + 1),
        lambda: sample(period=0),
        lambda: sample(period=x),
        lambda: table(x, (0, 1), (0,)),
        minimum,
    ],
)
def test_functions_refuse_wrong_arguments(wrong: object) -> None:
    with pytest.raises(ExpressionError):
        wrong()


a, b = (wrap(v) for v in (2.0, 3.0))


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (a + b * 2 - 1, 7.0),
        (a**b / 4, 2.0),
        (sin(a) ** 2 + cos(a) ** 2, 1.0),
        (sqrt(exp(a)), math.e),
        (minimum(a, b, 1), 1.0),
        (maximum(a, b, 1), 3.0),
        (absolute(-b), 3.0),
        (floor(b / 2), 1.0),
        (mod(7 * a, b * 3), 5.0),
        (if_else(a < b, a, b), 2.0),
        (if_else(and_(a < b, not_(b < a)), 1, 0), 1.0),
        (if_else(or_(a > b, xor_(a < b, b > a)), 1, 0), 0.0),
    ],
)
def test_parameter_expressions_evaluate_to_numbers(expr: Expr, value: float) -> None:
    assert evaluate(expr) == pytest.approx(value, rel=1e-15)


def test_deep_expressions_need_no_recursion() -> None:
    total = wrap(0.0)
    for _ in range(20_000):
        total = total + 1
    assert evaluate(total) == 20_000.0
    assert sum(1 for _ in walk(total)) == 40_001


def test_shared_nodes_are_evaluated_once() -> None:
    e = wrap(1.0)
    for _ in range(200):
        e = e + e
    calls = []
    assert fold(e, lambda n: n.data, lambda n, args: calls.append(n) or sum(args)) == 2.0**200
    assert len(calls) == 200


def test_expressions_pickle() -> None:
    copy = pickle.loads(pickle.dumps([x + 2 * Part.a.symbols(part), x]))
    assert str(copy[0]) == "x + 2*a"
    assert copy[0].args[0].owner is copy[1].owner
