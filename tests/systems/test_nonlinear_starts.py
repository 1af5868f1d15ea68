"""Starts of nonlinear equations from guesses far away, without value, or without slope."""

from collections.abc import Iterator

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from acausal import (
    Component,
    Eq,
    NonFiniteError,
    Parameter,
    Statement,
    Variable,
    der,
    exp,
    log,
    simulate,
    sin,
    time,
)
from acausal.components.electrical import ConstantVoltage, Resistor
from acausal.components.electrical.interfaces import OnePort

from .circuits import circuit


class Junction(OnePort):
    """Exponential characteristic without any limit."""

    Is: Parameter = Parameter(default=1e-12, unit="A")
    Vt: Parameter = Parameter(default=0.025, unit="V")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.i, self.Is * (exp(self.v / self.Vt) - 1))


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("V", [-20.0, 0.5, 5.0, 10.0, 20.0, 325.0])
def test_exponential_at_any_source(V: float) -> None:
    """From zero the exponential is either negligible or beyond the range of doubles."""
    from math import exp as number_exp

    model = circuit(
        ("source", ConstantVoltage(V=V), "a", "0"),
        ("resistor", Resistor(R=1.0), "a", "b"),
        ("junction", Junction(), "b", "0"),
    )
    v = brentq(
        lambda v: v + 1e-12 * (number_exp(v / 0.025) - 1.0) - V,
        min(V, 0.0) - 1.0,
        min(max(V, 0.0), 1.0),
        xtol=1e-15,
    )
    assert simulate(model, 1.0)["junction.v"].final == pytest.approx(v, rel=1e-9)


class Root(Component):
    """A square whose slope vanishes at the default guess."""

    k: Parameter = Parameter(default=1.0, unit="1/s")
    x: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.x**2, 8 + self.k * time)


def test_guess_without_slope() -> None:
    x = simulate(Root(), 1.0)["x"]
    assert abs(x.final) == pytest.approx(3.0, rel=1e-12)
    assert abs(x.at(0.0)) == pytest.approx(8.0**0.5, rel=1e-12)


class Logarithm(Component):
    """Integrates the logarithm of what falls to zero."""

    x: Variable = Variable(start=1.0)
    y: Variable = Variable()
    z: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), -1)
        yield Eq(self.y, log(self.x))
        yield Eq(der(self.z), self.y)


def test_integral_of_what_has_no_value_is_named() -> None:
    with pytest.raises(NonFiniteError, match=r"integral `z` is not finite between t = 0 and 2"):
        simulate(Logarithm(), 2.0)
    assert simulate(Logarithm(), 0.5)["z"].final == pytest.approx(-0.5 + 0.5 * 0.6931471805599453, rel=1e-9)


class Cube(Component):
    """A law that is flat at zero, where the guess is, and on the way of continuation from zero."""

    w: Parameter = Parameter(default=1.0, unit="rad/s")
    x: Variable = Variable(start=1.0)
    v: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), self.v)
        yield Eq(self.v**3, sin(self.w * time) + self.x)


def test_law_that_is_flat_at_the_guess() -> None:
    result = simulate(Cube(), 1.0)
    oracle = solve_ivp(lambda t, x: np.cbrt(np.sin(t) + x), (0.0, 1.0), [1.0], rtol=1e-11, atol=1e-13)
    assert result["v"].at(0.0) == pytest.approx(1.0, rel=1e-12)
    assert result["x"].final == pytest.approx(oracle.y[0, -1], rel=1e-6)
