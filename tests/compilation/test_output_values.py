"""What a discrete part reads of variables that only serve outputs: their equations, as they were in the micro-step before."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    Statement,
    Variable,
    absolute,
    assign,
    compile_model,
    der,
    if_else,
    maximum,
    pre,
    sample,
    when,
)

T = 0.25


class Read(Component):
    """Each quarter of a second an output of x and of a discrete is read, which moves at the same time."""

    x: Variable = Variable(start=-1.0, fixed=True)
    n: Discrete = Discrete(start=1.0)
    y: Variable = Variable()
    found: Discrete = Discrete()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), 1.0)
        yield Eq(self.y, self.n * self.of(self.x))
        yield when(sample(period=T, start=T), assign(self.n, pre(self.n) + 1.0), assign(self.found, self.y))

    def of(self, x: Variable) -> object:
        """A function of x that no equation needs."""
        return absolute(x)


class Larger(Read):
    def of(self, x: Variable) -> object:
        return maximum(x, -0.4) * x


class Curved(Read):
    def of(self, x: Variable) -> object:
        return x**2 + 1.0


class Leaping(Read):
    """Its relation has been false until the crossing: what is read there is what holds before it."""

    def of(self, x: Variable) -> object:
        return if_else(x > 0.0, x + 5.0, x - 5.0)


EXPECTED = {
    Read: abs,
    Larger: lambda x: max(x, -0.4) * x,
    Curved: lambda x: x**2 + 1.0,
    Leaping: lambda x: x + 5.0 if x > 0.0 else x - 5.0,
}


@pytest.mark.parametrize("model", EXPECTED)
def test_an_output_is_read_as_it_was_before_the_micro_step(model: type[Read]) -> None:
    result = compile_model(model()).simulate(2.1)
    for k in range(1, 9):
        t = k * T
        # The discrete that moves in the same instant counts with its value before.
        assert result["found"].at(t + 0.1) == pytest.approx(k * EXPECTED[model](t - 1.0), abs=1e-12)


@pytest.mark.parametrize(("model", "name"), [(Read, "y"), (Larger, "x"), (Curved, "x"), (Leaping, "y")])
def test_continuous_functions_of_the_core_are_evaluated_by_the_program(model: type[Read], name: str) -> None:
    """The magnitude of a state is an element of the core itself, and what leaps is read as it is."""
    program = compile_model(model())
    assert [program.flat.variable(k) for k in program.discrete.x.tolist()] == [name]


class Chained(Component):
    """An output of an output."""

    x: Variable = Variable(start=2.0, fixed=True)
    square: Variable = Variable()
    half: Variable = Variable()
    found: Discrete = Discrete()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), -self.x)
        yield Eq(self.square, self.x**2)
        yield Eq(2 * self.half, self.square * self.x)
        yield when(sample(period=T, start=T), assign(self.found, self.half))


def test_outputs_of_outputs_are_evaluated_together() -> None:
    program = compile_model(Chained())
    assert [program.flat.variable(k) for k in program.discrete.x.tolist()] == ["x"]
    result = program.simulate(1.1)
    assert result["found"].at(1.05) == pytest.approx(4.0 * np.exp(-3.0), rel=1e-9)
