"""Restitution and lost energy."""

import numpy as np
import pytest

from acausal.reduction.affine import AffineModel, Inadmissible, Mode, Restart
from acausal.reduction.impacts import lost_energy, restitution
from acausal.reduction.reduction import reduce_mode
from acausal.reduction.restart import restart
from tests.reduction.circuits import Builder, Circuit, at, value

ONE = np.array([1.0])


def ball(e: float, rest_speed: float | None = None) -> AffineModel:
    builder = Builder()
    for name in ("h", "v", "f"):
        builder.var(name)
    builder.eq({"v": -1.0}, {"h": 1.0})
    builder.eq({"f": -1.0}, {"v": 2.0}, {0: 19.62})
    builder.impact("floor", "h", "f", e=e, rest_speed=rest_speed)
    return builder.build()


def enter(
    model: AffineModel, before: Mode, mode: Mode, left: np.ndarray, xi: np.ndarray = ONE
) -> tuple[Restart, float]:
    """Restart in ``mode`` and the energy lost by it."""
    old, data = reduce_mode(model, before), reduce_mode(model, mode)
    after = restart(model, data, left, xi)
    return after, float(lost_energy(model, old, data, left, after.z, after.J1, xi).sum())


def consistent(model: AffineModel, mode: Mode, **values: float) -> np.ndarray:
    return restart(model, reduce_mode(model, mode), at(model, **values), ONE).z


def test_a_ball_bounces_with_its_coefficient() -> None:
    model = ball(0.9)
    free = reduce_mode(model, (0,))
    left = at(model, v=-3.0)
    after, _ = enter(model, (0,), (1,), left)
    bounce = restitution(model, free, after, left, ONE)
    assert bounce is not None
    assert (bounce.mode, bounce.elements) == ((0,), (0,))
    final = restart(model, free, bounce.z, ONE)
    assert final.z[0] == 0.0
    assert final.z[1] == pytest.approx(2.7, rel=1e-15)
    assert bounce.J1[2] == pytest.approx(2.0 * 5.7, rel=1e-15)
    lost = lost_energy(model, free, free, left, final.z, bounce.J1, ONE)
    assert lost[0] == pytest.approx(9.0 - 7.29, rel=1e-14)


@pytest.mark.parametrize(
    ("e", "rest_speed", "speed"), [(0.9, None, 1e-7), (0.9, 0.5, 0.4), (0.0, None, 3.0), (0.9, None, 0.0)]
)
def test_contact_is_kept(e: float, rest_speed: float | None, speed: float) -> None:
    model = ball(e, rest_speed)
    left = at(model, v=-speed)
    after, _ = enter(model, (0,), (1,), left)
    assert restitution(model, reduce_mode(model, (0,)), after, left, ONE) is None


def two_stops(e1: float, e2: float) -> AffineModel:
    builder = Builder()
    for name in ("x1", "v1", "f1", "x2", "v2", "f2"):
        builder.var(name)
    for k, mass in ((1, 1.0), (2, 3.0)):
        builder.eq({f"v{k}": -1.0}, {f"x{k}": 1.0})
        builder.eq({f"f{k}": -1.0}, {f"v{k}": mass})
    builder.impact("one", "x1", "f1", e=e1)
    builder.impact("two", "x2", "f2", e=e2)
    return builder.build()


def test_different_coefficients_in_one_instant_are_refused() -> None:
    left_values = {"v1": -1.0, "v2": -2.0}
    model = two_stops(0.5, 0.7)
    left = at(model, **left_values)
    after, _ = enter(model, (0, 0), (1, 1), left)
    with pytest.raises(Inadmissible, match="mixed restitution: one, two"):
        restitution(model, reduce_mode(model, (0, 0)), after, left, ONE)
    equal = two_stops(0.5, 0.5)
    bounce = restitution(equal, reduce_mode(equal, (0, 0)), enter(equal, (0, 0), (1, 1), left)[0], left, ONE)
    assert bounce is not None
    assert [value(equal, bounce.z, name) for name in ("v1", "v2")] == [0.5, 1.0]
    assert bounce.mode == (0, 0)


def test_a_contact_already_closed_does_not_bounce() -> None:
    model = two_stops(0.5, 0.7)
    left = at(model, v1=-1.0)
    after, _ = enter(model, (0, 1), (1, 1), left)
    bounce = restitution(model, reduce_mode(model, (0, 1)), after, left, ONE)
    assert bounce is not None
    assert bounce.mode == (0, 1)


def test_inelastic_impact_loses_all_its_energy() -> None:
    assert enter(ball(0.0), (0,), (1,), at(ball(0.0), v=-3.0))[1] == pytest.approx(9.0, rel=1e-15)


def test_two_capacitors_lose_energy() -> None:
    circuit = Circuit()
    circuit.C("c1", "a", "0", 1e-6)
    circuit.C("c2", "b", "0", 3e-6)
    circuit.SW("s", "a", "b")
    model = circuit.build()
    assert enter(model, (0,), (1,), consistent(model, (0,), u_c1=10.0))[1] == pytest.approx(
        37.5e-6, rel=1e-14
    )


def test_two_switches_in_series_lose_the_same_energy() -> None:
    circuit = Circuit()
    circuit.C("c1", "a", "0", 1e-6)
    circuit.SW("s1", "a", "m")
    circuit.SW("s2", "m", "b")
    circuit.C("c2", "b", "0", 3e-6)
    model = circuit.build()
    left = consistent(model, (0, 0), u_c1=10.0)
    assert enter(model, (0, 0), (1, 1), left)[1] == pytest.approx(37.5e-6, rel=1e-14)


def test_a_capacitor_switched_onto_an_ideal_source_loses_half() -> None:
    circuit = Circuit()
    circuit.V("v", "a", "0", {0: 10.0})
    circuit.SW("s", "a", "b")
    circuit.C("c", "b", "0", 1e-6)
    model = circuit.build()
    assert enter(model, (0,), (1,), consistent(model, (0,)))[1] == pytest.approx(50e-6, rel=1e-14)


def test_a_capacitor_charged_through_a_complementarity_loses_half() -> None:
    circuit = Circuit()
    circuit.V("v", "a", "0", {0: 10.0})
    circuit.D("d", "a", "b")
    circuit.C("c", "b", "0", 1e-6)
    model = circuit.build()
    assert enter(model, (0,), (1,), consistent(model, (0,)))[1] == pytest.approx(50e-6, rel=1e-14)


def test_an_interrupted_inductor_loses_its_energy() -> None:
    circuit = Circuit()
    circuit.V("v", "a", "0", {0: 6.0})
    circuit.L("l", "a", "b", 1e-3)
    circuit.SW("s", "b", "0")
    model = circuit.build()
    after, lost = enter(model, (1,), (0,), consistent(model, (1,), i_l=4.0))
    # The source delivers nothing through the impulse: its flow jumps, its potential has none.
    assert value(model, after.J1, "i.v") == 0.0
    assert lost == pytest.approx(8e-3, rel=1e-14)


def test_a_dog_clutch_loses_the_energy_of_the_slip() -> None:
    builder = Builder()
    for name in ("w1", "w2", "t"):
        builder.var(name, 10.0)
    builder.eq({"t": 1.0}, {"w1": 2.0})
    builder.eq({"t": -1.0}, {"w2": 1.0})
    builder.switch("lock", {"w1": 1.0, "w2": -1.0}, "t")
    model = builder.build()
    lost = enter(model, (0,), (1,), at(model, w1=10.0, w2=1.0))[1]
    assert lost == pytest.approx(0.5 * (2.0 * 100.0 + 1.0 - 3.0 * 49.0), rel=1e-14)
