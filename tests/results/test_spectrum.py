"""Harmonics, spectra and distortion against closed forms."""

from itertools import pairwise
from math import pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import jv

from acausal import Circuit, Component, ParameterError, Result, simulate
from acausal.components.blocks import Carrier, NaturalPWM, Sine
from acausal.components.electrical import (
    Capacitor,
    Ground,
    Inductor,
    PulseVoltage,
    Resistor,
    SineVoltage,
    TableVoltage,
)

F = 50.0
T = 1 / F
ORDERS = np.arange(1, 41)


def loaded(source: Component, *others: Component) -> Circuit:
    """A source and other one-ports in a loop, named ``a``, ``b``, ..."""
    c = Circuit()
    parts = [c.add(name, part) for name, part in zip("abc", (source, *others), strict=False)]
    ground = c.add("ground", Ground())
    c.connect(parts[0].p, parts[1].p)
    for one, following in pairwise(parts[1:]):
        c.connect(one.n, following.p)
    c.connect(parts[-1].n, parts[0].n, ground.p)
    return c


def square(t_end: float, *others: Component) -> Result:
    """1 V and -1 V for half a period each."""
    return simulate(loaded(PulseVoltage(V=2.0, offset=-1.0, period=T), *others), t_end)


@pytest.fixture(scope="module")
def plain_square() -> Result:
    return square(3 * T, Resistor(R=1.0))


# -- amplitudes and phases -------------------------------------------------------------------------------------------


def test_a_sine_has_one_line_with_its_phase() -> None:
    v = simulate(loaded(SineVoltage(V=3.0, f=F, phase=0.4, offset=-0.7), Resistor(R=1.0)), 2.3 * T)["a.v"]
    c = v.harmonics(F, 5)
    np.testing.assert_allclose(c[:2], [-0.7, 3.0 * np.exp(1j * (0.4 - pi / 2))], rtol=1e-13)
    assert np.abs(c[2:]).max() < 1e-13
    assert v.thd(F) < 1e-13


def test_a_square_wave_has_odd_harmonics(plain_square: Result) -> None:
    c = plain_square["a.v"].harmonics(F)
    expected = np.where(ORDERS % 2, 4.0 / (pi * ORDERS), 0.0)
    np.testing.assert_allclose(c[1:], -1j * expected, atol=1e-14)
    frequencies, amplitudes = plain_square["a.v"].spectrum(F)
    np.testing.assert_array_equal(frequencies, F * np.arange(41))
    np.testing.assert_allclose(amplitudes[1:], expected, atol=1e-14)


def test_distortion_of_a_square_wave(plain_square: Result) -> None:
    v = plain_square["a.v"]
    assert v.thd(F) == pytest.approx(np.sqrt(pi**2 / 8 - 1), rel=1e-13)
    assert v.thd(F, 7) == pytest.approx(np.sqrt(1 / 9 + 1 / 25 + 1 / 49), rel=1e-13)


def test_a_quasi_square_wave_has_no_third_harmonic() -> None:
    corners = ((0, 0), (1 / 12, 0), (1 / 12, 1), (5 / 12, 1), (5 / 12, 0), (7 / 12, 0), (7 / 12, -1), (11 / 12, -1),
               (11 / 12, 0), (1, 0))  # fmt: skip
    v = simulate(loaded(TableVoltage(table=tuple((x * T, y) for x, y in corners)), Resistor(R=1.0)), T)["a.v"]
    expected = np.where(ORDERS % 2, 4.0 / (pi * ORDERS) * np.cos(ORDERS * pi / 6), 0.0)
    np.testing.assert_allclose(v.harmonics(F)[1:], -1j * expected, atol=1e-14)
    assert v.thd(F) == pytest.approx(np.sqrt(pi**2 / 9 - 1), rel=1e-13)


@pytest.mark.parametrize("tau", [0.2 * T, 1e-3 * T, 1e-8 * T])
def test_a_filter_divides_every_harmonic_by_its_impedance(tau: float) -> None:
    R, L = 2.0, 2.0 * tau
    start = -np.tanh(T / (4 * tau)) / R
    i = square(T, Resistor(R=R), Inductor(L=L, i=start))["c.i"]
    impedance = R + 2j * pi * F * ORDERS * L
    expected = np.where(ORDERS % 2, 4.0 / (pi * ORDERS), 0.0) / impedance
    np.testing.assert_allclose(i.harmonics(F)[1:], -1j * expected, atol=1e-13)


def test_a_transient_that_is_fast_against_the_period_is_not_missed() -> None:
    tau = 1e-7 * T
    v = square(T, Resistor(R=1.0), Capacitor(C=tau, v=-1.0))["b.v"]
    # Pulses of 2 exp(-t / tau) at every edge, of alternating sign.
    expected = np.where(ORDERS % 2, 8.0 / T / np.abs(1 / tau + 2j * pi * F * ORDERS), 0.0)
    np.testing.assert_allclose(np.abs(v.harmonics(F)[1:]), expected, atol=1e-18, rtol=1e-11)


def test_many_cycles_in_one_segment() -> None:
    v = simulate(loaded(SineVoltage(V=1.0, f=1e3), Resistor(R=1.0)), 1.0)["b.v"]
    c = v.harmonics(1.0, 1001)
    assert abs(c[1000]) == pytest.approx(1.0, rel=1e-12)
    assert np.abs(np.delete(c, 1000)).max() < 1e-12


def test_a_small_distortion_keeps_its_digits() -> None:
    c = Circuit()
    big, small = c.add("big", SineVoltage(V=1.0, f=F)), c.add("small", SineVoltage(V=1e-9, f=3 * F))
    load, ground = c.add("load", Resistor(R=1.0)), c.add("ground", Ground())
    c.connect(big.p, load.p)
    c.connect(big.n, small.p)
    c.connect(small.n, load.n, ground.p)
    v = simulate(c, T)["load.v"]
    assert v.thd(F) == pytest.approx(1e-9, rel=1e-5)
    assert v.thd(F, 5) == pytest.approx(1e-9, rel=1e-5)


def test_natural_sampling_has_the_spectrum_of_the_double_fourier_series() -> None:
    """Holmes and Lipo, Pulse Width Modulation for Power Converters, 2003, eq. (3.39), for levels 0 and 1."""
    depth, ratio = 0.8, 41
    c = Circuit()
    reference = c.add("reference", Sine(amplitude=depth / 2, f=F, offset=0.5))
    pwm = c.add("pwm", NaturalPWM(frequency=ratio * F, carrier=Carrier.TRIANGLE))
    c.connect(reference.y, pwm.duty)
    amplitudes = simulate(c, T)["pwm.y"].spectrum(F, 2 * ratio + 6)[1]
    expected = np.zeros(len(amplitudes))
    expected[:2] = 0.5, depth / 2
    for m in (1, 2):
        n = np.arange(-6, 7)
        expected[m * ratio + n] = np.abs(2 / (pi * m) * jv(n, m * pi / 2 * depth) * np.sin((m + n) * pi / 2))
    sidebands = np.r_[0:6, ratio - 6 : ratio + 7, 2 * ratio - 6 : 2 * ratio + 7]
    np.testing.assert_allclose(amplitudes[sidebands], expected[sidebands], atol=1e-12)


# -- windows ---------------------------------------------------------------------------------------------------------


def test_phases_count_from_time_zero_in_any_window(plain_square: Result) -> None:
    v = plain_square["a.v"]
    expected = v.harmonics(F)
    for t0, t1 in ((0.0, T), (0.3 * T, 1.3 * T), (0.3 * T, None), (None, 1.7 * T), (0.0, 3 * T)):
        np.testing.assert_allclose(v.harmonics(F, t0=t0, t1=t1), expected, atol=1e-12)


def test_the_last_period_is_the_default() -> None:
    step = TableVoltage(table=((0.0, 5.0), (2 * T, 5.0), (2 * T, 1.0)))
    v = simulate(loaded(step, Resistor(R=1.0)), 3 * T)["a.v"]
    assert v.harmonics(F)[0] == pytest.approx(1.0, rel=1e-13)
    assert v.harmonics(F, t0=0.5 * T)[0] == pytest.approx((1.5 * 5 + 0.5) / 2, rel=1e-13)
    with pytest.raises(ParameterError, match="no component of 50 Hz"):
        v.thd(F)


def test_windows_and_arguments_that_make_no_sense_are_refused(plain_square: Result) -> None:
    v = plain_square["a.v"]
    bad: Any
    for bad in (0.0, -1.0, np.nan, np.inf, "fifty"):
        with pytest.raises(ParameterError, match="frequency"):
            v.harmonics(bad)
    with pytest.raises(ParameterError, match="1.5 periods of 50 Hz(.|\n)*0.04 s"):
        v.harmonics(F, t0=0.0, t1=1.5 * T)
    with pytest.raises(ParameterError, match="window"):
        v.harmonics(F, t0=2.5 * T, t1=3.5 * T)
    with pytest.raises(ParameterError, match="at least one period"):
        v.harmonics(10.0)
    with pytest.raises(ParameterError, match="highest harmonic, at least 1"):
        v.harmonics(F, 0)
    with pytest.raises(ParameterError, match="at least 2"):
        v.thd(F, 1)


# -- other sources and pictures --------------------------------------------------------------------------------------


def test_a_loaded_result_has_the_harmonics_of_its_lines(plain_square: Result, tmp_path: Path) -> None:
    plain_square.save(tmp_path / "square.npz")
    v = Result.load(tmp_path / "square.npz")["a.v"]
    np.testing.assert_allclose(v.harmonics(F), plain_square["a.v"].harmonics(F), atol=1e-14)
    assert v.thd(F) == pytest.approx(np.sqrt(pi**2 / 8 - 1), rel=1e-12)
    triangle = TableVoltage(table=((0.0, -1.0), (T / 2, 1.0), (T, -1.0)))
    computed = simulate(loaded(triangle, Resistor(R=1.0)), T)
    computed.save(tmp_path / "triangle.npz")
    expected = np.where(ORDERS % 2, 8.0 / (pi * ORDERS) ** 2, 0.0)
    for result in (computed, Result.load(tmp_path / "triangle.npz")):
        np.testing.assert_allclose(result["a.v"].harmonics(F)[1:], -expected, atol=1e-14)


def test_a_picture_has_one_line_per_harmonic(plain_square: Result) -> None:
    import matplotlib.pyplot as plt

    for log in (False, True):
        ax = plain_square["a.v"].plot_spectrum(F, 30, log=log).axes[0]
        assert len(ax.collections[0].get_segments()) == 31
        assert ax.get_xlabel() == "frequency [Hz]"
        assert ax.get_ylabel() == "a.v, amplitude [V]"
    plt.close("all")
