"""Taylor series of expressions in interval arithmetic, against exact derivatives at many points; and what they find."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import casadi as ca
import numpy as np
import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    Parameter,
    Statement,
    Structural,
    Variable,
    absolute,
    assign,
    der,
    exp,
    if_else,
    maximum,
    pre,
    simulate,
    sin,
    tanh,
    time,
    when,
)
from acausal.simulation.sources.expansion import MOST_OPERATIONS, Expansion

METHODS = ("exact", "explicit", "implicit")
NONE = np.zeros(0)


def expansion_of(expression: Callable[[Any], Any]) -> tuple[Expansion, Any, Any]:
    t, none = ca.SX.sym("t"), ca.SX.sym("none", 0)
    written = expression(t)
    return Expansion(ca.Function("f", [none, none, none, t], [written])), written, t


SMOOTH: dict[str, Callable[[Any], Any]] = {
    "gauss": lambda t: ca.exp(-(((t - 0.5) / 0.2) ** 2)),
    "sin": lambda t: ca.sin(3.0 * t) * ca.cos(t),
    "tan": ca.tan,
    "tanh": lambda t: ca.tanh(3.0 * t),
    "sinh": ca.sinh,
    "cosh": ca.cosh,
    "log": lambda t: ca.log(t + 1.0),
    "atan": lambda t: ca.atan(2.0 * t),
    "asin": lambda t: ca.asin(0.9 * t),
    "acos": lambda t: ca.acos(0.9 * t),
    "sqrt": ca.sqrt,
    "power": lambda t: t**3.5,
    "whole power": lambda t: (t - 0.5) ** 7,
    "negative power": lambda t: (t - 5.0) ** -3,
    "power of time": lambda t: t ** (1.0 + t),
    "quotient": lambda t: (1.0 - t) / (t + 0.2),
    "choice": lambda t: ca.if_else(t < 0.5, t**2, ca.sin(t)),
    "both": lambda t: (
        ca.if_else(ca.logic_and(t > 0.1, ca.logic_not(t >= 0.45)), t, 1.0) + ca.if_else(t != 2.0, t, 0.0)
    ),
    "either": lambda t: ca.if_else(ca.logic_or(t > 2.0, t <= 0.45), t**2, t) * ca.if_else(t == 2.0, 1.0, 3.0),
    "smallest": lambda t: ca.fmin(t, 0.5) * ca.fmax(t, 0.5) + ca.fabs(t - 0.5) * ca.sign(t - 0.5),
    "stairs": lambda t: (t - 0.5 * ca.floor(t / 0.5)) * ca.ceil(t) + t + t,
}


@pytest.mark.parametrize("written", SMOOTH.values(), ids=SMOOTH)
def test_series_enclose_all_derivatives(written: Callable[[Any], Any]) -> None:
    expansion, expression, t = expansion_of(written)
    assert expansion.known
    chain = [expression]
    for k in range(6):
        chain.append(ca.jacobian(chain[-1], t) / (k + 1))
    derivatives = ca.Function("derivatives", [t], [ca.vertcat(*chain)])
    middle, half = np.array([0.3, 0.7]), np.array([0.01, 0.1])
    centres, radii = expansion((NONE, NONE, NONE), middle, half)
    assert np.isfinite(centres).all() and np.isfinite(radii).all()
    for k in range(2):
        scale = half[k] ** np.arange(7)
        for column, x in [(k, 0.0), *((k + 2, float(x)) for x in np.linspace(-1.0, 1.0, 9))]:
            exact = np.array(derivatives(middle[k] + x * half[k])).ravel() * scale
            off = np.abs(exact - centres[:7, column])
            assert (off <= radii[:7, column] * (1.0 + 1e-12) + 1e-14 * (1.0 + np.abs(exact))).all()


@pytest.mark.parametrize(
    "written",
    [
        lambda t: ca.fabs(t - 0.5),
        lambda t: ca.if_else(t < 0.5, 0.0, t),
        lambda t: ca.floor(2.0 * t),
        lambda t: ca.fmax(t, 0.5),
        lambda t: ca.sign(t - 0.5),
        lambda t: 1.0 / (t - 0.5),
        lambda t: ca.sqrt(t - 0.5),
        lambda t: ca.tanh(ca.fabs(t - 0.5)),
    ],
)
def test_jumps_kinks_and_poles_have_no_series(written: Callable[[Any], Any]) -> None:
    expansion = expansion_of(written)[0]
    centres, radii = expansion((NONE, NONE, NONE), np.array([0.5, 0.8]), np.array([0.1, 0.1]))
    assert (~np.isfinite(centres + radii).all(axis=0)).tolist()[2:] == [True, False]


def test_long_expressions_and_unknown_operations_have_none() -> None:
    assert not expansion_of(lambda t: ca.atan2(t, 1.0))[0].known
    assert not expansion_of(lambda t: sum(ca.sin(k * t) for k in range(MOST_OPERATIONS)))[0].known


PLACE = 0.7371


def narrow(kind: str, z: Any, t: Any) -> Any:
    """A function of how many widths time is from its place."""
    return {
        "gauss": exp(-(z**2)),
        "raised": 1.0 + sin(9.0 * t) + exp(-(z**2)),
        "lorentz": 1.0 / (1.0 + z**2),
        "step": tanh(z),
        "pulse": tanh(z + 5.0) - tanh(z - 5.0),
        "triangle": maximum(0.0, 1.0 - absolute(z)),
        "box": if_else((z > 0.0) & (z < 1.0), 1.0, 0.0),
    }[kind]


def area(kind: str, width: float) -> float:
    """Its integral over a second."""
    bell = width * math.sqrt(math.pi)
    return {
        "gauss": bell,
        "raised": 1.0 + (1.0 - math.cos(9.0)) / 9.0 + bell,
        "lorentz": width * (math.atan((1.0 - PLACE) / width) + math.atan(PLACE / width)),
        "step": 1.0 - 2.0 * PLACE,
        "pulse": 20.0 * width,
        "triangle": width,
        "box": width,
    }[kind]


class Narrow(Component):
    """q is the integral of x, which is narrow at `PLACE`; n counts how often it rises above one half."""

    kind: Structural[str] = Structural(str)
    width: Parameter = Parameter(default=1e-6)
    second: Parameter = Parameter(default=1.0, unit="s")
    x: Variable = Variable()
    q: Variable = Variable(start=0.0)
    n: Discrete = Discrete(int)

    def equations(self) -> Iterator[Statement]:
        t = time / self.second
        yield Eq(self.x, narrow(self.kind, (t - PLACE) / self.width, t))
        yield Eq(self.second * der(self.q), self.x)
        yield when(self.x > 0.5, assign(self.n, pre(self.n) + 1))


@pytest.mark.sweep(every=8)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("width", [1e-3, 3e-4, 1e-4, 1e-6, 1e-9, 1e-12])
def test_a_narrow_function_is_found(width: float, method: str) -> None:
    result = simulate(Narrow(kind="gauss", width=width), 1.0, method=method)
    assert result["n"].final == 1
    assert result["q"].final == pytest.approx(area("gauss", width), rel=1e-5)
    # Times are rounded, which moves narrower ones by more than equations may miss.
    assert width < 1e-6 or result.check().ok


@pytest.mark.sweep(every=18)
@pytest.mark.parametrize("width", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("kind", ["raised", "lorentz", "step", "pulse", "triangle", "box"])
def test_narrow_functions_of_all_kinds_are_found(kind: str, width: float) -> None:
    result = simulate(Narrow(kind=kind, width=width), 1.0)
    assert result["q"].final == pytest.approx(area(kind, width), rel=1e-8)


class Beside(Component):
    """A narrow function as a factor, in a choice and in a condition."""

    width: Parameter = Parameter(default=1e-6)
    second: Parameter = Parameter(default=1.0, unit="s")
    factor: Variable = Variable(start=1.0)
    chosen: Variable = Variable(start=0.0)
    n: Discrete = Discrete(int)

    def equations(self) -> Iterator[Statement]:
        bell = narrow("gauss", (time / self.second - PLACE) / self.width, time / self.second)
        yield Eq(self.second * der(self.factor), -self.factor * bell / self.width)
        yield Eq(self.second * der(self.chosen), if_else(bell > 0.5, 1.0, 0.0))
        yield when(bell > 0.5, assign(self.n, pre(self.n) + 1))


@pytest.mark.sweep
@pytest.mark.parametrize("method", ["auto", "implicit"])
def test_a_narrow_function_is_found_wherever_it_stands(method: str) -> None:
    result = simulate(Beside(), 1.0, method=method)
    assert result["factor"].final == pytest.approx(math.exp(-math.sqrt(math.pi)), rel=1e-5)
    assert result["chosen"].final == pytest.approx(2e-6 * math.sqrt(math.log(2.0)), rel=1e-6)
    assert result["n"].final == 1
