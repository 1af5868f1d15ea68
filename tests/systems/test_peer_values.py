"""Final values that other libraries require of themselves, and closed forms of the same models."""

from math import cos, exp, pi, sin

import numpy as np
import pytest
from scipy.linalg import expm

from acausal import (
    Component,
    Eq,
    Parameter,
    Variable,
    der,
    if_else,
    simulate,
    time,
)
from acausal import sin as sine
from acausal.components.blocks import Sine
from acausal.components.thermal import FixedTemperature, HeatCapacitor, ThermalConductor
from acausal.components.translational import (
    Damper,
    Fixed,
    Force,
    Mass,
    Spring,
)
from tests.components.signals import assembled
from tests.oracles.heat import HeatNetwork


class Lag(Component):
    """First-order lag behind a sine."""

    w: Parameter = Parameter(default=1.0, unit="rad/s", doc="Frequency of the sine")
    x: Variable = Variable(start=0.3)

    def equations(self):
        yield Eq(der(self.x), (sine(self.w * time) - self.x) / 0.2)


def test_lag_of_a_sine() -> None:
    """Modia.jl, test TestParameter; closed form."""
    exact = (sin(10) - 0.2 * cos(10)) / 1.04 + (0.3 + 0.2 / 1.04) * exp(-50)
    assert simulate(Lag(), 10.0)["x"].final == pytest.approx(exact, rel=1e-12)
    assert exact == pytest.approx(-0.3617373025974107, rel=1e-5)


class PushedOscillator(Component):
    """A damped oscillator that is pushed while its position is not positive."""

    s: Variable = Variable(start=2.0)
    v: Variable = Variable()
    f: Variable = Variable()

    def equations(self):
        yield Eq(der(self.s), self.v)
        yield Eq(der(self.v) + 0.1 * self.v + self.s, self.f)
        yield Eq(self.f, if_else(self.s > 0, 0.0, 1.5))


def test_oscillator_with_a_push() -> None:
    """Modia.jl, test TestSimpleStateEvents."""
    result = simulate(PushedOscillator(), 10.0)
    assert result["s"].final == pytest.approx(1.1756992201144405, abs=1e-6)
    assert result["v"].final == pytest.approx(-0.5351307571761175, abs=1e-6)


def test_a_body_warms_up() -> None:
    """Modia.jl, test TestHeatTransfer; closed form."""
    result = simulate(
        assembled(
            ("hot.port", "wall.port_a"),
            ("wall.port_b", "body.port"),
            hot=FixedTemperature(T=393.15),
            wall=ThermalConductor(G=100.0),
            body=HeatCapacitor(C=200.0, T=293.15),
        ),
        15.0,
    )
    assert result["body.T"].final == pytest.approx(393.15 - 100 * exp(-7.5), rel=1e-13)
    assert result["body.T"].final == pytest.approx(393.09468783194814, rel=1e-5)


def test_an_insulated_rod_of_five_cells() -> None:
    """Modia.jl, insulated rod: conductances between the centres of cells, half a cell at the fixed end."""
    area, cells, C = 4e-4, 5, 4e-4 * 0.2 * 7500.0 * 450.0
    G = 74.0 * area / 0.2
    parts: dict[str, Component] = {f"c{k}": HeatCapacitor(C=C, T=293.15) for k in range(cells)}
    parts |= {f"g{k}": ThermalConductor(G=G) for k in range(1, cells)}
    ends = [("hot.port", "inlet.port_a"), ("inlet.port_b", "c0.port")]
    for k in range(1, cells):
        ends += [(f"c{k - 1}.port", f"g{k}.port_a"), (f"g{k}.port_b", f"c{k}.port")]
    result = simulate(
        assembled(*ends, hot=FixedTemperature(T=493.15), inlet=ThermalConductor(G=2 * G), **parts), 1e5
    )
    found = [result[f"c{k}.T"].final for k in range(cells)]
    coupling = np.diag(np.full(cells - 1, G), 1)
    oracle = HeatNetwork(
        C=np.full(cells, C),
        G=coupling + coupling.T,
        Ga=np.array([2 * G, 0, 0, 0, 0]),
        P=np.zeros(cells),
        Ta=493.15,
    )
    assert found == pytest.approx(oracle.temperatures(np.full(cells, 293.15), 1e5)[0], rel=1e-12)
    stored = [492.9629728925529, 492.607421697723, 492.30480548105595, 492.0850627579106, 491.9694736486912]
    assert found == pytest.approx(stored, rel=1e-5)


@pytest.mark.parametrize("force", [0.0, 2.0], ids=["free", "forced"])
def test_a_mass_on_spring_and_damper(force: float) -> None:
    """ModelingToolkitStandardLibrary.jl, TranslationalModelica; the wall is at 1, where the spring is at rest for s = 0."""
    result = simulate(
        assembled(
            ("mass.flange_b", "spring.flange_a", "damper.flange_a", "force.flange"),
            ("spring.flange_b", "damper.flange_b", "wall.flange"),
            ("source.y", "force.f"),
            mass=Mass(m=1.0, v=1.0),
            spring=Spring(c=1.0, s_rel0=1.0),
            damper=Damper(d=1.0),
            wall=Fixed(s0=1.0),
            source=Sine(amplitude=force, f=3.0),
            force=Force(),
        ),
        20.0,
    )
    w = 6 * pi
    A = np.array([[0, 1, 0, 0], [-1, -1, force, 0], [0, 0, 0, w], [0, 0, -w, 0]])
    t = np.linspace(15.0, 20.0, 2001)
    exact = np.array([(expm(A * s) @ [0.0, 1.0, 0.0, 1.0])[:2] for s in t[::100]])
    assert result["mass.s"].at(t[::100]) == pytest.approx(exact[:, 0], abs=1e-13)
    assert result["mass.v"].at(t[::100]) == pytest.approx(exact[:, 1], abs=1e-13)
    v = result["mass.v"].at(t)
    if force:
        assert -0.11 < v.min() < -0.1
        assert v.max() == pytest.approx(-v.min(), abs=1e-2)
        assert v.max() == pytest.approx(2 / abs(1j * w + 1 + 1 / (1j * w)), abs=2e-3)
    else:
        assert v[-1] == pytest.approx(0.0, abs=1e-4)


def test_two_bodies_share_their_heat() -> None:
    """ModelingToolkitStandardLibrary.jl, two heat capacities: the difference decays with exp(-2 t)."""
    result = simulate(
        assembled(
            ("a.port", "way.port_a"),
            ("way.port_b", "b.port"),
            a=HeatCapacitor(C=10.0, T=373.15),
            b=HeatCapacitor(C=10.0, T=273.15),
            way=ThermalConductor(G=10.0),
        ),
        3.0,
    )
    difference = result["a.T"].final - result["b.T"].final
    assert difference == pytest.approx(100 * exp(-6), rel=1e-9)
    assert result["a.T"].final + result["b.T"].final == pytest.approx(646.3, rel=1e-13)
