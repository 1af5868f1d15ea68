"""Each broken model is refused with the right culprit and no other, and with a way out."""

from collections.abc import Callable

import numpy as np
import pytest

from acausal import Circuit, Component, ContradictionError, simulate
from acausal.components.blocks import Constant, Step
from acausal.components.translational import Position

from .broken_equations import EQUATIONS
from .broken_machines import MACHINES
from .broken_mechanisms import MECHANISMS
from .broken_models import Broken
from .broken_networks import NETWORKS
from .odd_models import (
    Dependent,
    StatedTwice,
    equal_sources,
    floating_circuit,
    gears,
    identity_loop,
    open_heat_port,
)

MODELS = EQUATIONS | NETWORKS | MACHINES | MECHANISMS
SLOW = ("a linkage that does not close",)
"""Newton's method begins anew many times before it gives up."""


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=name, marks=pytest.mark.slow if name in SLOW else ())
        for name, case in MODELS.items()
    ],
)
def test_the_culprit_is_named(case: Broken) -> None:
    with pytest.raises(case.kind) as info:
        simulate(case.build(), case.t_end)
    error = info.value
    text = str(error)
    assert type(error) is case.kind
    for part in (*case.named, *case.places):
        assert part in text, f"{part} is missing in:\n{text}"
    for part in case.innocent:
        assert part not in text, f"{part} is named in:\n{text}"
    assert case.repair in error.hint, text
    assert case.reason in error.why, text
    if case.until is not None:
        assert error.result.t_end == pytest.approx(case.until, rel=1e-5)


# -- what is no error -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "named", "innocent"),
    [
        (StatedTwice, ("{x, y}", "Eq(x + y, time) at", "Eq(2*x + 2*y, 2*time) at", "pinned to zero"), ("z",)),
        (Dependent, ("`x`, `y`, `z`", "Eq((a + b)*x + 2*y, 2) at", "smallest values"), ()),
        (identity_loop, ("`loop.y`", "Eq(y, k*u) at loop", "Eq(loop.u, loop.y)"), ("lag",)),
        (floating_circuit, ("no reference in the island {source.p.v", "pinned to zero"), ()),
        (equal_sources, ("undetermined circulating flow", "a.p.i", "b.p.i"), ("load",)),
    ],
)
def test_what_is_undetermined_and_acts_on_nothing_is_reported(
    build: Callable[[], Component], named: tuple[str, ...], innocent: tuple[str, ...]
) -> None:
    with pytest.warns(UserWarning) as caught:
        simulate(build(), 0.1)
    (text,) = [str(w.message) for w in caught]
    for part in named:
        assert part in text
    for part in innocent:
        assert f"{part}." not in text and f"`{part}`" not in text


def test_what_is_undetermined_has_values_that_fit() -> None:
    with pytest.warns(UserWarning, match="nothing determines"):
        result = simulate(Dependent(), 1.0)
    x, y, z = (result[name].final for name in "xyz")
    assert 0.1 * x + y + z == pytest.approx(1.0, abs=1e-14)
    assert 0.2 * x + y - z == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize(
    ("ratios", "total"),
    [((2.0, 3.0), 6.0), ((0.1, 3.0), 0.3), ((1 / 49, 49.0), 1.0), ((0.7, 0.1), 0.07), ((1 / 3, 3.0), 1.0)],
)
def test_a_loop_of_gears_whose_ratios_agree_turns(ratios: tuple[float, ...], total: float) -> None:
    """Products of ratios in floats miss each other by rounding; the torque of either way is not determined."""
    with pytest.warns(
        UserWarning, match=r"nothing determines `gear0.flange_a.tau`.* at gear0 .* at gear1 .* at beside "
    ):
        result = simulate(gears(*ratios, total=total), 1.0)
    assert result["shaft.w"].final == pytest.approx(10.0, rel=1e-14)
    assert result["load.w"].final == pytest.approx(10.0 / total, rel=1e-14)


def test_equal_sources_in_parallel_work() -> None:
    with pytest.warns(UserWarning):
        result = simulate(equal_sources(), 0.02)
    assert result["load.v"].at(0.005) == pytest.approx(1.0, rel=1e-12)
    assert result["a.i"].at(0.005) + result["b.i"].at(0.005) == pytest.approx(-1.0, rel=1e-12)


def test_a_heat_port_may_stay_open() -> None:
    result = simulate(open_heat_port(), 1.0)
    assert result["body.T"].final == 300.0 and result["body.port.Q_flow"].final == 0.0


def test_an_error_keeps_what_was_computed() -> None:
    """Until the rod stands across the slide the piston is where the triangle of crank and rod has it."""
    case = MECHANISMS["a rod shorter than the crank"]
    with pytest.raises(case.kind) as info:
        simulate(case.build(), 1.0, rtol=1e-9)
    result = info.value.result
    assert result.status.startswith("failed")
    t = np.array([0.0, 0.3, 0.6, 0.7])
    exact = 0.3 * np.cos(t) + np.sqrt(0.2**2 - (0.3 * np.sin(t)) ** 2)
    np.testing.assert_allclose(result["slide.s"].at(t), exact, atol=1e-12)


def test_a_contradiction_that_time_brings_keeps_what_was_before() -> None:
    model = Circuit()
    a, b = model.add("a", Step(startTime=0.5)), model.add("b", Constant(k=0.0))
    left, right = model.add("left", Position()), model.add("right", Position())
    model.connect(a.y, left.s_ref)
    model.connect(b.y, right.s_ref)
    model.connect(left.flange, right.flange)
    with pytest.warns(UserWarning, match="circulating flow"), pytest.raises(ContradictionError) as info:
        simulate(model, 1.0)
    assert (
        info.value.what.startswith("at t = 0.5 equations contradict each other")
        and info.value.result.t_end == 0.5
    )
    assert "at a (" in str(info.value)
