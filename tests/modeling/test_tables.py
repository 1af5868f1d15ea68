"""Tables: what is no function of its abscissa is refused where it is given."""

import math
from typing import Any

import numpy as np
import pytest

from acausal import Component, ExpressionError, Parameter, ParameterError, Structural, Variable, table, time
from acausal.modeling import curve_problem, points_problem
from acausal.modeling.evaluation import evaluate
from acausal.modeling.expressions import Expr, wrap


class Part(Component):
    k: Parameter = Parameter(default=2.0)
    x: Variable = Variable()
    curve: Structural[tuple] = Structural(tuple, default=((0.0, 0.0),), check=curve_problem)
    course: Structural[tuple] = Structural(tuple, default=((0.0, 0.0),), check=points_problem)


x: Expr = Part().x
GOOD = ((0.0, 1.0), (1.0, 3.0), (4.0, 0.0))

BAD_ORDER = [
    (((0.0, 1.0), (2.0, 1.0), (1.0, 1.0)), "1 follows 2"),
    (((0.0, 1.0), (2.0, 1.0), (2.0, 1.0), (2.0, 5.0)), "2 occurs"),
]
BAD_SHAPE = [
    ((), "at least one row"),
    (3.0, "at least one row"),
    ("ab", "at least one row"),
    (((0.0, 1.0), (1.0,)), r"two finite numbers \(x, y\), got \(1.0,\)"),
    (((0.0, 1.0, 2.0),), "two finite numbers"),
    ((0.0, 1.0), "two finite numbers"),
    (((0.0, math.nan),), "nan"),
    (((math.inf, 0.0),), "inf"),
    (((0.0, "1"),), "'1'"),
    (((0.0, 10**400),), r"two finite numbers .*1000"),
    (np.zeros((2, 2, 2)), "two finite numbers"),
]


@pytest.mark.parametrize("field", ["curve", "course"])
@pytest.mark.parametrize(("rows", "text"), BAD_ORDER + BAD_SHAPE)
def test_fields_refuse_at_construction(field: str, rows: Any, text: str) -> None:
    with pytest.raises(ParameterError, match=f"`{field}` of Part .*{text}") as info:
        Part(**{field: rows})
    assert info.value.where[0].file.endswith("test_tables.py")


def test_two_equal_abscissae_are_a_step_over_time_only() -> None:
    step = ((0.0, 1.0), (1.0, 1.0), (1.0, 2.0))
    assert Part(course=step).course == step
    with pytest.raises(ParameterError, match="must ascend strictly, but 1 occurs twice"):
        Part(curve=step)


@pytest.mark.parametrize("rows", [GOOD, [list(r) for r in GOOD], np.array(GOOD)])
def test_fields_take_rows_in_any_container(rows: Any) -> None:
    assert Part(curve=rows).curve == GOOD


@pytest.mark.parametrize(
    ("xs", "ys", "text"),
    [
        ((0, 2, 1), (0, 1, 2), "1 follows 2"),
        ((0, 1, 1), (0, 1, 2), "1 occurs twice"),
        ((0, 1), (0,), "1 values for 2 points"),
        ((), (), "as many"),
        ((0, math.nan), (0, 1), "finite points"),
        ((0, 1), (0, -math.inf), "finite values"),
        ((0, 1), (0, 10**400), "finite values"),
        ((0, 1), ("0", 1), "numbers as values"),
        ((0, 1), "01", "numbers as values"),
        (3, (0, 1), "numbers as points"),
        (((0, 1), (1, 2)), (0, 1), "numbers as points"),
        (np.zeros((2, 2)), (0, 1), "numbers as points"),
        ((0, 1), (0, x), "`x` is not a number"),
        (x, (0, 1), "numbers as points"),
    ],
)
def test_the_function_refuses_what_it_cannot_interpolate(xs: Any, ys: Any, text: str) -> None:
    with pytest.raises(ExpressionError, match=text):
        table(x, xs, ys)


def test_the_function_takes_steps_over_time() -> None:
    assert table(time - x, (0, 1, 1), (0, 1, 2)).data == ((0.0, 1.0, 1.0), (0.0, 1.0, 2.0))
    with pytest.raises(ExpressionError, match="1 occurs more than twice"):
        table(time, (0, 1, 1, 1), (0, 1, 2, 3))


@pytest.mark.parametrize(("at", "value"), [(-1.0, 1.0), (0.25, 1.5), (2.5, 1.5), (9.0, 0.0)])
def test_the_function_interpolates_between_and_holds_outside(at: float, value: float) -> None:
    points, values = np.transpose(GOOD)
    assert evaluate(table(wrap(at), points, values)) == pytest.approx(value, rel=1e-15)
