"""Response to impulses in contacts, and lost energy."""

import numpy as np
import pytest

from acausal.reduction.affine import AffineModel, Mode, Restart
from acausal.reduction.impacts import (
    fastest,
    lost_energy,
    rest_speeds,
    touching_contacts,
    transmitting_chains,
)
from acausal.reduction.index_reduction import reduce_mode
from acausal.simulation.instants.restart import LeftLimits, restart
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
    after = restart(model, LeftLimits(data, left, xi))
    return after, float(lost_energy(model, old, data, left, after.z, after.J1, xi).sum())


def consistent(model: AffineModel, mode: Mode, **values: float) -> np.ndarray:
    return restart(model, LeftLimits(reduce_mode(model, mode), at(model, **values), ONE)).z


def test_response_to_an_impulse_in_an_open_contact() -> None:
    model = ball(0.9)
    free = reduce_mode(model, (0,))
    contacts = touching_contacts(model, free, [0])
    assert contacts.inverse_masses == pytest.approx(np.array([[0.5]]), rel=1e-15)
    left = at(model, v=-3.0)
    y = np.concatenate([left[free.states], ONE])
    assert contacts.speeds(y) == pytest.approx([-3.0], rel=1e-15)
    p = 2.0 * 5.7
    after = restart(model, LeftLimits(free, left, ONE)).y + np.append(contacts.jump[:, 0], 0.0) * p
    final = free.T @ after
    assert (final[0], final[1]) == pytest.approx((0.0, 2.7), rel=1e-15)
    assert contacts.impulse[2, 0] == 1.0
    lost = lost_energy(model, free, free, left, final, contacts.impulse[:, 0] * p, ONE)
    assert lost[0] == pytest.approx(9.0 - 7.29, rel=1e-14)


@pytest.mark.parametrize(("declared", "speed"), [(None, 3e-6), (0.5, 0.5), (0.0, 0.0)])
def test_rest_speed(declared: float | None, speed: float) -> None:
    model = ball(0.9, declared)
    free = reduce_mode(model, (0,))
    contacts, y = touching_contacts(model, free, [0]), np.append(at(model, v=-3.0)[free.states], ONE)
    assert rest_speeds(model, contacts, fastest(contacts, -contacts.speeds(y))) == pytest.approx(
        [speed], rel=1e-12
    )


def test_impulses_of_bodies_that_share_a_mass_or_not() -> None:
    builder = Builder()
    for name in ("x1", "v1", "x2", "v2", "f", "g", "h"):
        builder.var(name)
    builder.eq({"v1": -1.0}, {"x1": 1.0})
    builder.eq({"v2": -1.0}, {"x2": 1.0})
    builder.eq({"f": -1.0, "g": 2.0}, {"v1": 2.0})
    builder.eq({"g": -2.0, "h": -1.0}, {"v2": 4.0})
    builder.impact("floor", "x1", "f", e=0.5)
    builder.impact("between", {"x1": -1.0, "x2": 1.0}, "g", e=0.5)
    builder.impact("other", "x2", "h", e=0.5)
    model = builder.build()
    contacts = touching_contacts(model, reduce_mode(model, (0, 0, 0)), [0, 1, 2])
    # The force between is counted twice over by its variable: its row has another factor than the others.
    expected = [[0.5, -1.0, 0.0], [-0.5, 1.5, 0.25], [0.0, 0.5, 0.25]]
    assert contacts.inverse_masses == pytest.approx(np.array(expected), rel=1e-14)


@pytest.mark.parametrize("held", ["spring", "damper"])
@pytest.mark.parametrize("stiffness", [1e-6, 1.0, 1e9])
def test_a_place_without_mass_only_hands_impulses_on(stiffness: float, held: str) -> None:
    builder = Builder()
    for name in ("x", "x1", "v1", "x2", "v2", "g", "h"):
        builder.var(name)
    balance: dict[str, float] = {"g": -1.0, "h": 1.0}
    if held == "spring":
        builder.eq(balance | {"x": stiffness}, {})
    else:
        builder.eq(balance, {"x": stiffness})
    builder.eq({"v1": -1.0}, {"x1": 1.0})
    builder.eq({"v2": -1.0}, {"x2": 1.0})
    builder.eq({"g": 1.0}, {"v1": 2.0})
    builder.eq({"h": -1.0}, {"v2": 4.0})
    builder.impact("left", {"x": 1.0, "x1": -1.0}, "g", e=0.5)
    builder.impact("right", {"x2": 1.0, "x": -1.0}, "h", e=0.5)
    model = builder.build()
    free = reduce_mode(model, (0, 0))
    assert len(transmitting_chains(model, touching_contacts(model, free, [0])).weights) == 0
    both = transmitting_chains(model, touching_contacts(model, free, [0, 1]))
    assert both.weights == pytest.approx(np.ones((1, 2)), rel=1e-14)
    assert both.inverse_masses == pytest.approx(np.array([[0.75]]), rel=1e-14)
    assert both.members(np.array([True])) == [0, 1]


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
