"""Points read from values and slopes of steps: what is slow keeps its value, what is quick takes the slope, however it moves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from acausal import simulate
from acausal.components.electrical import Capacitor, Resistor, SineVoltage
from acausal.simulation.nonlinear import slope_reading
from acausal.simulation.nonlinear.newton import solutions
from acausal.simulation.nonlinear.slope_reading import PASSES, SlopeReading
from tests.systems.circuits import circuit
from tests.systems.network_models import CubicConductor

H = np.array([0.5])
NOTHING = np.zeros((1, 0))


def reading(J: Any, **more: Any) -> SlopeReading:
    """Of ``x' = J x``, without anything that is solved."""
    J = np.array(J, float)
    n = len(J)
    parts: dict[str, Any] = dict(
        nx=n, m=0, rate_of_both=J, rate_of_sources=np.zeros((n, 0)), scale=np.ones(n), open_scale=np.ones(0)
    )
    system: Any = SimpleNamespace(**parts | more)
    none = np.array([], int)
    return SlopeReading(system, np.zeros(0), np.arange(n), none)


def corrected(read: SlopeReading, y: np.ndarray, slopes: np.ndarray) -> tuple[np.ndarray, ...]:
    """Points of steps of length H, in the units that the points themselves give."""
    xi, lengths = np.zeros((len(y), 0)), np.repeat(H, len(y))
    return read.corrected(y, xi, slopes, lengths, read.quickness(y, xi, lengths)[1])


@pytest.mark.parametrize("z", [-1e9, -20.0, -3.0, -1.0, -0.1, -1e-3, 1e-3, 0.1, 0.5, 1.0, 1.5, 3.0, 1e9])
def test_one_state_by_closed_form(z: float) -> None:
    """Of the error of the value (1 + z**2)**-PASSES is left, whether the state decays or grows."""
    value, slope = 1.0 + 1e-3, z / H[0]
    y, rates, found = corrected(reading([[z / H[0]]]), np.array([[value]]), np.array([[slope]]))
    assert found.all()
    left = (1.0 + z**2) ** -PASSES
    assert y[0, 0] == pytest.approx(1.0 + 1e-3 * left, abs=1e-14)
    assert rates[0, 0] == pytest.approx(slope * (1.0 + 1e-3 * left), rel=1e-12)


@pytest.mark.parametrize("turn", [0.05, 1.0, 30.0])
def test_what_turns(turn: float) -> None:
    """Steps of the implicit Euler method and polynomials of rates have poles there."""
    J = np.array([[0.0, turn], [-turn, 0.0]]) / H[0]
    exact, off = np.array([1.0, 0.5]), np.array([1e-3, -2e-3])
    y, rates, found = corrected(reading(J), (exact + off)[None], (J @ exact)[None])
    assert found.all()
    left = off * (1.0 + turn**2) ** -PASSES
    np.testing.assert_allclose(y[0], exact + left, atol=1e-14)
    np.testing.assert_allclose(rates[0], J @ (exact + left), rtol=1e-12)


def test_units_change_nothing() -> None:
    J, unit = np.array([[-3.0, 1.0], [0.5, -0.2]]), np.array([1e6, 1e-4])
    y, s = np.array([[1.0, 2.0]]), np.array([[-1.2, 0.3]])
    plain, scaled = reading(J), reading(J * unit[:, None] / unit, scale=unit)
    found, other = corrected(plain, y, s), corrected(scaled, y * unit, s * unit)
    np.testing.assert_allclose(other[0], found[0] * unit, rtol=1e-12)
    np.testing.assert_allclose(other[1], found[1] * unit, rtol=1e-12)


@pytest.mark.parametrize("gain", [1e2, 1e9])
def test_a_gain_is_not_quick(gain: float) -> None:
    """What follows another state with a large gain and does not act on it, or hardly, tells nothing of it."""
    for back in (0.0, 1e-2 / gain):
        read = reading(np.array([[-0.1, back], [gain, -0.1]]) / H[0])
        y = np.array([[1.0, 2.0]])
        assert read.quickness(y, NOTHING, H)[0][0] <= 0.25
        slopes = np.array([[-0.1 + 2.0 * back, gain * 1.001 - 0.2]]) / H[0]
        x, _, found = corrected(read, y, slopes)
        assert found.all()
        assert x[0, 0] == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("slope", [0.0, np.inf, np.nan])
def test_no_slope_no_number(slope: float) -> None:
    """``o**2 = x`` at zero, and next to an infinite slope; the point beside it is found."""

    def many(y: np.ndarray, xi: np.ndarray, constants: np.ndarray) -> tuple[np.ndarray, np.ndarray, None]:
        by_open = np.where(y[:, 1] == 0.0, slope, 2.0 * y[:, 1])
        return (y[:, 1] ** 2 - y[:, 0])[:, None], np.stack([-np.ones(len(y)), by_open], axis=1)[:, None], None

    read = reading(
        np.zeros((1, 1)), m=1, open_scale=np.ones(1), rate_of_both=np.array([[0.0, -4.0]]), many=many,
        rounding_many=lambda y, xi, constants: np.full((len(y), 1), 1e-16),
    )  # fmt: skip
    y, none = np.array([[0.0, 0.0], [1.0, 1.0]]), np.zeros((2, 0))
    quickness, _ = read.quickness(y, none, np.repeat(H, 2))
    assert np.isnan(quickness[0])
    assert quickness[1] == 1.0
    *_, found = corrected(read, y, np.array([[0.0], [-4.0]]))
    assert found.tolist() == [False, True]


def test_solutions_for_several_right_sides() -> None:
    matrices, sides = np.array([[[2.0, 0.0], [0.0, 4.0]], np.ones((2, 2))]), np.ones((2, 2, 3))
    found = solutions(matrices, sides)
    np.testing.assert_array_equal(found[0], [[0.5] * 3, [0.25] * 3])
    assert np.isnan(found[1]).all()
    np.testing.assert_array_equal(solutions(matrices, sides[:, :, 0])[0], [0.5, 0.25])


def test_a_point_that_is_not_found_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    model = circuit(
        ("source", SineVoltage(V=10.0, f=1e3), "a", "0"),
        ("wire", Resistor(R=1e-6), "a", "b"),
        ("capacitor", Capacitor(C=1e-6, v=0.0), "b", "0"),
        ("cubic", CubicConductor(g=1e-3), "b", "0"),
    )
    result = simulate(model, 1e-4, method="implicit")
    monkeypatch.setattr(slope_reading, "undamped_many", lambda f, rounding, x, scale: np.zeros(len(x), bool))
    monkeypatch.setattr(slope_reading.SlopeReading, "_damped", lambda *_: False)
    monkeypatch.setattr(slope_reading.SlopeReading, "_rounded", lambda *_: False)
    with pytest.warns(UserWarning, match=r"at t = \S+ s and \d+ other times equations have no point between"):
        result.energy("wire")
