"""Largest values, means and duty ratios of what is short against a segment: transients, narrow pulses, kinks and peaks."""

from collections.abc import Iterator
from math import acos, asin, erf, pi, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad

from acausal import (
    Circuit,
    Component,
    Eq,
    Parameter,
    Result,
    Statement,
    Variable,
    connect,
    der,
    exp,
    simulate,
    sin,
    time,
)
from acausal.components import electrical as el
from acausal.results.corners import cut_at_turns, split

PEAK = 0.27493328166112606
"""Largest voltage of the second of two equal capacitors, joined by a resistor and loaded with an equal one, at 1 V at first.

With d = sqrt(5) it is (exp(-(3 - d)/2 s) - exp(-(3 + d)/2 s))/d at s = ln((3 + d)/(3 - d))/d time constants.
"""


def passed_on(tau: float, source: el.StepVoltage | None = None) -> Circuit:
    """Charge goes from one capacitor through the next one to ground; within microseconds of a second, or less."""
    circuit = Circuit()
    a, b = (circuit.add(n, el.Capacitor(C=tau, v=v)) for n, v in (("a", 0.0 if source else 1.0), ("b", 0.0)))
    r, load = circuit.add("R", el.Resistor(R=1.0)), circuit.add("load", el.Resistor(R=1.0))
    ground = circuit.add("ground", el.Ground())
    circuit.connect(r.n, b.p, load.p)
    circuit.connect(b.n, load.n, ground.p)
    if source is None:
        circuit.connect(a.p, r.p)
        circuit.connect(a.n, ground.p)
    else:
        circuit.add("source", source)
        circuit.connect(source.p, a.p)
        circuit.connect(a.n, r.p)
        circuit.connect(source.n, ground.p)
    return circuit


def test_the_peak_is_what_the_formula_says() -> None:
    d = sqrt(5.0)
    s = np.log((3.0 + d) / (3.0 - d)) / d
    assert (np.exp(-(3.0 - d) / 2.0 * s) - np.exp(-(3.0 + d) / 2.0 * s)) / d == pytest.approx(PEAK, rel=1e-15)


@pytest.mark.parametrize("tau", [1e-3, 1e-5, 1e-7, 1e-9, 1e-12])
def test_a_transient_has_its_peak_however_short_it_is(tau: float, tmp_path: Path) -> None:
    result = simulate(passed_on(tau), 1.0)
    result.save(tmp_path / "run.npz")
    for answer in (result, Result.load(tmp_path / "run.npz")):
        v = answer["b.v"]
        assert v.max() == pytest.approx(PEAK, rel=1e-13)
        assert v.ptp() == pytest.approx(PEAK, rel=1e-13)
        assert v.max(0.0, 1e-2) == pytest.approx(PEAK, rel=1e-13)
        assert (v * answer["b.i"]).max() > 0.0
        assert (v > 0.2).mean() / tau == pytest.approx(1.7680464799840, rel=1e-9)
        assert v.max() >= v.values.max()


@pytest.mark.parametrize("tau", [1e-4, 1e-7])
@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_a_transient_has_its_peak_where_steps_are_taken(method: str, tau: float) -> None:
    end = 1.0 if method == "implicit" else 200.0 * tau
    v = simulate(passed_on(tau), end, method=method)["b.v"]
    assert v.max() == pytest.approx(PEAK, rel=1e-5)
    assert v.max() >= v.values.max()


@pytest.mark.parametrize("tau", [1e-3, 1e-6, 1e-9])
def test_a_transient_within_the_run_has_its_peak(tau: float) -> None:
    v = simulate(passed_on(tau, el.StepVoltage(V=1.0, startTime=0.3)), 1.0)["b.v"]
    assert v.max() == pytest.approx(PEAK, rel=1e-12)
    assert v.max(0.25, 0.9) == v.max() >= v.values.max()


class Waves(Component):
    """A sine, a ramp, and a junction on the sine, whose law is too steep for most points."""

    a: Parameter = Parameter(default=400.0)
    f: Parameter = Parameter(default=1.0, unit="Hz")
    v: Variable = Variable()
    x: Variable = Variable(start=0.0)
    z: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.v, sin(2.0 * pi * self.f * time))
        yield Eq(der(self.x), 1.0)
        yield Eq(self.z, exp(self.a * (self.v - 1.0)))


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("periods", [1.0, 10.0, 100.0])
@pytest.mark.parametrize("off", [0.5, 1e-2, 1e-4, 1e-6, 1e-8])
def test_duty_ratios_of_narrow_pulses(off: float, periods: float) -> None:
    v = simulate(Waves(), periods)["v"]
    rel = 1e-15 / off + 1e-11
    assert (v > 1.0 - off).mean() == pytest.approx(acos(1.0 - off) / pi, rel=rel)
    assert (abs(v) < off).mean() == pytest.approx(2.0 * asin(off) / pi, rel=1e-13 / off + 1e-11)
    assert ((v > 1.0 - off) | (v < off - 1.0)).mean() == pytest.approx(2.0 * acos(1.0 - off) / pi, rel=rel)


@pytest.mark.parametrize("periods", [1.0, 10.0])
@pytest.mark.parametrize("a", [40.0, 400.0, 4e3, 4e4])
def test_what_a_steep_law_gives(a: float, periods: float) -> None:
    """Its largest value is 1, at the top of the sine."""
    z = simulate(Waves(a=a), periods)["z"]
    width = 10.0 / (2.0 * pi * sqrt(a))
    mean = quad(lambda t: np.exp(a * (np.sin(2.0 * pi * t) - 1.0)), 0.25 - width, 0.25 + width, epsabs=1e-14)[
        0
    ]
    assert z.max() == pytest.approx(1.0, rel=1e-12)
    assert z.mean() == pytest.approx(mean, rel=1e-9)
    assert z.harmonics(1.0, 1)[0].real == pytest.approx(mean, rel=1e-9)
    half = acos(1.0 + np.log(0.5) / a) / pi
    assert (z > 0.5).mean() == pytest.approx(half, rel=1e-9)


@pytest.mark.parametrize("grid", [None, 1.0, 0.3])
def test_what_a_steep_law_gives_does_not_depend_on_the_points_shown(grid: float | None) -> None:
    """All of these lie beside its peaks, or where the sine vanishes."""
    z = simulate(Waves(a=4e4), 10.0, grid=grid)["z"]
    expected = simulate(Waves(a=4e4), 1.0)["z"].mean()
    assert z.max() == pytest.approx(1.0, rel=1e-12)
    assert z.mean() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("w", [0.1, 1e-2, 1e-4, 1e-7])
def test_peaks_of_functions_of_a_ramp(w: float) -> None:
    x = simulate(Waves(), 1.0)["x"]
    bell = np.exp(-(((x - 0.737) / w) ** 2))
    assert bell.max() == pytest.approx(1.0, rel=1e-9)
    sides = [erf(0.737 / w), erf(0.263 / w)]
    assert bell.mean() == pytest.approx(0.5 * sqrt(pi) * w * sum(sides), rel=1e-9)
    assert (1.0 / (1.0 + ((x - 0.737) / w) ** 2) > 0.5).mean() == pytest.approx(2.0 * w, rel=1e-7)
    assert np.minimum(abs(x - 0.737), w).mean() == pytest.approx(w - w * w, rel=1e-9)


@pytest.mark.parametrize("f", [1.0, 7.3])
def test_kinks_are_found(f: float) -> None:
    result = simulate(Waves(f=f), 20.0 / f)
    v = result["v"]
    assert abs(v).mean() == pytest.approx(2.0 / pi, rel=1e-12)
    assert np.maximum(v, 0.999).mean() == pytest.approx(
        0.999 + (sqrt(1.0 - 0.999**2) - 0.999 * acos(0.999)) / pi, rel=1e-12
    )


class Beside(Component):
    """The transient of `passed_on` beside a junction: every step of it is taken by an integration."""

    def build(self) -> None:
        self.a, self.b = el.Capacitor(C=1e-6, v=1.0), el.Capacitor(C=1e-6, v=0.0)
        self.r, self.load, self.ground = el.Resistor(R=1.0), el.Resistor(R=1.0), el.Ground()
        self.feed, self.junction = el.Resistor(R=1e3), el.Diode()
        self.source = el.SineVoltage(V=1.0, f=1.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.a.p, self.r.p)
        yield connect(self.r.n, self.b.p, self.load.p)
        yield connect(self.source.p, self.feed.p)
        yield connect(self.feed.n, self.junction.p)
        yield connect(self.a.n, self.b.n, self.load.n, self.source.n, self.junction.n, self.ground.p)


def test_a_transient_beside_a_nonlinear_part_has_its_peak() -> None:
    v = simulate(Beside(), 1.0)["b.v"]
    assert v.max() == pytest.approx(PEAK, rel=1e-5)


def test_parts_are_cut_at_times_inside_them() -> None:
    parts = np.array([1, 1, 4]), np.array([0.0, 0.5, 2.0]), np.array([0.5, 1.0, 3.0])
    which, hs = np.array([4, 1, 1, 0, 4, 1, 4, 7]), np.array([2.5, 0.5, 0.25, 0.1, 2.5, 1.0, 4.0, 0.5])
    found = split(parts, which, hs)
    assert found[0].tolist() == [1, 1, 1, 4, 4]
    assert found[1].tolist() == [0.0, 0.25, 0.5, 2.0, 2.5]
    assert found[2].tolist() == [0.25, 0.5, 1.0, 2.5, 3.0]


def test_zeros_beside_a_top_are_found() -> None:
    """They are a ten-thousandth of the part away from each other."""

    def f(_: np.ndarray, hs: np.ndarray) -> np.ndarray:
        return (25e-10 - (hs - 0.3217) ** 2)[:, None]

    _, h0, _ = cut_at_turns(f, (np.zeros(1, np.int64), np.zeros(1), np.ones(1)))
    for place in (0.3217 - 5e-5, 0.3217, 0.3217 + 5e-5):
        assert np.abs(h0 - place).min() < 1e-9
