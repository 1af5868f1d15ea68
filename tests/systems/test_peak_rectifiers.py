"""Sines behind small losses at capacitors, integrated: right to the tolerance, or refused with the way out."""

import math
from typing import Any

import numpy as np
import pytest

from acausal import AcausalError, ConsistencyError, Result, simulate
from acausal.components import electrical
from tests.systems.circuits import circuit

V, FREQUENCY = 10.0, 50.0
W = 2.0 * np.pi * FREQUENCY


def rectified(Ron: float, C: float, R: float | None, method: str, span: float, **options: Any) -> Result:
    load = [] if R is None else [("r", electrical.Resistor(R=R), "n", "0")]
    model = circuit(
        ("s", electrical.SineVoltage(V=V, f=FREQUENCY), "m", "0"),
        ("d", electrical.IdealDiode(Ron=Ron), "m", "n"),
        ("c", electrical.Capacitor(C=C, v=0.0), "n", "0"),
        *load,
    )
    return simulate(model, span, method=method, **options)


def left_at(C: float, R: float | None) -> float:
    """Where C v' + v / R vanishes along the sine."""
    return (np.pi / 2.0 if R is None else np.pi - np.arctan(W * R * C)) / W


def right_or_refused(Ron: float, C: float, R: float | None, rtol: float) -> bool:
    """Whether a run over two periods goes on to the end, and then what it gives is right; if not it must say what to do."""
    off, end, period = left_at(C, R), 0.035, 1.0 / FREQUENCY
    expected = V if R is None else V * np.sin(W * off) * np.exp((off + period - end) / (R * C))
    try:
        found = rectified(Ron, C, R, "implicit", end, rtol=rtol)["c.v"].final
    except AcausalError as error:
        assert "set losses" in str(error) or "set small losses" in str(error)
        return False
    lossy = Ron * (W * C * V + (0.0 if R is None else V / R))
    assert found == pytest.approx(expected, abs=100.0 * rtol * V + lossy)
    return True


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize(("Ron", "C"), [(1e-2, 1e-6), (1e-6, 1e-3), (1e-9, 1e-6), (1e-12, 1e-6)])
@pytest.mark.parametrize("R", [None, 1e3, 1e5])
def test_integrated_peak_rectifiers_are_right_or_refused(Ron: float, C: float, R: float | None) -> None:
    """At 1 nOhm and 1 uF an inner point of a step was off by a fifth of a milliampere, and the diode turned off 5 % late."""
    assert right_or_refused(Ron, C, R, 1e-6) or Ron < 1e-6


@pytest.mark.parametrize("end", [0.017, 0.035])
def test_a_reversed_diode_is_refused(end: float) -> None:
    """Above the depth at which a guard reacts, and below what rounding explains, it conducted -0.8 A to the end."""
    with pytest.raises(ConsistencyError, match="hides whether a guard of `d` has been left") as info:
        rectified(1e-12, 1e-6, 10.0, "implicit", end)
    assert "zero, which is exact" in info.value.hint


def test_a_source_that_exceeds_a_capacitor_by_rounding_does_not_turn_on_a_diode() -> None:
    """Its second peak is 0.2 pV above the first one as the capacitor has it, and no sign at that instant can tell."""
    result = rectified(1e-3, 1e-6, None, "implicit", 0.055)
    assert result["c.v"].final == pytest.approx(V, rel=1e-12)
    assert len(result.events) < 8


def test_a_turn_off_near_a_zero_of_the_source_is_as_late_as_time_rounds() -> None:
    """At 0.03 V a sine of 10 V rounds by what the last digits of the time move it: 4 nA behind a microohm.

    Eight last places of the time count as zero along a segment; the resistance turns what they are of the source into a current.
    """
    off, end, Ron, R = left_at(1e-6, 10.0), 0.017, 1e-6, 10.0
    result = rectified(Ron, 1e-6, R, "implicit", end)
    assert len(result.events) == 2
    assert result.events[1].t == pytest.approx(off, abs=8.0 * math.ulp(off) * R / Ron)
    expected = V * np.sin(W * off) * np.exp(-(0.01 - off) / 1e-5)
    assert result["c.v"].at(0.01) == pytest.approx(expected, rel=1e-3)


def mains(bridge: bool, Ron: float, C: float, R: float, method: str, rtol: float) -> Result:
    """325 V, 50 Hz that begin at 0.3 rad behind one diode or four."""
    diode = electrical.IdealDiode
    valves = (
        [("a", diode(Ron=Ron), "m", "n"), ("b", diode(Ron=Ron), "0", "n"), ("c", diode(Ron=Ron), "k", "m")]
        if bridge
        else [("a", diode(Ron=Ron), "m", "n")]
    )
    minus = "k" if bridge else "0"
    model = circuit(
        ("s", electrical.SineVoltage(V=325.0, f=FREQUENCY, phase=0.3), "m", "0"),
        *valves,
        *([("d", diode(Ron=Ron), "k", "0")] if bridge else []),
        ("store", electrical.Capacitor(C=C, v=0.0), "n", minus),
        ("r", electrical.Resistor(R=R), "n", minus),
    )
    return simulate(model, 0.035, method=method, rtol=rtol)


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("bridge", [False, True], ids=["diode", "bridge"])
@pytest.mark.parametrize(
    ("Ron", "C", "R", "rtol", "given"),
    [
        (1e-9, 1e-6, 1e6, 1e-6, ()),
        (1e-10, 1e-7, 10.0, 1e-9, (False,)),
        *[(1e-10, C * 1e-7, 10.0, 1e-9, (False,)) for C in (1.003, 1.006, 1.009, 1.012, 1.03, 0.9, 2.0)],
        (1e-9, 1e-6, 10.0, 1e-6, (False, True)),
    ],
)
def test_steps_behind_nanoohms_are_as_exact_as_the_time_of_the_source(
    Ron: float, C: float, R: float, rtol: float, given: tuple[bool, ...], bridge: bool
) -> None:
    """The source moves by all of the current in a femtosecond: steps became as short, or met no tolerance and did not say why."""
    try:
        result = mains(bridge, Ron, C, R, "implicit", rtol)
    except AcausalError as error:
        assert "losses" in str(error) and "to zero" in str(error)
        assert bridge not in given
        return
    rising, falling = 325.0 * np.sin(W * np.array([0.0225, 0.035]) + 0.3)
    off = (3.0 * np.pi - np.arctan(W * R * C) - 0.3) / W
    later = abs(falling) if bridge else 325.0 * np.sin(W * off + 0.3) * np.exp((off - 0.035) / (R * C))
    found = [result["store.v"].at(0.0225), result["store.v"].final]
    assert found == pytest.approx([rising, later], abs=100.0 * rtol * 325.0)
    assert bridge in given
