"""Bridges of ideal diodes behind a floating winding: while no current flows all of them block, and share the voltage."""

import numpy as np
import pytest

from acausal import Circuit, simulate
from acausal.components.blocks import BooleanPulse
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    CoupledInductors,
    Ground,
    IdealDiode,
    IdealTwoWaySwitch,
    Resistor,
)

PERIOD = 1.0 / 90e3


def resonant_converter() -> Circuit:
    """Half bridge, capacitor and leaky transformer with a diode bridge behind it, whose current has gaps."""
    c = Circuit()
    ground, source = c.add("ground", Ground()), c.add("source", ConstantVoltage(V=100.0))
    clock = c.add("clock", BooleanPulse(period=PERIOD))
    half, cr = c.add("half", IdealTwoWaySwitch(control=clock.y)), c.add("cr", Capacitor(C=100e-9, v=50.0))
    tr = c.add("tr", CoupledInductors(L1=200e-6, L2=50e-6, k=0.99))
    d1, d2, d3, d4 = (c.add(f"d{k}", IdealDiode()) for k in (1, 2, 3, 4))
    co, load = c.add("co", Capacitor(C=10e-6)), c.add("load", Resistor(R=5.0))
    c.connect(source.p, half.n2)
    c.connect(source.n, half.n1, ground.p, tr.n1)
    c.connect(half.p, cr.p)
    c.connect(cr.n, tr.p1)
    c.connect(tr.p2, d1.p, d3.n)
    c.connect(tr.n2, d2.p, d4.n)
    c.connect(d1.n, d2.n, co.p, load.p)
    c.connect(d3.p, d4.p, co.n, load.n, ground.p)
    return c


@pytest.mark.parametrize("method", ["exact", "implicit"])
def test_diodes_that_block_share_the_voltage_in_every_period(method: str) -> None:
    """The mode that follows a gap was tried first; in it a diode closed without current, and others took its voltage."""
    result = simulate(resonant_converter(), 30 * PERIOD, method=method)
    t = (np.arange(2000) + 0.5) * (10 * PERIOD / 2000) + 20 * PERIOD
    on = np.array([result[f"d{k}.on"].at(t) for k in (1, 2, 3, 4)])
    assert set(map(tuple, on.T.astype(int).tolist())) == {(0, 0, 0, 0), (1, 0, 0, 1), (0, 1, 1, 0)}
    gaps = t[~on.any(axis=0)]
    assert len(gaps) > 50
    winding, out = result["tr.v2"].at(gaps), result["load.v"].at(gaps)
    for k, sign in ((1, 1.0), (2, -1.0), (3, -1.0), (4, 1.0)):
        np.testing.assert_allclose(result[f"d{k}.v"].at(gaps), (sign * winding - out) / 2.0, atol=1e-6)
