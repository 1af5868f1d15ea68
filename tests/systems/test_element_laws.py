"""Laws of single elements in every circuit they stand in: characteristics, passivity, observed quantities."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from acausal import Circuit, Result, simulate, time
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    IdealClosingSwitch,
    IdealDiode,
    IdealGTOThyristor,
    IdealThyristor,
    IdealTriac,
    Inductor,
    RampCurrent,
    Resistor,
    SineVoltage,
)
from tests.systems.circuits import circuit

F, V, R = 50.0, 10.0, 2.0
T = 1 / F
LAWS = [
    (Ron, Goff, Vknee)
    for Ron, Goff, Vknee in product((0.0, 1e-6, 0.1, 1e3), (0.0, 1e-9, 1e-4, 1.0), (0.0, 0.7, 9.0))
    if Ron * Goff < 1
]
ALWAYS = time >= 0


def curve(s: np.ndarray, Ron: float, Goff: float, Vknee: float) -> tuple[np.ndarray, np.ndarray]:
    """Voltage and current over the path parameter: V below the knee where negative, A above it where positive."""
    below, above = np.minimum(s, 0.0), np.maximum(s, 0.0)
    return Vknee + below + Ron * above, Goff * (Vknee + below) + above


def driven(part: Any, *load: tuple[str, Any]) -> Result:
    """A sine source, a resistor, the part under test, and further parts, all in series."""
    branches = [("source", SineVoltage(V=V, f=F), "n0", "0"), ("R", Resistor(R=R), "n0", "n1")]
    names = [*load, ("part", part)]
    for k, (name, element) in enumerate(names, start=1):
        branches.append((name, element, f"n{k}", "0" if k == len(names) else f"n{k + 1}"))
    return simulate(circuit(*branches), 2 * T)


def deviation(result: Result, Ron: float, Goff: float, Vknee: float, path: str = "part") -> float:
    """Largest distance of the samples from the characteristic, relative to its extent."""
    v, i = result[f"{path}.v"].values[1:], result[f"{path}.i"].values[1:]
    s = np.where(i - Goff * v > Vknee - v, i - Goff * Vknee, v - Vknee)
    v0, i0 = curve(s, Ron, Goff, Vknee)
    return max(np.abs(v - v0).max() / V, np.abs(i - i0).max() * R / V)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize(
    "laws", [LAWS[::4], pytest.param(LAWS, marks=pytest.mark.sweep)], ids=["some", "all"]
)
@pytest.mark.parametrize("kind", [IdealDiode, IdealThyristor, IdealGTOThyristor])
@pytest.mark.parametrize("storage", [None, Inductor(L=5e-3), Capacitor(C=1e-3)], ids=["R", "RL", "RC"])
def test_characteristic_and_passivity(kind: Any, storage: Any, laws: list[tuple[float, ...]]) -> None:
    gate = {} if kind is IdealDiode else {"fire": ALWAYS}
    load = [] if storage is None else [("storage", storage)]
    for Ron, Goff, Vknee in laws:
        result = driven(kind(Ron=Ron, Goff=Goff, Vknee=Vknee, **gate), *load)
        # A blocked current of an inductor is known to the last bit of the time at which it was blocked; the leakage
        # turns that into a voltage.
        last_bit = np.spacing(2 * T) / 5e-3 / Goff if Goff and isinstance(storage, Inductor) else 0.0
        assert deviation(result, Ron, Goff, Vknee) <= 1e-9 + last_bit, (Ron, Goff, Vknee)
        power = result["part.v"].values[1:] * result["part.i"].values[1:]
        assert power.min() >= -1e-12 * V * V / R, (Ron, Goff, Vknee)


def test_a_fired_triac_follows_the_curve_in_both_directions() -> None:
    for Ron, Goff, Vknee in LAWS[::4]:
        result = driven(IdealTriac(Ron=Ron, Goff=Goff, Vknee=Vknee, fire=ALWAYS))
        for path in ("part.forward", "part.backward"):
            assert deviation(result, Ron, Goff, Vknee, path) <= 1e-9, (Ron, Goff, Vknee)
        power = result["part.v"].values[1:] * result["part.i"].values[1:]
        assert power.min() >= -1e-12 * V * V / R


@pytest.mark.parametrize("Ron", [0.0, 1e-6, 0.5])
@pytest.mark.parametrize("Goff", [0.0, 1e-9, 0.25])
def test_switch_is_one_of_two_lines(Ron: float, Goff: float) -> None:
    control = ((time >= 0.3 * T) & (time < 0.8 * T)) | (time >= 1.4 * T)
    result = driven(IdealClosingSwitch(Ron=Ron, Goff=Goff, control=control))
    v, i = result["part.v"].values[1:], result["part.i"].values[1:]
    closed = result["part.closed"].values[1:].astype(bool)
    np.testing.assert_allclose(np.where(closed, v - Ron * i, i - Goff * v), 0, atol=1e-12 * V)
    assert (v * i).min() >= -1e-12 * V * V / R


def prescribed(potential: float) -> Circuit:
    """A current that rises by 2 A/s flows through an inductor into a source of a given potential."""
    return circuit(
        ("source", ConstantVoltage(V=potential), "a", "0"),
        ("inductor", Inductor(L=0.25), "b", "a"),
        ("feed", RampCurrent(I=-20.0, duration=10.0), "b", "0"),
    )


@pytest.mark.parametrize("potential", [0.0, 5.5, -3.0])
def test_inductor_with_prescribed_current_at_any_potential(potential: float) -> None:
    result = simulate(prescribed(potential), 1.0)
    t = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(result["inductor.i"].at(t), 2 * t, rtol=1e-12)
    np.testing.assert_allclose(result["inductor.v"].at(t), 0.5, rtol=1e-12)
    np.testing.assert_allclose(result["feed.v"].at(t), potential + 0.5, rtol=1e-12)
