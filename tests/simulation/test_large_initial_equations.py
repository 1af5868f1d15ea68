"""Conditions of the start of models too large for dense matrices: closed forms, and the dense analysis of the same model."""

from collections.abc import Iterator

import numpy as np
import pytest

from acausal import (
    Component,
    Eq,
    InitializationError,
    Parameter,
    Result,
    Statement,
    Variable,
    compile_model,
    der,
    initially,
    sqrt,
)
from acausal.api import program
from acausal.simulation.large import sizes
from acausal.simulation.starts.starting import start
from tests.systems.ladder import Ladder


class Stated(Ladder):
    """A ladder with a voltage, a sum of currents and a nonlinear combination prescribed at the start."""

    U: Parameter = Parameter(default=1.0, unit="V")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        c = [s.c for s in self.section]
        yield initially(Eq(c[self.n // 2].v, 0.25))
        yield initially(Eq(c[0].i + c[1].i, 0.1))
        yield initially(Eq((c[2].v / self.U) ** 3 + c[2].v / self.U, 2.0 * c[3].v / self.U))


class Resting(Ladder):
    """All sections are at rest, but for one whose voltage is prescribed."""

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        for k, s in enumerate(self.section):
            yield initially(Eq(s.c.v, 0.5 * self.source.v) if k == self.n // 3 else Eq(der(s.c.v), 0.0))


class Twice(Ladder):
    """One voltage is prescribed twice."""

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield initially(Eq(self.section[1].c.v, 0.25))
        yield initially(Eq(self.section[1].c.v, 0.5 * self.source.v))


def voltages(result: Result, n: int) -> np.ndarray:
    return np.array([result[f"section[{k}].c.v"].at(0.0) for k in range(n)])


def sparse(model: Component, monkeypatch: pytest.MonkeyPatch, **options: object) -> Result:
    """A run with sparse rows, whatever the size of the model."""
    with monkeypatch.context() as patched:
        patched.setattr(sizes, "LARGE", 0)
        patched.setattr(sizes, "MAX_UNKNOWNS", 0)
        patched.setattr(program, "EXACT_STATES", 0)
        made = compile_model(model)
        assert made.prepare(1e-3).core.system is not None
        return made.simulate(1e-3, **options)  # type: ignore[arg-type]


def test_initial_equations_agree_with_the_dense_analysis(monkeypatch: pytest.MonkeyPatch) -> None:
    found = voltages(sparse(Stated(n=8), monkeypatch), 8)
    dense = voltages(compile_model(Stated(n=8)).simulate(1e-3), 8)
    assert np.abs(found - dense).max() < 1e-9


def test_given_starts_stay_where_others_can_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the current into the ladder leaves open; the start of the first voltage contradicts it and moves alone."""
    initial = {"source.i": -0.5, "section[3].c.v": 0.2}
    found = voltages(sparse(Ladder(n=8), monkeypatch, initial=initial), 8)
    assert found == pytest.approx([1.0 - 0.5 / 8, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 0.0], abs=1e-12)


def test_ten_thousand_sections() -> None:
    n = 10_000
    run = compile_model(Stated(n=n)).prepare(1e-3)
    start(run)
    ids = tuple(run.flat.find("v", f"section[{k}].c.v")[0] for k in (2, 3, n // 2))
    second, third, middle = run.read(ids)
    assert middle == pytest.approx(0.25, abs=1e-12)
    assert second**3 + second == pytest.approx(2.0 * third, abs=1e-12)


def test_sections_at_rest_beside_one_that_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The voltage falls linearly to that section; no current flows beyond."""
    n = 400
    at = n // 3
    found = voltages(sparse(Resting(n=n), monkeypatch), n)
    exact = 1.0 - 0.5 * np.minimum(np.arange(1, n + 1), at + 1) / (at + 1)
    assert np.abs(found - exact).max() < 1e-12


def test_conditions_that_contradict_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InitializationError, match=r"`?section\[1\]") as caught:
        sparse(Twice(n=8), monkeypatch)
    assert "cannot all hold" in caught.value.what
    assert len(caught.value.where) == 2


def test_values_that_follow_from_each_other_may_both_be_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    initial = {"source.i": -0.5, "section[0].c.v": 1.0 - 0.5 / 8, "section[0].r.v": 0.5 / 8}
    found = voltages(sparse(Ladder(n=8), monkeypatch, initial=initial), 8)
    assert found == pytest.approx([1.0 - 0.5 / 8, *[0.0] * 7], abs=1e-14)


class Tethered(Component):
    """A mass at a spring whose length appears as a divisor: the equations have no values where it is zero."""

    x: Variable = Variable(start=0.3)
    y: Variable = Variable(start=-0.4)
    v: Variable = Variable()
    w: Variable = Variable()
    length: Variable = Variable()
    f: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.length, sqrt((self.x - 7.0) ** 2 + self.y**2))
        yield Eq(self.f, 100.0 * (self.length - 0.45))
        yield Eq(der(self.x), self.v)
        yield Eq(der(self.y), self.w)
        yield Eq(der(self.v), -self.f * (self.x - 7.0) / self.length)
        yield Eq(der(self.w), -self.f * self.y / self.length)


@pytest.mark.parametrize("end", [0.1, 1e-6])
def test_the_search_begins_where_the_starts_lead(end: float) -> None:
    """However short the run is: a force of 655 N is that of 7 m."""

    class Cells(Component):
        def build(self) -> None:
            self.cell = [Tethered() for _ in range(sizes.MAX_UNKNOWNS // 6 + 1)]

    made = compile_model(Cells())
    assert made.prepare(end).core.system is not None
    result = made.simulate(end, initial={"cell[0].f": 655.0, "cell[0].x": 0.3})
    assert result["cell[0].length"].at(0.0) == pytest.approx(7.0, rel=1e-12)
    assert result["cell[0].y"].at(0.0) == pytest.approx(-np.sqrt(49.0 - 6.7**2), rel=1e-12)
    assert result["cell[1].y"].at(0.0) == -0.4
