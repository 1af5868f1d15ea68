"""Characteristics with a kink, whose pieces agree where they meet, against SciPy; started, resting and passing there."""

import math
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from acausal import (
    Component,
    Eq,
    Parameter,
    Statement,
    Structural,
    Variable,
    compile_model,
    der,
    if_else,
    maximum,
    minimum,
    sin,
    table,
    time,
)

END = 6.0
POINTS = [-1.0, -0.5, 0.0, 0.5, 1.0], [-3.0, -1.0, 0.0, 0.2, 2.0]
symbols = SimpleNamespace(
    sin=sin, either=if_else, most=maximum, least=minimum, table=lambda x: table(x, *POINTS)
)
numbers = SimpleNamespace(
    sin=math.sin,
    either=lambda c, a, b: a if c else b,
    most=max,
    least=min,
    table=lambda x: float(np.interp(x, *POINTS)),
)
Rates = Callable[[Any, Any, Any, Any], tuple[Any, Any]]


def resistor(of: Any, t: Any, x: Any, v: Any) -> tuple[Any, Any]:
    """A store behind a resistor that conducts better in one direction, and a second one behind a linear resistor."""
    u = of.sin(3.0 * t) - x
    return of.either(u > 0.0, u, 0.2 * u), x - v


def stiff(of: Any, t: Any, x: Any, v: Any) -> tuple[Any, Any]:
    """The same, a hundred times better."""
    u = of.sin(3.0 * t) - x
    return of.either(u > 0.0, 1000.0 * u, 10.0 * u), x - v


def spring(of: Any, t: Any, x: Any, v: Any) -> tuple[Any, Any]:
    """A spring that is softer when drawn."""
    return v, -of.either(x > 0.0, 4.0 * x, x)


def saturated(of: Any, t: Any, x: Any, v: Any) -> tuple[Any, Any]:
    """A force that saturates."""
    return v, -of.most(-0.5, of.least(0.5, 3.0 * x))


def tyre(of: Any, t: Any, x: Any, v: Any) -> tuple[Any, Any]:
    """A force by slip that grows little beyond a tenth."""
    s = x - of.sin(t)
    return -of.either(
        s > 0.1, 1.0 + 0.2 * (s - 0.1), of.either(s < -0.1, -1.0 + 0.2 * (s + 0.1), 10.0 * s)
    ), x - v


def pieces(of: Any, t: Any, x: Any, v: Any) -> tuple[Any, Any]:
    """A force by points."""
    return v, -of.table(x)


class Model(Component):
    """Two states and their rates."""

    x: Variable = Variable()
    v: Variable = Variable()
    second: Parameter = Parameter(default=1.0, unit="s")
    rates: Structural[Rates] = Structural(object)

    def equations(self) -> Iterator[Statement]:
        first, second = self.rates(symbols, time / self.second, self.x, self.v)
        yield Eq(der(self.x), first)
        yield Eq(der(self.v), second)


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("rtol", [1e-2, 1e-4, 1e-7])
@pytest.mark.parametrize(
    ("rates", "start"),
    [
        (resistor, (0.0, 0.0)),
        (resistor, (1.0, 0.0)),
        (stiff, (0.0, 0.0)),
        (stiff, (1.0, 0.0)),
        (spring, (0.0, 0.0)),
        (spring, (0.0, 1.0)),
        (spring, (1.0, 0.0)),
        (saturated, (1.0 / 6.0, 0.0)),
        (saturated, (1.0, 0.0)),
        (tyre, (0.1, 0.0)),
        (pieces, (0.5, 0.0)),
        (pieces, (0.0, 0.0)),
    ],
)
def test_pieces_that_meet(rates: Rates, start: tuple[float, float], rtol: float) -> None:
    def slopes(t: float, y: Any) -> tuple[Any, Any]:
        return rates(numbers, t, *y.tolist())

    path = solve_ivp(slopes, (0.0, END), start, method="LSODA", rtol=1e-10, atol=1e-13, max_step=0.02)
    program, size = compile_model(Model(rates=rates)), float(np.max(np.abs(path.y)))
    initial = {"x": start[0], "v": start[1]}
    for method in ("exact", "explicit", "implicit"):
        if method == "explicit" and rates is stiff and rtol < 1e-2:
            continue  # as right, and slow
        result = program.simulate(END, method=method, rtol=rtol, initial=initial)
        allowed = 1e-7 if method == "exact" else 30.0 * rtol
        assert [result[k].final for k in "xv"] == pytest.approx(path.y[:, -1], abs=allowed * size, rel=0.0)
