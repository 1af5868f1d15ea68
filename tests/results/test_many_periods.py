"""Means, energies and extreme values of runs of millions of periods without an event, against closed forms."""

from __future__ import annotations

import math

import pytest

from acausal import Circuit, simulate
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Ground,
    Inductor,
    Resistor,
    SineVoltage,
)

OMEGA = 1 / math.sqrt(1e-6 * 1e-9)


def ringing(R: float) -> Circuit:
    """1 nF at 1 V discharges through 1 uH."""
    c = Circuit()
    C, L = c.add("C", Capacitor(C=1e-9, v=1.0)), c.add("L", Inductor(L=1e-6))
    r, g = c.add("R", Resistor(R=R)), c.add("g", Ground())
    c.connect(C.p, L.p)
    c.connect(L.n, r.p)
    c.connect(C.n, r.n, g.p)
    return c


def sources(*waves: tuple[float, float], constant: float = 0.0) -> Circuit:
    """Sources (amplitude, frequency) in series with 1 Ohm."""
    c = Circuit()
    load, ground = c.add("R", Resistor(R=1.0)), c.add("g", Ground())
    last = load.p
    for k, (amplitude, frequency) in enumerate(waves):
        wave = c.add(f"wave{k}", SineVoltage(V=amplitude, f=frequency))
        c.connect(wave.p, last)
        last = wave.n
    rest = c.add("rest", ConstantVoltage(V=constant))
    c.connect(rest.p, last)
    c.connect(rest.n, load.n, ground.p)
    return c


def test_an_undamped_oscillation_of_five_million_periods() -> None:
    result = simulate(ringing(0.0), 1.0)
    v = result["C.v"]
    assert v.max() == pytest.approx(1.0, rel=1e-12)
    assert v.min() == pytest.approx(-1.0, rel=1e-12)
    # The phase after 3e7 rad is rounded.
    assert v.mean() == pytest.approx(math.sin(OMEGA) / OMEGA, abs=1e-15)
    assert v.rms() == pytest.approx(math.sqrt(0.5 + math.sin(2 * OMEGA) / (4 * OMEGA)), rel=1e-13)
    stored = 0.5e-9 * (math.cos(OMEGA) ** 2 - 1)
    assert result.energy("C") == pytest.approx(stored, abs=1e-17)
    assert result.energy("L") == pytest.approx(-stored, abs=1e-17)
    assert (v * v).mean() == pytest.approx(v.rms() ** 2, rel=1e-13)
    i = result["L.i"]
    assert (0.5e-9 * v * v + 0.5e-6 * i * i + 1.0).mean() == pytest.approx(1.0 + 0.5e-9, rel=1e-15)
    assert (v * v + 1e3 * i * i).mean() == pytest.approx(1.0, rel=1e-13)
    assert (2 * v + 3).max() == pytest.approx(5.0, rel=1e-12)


def test_a_damped_oscillation_is_largest_in_its_first_periods() -> None:
    R = 1e-5
    result = simulate(ringing(R), 1.0)
    v = result["C.v"]
    sigma = R / 2e-6
    # v' = -i / C vanishes after half a period.
    assert v.min() == pytest.approx(-math.exp(-sigma * math.pi / math.sqrt(OMEGA**2 - sigma**2)), rel=1e-12)
    assert v.max() == pytest.approx(1.0, rel=1e-14)
    assert v.max(0.5) == pytest.approx(math.exp(-0.5 * sigma), rel=1e-6)
    assert result.energy("R") == pytest.approx(0.5e-9 * -math.expm1(-2 * sigma), rel=1e-6)


def test_a_fast_wave_on_a_slow_one() -> None:
    result = simulate(sources((1.0, 1e6), (2.0, 50.0), constant=0.5), 1.0)
    v = result["R.v"]
    # Both crests are a quarter of a fast period apart at most.
    assert v.max() == pytest.approx(3.5, rel=1e-8)
    assert v.min() == pytest.approx(-2.5, rel=1e-8)
    assert v.mean() == pytest.approx(0.5, rel=1e-9)
    assert v.rms() == pytest.approx(math.sqrt(0.25 + 0.5 + 2.0), rel=1e-9)
    assert result.energy("R") == pytest.approx(2.75, rel=1e-9)
    assert (v * result["R.i"]).mean() == pytest.approx(2.75, rel=1e-9)


def test_a_forced_oscillation_near_resonance() -> None:
    """i = V / R (1 - exp(-a t)) sin(omega t), a = R / (2 L), up to a / omega."""
    c = Circuit()
    V = c.add("V", SineVoltage(V=1e-3, f=OMEGA / (2 * math.pi)))
    C, L = c.add("C", Capacitor(C=1e-9, v=0.0)), c.add("L", Inductor(L=1e-6))
    R, g = c.add("R", Resistor(R=1e-3)), c.add("g", Ground())
    c.connect(V.p, C.p)
    c.connect(C.n, L.p)
    c.connect(L.n, R.p)
    c.connect(R.n, V.n, g.p)
    result = simulate(c, 0.02)
    a, T = 500.0, 0.02
    share = T + 2 * math.expm1(-a * T) / a - math.expm1(-2 * a * T) / (2 * a)
    assert result.energy("R") == pytest.approx(0.5e-3 * share, rel=1e-4)
    assert result["R.i"].max() == pytest.approx(-math.expm1(-a * T), rel=1e-5)


def test_extreme_values_of_several_frequencies_are_told_not_to_be_resolved() -> None:
    v = simulate(sources((1.0, 1e6), (1 / 3, 3e6)), 1.0)["R.v"]
    with pytest.warns(
        UserWarning, match=r"`R\.v` is not resolved(.|\n)*0\.94280.* and 1\.333(.|\n)*shorter window"
    ):
        found = v.max()
    assert found == pytest.approx(math.sqrt(8) / 3, rel=1e-9)
    assert v.max(0.5, 0.5001) == pytest.approx(math.sqrt(8) / 3, rel=1e-9)
    assert v.rms() == pytest.approx(math.sqrt(0.5 + 1 / 18), rel=1e-9)


def test_points_that_do_not_resolve_a_signal_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acausal.results.grid.MOST_POINTS", 2000)
    result = simulate(ringing(0.0), 1e-5)
    with pytest.warns(UserWarning, match="points of the result do not resolve(.|\n)*grid") as told:
        assert len(result.t) < 2000
    assert told[0].filename == __file__


@pytest.mark.filterwarnings("error")
def test_values_that_are_the_rounding_of_large_terms_are_not_followed() -> None:
    """The closed form of the first nanoseconds is a sum of hundreds of volts and of thousands of amperes that cancel."""
    c = Circuit()
    source, line = c.add("source", SineVoltage(V=325.0, f=50.0)), c.add("line", Inductor(L=60e-6))
    filter_, load = c.add("filter", Capacitor(C=30e-3)), c.add("load", Resistor(R=1.0))
    ground = c.add("ground", Ground())
    c.connect(source.p, line.p)
    c.connect(line.n, filter_.p, load.p)
    c.connect(source.n, filter_.n, load.n, ground.p)
    result = simulate(c, 6e-9)
    assert len(result.t) < 200
    # v = V w t at the source: i = V w t**2 / 2 L and v = V w t**3 / 6 L C.
    current = 325.0 * 100.0 * math.pi * 6e-9**2 / 120e-6
    assert result["line.i"].max() == pytest.approx(current, abs=5e3 * 1e-14)
    assert abs(result["filter.v"].max()) < 325.0 * 1e-14
    assert result["filter.v"].final == pytest.approx(0.0, abs=325.0 * 1e-14)
