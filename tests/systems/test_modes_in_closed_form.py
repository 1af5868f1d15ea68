"""Models that are affine in some modes and nonlinear in others: the former in closed form, whatever the tolerance."""

from collections.abc import Iterator
from math import log, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from acausal import (
    Component,
    Discrete,
    Eq,
    If,
    NotAffineError,
    Result,
    Statement,
    Variable,
    assign,
    compile_model,
    der,
    if_else,
    pre,
    sample,
    simulate,
    when,
)

LOW, HIGH = 0.4, 0.8
CHARGE, DISCHARGE = log((1.0 - LOW) / (1.0 - HIGH)), 1.0 / LOW - 1.0 / HIGH
"""Lengths of ``x' = 1 - x`` from LOW to HIGH, and of ``x' = -x**2`` back."""
PERIOD = CHARGE + DISCHARGE


class Relaxation(Component):
    """A store that is charged linearly and discharged by its square."""

    x: Variable = Variable(start=LOW)
    y: Variable = Variable(start=0.0)
    charging: Discrete = Discrete(bool, start=True)

    def switching(self) -> Iterator[Statement]:
        yield Eq(der(self.y), self.x)
        yield when(self.x > HIGH, assign(self.charging, False)).elsewhen(
            self.x < LOW, assign(self.charging, True)
        )


class ByChoice(Relaxation):
    """An expression of which one side is nonlinear."""

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), if_else(self.charging, 1.0 - self.x, -(self.x**2)))
        yield from self.switching()


class ByElement(Relaxation):
    """An element of which one branch is nonlinear."""

    def equations(self) -> Iterator[Statement]:
        yield If(self.charging, [Eq(der(self.x), 1.0 - self.x)], [Eq(der(self.x), -(self.x**2))], name="path")
        yield from self.switching()


class Thrown(Component):
    """A mass thrown up; below -5 m a brake with the square of the speed, whose gain is halved at each sample."""

    z: Variable = Variable(start=0.0)
    v: Variable = Variable(start=20.0)
    k: Discrete = Discrete(start=0.0)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.z), self.v)
        yield Eq(der(self.v), -10.0 + self.k * self.v**2)
        braked = when(self.z < -5.0, assign(self.k, 0.4))
        yield braked.elsewhen(sample(period=0.25), assign(self.k, pre(self.k) * 0.5))


class ByGain(Relaxation):
    """A nonlinear part that a gain switches off."""

    k: Discrete = Discrete(start=0.0)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), (1.0 - self.k) * (1.0 - self.x) - self.k * self.x**2)
        yield Eq(der(self.y), self.x)
        yield when(self.x > HIGH, assign(self.k, 1.0)).elsewhen(self.x < LOW, assign(self.k, 0.0))


KINDS = ByChoice, ByElement, ByGain


def crossings(result: Result) -> np.ndarray:
    return np.array([event.t for event in result.events if event.kind == "state"])


def periods(count: int) -> np.ndarray:
    """Times of the first events."""
    return np.cumsum(np.tile([CHARGE, DISCHARGE], count))


@pytest.mark.parametrize("kind", KINDS)
def test_each_mode_takes_its_own_path(kind: type[Relaxation]) -> None:
    result = simulate(kind(), 3.0 * PERIOD + 0.1, rtol=1e-4)
    paths = {mode.path: mode for mode in result.modes}
    assert set(paths) == {"exact", "general"}
    assert paths["exact"].reason == "" and "x**2" in paths["general"].reason
    assert paths["exact"].visits == 4 and paths["general"].visits == 3
    assert paths["exact"].time == pytest.approx(3.0 * CHARGE + 0.1, abs=1e-3)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
@pytest.mark.parametrize("kind", KINDS)
def test_affine_modes_have_no_error_of_integration(kind: type[Relaxation], rtol: float) -> None:
    result = simulate(kind(), 4.0 * PERIOD - 0.1, rtol=rtol)
    at = crossings(result)
    assert len(at) == 7
    begins, ends = np.append(0.0, at[1::2]), at[0::2]
    assert ends - begins == pytest.approx([CHARGE] * 4, rel=3e-14)
    x, y = result["x"], result["y"]
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        inner = np.linspace(begin, end, 7)[1:-1]
        assert x.at(inner) == pytest.approx(1.0 - (1.0 - LOW) * np.exp(begin - inner), abs=3e-15)
        charge = CHARGE - (HIGH - LOW)
        assert y.at(end, side="left") - y.at(begin, side="right") == pytest.approx(charge, abs=3e-15)
    assert at == pytest.approx(periods(4)[:7], rel=20.0 * rtol)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("kind", KINDS)
def test_means_and_harmonics_over_both_kinds_of_segments(kind: type[Relaxation]) -> None:
    result = simulate(kind(), 3.0 * PERIOD, rtol=1e-11)
    a, b = PERIOD, 3.0 * PERIOD
    x = result["x"]
    mean = (CHARGE - (HIGH - LOW) + log(HIGH / LOW)) / PERIOD
    assert x.mean(a, b) == pytest.approx(mean, rel=1e-10)
    # x^2 integrates to the loss of x where it is discharged.
    charge = CHARGE - 2.0 * (HIGH - LOW) + 0.5 * ((1.0 - LOW) ** 2 - (1.0 - HIGH) ** 2)
    assert x.rms(a, b) ** 2 == pytest.approx((charge + HIGH - LOW) / PERIOD, rel=1e-10)
    assert (x.min(a, b), x.max(a, b)) == pytest.approx((LOW, HIGH), abs=1e-12)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["explicit", "implicit"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_method_that_is_asked_for_integrates_all_modes(kind: type[Relaxation], method: str) -> None:
    result = simulate(kind(), 2.0 * PERIOD, rtol=1e-9, method=method)
    assert {mode.path for mode in result.modes} == {"general"}
    assert crossings(result) == pytest.approx(periods(2)[: len(crossings(result))], rel=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_the_exact_path_alone_is_refused(kind: type[Relaxation]) -> None:
    with pytest.raises(NotAffineError):
        simulate(kind(), 1.0, method="exact")


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [0.3, 0.7, 1.0])
def test_continued_and_loaded_results_are_the_same(
    kind: type[Relaxation], part: float, tmp_path: Path
) -> None:
    """Cut within a segment of either path, and where a period ends."""
    program, end = compile_model(kind()), 2.5 * PERIOD
    whole = program.simulate(end)
    first = program.simulate(part * PERIOD)
    first.save(tmp_path / "first.npz")
    for before in (first, Result.load(tmp_path / "first.npz")):
        later = program.simulate(end, start=before)
        assert crossings(later)[-2:] == pytest.approx(crossings(whole)[-2:], rel=1e-6)
        assert later["x"].final == pytest.approx(whole["x"].final, rel=1e-5)
    whole.save(tmp_path / "whole.npz")
    loaded = Result.load(tmp_path / "whole.npz")
    times = np.linspace(0.0, end, 41)
    assert loaded["x"].at(times) == pytest.approx(whole["x"].at(times), rel=1e-9)
    assert loaded["x"].mean() == pytest.approx(whole["x"].mean(), rel=1e-9)
    assert [mode.path for mode in loaded.modes] == [mode.path for mode in whole.modes]
    assert whole.check().ok and loaded.check().ok


@pytest.mark.parametrize("kind", KINDS)
def test_stepping_gives_the_same_run(kind: type[Relaxation]) -> None:
    program, end = compile_model(kind()), 2.0 * PERIOD
    whole, run = program.simulate(end), program.start()
    for t in np.linspace(0.0, end, 6)[1:].tolist():
        run.advance(t)
        assert run.result["x"].final == pytest.approx(whole["x"].at(t), rel=1e-5)
    assert crossings(run.result) == pytest.approx(crossings(whole), rel=1e-6)


def test_a_gain_that_is_sampled_makes_modes_nonlinear_where_it_is_not_zero() -> None:
    """Fall in closed form to the brake; then one equation of Riccati after the other, against SciPy."""
    result = simulate(Thrown(), 6.0, rtol=1e-9)
    braked = 2.0 + sqrt(4.0 + 1.0)
    assert crossings(result).tolist() == pytest.approx([braked], rel=1e-15)
    assert {mode.path: mode.time for mode in result.modes} == pytest.approx(
        {"exact": braked, "general": 6.0 - braked}, rel=1e-14
    )
    at, k, y = braked, 0.4, np.array([-5.0, 20.0 - 10.0 * braked])
    for end in [*np.arange(4.25, 6.0, 0.25).tolist(), 6.0]:
        if end > at:
            step = solve_ivp(
                lambda _, y, k=k: [y[1], -10.0 + k * y[1] ** 2], (at, end), y, rtol=1e-12, atol=1e-13
            )
            at, k, y = end, 0.5 * k, step.y[:, -1]
    assert result["z"].final == pytest.approx(y[0], rel=1e-7)
    assert result["v"].final == pytest.approx(y[1], rel=1e-7)
    assert result.check().ok
