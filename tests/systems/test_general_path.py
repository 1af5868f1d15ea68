"""The general path, asked for by name, visits the modes of the exact path at the same times."""

import warnings
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest

from acausal import Component, Result, simulate
from tests.systems.circuits import falls, rises
from tests.systems.general_path_cases import CASES, REFUSED, STIFF, Case
from tests.systems.test_grazing import charger

RTOL = 1e-10
SHORT = 1e-12
"""Duration, relative to the span, of a segment that rounding on the exact path makes of none."""

ORDINARY = (
    "freewheeling",
    "charging to rest",
    "bridge at a capacitor",
    "bridge with capacitor load, ground b",
    "buck DCM",
    "six pulse",
    "oscillator damped by a bridge",
    "grazing 1e-9",
    "ball",
    "ball with reinit",
    "stick-slip",
    "oscillator with friction",
    "clutch",
    "dog clutch",
    "backlash",
    "random network i0",
    "random network ii4",
)
"""Cases with impacts without end, flows that decay to nothing, several elements at once, changes of the index."""


@cache
def on_the_exact_path(case: Case) -> tuple[Component, Result]:
    """The model of a case and its exact run, with which all methods are compared."""
    model = case.build()
    return model, simulate(model, case.span, method="exact", **case.options)


def both(case: Case, method: str, rtol: float = RTOL) -> tuple[Result, Result]:
    with warnings.catch_warnings():
        # Islands without ground, explicit starts that move.
        warnings.simplefilter("ignore")
        model, exact = on_the_exact_path(case)
        return exact, simulate(model, case.span, method=method, rtol=rtol, **case.options)


def visits(result: Result) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """Modes that lasted, and when they began."""
    modes: list[tuple[int, ...]] = []
    begin = []
    for s in result.segments.all:
        if s.end - s.start > SHORT * result.t_end and (not modes or s.data.mode != modes[-1]):
            modes.append(s.data.mode)
            begin.append(s.start)
    return modes, np.array(begin)


def deviation(exact: Result, result: Result, paths: Iterable[str]) -> float:
    """Largest difference at the end and on the way, relative to the largest variable of a unit."""
    t = exact.t_end * np.array([0.1234, 0.4321, 0.7654, 1.0])
    values: dict[str, list[Any]] = {}
    for path in paths:
        signal = exact[path]
        if signal.is_discrete:
            continue
        values.setdefault(signal.unit, []).append((signal.at(t), result[path].at(t)))
    found = [np.moveaxis(np.array(pairs), 1, 0) for pairs in values.values()]
    return max((np.abs(a - b).max() / (np.abs(a).max() or 1.0) for a, b in found), default=0.0)


def transfers(result: Result) -> list[tuple[Any, ...]]:
    """Impulses and what was lost, instant by instant."""
    return [(len(e.jumps), sorted(e.impulses), sorted(e.lost.items())) for e in result.events if e.jumps]


def amounts(found: list[tuple[Any, ...]]) -> np.ndarray:
    return np.array([x[1] for _, *parts in found for part in parts for x in part])


def check(case: Case, method: str) -> Result:
    exact, forced = both(case, method)
    assert {m.path for m in exact.modes} == {"exact"}
    assert {m.path for m in forced.modes} == {"general"}
    modes, begin = visits(exact)
    forced_modes, forced_begin = visits(forced)
    assert forced_modes == modes
    np.testing.assert_allclose(forced_begin, begin, rtol=0, atol=1e-9 * case.span)
    # Where nothing has memory, everything is compared.
    assert deviation(exact, forced, exact.states or exact.paths) <= 1e-7
    for path in exact.names.discretes:
        assert forced[path].final == pytest.approx(exact[path].final, rel=1e-9, abs=1e-9), path
    size = np.abs(amounts(transfers(exact))).max(initial=0.0)
    expected, found = felt(transfers(exact), size), felt(transfers(forced), size)
    assert [n for n, *_ in found] == [n for n, *_ in expected]
    np.testing.assert_allclose(amounts(found), amounts(expected), rtol=0, atol=1e-7 * size)
    return exact


def felt(found: list[tuple[Any, ...]], size: float) -> list[tuple[Any, ...]]:
    """Without the last bounces: how many there are before a contact rests is decided by rounding."""
    return [
        entry for entry in found if not amounts([entry]).size or np.abs(amounts([entry])).max() > 1e-9 * size
    ]


@pytest.mark.sweep(every=30)
@pytest.mark.parametrize("name", CASES)
def test_explicit_integration_visits_the_modes_of_the_exact_path(name: str) -> None:
    check(CASES[name], "explicit")


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("name", STIFF)
def test_implicit_integration_of_circuits_too_stiff_for_an_explicit_method(name: str) -> None:
    case, rate = STIFF[name]
    exact = check(case, "implicit")
    fastest = max(1.0 / s.data.tau for s in exact.segments.all)
    assert 0.3 * rate <= fastest <= 3.0 * rate
    # An explicit step of order 5 is stable up to 3.3 time constants.
    assert fastest * case.span / 3.3 >= 2e4


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("method", ["explicit", "implicit"])
@pytest.mark.parametrize("name", ORDINARY)
def test_the_modes_are_the_same_at_ordinary_tolerances(name: str, method: str) -> None:
    case = CASES[name]
    exact, result = both(case, method, 1e-6)
    modes, begin = visits(exact)
    found_modes, found_begin = visits(result)
    assert found_modes == modes
    np.testing.assert_allclose(found_begin, begin, rtol=0, atol=1e-5 * case.span)
    assert deviation(exact, result, exact.states) <= 1e-3


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_go_on_is_the_same_error_at_the_same_time(name: str) -> None:
    case, error = REFUSED[name]
    model, found = case.build(), []
    for options in ({"method": "exact"}, {"method": "explicit", "rtol": RTOL}):
        with pytest.raises(error) as caught:
            simulate(model, case.span, **options, **case.options)
        found.append(caught.value)
    exact, forced = found
    assert exact.result is not None and forced.result is not None
    assert forced.result.t_end == pytest.approx(exact.result.t_end, abs=1e-9 * case.span)
    assert forced.where == exact.where
    assert visits(forced.result)[0] == visits(exact.result)[0]


def test_a_run_takes_the_tolerance_it_is_given() -> None:
    """The error of a ladder falls with the tolerance."""
    case = CASES["ladder"]
    exact = simulate(case.build(), case.span)
    errors = [
        deviation(exact, simulate(case.build(), case.span, method="explicit", rtol=rtol), exact.states)
        for rtol in (1e-4, 1e-7, 1e-10)
    ]
    assert errors[0] <= 1e-3
    assert errors[1] <= 1e-6
    assert errors[2] <= 1e-9
    assert errors[0] > 100.0 * errors[2]


def test_small_flows_of_small_stores_are_integrated_to_their_own_magnitude() -> None:
    """What the sources alone could drive through 1 uH in a period is 6.5e6 A; the resistor lets 0.4 A through."""
    level, w = 325.0, 2 * np.pi * 50.0
    model = charger(level / np.cos(w * 0.15e-3), level, L=1e-6)
    result, exact = (simulate(model, 0.02, method=m) for m in ("implicit", "exact"))
    np.testing.assert_allclose(falls(result, "diode.on"), falls(exact, "diode.on"), rtol=1e-8)
    (on,) = rises(exact, "diode.on")
    t = on + np.linspace(1e-6, 2.9e-4, 20)
    current = exact["inductor.i"].at(t)
    assert np.abs(result["inductor.i"].at(t) - current).max() <= 1e-5 * current.max()
