"""Affine forms of expressions: objects that stand in several places, and derivatives wherever a value may stand."""

from collections.abc import Iterator
from math import exp, log, pi, sqrt, tanh

import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    If,
    Parameter,
    Statement,
    Variable,
    absolute,
    assign,
    cos,
    der,
    floor,
    if_else,
    maximum,
    mod,
    no_event,
    reinit,
    require,
    sample,
    simulate,
    table,
    time,
    when,
)

Statements = Iterator[Statement]


class Drag(Component):
    """m v' = F - c v**2 with the unknown under a local name: v = sqrt(F/c) tanh(t sqrt(F c)/m)."""

    v: Variable = Variable(fixed=True)
    m: Parameter = Parameter(default=2.0)
    c: Parameter = Parameter(default=0.5)
    F: Parameter = Parameter(default=3.0)

    def equations(self) -> Statements:
        v, m, c = self.v, self.m, self.c
        yield Eq(m * der(v), self.F - c * v * v)


def test_a_local_name_stands_inside_and_outside_of_der() -> None:
    for method in ("auto", "implicit"):
        final = simulate(Drag(), 1.0, method=method, rtol=1e-9)["v"].final
        assert final == pytest.approx(sqrt(6.0) * tanh(sqrt(1.5) / 2.0), rel=1e-7)


class Everywhere(Component):
    """One symbol and one derivative, each a single object, in all kinds of statements."""

    x: Variable = Variable(start=1.0, fixed=True)
    y: Variable = Variable()
    z: Variable = Variable()
    held: Discrete = Discrete(float)
    slow: Discrete = Discrete(bool)
    count: Discrete = Discrete(int)

    def equations(self) -> Statements:
        x = self.x
        rate = der(x)
        yield Eq(rate, -x)
        yield Eq(self.y, rate * x + if_else(rate > -0.5, x, -rate))
        yield If(rate > -0.25, [Eq(self.z, 0.0)], [Eq(self.z, rate)])
        yield Eq(self.slow, rate > -0.5)
        yield when(sample(period=0.5), assign(self.held, rate))
        yield when(rate > -0.75, assign(self.count, floor(-4 * rate)))
        yield require(rate > -2.0, "too fast")


def test_one_derivative_in_all_kinds_of_statements() -> None:
    result = simulate(Everywhere(), 1.0)
    x = exp(-1.0)
    assert result["y"].final == pytest.approx(-x * x + x, rel=1e-12)
    assert result["z"].final == pytest.approx(-x, rel=1e-12)
    assert result["held"].at([0.25, 0.75]) == pytest.approx([-1.0, -exp(-0.5)], rel=1e-12)
    assert result["slow"].at([0.69, 0.70]).tolist() == [False, True]
    crossing = next(t for t, n in zip(result["count"].t, result["count"].values, strict=True) if n)
    assert crossing == pytest.approx(log(4.0 / 3.0), rel=1e-12)


class Choices(Component):
    """x' = cos(w t): choices by the slope."""

    x: Variable = Variable(fixed=True)
    above: Variable = Variable()
    size: Variable = Variable()
    kept: Variable = Variable()
    looked_up: Variable = Variable()
    steps: Variable = Variable()
    w: Parameter = Parameter(default=6.0, unit="rad/s")

    def equations(self) -> Statements:
        yield Eq(der(self.x), cos(self.w * time))
        yield Eq(self.above, maximum(der(self.x), 0.5))
        yield Eq(self.size, absolute(der(self.x)))
        yield Eq(self.kept, if_else(der(self.x) > 0.0, 1.0, -1.0))
        yield Eq(self.looked_up, table(der(self.x), (-1.0, 0.0, 1.0), (0.0, 1.0, 0.0)))
        yield Eq(self.steps, floor(4 * der(self.x)))


@pytest.mark.parametrize("method", ["auto", "implicit"])
def test_choices_by_a_derivative(method: str) -> None:
    from math import cos

    result = simulate(Choices(), 1.0, method=method, rtol=1e-8)
    for t in (0.1, 0.3, 0.5, 0.7, 0.95):
        rate = cos(6.0 * t)
        expected = {
            "above": max(rate, 0.5),
            "size": abs(rate),
            "kept": 1.0 if rate > 0 else -1.0,
            "looked_up": 1.0 - abs(rate),
            "steps": (4.0 * rate) // 1.0,
        }
        for name, value in expected.items():
            assert float(result[name].at(t)) == pytest.approx(value, rel=1e-7, abs=1e-7), (name, t)
    assert any(e.t == pytest.approx(pi / 12, rel=1e-7) for e in result.events)


class Bouncing(Component):
    """A derivative as the value of a reinit: v+ = -v' / 10."""

    v: Variable = Variable(start=1.0, fixed=True)

    def equations(self) -> Statements:
        yield Eq(der(self.v), -2.0)
        yield when(self.v < 0.0, reinit(self.v, -der(self.v) / 10))


def test_a_reinit_reads_a_derivative() -> None:
    result = simulate(Bouncing(), 0.55)
    assert result["v"].final == pytest.approx(0.2 - 2.0 * 0.05, rel=1e-9)


class HalfEventless(Component):
    """One relation object inside and outside of no_event: its events stay."""

    x: Variable = Variable(start=1.0, fixed=True)
    y: Variable = Variable()
    z: Variable = Variable()

    def equations(self) -> Statements:
        low, wrapped = self.x < 0.5, mod(4 * self.x, 1.5)
        yield Eq(der(self.x), -self.x)
        yield Eq(self.y, no_event(if_else(low, 1.0, 0.0)) + if_else(low, 2.0, 0.0))
        yield Eq(self.z, no_event(wrapped) - wrapped)


def test_a_relation_inside_and_outside_of_no_event() -> None:
    result = simulate(HalfEventless(), 1.0)
    expected = [log(2.0), *(log(4.0 / (1.5 * k)) for k in (2, 1))]
    times = [e.t for e in result.events if e.t > 0.0]
    assert sorted(times) == pytest.approx(sorted(t for t in expected if t < 1.0), rel=1e-9)
    assert result["y"].at([0.5, 0.8]).tolist() == [0.0, 3.0]
    assert max(abs(result["z"].at([0.1, 0.3, 0.6, 0.9]))) < 1e-12


class Looped(Component):
    """A limiter of the own slope: x' = max(-x, -1/2) solved for in its own loop."""

    x: Variable = Variable(start=1.0, fixed=True)

    def equations(self) -> Statements:
        yield Eq(der(self.x), maximum(-self.x + 0.5 * der(self.x) + 0.5 * self.x, -0.5))


def test_a_limited_slope_in_its_own_loop() -> None:
    # Unlimited: x' = -x; limited while x > 1/2, from 1 in a second, at the rate of -1/2.
    result = simulate(Looped(), 2.0)
    assert result["x"].at([0.5, 1.0]) == pytest.approx([0.75, 0.5], rel=1e-9)
    assert result["x"].final == pytest.approx(0.5 * exp(-1.0), rel=1e-9)
