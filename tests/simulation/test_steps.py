"""Length of the steps of a segment: what happens within a period of the sources is not passed over."""

from typing import Any

import numpy as np
import pytest

from acausal import simulate
from acausal.components.electrical import Capacitor, Diode, Resistor, SineVoltage
from acausal.simulation.nonlinear.motion import Motion, Place
from acausal.simulation.nonlinear.numerical import bent
from tests.oracles.junction_rectifier import JunctionRectifier
from tests.systems.circuits import circuit


@pytest.mark.sweep(every=9)
@pytest.mark.parametrize("rtol", [1e-2, 1e-4, 1e-6])
def test_short_conduction_of_a_junction_is_found_at_any_tolerance(rtol: float) -> None:
    """Half a millisecond in a period of 20 ms, between which hardly anything moves."""
    p = JunctionRectifier(Rs=0.1, RL=2e3)
    model = circuit(
        ("source", SineVoltage(V=p.V, f=p.f), "a", "0"),
        ("series", Resistor(R=p.Rs), "a", "b"),
        ("diode", Diode(Ids=p.Ids, Vt=p.Vt, R=p.R, Maxexp=50.0), "b", "c"),
        ("capacitor", Capacitor(C=p.C), "c", "0"),
        ("load", Resistor(R=p.RL), "c", "0"),
    )
    t = np.linspace(0.0, 0.1, 6)
    result = simulate(model, 0.1, rtol=rtol, method="implicit")
    np.testing.assert_allclose(
        result["capacitor.v"].at(t), p.capacitor(t), rtol=0, atol=p.V * max(rtol, 1e-5)
    )


def test_no_point_without_states_is_solved_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a step is asked for to judge the step, and to go on from it."""
    times: list[float] = []
    solve = Motion.solve

    def noted(motion: Motion, h: float, *args: Any, **options: Any) -> Place:
        times.append(h)
        return solve(motion, h, *args, **options)

    monkeypatch.setattr(Motion, "solve", noted)
    model = circuit(
        ("source", SineVoltage(V=10.0, f=50.0), "a", "0"),
        ("load", Resistor(R=10.0), "a", "b"),
        ("diode", Diode(), "b", "0"),
    )
    result = simulate(model, 0.02)
    assert len(times) > 100
    # The last instant is tried once more, after a step to it that was rejected.
    assert [t for t in set(times) if times.count(t) > 1 and t != 0.02] == []
    assert result["load.v"].final == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("late", [1e-12, -1e-12])
@pytest.mark.parametrize("product", [1e-6, 0.5, 1.0, 2.0, 1e6])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_bend_of_what_grows_or_decays_within_the_time_that_is_open(
    sign: float, product: float, late: float
) -> None:
    """The second difference of an exponential, on the side on which it is small; growth over just this time raised an error."""
    rate = np.array([[sign * product / 1e-12]])
    exact = 3.0 * np.expm1(-product) ** 2
    assert 0.5 * exact <= bent(np.array([[1.0]]), rate, np.array([3.0]), late)[0] <= 2.0 * exact


def test_bend_of_what_grows_beside_what_decays() -> None:
    late, y = 1e-12, np.array([3.0, -2.0])
    found = bent(np.array([[1.0, 0.0], [0.0, 1.0]]), np.diag([1.0, -1.0]) / late, y, late)
    assert (found <= np.abs(y)).all()
    assert (found >= np.expm1(-1.0) ** 2 * np.abs(y)).all()
