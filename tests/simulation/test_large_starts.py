"""Starts of models too large for dense matrices."""

from collections.abc import Iterator

import numpy as np
import pytest

from acausal import Component, Eq, InitializationError, Program, Statement, Variable, compile_model, der
from acausal.simulation.large.core import LARGE
from tests.systems.ladder import Ladder
from tests.systems.test_homotopy import Fading, Follower, Relaxing

COUNT = LARGE + 20


def cells(kind: type[Fading], *, helped: bool) -> Program:
    """Many balances next to each other, each at another place."""

    class Cells(Component):
        def build(self) -> None:
            self.cell = [kind(helped=helped, a=15.0 + 0.03 * k) for k in range(COUNT)]

    program = compile_model(Cells())
    assert type(program.prepare(1.0)).__name__ == "LargeRun"
    return program


def places(program: Program, **options: object) -> np.ndarray:
    """Where the balances are at the start."""
    result = program.simulate(1e-3, **options)  # type: ignore[arg-type]
    return np.array([result[f"cell[{k}].x"].at(0.0) for k in range(COUNT)])


def test_homotopy_of_algebraic_equations() -> None:
    with pytest.raises(InitializationError, match="were not solved"):
        places(cells(Follower, helped=False))
    assert places(cells(Follower, helped=True)) == pytest.approx(15.0 + 0.03 * np.arange(COUNT), rel=1e-12)


def test_homotopy_of_a_steady_state() -> None:
    with pytest.raises(InitializationError, match="steady state"):
        places(cells(Relaxing, helped=False), initial="steady state")
    found = places(cells(Relaxing, helped=True), initial="steady state")
    assert found == pytest.approx(15.0 + 0.03 * np.arange(COUNT), rel=1e-12)


def test_steady_state_of_ten_thousand_sections() -> None:
    n = 10_000
    result = compile_model(Ladder(n=n)).simulate(1e-3, initial="steady state")
    v = np.array([result[f"section[{k}].c.v"].at(0.0) for k in range(0, n, 999)])
    assert np.abs(v - 1.0).max() < 1e-12
    assert result["source.i"].final == pytest.approx(0.0, abs=1e-9)


class Root(Component):
    """Two roots; the start says which one is meant."""

    x: Variable = Variable(start=4.0)
    y: Variable = Variable(start=1.0)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), -self.x)
        yield Eq(self.y**2, self.x)


def test_starts_of_computed_variables_are_guesses() -> None:
    class Roots(Component):
        def build(self) -> None:
            self.cell = [Root(y=-1.0 if k % 3 else 1.0) for k in range(600)]

    result = compile_model(Roots()).simulate(1e-3)
    found = np.array([result[f"cell[{k}].y"].at(0.0) for k in range(600)])
    assert found == pytest.approx(np.where(np.arange(600) % 3, -2.0, 2.0), rel=1e-12)
