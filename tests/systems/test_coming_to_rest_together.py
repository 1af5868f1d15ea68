"""Bodies without momentum that friction brings to rest at one instant: all speeds are zero then, and what they were counts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from acausal import Circuit, simulate
from acausal.components.electrical import Capacitor, ConstantCurrent, Ground, IdealDiode
from acausal.components.rotational import CoulombFriction, Inertia
from tests.oracles.random_lines import random_mechanism
from tests.systems import line_models


def row(J: Sequence[float], w: Sequence[float], torque: Sequence[float]) -> Circuit:
    """Inertias with friction between neighbours, and nothing else."""
    c = Circuit()
    bodies = [c.add(f"body{k}", Inertia(J=a, w=b)) for k, (a, b) in enumerate(zip(J, w, strict=True))]
    for k, level in enumerate(torque):
        friction = c.add(f"friction{k}", CoulombFriction(tau_coulomb=level))
        c.connect(bodies[k].flange_b, friction.flange_a)
        c.connect(friction.flange_b, bodies[k + 1].flange_a)
    return c


ROWS = [
    ((1.0, 1.0), (10.0, -10.0), (5.0,), 2.0),
    ((1.0, 2.0), (10.0, -5.0), (5.0,), 2.0),
    ((1.0, 0.7, 1.0), (10.0, 0.0, -10.0), (5.0, 5.0), 2.0),
    ((1.3, 1.3), (1e6, -1e6), (0.1,), 1.3e7),
    ((1.0, 1.0), (1e-9, -1e-9), (5.0,), 2e-10),
    ((1.0, 1.0), (10.0, 3.0), (5.0,), 0.7),
]


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["exact", "implicit"])
@pytest.mark.parametrize(("J", "w", "torque", "end"), ROWS)
def test_bodies_move_on_together(
    J: Sequence[float], w: Sequence[float], torque: Sequence[float], end: float, method: str
) -> None:
    """All of them reach the speed of their common centre at once."""
    result = simulate(row(J, w, torque), 2.0 * end, method=method)
    common, largest = sum(a * b for a, b in zip(J, w, strict=True)) / sum(J), max(map(abs, w))
    for k in range(len(J)):
        assert result[f"body{k}.w"].final == pytest.approx(common, rel=1e-12, abs=1e-14 * largest)
    assert result.events[-1].t == pytest.approx(end, rel=1e-12)
    result.check(20).require()


def test_capacitors_that_meet_at_no_voltage() -> None:
    """+10 V and -10 V are drained by 1 A until a diode joins them at 0 V; it then takes half of what is left."""
    c = Circuit()
    a, b = c.add("a", Capacitor(C=1e-3, v=10.0)), c.add("b", Capacitor(C=1e-3, v=-10.0))
    source, diode = c.add("source", ConstantCurrent(I=1.0)), c.add("diode", IdealDiode())
    ground = c.add("ground", Ground())
    c.connect(a.p, source.p, diode.n)
    c.connect(b.p, source.n, diode.p)
    c.connect(a.n, b.n, ground.p)
    result = simulate(c, 0.02)
    assert result.events[-1].t == pytest.approx(0.01, rel=1e-12)
    assert result["a.v"].final == pytest.approx(0.0, abs=1e-12)
    assert result["diode.i"].final == pytest.approx(1.0, rel=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_what_rests_beside_frictions_with_open_shares_holds_all_that_it_can() -> None:
    """A friction of 3 N comes to rest beside others, and holds 6 N from then on: it carries 3.7 N when a push changes.

    Those beside it may slide with just the force that they hold with, as not all shares of parallel ones do.
    """
    result = simulate(line_models.model(random_mechanism(1054, moving=True, bodies=5), 0.7), 1.0)
    assert result["F6.state"].at(0.69) == result["F6.state"].at(0.75) == 0
    assert result["M1.v"].at(0.75) == pytest.approx(float(result["M4.v"].at(0.75)), abs=1e-12)
    assert 3.0 < abs(result["F6.f"].at(0.75)) < 6.0
