"""Laws without slope at zero: contacts whose force leaves zero with a power of 3/2, flows that vanish with a root."""

import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import root_scalar
from scipy.special import gamma

from acausal import (
    Component,
    Discrete,
    Eq,
    Statement,
    Variable,
    absolute,
    assign,
    compile_model,
    der,
    if_else,
    maximum,
    minimum,
    no_event,
    pre,
    simulate,
    time,
    when,
)

MASS, STIFFNESS, HEIGHT, G = 2.0, 3e6, 1.0, 9.81
BOUNCES = 5


class Ball(Component):
    """A ball that falls from 1 m onto a plane (H. Hertz, Journal fuer die reine und angewandte Mathematik 92, 1882)."""

    z = Variable(start=HEIGHT, fixed=True)
    v = Variable(start=0.0, fixed=True)
    f = Variable()
    contacts = Discrete(int)

    def force(self) -> Iterator[Statement]:
        raise NotImplementedError

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.z), self.v)
        yield Eq(der(MASS * self.v), self.f - MASS * G)
        yield from self.force()


class ByDepth(Ball):
    """The depth decides."""

    def force(self) -> Iterator[Statement]:
        yield Eq(self.f, if_else(self.z < 0, STIFFNESS * no_event(maximum(-self.z, 0)) ** 1.5, 0.0))
        yield when(self.z < 0, assign(self.contacts, pre(self.contacts) + 1))


class ByForce(Ball):
    """The force decides, and is zero to the last bit while the ball flies."""

    def force(self) -> Iterator[Statement]:
        yield Eq(self.f, STIFFNESS * no_event(maximum(-self.z, 0)) ** 1.5)
        yield when(self.f > 0, assign(self.contacts, pre(self.contacts) + 1))


class ByNoForce(ByForce):
    """The same with the relation that is true in flight."""

    flying = Discrete(bool, start=True)

    def force(self) -> Iterator[Statement]:
        yield Eq(self.f, STIFFNESS * no_event(maximum(-self.z, 0)) ** 1.5)
        yield Eq(self.flying, self.f <= 0)
        yield when(~self.flying, assign(self.contacts, pre(self.contacts) + 1))


def instants() -> np.ndarray:
    """Begins and ends of the contacts: energy is conserved, ``v**2 = v0**2 + 2 g x - 4 k x**2.5 / (5 m)`` at a depth x."""
    arrival = np.sqrt(2.0 * G * HEIGHT)

    def square(x: float) -> float:
        return arrival**2 + 2.0 * G * x - 0.8 * STIFFNESS / MASS * x**2.5

    deepest = root_scalar(square, bracket=(1e-4, 1.0), xtol=1e-16).root
    # With x = deepest * (1 - s**2) the integrand has no pole at the turning point.
    half, _ = quad(
        lambda s: 2.0 * deepest * s / np.sqrt(square(deepest * (1.0 - s * s))), 0.0, 1.0, epsabs=0.0, epsrel=1e-10
    )  # fmt: skip
    begin = arrival / G + np.arange(BOUNCES) * (2.0 * half + 2.0 * arrival / G)
    return np.column_stack([begin, begin + 2.0 * half]).ravel()


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("law", [ByDepth, ByForce, ByNoForce])
def test_a_ball_on_a_hertz_contact_makes_two_events_a_bounce(law: type[Ball]) -> None:
    result = simulate(law(), 4.6, rtol=1e-9)
    assert [e.t for e in result.events if e.kind == "state"] == pytest.approx(instants(), abs=2e-7)
    assert result["contacts"].final == BOUNCES
    z, v = (result[name].at(instants()[1::2]) for name in "zv")
    assert MASS * v**2 / 2 + MASS * G * z == pytest.approx(np.full(BOUNCES, MASS * G * HEIGHT), rel=1e-6)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize(
    "exponent", [4, 6, 8, 10, *(pytest.param(k, marks=pytest.mark.sweep) for k in (5, 7, 9))]
)
@pytest.mark.parametrize("law", [ByForce, ByNoForce])
def test_the_end_of_a_flat_force_is_seen_wherever_the_last_step_ends(law: type[Ball], exponent: int) -> None:
    """Newton's method comes to the zero of ``z**1.5`` from one side, and an instant before it would change nothing."""
    result = simulate(law(), 4.6, rtol=10.0**-exponent)
    assert len([e for e in result.events if e.kind == "state"]) == 2 * BOUNCES
    assert result["contacts"].final == BOUNCES


class Stop(Component):
    """A mass against an elastic stop at 1 m; a chain of limiters reads the force."""

    s = Variable(start=0.0, fixed=True)
    v = Variable(start=4.0, fixed=True)
    f = Variable()
    g = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.s), self.v)
        yield Eq(der(MASS * self.v), self.f)
        yield Eq(self.f, -3e4 * no_event(maximum(self.s - 1, 0)) ** 1.5)
        yield Eq(self.g, minimum(maximum(0.0 * self.v, self.f), -self.f) + self.f)


def test_limiters_of_a_force_that_is_zero_before_the_contact() -> None:
    """In contact ``m v**2 / 2 + 2 k x**2.5 / 5`` stays; the contact lasts 2.943 depths over the speed of arrival.

    K. L. Johnson, Contact Mechanics (1985), section 11.4.
    """
    result = compile_model(Stop()).simulate(0.4, rtol=1e-9)
    deepest = (1.25 * MASS * 16.0 / 3e4) ** 0.4
    duration = 0.8 * np.sqrt(np.pi) * gamma(0.4) / gamma(0.9) * deepest / 4.0
    events = [e.t for e in result.events if e.kind == "state"]
    assert events == pytest.approx([0.25, 0.25 + duration], abs=1e-7)
    assert result["g"].at([0.2, 0.27, 0.35]) == pytest.approx(result["f"].at([0.2, 0.27, 0.35]), abs=1e-9)
    assert result["v"].final == pytest.approx(-4.0, rel=1e-7)


class Tanks(Component):
    """Two tanks beside each other, joined by an orifice; the first one is filled from 0.5 s on."""

    first = Variable(start=1.0)
    second = Variable(start=1.0)
    q = Variable()
    on = Discrete(bool)

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.on, time > 0.5)
        yield Eq(der(self.first), -self.q + if_else(self.on, 1.0, 0.0))
        yield Eq(der(self.second), self.q)
        yield Eq(self.first - self.second, self.q * absolute(self.q))


def test_a_flow_that_has_all_but_vanished_does_not_leave_the_range_of_doubles() -> None:
    """From 0.5 s on ``2 q q' = 1 - 2 q``, hence ``t - 0.5 = -q - log(1 - 2 q) / 2``. No warning of NumPy is heard."""
    q = root_scalar(lambda q: -q - 0.5 * np.log(1.0 - 2.0 * q) - 0.5, bracket=(0.0, 0.4999)).root
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        final = simulate(Tanks(), 1.0, rtol=1e-8).final
    assert final["first"] - final["second"] == pytest.approx(q**2, abs=1e-6)
    assert final["first"] + final["second"] == pytest.approx(2.5, rel=1e-9)


class Interrupted(Component):
    """An inductor whose current has to flow through a law ``i = v**20``, odd, from the start on."""

    i = Variable(start=1.0)
    v = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.i), -self.v)
        yield Eq(self.i, self.v * no_event(absolute(self.v)) ** 19)


@pytest.mark.parametrize("start", [1e-3, 1.0, 100.0])
def test_a_high_power_without_a_slope_at_its_guess_starts(start: float) -> None:
    """``i**0.95`` falls linearly, by 0.95 in a second."""
    t = 0.5 * start**0.95
    result = simulate(Interrupted(), t, rtol=1e-8, initial={"i": start})
    wanted = (0.525 * start**0.95) ** (1.0 / 0.95)
    assert result["i"].final == pytest.approx(wanted, rel=1e-6)
    assert result["v"].final == pytest.approx(wanted**0.05, rel=1e-7)
