"""Energies that a model integrates itself, where rounding of the power is large, against closed forms."""

import math

import mpmath
import numpy as np
import pytest

from acausal import Result, simulate
from acausal.components.blocks import Integrator
from acausal.components.electrical import Capacitor, Resistor, SineVoltage
from acausal.dynamics.readout import _Evaluation
from tests.systems.circuits import circuit

SMALL = [1e-3, 1e-5, 1e-7, 1e-9]
C1, C2, V = 2e-6, 3e-6, 10.0


def joined(R: float, span: float) -> Result:
    """One capacitor discharges into another: the current is a difference of equal voltages over a small resistance."""
    first, second, link = Capacitor(C=C1, v=V), Capacitor(C=C2, v=0.0), Resistor(R=R)
    branches = [("first", first, "a", "0"), ("link", link, "a", "b"), ("second", second, "b", "0")]
    return simulate(
        circuit(*branches, heat=Integrator(u=link.v * link.i), work=Integrator(u=-first.v * first.i)), span
    )


@pytest.mark.parametrize("R", SMALL)
@pytest.mark.parametrize("constants", [1e-6, 1e-3, 1.0, 1e4])
def test_capacitors_that_exchange_their_charge(R: float, constants: float) -> None:
    """Over ten decades of the span."""
    C = C1 * C2 / (C1 + C2)
    result = joined(R, constants * R * C)
    assert result["heat.y"].final == pytest.approx(
        C * V**2 / 2 * -math.expm1(-2 * constants), rel=1e-9, abs=0
    )
    v = V * (1 + C / C1 * math.expm1(-constants))
    assert result["work.y"].final == pytest.approx(C1 * (V - v) * (V + v) / 2, rel=1e-9, abs=0)


def follower(R: float) -> Result:
    """A capacitor follows a source: its current is a difference of equal voltages over a small resistance."""
    source, link, capacitor = SineVoltage(V=V, f=50.0), Resistor(R=R), Capacitor(C=C1)
    branches = [("source", source, "s", "0"), ("link", link, "s", "b"), ("capacitor", capacitor, "b", "0")]
    return simulate(
        circuit(*branches, heat=Integrator(u=link.v * link.i), work=Integrator(u=-source.v * source.i)), 5e-3
    )


@pytest.mark.parametrize("R", SMALL)
def test_the_heat_of_a_small_resistance_beside_a_large_power(R: float) -> None:
    """The current is 6 mA, a difference of 10 V over the resistance."""
    w = 2 * math.pi * 50
    result = follower(R)
    # i / peak = cos(w t + p) - cos(p) exp(-t / (R C)), tan(p) = - w R C.
    with mpmath.workdps(40):
        k = w * R * C1
        peak, p = V * w * C1 / mpmath.sqrt(1 + k * mpmath.mpf(k)), -mpmath.atan(k)
        t, rate = mpmath.mpf(5e-3), 1 / (mpmath.mpf(R) * C1)
        square = t / 2 + (mpmath.sin(2 * (w * t + p)) - mpmath.sin(2 * p)) / (4 * w)
        square += mpmath.cos(p) ** 2 * -mpmath.expm1(-2 * rate * t) / (2 * rate)
        z = (mpmath.expj(p) * (mpmath.exp((1j * w - rate) * t) - 1) / (1j * w - rate)).real
        heat = float(R * peak**2 * (square - 2 * mpmath.cos(p) * z))
        v = float(
            V * mpmath.sin(w * t) - R * peak * (mpmath.cos(w * t + p) - mpmath.cos(p) * mpmath.exp(-rate * t))
        )
    # The difference of the voltages is known to the rounding of 10 V at any time.
    current = V * w * C1
    known = max(1e-9, 8 * np.finfo(float).eps * V / (R * current))
    assert result["heat.y"].final == pytest.approx(heat, rel=known, abs=0)
    assert result["work.y"].final == pytest.approx(C1 * v**2 / 2 + heat, rel=known, abs=0)


@pytest.mark.parametrize("sharp", [10.0, 30.0, 100.0])
@pytest.mark.parametrize("begin", [0.0, 90.0])
def test_narrow_peaks_keep_their_area(sharp: float, begin: float) -> None:
    """The smallest power is below the largest by up to four decades, and its rounding too."""
    source, load = SineVoltage(V=1.0, f=50.0, phase=math.radians(begin)), Resistor(R=1.0)
    branches = [("source", source, "s", "0"), ("load", load, "s", "0")]
    result = simulate(circuit(*branches, area=Integrator(u=1 / (1 + (sharp * load.v) ** 2))), 20e-3)
    assert result["area.y"].final == pytest.approx(20e-3 / math.hypot(1, sharp), rel=1e-9, abs=0)


def test_rounding_of_a_power_is_not_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a power that is known to four digits: 1233 points, 5439 where every panel is halved until that no longer helps."""
    points = 0
    rates = _Evaluation.rates

    def counted(self: _Evaluation, which: list[int]) -> np.ndarray:
        nonlocal points
        points += len(self.hs)
        return rates(self, which)

    monkeypatch.setattr(_Evaluation, "rates", counted)
    follower(1e-9)
    assert 0 < points < 2000
