"""Nonlinear equations hold to rounding whatever stands beside them: against scipy and against the equations themselves."""

from collections.abc import Iterator

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

from acausal import Component, Eq, Parameter, Statement, Variable, connect, der, simulate, sin, time
from acausal import exp as exponential
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Diode,
    Ground,
    Inductor,
    Resistor,
    SineVoltage,
    StepVoltage,
)
from tests.systems.circuits import circuit
from tests.systems.network_models import CubicConductor
from tests.systems.test_leaky_integration import SPAN, Rectifier

WIDTH, SATURATION = 0.04, 1e-14


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("diodes", [1, 4])
def test_a_junction_beside_a_scale_of_many_decades(diodes: int) -> None:
    """The unknown is a flow of 30 mA; that of its variable in the circuit reaches 1e5 where everything is conducting."""
    result = simulate(Rectifier(diodes=diodes, junction=True), SPAN)
    t = np.linspace(0.02, SPAN, 301)
    v, i, u = (result[name].at(t) for name in ("j.v", "j.i", "capacitor.v"))
    current = 1e-6 * np.expm1(v / WIDTH) + v / 1e8
    np.testing.assert_allclose(i, current, rtol=1e-9, atol=1e-17)
    for k in (7, 100, 222):

        def balance(x: float, k: int = k) -> float:
            return (u[k] - x) / 1e4 - 1e-6 * float(np.expm1(x / WIDTH)) - x / 1e8

        assert v[k] == pytest.approx(brentq(balance, -1.0, 1.0, xtol=1e-15), abs=1e-10)
    result.check().require()


class Shockley(Component):
    """A decaying source behind a resistance feeds an exponential; beside it an unknown of any size."""

    R: Parameter = Parameter(default=1.0)
    beside: Parameter = Parameter(default=1.0)
    w0: Parameter = Parameter(default=1.0, unit="rad/s")
    u: Variable = Variable(start=1.0)
    i: Variable = Variable()
    v: Variable = Variable()
    w: Variable = Variable()
    x: Variable = Variable(start=0.0)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.u), -self.u)
        yield Eq(self.v, self.u - self.R * self.i)
        yield Eq(self.i, SATURATION * (exponential(self.v / WIDTH) - 1.0))
        yield Eq(self.w + self.w**3 / self.beside**2, self.beside * (1.0 + sin(self.w0 * time)))
        yield Eq(der(self.x), self.i * self.R)


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("method", ["explicit", "implicit"])
@pytest.mark.parametrize("beside", [1e-9, 1e9])
@pytest.mark.parametrize("R", 10.0 ** np.arange(-3.0, 13.0, 3.0))
def test_flows_of_1e_minus_12_to_1e3_through_an_exponential(R: float, beside: float, method: str) -> None:
    result = simulate(Shockley(R=R, beside=beside), 2.0, method=method)
    t = np.linspace(0.0, 2.0, 41)
    u, i, v, w = (result[name].at(t) for name in ("u", "i", "v", "w"))
    for k in range(len(t)):

        def balance(x: float, k: int = k) -> float:
            return (u[k] - x) / R - SATURATION * float(np.expm1(x / WIDTH))

        expected = brentq(balance, -1e-12, 1.1, xtol=1e-18, rtol=1e-15)
        # What is in the exponent is known to the last places of the source.
        assert v[k] == pytest.approx(expected, rel=1e-13)
        np.testing.assert_allclose(
            i[k], SATURATION * np.expm1(expected / WIDTH), rtol=1e-10, atol=4e-16 * u[k] / R
        )
    np.testing.assert_allclose(w / beside + (w / beside) ** 3, 1.0 + np.sin(t), rtol=1e-12)


@pytest.mark.parametrize("rtol", [1e-2, 1e-4, 1e-6, 1e-10])
def test_equations_hold_at_every_tolerance_of_steps(rtol: float) -> None:
    """The tolerance is one of what is integrated, not one of equations; the integral converges with it."""
    result = simulate(Shockley(R=1e3), 2.0, rtol=rtol)
    t = np.linspace(0.0, 2.0, 101)
    v, i, x = (result[name].at(t) for name in ("v", "i", "x"))
    np.testing.assert_allclose(i, SATURATION * np.expm1(v / WIDTH), rtol=1e-11, atol=1e-18)

    def rate(t: float, x: np.ndarray) -> list[float]:
        u = np.exp(-t)
        v = brentq(lambda v: (u - v) / 1e3 - SATURATION * np.expm1(v / WIDTH), -1.0, 1.1, xtol=1e-17)
        return [u - v]

    expected = solve_ivp(rate, (0.0, 2.0), [0.0], rtol=1e-11, atol=1e-13, t_eval=t).y[0]
    np.testing.assert_allclose(x, expected, rtol=0, atol=max(1e-9, 10.0 * rtol))


class Opening(Component):
    """A law without slope at zero, from rest: ``q |q| = k t``."""

    k: Parameter = Parameter(default=1.0)
    q: Variable = Variable()
    volume: Variable = Variable(start=0.0)

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.q * abs(self.q), self.k * time)
        yield Eq(der(self.volume), self.q)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("k", [1e-12, 1.0, 1e8])
def test_a_flow_that_begins_where_its_law_is_flat(k: float) -> None:
    result = simulate(Opening(k=k), 1.0)
    t = np.array([1e-6, 1e-3, 0.1, 0.5, 1.0])
    np.testing.assert_allclose(result["q"].at(t), np.sqrt(k * t), rtol=1e-12)
    np.testing.assert_allclose(
        result["volume"].at(t), np.sqrt(k) * t**1.5 / 1.5, rtol=1e-4, atol=1e-9 * np.sqrt(k)
    )


class Blocked(Component):
    """A voltage takes the current out of a coil in series with a junction, which blocks in 1e-12 s: R / L."""

    def build(self) -> None:
        self.ground, self.source = Ground(), ConstantVoltage(V=6.0)
        self.coil, self.junction = Inductor(L=1e-4, i=1.0), Diode(Ids=1e-9, Vt=0.026, Maxexp=40.0, R=1e8)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.coil.n)
        yield connect(self.coil.p, self.junction.n)
        yield connect(self.junction.p, self.source.n, self.ground.p)


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("method", ["auto", "implicit"])
@pytest.mark.parametrize(
    "rtol", [1e-2, 1e-3, 1e-6, 1e-9, *(pytest.param(10.0**-k, marks=pytest.mark.sweep) for k in (4, 5, 7, 8))]
)
def test_a_coil_that_a_junction_blocks(rtol: float, method: str) -> None:
    """A current exact to its tolerance, and beyond the bend, is one of kilovolts: its steps went on for ever at 1e-3."""
    result = simulate(Blocked(), 30e-6, rtol=rtol, method=method)

    def passed(i: float) -> float:
        """Time until a current: ``dt = -L di / (V + v(i))``, the leak beside the junction left out."""
        return float(quad(lambda x: 1e-4 / (6.0 + 0.026 * np.log1p(x / 1e-9)), i, 1.0)[0])

    for t in (5e-6, 10e-6):
        assert passed(float(result["coil.i"].at(t))) == pytest.approx(t, abs=1e-4 / 6.0 * (rtol + 1e-7))
    voltage = result["junction.v"]
    assert voltage.min() == pytest.approx(-6.0, rel=0.01)
    assert voltage.max() == pytest.approx(0.026 * np.log1p(1e9), rel=1e-6)
    assert result["coil.i"].final == pytest.approx(-1e-9 - 6e-8, rel=1e-6)
    # Some 60 to 100 of them, most of them down the last decades of the current.
    assert result.stats.steps + result.stats.rejections < 200


@pytest.mark.parametrize("R", [1e-3, 1e-6])
def test_a_step_behind_a_small_resistance_is_integrated_beside_a_nonlinear_part(R: float) -> None:
    """Ever smaller steps of 1e-21 s followed it at 1 uOhm: rounding of their slopes was taken for a motion that was missed."""
    C, at, rtol = 1e-6, 1.1e-3, 1e-6
    model = circuit(
        ("source", StepVoltage(V=10.0, startTime=at), "a", "0"),
        ("wire", Resistor(R=R), "a", "b"),
        ("capacitor", Capacitor(C=C, v=0.0), "b", "0"),
        ("other", SineVoltage(V=1.0, f=1e3), "p", "0"),
        ("cubic", CubicConductor(g=1e-3), "p", "q"),
        ("slow", Capacitor(C=1e-7, v=0.0), "q", "0"),
    )
    result = simulate(model, 2e-3, method="implicit", rtol=rtol)
    assert result.stats.steps < 1000
    tau = np.array([0.1, 1.0, 3.0])
    charged = 10.0 * (1.0 - np.exp(-tau))
    assert result["capacitor.v"].at(at + tau * R * C) == pytest.approx(charged, abs=10.0 * rtol)
    assert result["capacitor.v"].final == pytest.approx(10.0, rel=rtol)
