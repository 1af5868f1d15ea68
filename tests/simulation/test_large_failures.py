"""Failures of models too large for dense matrices are explained as those of small ones are."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from acausal import (
    Component,
    ConsistencyError,
    ConvergenceError,
    Eq,
    InitializationError,
    Parameter,
    SimulationError,
    Start,
    Statement,
    Variable,
    compile_model,
    der,
)
from acausal.simulation import loop
from acausal.simulation.large.motion import LargeMotion
from acausal.simulation.large.sizes import LARGE
from tests.simulation.test_large import Thermostat
from tests.systems.ladder import Ladder

COUNT = LARGE + 20
ODD = 137
"""Number of the cell that differs from the others."""


def cells(kind: type[Component], **odd: object) -> Component:
    """Many cells of one kind, one of them with other parameters."""

    class Cells(Component):
        def build(self) -> None:
            self.cell = [kind(**(odd if k == ODD else {})) for k in range(COUNT)]

    return Cells()


class Emptying(Component):
    """``x`` falls until ``y**2 = x`` has no solution any more, 2 s after the start."""

    x = Variable(start=2.0)
    y = Variable(start=1.0)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), -1.0)
        yield Eq(self.y**2, self.x)


class Flat(Component):
    """Two unknowns of ``x``; the first equation has no slope where ``y`` is zero."""

    x = Variable(start=2.0)
    y = Variable(start=1.0)
    z = Variable(start=1.0)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), -self.x + self.y * self.z)
        yield Eq(self.y**2 + 1, self.x)
        yield Eq(self.z**3 + self.z, self.x)


class Parallel(Component):
    """Two equations for two unknowns; with ``k = 1`` their slopes are the same wherever ``y + z`` is."""

    k: Parameter = Parameter(default=-1.0)
    x = Variable(start=2.0)
    y = Variable(start=0.5)
    z = Variable(start=0.5)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), -self.x)
        yield Eq((self.y + self.z) ** 3, self.x)
        yield Eq((self.y + self.k * self.z) ** 3 + self.y + self.k * self.z, 2 * self.x)


def failure(model: Component, end: float) -> SimulationError:
    program = compile_model(model)
    assert program.prepare(end).core.system is not None
    with pytest.raises(SimulationError) as caught:
        program.simulate(end)
    return caught.value


def test_a_guess_without_slope_and_a_solution_that_ends() -> None:
    """The start begins beside a guess at which the law is flat; where its branch ends, that cell alone is named."""
    error = failure(cells(Flat, y=Start(0.0)), 1.0)
    assert isinstance(error, ConvergenceError)
    assert f"`Eq(y**2 + 1, x)` of `cell[{ODD}]` were not solved" in error.what
    assert [place.path for place in error.where] == [f"cell[{ODD}]"]
    result = error.result
    assert result is not None
    assert abs(result[f"cell[{ODD}].y"].at(0.0)) == pytest.approx(1.0, abs=1e-9)
    assert result[f"cell[{ODD}].x"].at(result.t_end) == pytest.approx(1.0, abs=1e-6)


def test_equations_that_depend_on_each_other() -> None:
    error = failure(cells(Parallel, k=1.0), 1.0)
    assert isinstance(error, InitializationError)
    assert "are singular" in error.what
    assert {place.path for place in error.where} == {f"cell[{ODD}]"} and len(error.where) == 2


def test_a_solution_that_ends_during_the_run() -> None:
    error = failure(cells(Emptying, x=Start(0.5)), 1.0)
    assert isinstance(error, ConvergenceError)
    assert f"`Eq(y**2, x)` of `cell[{ODD}]` were not solved" in error.what
    result = error.result
    assert result is not None
    assert result.t_end == pytest.approx(0.5, abs=1e-6)
    assert result[f"cell[{ODD}].y"].at(0.3) == pytest.approx(math.sqrt(0.2), rel=1e-6)
    assert result["cell[0].y"].at(0.3) == pytest.approx(math.sqrt(1.7), rel=1e-6)


def test_a_run_that_begins_where_its_solution_ends() -> None:
    """At the double root the residual of the cell to blame is below the rounding of all others."""
    error = failure(cells(Emptying, x=Start(0.0), y=Start(0.5)), 1.0)
    assert f"`Eq(y**2, x)` of `cell[{ODD}]` were not solved" in error.what
    assert [place.path for place in error.where] == [f"cell[{ODD}]"]


@pytest.mark.parametrize("model", [Ladder(n=400), cells(Flat)], ids=["affine", "nonlinear"])
def test_unknowns_that_miss_their_equations_are_found(
    model: Component, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The largest unknown of every point is a thousandth too small."""
    program, solve = compile_model(model), LargeMotion.open_unknowns

    def short(self: LargeMotion, X: np.ndarray, H: np.ndarray, xi: np.ndarray) -> np.ndarray:
        u = solve(self, X, H, xi).copy()
        u[np.argmax(np.abs(u))] *= 1.0 - 1e-3
        return u

    assert program.prepare(0.1).core.system is not None
    monkeypatch.setattr(LargeMotion, "open_unknowns", short)
    with pytest.raises(ConsistencyError, match="does not hold"):
        program.simulate(0.1)


def test_a_jump_that_moves_what_it_should_keep_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    program, after = compile_model(Thermostat(n=400, u=0.0)), loop.only_mode

    def moved(*arguments: Any) -> Any:
        found = after(*arguments)
        if found.restart.jumped:
            found.restart.z[7] += 1e-3
        return found

    monkeypatch.setattr(loop, "only_mode", moved)
    with pytest.raises(ConsistencyError):
        program.simulate(20.0)
