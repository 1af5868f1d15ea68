"""Arcs between opening contacts: an inductive current driven to zero, in closed form."""

from math import exp, log
from typing import Any

import numpy as np
import pytest

from acausal import Circuit, simulate, time
from acausal.components.electrical import CloserWithArc, ConstantVoltage, Inductor, OpenerWithArc, Resistor
from tests.components.electrical.circuits import loop

V, R, L, OPENING = 24.0, 4.0, 10e-3, 20e-3
TAU = L / R
CLOSE = {"rtol": 1e-10, "atol": 1e-12}


def coil(switch: Any, sign: float = 1.0) -> Circuit:
    """A coil on a source through contacts that open at ``OPENING``."""
    return loop(
        source=ConstantVoltage(V=sign * V), resistor=Resistor(R=R), inductor=Inductor(L=L), switch=switch
    )


KINDS = [
    lambda **v: OpenerWithArc(control=time >= OPENING, **v),
    lambda **v: CloserWithArc(control=time < OPENING, **v),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_an_arc_of_constant_voltage(kind: Any, sign: float) -> None:
    """``L di/dt + R i = V - V0``: zero after ``TAU * log((V0 - V + R i0) / (V0 - V))``."""
    result = simulate(coil(kind(V0=60.0, dVdt=0.0, Vmax=60.0), sign), 40e-3)
    i0 = V / R * (1 - exp(-OPENING / TAU))
    end = OPENING + TAU * log((60.0 - V + R * i0) / (60.0 - V))
    t = np.linspace(OPENING, end, 50)
    i = (V - 60.0) / R + (i0 - (V - 60.0) / R) * np.exp(-(t - OPENING) / TAU)
    np.testing.assert_allclose(result["inductor.i"].at(t), sign * i, **CLOSE)
    changes = [e.t for e in result.events if "switch.state" in e.modes and e.t > 0]
    assert changes == pytest.approx([OPENING, end], rel=1e-12)
    assert result["switch.v"].at(end, side="left") == pytest.approx(sign * 60.0, rel=1e-14)
    assert result["switch.v"].final == pytest.approx(sign * V, rel=1e-12)
    assert result["switch.i"].final == pytest.approx(0.0, abs=1e-12)


def test_an_arc_that_lengthens_up_to_its_limit() -> None:
    """Resistance and source of zero: ``L di/dt = -v``, ``v = min(45, 30 + 1e4 * s)``."""
    switch = OpenerWithArc(control=time >= 1e-3, V0=30.0, dVdt=10e3, Vmax=45.0)
    result = simulate(loop(inductor=Inductor(L=1.0, i=-0.1), switch=switch), 10e-3)
    s = np.array([0.0, 0.5e-3, 1.4e-3, 1.5e-3, 2e-3, 2.4e-3])
    np.testing.assert_allclose(result["switch.v"].at(1e-3 + s), np.minimum(45, 30 + 10e3 * s), **CLOSE)
    ramp = np.minimum(s, 1.5e-3)
    np.testing.assert_allclose(
        result["switch.i"].at(1e-3 + s), 0.1 - 30 * ramp - 5e3 * ramp**2 - 45 * (s - ramp), **CLOSE
    )
    changes = [e.t for e in result.events if "switch.state" in e.modes and e.t > 0]
    assert changes == pytest.approx([1e-3, 2.5e-3 + 0.04375 / 45], rel=1e-12)


def test_contacts_without_current_part_without_arc() -> None:
    model = loop(
        source=ConstantVoltage(V=0.0), resistor=Resistor(R=1.0), switch=CloserWithArc(control=time < 1.0)
    )
    result = simulate(model, 2.0)
    assert not any("ward" in str(e.modes) for e in result.events)
    assert result["switch.v"].final == 0


def test_contacts_that_close_again_end_the_arc() -> None:
    closed = (time < OPENING) | (time >= OPENING + 1e-3)
    result = simulate(coil(CloserWithArc(control=closed, V0=60.0, dVdt=0.0)), 40e-3)
    assert result["switch.v"].at(OPENING + 0.5e-3) == pytest.approx(60.0)
    assert result["switch.v"].at(OPENING + 1e-3) == 0
    assert result["inductor.i"].final == pytest.approx(V / R, rel=1e-3)


@pytest.mark.parametrize("Goff", [0.0, 1e-12, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("kind", KINDS)
def test_an_arc_over_open_contacts_that_leak(kind: Any, Goff: float) -> None:
    """``L di/dt + R i = V - V0 - dVdt s`` until ``i = Goff v``."""
    from scipy.optimize import brentq

    V0, rise = 30.0, 10e3
    i0 = V / R * (1 - exp(-OPENING / TAU))
    slope = -rise / R
    level = (V - V0 - L * slope) / R

    def over(s: float) -> float:
        return level + slope * s + (i0 - level) * exp(-s / TAU) - Goff * (V0 + rise * s)

    end = OPENING + brentq(over, 1e-3, 3e-3, xtol=1e-15, rtol=1e-14)
    result = simulate(coil(kind(Goff=Goff)), 40e-3)
    changes = [e.t for e in result.events if "switch.state" in e.modes and e.t > 0]
    assert changes == pytest.approx([OPENING, end], rel=1e-12)
