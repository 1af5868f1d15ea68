"""What is given to results and runs, and is none of what they take."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from acausal import (
    Component,
    DeclarationError,
    Eq,
    ExpressionError,
    Parameter,
    ParameterError,
    Result,
    Statement,
    Structural,
    Variable,
    der,
    simulate,
)
from acausal.results.drawing import Drawing


class Decay(Component):
    x: Variable = Variable(start=1.0, fixed=True)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), -self.x)


@pytest.fixture(scope="module")
def result() -> Result:
    return simulate(Decay(), 1.0)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda r: r["x"].harmonics("50"), "a frequency is a number in Hz, got '50'"),
        (lambda r: r["x"].spectrum("50"), "a frequency is a number in Hz"),
        (lambda r: r["x"].thd(True), "a frequency is a number in Hz"),
        (lambda r: r["x"].mean("0", 1.0), "a window is two times in seconds"),
        (lambda r: r["x"].at("0.5"), "asked for at times in seconds, got '0.5'"),
        (lambda r: r.plot(t=3), "a window is two ascending times in seconds, got 3"),
        (lambda r: r.plot(t=(1.0, 0.0)), "two ascending times"),
        (lambda r: r.plot(t=(0.0, np.nan)), "two ascending times"),
        (lambda r: r.plot(t="ab"), "two ascending times"),
        (lambda r: r.strobe(Drawing().line((0, 0), (1, 1)), t=3), "two ascending times"),
        (lambda r: simulate(Decay(), 1.0, grid=[[0.0], [0.1, 0.2]]), "grid must be a positive step"),
    ],
)
def test_arguments_of_results(result: Result, call: Callable[[Result], Any], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        call(result)


def test_options_of_a_run_are_named() -> None:
    wrong: dict[str, Any] = {"rtoll": 1e-3}
    with pytest.raises(DeclarationError, match="takes no option `rtoll`") as caught:
        simulate(Decay(), 1.0, **wrong)
    assert "`rtol`" in caught.value.hint


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Parameter(shape=(2,), default=1.0), "needs 2 values, got 1.0"),
        (lambda: Parameter(shape=(2,), default=(1.0, "a")), "must be a finite number, got 'a'"),
        (lambda: Parameter(shape=(2,), default=(1.0, -1.0), min=0), "must be at least 0"),
        (lambda: Parameter(default="a"), "must be a finite number, got 'a'"),
        (lambda: Parameter(default=[1, 2]), "must be a finite number"),
        (lambda: Parameter(default=None), "must be a finite number"),
        (lambda: Structural(int, default="a"), "must be of type int, got 'a'"),
        (lambda: Structural(int, default=True), "must be of type int"),
    ],
)
def test_defaults_are_looked_at_when_declared(make: Callable[[], Any], text: str) -> None:
    with pytest.raises(DeclarationError, match=text):
        make()


class Arrays(Component):
    """``y`` is what a function makes of two arrays."""

    A: Parameter = Parameter(shape=(2, 2), default=((1.0, 2.0), (3.0, 4.0)))
    p: Parameter = Parameter(shape=(2,), default=(1.0, 2.0))
    side: Structural[Any] = Structural(object)
    y: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, self.side(self.A, self.p))


@pytest.mark.parametrize(
    ("side", "text"),
    [
        (lambda A, p: A[0, 1], "an index of several dimensions"),
        (lambda A, p: p @ p, "`@` cannot be applied to `"),
        (lambda A, p: sum(2 * p), "`*` cannot be applied"),
        (lambda A, p: sum(p + p), "`+` cannot be applied"),
        (lambda A, p: -p, "`-` cannot be applied"),
        (lambda A, p: p > p, "a comparison cannot be applied"),
    ],
)
def test_arrays_of_symbols_are_no_numbers(side: Callable[[Any, Any], Any], text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        simulate(Arrays(side=side), 1.0)
    assert text in str(caught.value)
    assert "A[i][j]" in caught.value.hint
    assert [place.file for place in caught.value.where] == [__file__]


def test_elements_of_arrays_are_numbers() -> None:
    found = simulate(Arrays(side=lambda A, p: A[0][1] + np.dot(p, p) + sum(a * a for a in p[:1])), 1.0)
    assert found["y"].final == 2.0 + 5.0 + 1.0
