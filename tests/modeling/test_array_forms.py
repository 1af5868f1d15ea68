"""Expressions as operations on arrays, against the same operations on numbers, one after the other."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import casadi as ca
import numpy as np
import pytest

from acausal import cos, exp, if_else, sin, sqrt, time
from acausal.compilation.lowering import lower
from acausal.modeling.array_forms import Algebra, ArrayForm, added_up, stacked
from acausal.modeling.expressions import Expr, constant, walk, wrap
from acausal.modeling.operations import MARKS, marks

FUNCTIONS: dict[str, Any] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b, "neg": lambda a: -a,
    "sin": np.sin, "cos": np.cos, "exp": np.exp, "sqrt": np.sqrt, "<": lambda a, b: a < b, "if_else": np.where,
}  # fmt: skip


def one_by_one(expr: Expr, t: np.ndarray, known: dict[int, Any]) -> Any:
    """The value by recursion."""
    if id(expr) not in known:
        arguments = [one_by_one(a, t, known) for a in expr.args]
        leaf = t if expr.op == "time" else expr.data
        known[id(expr)] = FUNCTIONS[expr.op](*arguments) if arguments else leaf
    return known[id(expr)]


def at_once(expr: Expr, t: np.ndarray, apart: Any = lambda node: False) -> tuple[np.ndarray, Counter[str]]:
    """The value as operations on arrays, and how many of each."""
    counts: Counter[str] = Counter()

    def apply(node: Expr, args: list[Any]) -> Any:
        counts[node.op] += 1
        return FUNCTIONS[node.op](*args)

    def leaf(node: Expr) -> Any:
        return one_by_one(node, t, {})

    found = ArrayForm(expr, apart).value(leaf, Algebra(stacked, added_up, apply))
    return np.broadcast_to(found, t.shape), counts


def waves(count: int) -> Any:
    return sum((1 + k / count) * sin((1 + k / 7) * time + k * k) / count for k in range(count))


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 300])
def test_a_sum_of_waves_has_the_bits_of_its_terms_added_in_turn(count: int) -> None:
    t = np.linspace(0.0, 3.0, 17)
    expr = waves(count)
    expected = one_by_one(expr, t, {})
    np.testing.assert_array_equal(at_once(expr, t)[0], expected)
    for k in (0, 5, 16):
        np.testing.assert_array_equal(at_once(expr, t[k : k + 1])[0], expected[k : k + 1])
    exact = [
        math.fsum((1 + k / count) * math.sin((1 + k / 7) * s + k * k) / count for k in range(count))
        for s in t
    ]
    np.testing.assert_allclose(expected, exact, atol=1e-13)


def test_like_terms_are_one_operation_whatever_their_number() -> None:
    counts = [at_once(waves(n), np.zeros(1))[1] for n in (50, 1000)]
    assert counts[0] == counts[1]
    assert sum(counts[0].values()) <= 5


def test_partial_sums_that_are_used_elsewhere_cost_once() -> None:
    """Whichever of the sum and its parts comes first."""
    t = np.linspace(0.0, 1.0, 3)
    for backwards in (False, True):
        partial = [wrap(0.0) + time]
        for k in range(1, 200):
            partial.append(partial[-1] + sin(k * time))
        used = sum(cos(p) for p in partial[::-1])
        whole = partial[-1] + used if backwards else used + partial[-1]
        np.testing.assert_array_equal(at_once(whole, t)[0], one_by_one(whole, t, {}))
        form = ArrayForm(whole, lambda node: False)
        assert sum(len(row) for g in form._groups for row in g.rows if isinstance(row, tuple)) < 10 * 200


def drawn(draw: random.Random) -> Expr:
    """An expression with shared parts and sums of all kinds."""
    pool: list[Any] = [time, constant(0.5), constant(2), constant(-1.5), time * 2.0]
    for _ in range(draw.randint(3, 60)):
        a, b, c = (draw.choice(pool[-12:]) for _ in range(3))
        pool.append(
            draw.choice(
                [
                    a + b,
                    a - b,
                    a + b - c,
                    a - (b - c),
                    0.3 * a,
                    a * b / (2.0 + sin(c)),
                    -a,
                    sin(a),
                    cos(b) + sin(a),
                    exp(-(sin(a) * sin(a))),
                    sqrt(1.0 + cos(b)),
                    if_else(a < b, c, b),
                ]
            )  # fmt: skip
        )
    return pool[-1] + sum(pool[-20:])


@pytest.mark.parametrize("seed", range(60))
def test_random_expressions_have_the_bits_of_one_operation_after_the_other(seed: int) -> None:
    expr, t = drawn(random.Random(seed)), np.linspace(-1.0, 2.0, 9)
    expected = np.broadcast_to(np.asarray(one_by_one(expr, t, {}), float), t.shape)
    np.testing.assert_array_equal(at_once(expr, t)[0], expected)
    np.testing.assert_array_equal(at_once(expr, t, lambda node: node.op in ("<", "cos"))[0], expected)
    s = ca.SX.sym("t")
    f = ca.Function("f", [s], [lower(expr, lambda node: s, lambda node: None)])
    np.testing.assert_allclose([float(f(x)) for x in t], expected, rtol=1e-13, atol=1e-13)


def test_an_expression_knows_what_occurs_in_it() -> None:
    shown = sin(time) + if_else(time < 1, 2.0, abs(time))
    assert shown.marks == marks("time", "<", "abs")
    assert not constant(1.0).marks
    assert MARKS["<"] == MARKS["!="]
    assert len({MARKS[op] for op in MARKS}) == len(MARKS) - 5


def test_marks_of_what_comes_from_a_file_follow_from_its_operations() -> None:
    made = sin(time) + if_else(time < 1, 2.0, abs(time))
    for node in walk(made):
        del node.marks
    assert made.marks == marks("time", "<", "abs")
    assert not hasattr(made, "sort")
