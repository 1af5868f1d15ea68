"""Energies of starts that hold beside defaults which jump: what is held from outside takes what its own limits say."""

from pathlib import Path

import numpy as np
import pytest

from acausal import Circuit, Result, simulate
from acausal.components import electrical as el
from acausal.components import rotational as rot
from acausal.results.record import STARTS
from tests.systems.circuits import circuit

END = 2.0


def planetary(**sun: float) -> Circuit:
    """A planetary gear with an inertia on each shaft."""
    c = Circuit()
    s, p = c.add("s", rot.Inertia(J=0.05, **sun)), c.add("p", rot.IdealPlanetary(ratio=3.0))
    k, r = c.add("k", rot.Inertia(J=1.0)), c.add("r", rot.Inertia(J=0.3))
    c.connect(s.flange_b, p.sun)
    c.connect(p.carrier, k.flange_a)
    c.connect(p.ring, r.flange_a)
    return c


CARRIER, RING = 120.0 / 23.0, -300.0 / 23.0
"""Speeds of which the gear demands 4 CARRIER = 60 + 3 RING, and the torques 1 CARRIER / 4 = -0.3 RING / 3 in its proportion."""


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
@pytest.mark.parametrize("fixed", [False, True])
def test_what_has_its_given_speed_before_and_after_takes_nothing(
    fixed: bool, method: str, tmp_path: Path
) -> None:
    """Others follow from their defaults; what they take, connections give."""
    initial = {"s.w": 60.0} if fixed else {}
    result = simulate(planetary(**({} if fixed else {"w": 60.0})), END, method=method, initial=initial)
    assert [result[f"{n}.w"].at(0.0) for n in "skr"] == pytest.approx([60.0, CARRIER, RING], rel=1e-12)
    result.save(tmp_path / "run")
    taken = 0.5 * CARRIER**2, 0.15 * RING**2
    for found in (result, Result.load(next(tmp_path.iterdir()))):
        audit = found.audit()
        assert [audit.into(n) for n in "skr"] == pytest.approx([0.0, *taken], rel=1e-9, abs=1e-9)
        assert audit.lost == pytest.approx({STARTS: -sum(taken)}, rel=1e-9)
        assert found.check().ok and not found.check().unchecked


def test_a_given_voltage_in_a_loop_takes_nothing() -> None:
    """Both others take the half of it from their defaults."""
    a, b, d = el.Capacitor(C=1.0, v=10.0), el.Capacitor(C=1.0), el.Capacitor(C=1.0)
    audit = simulate(circuit(("a", a, "m", "0"), ("b", b, "m", "n"), ("d", d, "n", "0")), END).audit()
    assert [audit.into(n) for n in "abd"] == pytest.approx([0.0, 12.5, 12.5], abs=1e-12)
    assert audit.lost == pytest.approx({STARTS: -25.0})


def test_where_a_held_shaft_is_driven_at_both_ends_its_share_is_open() -> None:
    model = planetary(w=60.0)
    s, p, k = model.s, model.add("p2", rot.IdealPlanetary(ratio=2.0)), model.add("k2", rot.Inertia(J=1.0))
    r = model.add("r2", rot.Inertia(J=0.5))
    model.connect(s.flange_a, p.sun)
    model.connect(p.carrier, k.flange_a)
    model.connect(p.ring, r.flange_a)
    result = simulate(model, END)
    assert np.isnan(result.audit().into("s")) and np.isnan(result.audit().energy_lost)
    assert len(result.check().unchecked) == 1 and "`s`" in result.check().unchecked[0]
